"""Columns of text where numbers must be: how many values are none, the first of them, and what may help."""

from __future__ import annotations

from collections.abc import Sequence

from boxwood.errors import DataError
from boxwood.table._numerals import hints
from boxwood.table._source import Source

__all__ = ["hints_on", "refuse_no_numbers", "refuse_text"]


def refuse_text(source: Source, column: int, n_rows: int) -> None:
    """Raise a DataError if a column is not numbers; it counts the other values and shows the first of them."""
    refuse_no_numbers(source, column)
    where = _found(source, column, f"NOT {source.missing(column)} AND {source.number(column)} IS NULL", n_rows)
    if where:
        advice = "\n".join(hints_on(source, [source.names[column]]))
        message = f"column '{source.names[column]}' must be numbers, but {source.name} has text in {where}\n{advice}"
        raise DataError(message.rstrip())


def hints_on(source: Source, names: Sequence[str]) -> tuple[str, ...]:
    """Return lines on columns of text that look like numbers with other signs; a thousand texts of each are read."""
    texts = {}
    for name in names:
        i = source.names.index(name)
        if source.kind(i) == "text":
            test = f"NOT {source.missing(i)} AND {source.number(i)} IS NULL"
            query = f"SELECT {source.text(i)} FROM {source.relation} WHERE {test} LIMIT 1000"
            texts[name] = [row[0] for row in source.fetch(query)]
    return hints(texts)


def refuse_no_numbers(source: Source, column: int) -> None:
    """Raise a DataError if the type of a column says that it holds neither numbers nor texts that may be numbers."""
    if source.kind(column) not in ("text", "number") and source.types[column] != '"NULL"':
        kind = source.types[column].lower()
        raise DataError(f"column '{source.names[column]}' must be numbers, but {source.name} has {kind}")


def _found(source: Source, column: int, condition: str, n_rows: int) -> str:
    """Return in words how many values fulfil a condition, and the first of them; an empty text if none does."""
    query = f"""SELECT count(*), min(row), arg_min(value, row) FROM (
        SELECT row_number() OVER () AS row, {source.text(column)} AS value FROM {source.relation}
        QUALIFY {condition})"""
    count, row, value = source.fetch(query)[0]
    return f"{count:,} of {n_rows:,} rows, first {_quoted(value)} in row {row:,}" if count else ""


def _quoted(value: str, limit: int = 40) -> str:
    return repr(value if len(value) <= limit else value[: limit - 1] + "…")
