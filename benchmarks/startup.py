"""What a new process pays: imports, the first fit, and whole processes beside those of scikit-learn."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import print_table

FIRST_FIT = """
import time
import numpy as np
from boxwood import IMM
X = np.random.default_rng(0).normal(size=(2000, 5))
y = np.arange(2000) % 4
start = time.perf_counter(); IMM().fit(X, y); first = time.perf_counter() - start
start = time.perf_counter(); IMM().fit(X, y); print(first - (time.perf_counter() - start))
"""
IRIS = """
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
"""
EXPLAINED = f"{IRIS}import boxwood\nprint(boxwood.explain(X, y))"
TREE = f"""{IRIS}
from sklearn.tree import DecisionTreeClassifier, export_text
print(export_text(DecisionTreeClassifier(max_leaf_nodes=3).fit(X, y)))
"""
CLUSTERED = """
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, export_text
X = pd.read_csv("table.csv")
y = KMeans(10, n_init=10, random_state=0).fit_predict(StandardScaler().fit_transform(X))
print(export_text(DecisionTreeClassifier(max_leaf_nodes=10).fit(X, y), feature_names=list(X)))
"""
COMMAND = ("-m", "boxwood", "explain", "table.csv", "-k", "10", "-q", "-o", "page.html")
WARM = 12  # processes, each of which may compile some loop that those before it interpreted
RUNS = 5


def main() -> None:
    """Print seconds of whole imports, of the first fit beyond a second one, and of processes beside scikit-learn's."""
    with tempfile.TemporaryDirectory() as cold_cache:
        cold = _first_fit(cold_cache)
        warm = statistics.median(_first_fit(cold_cache) for _ in range(5))
    imports = {name: _import_time(name) for name in ("boxwood", "boxwood.estimators", "sklearn", "sklearn.cluster")}
    rows = [[f"import {name}", f"{seconds:.2f}"] for name, seconds in imports.items()]
    rows += [["first fit, cold cache", f"{cold:.2f}"], ["first fit, warm cache", f"{warm:.2f}"]]
    rows += [["import boxwood / import sklearn", f"{imports['boxwood'] / imports['sklearn']:.2f}"]]
    print_table("Start: seconds beyond an empty process, or beyond a second fit", ["", "seconds"], rows)
    with tempfile.TemporaryDirectory() as folder:
        _write_table(Path(folder) / "table.csv")
        rows = [
            ["explain of iris, beside a tree", *_beside(folder, ("-c", EXPLAINED), ("-c", TREE))],
            ["command, 10,000 x 20, beside k-means and a tree", *_beside(folder, COMMAND, ("-c", CLUSTERED))],
        ]
    header = ["", "first", "warm", "scikit-learn", "warm / scikit-learn"]
    print_table("\nWhole processes: seconds of the processor", header, rows)


def _write_table(path: Path) -> None:
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(10, 20)) * 2
    X = centers[rng.integers(10, size=10_000)] + rng.normal(size=(10_000, 20))
    np.savetxt(path, X, fmt="%.4f", delimiter=",", header=",".join(f"x{j}" for j in range(20)), comments="")


def _beside(folder: str, ours: tuple[str, ...], theirs: tuple[str, ...]) -> list[str]:
    """Return the times of our first process, of a later one, and of the other one, all medians, and their ratio."""
    with tempfile.TemporaryDirectory() as cache:
        first, *_ = [_processor_time(folder, cache, ours) for _ in range(WARM)]
        pairs = [[_processor_time(folder, cache, command) for command in (ours, theirs)] for _ in range(RUNS)]
    mine, others = map(statistics.median, zip(*pairs, strict=True))
    ratio = statistics.median(own / other for own, other in pairs)
    return [f"{first:.2f}", f"{mine:.2f}", f"{others:.2f}", f"{ratio:.2f}"]


def _processor_time(folder: str, cache: str, arguments: tuple[str, ...]) -> float:
    """Return the processor time of a whole process of Python."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, check=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def _first_fit(cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", FIRST_FIT]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def _import_time(module: str) -> float:
    program = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", program]
    return statistics.median(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(5)
    )
