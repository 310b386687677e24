"""Dates as people say them from a day: 137 days ago, in 30 days; and round ages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

_SECOND = 1_000_000
_HOUR = 3600 * _SECOND
_DAY = 24 * _HOUR
_UNITS = (("day", _DAY), ("hour", _HOUR), ("minute", 60 * _SECOND), ("second", _SECOND))
_MICRO = {**dict(_UNITS), "microsecond": 1}
_PART = f"([0-9,]+) ({'|'.join(_MICRO)})s?"
_IN_HOURS = 4 * _DAY  # up to here, times are said in hours

_STEPS = (  # of round ages, from the roundest on: as a year and a month have no length, they count 365 and 30 days
    *(days * _DAY for days in (36500, 3650, 365, 90, 30, 10, 7, 1)),
    *(hours * _HOUR for hours in (12, 6, 3, 1)),
    *(seconds * _SECOND for seconds in (1800, 900, 300, 60, 30, 10, 1)),
    *(10**n for n in range(5, -1, -1)),
)


def age_in_words(micro: int, origin: str = "", here: str = "today") -> str:
    """Return how far a moment is from a day, in microseconds; IN: origin: the column that has the day; here: no age.

    Examples
    --------
    >>> age_in_words(-137 * 86_400_000_000), age_in_words(30 * 86_400_000_000), age_in_words(0)
    ('137 days ago', 'in 30 days', 'today')
    >>> age_in_words(-36 * 3_600_000_000, "taken")
    '36 hours before taken'
    """
    if not micro:
        return origin or here
    if origin:
        return f"{_length(micro)} {'before' if micro < 0 else 'after'} {origin}"
    return f"{_length(micro)} ago" if micro < 0 else f"in {_length(micro)}"


def age_in_text(text: str, origin: str = "") -> int | None:
    """Return the microseconds from a day that a text says as `age_in_words` does; None if it says none.

    Examples
    --------
    >>> age_in_text("137 days ago") // 86_400_000_000, age_in_text("36 hours before taken", "taken") // 3_600_000_000
    (-137, -36)
    """
    text = re.sub(r" \([0-9,]+ years\)", "", text.strip())
    if text in ((origin,) if origin else ("today", "now")):
        return 0
    name = re.escape(origin)
    before, after = (f"(.+) before {name}", f"(.+) after {name}") if origin else ("(.+) ago", "in (.+)")
    for sign, form in ((-1, before), (1, after)):
        said = re.fullmatch(form, text)
        if said and re.fullmatch(f"{_PART}( {_PART})*", said[1]):
            return sign * sum(int(n.replace(",", "")) * _MICRO[unit] for n, unit in re.findall(_PART, said[1]))
    return None


def _length(micro: int) -> str:
    """Return a length of time in words, such as 36 hours, 137 days or 1,825 days (5 years)."""
    rest, parts = abs(micro), list[str]()
    if rest % (365 * _DAY) == 0 and rest > 365 * _DAY:
        return f"{rest // _DAY:,} days ({rest // (365 * _DAY):,} years)"
    in_hours = rest < _IN_HOURS and rest % _DAY
    for name, unit in _UNITS[1:] if in_hours else _UNITS:
        n, rest = divmod(rest, unit)
        parts += [f"{n:,} {name}{'' if n == 1 else 's'}"] if n else []
    if rest:
        parts.append(f"{rest} microseconds")
    return " ".join(parts)


def span_in_words(begin: int | None, end: int | None, origin: str = "", here: str = "today") -> str:
    """Return when dates are that are not before one moment, and before another; None for no such moment.

    IN: as for `age_in_words`.

    Examples
    --------
    >>> day = 86_400_000_000
    >>> span_in_words(-137 * day, None), span_in_words(None, -137 * day), span_in_words(0, 30 * day)
    ('within the last 137 days', 'more than 137 days ago', 'in the next 30 days')
    """
    ago, ahead = (f"before {origin}", f"after {origin}") if origin else ("ago", "ahead")
    last, coming = ("the", "the") if origin else ("the last", "the next")
    before, behind = (f" {ago}", f" {ahead}") if origin else ("", "")
    if begin is None and end is None:
        return "at any time"
    if begin is None:
        assert end is not None
        if end > 0:
            return f"less than {_length(end)} {ahead}" if origin else f"in the next {_length(end)} or before"
        return f"more than {_length(end)} {ago}" if end else f"before {origin or here}"
    if end is None:
        if begin > 0:
            return f"{_length(begin)} or more {ahead}"
        return f"within {last} {_length(begin)}{before}" if begin else f"{origin or here} or later"
    if end <= 0:
        if not end:
            return f"before {origin or here}, within {last} {_length(begin)}{before}"
        near, far = _length(end), _length(begin)
        unit = far.partition(" ")[2]
        near = near.removesuffix(f" {unit}") if unit in ("days", "hours") else near
        return f"more than {near} and up to {far} {ago}"
    if begin >= 0:
        return f"in {coming} {_length(end)}{behind}" if not begin else f"{_length(begin)} to {_length(end)} {ahead}"
    if origin:
        return f"within {_length(begin)} {ago} and less than {_length(end)} {ahead}"
    return f"within {last} {_length(begin)} or in {coming} {_length(end)}"


def roundest_age(first: int, last: int) -> int:
    """Return the roundest of the moments from the first to the last, in microseconds from a day.

    That is the day itself, then whole years of 365 days, quarters, months of 30 days, tens of days, weeks, days, hours
    and so on. Of several it is the one nearest to the middle; in years far apart nearest to what is as many times as
    long as the one and as short as the other.
    """
    if first <= 0 <= last:
        return 0
    middle = _middle(first, last)
    for step in _STEPS:
        inside = [found for found in _multiples(step, middle) if first <= found <= last]
        if inside:
            return min(inside, key=lambda found: (abs(found - middle), abs(found)))
    return first


def _middle(first: int, last: int) -> int:
    near, far = sorted((abs(first), abs(last)))
    length = math.isqrt(near * far) if far > 10 * near else (near + far) // 2
    return length if last > 0 else -length


def _multiples(step: int, middle: int) -> Iterator[int]:
    below = middle // step * step
    yield from (below, below + step)
