"""Sums over the rows of each cluster that do not depend on the order of the rows.

A value of at most 1 is cut into parts: the nearest multiple of a unit, the nearest multiple of a smaller unit to what
remains, and so on. All parts of one unit add up to less than 2**53 units, so their sums in doubles are exact, in any
order and in any blocks::

    x = 0.7 = 45875 / 65536 + 3277 / 2**32 + …

`weights` of length 0 stands for rows that all weigh 1; a label of -1 leaves a row out, and so does a weight of 0.

They are added in pairs, as `np.add.reduceat` does it to the last bit: eight running sums for a run of up to 128 values,
and the sums of both halves for a longer one. So rounding grows with the logarithm of the number of values alone.
"""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for

ROUNDING = 6755399441055744.0  # 1.5 * 2**52: added and subtracted again, it rounds to a whole number
TILE = 512  # columns whose values, of some rows, stay in a cache that is near, in both orders of memory
SPLIT = 134217729.0  # 2**27 + 1: cuts a double into halves whose products are exact


@jit
def widen(X, labels, least, most):
    """Update the least and the greatest value of each cluster and column.

    IN: X (n, d); labels (n,). OUT: least, most (k, d).
    """
    for start in range(0, X.shape[1], TILE):
        stop = min(start + TILE, X.shape[1])
        for row in range(X.shape[0]):
            if labels[row] < 0:
                continue
            c = np.uint64(labels[row])  # without a sign, so that numba need not check for negative indices
            for j in range(np.uint64(start), np.uint64(stop)):
                x = np.float64(X[row, j])
                least[c, j] = min(least[c, j], x)
                most[c, j] = max(most[c, j], x)


@stands_in_for(widen, lambda X, labels, least, most: X.size + X.shape[0] * len(least))
def _widen(X, labels, least, most):
    columns = np.arange(X.shape[1])
    for c in range(len(least)):
        x = X[labels == c].astype(np.float64)
        if len(x):  # of equal values, 0.0 and -0.0, the first one counts, and NaN does not
            low = x[np.where(np.isnan(x), np.inf, x).argmin(axis=0), columns]
            high = x[np.where(np.isnan(x), -np.inf, x).argmax(axis=0), columns]
            least[c] = np.where(low < least[c], low, least[c])
            most[c] = np.where(high > most[c], high, most[c])


@jit
def add_parts(X, labels, weights, scales, scale, units, sums, totals):
    """Add the weighted rows of each cluster, `X * scales` times `weights * scale`, and these weights, split into parts.

    IN: X (n, d); labels (n,); weights (n,) or (0,); scales (k, d), powers of two that bring the values of a cluster
    into [-1, 1]; scale, which does so for weights; units (p,), descending. OUT: sums (k, p, d), totals (k, p).
    """
    if not weights.size and len(units) == 3:
        _add_three_parts(X, labels, scales, units, sums, totals)
        return
    rest, error = np.empty(X.shape[1]), np.empty(X.shape[1])
    for row in range(X.shape[0]):
        weight = weights[row] * scale if weights.size else 1.0
        if labels[row] < 0 or weight == 0.0:
            continue
        c = np.uint64(labels[row])
        for j in range(X.shape[1]):
            x = np.float64(X[row, j]) * scales[c, j]
            rest[j] = weight * x
            if weights.size:
                error[j] = _error_of_product(weight, x, rest[j])
        _deposit(rest, units, np.int64(0), sums[c])
        if not weights.size:
            totals[c, 0] += 1.0
            continue
        _deposit(error, units, np.int64(1), sums[c])
        for part in range(len(units)):
            magic = ROUNDING * units[part]
            whole = (weight + magic) - magic
            totals[c, part] += whole
            weight -= whole


@stands_in_for(add_parts)
def _add_parts(X, labels, weights, scales, scale, units, sums, totals):
    mass = weights * scale if weights.size else np.ones(len(X))
    rows = np.flatnonzero((labels >= 0) & (mass != 0.0))
    c, mass = labels[rows], mass[rows, None]
    x = X[rows].astype(np.float64) * scales[c]
    _deposit_all(mass * x, units, c, sums)
    if weights.size:
        _deposit_all(_error_of_product(mass, x, mass * x), units[1:], c, sums[:, 1:])
        _deposit_all(mass, units, c, totals[:, :, None])
    else:
        totals[:, 0] += np.bincount(c, minlength=len(totals))


def _deposit_all(rest, units, clusters, sums):
    """Add numbers (n, d) in parts to the sums (k, p, d) of their clusters."""
    for part in range(len(units)):
        magic = ROUNDING * units[part]
        whole = (rest + magic) - magic
        rest = rest - whole
        for j in range(rest.shape[1]):
            sums[:, part, j] += np.bincount(clusters, whole[:, j], minlength=len(sums))


@jit
def _add_three_parts(X, labels, scales, units, sums, totals):
    """Like `add_parts`, for rows of weight 1 and three parts, the usual case, in one loop over columns."""
    first, second, third = ROUNDING * units[0], ROUNDING * units[1], ROUNDING * units[2]
    for row in range(X.shape[0]):
        if labels[row] >= 0:
            totals[labels[row], 0] += 1.0
    for start in range(0, X.shape[1], TILE):
        stop = min(start + TILE, X.shape[1])
        for row in range(X.shape[0]):
            if labels[row] < 0:
                continue
            c = np.uint64(labels[row])
            scale, a, b, last = scales[c], sums[c, 0], sums[c, 1], sums[c, 2]  # so that columns are added side by side
            for j in range(np.uint64(start), np.uint64(stop)):
                _deposit_three(np.float64(X[row, j]) * scale[j], first, second, third, a, b, last, j)


