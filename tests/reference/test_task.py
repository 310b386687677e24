"""`Task`: rows and a clustering, checked once."""

import numpy as np

from boxwood import Reference
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from tests.scale import law


@law(20)
def test_order_sorts_the_kept_rows_by_each_column(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (rng.integers(2, 40), 3)) * rng.choice([1.0, 1e-12, -1e12])
    labels = rng.integers(-1, 2, len(X))
    labels[:2] = 0, 1
    weights = rng.integers(0, 3, len(X)) + (np.arange(len(X)) < 2)
    task = Task.of(X, Reference.of(X, labels), sample_weight=weights)
    kept = np.flatnonzero((labels >= 0) & (weights > 0))
    assert task.order.shape == (3, len(kept))
    for feature, ordered in enumerate(task.order):
        assert sorted(ordered) == kept.tolist()
        assert (np.diff(X[ordered, feature]) >= 0).all()
    assert task.order is task.order


def test_a_seed_draws_a_sample_once(monkeypatch):
    X, labels = np.arange(60.0).reshape(30, 2), np.arange(30) % 3 - 1
    task = Task.of(X, Reference.of(X, labels), random_state=0)
    first = task.sampled(5).rows.values
    monkeypatch.setattr("sklearn.utils.check_random_state", None)
    for other in (task, task.with_leaves(7), task.within(Budget.of(["a", "b"], max_depth=1))):
        np.testing.assert_array_equal(other.sampled(5).rows.values, first)
    assert (task.leaves(), task.with_leaves(7).leaves()) == (2, 7)
