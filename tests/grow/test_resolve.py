"""Subtrees solved anew: never dearer, and the cheapest where the tree is small."""

import numpy as np
import pytest

from boxwood import Reference
from boxwood.grow import optimal
from boxwood.grow.exact.optimal import resolve_subtrees
from boxwood.metrics import partition_cost
from boxwood.reference import Task
from boxwood.tree import TreeBuilder
from tests.cases import make_case, tree_on_rows
from tests.grow.test_refine import surrogate
from tests.scale import seeds, share


def own_cost(tree, X, labels, weights):
    """Return the cost of the partition by a tree's clusters, each with its own mean."""
    return partition_cost(X, np.where(labels >= 0, tree.predict(X), -1), sample_weight=weights)


def one_leaf_each(rng, X, k):
    """Return a tree of random cuts with one leaf for each cluster."""
    tree = tree_on_rows(rng, X, k, k)
    return tree.relabeled(rng.permutation(k))


def test_resolved_with_own_means_is_never_dearer_and_best_in_small_trees():
    for seed in seeds(40):
        X, labels, weights = make_case(seed)
        reference = Reference.of(X, labels)
        k = reference.n_clusters
        task = Task.of(X, reference, sample_weight=weights, n_jobs=None)
        tree = one_leaf_each(np.random.default_rng(seed), X, k)
        total = partition_cost(X, np.where(labels >= 0, 0, -1), sample_weight=weights)
        before = own_cost(tree, X, labels, weights)
        for max_boxes in (0, 2, 1000):
            better = resolve_subtrees(tree, task, own_means=True, max_boxes=max_boxes)
            after = own_cost(better, X, labels, weights)
            assert after <= before * (1 + 1e-12) + 1e-12 * total, f"seed {seed}"
            assert sorted(better.leaf_clusters) == list(range(k))
            assert better == tree or max_boxes > 0
        least = optimal(X, reference, max_leaf_nodes=k, sample_weight=weights) if k <= 3 else None
        if least is not None and least.tree.n_leaves == k:
            assert after == pytest.approx(least.cost, rel=1e-12, abs=1e-12 * total)


@pytest.mark.parametrize("objective", ["cost", "mistakes"])
def test_resolved_under_clusters_is_never_dearer_and_keeps_clusters(objective):
    improved = 0
    for seed in seeds(40):
        X, labels, weights = make_case(seed)
        reference = Reference.of(X, labels)
        task = Task.of(X, reference, sample_weight=weights, n_jobs=None)
        tree = tree_on_rows(np.random.default_rng(seed), X, reference.n_clusters, 7)
        total = partition_cost(X, np.where(labels >= 0, 0, -1), sample_weight=weights)

        def loss(tree, X=X, labels=labels, weights=weights, reference=reference):
            if objective == "cost":
                return own_cost(tree, X, labels, weights)
            return surrogate(tree, X, reference, "mistakes", weights)

        for max_boxes in (0, 3, 1000):
            better = resolve_subtrees(tree, task, own_means=False, loss=objective, max_boxes=max_boxes)
            assert loss(better) <= loss(tree) * (1 + 1e-12) + 1e-12 * total, f"seed {seed}"
            assert set(better.leaf_clusters) >= set(tree.leaf_clusters)
            assert better.n_leaves <= tree.n_leaves
        improved += loss(better) < loss(tree)
    assert improved > share(20)


def test_a_subtree_with_few_leaves_makes_as_few_mistakes_as_can_be():
    for seed in seeds(40):
        X, labels, _ = make_case(seed, max_clusters=2, max_rows=15)
        reference = Reference.of(X, labels)
        task = Task.of(X, reference)
        tree = tree_on_rows(np.random.default_rng(seed), X, 2, 3)
        better = resolve_subtrees(tree, task, own_means=False, loss="mistakes")
        least = optimal(X, reference, max_leaf_nodes=3, objective="mistakes").tree
        if set(least.leaf_clusters) >= set(tree.leaf_clusters):
            assert surrogate(better, X, reference, "mistakes") == surrogate(least, X, reference, "mistakes")


def test_resolved_depends_on_neither_order_nor_threads():
    for seed in seeds(20):
        X, labels, weights = make_case(seed)
        reference, rng = Reference.of(X, labels), np.random.default_rng(seed)
        order = rng.permutation(len(X))
        tasks = (
            Task.of(X, reference, sample_weight=weights, n_jobs=None),
            Task.of(
                X[order],
                Reference(labels[order], reference.centers),
                sample_weight=None if weights is None else weights[order],
                n_jobs=3,
            ),
        )
        tree, each = tree_on_rows(rng, X, reference.n_clusters, 6), one_leaf_each(rng, X, reference.n_clusters)
        one, other = (resolve_subtrees(tree, task, own_means=False, loss="mistakes", max_boxes=5) for task in tasks)
        assert one == other
        one, other = (resolve_subtrees(each, task, own_means=True, max_boxes=5) for task in tasks)
        assert one == other


def test_two_sided_cuts_are_not_resolved():
    X = np.arange(12.0)[:, None]
    reference = Reference.of(X, [0, 0, 0, 1, 1, 1, 0, 0, 2, 2, 2, 2])
    builder = TreeBuilder()
    inside, outside = builder.split(0, 0, 8.0, lower=4.0)
    first, second = builder.split(outside, 0, 1.0)
    for leaf, cluster in ((inside, 1), (first, 0), (second, 2)):
        builder.label(leaf, cluster)
    tree, task = builder.build(), Task.of(X, reference)
    for own_means in (True, False):
        better = resolve_subtrees(tree, task, own_means=own_means)
        assert (better.lower[0], better.upper[0]) == (4.0, 8.0)
        assert better.upper[2] == 6.0 or not own_means
        assert own_cost(better, X, reference.labels, None) < own_cost(tree, X, reference.labels, None)
