"""Means of clusters that depend neither on the order of the rows nor on how they are divided into blocks."""

from __future__ import annotations

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Array, Floats, Indices, Weights
from boxwood.loops.sums import SPLIT, add_parts, widen

__all__ = ["means_of", "ranges_of"]


def means_of(X: Array, labels: Indices, k: int, weights: Weights, n_jobs: int | None = -1) -> tuple[Floats, Floats]:
    """Return the means of clusters as a double and what it lacks, both of shape (k, d); NaN for a cluster without rows.

    Clusters of equal rows have equal means, and rows that are all equal are their own mean. Labels are -1 for rows of
    weight 0. Takes one pass for the largest values and one for the sums.
    """
    least, most = ranges_of(X, labels, k, n_jobs)
    exponents = _exponents(np.maximum(most, -least))
    sums = _sums(X, labels, weights, np.ldexp(1.0, -exponents), n_jobs)
    totals = _sums(np.ones((len(X), 1)), labels, weights, np.ones((k, 1)), n_jobs)
    total = _rounded(totals)
    total[total == 0] = np.nan
    mean = _rounded(sums) / total
    rest = (_less_product(sums, mean, total) - mean * _less_product(totals, total, np.ones(1))) / total
    with np.errstate(over="ignore"):
        mean, rest = np.ldexp(mean, exponents), np.ldexp(rest, exponents)
    equal = least == most
    return np.where(equal, least, mean), np.where(equal, 0.0, rest)


def ranges_of(X: Array, labels: Indices, k: int, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Return the least and the most value of each cluster and column; infinite for a cluster without rows."""
    shape = k, X.shape[1]

    def work(start: int, stop: int) -> tuple[Floats, Floats]:
        least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
        widen(X[start:stop], labels[start:stop], least, most)
        return least, most

    least, most = zip(*map_blocks(work, len(X), n_jobs=n_jobs), strict=True)
    return np.min(least, axis=0), np.max(most, axis=0)


def _exponents(largest: Floats) -> Indices:
    """Return for each number the least e, whose power of two has an inverse, so that it is not above 2**e."""
    return np.asarray(np.clip(np.frexp(np.where(np.isfinite(largest), largest, 1.0))[1], -1022, 1024))


def _sums(X: Array, labels: Indices, weights: Weights, scales: Floats, n_jobs: int | None) -> Floats:
    """Return the sums of the scaled and weighted rows of each cluster by part, shape (k, 3, d)."""
    bits = len(X).bit_length() + 1  # three parts hold 75 bits of a cluster's largest value for 2**26 rows
    units = np.ldexp(1.0, [bits - 52 - part * (52 - bits) for part in range(3)])
    scale = 1.0 if weights is None else float(np.ldexp(1.0, -_exponents(weights.max())))
    weight = np.empty(0) if weights is None else weights

    def work(start: int, stop: int) -> Floats:
        sums = np.zeros((len(scales), 3, X.shape[1]))
        add_parts(X[start:stop], labels[start:stop], weight[start:stop], scales, scale, units, sums)
        return sums

    return np.asarray(np.sum(map_blocks(work, len(X), n_jobs=n_jobs), axis=0))


def _rounded(parts: Floats) -> Floats:
    return np.asarray(parts[:, 0] + (parts[:, 1] + parts[:, 2]))


def _less_product(parts: Floats, a: Floats, b: Floats) -> Floats:
    """Return a sum in parts minus a product near to it, which is computed without rounding (Dekker 1971)."""
    product = a * b
    first, second = _halves(a), _halves(b)
    error = ((first[0] * second[0] - product) + first[0] * second[1] + first[1] * second[0]) + first[1] * second[1]
    return np.asarray(((parts[:, 0] - product) - error) + parts[:, 1] + parts[:, 2])


def _halves(x: Floats) -> tuple[Floats, Floats]:
    large = SPLIT * x
    high = large - (large - x)
    return high, x - high
