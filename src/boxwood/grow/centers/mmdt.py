"""MMDT: the tree that separates the components of a mixture, grown from their means and variances alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood._validation import as_generator, list_words, refuse_unknown
from boxwood.errors import DataError
from boxwood.grow.grown import Grown, Split, grow_by_cuts
from boxwood.loops.mmdt import CANTELLI, CHEBYSHEV, GAUSSIAN, TAILS, gap_minima, partition_components, widest_gaps
from boxwood.reference import Mixture, Task
from boxwood.reference.mixture import sigma_of
from boxwood.reference.reference import alike_without, refuse_alike_centers
from boxwood.tree import ThresholdTree, between

AXES = ("gap", "range")


def mmdt(
    mixture: Mixture,
    *,
    axis: str = "gap",
    threshold: str = "midpoint",
    pooling: str = "max",
    sigma: ArrayLike | None = None,
    tie_break: str = "first",
    random_state: Any = None,
) -> ThresholdTree:
    """Return the Mixture Model Decision Tree: k leaves, the mean of one component in each.

    Each node is cut on the axis where its means are farthest apart, measured in standard deviations. The threshold lies
    between two of the means. No rows are read, so the time depends on k and d alone. With the defaults, shifting an
    axis or scaling it by a positive factor moves the cuts along and changes nothing else in the tree.

    Parameters
    ----------
    mixture : Mixture
        Weights, means and variances. Leaves carry the mixture's `clusters`, by default the numbers of its components.
    axis : {"gap", "range"}, default="gap"
        Axis to cut. "gap" takes the axis with the largest gap between neighbouring means, "range" the axis with the
        largest range of means; both are divided by the axis's pooled standard deviation.
    threshold : {"midpoint", "tails", "chebyshev", "cantelli", "gaussian", "uniform"}, default="midpoint"
        Where to cut the axis. "midpoint" is the middle of its largest gap. Four values minimise a sum over components,
        with each component's own weight p and variance σ²: "tails" the mass of the Gaussian tails on the wrong side,
        "chebyshev" the bounds p σ² / (θ - μ)² on it, "cantelli" the bounds p σ² / (σ² + (θ - μ)²), which hold for any
        law on one side, "gaussian" the bounds p exp(-(θ - μ)² / 2σ²). "uniform" draws the threshold uniformly between
        the smallest and the largest mean.
    pooling : {"max", "weighted"}, default="max"
        How the components' variances on an axis are made one: the largest of them, as the guarantees need it, or their
        mean by weight.
    sigma : array-like of shape (d,), default=None
        Standard deviations of the axes, or sub-Gaussian parameters, instead of the pooled ones. The guarantees hold for
        these sigmas if no component exceeds them.
    tie_break : {"first", "random"}, default="first"
        Choice among equally good axes, then among equally good thresholds: the lowest, or each with equal probability.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of "uniform" thresholds and of random ties; an int gives the same tree each time. It has no effect
        otherwise.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each component, and each mean lies in its own leaf.

    Raises
    ------
    DataError
        If components have equal means, which no cut separates; the message names them. If `sigma` is not one finite
        number for each axis.
    ValueError
        If a parameter has a value that is not listed.

    Notes
    -----
    The guarantees bound the fraction of rows that do not end in the leaf of their own component. Let no component
    exceed the sigmas, q be the explainability-to-noise ratio for them (with the factor 1/2), α the imbalance of the
    weights, and c a constant of sub-Gaussian tails, 1/2 for Gaussian components. With the defaults the fraction is at
    most c α (k - 1) exp(-q / 4k²): Theorem 1 of [2]. With `axis="range"` and `threshold="uniform"` the expected
    fraction is at most c α (k - 1) sqrt(π / q): Theorem 2 of [2]. With the middle of the largest gap and components of
    any law it is at most `theory.bounds.midpoint_error_bound`. `theory.bounds` says what holds for a given tree.

    "weighted" pooling lets a light component of large variance lie across a cut, so none of this holds for it. It is
    often a little better where wide components are frequent: among 102 clusterings of 34 tables (k-means, Gaussian
    mixtures, given classes) its price was lower by 1 % or more in 23, and that of "max" in 10.

    An axis without variance separates means without error, so it is cut before all others; among several such axes the
    one with the widest gap or range is cut. If no component varies on the chosen axis, every threshold between the same
    two means is equally good, and the middle of the largest gap is taken. The minima of the sums are exact to
    rounding: those of "tails" and "chebyshev" are convex in each gap, and those of "gaussian" and "cantelli" are
    searched from a grid that is fine close to the means. Losses that differ only by rounding (1e-12) count as equal.

    Time: d k log k to sort, and d k for each level of the tree (d k² at worst, for a chain). The four sums take, at
    each node, about the square of its number of components, and 100 times that if all gaps are equal. Memory: 20 bytes
    for each value of the means.

    References
    ----------
    [1] M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees",
    Algorithm 1 (`axis="range"`) and equations (4) to (6).
    [2] M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and
    Deep Representations", Algorithm 1 (`axis="gap"`).

    Examples
    --------
    >>> from boxwood import Mixture
    >>> mixture = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3)
    >>> mmdt(mixture).to_dict()["threshold"]
    4.0
    >>> mmdt(Mixture([1, 1], [[0], [10]], [[1], [4]]), threshold="tails").to_dict()["threshold"]
    3.47055...
    """
    refuse_unknown("axis", axis, AXES)
    refuse_unknown("threshold", threshold, THRESHOLDS)
    refuse_unknown("tie_break", tie_break, ("first", "random"))
    deviations = sigma_of(mixture, pooling, sigma)
    random = as_generator(random_state)
    choose = _any_of(random) if tie_break == "random" else _first
    grower = _Grower(mixture, deviations, axis, threshold, choose, random)
    return grow_by_cuts((0, mixture.n_components), grower.step)


def grow_mmdt(
    task: Task,
    *,
    axis: str = "gap",
    threshold: str = "midpoint",
    pooling: str = "max",
    sigma: ArrayLike | None = None,
    tie_break: str = "first",
) -> Grown:
    """Return the tree of `mmdt` for the mixture of a task's clusters, on the columns that cuts may test."""
    mixture, hidden = task.components, list(task.budget.forbidden)
    allowed = mixture
    if hidden:
        refuse_alike_centers(alike_without(mixture.names, mixture.means, hidden), "mmdt")
        means = mixture.means.copy()
        means[:, hidden] = 0.0
        allowed = replace(mixture, means=means)
    tree = mmdt(
        allowed,
        axis=axis,
        threshold=threshold,
        pooling=pooling,
        sigma=sigma,
        tie_break=tie_break,
        random_state=task.random_state,
    )
    return Grown(tree, "mmdt", attributes={"mixture": mixture})


