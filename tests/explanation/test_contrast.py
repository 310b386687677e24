"""Two clusters against each other: all numbers are those of a plain recount of their rows."""

import html
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from scipy.stats import binomtest, t, ttest_ind

import boxwood as bw
from boxwood.errors import DataError
from boxwood.explanation.choose import settings
from tests.command import invoke
from tests.scale import law


def _drawn(r):
    n = int(r.integers(40, 90))
    labels = r.choice(["x", "y", "z"], n, p=[0.4, 0.4, 0.2])
    shift = np.select([labels == "x", labels == "y"], [0.0, r.choice([0.5, 3.0])], 1.0)
    table = pd.DataFrame(
        {
            "age": np.round(shift + r.normal(size=n), 2),
            "gap": np.where(r.random(n) < 0.2, np.nan, r.normal(size=n) * 1e3 + shift),
            "plan": np.where(r.random(n) < shift / 4, "pro", r.choice(["free", "basic"], n)),
            "member": r.random(n) < 0.2 + shift / 6,
        }
    )
    return table, labels


@law(12)
def test_numbers_are_those_of_a_recount(seed):
    r = np.random.default_rng(seed)
    table, labels = _drawn(r)
    ex = bw.explain(table, labels, method="cart", max_leaf_nodes=4)
    second = "y" if seed % 3 else None
    found = ex.contrast("x", second)
    sides = [labels == "x", labels == second if second else labels != "x"]
    assert found.sizes == tuple(side.sum() for side in sides)
    assert {one.column for one in found.differences} == {*table}
    assert [abs(one.effect) for one in found.differences] == sorted(abs(d.effect) for d in found.differences)[::-1]
    for one in found.differences:
        wanted = (_of_numbers if one.value is None else _of_shares)(table[one.column], sides, one.value)
        np.testing.assert_allclose([one.difference, one.low, one.high, one.effect], wanted, rtol=1e-6, atol=1e-9)
        assert one.difference == one.first - one.second
    for line, own, other in zip(found.rules, sides, sides[::-1], strict=True):
        held = _holds(line.rule, table)
        assert line.matched == (held & (own | other)).sum()
        assert line.found == pytest.approx((held & own).sum() / own.sum())
        assert line.precision == pytest.approx((held & own).sum() / line.matched)


def _of_numbers(column, sides, _):
    one, other = (column[side].dropna() for side in sides)
    ends = ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    difference = one.mean() - other.mean()
    return difference, ends.low, ends.high, difference / pd.concat([one, other]).std(ddof=0)


def _of_shares(column, sides, value):
    one, other = ((column[side] == value) for side in sides)
    wilson, its = (binomtest(int(x.sum()), len(x)).proportion_ci(0.95, "wilson") for x in (one, other))
    difference, both = one.mean() - other.mean(), pd.concat([one, other]).astype(float).std(ddof=0)
    effect = {
        v: abs((column[sides[0]] == v).mean() - (column[sides[1]] == v).mean())
        / (column[sides[0] | sides[1]] == v).std(ddof=0)
        for v in column[sides[0] | sides[1]].unique()
    }
    assert effect[value] == pytest.approx(max(effect.values()))
    low = difference - np.hypot(one.mean() - wilson.low, its.high - other.mean())
    high = difference + np.hypot(wilson.high - one.mean(), other.mean() - its.low)
    return difference, low, high, difference / both


def _holds(rule, table):
    held = np.ones(len(table), dtype=bool)
    for one in rule:
        x = table[one.column]
        if one.categories is not None:
            x = x.map({value: code for code, value in enumerate(one.categories.values)})
        inside = x.map(lambda value, pieces=one.intervals: any(value in piece for piece in pieces))
        held &= inside | (x.isna() & one.or_missing)
    return held


@law(6)
def test_rows_of_equal_weight_count_as_rows_without_weights_do(seed):
    table, labels = _drawn(np.random.default_rng(seed))
    plain = bw.explain(table, labels, method="cart", max_leaf_nodes=4).contrast("x", "y")
    weighted = bw.explain(table, labels, sample_weight=np.full(len(table), 0.5), method="cart", max_leaf_nodes=4)
    for one, other in zip(plain.differences, weighted.contrast("x", "y").differences, strict=True):
        assert one[:2] == other[:2]
        assert one[2:] == pytest.approx(other[2:], abs=1e-9)


