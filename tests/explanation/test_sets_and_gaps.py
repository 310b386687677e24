"""What is measured and drawn where rules ask for sets of categories, and where missing numbers have a place."""

import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import boxwood
from boxwood import TreeBuilder
from boxwood._validation import Rows
from boxwood.axes import Categories
from boxwood.explanation.measure.measure import measure
from boxwood.explanation.measure.told import rounded_quantiles
from boxwood.grow.grown import Grown
from boxwood.reference import Reference, Task
from boxwood.reference.entry import Entry
from boxwood.reference.feature_space import FeatureSpace
from boxwood.reference.mixed import unit_scales
from boxwood.render.page._guard import as_shown
from boxwood.render.pictures.bars import bars_of_numbers, bars_with_gap
from boxwood.render.pictures.picture import picture_of
from boxwood.tree.boxes import reached_by_missing
from tests.models import read_model
from tests.rule_cases import LARGEST
from tests.scale import law

COLUMNS = ("country", "age", "income")
COUNTRIES = Categories(("AT", "CH", "DE", "FR", "IT", "US"), False)
NAMES = ("near", "old", "rest")


def grown_tree(rng, n_cuts):
    """Return a random tree on a column of codes and two of numbers, of which both have gaps."""
    builder, leaves = TreeBuilder(), [0]
    for _ in range(n_cuts):
        node, j = leaves.pop(int(rng.integers(len(leaves)))), int(rng.integers(3))
        if j == 0:
            codes = np.flatnonzero(rng.random(6) < 0.5).tolist()
            leaves += builder.split_set(node, 0, codes or [1])
        else:
            lower, upper = sorted(rng.choice(np.arange(20.0, 70.0, 2.5), 2, replace=False).tolist())
            ends = [(-math.inf, upper), (lower, upper), (-math.inf, LARGEST), (lower, LARGEST)]
            lower, upper = ends[rng.integers(4)]
            leaves += builder.split(node, j, upper, lower)
    for i, leaf in enumerate(leaves):
        builder.label(leaf, i % 3)
    return builder.build()


def measured(seed, *, n_cuts=5, weights=None, missing=0.3, n=90, tree=None):
    """Return an explanation that knows its rows, and the table with infinity for missing numbers."""
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.integers(0, 6, n), rng.integers(15, 75, n), rng.normal(45, 15, n)]).astype(float)
    table[:, 1:][rng.random((n, 2)) < missing] = math.inf
    labels = rng.integers(0, 3, n)
    table = Rows(table, None if weights is None else rng.random(n) + 0.1)
    entry = Entry(unit_scales(table.values, {0: COUNTRIES}, table.weights))
    kinds = {"categories": {0: COUNTRIES}, "gaps": (1, 2), "entry": entry}
    at = FeatureSpace.mixed(COLUMNS, table, labels, **kinds)
    task = Task.of(at.rows, Reference.of(at.rows, labels, names=NAMES))
    ex = measure(task, Grown(tree or grown_tree(rng, n_cuts), "cart"), at)
    return boxwood.Explanation._of(ex), table.values


@law(20)
def test_the_profile_is_of_rows_with_a_value(seed):
    ex, table = measured(seed, weights=seed % 2 or None)
    labels, weights = ex._rows().task.reference.labels, ex._rows().task.rows.weights
    weights = np.ones(len(labels)) if weights is None else weights
    for j in (1, 2):
        column = ex.profile()[j]
        for cluster, group in [(None, column.everyone), *enumerate(column.clusters)]:
            own = np.ones(len(labels), dtype=bool) if cluster is None else labels == cluster
            known = own & np.isfinite(table[:, j])
            assert group.missing == pytest.approx(weights[own & ~known].sum() / weights[own].sum())
            assert group.mean == pytest.approx(np.average(table[known, j], weights=weights[known]))
            if seed % 2 == 0:
                assert group.quantiles[2] == pytest.approx(np.median(table[known, j]))
    assert re.search(r"\(\d+\.\d% missing\)", str(ex.profile()))
    assert all(math.isfinite(spread.deviation) for spread in ex._spreads().values())


