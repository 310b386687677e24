"""Costs of two cuts, one below the other, from the costs in the cells that two binned columns make.

A bin is a run of neighbouring values of a column. A first cut takes a run of bins of one column inside. A second cut
parts what is inside, or what is outside, along another column or the same one::

                 second column, b bins            cells[i, p, c]: cost under cluster c of the rows
                +----+----+----+----+             in bin i of the first column and bin p of the second
    first       |    |    |    |    |  outside
    column,     +----+----+----+----+             sums[i]: cells added up over the bins before i, so that
    a bins      |    |    |    |    |  inside     a run of bins is a difference of two of them
                |    |    |    |    |  inside
                +----+----+----+----+

Costs are whole numbers, as in `loops.expand`, so all sums are exact.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_cells", "best_alone", "best_seconds"]


@jit
def add_cells(first, second, costs, sums):
    """Write the running sums of the cells of two columns; bins without rows are allowed.

    IN: first, second (n,): bins of the rows in either column; costs (n, k). OUT: sums (a + 1, b, k), zero before.
    """
    for row in range(len(first)):
        for cluster in range(costs.shape[1]):
            sums[first[row] + 1, second[row], cluster] += costs[row, cluster]
    for i in range(1, sums.shape[0]):
        for p in range(sums.shape[1]):
            for cluster in range(sums.shape[2]):
                sums[i, p, cluster] += sums[i - 1, p, cluster]


@jit
def best_alone(sums, starts, stops, alone):
    """Write the cost of either side of each first cut under its cheapest cluster.

    IN: sums (a + 1, b, k); starts, stops (m,): the bins inside are those from start to stop - 1. OUT: alone (m, 2).
    """
    last, b, k = sums.shape[0] - 1, sums.shape[1], sums.shape[2]
    for f in range(len(starts)):
        for cluster in range(k):
            inside, total = np.int64(0), np.int64(0)
            for p in range(b):
                inside += sums[stops[f], p, cluster] - sums[starts[f], p, cluster]
                total += sums[last, p, cluster]
            if cluster == 0 or inside < alone[f, 0]:
                alone[f, 0] = inside
            if cluster == 0 or total - inside < alone[f, 1]:
                alone[f, 1] = total - inside


@jit
def best_seconds(sums, starts, stops, two_sided, best):
    """Lower the costs of either side of each first cut to those with the best second cut along the second column.

    IN: sums, starts, stops as `best_alone`; two_sided: whether a second cut may be an interval. OUT: best (m, 2).
    """
    last, b, k = sums.shape[0] - 1, sums.shape[1], sums.shape[2]
    part, total = np.empty((b, k), dtype=np.int64), np.empty(k, dtype=np.int64)
    left, run = np.empty(k, dtype=np.int64), np.empty((k, k), dtype=np.int64)
    for f in range(len(starts)):
        for side in range(2):
            total[:] = 0
            for p in range(b):
                for cluster in range(k):
                    cost = sums[stops[f], p, cluster] - sums[starts[f], p, cluster]
                    part[p, cluster] = cost if side == 0 else sums[last, p, cluster] - cost
                    total[cluster] += part[p, cluster]
            best[f, side] = min(best[f, side], _best_threshold(part, total, left))
            if two_sided:
                best[f, side] = min(best[f, side], _best_interval(part, total, run))


@jit
def _best_threshold(part, total, left):
    """Return the lowest cost of a threshold between bins; `left` is space for k numbers."""
    b, k = part.shape
    left[:] = 0
    best = total.min()
    for p in range(b - 1):
        first, second = np.iinfo(np.int64).max, np.iinfo(np.int64).max
        for cluster in range(k):
            left[cluster] += part[p, cluster]
            first, second = min(first, left[cluster]), min(second, total[cluster] - left[cluster])
        best = min(best, first + second)
    return best


@jit
def _best_interval(part, total, run):
    """Return the lowest cost of an inner run of bins: a minimum-sum run for each pair of clusters, as in `expand`.

    `run` is space for k x k numbers.
    """
    b, k = part.shape
    run[:] = 0
    best = total.min()
    for p in range(1, b - 1):
        for j in range(k):
            for other in range(k):
                run[j, other] = min(run[j, other], 0) + part[p, j] - part[p, other]
                best = min(best, total[other] + run[j, other])
    return best
