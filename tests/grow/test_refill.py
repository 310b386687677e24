"""Freed leaves: never dearer, honest, no useless cut, and used where there is something to gain."""

import time

import numpy as np
import pytest

from boxwood import Reference
from boxwood.grow.refinement.exchange import refill_leaves
from boxwood.grow.shared.names import name_leaves
from boxwood.reference import Task
from boxwood.tree import ThresholdTree
from boxwood.tree.merge import merge_leaves
from tests.cases import make_case, tree_on_rows
from tests.grow.test_refine import assert_honest, own_cost
from tests.scale import seeds


def mistakes(tree, X, labels, weights):
    kept = labels >= 0
    return np.sum((tree.predict(X) != labels)[kept] * (1.0 if weights is None else weights[kept]))


@pytest.mark.parametrize("objective", ["cost", "mistakes"])
def test_never_dearer_honest_and_without_useless_cuts(objective):
    for seed in seeds(40):
        X, labels, weights = make_case(seed)
        task = Task.of(X, Reference.of(X, labels), sample_weight=weights)
        tree = tree_on_rows(np.random.default_rng(seed), X, task.reference.n_clusters, 6)
        full = refill_leaves(tree, task, 6, objective)
        assert full.n_leaves <= 6
        assert merge_leaves(full) == full
        assert name_leaves(full, task, objective) == full
        assert_honest(full, X[task.kept], labels[task.kept])
        loss = own_cost if objective == "cost" else mistakes
        before, after = (loss(t, X, labels, weights) for t in (name_leaves(tree, task, objective), full))
        assert after <= before * (1 + 1e-9) + 1e-9, f"seed {seed}"
        assert refill_leaves(tree, task, 6, objective, turns=0) == merge_leaves(name_leaves(tree, task, objective))
        past = time.monotonic() - 1
        assert refill_leaves(tree, task, 6, objective, deadline=past) == merge_leaves(
            name_leaves(tree, task, objective)
        )


def test_a_freed_leaf_is_used_elsewhere():
    X = np.arange(12.0)[:, None]
    labels = np.repeat([0, 1, 0, 1], 3)
    useless = {"feature": 0, "threshold": 1.5, "left": {"cluster": 0}, "right": {"cluster": 0}}
    right = {"feature": 0, "threshold": 5.5, "left": {"cluster": 1}, "right": {"cluster": 0}}
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 2.5, "left": useless, "right": right})
    full = refill_leaves(tree, Task.of(X, Reference.of(X, labels)), 4, "mistakes")
    assert full.n_leaves == 4
    assert full.predict(X).tolist() == labels.tolist()