def test_a_column_without_missing_values_has_the_profile_of_before():
    ex, _ = measured(3, missing=0.0)
    assert ex.profile()[1].everyone.missing is None
    assert "missing" not in json.dumps(ex.to_dict()["profile"])
    with_gaps, _ = measured(3)
    with_gaps.profile()
    again = read_model(with_gaps.to_json())
    assert again.profile() == tuple(map(rounded_quantiles, with_gaps.profile()))
    assert again.details.gaps == ("age", "income")


def test_a_cluster_without_any_value():
    ex, table = measured(1)
    evidence = ex._rows()
    table[evidence.task.reference.labels == 1, 1] = math.inf
    ex = replace(ex, _kept={})
    column = ex.profile()[1]
    assert column.clusters[1] is None
    assert column.clusters[0] is not None
    assert "-" in str(ex.profile()).split("\n")[2]
    assert None not in ex.representatives()


@law(20)
def test_misassigned_rows_tell_where_they_went(seed):
    ex, table = measured(seed)
    told = ex.misassigned()
    assert len(told) == round((1 - ex.agreement) * len(table))
    for one in told:
        if one.column is None:
            continue
        j = COLUMNS.index(one.column)
        if j == 0:
            assert one.value == COUNTRIES.values[int(table[one.row, 0])]
            assert one.side.startswith("country is")
        elif table[one.row, j] == math.inf:
            assert (one.value, one.threshold, one.distance, one.deviations) == (None,) * 4
            assert one.side.endswith("missing")
        else:
            assert one.value == table[one.row, j]
            assert one.side.startswith(one.column) or f"{one.column} <" in one.side
            assert (one.threshold is None) == (one.side == f"{one.column} is not missing")
    assert json.dumps([one._asdict() for one in told])


@law(12)
def test_why_says_the_way_and_reaches_what_it_names(seed):
    ex, table = measured(seed, n=30)
    for row in range(len(table)):
        why = ex.why(row)
        assert why.leaf == ex._rows().leaf[row]
        given = {name: None if math.isinf(x) else x for name, x in zip(COLUMNS, table[row].tolist(), strict=True)}
        given["country"] = COUNTRIES.values[int(table[row, 0])]
        assert ex.why(given) == why
        for change in why.changes:
            moved = table[row].copy()
            for move in change.moves:
                moved[COLUMNS.index(move.column)] = (
                    COUNTRIES.values.index(move.after) if move.is_category else move.after
                )
            assert ex.tree.predict(moved[None])[0] == change.cluster
        assert "inf" not in str(why)
        assert "e+308" not in str(why)
        json.dumps(why.to_dict(), allow_nan=False)


def cut(lower, upper):
    builder = TreeBuilder()
    for i, leaf in enumerate(builder.split(0, 1, upper, lower)):
        builder.label(leaf, i)
    return builder.build()


def test_why_of_a_missing_value():
    ex, _ = measured(0, tree=cut(-math.inf, 40.0))
    gone = {"country": "AT", "age": None, "income": 20.0}
    assert str(ex.why(gone)).split("\n")[1:3] == [
        "  cut 1  age = missing  age > 40 or missing",
        "would be near if age were 40 instead of missing (one missing value)",
    ]
    ex, _ = measured(0, tree=cut(-math.inf, LARGEST))
    assert str(ex.why(gone)).split("\n")[1:3] == [
        "  cut 1  age = missing  age is missing",
        "would be near if age were 0 instead of missing (one missing value)",
    ]
    assert str(ex.why(gone | {"age": 30})).split("\n")[1:3] == [
        "  cut 1  age = 30  age is not missing",
        "no such change reaches old, rest",
    ]


