"""Similarities to landmarks on each axis: a cut on such a column is an interval around the landmark."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Floats
from boxwood._validation import as_table
from boxwood.axes._features_curves import Curves
from boxwood.kernels import DistanceKernel

__all__ = ["LandmarkFeatures", "landmarks_of"]


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
    def of(cls, kernel: DistanceKernel, X: ArrayLike, *, n_landmarks: int | None = 64) -> LandmarkFeatures:
        """Return the features for the rows of `X`, shape (n, d).

        Landmarks are the distinct values of each column. Of more than `n_landmarks` distinct values, this many are
        taken, from the smallest to the largest, in equal steps of their ranks. None takes all.
        """
        table = as_table(X)
        return cls(kernel, [landmarks_of(table[:, j], n_landmarks) for j in range(table.shape[1])])

    def _curve(self, column: int, x: Floats) -> Floats:
        return self.kernel.axis(int(self.features[column]), x - self.landmarks[column])


def landmarks_of(column: NDArray[np.floating], n_landmarks: int | None) -> Floats:
    """Return at most `n_landmarks` distinct values of a column, in equal steps of their ranks, with both ends."""
    values = np.unique(column.astype(np.float64))
    if n_landmarks is None or len(values) <= n_landmarks:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, n_landmarks).round().astype(np.intp)])
