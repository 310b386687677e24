"""The tree with some of its nodes changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from boxwood._types import Array
from boxwood.explanation.records import rules_of
from boxwood.tree import ThresholdTree, TreeBuilder
from boxwood.tree.nodes import CutTest
from boxwood.words.rules import is_impossible

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


class NodeChanges(NamedTuple):
    """What becomes of the nodes of a tree.

    Parameters
    ----------
    tests : mapping from node to CutTest
        What cuts ask for now; a leaf that asks for something is split, and both sides have its cluster.
    leaves : mapping from node to int
        Cuts that are leaves now, and their clusters.
    named_anew : frozenset of int
        Nodes below which each leaf gets the cluster of most of its rows.
    """

    tests: Mapping[int, CutTest] = {}
    leaves: Mapping[int, int] = {}
    named_anew: frozenset[int] = frozenset()

    def on(self, tree: ThresholdTree, n_clusters: int) -> ThresholdTree:
        """Return a tree with these changes; leaves that get another name have their cluster plus `n_clusters`."""
        builder, stack = TreeBuilder(), [(0, 0, False)]
        while stack:
            node, at, is_below = stack.pop()
            is_leaf, is_anew = node in self.leaves or tree.feature[node] < 0, is_below or node in self.named_anew
            if is_leaf:
                cluster = self.leaves.get(node, int(tree.cluster[node])) + n_clusters * is_anew
                sides = _cut(builder, at, self.tests[node]) if node in self.tests else (at,)
                for side in sides:
                    builder.label(side, cluster)
                continue
            sides = _cut(builder, at, self.tests.get(node, tree.test(node)))
            stack += [(node + 1, sides[0], is_anew), (int(tree.second[node]), sides[1], is_anew)]
        return builder.build()


def unreachable(ex: MeasuredTree, tree: ThresholdTree) -> dict[int, str]:
    """Return the leaves that no row can reach, and the column that no value passes."""
    coded = ex._known().categories | ex._coded_columns
    rules = rules_of(tree, ex.columns, coded, ex._gap_columns)
    return {i: one.column for i, each in enumerate(rules) for one in each if is_impossible(one)}


def name_by_rows(tree: ThresholdTree, held: Array) -> ThresholdTree:
    """Return a tree whose leaves with a cluster from k on have that of most of their rows; without rows that less k.

    IN: held (n_leaves, k): number, or weight, of the rows of each cluster in each leaf.
    """
    n_clusters = held.shape[1]
    clusters = [
        cluster if cluster < n_clusters else int(rows.argmax()) if rows.sum() else cluster - n_clusters
        for cluster, rows in zip(tree.leaf_clusters.tolist(), held, strict=True)
    ]
    return tree.relabeled(clusters)


def _cut(builder: TreeBuilder, at: int, test: CutTest) -> tuple[int, int]:
    return builder.split_set(at, test.feature, test.members) if test.members else builder.split(at, *test)
