"""Sums over the rows of each cluster: differences and distances to centres, the pulls of a geometric median.

A centre is given in two parts, `centers + offsets`. With a first part near the rows, `(x - center) - offset` keeps the
digits that rounding the sum of the two would cost: for values such as 1e12 + 1 the rounded mean is off by 1e-4.

`weights` of length 0 stands for rows that all weigh 1; a label of -1 leaves a row out. Each function adds to its
outputs, so that a block of rows fills its own.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["L1", "L2", "SQEUCLIDEAN", "add_costs", "add_differences", "add_pulls"]

L1, L2, SQEUCLIDEAN = 0, 1, 2


@jit
def add_differences(X, labels, weights, centers, sums):
    """Add to each cluster the weighted differences of its rows to its centre: the sum of `w (x - centers[c])`.

    IN: X (n, d); labels (n,); weights (n,) or (0,); centers (k, d). OUT: sums (k, d).
    """
    for row in range(X.shape[0]):
        c = labels[row]
        if c < 0:
            continue
        weight = weights[row] if weights.size else 1.0
        for j in range(X.shape[1]):
            sums[c, j] += weight * (np.float64(X[row, j]) - centers[c, j])


@jit
def add_costs(X, labels, weights, centers, offsets, objective, costs):
    """Add to each cluster the weighted distances of its rows to its centre, as the objective measures them.

    IN: X (n, d); labels (n,); weights (n,) or (0,); centers, offsets (k, d); objective L1, L2 or SQEUCLIDEAN.
    OUT: costs (k,).
    """
    for row in range(X.shape[0]):
        c = labels[row]
        if c < 0:
            continue
        distance = 0.0
        for j in range(X.shape[1]):
            gap = (np.float64(X[row, j]) - centers[c, j]) - offsets[c, j]
            distance += abs(gap) if objective == L1 else gap * gap
        if objective == L2:
            distance = np.sqrt(distance)
        costs[c] += distance * (weights[row] if weights.size else 1.0)


@jit
def add_pulls(X, rows, weights, origin, unit, point, radius, sums, pull, bend):
    """Add what the given rows tell of a geometric median at `point`; rows count as `z = (x - origin) / unit`.

    With `r = |z - point|` and `u = (z - point) / r`, a row nearer than `radius` is at the point.

    IN: X (n, d); rows (m,), at least one; weights (n,) or (0,); origin, point (d,).
    OUT: sums (5,): sum of w r over all rows, sum of w / r over rows away from the point, weight of the rows at it, and
    for the nearest row its r and number (r = inf beforehand); over rows away from the point pull (d,), the sum of w u,
    and bend (d, d), the lower half of the sum of w / r u u', left out where its shape is (0, 0).
    """
    inverse = 1.0 / unit
    u = np.empty(X.shape[1])
    for row in rows:
        squares = 0.0
        for j in range(X.shape[1]):
            u[j] = (np.float64(X[row, j]) - origin[j]) * inverse - point[j]
            squares += u[j] * u[j]
        r = np.sqrt(squares)
        weight = weights[row] if weights.size else 1.0
        sums[0] += weight * r
        if r < sums[3]:
            sums[3], sums[4] = r, row
        if r <= radius:
            sums[2] += weight
            continue
        sums[1] += weight / r
        for j in range(X.shape[1]):
            u[j] /= r
            pull[j] += weight * u[j]
        for i in range(bend.shape[0]):
            share = weight / r * u[i]
            for j in range(i + 1):
                bend[i, j] += share * u[j]
