"""The tree as a file of SVG: well-formed, in the look of the page, without what a page hides."""

from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

import boxwood
from boxwood.errors import DataError
from tests.render.test_page import HOSTILE_NAMES
from tests.scale import seeds

_TAGS = {"svg", "style", "rect", "defs", "pattern", "path", "symbol", "g", "title", "text", "tspan", "use"}
SVG = "{http://www.w3.org/2000/svg}"


def texts_of(picture):
    return ["".join(one.itertext()) for one in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_picture_has_each_cut_and_each_leaf(tmp_path):
    for seed in seeds(8):
        X, y = make_blobs(200, centers=3 + seed, n_features=4, random_state=seed)
        ex = boxwood.explain(X, y, max_leaf_nodes=4 + seed, columns=["a & b", "<c>", 'd"', "e"])
        picture = ex.to_svg()
        found = ElementTree.fromstring(picture)
        nodes = [one for one in found.iter(f"{SVG}g") if one.get("class", "").startswith("node")]
        assert len(nodes) == ex.tree.n_nodes
        assert {"a & b", "<c>", 'd"', "e"} >= {
            one.text for one in found.iter(f"{SVG}tspan") if one.get("class") == "title"
        }
        assert {f"cluster {name}" for name in {ex.names[i] for i in ex.tree.leaf_clusters}} <= {*texts_of(picture)}
        assert picture == ex.to_svg()
        assert ex.to_svg(tmp_path / "tree.svg") is None
        assert (tmp_path / "tree.svg").read_text(encoding="utf-8") == picture


def test_a_title_is_whole_however_small_the_tree_is():
    """In two lines where one is too wide; those of the picture by matplotlib are the same."""
    matplotlib.use("Agg")
    lines = []
    for seed in seeds(8):
        k = 2 + seed % 7
        X, y = make_blobs(9000 if k < 3 else 400, centers=k, random_state=seed)
        ex = boxwood.explain(X, y, max_leaf_nodes=k)
        title = f"{k} clusters of {len(X):,} rows: the rules are right for {ex.agreement:.1%} of the rows"
        shown = texts_of(ex.to_svg())
        n_lines = 1 if shown[0] == title else 2
        assert " ".join(shown[:n_lines]) == title
        own, given = ex.plot(), ex.plot(Figure().subplots())
        told = [text.get_text() for text in own.texts]
        assert " ".join(told[:n_lines]) == title or title in told
        assert not any("the rules are right" in text.get_text() for text in given.texts)
        lines.append(n_lines)
        pyplot.close("all")
    assert {*lines} == {1, 2}


def test_hostile_names_stay_text():
    X, y = make_blobs(300, centers=6, n_features=len(HOSTILE_NAMES), random_state=0)
    labels = np.array(HOSTILE_NAMES[:6], dtype=object)[y]
    picture = boxwood.explain(X, labels, columns=list(HOSTILE_NAMES)).to_svg()
    tags = {one.tag.removeprefix(SVG) for one in ElementTree.fromstring(picture).iter()}
    assert tags <= _TAGS
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def test_few_rows_have_no_bar():
    X = np.arange(60.0)[:, None]
    picture = boxwood.explain(X, np.where(X[:, 0] < 3, "few", "many"), columns=["x"]).to_svg()
    bars = list(ElementTree.fromstring(picture).iter(f"{SVG}symbol"))
    assert not [path for one in bars for path in one.iter(f"{SVG}path") if "c0" in path.get("class", "").split()]


def test_trees_without_a_picture_are_refused():
    with pytest.raises(DataError, match="2 to 150 leaves, got 1"):
        boxwood.explain([[1.0], [1.0]], [0, 1]).to_svg()
