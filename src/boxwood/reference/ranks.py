"""Ranks of the numbers of columns, and how near those of two columns are."""

from __future__ import annotations

import numpy as np

from boxwood._types import Array, Floats


def ranks_of(x: Array) -> Floats:
    """Return the rank of each number less the mean of all ranks, for equal ones the mean of theirs.

    SciPy's ranks would load all of its statistics.
    """
    _, at, n_equal = np.unique(x, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(n_equal) - (n_equal + len(x)) / 2)[at]
    return ranks


def nearness_of_ranks(rows: Array) -> Floats:
    """Return how near the ranks of columns are, in one order or the opposite one: 1 if they are the same.

    What a row lacks is taken for the middle, so that gaps in the same rows do not count. IN: rows (n, d): a number that
    is not finite is missing.

    Returns
    -------
    array of shape (d, d)
        Always holds: 0 for a column of one value.
    """
    known = np.isfinite(rows)
    ranks = np.empty(rows.shape)
    for j, x in enumerate(np.where(known, rows, np.inf).T):
        ranks[:, j] = np.where(known[:, j], ranks_of(x), 0.0)  # those of what is known come first
    ranks -= np.where(known, ranks.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    ranks /= np.maximum(np.sqrt(np.square(ranks).sum(axis=0)), np.finfo(np.float64).tiny)
    return np.asarray(np.abs(ranks.T @ ranks))
