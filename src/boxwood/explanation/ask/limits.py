"""What is told of the limits of rules: their facts, and notes on what they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from boxwood._dates import Dates
from boxwood._validation import list_words
from boxwood.explanation.measure.allowed import say_ends
from boxwood.explanation.measured_tree import MeasuredTree, Tree
from boxwood.explanation.records import AllowedCuts, LimitFacts
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from boxwood.words.values import column_name, join_words, number


def with_limits(
    explanation: Tree, task: Task, budget: Budget, n_moved: int = 0, dates: Mapping[str, Dates] = MappingProxyType({})
) -> Tree:
    """Return the explanation with the facts of a budget that limits something, and notes on what it did.

    IN: dates: how dates are said, by columns.
    """
    columns = explanation.columns
    names = {part: tuple(columns[j] for j in getattr(budget, part)) for part in ("forbidden", "preferred")}
    facts = LimitFacts(
        budget.max_depth,
        budget.min_samples_leaf if budget.min_samples_leaf > 1 else None,
        budget.max_columns,
        budget.round_thresholds,
        **names,
        n_moved=n_moved,
        cuts=tuple(AllowedCuts(columns[j], say_ends(dates.get(columns[j]), ends)) for j, ends in budget.cuts),
    )
    search = explanation.search_report
    if n_moved and search is not None:
        search = search._replace(gap=None, agreement_gap=None)
    notes = _notes(facts, explanation, task)
    return replace(explanation, limits=facts, search_report=search, notes=(*explanation.notes, *notes))


def _on_preferred(preferred: Sequence[str], used: Sequence[str]) -> str:
    """Return a note on which preferred columns the rules use."""
    column = "column" if len(preferred) == 1 else "columns"
    named = list_words(list(preferred))
    if not used:
        return f"no rule uses the preferred {column} {named}"
    return f"the rules use {list_words(list(used))} of the preferred {column} {named}"


def notes_on_limits(facts: LimitFacts, explanation: MeasuredTree) -> list[str]:
    """Return notes on what rules may ask: how many columns, which, and at which values."""
    columns, used = explanation.columns, explanation.tree.features.tolist()
    tested = [columns[j] for j in used]
    notes = []
    if facts.max_columns is not None:
        among = f"of {len(columns) - len(facts.forbidden):,} columns"
        notes.append(
            f"max_columns={facts.max_columns}: the rules use {list_words(tested) if tested else 'none'} {among}"
        )
    if facts.forbidden:
        notes.append(f"no rule may use the forbidden {list_words(list(facts.forbidden))}")
    if facts.preferred:
        chosen = [name for name in facts.preferred if name in tested]
        notes.append(_on_preferred(facts.preferred, chosen))
    return notes + [f"rules cut {column_name(one.column)} at {_values(one)} alone" for one in facts.cuts]


def _notes(facts: LimitFacts, explanation: MeasuredTree, task: Task) -> tuple[str, ...]:
    notes = [*notes_on_limits(facts, explanation), *_notes_on_room(facts, task)]
    if facts.round_thresholds is not None or facts.n_moved:
        digits = (
            "1 significant digit" if facts.round_thresholds == 1 else f"{facts.round_thresholds} significant digits"
        )
        moved = f"{facts.n_moved:,} of {task.n_kept:,} rows" if facts.n_moved else "no row"
        done = "moved to those that are allowed" if facts.round_thresholds is None else f"rounded to {digits}"
        notes.append(f"thresholds are {done}, which moves {moved} to another leaf")
    return tuple(notes)


def _values(one: AllowedCuts) -> str:
    return join_words([number(value) if isinstance(value, (int, float)) else str(value) for value in one.values], 12)


def _notes_on_room(facts: LimitFacts, task: Task) -> tuple[str, ...]:
    """Return a note if the budget leaves room for fewer leaves than clusters."""
    k, room = task.reference.n_clusters, task.leaves()
    if room >= k or (task.max_leaf_nodes is not None and task.max_leaf_nodes < k):
        return ()
    limits = [f"{name}={getattr(facts, name)}" for name in ("max_depth", "min_samples_leaf") if getattr(facts, name)]
    if not limits:
        return ()
    leaves = "1 leaf" if room == 1 else f"{room:,} leaves"
    return (f"there is room for only {leaves}, fewer than the {k:,} clusters ({', '.join(limits)})",)
