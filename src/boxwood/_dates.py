"""Dates as numbers: days since the beginning of 1970, exact to the microsecond; how they are said, and round ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from fractions import Fraction
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import ArrayLike

from boxwood._ages import age_in_text, age_in_words, roundest_age, span_in_words
from boxwood._messages import show_value
from boxwood._types import Floats
from boxwood.errors import DataError

_DAYS = (
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y-%m-%d"),
    *("%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y"),
)
_MONTHS = (
    *("%Y-%m", "%Y/%m", "%m/%Y", "%m-%Y", "%b %Y", "%B %Y", "%b-%Y", "%b-%y", "%Y-%b"),
    *("%YQ%q", "%Y-Q%q", "%Y Q%q", "Q%q %Y", "Q%q/%Y", "Q%q-%Y", "Q%q/%y"),
)
DATE_FORMS = [*(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")), *_MONTHS]
"""Forms of dates beside those of ISO 8601; those of months and quarters, %q, are their first days."""

ISO_PARTS = (
    "([0-9]{4})-([0-9]{2})-([0-9]{2})",
    "(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])",
    "(?::([0-5][0-9])([.][0-9]+)?)?",
    "(Z| UTC|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)?)?",
)
ISO = "".join(ISO_PARTS)
"""Pattern of dates of ISO 8601: in its groups are year, month, day, hour, minute, second, fraction and zone."""

DOUBTFUL = "dates that cannot be read for sure (write them as 2026-03-01)"
DATES_AS_TEXT = "dates as text"
"""Why texts that look like dates are left out: day and month may be exchanged, or forms or zones are mixed."""

TIMES = "times of day or lengths of time (make numbers of them, such as seconds)"
TIME = "[0-9]{1,3}:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?"
"""Pattern of texts that are times of the day or lengths of time, such as 14:30 and 00:12:33."""

NEARLY_ALL = 0.95  # of the texts of a column, so that a few may say that there is no time, or no number
FEW_TIMES = 20  # different ones: beside so few, other texts are words

MICROSECONDS = 86_400_000_000  # of a day
_EPOCH = datetime(1970, 1, 1)
_IN_UTC = _EPOCH.replace(tzinfo=UTC)
_ONE = timedelta(microseconds=1)
_FIRST_OF_ALL, _LAST_OF_ALL = ((end - _EPOCH) // _ONE for end in (datetime.min, datetime.max))
_STEPS = [  # from a day down
    *(timedelta(hours=n) for n in (24, 12, 6, 3, 1)),
    *(timedelta(minutes=n) for n in (30, 15, 5, 1)),
    *(timedelta(seconds=n) for n in (30, 10, 1)),
    *(timedelta(microseconds=10**n) for n in range(5, -1, -1)),
]


class Dates(NamedTuple):
    """A column of dates, which trees see as days since the beginning of 1970 (in UTC, where it has a zone).

    Parameters
    ----------
    zone : str, default=""
        The time zone in which dates are said, such as "Europe/Vienna"; empty for dates without a zone.
    form : str, default=""
        How texts that are such dates are written, as for `datetime.strptime`; empty for ISO 8601.
    as_of : str, default=""
        What dates are counted from, where rules say ages such as "within the last 137 days": a day or a moment of ISO
        8601, in UTC where the column has a zone; `TODAY` or `NOW`; or the name of the column that has the day of each
        row. A tree then sees days since 1970 of a day or a moment, and days after it otherwise. Empty for dates that
        are said as dates.

    Notes
    -----
    Doubles tell microseconds apart from 1790 to 2149; beyond, neighbouring ones may become one: 40 of them around
    9999-12-31, which is how "open end" is often written. Of those that are one, the roundest is said.

    Examples
    --------
    >>> dates = Dates()
    >>> days = dates.number("2026-02-10"), dates.number("2026-03-20")
    >>> days, dates.first(dates.roundest(*days), beyond=True)
    ((20494.0, 20532.0), '2026-03-01')
    """

    zone: str = ""
    form: str = ""
    as_of: str = ""

    @property
    def day_column(self) -> str:
        """The column that has the day from which the dates of each row are counted; empty without one."""
        return "" if self.as_of in ("", TODAY, NOW) or moment_in(self.as_of, "") else self.as_of

    @property
    def is_relative(self) -> bool:
        """Whether a tree sees days after the day that dates are counted from."""
        return bool(self.as_of) and moment_in(self.as_of, "") is None

    @property
    def is_of_moment(self) -> bool:
        """Whether dates are counted from a moment, so that "now" stands for "today"."""
        return self.as_of == NOW or has_time(self.as_of)

    @property
    def origin(self) -> int:
        """Where ages are counted from as a tree sees it, in microseconds since the beginning of 1970."""
        return _origin_at(self.as_of)

    @property
    def is_known(self) -> bool:
        """Whether the time zone is known here."""
        try:
            return self._tz is not None
        except (ValueError, OSError, KeyError):
            return False

    @property
    def example(self) -> str:
        """A date as texts of the column have it."""
        day = 1 if self.of_months else 31
        return in_form(datetime(2026, 3, day, 14, 30), self.form) if self.form else "2026-03-01"

    @property
    def of_months(self) -> bool:
        """Whether texts name months or quarters, whose first days the dates are."""
        return self.form in _MONTHS

    def number(self, value: Any, column: str = "") -> float:
        """Return the days of a date, or of a text that is one; NaN for a missing value.

        IN: column: its name, for the message.

        Raises
        ------
        DataError
            If it is no date, or has a zone where the column has none, or the other way round.
        """
        if value is None or value != value:
            return math.nan
        if self.day_column and isinstance(value, float):  # days after the day in that column
            return value
        moment, where = self._moment(value), f" in {column}" if column else ""
        if moment is None:
            said = show_value(str(value) if isinstance(value, str) else value)
            raise DataError(f"{said}{where} is no date; expected one such as {self.example}; write all dates so")
        if (moment.tzinfo is None) == bool(self.zone):
            raise DataError(f"{value}{where} {_zone_of_other_kind(bool(self.zone))}")
        return ((moment - (_IN_UTC if moment.tzinfo else _EPOCH)) // _ONE) / MICROSECONDS

    def number_from(self, value: Any, day: Any, column: str) -> float:
        """Return the days of a date after a day, which is one of UTC if it has no zone, but dates have one."""
        plain = self._replace(as_of="")
        moment = plain._moment(day)
        if moment is not None and moment.tzinfo is None and self.zone:
            day = moment.replace(tzinfo=UTC)
        days = np.array([plain.number(value, column)]), np.array([plain.number(day, self.day_column)])
        return float(days_between(*days)[0])

    def number_said(self, value: Any, column: str) -> float:
        """Return the days of a date, or of an age as rules say it where dates are counted from a day.

        Raises
        ------
        DataError
            As of `number`.
        """
        if not self.as_of:
            return self.number(value, column)
        age = age_in_text(value, self.day_column) if isinstance(value, str) else None
        if age is not None:
            return (self.origin + age) / MICROSECONDS
        try:
            if not self.day_column:
                return self.number(value, column)
        except DataError:
            pass
        example = age_in_words(-30 * MICROSECONDS, self.day_column)
        raise DataError(f"{show_value(value)} in {column} is no age; expected one such as {example!r}, as rules say it")

    def text(self, days: float) -> str:
        """Return a date as text, such as 2026-03-01 or 2026-03-01 14:30, to the microsecond."""
        return self._said(_microseconds(days)) if math.isfinite(days) else str(days)

    def day(self, days: float) -> str:
        """Return a date to the day, as text."""
        micro = _microseconds(days)
        if self.as_of:
            return self._said(self.origin + (micro - self.origin) // MICROSECONDS * MICROSECONDS)
        with suppress(OverflowError):
            return self._local(micro).date().isoformat()
        return self._said(micro)

    def first(self, days: float, *, beyond: bool) -> str:
        """Return the first date from `days` on, or `beyond` it, as text: dates up to `days` are before the latter."""
        return self._said(_first(days, beyond))

    def distance(self, days: float, *, beyond: bool) -> timedelta:
        """Return how far the first date from `days` on, or `beyond` it, is from where ages are counted from."""
        return (_first(days, beyond) - self.origin) * _ONE

    def period(self, begin: float | None, end: float | None) -> str:
        """Return in words when dates are that are not up to `begin`, but up to `end`; None for no such end."""
        first, last = (None if one is None else _first(one, True) - self.origin for one in (begin, end))
        return span_in_words(first, last, self.day_column, self._here)

    def first_moment(self, days: float, *, beyond: bool) -> datetime:
        """Return the first date from `days` on, or `beyond` it, in UTC and without a zone.

        Raises
        ------
        DataError
            If it is not in the years 1 to 9999.
        """
        micro = _first(days, beyond)
        if not _is_a_date(micro):
            raise DataError(
                f"{self._said(micro)} is beyond the years 1 to 9999, the dates that code, SQL and files hold"
            )
        return _EPOCH + micro * _ONE

    def moment(self, days: float) -> datetime:
        """Return a date, which is one of UTC if dates have a zone; an error as of `first_moment`."""
        return self.first_moment(days, beyond=False).replace(tzinfo=UTC if self.zone else None)

    def roundest(self, low: float, high: float) -> float:
        """Return the threshold in `low <= x < high` that parts dates before a round one from that and later ones.

        A new year is rounder than a month's first day, this than any day, a day than an hour, and so on. Of equally
        round dates the one nearest to the middle is taken. In years without a date up to an open end, as 9999-12-31, or
        from one, as 1900-01-01, that is not some year in between, but a date of that day or the next. Of ages it is a
        round one, such as 30 or 365 days.
        """
        low, high = (low, high) if self.as_of else _beside_open_end(low, high)
        first, last = max(first_after(low), _FIRST_OF_ALL), min(_microseconds(high), _LAST_OF_ALL)
        if first > last:
            return low
        if self.as_of:
            age = roundest_age(first - self.origin, last - self.origin)
            return math.nextafter((age + self.origin) / MICROSECONDS, -math.inf)
        middle = self._local(first + (last - first) // 2)
        for candidates in _round_dates(middle, by_quarters="%q" in self.form):
            for found in sorted(candidates, key=lambda each: abs(each - middle)):
                micro = self._utc(found)
                if low < micro / MICROSECONDS <= high and _is_a_date(micro):
                    return math.nextafter(micro / MICROSECONDS, -math.inf)
        return math.nextafter(first / MICROSECONDS, -math.inf) if first / MICROSECONDS <= high else low

    # ------------------------------------------------------------------------------------------------- private
    def _moment(self, value: Any) -> datetime | None:
        if isinstance(value, np.datetime64):
            value = value.astype("M8[us]").item()
        if isinstance(value, datetime):  # among them those of pandas
            return value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day)
        text = str(value).strip()
        for form in dict.fromkeys((self.form, "")):
            if (found := moment_in(text, form)) is not None:
                return found
        return None

    @property
    def _here(self) -> str:
        return "now" if self.is_of_moment else "today"

    @property
    def _tz(self) -> tzinfo:
        return _zone(self.zone)

    def _local(self, micro: int) -> datetime:
        """Return a moment in the zone of the column, without the zone; in UTC, where the calendar has it there alone.

        Raises
        ------
        OverflowError
            If it is beyond the calendar.
        """
        distance = timedelta()
        if self.zone:
            inside = min(max(micro, _FIRST_OF_ALL + MICROSECONDS), _LAST_OF_ALL - MICROSECONDS)
            distance = (_IN_UTC + inside * _ONE).astimezone(self._tz).utcoffset() or distance
        with suppress(OverflowError):
            return _EPOCH + (micro * _ONE + distance)
        return _EPOCH + micro * _ONE

    def _utc(self, local: datetime) -> int:
        moment = local.replace(tzinfo=self._tz) - _IN_UTC if self.zone else local - _EPOCH
        return moment // _ONE

    def _said(self, micro: int) -> str:
        if self.as_of:
            return age_in_words(micro - self.origin, self.day_column, self._here)
        try:
            local = self._local(micro)
            distance = local - _EPOCH - micro * _ONE
            if local.time() == time() and self._utc(local) == micro:  # in the zone of the column
                return self._day_said(local)
            if distance % timedelta(minutes=1):  # before there were zones; no text has such a distance to UTC
                local, distance = local - distance, timedelta()
        except OverflowError:
            return f"{micro / MICROSECONDS:.17g} days after 1970-01-01"
        seconds = "auto" if local.second or local.microsecond else "minutes"
        return local.isoformat(" ", timespec=seconds) + (_offset(distance) if self.zone else "")

    def _day_said(self, day: datetime) -> str:
        """Return a day as text, the first one of a month or a quarter as texts of such a column have it."""
        begins = day.day == 1 and (day.month % 3 == 1 or "%q" not in self.form)
        text = in_form(day, self.form) if self.of_months and begins else ""
        return text if text and moment_in(text, self.form) == day else day.date().isoformat()


TODAY, NOW = "CURRENT_DATE", "CURRENT_TIMESTAMP"
"""What ages are counted from where rules run: the beginning of the day there, or the moment."""

NO_DATES: Mapping[int, Dates] = MappingProxyType({})
"""No column of a table holds dates."""


def _beside_open_end(low: float, high: float) -> tuple[float, float]:
    """Return the gap between two dates in days; if one is an open end, far from the other, the day beside it alone."""
    if high - low < _YEARS:
        return low, high
    if high >= _OPEN_FROM:
        return max(low, high - 1), high
    return (low, min(high, low + 1)) if math.floor(low) in _OPEN_BEGINNINGS else (low, high)


_YEARS = 5 * 366  # days between an open end and other dates
_OPEN_FROM = (datetime(2099, 1, 1) - _EPOCH).days  # 2099-12-31, 2262-04-11, 2999-12-31, 9999-12-31
_OPEN_BEGINNINGS = {
    (datetime(*day) - _EPOCH).days
    for day in ((1, 1, 1), (1753, 1, 1), (1899, 12, 30), (1899, 12, 31), (1900, 1, 1), (1970, 1, 1))
}
"""Dates that stand for none where a column must have one, in days from 1970 on; times and zones may move them."""


def is_open_end(days: float) -> bool:
    """Return whether a threshold is beside a date that stands for none, as 9999-12-31, and so stays there."""
    return days >= _OPEN_FROM - 2 or bool({math.floor(days) - 1, math.floor(days)} & _OPEN_BEGINNINGS)


def days_of(values: ArrayLike) -> Floats:
    """Return numpy's dates as days since the beginning of 1970, NaN for NaT; times are floored to microseconds."""
    dates = np.asarray(values)
    if dates.dtype == np.dtype("M8[D]"):
        days = dates.astype(np.int64).astype(np.float64)
    else:
        days = dates.astype("M8[us]").astype(np.int64) / float(MICROSECONDS)
    return np.where(np.isnat(dates), np.nan, days)