def test_a_planted_cut_is_told_in_words_and_a_file_takes_rows(tmp_path):
    r = np.random.default_rng(0)
    table = pd.DataFrame({"orders": [*r.integers(0, 5, 50), *r.integers(10, 20, 50), *r.integers(5, 10, 20)]})
    table["noise"] = r.random(120)
    labels = np.repeat(["lapsed", "loyal", "new"], [50, 50, 20])
    ex = bw.explain(table, labels)
    found = ex.contrast("loyal", "lapsed")
    said = str(found).splitlines()
    assert said[0] == "loyal (50) against lapsed (50)"
    assert said[2].startswith("loyal: orders > 7 (finds 100.0%")
    assert said[5].startswith("orders: mean 15.1 against 1.9, 13.2 higher (12.3 to 14)")
    assert said[-1] == "1 other column differs by less than 0.5 standard deviations."
    ex.save(tmp_path / "model.json")
    model = bw.load(tmp_path / "model.json")
    assert str(model.contrast("loyal", "lapsed", X=table, labels=labels)) == str(found)
    with pytest.raises(DataError, match="holds no rows"):
        model.contrast("loyal")
    with pytest.raises(DataError, match="no cluster gone"):
        ex.contrast("gone")
    with pytest.raises(DataError, match="twice"):
        ex.contrast("loyal", "loyal")


def test_values_near_the_ends_of_the_range_have_intervals_and_single_rows_none():
    table = [[1e-200, 1e150, 5.0], [2e-200, 3e150, 5.0], [7e-200, -1e150, 5.0], [9e-200, -2e150, 5.0], [0.0, 0.0, 5.0]]
    ex = bw.explain(table, ["x", "x", "y", "y", "z"])
    for one in ex.contrast("x", "y").differences:
        assert one.low <= one.difference <= one.high
        assert np.isfinite([one.low, one.high]).all()
    assert {one.low for one in ex.contrast("x", "z").differences} == {None}


@pytest.mark.parametrize("method", ["auto", "imm"])
def test_a_table_in_batches_is_told_on_a_sample(method, monkeypatch):
    r = np.random.default_rng(0)
    table = pd.DataFrame({"a": r.random(900), "b": r.random(900), "member": r.random(900) < 0.4})
    table["y"] = np.where(table.a > 0.5, "x", np.where(table.member, "y", "z"))
    monkeypatch.setattr("boxwood.explanation.measure.held_out.rows_of_sample", lambda *_: 300)
    for name in ("GATHERED", "DRAWN"):
        monkeypatch.setattr(settings, name, 300)
    found = bw.explain(bw.scan(pa.Table.from_pandas(table)), "y", method=method).contrast("y", "z")
    assert found.is_of_sample
    assert sum(found.sizes) < 900
    assert "on a sample of the rows" in str(found)
    assert [line.precision for line in found.rules] == [1, 1]
    assert found.differences[0].column == "member"


@law(6)
def test_weights_count_in_means_and_say_how_many_rows_they_are_worth(seed):
    r = np.random.default_rng(seed)
    table, labels = _drawn(r)
    weights = r.integers(0, 4, len(table)) * 0.7
    ex = bw.explain(table[["age"]], labels, sample_weight=weights, method="cart", max_leaf_nodes=4)
    (found,) = ex.contrast("x", "y").differences
    means, errors, worth = [], [], []
    for name in ("x", "y"):
        x, w = table.age[labels == name].to_numpy(), weights[labels == name]
        means.append(np.average(x, weights=w))
        worth.append(w.sum() ** 2 / (w**2).sum())
        errors.append(np.average((x - means[-1]) ** 2, weights=w) / (worth[-1] - 1))
    freedom = sum(errors) ** 2 / sum(e**2 / (n - 1) for e, n in zip(errors, worth, strict=True))
    half = t.ppf(0.975, freedom) * np.sqrt(sum(errors))
    middle = means[0] - means[1]
    np.testing.assert_allclose(found[2:7], [*means, middle, middle - half, middle + half], rtol=1e-9, atol=1e-12)


