"""A tree of many leaves in groups, so that a row meets few conditions of its expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from boxwood._types import Indices
from boxwood.tree import ThresholdTree

__all__ = ["group_roots", "groups"]


def group_roots(tree: ThresholdTree, size: int) -> list[int]:
    """Return the roots of groups of at least `size` leaves and less than twice as many, in pre-order; 0 is the first.

    A group counts as one leaf of the group above it. Only the first group may be smaller.
    """
    features, second = tree.feature.tolist(), tree.second.tolist()
    leaves, roots = [1] * tree.n_nodes, []
    for node in range(tree.n_nodes - 1, -1, -1):
        if features[node] >= 0:
            leaves[node] = leaves[node + 1] + leaves[second[node]]
        if leaves[node] >= size or node == 0:
            roots.append(node)
            leaves[node] = 1
    return roots[::-1]


def groups(
    tree: ThresholdTree, roots: Sequence[int], values: Sequence[str | None]
) -> Iterator[tuple[ThresholdTree, list[str | None]]]:
    """Yield the tree of each group and the values of its leaves; a group below it is a leaf with the value None."""
    is_root = np.isin(np.arange(tree.n_nodes), roots)
    group = np.zeros(tree.n_nodes, dtype=np.intp)  # number of the group of each node
    outer = np.zeros(tree.n_nodes, dtype=np.intp)  # that of its parent
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        for child in (node + 1, int(tree.second[node])):
            outer[child] = group[node]
            group[child] = np.searchsorted(roots, child) if is_root[child] else group[node]
    leaf = np.cumsum(tree.feature < 0) - 1
    inner = np.flatnonzero(is_root)[1:]
    members = np.concatenate([np.arange(tree.n_nodes), inner])
    owners = np.concatenate([group, outer[inner]])
    order = np.lexsort([members, owners])
    for nodes in np.split(members[order], np.cumsum(np.bincount(owners))[:-1]):
        ends = nodes[1:][is_root[nodes[1:]]]
        part = _part(tree, nodes, ends)
        yield part, [None if is_root[node] else values[leaf[node]] for node in nodes[part.leaf_nodes].tolist()]


def _part(tree: ThresholdTree, nodes: Indices, leaves: Indices) -> ThresholdTree:
    """Return the tree of some nodes; the nodes in `leaves` become leaves of cluster 0."""
    feature, lower, upper, second, cluster = (array[nodes] for array in tree._arrays())
    ends = np.isin(nodes, leaves)
    feature, lower, upper = np.where(ends, -1, feature), np.where(ends, -np.inf, lower), np.where(ends, np.inf, upper)
    second = np.where(feature < 0, -1, np.searchsorted(nodes, second))
    return ThresholdTree(feature, lower, upper, second, np.where(feature < 0, np.maximum(cluster, 0), -1))
