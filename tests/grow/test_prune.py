"""Prunings: the cheapest of all, for every number of leaves."""

import numpy as np
import pytest

from boxwood import Reference
from boxwood.errors import DataError
from boxwood.grow import expand
from boxwood.grow.leaves.impurity import grow_by_impurity
from boxwood.grow.leaves.prune import prune_tree, shares_of
from boxwood.grow.shared.costs import integer_costs, make_problem
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder
from tests import naive
from tests.cases import make_case, tree_on_rows
from tests.scale import seeds


def task_of(seed, **sizes):
    X, labels, weights = make_case(seed, **sizes)
    return Task.of(X, Reference.of(X, labels, sample_weight=weights), sample_weight=weights)


def some_tree(task, seed, n_leaves):
    rng = np.random.default_rng(seed)
    return tree_on_rows(rng, task.rows.values, task.reference.n_clusters, n_leaves, two_sided=0.3)


def prunings(tree, task, objective):
    """Return the cheapest prunings with at most 1, 2, 3, … leaves, up to the first with the lowest cost of all."""
    shares = shares_of(tree, task, objective)
    return [shares.with_leaves(shares.fewest(m)) for m in range(1, shares.fewest(tree.n_leaves) + 1)]


def all_prunings(tree, task, objective):
    rows = np.flatnonzero(task.kept)
    costs = integer_costs(make_problem(task, objective), rows)[0].tolist()
    X = task.rows.values[rows].astype(np.float64)
    found = naive.prunings(tree.to_dict(), X.tolist(), costs, list(range(len(rows))))
    return [(n_leaves, cost, ThresholdTree.from_dict(d)) for n_leaves, cost, d in found]


@pytest.mark.parametrize("objective", ["cost", "mistakes"])
def test_no_pruning_is_cheaper_or_as_cheap_with_fewer_leaves(objective):
    n_leaves_cut = 0
    for seed in seeds(60):
        task = task_of(seed, max_rows=20)
        tree = some_tree(task, seed, 1 + seed % 8)
        every = all_prunings(tree, task, objective)
        by_leaves = prunings(tree, task, objective)
        for m in range(1, tree.n_leaves + 2):
            found = prune_tree(tree, task, m, objective)
            costs = [(cost, n_leaves) for n_leaves, cost, other in every if other == found]
            best = min((cost, n_leaves) for n_leaves, cost, _ in every if n_leaves <= m)
            assert costs == [best], f"seed {seed}, {m} leaves"
            assert found == by_leaves[min(m, len(by_leaves)) - 1]
            n_leaves_cut += tree.n_leaves - found.n_leaves
    assert n_leaves_cut > 200


@pytest.mark.parametrize("objective", ["cost", "mistakes"])
def test_every_size_is_the_cheapest_of_all_prunings_with_so_many_leaves(objective):
    for seed in seeds(30):
        task = task_of(seed, max_rows=20)
        tree = some_tree(task, seed, 2 + seed % 7)
        shares, every = shares_of(tree, task, objective), all_prunings(tree, task, objective)
        sizes = range(1, tree.n_leaves + 1)
        for m, clusters in zip(sizes, shares.clusters_with(sizes), strict=True):
            small = shares.with_leaves(m)
            least = min(cost for n_leaves, cost, _ in every if n_leaves == m)
            assert [(n, cost) for n, cost, other in every if other == small] == [(m, least)], f"seed {seed}, {m} leaves"
            assert (clusters[tree.apply(task.rows)] == small.predict(task.rows)).all()


def test_a_tree_that_grew_by_the_same_costs_stays_as_it_is():
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=400)
    X = rng.normal(size=(6, 3))[labels] * 2 + rng.normal(size=(400, 3))
    reference = Reference.of(X, labels)
    task = Task.of(X, reference)
    tree = expand(None, X, reference, max_leaf_nodes=12)
    assert prune_tree(tree, task, 12, "cost") == tree

    def cost(tree):
        return ((X - reference.centers[tree.predict(X)]) ** 2).sum()

    for m in range(1, 12):
        small = prune_tree(tree, task, m, "cost")
        assert small.n_leaves == m
        assert cost(small) <= cost(expand(None, X, reference, max_leaf_nodes=m)) * (1 + 1e-12)


def test_a_cut_that_gains_nothing_stays_for_those_below_it():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    task = Task.of(X, Reference([0, 0, 1, 1], [[0.0, 0.0], [5.0, 5.0]]))
    by_leaves = prunings(grow_by_impurity(task, "gini", 4), task, "mistakes")
    assert [tree.n_leaves for tree in by_leaves] == [1, 1, 3, 4]
    assert by_leaves[3].predict(X).tolist() == [0, 0, 1, 1]


def test_long_chains_take_little_time():
    n = 1500
    X = np.arange(float(n))[:, None]
    task = Task.of(X, Reference.of(X, np.arange(n) % 2))
    tree = grow_by_impurity(task, "gini", n)
    assert prune_tree(tree, task, n, "mistakes").predict(X).tolist() == (np.arange(n) % 2).tolist()


def test_misfits_are_refused():
    task = task_of(0)
    builder = TreeBuilder()
    builder.label(0, 99)
    with pytest.raises(DataError, match="the tree has cluster 99"):
        prune_tree(builder.build(), task, 2, "cost")
    with pytest.raises(ValueError, match="objective must be one of"):
        prune_tree(grow_by_impurity(task, "gini", 2), task, 2, "purity")
