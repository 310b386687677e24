"""Forms of trees of every shape: deep ones, single leaves, chains of two-sided cuts, weights, categories."""

import math
import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.tree import export_text, plot_tree

import boxwood
from boxwood import ThresholdTree, TreeBuilder
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.render.forms._one_sided import one_sided
from boxwood.render.forms.code import comparisons
from boxwood.render.forms.text import tree as tree_text
from boxwood.render.forms.walk import LONGEST, walk
from tests.cases import tree_on_values
from tests.programs import in_node, program
from tests.rule_cases import CUTS, explained_by
from tests.scale import seeds


def deep(n, *, to_the_left):
    """Return a tree of depth n with n + 1 leaves of clusters 0, 1 and 2 by turns, all on one column."""
    builder, node = TreeBuilder(), 0
    for i in range(n):
        first, second = builder.split(node, 0, float(n - i if to_the_left else i))
        leaf, node = (second, first) if to_the_left else (first, second)
        builder.label(leaf, i % 3)
    builder.label(node, n % 3)
    return builder.build()


def runs_like(ex, X, folder):
    """Check what runs from the source alone against the tree."""
    import onnxruntime

    expected = ex.tree.predict(X).tolist()
    rows = [{f"x{j}": value for j, value in enumerate(row)} for row in X.tolist()]
    names = program(ex.to_python())
    assert list(map(names["cluster"], rows)) == expected
    assert in_node(ex.to_javascript(), rows, folder) == expected
    assert ex.to_sklearn().predict(X).tolist() == expected
    session = onnxruntime.InferenceSession(ex.to_onnx())
    assert session.run(None, {"X": X.astype(np.float32)})[0].tolist() == expected


@pytest.mark.parametrize("to_the_left", [False, True])
def test_deep_trees_run_and_are_not_indented(to_the_left, tmp_path):
    tree = deep(2000, to_the_left=to_the_left)
    ex = explained_by(tree, ("x0",), (0, 1, 2))
    runs_like(ex, np.arange(-1, 2003.0, 0.5)[:, None], tmp_path)
    assert not re.search("^ {16}", ex.to_python(), re.MULTILINE)


def test_a_single_leaf(tmp_path):
    ex = explained_by(ThresholdTree.from_dict({"cluster": 1}), ("x0",), (0, 1))
    runs_like(ex, np.zeros((3, 1)), tmp_path)
    assert ex.to_formula() == "=1"
    assert ex.to_sql().split("\n")[1:] == ["1"]
    assert tree_text(ex) == "|--- cluster 1  5 rows  100.0%"


def test_random_trees_run(tmp_path):
    for seed in seeds(8):
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, int(rng.integers(2, 10)), 3, CUTS, 3, 0.5)
        ends = np.concatenate([tree.lower, tree.upper])
        ends = ends[np.isfinite(ends)].astype(np.float32)
        near = [ends, np.nextafter(ends, np.float32(9)), np.nextafter(ends, np.float32(-9))]
        X = rng.choice(np.concatenate(near), size=(200, 3)).astype(np.float64)
        runs_like(explained_by(tree, ("x0", "x1", "x2"), (0, 1, 2)), X, tmp_path)


def test_one_sided_cuts_are_the_doubles_next_to_a_cut():
    tree = ThresholdTree.from_dict(
        {"feature": 0, "interval": [1.0, 2.0], "inside": {"cluster": 0}, "outside": {"cluster": 1}}
    )
    nodes = one_sided(tree)
    assert nodes.threshold[nodes.feature >= 0].tolist() == [math.nextafter(1.0, 0.0), 2.0]
    assert nodes.leaf.tolist() == [-1, 1, -1, 0, 1]


def test_cuts_that_are_decided_above_are_left_out():
    builder = TreeBuilder()
    first, second = builder.split(0, 0, 2.0, 1.0)
    builder.label(first, 0)
    third, fourth = builder.split(second, 0, 5.0)
    builder.label(third, 1)
    builder.label(fourth, 2)
    assert one_sided(builder.build()).leaf.tolist() == [-1, 1, -1, 0, -1, 1, 2]  # below 1 all are at most 5


def test_a_chain_of_two_sided_cuts_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr("boxwood.render.forms._one_sided._MOST", 1 << 10)
    builder, node = TreeBuilder(), 0
    for j in range(30):
        first, node = builder.split(node, j, 1.0, 0.0)
        builder.label(first, 0)
    builder.label(node, 1)
    ex = explained_by(builder.build(), tuple(f"x{j}" for j in range(30)), (0, 1))
    for form in (ex.to_sklearn, ex.to_onnx):
        with pytest.raises(DataError, match="more than 1,024 nodes, as each two-sided cut doubles"):
            form()


