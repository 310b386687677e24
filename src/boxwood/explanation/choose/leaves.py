"""How many leaves labels need where nobody says: as many as pay on rows of other folds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood._validation import Rows
from boxwood.axes.categories import Categories
from boxwood.axes.mixed import NONE_ALIKE, MixedMap
from boxwood.explanation.choose import settings
from boxwood.grow.leaves.impurity import grown_to_sizes
from boxwood.loops.expand import squared_distances
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.reference.feature_space import FeatureSpace


class LeavesThatPay(NamedTuple):
    """The number of leaves that labels need, and what trees of some numbers of leaves get right of new rows.

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


class CutColumns(NamedTuple):
    """The columns that cuts may test.

    Parameters
    ----------
    values : array of shape (n, d)
        Numbers, infinite where one is missing, and codes of words.
    words : mapping from column to Categories
        The columns of words.
    alike : mapping from column to array of shape (m,)
        Code that stands for each code, where some words are not told apart; see `words_alike`.
    """

    values: Floats
    words: Mapping[int, Categories]
    alike: Mapping[int, Indices]

    @classmethod
    def of(cls, task: Task, here: FeatureSpace | None = None) -> CutColumns:
        """Return the columns of a task, or those of a table of words and gaps behind them; IN: here: the same rows."""
        allowed = np.setdiff1d(np.arange(task.n_columns), np.array(task.budget.forbidden, dtype=np.intp))
        if here is None or not isinstance(here.axis_map, MixedMap):
            return cls(np.asarray(task.rows.values, dtype=np.float64)[:, allowed], {}, NONE_ALIKE)
        tested = np.unique(here.axis_map.features[allowed]).tolist()
        words = {place: here.categories[j] for place, j in enumerate(tested) if j in here.categories}
        alike = {place: here.alike[j] for place, j in enumerate(tested) if j in here.alike}
        return cls(np.asarray(here.table.values, dtype=np.float64)[:, tested], words, alike)

    def in_ranks(self) -> CutColumns:
        """Return the columns with numbers as their ranks, as no tree depends on more."""
        ranks = np.stack([np.unique(x, return_inverse=True)[1] for x in self.values.T], axis=1).astype(np.float64)
        coded = np.isin(np.arange(ranks.shape[1]), list(self.words)) | ~np.isfinite(self.values)
        return self._replace(values=np.where(coded, self.values, ranks))

    def grown_for(self, labels: Indices, mass: Floats) -> Floats:
        """Return columns in which the rows seen tell which sets of words, and which side of missing values, are cuts.

        IN: labels, mass (n,): cluster of each row, -1 for one that is not seen, and its weight.
        """
        numbers = [x for j, x in enumerate(self.values.T) if j not in self.words]
        columns = [one for x in numbers for one in _on_both_sides(x)]
        if self.words:
            columns += self._sets(labels, mass)
        return np.stack(columns, axis=1)

    def _sets(self, labels: Indices, mass: Floats) -> list[Floats]:
        words = list(self.words)
        known = {place: self.words[j] for place, j in enumerate(words)}
        alike = {place: self.alike[j] for place, j in enumerate(words) if j in self.alike}
        axis_map = MixedMap(self.values[:, words], known, labels, mass, alike=alike)
        images = axis_map.transform(self.values[:, words])
        cut = np.setdiff1d(np.arange(axis_map.n_columns), np.array(axis_map.uncut, dtype=np.intp))
        return [np.unique(x, return_inverse=True)[1].astype(np.float64) for x in images.T[cut]]


def _on_both_sides(x: Floats) -> Iterator[Floats]:
    """Yield ranks with missing values above all others, and below them if there are some."""
    lacks = np.isposinf(x)
    yield np.where(lacks, len(x), x)
    if lacks.any():
        yield np.where(lacks, -1.0, x)


