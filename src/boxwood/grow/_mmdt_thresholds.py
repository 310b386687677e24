"""The threshold of a cut on one axis, among the means of a node: a midpoint, a smallest loss, or random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.loops.mmdt_thresholds import CANTELLI, CHEBYSHEV, GAUSSIAN, TAILS, gap_minima
from boxwood.tree import between

__all__ = ["THRESHOLDS", "Choose", "choose_threshold"]

THRESHOLDS = ("midpoint", "tails", "chebyshev", "cantelli", "gaussian", "uniform")
_OBJECTIVES = {"tails": TAILS, "chebyshev": CHEBYSHEV, "cantelli": CANTELLI, "gaussian": GAUSSIAN}
_ROUNDING = 1e-12  # losses within this relative distance are equal: they are sums in different orders

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


def _least_loss(
    objective: int,
    means: Floats,
    weights: Floats,
    variances: Floats,
    choose: Choose,
) -> float:
    thresholds, scores = np.empty(len(means) - 1), np.empty(len(means) - 1)
    with np.errstate(all="ignore"):  # logarithms of 0: numpy warns of them if loops are not compiled
        gap_minima(means, np.log(weights), np.sqrt(variances), objective, thresholds, scores)
    least = float(scores.min())
    if least == np.inf:  # Chebyshev's bound is infinite if no double lies between two means
        return _halfway(means, choose)
    margin = _ROUNDING * max(1.0, abs(least)) if np.isfinite(least) else 0.0
    return float(thresholds[choose(np.flatnonzero(scores <= least + margin))])
