"""Refinement: equal to its twin, never dearer, and the same shape."""

import time

import numpy as np
import pytest

from boxwood import Reference, _threads
from boxwood.grow import expand, imm, refine
from boxwood.grow.refinement import _recut
from boxwood.grow.refinement import _recut as _recut_search
from boxwood.grow.refinement._recut import RefinementState
from boxwood.grow.refinement.refine import refine_tree, refined_with_centers
from boxwood.grow.shared.costs import make_problem, scale_for
from boxwood.grow.shared.names import centers_reached, with_honest_names
from boxwood.metrics import cost
from boxwood.reference import Task
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case, tree_on_rows
from tests.scale import seeds

OBJECTIVES = ("cost", "mistakes")


def surrogate(tree, X, reference, objective, weights=None):
    kept = reference.kept
    clusters, weights = tree.predict(X[kept]), np.ones(len(X)) if weights is None else weights
    if objective == "mistakes":
        return np.sum(weights[kept] * (clusters != reference.labels[kept]))
    return np.sum(weights[kept, None] * (X[kept].astype(float) - reference.centers[clusters]) ** 2)


def exact_costs(X, reference, weights, objective):
    """Return the weighted costs (n, k) as Python's whole numbers; for "cost" values, centres and weights are whole."""
    each = np.ones(len(X), dtype=int) if weights is None else weights.astype(int)
    if objective == "mistakes":
        of_row = [[int(label != c) for c in range(reference.n_clusters)] for label in reference.labels.tolist()]
    else:
        of_row = [[sum(int(v) ** 2 for v in x - c) for c in reference.centers] for x in X.astype(float)]
    return [[int(w) * cost for cost in costs] for w, costs in zip(each, of_row, strict=True)]


def whole_case(seed, objective, max_rows=25):
    """Return a table, its clusters and whole weights; for "cost" all values and centres are small whole numbers."""
    X, labels, weights = make_case(seed, max_rows=max_rows)
    weights, rng = None if weights is None else np.ceil(weights), np.random.default_rng(seed)
    if objective == "mistakes":
        return X, Reference.of(X, labels), weights
    X = rng.integers(0, 9, size=X.shape).astype(float) + 3 * labels[:, None]
    return X, Reference(labels, rng.integers(0, 20, size=(labels.max() + 1, X.shape[1])).astype(float)), weights


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equals_the_twin(objective):
    for seed in seeds(150):
        X, reference, weights = whole_case(seed, objective)
        rng, kept = np.random.default_rng(seed), reference.kept
        tree = tree_on_rows(rng, X, reference.n_clusters, int(rng.integers(1, 7)))
        costs = [each for each, k in zip(exact_costs(X, reference, weights, objective), kept, strict=True) if k]
        twin = naive.refine(tree.to_dict(), X[kept], costs, reference.labels[kept])
        found = refine(tree, X, reference, objective=objective, sample_weight=weights)
        assert found == ThresholdTree.from_dict(twin), f"seed {seed}"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equals_the_twin_however_the_work_is_done(objective, monkeypatch):
    for large, few, kept_bytes, block, long in (
        (1, 0, 0, 7, 10**9),
        (1, 10**9, 1 << 28, 1000, 0),
        (3, 16, 2000, 3, 10**9),
        (2, 16, 1 << 28, 1000, 0),
    ):
        monkeypatch.setattr("boxwood.reference.bins.LONG", long)  # rows above which no column is sorted for its bins
        monkeypatch.setattr(_recut_search, "_LARGE", large)  # rows from which bins are used
        monkeypatch.setattr(_recut_search, "_FEW", few)
        monkeypatch.setattr(_recut, "_CACHE_BYTES", kept_bytes)
        monkeypatch.setattr(_recut, "BLOCK_ROWS", block)
        monkeypatch.setattr(_threads, "BLOCK_ROWS", block)
        for seed in seeds(30, first=large):
            X, reference, weights = whole_case(seed, objective, max_rows=40)
            tree, kept = tree_on_rows(np.random.default_rng(seed), X, reference.n_clusters, 8), reference.kept
            costs = [each for each, k in zip(exact_costs(X, reference, weights, objective), kept, strict=True) if k]
            twin = naive.refine(tree.to_dict(), X[kept], costs, reference.labels[kept])
            found = refine(tree, X, reference, objective=objective, sample_weight=weights, n_jobs=1 + seed % 2)
            assert found == ThresholdTree.from_dict(twin), f"seed {seed}"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equals_the_twin_where_plain_sums_leave_doubts(objective, monkeypatch):
    monkeypatch.setattr(_recut, "SUM_ERROR", 0.3)  # sums of two exponents are in doubt then, and are made exact
    exact = []
    monkeypatch.setattr(_recut, "scale_for", lambda total: exact.append(1) or scale_for(total))
    for seed in seeds(30):
        X, reference, weights = whole_case(seed, objective, max_rows=40)
        tree, kept = tree_on_rows(np.random.default_rng(seed), X, reference.n_clusters, 8), reference.kept
        costs = [each for each, k in zip(exact_costs(X, reference, weights, objective), kept, strict=True) if k]
        twin = naive.refine(tree.to_dict(), X[kept], costs, reference.labels[kept])
        assert refine(tree, X, reference, objective=objective, sample_weight=weights) == ThresholdTree.from_dict(twin)
    assert exact


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_never_dearer_of_the_same_shape_and_honest(objective):
    for seed in seeds(60):
        X, labels, weights = make_case(seed)
        reference, rng = Reference.of(X, labels), np.random.default_rng(seed)
        if weights is not None and seed % 3 == 0:
            weights[rng.random(len(X)) < 0.2] = 0.0
            weights[0] += labels[0] >= 0
        kept = reference.kept if weights is None else reference.kept & (weights > 0)
        if not kept.any():
            continue
        tree = tree_on_rows(rng, X, reference.n_clusters, 6)
        better = refine(tree, X, reference, objective=objective, sample_weight=weights)
        tree = with_honest_names(tree, Task.of(X, reference, sample_weight=weights), objective)
        before, after = (surrogate(t, X, reference, objective, weights) for t in (tree, better))
        assert after <= before * (1 + 1e-12)
        assert better.second.tolist() == tree.second.tolist()
        assert set(better.leaf_clusters) >= set(tree.leaf_clusters)
        assert set(better.apply(X[kept])) >= set(tree.apply(X[kept]))
        assert_honest(better, X[kept], reference.labels[kept])
        order = rng.permutation(len(X))
        moved = Reference(labels[order], reference.centers)
        weights = None if weights is None else weights[order]
        again = refine(tree, X[order], moved, objective=objective, sample_weight=weights, n_jobs=1)
        assert again == better


