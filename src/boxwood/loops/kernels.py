"""Sums over columns that kernels are made of: products, squared and absolute differences, minima, harmonic means.

Each function adds to a block of values, one for each pair of a row and another row. The others come transposed, so that
the inner loop runs along memory. Each sum is taken in the order of the columns, so it depends neither on the processor
nor on the other rows of the block.
"""

import numpy as np

from boxwood._types import Array, Floats
from boxwood.loops.jit import jit


def products(rows: Array, vectors: Array) -> Floats:
    """Return `rows @ vectors.T` for rows (n, d) and vectors (m, d), summed as `add_products` does."""
    sums = np.zeros((len(rows), len(vectors)))
    add_products(np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(vectors.T, np.float64), sums)
    return sums


@jit
def add_products(rows, others, sums):
    """Add the inner products of rows and others: the matrix product `rows @ others`.

    BLAS would sum in an order that depends on the processor, its threads and the shape of the block. Four rows are
    taken at once, and four columns, so that each number that is read serves four times.

    IN: rows (n, d); others (d, m). OUT: sums (n, m).
    """
    n, d = rows.shape
    last_row, last_column = n - n % 4, d - d % 4
    for r in range(0, last_row, 4):
        for j in range(0, last_column, 4):
            a0, a1, a2, a3 = rows[r, j], rows[r, j + 1], rows[r, j + 2], rows[r, j + 3]
            b0, b1, b2, b3 = rows[r + 1, j], rows[r + 1, j + 1], rows[r + 1, j + 2], rows[r + 1, j + 3]
            c0, c1, c2, c3 = rows[r + 2, j], rows[r + 2, j + 1], rows[r + 2, j + 2], rows[r + 2, j + 3]
            d0, d1, d2, d3 = rows[r + 3, j], rows[r + 3, j + 1], rows[r + 3, j + 2], rows[r + 3, j + 3]
            for c in range(others.shape[1]):
                w, x, y, z = others[j, c], others[j + 1, c], others[j + 2, c], others[j + 3, c]
                sums[r, c] = sums[r, c] + a0 * w + a1 * x + a2 * y + a3 * z
                sums[r + 1, c] = sums[r + 1, c] + b0 * w + b1 * x + b2 * y + b3 * z
                sums[r + 2, c] = sums[r + 2, c] + c0 * w + c1 * x + c2 * y + c3 * z
                sums[r + 3, c] = sums[r + 3, c] + d0 * w + d1 * x + d2 * y + d3 * z
    for r in range(n):  # the columns left over, and all columns of the rows left over
        for j in range(last_column if r < last_row else 0, d):
            x = rows[r, j]
            for c in range(others.shape[1]):
                sums[r, c] += x * others[j, c]


@jit
def add_pair_squares(rows, others, units, sums):
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
