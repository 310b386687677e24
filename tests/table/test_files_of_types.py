"""Parquet files of one table whose types differ: each value stays what it is, or the column is refused with both files.

What is read is compared with the values of pyarrow, file by file.
"""

import csv
import datetime as dt
import io
import itertools
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.errors import DataError
from tests.scale import draws

DAY, NOON = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, 1, 250_000)
VALUES = {
    "int8": (pa.int8(), [-128, 127]),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1]),
    "int64": (pa.int64(), [2**53 + 1, -(2**63)]),
    "small int64": (pa.int64(), [1, 2**53]),
    "uint32": (pa.uint32(), [0, 2**32 - 1]),
    "uint64": (pa.uint64(), [0, 2**64 - 1]),
    "float": (pa.float32(), [float(np.float32(0.1)), -3.5]),
    "double": (pa.float64(), [0.1, 1e300]),
    "few digits": (pa.decimal128(9, 2), [Decimal("12.34"), Decimal("-0.01")]),
    "decimal": (pa.decimal128(30, 2), [Decimal("12345678901234567890.12"), Decimal("0.10")]),
    "fine decimal": (pa.decimal128(20, 4), [Decimal("1.2345"), Decimal("-7.0000")]),
    "bool": (pa.bool_(), [True, False]),
    "text": (pa.string(), ["a", "12"]),
    "large text": (pa.large_string(), ["b", ""]),
    "words": (pa.dictionary(pa.int8(), pa.string()), ["a", "c"]),
    "binary": (pa.binary(), [b"\xff\x00", b"a"]),
    "date": (pa.date32(), [DAY, dt.date(9999, 12, 31)]),
    "ms": (pa.timestamp("ms"), [NOON, dt.datetime(1, 1, 1)]),
    "us": (pa.timestamp("us"), [NOON, dt.datetime(9999, 12, 31)]),
    "ns": (pa.timestamp("ns"), [NOON, dt.datetime(1970, 1, 1)]),
    "zone": (pa.timestamp("us", "Europe/Berlin"), [NOON.replace(tzinfo=dt.UTC), None]),
    "time": (pa.time64("us"), [dt.time(12, 30), dt.time(0, 0, 1)]),
    "list": (pa.list_(pa.int64()), [[1, 2], []]),
    "none": (pa.null(), [None, None]),
}
PAIRS = list(itertools.permutations(VALUES, 2))
OUTS = ("csv", "jsonl", "parquet")


def drawn(n):
    random = np.random.default_rng(0)
    return [(*PAIRS[i], OUTS[j % 3]) for j, i in enumerate(random.permutation(len(PAIRS))[: draws(n)].tolist())]


@pytest.fixture(scope="module")
def model():
    return bw.explain(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), [0, 0, 1, 1])


def files_of(folder, *kinds):
    for i, kind in enumerate(kinds):
        type, values = VALUES[kind]
        x = pa.array([1.0 + 3 * i, 2.0 + i])
        pq.write_table(pa.table({"x": x, "v": pa.array(values, type)}), folder / f"{i}.parquet")
    return str(folder / "*.parquet")


def is_same(written, value, form):
    """Return whether what was written is the value: in Parquet by itself, in text as a number, a date or a text."""
    if value is None or (isinstance(value, str) and not value):
        return written is None or written == "" or written != written
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        with np.errstate(over="ignore"):  # a float is written in the digits that it has
            return float(np.float32(written)) == value or Decimal(str(written)) == Decimal(str(value))
    if form == "parquet":
        as_day = isinstance(value, dt.date) and not isinstance(value, dt.datetime) and isinstance(written, dt.datetime)
        return written == (dt.datetime.combine(value, dt.time()) if as_day else value)
    if isinstance(value, dt.datetime):
        return dt.datetime.fromisoformat(str(written).replace("Z", "+00:00")) == value
    if isinstance(value, dt.date):
        return str(written)[:10] == str(value) and str(written)[11:] in ("", "00:00:00")
    if isinstance(value, bytes):
        return written == "".join(chr(b) if 32 <= b < 127 else f"\\x{b:02X}" for b in value)
    return str(written).lower().replace(" ", "") == str(value).lower().replace(" ", "")


def rows_in(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).column("v").to_pylist()
    text = path.read_text()
    if path.suffix == ".jsonl":
        return [json.loads(line, parse_float=str)["v"] for line in text.splitlines()]
    return [row["v"] for row in csv.DictReader(io.StringIO(text, newline=""))]


@pytest.mark.parametrize("pair", ["drawn", pytest.param("all", marks=pytest.mark.full)])
def test_values_stay_or_the_column_is_refused(pair, model, tmp_path):
    cases = drawn(40) if pair == "drawn" else [(*each, out) for each in PAIRS for out in OUTS]
    kept, wrong = 0, []
    for i, (first, second, form) in enumerate(cases):
        folder = tmp_path / str(i)
        folder.mkdir()
        pattern, out = files_of(folder, first, second), folder / f"out.{form}"
        try:
            bw.write_labels(model, pattern, out)
        except DataError as error:
            if not all(word in str(error) for word in ("column 'v'", ".parquet")):
                wrong.append((first, second, form, str(error)))
            continue
        kept += 1
        values = VALUES[first][1] + VALUES[second][1]
        if not all(map(is_same, rows_in(out), values, itertools.repeat(form))):
            wrong.append((first, second, form, rows_in(out), values))
    assert not wrong, "\n".join(map(str, wrong))
    assert kept >= len(cases) / 10


@pytest.mark.parametrize(
    ("kinds", "kind"),
    [
        (("us", "ns"), "date"),
        (("date", "us"), "date"),
        (("none", "text", "words"), "text"),
        (("int8", "double"), "number"),
    ],
)
def test_columns_keep_their_kind(kinds, kind, tmp_path):
    with bw.scan(files_of(tmp_path, *kinds), columns=["x", "v"]) as source:
        assert source.kinds == ("number", kind)
        found = [value for batch, _ in source.batches(["v"]) for value in batch.column(0).to_pylist()]
    expected = [value for each in kinds for value in VALUES[each][1]]
    assert all(map(is_same, found, expected, itertools.repeat("parquet")))


def test_three_files_are_refused_though_two_would_do(tmp_path):
    pattern = files_of(tmp_path, "none", "text", "int8")
    with pytest.raises(DataError, match=r"column 'v' is string in .*1\.parquet, and int8 in .*2\.parquet\nwrite it"):
        bw.scan(pattern)


def test_a_value_that_the_shared_type_lacks_is_refused_where_it_is_used(tmp_path):
    with bw.scan(files_of(tmp_path, "double", "int64")) as source:
        assert sum(batch.num_rows for batch, _ in source.batches(["x"])) == 4
        with pytest.raises(DataError, match=r"column 'v' is int64 in .*1\.parquet, and values of it are none of "):
            list(source.batches(["v"]))
