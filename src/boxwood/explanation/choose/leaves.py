"""How many leaves labels need where nobody says: one for each of compact clusters, else as many as pay on new rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood._validation import Rows
from boxwood.explanation.choose import settings
from boxwood.explanation.choose.goal import share_nearest_of
from boxwood.grow.leaves.impurity import grown_to_sizes
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget


class LeavesThatPay(NamedTuple):
    """The number of leaves that labels need, and the share of new rows that trees of some numbers of leaves get right.

    Parameters
    ----------
    n_leaves : int
        The number that was chosen.
    sizes : tuple of int
        The numbers that were tried, from the number of clusters on.
    right : array of shape (n_sizes,)
        Share of the rows of other folds that CART gets right with so many leaves.
    """

    n_leaves: int
    sizes: tuple[int, ...]
    right: Floats


def leaves_that_pay(task: Task, measured: Floats) -> LeavesThatPay | None:
    """Return how many leaves the labels of a task in memory need; None for compact clusters, which need one each.

    Clusters are compact if nearly all rows are nearest to the mean of their own, in the columns as they are or brought
    to one variance. Of up to eight numbers from the clusters' to eight, or twice the clusters', it is the least with
    which CART gets as many rows of other folds right as with any, up to two standard errors or one percent of the rows.
    It is the clusters' if none gets clearly more right than the largest cluster has. Equal rows are in one fold, so the
    answer does not depend on the order of rows.

    IN: task: of some `LEAVES_ROWS` rows, as time is that of growing five trees and of eight predictions by each;
    measured: the rows in the columns in which distances count, NaN for rows that lack a value, which are not looked at.
    """
    k, kept = task.reference.n_clusters, task.kept
    most = task.with_leaves(max(settings.LEAVES, settings.LEAVES_EACH * k)).leaves()
    labels, weights = task.reference.labels[kept], task.rows.weights
    mass, whole = None if weights is None else weights[kept], np.isfinite(measured[kept]).all(axis=1)
    known = measured[kept][whole], labels[whole], (np.ones(len(labels)) if mass is None else mass)[whole]
    if most <= k or _are_compact(*known, task.reference.names):
        return None
    allowed = np.setdiff1d(np.arange(task.n_columns), np.array(task.budget.forbidden, dtype=np.intp))
    rows = _Rows.of(task.rows.values[kept][:, allowed], labels, mass)
    sizes = np.unique(np.linspace(k, most, settings.LEAVES_SIZES).round().astype(int)).tolist()
    folds = [_right(task, rows, rows.fold == fold, sizes) for fold in range(settings.LEAVES_FOLDS)]
    right = np.minimum(np.sum(folds, axis=0) / rows.weights.sum(), 1.0)  # which rounded sums may exceed
    best = right.max()
    error = max(2 * np.sqrt(best * (1 - best) / kept.sum()), settings.LEAVES_GAIN)
    always = np.bincount(rows.labels, rows.weights).max() / rows.weights.sum()
    place = int(np.argmax(right >= best - error)) if best > always + error else 0
    return LeavesThatPay(sizes[place], tuple(sizes), right)


def _are_compact(X: Floats, labels: Indices, mass: Floats, names: Sequence[Hashable]) -> bool:
    """Return whether nearly all rows are nearest to their cluster's mean, in the columns as they are or scaled.

    They are not if no row can be looked at.
    """
    if not len(X):
        return False
    reference = Reference(labels, np.zeros((len(names), X.shape[1])), tuple(names))
    with np.errstate(over="ignore", invalid="ignore"):
        spread = _in_short(X.std(axis=0))
    scaled = np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
    tasks = (Task.of(Rows(X / unit, mass), reference) for unit in (1.0, scaled))
    return any(share_nearest_of(task) >= settings.NEAREST for task in tasks)


def _in_short(numbers: Floats) -> Floats:
    """Return numbers by their first digits, as the last ones depend on the processor."""
    mantissa, exponent = np.frexp(numbers)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, 20)), exponent - 20), dtype=np.float64)


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


def _right(task: Task, rows: _Rows, held: Bools, sizes: Sequence[int]) -> Floats:
    """Return the weight of the rows held out that CART gets right, for each number of leaves."""
    seen, right = ~held, np.zeros(len(sizes))
    if not seen.any() or not held.any():
        return right
    names = task.reference.names
    reference = Reference(rows.labels[seen], np.zeros((len(names), rows.ranks.shape[1])), names)
    budget = Budget(max_depth=task.budget.max_depth)
    part = Task.of(Rows(rows.ranks[seen], rows.weights[seen]), reference, budget=budget, n_jobs=task.n_jobs)
    for i, tree in enumerate(grown_to_sizes(part, "gini", sizes)):
        right[i] = rows.weights[held][tree.predict(rows.ranks[held]) == rows.labels[held]].sum()
    return right
