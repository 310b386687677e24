"""Labels without a number of leaves: clusters of k-means get one leaf each, others as many as pay on new rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from boxwood import explain, scan
from boxwood._validation import Rows
from boxwood.explanation.ask.steps import _with_fewest
from boxwood.explanation.choose.leaves import CutColumns, _Rows, leaves_that_pay
from boxwood.grow.leaves.impurity import grow_by_impurity
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
    return leaves_that_pay(task_of(X, labels, weights))


@law(12)
def test_the_number_is_that_of_trees_grown_for_each_number_and_fold(seed):
    random, (X, labels) = np.random.default_rng(seed), classes(seed, 150)
    X, labels = np.vstack([X, X[:20]]), np.append(labels, random.integers(0, labels.max() + 1, 20))
    rows, found, k = (
        _Rows.of(CutColumns.of(task_of(X, labels)), labels, np.ones(len(X))),
        pay(X, labels),
        labels.max() + 1,
    )
    ranks, sizes, is_right = rows.columns.values, range(k, 9), []
    for n_leaves in sizes:
        is_right.append(np.zeros(len(rows.labels), dtype=bool))
        for fold in range(5):
            seen, held = rows.fold != fold, rows.fold == fold
            tree = grow_by_impurity(task_of(ranks[seen], rows.labels[seen], rows.weights[seen]), "gini", n_leaves)
            is_right[-1][held] = tree.predict(ranks[held]) == rows.labels[held]
    assert found.right == pytest.approx([each @ rows.weights / len(X) for each in is_right])
    assert found.n_leaves == sizes[enough(is_right, rows, len(X))]
    _, place = np.unique(ranks, axis=0, return_inverse=True)
    assert all(len({*rows.fold[place.ravel() == i]}) == 1 for i in range(place.max() + 1))


def enough(is_right, rows, n):
    """Return the place of the least number of leaves to which no larger one adds enough, row by row."""
    labels = np.repeat(rows.labels, rows.weights.astype(int))
    each = [np.repeat(one, rows.weights.astype(int)).astype(float) for one in is_right]
    sizes = np.bincount(labels)

    def adds(more, few, counts):
        differences = (more - few) * counts
        return differences.sum() if differences.sum() > 2 * np.sqrt((differences**2).sum()) else 0.0

    of_rows, of_clusters = np.full(n, 1 / n), 1 / sizes[labels] / np.count_nonzero(sizes)
    if all(adds(one, (labels == sizes.argmax()).astype(float), of_rows) < 0.01 for one in each):
        return 0
    for i, few in enumerate(each):
        gains = [0.005 * (1 + j - i) for j in range(i + 1, len(each))]
        pairs = list(zip(each[i + 1 :], gains, strict=True))
        if not any(adds(one, few, of_rows) > g or adds(one, few, of_clusters) > 2 * g for one, g in pairs):
            return i
    return len(each) - 1


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


def conditions(random, n):
    """Return rows of words, flags, numbers and dates; two or three conditions, as whether each holds."""
    countries = np.array(["AT", "CH", "DE", "FR"])
    rows = pd.DataFrame(
        {
            "plan": random.choice(["free", "plus", "team"], n),
            "country": random.choice(countries, n),
            "paid": random.integers(0, 2, n),
            "orders": random.poisson(5, n),
            "since": pd.Timestamp("2026-01-01") + pd.to_timedelta(random.integers(0, 300, n), unit="D"),
        }
    )
    kinds = [
        rows["plan"] != "free",
        rows["country"].isin(random.choice(countries, 2, replace=False)),
        rows["paid"] == 1,
        rows["orders"] > 4,
        rows["since"] > "2026-05-01",
    ]
    chosen = random.choice(5, 2 + random.integers(2), replace=False)
    return rows, [kinds[i].to_numpy() for i in chosen]


@law(12)
def test_labels_by_conditions_get_the_leaves_that_they_need(seed):
    """Where all hold, or any, rows are near a mean of their own in columns of 0 and 1, as those of k-means are."""
    random = np.random.default_rng(seed)
    rows, held = conditions(random, 400)
    labels = np.where((np.all, np.any)[seed % 2](held, axis=0), "in", "out")
    ex = explain(rows, labels)
    assert (ex.n_leaves, ex.agreement) == (len(held) + 1, 1.0)
    noisy = np.where(random.random(400) < 0.05, random.choice(["in", "out"], 400), labels)
    ex = explain(rows, noisy)
    assert len(held) + 1 <= ex.n_leaves <= len(held) + 2
    assert np.mean(ex.predict(rows) == labels) >= 0.96


@law(12)
def test_flags_alone_get_the_leaves_that_they_need(seed):
    """There are few different rows, so each is seen in every fold."""
    random = np.random.default_rng(seed)
    flags = pd.DataFrame(random.random((400, 2)) < 0.6, columns=["paid", "near"]).astype(int)
    exactly, both = flags["paid"] ^ flags["near"], flags["paid"] & flags["near"]
    assert [explain(flags, labels.to_numpy()).n_leaves for labels in (both, exactly)] == [3, 4]


@law(12)
def test_a_small_class_gets_a_leaf_that_finds_it(seed):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(600, 4))
    small = (X[:, 0] > 0.6) & (X[:, 1] > 0.75)
    ex = explain(X, np.where(small, "small", "large"))
    assert (ex.n_leaves, ex.agreement) == (3, 1.0)


def test_sets_of_words_are_made_of_the_rows_of_other_folds_alone():
    """Words of two rows tell the labels of these, and nothing of others: no fold gets them right."""
    random = np.random.default_rng(0)
    words = pd.DataFrame({"word": [f"w{i // 2}" for i in range(400)], "x": random.uniform(size=400).round(2)})
    assert explain(words, random.integers(0, 2, 400), categories=["word"]).n_leaves <= 2


@law(8)
def test_clusters_of_k_means_have_one_leaf_each(seed):
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


def test_rows_that_all_lack_a_value_are_no_clusters_of_k_means():
    X, labels = classes(0)
    X[np.arange(len(X)), 2 + np.arange(len(X)) % 2] = np.nan
    ex = explain(pd.DataFrame(X), labels, missing="learn")
    assert any("leaves were taken" in note for note in ex.notes)


@law(4)
def test_a_sample_of_k_means_is_told_by_the_centres_of_all_rows(seed):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(40_000, 4))
    labels = KMeans(10, n_init=1, random_state=seed).fit_predict(X)
    task = task_of(X, labels)
    assert leaves_that_pay(task.sampled(4_000)) is None
    assert leaves_that_pay(task_of(X[:4_000], np.where(X[:4_000, 0] > 0.5, 1, 0) * (X[:4_000, 1] > 0.5))) is not None


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


def test_fewer_leaves_are_searched_for_in_full_only_where_a_short_search_comes_near():
    agreement, short = {6: 0.9, 5: 0.899, 4: 0.897, 3: 0.5}, {5: 0.898, 4: 0.896, 3: 0.4}
    looked_at = []

    def with_leaves(n):
        looked_at.append(n)
        return n, agreement[n]

    assert _with_fewest(with_leaves, 6, 2, short.get) == 4
    assert looked_at == [6, 5, 4]
    assert _with_fewest(with_leaves, 6, 2) == 4
    assert _with_fewest(with_leaves, 6, 2, {**short, 5: 0.1}.get) == 6
