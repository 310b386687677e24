"""`boxwood explain` on a table that is read in batches: choose columns, explain."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._validation import listed
from boxwood.cli._talk import Status, Talk
from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.explanation import Explanation
    from boxwood.passes import Source

__all__ = ["Columns", "columns_of", "explained_in_batches", "told_by_rows"]


class Columns(NamedTuple):
    """Names of all columns of a table, and of those that are clustered and explained."""

    names: tuple[str, ...]
    columns: tuple[str, ...]


def told_by_rows(source: Source, status: Status) -> Callable[[float, int], None]:
    """Return what shows the share and the number of rows of each pass."""
    doing, last = status.doing, 0

    def tick(share: float, n_rows: int) -> None:
        nonlocal last
        number = source.n_passes + 1
        if number != last:
            last = number
            status.begin(f"{doing}, pass {number}:")
        status(share, source.n_rows or n_rows)

    return tick


def columns_of(source: Source, labels: str | None, options: dict[str, Any]) -> Columns:
    """Return the columns to use: those that are named, or candidates, of which `explain` leaves some out.

    Raises
    ------
    ColumnError
        If the table lacks a column that is named.
    DataError
        If no column remains.
    """
    from boxwood.explanation._asked import Candidates
    from boxwood.table._column_names import ColumnError, find_columns, split_names

    names = source.names
    beside = [name for name in (labels, options["weights"]) if name is not None]
    find_columns(beside, names)
    if len(beside) == 2 and beside[0] == beside[1]:
        raise ColumnError(f"column '{labels}' cannot hold both labels and weights; name another one for one of them")
    wanted, excluded = split_names(options["columns"], names), split_names(options["exclude"], names)
    find_columns(wanted, names)
    find_columns(excluded, names)
    chosen = [name for name in wanted or names if name not in (*excluded, *beside)]
    for name in () if wanted else source.mixed:
        if name in chosen:
            source.refuse_text(name)
    if not chosen:
        raise DataError(f"no numeric column in {source.name}\nits columns: {listed(names)}")
    return Columns(names, Candidates(chosen, are_named=bool(wanted)))


def explained_in_batches(
    talk: Talk, source: Source, columns: Columns, labels: str | None, **options: Any
) -> tuple[Explanation, list[str]]:
    """Return the explanation of a source, and the warnings; options are those of `explain`."""
    from boxwood.explanation import explain

    doing = "clustering and growing" if labels is None else "growing"
    with talk.growing(doing) as status, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        source.tick = told_by_rows(source, status)
        try:
            explanation = explain(source, labels, columns=columns.columns, **options)
        finally:
            source.tick = None
    texts = [str(warning.message) for warning in caught if warning.category is not DeprecationWarning]
    return explanation, list(dict.fromkeys(texts))
