"""How far distances between similarities are from those in the feature spaces of a kernel's axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, as_weights
from boxwood.errors import DataError
from boxwood.kernels import Kernel
from boxwood.kernels._as_kernel import as_distance_kernel
from boxwood.reference import Reference

__all__ = ["DistanceRatios", "distance_ratios"]


_ROUNDING = 1e-14  # of a squared distance in the feature space of an axis, where no similarity is above 1


class DistanceRatios(NamedTuple):
    """The data's share in `distance_price_bound`.

    Attributes
    ----------
    stretch : float
        The paper's kappa_1: the largest ratio, over pairs of clusters, of the squared distance of their means in the
        product of the axes' feature spaces to that of their similarities to all values. 0 for one cluster.
    shrink : float
        The paper's kappa_2: the largest ratio, over rows and the means of their clusters, the other way round. 0 if
        each row is at its mean.
    """

    stretch: float
    shrink: float


def distance_ratios(
    X: ArrayLike, reference: Reference, *, kernel: Kernel | str, sample_weight: ArrayLike | None = None
) -> DistanceRatios:
    """Return the two constants of the data on which the price of Kernel IMM on distances to all rows depends.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    reference : Reference
        Clusters to be explained. Only the labels count; -1 leaves a row out.
    kernel : DistanceKernel or str
        Kernel that multiplies over axes, or a name of one. A bandwidth still to be found is found from all rows.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; rows of weight 0 are left out.

    Returns
    -------
    DistanceRatios
        Arguments of `distance_price_bound`. Always holds: both are at least 0, and but for rounding `shrink` is at most
        the largest sum of a row of an axis's kernel matrix.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, or every row is left out.
    ValueError
        If the kernel does not multiply over axes.

    Notes
    -----
    On an axis whose different values have the kernel matrix K, the similarities of a row, a mean or a difference of
    them are u = K w, w its weights on the values. The paper's squared distance `u' K⁻¹ u` is then `w' K w`, with the
    pseudo-inverse too: nothing is inverted, whatever K's condition. The paper takes a value as often as rows have it,
    where K is singular; here each counts once, as among the features of `grow.kernel_imm` with `n_landmarks=None`,
    for which the theorem holds all the same.

    The paper's maximum over the nodes of a tree is one over all pairs of clusters, as all are at the root; so no tree
    is asked for. Rows and means whose squared distance
    in the feature space is below rounding, 1e-14 an axis, count as equal.

    With m different values in a column, takes time n m + k² m and memory of three times m² numbers, for one column at a
    time.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorem 5 and Appendix G.

    Examples
    --------
    >>> from boxwood.kernels import Laplace
    >>> from boxwood.theory.bounds import distance_price_bound
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> ratios = distance_ratios(X, Reference.of(X, [0, 0, 1, 1]), kernel=Laplace(1.0))
    >>> round(ratios.stretch, 3), round(ratios.shrink, 3)
    (0.74, 0.632)
    >>> round(distance_price_bound(2, 1, **ratios._asdict()).value, 2)
    9.49
    """
    table = as_table(X)
    fitted = as_distance_kernel(kernel).fitted(table)
    table, labels, weights = _kept(table, reference, as_weights(sample_weight, len(table)))
    k, d = int(labels.max()) + 1, table.shape[1]
    pairs, rows = np.zeros((2, k, k)), np.zeros((2, len(table)))
    for j in range(d):
        values, place = np.unique(table[:, j].astype(np.float64), return_inverse=True)
        K = fitted.axis_kernel(j, values, values)
        shares = np.zeros((len(values), k))
        np.add.at(shares, (place, labels), weights)
        shares /= shares.sum(axis=0)
        means = K @ shares
        pairs += _between_means(shares, means)
        rows += _to_means(K, shares, means, place, labels)
    apart, away = pairs[0] > d * _ROUNDING, rows[0] > d * _ROUNDING
    return DistanceRatios(_largest(pairs[0][apart], pairs[1][apart]), _largest(rows[1][away], rows[0][away]))


def _kept(table: Array, reference: Reference, weights: Floats | None) -> tuple[Array, Indices, Floats]:
    """Return the rows that count, their clusters numbered without gaps, and their weights."""
    if len(table) != len(reference.labels):
        raise DataError(f"X has {len(table)} rows, but the reference has {len(reference.labels)}")
    given = np.ones(len(table)) if weights is None else weights
    kept = reference.kept & (given > 0)
    if not kept.any():
        raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
    return table[kept], np.unique(reference.labels[kept], return_inverse=True)[1], given[kept]


def _between_means(shares: Floats, means: Floats) -> Floats:
    """Return squared distances of means, (2, k, k): in the feature space of an axis, and of similarities."""
    k = shares.shape[1]
    found = np.empty((2, k, k))
    for a in range(k):
        apart = means - means[:, [a]]
        found[0, a] = ((shares - shares[:, [a]]) * apart).sum(axis=0)
        found[1, a] = np.square(apart).sum(axis=0)
    return found


def _to_means(K: Floats, shares: Floats, means: Floats, place: Array, labels: Array) -> Floats:
    """Return squared distances of rows to the means of their clusters, (2, n), in the same two ways."""
    found = np.empty((2, len(labels)))
    for c in range(shares.shape[1]):
        members = labels == c
        mine, of_row = np.unique(place[members], return_inverse=True)
        apart = K[mine] - means[:, c]
        product = apart[np.arange(len(mine)), mine] - apart @ shares[:, c]
        found[:, members] = np.array([product, np.square(apart).sum(axis=1)])[:, of_row]
    return found


def _largest(over: Floats, under: Floats) -> float:
    return float((over / under).max(initial=0.0))
