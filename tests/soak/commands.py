"""Commands of `boxwood` in processes of their own, on files that are made once."""

from __future__ import annotations

import functools
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

import boxwood as bw

__all__ = ["COMMANDS", "Command", "inputs", "is_whole", "line", "place", "usual"]

N_ROWS = 60_000


class Command(NamedTuple):
    """A command line that writes one file."""

    name: str
    args: tuple[str, ...]
    out: str


COMMANDS = (
    Command("explain", ("explain", "t.csv", "-k", "3", "--save", "m.json"), "m.json"),
    Command("explain labels", ("explain", "t.parquet", "-l", "word", "--method", "cart", "--save", "m.json"), "m.json"),
    Command("predict csv", ("predict", "given.json", "t.csv", "-o", "out.csv"), "out.csv"),
    Command("predict tsv.gz", ("predict", "given.json", "t.parquet", "-o", "out.tsv.gz"), "out.tsv.gz"),
    Command("predict parquet", ("predict", "given.json", "t.csv", "-o", "out.parquet"), "out.parquet"),
    Command("predict jsonl", ("predict", "given.json", "t.parquet", "-o", "out.jsonl"), "out.jsonl"),
    Command("export json", ("export", "given.json", "--to", "json", "-o", "copy.json"), "copy.json"),
    Command("export sql", ("export", "given.json", "--to", "sql", "-o", "rule.sql"), "rule.sql"),
)
GIVEN = ("t.csv", "t.parquet", "given.json")


@functools.cache
def inputs() -> Path:
    """Return a folder with a table in two formats and a model; other processes read it, too."""
    folder = Path(tempfile.gettempdir()) / f"boxwood-soak-{os.getuid()}-{N_ROWS}"
    if not (folder / "done").exists():
        making = Path(tempfile.mkdtemp(prefix="boxwood-soak-"))
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=N_ROWS)
        X = rng.normal(size=(N_ROWS, 3)).round(4) + 7 * y[:, None]
        with duckdb.connect() as con:
            columns = {name: X[:, j].copy() for j, name in enumerate("abc")}
            con.register("t", columns | {"word": np.array(["one", "two", "three"])[y]})
            for name in GIVEN[:2]:
                con.execute(f"COPY t TO '{making / name}'")
        bw.explain(X, y, columns=list("abc")).save(making / "given.json")
        (making / "done").touch()
        if not folder.exists():
            os.replace(making, folder)
    return folder


def place(folder: Path) -> None:
    """Put the inputs into a folder."""
    for name in GIVEN:
        os.link(inputs() / name, folder / name) if _same_disk(folder) else shutil.copy(inputs() / name, folder / name)


def _same_disk(folder: Path) -> bool:
    return os.stat(folder).st_dev == os.stat(inputs()).st_dev


def line(command: Command) -> list[str]:
    """Return the words that run a command."""
    return [sys.executable, "-m", "boxwood", *command.args]


class Usual(NamedTuple):
    """What a command writes when nothing comes between, and the seconds that it takes."""

    content: bytes
    seconds: float


@functools.cache
def usual(command: Command) -> Usual:
    """Run a command undisturbed."""
    with tempfile.TemporaryDirectory() as folder:
        place(Path(folder))
        start = time.monotonic()
        subprocess.run(line(command), cwd=folder, check=True, capture_output=True)
        return Usual(_content(Path(folder) / command.out), time.monotonic() - start)


def _content(path: Path) -> bytes:
    """Return the content of a file in a form that is equal for equal tables."""
    if path.suffix == ".parquet":
        return repr(duckdb.execute(f"SELECT count(*), bit_xor(hash(t)) FROM '{path}' t").fetchall()).encode()
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    return path.read_bytes()


def is_whole(command: Command, path: Path) -> bool:
    """Return whether a file is what the command writes when nothing comes between."""
    try:
        return _content(path) == usual(command).content
    except (OSError, EOFError, duckdb.Error, json.JSONDecodeError):
        return False
