"""What the columns of a table hold: how many values, how many of them numbers, and their range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from boxwood.table._source import MANY, Source, Tick
from boxwood.table._sql import as_text
from boxwood.table._texts import learn_styles

__all__ = ["Profile", "profiles_of"]

_DAYS = ("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y")
_DATES = [day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")]
"""Forms of dates beside those of ISO 8601."""


@dataclass(frozen=True)
class Profile:
    """Counts and range of one column.

    `filled` counts values that are not missing, `numbers` those that are numbers. `padded` says whether a text begins
    with a zero and a second digit, `words` whether all begin with letters: numbers among them are true and false.
    """

    column: int
    filled: int
    numbers: int
    low: float | None
    high: float | None
    padded: bool | None
    infinite: int = 0
    words: bool | None = False
    dates: bool = False
    huge: bool = False

    @property
    def reason(self) -> str | None:
        """Why the column is left out; None for a column of numbers. Such a column may still have text in it."""
        if self.filled == 0:
            return "no values"
        if self.dates:
            return "dates"
        if 2 * self.numbers < self.filled:
            return "text"
        if self.low != self.high or self.numbers < self.filled or self.infinite:
            return None
        return "too large to tell apart as doubles" if self.huge else "one value only"


def profiles_of(source: Source, columns: Sequence[int], tick: Tick | None) -> tuple[int, dict[int, Profile]]:
    """Return the number of rows and the profile of each column.

    The first pass tells all of a column that has a finite number in each row. Others are read once more. Columns of
    text that are no plain numbers may be written as people write numbers; these are learnt, and profiled as that.
    """
    n_rows, profiles = 0, []
    for start in range(0, max(len(columns), 1), MANY):
        some = columns[start : start + MANY]
        n_rows, *facts = _facts(source, some, tick)
        profiles += [Profile(i, n_rows, *facts[4 * j : 4 * j + 4]) for j, i in enumerate(some)]
    profiles = _second_pass(source, n_rows, profiles, tick)
    learnt = learn_styles(source, [p.column for p in profiles if p.numbers < p.filled])
    found = {p.column: _looked_at(source, p) for p in profiles if p.column not in learnt}
    found |= profiles_of(source, learnt, tick)[1] if learnt else {}
    return n_rows, {i: found[i] for i in columns}


def _facts(source: Source, columns: Sequence[int], tick: Tick | None) -> tuple[Any, ...]:
    """Return the number of rows, and for each column the last four fields of its profile that one pass can tell."""
    values, queries = ["1"], ["count(*)"]
    for i in columns:
        kind = source.kind(i)
        if kind not in ("number", "text"):
            queries += ["0", "NULL", "NULL", "NULL"]
            continue
        values.append(f"{source.number(i)} AS n{i}")  # once, for DuckDB would compute it for each use
        queries += [f"count(n{i})", f"min(n{i})", f"max(n{i})"]
        if kind == "text":
            values.append(f"{source.text(i)} AS t{i}")
        # texts are compared by their bytes, and ":" comes next to "9"
        queries.append(f"bool_or(t{i} >= '00' AND t{i} < '0:')" if kind == "text" else "NULL")
    query = f"SELECT {', '.join(queries)} FROM (SELECT {', '.join(values)} FROM {source.relation})"
    return source.fetch(query, tick)[0]


def _second_pass(source: Source, n_rows: int, profiles: Sequence[Profile], tick: Tick | None) -> list[Profile]:
    """Return the profiles with counts of missing and of infinite values, and with `words`."""
    wanted: dict[tuple[int, str], str] = {}
    for p in profiles:
        i = p.column
        if p.numbers < n_rows:
            wanted[i, "filled"] = f"count(*) FILTER (NOT {source.missing(i)})"
        if p.low is not None and p.high is not None and math.inf in (-p.low, p.high):
            wanted[i, "infinite"] = f"count(*) FILTER (isinf({source.number(i)}))"
        if source.kind(i) == "text" and {p.low, p.high} <= {0.0, 1.0}:
            wanted[i, "words"] = f"bool_and({source.missing(i)} OR {source.text(i)} >= 'A')"
    found: dict[int, dict[str, Any]] = {p.column: {} for p in profiles}
    keys = list(wanted)
    for start in range(0, len(keys), MANY):
        some = keys[start : start + MANY]
        answers = source.fetch(f"SELECT {', '.join(wanted[key] for key in some)} FROM {source.relation}", tick)[0]
        for (column, field), answer in zip(some, answers, strict=True):
            found[column][field] = answer
    return [replace(p, **found[p.column]) for p in profiles]


def _looked_at(source: Source, profile: Profile) -> Profile:
    """Return the profile with what only some columns need: whether it holds dates, or different huge numbers."""
    if profile.numbers == 0 < profile.filled:
        return replace(profile, dates=_dates(source, profile.column))
    if profile.low is None or profile.low != profile.high or abs(profile.low) <= 2**53:
        return profile
    text = source.text(profile.column)
    differ = source.fetch(f"SELECT min({text}) <> max({text}) FROM {source.relation}")[0][0]
    return replace(profile, huge=bool(differ))


def _dates(source: Source, column: int) -> bool:
    """Return whether the column holds dates. A column of text does if its first thousand values are, in one form."""
    if source.kind(column) != "text":
        return source.kind(column) == "date"
    first = f"SELECT {source.text(column)} AS v FROM {source.relation} WHERE NOT {source.missing(column)} LIMIT 1000"
    tests = ["TRY_CAST(v AS TIMESTAMP)", *(f"try_strptime(trim(v), {as_text(form)})" for form in _DATES)]
    found = source.fetch(f"SELECT {', '.join(f'bool_and({test} IS NOT NULL)' for test in tests)} FROM ({first})")[0]
    return any(found)