def assert_honest(tree, X, labels):
    """Every leaf with rows holds a row of its cluster."""
    leaf = tree.apply(X)
    assert set(leaf) == set(leaf[tree.leaf_clusters[leaf] == labels])


def task_and_tree(seed):
    """Return a case, its task, and a random tree of six leaves."""
    case = make_case(seed)
    reference = Reference.of(case.X, case.labels)
    task = Task.of(case.X, reference, sample_weight=case.weights)
    return case, task, tree_on_rows(np.random.default_rng(seed), case.X, reference.n_clusters, 6)


def test_honest_with_the_centres_of_its_own_clusters():
    for seed in seeds(60):
        (X, labels, weights), task, tree = task_and_tree(seed)
        better = refined_with_centers(tree, task)
        assert_honest(better, X[task.kept], labels[task.kept])
        before, after = (own_cost(t, X, labels, weights) for t in (with_honest_names(tree, task, "cost"), better))
        assert after <= before * (1 + 1e-9) + 1e-9


def test_rounds_end_where_new_centres_gain_little():
    for seed in seeds(24):
        (X, labels, weights), task, tree = task_and_tree(seed)
        whole, one = refined_with_centers(tree, task, max_sweeps=1), refined_with_centers(tree, task, max_rounds=1)
        assert refined_with_centers(tree, task, max_sweeps=1, tol=0.0) == whole
        assert refined_with_centers(tree, task, tol=2.0) == one  # no gain is as large
        early = refined_with_centers(tree, task, max_sweeps=1, tol=0.05)
        costs = [own_cost(each, X, labels, weights) for each in (whole, early, with_honest_names(tree, task, "cost"))]
        assert costs[1] <= costs[2] * (1 + 1e-9) + 1e-9


