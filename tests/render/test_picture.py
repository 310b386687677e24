"""The picture of a tree as data: every row once, no bar across a cut, no box upon another."""

import itertools
import time

import numpy as np
import pytest

import boxwood as bw
from boxwood import DataError, TreeBuilder
from boxwood.explanation.measure.evidence import held_in
from boxwood.render.forms.walk import codes_at_cuts, cut_words
from boxwood.render.pictures.bars import bars_of_categories, bars_of_numbers
from boxwood.render.pictures.picture import picture_of
from boxwood.render.pictures.swatches import COLOURS, hatch_of, ink_on, swatches_of
from boxwood.words.values import fit_width, short_number, text_width, three_digits
from tests.cases import make_case
from tests.models import read_model
from tests.naive import pictures as naive
from tests.scale import law, seeds

INF = np.inf


def explained(seed):
    """Return an explanation of a generated table: with weights, noise, two-sided cuts, columns of categories."""
    case = make_case(seed)
    rng = np.random.default_rng(seed)
    leaves, weights = int(rng.integers(2, 9)), case.weights
    options = {"method": "cart"} if seed % 3 else {"method": "expand", "cuts": "interval"}
    try:
        return bw.explain(case.X, case.labels, max_leaf_nodes=leaves, sample_weight=weights, **options)
    except DataError:  # clusters with equal centres
        return bw.explain(case.X, case.labels, max_leaf_nodes=leaves, sample_weight=weights, method="cart")


@law(30)
def test_bars_count_every_row_once(seed):
    ex = explained(seed)
    picture = picture_of(ex)
    table = ex._rows().coordinates.table.values
    for cut in picture.cuts:
        bars, rows = cut.bars, naive.at_cut(ex, cut.node)
        expected = np.zeros_like(bars.counts)
        for row, cluster, weight in rows:
            expected[cluster, naive.bar_of(bars.edges, float(table[row, ex.tree.feature[cut.node]]))] += weight
        np.testing.assert_allclose(bars.counts, expected, rtol=1e-12)
        assert cut.rows == pytest.approx(sum(weight for *_, weight in rows))
        assert cut.lost == pytest.approx(naive.lost_at(ex, cut.node), abs=1e-12)
    wrong = sum(leaf.size - leaf.own for leaf in ex.leaves) if picture.cuts else 0
    assert sum(cut.lost for cut in picture.cuts) == pytest.approx(wrong, abs=1e-9)


@law(30)
def test_no_bar_straddles_a_cut(seed):
    ex = explained(seed)
    for cut in picture_of(ex).cuts:
        bars, lower, upper = cut.bars, ex.tree.lower[cut.node], ex.tree.upper[cut.node]
        assert 2 <= len(bars.edges) - 1 <= 23
        assert (np.diff(bars.edges) > 0).all()
        assert (np.diff(bars.at) > 0).all()
        assert bars.at[0] == 0
        assert bars.at[-1] == 1
        ends = list(itertools.pairwise(bars.edges))
        ends = [(-INF, ends[0][1]), *ends[1:-1], (ends[-1][0], INF)]  # the outer bars count what lies beyond
        across = [pair for pair in ends if naive.straddles(*pair, lower, upper)]
        # a threshold between two whole numbers has its edge at the lower one
        assert not across or naive.whole(bars.edges)
        assert bars.heights.sum(axis=0).max() == pytest.approx(1.0) or not cut.rows


