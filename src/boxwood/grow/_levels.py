"""Growth by passes over rows that come in batches: a tree that is not finished yet, and the way of rows to its nodes.

All nodes that wait for a cut are asked for together, in one pass. A block of rows holds only some columns, so that a
pass reads no more of them than it needs: those that the cuts on the way test, and those that are looked at::

    tree = GrowingTree()
    paths = tree.paths_to(waiting)                    # numbers of nodes: 0 is the root, then as `split` returns them
    columns = sorted({*paths.columns, *looked_at})
    paths = paths.among(columns)                      # goes into the summary of the pass
    places = paths.places(block.values)               # in its `update`: index into `waiting` for each row, or -1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Ints
from boxwood.loops.walk import descend
from boxwood.tree import TreeBuilder

__all__ = ["GrowingTree", "Paths"]


class Paths(NamedTuple):
    """The part of a tree that leads to some of its nodes, in pre-order. All arrays are of shape (m,).

    Where a row leaves the way to all of those nodes, the way ends.
    """

    feature: Ints  # column that a cut tests; -1 where the way ends
    lower: Floats
    upper: Floats
    second: Ints  # second child of a cut
    place: Ints  # index of the node that is led to; -1 for a cut, and where the way ends without one

    @property
    def columns(self) -> list[int]:
        """The columns that are tested on the way, ascending."""
        return np.unique(self.feature[self.feature >= 0]).tolist()  # type: ignore[no-any-return]

    def among(self, columns: Sequence[int]) -> Paths:
        """Return the same way for rows that hold only these columns, in this order."""
        position = {-1: -1} | {column: i for i, column in enumerate(columns)}
        return self._replace(feature=np.array([position[j] for j in self.feature.tolist()], dtype=np.int64))

    def places(self, values: Floats) -> Ints:
        """Return the index of the node that each row comes to, shape (n,); -1 for a row that comes to none."""
        if len(self.feature) == 1:
            return np.full(len(values), self.place[0])
        places = np.empty(len(values), dtype=np.int64)
        descend(values, self.feature, self.lower, self.upper, self.second, self.place, places)
        return places


class GrowingTree(TreeBuilder):
    """A tree made cut by cut, which says how rows come to its nodes.

    Examples
    --------
    >>> import numpy as np
    >>> tree = GrowingTree()
    >>> left, right = tree.split(0, feature=2, upper=0.5)
    >>> tree.label(left, 0)
    >>> third, fourth = tree.split(right, feature=4, upper=0.5)
    >>> paths = tree.paths_to([fourth, third])
    >>> paths.columns
    [2, 4]
    >>> paths.among([2, 3, 4]).places(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]))
    array([-1,  1,  0])
    """

    def copy(self) -> GrowingTree:
        """Return a tree that grows by itself from here on."""
        tree = GrowingTree()
        tree._cuts, tree._clusters, tree._n_nodes = self._cuts.copy(), self._clusters.copy(), self._n_nodes
        return tree

    def paths_to(self, nodes: Sequence[int]) -> Paths:
        """Return the way to some nodes, none of which is a cut; the first one has the place 0."""
        parents = {child: node for node, cut in self._cuts.items() for child in (cut[3], cut[3] + 1)}
        on_the_way = set(nodes)
        for node in nodes:
            while node in parents and parents[node] not in on_the_way:
                node = parents[node]
                on_the_way.add(node)
        places = {node: i for i, node in enumerate(nodes)}
        parts: list[list[float]] = []  # feature, lower, upper, second child and place
        waiting = [(0, -1)]  # a node, and the part whose second child it is
        while waiting:
            node, parent = waiting.pop()
            if parent >= 0:
                parts[parent][3] = len(parts)
            if node in self._cuts and node in on_the_way:
                feature, lower, upper, first = self._cuts[node]
                waiting += ((first + 1, len(parts)), (first, -1))
                parts.append([feature, lower, upper, -1, -1])
            else:
                parts.append([-1, -np.inf, np.inf, -1, places.get(node, -1)])
        whole = np.array([(part[0], part[3], part[4]) for part in parts], dtype=np.int64)
        bounds = np.array([part[1:3] for part in parts], dtype=np.float64)
        feature, second, place = np.ascontiguousarray(whole.T)
        lower, upper = np.ascontiguousarray(bounds.T)
        return Paths(feature, lower, upper, second, place)
