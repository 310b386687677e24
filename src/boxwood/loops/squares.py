"""Squared differences of the values of groups to a number for each group, added up.

They are added in pairs, as `np.add.reduceat` does it to the last bit: eight running sums for a run of up to 128 values,
and the sums of both halves for a longer one. So rounding grows with the logarithm of the number of values alone.
"""

from boxwood.loops._jit import jit

__all__ = ["add_squares_in_groups"]

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
