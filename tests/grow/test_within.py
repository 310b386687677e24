"""Trees within a budget: grown so, cut back, or exchanged cut by cut."""

import math

import numpy as np
import pytest

from boxwood.grow.exact.optimal import optimal_of, resolve_subtrees
from boxwood.grow.leaves.cart import grow_cart
from boxwood.grow.leaves.expand import expand_tree
from boxwood.grow.leaves.impurity import grow_by_impurity
from boxwood.grow.refinement.exchange import NEARLY, keeps, loss_of, preferring, refill_leaves, swap_leaves, within
from boxwood.grow.refinement.refine import refine_tree, refined_with_centers
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree
from tests.cases import make_case
from tests.naive import budgets as naive
from tests.naive import impurity as naive_impurity
from tests.scale import law


def make_task(seed, **options):
    """Return a task with some budget, and the random numbers that made it."""
    case, rng = make_case(seed, **options), np.random.default_rng(seed)
    d = case.X.shape[1]
    forbidden = tuple(j for j in range(d) if rng.random() < 0.3)
    reference = Reference.of(case.X, case.labels)
    task = Task.of(case.X, reference, sample_weight=case.weights, random_state=0)
    least = int(rng.integers(1, max(task.n_kept // 4, 1) + 1))
    budget = Budget(
        max_depth=None if rng.random() < 0.3 else int(rng.integers(1, 5)),
        min_samples_leaf=least,
        forbidden=forbidden if len(forbidden) < d else (),
        preferred=() if rng.random() < 0.5 else (int(rng.integers(d)),),
    )
    return task.within(budget), rng


def is_allowed(tree, task):
    return keeps(tree, task) and not set(tree.features.tolist()) & set(task.budget.forbidden)


@law(60)
def test_growth_within_a_budget_equals_its_twin(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(6, 30)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    X = rng.integers(0, 8, size=(n, d)).astype(float)
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))
    centers = rng.integers(0, 8, size=(k, d)).astype(float)
    budget = Budget(int(rng.integers(1, 5)), int(rng.integers(1, n // 3 + 1)), forbidden=(0,) if d > 1 else ())
    task = Task.of(X, Reference(labels, centers), budget=budget)
    columns = budget.allowed(d)
    distances = np.square(X[:, None] - centers).sum(axis=2).astype(int)
    for objective, costs in ("cost", distances), ("mistakes", (labels[:, None] != np.arange(k)).astype(int)):
        limits = budget.max_depth, budget.min_samples_leaf, columns
        twin = naive.expand(X, costs.tolist(), list(range(n)), 9, *limits)
        grown = expand_tree(None, task, 9, loss=objective)
        assert grown == ThresholdTree.from_dict(twin)


@law(30)
def test_cart_with_rows_of_a_leaf_equals_its_twin(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 30)), int(rng.integers(2, 5))
    X, labels = rng.integers(0, 9, size=(n, 2)).astype(float), rng.integers(k, size=n)
    least = int(rng.integers(1, n // 2 + 1))
    labels[:k] = np.arange(k)
    measure = naive_impurity.by_gini(labels, k, np.ones(n))

    def limited(rows):
        found = measure(rows)
        if found is None:
            return None
        return (lambda a, b: found[0](a, b) if min(len(a), len(b)) >= least else math.inf), found[1]

    twin = naive_impurity.grown_by(X, labels, k, limited, 6, np.ones(n))
    task = Task.of(X, Reference.of(X, labels), budget=Budget(min_samples_leaf=least))
    assert grow_by_impurity(task, "gini", 6) == ThresholdTree.from_dict(twin)


@law(32)
def test_every_step_keeps_the_budget(seed):
    task, _ = make_task(seed, max_rows=60)
    n_leaves = task.leaves()
    starts = [grow_by_impurity(task, criterion, n_leaves) for criterion in ("gini", "entropy", "centers", "rows")]
    starts += [expand_tree(None, task, n_leaves, loss=objective) for objective in ("cost", "mistakes")]
    starts.append(grow_cart(task).tree)
    for tree in starts:
        assert is_allowed(tree, task)
        for objective in ("cost", "mistakes"):
            assert is_allowed(refine_tree(tree, task, objective), task)
            assert is_allowed(refill_leaves(tree, task, n_leaves, objective), task)
            assert is_allowed(preferring(tree, task, objective), task)
    tree = starts[0]
    assert is_allowed(refined_with_centers(tree, task), task)
    assert is_allowed(swap_leaves(tree, task, n_leaves, "cost"), task)
    for other in resolve_subtrees(tree, task, own_means=False), optimal_of(task, min(n_leaves, 3), max_boxes=5).tree:
        assert not set(other.features.tolist()) & set(task.budget.forbidden)
        assert is_allowed(within(other, task, "mistakes"), task)


@law(60)
def test_trees_are_cut_back_to_the_budget(seed):
    task, rng = make_task(seed, max_rows=60)
    free = grow_by_impurity(task.within(Budget()), "gini", int(rng.integers(2, 12)))
    for objective in ("cost", "mistakes"):
        tree = within(free, task, objective)
        assert keeps(tree, task)
        assert set(tree.features.tolist()) <= set(free.features.tolist())
        assert within(tree, task, objective) is tree
        held = tree.leaf_clusters[tree.apply(task.rows)] == task.reference.labels
        own = np.bincount(tree.apply(task.rows)[task.kept], held[task.kept], minlength=tree.n_leaves)
        if tree != free:
            assert (own > 0).all()


def test_a_small_leaf_gives_its_rows_to_the_other_side():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    tree = ThresholdTree.from_dict(
        {
            "feature": 0,
            "threshold": 5.0,
            "left": {"feature": 0, "threshold": 1.5, "left": {"cluster": 0}, "right": {"cluster": 1}},
            "right": {"cluster": 2},
        }
    )
    task = Task.of(X, Reference.of(X, [0, 0, 1, 1, 2]), budget=Budget(min_samples_leaf=2))
    assert within(tree, task, "mistakes").to_dict() == {
        "feature": 0,
        "threshold": 1.5,
        "left": {"leaf": 0, "cluster": 0},
        "right": {"leaf": 1, "cluster": 1},
    }


@law(60)
def test_exchanged_cuts_equal_the_twin(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(6, 40)), int(rng.integers(2, 5)), int(rng.integers(2, 4))
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))
    X = rng.integers(0, 5, size=(n, d)) + rng.integers(-2, 3, size=d) * labels[:, None].astype(float)
    preferred = tuple(sorted(rng.choice(d, size=int(rng.integers(1, d)), replace=False).tolist()))
    task = Task.of(X, Reference.of(X, labels), budget=Budget(preferred=preferred))
    tree = grow_by_impurity(task, "gini", 5)
    other = preferring(tree, task, "mistakes")
    assert other == ThresholdTree.from_dict(naive._bare(naive.preferring(tree.to_dict(), X, labels, preferred, NEARLY)))
    for objective in ("cost", "mistakes"):
        loss = loss_of(preferring(tree, task, objective), task, objective)
        assert loss <= loss_of(tree, task, objective) * (1 + NEARLY)


@law(20)
def test_exact_search_finds_the_cheapest_cut_on_the_columns_that_are_left(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=25)
    X = rng.normal(size=(25, 3)) + 2 * rng.normal(size=(3, 3))[labels]
    task = Task.of(X, Reference.of(X, labels), budget=Budget(forbidden=(1,)))
    costs = []
    for j in (0, 2):
        for threshold in np.sort(X[:, j])[:-1]:
            sides = X[X[:, j] <= threshold], X[X[:, j] > threshold]
            costs.append(sum(np.square(side - side.mean(axis=0)).sum() for side in sides))
    found = optimal_of(task, 2)
    assert found.cost == pytest.approx(min(costs))
    assert found.gap == 0
    assert 1 not in found.tree.features


def test_a_preferred_copy_of_a_column_takes_its_place():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    X = np.column_stack([x, -2 * x])
    task = Task.of(X, Reference.of(X, (x > 0).astype(int)), budget=Budget(preferred=(1,)))
    tree = preferring(grow_by_impurity(task, "gini", 2), task, "mistakes")
    assert tree.features.tolist() == [1]
    assert np.array_equal(tree.predict(X), (x > 0).astype(int))
