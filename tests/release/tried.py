"""What must work where the wheel is installed, in an empty folder: `python tried.py [EXTRA …]`.

Each extra that is named is used; of all others, what is missing must be told in one line with the command that installs
it. The last two lines of the output are the versions of packages and what ran. Nothing but boxwood and its own packages
is imported here.
"""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import requires, version
from importlib.util import find_spec
from typing import Any, NamedTuple

import duckdb
import numpy as np
from sklearn.datasets import load_wine

import boxwood as bw

SLOWEST_IMPORT = 0.1  # seconds of the processor, with the files in memory


def main(extras: list[str]) -> None:
    """Try all, and print what was found."""
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba", "duckdb")}
    seconds = _import_seconds()
    assert seconds < SLOWEST_IMPORT, f"import boxwood takes {seconds:.3f} s"
    ex = _explained()
    _commands()
    missing = [name for name, use in USES.items() if name not in extras and _is_missing(name, use, ex)]
    for name in extras:
        USES[name].run(ex)
    print(f"Python {platform.python_version()}, {', '.join(f'{name} {number}' for name, number in versions.items())}")
    used = f"; used: {', '.join(extras)}" if extras else ""
    print(f"library, command, import in {seconds:.3f} s{used}; told in one line: {', '.join(missing) or 'none'}")


def _import_seconds() -> float:
    """Return the processor time of `import boxwood` in a new process, the best of ten."""
    program = "import time; start = time.process_time(); import boxwood; print(time.process_time() - start)"
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True) for _ in range(10)]
    return min(float(run.stdout) for run in runs)


def _explained() -> bw.Explanation:
    """Return an explanation of wines; its file, its SQL and its Python must label them as it does."""
    assert bw.__version__ == version("boxwood")
    wine = load_wine()
    columns = [name.replace("/", " of ") for name in wine.feature_names]
    ex = bw.explain(wine.data, n_clusters=3, random_state=0, columns=columns, max_leaf_nodes=6)
    labels = ex.predict(wine.data)
    ex.save("wine.json")
    assert np.array_equal(bw.load("wine.json").predict(wine.data), labels)
    names = ", ".join(f'"{name}"' for name in columns)
    values = ", ".join(f"({', '.join(map(repr, row))})" for row in wine.data.tolist())
    duckdb.sql(f"CREATE TABLE wine AS SELECT * FROM (VALUES {values}) AS t({names})")
    by_sql = [row[0] for row in duckdb.sql(f"SELECT {ex.to_sql()} FROM wine").fetchall()]
    assert [str(each) for each in by_sql] == [str(each) for each in labels.tolist()]
    assert bw.IMM(n_clusters=3, random_state=0).fit(wine.data).predict(wine.data).max() == 2
    duckdb.sql("COPY wine TO 'wine.csv'")
    duckdb.sql("COPY wine TO 'wine.parquet'")
    return ex


def _commands() -> None:
    assert _boxwood("--version").stdout == f"boxwood, version {bw.__version__}\n"
    told = _boxwood("explain", "wine.csv", "-k", "3", "-o", "rules.sql", "--save", "model.json")
    assert told.returncode == 0, told.stderr
    told = _boxwood("predict", "model.json", "wine.csv", "-o", "labelled.csv")
    assert told.returncode == 0, told.stderr
    assert duckdb.sql("SELECT count(*) FROM 'labelled.csv'").fetchall() == [(178,)]


def _boxwood(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "boxwood", *arguments], capture_output=True, text=True, check=False)


def _done(*arguments: str) -> None:
    """Run the command; raise what it says as an ImportError if it fails."""
    told = _boxwood(*arguments)
    if told.returncode != 0:
        said = told.stderr.splitlines()
        raise ImportError(next((line for line in said if line.startswith("boxwood: error: ")), told.stderr))


class Use(NamedTuple):
    """A use of an extra, and the package without which it must say what to install; None if nothing can lack it."""

    needs: str | None
    run: Callable[[Any], Any]


