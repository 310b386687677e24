"""Limits of the rules on a table in batches: the columns that are chosen for them, and leaves of enough rows.

Depth, rows of a leaf and forbidden columns are kept by the growers themselves. A tree that was grown on a sample, or
whose thresholds are rounded, may have too few of all rows in a leaf; such leaves are taken away here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood.explanation._few_columns import choices
from boxwood.explanation._goal import Goal
from boxwood.explanation._table_facts import TableFacts
from boxwood.grow._names import without_leaves
from boxwood.passes import TableTask
from boxwood.passes._tree_sums import TreeSums
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["on_few_columns", "with_enough_rows"]


def on_few_columns(task: TableTask, sample: Task, is_whole: bool) -> tuple[TableTask, tuple[str, ...]]:
    """Return the task on the columns that are chosen for a method by its name, and a note; see `grown_on_few`.

    Columns are chosen on a sample. Where it holds all rows, the choice is that of the rows in memory.
    """
    [choice] = choices(sample, Goal(sample, "auto"), several=False)
    few = task.within(task.budget.only(choice, task.batches.n_columns))
    note = f"the columns of the rules were chosen on a sample of {len(sample.rows):,} of {task.overview.n_rows:,} rows"
    return few, () if is_whole else (note,)


def with_enough_rows(facts: TableFacts, measured: Sequence[TreeSums]) -> list[TreeSums]:
    """Return the sums of trees without leaves that hold too few rows, as `boxwood.grow._within.within` makes them.

    The leaf with the fewest rows is taken away while it has too few, the first of equals; each time takes a pass for
    all trees together. Names that were honest stay so, as leaves only win rows.
    """
    found, fewest = list(measured), facts.task.budget.min_samples_leaf
    while changed := {i: tree for i, sums in enumerate(found) if (tree := _without_least(sums, fewest)) != sums.tree}:
        for i, sums in zip(changed, facts.of_trees(list(changed.values())), strict=True):
            found[i] = sums
    return found


def _without_least(sums: TreeSums, fewest: int) -> ThresholdTree:
    """Return the tree without its smallest leaf if that has too few rows, and is not the only one."""
    rows = sums.rows.sum(axis=1)
    if rows.min() >= fewest or sums.tree.n_leaves == 1:
        return sums.tree
    return without_leaves(sums.tree, np.arange(len(rows)) == rows.argmin())
