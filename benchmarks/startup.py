"""What a new process pays: imports, and the first fit with a cold and with a warm compilation cache."""

import os
import statistics
import subprocess
import sys
import tempfile

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


def main() -> None:
    """Print seconds of whole imports, and of the first fit beyond a second one."""
    with tempfile.TemporaryDirectory() as cold_cache:
        cold = _first_fit(cold_cache)
        warm = statistics.median(_first_fit(cold_cache) for _ in range(5))
    imports = {name: _import_time(name) for name in ("boxwood", "boxwood.estimators", "sklearn", "sklearn.cluster")}
    rows = [[f"import {name}", f"{seconds:.2f}"] for name, seconds in imports.items()]
    rows += [["first fit, cold cache", f"{cold:.2f}"], ["first fit, warm cache", f"{warm:.2f}"]]
    rows += [["import boxwood / import sklearn", f"{imports['boxwood'] / imports['sklearn']:.2f}"]]
    print_table("Start: seconds beyond an empty process, or beyond a second fit", ["", "seconds"], rows)


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