def test_the_gain_of_new_centres_is_what_the_cost_falls_by():
    for seed in seeds(60):
        (X, *_), task, tree = task_and_tree(seed)
        tree, reference = with_honest_names(tree, task, "cost"), task.reference
        draft = RefinementState(tree, task, make_problem(task, "cost"))
        means = centers_reached(tree, task)
        before, after = (cost_about(each, tree, X, task) for each in (reference.centers, means))
        assert draft.gain_of(means) == pytest.approx(1 - after / before if before > 0 else 0.0, abs=1e-4)


def cost_about(centers, tree, X, task):
    """Return the sum of the weighted squared distances of the kept rows to the centres of their leaves' clusters."""
    weights = np.ones(len(X)) if task.rows.weights is None else task.rows.weights
    squares = np.square(X - centers[tree.predict(X)]).sum(axis=1)
    return float((squares * weights)[task.kept].sum())


def own_cost(tree, X, labels, weights):
    kept = labels >= 0
    return cost(X[kept], tree, sample_weight=None if weights is None else weights[kept])


def test_stops_at_the_deadline():
    X, labels, _ = make_case(3)
    task, rng = Task.of(X, Reference.of(X, labels)), np.random.default_rng(3)
    tree = with_honest_names(tree_on_rows(rng, X, labels.max() + 1, 6), task, "cost")
    past = time.monotonic() - 1
    assert refine_tree(tree, task, "cost", deadline=past) == refined_with_centers(tree, task, deadline=past) == tree
    later = time.monotonic() + 1000
    assert refined_with_centers(tree, task, deadline=later) == refined_with_centers(tree, task)
    first = refine_tree(tree, task, "cost", max_sweeps=1)
    assert refined_with_centers(tree, task, max_rounds=0) == tree
    assert surrogate(first, X, task.reference, "cost") <= surrogate(tree, X, task.reference, "cost") * (1 + 1e-12)


def test_each_cut_is_the_best_given_the_others():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=300)
    X = 2.0 * rng.normal(size=(4, 3))[labels] + rng.normal(size=(300, 3))
    reference = Reference.of(X, labels)
    tree = refine(imm(X, reference), X, reference, max_sweeps=100)
    lowest = surrogate(tree, X, reference, "cost")
    for node in np.flatnonzero(tree.feature >= 0):
        for j in range(3):
            for threshold in np.sort(X[:, j]):
                feature, upper = tree.feature.copy(), tree.upper.copy()
                feature[node], upper[node] = j, threshold
                other = ThresholdTree(feature, tree.lower, upper, tree.second, tree.cluster)
                if len(np.unique(other.apply(X))) == tree.n_leaves:
                    assert surrogate(other, X, reference, "cost") >= lowest * (1 - 1e-12)


def test_whole_weights_are_repeated_rows():
    for seed in seeds(100):
        X, labels, _ = make_case(seed)
        reference, rng = Reference.of(X, labels), np.random.default_rng(seed)
        tree, repeats = tree_on_rows(rng, X, reference.n_clusters, 5), rng.integers(1, 4, size=len(X))
        rows = np.repeat(np.arange(len(X)), repeats)
        repeated = Reference(labels[rows], reference.centers)
        assert refine(tree, X, reference, sample_weight=repeats) == refine(tree, X[rows], repeated)


def test_lowers_the_cost_of_imm():
    rng = np.random.default_rng(1)
    labels = rng.integers(6, size=2000)
    X = 2.0 * rng.normal(size=(6, 4))[labels] + rng.normal(size=(2000, 4))
    reference = Reference.of(X, labels)
    tree = imm(X, reference)
    assert cost(X, refine(tree, X, reference)) < cost(X, tree)


def test_two_sided_cuts_stay():
    X = np.arange(12.0)[:, None]
    reference = Reference.of(X, [0, 0, 0, 1, 1, 1, 0, 0, 2, 2, 2, 2])
    tree = expand(None, X, reference, max_leaf_nodes=3, objective="mistakes", cuts="interval")
    assert np.isfinite(tree.lower).any()
    assert refine(tree, X, reference, objective="mistakes").lower.tolist() == tree.lower.tolist()


def test_refused():
    X, tree = np.array([[0.0], [1.0]]), ThresholdTree.from_dict({"cluster": 5})
    with pytest.raises(ValueError, match="max_sweeps must be at least 1"):
        refine(tree, X, Reference.of(X, [0, 1]), max_sweeps=0)
    with pytest.raises(ValueError, match="the tree has cluster 5"):
        refine(tree, X, Reference.of(X, [0, 1]))
