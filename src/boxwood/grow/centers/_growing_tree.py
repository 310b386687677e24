"""A tree that grows by passes over batches of rows, and the paths of rows to its open nodes.

One pass serves all nodes that wait for a cut. A block of rows holds only the columns that the pass needs: those tested
by the cuts above the nodes, and those that are searched::

    tree = GrowingTree()
    paths = tree.paths_to(waiting)                    # numbers of nodes: 0 is the root, then as `split` returns them
    columns = sorted({*paths.columns, *searched})
    paths = paths.among(columns)                      # goes into the summary of the pass
    places = paths.places(block.values)               # in its `update`: index into `waiting` for each row, or -1
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Ints
from boxwood.loops.walk import descend
from boxwood.tree import TreeBuilder


class Paths(NamedTuple):
    """The part of a tree above some of its nodes, in pre-order. All arrays are of shape (m,).

    Subtrees without any of these nodes are left out; a row that enters one is in none of the nodes.
    """

    feature: Ints  # column that a cut tests; -1 where the way ends
    lower: Floats
    upper: Floats
    second: Ints  # second child of a cut
    place: Ints  # index among the nodes; -1 for a cut, and where the way ends without a node

    @property
    def columns(self) -> list[int]:
        """The columns tested by the cuts, ascending."""
        return sorted({*self.feature[self.feature >= 0].tolist()})

    def among(self, columns: Sequence[int]) -> Paths:
        """Return the same paths for rows that hold only these columns, in this order."""
        position = {-1: -1} | {column: i for i, column in enumerate(columns)}
        return self._replace(feature=np.array([position[j] for j in self.feature.tolist()], dtype=np.int64))

    def places(self, values: Floats) -> Ints:
        """Return the index of the node that each row reaches, shape (n,); -1 for a row that reaches none."""
        if len(self.feature) == 1:
            return np.full(len(values), self.place[0])
        places = np.empty(len(values), dtype=np.int64)
        descend(values, self.feature, self.lower, self.upper, self.second, self.place, places)
        return places


class GrowingTree(TreeBuilder):
    """A tree made cut by cut, which gives the paths to its nodes.

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

    def move(self, node: int, upper: float) -> None:
        """Change the threshold of a cut to one that separates the same rows."""
        feature, lower, _, first = self._cuts[node]
        self._cuts[node] = feature, lower, upper, first

    def ends_below(self, nodes: Collection[int]) -> tuple[list[int], dict[int, tuple[int, int]]]:
        """Return the leaves below some nodes, in pre-order, and for each node the span of its leaves among them.

        A span is the position of the first leaf and the position after the last. A leaf is below itself.
        """
        ends: list[int] = []
        spans: dict[int, tuple[int, int]] = {}
        waiting = [(0, 0 in nodes, -1)]  # a node, whether its ends count, and where they begin
        while waiting:
            node, is_asked, start = waiting.pop()
            if node in self._cuts and start < 0:
                first = self._cuts[node][3]
                children = ((child, is_asked or child in nodes, -1) for child in (first + 1, first))
                waiting += ((node, is_asked, len(ends)), *children)
                continue
            if start < 0:
                start = len(ends)
                ends += [node] if is_asked else []
            spans[node] = start, len(ends)
        return ends, spans

    def paths_to(self, nodes: Sequence[int]) -> Paths:
        """Return the paths to some leaves, numbered in the order given."""
        parents = {child: node for node, cut in self._cuts.items() for child in (cut[3], cut[3] + 1)}
        on_the_way = set(nodes)
        for node in nodes:
            while node in parents and parents[node] not in on_the_way:
                node = parents[node]
                on_the_way.add(node)
        places = {node: i for i, node in enumerate(nodes)}
        entries: list[list[float]] = []  # feature, lower, upper, second child and place
        waiting = [(0, -1)]  # a node, and the entry whose second child it is
        while waiting:
            node, parent = waiting.pop()
            if parent >= 0:
                entries[parent][3] = len(entries)
            if node in self._cuts and node in on_the_way:
                feature, lower, upper, first = self._cuts[node]
                waiting += ((first + 1, len(entries)), (first, -1))
                entries.append([feature, lower, upper, -1, -1])
            else:
                entries.append([-1, -np.inf, np.inf, -1, places.get(node, -1)])
        whole = np.array([(entry[0], entry[3], entry[4]) for entry in entries], dtype=np.int64)
        bounds = np.array([entry[1:3] for entry in entries], dtype=np.float64)
        feature, second, place = np.ascontiguousarray(whole.T)
        lower, upper = np.ascontiguousarray(bounds.T)
        return Paths(feature, lower, upper, second, place)
