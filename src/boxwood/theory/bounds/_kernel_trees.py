"""Bounds on the kernel price of Kernel IMM's trees, and the constants of the data that one of them needs.

All are from M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows, finite_number, real_number, refuse_infinite_sum, whole_number
from boxwood.errors import DataError
from boxwood.kernels import Kernel
from boxwood.kernels._by_name import as_distance_kernel
from boxwood.reference import Reference
from boxwood.reference._reference import refuse_no_reference
from boxwood.theory.bounds._bound import Bound, Condition, as_price

__all__ = ["DistanceRatios", "distance_price_bound", "distance_ratios", "taylor_price_bound"]

_PAPER = "Fleissner, Vankadara and Ghoshdastidar, Explaining Kernel Clustering via Decision Trees, ICLR 2024"
_PRODUCT = Condition("the kernel multiplies over axes, each factor from 0 to 1 and 1 for equal values", "unknown")
_ROUNDING = 1e-14  # of a squared distance in the feature space of an axis, where no similarity is above 1


def taylor_price_bound(k: int, n_axes: int, *, n_rows: int, delta: float, cost: float) -> Bound:
    """Return the bound on the kernel price of Kernel IMM's tree on truncated features, such as Taylor's.

    It is `(2 + 8 k (k - 1)) d + 2 n d delta (3 + 8 k (k - 1)) / cost`; with exact features delta is 0.

    Parameters
    ----------
    k, n_axes, n_rows : int
        Numbers of clusters, axes d and rows n.
    delta : float
        Largest absolute error of the features' inner products along one axis, over pairs of rows. At least 0.
    cost : float
        Kernel k-means cost of the reference, above 0.

    Raises
    ------
    ValueError
        If delta is below 0, or the cost is not above 0.

    Notes
    -----
    The paper writes O(delta) for an error that grows with the number of rows.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorem 4, with the constants of its proof.

    Examples
    --------
    >>> taylor_price_bound(2, 3, n_rows=100, delta=0.01, cost=50.0).value
    56.28
    """
    for name, count in (("k", k), ("n_axes", n_axes), ("n_rows", n_rows)):
        whole_number(name, count, 1)
    if not (finite_number("cost", cost) > 0 and finite_number("delta", delta) >= 0):
        raise ValueError(f"cost must be above 0 and delta not below 0, got cost={cost}, delta={delta}")
    pairs = 8 * k * (k - 1)
    value = (2 + pairs) * n_axes + 2 * n_rows * n_axes * delta * (3 + pairs) / cost
    return as_price(value, (_PRODUCT, _tree_on("truncated features")), f"{_PAPER}, Theorem 4")


def distance_price_bound(k: int, n_axes: int, *, stretch: float, shrink: float) -> Bound:
    """Return the bound on the kernel price of Kernel IMM's tree on distances to points: `(2 + 8 a b k (k - 1)) d`.

    Parameters
    ----------
    k, n_axes : int
        Numbers of clusters and axes d.
    stretch, shrink : float
        The constants a and b of the data, at least 0; see `DistanceRatios`. `distance_ratios` returns both.

    Raises
    ------
    ValueError
        If a constant is below 0.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorem 5 and Appendix G.

    Examples
    --------
    >>> distance_price_bound(2, 3, stretch=1.0, shrink=2.0).value
    102.0
    """
    whole_number("k", k, 1), whole_number("n_axes", n_axes, 1)
    if not (real_number("stretch", stretch) >= 0 and real_number("shrink", shrink) >= 0):
        raise ValueError(f"stretch and shrink must not be below 0, got stretch={stretch}, shrink={shrink}")
    value = (2 + 8 * stretch * shrink * k * (k - 1)) * n_axes
    return as_price(value, (_PRODUCT, _tree_on("distances to all rows")), f"{_PAPER}, Theorem 5")


class DistanceRatios(NamedTuple):
    """The two constants of the data in `distance_price_bound`.

    Each is the largest ratio of two squared distances between the same two points. One is the squared distance in the
    product of the axes' feature spaces. The other is the squared distance of the points' similarities to all values of
    all axes, the features on which Kernel IMM cuts.

    Attributes
    ----------
    stretch : float
        The paper's kappa_1: the distance in the feature spaces divided by the distance of the similarities, both
        squared, the largest over pairs of clusters' means. 0 for one cluster.
    shrink : float
        The paper's kappa_2: the inverse ratio, the largest over rows and the means of their clusters. 0 if each row is
        at its mean.
    """

    stretch: float
    shrink: float


def distance_ratios(
    X: ArrayLike, reference: Reference, *, kernel: Kernel | str, sample_weight: ArrayLike | None = None
) -> DistanceRatios:
    """Return the constants of the data in the bound on the price of Kernel IMM on distances to all rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    reference : Reference
        Clusters to be explained. Only the labels are used; -1 leaves a row out.
    kernel : DistanceKernel or str
        Kernel that multiplies over axes, or the name of one. A bandwidth that is not a number is found from all rows.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; weight 0 leaves a row out.

    Returns
    -------
    DistanceRatios
        Arguments of `distance_price_bound`. Always holds: both are at least 0. `shrink` is, but for rounding, at most
        the largest row sum of an axis's kernel matrix.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, or every row is left out.
    ValueError
        If the kernel does not multiply over axes.

    Notes
    -----
    Let K be the kernel matrix of the distinct values of an axis. A row, a mean or a difference of them has weights w on
    these values and the similarities u = K w to them. The paper's squared distance `u' K⁻¹ u` is `w' K w`, also with
    the pseudo-inverse. So no matrix is inverted, however badly K is conditioned. In the paper a repeated value counts
    as often as it occurs, and K is singular then. Here it counts once, as in the features of `grow.kernel_imm` with
    `n_landmarks=None`; the theorem holds for these features, too.

    The paper takes the maximum over the nodes of a tree. All pairs of clusters are together at the root, so the tree
    does not matter. Two points whose squared distance in the feature space is below 1e-14 per axis count as equal.

    With m distinct values in a column, takes time n m + k² m and memory for 3 m² numbers, for one column at a time.

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
    refuse_no_reference(reference)
    rows = Rows.of(X, sample_weight)
    refuse_infinite_sum(rows.weights)
    product = as_distance_kernel(kernel).fitted(rows)
    table, labels, weights = _kept(rows.values, reference, rows.weights)
    k, d = int(labels.max()) + 1, table.shape[1]
    between_means, to_means = np.zeros((2, k, k)), np.zeros((2, len(table)))
    for j in range(d):
        values, index = np.unique(table[:, j].astype(np.float64), return_inverse=True)
        K = product.axis_kernel(j, values, values)
        fractions = np.zeros((len(values), k))
        np.add.at(fractions, (index, labels), weights)
        fractions /= fractions.sum(axis=0)
        means = K @ fractions
        between_means += _between_means(fractions, means)
        to_means += _to_means(K, fractions, means, index, labels)
    differ, off_mean = between_means[0] > d * _ROUNDING, to_means[0] > d * _ROUNDING
    stretch = _largest_ratio(between_means[0][differ], between_means[1][differ])
    return DistanceRatios(stretch, _largest_ratio(to_means[1][off_mean], to_means[0][off_mean]))


