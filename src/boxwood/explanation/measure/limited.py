"""Trees on the columns of the table, kept within the limits of their rules to the end.

Depth, rows of a leaf and forbidden columns are kept by the growers themselves. A tree that was grown on a sample, or
whose thresholds are moved, may have too few of all rows in a leaf; such leaves are taken away here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from boxwood._types import Floats
from boxwood.grow.refinement.exchange import within
from boxwood.grow.shared.names import name_leaves
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.reference.feature_space import FeatureSpace
from boxwood.tree import ThresholdTree
from boxwood.tree.allowed import at_allowed
from boxwood.tree.shorten import round_thresholds

LARGEST = float(np.finfo(np.float64).max)


def finish_tree(
    tree: ThresholdTree, task: Task, budget: Budget, coordinates: FeatureSpace
) -> tuple[ThresholdTree, int]:
    """Return a tree on the table's columns within the budget, and how many rows moved.

    Thresholds are rounded, and those of columns with allowed thresholds are at these.

    A cut of a mapped column may be several cuts of the table's column, and rows that move may leave too few in a leaf.
    So the budget is looked at once more. Rows that are left out do not count.
    """
    if not budget.given:
        return tree, 0
    on_table = replace(on_table_columns(task, coordinates), budget=budget)
    if not budget.moves_thresholds:
        return within(tree, on_table, "mistakes"), 0
    values = coordinates.table.values[task.kept]
    known = {j: np.sort(values[:, j].astype(np.float64)) for j, _ in budget.cuts}
    short = move_thresholds(tree, budget, coordinates, known)
    before, after = (each.apply(coordinates.table, n_jobs=task.n_jobs) for each in (tree, short))
    n_moved = int(((before != after) & task.kept).sum())
    if n_moved:
        short = name_leaves(short, on_table, "mistakes")
    return within(short, on_table, "mistakes"), n_moved


def move_thresholds(
    tree: ThresholdTree, budget: Budget, here: FeatureSpace, known: Mapping[int, Floats] = MappingProxyType({})
) -> ThresholdTree:
    """Return a tree on the table's columns with thresholds that are rounded or allowed; IN: known: see `at_allowed`."""
    if budget.round_thresholds is not None:
        short = round_thresholds(tree, budget.round_thresholds, (*here.categories, *here.dates, *dict(budget.cuts)))
        # a cut up to the largest number asks whether there is one, and is no threshold
        asks = (tree.upper == LARGEST) & np.isin(tree.feature, here.gaps)
        tree = short.with_thresholds(short.lower, np.where(asks, tree.upper, short.upper))
    return at_allowed(tree, budget.cuts, known, (*here.gaps, *here.dates)) if budget.cuts else tree


def on_table_columns(task: Task, coordinates: FeatureSpace) -> Task:
    """Return the task on the columns of the table, for a tree that needs no centres any more."""
    centers = np.zeros((task.reference.n_clusters, coordinates.table.n_columns))
    reference = Reference(task.reference.labels, centers, task.reference.names)
    return replace(task, store=coordinates.table, reference=reference, mixture=None)