def _page(ex: Any) -> None:
    assert "<html" in ex.to_html()


def _plot(ex: Any) -> None:
    ex.plot().figure.savefig("tree.png")


def _excel(ex: Any) -> None:
    if find_spec("openpyxl"):
        from openpyxl import Workbook

        book = Workbook()
        for row in ((name, name) for name in "ab"):
            book.active.append(row)
        for i in range(20):
            book.active.append([i, i % 2])
        book.active.delete_rows(2)
        book.save("table.xlsx")
    else:
        with open("table.xlsx", "wb") as file:
            file.write(b"PK\3\4")
    _done("explain", "table.xlsx", "-k", "2")


def _notebook(ex: bw.Explanation) -> None:
    editor = ex.edit()
    assert editor.explanation is ex
    assert "<svg" in editor.widget.view["html"]


def _onnx(ex: Any) -> None:
    assert len(ex.to_onnx()) > 100


def _pandas(ex: Any) -> None:
    assert len(ex.to_frame("clusters")) == 3


def _polars(ex: Any) -> None:
    import polars

    found = bw.explain(polars.read_parquet("wine.parquet"), n_clusters=3, random_state=0)
    assert found.columns == ex.columns


def _sql(ex: Any) -> None:
    assert "CASE" in ex.to_sql(dialect="tsql")


def _arrow(ex: Any) -> None:
    with bw.scan("wine.parquet") as table:
        assert bw.explain(table, n_clusters=3, random_state=0).n_rows == 178
    _done("explain", "--sql", "FROM 'wine.parquet'", "-k", "3")


def _dask(ex: Any) -> None:
    _done("explain", "wine.parquet", "-k", "3", "--engine", "dask")


def _spark(ex: Any) -> None:
    _done("explain", "wine.parquet", "-k", "3", "--engine", "spark")


def _torch(ex: Any) -> None:
    from boxwood.concepts import extract_latents

    if not find_spec("torch"):
        extract_latents(object(), np.zeros((3, 2), dtype=np.float32))
    import torch

    latents = extract_latents(torch.nn.Linear(2, 3), torch.zeros(5, 2), progress=True)
    assert latents.shape == (5, 3)


USES = {
    "arrow": Use("pyarrow", _arrow),
    "dask": Use("dask", _dask),
    "excel": Use("openpyxl", _excel),
    "notebook": Use("anywidget", _notebook),
    "onnx": Use("onnx", _onnx),
    "page": Use("jinja2", _page),
    "pandas": Use("pandas", _pandas),
    "plot": Use("matplotlib", _plot),
    "polars": Use(None, _polars),
    "spark": Use("pyspark", _spark),
    "sql": Use("sqlglot", _sql),
    "torch": Use("torch", _torch),
}


def _lacking(extra: str) -> set[str]:
    """Return the packages of an extra that are not there, by what the wheel says of itself."""
    of_extra = (line for line in requires("boxwood") or () if re.search(rf"extra == ['\"]{extra}['\"]", line))
    names = {re.match(r"[\w-]+", line)[0] for line in of_extra}  # type: ignore[index]
    return {name for name in names if not find_spec(name)}


def _is_missing(extra: str, use: Use, ex: Any) -> bool:
    """Return whether an extra is missing, after its use said so in one line."""
    if use.needs is None or find_spec(use.needs):
        return False
    try:
        use.run(ex)
    except ImportError as missing:
        said = str(missing)
        found = re.fullmatch(r"[^\n]* needs [^\n]*: pip install ([^\n]*)", said)
        to_install = {re.sub(r"\[.*\]", "", each) for each in shlex.split(found[1])} if found else set()
        assert to_install == _lacking(extra), f"without {use.needs}: {said!r}"
        return True
    raise AssertionError(f"{extra} is used without {use.needs}")


if __name__ == "__main__":
    main(sys.argv[1:])
