"""The costs of both sides of every cut of a box, each side one leaf; and the rows of a side.

A box is the set of rows of a node. It is stored as its rows in the ascending order of each column. A row has a code in
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

from boxwood.loops.jit import jit, stands_in_for

NONE = np.iinfo(np.int64).max
AT_HAND = 64  # places whose rows stay in the fastest cache while their columns are summed


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
def sweep_clusters(order, codes, table, from_column, to_column, first, second, places):
    """Return the least cost of a cut with one leaf on each side, its column and the code of its first side; or NONE.

    Leaves choose among clusters. Among equal costs the first column wins, then the first place. Columns from
    `from_column` to `to_column - 1` are tried. Where `first` has no columns, only the result is wanted.

    IN: order (d, n); codes (d, m); table (m, k). OUT: first, second (d, n): costs by place; places (d, n): last code of
    the first side, then -1.
    """
    best = np.int64(NONE), np.int64(-1), np.int64(-1)
    total, left = np.zeros(table.shape[1], dtype=np.int64), np.zeros(table.shape[1], dtype=np.int64)
    for row in order[from_column]:
        for c in range(table.shape[1]):
            total[c] += table[row, c]
    ends = np.empty(order.shape[1], dtype=np.int64)
    a, b = np.empty(AT_HAND, dtype=np.int64), np.empty(AT_HAND, dtype=np.int64)
    for j in range(from_column, to_column):
        rows, begin = order[j], np.int64(0)  # not a literal, for which loops would be compiled once more
        n_places = _find_places(rows, codes[j], ends)
        for c in range(table.shape[1]):
            left[c] = 0
        for start in range(0, n_places, AT_HAND):
            stop = min(start + AT_HAND, n_places)
            _cheapest_sides(rows, table, begin, ends, start, stop, total, left, a, b)
            best = _better_of(best, j, rows, codes, ends, start, stop, a, b, first, second, places)
            begin = ends[stop - 1]
        for p in range(n_places, first.shape[1]):
            places[j, p] = -1
    return best


@jit
def sweep_means(order, codes, moments, factor, from_column, to_column, first, second, places):
    """Like `sweep_clusters`, for leaves that have their own means.

    IN: moments (m, 2 + d); factor: as `leaf_cost`; else as for `sweep_clusters`. OUT: first, second, places: as there.
    """
    best = np.int64(NONE), np.int64(-1), np.int64(-1)
    total, left = np.zeros(moments.shape[1]), np.zeros(moments.shape[1])
    for row in order[from_column]:
        for i in range(moments.shape[1]):
            total[i] += moments[row, i]
    ends, squares = np.empty(order.shape[1], dtype=np.int64), np.empty((AT_HAND, 8))
    a, b = np.empty(AT_HAND, dtype=np.int64), np.empty(AT_HAND, dtype=np.int64)
    for j in range(from_column, to_column):
        rows, begin = order[j], np.int64(0)
        n_places = _find_places(rows, codes[j], ends)
        for i in range(moments.shape[1]):
            left[i] = 0.0
        for start in range(0, n_places, AT_HAND):
            stop = min(start + AT_HAND, n_places)
            _spread_sides(rows, moments, begin, ends, start, stop, total, left, factor, squares, a, b)
            best = _better_of(best, j, rows, codes, ends, start, stop, a, b, first, second, places)
            begin = ends[stop - 1]
        for p in range(n_places, first.shape[1]):
            places[j, p] = -1
    return best


@jit
def _better_of(best, j, rows, codes, ends, start, stop, a, b, first, second, places):
    """Return the best cut so far, updated by the cuts at some places; write their costs if there is room for them.

    IN: best: cost, column, code; j: the column; a, b: costs of both sides; else as for the sweeps.
    """
    least, column, code = best
    for p in range(start, stop):
        first_side, second_side, last_code = a[p - start], b[p - start], codes[j, rows[ends[p] - 1]]
        if first_side + second_side < least:
            least, column, code = first_side + second_side, j, last_code
        if first.shape[1] > 0:
            first[j, p], second[j, p], places[j, p] = first_side, second_side, last_code
    return least, column, code


@jit
def keep_inside(order, inside, out):
    """Write the rows of a box that are marked as inside, in the order of each column.

    IN: order (d, n); inside (m,). OUT: out (d, number of rows inside).
    """
    size, one = np.uint64(out.shape[1]), np.uint64(1)  # unsigned, so that numba need not check for negative indices
    for j in range(order.shape[0]):
        count, r = np.uint64(0), np.uint64(0)
        while count < size:  # always written, as a branch would be mispredicted
            row = order[j, r]
            out[j, count] = row
            count += np.uint64(inside[np.uint64(row)])
            r += one


@jit
def _find_places(rows, codes, ends):
    """Write for each place the number of rows up to it, and return the number of places.

    IN: rows (n,); codes (m,). OUT: ends (n,).
    """
    count = 0
    for r in range(1, len(rows)):
        if codes[rows[r - 1]] != codes[rows[r]]:
            ends[count] = r
            count += 1
    return count


@jit
def _cheapest_sides(rows, table, begin, ends, start, stop, total, left, a, b):
    """Write the least sum of either side for some places.

    IN: rows (n,); table (m, k); begin: the number of rows up to the place before; ends (n,): those up to each place;
    start, stop: the places; total (k,): sums of all rows. IN and OUT: left (k,): sums of the first side. OUT: a, b
    (stop - start at least,).
    """
    r = begin
    for p in range(start, stop):
        while r < ends[p]:
            for c in range(len(left)):
                left[c] += table[rows[r], c]
            r += 1
        least, least_behind = NONE, NONE
        for c in range(len(left)):
            least, least_behind = min(least, left[c]), min(least_behind, total[c] - left[c])
        a[p - start], b[p - start] = least, least_behind


@jit
def _spread_sides(rows, moments, begin, ends, start, stop, total, left, factor, squares, a, b):
    """Write the costs of both sides about their means for some places.

    Four columns are summed up at a time, which lie side by side. Squares add up in four sums each, so that none waits.

    IN: rows (n,); moments (m, 2 + d); begin, ends, start, stop: as for `_cheapest_sides`; total (2 + d,): sums of all
    rows; factor. IN and OUT: left (2 + d,): sums of the first side. OUT: a, b (stop - start at least,). Also
    overwritten: squares (stop - start at least, 8).
    """
    n_sums = len(total)
    fours = 2 + (n_sums - 2) // 4 * 4
    for p in range(stop - start):
        for i in range(8):
            squares[p, i] = 0.0
    for i in range(2, fours, 4):
        l0, l1, l2, l3 = left[i], left[i + 1], left[i + 2], left[i + 3]
        t0, t1, t2, t3 = total[i], total[i + 1], total[i + 2], total[i + 3]
        r = begin
        for p in range(stop - start):
            while r < ends[start + p]:
                row = rows[r]
                l0, l1 = l0 + moments[row, i], l1 + moments[row, i + 1]
                l2, l3 = l2 + moments[row, i + 2], l3 + moments[row, i + 3]
                r += 1
            r0, r1, r2, r3 = t0 - l0, t1 - l1, t2 - l2, t3 - l3
            squares[p, 0] += l0 * l0
            squares[p, 1] += l1 * l1
            squares[p, 2] += l2 * l2
            squares[p, 3] += l3 * l3
            squares[p, 4] += r0 * r0
            squares[p, 5] += r1 * r1
            squares[p, 6] += r2 * r2
            squares[p, 7] += r3 * r3
        left[i], left[i + 1], left[i + 2], left[i + 3] = l0, l1, l2, l3
    for i in range(fours, n_sums):
        l0, t0, r = left[i], total[i], begin
        for p in range(stop - start):
            while r < ends[start + p]:
                l0 += moments[rows[r], i]
                r += 1
            r0 = t0 - l0
            squares[p, 0] += l0 * l0
            squares[p, 4] += r0 * r0
        left[i] = l0
    weight, square, r = left[0], left[1], begin
    for p in range(stop - start):
        while r < ends[start + p]:
            weight += moments[rows[r], 0]
            square += moments[rows[r], 1]
            r += 1
        before = (squares[p, 0] + squares[p, 1]) + (squares[p, 2] + squares[p, 3])
        behind = (squares[p, 4] + squares[p, 5]) + (squares[p, 6] + squares[p, 7])
        a[p] = _whole(weight, square, before, factor)
        b[p] = _whole(total[0] - weight, total[1] - square, behind, factor)
    left[0], left[1] = weight, square


@jit
def _whole(weight, square, square_of_sums, factor):
    """Return the sum of squared distances to the mean, as a whole number."""
    return np.int64(np.rint(max(square - factor * (square_of_sums / weight), 0.0)))


@stands_in_for(leaf_cost)
def _leaf_cost(rows, table, moments, factor):
    if table.shape[1]:
        return table[rows].sum(axis=0).min()
    totals, square = moments[rows].sum(axis=0), 0.0
    for total in totals[2:]:
        square += total * total
    return _wholes(totals[:1], totals[1], square, factor)[0]


@stands_in_for(sweep_means)
def _sweep_means(order, codes, moments, factor, from_column, to_column, first, second, places):
    best = NONE, -1, -1
    for j in range(from_column, to_column):
        rows = order[j]
        row_codes = codes[j, rows]
        ends = np.flatnonzero(row_codes[1:] != row_codes[:-1])
        sums = np.ascontiguousarray(moments[rows].T).cumsum(axis=1)
        left = sums[:, ends]
        a, b, last_codes = _spread(left, factor), _spread(sums[:, -1:] - left, factor), row_codes[ends]
        p = (a + b).argmin() if len(ends) else -1
        if p >= 0 and a[p] + b[p] < best[0]:
            best = a[p] + b[p], j, last_codes[p]
        if first.shape[1]:
            n_places = len(ends)
            first[j, :n_places], second[j, :n_places], places[j, :n_places] = a, b, last_codes
            places[j, n_places:] = -1
    return best


def _spread(sums, factor):
    """Return the costs of sides about their means, from their sums (2 + d, n); squares add up as in `_spread_sides`."""
    squares, fours = np.zeros((4, sums.shape[1])), (len(sums) - 2) // 4 * 4
    for i in range(len(sums) - 2):
        squares[i % 4 if i < fours else 0] += sums[2 + i] * sums[2 + i]
    return _wholes(sums[0], sums[1], (squares[0] + squares[1]) + (squares[2] + squares[3]), factor)


def _wholes(weight, square, square_of_sums, factor):
    """Return what `_whole` does, as an array."""
    return np.rint(np.maximum(square - factor * (square_of_sums / weight), 0.0)).astype(np.int64)


@stands_in_for(keep_inside)
def _keep_inside(order, inside, out):
    out[:] = order[inside[order]].reshape(out.shape)
