"""Processor time of `explain`, as a ratio to one scikit-learn CART on the same labels, both on one thread."""

import argparse
import sys
import time
from collections.abc import Callable

from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.cases import clusters_of, timed_tables
from benchmarks.tables import Table
from benchmarks.timing import print_table
from boxwood import IMM, Reference, explain
from boxwood.grow import imm

RUNS = 3  # the least of so many counts; long ones are run once
LONG = 3.0  # seconds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="parts of names, as 'digits' or '100000 x'")


def main(options: argparse.Namespace) -> None:
    """Print a line for each table, with the clusters of k-means with one start."""
    found = list(timed_tables())
    chosen = [table for table in found if not options.tables or any(part in table.name for part in options.tables)]
    if not chosen:
        sys.exit(f"no table {', '.join(options.tables)}; there are: {', '.join(table.name for table in found)}")
    explain(found[0].X[:500], found[0].classes[:500], max_leaf_nodes=10)  # compiles
    rows = [_row(table) for table in chosen]
    header = ["", "CART s", "explain s", "/ CART", "2k leaves", "/ CART", "IMM.fit / grow.imm"]
    print_table("Processor time, seconds and ratios", header, rows)


def _row(table: Table) -> list[str]:
    X, k, kmeans = table.X, table.k, clusters_of(table, table.k, 0, n_init=1).kmeans
    labels = kmeans.labels_
    reference = Reference.of(X, labels)
    explain(X, kmeans, n_jobs=1)  # compiles what the shape needs
    cart = _seconds(lambda: DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(X, labels))
    at_k, at_2k = (_seconds(lambda m=m: explain(X, kmeans, max_leaf_nodes=m, n_jobs=1)) for m in (k, 2 * k))
    fit, grown = _seconds(lambda: IMM(n_jobs=1).fit(X, labels)), _seconds(lambda: imm(X, reference, n_jobs=1))
    numbers = (cart, at_k, at_k / cart, at_2k, at_2k / cart, fit / grown)
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
