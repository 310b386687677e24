"""The tree: building, refusing, walking, exchanging, shortening."""

import copy
import decimal
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxwood.errors import DataError, ModelError
from boxwood.tree import ThresholdTree, TreeBuilder, between, rows_at_nodes, shortest_between
from boxwood.tree.shorten import shortened_in
from tests import naive
from tests.cases import chain
from tests.scale import draws, each
from tests.strategies import rows_near, trees

TWO_SIDED = {
    "feature": 0,
    "interval": [-1.0, 2.0],
    "inside": {"feature": 1, "threshold": 0.5, "left": {"leaf": 0, "cluster": 1}, "right": {"leaf": 1, "cluster": 0}},
    "outside": {"leaf": 2, "cluster": 1},
}


# ------------------------------------------------------------------------------------------------------ walking


@given(st.data())
def test_rows_reach_the_leaf_of_the_nested_tree(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    leaves = [naive.leaf_of(tree.to_dict(), x) for x in X]
    assert tree.apply(X).tolist() == [leaf["leaf"] for leaf in leaves]
    assert tree.predict(X).tolist() == [leaf["cluster"] for leaf in leaves]


@given(st.data())
def test_boxes_part_the_space(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    boxes = tree.boxes()
    for x, leaf in zip(X, tree.apply(X), strict=True):
        inside = [
            i for i, box in enumerate(boxes) if all(any(x[j] in piece for piece in box[j]) for j in box)
        ]  # fmt: skip
        assert inside == [leaf]


@given(st.data())
def test_paths_lead_to_their_leaves(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    for x, leaf in zip(X, tree.apply(X), strict=True):
        path = tree.path(int(leaf))
        assert all((cut.lower <= x[cut.feature] <= cut.upper) == cut.inside for cut in path)
        assert len(path) == tree.node_depth[tree.leaf_nodes[leaf]]


@given(st.data())
def test_rows_at_nodes_agree_with_apply(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    leaf = np.full(len(X), -1)
    visited = []
    for node, rows, inside in rows_at_nodes(tree, X):
        visited.append(node)
        assert (inside is None) == (tree.feature[node] < 0)
        if inside is None:
            leaf[rows] = np.searchsorted(tree.leaf_nodes, node)
    assert visited == list(range(tree.n_nodes))
    assert leaf.tolist() == tree.apply(X).tolist()


@pytest.mark.crossed
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "readonly"])
def test_any_memory_layout(dtype, layout):
    tree = ThresholdTree.from_dict(TWO_SIDED)
    X = np.random.default_rng(0).normal(size=(1000, 2)).astype(dtype)
    expected = [naive.leaf_of(TWO_SIDED, x)["leaf"] for x in X]
    laid = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "readonly": lambda X: np.frombuffer(X.tobytes(), dtype=dtype).reshape(X.shape),
    }[layout](X)
    assert tree.apply(laid).tolist() == expected


def test_float32_values_are_compared_as_doubles():
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0.1, "left": {"cluster": 0}, "right": {"cluster": 1}})
    assert tree.predict(np.array([[0.1]], dtype=np.float32)).tolist() == [1]  # float32(0.1) > 0.1
    assert tree.predict([[0.1], [math.nextafter(0.1, 1)], [-np.inf], [np.inf]]).tolist() == [0, 1, 0, 1]


def test_threads_do_not_change_the_result():
    tree = ThresholdTree.from_dict(TWO_SIDED)
    X = np.random.default_rng(1).normal(size=(200_000, 2))
    assert np.array_equal(tree.apply(X, n_jobs=1), tree.apply(X, n_jobs=4))


@each(
    "X, message",
    [
        ([[0.0]], "tests column 1, but X has 1 columns"),
        ([0.0, 1.0], "two-dimensional"),
        ([["a", "b"]], "numeric"),
        ([["1", "2"]], "numeric"),
        (np.array([["2020-01-01", "2020-01-02"]], dtype="M8[D]"), "numeric"),
        ([[0.0, 1.0], [0.0, np.nan]], "NaN in a tested column, first in row 1"),
    ],
)
def test_apply_refuses(X, message):
    with pytest.raises(ValueError, match=message):
        ThresholdTree.from_dict(TWO_SIDED).apply(X)


