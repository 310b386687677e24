"""What each group of candidates and each step is worth: price, agreement and time of `explain` without it."""

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.quality.cases import Clusters, clusters_of, numbers_of_clusters
from benchmarks.tables import tables
from benchmarks.timing import print_table
from boxwood import explain
from boxwood.explanation import _candidates, _search

MOST_VALUES = 60_000  # of a table


def main(names: Sequence[str] = ()) -> None:
    """Print a line for everything that is left out, at k and at 2k leaves; tables of up to 60 000 values."""
    cases = [
        clusters_of(table, k, 0)
        for table in tables()
        if table.X.size <= MOST_VALUES and (not names or table.name in names)
        for k in numbers_of_clusters(table)
    ]
    explain(cases[0].X, cases[0].kmeans)  # compiles
    for times in (1, 2):
        whole = _outcomes(cases, times)
        rows = [_line("nothing", whole, whole)]
        for name, change in _changes().items():
            with change():
                rows.append(_line(name, _outcomes(cases, times), whole))
        header = ["without", "price", "dearer in", "by at most", "cheaper in", "agreement", "CPU s"]
        print_table(f"{len(cases)} cases, {times} leaves for each cluster", header, rows)


def _changes() -> dict[str, Callable[[], Any]]:
    changes = {name: lambda name=name: _patched(_candidates.CANDIDATES, name) for name in _candidates.CANDIDATES}
    steps = {"refinement": ("REFINED", 0), "small subtrees": ("RESOLVED", 0), "exact search": ("SOLVED", 0)}
    return changes | {name: lambda to=to: _set(*to) for name, to in steps.items()}


@contextmanager
def _patched(candidates: dict[str, Any], name: str):
    kept = candidates[name]
    candidates[name] = lambda part: iter(())
    yield
    candidates[name] = kept


@contextmanager
def _set(name: str, value: int):
    kept = getattr(_search, name)
    setattr(_search, name, value)
    yield
    setattr(_search, name, kept)


def _outcomes(cases: Sequence[Clusters], times: int) -> np.ndarray:
    """Return price (at least 1), agreement and seconds of each case, shape (n_cases, 3)."""
    found = []
    for case in cases:
        start = time.process_time()
        ex = explain(case.X, case.kmeans, max_leaf_nodes=times * case.k)
        found.append((max(ex.price, 1.0), ex.agreement, time.process_time() - start))
    return np.array(found)


def _line(name: str, found: np.ndarray, whole: np.ndarray) -> list[str]:
    ratio = found[:, 0] / whole[:, 0]
    return [
        name,
        f"{np.exp(np.log(found[:, 0]).mean()):.5f}",
        str((ratio > 1 + 1e-9).sum()),
        f"{ratio.max() - 1:.2%}",
        str((ratio < 1 - 1e-9).sum()),
        f"{found[:, 1].mean():.4f}",
        f"{found[:, 2].sum():.1f}",
    ]
