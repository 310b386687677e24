"""What the order of rows says of clusters: units whose rows come again, and a series whose clusters are its eras."""

import contextlib
import re

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests.doors import DOORS
from tests.scale import law

DOORS_HERE = pytest.mark.parametrize("door", ["pandas", "polars", "scan of CSV"])


def said(ex, begin):
    """Return the line that begins so, if there is one; printed, in Markdown and on the page it is the same."""
    lines = [line for line in str(ex).splitlines() if line.startswith(begin)]
    assert [begin in text for text in (ex.to_markdown(), ex.to_html())] == [bool(lines)] * 2
    return lines[0] if lines else ""


def panel(seed):
    """Return units with a row for each of some years, of two kinds, of which some units change."""
    rng = np.random.default_rng(seed)
    n_units, n_years = int(rng.integers(12, 40)), int(rng.integers(6, 15))
    kind = np.repeat(rng.integers(0, 2, n_units), n_years)
    year = np.tile(np.arange(n_years), n_units)
    kind[np.repeat(rng.random(n_units) < 0.3, n_years) & (year > n_years // 2)] ^= 1
    columns = {f"x{j}": 9 * kind + rng.normal(size=len(kind)) for j in range(3)}
    return pd.DataFrame({"unit": np.repeat(np.arange(n_units), n_years) + 1, "year": 1980 + year, **columns}), kind


def series(seed, n=400):
    """Return a series that rises, with a step in one half, and noise."""
    rng = np.random.default_rng(seed)
    step = np.where(np.arange(n) < n * rng.uniform(0.3, 0.7), 0.0, 40.0)
    prices = np.linspace(0, 30, n) + rng.normal(size=n) + step
    return pd.DataFrame({"prices": prices, "wages": prices * 2 + rng.normal(size=n) * 4, "other": rng.normal(size=n)})


@law(6)
@DOORS_HERE
def test_units_that_stay_in_one_cluster_are_counted(door, seed, tmp_path):
    frame, _ = panel(seed)
    with contextlib.chdir(tmp_path):
        ex = DOORS[door].explain(frame, None, n_clusters=2)
    labels = np.asarray(ex._in_memory.task.reference.labels)
    same = sum(len(np.unique(labels[frame["unit"] == unit])) == 1 for unit in frame["unit"].unique())
    found = said(ex, "Rows of ")
    assert re.findall(r"\d+", found) == [str(frame["unit"].nunique()), str(same)]
    assert "units (unit) come again and again" in found


@law(6)
@DOORS_HERE
def test_clusters_of_a_series_are_eras(door, seed, tmp_path):
    frame = series(seed)
    with contextlib.chdir(tmp_path):
        ex = DOORS[door].explain(frame, None, n_clusters=2)
    labels = np.asarray(ex._in_memory.task.reference.labels)
    order = [f"cluster {labels[0]}", f"cluster {labels[-1]}"]
    found = said(ex, "The rows seem to be a series")
    assert "prices" in found
    assert re.findall(r"cluster \d", found) == order


@law(6)
def test_nothing_is_said_of_rows_in_no_order_or_in_order_of_a_column(seed):
    frame, _ = panel(seed)
    rng = np.random.default_rng(seed)
    for rows in (series(seed).sample(frac=1, random_state=seed), series(seed).sort_values("prices")):
        ex = bw.explain(rows.assign(wages=rng.normal(size=len(rows))), n_clusters=2)
        assert not said(ex, "The rows seem to be a series")
    assert not said(bw.explain(frame.drop(columns=["unit", "year"]), n_clusters=2), "Rows of ")
    given = bw.explain(series(seed), np.arange(400) < 200)
    assert not said(given, "The rows seem to be a series")
