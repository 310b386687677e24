"""The honest names of leaves under which a tree is cheapest, where clusters pool the leaves of their name."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np

from boxwood._types import Bools, Floats, Ints
from boxwood.grow._names import assignment, weight_in
from boxwood.grow._optimal_rows import Costs, Kept
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["with_cheapest_names"]

NAMINGS = 5_000  # up to so many are all tried
_LOWER = 1e-9  # by this share a cost must fall, so that rounding decides nothing


def with_cheapest_names(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree with honest names under which it costs least, each cluster with the mean of its own leaves.

    The tree has honest names and no empty leaf; see `named`. If all leaves can hold rows of different clusters, they
    get these: no pooling is cheaper than a mean for each leaf, and of such names those are taken by which most weight
    is in the leaf of its cluster. Otherwise all honest names are tried, if there are few; of many, leaves change their
    name one at a time while that lowers the cost. A tree whose cost does not fall keeps its names.
    """
    held = weight_in(tree, task)
    if tree.n_leaves <= task.reference.n_clusters:
        clusters = assignment(held, "cost")
        if held[np.arange(tree.n_leaves), clusters].all():
            return tree if len(np.unique(tree.leaf_clusters)) == tree.n_leaves else tree.relabeled(clusters)
    pooled = _Pooled.of(tree, task)
    n_namings = math.prod((held > 0).sum(axis=1).tolist())
    found = pooled.least_of_all(held > 0) if n_namings <= NAMINGS else pooled.descended(held > 0, tree.leaf_clusters)
    return tree.relabeled(found) if pooled.cost(found) < pooled.cost(tree.leaf_clusters) * (1 - _LOWER) else tree


class _Pooled:
    """The cost of leaves that share names, from exact sums of their rows."""

    def __init__(self, sums: Floats, factor: float) -> None:
        self.sums, self.factor = sums, factor  # (n_leaves, 2 + d): weight, square and values, as of `Costs.of_means`
        self.of_leaves = cache(self._of_leaves)

    @classmethod
    def of(cls, tree: ThresholdTree, task: Task) -> _Pooled:
        kept = Kept(task)
        of_rows = Costs.of_means(task, kept).sums
        sums = np.zeros((tree.n_leaves, of_rows.moments.shape[1]))
        np.add.at(sums, tree.apply(task.rows, n_jobs=task.n_jobs)[kept.rows], of_rows.moments)
        return cls(sums, of_rows.factor)

    def cost(self, clusters: Ints) -> float:
        """Return the cost under some names of the leaves."""
        leaves: dict[int, tuple[int, ...]] = {}
        for leaf, cluster in enumerate(clusters.tolist()):
            leaves[cluster] = (*leaves.get(cluster, ()), leaf)
        return math.fsum(map(self.of_leaves, leaves.values()))

    def least_of_all(self, held: Bools) -> Ints:
        """Return the cheapest of all names, the first of equals."""
        options = [np.flatnonzero(each).tolist() for each in held]
        return min(map(np.array, itertools.product(*options)), key=self.cost)

    def descended(self, held: Bools, clusters: Ints) -> Ints:
        """Return names that no change of a single one makes cheaper."""
        members: dict[int, set[int]] = {}
        for leaf, cluster in enumerate(clusters.tolist()):
            members.setdefault(cluster, set()).add(leaf)

        def change(leaf: int, cluster: int) -> float:
            """Return by how much the cost of a cluster rises if a leaf joins it, or leaves it if it is inside."""
            now = members.get(cluster, set())
            return self.of_leaves(tuple(sorted(now ^ {leaf}))) - self.of_leaves(tuple(sorted(now)))

        clusters, least, falls = clusters.copy(), self.cost(clusters) * _LOWER, True
        while falls:
            falls = False
            for leaf, cluster in np.argwhere(held).tolist():
                own = int(clusters[leaf])
                if cluster != own and change(leaf, own) + change(leaf, cluster) < -least:
                    members[own].remove(leaf)
                    members.setdefault(cluster, set()).add(leaf)
                    clusters[leaf], falls = cluster, True
        return clusters

    def _of_leaves(self, leaves: tuple[int, ...]) -> float:
        if not leaves:
            return 0.0
        sums = self.sums[list(leaves)].sum(axis=0)
        squares = 0.0
        for value in sums[2:].tolist():
            squares += value * value
        return max(float(sums[1] - self.factor * (squares / sums[0])), 0.0)
