"""How many leaves labels need where nobody says: one for each of compact clusters, else as many as pay on new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from boxwood._types import Bools, Floats, Indices
from boxwood.explanation.choose import settings
from boxwood.reference import Task
from boxwood.words.figures import percent


class LeavesThatPay(NamedTuple):
    """The number of leaves that labels need, and the share of new rows that trees of some numbers of leaves get right.

    Parameters
    ----------
    n_leaves : int
        The number that was chosen.
    fewest : int
        The least number that was tried: the number of clusters.
    right : array of shape (n_numbers,)
        Share of the rows of other folds that CART gets right with `fewest` leaves, one more, and so on.
    """

    n_leaves: int
    fewest: int
    right: Floats

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: how many leaves more than one for each label, and what they gain."""
        if self.n_leaves == self.fewest:
            return ()
        gained = percent(float(self.right[self.n_leaves - self.fewest])), percent(float(self.right[0]))
        return (
            f"{self.n_leaves:,} leaves were taken for {self.fewest:,} labels: CART gets {gained[0]} of new rows right "
            f"with them, {gained[1]} with {self.fewest:,}, and hardly more with further ones (max_leaf_nodes)",
        )


def leaves_that_pay(task: Task) -> LeavesThatPay | None:
    """Return how many leaves the labels of a task in memory need; None for compact clusters, which need one each.

    Clusters are compact if nearly all rows are nearest to the mean of their own, in the columns as they are or brought
    to one variance. Of the numbers from the clusters' up to eight, or twice the clusters', it is the least one with
    which CART gets as many rows of other folds right as with any, up to one standard error or one percent of the rows.
    It is the clusters' if none gets clearly more right than the largest cluster has. Equal rows are in one fold, so the
    answer does not depend on the order of rows.
    """
    k, sample = task.reference.n_clusters, task.sampled(settings.LEAVES_ROWS)
    most = replace(task, max_leaf_nodes=max(settings.LEAVES, settings.LEAVES_EACH * k)).leaves()
    kept, weights = sample.kept, sample.rows.weights
    if most <= k or _are_compact(sample):
        return None
    rows = _Rows.of(sample.rows.values[kept], sample.reference.labels[kept], None if weights is None else weights[kept])
    folds = [_right(task, rows, rows.fold == fold, k, most) for fold in range(settings.LEAVES_FOLDS)]
    right = np.sum(folds, axis=0) / rows.weights.sum()
    best = right.max()
    error = max(np.sqrt(best * (1 - best) / kept.sum()), settings.LEAVES_GAIN)
    always = np.bincount(rows.labels, rows.weights).max() / rows.weights.sum()
    more = int(np.argmax(right >= best - error)) if best > always + 2 * error else 0
    return LeavesThatPay(k + more, k, right)


def _are_compact(task: Task) -> bool:
    """Return whether nearly all rows are nearest to their cluster's mean, in the columns as they are or scaled."""
    kept, weights = task.kept, task.rows.weights
    X, labels = task.rows.values[kept], task.reference.labels[kept]
    mass = np.ones(len(X)) if weights is None else weights[kept]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = X.std(axis=0)
        for unit in (np.ones_like(spread), np.where((spread > 0) & np.isfinite(spread), spread, 1.0)):
            if mass[_nearest(X / unit, labels, mass) == labels].sum() >= settings.NEAREST * mass.sum():
                return True
    return False


def _nearest(X: Floats, labels: Indices, mass: Floats) -> Indices:
    """Return the cluster whose mean is nearest to each row."""
    sums = np.stack([np.bincount(labels, mass * x) for x in X.T], axis=1)
    weights = np.bincount(labels, mass)
    means = sums / np.where(weights > 0, weights, 1.0)[:, None]
    distances = np.square(means).sum(axis=1) - 2 * (X @ means.T)
    return np.argmin(np.where(weights > 0, distances, np.inf), axis=1)


class _Rows(NamedTuple):
    """Distinct rows by the ranks of their values, in an order of their own, with weights and a fold for each."""

    ranks: Floats
    labels: Indices
    weights: Floats
    fold: Indices

    @classmethod
    def of(cls, X: Floats, labels: Indices, weights: Floats | None) -> _Rows:
        ranks = np.stack([np.unique(x, return_inverse=True)[1] for x in X.T], axis=1)
        every, place = np.unique(np.column_stack([ranks, labels]), axis=0, return_inverse=True)
        mass = np.bincount(place.ravel(), weights, minlength=len(every))
        ranks, labels = every[:, :-1], every[:, -1]
        _, same = np.unique(ranks, axis=0, return_inverse=True)  # equal rows with other labels are in the same fold
        drawn = np.random.default_rng(0).permutation(len(every))
        by_label = drawn[np.argsort(labels[drawn], kind="stable")]
        fold = np.empty(len(every), dtype=np.intp)
        fold[by_label] = np.arange(len(every)) % settings.LEAVES_FOLDS
        first = np.unique(same.ravel(), return_index=True)[1]
        return cls(ranks.astype(np.float64), labels, mass.astype(np.float64), fold[first][same.ravel()])


def _right(task: Task, rows: _Rows, held: Bools, fewest: int, most: int) -> Floats:
    """Return the weight of the rows held out that CART gets right, for each number of leaves.

    CART with fewer leaves is the one with more, without the leaves that came last: nodes have numbers in their order.
    """
    cart = DecisionTreeClassifier(
        max_leaf_nodes=most,
        max_depth=task.budget.max_depth,
        min_samples_leaf=max(task.budget.min_samples_leaf, settings.LEAVES_LEAST),
        random_state=0,
    )
    allowed = np.setdiff1d(np.arange(rows.ranks.shape[1]), np.asarray(sorted(task.budget.forbidden), dtype=np.intp))
    X, seen = rows.ranks[:, allowed], ~held
    if not seen.any() or not held.any() or not len(allowed):
        return np.zeros(most - fewest + 1)
    tree = cart.fit(X[seen], rows.labels[seen], sample_weight=rows.weights[seen]).tree_
    parent = np.zeros(tree.node_count, dtype=np.intp)
    for children in (tree.children_left, tree.children_right):
        inner = children >= 0
        parent[children[inner]] = np.flatnonzero(inner)
    answer = cart.classes_[tree.value[:, 0].argmax(axis=1)]
    reached, right = cart.apply(X[held]), np.empty(most - fewest + 1)
    for n_leaves in range(most, fewest - 1, -1):
        reached = np.where(reached >= 2 * n_leaves - 1, parent[reached], reached)
        right[n_leaves - fewest] = rows.weights[held][answer[reached] == rows.labels[held]].sum()
    return right