# ------------------------------------------------------------------------------------------------------- steps


def _tree_on(features: str) -> Condition:
    return Condition(f"the tree is Kernel IMM's on {features}, with the reference's means there as centres", "unknown")


def _kept(table: Array, reference: Reference, weights: Floats | None) -> tuple[Array, Indices, Floats]:
    """Return the rows that are not left out, their clusters numbered without gaps, and their weights."""
    if len(table) != len(reference.labels):
        raise DataError(f"X has {len(table)} rows, but the reference has {len(reference.labels)}")
    all_weights = np.ones(len(table)) if weights is None else weights
    kept = reference.kept & (all_weights > 0)
    if not kept.any():
        raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
    return table[kept], np.unique(reference.labels[kept], return_inverse=True)[1], all_weights[kept]


def _between_means(fractions: Floats, means: Floats) -> Floats:
    """Return squared distances of the clusters' means, (2, k, k): in the axis's feature space, of similarities.

    IN: fractions (m, k), of each cluster's weight on each value; means (m, k), the similarities K @ fractions.
    """
    k = fractions.shape[1]
    squares = np.empty((2, k, k))
    for a in range(k):
        difference = means - means[:, [a]]
        squares[0, a] = ((fractions - fractions[:, [a]]) * difference).sum(axis=0)
        squares[1, a] = np.square(difference).sum(axis=0)
    return squares


def _to_means(K: Floats, fractions: Floats, means: Floats, index: Array, labels: Array) -> Floats:
    """Return squared distances of rows to the means of their clusters, (2, n), in the same order.

    IN: index (n,), of each row's value; others as above.
    """
    squares = np.empty((2, len(labels)))
    for c in range(fractions.shape[1]):
        members = labels == c
        values, of_row = np.unique(index[members], return_inverse=True)
        difference = K[values] - means[:, c]
        product = difference[np.arange(len(values)), values] - difference @ fractions[:, c]
        squares[:, members] = np.array([product, np.square(difference).sum(axis=1)])[:, of_row]
    return squares


def _largest_ratio(over: Floats, under: Floats) -> float:
    return float((over / under).max(initial=0.0))
