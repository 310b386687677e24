"""Order statistics by group: the values at some ranks of a column in each group of rows.

Bins follow the order of values, so counts show which bin holds a rank. Only the values of such bins are gathered, and
none if all values of a bin are equal.

Values are represented by keys, whole numbers in the same order. A cell is a group of rows and a column, `cell = group *
d + column`. Each cell has some ascending stretches of keys that may hold its ranks::

    stretches of cell 0       low[0] ── high[0]     low[1] ── high[1]       first[0] = 0, first[1] = 2
    stretches of cell 1            low[2] ──── high[2]                      first[2] = 3

Each stretch is divided into bins of `2 ** shift` keys.
"""

import numpy as np

from boxwood.loops.jit import jit

OF_ALL, OF_GROUP = 1, 2  # marks of a bin: whether it holds a rank of all values, and one of the present group


@jit
def count_in_bins(x, bounds, low, scale, codes, counts, least, most):
    """Count the values of each group in each bin; the last group is that of all values.

    The first bin has all values up to `low`. In the others, halves of values are `1 / scale` apart: the difference of
    two values may overflow, the difference of their halves does not.

    IN: x (n,); bounds (g + 1,): group i is `x[bounds[i]:bounds[i + 1]]`. OUT: codes (n,): the bin of each value;
    counts (g + 1, n_bins), zeros; least, most (n_bins,), infinite: the smallest and the largest value of each bin.
    """
    low, last, everyone = 0.5 * low, len(least) - 1.0, len(bounds) - 1
    for group in range(everyone):
        counts_of_group = counts[group]
        for i in range(bounds[group], bounds[group + 1]):
            value = x[i]
            code = np.uint64(min(max((0.5 * value - low) * scale, 0.0), last))
            codes[i] = code
            counts_of_group[code] += 1
            least[code] = min(least[code], value)
            most[code] = max(most[code], value)
        for code in range(len(least)):
            counts[everyone, code] += counts_of_group[code]


@jit
def take_bins_of_ranks(x, bounds, codes, counts, least, most, ranks, marks, taken, ends, places, at):
    """Gather the values of each group in the bins that hold its ranks, unless all values of the bin are equal.

    IN: as above, codes, counts, least and most filled; ranks (g + 1, r): ascending in each group, below its size. OUT:
    marks (n_bins,): zeros; taken (2 n,): values for ranks among all are `taken[:ends[0]]`, those of group i are
    `taken[ends[i]:ends[i + 1]]`; ends (g + 1,); places (g + 1, r): position of each rank's value in `taken` once each
    stretch of it is sorted, or -1 if the value is in `at` (g + 1, r).
    """
    everyone = len(bounds) - 1
    filled = _mark(counts[everyone], least, most, ranks[everyone], OF_ALL, 0, marks, places[everyone], at[everyone])
    ends[0], of_all, any_of_all = filled, 0, filled > 0
    for group in range(everyone):
        more = _mark(counts[group], least, most, ranks[group], OF_GROUP, filled, marks, places[group], at[group])
        if more > 0 or any_of_all:
            for i in range(bounds[group], bounds[group + 1]):
                mark = marks[np.uint64(codes[i])]  # without a sign, so that numba need not check for negative indices
                if mark:
                    if mark & OF_ALL:
                        taken[of_all] = x[i]
                        of_all += 1
                    if mark & OF_GROUP:
                        taken[filled] = x[i]
                        filled += 1
        for code in range(len(marks)):
            marks[code] &= OF_ALL
        ends[group + 1] = filled


@jit
def _mark(counts, least, most, ranks, mark, first, marks, places, at):
    """Mark the bins whose values are to be gathered; return the number of these values.

    IN: of one group: counts (n_bins,), ranks (r,); first: where its values begin in `taken`. OUT: marks, places, at.
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


@jit
def count_in_stretches(keys, labels, weights, first, low, high, shift, everyone, rows, sums, least, most):
    """Count the rows in each bin of each stretch, add up their weights, and find the least and the greatest key.

    IN: keys (d, n), labels (n,), weights (n,) or (0,); first (n_cells + 1,); low, high, shift (m,); everyone: the group
    of all rows, or -1. OUT: rows, least, most (m, n_bins); sums, of the same shape where rows have weights.
    """
    for j in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            for group in (labels[i], everyone):
                if group >= 0:
                    key = keys[j, i]
                    at = _stretch(key, first, low, high, group * keys.shape[0] + j)
                    if at >= 0:
                        code = (key - low[at]) >> shift[at]
                        rows[at, code] += 1
                        least[at, code] = min(least[at, code], key)
                        most[at, code] = max(most[at, code], key)
                        if len(weights) > 0:
                            sums[at, code] += weights[i]


@jit
def take_in_stretches(keys, labels, first, low, high, everyone, stretches, taken, rows):
    """Gather the keys in all stretches of more than one key; return their number.

    IN: as above. OUT: stretches, taken, rows (n d, or twice as many): stretch, key and row of each.
    """
    filled = 0
    for j in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            for group in (labels[i], everyone):
                if group >= 0:
                    at = _stretch(keys[j, i], first, low, high, group * keys.shape[0] + j)
                    if at >= 0 and low[at] < high[at]:
                        stretches[filled], taken[filled], rows[filled] = at, keys[j, i], i
                        filled += 1
    return filled


@jit
def reach(amounts, places, wanted):
    """Advance some places until the cumulative amounts from there reach the wanted ones.

    IN: amounts (m,). IN and OUT: places (r,): where each begins, and where it ends; wanted (r,): the amount to be
    reached, and how much of the last amount is needed for it.
    """
    for i in range(len(places)):
        at, rest = places[i], wanted[i]
        while amounts[at] < rest:
            rest -= amounts[at]
            at += 1
        places[i], wanted[i] = at, rest


@jit
def _stretch(key, first, low, high, cell):
    """Return the stretch of a cell that holds a key, or -1."""
    for at in range(first[cell], first[cell + 1]):
        if key <= high[at]:
            return at if key >= low[at] else -1
    return -1


@jit
def place_rows(groups, counts, places):
    """Write the place of each row in a stable order by group.

    IN: groups (n,): -1 leaves a row out. OUT: counts (g,): zeros, number of rows of each group; places (n,): -1 for a
    row that is left out.
    """
    for row in range(len(groups)):
        if groups[row] >= 0:
            counts[np.uint64(groups[row])] += 1  # without a sign, so that numba need not check for negative indices
    following, total = np.empty_like(counts), 0
    for group in range(len(counts)):
        following[group] = total
        total += counts[group]
    for row in range(len(groups)):
        if groups[row] < 0:
            places[row] = -1
            continue
        group = np.uint64(groups[row])
        places[row] = following[group]
        following[group] += 1


@jit
def regroup(X, columns, place, out):
    """Write some columns of a table with each row at its place; the table is read once, row by row.

    IN: X (n, d); columns (c,); place (n,): -1 leaves a row out. OUT: out (c, m).
    """
    for row in range(X.shape[0]):
        to = place[row]
        if to >= 0:
            for i in range(len(columns)):
                out[i, to] = X[row, columns[i]]
