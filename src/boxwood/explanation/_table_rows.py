"""Which columns of a table in batches are its rows, and which of them rules may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._frames import refuse_unknown_columns
from boxwood._validation import listed, refuse_other_kind
from boxwood.errors import DataError
from boxwood.explanation._asked import Candidates
from boxwood.explanation._gaps import note_on_gaps, refuse_gaps
from boxwood.explanation._guards import identifiers_to_leave_out, note_on_used, notes_on_left_out, notes_on_padded
from boxwood.explanation._table_guards import NO_LOOK, Look, look_at
from boxwood.grow import METHODS
from boxwood.passes import Batches, Source, TableTask
from boxwood.passes._batches import OTHER_KINDS, rows_of
from boxwood.passes._complete import CompleteRows
from boxwood.passes._overview import MissingValues
from boxwood.reference._budget import Budget, as_names
from boxwood.reference._clusterer import refuse_one_name

if TYPE_CHECKING:
    from boxwood.explanation._asked import Asked
    from boxwood.explanation._explanation import Explanation

__all__ = [
    "Usable",
    "boolean_columns_of",
    "budget_for",
    "left_out_of",
    "on_complete_rows",
    "refuse_one_cluster_of",
    "rows_for",
    "usable_rows",
]


class Usable(NamedTuple):
    """Rows that have all values, in the columns that rules may use.

    Parameters
    ----------
    batches : Batches
        The rows.
    notes : tuple of str
        On columns and rows that are left out.
    n_incomplete : int
        Number of the other rows of the table.
    """

    batches: Batches
    notes: tuple[str, ...] = ()
    n_incomplete: int = 0

    def told(self, explanation: Explanation) -> Explanation:
        """Return the explanation of these rows with the others of the table as rows that are left out."""
        n_rows, n_left_out = (n + self.n_incomplete for n in (explanation.n_rows, explanation.n_left_out))
        return replace(explanation, n_rows=n_rows, n_left_out=n_left_out)


def usable_rows(source: Source, clustering: Any, label: str | None, asked: Asked, *, looked_at: bool) -> Usable:
    """Return the rows and columns of a table that a clustering and its rules use.

    Only if the table is looked at, which takes a pass and seldom two or three, columns are left out by their values,
    and rows that lack some. Columns that the caller named are all used. Of others, those without values are left out.
    So are those that look like identifiers, if boxwood makes the clusters or a column holds them. From candidates,
    named or not, those of one value are left out, too.
    """
    columns, weight = asked.columns, asked.sample_weight
    batches = replace(rows_for(source, label, weight, columns), n_jobs=asked.n_jobs)
    look = look_at(batches) if looked_at else NO_LOOK
    are_named, are_candidates = _are_named(columns), isinstance(columns, Candidates)
    left_out = {} if are_named else left_out_of(source, (label, weight), columns)
    if are_candidates or not are_named:
        left_out.setdefault("no values", []).extend(look.empty)
        left_out["one value only"] = list(look.constant) if are_candidates else []
    unused = {name for names in left_out.values() for name in names}
    kept = [name for name in batches.columns if name not in unused]
    padded = [name for name in kept if name in source.padded]
    suspects = [] if are_named else [name for name in kept if name in look.identifiers or name in padded]
    suspects = suspects if clustering is None or label is not None else []
    suspects = identifiers_to_leave_out(suspects, kept, has_labels=label is not None)
    used = [name for name in kept if name not in suspects]
    notes = notes_on_left_out(left_out, suspects)
    if not used:
        raise DataError(f"{_none_left(source, left_out, suspects)}\n{'; '.join(notes)}")
    usable = complete_rows_of(replace(batches, columns=tuple(used)), look, asked.missing)
    notes = (note_on_used(used, left_out, suspects), *notes) if notes else ()
    notes += notes_on_padded([name for name in padded if name in used])
    return usable._replace(notes=(*notes, *usable.notes))


def _are_named(columns: Sequence[str] | None) -> bool:
    """Return whether the caller named the columns to use."""
    return columns is not None and (not isinstance(columns, Candidates) or columns.are_named)


def _none_left(source: Source, left_out: dict[str, list[str]], suspects: Sequence[str]) -> str:
    """Return why no column is left."""
    if suspects:
        return f"no column is left in {source.name}"
    if left_out.get("one value only"):
        return f"only constant columns in {source.name}; no cut can separate their rows"
    return f"no numeric column in {source.name}"


def on_complete_rows(work: Callable[[Usable], Explanation], batches: Batches, missing: str = "drop") -> Explanation:
    """Return what comes of all rows; or, if their first pass finds that some lack values, of the others."""
    try:
        return work(Usable(batches))
    except MissingValues:
        usable = complete_rows_of(batches, look_at(batches), missing)
    explanation = usable.told(work(usable))
    return replace(explanation, notes=(*usable.notes, *explanation.notes))


def complete_rows_of(batches: Batches, look: Look, missing: str) -> Usable:
    """Return the rows that lack no value; takes a pass if some rows do."""
    gaps = {name: look.gaps[name] for name in batches.columns if name in look.gaps}
    if not gaps:
        return Usable(batches)
    source = CompleteRows(batches.source, list(gaps), batches.n_jobs)
    assert source.n_rows is not None
    n_incomplete = look.n_rows - source.n_rows
    refuse_gaps(gaps, n_incomplete, look.n_rows, missing)
    note = note_on_gaps(gaps, n_incomplete, look.n_rows)
    return Usable(replace(batches, source=source, store=None), (note,), n_incomplete)


def rows_for(source: Source, label: str | None, weight: Any, columns: Sequence[str] | None) -> Batches:
    """Return the columns of numbers as rows: those that the caller has chosen, or all, or those among candidates."""
    if weight is not None:
        refuse_other_kind("sample_weight", weight, str, f"name the column of {source.name} that holds the weights")
    batches = rows_of(source, label, weight)
    if columns is not None and _are_named(columns):
        return replace(batches, columns=_chosen(batches, columns, label))
    for name in source.mixed:
        if name not in (label, weight) and (columns is None or name in columns):
            source.refuse_text(name)
    return replace(batches, columns=tuple(name for name in batches.columns if columns is None or name in columns))


def left_out_of(
    source: Source, beside: Collection[str | None], candidates: Collection[str] | None = None
) -> dict[str, list[str]]:
    """Return the columns that hold no numbers by the reason why rules cannot use them, but for those `beside` them."""
    left_out: dict[str, list[str]] = {}
    for name, kind in zip(source.names, source.kinds, strict=True):
        if kind in OTHER_KINDS and name not in beside and (candidates is None or name in candidates):
            left_out.setdefault(OTHER_KINDS[kind], []).append(name)
    return left_out


def _chosen(batches: Batches, columns: Sequence[str], label: str | None) -> tuple[str, ...]:
    """Return the columns that the caller has chosen, in this order."""
    source, wanted = batches.source, as_names("columns", columns)
    refuse_unknown_columns(wanted, source.names)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    others = [name for name in wanted if kinds[name] in OTHER_KINDS and name != label]
    for name in others:
        source.refuse_text(name)
    if others:
        raise DataError(
            f"columns of a table in batches must be numbers, but these are not: {listed(others)}; leave them out, or "
            "add columns of numbers made of them"
        )
    chosen = tuple(dict.fromkeys(name for name in wanted if name not in (label, batches.weight)))
    if not chosen:
        raise DataError(f"no column is left for the rules among {listed(wanted)}")
    return chosen


def refuse_one_cluster_of(task: TableTask) -> None:
    """Raise a DataError unless at least two clusters have rows."""
    sizes = task.overview.sizes.tolist()
    refuse_one_name([name for name, size in zip(task.reference.names, sizes, strict=True) if size])


def boolean_columns_of(batches: Batches) -> list[str]:
    """Return the columns of the rows that hold booleans."""
    kinds = dict(zip(batches.source.names, batches.source.kinds, strict=True))
    return [name for name in batches.columns if kinds[name] == "boolean"]


def budget_for(batches: Batches, method: str, limits: dict[str, Any]) -> Budget:
    """Return the budget on the columns of the rows; the table's other columns are as good as forbidden.

    Raises
    ------
    DataError
        If a column is not in the table, or one of the others is preferred.
    ValueError
        If trees of the method do not keep one of the limits.
    """
    others = set(batches.source.names) - set(batches.columns)
    unused = [name for name in as_names("preferred", limits.get("preferred")) if name in others]
    if unused:
        raise DataError(
            f"preferred columns that rules cannot use: {listed(unused)}; prefer some of {listed(batches.columns)}"
        )
    forbidden = [name for name in as_names("forbidden", limits.get("forbidden")) if name not in others]
    budget = Budget.of(batches.columns, **limits | {"forbidden": forbidden})
    if method != "auto":
        METHODS[method].check_budget(budget)
        if budget.preferred:
            raise ValueError(
                f"method {method!r} has no preferred where rows are read in batches, as its cuts are moved by all rows "
                "in memory; use 'auto', or explain a sample"
            )
    return budget
