"""Facts of k-means that the bounds rest on, and a local optimum of Lloyd's algorithm."""

import math

import numpy as np
import pytest
from sklearn.cluster import KMeans

from boxwood import ThresholdTree
from boxwood.clusterers import _kernel_k_means as steps
from boxwood.kernels import Linear
from boxwood.metrics import partition_cost, price_of_explainability
from boxwood.theory import instances
from tests import naive
from tests.scale import draws, seeds


@pytest.mark.parametrize("e", [1e-3, 0.1, 0.4, 0.5])
def test_six_points(e):
    """Lloyd's algorithm leaves the centres; the best three clusters are the pairs."""
    six = instances.local_optimum(e)
    fitted = KMeans(3, init=six.centers, n_init=1).fit(six.points)
    assert fitted.cluster_centers_ == pytest.approx(six.centers)
    assert fitted.labels_.tolist() == six.reference.labels.tolist()
    assert partition_cost(six.points, six.reference.labels) == pytest.approx(six.exact["cost"])
    assert fitted.inertia_ == pytest.approx(six.exact["cost"]) == 1 + 4 * e**2
    assert naive.best_kmeans_cost(six.points, 3) == pytest.approx(six.exact["best_cost"])
    pairs = {"feature": 0, "threshold": 1.5, "left": {"cluster": 1}, "right": {"cluster": 2}}
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0.5, "left": {"cluster": 0}, "right": pairs})
    price = price_of_explainability(six.points, tree, six.reference)
    assert price == pytest.approx(6 * e**2 / (1 + 4 * e**2))
    assert price < 1


def test_moving_the_centre_costs_its_squared_distance():
    """Lemma kmeans.3: g(X, z) = g(X, mean) + |X| |z - mean|², and twice the least cost from a random row."""
    for seed in seeds(200):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(1, 30)), int(rng.integers(1, 5))))
        labels = np.zeros(len(X), dtype=int)
        least, z = partition_cost(X, labels), rng.normal(size=X.shape[1])
        moved = partition_cost(X, labels, centers=z[None])
        assert moved == pytest.approx(least + len(X) * ((z - X.mean(axis=0)) ** 2).sum())
        from_rows = np.mean([partition_cost(X, labels, centers=row[None]) for row in X])
        assert from_rows == pytest.approx(2 * least)


def test_seeding_costs_what_the_theorems_allow():
    """Theorems kmeans.2 and kmeans.4, by enumeration: 8 (ln k + 2) times the best cost, and 8 times for k = 2."""
    worst = 0.0
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        k = 3 if seed % 4 == 0 else 2
        X = rng.normal(size=(9 if k == 2 else 7, 2)) + 6 * rng.integers(2, size=(9 if k == 2 else 7, 1))
        price = naive.kmeans_plus_plus(X, k) / naive.best_kmeans_cost(X, k)
        assert 1 <= price <= (8 if k == 2 else 8 * (math.log(k) + 2))
        worst = max(worst, price)
    assert worst > 1.5


def test_the_seeding_that_runs_costs_what_the_theorems_allow(monkeypatch):
    """Of KernelKMeans with the linear kernel, which is k-means: single draws have the expectation of enumeration, and
    the best of several candidates, as it runs, costs less than that and the theorems allow on average."""
    draw, drawn, single = steps.draw_by_chances, [], [True]

    def spy(chances, order, random, size):
        drawn.append(draw(chances, order, random, 1 if single[0] else size))
        return drawn[-1]

    monkeypatch.setattr(steps, "draw_by_chances", spy)
    for k in (2, 3):
        X = np.random.default_rng(k).normal(size=(8, 2)) + 4 * (np.arange(8) % k)[:, None]
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        costs = {True: [], False: []}
        for single[0] in costs:
            for i in range(draws(400)):
                drawn.clear()
                random = np.random.RandomState(i)
                steps.seeds(Linear().gram(X), Linear().diagonal(X), np.ones(8), k, random, np.arange(8))
                closest = np.full(8, np.inf)
                for candidates in drawn:  # the best one is taken
                    closest = min((np.minimum(closest, squares[c]) for c in candidates), key=np.sum)
                costs[single[0]].append(closest.sum())
        means = {of: np.mean(costs[of]) for of in costs}
        spread = np.std(costs[True]) / math.sqrt(len(costs[True]))
        assert abs(means[True] - naive.kmeans_plus_plus(X, k)) < 4 * spread
        assert means[False] < means[True]
        assert means[False] <= (8 if k == 2 else 8 * (math.log(k) + 2)) * naive.best_kmeans_cost(X, k)
