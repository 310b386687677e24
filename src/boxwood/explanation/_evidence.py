"""`Evidence`: the rows that an explanation was measured on, and how to grow its tree again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from boxwood._types import Indices
from boxwood.grow._grown import Grown
from boxwood.reference import Task
from boxwood.reference._budget import NO_BUDGET, Budget
from boxwood.reference._coordinates import Coordinates
from boxwood.tree import ThresholdTree

__all__ = ["Evidence"]


@dataclass(frozen=True)
class Evidence:
    """What an explanation refers to while it is in memory, so that more can be measured; it is never written.

    Parameters
    ----------
    task : Task
        Rows in the columns on which trees are grown, the clusters with their names, weights, randomness.
    coordinates : Coordinates
        The same rows in the table's columns, on which the tree of the explanation runs, and the map between them.
    leaf : array of shape (n,)
        Leaf of each row.
    grow : function from a task to Grown, default=None
        Grows a tree by the method of the explanation on the columns of `task`; None for a tree that was there already.
    clusterer : object, default=None
        The fitted clusterer that made the clusters; None if labels were given.
    budget : Budget
        Limits of the rules, on the table's columns.
    """

    task: Task
    coordinates: Coordinates
    leaf: Indices
    grow: Callable[[Task], Grown] | None = None
    clusterer: Any = None
    budget: Budget = NO_BUDGET

    def on_table(self, tree: ThresholdTree) -> ThresholdTree:
        """Return a tree on the columns of the task as one on the table's, with short thresholds, within the limits."""
        from boxwood.explanation._budgets import finished

        short = self.coordinates.shortened(self.coordinates.pulled_back(tree))
        return finished(short, self.task, self.budget, self.coordinates)[0]