@law(30)
def test_heights_are_as_rows_but_for_bars_that_are_cut(seed):
    """No bar is drawn lower than one with fewer rows of its width, and no spike flattens all others."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 900))
    x = np.where(rng.random(n) < rng.choice([0.0, 0.5, 0.95]), rng.integers(0, 3), np.exp(rng.normal(2, 1.5, n)))
    x = np.floor(x) if seed % 2 else x
    bars = bars_of_numbers(x, rng.integers(0, 3, n), 3, -INF, float(np.median(x)))
    heights, counts, width = bars.heights.sum(axis=0), bars.counts.sum(axis=0), np.diff(bars.at)
    kept, inner = ~bars.are_cut, np.arange(len(width)) % (len(width) - 1) != 0
    density = (counts / width)[kept & inner]
    np.testing.assert_allclose(
        heights[kept & inner] * density.max(initial=1e-300), density * heights[kept & inner].max(initial=0)
    )
    assert heights.max() == pytest.approx(1.0)
    assert not bars.are_cut.any() or np.sort(heights)[-2] == pytest.approx(1 / 3)
    drawn = np.zeros_like(bars.counts)
    for cluster, bar, low, top in bars.parts():
        assert 0 <= low < top <= 1 + 1e-9
        drawn[cluster, bar] += top - low
    np.testing.assert_allclose(drawn.sum(axis=0), np.where(kept, heights, 0.92))


@law(30)
def test_leaves_count_every_row_once(seed):
    ex = explained(seed)
    picture = picture_of(ex)
    for leaf in picture.leaves:
        rows = naive.at_cut(ex, leaf.node)
        assert leaf.rows == pytest.approx(sum(weight for *_, weight in rows))
        parts = dict(leaf.parts)
        for cluster in range(ex.n_clusters):
            own = sum(weight for _, label, weight in rows if label == cluster)
            assert parts.get(cluster, 0.0) == pytest.approx(own)
        others = [part for part in leaf.parts if part[0] != leaf.cluster]
        assert others == sorted(others, key=lambda part: (-part[1], part[0]))
        assert leaf.cluster not in parts or leaf.parts[0][0] == leaf.cluster
    assert sum(leaf.share for leaf in picture.leaves) == pytest.approx(1.0)


def random_tree(rng, n_leaves):
    """Return a tree of random shape: balanced, or a chain to one side."""
    builder, free, lean = TreeBuilder(), [0], rng.choice([0, 1, 2])
    while len(free) < n_leaves:
        place = {0: 0, 1: len(free) - 1, 2: int(rng.integers(len(free)))}[int(lean)]
        free[place : place + 1] = builder.split(free[place], 0, float(rng.normal()))
    for i, node in enumerate(free):
        builder.label(node, i % 3)
    return builder.build()


@law(40)
def test_no_boxes_overlap(seed):
    from dataclasses import replace

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 1))
    ex = bw.explain(X, np.arange(60) % 3, method="cart", max_leaf_nodes=2)
    tree = random_tree(rng, int(rng.integers(2, 31)))
    leaves = tuple(ex.leaves[0]._replace(cluster=int(c)) for c in tree.leaf_clusters)
    kept = None
    if seed % 2:
        rows, leaf = ex._rows(), tree.apply(X)
        kept = replace(rows, leaf=leaf, held=held_in(rows.task, leaf, tree.n_leaves)[0])
    picture = picture_of(replace(ex, tree=tree, leaves=leaves, _kept={}, _evidence=kept))
    boxes = [cut.box for cut in picture.cuts] + [leaf.box for leaf in picture.leaves]
    assert len(boxes) == tree.n_nodes
    assert not any(naive.overlap(*pair) for pair in itertools.combinations(boxes, 2))
    for box in boxes:
        assert 0 <= box.x <= box.x + box.width <= picture.width
        assert 0 <= box.y <= box.y + box.height <= picture.height
    for edge in picture.edges:  # no way goes through a box: neither its curve nor what is straight
        (x, y), (stop, end) = edge.start, edge.stop
        half = edge.width / 2
        straight = naive_box(edge.turn, end - half, stop - edge.turn, edge.width)
        curve = naive_box(x, min(y, end), edge.turn - x, abs(y - end))
        assert not any(naive.overlap(straight, box) or naive.overlap(curve, box) for box in boxes)


def naive_box(x, y, width, height):
    from boxwood.render.pictures.picture import Box

    return Box(x, y, width, height)


def test_texts_under_the_bars_do_not_overlap():
    for seed in seeds(20):
        picture = picture_of(explained(seed))
        size = 9.5 if picture.small else 10.5
        for cut in picture.cuts:
            places = []
            for label in cut.labels:
                wide = text_width(label.text, size)
                start = label.x - {"start": 0.0, "middle": wide / 2, "end": wide}[label.anchor]
                assert cut.box.x <= start
                assert start + wide <= cut.box.x + cut.box.width
                places.append((start, start + wide))
            assert all(a[1] <= b[0] or b[1] <= a[0] for a, b in itertools.combinations(places, 2))
            assert any(label.is_cut for label in cut.labels) == any(line.text for line in cut.bars.lines)


# ----------------------------------------------------------------------------------------------------------- bars


def bars(values, lower=-INF, upper=INF):
    values = np.asarray(values, dtype=float)
    return bars_of_numbers(values, np.zeros(len(values), dtype=np.intp), 1, lower, upper)


def test_small_whole_numbers_have_a_bar_each():
    found = bars(np.repeat([1, 2, 2, 3, 3, 3, 4, 6], 5), upper=3.5)
    assert found.scale == "whole"
    assert found.edges.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert found.counts.tolist() == [[5, 10, 15, 5, 0, 5]]
    assert found.lines == ((0.5, "3.5"),)
    assert found.ends == ("1", "6")


def test_bars_of_larger_whole_numbers_hold_as_many_numbers_each():
    found = bars(np.repeat(np.arange(100), 5), upper=30.0)
    assert found.scale == "linear"
    [width] = {*np.diff(found.edges)[1:-1]}
    assert np.diff(found.edges).max() == width
    assert found.counts[0, 1:-1].tolist() == [5 * width] * (len(found.edges) - 3)
    assert 30.0 in found.edges


@law(200)
def test_an_axis_begins_and_ends_where_values_do(seed):
    rng = np.random.default_rng(seed)
    least, size = int(rng.integers(-50, 50)), int(rng.choice([3, 25, 60, 400]))
    values = least + np.floor(size * rng.beta(*rng.uniform(0.3, 3, 2), size=int(rng.integers(20, 400))))
    values = values / 8 if seed % 2 else values
    upper = float(rng.choice(np.unique(values)[:-1]))
    found = bars(values, upper=upper)
    room = 0.1 * (values.max() - values.min()) if seed % 2 or size > 60 else 0.0  # so that no end is a row's value
    assert values.min() - room <= found.span[0] <= found.span[1] <= values.max() + room
    assert found.span[0] >= 0 or values.min() < 0
    assert found.ends == (three_digits(found.span[0]), three_digits(found.span[1]))
    assert found.edges[0] <= found.span[0]


def test_skewed_columns_have_a_logarithmic_axis():
    rng = np.random.default_rng(0)
    assert bars(np.exp(2 * rng.normal(size=1000)), upper=1.5).scale == "log"
    assert bars(rng.normal(size=1000) + 100, upper=100.0).scale == "linear"
    assert bars(np.exp(2 * rng.normal(size=1000)) - 0.5, upper=1.5).scale == "linear"  # values below 0
    assert bars(np.exp(2 * rng.normal(size=1000)), upper=-1.5).scale == "linear"  # a cut below 0


@pytest.mark.crossed
@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0],
        [5e-324, 5e-324],
        [-1.7e308, 1.7e308, 0.0],
        [1.0, np.nextafter(1.0, 2.0)],
        [1e12, 1e12 + 1e-3],
        [2.0**60, 2.0**60 + 256],
        [1e-300, 1.0, 1e300],
        [0.1] * 1000 + [1e15],
    ],
    ids=str,
)
@pytest.mark.parametrize("end", [-1.0, 0.0, 0.1, 1.0, 1e12, 1e300, -1e300, 5e-324])
def test_bars_of_odd_numbers(values, end):
    for lower, upper in ((-INF, end), (end, INF), (end, end), (end, end + 1), (-INF, INF)):
        found = bars(values, lower, upper)
        assert found.counts.sum() == len(values)
        assert (np.diff(found.edges) > 0).all()
        assert np.isfinite(found.at).all()
        inside = sum(lower <= value <= upper for value in values)
        lines = [line.at for line in found.lines]
        if lower == -INF and upper < INF:
            assert found.counts[0, found.at[1:] <= lines[0]].sum() == inside
        if upper == INF and lower > -INF:
            assert found.counts[0, found.at[:-1] >= lines[0]].sum() == inside


def test_categories_inside_stand_first():
    codes = np.array([0.0, 0, 1, 2, 2, 2])
    found = bars_of_categories(codes, np.array([0, 1, 0, 1, 1, 1]), 2, ([2], [0, 1]), ["a", "b", "c"])
    assert found.labels == ("c", "a", "b")
    assert found.counts.tolist() == [[0, 1, 1], [3, 1, 0]]
    assert found.lines == ((1 / 3, ""),)


def test_rare_categories_share_a_bar():
    rng = np.random.default_rng(0)
    codes = np.minimum(rng.geometric(0.1, size=2000) - 1, 49).astype(float)
    found = bars_of_categories(codes, np.zeros(2000, dtype=int), 1, (list(range(10)), list(range(10, 50))), ["x"] * 50)
    assert len(found.labels) == 12
    assert found.labels[5] == "5 more"
    assert found.labels[-1] == "35 more"
    assert found.counts.sum() == 2000
    assert found.counts[0, :6].sum() == (codes < 10).sum()


# ---------------------------------------------------------------------------------------------------------- words


def with_categories(**options):
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(0)
    kind = np.array(["horeca", "retail", "bar, café", "club"])[np.arange(200) % 4]
    table = pd.DataFrame({"kind": kind, "spend": rng.normal(size=200) + 5 * (kind == "club"), "vip": kind == "retail"})
    labels = np.select([kind == "horeca", kind == "retail", kind == "club"], ["a", "b", "c"], "d")
    steps = make_column_transformer((OneHotEncoder(**options), ["kind"]), remainder=StandardScaler())
    from sklearn.base import BaseEstimator, ClusterMixin

    class Known(ClusterMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.labels_ = np.unique(labels, return_inverse=True)[1]
            return self

        def predict(self, X):
            return self.labels_

    return bw.explain(table, make_pipeline(steps, Known()).fit(table), method="cart", max_leaf_nodes=4)


@pytest.mark.parametrize("unknown", ["error", "ignore"])
def test_edges_say_categories(unknown):
    ex = with_categories(handle_unknown=unknown)
    picture = picture_of(ex)
    texts = {edge.text for edge in picture.edges}
    assert texts & {"yes", "no"} or any(text.startswith("is ") for text in texts)
    for edge in picture.edges:
        column = next(cut.column for cut in picture.cuts if cut.node == edge.parent)
        assert column in edge.full
    for cut in picture.cuts:
        if cut.bars.scale == "categories":
            assert cut.bars.counts.sum() == cut.rows
            inside = cut.bars.counts[:, cut.bars.at[1:] <= cut.bars.lines[0].at].sum()
            assert inside == next(edge.rows for edge in picture.edges if edge.child == cut.node + 1)


def test_sides_of_categories_cover_what_reaches_the_cut():
    ex = with_categories(handle_unknown="ignore")
    codes = codes_at_cuts(ex.tree, ex._coded_columns)
    assert codes
    first = min(codes)
    domain = len(ex._coded_columns[int(ex.tree.feature[first])].domain)
    assert sorted([*codes[first][0], *codes[first][1]]) == list(range(domain))
    for node, sides in codes.items():
        assert not set(sides[0]) & set(sides[1])
        short = cut_words(ex, node, sides).short
        assert short[0] != short[1]


def test_edges_of_two_sided_cuts():
    X, y = np.arange(9.0)[:, None], np.array([0, 0, 0, 1, 1, 1, 0, 0, 0])
    ex = bw.explain(X, y, method="kernel_expand", max_leaf_nodes=2, columns=["age"])
    first, second = (edge for edge in picture_of(ex).edges)
    assert (first.text, first.full) == ("2.5 to 5.5", "2.5 <= age <= 5.5") or "to" in first.text
    assert second.text.startswith("< ")
    assert " or > " in second.text


# ------------------------------------------------------------------------------------------------- without rows


def test_a_loaded_model_has_a_picture_without_bars():
    ex = explained(4)
    loaded = read_model(ex.to_json())
    there, here = picture_of(ex), picture_of(loaded)
    assert all(cut.bars is None and cut.lost is None and cut.labels == () for cut in here.cuts)
    assert [cut.rows for cut in here.cuts] == pytest.approx([cut.rows for cut in there.cuts])
    assert [leaf.share for leaf in here.leaves] == pytest.approx([leaf.share for leaf in there.leaves])
    for leaf, full in zip(here.leaves, there.leaves, strict=True):
        assert dict(leaf.parts).get(leaf.cluster, 0) == pytest.approx(dict(full.parts).get(full.cluster, 0))
        assert sum(rows for _, rows in leaf.parts) == pytest.approx(leaf.rows)


def test_pictures_are_kept():
    ex = explained(5)
    assert picture_of(ex) is picture_of(ex)


# ---------------------------------------------------------------------------------------- names, numbers, colours


def test_names_are_shortened_in_the_middle():
    assert fit_width("abc", 100, 10) == "abc"
    for width in range(5, 200, 7):
        short = fit_width("a_very_long_name_of_a_column", width, 10)
        assert text_width(short, 10) <= width or short == "…"
        assert short.startswith("a") or short == "…"
    assert fit_width("日本語の長い名前です", 60, 10).startswith("日")
    assert fit_width("two\nlines", 200, 10) == "two\\nlines"


def test_numbers_with_few_digits():
    assert [three_digits(x) for x in (0.0, -0.0, 9.0, 999.5, 1234.0, 12345.0, 1e6, 2.5e9, 1e15, -58210.0)] == [
        *("0", "0", "9", "1e+03", "1,234", "12.3k", "1M", "2.5bn", "1e+15", "-58.2k")
    ]
    assert short_number(1234567890.0) == "1,234,567,890"
    assert short_number(12345678901.0) == "≈ 1.235e+10"


def test_swatches():
    numbers, names = swatches_of((3, 7, 12)), swatches_of(("Loyal", "New"))
    assert [one.mark for one in numbers] == ["3", "7", "12"]
    assert [(one.mark, one.name) for one in names] == [("0", "Loyal"), ("1", "New")]
    many = swatches_of(tuple(range(40)))
    assert [one.colour for one in many[:10]] == list(COLOURS)
    assert len({(one.colour, one.hatch) for one in many[:20]}) == 20
    assert hatch_of(-1) == ""


def test_ink_is_readable_on_every_colour():
    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in COLOURS:
        a, b = sorted([light(colour), light(ink_on(colour))])
        assert (b + 0.05) / (a + 0.05) >= 4.5


@law(40)
def test_a_text_that_does_not_fit_loses_as_few_letters_as_can_be_from_its_middle(seed):
    rng = np.random.default_rng(seed)
    text = "".join(rng.choice([*"abc_0.", "é", "漢", "e\u0301", "🌳"], int(rng.integers(1, 40))))
    width, n = float(rng.uniform(0, 200)), len(text)
    cut = ["…", *(f"{text[: (m + 1) // 2]}…{text[n - m // 2 :]}" for m in range(1, n)), text]
    fits = [one for one in cut if text_width(one, 10.0) <= width]
    assert fit_width(text, width, 10.0) == (fits[-1] if fits else "…")


def test_a_text_of_a_million_letters_is_fitted_at_once():
    before = time.perf_counter()
    assert fit_width("x" * 1_000_000, 60.0, 10.0) == "xxxxx…xxxx"
    assert time.perf_counter() - before < 30  # by the square of its letters it would take hours
