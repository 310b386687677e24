"""Ex-Greedy: equal to its twin, one centre in each leaf, and often cheaper than IMM."""

import numpy as np
import pytest

from boxwood import Reference
from boxwood.errors import DataError
from boxwood.grow import greedy, imm
from boxwood.grow.centers import greedy as _greedy_cuts
from boxwood.grow.shared.costs import PlacesOfNode, integer_costs, make_problem
from boxwood.metrics import cost
from boxwood.reference import Task
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case
from tests.scale import seeds


def cases(n_seeds):
    """Yield cases whose clusters have unequal centres."""
    for seed in seeds(n_seeds):
        X, labels, weights = make_case(seed, max_rows=25, max_columns=3)
        reference = Reference.of(X, labels, sample_weight=weights)
        if len(np.unique(reference.first_of_equal_centers())) == reference.n_clusters:
            yield X, reference, weights


@pytest.mark.parametrize("tie_break", ["first", "margin", "balanced", "random"])
def test_equals_the_twin_on_whole_numbers(tie_break):
    """Small whole numbers have exact squared distances to whole centres, so that the twin can count them."""
    for seed in seeds(200 if tie_break == "first" else 100):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(2, 20)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
        X = rng.integers(0, 6, size=(n, d)).astype(float)
        centers = rng.permutation(np.unique(rng.integers(0, 6, size=(k, d)), axis=0)).astype(float)
        if len(centers) < 2:
            centers = np.array([[0.0] * d, [5.0] * d])
        reference = Reference(rng.integers(len(centers), size=n), centers)
        costs = ((X[:, None] - centers) ** 2).sum(axis=2).astype(int).tolist()
        node = list(range(n)), list(range(len(centers)))
        twin = naive.greedy(X, centers, costs, *node, tie_break, np.random.default_rng(seed))
        options = {"tie_break": tie_break, "random_state": seed}
        assert greedy(X, reference, **options) == ThresholdTree.from_dict(twin), f"seed {seed}"
        assert greedy(X, reference, **options, n_jobs=1) == ThresholdTree.from_dict(twin)


def test_first_cut_equals_the_twin_in_any_numbers():
    for X, reference, weights in cases(200):
        problem = make_problem(Task.of(X, reference, sample_weight=weights), "cost")
        rows = np.flatnonzero(problem.kept)
        costs = dict(zip(rows.tolist(), integer_costs(problem, rows)[0].tolist(), strict=True))
        k = reference.n_clusters
        twin = naive.greedy(X, reference.centers, costs, rows.tolist(), list(range(k)))
        found = greedy(X, reference, sample_weight=weights).to_dict()
        assert (found["feature"], found["threshold"]) == (twin["feature"], twin["threshold"])


def check_cuts(found, X, centers, costs, rows, clusters):
    """Check gaps, costs and numbers of rows and centres of all cuts of a node against the twin."""
    for j in range(X.shape[1]):
        cuts = found.of(j)
        twin = naive.greedy_costs(X, centers, costs, rows, clusters, j)
        assert list(zip(cuts.low.tolist(), cuts.high.tolist(), strict=True)) == list(twin)
        assert cuts.cost.tolist() == list(twin.values())
        assert cuts.rows_left.tolist() == [sum(X[r, j] <= low for r in rows) for low, _ in twin]
        assert cuts.centers_left.tolist() == [sum(centers[c, j] <= low for c in clusters) for low, _ in twin]


@pytest.mark.parametrize("listed", [1, 2, 5, 32])
def test_costs_of_all_cuts_equal_the_twin_however_short_the_lists(listed, monkeypatch):
    """Lists of near centres that end too early, and those of a child, from which centres of its parent are taken."""
    monkeypatch.setattr(_greedy_cuts, "LISTED", listed)
    for seed in seeds(25):
        X, labels, weights = make_case(seed, max_rows=25, max_columns=3)
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 13))
        centers = X[rng.integers(len(X), size=k)] + rng.choice([0.0, 0.5, 3.0], size=(k, 1)) * rng.normal(size=(k, 1))
        reference = Reference(np.where(labels < 0, -1, rng.integers(k, size=len(X))), centers)
        task = Task.of(X, reference, sample_weight=weights)
        problem = make_problem(task, "cost")
        rows, clusters = np.flatnonzero(problem.kept), np.arange(k)
        nearest = _greedy_cuts.Nearest(task, problem, rows)
        places, tested = nearest.order.root, np.zeros((X.shape[1], 2), dtype=np.bool_)
        for _ in range(3):
            costs = dict(zip(rows.tolist(), integer_costs(problem, rows)[0].tolist(), strict=True))
            found = nearest.cuts_at(_greedy_cuts.Node((), rows, places, clusters, tested))
            assert found.cost == sum(min(costs[r][c] for c in clusters) for r in rows)
            check_cuts(found, X.astype(np.float64), reference.centers, costs, rows, clusters)
            nearest.order.is_left[rows] = rng.random(len(rows)) < 0.8
            nearest.order.finish_split(places)
            rows = rows[nearest.order.is_left[rows]]
            places = PlacesOfNode(places.start, places.start + len(rows))
            clusters = clusters[rng.random(len(clusters)) < 0.7]
            if len(clusters) == 0:
                break


def test_each_centre_has_its_leaf():
    for X, reference, weights in cases(150):
        tree = greedy(X, reference, sample_weight=weights)
        assert tree.n_leaves == reference.n_clusters
        assert tree.predict(reference.centers).tolist() == list(range(reference.n_clusters))
        assert greedy(np.asfortranarray(X), reference, sample_weight=weights, n_jobs=1) == tree


def test_cheaper_than_imm_where_clusters_overlap():
    rng = np.random.default_rng(0)
    prices = []
    for _ in range(8):
        labels = rng.integers(8, size=800)
        X = rng.normal(size=(8, 3))[labels] + 0.7 * rng.normal(size=(800, 3))
        reference = Reference.of(X, ((X[:, None] - X[:8]) ** 2).sum(axis=2).argmin(axis=1))
        prices.append(cost(X, greedy(X, reference)) / cost(X, imm(X, reference)))
    assert np.mean(prices) < 1


def test_refused():
    X = np.array([[0.0], [2.0], [1.0], [1.0], [5.0]])
    with pytest.raises(DataError, match="equal centres"):
        greedy(X, Reference.of(X, [0, 0, 1, 1, 2]))
    with pytest.warns(UserWarning, match="merged"):
        assert greedy(X, Reference.of(X, [0, 0, 1, 1, 2]), duplicates="merge").n_leaves == 2
