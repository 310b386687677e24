"""Hostile names of columns, clusters and files through every writer and format, and back."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from click.testing import CliRunner, Result

import boxwood as bw
from boxwood.cli import boxwood as command
from boxwood.render import EXPORTERS, sql
from tests.soak.parts import Wrong

__all__ = ["attempt"]

WORDS = (
    "a", "A", "é", "e\u0301", "ß", "İ", "\u202egnp", "b\ufeffom", "🌳", "日本", "a b", " lead",
    "trail ", "\ttab", "new\nline",
    "cr\rlf\r\n", "quote'", 'double"', '"', "'", "''", '""', "back\\slash", "\\", "\\n", "a,b", "a;b", "a|b", "a\tb",
    "x0", "x1", "cluster", "cluster_1", "column0", "rowid", "select", "NULL", "null", "NA", "nan", "None", "true", "-1",
    "1", "1.0", "1e5", "inf", "2020-01-01", "{}", "{0}", "%s", "%(x)s", "$1", "?", ":x", "--", "/* */", "*", "a.b", ".",
    "..", "/", "~", "-", "--help", "-o", "=1+1", "<b>", "&amp;", "\x1b[31m", "\x07", "\x7f", "\x85", "\u2028", "\u200b",
    "x" * 300, "é" * 150, "CASE", "t", "excluded", "filename", "#", "# a", "[0]", "a[0]", "@", "!", "`", "`x`",
)  # fmt: skip
READ = ("csv", "tsv", "parquet", "arrow", "jsonl", "csv.gz")
WRITTEN = ("csv", "tsv", "parquet", "jsonl", "csv.gz", "jsonl.gz")
DOCUMENTED = (0, 2, 3)


def attempt(seed: int, folder: Path) -> str:
    """Explain a table with hostile names, label it again, and compare names and clusters."""
    rng = np.random.default_rng(seed)
    columns, clusters = _words(rng, 3), _words(rng, 2)
    form, written = READ[rng.integers(len(READ))], WRITTEN[rng.integers(len(WRITTEN))]
    stems = [_file_name(word) for word in _words(rng, 3)]
    source, model, out = f"{stems[0]}.{form}", f"{stems[1]}.json", f"{stems[2]}-out.{written}"
    about = f"columns {columns}, clusters {clusters}, {source!r} to {model!r} and {out!r}"
    X = np.column_stack([np.arange(12.0), np.arange(12.0) % 5])
    labels = [clusters[i // 6] for i in range(12)]
    os.chdir(folder)
    _write(source, form, columns, X, labels)
    explained = _run(about, "explain", "-l", columns[2], "--save", model, "--json", "--", source)
    if explained.exit_code:
        return f"{form}: refused by explain with {explained.exit_code}"
    ex = bw.load(model)
    _expect(json.loads(explained.stdout) == json.loads(ex.to_json()), "--json is not the model", about)
    _expect(set(ex.columns) <= set(columns[:2]), f"other names of columns: {ex.columns}", about)
    _expect(set(map(str, ex.names)) == set(clusters), f"other names of clusters: {ex.names}", about)
    for to, exporter in EXPORTERS.items():
        if exporter.kind in ("object", "folder"):
            continue
        exported = _run(about, "export", "--to", to, *(["-o", "-"] if exporter.kind == "bytes" else []), "--", model)
        _expect(
            exported.exit_code in (0, 3) and (to in ("sql", "formula", "pmml") or not exported.exit_code),
            f"export {to} fails",
            about,
        )
    predicted = _run(about, "predict", "-o", out, "--column", "the new one", "--", model, source)
    if predicted.exit_code:
        return f"{form}: refused by predict with {predicted.exit_code}"
    wanted = [str(name) for name in ex.predict(pd.DataFrame(X, columns=columns[:2]))]
    _check_out(out, written, columns, wanted, about)
    _check_sql(ex, columns, X, wanted, about)
    left = sorted(os.listdir())
    _expect(left == sorted({source, model, out}), f"other files: {left}", about)
    return f"{form} to {written}: labelled"


def _words(rng: np.random.Generator, n: int) -> list[str]:
    """Return different names, some of them glued from two."""
    while True:
        words = [WORDS[i] for i in rng.integers(len(WORDS), size=n)]
        words = [word + WORDS[rng.integers(len(WORDS))] if rng.random() < 0.3 else word for word in words]
        if len(set(words)) == n and "-1" not in words:
            return words


def _file_name(word: str) -> str:
    name = word.replace("/", "_").replace("\x00", "_")
    while len(name.encode()) > 200:
        name = name[:-1]
    return name


def _write(path: str, form: str, columns: list[str], X: np.ndarray, labels: list[str]) -> None:
    """Write a table without boxwood and DuckDB."""
    frame = pd.DataFrame({columns[0]: X[:, 0], columns[1]: X[:, 1], columns[2]: labels})
    with open(path, "wb") as file:
        if form == "parquet":
            frame.to_parquet(file)
        elif form == "arrow":
            pl.from_pandas(frame).write_ipc(file)
        elif form == "jsonl":
            lines = (json.dumps(dict(zip(columns, row, strict=True))) for row in frame.itertuples(index=False))
            file.write("".join(f"{line}\n" for line in lines).encode())
        else:
            tab = "\t" if form == "tsv" else ","
            packed = {"compression": "gzip"} if form == "csv.gz" else {}
            frame.to_csv(file, sep=tab, index=False, mode="wb", encoding="utf-8", **packed)


def _run(about: str, *args: str) -> Result:
    result = CliRunner().invoke(command, list(args))
    _expect(result.exit_code in DOCUMENTED, f"exit code {result.exit_code} of {args[0]}: {result.stderr[:500]}", about)
    _expect(bool(result.stderr) or not result.exit_code, f"no message of {args[0]}", about)
    _expect("Traceback" not in result.stderr and len(result.stderr) < 4000, f"message of {args[0]}", about)
    return result


def _expect(true: bool, what: str, about: str) -> None:
    if not true:
        raise Wrong(f"{what}\n{about}", what[:60])


def _check_out(out: str, form: str, columns: list[str], wanted: list[str], about: str) -> None:
    """Raise a `Wrong` if a labelled table has other names or clusters; it is read without boxwood."""
    with open(out, "rb") as file:
        content = file.read()
    content = gzip.decompress(content) if form.endswith("gz") else content
    if form.startswith(("csv", "tsv")):
        text = io.StringIO(content.decode(), newline="")
        rows = list(csv.reader(text, delimiter="\t" if form == "tsv" else ","))
        names, found = rows[0], [row[-1] for row in rows[1:]]
        wanted = [f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else name for name in wanted]
    elif form.startswith("jsonl"):
        lines = [json.loads(line) for line in content.split(b"\n") if line]
        names, found = list(lines[0]), [str(line["the new one"]) for line in lines]
    else:
        frame = pl.read_parquet(io.BytesIO(content))
        names, found = frame.columns, [str(name) for name in frame["the new one"]]
    _expect(names == [*columns, "the new one"], f"names of columns of {form} differ: {names}", about)
    _expect(found == wanted, f"clusters in {form} differ: {found}", about)


def _check_sql(ex: bw.Explanation, columns: list[str], X: np.ndarray, wanted: list[str], about: str) -> None:
    if len({name.lower() for name in columns[:2]}) < 2:
        return
    quoted = ['"' + name.replace('"', '""') + '"' for name in columns[:2]]
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t ({quoted[0]} DOUBLE, {quoted[1]} DOUBLE, the_row INTEGER)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", [[*row, i] for i, row in enumerate(X.tolist())])
        found = [str(row[0]) for row in con.execute(f"SELECT {sql(ex)} FROM t ORDER BY the_row").fetchall()]
    _expect(found == wanted, "SQL gives other clusters", about)
