"""Cuts on the plainer of two columns that say the same: each row stays where it is."""

import numpy as np

import boxwood as bw
from boxwood import Reference
from boxwood.grow.refinement.plainer import on_plainer_columns
from boxwood.reference import Task
from boxwood.reference.budget import NO_BUDGET, Budget
from tests.scale import law


def wages(seed, n=240):
    """Return columns that say the same of two things, twice each, some values missing, and labels by both."""
    rng = np.random.default_rng(seed)
    wage, weight = np.exp(rng.normal(2.0, 0.6, n)).round(2), rng.integers(50, 100, n).astype(float)
    labels = (wage > 7).astype(int) + 2 * (weight > 75)
    X = np.column_stack([np.log(wage), -weight * 2.20462, wage, weight])
    if seed % 2:
        X[np.ix_(rng.random(n) < 0.1, [0, 2])] = np.inf
    return X, labels


@law(30)
def test_rows_stay_where_they_are(seed):
    X, labels = wages(seed)
    order = np.random.default_rng(seed).permutation(4)
    table = X[:, order]
    shown = np.minimum(table, 1e6)
    task = Task.of(shown, Reference.of(shown, labels))
    tree = bw.grow.cart(shown, labels, max_leaf_nodes=6)
    plain = on_plainer_columns(tree, table, task, range(4), NO_BUDGET)
    assert (plain.predict(table) == tree.predict(table)).all()
    if not seed % 2:
        assert {order[j] for j in plain.features} <= {2, 3}


def test_the_order_of_columns_and_rows_does_not_matter():
    X, labels = wages(0)
    names = np.array(["logwage", "minus_lb", "wage", "kg"])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(len(X)), rng.permutation(4)
        ex = bw.explain(X[rows][:, columns], labels[rows], columns=names[columns].tolist())
        assert {ex.columns[j] for j in ex.tree.features} == {"wage", "kg"}
        assert ex.agreement == 1


def test_limits_and_preferred_columns_are_kept():
    X, labels = wages(0)
    X, labels = X[:, [0, 2]], (labels % 2)
    task = Task.of(X, Reference.of(X, labels))
    tree = bw.grow.cart(X[:, :1], labels, max_leaf_nodes=2)

    def column(**limits):
        return on_plainer_columns(tree, X, task, [0, 1], Budget(**limits)).features.tolist()

    assert column() == [1]
    assert column(forbidden=(1,)) == column(max_columns=1) == column(preferred=(0,)) == [0]
    assert on_plainer_columns(tree, X, task, [0], NO_BUDGET) == tree


def test_columns_that_say_nearly_the_same_are_left_alone_where_rows_would_move():
    x = np.arange(200.0)
    near = x + 0.25
    near[99], near[100] = 100.5, 99.5
    X, labels = np.column_stack([near, x]), (near > 100).astype(int)
    task = Task.of(X, Reference.of(X, labels))
    tree = bw.grow.cart(X[:, :1], labels, max_leaf_nodes=2)
    assert on_plainer_columns(tree, X, task, [0, 1], NO_BUDGET) == tree
