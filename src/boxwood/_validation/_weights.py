"""Weights of rows: checked, and as whole numbers whose sums are exact."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Ints, Weights
from boxwood._validation._arrays import as_numbers
from boxwood.errors import DataError

__all__ = ["INFINITE_SUM", "WholeWeights", "as_weights", "as_whole_weights", "refuse_infinite_sum"]

INFINITE_SUM = "sample_weight adds up to more than the largest float; divide all weights by a power of ten"


def as_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the weights of the rows, shape (n,), or None for None. A single number is the weight of every row."""
    if sample_weight is None:
        return None
    weights = as_numbers("sample_weight", sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight must have one weight for each of {n_rows} rows, got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError("sample_weight must be finite and not negative")
    if not weights.any():
        raise DataError("sample_weight is zero for every row")
    return weights


def refuse_infinite_sum(weights: Weights) -> None:
    """Raise a DataError for weights whose sum is no float: trees need no sum of weights, but costs and shares do."""
    with np.errstate(over="ignore"):
        too_large = weights is not None and not np.isfinite(weights.sum())
    if too_large:
        raise DataError(INFINITE_SUM)


def as_whole_weights(weights: Floats | None) -> Ints:
    """Return weights as whole multiples of one power of two, so that their sums are exact; an empty array for None.

    The multiples add up to less than 2**62, so each weight is kept to 62 bits of the total. Whole weights and
    other weights of that precision are kept exactly. Equal sums stay equal in any order of addition.
    """
    if weights is None:
        return np.empty(0, dtype=np.int64)
    heaviest = float(weights.max())
    scaled = np.ldexp(weights, -int(np.frexp(heaviest)[1]))  # below 1, so that the sum is finite
    total = float(scaled.sum())
    if abs(math.frexp(total)[0] - 0.75) > 0.25 - 1e-6:  # near a power of two: rounding must not decide
        total = math.fsum(scaled)
    return WholeWeights.scaling(heaviest, total).of(weights)


class WholeWeights(NamedTuple):
    """How weights become whole numbers: multiplied by two powers of two, and rounded; see `as_whole_weights`."""

    first: int
    second: int

    @classmethod
    def scaling(cls, heaviest: float, total: float) -> WholeWeights:
        """Return the scale for the greatest weight, and the sum of all weights over the power of two next above it.

        The sum must be exact, rounded once, so that it depends on no order.
        """
        part, power = math.frexp(total)
        return cls(-math.frexp(heaviest)[1], 61 - power + (part == 0.5))

    def of(self, weights: Floats) -> Ints:
        """Return weights as whole numbers."""
        whole = np.rint(np.ldexp(np.ldexp(weights, self.first), self.second)).astype(np.int64)
        return np.maximum(whole, weights > 0)  # a row of little weight is still a row
