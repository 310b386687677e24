"""Pictures look as they were when somebody last looked at them, and draw what the data says."""

import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import boxwood as bw
from boxwood import DataError
from boxwood.render import ExplanationDisplay
from boxwood.render.pictures.canvas import drawable
from boxwood.render.pictures.picture import picture_of
from boxwood.render.pictures.plot_boxes import areas_of, find_two_columns, rows_to_draw
from boxwood.render.pictures.plot_measured import heat_map_lines
from tests.models import read_model
from tests.render import draw
from tests.scale import law, some, variants

TOLERANCE = 5.0  # of 255, root mean square of 8 x 8 pixels: letters are a little otherwise in each version of freetype

IRIS = load_iris(as_frame=True)


@pytest.fixture(autouse=True)
def _agg():
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")
    matplotlib.use(backend)


@pytest.fixture(scope="module")
def iris():
    return bw.explain(IRIS.data, IRIS.target_names[IRIS.target], method="cart", max_leaf_nodes=4)


def coarse(pixels):
    """Return means of 8 x 8 pixels."""
    height, width = (size // 8 * 8 for size in pixels.shape[:2])
    return pixels[:height, :width].reshape(height // 8, 8, width // 8, 8, -1).mean(axis=(1, 3))


def distance(a, b):
    return float(np.sqrt(np.mean((coarse(a) - coarse(b)) ** 2)))


def stored(name):
    return matplotlib.image.imread(draw.FOLDER / f"{name}.png")[..., :3] * 255.0


# ------------------------------------------------------------------------------------------------- as they looked


@pytest.mark.parametrize("name", some(sorted(draw.PICTURES)))
def test_pictures_look_as_the_stored_ones(name):
    expected, found = stored(name), draw.drawn(name)
    assert found.shape == expected.shape
    assert distance(found, expected) < TOLERANCE


def test_no_stored_picture_is_left_over():
    assert {path.stem for path in draw.FOLDER.glob("*.png")} == set(draw.PICTURES)
    assert sum(path.stat().st_size for path in draw.FOLDER.glob("*.png")) < 300_000


@pytest.mark.parametrize("name", some(["tree_2", "tree_7", "boxes", "profile", "frontier", "stability"]))
def test_the_comparison_sees_a_change(name, monkeypatch):
    from boxwood.render.pictures import plot_measured, swatches

    monkeypatch.setattr(swatches, "COLOURS", ("#111111", "#eeeeee", *swatches.COLOURS[2:]))
    monkeypatch.setattr(plot_measured, "_value", lambda row, by_price: row.leaves / 10)
    monkeypatch.setattr(plot_measured, "_HIGH", "#00ff00")
    monkeypatch.setattr(plot_measured, "STABLE", 0.95)
    if name == "stability":
        monkeypatch.setattr(plot_measured, "LOST", 0.0)
    assert distance(draw.drawn(name), stored(name)) > TOLERANCE


# ------------------------------------------------------------------------------------------------------ into an Axes


@pytest.mark.parametrize("kind", ["tree", "boxes", "profile", "frontier", "stability"])
def test_pictures_take_and_return_an_axes(iris, kind):
    iris.stability(n=2)
    draw_it = getattr(iris, "plot" if kind == "tree" else f"plot_{kind}")
    ax = Figure().subplots(1, 2)[1]
    assert draw_it(ax=ax) is ax
    ax.figure.canvas.draw()
    new = draw_it()
    assert new.figure is not ax.figure
    display = ExplanationDisplay.from_explanation(iris, kind=kind, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    with pytest.raises(TypeError, match="ax must be an Axes of matplotlib, or None for a new figure; got 3"):
        draw_it(ax=3)


def test_pictures_are_never_shown(iris, monkeypatch):
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda *args, **options: pytest.fail("a picture was shown"))
    iris.plot()
    iris.plot_boxes()
    iris.plot_profile()


def test_pictures_fit_into_a_part_of_a_figure(iris):
    part = Figure().subfigures(1, 2)[0]
    ax = iris.plot(part.subplots())
    assert ExplanationDisplay(iris).plot(ax).figure_ is part.figure
    small, large = iris.plot(Figure((3, 2)).subplots()), iris.plot(Figure((12, 8)).subplots())
    assert large.texts[0].get_fontsize() == pytest.approx(4 * small.texts[0].get_fontsize())


def test_estimators_have_displays():
    model = bw.CART(max_leaf_nodes=3).fit(IRIS.data, IRIS.target)
    display = ExplanationDisplay.from_estimator(model)
    assert display.explanation is model.explanation_
    assert display.plot() is display
    assert len(display.ax_.texts) > 10
    with pytest.raises(TypeError, match="expected an Explanation or a fitted explainer of boxwood, got DataFrame"):
        ExplanationDisplay.from_estimator(IRIS.data)
    with pytest.raises(ValueError, match="kind must be one of 'tree', 'boxes'"):
        ExplanationDisplay.from_estimator(model, kind="pie")


def test_one_line_where_matplotlib_is_missing(iris, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in (iris.plot, iris.plot_boxes, iris.plot_profile, iris.plot_frontier):
        with pytest.raises(ImportError, match=r"^A picture needs matplotlib: pip install matplotlib$"):
            plot()


# ---------------------------------------------------------------------------------------------------- hostile names


HOSTILE = [
    "$x$",
    "$\\frac{1",
    "日本語",
    "a\nb",
    "\x00",
    "x" * 300,
    "%s {0}",
    "_",
    " ",
    "🌳",
    "é" * 3,
    "\\alpha",
    "שלום",
    "1",
]


def test_hostile_names_are_drawn_as_they_are_and_without_a_warning():
    rng = np.random.default_rng(0)
    labels = np.arange(280) % 14
    X = rng.normal(size=(14, 14))[labels] * 4 + rng.normal(size=(280, 14))
    ex = bw.explain(X, np.array(HOSTILE)[labels], columns=HOSTILE, method="cart")
    for plot in (ex.plot, ex.plot_boxes, ex.plot_profile, ex.plot_frontier):
        ax = plot(ax=Figure((8, 6)).subplots())
        ax.figure.canvas.draw()  # warnings are errors
    texts = {text.get_text() for text in ex.plot(Figure().subplots()).texts}
    assert {"$x$", "$\\frac{1", "a\\nb", "\\alpha"} <= texts


def test_lacking_characters_have_a_sign():
    assert drawable("aé$") == "aé$"
    assert drawable("木 tree") == "□ tree"


# ------------------------------------------------------------------------------------------------------------ boxes


@law(20)
def test_boxes_hold_the_rows_of_their_leaf(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.integers(0, 6, size=(80, 3)).astype(float), rng.integers(0, 3, size=80)
    options = {"method": "cart"} if seed % 2 else {"method": "expand", "cuts": "interval"}
    ex = bw.explain(X, labels, max_leaf_nodes=6, **options)
    x, y = rng.permutation(3)[:2].tolist()
    leaf = ex._rows().leaf
    areas = areas_of(ex, x, y)
    for row in range(80):
        own = [area for area in areas if area.leaf == leaf[row]]
        assert any(one.left < X[row, x] <= one.right and one.bottom < X[row, y] <= one.top for one in own)
    if set(ex.tree.features.tolist()) <= {x, y}:  # then boxes part the plane
        for row in range(80):
            held = [a for a in areas if a.left < X[row, x] <= a.right and a.bottom < X[row, y] <= a.top]
            assert [area.leaf for area in held] == [leaf[row]]
    points = rows_to_draw(ex, x, y)
    assert points.x.tolist() == X[:, x].tolist()
    assert points.wrong.tolist() == (ex.predict(X) != labels).tolist()


def test_columns_of_the_boxes(iris):
    first, second = find_two_columns(iris, None, None)
    assert first == iris.tree.feature[0]
    assert second in iris.tree.features
    assert find_two_columns(iris, "sepal length (cm)", 1) == (0, 1)
    assert find_two_columns(iris, None, int(first))[0] != first
    assert find_two_columns(iris, 0, None) == (0, first)
    with pytest.raises(DataError, match="no column 'petal lenth"):
        iris.plot_boxes("petal lenth (cm)")
    with pytest.raises(DataError, match="x and y must be different columns; both are sepal length"):
        iris.plot_boxes(0, "sepal length (cm)")
    with pytest.raises(ValueError, match="a column must be from 0 to 3, got 4"):
        iris.plot_boxes(0, 4)
    with pytest.raises(TypeError, match="a column must be a whole number"):
        iris.plot_boxes(1.5)
    with pytest.raises(DataError, match=r"boxes need two columns, and the table has one: x0; draw the tree"):
        bw.explain([[1.0], [2.0]], [0, 1]).plot_boxes()


@pytest.mark.parametrize(("least", "scale"), [(1e-200, "log"), (1e-300, "linear"), (5e-324, "linear")])
def test_boxes_of_columns_that_span_the_doubles(least, scale):
    ex = bw.explain([[least, 1], [2 * least, 2], [1e150, 3], [2e150, 4]], [0, 0, 1, 1], method="cart")
    ax = ex.plot_boxes(0, 1)
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert ax.get_xscale() == scale
    assert low < least < 2e150 < high < np.inf


def test_long_tables_are_drawn_from_a_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    ex = bw.explain(X, (X[:, 0] > 0).astype(int), method="cart")
    points, again = rows_to_draw(ex, 0, 1), rows_to_draw(ex, 0, 1)
    assert len(points.x) == 4000
    assert (points.x == again.x).all()


# ---------------------------------------------------------------------------------------------------------- profile


def test_lines_of_the_profile(iris):
    lines = heat_map_lines(iris)
    tested = {iris.columns[j] for j in iris.tree.features}
    assert {line.name for line in lines[: len(tested)]} == tested
    by_name = {line.name: line for line in lines}
    for j, column in enumerate(iris.columns):
        for cluster, cell in enumerate(by_name[column].cells):
            values = IRIS.data.to_numpy()[IRIS.target == cluster, j]
            assert float(cell.text) == pytest.approx(np.median(values), rel=0.01)


def test_the_profile_has_at_most_40_lines():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 70))
    assert len(heat_map_lines(bw.explain(X, np.arange(60) % 3, method="cart"))) == 40


def test_columns_of_words_have_the_lines_that_tell_most():
    lines = heat_map_lines(draw.words())
    names = [line.name for line in lines]
    assert sum(name.startswith("kind: ") for name in names) == 3
    assert sum(name.startswith("vip: ") for name in names) == 1


# ------------------------------------------------------------------------------------------------------------- trees


@pytest.mark.parametrize("n_leaves", variants(7, 2, 30))
def test_texts_of_a_tree_stay_in_their_boxes(n_leaves):
    ex = {2: draw.two, 7: draw.seven, 30: draw.thirty}[n_leaves]()
    ax = ex.plot()
    picture = picture_of(ex)
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    places = {}
    for text in ax.texts:
        box = text.get_window_extent(renderer).transformed(ax.transData.inverted())
        places.setdefault(text.get_text(), []).append((box.x0, box.x1, min(box.y0, box.y1), max(box.y0, box.y1)))
    assert len(picture.leaves) == n_leaves
    for one in (*picture.cuts, *picture.leaves):
        box = one.box
        for text in {drawable(one.title), one.note}:
            assert any(
                box.x <= x0 and x1 <= box.x + box.width and box.y <= y0 and y1 <= box.y + box.height
                for x0, x1, y0, y1 in places[text]
            ), text
    for edge in picture.edges:
        assert any(edge.start[0] - 1 <= x0 and x1 <= edge.turn for x0, x1, *_ in places[edge.text]), edge.text


def test_every_part_of_the_bars_is_drawn(iris):
    ax = iris.plot()
    picture = picture_of(iris)
    drawn = sum(len(collection.get_paths()) for collection in ax.collections)
    parts = sum(int((cut.bars.counts > 0).sum()) for cut in picture.cuts) + sum(
        len(one.parts) for one in picture.leaves
    )
    assert drawn == parts + len(picture.swatches)


def test_the_style_of_the_user_is_followed(iris):
    from matplotlib import pyplot

    with pyplot.style.context("dark_background"):
        ax = iris.plot()
        titles = [text for text in ax.texts if text.get_text() == "setosa"]
        assert titles
        assert all(matplotlib.colors.to_hex(text.get_color()) == "#ffffff" for text in titles)


def test_a_loaded_model_draws_what_it_knows(iris):
    loaded = read_model(iris.to_json())
    loaded.plot(Figure().subplots())
    loaded.plot_boxes(ax=Figure().subplots())


def test_bars_of_a_contrast_are_its_effects(iris):
    names = iris.names[:2]
    for second in (names[1], None):
        contrast, ax = iris.contrast(names[0], second), iris.plot_contrast(names[0], second, Figure().subplots())
        assert [bar.get_width() for bar in ax.patches] == [one.effect for one in contrast.differences]
        ends = [line.get_xdata() for line in ax.lines if len({*line.get_ydata()}) == 1]
        assert len(ends) == len(contrast.differences)
        for (low, high), one in zip(ends, contrast.differences, strict=True):
            assert low * one.difference == pytest.approx(one.low * one.effect)
            assert high * one.difference == pytest.approx(one.high * one.effect)
        ax.figure.canvas.draw()