def leaves_that_pay(task: Task, here: FeatureSpace | None = None) -> LeavesThatPay | None:
    """Return how many leaves the labels of a task in memory need; None for clusters of k-means, which need one each.

    Up to eight numbers are tried, from the clusters' to eight, or twice the clusters'. CART is grown on four of five
    folds, with sets of words as cuts, and asked for the rows of the fifth. The least number is taken to which no larger
    one adds enough: more than luck, and of the rows half a percent and another half for each further leaf, or twice as
    much of each cluster's rows in the mean. It is the clusters' if none gets clearly more right than the largest
    cluster has. Equal rows are in one fold, unless they are many, so the answer does not depend on the order of rows.

    IN: task: of some `LEAVES_ROWS` rows, as time is that of growing five trees and of eight predictions by each, with
    the centres of all rows; here: the same rows in the table's columns, if these are not those of the task.
    """
    k, kept = task.reference.n_clusters, task.kept
    most = task.with_leaves(max(settings.LEAVES, settings.LEAVES_EACH * k)).leaves()
    if most <= k or _are_of_k_means(task, _of_numbers(task, here)):
        return None
    weights = task.rows.weights
    mass = kept.astype(np.float64) if weights is None else np.where(kept, weights, 0.0)
    rows = _Rows.of(CutColumns.of(task, here), task.reference.labels, mass)
    sizes = np.unique(np.linspace(k, most, settings.LEAVES_SIZES).round().astype(int)).tolist()
    right = np.zeros((len(sizes), len(rows.labels)), dtype=bool)
    for fold in range(settings.LEAVES_FOLDS):
        right[:, rows.fold == fold] = _right(task, rows, rows.fold == fold, sizes)
    place = _least_that_pays(right, rows, sizes, int(kept.sum()))
    return LeavesThatPay(sizes[place], tuple(sizes), np.minimum(right @ rows.weights / rows.weights.sum(), 1.0))


def _of_numbers(task: Task, here: FeatureSpace | None) -> Indices:
    """Return the task's columns that are numbers, a missing one the median of the others."""
    if here is None or not isinstance(here.axis_map, MixedMap):
        return np.arange(task.n_columns)
    axis_map = here.axis_map
    return np.array([axis_map.starts[j] for j in range(axis_map.n_features) if j not in here.categories], dtype=np.intp)


def _are_of_k_means(task: Task, numbers: Indices) -> bool:
    """Return whether a step of k-means would hardly lower the cost of the clusters, in numbers as they are or scaled.

    Columns of two values, and words, are not looked at: conditions on these part the means of their columns, too. The
    clusters are not those of k-means if nothing else can be looked at.
    """
    kept, weights = task.kept, task.rows.weights
    X, centers = np.asarray(task.rows.values, dtype=np.float64)[kept][:, numbers], task.reference.centers[:, numbers]
    several = [len(np.unique(x)) > 2 for x in X.T]
    if not any(several):
        return False
    X, centers, own = X[:, several], centers[:, several], task.reference.labels[kept]
    mass = np.ones(len(X)) if weights is None else weights[kept]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = X.std(axis=0)
        units = np.ones_like(spread), np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
        return any(_is_settled(X / unit, centers / unit, own, mass) for unit in units)


def _is_settled(X: Floats, centers: Floats, own: Indices, mass: Floats) -> bool:
    """Return whether nearly all rows are nearest to their own centre, and others hardly farther from it.

    IN: own, mass (n,): cluster and weight of each row.
    """
    costs = np.empty((len(X), len(centers)))
    squared_distances(np.ascontiguousarray(X), np.ascontiguousarray(centers.T), 2.0, costs)
    least, now = costs.min(axis=1), costs[np.arange(len(own)), own]
    is_near = mass @ (now <= least) >= settings.NEAREST * mass.sum()
    return bool(is_near and np.isfinite(now).all() and mass @ least >= settings.OF_K_MEANS * (mass @ now))


