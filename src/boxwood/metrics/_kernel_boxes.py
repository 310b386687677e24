"""Means of the Gaussian kernel over two independent Gaussian rows that lie in given boxes, by formula."""

from __future__ import annotations

import numpy as np

from boxwood._types import Floats
from boxwood.metrics._mixture_boxes import Pieces
from boxwood.reference import Mixture

__all__ = ["similarity_in_boxes"]


def similarity_in_boxes(mixture: Mixture, gamma: Floats, axes: Floats, first: Pieces, second: Pieces) -> Floats:
    """Return E[K(x, y); x in the first box, y in the second] for each pair of components of x and y, shape (k, k).

    `axes` (d, k, k) holds the means of the kernel's factors without boxes. The axes of each component are independent,
    so the result is a product over axes. On an axis, the kernel times both densities is the density of two correlated
    normals, times the mean of the kernel's factor.
    """
    factors = axes.copy()
    for j in sorted({*first.columns.tolist(), *second.columns.tolist()}):
        factors[j] *= _rectangles(
            mixture.means[:, j], mixture.variances[:, j], gamma[j], first.column(j), second.column(j)
        )
    return np.asarray(factors.prod(axis=0))


def _rectangles(means: Floats, variances: Floats, gamma: float, first: Pieces, second: Pieces) -> Floats:
    """Return the probability of the intervals of one axis under the joint density, for each pair, shape (k, k)."""
    a, b, apart = variances[:, None], variances[None, :], means[:, None] - means[None, :]
    stretch = 1 + 2 * gamma * (a + b)
    narrow_a, narrow_b = 1 + 2 * gamma * a, 1 + 2 * gamma * b
    correlation = 2 * gamma * np.sqrt(a) * np.sqrt(b) / np.sqrt(narrow_a * narrow_b)
    remainder = np.sqrt(stretch / (narrow_a * narrow_b))  # sqrt(1 - correlation²), without loss of digits
    x = means[:, None] - 2 * gamma * a * apart / stretch, np.sqrt(a * narrow_b / stretch)
    y = means[None, :] + 2 * gamma * b * apart / stretch, np.sqrt(b * narrow_a / stretch)
    low_x, high_x = (end[:, :, :, None] for end in first.ends(*(of_pair[:, :, None] for of_pair in x)))
    low_y, high_y = (end[:, :, None, :] for end in second.ends(*(of_pair[:, :, None] for of_pair in y)))
    law = correlation[:, :, None, None], remainder[:, :, None, None]
    upper = _both_below(high_x, high_y, *law) - _both_below(low_x, high_y, *law)
    lower = _both_below(high_x, low_y, *law) - _both_below(low_x, low_y, *law)
    return np.asarray((upper - lower).sum(axis=(2, 3)).clip(0.0, 1.0))


def _both_below(x: Floats, y: Floats, correlation: Floats, remainder: Floats) -> Floats:
    """Return the probability that two standard normals of a correlation are below x and y, by Owen's function."""
    from scipy.special import ndtr, owens_t

    x, y, correlation, remainder = np.broadcast_arrays(x, y, correlation, remainder)
    x, y = (np.where(end == 0, 1e-300, end) for end in (x, y))  # the formula divides by both
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        of_x = owens_t(x, (y / x - correlation) / remainder)
        of_y = owens_t(y, (x / y - correlation) / remainder)
        found = (ndtr(x) + ndtr(y) - ((x > 0) != (y > 0))) / 2 - of_x - of_y
    found = np.where(np.isposinf(x), ndtr(y), np.where(np.isposinf(y), ndtr(x), found))
    return np.where(np.isneginf(x) | np.isneginf(y), 0.0, found)
