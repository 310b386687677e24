"""What chance does at some sizes: the probability that counts differ so much, though nothing changed."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, betaincinv, chdtrc, gammaln

from boxwood._types import Array, Floats

ALARM = 0.01
"""Probability that a report tells any change at all where there is none; its tests share it evenly."""
LEAST = 50
"""Rows of which a share is taken, then and now, at least: of fewer, no change is told."""
_EXACT = 200_000  # rows up to which all tables of these margins are looked at
_OF_BOUNDS = ALARM / 1000  # probability that a bound on a true share is wrong
_SMALLEST = 1e-300  # probability below which nothing is bounded
_PER_BIN = 10  # rows that a bin of two samples has at least, as a test of squares is rough for fewer


def of_shares(now: float, of: float, then: float, of_then: float) -> float:
    """Return how probable it is that two shares differ at least so much, if both are the same one.

    It is Fisher's exact test, two-sided; for more than 200,000 rows the normal law of the difference.

    Examples
    --------
    >>> round(of_shares(8, 10, 1, 10), 4), of_shares(5, 10, 50, 100)
    (0.0055, 1.0)
    """
    hits, total = now + then, of + of_then
    if not of or not of_then:
        return 1.0
    if total > _EXACT:
        share = hits / total
        variance = share * (1 - share) * (1 / of + 1 / of_then)
        away = abs(now / of - then / of_then)
        return math.erfc(away / math.sqrt(2 * variance)) if variance else 1.0
    counts = np.arange(max(0, of + hits - total), min(of, hits) + 1)
    logs = _log_binomial(hits, counts) + _log_binomial(total - hits, of - counts)
    law = np.exp(logs - logs.max())
    own = law[int(now - counts[0])]
    return float(min(law[law <= own * (1 + 1e-7)].sum() / law.sum(), 1.0))


def of_chosen(now: float, of: float, then: float, of_then: float, log_choices: float) -> float:
    """Return how probable it is that a share differs at least so much from that of rows by which rules were chosen.

    The best of many rules owes some of its share to luck. So its true share is bounded from then, whichever of the
    rules was chosen: a share of which so much then has a probability of `_OF_BOUNDS`, divided by their number, is still
    possible. The rows now are as many draws of the possible share that is nearest to theirs.

    IN: now, then: rows of so many; log_choices: logarithm of the number of rules to choose from.

    Examples
    --------
    >>> of_shares(480, 1000, 206, 300) < 1e-9, of_chosen(480, 1000, 206, 300, log_choices=50)
    (True, 1.0)
    >>> of_chosen(480, 1000, 290, 300, log_choices=50) < 1e-4
    True
    """
    if not of or not of_then:
        return 1.0
    tail = max(math.log(_OF_BOUNDS) - log_choices, math.log(_SMALLEST))
    if now / of < then / of_then:
        least = float(betaincinv(then, of_then - then + 1, math.exp(tail)))
        at_most = float(betainc(of - now, now + 1, 1 - least))  # of draws; rows may be weights
        return min(2 * at_most + _OF_BOUNDS, 1.0) if now / of < least else 1.0
    return of_chosen(of - now, of, of_then - then, of_then, log_choices) if now / of > then / of_then else 1.0


def _log_binomial(n: float, k: Array) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def of_shapes(now: Array, then: Array) -> float:
    """Return how probable it is that the rows of groups lie in bins so differently, if nothing changed within a group.

    IN: now, then (k, m): rows of each group in each bin. It is the test of squares of two samples, summed over the
    groups, whatever their sizes; bins of fewer than ten rows are put together.
    """
    squares, freedom = 0.0, 0
    for pair in np.stack([now, then], axis=1):  # (2, m)
        rows = pair.sum(axis=1)
        if rows.min() < LEAST:
            continue
        table = _join_bins(pair)
        expected = np.outer(rows, table.sum(axis=0)) / rows.sum()
        squares += float((np.square(table - expected) / expected).sum())
        freedom += table.shape[1] - 1
    return float(chdtrc(freedom, squares)) if freedom else 1.0


def _join_bins(pair: Array) -> Floats:
    """Return two rows of bins (2, m) with neighbours put together until each pair has rows enough."""
    parts = [np.zeros(2)]
    for column in pair.T:
        if parts[-1].sum() >= _PER_BIN:
            parts.append(np.zeros(2))
        parts[-1] = parts[-1] + column
    if len(parts) > 1 and parts[-1].sum() < _PER_BIN:
        last = parts.pop()
        parts[-1] = parts[-1] + last
    return np.array(parts).T
