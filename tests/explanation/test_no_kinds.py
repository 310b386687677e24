"""Clusters that one thing alone makes are no kinds of rows where no groups show, and all that is written says so."""

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests.scale import law

NONE = "No kinds found"


def one_number(rng, n=300):
    """Return a table of one number without groups, and others that go with nothing."""
    x = rng.choice([rng.normal, rng.uniform])(20, 60, n)
    return pd.DataFrame({"age": x.round(1), "town": rng.choice([f"t{i}" for i in range(30)], n)})


def said_by(ex):
    """Return what is printed, the Markdown and the page."""
    return str(ex), ex.to_markdown(), ex.to_html()


@law(8)
def test_ranges_of_one_number_are_no_kinds(seed):
    table = one_number(np.random.default_rng(seed))
    ex = bw.explain(table)
    printed = str(ex)
    assert all(NONE in said for said in said_by(ex)[:2])
    assert printed.startswith(
        f"{NONE} in 300 rows: no gap or valley parts the rows into clusters. The parts are ranges of age alone.\n"
    )
    lines = [line for line in printed.splitlines() if line.startswith("cluster ")]
    assert len(lines) == ex.n_clusters
    ends = [table["age"][ex.predict(table) == int(line.split()[1])].min() for line in lines]
    assert ends == sorted(ends), "ranges are told from the least values on"
    assert "precision" not in printed


@law(8)
def test_what_follows_a_number_on_any_curve_is_told_and_makes_no_kinds(seed):
    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, 300)
    curve = rng.choice([lambda x: x, lambda x: -x, lambda x: np.exp(x / 10)])
    weight = curve(height - 170 + rng.normal(0, rng.uniform(1, 6), 300))
    said = str(bw.explain(pd.DataFrame({"height": height, "weight": weight, "luck": rng.permutation(height)})))
    if not said.startswith(NONE):  # in few tables luck differs by chance
        assert "luck" in said
        return
    names = {"height": "weight", "weight": "height"}
    assert any(f"The parts are ranges of {one}, which {other} follows.\n" in said for one, other in names.items())


@law(12)
def test_values_of_one_column_and_two_flags_are_no_kinds(seed):
    rng = np.random.default_rng(seed)
    flags = [rng.random(300) < rng.uniform(0.2, 0.8) for _ in range(2)]
    makers = [lambda x: x, lambda x: x * 1, lambda x: np.where(x, "yes", "no")]
    one, two = (makers[at](flag) for at, flag in zip(rng.integers(0, 3, 2), flags, strict=True))
    plan = rng.choice([*"abc"], 300)
    assert f"{NONE} in 300 rows" in str(bw.explain(pd.DataFrame({"one": one})))
    assert "The parts are values of plan alone." in str(bw.explain(pd.DataFrame({"plan": plan})))
    printed = str(bw.explain(pd.DataFrame({"one": one, "two": two})))
    assert "The parts are crossings of one and two alone." in printed or "values of" in printed
    assert NONE in printed
    beside = pd.DataFrame({"one": one, "x": rng.normal(size=300) + 1.5 * flags[0]})
    assert not str(bw.explain(beside)).startswith(
        f"{NONE} in 300 rows: no gap or valley parts the rows into clusters. The parts are v"
    )


@law(8)
def test_they_are_kinds_where_groups_show_or_unrelated_columns_differ(seed):
    rng = np.random.default_rng(seed)
    table = one_number(rng)
    humps = table.assign(age=table["age"] + 300 * rng.integers(0, 2, 300))
    crossed = pd.DataFrame(rng.uniform(size=(300, 2)), columns=["lat", "long"])
    for frame in (humps, crossed):
        ex = bw.explain(frame)
        assert len(ex.tree.features) == 1 + (frame is crossed)
        assert not any(NONE in said for said in said_by(ex)[:2])
    assert NONE not in str(bw.explain(table, n_clusters=3)), "who asks for clusters gets them"
    assert NONE not in str(bw.explain(table, np.where(table["age"] > 40, "old", "young")))


def test_the_page_begins_with_it_and_a_model_file_keeps_it(tmp_path):
    pytest.importorskip("jinja2")
    ex = bw.explain(one_number(np.random.default_rng(1)))
    assert (
        '<p class="lede">No kinds found: no gap or valley parts the rows into clusters. The parts are ranges of age'
        in ex.to_html()
    )
    assert (
        ex.to_html().lower().partition("what this rests on")[0].count("no kinds found: ") == 1
    )  # it is not said twice on top
    ex.save(tmp_path / "model.json")
    assert str(bw.load(tmp_path / "model.json")).startswith(NONE)
    moved = ex.move_cut("age", float(ex.tree.upper[0]), to=30)
    assert NONE not in str(moved), "who cuts by hand knows why"
