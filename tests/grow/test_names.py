"""Honest names: equal to the twin; a leaf with rows holds one of its cluster, and no other leaf is changed."""

import itertools

import numpy as np
import pytest

from boxwood import Reference
from boxwood.errors import DataError
from boxwood.grow.exact import optimal
from boxwood.grow.exact.optimal import with_cheapest_names
from boxwood.grow.shared.names import (
    assignment,
    match_leaves,
    name_leaves,
    with_honest_names,
    without_leaves,
)
from boxwood.metrics import partition_cost
from boxwood.reference import Task
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case, tree_on_rows
from tests.grow.test_refine import OBJECTIVES, assert_honest, exact_costs, whole_case
from tests.scale import seeds, share


def without_empty_leaves(tree, task):
    return without_leaves(tree, ~np.isin(range(tree.n_leaves), tree.apply(task.rows)[task.kept]))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equals_the_twin(objective):
    for seed in seeds(100):
        X, reference, weights = whole_case(seed, objective)
        kept, rng = reference.kept, np.random.default_rng(seed)
        task = Task.of(X, reference, sample_weight=weights)
        tree = tree_on_rows(rng, X, reference.n_clusters, int(rng.integers(1, 8)))
        costs = [each for each, k in zip(exact_costs(X, reference, weights, objective), kept, strict=True) if k]
        rows = X[kept].astype(float)
        twin = naive.honest(
            tree.to_dict(), rows, reference.labels[kept], lambda here, c, costs=costs: sum(costs[r][c] for r in here)
        )
        found = with_honest_names(tree, task, objective)
        assert found == ThresholdTree.from_dict(twin), f"seed {seed}"
        assert_honest(found, X[kept], reference.labels[kept])
        assert name_leaves(tree, task, objective) == without_empty_leaves(found, task)


def test_empty_leaves_go_and_rows_keep_theirs():
    for seed in seeds(100):
        X, labels, weights = make_case(seed)
        task, rng = Task.of(X, Reference.of(X, labels), sample_weight=weights), np.random.default_rng(seed)
        tree = tree_on_rows(rng, X, task.reference.n_clusters, 7)
        less, rows = without_empty_leaves(tree, task), X[task.kept]
        with_rows = np.unique(tree.apply(rows))
        assert less.n_leaves == len(with_rows)
        assert with_rows[less.apply(rows)].tolist() == tree.apply(rows).tolist()
        assert less.leaf_clusters.tolist() == tree.leaf_clusters[with_rows].tolist()


def test_without_a_leaf_its_rows_go_to_the_other_side():
    low = {"feature": 0, "threshold": 1.0, "left": {"cluster": 0}, "right": {"cluster": 1}}
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 2.0, "left": low, "right": {"cluster": 2}})
    assert without_leaves(tree, np.array([False, False, True])) == ThresholdTree.from_dict(low)
    assert without_leaves(tree, np.array([True, True, False])) == ThresholdTree.from_dict({"cluster": 2})
    assert without_leaves(tree, np.zeros(3, dtype=bool)) is tree


def test_no_other_names_for_as_many_clusters_make_fewer_mistakes():
    for seed in seeds(60):
        X, labels, weights = make_case(seed, max_clusters=4)
        reference = Reference.of(X, labels)
        task, k = Task.of(X, reference, sample_weight=weights), reference.n_clusters
        tree = tree_on_rows(np.random.default_rng(seed), X, k, k)
        found = match_leaves(tree, task)
        assert_honest(found, X[task.kept], labels[task.kept])
        weight, leaf = np.where(task.kept, 1.0 if weights is None else weights, 0.0), tree.apply(X)
        least = min(weight[np.asarray(clusters)[leaf] != labels].sum() for clusters in itertools.permutations(range(k)))
        assert weight[found.leaf_clusters[leaf] != labels].sum() <= least * (1 + 1e-12)


def leaves_of(tree, X, kept):
    """Return the kept rows of each leaf."""
    reached = tree.apply(X)
    return [np.flatnonzero((reached == leaf) & kept).tolist() for leaf in range(tree.n_leaves)]


@pytest.mark.parametrize("most", [5000, 0], ids=["all are tried", "one leaf at a time"])
def test_no_honest_names_are_cheaper(most, monkeypatch):
    monkeypatch.setattr(optimal, "NAMINGS", most)
    found, of_all, fallen = [], [], 0
    for seed in seeds(80):
        X, labels, weights = make_case(seed, max_rows=12, max_clusters=5)
        reference = Reference.of(X, labels)
        task = Task.of(X, reference, sample_weight=weights)
        tree = tree_on_rows(np.random.default_rng(seed), X, reference.n_clusters, 1 + seed % 6)
        tree = name_leaves(tree, task, "cost")
        better, each = with_cheapest_names(tree, task), np.ones(len(X)) if weights is None else weights
        assert_honest(better, X[task.kept], labels[task.kept])
        costs = [
            partition_cost(X, np.where(task.kept, t.predict(X), -1), sample_weight=weights) for t in (tree, better)
        ]
        slack = 1e-9 * naive.spread(X.astype(float), each, np.flatnonzero(task.kept))
        assert costs[1] <= costs[0] + slack, f"seed {seed}"
        fallen += costs[1] < costs[0] - slack
        found.append(costs[1])
        of_all.append(naive.least_naming_cost(X.astype(float), labels, each, leaves_of(tree, X, task.kept)) + slack)
        assert found[-1] <= of_all[-1] or most == 0, f"seed {seed}"
    assert fallen > share(5)
    assert np.mean(np.array(found) <= of_all) > 0.9


def test_as_many_leaves_as_can_be_hold_rows_of_different_clusters():
    """By "cost"; by "mistakes" most weight is in the leaf of its cluster."""
    for seed in seeds(60):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 6))
        held = rng.integers(0, 4, size=(int(rng.integers(1, k + 1)), k)) * rng.integers(0, 2, size=k)
        values = {}
        for clusters in itertools.permutations(range(k), len(held)):
            here = held[np.arange(len(held)), clusters]
            values[clusters] = int((here > 0).sum()), int(here.sum())
        by_cost, by_mistakes = (values[tuple(assignment(held, each).tolist())] for each in ("cost", "mistakes"))
        assert by_cost == max(values.values())
        assert by_mistakes[::-1] == max(each[::-1] for each in values.values())


def test_refused():
    X, tree = np.array([[0.0], [1.0]]), ThresholdTree.from_dict({"cluster": 5})
    task = Task.of(X, Reference.of(X, [0, 1]))
    with pytest.raises(DataError, match="the tree has cluster 5"):
        with_honest_names(tree, task)
    with pytest.raises(ValueError, match="objective must be one of"):
        with_honest_names(tree, task, "price")
