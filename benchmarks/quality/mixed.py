"""Tables of words and numbers: `explain` on them as they are, beside CART and `explain` on one-hot columns.

Half of the columns of each table are cut into bins, whose names are words without an order. The clusters are the
classes, k-means of the numbers before, average linkage of Gower's distances, and those of k-modes and k-prototypes (pip
install kmodes). With `--gaps` values are knocked out instead, and the others are peers that fill them with medians and
the commonest words. With `--cost` prices are told, for clusters that are compact: those of k-means on one-hot columns,
and of k-prototypes.
"""

import argparse
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality import cases
from benchmarks.quality.cases import tables_of
from benchmarks.tables import Table
from benchmarks.timing import print_table
from boxwood import explain
from boxwood.metrics import partition_cost

MOST_ROWS = 3000
CLUSTERS = 5  # of k-means and average linkage
CRITERIA = ("gini", "entropy")
SLACK = 1e-3  # of agreement, which is no difference


class MixedCase(NamedTuple):
    """A frame of words and numbers, and the cluster of each row."""

    name: str
    frame: pd.DataFrame
    labels: np.ndarray


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)
    parser.add_argument("--cost", action="store_true", help="prices of compact clusters, in the place of agreement")
    parser.add_argument("--gaps", type=float, metavar="SHARE", help="share of the values that are knocked out")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="tables made of each table")


def main(options: argparse.Namespace) -> None:
    """Print a line for each case, and how often the frame as it is agrees less."""
    rows: list[list[Any]] = []
    for case in _cases(options):
        k = int(case.labels.max()) + 1
        for leaves in (k, 2 * k):
            trees = _by_cost if options.cost else _with_gaps if options.gaps else _with_words
            found = trees(case, leaves)
            rows.append([case.name, *case.frame.shape, leaves, *found])
            print(*rows[-1], file=sys.stderr, flush=True)
    if options.cost:
        _print_prices(rows)
        return
    if options.gaps:
        header, others = ["", "rows", "columns", "leaves", "as it is", "filled"], [5]
    else:
        header = ["", "rows", "columns", "leaves", "as it is", "CART", "one-hot", "conditions", "CART's", "one-hot's"]
        others = [5, 6]
    print_table(
        "Agreement in percent, and conditions for a row", header, [[_cell(cell) for cell in row] for row in rows]
    )
    for j in others:
        below = [f"{row[0]} {row[3]}" for row in rows if row[4] < row[j] - 100 * SLACK]
        more = [row[4] - row[j] for row in rows]
        print(f"agrees less than {header[j]} in {len(below)} of {len(rows)}: {', '.join(below) or '-'}")
        print(f"beside {header[j]}: {np.mean(more):+.2f} points in the mean, {min(more):+.2f} at least")
    for j in (8, 9) if not options.gaps else ():
        print(f"fewer conditions than {header[j]} in {sum(row[7] < row[j] for row in rows)} of {len(rows)}")


def _cases(options: argparse.Namespace) -> Iterator[MixedCase]:
    for table in sorted(tables_of(options), key=lambda table: table.X.size):
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            smaller = shortened(table, rng)
            frame = in_words(smaller.X, rng)
            for how, labels in _compact(frame) if options.cost else clusterings(smaller, frame):
                missing = [] if not options.gaps else [("at random", False), ("large", True)]
                for what, of_large in missing or [("", False)]:
                    lacking = knocked_out(frame, smaller.X, options.gaps, of_large, rng) if missing else frame
                    yield MixedCase(f"{table.name} {seed}, {how}{', ' if what else ''}{what}", lacking, labels)


def shortened(table: Table, rng: np.random.Generator) -> Table:
    """Return some of the rows of a long table."""
    at = np.sort(rng.permutation(len(table.X))[:MOST_ROWS])
    return table._replace(X=table.X[at], classes=table.classes[at])


