"""Means of clusters in exact fractions."""

from fractions import Fraction

import numpy as np


def mean_of_rows(values: np.ndarray, weights: np.ndarray | None) -> Fraction | None:
    """Return the weighted mean of numbers, without any rounding; None without weight."""
    shares = [Fraction(1)] * len(values) if weights is None else [Fraction(float(w)) for w in weights]
    total = sum(shares, Fraction(0))
    if total == 0:
        return None
    return sum((w * Fraction(float(x)) for w, x in zip(shares, values, strict=True)), Fraction(0)) / total
