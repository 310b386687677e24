"""Which columns of a table in batches are its rows, and which of them rules may use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from boxwood._frames import refuse_unknown_columns
from boxwood._validation import listed, refuse_other_kind
from boxwood.errors import DataError
from boxwood.explanation._guards import left_out_as_identifiers, notes_on_left_out
from boxwood.explanation._table_guards import suspects_in
from boxwood.grow import METHODS
from boxwood.passes import Batches, Source, TableTask
from boxwood.passes._batches import OTHER_KINDS, rows_of
from boxwood.reference._budget import Budget, as_names
from boxwood.reference._clusterer import refuse_one_name

__all__ = [
    "boolean_columns_of",
    "budget_for",
    "left_out_of",
    "refuse_one_cluster_of",
    "rows_for",
    "without_identifiers",
]


def rows_for(
    source: Source, label: str | None, weight: Any, columns: Sequence[str] | None
) -> tuple[Batches, tuple[str, ...]]:
    """Return the columns that rules may use as rows, and notes on those that are left out."""
    if weight is not None:
        refuse_other_kind("sample_weight", weight, str, f"name the column of {source.name} that holds the weights")
    batches = rows_of(source, label, weight)
    if columns is not None:
        return replace(batches, columns=_chosen(batches, columns, label)), ()
    for name in source.mixed:
        if name not in (label, weight):
            source.refuse_text(name)
    return batches, notes_on_left_out(left_out_of(source, (label, weight)))


def left_out_of(source: Source, beside: Collection[str | None]) -> dict[str, list[str]]:
    """Return the columns that hold no numbers by the reason why rules cannot use them, but for those `beside` them."""
    left_out: dict[str, list[str]] = {}
    for name, kind in zip(source.names, source.kinds, strict=True):
        if kind in OTHER_KINDS and name not in beside:
            left_out.setdefault(OTHER_KINDS[kind], []).append(name)
    return left_out


def without_identifiers(batches: Batches) -> tuple[Batches, tuple[str, ...]]:
    """Return the rows without columns that look like identifiers, and a note on these; takes a pass, seldom two."""
    suspects = suspects_in(batches).identifiers
    columns = tuple(name for name in batches.columns if name not in suspects)
    if not suspects:
        return batches, ()
    note = left_out_as_identifiers(suspects)
    if not columns:
        raise DataError(f"no column of numbers is left in {batches.source.name}; {note}")
    return replace(batches, columns=columns), (note,)


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
