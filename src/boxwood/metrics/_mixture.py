"""How well axis-aligned cuts can tell the components of a mixture apart, and how often a tree does not.

Fleissner, Zarvandi and Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees" and "Decision Trees for
Interpretable Clusters in Mixture Models and Deep Representations".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_generator
from boxwood.errors import DataError
from boxwood.metrics._mixture_boxes import check_mixture, draw, has_independent_axes, reaches
from boxwood.reference import Mixture
from boxwood.tree import ThresholdTree

__all__ = [
    "ErrorRate",
    "ExplainabilityToNoise",
    "SignalToNoise",
    "error_rate",
    "explainability_to_noise",
    "signal_to_noise",
]

_SAMPLES = 200_000
_FACTOR = {"variance": 1.0, "subgaussian": 0.5}


class ExplainabilityToNoise(NamedTuple):
    """Explainability-to-noise ratio, and the pair of components and the axis that attain it."""

    value: float
    pair: tuple[int, int]
    axis: int


class SignalToNoise(NamedTuple):
    """Signal-to-noise ratio, and the pair of components that attains it."""

    value: float
    pair: tuple[int, int]


class ErrorRate(NamedTuple):
    """Share of rows whose leaf is not their component's; `standard_error` is 0 where `exact`, else of the sample."""

    value: float
    standard_error: float
    exact: bool


def explainability_to_noise(
    mixture: Mixture, *, convention: str = "variance", pooling: str = "max", sigma: ArrayLike | None = None
) -> ExplainabilityToNoise:
    """Return the explainability-to-noise ratio: how far apart, on its best axis, the closest pair of components is.

    The smallest over pairs of components of the largest over axes of (difference of means)² / sigma². It is large where
    every two components can be told apart by a single cut, and it governs how many rows a tree must lose.

    Parameters
    ----------
    mixture : Mixture
        Components; at least two.
    convention : {"variance", "subgaussian"}, default="variance"
        "variance" divides by sigma², "subgaussian" by 2 sigma². Each bound of `boxwood.theory` takes its own.
    pooling : {"max", "weighted"}, default="max"
        How the variances of the components along an axis become one sigma²; see `Mixture.pooled_variances`. The
        guarantees need "max".
    sigma : array-like of shape (d,), default=None
        Standard deviations, or sub-Gaussian parameters of the same unit, to take instead of the pooled ones. Never
        variances.

    Returns
    -------
    ExplainabilityToNoise
        `value` has no unit; it is infinite where an axis without variance tells each pair apart, 0 for equal means.
        `pair` is the first pair that attains it, `axis` the first axis that attains it for that pair. Scaling or
        shifting any axis changes none of them.

    Raises
    ------
    DataError
        If there is only one component, or `sigma` does not fit.
    ValueError
        If the convention or the pooling is unknown.

    Notes
    -----
    Takes time k² d and memory k d. The signal-to-noise ratio over d is a lower bound, the ratio itself an upper one.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Definition 2
    (variance); the same, "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations",
    Definition 1 (subgaussian). The conventions differ by the factor 2 exactly.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> mixture = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3)
    >>> explainability_to_noise(mixture)
    ExplainabilityToNoise(value=25.0, pair=(1, 2), axis=1)
    >>> explainability_to_noise(mixture, convention="subgaussian").value
    12.5
    """
    factor, noise = _factor(convention), _sigma(mixture, pooling, sigma)
    best = np.inf, (0, 1), 0
    for first in range(len(mixture.weights) - 1):
        ratios = _ratios(mixture, first, noise)
        largest = ratios.max(axis=1)
        other = int(largest.argmin())
        if first == 0 or largest[other] < best[0]:
            best = float(largest[other]), (first, first + 1 + other), int(ratios[other].argmax())
    return ExplainabilityToNoise(factor * best[0], *best[1:])


