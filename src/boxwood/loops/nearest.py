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
    to = np.empty(centers.shape[1])
    for row in range(X.shape[0]):
        _fill(X, row, centers, euclidean, to)
        best = 0
        for c in range(1, len(to)):
            if to[c] < to[best]:
                best = c
        labels[row] = best
        costs[row] = np.sqrt(to[best]) if euclidean else to[best]


@jit
def add_potentials(X, weights, candidates, euclidean, closest, potentials):
    """Add for each candidate what all rows would cost with it: the sum of `w min(closest, distance to it)`.

    IN: X (n, d); weights (n,) or (0,) for rows that all weigh 1; candidates (d, m); euclidean, else l1;
    closest (n,): distance of each row to the nearest centre so far. OUT: potentials (m,).
    """
    to = np.empty(candidates.shape[1])
    for row in range(X.shape[0]):
        _fill(X, row, candidates, euclidean, to)
        weight = weights[row] if weights.size else 1.0
        for c in range(len(to)):
            potentials[c] += weight * min(closest[row], np.sqrt(to[c]) if euclidean else to[c])


@jit
def lower_to(X, center, euclidean, closest):
    """Lower `closest` to the distance to one more centre, where that is nearer.

    IN: X (n, d); center (d,); euclidean, else l1. IN and OUT: closest (n,).
    """
    for row in range(X.shape[0]):
        distance = 0.0
        for j in range(X.shape[1]):
            gap = np.float64(X[row, j]) - center[j]
            distance += gap * gap if euclidean else abs(gap)
        closest[row] = min(closest[row], np.sqrt(distance) if euclidean else distance)


@jit
def _fill(X, row, centers, squared, to):
    """Write the squared Euclidean or the l1 distance of one row to each centre.

    IN: X (n, d), row, centers (d, k), squared. OUT: to (k,).
    """
    to[:] = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[row, j])
        if squared:
            for c in range(centers.shape[1]):
                to[c] += (x - centers[j, c]) * (x - centers[j, c])
        else:
            for c in range(centers.shape[1]):
                to[c] += abs(x - centers[j, c])
