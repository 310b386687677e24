"""Columns of text where numbers must be: how their values are written, how many are none, and what may help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from boxwood._messages import listed
from boxwood.errors import DataError
from boxwood.table._numerals import PAIRS, Style, normal, number_in, signs_in
from boxwood.table._source import Source
from boxwood.table._sql import as_text

__all__ = ["hints_on", "learn_styles", "notes_on_styles", "refuse_no_numbers", "refuse_text"]

_FIRST = 1000  # rows that show of most columns of text that they hold no numbers
_AT_ONCE = 20  # columns of one query
_WRITTEN = ("csv", "tsv", "jsonl")  # formats that people write
_PARTED = "a sign that may part thousands or decimals"


def refuse_text(source: Source, column: int, n_rows: int) -> None:
    """Raise a DataError if a column is not numbers; it counts the other values and shows the first of them."""
    refuse_no_numbers(source, column)
    learn_styles(source, [column])
    where = _found(source, column, f"NOT {source.missing(column)} AND {source.number(column)} IS NULL", n_rows)
    if where:
        advice = "\n".join(hints_on(source, [source.names[column]]))
        message = f"column '{source.names[column]}' must be numbers, but {source.name} has text in {where}\n{advice}"
        raise DataError(message.rstrip())


def learn_styles(source: Source, columns: Sequence[int]) -> list[int]:
    """Find out how columns of text are written whose values are numbers or truths, but not plainly; return these.

    A column has a style if that leaves no doubt: all values are numbers with a decimal point, or all with a comma, with
    at most one currency's sign, or all with %; or all are of one pair of words. Plain numbers need no style. In Parquet
    and Arrow somebody chose the types, so texts stay texts there.
    """
    found = _facts(source, [i for i in columns if source.format in _WRITTEN and i not in source.styles])
    learnt = {i: facts.style for i, facts in found.items() if facts.style is not None and facts.example is not None}
    source.styles.update(learnt)
    return list(learnt)


def notes_on_styles(source: Source, columns: Sequence[int]) -> tuple[str, ...]:
    """Return lines on how columns are read whose values are numbers or truths, but not plainly."""
    numbers: list[str] = []
    truths: dict[tuple[str, str], list[str]] = {}
    for i in columns:
        style = source.styles.get(i)
        if style is not None and style.words is not None:
            truths.setdefault(style.words, []).append(source.names[i])
        elif style is not None:
            number = source.fetch(f"SELECT {style.number(as_text(style.example))}")[0][0]
            numbers.append(f"{source.names[i]} ({_quoted(style.example)} is {number:.15g})")
    lines = [f"{listed(names)}: {yes} is 1, {no} is 0" for (yes, no), names in truths.items()]
    return (*lines, *([f"read as numbers: {listed(numbers)}"] if numbers else []))


def hints_on(source: Source, names: Sequence[str]) -> tuple[str, ...]:
    """Return lines on columns of text whose values are numbers to people, though there is doubt which."""
    found: dict[str, list[str]] = {}
    for i, facts in _facts(source, [source.names.index(name) for name in names]).items():
        if facts.doubt is not None and facts.example is not None:
            found.setdefault(facts.doubt or "signs in them", []).append(f"{source.names[i]} ({_quoted(facts.example)})")
    has_option = source.format in ("csv", "tsv")
    return tuple(
        f"look like numbers with {what}: {listed(columns)}; "
        + (
            "--decimal . or --decimal , reads them"
            if what == _PARTED and has_option
            else "write plain numbers to use them"
        )
        for what, columns in found.items()
    )


# ---------------------------------------------------------------------------------------------------------- styles


class _Facts(NamedTuple):
    """What is true of the values of a column that are not missing.

    Parameters
    ----------
    readable, point, comma : bool or None
        Whether all are numbers, with a decimal point or a comma; all with a point; all with a comma.
    parted : bool or None
        Whether one has a point or a comma.
    pairs : list of bool or None
        Whether all are of each pair of words.
    signs : list of str or None
        Signs of currencies and percent of the values.
    example : str or None
        The first in the alphabet that is no plain number.
    """

    readable: bool | None
    point: bool | None
    comma: bool | None
    parted: bool | None
    pairs: list[bool | None]
    signs: list[str] | None
    example: str | None

    @property
    def style(self) -> Style | None:
        """How all values are written; None if they are no numbers, or there is doubt."""
        words = next((pair for pair, has_all in zip(PAIRS, self.pairs, strict=True) if has_all), None)
        if words is not None:
            return Style(words=words, example=self.example or "")
        return Style("." if self.point else ",", None, self.example or "") if self.doubt == "" else None

    @property
    def doubt(self) -> str | None:
        """What speaks against reading numbers, empty if nothing does; None if values are no numbers."""
        if not self.readable:
            return None
        signs = self.signs or []
        if any(len(sign) > 1 for sign in signs) or len([*filter(None, signs)]) > 1 or {"", "%"} <= {*signs}:
            return "different signs"
        if self.point and self.comma:
            return _PARTED if self.parted else ""
        return "" if self.point or self.comma else "points and commas in more than one role"


def _facts(source: Source, columns: Sequence[int]) -> dict[int, _Facts]:
    """Return facts on those columns of text that may hold numbers or truths."""
    texts = [i for i in columns if source.kind(i) == "text"]
    first = replace(source, relation=f"(SELECT * FROM {source.relation} LIMIT {_FIRST})")
    likely = [i for i, facts in _all_facts(first, texts).items() if facts.readable or any(facts.pairs)]
    return _all_facts(source, likely)


def _all_facts(source: Source, columns: Sequence[int]) -> dict[int, _Facts]:
    parts = [columns[start : start + _AT_ONCE] for start in range(0, len(columns), _AT_ONCE)]
    return {i: facts for part in parts for i, facts in _facts_at_once(source, part).items()}


def _facts_at_once(source: Source, columns: Sequence[int]) -> dict[int, _Facts]:
    values, facts = [], []
    for i in columns:
        text = source.text(i)
        point, comma = (number_in(text, sign) if source.decimal in (None, sign) else "NULL" for sign in ".,")
        values += [f"{text} AS t{i}", f"{source.missing(i)} AS m{i}", f"{point} AS p{i}", f"{comma} AS k{i}"]
        facts += _facts_in_sql(i)
    found = source.fetch(f"SELECT {', '.join(facts)} FROM (SELECT {', '.join(values)} FROM {source.relation})")[0]
    size = len(_Facts._fields)
    return {i: _Facts(*found[size * j : size * (j + 1)]) for j, i in enumerate(columns)}


def _facts_in_sql(i: int) -> list[str]:
    """Return the SQL of each fact, in terms of the text t, whether it is missing m, and its numbers p and k."""
    number = f"p{i} IS NOT NULL OR k{i} IS NOT NULL"
    pairs = (f"bool_and(m{i} OR {normal(f't{i}')} IN ({', '.join(map(as_text, pair))}))" for pair in PAIRS)
    return [
        f"bool_and(m{i} OR {number})",
        f"bool_and(m{i} OR p{i} IS NOT NULL)",
        f"bool_and(m{i} OR k{i} IS NOT NULL)",
        f"bool_or(contains(t{i}, '.') OR contains(t{i}, ',')) FILTER (NOT m{i})",
        f"[{', '.join(pairs)}]",
        f"list(DISTINCT {signs_in(f't{i}')}) FILTER (NOT m{i} AND ({number}))",
        f"min(t{i}) FILTER (NOT m{i} AND TRY_CAST(t{i} AS DOUBLE) IS NULL)",
    ]


# ---------------------------------------------------------------------------------------------------------- errors


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
