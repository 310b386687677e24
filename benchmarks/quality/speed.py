"""Processor time of `explain`, as a ratio to one scikit-learn CART on the same labels, both on one thread.

With `--mixed` the time and memory of a table of words, numbers and gaps, as a ratio to the same rows as numbers.
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.cases import blobs, clusters_of, timed_tables
from benchmarks.tables import Table
from benchmarks.timing import medians, peak_bytes, print_table
from boxwood import IMM, ExKMC, Reference, explain
from boxwood.grow import expand, imm
from boxwood.loops import jit

SMALLER = (  # rows, columns, clusters, besides those of `timed_tables`
    (200, 5, 3),
    (1_000, 5, 3),
    (1_000, 20, 10),
    (10_000, 20, 3),
    (10_000, 20, 10),
    (10_000, 20, 50),
    (100_000, 20, 10),
)
RUNS = 3  # the least of so many counts; long ones are run once
LONG = 3.0  # seconds
N_WORDS = (5, 10, 20, 50, 100, 200)  # of the columns of words of a mixed table
GAPS = 0.05  # share of the values of a mixed table that are missing


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="parts of names, as 'digits' or '100000 x'")
    parser.add_argument("--mixed", type=int, metavar="ROWS", help="words, numbers and gaps in so many rows instead")


def main(options: argparse.Namespace) -> None:
    """Print a line for each table, with the clusters of k-means with one start."""
    if options.mixed:
        _print_mixed(options.mixed)
        return
    smaller = [blobs(f"{n} x {d}, k={k}", n, d, k, spread=1.0) for n, d, k in SMALLER]
    found = [*timed_tables(), *smaller]
    chosen = [table for table in found if not options.tables or any(part in table.name for part in options.tables)]
    if not chosen:
        sys.exit(f"no table {', '.join(options.tables)}; there are: {', '.join(table.name for table in found)}")
    jit.PATIENCE = jit.SEARCHED = jit.Loop.young = 0.0  # no call that is timed is interpreted, whatever ran before
    rows = [_row(table) for table in chosen]
    header = ["", "CART s", "explain s", "/ CART", "2k leaves", "/ CART", "IMM.fit / grow.imm"]
    header.append("ExKMC.fit / grow.imm, expand")
    print_table("Processor time, seconds and ratios", header, rows)


def _row(table: Table) -> list[str]:
    X, k, kmeans = table.X, table.k, clusters_of(table, table.k, 0, n_init=1).kmeans
    labels = kmeans.labels_
    reference = Reference.of(X, labels)
    for leaves in (k, 2 * k):
        explain(X, kmeans, max_leaf_nodes=leaves, n_jobs=1)  # compiles what the shape needs
    cart = _seconds(lambda: DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(X, labels))
    at_k, at_2k = (_seconds(lambda m=m: explain(X, kmeans, max_leaf_nodes=m, n_jobs=1)) for m in (k, 2 * k))
    fit, grown = _seconds(lambda: IMM(n_jobs=1).fit(X, labels)), _seconds(lambda: imm(X, reference, n_jobs=1))
    more: dict[str, Any] = {"max_leaf_nodes": 2 * k, "n_jobs": 1}
    exkmc = _seconds(lambda: ExKMC(**more).fit(X, labels))
    expanded = _seconds(lambda: expand(imm(X, reference, n_jobs=1), X, reference, **more))
    numbers = (cart, at_k, at_k / cart, at_2k, at_2k / cart, fit / grown, exkmc / expanded)
    return [table.name, *(f"{number:.2f}" for number in numbers)]


def _seconds(task: Callable[[], object]) -> float:
    """Return the least processor seconds of a few runs, all threads counted."""
    found = []
    for _ in range(RUNS):
        start = time.process_time()
        task()
        found.append(time.process_time() - start)
        if found[0] > LONG:
            break
    return min(found)


def _print_mixed(n_rows: int, n_columns: int = 20, k: int = 8) -> None:
    """Print seconds, medians of nine runs that take turns, and memory of a table with words and gaps, and of numbers.

    Words are bins of the numbers, in no order.
    """
    rng = np.random.default_rng(0)
    labels = rng.integers(0, k, n_rows)
    X = rng.normal(size=(k, n_columns))[labels] * 2 + rng.normal(size=(n_rows, n_columns))
    numbers = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_columns)])
    mixed = numbers.copy()
    for j, m in enumerate(N_WORDS):
        bins = np.searchsorted(np.quantile(X[:, j], np.arange(1, m) / m), X[:, j])
        mixed[f"x{j}"] = np.array([f"v{i}" for i in rng.permutation(m)], dtype=object)[bins]
    mixed = mixed.mask(rng.random(mixed.shape) < GAPS)
    tables = {"numbers": numbers, "words, numbers and gaps": mixed}
    tasks = {name: lambda frame=frame: explain(frame, labels, n_jobs=1) for name, frame in tables.items()}
    seconds = medians(tasks, runs=9, slow=np.inf)
    peaks = {name: peak_bytes(task) / 2**20 for name, task in tasks.items()}
    rows = []
    for name in tables:
        found = (seconds[name], seconds[name] / seconds["numbers"], peaks[name], peaks[name] / peaks["numbers"])
        rows.append([name, *(f"{number:.2f}" for number in found)])
    print_table(f"{n_rows:,} rows in {n_columns} columns", ["", "seconds", "ratio", "MiB", "ratio"], rows)