def test_missing_values_in_columns_that_are_not_tested_do_not_matter():
    tree = ThresholdTree.from_dict({"feature": 1, "threshold": 0.0, "left": {"cluster": 0}, "right": {"cluster": 1}})
    assert tree.predict([[np.nan, 1.0]]).tolist() == [1]


def test_no_rows():
    assert ThresholdTree.from_dict(TWO_SIDED).apply(np.empty((0, 2))).shape == (0,)


# ----------------------------------------------------------------------------------------------------- building


def test_nodes_are_in_pre_order_in_whatever_order_they_were_split():
    one, other = TreeBuilder(), TreeBuilder()
    left, right = one.split(0, 0, 1.0)
    one.label(right, 2)
    for leaf, cluster in zip(one.split(left, 1, 5.0), (0, 1), strict=True):
        one.label(leaf, cluster)
    left, right = other.split(0, 0, 1.0)
    leaves = other.split(left, 1, 5.0)
    for leaf, cluster in ((leaves[1], 1), (leaves[0], 0), (right, 2)):
        other.label(leaf, cluster)
    assert one.build() == other.build()
    assert hash(one.build()) == hash(other.build())
    assert one.build().second.tolist() == [4, 3, -1, -1, -1]


@given(trees())
def test_builder_takes_a_tree_apart_and_gives_it_back(tree):
    builder, nodes = TreeBuilder.from_tree(tree)
    assert builder.build() == tree
    assert sorted(nodes) == list(range(tree.n_nodes))
    assert builder.n_leaves == tree.n_leaves


@each(
    "steps, message",
    [
        ([], "node 0 is neither a cut nor labelled"),
        ([("split", 0, 0, 1.0), ("label", 1, 0)], "node 2 is neither"),
        ([("split", 0, 0, 1.0), ("split", 0, 0, 2.0)], "a cut already"),
        ([("split", 0, -1, 1.0)], "feature must be at least 0"),
        ([("split", 0, 0, math.nan)], "holds no value"),
        ([("split", 0, 0, 1.0, 2.0)], "holds no value"),
        ([("split", 5, 0, 1.0)], "there is no node 5"),
        ([("split", 0, 0, 1.0), ("label", 0, 1)], "is a cut, which has no cluster"),
        ([("label", 0, -1)], "cluster must be at least 0"),
    ],
)
def test_builder_refuses(steps, message):
    builder = TreeBuilder()

    def play():
        for name, *arguments in steps:
            getattr(builder, name)(*arguments)
        builder.build()

    with pytest.raises(ValueError, match=message):
        play()


GOOD = {
    "feature": [0, 1, -1, -1, -1],
    "lower": [-np.inf] * 5,
    "upper": [1.0, 2.0, np.inf, np.inf, np.inf],
    "second": [4, 3, -1, -1, -1],
    "cluster": [-1, -1, 0, 1, 2],
}


@each(
    "changes, message",
    [
        ({"feature": [0, -2, -1, -1, -1]}, "node 1 tests a negative column"),
        ({"feature": [0.0, 1.0, -1.0, -1.0, -1.0]}, "feature must be whole numbers"),
        ({"upper": [np.nan, 2.0, np.inf, np.inf, np.inf]}, "node 0 has a threshold that is not a number"),
        ({"lower": [3.0, *[-np.inf] * 4]}, "node 0 has a lower end above"),
        ({"upper": [1.0, 2.0, 3.0, np.inf, np.inf]}, "node 2 is a leaf with thresholds"),
        ({"second": [4, 3, 1, -1, -1]}, "node 2 is a leaf with a second child"),
        ({"cluster": [-1, -1, -1, 1, 2]}, "node 2 is a leaf without a cluster"),
        ({"cluster": [-1, 7, 0, 1, 2]}, "node 1 is a cut with a cluster"),
        ({"second": [3, 4, -1, -1, -1]}, "not in pre-order"),
        ({"second": [4, 1, -1, -1, -1]}, "not in pre-order"),
        ({"second": [5, 3, -1, -1, -1]}, "not in pre-order"),
        ({key: value[:4] for key, value in GOOD.items()}, "the arrays end at node 3"),
        ({key: value[:2] for key, value in GOOD.items()}, "cut short"),
        ({key: value[2:] for key, value in GOOD.items()}, "ends at node 0, but the arrays hold 3"),
        ({key: [] for key in GOOD}, "must be whole numbers|at least 1"),
        ({"lower": [-np.inf]}, "one length"),
    ],
)
def test_malformed_arrays_are_refused_with_a_reason(changes, message):
    ThresholdTree(**GOOD)
    with pytest.raises(ValueError, match=message):
        ThresholdTree(**{**GOOD, **changes})


