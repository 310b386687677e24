"""What "auto" aims at: the rule that picks one of several trees, by cost, agreement or both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Array, Floats
from boxwood.explanation.choose import settings
from boxwood.grow.refinement.refine import means_of_labels
from boxwood.grow.shared.costs import unit_of
from boxwood.grow.shared.names import clusters_reached, means_reached
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.loops.expand import squared_distances
from boxwood.metrics.costs import cost_about, cost_of_clusters
from boxwood.reference import Task
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
    means = means_of_labels(task, reference.labels)
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