# ----------------------------------------------------------------------------------------------------- shown in a page
_BAR = re.compile(
    r'<th scope="row"><bdi>(.*?)</bdi></th>\s*<td>(.*?)</td>\s*<td><svg class="track (c\w+)".*?'
    r'<rect class="part" x="([\d.]+)" y="1" width="([\d.]+)".*?(?:d="M([-\d.]+) 5H([-\d.]+)")?/>(?=</svg>)',
    re.DOTALL,
)


@law(6)
def test_a_page_and_a_notebook_draw_what_was_asked_for_as_the_picture_does(seed):
    r = np.random.default_rng(seed)
    table, labels = _drawn(r)
    ex = bw.explain(table, labels, method="cart", max_leaf_nodes=4)
    assert 'id="contrasts"' not in ex.to_html()
    second = "y" if seed % 2 else None
    contrast = ex.contrast("x", second)
    assert ex.contrast("x", second) is contrast
    ax = ex.plot_contrast("x", second, Figure().subplots())
    widths = [bar.get_width() for bar in ax.patches]
    for page in (ex.to_html(), html.unescape(contrast._repr_html_())):
        bars = _BAR.findall(page.partition('id="contrasts"')[2].partition("</section>")[0])
        assert [name for name, *_ in bars] == [html.escape(text.get_text()) for text in ax.get_yticklabels()]
        ends = [float(x) + (float(width) if float(x) >= 50 else 0.0) for _, _, _, x, width, *_ in bars]
        to = max(abs(end - 50) for end in ends) / max(map(abs, widths))
        np.testing.assert_allclose(
            [(end - 50 if end > 50 else float(x) - 50) / to for end, (_, _, _, x, *_) in zip(ends, bars, strict=True)],
            widths,
            atol=0.2,
        )
        said = str(contrast)
        for (name, how, *_), one in zip(bars, contrast.differences, strict=True):
            if abs(one.effect) >= 0.5:
                assert html.unescape(f"{name}: {how}") in said
        for line in said.split("\n")[2:4]:
            assert line.partition(": ")[2] in html.unescape(page)


def test_a_page_tells_no_contrast_of_few_rows():
    r = np.random.default_rng(0)
    table = pd.DataFrame({"age": r.random(60), "plan": r.choice(["free", "pro"], 60)})
    table.loc[:1, "plan"] = "secret"
    labels = ["many"] * 28 + ["more"] * 29 + ["few"] * 3
    ex = bw.explain(table, labels, method="cart", max_leaf_nodes=3)
    for pair in (("many", "few"), ("many", None), ("few", None)):
        ex.contrast(*pair)
        assert 'id="contrasts"' not in ex.to_html()
    ex.contrast("many", "more")
    assert 'id="contrasts"' in ex.to_html()
    assert 'id="contrasts"' not in ex.to_html(min_count=5)
    assert 'id="contrasts"' not in ex.rename({"many": "most"}).to_html()  # its rules and names were those of before
    two = bw.explain(table.assign(age=1.0), ["many"] * 30 + ["more"] * 30, categories={"plan": None})
    two.contrast("many", "more")
    part = two.to_html().partition('id="contrasts"')[2].partition("</section>")[0]
    assert "secret" not in part.partition("<table")[2]


def test_the_command_prints_contrasts_and_puts_them_into_the_page(tmp_path):
    r = np.random.default_rng(0)
    table, labels = _drawn(r)
    table.assign(segment=labels).to_csv(tmp_path / "t.csv", index=False)
    page = tmp_path / "page.html"
    asked = ["explain", str(tmp_path / "t.csv"), "-l", "segment", "--contrast", "x,y", "--contrast", "z"]
    run = invoke(*asked, "-o", page)
    assert "\n\nx (" in run.stdout
    assert ") against y (" in run.stdout
    assert ") against all others (" in run.stdout
    assert page.read_text().count('<table class="contrast">') == 2
    for wrong in ("x,y,z", "", "x,"):
        refused = invoke(*asked[:-1], wrong, code=2)
        assert "give the names of two clusters" in refused.stderr
    invoke(*asked[:-1], "w", code=3)
