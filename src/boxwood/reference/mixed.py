"""Columns of numbers and of categories together, as numbers and codes: which are what, and their scales."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Weights
from boxwood._validation import as_integer_weights
from boxwood.axes import Categories
from boxwood.axes.mixed import NONE_ALIKE
from boxwood.batches.sums import unit_scaling_of


class CodedColumns(NamedTuple):
    """Columns of a table whose cuts are no thresholds of numbers alone.

    Parameters
    ----------
    codes : mapping from column to int
        Columns of categories, and how many codes each has.
    ordered : mapping from column to int, default={}
        Those of them whose codes are cut in their order, and how many codes that order has; behind it is the code of a
        missing value, which may be on either side.
    gaps : collection of int, default=()
        Columns of numbers that lack some values.
    alike : mapping from column to array of shape (n_codes,), default={}
        Codes that stay together: for each code the one that stands for it; see `axes.rare_words`.
    """

    codes: Mapping[int, int]
    ordered: Mapping[int, int] = MappingProxyType({})
    gaps: Collection[int] = ()
    alike: Mapping[int, Indices] = NONE_ALIKE


def points_of_missing(categories: Mapping[int, Categories], gaps: Iterable[int]) -> dict[int, float]:
    """Return what stands for a missing value in each column that may lack one: plus infinity, or a code of its own."""
    codes = {j: float(one.values.index(None)) for j, one in categories.items() if None in one.values}
    return {**dict.fromkeys(gaps, np.inf), **codes}


def with_gaps(table: Floats, categories: Mapping[int, Categories]) -> Floats:
    """Return a table with NaN for each missing word."""
    known = np.array(table, dtype=np.float64)
    for j, gap in points_of_missing(categories, ()).items():
        known[known[:, j] == gap, j] = np.nan
    return known


def unit_scales(table: Floats, categories: Mapping[int, Categories], weights: Weights = None) -> Floats:
    """Return factors, shape (d,), that give each column the variance 1 over the values that are not missing.

    The variance of a category is that of its one-hot columns together, one less the sum of its squared shares. The
    factor of a column of one value is 1. IN: table (n, d), with plus infinity for each missing number.
    """
    return np.array(
        [
            _scale_of_codes(table[:, j], weights) if j in categories else _scale_of_numbers(table[:, j], weights)
            for j in range(table.shape[1])
        ]
    )


def _scale_of_codes(codes: Floats, weights: Weights) -> float:
    mass = None if weights is None else as_integer_weights(weights).astype(np.float64)
    counts = np.bincount(codes.astype(np.intp), mass)
    variance = 1.0 - float(np.square(counts / counts.sum()).sum())
    return 1.0 / math.sqrt(variance) if counts.max() < counts.sum() else 1.0


def _scale_of_numbers(x: Floats, weights: Weights) -> float:
    known = ~np.isposinf(x)
    _, deviations = unit_scaling_of(x[known, None], None if weights is None else weights[known])
    return 1.0 / float(deviations[0])
