"""Texts of dates: DuckDB reads the same ones as Python, as the same dates, in every form."""

from datetime import UTC, datetime

import duckdb
import numpy as np
import pandas as pd
import pytest

from boxwood._dates import DATE_FORMS, Dates, moment_in
from boxwood.table.columns import _FIRST, _dates, _may_be_dates
from boxwood.table.duck import open_table
from boxwood.table.sql import sql_text
from boxwood.table.written import date_in
from tests.scale import law

FORMS = ("", *DATE_FORMS)
ISO = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.5", "%Y-%m-%d %H:%M:%S.1234567")
ZONES = ("", "Z", " UTC", "+02", "-0330", "+05:45", " +02:00", "+24:00", "z")
PARTS = {
    "%d": ("01", "1", "31", "30", "29", "0", "32", "001", "7"),
    "%m": ("01", "2", "12", "13", "00", "3"),
    "%b": ("Jan", "feb", "MAR", "May", "Sept", "Mai"),
    "%Y": ("2023", "2024", "23", "0023", "0000", "9999", "20231", "1969", "1000"),
    "%y": ("23", "68", "69", "00", "5", "2023"),
    "%B": ("May", "july", "AUGUST", "Sept", "Mai"),
    "%q": ("1", "4", "2", "3", "0", "5", "10"),
    "%H": ("00", "9", "23", "24", "09"),
    "%M": ("00", "5", "59", "60"),
    "%S": ("00", "7", "59", "60"),
}


def odd_text(rng, form):
    """Return a text in some form, or nearly: parts too short, too long or out of range, blanks, a sign too many."""
    text = form
    for part, said in PARTS.items():
        weights = np.where(np.arange(len(said)) < 2, 6.0, 1.0)
        text = text.replace(part, str(rng.choice(said, p=weights / weights.sum())))
    if rng.random() < 0.1:
        text = text.replace(" ", str(rng.choice(["  ", "\t", "\u00a0", "", "T"])))
    if rng.random() < 0.1:
        text = str(rng.choice(["{} ", " {}", "\t{}\n", "\u00a0{}", "{}.", "+{}", "-{}", "{}x", "'{}"])).format(text)
    return text


def in_utc(moment):
    return moment.astimezone(UTC).replace(tzinfo=None) if moment is not None and moment.tzinfo else moment


@law(40)
def test_duckdb_reads_the_texts_that_python_reads(seed):
    rng = np.random.default_rng(seed)
    own = [form for form in FORMS if form]
    written = [*rng.choice(own, 60), *(str(form) + zone for form in ISO for zone in rng.choice(ZONES, 4))]
    texts = [odd_text(rng, str(form)) for form in written]
    values = ", ".join(f"({sql_text(text)})" for text in texts)
    for form in rng.choice(FORMS, 6).tolist():
        query = f"SELECT {date_in('v', Dates('', form))} FROM (VALUES {values}) t(v)"
        found = [moment for (moment,) in duckdb.sql(query).fetchall()]
        known = [moment_in(text, form) for text in texts]
        assert found == [moment and moment.replace(tzinfo=None) for moment in known]
    found = duckdb.sql(f"SELECT {date_in('v', Dates('UTC'))} FROM (VALUES {values}) t(v)").fetchall()
    for text, (moment,) in zip(texts, found, strict=True):
        if (known := moment_in(text, "")) is None or known.tzinfo:
            assert moment == in_utc(known)


@pytest.mark.parametrize("form", FORMS)
def test_an_example_is_in_its_form(form):
    dates = Dates(form=form)
    month, day = 1 if "%q" in form else 3, 31 if "%d" in form else 1
    assert moment_in(dates.example, form).date() == datetime(2026, month, day).date()


@law(12)
def test_first_rows_rule_out_no_column_of_dates_or_times(seed, tmp_path):
    """Some columns have gaps, no value among the first rows, odd texts among times, or words far down."""
    rng, n = np.random.default_rng(seed), 1500
    days, columns = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, n), "D"), {}
    for form in rng.choice([form for form in DATE_FORMS if "%q" not in form], 4).tolist():
        columns[form] = days.strftime(form).to_series(index=range(n))
    columns["iso"] = days.strftime("%Y-%m-%d").to_series(index=range(n))
    columns["times"] = pd.Series(rng.choice([f"{h:02d}:{m:02d}" for h in range(24) for m in range(0, 60, 5)], n))
    columns["words"] = pd.Series(rng.choice(["free", "plus", "may"], n))
    table = pd.DataFrame(columns)
    for name in table:
        table.loc[rng.random(n) < rng.choice([0.0, 0.5, 0.97]), name] = None
        table.loc[rng.random(n) < rng.choice([0.0, 0.0, 0.03]), name] = "closed"
        table.loc[: rng.choice([0, 0, _FIRST]), name] = None
        table.loc[n - 1, name] = table[name].dropna().iloc[0] if rng.random() < 0.7 else "never"
    table["plan"] = "free"
    table.to_csv(tmp_path / "t.csv", index=False)
    with open_table(str(tmp_path / "t.csv")) as source:
        each = range(len(source.names))
        held = {i for i in each if _dates(source, i) is not None}
        assert held <= _may_be_dates(source, each) < {*each}