_Node: TypeAlias = tuple[int, int]
"""The components of a node: a range of positions in the order of every axis. The second number is past the end."""


class _Grower:
    """One run of the algorithm: the order of the means on each axis, partitioned at every cut."""

    def __init__(
        self,
        mixture: Mixture,
        deviations: Floats,
        axis: str,
        threshold: str,
        choose: Choose,
        random: np.random.Generator,
    ) -> None:
        self.mixture, self.deviations, self.choose = mixture, deviations, choose
        self.axis, self.threshold = axis, threshold
        self.random = random if threshold == "uniform" else None
        self.columns = np.ascontiguousarray(mixture.means.T)
        self.order = np.argsort(self.columns, axis=1, kind="stable").astype(np.int32)
        self.gaps, self.ranges = np.empty(len(deviations)), np.empty(len(deviations))
        self.is_left = np.zeros(mixture.n_components, dtype=np.bool_)
        self.scratch = np.empty(mixture.n_components, dtype=np.int32)

    def step(self, node: _Node) -> int | Split[_Node]:
        """Return the cluster of a node with one component, or its split."""
        start, stop = node
        if stop - start == 1:
            return int(self.mixture.clusters[self.order[0, start]])
        j = self._axis(start, stop)
        threshold, middle = self._cut(j, start, stop)
        return Split(j, threshold, (start, middle), (middle, stop))

    def _axis(self, start: int, stop: int) -> int:
        """Return the axis on which the means of a node are farthest apart, in pooled standard deviations."""
        widest_gaps(self.columns, self.order, start, stop, self.gaps, self.ranges)
        lengths = self.gaps if self.axis == "gap" else self.ranges
        differ = lengths > 0
        if not differ.any():
            equal = [str(self.mixture.names[c]) for c in sorted(self.order[0, start:stop])]
            raise DataError(
                f"components with equal means, which no cut separates: {list_words(equal)}; make them one, or use CART"
            )
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratios = np.where(differ, lengths / self.deviations, -1.0)
        largest = ratios.max()
        if np.isinf(largest):  # among axes without variance, lengths decide
            ratios = np.where(np.isinf(ratios), lengths, -1.0)
            largest = ratios.max()
        return self.choose(np.flatnonzero(ratios == largest))

    def _cut(self, j: int, start: int, stop: int) -> tuple[float, int]:
        """Return the threshold on an axis and where the right child begins; the order is partitioned on all axes."""
        components = self.order[j, start:stop].copy()
        means = self.columns[j, components]
        weights, variances = self.mixture.weights[components], self.mixture.variances[components, j]
        threshold = choose_threshold(self.threshold, means, weights, variances, self.choose, self.random)
        n_left = int(np.searchsorted(means, threshold, side="right"))
        self.is_left[components] = np.arange(len(components)) < n_left
        partition_components(self.order, start, stop, self.is_left, self.scratch)
        return threshold, start + n_left


