"""Swaps of leaves: never dearer, honest, no cluster without its leaf, and a leaf that is worth nothing is moved."""

import time

import numpy as np
import pytest

from boxwood import Reference
from boxwood.grow.refinement.exchange import _worths, refill_leaves, swap_leaves
from boxwood.grow.shared.names import name_leaves, without_leaves
from boxwood.reference import Task
from boxwood.tree import ThresholdTree
from boxwood.tree.merge import merge_leaves
from tests.cases import make_case, tree_on_rows
from tests.grow.test_refill import mistakes
from tests.grow.test_refine import assert_honest, own_cost
from tests.scale import seeds


@pytest.mark.parametrize("objective", ["cost", "mistakes"])
def test_never_dearer_and_honest(objective):
    for seed in seeds(15):
        X, labels, weights = make_case(seed)
        task = Task.of(X, Reference.of(X, labels), sample_weight=weights)
        tree = tree_on_rows(np.random.default_rng(seed), X, task.reference.n_clusters, 6)
        found = swap_leaves(tree, task, 6, objective)
        first = refill_leaves(tree, task, 6, objective)
        assert found.n_leaves <= 6
        assert merge_leaves(found) == found == name_leaves(found, task, objective)
        assert_honest(found, X[task.kept], labels[task.kept])
        assert set(found.leaf_clusters) >= set(first.leaf_clusters)
        loss = own_cost if objective == "cost" else mistakes
        before, after = (loss(t, X, labels, weights) for t in (first, found))
        assert after <= before * (1 + 1e-9) + 1e-9, f"seed {seed}"
        assert swap_leaves(tree, task, 6, objective, deadline=time.monotonic() - 1) == merge_leaves(
            name_leaves(tree, task, objective)
        )


def test_a_leaf_is_worth_what_its_rows_lose_without_it():
    for seed in seeds(15):
        X, labels, weights = make_case(seed)
        task = Task.of(X, Reference.of(X, labels), sample_weight=weights)
        tree = name_leaves(tree_on_rows(np.random.default_rng(seed), X, task.reference.n_clusters, 6), task, "mistakes")
        if tree.n_leaves == 1:
            continue
        lost = [
            mistakes(without_leaves(tree, np.arange(tree.n_leaves) == leaf), X, labels, weights)
            - mistakes(tree, X, labels, weights)
            for leaf in range(tree.n_leaves)
        ]
        worths = _worths(tree, task, "mistakes")  # in a unit of their own
        unit = np.abs(worths).max() / (np.abs(lost).max() or 1.0)
        assert np.allclose(worths, np.multiply(lost, unit)), f"seed {seed}"


def test_a_leaf_that_is_worth_little_is_moved():
    X = np.arange(16.0)[:, None]
    labels = np.array([0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0])
    worth_one = {"feature": 0, "threshold": 3.5, "left": {"cluster": 1}, "right": {"cluster": 0}}
    left = {"feature": 0, "threshold": 2.5, "left": {"cluster": 0}, "right": worth_one}
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 7.5, "left": left, "right": {"cluster": 1}})
    task = Task.of(X, Reference.of(X, labels))
    assert mistakes(refill_leaves(tree, task, 4, "mistakes"), X, labels, None) == 4
    assert mistakes(swap_leaves(tree, task, 4, "mistakes"), X, labels, None) == 1
