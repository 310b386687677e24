"""One-line rules beside those of Cluster-Explorer: at no less found and no less precision, how many conditions.

Each rule of theirs, mined with at most three columns and their other defaults, is measured on all rows. Beside it
stands the shortest of ours that finds as much and is as pure. A condition asks of one column, however many ends it has.

Needs the package `cluster-explorer`.

References
----------
S. Ofek, A. Somech, "Explaining Black-Box Clustering Pipelines With Cluster-Explorer", PVLDB 2025.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.quality import cases
from benchmarks.quality.agreement import clusters_by_k_means
from benchmarks.quality.cases import tables_of
from benchmarks.timing import print_table
from boxwood.grow.lines.columns import line_columns
from boxwood.grow.lines.search import LineGoal, best_rules
from boxwood.loops import lines as loops

HEADER = ["", "rows", "columns", "theirs", "of clusters", "shorter", "as short", "longer", "never", "their s", "our s"]
NEAR = 1e-9


class Mined(NamedTuple):
    """A rule of theirs: its conditions, and what it finds and how pure it is on all rows."""

    cluster: int
    n_conditions: int
    found: float
    precision: float


class Outcome(NamedTuple):
    """All rules of theirs for the clusters of a table, and the conditions of ours; None where none does as well."""

    name: str
    shape: tuple[int, int]
    theirs: list[Mined]
    ours: list[int | None]
    seconds: tuple[float, float]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)
    parser.add_argument("--clusters", type=int, default=5, help="number of clusters of k-means")
    parser.add_argument("--first", type=int, default=20, help="how many of the smallest tables")


def main(options: argparse.Namespace) -> None:
    """Print a line for each table, and the sums of all."""
    tables = sorted(tables_of(options), key=lambda table: table.X.size)[: options.first]
    try:
        import cluster_explorer
    except ImportError:
        sys.exit("this part needs another package: pip install cluster-explorer")
    found = []
    for table in tables:
        labels = clusters_by_k_means(table, options.clusters)
        found.append(_outcome(table.name, table.X, labels, cluster_explorer))
        print(*_cells(found[-1]), file=sys.stderr, flush=True)
    sums = np.array([[int(cell) for cell in _cells(one)[3:9]] for one in found]).sum(axis=0)
    total = ["all", "", "", *map(str, sums), *(f"{sum(one.seconds[i] for one in found):.1f}" for i in range(2))]
    print_table("Our rules beside each of theirs", HEADER, [*map(_cells, found), total])


def _outcome(name: str, X: np.ndarray, labels: np.ndarray, package: Any) -> Outcome:
    began = time.process_time()
    theirs = list(_mined(X, labels, package))
    between = time.process_time()
    ours = [_shortest(X, labels, one) for one in theirs]
    return Outcome(name, X.shape, theirs, ours, (between - began, time.process_time() - between))


def _mined(X: np.ndarray, labels: np.ndarray, package: Any) -> Iterator[Mined]:
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    with warnings.catch_warnings(), redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        explainer = package.Explainer(frame, pd.Series(labels))
        rules = explainer.generate_explanations()
    for rule, cluster in zip(rules["rule"], rules["Cluster"], strict=True):
        parts = package.str_rule_to_list(rule)
        held = package.condition_generator(explainer.df, [parts])
        own = labels == cluster
        both = (held & own).sum()
        yield Mined(int(cluster), len({part[0] for part in parts[::2]}), both / own.sum(), both / held.sum())


def _shortest(X: np.ndarray, labels: np.ndarray, theirs: Mined) -> int | None:
    """Return how many conditions it takes to find as much, and as purely."""
    is_own, weights = labels == theirs.cluster, np.ones(len(labels))
    goal = LineGoal(loops.PRECISION, theirs.found)
    rules = best_rules(line_columns(X, range(X.shape[1]), {}, ()), is_own, weights, goal, 3)
    return next((n for n, one in enumerate(rules, 1) if one.value >= theirs.precision - NEAR), None)


def _cells(one: Outcome) -> list[str]:
    pairs = [(ours, theirs.n_conditions) for ours, theirs in zip(one.ours, one.theirs, strict=True)]
    known = [(ours, theirs) for ours, theirs in pairs if ours is not None]
    counts = [sum(test(*pair) for pair in known) for test in (int.__lt__, int.__eq__, int.__gt__)]
    clusters = len({theirs.cluster for theirs in one.theirs})
    return [
        one.name,
        *map(str, (*one.shape, len(pairs), clusters, *counts, len(pairs) - len(known))),
        *(f"{seconds:.1f}" for seconds in one.seconds),
    ]
