"""Columns that clusters do without say of them what they can: months, days of the week, towns, earlier and later."""

import contextlib
import re

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.explanation.measure.left_out import MONTHS, WEEKDAYS
from tests.doors import DOORS
from tests.scale import law

BEGIN = "Columns left out tell more: "
TOWNS = [f"town {i}" for i in range(20)]


def told(ex):
    """Return what is said of each cluster; printed, in Markdown and on the page it is the same."""
    lines = [line for line in str(ex).splitlines() if line.startswith(BEGIN)]
    assert [BEGIN in said for said in (str(ex), ex.to_markdown())] == [bool(lines)] * 2
    parts = lines[0].removeprefix(BEGIN).removesuffix(".").split("; ") if lines else []
    return {int(part.split()[1]): part.partition(" has ")[2] for part in parts}


def table_of(seed):
    """Return a table whose rows are of two kinds, by a season, by days of the week, or by a town."""
    rng = np.random.default_rng(seed)
    n, kind = 900, ["season", "week", "town"][seed % 3]
    day = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1095, n), "D")
    town = rng.choice(TOWNS, n)
    first, length = int(rng.integers(0, 12)), int(rng.integers(3, 7))
    is_one = {
        "season": (day.month.to_numpy() - 1 - first) % 12 < length,
        "week": (day.day_of_week.to_numpy() - first) % 7 < 2,
        "town": rng.random(n) < 0.3,
    }[kind]
    town = np.where((kind == "town") & is_one & (rng.random(n) < 0.8), TOWNS[3], town)
    columns = {"sales": 10 * is_one + rng.normal(size=n), "rain": 5 * is_one + rng.normal(size=n)}
    frame = pd.DataFrame({"day": day, "town": town, **columns, "other": rng.normal(size=n)})
    return frame, kind, is_one, {"season": (MONTHS, first, length), "week": (WEEKDAYS, first, 2)}.get(kind)


@law(9)
@pytest.mark.parametrize("door", ["pandas", "polars", "scan of CSV"])
def test_what_makes_the_clusters_is_told_though_it_was_left_out(door, seed, tmp_path):
    frame, kind, is_one, run = table_of(seed)
    with contextlib.chdir(tmp_path):
        ex = DOORS[door].explain(frame, None, n_clusters=2)
    clusters = ex.predict(frame)
    [(cluster, said)] = told(ex).items()
    assert np.mean((clusters == cluster) == is_one) in (0.0, 1.0)
    if kind == "town":
        assert said == "mostly town town 3"
    else:
        names, first, length = run
        first, length = (
            (first, length) if (is_one[clusters == cluster]).all() else (first + length, len(names) - length)
        )
        ends = {names[first % len(names)], names[(first + length - 1) % len(names)]}
        assert ends == {word for word in names if re.search(rf"\b{word}\b", said)}


@law(8)
def test_nothing_is_said_of_what_has_nothing_to_do_with_clusters(seed):
    frame, _, _, _ = table_of(seed)
    rng = np.random.default_rng([seed, 1])
    frame["day"], frame["town"] = rng.permutation(frame["day"]), rng.permutation(frame["town"])
    assert told(bw.explain(frame)) == {}
    few = frame.iloc[:12]
    assert told(bw.explain(few, n_clusters=2)) == {}
    assert told(bw.explain(frame, np.where(frame["rain"] > 2, "wet", "dry"))) == {}


@law(6)
def test_months_and_hours_that_are_numbers_are_told(seed):
    rng = np.random.default_rng(seed)
    name, values = [("month", 1 + np.arange(12)), ("hour", np.arange(24))][seed % 2]
    at, first = rng.integers(0, len(values), 600), int(rng.integers(0, len(values)))
    is_one = (at - first) % len(values) < len(values) // 4
    x, y = (10 * is_one + rng.normal(size=600) for _ in range(2))
    ex = bw.explain(pd.DataFrame({name: values[at], "x": x, "y": y}), n_clusters=2)
    [(_, said)] = told(ex).items()
    begin, end = first, (first + len(values) // 4 - 1) % len(values)
    ends = {(begin, end), ((end + 1) % len(values), (begin - 1) % len(values))}
    assert said in {f"{name} mostly {values[a]} to {values[b]}" for a, b in ends}


@law(8)
def test_later_rows_are_told(seed):
    rng = np.random.default_rng(seed)
    is_late = rng.random(400) < 0.4
    day = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 365, 400) + 365 * 3 * is_late, "D")
    frame = pd.DataFrame(
        {"day": day, "x": rng.normal(size=400) * 0.3 + is_late, "y": rng.normal(size=400) + 9 * is_late}
    )
    ex = bw.explain(frame, n_clusters=2)
    [(cluster, said)] = told(ex).items()
    is_later = frame["day"][ex.predict(frame) == cluster].mean() > frame["day"].mean()
    assert said == ("later day" if is_later else "earlier day")


def test_the_page_tells_it_but_of_few_rows_nothing():
    pytest.importorskip("jinja2")
    ex = bw.explain(table_of(0)[0], n_clusters=2)
    assert f'<p class="note">{BEGIN}' in ex.to_html()
    assert BEGIN not in ex.to_html(min_count=10)
