"""The values at some ranks of each part of a column: values are counted in bins, and few of them are sorted.

Bins follow the order of values, so the counts say which bin holds a rank. Only the values of such bins are taken, and
none where all values of a bin are equal.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["count_in_bins", "take_bins_of_ranks"]

OF_ALL, OF_PART = 1, 2  # marks of a bin: whether it holds a rank among all values, and a rank of the part at hand


@jit
def count_in_bins(x, bounds, low, scale, codes, counts, least, most):
    """Count the values of each part in each bin; the last part has those of all others.

    The first bin has all values up to `low`. In the others, halves of values are `1 / scale` apart: the difference of
    two values may be larger than the largest double, that of their halves is not.

    IN: x (n,); bounds (g + 1,): part i is `x[bounds[i]:bounds[i + 1]]`. OUT: codes (n,): the bin of each value;
    counts (g + 1, n_bins), zeros; least, most (n_bins,), infinite: the smallest and the largest value of each bin.
    """
    low, last, everyone = 0.5 * low, len(least) - 1.0, len(bounds) - 1
    for part in range(everyone):
        counts_here = counts[part]
        for i in range(bounds[part], bounds[part + 1]):
            value = x[i]
            code = np.uint64(min(max((0.5 * value - low) * scale, 0.0), last))
            codes[i] = code
            counts_here[code] += 1
            least[code] = min(least[code], value)
            most[code] = max(most[code], value)
        for code in range(len(least)):
            counts[everyone, code] += counts_here[code]


@jit
def take_bins_of_ranks(x, bounds, codes, counts, least, most, ranks, marks, taken, ends, places, at):
    """Take the values of each part that are in a bin with one of its ranks, unless all values of the bin are equal.

    IN: as above, codes, counts, least and most filled; ranks (g + 1, r): ascending in each part, below its size. OUT:
    marks (n_bins,): zeros; taken (2 n,); ends (g + 1,): those among all values are `taken[:ends[0]]`, those of part i
    are `taken[ends[i]:ends[i + 1]]`; places (g + 1, r): where in `taken` the value of each rank is once they are
    sorted, or -1 if it is in `at` (g + 1, r).
    """
    everyone = len(bounds) - 1
    filled = _mark(counts[everyone], least, most, ranks[everyone], OF_ALL, 0, marks, places[everyone], at[everyone])
    ends[0], of_all, any_of_all = filled, 0, filled > 0
    for part in range(everyone):
        more = _mark(counts[part], least, most, ranks[part], OF_PART, filled, marks, places[part], at[part])
        if more > 0 or any_of_all:
            for i in range(bounds[part], bounds[part + 1]):
                mark = marks[np.uint64(codes[i])]  # without a sign, so that numba need not check for negative indices
                if mark:
                    if mark & OF_ALL:
                        taken[of_all] = x[i]
                        of_all += 1
                    if mark & OF_PART:
                        taken[filled] = x[i]
                        filled += 1
        for code in range(len(marks)):
            marks[code] &= OF_ALL
        ends[part + 1] = filled


@jit
def _mark(counts, least, most, ranks, mark, first, marks, places, at):
    """Mark the bins of which values are to be taken; return the number of these values.

    IN: of one part: counts (n_bins,), ranks (r,); first: where its values begin in `taken`. OUT: marks, places, at.
    """
    code, below, skipped, wanted = 0, 0, 0, 0
    for i in range(len(ranks)):
        rank = ranks[i]
        while below + counts[code] <= rank:
            below += counts[code]
            if not marks[code] & mark:
                skipped += counts[code]
            code += 1
        if least[code] == most[code]:
            places[i] = -1
            at[i] = least[code]
        else:
            if not marks[code] & mark:
                marks[code] |= mark
                wanted += counts[code]
            places[i] = first + rank - skipped
    return wanted