@law(20)
def test_pictures_and_the_page(seed):
    ex, table = measured(seed, n_cuts=6)
    picture, reached = picture_of(ex), reached_by_missing(ex.tree, ex._gap_columns)
    for one in picture.cuts:
        assert one.bars.counts.sum() == pytest.approx(one.rows)
        has_gap = one.node in reached or ex.tree.upper[one.node] == LARGEST
        assert (one.bars.gap is not None) == has_gap
        if one.bars.gap is not None:
            rows = np.isin(ex._rows().leaf, leaves_below(ex.tree, one.node))
            assert one.bars.counts[:, -1].sum() == np.isinf(table[rows, COLUMNS.index(one.column)]).sum()
            assert one.labels[0].text == "missing"
    for edge in picture.edges:
        assert "e+308" not in edge.full
        assert "inf" not in edge.full
    page = ex.to_html()
    assert "1.79769e" not in page
    assert "missing" in page
    for draw in (ex.plot, partial(ex.plot_boxes, "age", "income")):
        draw(ax=FigureCanvasAgg(Figure()).figure.subplots())
    assert ex.to_html(min_count=5)


def leaves_below(tree, node):
    stack, found = [node], []
    while stack:
        at = stack.pop()
        if tree.feature[at] < 0:
            found.append(int(np.searchsorted(tree.leaf_nodes, at)))
        else:
            stack += [at + 1, int(tree.second[at])]
    return found


