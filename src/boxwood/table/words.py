"""Marks of missing values that are words: NA is Namibia among ZA and BW, and Nan a surname among Smith and Jones.

In a file of text a mark is a word where it is written as the other values of its column are: in as many letters of one
case, or as one more capitalised word. `none` is no mark, and `nan` and `null` in small letters are what programs write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from boxwood._texts import MARKS
from boxwood.batches.source import MarksMet
from boxwood.table.duck import DuckTable
from boxwood.table.sql import sql_text

_NEARLY_ALL = 0.9  # of the other values, so that a few may be written in another way
_CAPITALISED = r"\p{Lu}|\p{Lu}[^0-9]*\p{Ll}[^0-9]*"  # H, Smith, O'Brien, de la Cruz not


def marks_in(source: DuckTable, column: int) -> str:
    """Return the SQL of the different marks of a column of text."""
    marks = ", ".join(sql_text(mark) for mark in MARKS if mark)
    return f"list(DISTINCT {source.text(column)}) FILTER (lower(trim({source.text(column)})) IN ({marks}))"


def marks_of(source: DuckTable, column: int) -> list[str]:
    """Return the different marks of a column; none where texts are not all that a table has."""
    if not source.has_marks or source.kind(column) != "text":
        return []
    return source.fetch(f"SELECT {marks_in(source, column)} FROM {source.relation}")[0][0] or []


def learn_words(source: DuckTable, marks: Mapping[int, Sequence[str]]) -> None:
    """Find out which of the marks of some columns are words there."""
    for i, its in marks.items():
        patterns = {mark: pattern for mark in its if (pattern := _pattern(mark.strip()))}
        if patterns:
            source.words[i] = _written_alike(source, i, patterns)


def marks_met(source: DuckTable, column: int, marks: Sequence[str]) -> MarksMet:
    """Return how many rows have each mark of a column, as a missing value or as a word."""
    text = source.text(column)
    listed = ", ".join(map(sql_text, marks))
    found = source.fetch(f"SELECT {text}, count(*) FROM {source.relation} WHERE {text} IN ({listed}) GROUP BY ALL")
    return MarksMet.of(dict(found), source.words.get(column, ()))


def _pattern(mark: str) -> str | None:
    """Return how other values are written if a mark is a word beside them; None if it never is."""
    if mark.isalpha() and mark.isupper():
        return rf"\p{{Lu}}{{{len(mark)}}}"
    if mark.istitle() and mark.isalpha():
        return _CAPITALISED
    return r"\p{Ll}{2}" if mark == "na" else None


def _written_alike(source: DuckTable, column: int, patterns: Mapping[str, str]) -> list[str]:
    """Return the marks of a column that are written as nearly all of its other values, of which two are different.

    Words such as "none" and "unknown" are no others.
    """
    text, other = f"trim({source.text(column)})", f"NOT {source.missing(column)}"
    tests = [f"{other} AND regexp_full_match({text}, {sql_text(each)})" for each in patterns.values()]
    facts = [f"count(*) FILTER ({test}), min({text}) FILTER ({test}) <> max({text}) FILTER ({test})" for test in tests]
    n_others, *found = source.fetch(f"SELECT count(*) FILTER ({other}), {', '.join(facts)} FROM {source.relation}")[0]
    alike: Iterable[tuple[int, bool | None]] = zip(found[::2], found[1::2], strict=True)
    return [mark for mark, (n, differ) in zip(patterns, alike, strict=True) if differ and n >= _NEARLY_ALL * n_others]
