"""Principal axes of a few points, by rotations that are the same on every processor."""

import math

from boxwood.loops.jit import jit

__all__ = ["orthogonal_rows"]

SWEEPS = 60  # far more than any matrix needs
TINY = 1e-15  # cosine of an angle that is a right one


@jit
def orthogonal_rows(rows):
    """Rotate the rows of a matrix among each other until all are orthogonal: one-sided Jacobi rotations.

    They are then its principal axes, each times its singular value, in no order. Sums run along the columns one by one,
    so that nothing depends on how a library sums, which axes of equal strength would show.

    IN, OUT: rows (k, m).
    """
    k, m = rows.shape
    for _ in range(SWEEPS):
        has_turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                first, second, product = 0.0, 0.0, 0.0
                for j in range(m):
                    first += rows[p, j] * rows[p, j]
                    second += rows[q, j] * rows[q, j]
                    product += rows[p, j] * rows[q, j]
                if abs(product) <= TINY * math.sqrt(first) * math.sqrt(second):
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