@each("remade", [lambda t: t, lambda t: pickle.loads(pickle.dumps(t)), copy.copy, copy.deepcopy])
def test_frozen(remade):
    tree = remade(ThresholdTree.from_dict(TWO_SIDED))
    assert tree == ThresholdTree.from_dict(TWO_SIDED)
    with pytest.raises(AttributeError):
        tree.upper = np.zeros(5)
    for name in ("feature", "lower", "upper", "second", "cluster"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 0
    for name in ("leaf_clusters", "leaf_nodes", "parent", "node_depth", "features"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 0


def test_a_tree_does_not_see_later_changes_of_the_arrays_it_was_made_of():
    upper = np.array(GOOD["upper"])
    tree = ThresholdTree(**{**GOOD, "upper": upper})
    upper[0] = 99.0
    assert tree.upper[0] == 1.0


def test_unequal_trees_and_other_things():
    tree = ThresholdTree(**GOOD)
    assert tree != tree.relabeled([0, 1, 3])
    assert tree != "a tree"
    assert tree.relabeled([2, 1, 0]).leaf_clusters.tolist() == [2, 1, 0]


# --------------------------------------------------------------------------------------------------------- size


def test_a_chain_of_very_many_leaves():
    n = draws(20_000)  # far beyond the depth of Python's recursion
    tree = chain(n - 1, n_columns=3)
    assert (tree.depth, tree.n_leaves) == (n - 1, n)
    assert ThresholdTree.from_json(tree.to_json()) == tree
    assert ThresholdTree.from_dict(tree.to_dict()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.apply([[9e9] * 3, [-1.0] * 3]).tolist() == [n - 1, 0]
    assert len(tree.path(n - 1)) == n - 1
    assert len(tree.boxes()) == n


# ----------------------------------------------------------------------------------------------------- exchange


def test_nested_form():
    tree = ThresholdTree.from_dict(TWO_SIDED)
    assert tree.to_dict() == TWO_SIDED
    assert chain(1).to_dict() == {
        "feature": 0,
        "threshold": 0.0,
        "left": {"leaf": 0, "cluster": 0},
        "right": {"leaf": 1, "cluster": 1},
    }


@given(trees())
def test_round_trips(tree):
    assert ThresholdTree.from_dict(tree.to_dict()) == tree
    again = ThresholdTree.from_json(tree.to_json())
    assert again == tree
    assert np.array_equal(np.signbit(again.upper), np.signbit(tree.upper))  # -0.0 survives


@pytest.mark.parametrize("end", [-0.0, 5e-324, 0.1, 1.7976931348623157e308, math.inf, -math.inf])
def test_thresholds_survive_json(end):
    builder = TreeBuilder()
    for leaf in builder.split(0, 0, upper=math.inf if end == math.inf else 2e308, lower=end):
        builder.label(leaf, 0)
    again = ThresholdTree.from_json(builder.build().to_json())
    assert again.lower[0] == end
    assert math.copysign(1, again.lower[0]) == math.copysign(1, end)


def test_json_is_strict():
    document = json.loads(
        chain(2, n_columns=3).to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON")
    )
    assert (document["format"], document["version"]) == ("boxwood-tree", 1)


LEAF = {"cluster": 0}


@each(
    "text, message",
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a tree of boxwood"),
        ('{"format": "boxwood-tree", "version": 2}', "of format 2"),
        ('{"format": "boxwood-tree", "version": 1}', "list of nodes"),
        ('{"format": "boxwood-tree", "version": 1, "nodes": [7]}', "must be an object"),
        ('{"format": "boxwood-tree", "version": 1, "nodes": [{"cluster": 0}, {"cluster": 1}]}', "holds 2 nodes"),
        (
            '{"format": "boxwood-tree", "version": 1, "nodes": '
            '[{"feature": 0, "threshold": 1, "left": 1, "right": 1}, {"cluster": 0}]}',
            "no other parent",
        ),
        (
            '{"format": "boxwood-tree", "version": 1, "nodes": '
            '[{"feature": 0, "threshold": 1, "left": 0, "right": 1}, {"cluster": 0}]}',
            "a later node",
        ),
    ],
)
def test_json_refused(text, message):
    with pytest.raises(ModelError, match=message):
        ThresholdTree.from_json(text)


@each(
    "d, message",
    [
        ({}, "neither a leaf"),
        ({"cluster": 1.5}, "whole number"),
        ({"cluster": 0, "color": 1}, "unknown keys: color"),
        ({"leaf": 1, "cluster": 0}, "expected leaf 0, got 1"),
        ({"feature": 0, "threshold": 1.0, "left": LEAF}, "lacks right"),
        ({"feature": "a", "threshold": 1.0, "left": LEAF, "right": LEAF}, "feature must be a whole number"),
        ({"feature": 0, "threshold": "x", "left": LEAF, "right": LEAF}, "a threshold is a number"),
        ({"feature": 0, "interval": [1.0], "inside": LEAF, "outside": LEAF}, "two numbers"),
        ({"feature": 0, "interval": [2.0, 1.0], "inside": LEAF, "outside": LEAF}, "holds no value"),
    ],
)
def test_dict_refused(d, message):
    with pytest.raises(ValueError, match=message):
        ThresholdTree.from_dict(d)


# ------------------------------------------------------------------------------------------------------ numbers


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_between_is_strictly_between_where_a_double_is(a, b):
    a, b = min(a, b), max(a, b)
    if a == b:
        return
    middle = between(a, b)
    assert between(np.array([a, a]), np.array([b, b])).tolist() == [middle, middle]
    assert a <= middle < b
    if math.nextafter(a, b) < b:
        assert a < middle


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (44871.25, 45980.0, 45000.0),
        (0.7999, 0.8001, 0.8),
        (-3.0, 2.0, 0.0),
        (590.0, 591.0, 590.0),
        (97.0, 103.0, 100.0),
        (1e-12, 3e-12, 2e-12),
        (-1.26, -1.24, -1.25),
        (5.0, 1000001.0, 500000.0),
        (0.6, 10.2, 5.0),
        (8.0, 12.0, 10.0),
        (0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2),
    ],
)
def test_shortest_between(low, high, expected):
    assert shortest_between(low, high) == expected


