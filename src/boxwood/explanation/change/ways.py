"""The ways that rows take in a tree and in the changed one: how many of each cluster go from which leaf to which."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood.batches.batches import Block
from boxwood.explanation.records import RowsMoved
from boxwood.tree.nodes import values_at_leaves

if TYPE_CHECKING:
    from boxwood._types import Array, Floats, Ints
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import ThresholdTree


class Ways:
    """Rows by their cluster, their leaf in one tree, and their leaf in another: a summary of blocks, which adds up.

    `held` has their number or weight, shape (k, old leaves, new leaves), and `n_rows` their number in each new leaf.
    Rows that are left out do not count, nor do those without a leaf.
    """

    def __init__(self, old: ThresholdTree, new: ThresholdTree, n_clusters: int, weighted: bool) -> None:
        self.trees, self.shape = (old, new), (n_clusters, old.n_leaves, new.n_leaves)
        self.held: Array = np.zeros(self.shape, dtype=np.float64 if weighted else np.int64)
        self.n_rows = np.zeros(new.n_leaves, dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        before, now = (values_at_leaves(one, block.values, one._leaf_numbers, 1, nan="none") for one in self.trees)
        counts = block.kept & (before >= 0) & (now >= 0)
        cells = np.ravel_multi_index((block.labels[counts], before[counts], now[counts]), self.shape)
        weights = None if block.weights is None else block.weights[counts]
        held: Array = np.bincount(cells, weights, minlength=self.held.size)
        self.held += held.reshape(self.shape)
        self.n_rows += np.bincount(now[counts], minlength=len(self.n_rows))

    def merge(self, other: Ways) -> None:
        """Add the rows of another part of the table."""
        self.held += other.held
        self.n_rows += other.n_rows

    @property
    def in_leaves(self) -> Array:
        """Number, or weight, of the rows of each cluster in each new leaf, shape (new leaves, k)."""
        return np.asarray(self.held.sum(axis=1).T)

    def agreement_before(self, ex: MeasuredTree, clusters: Ints) -> float:
        """Return what the old tree agrees on; IN: clusters: the numbers that its leaves have now.

        An explanation knows its own; if it was measured on more rows, as some lack values, that of these is taken.
        """
        are_all = math.isclose(self.held.sum(), sum(leaf.size for leaf in ex.leaves))
        if are_all and [leaf.cluster for leaf in ex.leaves] == clusters.tolist():
            return ex.agreement
        in_leaves = self.held.sum(axis=2)
        return float(in_leaves[clusters, np.arange(len(clusters))].sum() / self.held.sum())

    def moved(self, before: Ints, now: Ints, names: Sequence[Hashable]) -> tuple[RowsMoved, ...]:
        """Return the rows that go from one cluster to another, most first; IN: before, now: clusters of leaves."""
        ways: Floats = self.held.sum(axis=0)
        found: dict[tuple[int, int], Any] = {}
        for i, j in _places(ways):
            pair = int(before[i]), int(now[j])
            if pair[0] != pair[1]:
                found[pair] = found.get(pair, 0) + ways[i, j].item()
        return rows_moved(found, names)


def rows_moved(found: Mapping[tuple[int, int], Any], names: Sequence[Hashable]) -> tuple[RowsMoved, ...]:
    """Return the rows that go from one cluster to another, most first; IN: found: their number, or weight, by pair."""
    in_order = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return tuple(RowsMoved(names[a], names[b], size) for (a, b), size in in_order)


def _places(ways: Floats) -> Iterator[tuple[int, int]]:
    return zip(*(each.tolist() for each in np.nonzero(ways)), strict=True)


def ways_of(old: ThresholdTree, new: ThresholdTree, evidence: Evidence) -> Ways:
    """Return the ways of all rows that an explanation was measured on, in two trees on the table's columns."""
    task = evidence.task
    if evidence.facts is not None:
        task = evidence.facts.task
        return task.batches.fold(partial(Ways, old, new, task.reference.n_clusters, evidence.facts.weighted))
    weights = task.rows.weights
    make = partial(Ways, old, new, task.reference.n_clusters, weights is not None)
    if evidence.whole is not None:
        return evidence.whole.fold_table(old, evidence.coordinates, make)  # type: ignore[no-any-return]
    ways = make()
    ways.update(Block(evidence.coordinates.table.values, task.reference.labels, weights))
    return ways
