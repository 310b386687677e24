"""The rows of a picture: how many reach each node, of which clusters, and how the column of each cut is distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices, Weights
from boxwood.render._bars import Bars, bars_of_categories, bars_of_numbers
from boxwood.render._cut_words import Sides
from boxwood.render._rules import category
from boxwood.tree._walk import values_at_nodes

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["Counts", "bars_of", "counts_of"]


class Counts(NamedTuple):
    """Rows at each node, or their weight, by reference cluster (n_nodes, k) and in all; and lost ones at each cut."""

    by_cluster: Floats | None
    rows: Floats
    lost: Floats | None


def counts_of(ex: Explanation) -> Counts:
    """Return the rows at each node. A loaded model knows the sizes of its leaves alone."""
    tree, k = ex.tree, ex.n_clusters
    rows = _upwards(ex, np.array([[leaf.size] for leaf in ex.leaves]))[:, 0]
    held = _held(ex)
    if held is None:
        return Counts(None, rows, None)
    by_cluster = _upwards(ex, held)
    has_leaf = _upwards(ex, (tree.leaf_clusters[:, None] == np.arange(k)).astype(np.float64)) > 0
    lost = np.zeros(tree.n_nodes)
    for child in range(1, tree.n_nodes):
        parent = tree.parent[child]
        lost[parent] += by_cluster[child, has_leaf[parent] & ~has_leaf[child]].sum()
    return Counts(by_cluster, rows, lost)


def _held(ex: Explanation) -> Floats | None:
    """Return the number or weight of the rows of each cluster in each leaf; None for a loaded model."""
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


def _kept(ex: Explanation) -> tuple[Indices, Indices, Weights]:
    """Return the rows that count, as row numbers, and their clusters and weights."""
    task = ex._rows().task
    kept = np.flatnonzero(task.kept)
    weights = task.rows.weights
    return kept, task.reference.labels[kept], None if weights is None else weights[kept]


def bars_of(ex: Explanation, codes: dict[int, Sides]) -> dict[int, Bars]:
    """Return the bars of each cut. The rows go down the tree once."""
    tree, k, coded = ex.tree, ex.n_clusters, ex.coded_columns
    table = ex._rows().coordinates.table.values
    kept, labels, weights = _kept(ex)
    table = table if len(kept) == len(table) else table[kept]
    bars = {}
    for node, rows, values, _ in values_at_nodes(tree, table):
        if values is None:
            continue
        j, weight = int(tree.feature[node]), None if weights is None else weights[rows]
        if node in codes:
            names = [category(value) for value in coded[j].values] + ["other"] * coded[j].others
            bars[node] = bars_of_categories(values, labels[rows], k, codes[node], names, weight)
        else:
            ends = float(tree.lower[node]), float(tree.upper[node])
            bars[node] = bars_of_numbers(values, labels[rows], k, *ends, weight)
    return bars
