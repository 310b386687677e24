"""What "auto" aims at: the rule that picks one of several trees, by cost, agreement or both, and leaves that pay."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import NamedTuple

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import Rows
from boxwood.explanation.choose import settings
from boxwood.grow.leaves.impurity import grown_to_sizes
from boxwood.grow.refinement.refine import means_of
from boxwood.grow.shared.costs import unit_of
from boxwood.grow.shared.names import clusters_reached, means_reached
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.loops.expand import squared_distances
from boxwood.metrics.costs import cost_about, cost_of_clusters
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree
from boxwood.words.values import beside

NONE_RIGHT = 1e-9  # share of the rows: less is none
AT_HAND = 1 << 16  # distances computed at a time, so that they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Candidate:
    """A tree, how it was grown, its cost or what computes it, and the weight of the rows outside their cluster."""

    tree: ThresholdTree
    name: str
    priced: float | Callable[[], float]
    mistakes: float

    @cached_property
    def cost(self) -> float:
        """The within-cluster cost; where agreement decides, it is computed for trees of as many mistakes alone."""
        return self.priced() if callable(self.priced) else self.priced


class GoalRule:
    """The rule that picks one of several trees whose costs and mistakes are known.

    "cost" takes the cheapest tree, "agreement" the one with the fewest rows outside their cluster; the other number
    decides between equal ones, and of equal trees the first is taken. "auto" is "agreement" for clusters that do not
    minimise cost. For others it takes the tree whose cost, divided by its agreement, is least: one percent of the cost
    weighs as much as one percent of the rows that are in their cluster. A cost below that of the clusters counts as
    theirs, because such a tree has found other clusters.

    Parameters
    ----------
    objective : {"auto", "cost", "agreement"}
        What was asked for.
    share_nearest : float
        Share of the rows that lie nearest to the mean of their own cluster.
    cost_of_clusters : float
        Cost of the clusters, as `comparable` returns it.
    weight : float
        Number, or weight, of the rows.
    """

    def __init__(self, objective: str, share_nearest: float, cost_of_clusters: float, weight: float) -> None:
        self.objective, self.share_nearest = objective, share_nearest
        self.by_cost = objective == "cost" or (objective == "auto" and share_nearest >= settings.NEAREST)
        self.cost_of_clusters, self.weight = cost_of_clusters, weight

    @property
    def reason(self) -> str:
        """Why "auto" looks at agreement alone, in words; empty if it does not."""
        if self.objective != "auto" or self.by_cost:
            return ""
        nearest = beside(self.share_nearest, settings.NEAREST, 0)
        return (
            f"the clusters are not compact ({nearest} of the rows are nearest to the mean of their own cluster), so "
            "the tree with the fewest rows in a wrong cluster was chosen, and no price is shown"
        )

    @property
    def gain(self) -> str:
        """What a better tree does, in words."""
        if self.objective == "cost":
            return "costs less"
        return "gets more rows right or costs less" if self.by_cost else "gets more rows right"

    def best(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the candidate that the goal takes."""
        least = min(map(self.loss, candidates))
        equal = [each for each in candidates if self.loss(each) == least]
        if len(equal) == 1:
            return equal[0]
        return min(equal, key=lambda each: each.mistakes if self.by_cost else each.cost)

    def ranked(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates, the most promising first: the one that the goal takes, then what it takes of the rest.

        Of trees with the same cost and mistakes only the first is in it.
        """
        rest, order = list(candidates), list[Candidate]()
        while rest:
            best = self.best(rest)
            order.append(best)
            others = (each for each in rest if each is not best)
            rest = [each for each in others if each.mistakes != best.mistakes or each.cost != best.cost]
        return order

    def loss(self, candidate: Candidate) -> float:
        """Return the number that the goal looks at first."""
        if not self.by_cost:
            return candidate.mistakes
        if self.objective == "cost":
            return candidate.cost
        right = max(1.0 - candidate.mistakes / self.weight, NONE_RIGHT) if self.weight > 0 else 1.0
        return max(candidate.cost, self.cost_of_clusters) / right

    def is_perfect(self, candidate: Candidate) -> bool:
        """Return whether no tree can be better: each row is in its cluster, and cheaper clusters are not asked for."""
        return candidate.mistakes == 0 and self.objective != "cost"

    def is_no_worse(self, candidate: Candidate, other: Candidate) -> bool:
        """Return whether a tree loses no more than another in the number that the goal looks at first."""
        return self.loss(candidate) <= self.loss(other)


class Goal(GoalRule):
    """The rule that picks one of the trees for a task; it measures them on the task's rows.

    Parameters
    ----------
    task : Task
        Rows and their clusters.
    objective : {"auto", "cost", "agreement"}
        What was asked for.
    share_nearest : float, optional
        Share of the rows that lie nearest to the mean of their own cluster, if it is known.
    """

    def __init__(self, task: Task, objective: str, share_nearest: float | None = None) -> None:
        self.task = task
        weight = float(task.kept.sum() if task.rows.weights is None else task.rows.weights[task.kept].sum())
        share = share_nearest_of(task) if share_nearest is None else share_nearest
        super().__init__(objective, share, 0.0, weight)
        if self.by_cost:
            self.cost_of_clusters = comparable(self._of_clusters)
        self._known: dict[ThresholdTree, tuple[Callable[[], float], float]] = {}  # what computes costs, and mistakes

    @cached_property
    def _of_clusters(self) -> float:
        return cost_of_clusters(self.task.rows, self.task.reference, SQEUCLIDEAN)

    def of_sample(self, sample: Task) -> Goal:
        """Return the goal on a sample of the rows; what it looks at is decided by all rows."""
        return Goal(sample, self.objective, self.share_nearest)

    def candidate(self, tree: ThresholdTree, name: str) -> Candidate:
        """Return a tree with its cost and mistakes, which are computed once for equal trees."""
        if tree not in self._known:
            reference, weights = self.task.reference, self.task.rows.weights
            predicted = clusters_reached(tree, self.task)
            wrong = reference.kept & (predicted != reference.labels)
            mistakes = float(wrong.sum() if weights is None else weights[wrong].sum())
            self._known[tree] = cache(partial(self._cost, tree)), mistakes
            if self.by_cost:  # while the leaves of the rows are known
                self._known[tree][0]()
        cost, mistakes = self._known[tree]
        return Candidate(tree, name, lambda: comparable(cost()), mistakes)

    def _cost(self, tree: ThresholdTree) -> float:
        labels = np.where(self.task.kept, clusters_reached(tree, self.task), -1)
        return cost_about(self.task.rows, labels, means_reached(tree, self.task, labels))

    def costs(self, tree: ThresholdTree) -> tuple[float, float]:
        """Return the cost of a tree that was a candidate, and that of the clusters, with all their digits."""
        return self._known[tree][0](), self._of_clusters

    def candidates(self, trees: Iterable[tuple[ThresholdTree, str]]) -> list[Candidate]:
        """Return the trees with their costs and mistakes; of equal trees only the first."""
        names: dict[ThresholdTree, str] = {}
        for tree, name in trees:
            names.setdefault(tree, name)
        return [self.candidate(tree, name) for tree, name in names.items()]


def comparable(cost: float) -> float:
    """Return a cost by which trees are compared: last digits depend on the order of rows, so they decide nothing."""
    mantissa, exponent = math.frexp(cost)
    return math.ldexp(round(mantissa * 2.0**settings.DIGITS), exponent - settings.DIGITS)


def goal_of(task: Task, objective: str) -> Goal:
    """Return the rule that picks one of the trees for a task; what it looks at is a property of labels and rows."""
    sample = sampled_for_search(task)
    return Goal(task, objective, None if sample is task else share_beyond_doubt(sample))


def sampled_for_search(task: Task) -> Task:
    """Return the rows on which growers that need several passes work: a sample, or all if they are few."""
    return task.sampled(max(settings.ROWS, settings.ROWS_PER_LEAF * task.leaves()))


def share_beyond_doubt(sample: Task) -> float | None:
    """Return the share of a sample's rows that lie nearest to the mean of their own cluster, if it is at least `SURE`.

    Then the share of all rows is at least `NEAREST`, too, as a sample has thousands of rows.
    """
    share = share_nearest_of(sample)
    return share if share >= settings.SURE else None


def share_nearest_of(task: Task) -> float:
    """Return the share of the rows that lie nearest to the mean of their own cluster."""
    X, reference, weights = task.rows.values, task.reference, task.rows.weights
    means = means_of(task, reference.labels)
    lacks = np.isnan(means[:, 0])
    centers = np.where(lacks[:, None], means[~lacks][0], means)
    by_column, unit = np.ascontiguousarray(centers.T), unit_of(*task.ranges, centers)

    def count(start: int, stop: int) -> Floats:
        labels, distances = reference.labels[start:stop], np.empty((stop - start, len(centers)))
        squared_distances(np.ascontiguousarray(X[start:stop]), by_column, unit, distances)
        distances[:, lacks] = np.inf
        kept = labels >= 0
        nearest_to_own: Array = distances[np.arange(len(labels)), np.where(kept, labels, 0)] <= distances.min(axis=1)
        weight: Array = np.where(kept, 1.0 if weights is None else weights[start:stop], 0.0)
        return np.array([weight[nearest_to_own].sum(), weight.sum()], dtype=np.float64)

    block = max(AT_HAND // len(means), 1)
    nearest_to_own, total = np.sum(map_blocks(count, len(X), block=block), axis=0)
    return float(nearest_to_own / total)


# ------------------------------------------------------------------------------------------------------ how many leaves


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