class _Rows(NamedTuple):
    """Distinct rows in an order of their own, with weights and a fold for each.

    Equal rows are in one fold, as copies tell nothing of new rows; but ten and more are no copies: flags and words have
    few different rows, which come again. Each fold has an equal share of these.
    """

    columns: CutColumns
    labels: Indices
    weights: Floats
    fold: Indices

    @classmethod
    def of(cls, columns: CutColumns, labels: Indices, weights: Floats) -> _Rows:
        counts = weights > 0
        values, labels, weights = columns.in_ranks().values[counts], labels[counts], weights[counts]
        every = np.column_stack([values, labels])
        _, first, place = np.unique(every, axis=0, return_index=True, return_inverse=True)
        mass = np.bincount(place.ravel(), weights, minlength=len(first)).astype(np.float64)
        _, same = np.unique(values[first], axis=0, return_inverse=True)  # with any label
        folds = settings.LEAVES_FOLDS
        many = np.bincount(same.ravel(), mass)[same.ravel()] >= settings.COPIES * mass.sum() / len(labels)
        drawn = np.random.default_rng(0).permutation(len(first))
        by_label = drawn[np.argsort(labels[first][drawn], kind="stable")]
        fold = np.empty(len(first), dtype=np.intp)
        fold[by_label] = np.arange(len(first)) % folds
        fold = fold[np.unique(same.ravel(), return_index=True)[1]][same.ravel()]
        order = np.append(np.flatnonzero(~many), np.repeat(np.flatnonzero(many), folds))
        fold = np.append(fold[~many], np.tile(np.arange(folds), int(many.sum())))
        mass = np.where(many, mass / folds, mass)[order]
        return cls(columns._replace(values=values[first][order]), labels[first][order], mass, fold)


def _right(task: Task, rows: _Rows, held: Bools, sizes: Sequence[int]) -> Bools:
    """Return for each number of leaves which rows CART gets right that are held out, shape (n_sizes, n_held)."""
    right = np.zeros((len(sizes), int(held.sum())), dtype=bool)
    if held.all() or not held.any():
        return right
    labels, names = np.where(held, -1, rows.labels), task.reference.names
    X = rows.columns.grown_for(labels, rows.weights)
    reference = Reference(labels[~held], np.zeros((len(names), X.shape[1])), names)
    budget = Budget(max_depth=task.budget.max_depth)
    part = Task.of(Rows(X[~held], rows.weights[~held]), reference, budget=budget, n_jobs=task.n_jobs)
    for i, tree in enumerate(grown_to_sizes(part, "gini", sizes)):
        right[i] = tree.predict(X[held]) == rows.labels[held]
    return right


def _least_that_pays(right: Bools, rows: _Rows, sizes: Sequence[int], n_rows: int) -> int:
    """Return the place of the least number of leaves to which no larger one adds enough; 0 if none tells the labels.

    IN: right (n_sizes, n): which rows are right with each number; n_rows: how many rows there are, of any weight.
    """
    shares = rows.weights / rows.weights.sum()
    of_cluster = np.bincount(rows.labels, shares)
    balanced = shares / of_cluster[rows.labels] / np.count_nonzero(of_cluster)
    always = rows.labels == of_cluster.argmax()
    if not any(_adds(one, always, shares, shares, n_rows) >= settings.LEAVES_GAIN for one in right):
        return 0
    for i, few in enumerate(right):
        gains = [(1 + sizes[j] - sizes[i]) / 2 * settings.LEAVES_GAIN for j in range(i + 1, len(sizes))]
        more = list(zip(right[i + 1 :], gains, strict=True))
        if not any(
            _adds(one, few, shares, shares, n_rows) > gain or _adds(one, few, balanced, shares, n_rows) > 2 * gain
            for one, gain in more
        ):
            return i
    return len(sizes) - 1


def _adds(more: Bools, few: Bools, counts: Floats, shares: Floats, n_rows: int) -> float:
    """Return how much more of the rows one tree gets right than another; 0 if that may be luck.

    Luck is two standard errors of the difference, to which those rows add that one tree alone gets right.

    IN: more, few (n,): rows that each gets right; counts (n,): what a row counts; shares (n,): of all `n_rows`.
    """
    differ = more != few
    adds = float(counts[more].sum() - counts[few].sum())
    luck = settings.LUCK * math.sqrt(float((counts[differ] ** 2 / shares[differ]).sum()) / n_rows)
    return adds if adds > luck else 0.0