def in_words(X: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table with half of its columns in bins that have words for names, in no order."""
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    for j in rng.permutation(X.shape[1])[: max(1, X.shape[1] // 2)].tolist():
        m = int(rng.integers(4, 13))
        ends = np.unique(np.quantile(X[:, j], np.arange(1, m) / m))
        words = np.array([f"{letter}{j}" for letter in "abcdefghijklm"])[rng.permutation(13)]
        frame[f"x{j}"] = words[np.searchsorted(ends, X[:, j], side="right")]
    return frame


def clusterings(table: Table, frame: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    if table.classes.any():
        yield "classes", np.unique(table.classes, return_inverse=True)[1]
    yield "k-means", KMeans(CLUSTERS, n_init=4, random_state=0).fit_predict(table.X)
    linkage = AgglomerativeClustering(CLUSTERS, metric="precomputed", linkage="average")
    yield "Gower", linkage.fit_predict(_gower(frame))
    yield from _by_modes(frame)
    yield from _by_prototypes(frame)


def _compact(frame: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    yield "one-hot k-means", KMeans(CLUSTERS, n_init=4, random_state=0).fit_predict(in_one_hot(frame))
    yield from _by_prototypes(frame)


def _by_modes(frame: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """Yield clusters of k-modes, to which a number is one of five words."""
    if find_spec("kmodes") is not None:
        from kmodes.kmodes import KModes

        words = frame.apply(lambda column: pd.cut(column, 5, labels=False) if column.dtype.kind == "f" else column)
        found = KModes(CLUSTERS, n_init=1, random_state=0).fit_predict(words.astype(str))
        yield "k-modes", np.unique(found, return_inverse=True)[1]


def _by_prototypes(frame: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    words = [j for j, kind in enumerate(frame.dtypes) if kind.kind != "f"]
    if find_spec("kmodes") is not None and len(words) < len(frame.columns):
        from kmodes.kprototypes import KPrototypes

        found = KPrototypes(CLUSTERS, n_init=1, max_iter=20, random_state=0).fit_predict(frame, categorical=words)
        yield "k-prototypes", np.unique(found, return_inverse=True)[1]


def in_one_hot(frame: pd.DataFrame) -> np.ndarray:
    return pd.get_dummies(frame).to_numpy(dtype=float)


def _gower(frame: pd.DataFrame) -> np.ndarray:
    """Return Gower's distances: shares of ranges, and 1 for words that differ."""
    total = np.zeros((len(frame), len(frame)))
    for name in frame:
        column = frame[name].to_numpy()
        if frame[name].dtype.kind == "f":
            total += np.abs(column[:, None] - column) / max(float(np.ptp(column)), 1e-300)
        else:
            total += column[:, None] != column
    return total


def knocked_out(
    frame: pd.DataFrame, X: np.ndarray, share: float, of_large: bool, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the frame without a share of the values of each column: of all, or of the larger half."""
    lacking = frame.copy()
    for j, name in enumerate(frame):
        chance = np.where(X[:, j] > np.median(X[:, j]), 2 * share, 0.0) if of_large else share
        lacking.loc[rng.random(len(frame)) < chance, name] = None
    return lacking


def _with_words(case: MixedCase, leaves: int) -> list[float]:
    """Return the agreement of trees on the frame, of CART and of ours on one-hot columns, and their conditions."""
    one_hot = in_one_hot(case.frame)
    asked: dict[str, Any] = {"max_leaf_nodes": leaves, "objective": "agreement"}
    # named, as a column that says the same as the labels is left out otherwise, and CART has it
    ours = explain(case.frame, case.labels, columns=list(case.frame), **asked)
    on_one_hot = explain(one_hot, case.labels, **asked)
    carts = [
        DecisionTreeClassifier(criterion=how, max_leaf_nodes=leaves, random_state=0).fit(one_hot, case.labels)
        for how in CRITERIA
    ]
    best = max(carts, key=lambda tree: float(tree.score(one_hot, case.labels)))
    shares = ours.agreement, float(best.score(one_hot, case.labels)), on_one_hot.agreement
    conditions = (
        ours.readability.weighted_average_explanation_size,
        *(
            each.readability.weighted_average_explanation_size
            for each in (explain(one_hot, case.labels, method="cart", max_leaf_nodes=leaves), on_one_hot)
        ),
    )
    return [*(100 * share for share in shares), *conditions]


def _by_cost(case: MixedCase, leaves: int) -> list[float]:
    """Return the prices of trees on the frame, of CART and of ours on one-hot columns, which cost what words cost."""
    one_hot = in_one_hot(case.frame)
    of_clusters = partition_cost(one_hot, case.labels)
    ours, on_one_hot = (
        explain(rows, case.labels, max_leaf_nodes=leaves, objective="cost", columns=names).price
        for rows, names in ((case.frame, list(case.frame)), (one_hot, None))
    )
    carts = (
        DecisionTreeClassifier(criterion=how, max_leaf_nodes=leaves, random_state=0).fit(one_hot, case.labels)
        for how in CRITERIA
    )
    return [ours, min(partition_cost(one_hot, cart.predict(one_hot)) / of_clusters for cart in carts), on_one_hot]


def _print_prices(rows: list[list[Any]]) -> None:
    header = ["", "rows", "columns", "leaves", "as it is", "CART", "one-hot"]
    lines = [[*map(str, row[:4]), *(f"{price:.4f}" for price in row[4:])] for row in rows]
    print_table("Price of explainability", header, lines)
    for j in (5, 6):
        over = [row[4] / row[j] - 1 for row in rows]
        above = [f"{row[0]} {row[3]}" for row, more in zip(rows, over, strict=True) if more > SLACK]
        print(f"costs more than {header[j]} in {len(above)} of {len(rows)}: {', '.join(above) or '-'}")
        print(f"beside {header[j]}: {np.mean(over):+.2%} in the mean, {max(over):+.2%} at most")


def _with_gaps(case: MixedCase, leaves: int) -> list[float]:
    """Return the agreement of trees on the frame with gaps, and on the frame with gaps filled."""
    filled = case.frame.copy()
    for name in filled:
        known = filled[name].dropna()
        filled[name] = filled[name].fillna(known.median() if known.dtype.kind == "f" else known.mode()[0])
    asked: dict[str, Any] = {"max_leaf_nodes": leaves, "objective": "agreement"}
    return [100 * explain(frame, case.labels, **asked).agreement for frame in (case.frame, filled)]


def _cell(cell: Any) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)
