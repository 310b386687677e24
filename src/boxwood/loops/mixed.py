"""Tables of numbers and codes of categories: squared distances to centres, sums of clusters, axes of codes.

Only values that are there count: NaN stands for a missing number, and for a value without a code. The centre of a
cluster is its mean in a column of numbers, and the shares of the codes in a column of categories. The squared distance
of a code to all centres is looked up::

    points[j]                  column j of numbers: its value at each centre, shape (k,)
    gaps[first[j] + code]      column j of codes: the squared distance of the code to each centre, shape (k,)

`first[j]` is -1 for a column of numbers. `weights` of length 0 stands for rows that all weigh 1.
"""

import math

import numpy as np

from boxwood.loops.jit import is_search, jit


@jit
def nearest(X, first, points, gaps, labels, costs):
    """Write the nearest centre of each row, the first of equally near ones, and its squared distance.

    IN: X (n, d); first (d,); points (d, k); gaps (m, k). OUT: labels, costs (n,).
    """
    away = np.empty(points.shape[1])
    for row in range(X.shape[0]):
        _measure(X[row], first, points, gaps, away)
        best = 0
        for c in range(1, len(away)):
            if away[c] < away[best]:
                best = c
        labels[row] = best
        costs[row] = away[best]


@jit
def add_potentials(X, weights, first, points, gaps, closest, sums):
    """Add the weighted costs of the rows with each of some centres as one more centre.

    IN: X (n, d); weights (n,) or (0,); first (d,); points (d, t); gaps (m, t); closest (n,), squared distances to the
    nearest centre so far. OUT: sums (t,).
    """
    away = np.empty(points.shape[1])
    for row in range(X.shape[0]):
        _measure(X[row], first, points, gaps, away)
        weight = weights[row] if weights.size else 1.0
        for c in range(len(away)):
            sums[c] += weight * min(away[c], closest[row])


@jit
def _measure(x, first, points, gaps, away):
    """Write the squared distance of a row to each centre. IN: x (d,). OUT: away (k,)."""
    away[:] = 0.0
    for j in range(len(x)):
        if np.isnan(x[j]):
            continue
        if first[j] < 0:
            for c in range(len(away)):
                gap = x[j] - points[j, c]
                away[c] += gap * gap
        else:
            line = first[j] + np.int64(x[j])
            for c in range(len(away)):
                away[c] += gaps[line, c]


@jit
def add_rows(X, labels, weights, first, sums, mass, counts):
    """Add the rows to the sums of their clusters.

    IN: X (n, d); labels (n,); weights (n,) or (0,); first (d,). OUT: sums (k, d), of numbers; mass (k, d), the weight
    of rows that have the number; counts (m, k), the weight of each code.
    """
    for row in range(X.shape[0]):
        c, weight = labels[row], weights[row] if weights.size else 1.0
        for j in range(X.shape[1]):
            x = X[row, j]
            if np.isnan(x):
                continue
            if first[j] < 0:
                sums[c, j] += weight * x
                mass[c, j] += weight
            else:
                counts[first[j] + np.int64(x), c] += weight


SWEEPS = 60  # far more than any matrix needs
TINY = 1e-15  # cosine of an angle that is a right one
NOISE = 1e-13  # length of a row that is rounding alone, where the whole matrix has length 1
NOTHING = 1e-100  # length of a column beside which others are many orders longer: its square would underflow
MANY = 100  # rows, beyond the number of columns, from which on a triangle is made first
STEP = 3e-6  # seconds to look at two numbers, and to turn them, if interpreted


@is_search(step=STEP)
@jit
def orthogonal_rows(rows, work):
    """Rotate the rows of a matrix among each other until all are orthogonal: one-sided Jacobi rotations.

    They are then its principal axes, each times its singular value, in no order. Sums run along the columns one by one,
    so that nothing depends on how a library sums, which axes of equal strength would show. Many rows become a triangle
    first, which has the same axes and no more rows than columns. So this takes time k m² once, and m³ for each sweep.

    IN, OUT: rows (k, m); work (1,): how often two numbers were looked at so far.
    """
    k, m = rows.shape
    if k > max(m, MANY):
        work[0] += k * m * m
        _make_triangle(rows)
        k = m
    noise = 0.0
    for p in range(k):
        for j in range(m):
            noise += rows[p, j] * rows[p, j]
    noise *= NOISE * NOISE
    for _ in range(SWEEPS):
        work[0] += k * (k - 1) // 2 * m
        has_turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                first, second, product = 0.0, 0.0, 0.0
                for j in range(m):
                    first += rows[p, j] * rows[p, j]
                    second += rows[q, j] * rows[q, j]
                    product += rows[p, j] * rows[q, j]
                if min(first, second) <= noise or abs(product) <= TINY * math.sqrt(first) * math.sqrt(second):
                    continue
                has_turned = True
                ratio = (second - first) / (2.0 * product)
                tangent = 1.0 / (abs(ratio) + math.sqrt(1.0 + ratio * ratio))
                tangent = tangent if ratio >= 0.0 else -tangent
                cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                sine = cosine * tangent
                for j in range(m):
                    above, below = rows[p, j], rows[q, j]
                    rows[p, j] = cosine * above - sine * below
                    rows[q, j] = sine * above + cosine * below
        if not has_turned:
            return


@jit
def _make_triangle(rows):
    """Reflect the rows of a matrix among each other until nothing is left below its diagonal. IN, OUT: rows (k, m)."""
    k, m = rows.shape
    mirror, along = np.empty(k), np.empty(m)
    for j in range(m):
        size = 0.0
        for i in range(j, k):
            mirror[i] = rows[i, j]
            size += rows[i, j] * rows[i, j]
        size = math.sqrt(size)
        if size < NOTHING:
            continue
        mirror[j] += size if mirror[j] >= 0.0 else -size
        scale = size * abs(mirror[j])
        along[j:] = 0.0
        for i in range(j, k):
            for c in range(j, m):
                along[c] += mirror[i] * rows[i, c]
        for i in range(j, k):
            for c in range(j, m):
                rows[i, c] -= mirror[i] * along[c] / scale
        rows[j + 1 :, j] = 0.0
    rows[m:] = 0.0
