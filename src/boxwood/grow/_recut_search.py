"""The best cut of each node of a level, given by how much each row costs more on the first side than on the second."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks, n_threads
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.loops import refine_search as loops
from boxwood.reference import Task
from boxwood.reference._bins import N_BINS
from boxwood.tree import between

__all__ = ["Found", "Search"]

_LARGE = 4 * N_BINS  # rows from which a node's columns are looked at by bins first
_FEW = 16  # the rows of wanted nodes are sorted anew if they are fewer than one in so many
_SUMS = 1 << 16  # of bins that are filled at a time, so that they stay in the processor's cache


class Found(NamedTuple):
    """The best cut of each node so far: the sum of differences over its first side, its column, rows next to it."""

    current: Ints  # the sum under the cut that the node has
    best: Ints
    feature: Indices
    left: Ints  # the last row on the first side
    right: Ints  # the first row on the second side

    @classmethod
    def nothing(cls, current: Ints) -> Found:
        none = np.full((2, len(current)), -1)
        return cls(current, current.copy(), np.zeros(len(current), dtype=np.intp), *none)

    def add(self, nodes: Indices, column: int, states: Ints) -> None:
        """Take what was found in a column; columns come in any order."""
        best = states[:, loops.BEST]
        better = best < self.best[nodes]
        better |= (best == self.best[nodes]) & (best < self.current[nodes]) & (column < self.feature[nodes])
        here, states = nodes[better], states[better]
        self.best[here], self.feature[here] = states[:, loops.BEST], column
        self.left[here], self.right[here] = states[:, loops.LEFT], states[:, loops.RIGHT]

    def cuts(self, X: Array) -> tuple[Bools, Indices, Floats]:
        """Return which nodes have a better cut than before, and its column and threshold."""
        chosen, upper = self.best < self.current, np.zeros(len(self.best))
        feature = self.feature[chosen]
        if len(feature):
            upper[chosen] = between(X[self.left[chosen], feature], X[self.right[chosen], feature])
        return chosen, self.feature, upper


class Search(NamedTuple):
    """The rows of some nodes of one level, and their differences."""

    task: Task
    X: Array
    rows: Indices
    at: Array
    difference: Ints
    n_jobs: int | None

    def look(self, found: Found, wanted: Bools, n_rows: Ints, lowest: Ints) -> None:
        """Look for better cuts of nodes in columns where they are wanted, and bound the sums of all cuts from below."""
        if not wanted.any():
            return
        large = wanted.any(axis=1) & (n_rows >= _LARGE)
        if large.any():
            self._look_by_bins(found, np.flatnonzero(large), wanted, lowest)
        small = wanted & ~large[:, None]
        if small.any():
            self._walk(found, small, lowest)

    # ------------------------------------------------------------------------------------------- small nodes

    def _walk(self, found: Found, wanted: Bools, lowest: Ints) -> None:
        columns = np.flatnonzero(wanted.any(axis=0)).tolist()
        nodes = np.flatnonzero(wanted.any(axis=1))
        order = self._orders(wanted)

        def of_column(column: int) -> Ints:
            states = np.zeros((len(wanted), 6), dtype=np.int64)
            states[:, loops.BEST] = found.current
            states[:, loops.LAST :] = -1
            here = np.ascontiguousarray(wanted[:, column])
            loops.best_cuts(self.X, column, order(column), self.at, here, self.difference, states)
            return states[nodes]

        for column, states in zip(columns, map_tasks(of_column, columns, n_jobs=self._jobs), strict=True):
            here = wanted[nodes, column]
            lowest[nodes[here], column] = states[here, loops.LOWEST]
            found.add(nodes, column, states)

    def _orders(self, wanted: Bools) -> Callable[[int], NDArray[np.int32]]:
        """Return a function that gives the rows of the wanted nodes, and perhaps others, in the order of a column."""
        of_nodes: Bools = np.asarray(wanted.any(axis=1))
        rows = self.rows[of_nodes[self.at[self.rows]]].astype(np.int32)
        if len(rows) * _FEW > len(self.X):
            return self.task.order.__getitem__
        return lambda column: rows[np.argsort(self.X[rows, column])]

    # ------------------------------------------------------------------------------------------- large nodes

    def _look_by_bins(self, found: Found, nodes: Indices, wanted: Bools, lowest: Ints) -> None:
        """Walk only bins in which a cut may lie that is as good as the best one at the end of a bin."""
        slot = np.full(len(wanted), -1)
        slot[nodes] = np.arange(len(nodes))
        columns = np.flatnonzero(wanted[nodes].any(axis=0))
        size = max(1, min(_SUMS // (2 * N_BINS * len(nodes)), -(-len(columns) // n_threads(self._jobs))))
        parts = [columns[i : i + size] for i in range(0, len(columns), size)]

        def fill(part: Indices) -> tuple[Ints, Ints, Ints]:
            bins = np.zeros((len(nodes), len(part), N_BINS, 2), dtype=np.int64)
            least, best = np.zeros((len(nodes), len(part)), dtype=np.int64), found.current[nodes]
            loops.add_to_bins(self.rows, self.at, slot, self.difference, self.task.bins.codes, part, bins)
            loops.bound_bins(bins, least, best)
            return bins, least, best

        _ = self.task.bins  # made here, not by several threads at once
        filled = map_tasks(fill, parts, n_jobs=self._jobs)
        limits = np.min([best for _, _, best in filled], axis=0)
        limits = np.minimum(limits, found.current[nodes] - 1)
        near = []  # columns in which some node may have a better cut, with their bounds
        for part, (bins, least, _) in zip(parts, filled, strict=True):
            lowest[nodes[:, None], part] = np.maximum(lowest[nodes[:, None], part], least)
            near += [(int(part[i]), bins[:, i]) for i in np.flatnonzero((least <= limits[:, None]).any(axis=0))]

        def of_column(column: int, bounds: Ints) -> Ints:
            states = np.zeros((len(nodes), 6), dtype=np.int64)
            states[:, loops.BEST] = found.current[nodes]
            near_here = np.ascontiguousarray(bounds)
            walked = (near_here[:, :, 1] <= limits[:, None]).any(axis=0)
            order, starts = self.task.bins.order(column, walked), self.task.bins.starts[column]
            here = order, starts, self.at, slot, near_here, limits, self.difference, states
            loops.best_cuts_of_bins(self.X, column, *here)
            return states

        states = map_tasks(lambda each: of_column(*each), near, n_jobs=self._jobs)
        for (column, _), each in zip(near, states, strict=True):
            found.add(nodes, column, each)

    # --------------------------------------------------------------------------------------------- both kinds

    @property
    def _jobs(self) -> int | None:
        """Number of threads; one is faster for few values."""
        return self.n_jobs if len(self.rows) * self.X.shape[1] > 1 << 15 else None
