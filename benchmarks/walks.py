"""How many files of boxwood a call enters: what somebody reads who follows it from the door to the answer.

    python -m benchmarks.walks

Each road is walked twice, and the second, warm time each frame of the package is noted, in all threads that begin. A
file counts that is entered, not one that is imported, and so does that of a loop, whether or not it runs as machine
code; what compiles and stores that does not. "Before the first tree" are those entered before a grower is.
"""

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, load_wine

import boxwood as bw
from benchmarks.timing import print_table
from boxwood.loops.jit import Loop

HOUSE = Path(bw.__file__).parent
COMPILING = ("loops/_machine_code.py", "loops/_stored.py")  # entered or not by what is on disk
GROWERS = tuple(f"grow/{room}/" for room in ("centers", "leaves", "exact", "kernel", "refinement"))


def entered(call: Callable[[], Any]) -> tuple[list[str], int]:
    """Return the files that a call enters, in their order, and how many of them before the first grower."""
    files: dict[str, None] = {}
    place = f"{HOUSE}{os.sep}"

    def note(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(place):
            if (file := code.co_filename.removeprefix(place)) not in COMPILING:
                files.setdefault(file)
            if code is Loop.__call__.__code__:
                files.setdefault(frame.f_locals["self"].py_func.__code__.co_filename.removeprefix(place))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    order = list(files)
    before = next((i for i, file in enumerate(order) if file.startswith(GROWERS)), len(order))
    return order, before


def roads() -> dict[str, Callable[[], Any]]:
    """Return the roads by their names; files are in the folder of the process."""
    iris, wine = load_iris(), load_wine(as_frame=True)
    X, y = iris.data[::3], iris.target[::3]
    reference = bw.Reference.of(X, y)
    words = _words()
    wine.frame.to_csv("wine.csv", index=False)
    wine.frame.to_parquet("wine.parquet")

    def by_command() -> None:
        from boxwood.cli import boxwood as command

        out = ["-o", "page.html", "-o", "rules.sql", "-o", "model.json"]
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            command.main(["explain", "wine.csv", "-k", "4", *out], standalone_mode=False)

    def by_scan() -> None:
        with bw.scan("wine.parquet") as source:
            bw.explain(source, "target")

    return {
        "explain of an array": lambda: bw.explain(X, y),
        "explain of a frame with words and gaps": lambda: bw.explain(words, "label"),
        "command: CSV, page, SQL, model": by_command,
        "explain of a scan of Parquet": by_scan,
        "grow.imm": lambda: bw.grow.imm(X, reference),
    }


def _words() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 200)
    frame = pd.DataFrame(rng.normal(size=(200, 3)) + label[:, None], columns=["a", "b", "c"])
    frame["kind"] = np.where(rng.random(200) < 0.7, np.array(["x", "y", "z"])[label], "w")
    frame["place"] = pd.Series(rng.choice(["here", "there", "anywhere"], 200)).mask(rng.random(200) < 0.1)
    frame.loc[rng.random(200) < 0.1, "b"] = np.nan
    return frame.assign(label=label)


def main() -> None:
    """Print a line for each road."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, walk in roads().items():
            walk()
            files, before = entered(walk)
            rows.append([name, str(len(files)), str(before) if name != "grow.imm" else "-"])
    print_table("Files entered", ["", "in all", "before the first tree"], rows)


if __name__ == "__main__":
    main()
