"""How engines say a day that is some time before or after another one, such as CURRENT_DATE - 137."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from boxwood._dates import NOW, TODAY, Dates
from boxwood.errors import DataError

_UNITS = (
    ("DAY", timedelta(days=1)),
    ("HOUR", timedelta(hours=1)),
    ("SECOND", timedelta(seconds=1)),
    ("MICROSECOND", timedelta(microseconds=1)),
)


class Calendar(NamedTuple):
    """The SQL of one engine that counts from a day; `{at}` is a day or a moment, `{n}` a number, `{a}` without sign.

    Parameters
    ----------
    today : str
        The day of the session.
    day : str
        Some days after a day, or before it.
    start : str
        The moment without a zone at which a day begins.
    later : str
        A moment some time after another one, with `{unit}` for DAY, HOUR, SECOND or MICROSECOND.
    in_utc : str
        The moment of UTC that is written as a moment without a zone.
    now : pair of str, or None
        The moment without a zone that the clock of the session shows, and that of UTC. None has neither.
    """

    today: str = "CURRENT_DATE"
    day: str = "{at} {sign} {a}"
    start: str = "CAST({at} AS TIMESTAMP)"
    later: str = "{at} {sign} INTERVAL '{a} {unit}'"
    in_utc: str = "(({}) AT TIME ZONE 'UTC')"
    now: tuple[str, str] | None = ("LOCALTIMESTAMP", "(CURRENT_TIMESTAMP AT TIME ZONE 'UTC')")

    def of_day(self, at: str, days: int) -> str:
        """Return a day some days after another one."""
        return _fill_template(self.day, at, days) if days else at

    def of_moment(self, start: str, distance: timedelta) -> str:
        """Return a moment some time after another one."""
        rest = abs(distance)
        for unit, length in _UNITS:
            n, rest = divmod(rest, length)
            if n:
                start = _fill_template(self.later, start, -n if distance < timedelta() else n, unit)
        return start

    def end(self, dates: Dates, column: str, distance: timedelta, *, as_day: bool) -> str:
        """Return the day or the moment some time after that from which dates are counted; IN: column: its name in SQL.

        Raises
        ------
        DataError
            If the engine cannot say it.
        """
        if as_day:
            return self.of_day(self.today, distance.days)
        if dates.as_of == NOW and self.now is None:
            raise DataError("this dialect has no moment to count ages from; give as_of, a day or a moment")
        if dates.day_column and dates.zone:
            raise DataError("dates with a time zone are not counted from a column in SQL; give as_of, such as a day")
        at = self.now[bool(dates.zone)] if dates.as_of == NOW and self.now else ""
        at = at or self.start.format(at=self.today if dates.as_of == TODAY else column)
        moment = self.of_moment(at, distance)
        return self.in_utc.format(moment) if dates.zone else moment


def _fill_template(template: str, at: str, n: int, unit: str = "DAY") -> str:
    return template.format(at=at, n=n, a=abs(n), sign="-" if n < 0 else "+", unit=unit)


POSTGRES = Calendar()
SQLITE = Calendar(
    today="date('now', 'localtime')",
    day="date('now', 'localtime', '{n} days')",
    start="strftime('%Y-%m-%d %H:%M:%f', {at})",
    later="strftime('%Y-%m-%d %H:%M:%f', {at}, '{n} {unit}s')",
    in_utc="{}",
    now=("strftime('%Y-%m-%d %H:%M:%f', 'now', 'localtime')", "strftime('%Y-%m-%d %H:%M:%f', 'now')"),
)
MYSQL = Calendar(
    day="{at} {sign} INTERVAL {a} DAY",
    start="CAST({at} AS DATETIME(6))",
    later="{at} {sign} INTERVAL {a} {unit}",
    in_utc="{}",
    now=("NOW(6)", "UTC_TIMESTAMP(6)"),
)
TSQL = Calendar(
    today="CAST(GETDATE() AS DATE)",
    day="DATEADD(DAY, {n}, {at})",
    start="CAST({at} AS DATETIME2)",
    later="DATEADD({unit}, {n}, {at})",
    in_utc="TODATETIMEOFFSET({}, 0)",
    now=("SYSDATETIME()", "SYSUTCDATETIME()"),
)
BIGQUERY = Calendar(
    today="CURRENT_DATE()",
    day="DATE_ADD({at}, INTERVAL {n} DAY)",
    start="CAST({at} AS DATETIME)",
    later="DATETIME_ADD({at}, INTERVAL {n} {unit})",
    in_utc="TIMESTAMP({}, 'UTC')",
    now=("CURRENT_DATETIME()", "CURRENT_DATETIME('UTC')"),
)
SNOWFLAKE = Calendar(
    day="DATEADD(DAY, {n}, {at})",
    start="CAST({at} AS TIMESTAMP_NTZ)",
    later="DATEADD({unit}, {n}, {at})",
    in_utc="TO_TIMESTAMP_TZ(TO_CHAR({}, 'YYYY-MM-DD HH24:MI:SS.FF6') || ' +00:00')",
    now=("CAST(CURRENT_TIMESTAMP AS TIMESTAMP_NTZ)", "SYSDATE()"),
)
SPARK = Calendar(
    today="CURRENT_DATE()",
    day="DATE_ADD({at}, {n})",
    later="{at} {sign} INTERVAL '{a}' {unit}",
    in_utc="FROM_UTC_TIMESTAMP({}, CURRENT_TIMEZONE())",
    now=None,
)
TRINO = Calendar(
    day="{at} {sign} INTERVAL '{a}' DAY",
    later="{at} {sign} INTERVAL '{a}' {unit}",
    in_utc="with_timezone({}, 'UTC')",
    now=None,
)
CLICKHOUSE = Calendar(
    today="toDate32(today())",
    start="toDateTime64({at}, 6)",
    later="{at} {sign} INTERVAL {a} {unit}",
    in_utc="toDateTime64(toString({}), 6, 'UTC')",
    now=None,
)
ORACLE = Calendar(
    today="TRUNC(CURRENT_DATE)",
    later="{at} {sign} NUMTODSINTERVAL({a}, '{unit}')",
    in_utc="FROM_TZ({}, '+00:00')",
    now=None,
)
