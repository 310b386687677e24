"""Whether a change of the code changed which columns of a table rules use, and what is said of them.

    python -m benchmarks.same_columns record FILE     with the code before the change
    python -m benchmarks.same_columns compare FILE    with the code after it

`record` hands some hundred odd tables to `explain` through every door: a matrix, frames of pandas, polars and Arrow,
files of CSV and Parquet that are scanned, a query, and the command line. It writes a JSON file: for each table and door
the columns, those that the tree tests, the notes in their order, the basis and the warnings; or the error. `compare`
does so again, lists each case that differs, and exits with status 1 if there are any. A further argument takes only the
cases whose name has it, such as `query`.
"""

import contextlib
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from click.testing import CliRunner

import boxwood as bw
from benchmarks.same_columns.tables import Options, table_of

TABLES = 130
Found = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Record or compare; return the exit status."""
    if len(arguments) not in (2, 3) or arguments[0] not in ("record", "compare"):
        print(__doc__)
        return 2
    what, path, word = arguments[0], Path(arguments[1]), "".join(arguments[2:])
    start = time.perf_counter()
    found = dict(_cases(word))
    errors = Counter(next(iter(case["error"].split(":"))) for case in found.values() if "error" in case)
    print(f"{len(found)} cases in {time.perf_counter() - start:.0f} seconds; {dict(errors)}")
    if what == "record":
        path.write_text(json.dumps(found, indent=0, ensure_ascii=False))
        return 0
    recorded = {name: case for name, case in json.loads(path.read_text()).items() if word in name}
    return _compare(recorded, json.loads(json.dumps(found)))


def _cases(word: str) -> Any:
    """Yield the name of each case, and what comes of it."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for seed in range(TABLES):
            frame, asked = table_of(seed)
            for door, through in DOORS.items():
                if word in (name := f"table {seed}, {door}"):
                    yield name, _found(through, frame, asked)


def _found(through: Callable[[pd.DataFrame, Options], Any], frame: pd.DataFrame, asked: Options) -> Found:
    """Return what is said of a table's columns, or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = through(frame, asked)
        except Exception as error:  # that a table is refused, and how, is a part of what must stay
            return {"error": f"{type(error).__name__}: {error}"}
    told = sorted({str(one.message) for one in caught if issubclass(one.category, UserWarning)})
    return (found if isinstance(found, dict) else _said(found)) | {"warnings": told}


def _said(ex: Any) -> Found:
    tested = [ex.columns[j] for j in ex.tree.features.tolist()]
    categories = {name: list(map(repr, known.values)) for name, known in ex.details.categories}
    left_out = None if ex.provenance is None else ex.provenance.left_out
    about = {"columns": ex.columns, "tested": tested, "categories": categories, "rules": ex.rules()}
    return about | {"notes": list(map(str, ex.notes)), "left out": left_out, "rows": [ex.n_rows, ex.n_left_out]}


# ------------------------------------------------------------------------------------------------------------- doors
def _frame(convert: Callable[[pd.DataFrame], Any]) -> Callable[[pd.DataFrame, Options], Any]:
    return lambda frame, asked: bw.explain(convert(frame), asked.labels, **asked.options)


def _matrix(frame: pd.DataFrame, asked: Options) -> Any:
    """Explain the columns of numbers as an array."""
    numbers = frame.drop(columns=[asked.labels] if asked.labels else []).select_dtypes("number")
    options = {name: value for name, value in asked.options.items() if name in ("method", "n_clusters", "missing")}
    labels = None if asked.labels is None else frame[asked.labels].to_numpy()
    return bw.explain(numbers.to_numpy(dtype=float), labels, columns=list(numbers.columns), **options)


def _csv(frame: pd.DataFrame, asked: Options) -> Any:
    frame.to_csv("table.csv", index=False)
    with bw.scan("table.csv") as source:
        return bw.explain(source, asked.labels, **asked.options)


def _parquet(frame: pd.DataFrame, asked: Options) -> Any:
    frame.to_parquet("table.parquet")
    with bw.scan("table.parquet") as source:
        return bw.explain(source, asked.labels, **asked.options)


def _query(frame: pd.DataFrame, asked: Options) -> Any:
    frame.to_csv("table.csv", index=False)
    with bw.scan("FROM 'table.csv'") as source:
        return bw.explain(source, asked.labels, **asked.options)


def _command(engine: str) -> Callable[[pd.DataFrame, Options], Found]:
    def through(frame: pd.DataFrame, asked: Options) -> Found:
        frame.to_csv("table.csv", index=False)
        words = ["explain", "table.csv", "--engine", engine, "--save", "model.json"]
        words += ["--labels", asked.labels] if asked.labels else ["-k", "2"]
        for name, value in asked.options.items():
            if name in ("method", "missing"):
                words += [f"--{name}", value]
            elif name in ("columns", "categories", "numbers", "forbidden"):
                words += [f"--{name}", ",".join(value)]
            elif name == "sample_weight":
                words += ["--weights", value]
        Path("model.json").unlink(missing_ok=True)
        out, err, code = _run(words)
        if code:
            return {"error": f"exit {code}: {err}"}
        return _said(bw.load("model.json")) | {"printed": out, "told": err}

    return through


def _run(words: list[str]) -> tuple[str, str, int]:
    """Return what the command prints, says on standard error, and its exit status."""
    from boxwood.cli import boxwood as command

    done = CliRunner().invoke(command, words, prog_name="boxwood")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout, done.stderr, done.exit_code


def _polars(frame: pd.DataFrame) -> Any:
    import polars as pl

    return pl.from_pandas(frame)


def _arrow(frame: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


DOORS: dict[str, Callable[[pd.DataFrame, Options], Any]] = {
    "matrix": _matrix,
    "pandas": _frame(lambda frame: frame),
    "polars": _frame(_polars),
    "arrow": _frame(_arrow),
    "csv": _csv,
    "parquet": _parquet,
    "query": _query,
    "command": _command("memory"),
    "command in batches": _command("duckdb"),
}


def _compare(recorded: dict[str, Found], found: dict[str, Found]) -> int:
    """Print the cases that are not as they were recorded; return 1 if there are any."""
    wrong = 0
    for name in recorded | found:
        before, after = recorded.get(name, {}), found.get(name, {})
        if before != after:
            wrong += 1
            for key in before | after:
                if before.get(key) != after.get(key):
                    print(f"{name}, {key}:\n  {before.get(key)!r}\n  {after.get(key)!r}")
    print(f"{wrong} of {len(recorded | found)} cases differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
