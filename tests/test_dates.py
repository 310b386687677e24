"""Dates as days: exact to the microsecond, said in their zone, and thresholds before the roundest date of a gap."""

import itertools
import math
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood._dates import DATE_FORMS, MICROSECONDS, Dates, days_of
from boxwood._texts import TextForms
from boxwood.errors import DataError
from tests.programs import program
from tests.scale import law

EPOCH = datetime(1970, 1, 1)
ZONES = ("", "UTC", "Europe/Vienna", "America/St_Johns", "+05:30")


def micro_of(moment):
    return (moment - EPOCH) // timedelta(microseconds=1)


def naive_grids(middle):
    """Yield the round dates of each kind that may be the nearest to a moment, the roundest kind first."""
    yield [datetime(year, 1, 1) for year in range(middle.year - 1, middle.year + 3)]
    months = [(middle.year + (middle.month - 1 + n) // 12, (middle.month - 1 + n) % 12 + 1) for n in range(-2, 4)]
    yield [datetime(*month, 1) for month in months]
    day = datetime(middle.year, middle.month, middle.day)
    steps = [86400, 43200, 21600, 10800, 3600, 1800, 900, 300, 60, 30, 10, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
    for step in map(timedelta, [0] * len(steps), steps):
        n = (middle - day) // step
        yield [day + (n + k) * step for k in range(-1, 3)]


def naive_roundest(low, high, zone):
    """Return the microsecond of the roundest date after `low` and up to `high`, which are microseconds."""

    def local(micro):
        moment = EPOCH + timedelta(microseconds=micro)
        return moment.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) if zone else moment

    def utc(moment):
        moved = moment.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None) if zone else moment
        return micro_of(moved)

    middle = local(low + 1 + (high - low - 1) // 2)
    for grid in naive_grids(middle):
        inside = [moment for moment in grid if low < utc(moment) <= high]
        if inside:
            return utc(min(inside, key=lambda moment: (abs(moment - middle), moment)))
    raise AssertionError


def zone_of(name):
    if not name:
        return None
    return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo if name[0] in "+-" else ZoneInfo(name)


@law(400)
def test_the_roundest_date_of_a_gap_is_that_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    name = ZONES[seed % len(ZONES)]
    low = int(rng.integers(-(2**52), 2**52))
    high = low + int(rng.choice([1, 2, 40, 10**6, 3600 * 10**6, MICROSECONDS])) * int(rng.integers(1, 500))
    dates = Dates(name)
    threshold = dates.roundest(low / MICROSECONDS, high / MICROSECONDS)
    assert low / MICROSECONDS <= threshold < high / MICROSECONDS
    if abs(high) < 60_000 * MICROSECONDS:  # doubles tell these microseconds apart
        found = naive_roundest(low, high, zone_of(name))
        assert micro_of(dates.first_moment(threshold, beyond=True)) == found
        assert math.nextafter(found / MICROSECONDS, -math.inf) == threshold


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ("2026-02-10", "2026-03-20", "2026-03-01"),
        ("2020-05-01", "2025-05-01", "2023-01-01"),
        ("2026-02-10", "2026-02-11", "2026-02-11"),
        ("2026-02-10 09:05", "2026-02-10 11:40", "2026-02-10 10:00"),
        ("1969-12-31 23:59:59.999998", "1970-01-01", "1970-01-01"),
        ("1968-12-01", "1969-02-01", "1969-01-01"),
        ("2026-02-10 09:05:00.000001", "2026-02-10 09:05:00.000002", "2026-02-10 09:05:00.000002"),
    ],
)
def test_what_parts_two_dates(low, high, said):
    dates = Dates()
    assert dates.first(dates.roundest(dates.number(low), dates.number(high)), beyond=True) == said


def test_a_zone_is_kept_where_summer_begins():
    dates = Dates("Europe/Vienna")
    low, high = (dates.number(f"2026-03-{day}T10:00+00:00") for day in (27, 30))
    assert dates.first(dates.roundest(low, high), beyond=True) == "2026-03-29"
    assert dates.text(high) == "2026-03-30 12:00+02:00"
    assert dates.day(high) == "2026-03-30"


def test_a_number_is_the_same_from_every_type():
    moment = datetime(1969, 7, 20, 20, 17, 40, 1)
    dates = Dates()
    numbers = [dates.number(each) for each in (moment, np.datetime64(moment), moment.isoformat(), str(moment))]
    assert len({*numbers, float(days_of(np.array([moment], "M8[us]"))[0])}) == 1
    assert dates.number(date(1970, 1, 2)) == dates.number("1970-01-02") == 1.0
    assert math.isnan(dates.number(None))
    assert math.isnan(dates.number(np.datetime64("NaT")))
    assert days_of(np.array(["1969-12-31T23:59:59.9999999", "NaT"], "M8[ns]"))[:1] * MICROSECONDS == -1
    assert Dates("UTC").number("2026-03-01T01:00+01:00") == dates.number("2026-03-01")
    assert Dates(form="%d.%m.%Y").number("1.3.2026") == Dates(form="%d.%m.%Y").number("2026-03-01")


def test_what_is_no_such_date_is_refused():
    for dates, value, message in (
        (Dates(), "soon", "'soon' is no date; expected one such as 2026-03-01"),
        (Dates(), "20260301", "is no date"),
        (Dates(form="%d.%m.%Y"), "03/01/2026", "'03/01/2026' is no date; expected one such as 31.03.2026"),
        (Dates(form="%d.%m.%Y"), "31.03.26", "is no date"),
        (Dates(form="%b %d, %Y %H:%M"), "31.03.26", "expected one such as Mar 31, 2026 14:30"),
        (Dates(), datetime(2026, 3, 1, tzinfo=UTC), "has a time zone, but the dates of the rules have none"),
        (Dates("UTC"), "2026-03-01", "has no time zone, but the dates of the rules have one"),
    ):
        with pytest.raises(DataError, match=message):
            dates.number(value)


