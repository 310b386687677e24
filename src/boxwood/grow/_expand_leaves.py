"""The growth of an expansion: leaves are split one after another, the one that gains most first."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Indices
from boxwood.grow._costs import Problem, whole_costs
from boxwood.grow._expand_cuts import Cut, Thresholds, best_cut
from boxwood.grow._look_ahead import Pair, best_instead, best_pairs, cuts_of_pair, is_little
from boxwood.grow._order import Places
from boxwood.tree import ThresholdTree, TreeBuilder

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


class _Leaf(NamedTuple):
    """A leaf, its rows, and their places in the order of the columns.

    The rows of the node above it may still have to be moved to the places of its sides; the list is shared by these.
    """

    node: int
    rows: Indices
    places: Places
    unparted: list[Places]
    depth: int


class Growth:
    """A tree whose leaves are split one after another.

    A leaf waits in the heap if a cut of it gains enough, and among the stuck ones otherwise. Without a parted order,
    cuts may be intervals. No leaf at the depth `max_depth` is split.
    """

    def __init__(
        self,
        tree: ThresholdTree,
        problem: Problem,
        thresholds: Thresholds | None,
        least: float,
        max_depth: int | None = None,
    ) -> None:
        self.problem, self.thresholds, self.least, self.max_depth = problem, thresholds, least, max_depth
        self.two_sided = thresholds is None
        self.builder, node_of = TreeBuilder.from_tree(tree)
        self.begin = self._leaves_of(tree, node_of)
        self.heap: list[tuple[float, int, _Leaf, Cut]] = []
        self.stuck: dict[int, _Leaf] = {}
        self.pairs: dict[int, list[Pair]] = {}  # of stuck leaves that were looked at

    def grow(self, max_leaf_nodes: int, *, look_ahead: bool, instead: bool) -> ThresholdTree:
        """Return the tree with at most so many leaves."""
        new = self.begin
        while (room := max_leaf_nodes - self.builder.n_leaves) > 0:  # leaves beyond the last split are not looked at
            for leaf in new:
                self._consider(leaf)
            if self.heap:
                minus_gain, _, leaf, cut = heapq.heappop(self.heap)
                pair = self._pair_instead(leaf, -minus_gain, room) if instead else None
                new = self._split(leaf, cut) if pair is None else self._split_twice(leaf, pair)
            elif look_ahead and (found := self._best_pair(room)) is not None:
                new = self._split_twice(self.stuck.pop(found[0]), found[1])
            else:
                break
        return self.builder.build()

    def _leaves_of(self, tree: ThresholdTree, node_of: list[int]) -> list[_Leaf]:
        rows = np.flatnonzero(self.problem.kept)
        reached = tree.apply(self.problem.rows.values, n_jobs=self.problem.n_jobs)
        if self.thresholds is None:
            ends = np.cumsum(np.bincount(reached[rows], minlength=tree.n_leaves)).tolist()
            places = [Places(start, stop) for start, stop in pairwise([0, *ends])]
        else:
            places = self.thresholds.order.part_by_leaf(reached, tree.n_leaves)
        rows = rows[np.argsort(reached[rows], kind="stable")]
        return [
            _Leaf(node_of[node], rows[span.start : span.stop], span, [], int(tree.node_depth[node]))
            for node, span in zip(tree.leaf_nodes.tolist(), places, strict=True)
        ]

    def _sides(self, places: Places, rows: Indices, inside: Bools) -> tuple[Places, Places]:
        """Return the places of the rows inside and outside of a cut, to which they are not yet moved."""
        if self.thresholds is not None:
            self.thresholds.order.is_left[rows] = inside
        middle = places.start + int(inside.sum())
        return Places(places.start, middle), Places(middle, places.stop)

    def _part(self, unparted: list[Places]) -> None:
        while unparted:
            places = unparted.pop()
            if self.thresholds is not None:
                self.thresholds.order.finish_split(places)

    def _consider(self, leaf: _Leaf) -> None:
        self._part(leaf.unparted)
        if self.max_depth is not None and leaf.depth >= self.max_depth:
            return
        if self.thresholds is None:
            gain, cut = best_cut(self.problem, leaf.rows, self.two_sided)
        else:
            gain, cut = self.thresholds.best_cut(leaf.rows, leaf.places)
        if cut is not None and gain > self.least:
            heapq.heappush(self.heap, (-gain, leaf.node, leaf, cut))
        else:
            self.stuck[leaf.node] = leaf

    def _split(self, leaf: _Leaf, cut: Cut) -> list[_Leaf]:
        """Split a leaf and return its two sides."""
        self._part(leaf.unparted)
        first, second = self.builder.split(leaf.node, cut.feature, cut.upper, cut.lower)
        self.builder.label(first, cut.first)
        self.builder.label(second, cut.second)
        inside = self.problem.rows.is_first(leaf.rows, cut.feature, cut.lower, cut.upper)
        places, unparted = self._sides(leaf.places, leaf.rows, inside), [leaf.places]
        sides = zip((first, second), (leaf.rows[inside], leaf.rows[~inside]), places, strict=True)
        return [_Leaf(*side, unparted, leaf.depth + 1) for side in sides]

    def _pair_instead(self, leaf: _Leaf, gain: float, room: int) -> Pair | None:
        """Return the best pair of cuts of a leaf if it is worth more than the best cut, which saves little."""
        costs, scale = whole_costs(self.problem, leaf.rows)
        if room < 2 or not is_little(gain, int(costs.sum(axis=0).min()) / scale):
            return None
        return best_instead(best_pairs(self.problem, leaf.rows, self.two_sided), gain, room)

    def _best_pair(self, room: int) -> tuple[int, Pair] | None:
        """Return the stuck leaf and the pair of cuts that gain most for each leaf that they add."""
        for node in self.stuck.keys() - self.pairs.keys():
            self.pairs[node] = best_pairs(self.problem, self.stuck[node].rows, self.two_sided)
        found = [(node, pair) for node in self.stuck for pair in self.pairs[node]]
        found = [(node, pair) for node, pair in found if pair.n_leaves <= room and pair.gain > self.least]
        return min(found, key=lambda each: (-each[1].gain, each[0], each[1]), default=None)

    def _split_twice(self, leaf: _Leaf, pair: Pair) -> list[_Leaf]:
        first, *seconds = cuts_of_pair(self.problem, leaf.rows, pair, self.two_sided)
        leaves = []
        for side, cut in zip(self._split(leaf, first), seconds, strict=True):
            leaves += [side] if cut is None else self._split(side, cut)
        return leaves