def signal_to_noise(
    mixture: Mixture, *, convention: str = "variance", pooling: str = "max", sigma: ArrayLike | None = None
) -> SignalToNoise:
    """Return the signal-to-noise ratio: as `explainability_to_noise`, with the sum over axes in place of the largest.

    The ratio at the closest pair of components. It counts what all axes together know, of which a single cut sees one;
    always holds: `snr / d <= enr <= snr`. Parameters, errors, time and memory are those of `explainability_to_noise`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 2.4.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> signal_to_noise(Mixture([0.5, 0.5], [[0, 0], [3, 4]], [[1, 1], [1, 1]]))
    SignalToNoise(value=25.0, pair=(0, 1))
    """
    factor, noise = _factor(convention), _sigma(mixture, pooling, sigma)
    best = np.inf, (0, 1)
    for first in range(len(mixture.weights) - 1):
        sums = _ratios(mixture, first, noise).sum(axis=1)
        other = int(sums.argmin())
        if first == 0 or sums[other] < best[0]:
            best = float(sums[other]), (first, first + 1 + other)
    return SignalToNoise(factor * best[0], best[1])


def _factor(convention: str) -> float:
    if convention not in _FACTOR:
        raise ValueError(f"convention must be 'variance' or 'subgaussian', got {convention!r}")
    return _FACTOR[convention]


def _sigma(mixture: Mixture, pooling: str, sigma: ArrayLike | None) -> Floats:
    """Return one standard deviation for each axis, shape (d,)."""
    if len(mixture.weights) < 2:
        raise DataError("one component has nothing to be told apart from; give a mixture of at least two")
    if sigma is None:
        return np.sqrt(mixture.pooled_variances(pooling))
    given, d = np.asarray(sigma, dtype=np.float64), mixture.means.shape[1]
    if given.shape != (d,) or not np.isfinite(given).all() or (given < 0).any():
        raise DataError(f"sigma must be {d} finite numbers, not negative, one for each axis; got {sigma!r}")
    return given


def _ratios(mixture: Mixture, first: int, sigma: Floats) -> Floats:
    """Return the ratio of the first component and each later one along each axis, shape (k - first - 1, d)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        apart = np.abs(mixture.means[first + 1 :] - mixture.means[first])
        return np.where(apart > 0, (apart / sigma) ** 2, 0.0)


def error_rate(
    mixture: Mixture, tree: ThresholdTree, *, n_samples: int | None = None, random_state: Any = None
) -> ErrorRate:
    """Return the share of rows of a Gaussian mixture that the tree labels with another component than their own.

    Exact where the axes of each component are independent: a leaf is a box, and a box is a product of normal interval
    probabilities. Wrong leaves are summed up, so that an error of 1e-30 is as accurate as one of 0.3.

    Parameters
    ----------
    mixture : Mixture
        Components, taken as Gaussians; those without variance along an axis are at their mean there.
    tree : ThresholdTree
        Tree whose clusters are the components. Interval cuts and several leaves for one component are allowed.
    n_samples : int, default=None
        Number of rows to draw instead. None is exact for independent axes and 200 000 rows for correlated ones.
    random_state : int, Generator, RandomState or None, default=None
        Source of the rows drawn.

    Returns
    -------
    ErrorRate
        `value`, `standard_error` and `exact`. The standard error of a sample is never 0: it is that of (errors + 1) /
        (rows + 2).

    Raises
    ------
    DataError
        If the tree tests other columns than the mixture has, or has other clusters.
    ValueError
        If `n_samples` is less than 1.

    Notes
    -----
    With L leaves and m columns on a path, exact takes time L m k and memory m k; sampling takes time and memory
    `n_samples` times d (d² with correlations).

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 2.3.

    Examples
    --------
    >>> from boxwood import Mixture, ThresholdTree
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> error_rate(Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]]), tree)
    ErrorRate(value=0.022750131948179195, standard_error=0.0, exact=True)
    """
    check_mixture(mixture, tree)
    if n_samples is None and has_independent_axes(mixture):
        return ErrorRate(_exact_error(mixture, tree), 0.0, True)
    n = _SAMPLES if n_samples is None else n_samples
    if n < 1:
        raise ValueError(f"n_samples must be at least 1, got {n}")
    X, labels = draw(mixture, n, as_generator(random_state))
    errors = int(np.count_nonzero(tree.predict(X) != labels))
    near = (errors + 1) / (n + 2)
    return ErrorRate(errors / n, float(np.sqrt(near * (1 - near) / n)), False)


def _exact_error(mixture: Mixture, tree: ThresholdTree) -> float:
    wrong = np.zeros(len(mixture.weights))
    for leaf in reaches(mixture, tree):
        strangers = np.arange(len(wrong)) != leaf.cluster
        wrong[strangers] += leaf.probability[strangers]
    return min(1.0, float(mixture.weights @ wrong))