def days_between(days: Floats, origins: Floats) -> Floats:
    """Return days after others, exact to the microsecond."""
    found: Floats = (np.rint(days * MICROSECONDS) - np.rint(origins * MICROSECONDS)) / MICROSECONDS
    return found


def moment_in(text: str, form: str) -> datetime | None:
    """Return the date that a text is in some form, empty for ISO 8601; None if it is none."""
    text = text.strip()
    if not re.fullmatch(pattern_of(form), text):
        return None
    try:
        if form:
            return datetime.strptime(re.sub("Q([1-4])", _as_month, text), form.replace("%q", "%m"))
        return datetime.fromisoformat(text.replace(" UTC", "Z"))
    except ValueError:
        return None


@lru_cache(64)
def _origin_at(as_of: str) -> int:
    day = moment_in(as_of, "")
    return 0 if day is None else (day - _EPOCH) // _ONE


@lru_cache(64)
def has_time(as_of: str) -> bool:
    """Return whether a text that says what dates are counted from is a moment, rather than a day or a column."""
    return ":" in as_of and moment_in(as_of, "") is not None


def _as_month(quarter: re.Match[str]) -> str:
    """Return the first month of a quarter behind its letter, as strptime knows no quarters."""
    return f"Q{3 * int(quarter[1]) - 2:02}"


