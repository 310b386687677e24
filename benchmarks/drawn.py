"""Trees grown on rows drawn from a long table, beside those grown on all of its rows, both measured on all rows.

`python -m benchmarks.drawn` prints for each table and method how many points of agreement, and how many percent of the
cost, the tree of drawn rows loses. Tables have what makes a draw fail: clusters of one row in ten thousand, weights
over four orders of magnitude, least sizes of leaves, many clusters, rows in order, many columns, ties, far tails. Half
of the rows are drawn. A table takes a minute or two of processor time, one of 200 clusters ten;
`python -m benchmarks.drawn ties tails` takes those kinds alone.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.timing import print_table
from boxwood.batches.source import ArrowSource
from boxwood.grow import METHODS
from boxwood.grow.drawn import IN_MEMORY
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree

GROWN = ("greedy", "exkmc", "expand")


class LongTable(NamedTuple):
    """Rows, their clusters, their weights, and the fewest rows of a leaf."""

    name: str
    X: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None = None
    fewest: int = 1


def main() -> None:
    """Print one line for each table and method."""
    lines = []
    for table in tables(sys.argv[1:]):
        lines += [[table.name, *line] for line in losses(table)]
        print(*lines[-len(GROWN) :], sep="\n", file=sys.stderr, flush=True)
    header = ["table", "method", "agreement", "points lost", "% of cost lost", "seconds, all", "drawn"]
    print_table("Drawn rows: what their trees lose on all rows", header, lines)


def losses(table: LongTable) -> Iterator[list[str]]:
    """Yield one line for each method."""
    columns = {f"x{j}": column for j, column in enumerate(table.X.T)} | {"label": table.labels}
    columns |= {} if table.weights is None else {"w": table.weights}
    source, weight = ArrowSource(pa.table(columns)), None if table.weights is None else "w"
    budget = Budget(min_samples_leaf=table.fewest)
    of_all = Reference.of(table.X, table.labels, sample_weight=table.weights)
    every = Task.of(table.X, of_all, sample_weight=table.weights, budget=budget)
    reference = Reference.of(source, "label", sample_weight=weight)
    in_batches = Task.of(source, reference, sample_weight=weight, budget=budget)
    for name in GROWN:
        if table.fewest > 1 and METHODS[name].one_leaf_each:
            continue
        began = time.process_time()
        grown = METHODS[name].grow(every).tree
        middle = time.process_time()
        of_drawn = METHODS[name].grow(in_batches).tree
        seconds = middle - began, time.process_time() - middle
        (right, cost), (right_drawn, cost_drawn) = (_measured(tree, table) for tree in (grown, of_drawn))
        yield [
            name,
            f"{right:.5f}",
            f"{100 * (right - right_drawn):.3f}",
            f"{100 * (cost_drawn / cost - 1):.3f}",
            *(f"{each:.1f}" for each in seconds),
        ]


def _measured(tree: ThresholdTree, table: LongTable) -> tuple[float, float]:
    """Return the agreement of a tree with all rows, and its cost about the means of its groups."""
    groups, weights = tree.predict(table.X), table.weights
    weights = np.ones(len(groups)) if weights is None else weights
    totals, cost = np.bincount(groups, weights), 0.0
    for column in table.X.T:
        means = np.bincount(groups, weights * column) / np.maximum(totals, 1e-300)
        cost += float((weights * np.square(column - means[groups])).sum())
    return float(np.average(groups == table.labels, weights=weights)), cost


def tables(parts: Sequence[str] = ()) -> Iterator[LongTable]:
    """Yield two tables of each kind, or those whose names have one of some parts."""
    for seed in range(2 * len(KINDS)):
        kind = KINDS[seed // 2]
        d, k = 60 if kind == "many columns" else 8, 200 if "200 clusters" in kind else 8
        if not parts or any(part in f"{seed}: {kind}" for part in parts):
            yield _table(f"{seed}: {kind}", kind, np.random.default_rng(seed), (2 * IN_MEMORY // d, d, k))


KINDS = (
    "cluster of 0.01 %",
    "weights",
    "cluster of 0.01 %, weights",
    "min_samples_leaf",
    "200 clusters",
    "200 clusters, weights",
    "sorted",
    "many columns",
    "ties",
    "tails",
)


def _table(name: str, kind: str, rng: np.random.Generator, shape: tuple[int, int, int]) -> LongTable:
    n, d, k = shape
    shares = rng.dirichlet(np.full(k, 2.0))
    if "0.01 %" in kind:
        shares = np.append(shares[:-1] / shares[:-1].sum() * 0.9999, 0.0001)
    labels = rng.choice(k, size=n, p=shares)
    centers = rng.normal(size=(k, d)) * (4 if k > 100 else 2)
    noise = rng.standard_t(1.5, size=(n, d)) if kind == "tails" else rng.normal(size=(n, d))
    X = centers[labels] + noise
    X = np.round(X) if kind == "ties" else X
    weights = 10 ** rng.uniform(0, 4, size=n) if "weights" in kind else None
    if kind == "sorted":
        order = np.lexsort((X[:, 0], labels))
        X, labels = X[order], labels[order]
    return LongTable(name, X, labels, weights, 200 if kind == "min_samples_leaf" else 1)


if __name__ == "__main__":
    main()
