"""What a first `explain` costs: each table in a new process with nothing compiled, and then in a second process.

Told are processor seconds of the call without imports, the loops compiled in both, for how many kinds of arguments,
and the seconds of each.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = """
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
y = rng.integers(0, 4, n)
X["a"] += 2 * y
X["g"], X["h"] = np.array(list("pqrst"))[(y + rng.integers(0, 2, n)) % 5], np.array(list("uvw"))[rng.integers(0, 3, n)]
X = X.mask(rng.random(X.shape) < 0.05)
"""
NUMBERS = """
rng = np.random.default_rng(0)
y = rng.integers(0, 10, n)
X = rng.normal(size=(10, 20))[y] * 2 + rng.normal(size=(n, 20))
"""
NO_LABELS = "\ny = None"  # clusters are made, and their number is chosen
TABLES = {
    "four rows": "X, y = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]], [0, 0, 1, 1]",
    "iris": "from sklearn.datasets import load_iris\nX, y = load_iris(return_X_y=True)",
    "wine": "from sklearn.datasets import load_wine\nX, y = load_wine(return_X_y=True)",
    "2,000 rows, words and gaps": f"n = 2_000{WORDS}",
    "20,000 rows, words and gaps": f"n = 20_000{WORDS}",
    "10,000 x 20": f"n = 10_000{NUMBERS}",
    "10,000 x 20, Parquet": f"n = 10_000{NUMBERS}X = bw.scan(parquet(X, y))\ny = 'label'",
    "iris, no labels": f"from sklearn.datasets import load_iris\nX, y = load_iris(return_X_y=True){NO_LABELS}",
    "2,000 rows, words and gaps, no labels": f"n = 2_000{WORDS}{NO_LABELS}",
    "10,000 x 20, no labels": f"n = 10_000{NUMBERS}{NO_LABELS}",
}
SCRIPT = """
import builtins, os, sys, time
import numpy as np, pandas as pd
from numba.core import event
import boxwood as bw

def parquet(X, y):
    path = os.path.join(os.environ["NUMBA_CACHE_DIR"], "table.parquet")
    pd.DataFrame(X, columns=[f"x{{j}}" for j in range(X.shape[1])]).assign(label=y).to_parquet(path)
    return path

{table}
load, depth, imports = builtins.__import__, 0, 0.0

def timed(*args, **kws):
    global depth, imports
    depth, start = depth + 1, time.process_time()
    try:
        return load(*args, **kws)
    finally:
        depth -= 1
        imports += 0 if depth else time.process_time() - start

class Compiled(event.Listener):
    # processor seconds of each loop; one that is compiled for another one ends before that
    def __init__(self):
        self.open, self.found = [], {{}}

    def on_start(self, each):
        self.open.append(time.process_time())

    def on_end(self, each):
        took = time.process_time() - self.open.pop()
        if not self.open:
            name = each.data["dispatcher"].py_func.__name__
            count, total = self.found.get(name, (0, 0.0))
            self.found[name] = count + 1, total + took

builtins.__import__, compiled = timed, Compiled()
with event.install_listener("numba:compile", compiled):
    start = time.process_time()
    bw.explain(X, y)
    seconds = time.process_time() - start - imports
print("seconds", seconds)
for name, (count, total) in sorted(compiled.found.items(), key=lambda item: -item[1][1]):
    print(name, count, total)
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="parts of names, as 'iris' or 'words'")


def main(options: argparse.Namespace) -> None:
    """Print a line for each table."""
    chosen = {name: text for name, text in TABLES.items() if not options.tables or _is_named(name, options.tables)}
    if not chosen:
        sys.exit(f"no table {', '.join(options.tables)}; there are: {'; '.join(TABLES)}")
    print("Processor seconds of the call without imports; what is kept of it; loops that are compiled")
    print(_line("", ["first", "second", "files", "MB", "compiled"]))
    for name, text in chosen.items():
        print(_line(name, _row(text)), flush=True)


def _is_named(name: str, parts: list[str]) -> bool:
    return any(part in name for part in parts)


def _line(name: str, row: list[str]) -> str:
    """Return a line of the table, which is printed as soon as it is known."""
    *numbers, loops = row
    return f"{name:38}" + "".join(f"{number:>8}" for number in numbers) + f"  {loops}"


def _row(text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        first, loops = _call(text, folder)
        files = list(Path(folder).rglob("*.nbc"))
        size = sum(file.stat().st_size for file in files) / 1e6
        second, more = _call(text, folder)
    told = [", ".join(loops), "second: " + ", ".join(more)]
    return [f"{first:.2f}", f"{second:.2f}", str(len(files)), f"{size:.1f}", "; ".join(told[: 1 + bool(more)])]


def _call(text: str, folder: str) -> tuple[float, list[str]]:
    """Return the processor seconds of a call in a new process, and the loops that were compiled in it."""
    command = [sys.executable, "-c", SCRIPT.format(table=text)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return float(lines[0][1]), [f"{loop} {count} ({float(took):.1f} s)" for loop, count, took in lines[1:]]