def in_form(moment: datetime, form: str) -> str:
    """Return a date as a text in some form."""
    return moment.strftime(form.replace("%q", str((moment.month + 2) // 3)))


@cache
def pattern_of(form: str) -> str:
    """Return the regular expression of texts in some form, with a group for each part.

    Python, DuckDB and JavaScript understand it alike, and agree on the texts that fit, as their readers of dates do
    not: to DuckDB, 17.03.23 is a day of the year 23.
    """
    year = "(?:19|20)[0-9]{2}" if form in _MONTHS else "[0-9]{4}"  # other numbers of this form may be codes
    widths = {"%Y": year, "%y": "[0-9]{2}", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]{3,9}", "%q": "[1-4]"}
    escaped = form.replace(".", "[.]").replace("/", "[/]").replace(" ", " +")
    return re.sub("%.", lambda part: f"({widths.get(part[0], '[0-9]{1,2}')})", escaped) or ISO


def zone_name(zone: tzinfo | str | None) -> str:
    """Return the name of a zone, or its distance to UTC such as "+02:00"; "UTC" if it has neither, empty for None."""
    if not isinstance(zone, tzinfo):
        return zone or ""
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)  # of zoneinfo, and of pytz
    distance = zone.utcoffset(None) or timedelta()  # None, too, of a zone with summer time
    return name or ("UTC" if not distance or distance % timedelta(minutes=1) else _offset(distance))


def _zone(name: str) -> tzinfo:
    """Return a zone by its name, or by its distance to UTC such as "+02:00"."""
    if name[:1] in "+-":
        return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo or UTC
    return UTC if name == "UTC" else ZoneInfo(name)


def _offset(distance: timedelta) -> str:
    minutes = distance // timedelta(minutes=1)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


_MOST_DAYS = 1e9  # far more than any date has


def _zone_of_other_kind(needed: bool) -> str:
    """Return in words that a date has a time zone where rules need none, or the other way round, and what to do."""
    if needed:
        return "has no time zone, but the dates of the rules have one; say in which zone it is, as in 2026-03-01T14:30Z"
    return (
        "has a time zone, but the dates of the rules have none; give the local date without one, as in 2026-03-01T14:30"
    )


def in_calendar(days: float) -> float:
    """Return days, or the first or last ones that are in the years 1 to 9999."""
    return min(max(days, _FIRST_OF_ALL / MICROSECONDS), _LAST_OF_ALL / MICROSECONDS)


@lru_cache(4096)
def _first(days: float, beyond: bool) -> int:
    """Return the first date from `days` on, or beyond it; of all that are the same double the roundest."""
    return _roundest_at(first_after(days if beyond else math.nextafter(days, -math.inf)) / MICROSECONDS)


def _microseconds(days: float) -> int:
    """Return the last microsecond that is not after `days`; of all that are the same double the roundest."""
    return _roundest_at(first_after(math.nextafter(days, -math.inf)) / MICROSECONDS) if math.isfinite(days) else 0


def _roundest_at(days: float) -> int:
    """Return the roundest microsecond of the calendar that is this double; the nearest one if none is."""
    exact = Fraction(days) * MICROSECONDS
    for step in _STEPS if abs(days) >= _TOLD_APART else ():
        micro = min(max(round(exact / (step // _ONE)) * (step // _ONE), _FIRST_OF_ALL), _LAST_OF_ALL)
        if micro / MICROSECONDS == days:
            return micro
    return round(exact)


_TOLD_APART = 2.0**16  # days around 1970 in which no two microseconds are the same double


def first_after(days: float) -> int:
    """Return the first microsecond whose number of days is greater."""
    if abs(days) > _MOST_DAYS:  # one microsecond more or less is the same double
        return math.floor(Fraction(days) * MICROSECONDS) + 1
    micro = math.floor(Fraction(days) * MICROSECONDS) - 2
    while micro / MICROSECONDS <= days:
        micro += 1
    return micro


def _is_a_date(micro: int) -> bool:
    """Return whether a microsecond is in the years 1 to 9999, which datetime knows."""
    return _FIRST_OF_ALL <= micro <= _LAST_OF_ALL


def _round_dates(middle: datetime, *, by_quarters: bool) -> Iterator[list[datetime]]:
    """Yield the last round date up to a moment and the next one after it: first days of years, of months, days, ...

    IN: by_quarters: whether quarters come before months.
    """
    yield [datetime(year, 1, 1) for year in (middle.year, middle.year + 1) if year <= datetime.max.year]
    if by_quarters:
        yield [datetime(middle.year, month, 1) for month in (1, 4, 7, 10)]
    month = datetime(middle.year, middle.month, 1)
    yield [month] if month > _LAST_MONTH else [month, (month + timedelta(days=31)).replace(day=1)]
    day = datetime(middle.year, middle.month, middle.day)
    for step in _STEPS:
        last = day + (middle - day) // step * step
        yield [last] if datetime.max - last < step else [last, last + step]


_LAST_MONTH = datetime.max - timedelta(days=31)
