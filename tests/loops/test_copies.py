"""A file of loops calls only its own functions, so some things stand in several files: here the copies agree."""

import itertools

import numpy as np
import pytest

from boxwood.loops import costs, expand, greedy, kernels, random_cuts, walk
from boxwood.loops import costs as nearest
from tests.cases import single, tree_on_values

L1, L2, SQEUCLIDEAN = costs.L1, costs.L2, costs.SQEUCLIDEAN


def whole_numbers(seed):
    """Return rows and centres of small whole numbers, whose squared and l1 distances are exact, float32 or float64."""
    rng = np.random.default_rng(seed)
    n, k, d = rng.integers(1, 30), rng.integers(1, 6), rng.integers(1, 5)
    X = rng.integers(-9, 10, size=(n, d)).astype(np.float64)
    X = single(X) if seed % 2 else X
    return X, rng.integers(-9, 10, size=(k, d)).astype(np.float64)


def expected_distances(X, centers, objective):
    gaps = np.abs(X[:, None].astype(np.float64) - centers[None])
    if objective == L1:
        return gaps.sum(axis=2)
    squares = (gaps**2).sum(axis=2)
    return np.sqrt(squares) if objective == L2 else squares


def test_codes_of_objectives():
    assert (random_cuts.L1, random_cuts.L2, random_cuts.SQEUCLIDEAN) == (L1, L2, SQEUCLIDEAN)


@pytest.mark.parametrize("objective", [L1, L2, SQEUCLIDEAN])
def test_distances_of_rows_to_the_centres_of_their_labels(objective):
    for seed in range(50):
        X, centers = whole_numbers(seed)
        expected = expected_distances(X, centers, objective)
        for c in range(len(centers)):
            measured = [random_cuts._distance(X, i, centers, c, 1.0, objective) for i in range(len(X))]
            np.testing.assert_array_equal(measured, expected[:, c])
            for i in range(len(X)):
                sums, labels = np.zeros(len(centers)), np.array([c])
                costs.add_costs(X[i : i + 1], labels, np.empty(0), centers, np.zeros_like(centers), objective, sums)
                assert sums[c] == expected[i, c]


@pytest.mark.parametrize("objective", [L1, L2])
def test_distances_of_rows_to_all_centres(objective):
    for seed in range(50):
        X, centers = whole_numbers(seed)
        expected = expected_distances(X, centers, objective)
        columns, euclidean = np.ascontiguousarray(centers.T), objective == L2
        measured = np.empty_like(expected)
        nearest.distances(X, columns, euclidean, measured)
        np.testing.assert_array_equal(measured, expected)
        labels, least = np.empty(len(X), dtype=np.intp), np.empty(len(X))
        nearest.nearest(X, columns, euclidean, labels, least)
        np.testing.assert_array_equal(labels, expected.argmin(axis=1))
        np.testing.assert_array_equal(least, expected.min(axis=1))
        closest = np.full(len(X), np.inf)
        for center in centers:
            nearest.lower_to(X, center, euclidean, closest)
        np.testing.assert_array_equal(closest, least)


def test_squared_and_absolute_distances_of_kernels_of_expand_and_of_greedy():
    for seed in range(50):
        X, centers = whole_numbers(seed)
        squares, absolutes = (expected_distances(X, centers, objective) for objective in (SQEUCLIDEAN, L1))
        columns, units, measured = np.ascontiguousarray(centers.T), np.ones(X.shape[1]), np.zeros_like(squares)
        kernels.add_pair_squares(X, columns, units, measured)
        np.testing.assert_array_equal(measured, squares)
        measured[:] = 0.0
        kernels.add_absolutes(X, columns, units, measured)
        np.testing.assert_array_equal(measured, absolutes)
        expand.squared_distances(X, columns, 2.0, measured)
        np.testing.assert_array_equal(measured, squares)
        rows = np.arange(len(X))
        clusters = rows % len(centers)
        from_greedy = np.empty_like(measured)
        for i in rows:
            greedy._write_distances(X, i, columns, 2.0, from_greedy[i])
        np.testing.assert_array_equal(from_greedy, measured)
        one_each = np.empty(len(X))
        expand.squared_distance(X, rows, centers, clusters, 2.0, one_each)
        np.testing.assert_array_equal(one_each, squares[rows, clusters])


def test_rows_down_a_tree():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, _ = whole_numbers(seed)
        trees = [
            tree_on_values(rng, int(size), X.shape[1], range(-9, 10), two_sided=0.0)
            for size in rng.integers(1, 9, size=3)
        ]
        sizes = [tree.n_nodes for tree in trees]
        roots = np.array([0, *itertools.accumulate(sizes)][:-1])
        nodes = (np.concatenate([getattr(tree, name) for tree in trees]) for name in random_cuts.Trees._fields[1:])
        joined = random_cuts.Trees(roots, *nodes)
        for number, tree in enumerate(trees):
            clusters = np.empty(len(X), dtype=np.int64)
            walk.descend(X, tree.feature, tree.lower, tree.upper, tree.second, tree.cluster, clusters)
            reached = [random_cuts._cluster_of(X, i, joined, number) for i in range(len(X))]
            assert reached == clusters.tolist()
