"""Distances of rows to centres, and the nearest centre of each row, by the l1 or the Euclidean distance.

Centres come as columns, so that the inner loops run over all of them side by side.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_potentials", "distances", "lower_to", "nearest"]


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
    """Lower `closest` to the distance to one more centre, for the rows that are nearer to it.

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
