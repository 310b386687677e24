"""The rows of a picture: how many reach each node, of which clusters, and how the column of each cut is distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices, Weights
from boxwood.render._bars import Bars, bars_of_categories, bars_of_numbers
from boxwood.render._cut_words import Sides
from boxwood.render._rules import category

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["Counts", "bars_of", "counts_of", "held_of"]


class Counts(NamedTuple):
    """Rows at each node, or their weight, by reference cluster (n_nodes, k) and in all; and lost ones at each cut."""

    by_cluster: Floats | None
    rows: Floats
    lost: Floats | None


def counts_of(ex: Explanation) -> Counts:
    """Return the rows at each node. A loaded model knows the sizes of its leaves alone."""
    tree, k = ex.tree, ex.n_clusters
    rows = _upwards(ex, np.array([[leaf.size] for leaf in ex.leaves]))[:, 0]
    held = held_of(ex)
    if held is None:
        return Counts(None, rows, None)
    by_cluster = _upwards(ex, held)
    has_leaf = _upwards(ex, (tree.leaf_clusters[:, None] == np.arange(k)).astype(np.float64)) > 0
    lost = np.zeros(tree.n_nodes)
    for child in range(1, tree.n_nodes):
        parent = tree.parent[child]
        lost[parent] += by_cluster[child, has_leaf[parent] & ~has_leaf[child]].sum()
    return Counts(by_cluster, rows, lost)


def held_of(ex: Explanation) -> Floats | None:
    """Return the number or weight of the rows of each cluster in each leaf; None for a loaded model."""
    if "held" in ex._kept:  # of an explanation whose counts were rounded
        rounded: Floats = ex._kept["held"]
        return rounded
    if ex._table is not None:
        return ex._table.held.astype(np.float64)
    if ex._evidence is None:
        return None
    from boxwood.explanation._held import held_by_leaves

    task, leaf = ex._rows().task, ex._rows().leaf
    return held_by_leaves(leaf, ex.n_leaves, task.reference, task.rows.weights)[0].astype(np.float64)


def _upwards(ex: Explanation, at_leaves: Array) -> Array:
    """Return sums at all nodes, shape (n_nodes, m), of numbers at the leaves, shape (n_leaves, m)."""
    sums = np.zeros((ex.tree.n_nodes, at_leaves.shape[1]))
    sums[ex.tree.leaf_nodes] = at_leaves
    for node in range(ex.tree.n_nodes - 1, 0, -1):
        sums[ex.tree.parent[node]] += sums[node]
    return sums


def bars_of(ex: Explanation, codes: dict[int, Sides]) -> dict[int, Bars]:
    """Return the bars of each cut.

    The rows are put leaf by leaf, so those of a node stand side by side; each tested column is read once.
    """
    from boxwood.reference._quantiles import AT_ONCE, columns_in_groups, places_in_groups

    tree, evidence, found = ex.tree, ex._rows(), {}
    task, tested = evidence.task, tree.features.tolist()
    places, counts = places_in_groups(np.where(task.kept, evidence.leaf, -1), tree.n_leaves)
    bounds, first, last = np.append(0, np.cumsum(counts)), *_leaves_below(ex)
    labels = _placed(task.reference.labels, places, bounds[-1])
    weights = None if task.rows.weights is None else _placed(task.rows.weights, places, bounds[-1])
    room = np.empty((min(AT_ONCE, len(tested)), bounds[-1]))
    for start in range(0, len(tested), AT_ONCE):
        here = tested[start : start + AT_ONCE]
        for j, x in zip(here, columns_in_groups(evidence.coordinates.table.values, here, places, room), strict=True):
            for node in np.flatnonzero(tree.feature == j).tolist():
                rows = slice(bounds[first[node]], bounds[last[node]])
                at_node = x[rows], labels[rows], None if weights is None else weights[rows]
                found[node] = _bars_at(ex, node, codes.get(node), *at_node)
    return found


def _bars_at(
    ex: Explanation, node: int, sides: Sides | None, values: Floats, labels: Indices, weights: Weights
) -> Bars:
    """Return the bars of a cut; IN: sides: its codes, for a column of categories; values, labels, weights: its rows."""
    tree, k = ex.tree, ex.n_clusters
    if sides is None:
        return bars_of_numbers(values, labels, k, float(tree.lower[node]), float(tree.upper[node]), weights)
    known = ex.coded_columns[int(tree.feature[node])]
    names = [category(value) for value in known.values] + ["other"] * known.others
    return bars_of_categories(values, labels, k, sides, names, weights)


def _leaves_below(ex: Explanation) -> tuple[Indices, Indices]:
    """Return the first leaf below each node, and the one behind its last; leaves are counted in pre-order."""
    tree = ex.tree
    below = _upwards(ex, np.ones((tree.n_leaves, 1)))[:, 0].astype(np.intp)
    first = np.searchsorted(tree.leaf_nodes, np.arange(tree.n_nodes))
    return first, first + below


def _placed(values: Array, places: Indices, size: int) -> Array:
    """Return the values of rows at their places; those without a place are left out."""
    placed = np.empty(size + 1, dtype=values.dtype)
    placed[places] = values  # the place -1 is the last one
    return placed[:-1]
