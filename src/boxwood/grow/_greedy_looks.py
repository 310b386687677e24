"""What a pass over the rows of nodes with centres adds up: by how much cuts cost more or less, by bin or by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import WholeWeights
from boxwood.grow._block_costs import BlockCosts, Part, parts_of, taken
from boxwood.grow._levels import Paths
from boxwood.grow._looks import Look, Parts, parts_of_values
from boxwood.loops.greedy import add_changes, keep_nearest, summed_costs
from boxwood.loops.in_bins import add_changes_to_slots, find_in_slots
from boxwood.passes import Block

__all__ = ["AMOUNTS", "Centers", "Changes", "Looked"]

LISTED = 32  # centres in the list of a row
AMOUNTS = 4  # what a row adds, what it takes away, its weight, and the largest of its costs


class Centers(NamedTuple):
    """The centres of a node, as `loops.greedy` takes them."""

    clusters: Indices
    centers: Floats  # (d, k)
    ends: Floats  # (d, k): their values, ascending
    by_value: Ints  # (d, k): the centre at each of these places
    position: Ints  # (d, n_clusters): the place of each cluster

    @classmethod
    def of(cls, clusters: Indices, all_centers: Floats) -> Centers:
        centers = np.ascontiguousarray(all_centers[clusters].T)
        by_value = np.argsort(centers, axis=1, kind="stable")
        position = np.zeros((len(centers), len(all_centers)), dtype=np.int64)
        np.put_along_axis(position, clusters[by_value], np.arange(len(clusters))[None], axis=1)
        return cls(clusters, centers, np.take_along_axis(centers, by_value, axis=1), by_value, position)


@dataclass(frozen=True, eq=False)
class Changes:
    """By how much the costs of cuts of some nodes change, where they pass rows and centres."""

    costs: BlockCosts
    centers: list[Centers]
    scales: Floats
    weights: WholeWeights | None

    def of(self, part: Part) -> tuple[Ints, Ints, list[Ints], Ints]:
        """Return changes at rows (d, n), weights and largest costs (n, 2), changes at centres, and costs of nodes."""
        n, d = part.values.shape
        share, times = self.costs.shares(part)
        at_rows, fixed = np.zeros((d, n), dtype=np.int64), np.empty((n, 2), dtype=np.int64)
        largest = self.costs.distances(part.values).max(axis=1)
        fixed[:, 0] = 1 if part.weights is None or self.weights is None else self.weights.of(part.weights)
        fixed[:, 1] = np.rint(largest * share * self.scales[part.nodes]).astype(np.int64) * times
        at_centers, costs = (
            [np.zeros(each.ends.shape, dtype=np.int64) for each in self.centers],
            np.zeros(len(self.centers), dtype=np.int64),
        )
        n_listed = min(LISTED, len(self.costs.centers))
        near, distances = np.full((n, n_listed), -1, dtype=np.int32), np.empty((n, n_listed))
        order = np.argsort(part.nodes, kind="stable")
        ends = np.searchsorted(part.nodes[order], np.arange(len(self.centers) + 1)).tolist()
        for i, each in enumerate(self.centers):
            rows = order[ends[i] : ends[i + 1]]
            if not len(rows):
                continue
            inside = np.zeros(len(self.costs.centers), dtype=np.bool_)
            inside[each.clusters] = True
            of_node, scale = (each.centers, each.clusters, inside, self.costs.unit, 1), float(self.scales[i])
            keep_nearest(part.values, rows, *of_node, near, distances)
            costs[i] = summed_costs(rows, distances, share, times, scale)
            of_rows, of_centers = (near, distances, share, times, scale), (each.ends, each.by_value, each.position)
            add_changes(
                part.values, rows, 0, *of_rows, each.centers, self.costs.unit, *of_centers, at_rows, at_centers[i]
            )
        return at_rows, fixed, at_centers, costs


class Looked:
    """A summary of the rows in each slot of a look, or of each value there; and of whole nodes, if it is the first."""

    def __init__(self, changes: Changes, paths: Paths, look: Look, gathers: bool, is_first: bool) -> None:
        self.changes, self.paths, self.look, self.gathers, self.is_first = changes, paths, look, gathers, is_first
        n_slots = 0 if gathers else look.n_slots
        self.counts, self.sums = np.zeros(n_slots, dtype=np.int64), np.zeros((n_slots, AMOUNTS), dtype=np.int64)
        self.low, self.high = np.full(n_slots, np.inf), np.full(n_slots, -np.inf)
        self.found: list[tuple[Floats, Indices, Ints]] = []
        self.at = [np.zeros(each.ends.shape, dtype=np.int64) for each in changes.centers]
        self.cost = np.zeros(len(changes.centers), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        bins = self.look.starts, self.look.edges, self.look.slots
        for part in parts_of(block, self.paths, self.changes.costs):
            if self.gathers:
                self._gather(part, bins)
                continue
            at_rows, fixed, at_centers, costs = self.changes.of(part)
            self._add_whole(at_centers, costs)
            out = self.counts, self.low, self.high, self.sums
            add_changes_to_slots(part.values, part.nodes, *bins, at_rows, fixed, *out)

    def _gather(self, part: Part, bins: tuple[Ints, Floats, Ints]) -> None:
        rows, columns, slots = np.empty((3, part.values.size), dtype=np.int64)
        n_found = find_in_slots(part.values, part.nodes, *bins, rows, columns, slots)
        rows, columns, slots = rows[:n_found], columns[:n_found], slots[:n_found].copy()
        some, at = np.unique(rows, return_inverse=True)
        if self.is_first:  # costs and changes at centres are those of all rows
            some, at = np.arange(len(part.nodes)), rows
        at_rows, fixed, at_centers, costs = self.changes.of(taken(part, some))
        self._add_whole(at_centers, costs)
        change = at_rows[columns, at.reshape(-1)]
        amounts = np.column_stack([np.maximum(change, 0), np.maximum(-change, 0), fixed[at.reshape(-1)]])
        self.found.append((part.values[rows, columns], slots, amounts))

    def _add_whole(self, at_centers: list[Ints], costs: Ints) -> None:
        self.cost += costs
        for mine, more in zip(self.at, at_centers, strict=True):
            mine += more

    def merge(self, other: Looked) -> None:
        """Add another summary."""
        self.counts += other.counts
        self.sums += other.sums
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.found += other.found
        self._add_whole(other.at, other.cost)

    def parts(self) -> list[Parts]:
        """Return what lies in each stretch."""
        if not self.gathers:
            return self.look.parts(self.counts, self.low, self.high, self.sums)
        none = np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, AMOUNTS), dtype=np.int64)
        values, slots, amounts = (np.concatenate(each) for each in zip(none, *self.found, strict=True))
        return parts_of_values(self.look.n_slots, values, slots, amounts)
