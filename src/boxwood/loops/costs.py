"""Distances of rows to centres: their sums by cluster, steps to a geometric median, the nearest centre of each row.

A centre is given in two parts, `centers + offsets`. The sum of the two would be rounded: for values such as 1e12 + 1
the rounded mean is off by 1e-4. `(x - center) - offset` keeps those digits if the first part is near the rows.

`weights` of length 0 stands for rows that all weigh 1; a label of -1 leaves a row out. Each function adds to its
outputs, so that a block of rows fills its own.

Centres come as columns, so that the inner loops run over all of them side by side.
"""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for

L1, L2, SQEUCLIDEAN = 0, 1, 2


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


@stands_in_for(add_costs)
def _add_costs(X, labels, weights, centers, offsets, objective, costs):
    rows = np.flatnonzero(labels >= 0)
    c, distances = labels[rows], np.zeros(len(rows))
    for j in range(X.shape[1]):
        gap = (X[rows, j].astype(np.float64) - centers[c, j]) - offsets[c, j]
        distances += np.abs(gap) if objective == L1 else gap * gap
    if objective == L2:
        distances = np.sqrt(distances)
    np.add.at(costs, c, distances * weights[rows] if weights.size else distances)  # row by row


@jit
def write_whole(costs, share, times, scale, whole):
    """Write weighted costs as whole numbers: a cost times share times scale, rounded, and then `times` times.

    IN: costs (n, k); share, times (n,); scale. OUT: whole (n, k).
    """
    for row in range(costs.shape[0]):
        for c in range(costs.shape[1]):
            whole[row, c] = np.int64(np.rint(costs[row, c] * share[row] * scale)) * times[row]


@stands_in_for(write_whole)
def _write_all_whole(costs, share, times, scale, whole):
    whole[:] = np.rint(costs * share[:, None] * scale).astype(np.int64) * times[:, None]


@jit
def add_pulls(X, rows, weights, origin, unit, point, radius, sums, pull, bend):
    """Add up the cost of a geometric median at `point`, its gradient and its curvature, over some of the rows.

    A row counts as `z = (x - origin) / unit`, at distance `r = |z - point|` in direction `u = (z - point) / r`. It is
    at the point if r is at most `radius`, and away from it otherwise.

    IN: X (n, d); rows (m,): numbers of the rows, at least one; weights (n,) or (0,); origin, point (d,); unit; radius.
    OUT: sums (5,): [0] sum of w r over all rows, [1] sum of w / r over rows away from the point, [2] weight of the rows
    at the point, [3] distance r of the nearest row, inf before, and [4] the number of that row; pull (d,): sum of w u
    over rows away from the point; bend (d, d): lower half of the sum of w / r u u' over the same rows. A bend of shape
    (0, 0) is left out.
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
            factor = weight / r * u[i]
            for j in range(i + 1):
                bend[i, j] += factor * u[j]


@jit
def distances(X, centers, euclidean, out):
    """Write the distance of each row to each centre.

    IN: X (n, d); centers (d, k); euclidean, else l1. OUT: out (n, k).
    """
    for row in range(X.shape[0]):
        _fill(X, row, centers, euclidean, out[row])
        if euclidean:
            for c in range(centers.shape[1]):
                out[row, c] = np.sqrt(out[row, c])


@jit
def nearest(X, centers, euclidean, labels, costs):
    """Write for each row its nearest centre, the first of equally near ones, and the distance to it.

    IN: X (n, d); centers (d, k); euclidean, else l1. OUT: labels (n,), costs (n,).
    """
    row_distances = np.empty(centers.shape[1])
    for row in range(X.shape[0]):
        _fill(X, row, centers, euclidean, row_distances)
        best = 0
        for c in range(1, len(row_distances)):
            if row_distances[c] < row_distances[best]:
                best = c
        labels[row] = best
        costs[row] = np.sqrt(row_distances[best]) if euclidean else row_distances[best]


@jit
def add_potentials(X, weights, candidates, euclidean, closest, potentials):
    """Add for each candidate the cost of all rows if it were a centre too: the sum of `w min(closest, distance)`.

    IN: X (n, d); weights (n,) or (0,) for rows that all weigh 1; candidates (d, m); euclidean, else l1;
    closest (n,): distance of each row to the nearest centre so far. OUT: potentials (m,).
    """
    row_distances = np.empty(candidates.shape[1])
    for row in range(X.shape[0]):
        _fill(X, row, candidates, euclidean, row_distances)
        weight = weights[row] if weights.size else 1.0
        for c in range(len(row_distances)):
            potentials[c] += weight * min(closest[row], np.sqrt(row_distances[c]) if euclidean else row_distances[c])


@jit
def lower_to(X, center, euclidean, closest):
    """Update `closest`, the distances to the nearest centre, by one more centre.

    IN: X (n, d); center (d,); euclidean, else l1. IN and OUT: closest (n,).
    """
    for row in range(X.shape[0]):
        distance = 0.0
        for j in range(X.shape[1]):
            gap = np.float64(X[row, j]) - center[j]
            distance += gap * gap if euclidean else abs(gap)
        closest[row] = min(closest[row], np.sqrt(distance) if euclidean else distance)


@jit
def _fill(X, row, centers, squared, row_distances):
    """Write the squared Euclidean or the l1 distance of one row to each centre.

    IN: X (n, d); row; centers (d, k); squared, else l1. OUT: row_distances (k,).
    """
    row_distances[:] = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[row, j])
        if squared:
            for c in range(centers.shape[1]):
                row_distances[c] += (x - centers[j, c]) * (x - centers[j, c])
        else:
            for c in range(centers.shape[1]):
                row_distances[c] += abs(x - centers[j, c])
