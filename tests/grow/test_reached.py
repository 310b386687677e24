"""The leaf of each row, remembered: the same as a tree finds anew."""

import gc

import numpy as np
import pytest

from boxwood import Reference, ThresholdTree
from boxwood.grow.shared import names
from boxwood.grow.shared.names import clusters_reached, leaves_reached
from boxwood.reference import Task
from tests.cases import tree_on_rows
from tests.scale import seeds


def task_and_trees(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(int(rng.integers(1, 40)), int(rng.integers(1, 4)))).astype(float)
    task = Task.of(X, Reference(rng.integers(0, 3, size=len(X)), np.zeros((3, X.shape[1])) + np.arange(3)[:, None]))
    trees = [tree_on_rows(rng, X, 3, int(rng.integers(1, 7))) for _ in range(6)]
    return task, [*trees, *(tree.relabeled(rng.integers(0, 3, size=tree.n_leaves)) for tree in trees)]


@pytest.mark.parametrize("remembered", [0, 50, 1 << 20])
def test_equals_what_the_tree_finds(remembered, monkeypatch):
    monkeypatch.setattr(names, "REMEMBERED", remembered)
    for seed in seeds(30):
        task, trees = task_and_trees(seed)
        for i in np.random.default_rng(seed).integers(0, len(trees), size=40).tolist():
            assert np.array_equal(leaves_reached(trees[i], task), trees[i].apply(task.rows))
            assert np.array_equal(clusters_reached(trees[i], task), trees[i].predict(task.rows))
        assert len(names._known[task.rows]) * len(task.rows) <= max(remembered, len(task.rows))


def test_is_found_once_for_trees_that_differ_in_names_alone(monkeypatch):
    task, trees = task_and_trees(3)
    calls = []
    apply = ThresholdTree.apply
    monkeypatch.setattr(ThresholdTree, "apply", lambda tree, X, **options: calls.append(1) or apply(tree, X, **options))
    for tree in trees:
        leaves_reached(tree, task)
    assert len(calls) == len({(tree.feature.tobytes(), tree.upper.tobytes()) for tree in trees})


def test_is_forgotten_with_the_rows():
    task, trees = task_and_trees(4)
    leaves_reached(trees[0], task)
    gc.collect()
    before = len(names._known)
    del task
    gc.collect()
    assert len(names._known) == before - 1


def test_cannot_be_written():
    task, trees = task_and_trees(5)
    with pytest.raises(ValueError, match="read-only"):
        leaves_reached(trees[0], task)[0] = 1
