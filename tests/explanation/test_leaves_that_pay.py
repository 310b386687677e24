"""Labels without a number of leaves: compact clusters get one leaf each, others as many as pay on new rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from boxwood import explain, scan
from boxwood._validation import Rows
from boxwood.explanation.choose.goal import _Rows, leaves_that_pay
from boxwood.grow.leaves.impurity import grown_by
from boxwood.reference import Reference, Task
from tests.scale import law


def classes(seed, n=400):
    """Return rows, and two or three classes that only a deeper tree finds, with some labels exchanged."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 4)).round(3)
    inner = (np.abs(X[:, 0] - 0.5) < 0.3) & (np.abs(X[:, 1] - 0.5) < 0.35)
    labels = inner.astype(int) + (seed % 2) * (X[:, 2] > 0.8)
    wrong = random.random(n) < 0.05
    labels[wrong] = random.integers(0, labels.max() + 1, wrong.sum())
    return X, labels


def task_of(X, labels, weights=None):
    rows = Rows(np.asarray(X, dtype=np.float64), weights)
    return Task.of(rows, Reference.of(rows, labels))


def pay(X, labels, weights=None):
    task = task_of(X, labels, weights)
    return leaves_that_pay(task, task.rows.values)


@law(12)
def test_the_number_is_that_of_trees_grown_for_each_number_and_fold(seed):
    random, (X, labels) = np.random.default_rng(seed), classes(seed, 150)
    X, labels = np.vstack([X, X[:20]]), np.append(labels, random.integers(0, labels.max() + 1, 20))
    rows, found, k = _Rows.of(X, labels, None), pay(X, labels), labels.max() + 1
    right = []
    for n_leaves in range(k, 9):
        right.append(0.0)
        for fold in range(5):
            seen, held = rows.fold != fold, rows.fold == fold
            tree = grown_by(task_of(rows.ranks[seen], rows.labels[seen], rows.weights[seen]), "gini", n_leaves)
            right[-1] += rows.weights[held][tree.predict(rows.ranks[held]) == rows.labels[held]].sum()
    shares = np.array(right) / len(X)
    error = max(2 * (shares.max() * (1 - shares.max()) / len(X)) ** 0.5, 0.01)
    always = np.bincount(labels).max() / len(X)
    enough = [k + i for i, share in enumerate(shares) if share >= shares.max() - error]
    assert found.right == pytest.approx(shares)
    assert found.n_leaves == (enough[0] if shares.max() > always + error else k)
    _, place = np.unique(rows.ranks, axis=0, return_inverse=True)
    assert all(len({*rows.fold[place.ravel() == i]}) == 1 for i in range(place.max() + 1))


@law(12)
def test_the_number_is_the_same_in_any_order_and_for_any_scale(seed):
    random, (X, labels) = np.random.default_rng(seed), classes(seed)
    found, order = pay(X, labels), random.permutation(len(X))
    again = pay(X[order] * [1e-200, 1e200, 1.0, 7.0], labels[order])
    assert found.n_leaves == again.n_leaves > found.sizes[0]
    assert (found.right == again.right).all()
    twice = pay(np.repeat(X, 2, axis=0), np.repeat(labels, 2))
    weighted = pay(X, labels, np.full(len(X), 2.0))
    assert (twice.right == weighted.right).all()


@law(8)
def test_every_door_takes_as_many_leaves(seed, tmp_path):
    X, labels = classes(seed)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=labels)
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = explain(frame.drop(columns="label"), labels)
    assert expected.n_leaves > labels.max() + 1
    assert any("leaves were taken" in note for note in expected.notes)
    for table in (frame, scan(tmp_path / "rows.parquet")):
        ex = explain(table, "label")
        assert (ex.n_leaves, ex.agreement) == (expected.n_leaves, expected.agreement)
    worded = explain(frame.assign(word=np.where(X[:, 3] > 0.5, "x", "y")), "label")
    assert worded.n_leaves == expected.n_leaves


@law(8)
def test_compact_clusters_have_one_leaf_each(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 3)) * [1.0, 1.0, 1000.0]
    scaled = KMeans(3, n_init=2, random_state=seed).fit_predict(X / [1.0, 1.0, 1000.0])
    for labels in (KMeans(3, n_init=2, random_state=seed).fit_predict(X), scaled):
        ex = explain(X, labels)
        assert ex.n_leaves <= 3
        assert not any("leaves were taken" in note for note in ex.notes)


@law(40)
def test_weights_whose_sum_is_rounded_change_no_number(seed):
    random = np.random.default_rng(seed)
    X, labels = np.column_stack([np.arange(60) // 20, random.uniform(size=60)]), np.arange(60) // 20 % 2
    found = pay(X, labels, random.choice([0.1, 0.2, 0.3, 0.7, 1 / 3], 60))
    assert found.right.max() == pytest.approx(1.0)
    assert found.n_leaves > found.sizes[0]


def test_rows_that_all_lack_a_value_are_no_compact_clusters():
    X, labels = classes(0)
    X[np.arange(len(X)), 2 + np.arange(len(X)) % 2] = np.nan
    ex = explain(pd.DataFrame(X), labels, missing="learn")
    assert any("leaves were taken" in note for note in ex.notes)


def test_labels_that_follow_from_nothing_seldom_get_more_leaves():
    random, more = np.random.default_rng(0), 0
    for _ in range(30):
        found = pay(random.normal(size=(200, 3)), random.integers(0, 2, 200))
        more += found.n_leaves > found.sizes[0]
    assert more <= 4


def test_what_is_named_decides():
    X, labels = classes(1)
    k = labels.max() + 1
    assert explain(X, labels).n_leaves > k
    assert explain(X, labels, max_leaf_nodes=k).n_leaves <= k
    assert explain(X, labels, objective="agreement").n_leaves <= k
    assert explain(X, labels, method="cart").n_leaves <= k
    assert explain(X, labels, max_depth=2).n_leaves <= 4
    assert set(explain(X, labels, forbidden=["x1"]).tree.features.tolist()) <= {0, 2, 3}


@law(6)
def test_of_words_the_larger_tree_begins_with_the_smaller_one_and_keeps_its_limits(seed):
    random, (X, labels) = np.random.default_rng(seed), classes(seed)
    frame = pd.DataFrame(X, columns=list("abcd"))
    words = random.permutation(list("pqrst"))
    frame["a"] = words[(X[:, 0] * 5).astype(int).clip(0, 4)]
    frame = frame.mask(random.random(frame.shape) < 0.05)
    for limits in ({}, {"max_columns": 2}, {"min_samples_leaf": 20}):
        few, many = (explain(frame, labels, max_leaf_nodes=n, **limits) for n in (int(labels.max()) + 1, None))
        assert many.agreement >= few.agreement
        assert len(many.tree.features) <= limits.get("max_columns", 4)
        assert min(leaf.size for leaf in many.leaves) >= limits.get("min_samples_leaf", 1)
