"""Texts that are dates and numbers are these on the workers of Spark and Dask, too, in whatever part of the table."""

import numpy as np
import pyarrow as pa
import pytest

import boxwood as bw
from tests.columns.kinds import DATES_AS_TEXT, KINDS, LABEL, NUMBERS_AS_TEXT, N, P
from tests.doors import in_arrow

pytestmark = pytest.mark.machines


def table_of(kind):
    columns = {"x": np.random.default_rng(0).normal(size=N), "w": np.array(["x", "y"])[P % 2], "seen": in_arrow(kind())}
    table = pa.table(columns | {"label": LABEL})
    kinds = table.schema.field("seen").type
    plain = pa.string() if pa.types.is_string_view(kinds) or pa.types.is_dictionary(kinds) else kinds
    return table.set_column(2, "seen", table.column("seen").cast(plain))  # Spark takes neither views nor dictionaries


@pytest.mark.crossed
@pytest.mark.parametrize("machines", ["spark", "dask"], indirect=True, scope="session")
@pytest.mark.parametrize("kind", [*DATES_AS_TEXT, *NUMBERS_AS_TEXT, "words", "months as text", "dates in doubt"])
def test_texts_are_read_as_in_memory(machines, kind):
    table = table_of(KINDS[kind])
    here, there = (bw.explain(one, "label", method="imm") for one in (table, machines.frame(table, 3)))
    assert there.columns == here.columns
    assert there.details.dates == here.details.dates
    assert there.rules() == here.rules()
    assert there.provenance.left_out == here.provenance.left_out
    assert [note for note in there.notes if "seen" in note] == [note for note in here.notes if "seen" in note]
    labelled = machines.table(here.predict(machines.frame(table, 2)))
    found = dict(zip(labelled.column("x").to_pylist(), labelled.column("cluster").to_pylist(), strict=True))
    assert [found[x] for x in table.column("x").to_pylist()] == here.predict(table).tolist()


def test_labels_that_are_dates_as_text_stay_texts(machines):
    days = np.where(P < 20, "2026-01-01", "2026-02-01")
    table = table_of(KINDS["texts of dates"]).set_column(3, "label", pa.array(days))
    ex = bw.explain(machines.frame(table, 3), "label", method="imm")
    assert ex.names == ("2026-01-01", "2026-02-01")
    assert ex.evaluate(machines.frame(table, 2), "label").agreement == 1


@pytest.mark.parametrize("days", [0, 90])
def test_ages_count_from_the_day_that_is_given(machines, days):
    rng = np.random.default_rng(days)
    ages = rng.integers(1, 400, N)
    labels = np.where(ages <= 120, "lately", "long ago")

    def seen(moved):
        last = np.datetime64("2026-07-31", "us") + moved * np.timedelta64(1, "D") - ages * np.timedelta64(1, "D")
        return pa.table({"x": rng.normal(size=N), "seen": pa.array(last).cast(pa.date32()), "label": labels})

    here = bw.explain(seen(0), "label", as_of="2026-07-31", method="imm")
    there = bw.explain(machines.frame(seen(0), 2), "label", as_of="2026-07-31", method="imm")
    assert there.rules() == here.rules()
    table, day = seen(days), str(np.datetime64("2026-07-31") + days)
    labelled = machines.table(here.predict(machines.frame(table, 2), as_of=day))
    found = dict(zip(labelled.column("x").to_pylist(), labelled.column("cluster").to_pylist(), strict=True))
    told = [found[x] for x in table.column("x").to_pylist()]
    assert told == here.predict(table, as_of=day).tolist() == labels.tolist()
