"""Small subtrees of a tree, each replaced by the cheapest with as many leaves on the rows that reach it."""

from __future__ import annotations

import numpy as np

from boxwood.grow._names import assigned
from boxwood.grow._optimal_rows import Costs, Kept
from boxwood.grow._optimal_search import Found, Search, leaf_rows, n_leaves
from boxwood.grow._reached import with_centers_reached
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder, rows_at_nodes

__all__ = ["resolved", "with_cheapest_subtrees"]

ROUNDS = 10  # in which centres and subtrees are improved in turn
BOXES = 100  # tables whose rows a call may look at; ten times as many gain hardly more


def resolved(
    tree: ThresholdTree,
    task: Task,
    *,
    leaves: int = 3,
    own_means: bool,
    objective: str = "cost",
    max_boxes: float = BOXES,
    deadline: float | None = None,
) -> ThresholdTree:
    """Return the tree with each subtree of at most so many leaves replaced by the cheapest of its size.

    With `own_means` each leaf has its own mean. Leaves, which must not be more than the clusters, are then named anew;
    see `assigned`. Otherwise leaves take the cheapest cluster: by mistakes, or under the means of the tree's own
    clusters, which are taken anew until nothing changes. A cluster that has a leaf keeps one.

    The result never costs more than `tree`, by its objective and with its kind of means. Subtrees with two-sided cuts
    stay. The search ends after `max_boxes` boxes in all, each counted as its share of the table's rows, or at the time
    `deadline` of `time.monotonic`. A subtree that is not solved by then has the best cuts that were found.
    """
    kept, spent = Kept(task), 0.0
    if own_means:
        search = Search(Costs.of_means(task, kept).sums, max_boxes=max_boxes, deadline=deadline, n_jobs=task.n_jobs)
        better = with_cheapest_subtrees(tree, kept, search, leaves)
        return tree if better == tree else better.relabeled(assigned(better, task))
    for _ in range(ROUNDS):
        current = task if objective == "mistakes" else with_centers_reached(tree, task)
        sums = Costs.of_clusters(current, kept, objective).sums
        search = Search(sums, max_boxes=max_boxes - spent, deadline=deadline, n_jobs=task.n_jobs)
        better = with_cheapest_subtrees(tree, kept, search, leaves)
        spent += search.n_boxes
        if better == tree:
            break
        tree = better
    return tree


def with_cheapest_subtrees(tree: ThresholdTree, kept: Kept, search: Search, leaves: int) -> ThresholdTree:
    """Return the tree with its largest subtrees of at most so many leaves solved, under the costs of a search.

    If a search stops early, the subtrees inside of such a subtree are solved in its place. Where each leaf has its own
    mean, new leaves have the clusters of those that they replace.
    """
    windows = _Windows(tree, kept, search)
    builder, waiting = TreeBuilder(), [(0, 0, True)]  # node of the tree, node of the builder, whether it may change
    while waiting:
        node, new, may_change = waiting.pop()
        if tree.feature[node] < 0:
            builder.label(new, int(tree.cluster[node]))
            continue
        if may_change and windows.n_leaves(node) <= leaves and windows.is_one_sided(node):
            found, clusters = windows.solved(node)
            if clusters is not None:
                kept.graft(builder, new, found.cuts, windows.reached[node], clusters)
                continue
            may_change = not found.is_exact
        first, second = builder.split(new, int(tree.feature[node]), float(tree.upper[node]), float(tree.lower[node]))
        waiting += ((int(tree.second[node]), second, may_change), (node + 1, first, may_change))
    return builder.build()


class _Windows:
    """The subtrees of a tree, by their top nodes, and the rows that reach them."""

    def __init__(self, tree: ThresholdTree, kept: Kept, search: Search) -> None:
        self.tree, self.kept, self.search = tree, kept, search
        numbers = (kept.position[rows] for _, rows, _ in rows_at_nodes(tree, kept.task.rows.values))
        self.reached = [rows[rows >= 0] for rows in numbers]
        self.end = np.arange(1, tree.n_nodes + 1)  # the first node behind each subtree
        for node in np.flatnonzero(tree.feature >= 0)[::-1]:
            self.end[node] = self.end[tree.second[node]]
        k = max(kept.task.reference.n_clusters, int(tree.leaf_clusters.max()) + 1)
        self.leaves_of = np.bincount(tree.leaf_clusters, minlength=k)  # number of leaves of each cluster

    def n_leaves(self, node: int) -> int:
        """Return the number of leaves of a subtree."""
        return (int(self.end[node]) - node + 1) // 2

    def is_one_sided(self, node: int) -> bool:
        """Return whether all cuts of a subtree are one-sided."""
        return bool(np.isneginf(self.tree.lower[node : self.end[node]]).all())

    def solved(self, node: int) -> tuple[Found, list[int] | None]:
        """Return the cheapest subtree of the same size, as far as the search comes, and the clusters of its leaves.

        There are no clusters if the subtree is not cheaper than that of the tree, or if a cluster would lose its leaf.
        """
        subtree, rows = self._subtree(node), self.reached[node]
        if len(rows) == 0:
            return Found(0, 0, None), None
        known = self.search.priced(rows, self.kept.cuts(subtree, rows))
        inside = np.zeros(len(self.kept.rows), dtype=np.bool_)
        inside[rows] = True
        found = self.search.solve(self.search.part(self.kept.order, inside), subtree.n_leaves, known=known)
        table = self.search.sums.table
        if table.shape[1] == 0:
            is_better = found.cost < known.cost and n_leaves(found.cuts) == subtree.n_leaves
            return found, subtree.leaf_clusters.tolist() if is_better else None
        of_rows = subtree.predict(self.kept.task.rows.values[self.kept.rows[rows]])
        if found.cost >= table[rows, of_rows].sum():
            return found, None
        clusters = [int(table[part].sum(axis=0).argmin()) for part in leaf_rows(self.kept.codes, rows, found.cuts)]
        gained, lost = (np.bincount(each, minlength=len(self.leaves_of)) for each in (clusters, subtree.leaf_clusters))
        leaves_of = self.leaves_of + gained - lost
        if (leaves_of[self.leaves_of > 0] == 0).any():
            return found, None
        self.leaves_of = leaves_of
        return found, clusters

    def _subtree(self, node: int) -> ThresholdTree:
        below = slice(node, int(self.end[node]))
        second = self.tree.second[below]
        arrays = self.tree.feature[below], self.tree.lower[below], self.tree.upper[below]
        return ThresholdTree(*arrays, np.where(second < 0, -1, second - node), self.tree.cluster[below])
