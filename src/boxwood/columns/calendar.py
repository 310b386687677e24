"""`is_calendar`: whether a column says when a row is from: a date, a part of one, or a time of day.

Numbers alone do not tell: from 1 to 12 are months, and much else. So a column of numbers must also have the name of
such a part, and no other word that gives it a meaning of its own, as `year_built` and `hours_per_week` have. Words must
all be names of months, of days of the week, or of seasons.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable

from boxwood.columns.seen import Seen

YEARS = (1800.0, 2101.0)
PARTS = {
    "year": YEARS,
    "yr": YEARS,
    "month": (0.0, 12.0),
    "mnth": (0.0, 12.0),
    "day": (0.0, 366.0),
    "doy": (0.0, 366.0),
    "weekday": (0.0, 7.0),
    "dow": (0.0, 7.0),
    "hour": (0.0, 24.0),
    "minute": (0.0, 60.0),
    "week": (0.0, 53.0),
    "quarter": (1.0, 4.0),
    "season": (0.0, 4.0),
}
"""Least and greatest number of each part of a date, by its name."""

_BESIDE = {"of", "the", "in", "num", "number", "nr", "no", "name", "fiscal", "calendar", "survey", "local", "utc"}
_BESIDE |= {"sale", "sales", "sold", "arrival", "departure"}
CLOCK = (0.0, 2400.0)  # times of day as 1530

_MONTHS = "jan(uary)? feb(ruary)? mar(ch)? apr(il)? may june? july? aug(ust)? sept?(ember)? oct(ober)? nov(ember)? "
_DAYS = "mon(day)? tue(s(day)?)? wed(nesday)? thu(r?s(day)?)? fri(day)? sat(urday)? sun(day)?"
_YEAR = "(19|20)[0-9]{2}"
_NAMES = (
    (f"{_MONTHS}dec(ember)?", f"([ /-]*({_YEAR}|[0-9]{{2}}))?"),
    (_DAYS, ""),
    ("winter spring summer fall autumn", f"([ /-]*{_YEAR})?"),
)
_TEXTS = [re.compile(f"({'|'.join(names.split())}){year}", re.IGNORECASE) for names, year in _NAMES]


def is_calendar(seen: Seen, words: Collection[str]) -> bool:
    """Return whether a column says when a row is from; IN: words: those of its name."""
    if seen.is_word:
        return _are_names(seen.texts)
    if seen.kind == "date" or ("date" in words and _is_within(seen, YEARS)):
        return True
    if "time" in words and seen.is_whole and _is_within(seen, CLOCK):
        return seen.are_clock
    ends = {PARTS[word] for word in words if word in PARTS}
    if not ends or not all(word in PARTS or word in _BESIDE for word in words):
        return False
    return (seen.is_whole or ends == {YEARS}) and seen.most > 1 and any(_is_within(seen, each) for each in ends)


def _is_within(seen: Seen, ends: tuple[float, float]) -> bool:
    return ends[0] <= seen.least < seen.most <= ends[1]


def _are_names(values: Collection[Hashable] | None) -> bool:
    """Return whether several values are all names of one part of a date."""
    texts = [value.strip() if isinstance(value, str) else "" for value in values or () if value is not None]
    return len(texts) > 1 and any(all(map(names.fullmatch, texts)) for names in _TEXTS)