@law(20)
def test_bars_with_a_gap_are_those_without_and_one_more(seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.normal(40, 10, 60), rng.integers(0, 3, 60)
    weights = rng.random(60) if seed % 2 else None
    known = rng.random(60) < 0.7
    own = None if weights is None else weights[known]
    plain = bars_of_numbers(values[known], labels[known], 3, -math.inf, 40.0, own)
    found = bars_with_gap(np.where(known, values, math.inf), labels, 3, -math.inf, 40.0, weights)
    assert (found.counts[:, :-1] == plain.counts).all()
    assert found.edges[:-1].tolist() == plain.edges.tolist()
    assert found.at[-2] == found.gap
    assert found.lines[0].at == plain.lines[0].at * found.gap
    lacking = np.bincount(labels[~known], None if weights is None else weights[~known], minlength=3)
    assert found.counts[:, -1] == pytest.approx(lacking)
    parted = bars_with_gap(np.where(known, values, math.inf), labels, 3, -math.inf, LARGEST, weights)
    assert [line.at for line in parted.lines] == [parted.gap]


def test_what_changed_from_tree_to_tree():
    def of(*tests):
        trees = []
        for codes, upper in tests:
            builder = TreeBuilder()
            first, second = builder.split_set(0, 0, codes)
            builder.label(first, 0)
            for i, leaf in enumerate(builder.split(second, 1, upper), 1):
                builder.label(leaf, i)
            trees.append(builder.build())
        return boxwood.tree_changes(*trees, COLUMNS) if hasattr(boxwood, "tree_changes") else trees

    from boxwood.explanation.apply.tree_changes import changes_in_words

    assert changes_in_words(*of(([0, 2], 40.0), ([0, 1, 2, 4], 40.0)), COLUMNS) == (
        "the cut on country moved from codes 0 or 2 to codes 0, 1, 2 or 4"
    )
    assert changes_in_words(*of(([0, 2], 40.0), ([0, 2], LARGEST)), COLUMNS) == (
        "the cut on age moved from 40 to missing values"
    )


@law(8)
def test_the_page_labels_rows_as_the_tree_does(seed, tmp_path):
    """The page's own functions run without a page; `tests/render/test_browser.py` opens pages."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed, so JavaScript cannot run")
    ex, table = measured(seed, n_cuts=8)
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', ex.to_html(), re.DOTALL)
    script = files("boxwood.render").joinpath("page", "page.js").read_text(encoding="utf-8")
    functions = script[script.index("const isInside") : script.index("const light")]
    tested = ex.tree.features.tolist()
    rows = [[None if math.isinf(x) else x for x in row] for row in table[:, tested].tolist()]
    (tmp_path / "run.js").write_text(
        f"const rules = {data};\n{functions}\nconst rows = {json.dumps(rows)};\n"
        "console.log(JSON.stringify(rows.map(row => clusterOf(walk(row.map((x, j) =>"
        " x !== null ? x : rules.columns[j].gaps ? Infinity : NaN))))));",
        encoding="utf-8",
    )
    ran = subprocess.run(["node", tmp_path / "run.js"], check=True, capture_output=True, text=True)
    assert json.loads(ran.stdout) == ex.tree.predict(table).tolist()


def test_rounded_counts_tell_of_no_few_missing_values():
    ex, _ = measured(4, n=120)
    shown = as_shown(ex, 10)
    for column in shown.profile()[1:]:
        for group, one in zip(column.clusters, shown.clusters, strict=True):
            assert group.missing * one.size == pytest.approx(10 * round(group.missing * one.size / 10))
    for cut in picture_of(shown).cuts:
        assert (cut.bars.counts % 10 == 0).all()


def table_with_signal(kind, seed, n=600):
    """Return rows that mostly lack a value where that is their cluster, and their labels."""
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 300, size=n)
    values = pd.Series(pd.Timestamp("2025-01-01") + pd.to_timedelta(days, unit="D") if kind == "date" else days + 0.5)
    gone, x = rng.random(n) < 0.2, rng.integers(0, 100, size=n).astype(float)
    labels = np.where(gone, "none", np.where(days < 120, "old", "new"))
    frame = pd.DataFrame({"x": x, "last": values.where(~gone | (rng.random(n) < 0.03))})
    return frame, np.where(x >= 70, "big", labels)


@pytest.mark.parametrize("kind", ["date", "number"])
@law(12)
def test_values_greater_than_all_go_with_numbers_where_only_missing_ones_were_beyond(kind, seed):
    frame, labels = table_with_signal(kind, seed)
    ex = boxwood.explain(frame[labels != "big"], labels[labels != "big"])
    later = pd.DataFrame({"x": [5.0], "last": [pd.Timestamp("2026-12-01") if kind == "date" else 700.0]})
    assert ex.predict(later).tolist() == ["new"]
    whole = boxwood.explain(frame, labels)
    assert whole.predict(later).tolist() == ["new"]


@pytest.mark.parametrize("kind", ["date", "number"])
def test_a_cut_that_asks_for_missing_values_alone_is_drawn_and_told(kind, tmp_path):
    for seed in range(3):
        frame, labels = table_with_signal(kind, seed)
        ex = boxwood.explain(frame, labels)
        ex.to_html(tmp_path / "page.html")
        ex.plot()
        found = ex.stability(n=3, random_state=0)
        assert sum("is missing or not" in line for line in str(found).splitlines()) == 1
        ex.plot_stability()


@pytest.mark.parametrize("kind", ["date", "number"])
@law(12)
def test_a_value_instead_of_a_missing_one_does_what_why_says(kind, seed):
    frame, labels = table_with_signal(kind, seed)
    ex = boxwood.explain(frame, labels)
    row = {"x": 5.0, "last": None}
    for change in ex.why(row).changes:
        moved = dict(row)
        for move in change.moves:
            is_date = kind == "date" and move.column == "last"
            moved[move.column] = pd.Timestamp("1970-01-01") + pd.Timedelta(days=move.after) if is_date else move.after
        changed = pd.DataFrame([moved]).astype({"last": "datetime64[ns]" if kind == "date" else float})
        assert ex.predict(changed).tolist() == [change.name]
    said = str(ex.why(row))
    assert "or later instead of missing" not in said
    assert "or earlier instead of missing" not in said
