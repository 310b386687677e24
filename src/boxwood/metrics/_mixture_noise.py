"""How well axis-aligned cuts can separate the components of a mixture: distances of means, in units of noise.

Fleissner, Zarvandi and Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees" and "Decision Trees for
Interpretable Clusters in Mixture Models and Deep Representations".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import shown
from boxwood.errors import DataError
from boxwood.reference import Mixture
from boxwood.reference._mixture import refuse_no_mixture, sigma_of

__all__ = ["ExplainabilityToNoise", "SignalToNoise", "explainability_to_noise", "signal_to_noise"]

_FACTOR = {"variance": 1.0, "subgaussian": 0.5}


class ExplainabilityToNoise(NamedTuple):
    """Explainability-to-noise ratio, with the pair of components and the axis that attain it."""

    value: float
    pair: tuple[int, int]
    axis: int


class SignalToNoise(NamedTuple):
    """Signal-to-noise ratio, with the pair of components that attains it."""

    value: float
    pair: tuple[int, int]


def explainability_to_noise(
    mixture: Mixture, *, convention: str = "variance", pooling: str = "max", sigma: ArrayLike | None = None
) -> ExplainabilityToNoise:
    """Return the explainability-to-noise ratio: the squared distance of the closest components, on their best axis.

    It is the minimum over pairs of components of the maximum over axes of (difference of means)² / sigma². It is large
    if a single cut can separate any two components: the larger it is, the fewer rows a tree must put into wrong leaves.

    Parameters
    ----------
    mixture : Mixture
        Components; at least two.
    convention : {"variance", "subgaussian"}, default="variance"
        "variance" divides by sigma², "subgaussian" by 2 sigma². Each bound of `boxwood.theory` states which it uses.
    pooling : {"max", "weighted"}, default="max"
        How the variances of the components along an axis become one sigma²; see `Mixture.pooled_variances`. The
        guarantees need "max".
    sigma : array-like of shape (d,), default=None
        Standard deviations (never variances), or sub-Gaussian parameters of the same unit, instead of the pooled ones.

    Returns
    -------
    ExplainabilityToNoise
        `value` has no unit. It is infinite if every pair differs on an axis without variance, and 0 if two components
        have equal means. `pair` is the first pair that attains it, `axis` the first axis that attains it for that pair.
        Scaling or shifting an axis changes none of the three.

    Raises
    ------
    DataError
        If there is only one component, or `sigma` is not one finite number per axis.
    ValueError
        If the convention or the pooling is unknown.

    Notes
    -----
    Takes time k² d and memory k d. With snr the signal-to-noise ratio, always holds: `snr / d <= enr <= snr`.

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
    factor, noise = _factor(convention), _noise(mixture, pooling, sigma)
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
    """Return the signal-to-noise ratio: the squared distance of the closest components, over all axes.

    It is `explainability_to_noise` with the sum over axes in place of the maximum. It counts all axes, while a single
    cut uses only one. Always holds: `snr / d <= enr <= snr`. Parameters, errors, time and memory are those of
    `explainability_to_noise`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 2.4.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> signal_to_noise(Mixture([0.5, 0.5], [[0, 0], [3, 4]], [[1, 1], [1, 1]]))
    SignalToNoise(value=25.0, pair=(0, 1))
    """
    factor, noise = _factor(convention), _noise(mixture, pooling, sigma)
    best = np.inf, (0, 1)
    for first in range(len(mixture.weights) - 1):
        sums = _ratios(mixture, first, noise).sum(axis=1)
        other = int(sums.argmin())
        if first == 0 or sums[other] < best[0]:
            best = float(sums[other]), (first, first + 1 + other)
    return SignalToNoise(factor * best[0], best[1])


def _factor(convention: str) -> float:
    if convention not in _FACTOR:
        raise ValueError(f"convention must be 'variance' or 'subgaussian', got {shown(convention)}")
    return _FACTOR[convention]


def _noise(mixture: Mixture, pooling: str, sigma: ArrayLike | None) -> Floats:
    refuse_no_mixture(mixture)
    if mixture.n_components < 2:
        raise DataError("one component has no other to be separated from; give a mixture of at least two")
    return sigma_of(mixture, pooling, sigma)


def _ratios(mixture: Mixture, first: int, sigma: Floats) -> Floats:
    """Return the squared distance of component `first` to each later one, in sigmas, shape (k - first - 1, d)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        difference = np.abs(mixture.means[first + 1 :] - mixture.means[first])
        return np.where(difference > 0, (difference / sigma) ** 2, 0.0)