def forms_of(texts):
    forms = TextForms()
    forms.update(texts)
    return forms


def test_texts_are_dates_of_one_form_or_none():
    for texts, expected in (
        (["2026-03-01", "2025-01-01 10:00"], Dates()),
        (["31.1.2024", "1.2.2024"], Dates("", "%d.%m.%Y")),
        (["1/31/2024 10:15"], Dates("", "%m/%d/%Y %H:%M")),
        (["2024-01-01T00:00Z"], Dates("UTC")),
        (["3/3/2024", "4/4/2024"], Dates("", "%d/%m/%Y")),  # the same dates in both forms
    ):
        assert forms_of(texts).reading.dates == expected
    for texts in (["1/2/2024"], ["2024-01-01", "soon"], ["2024-01-01", "2024-01-01T00:00Z"], [], ["20240101"], [3]):
        assert forms_of(texts).reading is None
    assert forms_of(["1/2/2024"]).are_doubtful
    assert not forms_of([]).are_doubtful
    assert len(DATE_FORMS) == len({*DATE_FORMS})


TEXTS = {  # different texts, and how they are read
    "plain numbers": ([f"{i / 4}" for i in range(40)], "number"),
    "with signs": ([f"{i:+d}" for i in range(40)], "number"),
    "digits beside them": ([f"{i / 4:g}" for i in range(200)], "number"),
    "digits alone": ([f"{i}" for i in range(400)], None),
    "thousands or decimals": ([f"{i}.{i:03}" for i in range(1, 40)], None),
    "leading zeros": ([*(f"{i / 4}" for i in range(40)), "007"], None),
    "a word": ([*(f"{i / 4}" for i in range(40)), "none"], None),
    "infinity": ([*(f"{i / 4}" for i in range(40)), "inf"], None),
    "few versions": ([f"1.{i}" for i in range(20)], None),
    "dates": ([f"2026-01-{i + 1:02}" for i in range(31)], "date"),
    "with zones": ([f"2026-01-{i + 1:02}T10:00+01:00" for i in range(31)], "date"),
    "one in two forms": ([f"2026-01-{i + 1:02}" for i in range(31)] + ["31.01.2026"], None),
    "in doubt": ([f"{i + 1}/{12 - i}/2026" for i in range(12)], None),
}


@law(60)
def test_texts_are_read_alike_whatever_part_of_them_comes_first(seed):
    """Parts of a table may come in any order, from many machines."""
    rng = np.random.default_rng(seed)
    texts, kind = TEXTS[[*TEXTS][seed % len(TEXTS)]]
    expected = forms_of(texts)
    reading = expected.reading
    assert (reading and ("number" if reading.dates is None else "date")) == kind
    shuffled = rng.permutation(texts).tolist()
    ends = sorted(rng.integers(0, len(texts) + 1, 3).tolist())
    parts = [forms_of(shuffled[i:j]) for i, j in itertools.pairwise([0, *ends, len(texts)])]
    total = forms_of([])
    for part in rng.permutation(np.array(parts, dtype=object)).tolist():
        total.merge(part)
    assert total.reading == reading
    assert total.are_doubtful == expected.are_doubtful


ENDS = ["9999-12-31", "9999-12-31T23:59:59", "9999-01-01", "2999-12-31", "2262-04-11", "2099-12-31"]
BEGINNINGS = ["0001-01-01", "1753-01-01", "1899-12-30", "1900-01-01", "1970-01-01"]


@law(200)
def test_a_threshold_is_beside_an_open_end_and_not_in_the_years_before_it(seed):
    rng = np.random.default_rng(seed)
    dates = Dates(ZONES[seed % len(ZONES)])
    real = days_of([np.datetime64("2000-01-01T00:00:00") + int(rng.integers(0, 9 * 10**8))]).item()
    is_end = bool(rng.integers(2))
    (mark,) = days_of([np.datetime64(str(rng.choice(ENDS if is_end else BEGINNINGS)))])
    low, high = (real, mark) if is_end else (mark, real)
    threshold = dates.roundest(low, high)
    assert low <= threshold < high
    assert abs(threshold - mark) <= 1
    if dates.zone in ("", "UTC"):
        day = np.datetime64(math.floor(mark) + (not is_end), "D")
        assert dates.first(threshold, beyond=True) == str(day)


@law(8)
def test_rules_on_an_open_end_say_it_and_all_forms_label_alike(seed):
    rng = np.random.default_rng(seed)
    is_end, n = bool(rng.integers(2)), 60
    mark = str(rng.choice(ENDS[:1] if is_end else BEGINNINGS[:4]))
    ends = np.datetime64("2020-01-01") + rng.integers(0, 2000, n)
    labels = rng.permutation(n) % 2
    ends[labels == 1] = np.datetime64(mark)
    frame = pd.DataFrame({"ends": ends.astype("M8[us]")})
    ex = bw.explain(frame, labels)
    said = mark if is_end else str(np.datetime64(mark) + 1)
    assert f"before {said}" in str(ex)
    assert f"on or after {said}" in str(ex)
    with duckdb.connect() as con:
        con.register("t", frame)
        found = [str(each) for (each,) in con.sql(f"SELECT {ex.to_sql()} FROM t").fetchall()]
    space = program(ex.to_python())
    in_python = [str(space["cluster"]({"ends": end.to_pydatetime()})) for end in frame["ends"]]
    assert found == in_python == list(map(str, labels)) == list(map(str, ex.predict(frame)))
