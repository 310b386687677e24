"""Trees that agree most within a depth: ours and ConTree's, their mistakes and their processor time.

ConTree finds the tree with the fewest mistakes at a depth (pip install pycontree). Beside it stand `grow.optimal`, on
one thread, `explain` with objective="agreement" and the same depth and leaves, and `explain` with as many leaves alone.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality import cases
from benchmarks.quality.cases import tables_of
from benchmarks.tables import Table
from benchmarks.timing import print_table
from boxwood import Reference, explain
from boxwood.grow import optimal

TABLES = (
    "iris", "wine", "glass", "breast_cancer", "ecoli", "banknote", "penguins", "wholesale", "mall_customers", "rice",
    "htru2", "compound", "aggregation", "jain",
)  # fmt: skip
HEADER = [
    "", "rows", "columns", "k", "depth", "ConTree", "optimal", "explain", "leaves alone", "ConTree s", "optimal s",
    "ratio", "explain s",
]  # fmt: skip


class Case(NamedTuple):
    """A table, clusters or classes of its rows, and the depth of trees."""

    name: str
    X: np.ndarray
    labels: np.ndarray
    depth: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)
    parser.add_argument("--depths", nargs="+", type=int, default=[2, 3])
    parser.add_argument("--clusters", nargs="+", type=int, default=[3, 5], help="numbers of clusters of k-means")
    parser.add_argument("--classes", action="store_true", help="the classes of every table in the place of clusters")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random tables in the place of these")
    parser.add_argument("--time-limit", type=float, default=600, help="seconds for ConTree, and for ours")
    parser.add_argument("--held-out", action="store_true", help="agreement on 30%% of the rows, beside CART's")


def main(options: argparse.Namespace) -> None:
    """Print a line for each case, and how often ours makes more mistakes and how much longer it takes."""
    found = list(_random(options)) if options.random else list(_cases(options))
    if options.held_out:
        _held_out(found)
        return
    try:
        from pycontree import ConTree
    except ImportError:
        sys.exit("this part compares with ConTree: pip install pycontree")
    warm_up()
    rows = []
    for case in found:
        rows.append(row_of(case, ConTree, options.time_limit))
        print(*_cells(rows[-1]), file=sys.stderr, flush=True)
    print_table("Mistakes, and seconds of processor time", HEADER, [_cells(row) for row in rows])
    _conclude(rows)


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    """Yield the tables with clusters of k-means, or with their classes."""
    for table in sorted(tables_of(options), key=lambda table: table.X.size):
        if options.classes:
            clusterings: list[np.ndarray] = [table.classes] if table.classes.any() else []
        elif table.name in TABLES or options.tables:
            clusterings = [clusters_by_k_means(table, k) for k in options.clusters]
        else:
            clusterings = []
        yield from (Case(table.name, table.X, labels, depth) for labels in clusterings for depth in options.depths)


def clusters_by_k_means(table: Table, k: int) -> np.ndarray:
    """Return the cluster of each row, the best of some starts."""
    return np.asarray(KMeans(k, n_init=4, random_state=0).fit(table.X).labels_)


def _random(options: argparse.Namespace) -> Iterator[Case]:
    """Yield random tables: blobs that overlap, some columns of few values."""
    for seed in range(options.random):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(20, 400)), int(rng.integers(1, 8)), int(rng.integers(2, 7))
        labels = rng.integers(k, size=n)
        X = rng.exponential(size=1) * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d))
        few = rng.random(d) < 0.3
        X[:, few] = np.round(X[:, few])
        yield Case(
            f"random {seed}", X, np.unique(labels, return_inverse=True)[1], options.depths[seed % len(options.depths)]
        )


def row_of(case: Case, contree: Any, time_limit: float) -> list[Any]:
    """Return what HEADER names: mistakes and seconds; None where ConTree did not end in time."""
    X, labels, leaves = case.X, case.labels, 1 << case.depth
    reference = Reference.of(X, labels)
    model = contree(max_depth=case.depth, time_limit=time_limit)
    with warnings.catch_warnings(record=True) as is_late:  # its limit is of another clock than what is measured here
        warnings.simplefilter("always")
        of_contree, _ = _timed(lambda: model.fit(X, labels))
    theirs = None if is_late else int((model.predict(X) != labels).sum())
    limits: dict[str, Any] = {"max_depth": case.depth, "objective": "agreement", "n_jobs": 1}
    of_ours, found = _timed(lambda: optimal(X, reference, **limits, time_limit=time_limit))
    of_explain, within = _timed(lambda: explain(X, labels, max_leaf_nodes=leaves, **limits))
    alone = explain(X, labels, max_leaf_nodes=leaves, objective="agreement", n_jobs=1)
    mistakes = [int(found.cost), *(round((1 - ex.agreement) * len(X)) for ex in (within, alone))]
    head = [case.name, *X.shape, int(labels.max()) + 1, case.depth, theirs]
    return [*head, *mistakes, of_contree, of_ours, of_ours / max(of_contree, 1e-3), of_explain]


def _cells(row: Sequence[Any]) -> list[str]:
    return ["-" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]


def _conclude(rows: list[list[Any]]) -> None:
    """Print in how many cases ours is below ConTree, and the ratios of the times."""
    ended = [row for row in rows if row[5] is not None]
    for i, what in ((6, "optimal"), (7, "explain"), (8, "explain by leaves alone")):
        more = [f"{row[0]} k={row[3]} depth {row[4]}" for row in ended if row[i] > row[5]]
        print(f"{what} makes more mistakes than ConTree in {len(more)} of {len(ended)}: {', '.join(more) or '-'}")
    for depth in sorted({row[4] for row in ended}):
        ratios = [row[11] for row in ended if row[4] == depth]
        print(
            f"depth {depth}: optimal takes {median(ratios):.2f} times as long in the median, {max(ratios):.2f} at most"
        )


def _held_out(found: list[Case]) -> None:
    """Print agreement on the rows that were explained and on the other 30%, in percent."""
    rows = []
    for case in found:
        parted = case.labels if np.bincount(case.labels).min() > 1 else None
        parts = train_test_split(case.X, case.labels, test_size=0.3, random_state=0, stratify=parted)
        seen, unseen, known, hidden = parts
        limits = {"max_depth": case.depth, "max_leaf_nodes": 1 << case.depth}
        trees = (
            explain(seen, known, objective="agreement", **limits),
            DecisionTreeClassifier(**limits, random_state=0).fit(seen, known),
        )
        shares = [np.mean(tree.predict(X) == own) for tree in trees for X, own in ((seen, known), (unseen, hidden))]
        rows.append((f"{case.name} k={case.labels.max() + 1} depth {case.depth}", *map(float, shares)))
        print(*rows[-1], file=sys.stderr, flush=True)
    means = [float(np.mean([row[i] for row in rows])) for i in range(1, 5)]
    header = ["", "explain, seen", "unseen", "CART, seen", "unseen"]
    lines = [[row[0], *(f"{100 * share:.2f}" for share in row[1:])] for row in (*rows, ("mean", *means))]
    print_table("Agreement, in percent", header, lines)


def warm_up() -> None:
    """Compile what is timed: calls with so many rows are not interpreted."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40_000, 3)), rng.integers(3, size=40_000)
    for depth in (2, 3):
        optimal(X, Reference.of(X, labels), max_depth=depth, objective="agreement", time_limit=1)
    explain(X, labels, max_depth=2, objective="agreement")


def _timed(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a task, the least of three runs where it is short, and its result."""
    found = []
    for _ in range(3):
        start = time.process_time()
        result = task()
        found.append(time.process_time() - start)
        if found[0] > 1:
            break
    return min(found), result
