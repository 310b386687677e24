"""Trees on the columns of the table, kept within the limits of their rules to the end.

Depth, rows of a leaf and forbidden columns are kept by the growers themselves. A tree that was grown on a sample, or
whose thresholds are rounded, may have too few of all rows in a leaf; such leaves are taken away here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boxwood.grow.refinement.exchange import within
from boxwood.grow.shared.names import named
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.reference.feature_space import FeatureSpace
from boxwood.tree import ThresholdTree
from boxwood.tree.shorten import rounded

LARGEST = float(np.finfo(np.float64).max)


def finished(tree: ThresholdTree, task: Task, budget: Budget, coordinates: FeatureSpace) -> tuple[ThresholdTree, int]:
    """Return a tree on the table's columns with rounded thresholds, within the budget, and how many rows moved.

    A cut of a mapped column may be several cuts of the table's column, and rows that move may leave too few in a leaf.
    So the budget is looked at once more. Rows that are left out do not count.
    """
    if not budget.given:
        return tree, 0
    on_table = replace(on_table_columns(task, coordinates), budget=budget)
    if budget.round_thresholds is None:
        return within(tree, on_table, "mistakes"), 0
    short = rounded(tree, budget.round_thresholds, (*coordinates.categories, *coordinates.dates))
    if coordinates.gaps:  # a cut up to the largest number asks whether there is one, and is no threshold
        short = short.with_thresholds(short.lower, np.where(tree.upper == LARGEST, tree.upper, short.upper))
    before, after = (each.apply(coordinates.table, n_jobs=task.n_jobs) for each in (tree, short))
    n_moved = int(((before != after) & task.kept).sum())
    if n_moved:
        short = named(short, on_table, "mistakes")
    return within(short, on_table, "mistakes"), n_moved


def on_table_columns(task: Task, coordinates: FeatureSpace) -> Task:
    """Return the task on the columns of the table, for a tree that needs no centres any more."""
    centers = np.zeros((task.reference.n_clusters, coordinates.table.n_columns))
    reference = Reference(task.reference.labels, centers, task.reference.names)
    return replace(task, store=coordinates.table, reference=reference, mixture=None)
