"""Means and variances of clusters in exact fractions."""

from fractions import Fraction

import numpy as np


def mean_of_rows(values: np.ndarray, weights: np.ndarray | None) -> Fraction | None:
    """Return the weighted mean of numbers, without any rounding; None without weight."""
    shares = _shares(values, weights)
    total = sum(shares, Fraction(0))
    if total == 0:
        return None
    return sum((w * Fraction(float(x)) for w, x in zip(shares, values, strict=True)), Fraction(0)) / total


def variance_of_rows(values: np.ndarray, weights: np.ndarray | None) -> Fraction | None:
    """Return the weighted variance of numbers, without any rounding; None without weight."""
    mean = mean_of_rows(values, weights)
    if mean is None:
        return None
    shares = _shares(values, weights)
    squares = ((Fraction(float(x)) - mean) ** 2 for x in values)
    return sum((w * square for w, square in zip(shares, squares, strict=True)), Fraction(0)) / sum(shares, Fraction(0))


def _shares(values: np.ndarray, weights: np.ndarray | None) -> list[Fraction]:
    return [Fraction(1)] * len(values) if weights is None else [Fraction(float(w)) for w in weights]
