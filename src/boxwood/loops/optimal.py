"""The costs of both sides of every cut of a box, each side one leaf; and the rows of a side.

A box is the set of rows of a node. It is held as its rows in the ascending order of each column. A row has a code in
each column: the rank of its value among the different values of the whole table, so that equal values have equal codes.
A cut lies between two neighbouring rows whose codes differ::

    order[j]             4    0    2    1    3       rows of the box
    codes[j, row]        0    0    3    3    7
                              ^         ^            places of cuts 0 and 1
    first[j, place]      cost of the rows up to the place, as one leaf
    second[j, place]     cost of the rows behind it, as one leaf

The cost of a leaf comes from sums over its rows, which are exact, so the order of rows does not matter. If leaves
choose among clusters, the sums are those of `table`, whole costs under each cluster, and the cost is the least of them.
If each leaf has its own mean, `table` has no columns, and the sums are those of `moments`: weight, square and value in
each column, all whole numbers. Their sums stay below 2**53, so floats hold them exactly. The cost is then the sum of
squares less that of the mean, rounded to a whole number.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["keep_inside", "leaf_cost", "sweep"]

NONE = np.iinfo(np.int64).max


@jit
def leaf_cost(rows, table, moments, factor):
    """Return the cost of some rows as one leaf.

    IN: rows (n,); table (m, k); moments (m, 2 + d); factor: of squared sums of values over weights, in units of costs.
    """
    if table.shape[1]:
        sums = np.zeros(table.shape[1], dtype=np.int64)
        for row in rows:
            for c in range(table.shape[1]):
                sums[c] += table[row, c]
        least = NONE
        for c in range(table.shape[1]):
            least = min(least, sums[c])
        return least
    totals = np.zeros(moments.shape[1])
    for row in rows:
        for i in range(moments.shape[1]):
            totals[i] += moments[row, i]
    square = 0.0
    for i in range(2, moments.shape[1]):
        square += totals[i] * totals[i]
    return _whole(totals[0], totals[1], square, factor)


@jit
def sweep(order, codes, table, moments, factor, from_column, to_column, first, second, places):
    """Return the least cost of a cut with one leaf on each side, its column and the code of its first side; or NONE.

    Among equal costs the first column wins, then the first place. Columns from `from_column` to `to_column - 1` are
    tried. Where `first` has no columns, only the result is wanted.

    IN: order (d, n); codes (d, m); table (m, k); moments (m, 2 + d); factor: as `leaf_cost`.
    OUT: first, second (d, n): costs by place; places (d, n): last code of the first side, then -1.
    """
    best, column, code = NONE, -1, -1
    n, kept = order.shape[1], first.shape[1] > 0
    n_sums = table.shape[1] if table.shape[1] else moments.shape[1]
    of_clusters, left_of_clusters = np.zeros(n_sums, dtype=np.int64), np.zeros(n_sums, dtype=np.int64)
    total, left = np.zeros(n_sums), np.zeros(n_sums)
    for row in order[from_column]:
        for i in range(n_sums):
            if table.shape[1]:
                of_clusters[i] += table[row, i]
            else:
                total[i] += moments[row, i]
    for j in range(from_column, to_column):
        left_of_clusters[:] = 0
        left[:] = 0.0
        place = 0
        for r in range(n - 1):
            row = order[j, r]
            is_place = codes[j, row] != codes[j, order[j, r + 1]]
            if table.shape[1]:
                a, b = _cheapest_sides(table, row, of_clusters, left_of_clusters)
            else:
                a, b = _spread_sides(moments, row, total, left, factor, is_place)
            if not is_place:
                continue
            if a + b < best:
                best, column, code = a + b, j, codes[j, row]
            if kept:
                first[j, place], second[j, place], places[j, place] = a, b, codes[j, row]
                place += 1
        if kept:
            places[j, place:] = -1
    return best, column, code


@jit
def keep_inside(order, inside, out):
    """Write the rows of a box that are inside, in the order of each column.

    IN: order (d, n); inside (m,). OUT: out (d, number of rows inside).
    """
    for j in range(order.shape[0]):
        kept = 0
        for r in range(order.shape[1]):
            row = order[j, r]
            if inside[row]:
                out[j, kept] = row
                kept += 1


@jit
def _cheapest_sides(table, row, total, left):
    """Add a row to the sums of the first side, and return the least sum of either side."""
    a, b = NONE, NONE
    for c in range(len(total)):
        left[c] += table[row, c]
        a, b = min(a, left[c]), min(b, total[c] - left[c])
    return a, b


@jit
def _spread_sides(moments, row, total, left, factor, wanted):
    """Add a row to the sums of the first side, and return the costs of both sides about their means, if wanted."""
    n_sums, of_row = len(total), moments[row]
    left[0] += of_row[0]
    left[1] += of_row[1]
    if not wanted:
        for i in range(2, n_sums):
            left[i] += of_row[i]
        return np.int64(0), np.int64(0)
    a0, a1, a2, a3, b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # four sums each, so that none waits
    fours = 2 + (n_sums - 2) // 4 * 4
    for i in range(2, fours, 4):
        l0, l1 = left[i] + of_row[i], left[i + 1] + of_row[i + 1]
        l2, l3 = left[i + 2] + of_row[i + 2], left[i + 3] + of_row[i + 3]
        r0, r1, r2, r3 = total[i] - l0, total[i + 1] - l1, total[i + 2] - l2, total[i + 3] - l3
        left[i], left[i + 1], left[i + 2], left[i + 3] = l0, l1, l2, l3
        a0, a1, a2, a3 = a0 + l0 * l0, a1 + l1 * l1, a2 + l2 * l2, a3 + l3 * l3
        b0, b1, b2, b3 = b0 + r0 * r0, b1 + r1 * r1, b2 + r2 * r2, b3 + r3 * r3
    for i in range(fours, n_sums):
        left[i] += of_row[i]
        right = total[i] - left[i]
        a0 += left[i] * left[i]
        b0 += right * right
    first = _whole(left[0], left[1], (a0 + a1) + (a2 + a3), factor)
    return first, _whole(total[0] - left[0], total[1] - left[1], (b0 + b1) + (b2 + b3), factor)


@jit
def _whole(weight, square, square_of_sums, factor):
    """Return the sum of squared distances to the mean, as a whole number."""
    return np.int64(np.rint(max(square - factor * (square_of_sums / weight), 0.0)))
