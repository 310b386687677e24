"""Rules as data: the conditions of a leaf, and those of a cluster of several leaves, as simple as they can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood.axes import Categories
from boxwood.tree import Box, Interval, ThresholdTree
from boxwood.tree._boxes import sides
from boxwood.tree._cover import cover
from boxwood.tree._nodes import Cut

__all__ = ["Condition", "Rule", "cluster_rules_of", "condition_of", "rules_of"]

_EVERY_NUMBER = (Interval(-np.inf, np.inf, True, True),)


class Condition(NamedTuple):
    """The condition on one column: its value lies in one of the intervals, which are ascending and disjoint.

    For a column with `categories` the intervals hold their codes, one interval for each code.
    """

    column: str
    intervals: tuple[Interval, ...]
    categories: Categories | None = None


Rule: TypeAlias = tuple[Condition, ...]
"""Conditions that all hold. For a leaf they are in the order in which its path first tests their columns."""


def rules_of(tree: ThresholdTree, columns: Sequence[str], categories: Mapping[int, Categories]) -> list[Rule]:
    """Return the rule of each leaf. A column that may have any value gives no condition."""
    return [_rule(box, columns, categories) for box in tree.boxes()]


def cluster_rules_of(
    tree: ThresholdTree, columns: Sequence[str], categories: Mapping[int, Categories], n_clusters: int
) -> list[tuple[Rule, ...]]:
    """Return the rules of each cluster, see `ClusterSummary`; none for a cluster without a leaf.

    They are for readers. A row in which a value is missing may fulfil them and yet have no leaf, because the tree asks
    for that value on its way.
    """
    boxes, clusters = tree.boxes(), tree.leaf_clusters.tolist()
    domains = {j: known.domain for j, known in categories.items()}
    rules = []
    for i in range(n_clusters):
        own = [box for box, cluster in zip(boxes, clusters, strict=True) if cluster == i]
        others = [box for box, cluster in zip(boxes, clusters, strict=True) if cluster != i]
        if len(own) > 1 or any(domains.keys() & box.keys() for box in own):
            own = cover(own, others, domains) or own  # leaves that hold no row keep rules that say so
        rules.append(tuple(_rule(box, columns, categories) for box in own))  # numbers of one box need no fewer words
    return rules


def condition_of(cut: Cut, columns: Sequence[str], categories: Mapping[int, Categories]) -> Condition:
    """Return the condition that the rows on one side of a cut fulfil: the side that `cut.inside` says."""
    return _condition(cut.feature, tuple(sides(cut)), columns, categories)


def _rule(box: Box, columns: Sequence[str], categories: Mapping[int, Categories]) -> Rule:
    return tuple(_condition(j, pieces, columns, categories) for j, pieces in box.items() if pieces != _EVERY_NUMBER)


def _condition(
    j: int, pieces: tuple[Interval, ...], columns: Sequence[str], categories: Mapping[int, Categories]
) -> Condition:
    if j not in categories:
        return Condition(columns[j], pieces)
    codes = [code for code, _ in categories[j].domain if any(code in piece for piece in pieces)]
    return Condition(columns[j], tuple(Interval(code, code, True, True) for code in codes), categories[j])
