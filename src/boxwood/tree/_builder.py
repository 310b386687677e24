"""`TreeBuilder`: a tree made cut by cut, in any order. A mistake is refused when it is made."""

from __future__ import annotations

import math
from typing import Self

import numpy as np

from boxwood._validation import real_number, whole_number
from boxwood.tree.tree import ThresholdTree, refuse_no_tree

__all__ = ["TreeBuilder"]


class TreeBuilder:
    """Builds a `ThresholdTree` from cuts that come in any order, such as best first.

    Node 0 is the root. `split` makes a node a cut and returns its two children. `label` makes a node a leaf. `build`
    refuses a tree with an unlabelled leaf. Every other mistake is refused when it is made.

    Examples
    --------
    >>> builder = TreeBuilder()
    >>> left, right = builder.split(0, feature=2, upper=0.5)
    >>> builder.label(left, 1)
    >>> builder.label(right, 0)
    >>> builder.build()
    ThresholdTree(n_leaves=2, depth=1, features=[2])
    """

    def __init__(self) -> None:
        self._cuts: dict[int, tuple[int, float, float, int]] = {}  # node -> feature, lower, upper, first child
        self._clusters: dict[int, int] = {}
        self._n_nodes = 1

    @classmethod
    def from_tree(cls, tree: ThresholdTree) -> tuple[Self, list[int]]:
        """Return a builder that holds `tree`, and the builder's node for each of the tree's nodes."""
        refuse_no_tree(tree)
        builder, nodes = cls(), [0] * tree.n_nodes
        for node in range(tree.n_nodes):
            if tree.feature[node] >= 0:
                cut = int(tree.feature[node]), float(tree.upper[node]), float(tree.lower[node])
                nodes[node + 1], nodes[tree.second[node]] = builder.split(nodes[node], *cut)
            else:
                builder.label(nodes[node], int(tree.cluster[node]))
        return builder, nodes

    @property
    def n_leaves(self) -> int:
        """Number of nodes that are not cuts, labelled or not."""
        return self._n_nodes - len(self._cuts)

    def split(self, node: int, feature: int, upper: float, lower: float = -math.inf) -> tuple[int, int]:
        """Make `node` the cut `lower <= x[feature] <= upper` and return its first and second child.

        If the node was labelled, its cluster is forgotten.
        """
        self._refuse_unknown(node)
        if node in self._cuts:
            raise ValueError(f"node {node} is a cut already; split one of its children instead")
        whole_number("feature", feature, 0)
        lower, upper = real_number("lower", lower), real_number("upper", upper)
        if not lower <= upper:
            raise ValueError(f"node {node}: the cut {lower} <= x <= {upper} holds no value")
        first = self._n_nodes
        self._n_nodes += 2
        self._cuts[node] = int(feature), lower, upper, first
        self._clusters.pop(node, None)
        return first, first + 1

    def label(self, node: int, cluster: int) -> None:
        """Make `node` a leaf of `cluster`. A leaf may be labelled again."""
        self._refuse_unknown(node)
        if node in self._cuts:
            raise ValueError(f"node {node} is a cut, which has no cluster; label a leaf below it")
        self._clusters[node] = whole_number("cluster", cluster, 0)

    def build(self) -> ThresholdTree:
        """Return the tree."""
        order, position = self._pre_order()
        feature = np.full(len(order), -1, dtype=np.int64)
        second, cluster = feature.copy(), feature.copy()
        lower, upper = np.full(len(order), -np.inf), np.full(len(order), np.inf)
        for i, node in enumerate(order):
            if node in self._cuts:
                feature[i], lower[i], upper[i], first = self._cuts[node]
                second[i] = position[first + 1]
            elif node in self._clusters:
                cluster[i] = self._clusters[node]
            else:
                raise ValueError(f"node {node} is neither a cut nor labelled with a cluster; split or label it first")
        return ThresholdTree(feature, lower, upper, second, cluster)

    def _pre_order(self) -> tuple[list[int], dict[int, int]]:
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            if node in self._cuts:
                first = self._cuts[node][3]
                stack += (first + 1, first)
        return order, {node: i for i, node in enumerate(order)}

    def _refuse_unknown(self, node: int) -> None:
        if not 0 <= node < self._n_nodes:
            raise ValueError(f"there is no node {node}; nodes are 0 to {self._n_nodes - 1}")
