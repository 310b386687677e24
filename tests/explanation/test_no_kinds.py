"""Clusters that are nothing but ranges of numbers are no kinds of rows, and text, Markdown and page begin with that."""

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
        f"{NONE} in 300 rows: no gap or valley parts the rows, and clusters are made of age alone\n"
    )
    lines = [line for line in printed.splitlines() if line.startswith("cluster ")]
    assert len(lines) == ex.n_clusters
    ends = [table["age"][ex.predict(table) == int(line.split()[1])].min() for line in lines]
    assert ends == sorted(ends), "ranges are told from the least values on"
    assert "precision" not in printed


@law(8)
def test_they_are_kinds_where_groups_show_or_another_column_differs(seed):
    rng = np.random.default_rng(seed)
    table = one_number(rng)
    humps = table.assign(age=table["age"] + 300 * rng.integers(0, 2, 300))
    along = table.assign(base=table["age"] + rng.normal(0, 10, 300))
    for frame in (humps, along):
        assert not any(NONE in said for said in said_by(bw.explain(frame))[:2])
    assert NONE not in str(bw.explain(table, n_clusters=3)), "who asks for clusters gets them"
    assert NONE not in str(bw.explain(table, np.where(table["age"] > 40, "old", "young")))


def test_categories_are_kinds():
    rng = np.random.default_rng(0)
    plans = pd.DataFrame({"plan": rng.choice(["a", "b", "c"], 300), "flag": rng.integers(0, 2, 300)})
    assert NONE not in str(bw.explain(plans))


def test_the_page_begins_with_it_and_a_model_file_keeps_it(tmp_path):
    pytest.importorskip("jinja2")
    ex = bw.explain(one_number(np.random.default_rng(1)))
    assert '<p class="lede">No kinds found: no gap or valley parts the rows, and' in ex.to_html()
    assert (
        ex.to_html().lower().partition("what this rests on")[0].count("no kinds found: ") == 1
    )  # it is not said twice on top
    ex.save(tmp_path / "model.json")
    assert str(bw.load(tmp_path / "model.json")).startswith(NONE)
    moved = ex.move_cut("age", float(ex.tree.upper[0]), to=30)
    assert NONE not in str(moved), "who cuts by hand knows why"
