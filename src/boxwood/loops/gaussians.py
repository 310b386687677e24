"""Distances of rows to Gaussians, and what EM expects of rows, in sums that do not depend on the order of the rows.

Each row is looked at by itself, with plain sums in a fixed order, so its numbers depend neither on the rows beside it
nor on their number, as they would with BLAS. Sums over rows are exact, in parts; see `sums.py`.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_expected", "deviations"]

SIDE_BY_SIDE = 32  # rows, for which the processor computes the same thing at a time
ROUNDING = 6755399441055744.0  # 1.5 * 2**52: added and subtracted again, it rounds to a whole number


@jit
def deviations(X, means, roots, full, squares):
    """Write the squared distance of each row to each mean, in the axes and units in which the Gaussian is standard.

    IN: X (n, d); means (k, d); roots (k, d, d), upper triangles, or the inverse deviations (k, 1, d) unless full.
    OUT: squares (n, k).
    """
    n_columns = X.shape[1]
    gaps, along, total = np.zeros((n_columns, SIDE_BY_SIDE)), np.empty(SIDE_BY_SIDE), np.empty(SIDE_BY_SIDE)
    for start in range(0, X.shape[0], SIDE_BY_SIDE):
        n_rows = min(SIDE_BY_SIDE, X.shape[0] - start)
        for c in range(len(means)):
            for j in range(n_columns):
                for r in range(n_rows):
                    gaps[j, r] = X[start + r, j] - means[c, j]
            total[:] = 0.0
            for j in range(n_columns):
                along[:] = 0.0
                for i in range(0 if full else j, j + 1):
                    root = roots[c, i if full else 0, j]
                    for r in range(SIDE_BY_SIDE):
                        along[r] += gaps[i, r] * root
                for r in range(SIDE_BY_SIDE):
                    total[r] += along[r] * along[r]
            for r in range(n_rows):
                squares[start + r, c] = total[r]


@jit
def add_expected(X, shares, means, scales, full, units, sums):
    """Add to each Gaussian the shares of the rows, the rows' gaps to its mean, and the products of two gaps, in parts.

    IN: X (n, d); shares (n, k), of at most 1; means (k, d); scales (d,), powers of two that bring gaps into [-1, 1];
    full: products of all pairs of columns i >= j, else those of each column with itself; units (p,), descending.
    OUT: sums (k, p, 1 + d + m) for m products.
    """
    n_columns = X.shape[1]
    gaps, rest = np.empty(n_columns), np.empty(sums.shape[2])
    for row in range(X.shape[0]):
        for c in range(len(means)):
            share = shares[row, c]
            if share == 0.0:
                continue
            rest[0] = share
            for j in range(n_columns):
                gaps[j] = (X[row, j] - means[c, j]) * scales[j]
                rest[1 + j] = share * gaps[j]
            at = 1 + n_columns
            for i in range(n_columns):
                weighted = rest[1 + i]
                if full:
                    for j in range(i + 1):
                        rest[at + j] = weighted * gaps[j]
                    at += i + 1
                else:
                    rest[at + i] = weighted * gaps[i]
            for part in range(len(units)):
                magic = ROUNDING * units[part]
                for j in range(len(rest)):
                    whole = (rest[j] + magic) - magic
                    sums[c, part, j] += whole
                    rest[j] -= whole
