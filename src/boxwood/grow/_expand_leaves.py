"""The growth of an expansion: leaves are split one after another, the one that gains most first."""

from __future__ import annotations

import heapq

import numpy as np

from boxwood._types import Indices
from boxwood.grow._costs import Problem, whole_costs
from boxwood.grow._expand_cuts import Cut, best_cut
from boxwood.grow._look_ahead import Pair, best_pairs, cuts_of_pair
from boxwood.tree import ThresholdTree, TreeBuilder, rows_at_nodes

__all__ = ["Growth", "least_gain", "single_leaf"]


def single_leaf(problem: Problem) -> ThresholdTree:
    """Return the tree with one leaf, of the cluster that is the cheapest for all rows."""
    costs, _ = whole_costs(problem, np.flatnonzero(problem.kept))
    builder = TreeBuilder()
    builder.label(0, int(costs.sum(axis=0).argmin()))
    return builder.build()


def least_gain(tree: ThresholdTree, problem: Problem, tol: float) -> float:
    """Return the gain that a leaf must exceed: `tol` times the cost of the tree to begin with."""
    if tol == 0:
        return 0.0
    rows = np.flatnonzero(problem.kept)
    costs, scale = whole_costs(problem, rows)
    cost = int(costs[np.arange(len(rows)), tree.predict(problem.rows)[rows]].sum())
    return tol * (cost / scale)


class Growth:
    """A tree whose leaves are split one after another.

    A leaf waits in the heap if a cut of it gains enough, and among the stuck ones otherwise.
    """

    def __init__(self, tree: ThresholdTree, problem: Problem, two_sided: bool, least: float) -> None:
        self.problem, self.two_sided, self.least = problem, two_sided, least
        self.builder, node_of = TreeBuilder.from_tree(tree)
        self.begin = [
            (node_of[node], rows[problem.kept[rows]])
            for node, rows, inside in rows_at_nodes(tree, problem.rows.values)
            if inside is None
        ]
        self.heap: list[tuple[float, int, Indices, Cut]] = []
        self.stuck: dict[int, Indices] = {}
        self.pairs: dict[int, list[Pair]] = {}  # of stuck leaves that were looked at

    def grow(self, max_leaf_nodes: int, *, look_ahead: bool) -> ThresholdTree:
        """Return the tree with at most so many leaves."""
        new = self.begin
        while (room := max_leaf_nodes - self.builder.n_leaves) > 0:  # leaves beyond the last split are not looked at
            for node, rows in new:
                self._consider(node, rows)
            if self.heap:
                _, node, rows, cut = heapq.heappop(self.heap)
                new = self._split(node, rows, cut)
            elif look_ahead and (found := self._best_pair(room)) is not None:
                new = self._split_twice(*found)
            else:
                break
        return self.builder.build()

    def _consider(self, node: int, rows: Indices) -> None:
        gain, cut = best_cut(self.problem, rows, self.two_sided)
        if cut is not None and gain > self.least:
            heapq.heappush(self.heap, (-gain, node, rows, cut))
        else:
            self.stuck[node] = rows

    def _split(self, node: int, rows: Indices, cut: Cut) -> list[tuple[int, Indices]]:
        """Split a node and return its two sides: new leaves and their rows."""
        first, second = self.builder.split(node, cut.feature, cut.upper, cut.lower)
        self.builder.label(first, cut.first)
        self.builder.label(second, cut.second)
        inside = self.problem.rows.is_first(rows, cut.feature, cut.lower, cut.upper)
        return [(first, rows[inside]), (second, rows[~inside])]

    def _best_pair(self, room: int) -> tuple[int, Pair] | None:
        """Return the stuck leaf and the pair of cuts that gain most for each leaf that they add."""
        for node in self.stuck.keys() - self.pairs.keys():
            self.pairs[node] = best_pairs(self.problem, self.stuck[node], self.two_sided)
        found = [(node, pair) for node in self.stuck for pair in self.pairs[node]]
        found = [(node, pair) for node, pair in found if pair.n_leaves <= room and pair.gain > self.least]
        return min(found, key=lambda each: (-each[1].gain, each[0], each[1]), default=None)

    def _split_twice(self, node: int, pair: Pair) -> list[tuple[int, Indices]]:
        rows = self.stuck.pop(node)
        first, *seconds = cuts_of_pair(self.problem, rows, pair, self.two_sided)
        leaves = []
        for (side, rows_of_side), cut in zip(self._split(node, rows, first), seconds, strict=True):
            leaves += [(side, rows_of_side)] if cut is None else self._split(side, rows_of_side, cut)
        return leaves
