"""The costs of the cuts of a column, from how they change at rows and at centres: see `loops.greedy`."""

import numpy as np

from boxwood.loops._jit import jit, stands_in_for

__all__ = ["costs_of_cuts"]


@jit
def costs_of_cuts(X, entries, first, start, stop, weights, ends, at_rows, at_centers, cost, cuts):
    """Write the costs of the cuts of some columns that part centres, ascending, and what lies on their left.

    A cut lies in a gap between two neighbouring values, of rows or of centres.

    IN: X (n, d); entries (d, n): see `loops.order`; first: of the t columns; start, stop: the places of the node;
    weights (n,) or (0,); ends (t, k), ascending; at_rows (t, n), at_centers (t, k): see `greedy.add_changes`; cost:
    that of the rows without a cut. OUT: cuts: `Cuts` of t columns, with room for all rows and centres.
    """
    costs, weight_left, places, centers_left, sizes = cuts
    k = ends.shape[1]
    for t in range(len(ends)):
        values, column, changes = ends[t], entries[first + t], at_rows[t]
        sum_now, weight, gaps, r, c = cost, np.int64(0), 0, start, 0
        while c < k:
            until = _first_from(X, first + t, column, r, stop, values[c])
            while r < until:  # the rows before the next centre; those before all centres change nothing
                row = column[r] >> 1
                sum_now += changes[row]
                weight += weights[row] if len(weights) else np.int64(1)
                r += 1
                if c > 0 and (r == stop or column[r] & 1 == 0):
                    costs[t, gaps], weight_left[t, gaps] = sum_now, weight
                    places[t, gaps], centers_left[t, gaps] = r, c
                    gaps += 1
            value = values[c]
            if r < stop and np.float64(X[column[r] >> 1, first + t]) == value:
                tied = True
                while tied:
                    row = column[r] >> 1
                    sum_now += changes[row]
                    weight += weights[row] if len(weights) else np.int64(1)
                    r += 1
                    tied = r < stop and column[r] & 1 == 1
            while c < k and values[c] == value:
                sum_now += at_centers[t, c]
                c += 1
            if c < k:
                costs[t, gaps], weight_left[t, gaps] = sum_now, weight
                places[t, gaps], centers_left[t, gaps] = r, c
                gaps += 1
        sizes[t] = gaps


@jit
def _first_from(X, j, column, start, stop, value):
    """Return the first place from `start` on with a value that is not below `value`, `stop` if there is none."""
    while start < stop:
        middle = (start + stop) // 2
        if np.float64(X[column[middle] >> 1, j]) < value:
            start = middle + 1
        else:
            stop = middle
    return start


@stands_in_for(costs_of_cuts)
def _costs_of_cuts(X, entries, first, start, stop, weights, ends, at_rows, at_centers, cost, cuts):
    costs, weight_left, places, centers_left, sizes = cuts
    for t in range(len(ends)):
        rows = entries[first + t, start:stop] >> 1
        x = X[rows, first + t].astype(np.float64)
        values = np.unique(np.concatenate([x, ends[t]]))
        r, c = x.searchsorted(values, side="right"), ends[t].searchsorted(values, side="right")
        is_cut = (c > 0) & (c < ends.shape[1])
        r, c, size = r[is_cut], c[is_cut], np.count_nonzero(is_cut)
        costs[t, :size] = cost + _sums_before(at_rows[t, rows])[r] + _sums_before(at_centers[t])[c]
        weight_left[t, :size] = _sums_before(weights[rows])[r] if len(weights) else r
        places[t, :size], centers_left[t, :size], sizes[t] = start + r, c, size


def _sums_before(numbers):
    """Return the sums of the whole numbers before each of them, and of all."""
    return np.concatenate([[0], numbers.cumsum(dtype=np.int64)])