def _first(candidates: Indices) -> int:
    return int(candidates[0])


def _any_of(random: np.random.Generator) -> Choose:
    return lambda candidates: int(random.choice(candidates)) if len(candidates) > 1 else int(candidates[0])


THRESHOLDS = ("midpoint", "tails", "chebyshev", "cantelli", "gaussian", "uniform")
_OBJECTIVES = {"tails": TAILS, "chebyshev": CHEBYSHEV, "cantelli": CANTELLI, "gaussian": GAUSSIAN}
_ROUNDING = 1e-12  # losses with a smaller relative difference are equal, as they are sums in different orders

Choose = Callable[[Indices], int]  # chooses one of several equally good candidates, which come in ascending order


def choose_threshold(
    threshold: str,
    means: Floats,
    weights: Floats,
    variances: Floats,
    choose: Choose,
    random: np.random.Generator | None,
) -> float:
    """Return a threshold t, `means[0] <= t < means[-1]`, for means in ascending order, not all equal.

    `random` is a generator for "uniform" thresholds, and None for all others.
    """
    if random is not None:
        return _uniform(means, random)
    if threshold == "midpoint" or not variances.any():  # without variance no threshold has a loss
        return _halfway(means, choose)
    return _least_loss(_OBJECTIVES[threshold], means, weights, variances, choose)


def _uniform(means: Floats, random: np.random.Generator) -> float:
    fraction = random.random()
    drawn = means[0] * (1.0 - fraction) + means[-1] * fraction
    return float(np.clip(drawn, means[0], np.nextafter(means[-1], -np.inf)))


def _halfway(means: Floats, choose: Choose) -> float:
    with np.errstate(over="ignore"):
        gaps = np.diff(means)
    gap = choose(np.flatnonzero(gaps == gaps.max()))
    return float(between(means[gap], means[gap + 1]))


def _least_loss(objective: int, means: Floats, weights: Floats, variances: Floats, choose: Choose) -> float:
    thresholds, scores = np.empty(len(means) - 1), np.empty(len(means) - 1)
    with np.errstate(all="ignore"):  # logarithms of 0: numpy warns of them if loops are not compiled
        gap_minima(means, np.log(weights), np.sqrt(variances), objective, thresholds, scores)
    least = float(scores.min())
    if least == np.inf:  # Chebyshev's bound is infinite if no double lies between two means
        return _halfway(means, choose)
    margin = _ROUNDING * max(1.0, abs(least)) if np.isfinite(least) else 0.0
    return float(thresholds[choose(np.flatnonzero(scores <= least + margin))])
