"""The limits of `explain`: read from its parameters, kept to the end, and told.

Depth, rows of a leaf and forbidden columns are kept by the growers themselves. A tree that was grown on a sample, or
whose thresholds are rounded, may have too few of all rows in a leaf; such leaves are taken away here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.explanation.choose.few_columns import choices
from boxwood.explanation.choose.goal import Goal
from boxwood.explanation.explanation import Explanation
from boxwood.explanation.measure.facts import TableFacts
from boxwood.explanation.records import BudgetFacts
from boxwood.grow.better.exchange import within
from boxwood.grow.shared.names import named, without_leaves
from boxwood.passes.tree_sums import TreeSums
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget, as_names
from boxwood.reference.coordinates import Coordinates
from boxwood.tree import ThresholdTree
from boxwood.tree.shorten import rounded

__all__ = [
    "budget_of",
    "finished",
    "in_coordinates",
    "on_few_columns",
    "on_table_columns",
    "settled",
    "told",
    "with_enough_rows",
]


def budget_of(
    given: dict[str, Any],
    columns: Sequence[str],
    of_table: Collection[str],
    left_out: Callable[[], Mapping[str, Sequence[str]]],
) -> Budget:
    """Return the budget on the columns that rules may use; the table's other columns are as good as forbidden.

    IN: of_table: all columns of the table; left_out: columns that hold no numbers, by the reason.

    Raises
    ------
    DataError
        If a column is not in the table, or one of the others is preferred.
    """
    others = set(of_table) - set(columns)
    if unused := [name for name in as_names("preferred", given["preferred"]) if name in others]:
        reasons = {name: f"left out, {reason}" for reason, group in left_out().items() for name in group}
        texts = [f"{name} ({reasons.get(name, 'not among the columns of the rules')})" for name in unused]
        raise DataError(
            f"preferred columns that rules cannot use: {listed(texts)}; prefer some of {listed(list(columns))}"
        )
    forbidden = [name for name in as_names("forbidden", given["forbidden"]) if name not in others]
    return Budget.of(columns, **given | {"forbidden": forbidden})


def in_coordinates(budget: Budget, coordinates: Coordinates) -> Budget:
    """Return the budget on the columns on which trees are grown."""
    return budget.mapped(None if coordinates.axis_map is None else coordinates.axis_map.features)


def finished(tree: ThresholdTree, task: Task, budget: Budget, coordinates: Coordinates) -> tuple[ThresholdTree, int]:
    """Return a tree on the table's columns with rounded thresholds, within the budget, and how many rows moved.

    A cut of a mapped column may be several cuts of the table's column, and rows that move may leave too few in a leaf.
    So the budget is looked at once more. Rows that are left out do not count.
    """
    if not budget.given:
        return tree, 0
    on_table = replace(on_table_columns(task, coordinates), budget=budget)
    if budget.round_thresholds is None:
        return within(tree, on_table, "mistakes"), 0
    short = rounded(tree, budget.round_thresholds, tuple(coordinates.categories))
    before, after = (each.apply(coordinates.table, n_jobs=task.n_jobs) for each in (tree, short))
    n_moved = int(((before != after) & task.kept).sum())
    if n_moved:
        short = named(short, on_table, "mistakes")
    return within(short, on_table, "mistakes"), n_moved


def on_table_columns(task: Task, coordinates: Coordinates) -> Task:
    """Return the task on the columns of the table, for a tree that needs no centres any more."""
    centers = np.zeros((task.reference.n_clusters, coordinates.table.n_columns))
    reference = Reference(task.reference.labels, centers, task.reference.names)
    return replace(task, store=coordinates.table, reference=reference, mixture=None)


def settled(task: Task, tree: ThresholdTree) -> Task:
    """Return the task in which no cut tests other columns than a tree, if the budget limits their number."""
    if task.budget.max_columns is None:
        return task
    tested = {task.budget.source(int(j)) for j in tree.features}
    return task.within(task.budget.only(tested, task.n_columns))


def told(explanation: Explanation, task: Task, budget: Budget, n_moved: int = 0) -> Explanation:
    """Return the explanation with the facts of its budget, and notes on what it did."""
    if not budget.given:
        return explanation
    columns = explanation.columns
    names = {part: tuple(columns[j] for j in getattr(budget, part)) for part in ("forbidden", "preferred")}
    facts = BudgetFacts(
        budget.max_depth,
        budget.min_samples_leaf if budget.min_samples_leaf > 1 else None,
        budget.max_columns,
        budget.round_thresholds,
        **names,
        n_moved=n_moved,
    )
    search = explanation.search
    if n_moved and search is not None:
        search = search._replace(gap=None, agreement_gap=None)
    notes = _notes(facts, explanation, task)
    return replace(explanation, budget=facts, search=search, notes=(*explanation.notes, *notes))


def _on_preferred(preferred: Sequence[str], used: Sequence[str]) -> str:
    """Return a note on which preferred columns the rules use."""
    column = "column" if len(preferred) == 1 else "columns"
    named = listed(list(preferred))
    if not used:
        return f"no rule uses the preferred {column} {named}"
    return f"the rules use {listed(list(used))} of the preferred {column} {named}"


def _notes(facts: BudgetFacts, explanation: Explanation, task: Task) -> tuple[str, ...]:
    columns, used = explanation.columns, explanation.tree.features.tolist()
    tested = [columns[j] for j in used]
    notes = []
    if facts.max_columns is not None:
        among = f"of {len(columns) - len(facts.forbidden):,} columns"
        notes.append(f"max_columns={facts.max_columns}: the rules use {listed(tested) if tested else 'none'} {among}")
    if facts.forbidden:
        notes.append(f"no rule may use the forbidden {listed(list(facts.forbidden))}")
    if facts.preferred:
        chosen = [name for name in facts.preferred if name in tested]
        notes.append(_on_preferred(facts.preferred, chosen))
    notes += _notes_on_room(facts, task)
    if facts.round_thresholds is not None:
        digits = (
            "1 significant digit" if facts.round_thresholds == 1 else f"{facts.round_thresholds} significant digits"
        )
        moved = f"{facts.n_moved:,} of {task.n_kept:,} rows" if facts.n_moved else "no row"
        notes.append(f"thresholds are rounded to {digits}, which moves {moved} to another leaf")
    return tuple(notes)


def _notes_on_room(facts: BudgetFacts, task: Task) -> tuple[str, ...]:
    """Return a note if the budget leaves room for fewer leaves than clusters."""
    k, room = task.reference.n_clusters, task.leaves()
    if room >= k or (task.max_leaf_nodes is not None and task.max_leaf_nodes < k):
        return ()
    limits = [f"{name}={getattr(facts, name)}" for name in ("max_depth", "min_samples_leaf") if getattr(facts, name)]
    if not limits:
        return ()
    leaves = "1 leaf" if room == 1 else f"{room:,} leaves"
    return (f"room for {leaves}, fewer than the {k:,} clusters ({', '.join(limits)})",)


def on_few_columns(task: Task, sample: Task, is_whole: bool) -> tuple[Task, tuple[str, ...]]:
    """Return the task on the columns that are chosen for a method by its name, and a note; see `grown_on_few`.

    Columns are chosen on a sample. Where it holds all rows, the choice is that of the rows in memory.
    """
    [choice] = choices(sample, Goal(sample, "auto"), several=False)
    few = task.within(task.budget.only(choice, task.n_columns))
    note = f"the columns of the rules were chosen on a sample of {len(sample.rows):,} of {task.n_rows:,} rows"
    return few, () if is_whole else (note,)


def with_enough_rows(facts: TableFacts, measured: Sequence[TreeSums]) -> list[TreeSums]:
    """Return the sums of trees without leaves that hold too few rows, as `within` makes them.

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
