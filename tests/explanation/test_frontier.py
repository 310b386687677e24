"""The frontier: every row is what a pruning loses, and nothing that is held out is grown on."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from boxwood import IMM, explain, metrics
from boxwood.errors import DataError
from boxwood.explanation.measure.frontier import best_by_size, way_of
from boxwood.explanation.measure.held_out import parts_held_out
from boxwood.explanation.measure.losses import Distance, Losses
from boxwood.explanation.measure.measure import costs_of
from boxwood.grow import METHODS
from boxwood.grow.grown import Grown
from boxwood.grow.leaves.cart import grow_cart
from boxwood.kernels import Gaussian
from boxwood.reference import Reference, Task
from tests.cases import make_case, tree_on_rows
from tests.explanation.test_pipelines import goods, pipeline
from tests.grow.test_prune import prunings
from tests.models import read_model
from tests.scale import each, seeds


def blobs(seed, n=200, k=4, d=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    return 3 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


def largest_of(ex):
    """Return the larger tree, and the task that it is grown for."""
    evidence = ex._rows()
    leaves = max(4 * ex.n_clusters, 2 * ex.n_leaves)
    task = replace(evidence.task, max_leaf_nodes=leaves)
    return way_of(ex, evidence).grown(task)[0], task


@pytest.mark.parametrize("method", ["auto", "cart", "exkmc", "expand", "imm"])
def test_each_row_is_the_cheapest_pruning_of_its_size_measured_anew(method):
    for seed in seeds(1 if method == "auto" else 4):
        X, y = blobs(seed)
        ex = explain(X, y, method=method)
        tree, task = largest_of(ex)
        frontier = ex.frontier()
        by_size = {each.n_leaves: each for each in prunings(tree, task, frontier.objective)}
        others = [row for row in frontier if not row.is_this]
        assert [row.leaves for row in others] == sorted(n for n in by_size if n > 1)
        for row in others:
            predicted = by_size[row.leaves].predict(X)
            price = metrics.partition_cost(X, predicted) / metrics.partition_cost(X, y)
            assert row.price == pytest.approx(price, rel=1e-9)
            assert row.agreement == pytest.approx((predicted == y).mean())
            assert (row.price_held_out, row.agreement_held_out) == (None, None)
        assert frontier.this[:3] == (ex.n_leaves, ex.price, ex.agreement)
        assert sum(row.is_this for row in frontier) == 1
        assert frontier.n_grown == len(X)


@pytest.mark.parametrize("method", ["auto", "cart", "exkmc"])
def test_prunings_are_rounded_where_the_tree_is(method):
    for seed in seeds(1 if method == "auto" else 3):
        X, y = blobs(seed)
        ex = explain(X, y, method=method, round_thresholds=1)
        tree, task = largest_of(ex)
        short = ex._rows().on_table(tree)
        ends = short.upper[np.isfinite(short.upper)]
        assert [float(f"{end:.0e}") for end in ends] == ends.tolist()
        frontier = ex.frontier()
        others = [row for row in frontier if not row.is_this]
        by_size = {each.n_leaves: each for each in prunings(short, task, frontier.objective)}
        assert [row.leaves for row in others] == sorted(n for n in by_size if n > 1)
        for row in others:
            predicted = by_size[row.leaves].predict(X)
            assert row.agreement == pytest.approx((predicted == y).mean())
            price = metrics.partition_cost(X, predicted) / metrics.partition_cost(X, y)
            assert row.price == pytest.approx(price, rel=1e-9)


def test_digits_that_round_nothing_change_no_row():
    for given, ways in ((blobs(1), {"standardize": True}), ((goods(), pipeline(OneHotEncoder())), {})):
        free, same = (explain(*given, method="cart", round_thresholds=n, **ways).frontier() for n in (None, 17))
        assert [row.leaves for row in free] == [row.leaves for row in same]
        assert [row.agreement for row in free] == pytest.approx([row.agreement for row in same])
        if ways:  # of prunings with equally many mistakes another one may be taken where cuts are pulled back
            assert [row.price for row in free] == pytest.approx([row.price for row in same])


def test_rounded_prunings_are_measured_on_rows_held_out_too():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 1)) * 0.1 + centre for centre in (130.0, 160.0)])
    labels = np.repeat([0, 1], 60)
    ex = explain(X, labels, method="cart", round_thresholds=1)
    assert [row.agreement_held_out for row in ex.frontier(3)] == [0.5]  # no cut of one digit is between them
    free = explain(X, labels, method="cart").frontier(3)
    assert all(row.agreement_held_out == 1 for row in free)


@each("method, objective", [("auto", None), ("cart", None), ("exkmc", None), ("imm", None), ("auto", "agreement")])
def test_from_tree_to_tree_more_leaves_never_agree_less(method, objective):
    """Of each size there is the better tree of two, and one that is left out is beaten by one that is not larger."""
    n_own = 0
    for seed in seeds(6):
        X, y = blobs(seed, k=3 + seed % 5)
        ex = explain(X, y, method=method, **({"objective": objective} if objective else {}))
        known = ex.frontier()
        best, own = best_by_size(ex, known, priced=True)
        sizes, agreements = [row.leaves for row in best], [row.agreement for row in best]
        assert sizes == sorted({*sizes}), seed
        assert all(a <= b for a, b in pairwise(agreements)), seed
        assert best.this == known.this
        task = ex._rows().task
        pruned = {one.n_leaves: one for one in prunings(ex.tree, task, "mistakes")}
        tried = [(row.leaves, row.agreement) for row in known if not row.is_this]
        tried += [(n, float((tree.predict(X) == y).mean())) for n, tree in pruned.items() if 1 < n < ex.n_leaves]
        for row in best:
            if not row.is_this:
                assert row.agreement == pytest.approx(max(share for n, share in tried if n == row.leaves)), seed
        for n, share in tried:
            no_larger = max((row.agreement for row in best if row.leaves <= n), default=0.0)
            is_above = n < ex.n_leaves and share > ex.agreement  # which would make the tree itself one that agrees less
            assert share <= no_larger + 1e-9 or is_above, (seed, n)
        for n in own.ends if own else ():
            row, predicted = next(row for row in best if row.leaves == n), pruned[n].predict(X)
            assert row.price == pytest.approx(metrics.partition_cost(X, predicted) / metrics.partition_cost(X, y))
            n_own += 1
    assert n_own or (method, objective) != ("auto", None)


def test_what_prunings_have_the_least_of_falls_with_every_row():
    for seed in seeds(10):
        X, labels, weights = make_case(seed, max_rows=60)
        ex = explain(X, labels, method="cart", sample_weight=weights)
        agreements = [row.agreement for row in ex.frontier() if not row.is_this]
        assert all(a < b + 1e-12 for a, b in pairwise(agreements)), seed
    X, y = blobs(0)
    ex = explain(X, y, method="exkmc")
    centers = ex._rows().task.reference.centers
    costs = [((X - centers[tree.predict(X)]) ** 2).sum() for tree in prunings(*largest_of(ex), "cost")]
    assert all(a >= b for a, b in pairwise(costs))
    assert len(set(costs)) > 5


@pytest.mark.parametrize("objective", ["sqeuclidean", "l1", "l2", "kernel"])
def test_sums_over_leaves_give_the_cost_of_every_naming(objective):
    kernel = Gaussian(0.05) if objective == "kernel" else None
    distance = Distance("sqeuclidean" if kernel else objective, kernel)
    for seed in seeds(15):
        X, labels, weights = make_case(seed)
        X = X.astype(np.float64)
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
        task = Task.of(X, Reference.of(X, labels, sample_weight=weights), sample_weight=weights)
        tree = tree_on_rows(np.random.default_rng(seed), task.rows.values, task.reference.n_clusters, 6, two_sided=0.3)
        losses, k = Losses(tree, task, task.rows, distance), task.reference.n_clusters
        for draw in range(3):
            clusters = np.random.default_rng(draw).integers(k, size=tree.n_leaves)
            predicted = np.where(task.kept, clusters[tree.apply(X)], -1)
            costs = costs_of(task, Grown(tree, "", distance.objective, kernel), predicted)
            loss, scale = losses.of(clusters), max(1.0, costs.reference)
            assert loss.cost == pytest.approx(costs.tree, abs=1e-7 * scale, rel=1e-7)
            assert loss.reference_cost == pytest.approx(costs.reference, abs=1e-9 * scale)
            weight = np.where(task.kept, 1.0 if weights is None else weights, 0.0)
            assert loss.agreement == pytest.approx(weight[predicted == task.reference.labels].sum() / weight.sum())


def test_far_from_zero_no_digit_of_the_price_is_lost():
    X, y = blobs(1)
    X = np.round(X * 256) / 256  # so that the shift is exact
    near, far = (explain(X + shift, y, method="expand") for shift in (0.0, 2.0**40))
    for a, b in zip(near.frontier(), far.frontier(), strict=True):
        assert b.leaves == a.leaves
        assert b.price == pytest.approx(a.price, rel=1e-9)
        assert b.agreement == a.agreement


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_every_method_has_a_frontier_with_and_without_folds(method):
    X, y = blobs(2, n=60, k=3)
    y = np.where(np.arange(60) % 11 == 0, -1, y)
    ex = explain(X, y, method=method, sample_weight=1 + np.arange(60) % 3)
    frontier = ex.frontier(folds=3)
    assert frontier is ex.frontier() is ex.frontier(3)
    assert all(row.price_held_out >= 0 and 0 <= row.agreement_held_out <= 1 for row in frontier)
    assert str(frontier).count("\n") == len(frontier)
    assert "<- this tree" in str(frontier)
    same_size = [row for row in frontier if row.leaves == ex.n_leaves]
    if method in METHODS and METHODS[method].one_leaf_each:
        assert len(same_size) == 2  # the tree itself is among the prunings, or a better one
        assert same_size[0].agreement >= ex.agreement - 0.05 or same_size[0].price <= ex.price
    assert len(frontier) > 3


@pytest.mark.parametrize("objective", ["cost", "agreement"])
def test_what_decides_stands_first_in_the_table_and_on_the_axis(objective):
    pytest.importorskip("matplotlib")
    X, y = blobs(2, n=60, k=3)
    ex = explain(X, y, objective=objective)
    told = ["price", "agreement"] if objective == "cost" else ["agreement"]  # which alone decides
    header = str(ex.frontier(folds=2)).split("\n")[0]
    assert re.split(" {2,}", header) == ["leaves", *told, *(f"{one}, held out" for one in told)]
    drawn = ex.plot_frontier()
    assert drawn.get_ylabel().startswith(told[0])
    assert ("price" in drawn.get_legend().get_texts()[-1].get_text()) == (objective == "cost")


def test_folds_of_a_tiny_table_by_hand():
    X, y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]), np.array([0, 0, 0, 1, 1, 1])
    clean = explain(X, y, method="cart").frontier(3)
    # two leaves are right on every held-out row, so its groups are the clusters
    assert [(row.leaves, row.price_held_out, row.agreement_held_out) for row in clean] == [(2, 1.0, 1.0)] * 2
    ex = explain(X, [0, 0, 0, 1, 1, 0], method="cart", max_leaf_nodes=3)
    mixed = ex.frontier(2)
    cost, reference_cost = {}, 0.0
    for held in parts_held_out(ex._rows().task, 2):
        stays = np.setdiff1d(np.arange(6), held)
        labels = np.array([0, 0, 0, 1, 1, 0])
        task = Task.of(X[stays], Reference.of(X[stays], labels[stays]), max_leaf_nodes=8)
        trees = prunings(grow_cart(task).tree, task, "mistakes")
        for row in mixed:
            if not row.is_this:
                predicted = trees[min(row.leaves, len(trees)) - 1].predict(X[held])
                own_and_cost = cost.setdefault(row.leaves, [0, 0.0])
                own_and_cost[0] += int((predicted == labels[held]).sum())
                own_and_cost[1] += metrics.partition_cost(X[held], predicted)
        reference_cost += metrics.partition_cost(X[held], labels[held])
    assert len(cost) > 1
    for row in mixed:
        if not row.is_this:
            right, of_groups = cost[row.leaves]
            assert row.agreement_held_out == right / 6
            assert row.price_held_out == pytest.approx(of_groups / reference_cost)


def test_pipelines_categories_and_standardized_columns():
    X, y = blobs(3)
    scaled = make_pipeline(StandardScaler(), KMeans(4, n_init=1, random_state=0))
    for ex in (
        explain(X, scaled, method="imm"),
        explain(X, y, method="exkmc", standardize=True),
        explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6),
        IMM(KMeans(4, n_init=1, random_state=0)).fit(X).explanation_,
    ):
        frontier = ex.frontier(2)
        last = [row for row in frontier if not row.is_this][-1]
        assert last.agreement >= ex.agreement
        assert last.leaves > ex.n_leaves
        assert frontier.this.price == ex.price
        assert frontier.this.agreement_held_out is not None


def test_a_tree_that_was_there_already_has_prunings_and_no_growth_of_its_own():
    X, _ = blobs(4)
    model = IMM(KMeans(4, n_init=1, random_state=0)).fit(X)
    ex = explain(X[:100], model)
    frontier = ex.frontier(2)
    assert frontier.this.agreement_held_out is None
    assert frontier.grown_by == "cart-entropy"
    assert all(row.agreement_held_out is not None for row in frontier if not row.is_this)


@pytest.mark.parametrize("options", [{"method": "cart"}, {"objective": "agreement"}])
def test_it_is_kept_saved_and_asked_for_before_saving(options):
    X, y = blobs(5)
    ex = explain(X, y, **options)
    assert "frontier" not in ex.to_dict()
    frontier = ex.frontier(2)
    again = read_model(ex.to_json())
    assert again == ex
    assert again.frontier() == again.frontier(2) == frontier
    assert list(frontier[:2]) == list(frontier)[:2]
    with pytest.raises(DataError, match=r"call frontier\(3\) before save"):
        again.frontier(3)
    with pytest.raises(DataError, match=r"call frontier\(\) before save"):
        read_model(explain(X, y, method="cart").to_json()).frontier()


@each("folds, error", [(1, ValueError), (-2, ValueError), (101, ValueError), (2.5, TypeError)])
def test_odd_numbers_of_folds_are_refused(folds, error):
    with pytest.raises(error, match="folds must be"):
        explain(*blobs(0, n=20), method="cart").frontier(folds)


def test_more_folds_than_rows_are_refused():
    with pytest.raises(DataError, match="50 folds need as many rows"):
        explain(*blobs(0, n=20), method="cart").frontier(50)


def test_a_tree_with_a_leaf_for_each_cluster_is_not_grown_again(monkeypatch):
    X, y = blobs(6)
    ex = explain(X, y, method="imm")
    calls = []
    where = "boxwood.explanation.choose.on_table.grow_for"
    monkeypatch.setattr(where, lambda *args, **kws: calls.append(args) or 1 / 0)
    assert next(row for row in ex.frontier() if row.leaves == 4)[:3] == pytest.approx(ex.frontier().this[:3])
    assert calls == []
    with pytest.raises(ZeroDivisionError):  # without the rows of a fold it is another tree
        ex.frontier(2)
    with pytest.raises(ZeroDivisionError):
        ex.evaluate(X[:100], y[:100]).frontier()


@pytest.mark.parametrize("method", ["imm", "random_cuts", "kernel_imm"])
def test_an_expansion_of_a_long_table_looks_at_a_sample(method, monkeypatch):
    monkeypatch.setattr("boxwood.explanation.choose.settings.ROWS", 300)
    monkeypatch.setattr("boxwood.explanation.choose.settings.ROWS_PER_LEAF", 1)
    X, y = blobs(7, n=600, k=6, d=2)
    ex = explain(X, y, method=method)
    sampled = ex.frontier()
    assert sampled.n_grown == 300
    assert method != "imm" or all(row.agreement_held_out > 0 for row in ex.frontier(2))
    assert max(row.agreement for row in sampled) > sampled.this.agreement
    assert cuts_of(ex._rows().grow(ex._rows().task).tree) < cuts_of(largest_of(ex)[0])  # begun with that of all rows
    monkeypatch.undo()
    whole = explain(X, y, method=method).frontier()
    assert whole.n_grown == 600
    assert sampled[-1].agreement == pytest.approx(whole[-1].agreement, abs=0.1)


def cuts_of(tree):
    return set(zip(tree.feature.tolist(), tree.lower.tolist(), tree.upper.tolist(), strict=True))
