"""The tree as a file of SVG: well-formed, in the look of the page, without what a page hides."""

from xml.etree import ElementTree

import numpy as np
import pytest
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


def test_a_picture_has_a_title():
    X, y = make_blobs(200, centers=5, n_features=3, random_state=0)
    ex = boxwood.explain(X, y, max_leaf_nodes=4)
    assert texts_of(ex.to_svg())[0] == f"5 clusters of 200 rows: the rules are right for {ex.agreement:.1%} of the rows"
    ex = boxwood.explain(X, y, max_leaf_nodes=2)
    assert "…" in texts_of(ex.to_svg())[0]  # as far as there is room


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
