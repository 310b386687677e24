"""`RandomCuts`: scores of many trees from one pass, the references of each objective, and what is reported."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boxwood import DataError, KMedians, RandomCuts, Reference
from boxwood.grow import random_cuts
from boxwood.grow.centers.random_cuts import score_trees
from boxwood.metrics import best_centers, cost, partition_cost, price_of_explainability
from boxwood.reference import Task
from tests.cases import make_case, single
from tests.scale import seeds, share

OBJECTIVES = ["l1", "l2", "sqeuclidean"]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_changes_of_cost_are_those_of_each_tree_by_itself(objective):
    checked = 0
    for seed in seeds(40):
        X, labels, weights = make_case(seed)
        reference = Reference.of(X, labels) if np.any(np.asarray(labels) != -1) else None
        if reference is None or len(np.unique(reference.centers, axis=0)) < reference.n_clusters:
            continue
        trees = [random_cuts(reference.centers, random_state=s) for s in range(5)]
        options = {"objective": objective, "sample_weight": weights}
        task = Task.of(X, reference, sample_weight=weights)
        cost_of_clusters, changes = score_trees(task, reference.centers, trees, objective=objective)
        least = partition_cost(X, reference.labels, centers=reference.centers, **options)
        assert cost_of_clusters == pytest.approx(least, rel=1e-13)
        for tree, change in zip(trees, changes, strict=True):
            predicted = np.where(reference.kept, tree.predict(X), -1)
            found = partition_cost(X, predicted, centers=reference.centers, **options)
            assert least + change == pytest.approx(found, rel=1e-9, abs=1e-9 * float(np.abs(X).max()) ** 2)
            checked += change != 0
    assert checked > share(60)


def test_changes_depend_neither_on_threads_nor_on_the_order_of_rows():
    X, labels = make_blobs(70_000, 3, centers=6, cluster_std=4, random_state=0)
    X, reference = single(X), Reference.of(single(X), labels)
    trees = [random_cuts(reference.centers, random_state=s) for s in range(20)]
    order = np.random.default_rng(0).permutation(len(X))
    tasks = [Task.of(X, reference, n_jobs=n) for n in (1, 2)]
    tasks.append(tasks[0].of_rows(order))
    one, *others = (score_trees(task, reference.centers, trees) for task in tasks)
    for other in others:
        assert other.cost == one.cost
        np.testing.assert_array_equal(other.changes, one.changes)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_cheapest_of_the_trees_is_kept(objective):
    X, _ = make_blobs(400, 3, centers=6, cluster_std=2.5, random_state=1)
    model = RandomCuts(n_clusters=6, objective=objective, n_trees=30, random_state=4).fit(X)
    assert model.prices_.shape == (30,)
    assert len(np.unique(model.prices_)) > 5
    options = {"objective": objective}
    least = partition_cost(X, model.reference_.labels, centers=model.cluster_centers_, **options)
    assert model.prices_.min() * least == pytest.approx(cost(X, model.tree_, centers=model.cluster_centers_, **options))
    assert model.price_ == price_of_explainability(X, model.tree_, model.reference_, **options)
    assert model.score(X) == -cost(X, model.tree_, centers=model.cluster_centers_, **options) / len(X)
    assert model.prices_.mean() <= model.bound_.value
    more = RandomCuts(n_clusters=6, objective=objective, n_trees=60, random_state=4).fit(X)
    assert np.array_equal(more.prices_[:30], model.prices_)
    assert model.tree_.predict(model.cluster_centers_).tolist() == list(range(6))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_centres_of_the_reference_are_best_for_the_objective(objective):
    X, labels = make_blobs(300, 2, centers=4, random_state=2)
    kmeans = KMeans(4, n_init=1, random_state=0).fit(X)
    for model in (
        RandomCuts(objective=objective, n_trees=3, random_state=0).fit(X, labels),
        RandomCuts(FrozenEstimator(kmeans), objective=objective, n_trees=3, random_state=0).fit(X),
        RandomCuts(KMedians(4, objective="l2", random_state=0), objective=objective, n_trees=3, random_state=0).fit(X),
        RandomCuts(n_clusters=4, objective=objective, n_trees=3, random_state=0).fit(X),
    ):
        best = best_centers(X, model.reference_.labels, 4, objective=objective)
        assert model.cluster_centers_ == pytest.approx(best, abs=1e-3)


def test_kmedians_of_the_objective_is_used_as_it_is():
    X, _ = make_blobs(300, 2, centers=4, random_state=2)
    fitted = KMedians(4, random_state=0).fit(X)
    model = RandomCuts(FrozenEstimator(fitted), n_trees=2, random_state=0).fit(X)
    assert np.array_equal(model.cluster_centers_, fitted.cluster_centers_)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_pipeline_is_explained_by_the_best_centres_in_its_columns(objective):
    X, _ = make_blobs(300, 3, centers=5, cluster_std=3, random_state=3)
    X = np.exp(X / 10) * [1.0, 9.0, 500.0]
    options = {"objective": objective, "n_trees": 10, "random_state": 0}
    model = RandomCuts(make_pipeline(StandardScaler(), KMedians(5, random_state=0)), **options).fit(X)
    Z = model.clusterer_[:-1].transform(X)
    scaled = RandomCuts(**options).fit(Z, model.reference_.labels)
    assert model.prices_ == pytest.approx(scaled.prices_, rel=1e-12)
    assert model.labels_.tolist() == scaled.labels_.tolist()
    raw = best_centers(X, model.reference_.labels, 5, objective=objective)
    assert model.cluster_centers_ == pytest.approx(raw)


@pytest.mark.crossed
@pytest.mark.parametrize("variant", ["fast", "exact"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_guarantee_holds_for_rows_whose_cluster_is_not_the_nearest(objective, variant):
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2)) ** 3
        labels = np.concatenate([np.arange(4), rng.integers(4, size=56)])
        model = RandomCuts(objective=objective, variant=variant, n_trees=50, random_state=seed).fit(X, labels)
        assert model.prices_.mean() <= model.bound_.value
        assert model.prices_.min() < 1  # such a clustering is not the best by far


def test_the_explanation_says_best_mean_worst_and_the_guarantee():
    X, _ = make_blobs(300, 2, centers=5, cluster_std=3, random_state=3)
    model = RandomCuts(n_clusters=5, n_trees=40, random_state=0).fit(X)
    text = model.explanation_.to_text()
    for number in (model.prices_.min(), model.prices_.mean(), model.prices_.max()):
        assert f"{number:.3g}" in text
    assert "40 random trees" in text
    assert "at most 3.083 times the clusters, for any data." in text
    assert "1 random tree " in RandomCuts(n_clusters=5, n_trees=1, random_state=0).fit(X).explanation_.to_text()
    assert model.explanation_.details.draws.bound == model.bound_.value


def test_clusters_with_equal_medians_are_refused_by_name():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [1.0], [9.0]])
    with pytest.raises(DataError, match="a and b"):
        RandomCuts().fit(X, ["a", "a", "a", "b", "b", "b", "c"])


def test_rows_left_out_count_for_nothing():
    X, labels = make_blobs(200, 2, centers=3, random_state=5)
    labels[:40] = -1
    model = RandomCuts(n_trees=5, random_state=0).fit(X, labels)
    alone = RandomCuts(n_trees=5, random_state=0).fit(X[40:], labels[40:])
    assert model.tree_ == alone.tree_
    assert model.prices_ == pytest.approx(alone.prices_)