@jit
def add_squares(X, labels, weights, means, rests, scales, scale, units, sums):
    """Add to each cluster its rows' squared differences to `means + rests`, times `weights * scale`, in parts.

    IN: X (n, d); labels (n,); weights (n,) or (0,); scales (k, d), powers of two that bring the differences of a
    cluster into [-1, 1]; means, rests (k, d), times `scales`; scale, which brings weights there; units (p,),
    descending. OUT: sums (k, p, d).
    """
    if not weights.size and len(units) == 3:
        _add_squares_in_three_parts(X, labels, means, rests, scales, units, sums)
        return
    rest = np.empty(X.shape[1])
    for row in range(X.shape[0]):
        weight = weights[row] * scale if weights.size else 1.0
        if labels[row] < 0 or weight == 0.0:
            continue
        c = np.uint64(labels[row])
        for j in range(X.shape[1]):
            gap = (np.float64(X[row, j]) * scales[c, j] - means[c, j]) - rests[c, j]
            rest[j] = weight * (gap * gap)
        _deposit(rest, units, np.int64(0), sums[c])


@stands_in_for(add_squares)
def _add_all_squares(X, labels, weights, means, rests, scales, scale, units, sums):
    mass = weights * scale if weights.size else np.ones(len(X))
    rows = np.flatnonzero((labels >= 0) & (mass != 0.0))
    c = labels[rows]
    gap = (X[rows].astype(np.float64) * scales[c] - means[c]) - rests[c]
    _deposit_all(mass[rows, None] * (gap * gap), units, c, sums)


@jit
def _add_squares_in_three_parts(X, labels, means, rests, scales, units, sums):
    """Like `add_squares`, for rows of weight 1 and three parts, the usual case, in one loop over columns."""
    first, second, third = ROUNDING * units[0], ROUNDING * units[1], ROUNDING * units[2]
    for row in range(X.shape[0]):
        if labels[row] < 0:
            continue
        c = np.uint64(labels[row])
        scale, mean, rest, a, b, last = scales[c], means[c], rests[c], sums[c, 0], sums[c, 1], sums[c, 2]
        for j in range(X.shape[1]):
            gap = (np.float64(X[row, j]) * scale[j] - mean[j]) - rest[j]
            _deposit_three(gap * gap, first, second, third, a, b, last, j)


@jit
def _deposit_three(rest, first, second, third, a, b, last, j):
    """Add a number in three parts to one column; what rounds to a unit tells which it is. OUT: a, b, last (d,)."""
    whole = (rest + first) - first
    rest -= whole
    a[j] += whole
    whole = (rest + second) - second
    rest -= whole
    b[j] += whole
    last[j] += (rest + third) - third


@jit
def _deposit(rest, units, first, sums):
    """Add numbers in parts, from the part `first` on; the remainder is dropped.

    IN: units (p,); first: an int64, as numbers in the source are compiled one by one. IN and OUT: rest (d,).
    OUT: sums (p, d).
    """
    for part in range(first, len(units)):
        magic = ROUNDING * units[part]
        for j in range(len(rest)):
            whole = (rest[j] + magic) - magic
            sums[part, j] += whole
            rest[j] -= whole


@jit
def _error_of_product(a, b, product):
    """Return the rounding error of a product (Dekker 1971)."""
    large = SPLIT * a
    a_high = large - (large - a)
    a_low = a - a_high
    large = SPLIT * b
    b_high = large - (large - b)
    b_low = b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


RUN = 128


@jit
def add_squares_in_groups(x, bounds, weights, means, sums):
    """Write the weighted sum of the squared differences of the values of each group to its number.

    IN: x (n,); bounds (g + 1,): group i has `x[bounds[i]:bounds[i + 1]]`, at least one value; weights (n,) or (0,) for
    values that all weigh 1; means (g,). OUT: sums (g,).
    """
    for group in range(len(sums)):
        start, mean = bounds[group], means[group]
        first = _square(x, weights, start, mean)
        rest = _sum(x, weights, start + 1, bounds[group + 1], mean)
        sums[group] = first + rest


@jit
def _sum(x, weights, start, stop, mean):
    """Return the sum over the values from one place to another."""
    n = stop - start
    if n > RUN:
        middle = start + n // 2 - n // 2 % 8
        return _sum(x, weights, start, middle, mean) + _sum(x, weights, middle, stop, mean)
    total, eights = 0.0, start
    if n >= 8:
        eights = stop - n % 8
        a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(start, eights, 8):
            a += _square(x, weights, i, mean)
            b += _square(x, weights, i + 1, mean)
            c += _square(x, weights, i + 2, mean)
            d += _square(x, weights, i + 3, mean)
            e += _square(x, weights, i + 4, mean)
            f += _square(x, weights, i + 5, mean)
            g += _square(x, weights, i + 6, mean)
            h += _square(x, weights, i + 7, mean)
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(eights, stop):
        total += _square(x, weights, i, mean)
    return total


@jit
def _square(x, weights, i, mean):
    gap = x[i] - mean
    return gap * gap * weights[i] if weights.size else gap * gap
