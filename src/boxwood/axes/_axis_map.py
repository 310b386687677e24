"""`AxisMap`: a map of rows in which every output column is a function of one raw column."""

from __future__ import annotations

from abc import ABC, abstractmethod

from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood.tree._intervals import EVERYTHING, Intervals

__all__ = ["AxisMap"]


class AxisMap(ABC):
    """A map of rows in which every output column is a function of one raw column.

    `ThresholdTree.pull_back` turns a tree that was grown on the output columns into a tree on the raw columns. A
    subclass sets `n_features` and `features`, and defines `transform` for rows and `pull_back` for cuts.

    Attributes
    ----------
    n_features : int
        Number of raw columns.
    features : array of shape (n_columns,)
        Raw column of each output column.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal Algorithms for Explainable k-Medians and k-Means", ICML 2021
    (arXiv 2107.00798), section 2, on coordinate cut preserving maps.
    """

    n_features: int
    features: Indices

    @property
    def n_columns(self) -> int:
        """Number of output columns."""
        return len(self.features)

    @abstractmethod
    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows: from shape (n, n_features) to shape (n, n_columns)."""

    @abstractmethod
    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column of an output column, and its values with an image in the closed interval.

        The values are closed intervals (lower, upper), ascending and disjoint; their ends may be infinite. The result
        has no interval if no value has such an image.
        """

    def domain(self, feature: int) -> Intervals:
        """Return the values that a raw column can have, as intervals: every number, unless a subclass restricts it."""
        return EVERYTHING

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_features={self.n_features}, n_columns={self.n_columns})"
