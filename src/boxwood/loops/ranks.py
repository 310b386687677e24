"""The values at some ranks of each part of a column: values are counted in bins, and few of them are sorted.

Bins follow the order of values, so the counts say which bin holds a rank. Only the values of such bins are taken, and
none where all values of a bin are equal.
"""

import math

from boxwood.loops._jit import jit

__all__ = ["count_in_bins", "take_bins_of_ranks"]


@jit
def count_in_bins(x, starts, stops, low, scale, counts, least, most):
    """Count the values of each part in each bin; the last part has those of all others.

    IN: x (n,); starts, stops (g + 1,): part i is `x[starts[i]:stops[i]]`, the last one is all of `x`; low,
    scale: the bins, see `_bin`. OUT: counts (g + 1, n_bins), zeros; least, most (n_bins,), infinite: the smallest and
    the largest value of each bin in all parts.
    """
    n_bins, everyone = len(least), len(starts) - 1
    for part in range(everyone):
        for i in range(starts[part], stops[part]):
            value = x[i]
            code = _bin(value, low, scale, n_bins)
            counts[part, code] += 1
            least[code] = min(least[code], value)
            most[code] = max(most[code], value)
        for code in range(n_bins):
            counts[everyone, code] += counts[part, code]


@jit
def take_bins_of_ranks(x, starts, stops, low, scale, counts, least, most, ranks, wanted, taken, ends, places, at):
    """Take the values of each part that are in a bin with one of its ranks, unless all values of the bin are equal.

    IN: as above, counts, least and most filled; ranks (g + 1, r): ascending in each part, below its size. OUT: wanted
    (n_bins,): all False; taken (2 n,); ends (g + 2,): those of part i are `taken[ends[i]:ends[i + 1]]`; places
    (g + 1, r): where in `taken` the value of each rank is once they are sorted, or -1 if it is in `at` (g + 1, r).
    """
    n_bins, filled = len(least), 0
    ends[0] = 0
    for part in range(len(starts)):
        code, below, skipped, any_wanted = 0, 0, 0, False
        for i in range(ranks.shape[1]):
            rank = ranks[part, i]
            while below + counts[part, code] <= rank:
                below += counts[part, code]
                if not wanted[code]:
                    skipped += counts[part, code]
                code += 1
            if least[code] == most[code]:
                places[part, i] = -1
                at[part, i] = least[code]
            else:
                wanted[code] = any_wanted = True
                places[part, i] = filled + rank - skipped
        if any_wanted:
            for i in range(starts[part], stops[part]):
                if wanted[_bin(x[i], low, scale, n_bins)]:
                    taken[filled] = x[i]
                    filled += 1
            for i in range(n_bins):
                wanted[i] = False
        ends[part + 1] = filled


@jit
def _bin(value, low, scale, n_bins):
    """Return the bin of a value: the first has all up to `low`, halves of values in the others are `1 / scale` apart.

    The difference of two values may be larger than the largest double, that of their halves is not.
    """
    return math.ceil(min(max((0.5 * value - 0.5 * low) * scale, 0.0), n_bins - 1.0))