def test_shortest_between_does_not_depend_on_the_decimal_context():
    with decimal.localcontext(decimal.Context(prec=6)):
        assert shortest_between(44871.25, 44871.26) == shortest_between(44871.251, 44871.26) == 44871.26


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_shortest_between_is_between_and_no_longer_than_the_ends(a, b):
    low, high = min(a, b), max(a, b)
    number = shortest_between(low, high)
    assert low <= number <= high
    digits = [len(repr(x).split("e")[0].replace(".", "").replace("-", "").strip("0")) for x in (number, low, high)]
    assert digits[0] <= min(digits[1:])


@given(st.data())
def test_shortened_keeps_every_row_on_its_side(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    assert tree.shortened(X).apply(X).tolist() == tree.apply(X).tolist()


@given(st.lists(st.integers(-3, 30), min_size=2, unique=True), st.booleans(), st.data())
def test_shortened_ends_of_whole_numbers_are_whole(values, from_below, data):
    rows = np.array(sorted(values), dtype=np.float64)
    i = data.draw(st.integers(0, len(rows) - 2))
    end = (rows[i] + rows[i + 1]) / 2
    cut = {"feature": 0, "interval": [end, math.inf] if from_below else [-math.inf, end]}
    tree = ThresholdTree.from_dict({**cut, "inside": {"cluster": 0}, "outside": {"cluster": 1}})
    short = tree.shortened(rows[:, None])
    assert float(short.lower[0] if from_below else short.upper[0]).is_integer()
    assert short.apply(rows[:, None]).tolist() == tree.apply(rows[:, None]).tolist()


def test_shortened_reads_well():
    tree = ThresholdTree.from_dict(
        {"feature": 0, "threshold": 10.5, "left": {"cluster": 0}, "right": {"cluster": 1}}
    )  # fmt: skip
    whole, broken = np.array([[7.0], [10.0], [11.0], [20.0]]), np.array([[7.13], [10.02], [11.7], [20.1]])
    assert tree.shortened(whole).upper[0] == 10.0
    assert tree.shortened(broken).upper[0] == 11.0
    assert tree.shortened(np.empty((0, 1))) == tree


def test_only_a_side_without_rows_is_bounded_by_the_whole_table():
    inner = {"feature": 1, "threshold": 98.6, "left": {"cluster": 0}, "right": {"cluster": 1}}
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 5.0, "left": inner, "right": {"cluster": 1}})
    X = np.array([[1.0, 3.0], [2.0, 2.0], [8.0, 98.0], [9.0, 98.9]])
    assert tree.shortened(X).upper.tolist()[:2] == [5.0, 50.0]  # between the node's 3 and the table's 98.9


