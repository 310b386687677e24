"""Cuts that ask for a set of codes."""

import pickle

import numpy as np
import pytest

from boxwood import ThresholdTree, TreeBuilder
from boxwood.axes.maps import AxisMap
from boxwood.errors import DataError, ModelError
from boxwood.metrics import readability
from boxwood.tree.merge import merge_leaves
from tests.naive.trees import leaf_of
from tests.scale import law, seeds

CODES = 6


def random_tree(rng, leaves=6):
    """Columns 0 and 2 hold codes, column 1 numbers."""
    builder, open_leaves = TreeBuilder(), [0]
    while len(open_leaves) < leaves:
        node = open_leaves.pop(int(rng.integers(len(open_leaves))))
        feature = int(rng.integers(3))
        if feature == 1:
            open_leaves += builder.split(node, 1, float(rng.integers(10)) / 2)
        else:
            codes = np.flatnonzero(rng.random(CODES) < 0.5)
            open_leaves += builder.split_set(node, feature, codes.tolist() or [int(rng.integers(CODES))])
    for node in open_leaves:
        builder.label(node, int(rng.integers(3)))
    return builder.build()


def random_rows(rng, n=60):
    return np.column_stack([rng.integers(0, CODES, n), rng.integers(0, 11, n) / 2, rng.integers(0, CODES, n)]).astype(
        float
    )


@law(80)
def test_rows_go_where_the_nested_dicts_say(seed):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(rng), random_rows(rng)
    assert tree.apply(X).tolist() == [leaf_of(tree.to_dict(), row)["leaf"] for row in X]


@law(80)
def test_each_row_is_in_the_box_of_its_leaf_alone(seed):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(rng), random_rows(rng)
    boxes = tree.boxes()
    for row, leaf in zip(X, tree.apply(X), strict=True):
        inside = [all(any(row[j] in each for each in allowed) for j, allowed in box.items()) for box in boxes]
        assert np.flatnonzero(inside).tolist() == [leaf]


@law(40)
def test_kept_and_read_again(seed):
    tree = random_tree(np.random.default_rng(seed))
    copies = (
        ThresholdTree.from_dict(tree.to_dict()),
        ThresholdTree.from_json(tree.to_json()),
        pickle.loads(pickle.dumps(tree)),
    )
    assert all(copy == tree and hash(copy) == hash(tree) for copy in copies)


@law(60)
def test_merged_trees_predict_alike(seed):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(rng, 9), random_rows(rng)
    less = merge_leaves(tree)
    assert less.n_leaves <= tree.n_leaves
    assert (less.predict(X) == tree.predict(X)).all()


@law(60)
def test_shortened_trees_predict_alike_and_keep_sets(seed):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(rng), random_rows(rng)
    short = tree.shortened(X)
    assert (short.apply(X) == tree.apply(X)).all()
    assert (short.members == tree.members).all()


class Images(AxisMap):
    """Column 0 is a number; each code of column 1 has some numbers."""

    def __init__(self, images):
        self.images, self.n_features = images, 2
        self.features = np.array([0] + [1] * images.shape[1])

    def transform(self, X):
        X = np.asarray(X.values if hasattr(X, "values") else X, dtype=float)
        return np.column_stack([X[:, 0], self.images[X[:, 1].astype(int)]])

    def pull_back(self, column, lower, upper):
        if column == 0:
            return 0, ((lower, upper),)
        images = self.images[:, column - 1]
        return 1, tuple((float(c), float(c)) for c in np.flatnonzero((lower <= images) & (images <= upper)))

    def domain(self, feature):
        return tuple((float(c), float(c)) for c in range(len(self.images))) if feature else super().domain(feature)


@law(60)
def test_a_cut_on_images_of_codes_is_one_cut(seed):
    rng = np.random.default_rng(seed)
    axis_map = Images(rng.integers(0, 5, (CODES, 2)).astype(float))
    X = np.column_stack([rng.integers(0, 9, 80) / 2, rng.integers(0, CODES, 80)])
    builder, leaves = TreeBuilder(), [0]
    while len(leaves) < 6:
        node, column = leaves.pop(int(rng.integers(len(leaves)))), int(rng.integers(3))
        leaves += builder.split(node, column, float(rng.integers(4)) + 0.5)
    for i, node in enumerate(leaves):
        builder.label(node, i)
    tree = builder.build()
    for rows in (X, None):
        back = tree.pull_back(axis_map, rows)
        assert back.n_leaves <= tree.n_leaves
        assert (back.predict(X) == tree.predict(axis_map.transform(X))).all()


def test_a_run_of_codes_is_an_interval():
    builder = TreeBuilder()
    first, second = builder.split_set(0, 0, [3, 1, 2])
    builder.label(first, 0), builder.label(second, 1)
    tree = builder.build()
    assert not tree.has_sets
    assert (tree.lower[0], tree.upper[0]) == (1, 3)


def test_a_missing_code_is_refused():
    tree = random_tree(np.random.default_rng(1))
    with pytest.raises(DataError, match="NaN in a tested column"):
        tree.predict(np.full((1, 3), np.nan))


@pytest.mark.parametrize("values", [[2], [1, 2], [2, 0], [0, 0, 2], [-1, 3], ["a", "b"], 3, [0, 1 << 20], [0, 2.0]])
def test_values_that_are_no_set_are_refused(values):
    with pytest.raises(ModelError, match="ascending codes"):
        ThresholdTree.from_dict({"feature": 0, "values": values, "in": {"cluster": 0}, "out": {"cluster": 1}})


def test_arrays_that_are_no_set_are_refused():
    arrays = [0, -1, -1], [0.0, -np.inf, -np.inf], [2.0, np.inf, np.inf], [2, -1, -1], [-1, 0, 1]
    good = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    assert ThresholdTree(*arrays, good).has_sets
    for bad in (np.ones((3, 3), bool), good[:2], np.roll(good, 1, axis=0), good[:, :2], np.eye(3, dtype=bool)):
        with pytest.raises(ValueError, match=r"node|members"):
            ThresholdTree(*arrays, bad)


def test_what_was_tried():
    trees = [random_tree(np.random.default_rng(seed)) for seed in seeds(40, least=10)]
    assert sum(tree.has_sets for tree in trees) > len(trees) / 2


def test_a_set_is_one_condition():
    builder = TreeBuilder()
    first, second = builder.split_set(0, 0, [0, 2, 5])
    third, fourth = builder.split(second, 1, 3.0)
    for i, node in enumerate((first, third, fourth)):
        builder.label(node, i)
    found = readability([[0.0, 0.0], [1.0, 0.0], [1.0, 9.0], [2.0, 0.0]], builder.build())
    assert found.weighted_average_explanation_size == (1 + 2 + 2 + 1) / 4
