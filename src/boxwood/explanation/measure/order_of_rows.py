"""What the order of rows says of clusters: units whose rows come again, and a series of which clusters are eras."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import list_words
from boxwood.columns.rules import OF_UNITS
from boxwood.words.values import cluster_name, column_name, shorten_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

FEWEST, LOOKED_AT = 50, 5_000  # rows of a series, and how many of them tell whether a column rises
SELDOM = 0.15  # of the changes of cluster from row to row that rows in any order would have, at most
RISES = 0.95  # rank correlation with the place in the file
FEW_VALUES = 20  # of a column that does not tell a series


def say_order(ex: MeasuredTree) -> list[str]:
    """Return what the order of rows says of clusters that boxwood made; nothing if the rows are not in memory."""
    if not ex._is_made_here or ex._in_memory is None:
        return []
    if "order" not in ex._kept:
        ex._kept["order"] = [said for said in (_say_units(ex), _say_series(ex)) if said]
    return list(ex._kept["order"])


def _say_units(ex: MeasuredTree) -> str:
    """Return how many of the units, whose rows come again, stay in one cluster."""
    evidence = ex._in_memory
    assert evidence is not None
    beside, task = evidence.coordinates.beside, evidence.task
    unit = next((name for name, column in beside.items() if column.reason == OF_UNITS), None)
    if unit is None:
        return ""
    values, labels = beside[unit].values[task.kept], task.reference.labels[task.kept]
    known, k = np.isfinite(values), ex.n_clusters
    units = np.unique(values[known], return_inverse=True)[1]
    n_clusters = np.bincount(np.unique(units * k + labels[known]) // k)
    n, same = len(n_clusters), np.count_nonzero(n_clusters == 1)
    return (
        f"Rows of {n:,} units ({column_name(unit)}) come again and again: {same:,} of these units stay in one cluster; "
        "to group units, give one row for each."
    )


def _say_series(ex: MeasuredTree) -> str:
    """Return in which order clusters follow one another, if the rows seem to be a series."""
    evidence = ex._in_memory
    assert evidence is not None
    task = evidence.task
    labels, numbers = task.reference.labels[task.kept], evidence.coordinates.table.values[task.kept]
    if len(labels) < FEWEST or not _change_seldom(labels):
        return ""
    rising = [
        column_name(name)
        for j, name in enumerate(ex.columns)
        if j not in evidence.coordinates.categories and _rises(np.asarray(numbers[:, j], dtype=np.float64))
    ]
    if not rising:
        return ""
    places = np.bincount(labels, np.arange(len(labels))) / np.bincount(labels)
    names = [shorten_name(cluster_name(ex.clusters[c].name)) for c in np.argsort(places, kind="stable").tolist()]
    rise = "rises or falls" if len(rising) == 1 else "rise or fall"
    return (
        f"The rows seem to be a series, as {list_words(rising)} {rise} down the file, and its clusters mostly eras: "
        f"{list_words(names, len(names))}."
    )


def _change_seldom(labels: Indices) -> bool:
    """Return whether the cluster changes from row to row in few of the places in which it would by chance."""
    shares = np.bincount(labels) / len(labels)
    by_chance = (1.0 - float(shares @ shares)) * (len(labels) - 1)
    return bool(np.count_nonzero(np.diff(labels)) <= SELDOM * by_chance)


def _rises(x: Floats) -> bool:
    """Return whether a column rises or falls down the file, but not in each step, as a sorted one would."""
    from scipy.stats import rankdata

    x = x[:: -(-len(x) // LOOKED_AT)]
    x = x[np.isfinite(x)]
    steps = np.diff(x)
    if len(np.unique(x)) <= FEW_VALUES or (steps >= 0).all() or (steps <= 0).all():
        return False
    return bool(abs(np.corrcoef(rankdata(x), np.arange(len(x)))[0, 1]) >= RISES)
