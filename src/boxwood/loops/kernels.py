"""Sums over columns that kernels are made of: squared and absolute differences, minima, harmonic means.

Each function adds to a block of rows against others. The others come transposed, one line for each column, so that the
inner loop runs along memory.
"""

from boxwood.loops._jit import jit

__all__ = ["add_absolutes", "add_harmonic_means", "add_minima", "add_squares"]


@jit
def add_squares(rows, others, units, sums):
    """Add the squared Euclidean distances between rows and others, each difference times the unit of its column.

    IN: rows (n, d); others (d, m); units (d,). OUT: sums (n, m).
    """
    for r in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            x, unit = float(rows[r, j]), units[j]
            for c in range(others.shape[1]):
                gap = (float(others[j, c]) - x) * unit
                sums[r, c] += gap * gap


@jit
def add_absolutes(rows, others, units, sums):
    """Add the ℓ1 distances between rows and others, each difference times the unit of its column, above 0.

    IN: rows (n, d); others (d, m); units (d,). OUT: sums (n, m).
    """
    for r in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            x, unit = float(rows[r, j]), units[j]
            for c in range(others.shape[1]):
                sums[r, c] += abs(float(others[j, c]) - x) * unit


@jit
def add_minima(rows, others, sums):
    """Add over columns the smaller of the two values.

    IN: rows (n, d); others (d, m). OUT: sums (n, m).
    """
    for r in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            x = float(rows[r, j])
            for c in range(others.shape[1]):
                sums[r, c] += min(float(others[j, c]), x)


@jit
def add_harmonic_means(rows, others, sums):
    """Add over columns `2 x y / (x + y)` of values that are not negative; 0 where one of them is.

    IN: rows (n, d); others (d, m). OUT: sums (n, m).
    """
    for r in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            x = float(rows[r, j])
            if x == 0.0:
                continue
            for c in range(others.shape[1]):
                y = float(others[j, c])
                sums[r, c] += 2.0 * x * (y / (x + y))
