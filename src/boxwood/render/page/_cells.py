"""What rows are like that their rules put into another cluster, beside the other rows: a cell of the confusion each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood.explanation.measure.contrast import OTHERS, two_groups
from boxwood.explanation.measure.profile import measure_profile
from boxwood.explanation.measure.told import profile_told
from boxwood.render.page._parts import profile_table
from boxwood.render.pictures.picture import say_rows

if TYPE_CHECKING:
    from boxwood._types import Indices, Ints
    from boxwood.explanation.measured_tree import MeasuredTree

_MOST_CELLS, _MOST_COLUMNS = 20, 10
_CHEAP = 2_000_000  # rows times columns times cells


def cells_of_confusion(ex: MeasuredTree, least: int) -> dict[str, dict[str, Any]]:
    """Return the largest cells off the diagonal by their clusters, that of the rows and that of the rules.

    Each has its rows, and for some columns the name and what is typical of these rows, and of all others. A cell of
    fewer rows than `least` is not told of, nor one that would leave fewer of its cluster of which nothing is told: what
    the page says of the whole cluster, less what is said of its cells, would tell of these.
    """
    evidence = ex._in_memory
    if evidence is None or evidence.whole is not None:
        return {}
    labels, clusters = evidence.task.reference.labels, ex.tree.leaf_clusters[evidence.leaf]
    kept, k = evidence.task.kept, ex.n_clusters
    counts = np.bincount(labels[kept] * k + clusters[kept], minlength=k * k).reshape(k, k)
    told = _cells_told(counts, least)
    if counts.sum() * len(ex.columns) * len(told) > _CHEAP:
        return {}
    return {f"{i}-{j}": _beside_others(ex, np.where(kept, 1 - ((labels == i) & (clusters == j)), -1)) for i, j in told}


def _cells_told(counts: Ints, least: int) -> list[tuple[int, int]]:
    """Return the cells to tell of, the largest first; of equal ones the first."""
    order = [divmod(cell, len(counts)) for cell in np.argsort(-counts, axis=None, kind="stable").tolist()]
    left, total, found = counts.sum(axis=1), counts.sum(), list[tuple[int, int]]()
    for i, j in order:
        n = counts[i, j]
        if i != j and n >= least and left[i] - n >= least and total - n >= least:
            left[i] -= n
            found.append((i, j))
    return found[:_MOST_CELLS]


def _beside_others(ex: MeasuredTree, both: Indices) -> dict[str, Any]:
    pair = two_groups(ex, both, (0, OTHERS))
    measure_profile(pair)
    lines = profile_table(pair, profile_told(pair))["columns"][:_MOST_COLUMNS]
    said = [[line["name"], *(cell["text"] if cell else "–" for cell in line["cells"])] for line in lines]
    return {"rows": say_rows(pair.clusters[0].size, ex.details.weighted), "columns": said}
