"""Processor time of `explain`, as a ratio to one scikit-learn CART on the same labels, both on one thread."""

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import print_table
from boxwood import IMM, Reference, explain
from boxwood.grow import imm

SHAPES = {
    f"{n} x {d}, k={k}": (n, d, k)
    for n, d, k in (
        (10_000, 10, 5),
        (100_000, 10, 10),
        (500_000, 2, 5),
        (10_000, 100, 50),
        (20_000, 2, 100),
        (1_000_000, 10, 10),
    )
}
RUNS = 3  # the least of so many counts; long ones are run once
LONG = 3.0  # seconds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="parts of names, as 'digits' or '100000 x'")


def main(options: argparse.Namespace) -> None:
    """Print a line for each shape: normal blobs that overlap, with k-means labels, and the digits."""
    names = ["digits", *SHAPES]
    chosen = [name for name in names if not options.tables or any(part in name for part in options.tables)]
    if not chosen:
        sys.exit(f"no shape {', '.join(options.tables)}; there are: {', '.join(names)}")
    explain(load_digits().data[:500], load_digits().target[:500], max_leaf_nodes=10)  # compiles
    rows = [_row(name) for name in chosen]
    header = ["", "CART s", "explain s", "/ CART", "2k leaves", "/ CART", "IMM.fit / grow.imm"]
    print_table("Processor time, seconds and ratios", header, rows)


def _row(name: str) -> list[str]:
    X, k = (_blobs(*SHAPES[name]), SHAPES[name][2]) if name in SHAPES else (load_digits().data, 10)
    kmeans = KMeans(k, n_init=1, random_state=0).fit(X)
    labels = kmeans.labels_
    reference = Reference.of(X, labels)
    cart = _seconds(lambda: DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(X, labels))
    at_k, at_2k = (_seconds(lambda m=m: explain(X, kmeans, max_leaf_nodes=m)) for m in (k, 2 * k))
    fit, grown = _seconds(lambda: IMM(n_jobs=1).fit(X, labels)), _seconds(lambda: imm(X, reference, n_jobs=1))
    numbers = (cart, at_k, at_k / cart, at_2k, at_2k / cart, fit / grown)
    return [name, *(f"{number:.2f}" for number in numbers)]


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


def _blobs(n: int, d: int, k: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centers, labels = 2 * rng.normal(size=(k, d)), rng.integers(k, size=n)
    return np.asarray(centers[labels] + 2 * rng.normal(size=(n, d)))
