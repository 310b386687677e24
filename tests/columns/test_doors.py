"""The matrix: columns of every kind are read alike through every door, and a sentence tells where they are not."""

import contextlib
import re
import sqlite3
import warnings
from functools import cache
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests.columns.kinds import KINDS, LABEL, N
from tests.doors import DOORS, FRAMES, arrow_table, pandas_frame, sqlite_file
from tests.scale import law

X = np.random.default_rng(0).normal(size=N).round(3)
W = np.array(["x", "y"])[np.arange(N) // 5 % 2]
PARQUET = {"Parquet", "Parquet, engine duckdb", "scan of Parquet"}
CSV = {"CSV", "scan of CSV"}
QUERIES = {"scan of a query", "relation"}
TYPED = QUERIES | {"scan of pandas", "scan of Arrow", "scan of a reader"}
PEOPLE = CSV | {"JSON lines", "Excel", "SQLite", "DuckDB"}
FILES = PEOPLE | PARQUET
ARROW = {"Arrow", "Arrow in pieces", "RecordBatch", "Arrow in pandas"}


class Told(NamedTuple):
    """How a column is read through some doors, other than from a frame of pandas.

    `note` is a pattern of a note there that tells it; "" where the rule shows it by itself.
    """

    doors: set[str]
    how: str
    note: str
    because: str


READ = r"read as numbers: seen \("
WRITTEN = {"JSON lines", "Excel"} | CSV  # formats that people write
NOT_TEXT = (FILES - CSV, "number", READ, "a file has texts where it could have no numbers")
IN_CSV = (CSV, "number", "", "all values of CSV are texts")
WORDS_OF_PEOPLE = (WRITTEN, "number", "yes is 1, no is 0", "people write words for true and false")
TRUE_AND_FALSE = (FILES, "number", "", "programs write these words for true and false; rules say so")
AS_PEOPLE_WRITE = (
    (WRITTEN, "number", READ, "people write signs beside numbers"),
    (FILES - WRITTEN, "left out: text", "left out, text: seen|look like numbers", "programs do not"),
)
SCANS = {door for door in DOORS if door.startswith("scan of ")}
AS_TEXT = ((CSV, "words", "", "all values of CSV are texts"),)
STORED = "a dictionary is a way to store numbers, but categories of pandas are words"
DIFFERENT = {
    "texts of whole numbers": (NOT_TEXT, IN_CSV),
    "digits": (NOT_TEXT, IN_CSV),
    "codes of two digits": (NOT_TEXT, IN_CSV),
    "codes of five digits": (NOT_TEXT, IN_CSV),
    "0 and 1": (NOT_TEXT, IN_CSV),
    "texts of numbers with NA": (NOT_TEXT, IN_CSV),
    "texts of numbers with empty ones": (NOT_TEXT, IN_CSV),
    "texts of dates with NA": ((FILES, "date", "", "marks are missing in files, as nobody chose their types"),),
    "texts of dates with empty ones": ((FILES, "date", "", "marks are missing in files, as nobody chose their types"),),
    "empty texts": ((CSV | {"Excel"}, "words", "", "an empty cell of theirs is a missing value, as the rule says"),),
    "yes and no": (WORDS_OF_PEOPLE,),
    "true and false": (TRUE_AND_FALSE,),
    "True and False": (TRUE_AND_FALSE,),
    "decimal commas": AS_PEOPLE_WRITE,
    "percents": AS_PEOPLE_WRITE,
    "currency": AS_PEOPLE_WRITE,
    "numbers with a remark": (
        (FILES, "left out: numbers, but", "text in few rows|text in 1 of 240", "somebody typed them"),
    ),
    "thousands": (
        (FILES, "left out: text", "left out, text: seen|look like numbers", "points or commas part thousands"),
    ),
    "durations": (
        (QUERIES | {"SQLite", "Excel"}, "number", "", "they store lengths of time as numbers"),
        (CSV | {"JSON lines"}, "words", "", "they store lengths of time as text"),
    ),
    "times of day": (
        ({*DOORS} - {"pandas"}, "left out: times of", "make numbers of them", "pandas has no type for them"),
    ),
    "one number": (
        (FILES - SCANS, "left out: one value", "left out, one value only: seen", "nobody named the columns"),
    ),
    "lists": AS_TEXT,
    "structs": AS_TEXT,
    "bytes": (*AS_TEXT, ({"SQLite"}, "words", "", "its columns hold values of any type")),
    "mixed objects": (
        (WRITTEN | {"SQLite"}, "words", "numbers and text, read as categories", "1 is the text 1 there"),
    ),
    "categories of integers": (({*DOORS} - {"pandas"}, "number", "", STORED),),
    "dictionary of integers": (({*DOORS} - {"pandas"}, "number", "", STORED),),
}
"""How columns are read through some doors, other than from a frame of pandas: a note there tells it, or else the rule.

By kind: the doors, how, a pattern of the note, "" where the rule shows it, and why that is so.
"""


def columns_of(kind):
    return {"x": pd.Series(X), "w": pd.Series(W), "seen": KINDS[kind](), "label": pd.Series(LABEL)}


def how(ex):
    """Return how the column is read, or why it is left out."""
    if "seen" not in ex.columns:
        assert {*ex.columns} == {"x", "w"}
        (reason,) = (reason for reason, names in ex.provenance.left_out if "seen" in names)
        return f"left out: {' '.join(reason.split()[:2])}"
    j = ex.columns.index("seen")
    if (dates := ex._date_columns.get(j)) is not None:
        return f"date {dates.form}".strip()
    known = ex._coded_columns.get(j)
    return "number" if known is None or known.are_truths else "words"


@cache
def by_pandas(kind):
    """Return the explanation of a frame of pandas, and its labels of the rows."""
    ex = DOORS["pandas"].explain(columns_of(kind), "label", method="imm")
    return ex, ex.predict(pandas_frame(columns_of(kind)), missing="none").tolist()


REFUSED = {"infinity": r"infinite values in \d+ of 240 rows: seen"}
"""Kinds that every door refuses, by what it says."""


def check(kind, door):
    columns = columns_of(kind)
    if kind in REFUSED:
        with pytest.raises((bw.DataError, AssertionError), match=REFUSED[kind]):  # the command's text is asserted
            DOORS[door].explain(columns, "label", method="imm")
        return
    expected, labels = by_pandas(kind)
    told = next((Told(*one) for one in DIFFERENT.get(kind, ()) if door in one[0]), None)
    ex = DOORS[door].explain(columns, "label", method="imm")
    about, notes = f"{kind} through {door}", [note for note in ex.notes if "seen" in note]
    assert how(ex) == (how(expected) if told is None else told.how), about
    assert {*ex.columns} <= {*columns}, about
    if told is not None and told.note:
        assert any(re.search(told.note, note) for note in notes), (about, notes)
    if "seen" in ex.columns and "seen" in expected.columns:
        assert ex.agreement == pytest.approx(expected.agreement), about
    if told is None:
        assert ex.predict(pandas_frame(columns), missing="none").tolist() == labels, about
        assert measured(expected, door, columns) == pytest.approx(expected.agreement), about
    if (door in FRAMES or door in TYPED) and kind not in CANNOT_HOLD["DuckDB"] | OF_PANDAS | WITHOUT_SQL:
        assert sql_labels(ex, columns) == labels, about
    if door in ("pandas", "SQLite") and told is None and kind not in CANNOT_HOLD["SQLite"] | OF_PANDAS | WITHOUT_SQL:
        assert sqlite_labels(ex, columns) == labels, about


def measured(ex, door, columns):
    """Return the agreement of an explanation with the rows of a door."""
    table = DOORS[door].make(columns)
    if door in FRAMES:
        return ex.evaluate(table, LABEL).agreement
    with bw.scan(table) as source:
        return ex.evaluate(source, "label").agreement


def sql_labels(ex, columns):
    """Return the labels that SQL gives the rows of a table with the types of Arrow, or with those that it asks for."""
    sql = ex.to_sql("duckdb")
    as_asked = " REPLACE (CAST(seen AS DOUBLE) AS seen)" if "Convert these columns to numbers first" in sql else ""
    if re.search("Convert these columns to .*dates first", sql):
        dates = dict(ex.details.dates)["seen"]
        of_iso = f"CAST(seen AS {'TIMESTAMPTZ' if dates.zone else 'TIMESTAMP'})"
        read = f"strptime(seen, '{dates.form}')" if dates.form else of_iso
        as_asked = f" REPLACE ({read} AS seen)"
    with duckdb.connect() as connection:
        connection.register("given", arrow_table(columns))
        found = connection.execute(f"SELECT {sql} FROM (SELECT *{as_asked} FROM given)").fetchall()
    return [label for (label,) in found]


def sqlite_labels(ex, columns):
    """Return the labels that SQL gives the rows of a table of SQLite, with dates as it asks for them."""
    sql, seen = ex.to_sql("sqlite"), "seen"
    if re.search("Convert these columns to .*dates first", sql):
        seen = {
            "%d.%m.%Y": "substr(seen, 7, 4) || '-' || substr(seen, 4, 2) || '-' || substr(seen, 1, 2) AS seen",
            "%Y-%m": "seen || '-01' AS seen",
        }[dict(ex.details.dates)["seen"].form]
    with contextlib.closing(sqlite3.connect(sqlite_file(columns))) as connection:
        found = connection.execute(f"SELECT {sql} FROM (SELECT x, w, {seen} FROM t)").fetchall()
    return [label for (label,) in found]


CANNOT_HOLD = {
    "Excel": {"with a zone", "times of day", "lists", "structs", "bytes"},
    "SQLite": {
        *("decimals", "wide decimals", "decimals of Python", "decimals of Python with missing"),
        *("categories of dates", "lists", "structs"),
    },
    "polars": {"wide decimals"},
    "DuckDB": {"float16", "wide decimals"},
    "JSON lines": {"bytes", "times of day", "infinity"},
}
"""Kinds that cannot be written into a table of some door."""
WITHOUT_TYPES = {"pandas", "SQLite"} | WRITTEN
"""Doors through which numbers and words come in one column."""
OF_PANDAS = {"bands", "intervals", "months as periods", "days as periods"}
"""Kinds that Arrow knows as those of pandas; other tables store them as something else, each in its way."""
WITHOUT_SQL = {"mixed objects", "durations"}
"""Kinds of which rules are no SQL: no database holds the first; durations that are numbers here are times there."""


def cells():
    """Return all pairs of a kind and a door, but for a query of CSV, whose values DuckDB reads by itself."""
    doors = [door for door in DOORS if door != "scan of a query of CSV"]
    pairs = [(kind, door) for kind in KINDS for door in doors if kind not in CANNOT_HOLD.get(door, ())]
    pairs = [(kind, door) for kind, door in pairs if kind != "mixed objects" or door in WITHOUT_TYPES]
    return [(kind, door) for kind, door in pairs if kind not in OF_PANDAS or door in {"pandas", "CSV", *ARROW}]


@law(8)
def test_a_drawn_column_is_read_alike_through_a_drawn_door(seed, tmp_path):
    kind, door = cells()[int(np.random.default_rng(seed).integers(len(cells())))]
    with contextlib.chdir(tmp_path), warnings.catch_warnings():
        check(kind, door)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_is_read_alike_through_every_door(kind, tmp_path):
    failed = {}
    with contextlib.chdir(tmp_path):
        for door in (door for of, door in cells() if of == kind):
            try:
                check(kind, door)
            except AssertionError as error:
                failed[door] = error
    assert not failed