def test_the_side_of_fewer_leaves_is_walked_first():
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, int(rng.integers(2, 10)), 3, CUTS, 3, 0.3)
        steps = list(walk(tree, lighter_first=True))
        assert sorted(step.node for step in steps) == list(range(tree.n_nodes))
        assert [step.node for step in walk(tree)] == list(range(tree.n_nodes))
        assert max(step.nested for step in steps) <= math.log2(tree.n_leaves)
        asked = {0: set()}
        for step in steps:
            if step.above >= 0:
                asked[step.node] = asked[step.above] | {int(tree.feature[step.above])}
            assert step.asked == asked[step.node]


def test_ends_of_cuts():
    inf = math.inf
    assert comparisons(-inf, 2.0, inside=True) == (None, ("<=", 2.0))
    assert comparisons(-inf, 2.0, inside=False) == (None, (">", 2.0))
    assert comparisons(1.0, inf, inside=False) == (("<", 1.0), None)
    assert comparisons(-inf, inf, inside=True) == (None, ("<=", inf))
    assert comparisons(1.0, 2.0, inside=False) == (("<", 1.0), (">", 2.0))


# ------------------------------------------------------------------------------------------------- scikit-learn


def test_a_tree_of_scikit_learn_can_be_drawn_and_counted():
    iris = load_iris(as_frame=True)
    ex = boxwood.explain(iris.data, iris.target_names[iris.target], max_leaf_nodes=4)
    twin = ex.to_sklearn()
    assert twin.tree_.n_node_samples[0] == 150
    assert twin.get_n_leaves() == ex.n_leaves
    assert twin.get_depth() == ex.tree.depth
    assert (twin.apply(iris.data) == ex.tree.leaf_nodes[ex.apply(iris.data)]).all()
    assert np.allclose(twin.tree_.value.sum(axis=2), 1)
    assert "petal" in export_text(twin, feature_names=list(iris.data.columns))
    drawn = plot_tree(twin, ax=FigureCanvasAgg(Figure()).figure.subplots())
    assert sum("samples = " in one.get_text() for one in drawn) == twin.tree_.node_count
    counts = twin.tree_.decision_path(iris.data.to_numpy(np.float32)).sum(axis=0)
    assert counts.tolist() == [twin.tree_.n_node_samples.tolist()]


def test_columns_without_names_get_none():
    X = [[1.0], [2.0], [8.0], [9.0]]
    assert not hasattr(boxwood.explain(X, [0, 0, 1, 1]).to_sklearn(), "feature_names_in_")
    assert boxwood.explain(X, [0, 0, 1, 1], columns=["a"]).to_sklearn().feature_names_in_.tolist() == ["a"]


# --------------------------------------------------------------------------------------------------------- text


def test_the_tree_below_the_summary():
    X = [[1.0], [2.0], [3.0], [8.0]]
    ex = boxwood.explain(X, ["a", "a", "a", "long name"], columns=["age"], sample_weight=[1, 1, 0.5, 2000])
    assert ex.to_text().split("\n\n")[-1] == (
        "|--- age <= 5\n"
        "|   |--- a            2.5 of weight   0.1%\n"
        "|--- age >  5\n"
        "|   |--- long name  2,000 of weight  99.9%"
    )


def test_columns_of_words_are_cut_in_words():
    builder = TreeBuilder()
    first, second = builder.split(0, 0, 0.0, 0.0)
    builder.label(first, 0)
    third, fourth = builder.split(second, 0, 1.0)
    builder.label(third, 1)
    builder.label(fourth, 0)
    ex = explained_by(builder.build(), ("colour",), ("warm", "cold"), {0: Categories(("red", "blue", "pink"), False)})
    assert tree_text(ex) == (
        "|--- colour is red\n"
        "|   |--- warm      5 rows  33.3%\n"
        "|--- colour is blue or pink\n"
        "|   |--- colour is blue\n"
        "|   |   |--- cold  5 rows  33.3%\n"
        "|   |--- colour is pink\n"
        "|   |   |--- warm  5 rows  33.3%"
    )


def test_a_tree_too_deep_for_a_text_is_told():
    n = math.isqrt(LONGEST // 4) + 10  # the indentation of all leaves is about 4 n^2 characters
    ex = explained_by(deep(n, to_the_left=False), ("x0",), (0, 1, 2))
    assert tree_text(ex) == f"(A tree of depth {n:,} is too deep for a text; the rules say the same.)"
