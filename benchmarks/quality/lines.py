"""One-line rules beside the tree's: conditions at no lower F1, how many are proved to be the best, time, rows unseen.

For each cluster stands the shortest rule of its front whose F1 is not below that of the tree's rule. A tree's rule has
the conditions of all leaves of the cluster.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.quality import cases
from benchmarks.quality.agreement import clusters_by_k_means
from benchmarks.quality.cases import tables_of
from benchmarks.timing import print_table
from boxwood import explain

HEADER = [
    "", "rows", "columns", "k", "fewer", "as many", "more", "never", "line", "tree's", "F1", "tree's F1", "proved",
    "agree", "tree agrees", "s",
]  # fmt: skip


class Outcome(NamedTuple):
    """What lines do on a table, cluster by cluster; None where no line has the F1 of the tree's rule."""

    name: str
    shape: tuple[int, int]
    of_line: list[int | None]
    of_tree: list[int]
    f1: list[float]
    f1_of_tree: list[float]
    proved: list[bool]
    agreement: float
    agreement_of_tree: float
    seconds: float
    unseen: list[tuple[float, ...]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)
    parser.add_argument("--clusters", nargs="+", type=int, default=[3, 5, 10], help="numbers of clusters of k-means")
    parser.add_argument("--validate", type=int, metavar="FOLDS", help="found and precision on rows not seen, too")
    parser.add_argument("--most", type=int, default=20, help="most classes of a table; tables of more are left out")


def main(options: argparse.Namespace) -> None:
    """Print a line for each table and clustering, and the shares over all clusters."""
    found = []
    for outcome in _outcomes(options):
        found.append(outcome)
        print(*_cells(outcome), file=sys.stderr, flush=True)
    print_table("Conditions of lines and of the tree's rules at no lower F1", HEADER, [_cells(one) for one in found])
    _conclude(found)


def _outcomes(options: argparse.Namespace) -> Iterator[Outcome]:
    for table in sorted(tables_of(options), key=lambda table: table.X.size):
        labels = {f"{table.name} k={k}": clusters_by_k_means(table, k) for k in options.clusters}
        if table.classes.any() and table.k <= options.most:
            labels[f"{table.name} classes"] = table.classes
        for name, each in labels.items():
            yield _outcome(name, table.X, each, options.validate)


def _outcome(name: str, X: np.ndarray, labels: np.ndarray, validate: int | None) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ex = explain(X, labels, objective="agreement", method="cart" if X.size > 1_000_000 else "auto")
    began = time.process_time()
    lines = ex.standalone_rules()
    seconds = time.process_time() - began
    f1_of_tree = [2 * (one.size * (one.found or 0)) / (one.size + one.matched) for one in ex.clusters]
    shortest = [
        next((len(one.rule) for one in front if one.f1 >= least - 1e-9), None)
        for front, least in zip(lines.fronts, f1_of_tree, strict=True)
    ]
    unseen = [] if validate is None else [
        (line.found, line.found_held_out or 0.0, line.precision, line.precision_held_out or 0.0)
        for line in ex.standalone_rules(validate=validate)
        if line is not None
    ]  # fmt: skip
    return Outcome(
        name,
        X.shape,
        shortest,
        [sum(len(rule) for rule in one.rules) for one in ex.clusters],
        [line.f1 if line else 0.0 for line in lines],
        f1_of_tree,
        [
            bound <= max((one.f1 for one in front), default=1.0) + 1e-6
            for bound, front in zip(lines.bounds, lines.fronts, strict=True)
        ],
        lines.agreement,
        ex.agreement,
        seconds,
        unseen,
    )


def _cells(one: Outcome) -> list[str]:
    pairs = list(zip(one.of_line, one.of_tree, strict=True))
    known = [(line, tree) for line, tree in pairs if line is not None]
    counts = [sum(test(*pair) for pair in known) for test in (int.__lt__, int.__eq__, int.__gt__)]
    means = [
        np.mean([line for line, _ in known] or [0]),
        np.mean(one.of_tree),
        np.mean(one.f1),
        np.mean(one.f1_of_tree),
    ]
    return [
        one.name,
        *map(str, (*one.shape, len(pairs), *counts, len(pairs) - len(known))),
        *(f"{mean:.2f}" for mean in means[:2]),
        *(f"{mean:.3f}" for mean in means[2:]),
        f"{np.mean(one.proved):.0%}",
        f"{one.agreement:.3f}",
        f"{one.agreement_of_tree:.3f}",
        f"{one.seconds:.2f}",
    ]


def _conclude(found: list[Outcome]) -> None:
    pairs = [pair for one in found for pair in zip(one.of_line, one.of_tree, strict=True) if pair[1]]
    fewer = np.mean([line is not None and line < tree for line, tree in pairs])
    no_more = np.mean([line is not None and line <= tree for line, tree in pairs])
    proved = np.mean([each for one in found for each in one.proved])
    seconds = [one.seconds for one in found]
    print(f"\n{len(pairs)} clusters with a rule of the tree: no more conditions in {no_more:.1%}, fewer in {fewer:.1%}")
    print(f"proved to be the best of up to three conditions: {proved:.1%}")
    print(f"seconds of processor time: at most {max(seconds):.2f}, {sum(seconds):.0f} in all")
    if unseen := [each for one in found for each in one.unseen]:
        means = np.mean(unseen, axis=0)
        print("found {:.1%}, unseen {:.1%}; precision {:.1%}, unseen {:.1%}".format(*means))