@given(st.data())
def test_gaps_are_those_of_the_rows_at_a_node_one_by_one(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    left, right = np.full((tree.n_nodes, 2), -np.inf), np.full((tree.n_nodes, 2), np.inf)
    for node, rows, inside in rows_at_nodes(tree, X):
        for end in range(2 if inside is not None else 0):
            column = X[:, tree.feature[node]]
            is_left = column <= tree.upper[node] if end else column < tree.lower[node]
            own, all_rows = set(rows.tolist()), range(len(X))
            below, above = ([i for i in all_rows if is_left[i] == side] for side in (True, False))
            left[node, end] = max((column[i] for i in [*own.intersection(below)] or below), default=-np.inf)
            right[node, end] = min((column[i] for i in [*own.intersection(above)] or above), default=np.inf)
    whole = [j for j in tree.features.tolist() if (X[:, j] == np.floor(X[:, j])).all()]
    assert tree.shortened(X) == shortened_in(tree, left, right, whole)


def test_shortened_keeps_clear_of_float32_where_there_is_room():
    left, right = 0.3, 0.30001
    tree = ThresholdTree.from_dict(
        {"feature": 0, "threshold": 0.300005, "left": {"cluster": 0}, "right": {"cluster": 1}}
    )  # fmt: skip
    threshold = tree.shortened([[left], [right], [7.77]]).upper[0]
    assert np.float32(left) < np.float32(threshold) < np.float32(right)


def test_recut_gives_the_same_leaves_in_other_units():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(500, 2)))
    Z = np.log(X)
    tree = ThresholdTree.from_dict(
        {"feature": 1, "threshold": 0.1, "left": TWO_SIDED["inside"], "right": {"cluster": 5}}
        | {"left": {"feature": 0, "interval": [-0.5, 0.5], "inside": {"cluster": 0}, "outside": {"cluster": 1}}}
    )
    assert tree.recut(X, Z).apply(X).tolist() == tree.apply(Z).tolist()
    with pytest.raises(ValueError, match="not a cut of its column"):
        tree.recut(-X, Z)
    with pytest.raises(ValueError, match="same rows"):
        tree.recut(X[1:], Z)


@each("ends", [10**400, "a", 1j])
def test_thresholds_that_are_no_numbers_are_refused(ends):
    tree = ThresholdTree([0, -1, -1], [-np.inf] * 3, [0.5, np.inf, np.inf], [2, -1, -1], [-1, 0, 1])
    with pytest.raises(DataError, match="lower must be numeric"):
        tree.with_thresholds(ends, tree.upper)
    with pytest.raises(DataError, match="upper must be numeric"):
        tree.with_thresholds(tree.lower, ends)
