"""Similarities to landmarks on each axis: a cut on such a column is an interval around the landmark."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Ints, Weights
from boxwood._validation import Rows, as_whole_weights
from boxwood.axes._features_curves import Curves
from boxwood.kernels import DistanceKernel

__all__ = ["LandmarkFeatures", "landmarks_of"]

SMALL_ROWS, SMALL_TRANSFORM = 2000, 20_000_000  # of tables in which each value of a column is a landmark by default
FEW = 64  # landmarks of a column in other tables


class LandmarkFeatures(Curves):
    """The similarities `h(|x_i - l|)` of a value to landmarks l on each axis; h is the kernel's profile on that axis.

    Parameters
    ----------
    kernel : DistanceKernel
        Gaussian, Laplace or another product of falling profiles, with numbers for its bandwidth.
    landmarks : sequence of d arrays
        Landmarks of each column, ascending.

    Attributes
    ----------
    landmarks : array of shape (n_columns,)
        Landmark of each output column.
    error : float
        NaN: inner products of these features do not approximate the kernel. The features are values of the kernel.

    Notes
    -----
    A transform takes time and memory of n times the number of landmarks. The paper takes every value of every column as
    a landmark: n d features.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, equation (4) and Theorem 5.

    Examples
    --------
    >>> from boxwood.kernels import Laplace
    >>> features = LandmarkFeatures(Laplace(1.0), [[0.0, 2.0, 9.0]])
    >>> features.transform([[1.0], [2.0]]).round(3)
    array([[0.368, 0.368, 0.   ],
           [0.135, 1.   , 0.001]])
    >>> feature, ((first, last),) = features.pull_back(1, 0.5, 1.0)
    >>> feature, round(first, 4), round(last, 4)
    (0, 1.3069, 2.6931)
    """

    def __init__(self, kernel: DistanceKernel, landmarks: list[ArrayLike]) -> None:
        points = [np.asarray(values, dtype=np.float64) for values in landmarks]
        self.kernel = kernel
        self.landmarks = np.concatenate(points)
        self.error = math.nan
        features = np.repeat(np.arange(len(points)), [len(values) for values in points])
        low, high = np.array([values[0] for values in points]), np.array([values[-1] for values in points])
        super().__init__(low, high, features, self.landmarks)

    @classmethod
    def of(cls, kernel: DistanceKernel, X: ArrayLike, *, n_landmarks: int | str | None = "auto") -> LandmarkFeatures:
        """Return the features for the rows of `X`, shape (n, d), by the landmarks of `landmarks_of`."""
        return cls(kernel, list(landmarks_of(Rows.of(X), n_landmarks)))

    def _curve(self, column: int, x: Floats) -> Floats:
        return self.kernel.axis(int(self.features[column]), x - self.landmarks[column])


def landmarks_of(rows: Rows, n_landmarks: int | str | None) -> list[Floats]:
    """Return the landmarks of each column, ascending.

    They are the different values of the column. If these are more than `n_landmarks`, the landmarks are quantiles of
    the rows by weight: as many, in equal steps, from the smallest to the largest value. Quantiles that fall on one
    value are one landmark. None takes all values: up to n d of them for n rows. "auto" takes all values of small
    tables, and `FEW` quantiles of larger ones; a table of n rows (repeated by whole weights) and d columns is small if
    n is at most `SMALL_ROWS` and n² d, the numbers that a transform makes, at most `SMALL_TRANSFORM`.
    """
    n = _n_rows(rows.weights, len(rows))
    few = FEW if n > SMALL_ROWS or n * n * rows.n_columns > SMALL_TRANSFORM else None
    most = few if n_landmarks == "auto" else n_landmarks
    weights = as_whole_weights(np.ones(len(rows)) if rows.weights is None else rows.weights)
    return [_quantiles(column.astype(np.float64), weights, most) for column in rows.values.T]


def _n_rows(weights: Weights, n_rows: int) -> float:
    """Return the number of rows, those of whole weights counted as repeated."""
    if weights is None:
        return n_rows
    return float(weights.sum()) if (weights == np.floor(weights)).all() else int((weights > 0).sum())


def _quantiles(column: Floats, weights: Ints, most: Any) -> Floats:
    values, position = np.unique(column, return_inverse=True)
    if most is None or len(values) <= most:
        return np.asarray(values)
    mass = np.zeros(len(values), dtype=np.int64)
    np.add.at(mass, position, weights)
    upto = np.cumsum(mass) / mass.sum()
    return np.asarray(values[np.unique(np.searchsorted(upto, np.arange(most) / (most - 1)))])
