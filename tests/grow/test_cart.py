"""CART: scikit-learn's tree on the labels, row for row, also where float32 cannot hold the rows."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boxwood.errors import DataError
from boxwood.grow import cart
from tests.cases import make_case
from tests.scale import seeds, share


def kept_of(labels, weights):
    return labels >= 0 if weights is None else (labels >= 0) & (weights > 0)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_predicts_as_scikit_learn_does_on_the_training_rows(criterion):
    n_cuts = 0
    for seed in seeds(60):
        X, labels, weights = make_case(seed)
        if weights is not None and seed % 3 == 0:
            weights[seed % len(X)] = 0
        kept = kept_of(labels, weights)
        theirs = DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=2 + seed % 7, random_state=seed)
        kept_weights = np.ones(kept.sum()) if weights is None else weights[kept]
        order = np.lexsort((kept_weights, labels[kept], *X[kept].astype(np.float32).T))
        theirs.fit(X[kept][order], labels[kept][order], kept_weights[order])
        options = {"criterion": criterion, "random_state": seed, "sample_weight": weights}
        tree = cart(X, labels, max_leaf_nodes=2 + seed % 7, **options)
        assert np.array_equal(tree.predict(X[kept]), theirs.predict(X[kept])), seed
        assert tree.n_leaves == theirs.get_n_leaves()
        assert tree == tree.recut(X[kept], X[kept])  # thresholds are midpoints of the gaps that these rows leave
        n_cuts += tree.n_leaves - 1
    assert n_cuts > share(100)


def test_the_order_of_rows_that_weigh_far_more_than_others_changes_nothing():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        X, weights = rng.integers(0, 6, (14, 1)).astype(float), 10.0 ** rng.uniform(-9, 9, 14)
        labels = (X[:, 0] + rng.integers(0, 2, 14) > 3).astype(int)
        tree = cart(X, labels, max_leaf_nodes=10, sample_weight=weights)
        order = rng.permutation(14)
        assert cart(X[order], labels[order], max_leaf_nodes=10, sample_weight=weights[order]) == tree, seed


def test_a_threshold_that_float32_puts_on_the_wrong_side_is_moved():
    step = 2.0**-21  # between float32 values; halves are rounded to even, so the third value to 4 + 2 * step
    X, labels = 4 + step * np.array([[1.0], [1.0], [1.5], [2.0]]), [0, 0, 1, 1]
    theirs = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X, labels)
    assert X[2, 0] <= theirs.tree_.threshold[0]
    tree = cart(X, labels, max_leaf_nodes=2)
    assert tree.predict(X).tolist() == theirs.predict(X).tolist() == labels
    assert tree.upper[0] == 4 + 1.25 * step


def test_values_that_float32_cannot_tell_apart_stay_together():
    X = 1e12 + np.array([[0.0], [1.0], [0.0], [1.0]])
    assert cart(X, [0, 1, 0, 1], max_leaf_nodes=4).n_leaves == 1
    X = np.column_stack([X[:, 0], [1e12, 1e12, 2e12, 2e12]])
    assert cart(X, [0, 0, 1, 1], max_leaf_nodes=4).predict(X).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("size", [1e30, 1e38, 1e39, 1e200, 1.7e308])
def test_columns_beyond_the_range_of_float32(size):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(50, 3))
    labels = (X[:, 1] > 0.1) + 2 * (X[:, 2] > -0.3)
    theirs = DecisionTreeClassifier(max_leaf_nodes=9, random_state=0).fit(X, labels)
    exponents = np.frexp([size, 1.0, size])[1] - 1
    X_large = np.ldexp(X, exponents)
    tree = cart(X_large, labels, max_leaf_nodes=9)
    assert np.array_equal(tree.predict(X_large), theirs.predict(X))
    assert np.array_equal(tree.predict(X_large), labels)


def test_one_leaf_where_there_is_no_cut():
    assert cart([[1.0], [2.0]], [3, 3], max_leaf_nodes=5).to_dict() == {"leaf": 0, "cluster": 3}
    assert cart([[1.0], [1.0], [1.0]], [2, 0, 2], max_leaf_nodes=5).to_dict() == {"leaf": 0, "cluster": 2}
    assert cart([[1.0], [2.0], [3.0]], [1, 1, 0], max_leaf_nodes=1).to_dict() == {"leaf": 0, "cluster": 1}
    assert cart([[1.0]], [0], max_leaf_nodes=2).n_leaves == 1


def test_rows_left_out_do_not_matter():
    X, labels = np.array([[0.0], [1.0], [2.0], [3.0], [9e300]]), np.array([0, 0, 1, 1, -1])
    tree = cart(X, labels, max_leaf_nodes=2)
    assert tree.upper[0] == 1.5
    assert tree == cart(X, np.abs(labels), max_leaf_nodes=2, sample_weight=[1, 1, 1, 1, 0])
    assert tree == cart(X, labels, max_leaf_nodes=2, sample_weight=np.full(5, 1e308))
    assert tree == cart(X, labels, max_leaf_nodes=2, sample_weight=np.full(5, 1e-308))


def test_a_chain_as_deep_as_it_has_leaves():
    n = 3000
    X = np.arange(float(n))[:, None]
    weights = 2.0 ** -np.minimum(np.arange(n), 900.0)
    tree = cart(X, np.arange(n) % 2, max_leaf_nodes=n, sample_weight=weights)
    assert tree.depth == tree.n_leaves - 1 > 500


def test_bad_parameters_and_data():
    X = [[0.0], [1.0]]
    with pytest.raises(ValueError, match="max_leaf_nodes must be at least 1"):
        cart(X, [0, 1], max_leaf_nodes=0)
    with pytest.raises(ValueError, match="criterion"):
        cart(X, [0, 1], max_leaf_nodes=2, criterion="cost")
    for labels in ([0], [0.0, 1.0], ["a", "b"], [[0, 1]]):
        with pytest.raises(DataError, match="labels must be whole numbers, one for each of 2 rows"):
            cart(X, labels, max_leaf_nodes=2)
    with pytest.raises(DataError, match="labels must be from 0, or -1"):
        cart(X, [0, -2], max_leaf_nodes=2)
    with pytest.raises(DataError, match="every row is left out"):
        cart(X, [0, -1], max_leaf_nodes=2, sample_weight=[0, 1])
