"""`Moments`: weights, means and squared deviations of clusters. Moments of parts of the data add up."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows, whole_number
from boxwood.batches.sums import Means, Ranges, ranged_means_of, squares_about, squares_of
from boxwood.errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Weight, mean and squared deviations of each cluster. Moments of parts of the data add up to those of the whole.

    `a + b` are the moments of the rows of both. So a `Mixture` can be made from batches, files or machines. The order
    in which parts are added changes the result only by rounding.

    Parameters
    ----------
    weights : array of shape (k,)
        Sum of the weights of each cluster's rows, or their number if rows weigh 1; 0 for a cluster without rows.
    origins, offsets : array of shape (k, d)
        Mean in two parts, to be added. The origin is a number close to the rows, so that no digit is lost far from
        zero.
    squares : array of shape (k, d)
        Sum of weighted squared deviations from the mean, for each column.

    Examples
    --------
    >>> morning = Moments.of([[0.0], [2.0]], [0, 0], n_clusters=2)
    >>> evening = Moments.of([[4.0], [9.0]], [0, 1], n_clusters=2)
    >>> whole = morning + evening
    >>> whole.weights, whole.means.ravel(), whole.variances.ravel().round(3)
    (array([3., 1.]), array([2., 9.]), array([2.667, 0.   ]))
    """

    weights: Floats
    origins: Floats
    offsets: Floats
    squares: Floats

    def __post_init__(self) -> None:
        for field in fields(self):
            value = np.array(getattr(self, field.name), dtype=np.float64)
            value.flags.writeable = False
            object.__setattr__(self, field.name, value)
        k, shapes = len(self.weights), {self.origins.shape, self.offsets.shape, self.squares.shape}
        if self.weights.ndim != 1 or len(shapes) != 1 or self.origins.ndim != 2 or len(self.origins) != k:
            raise ValueError(f"moments of {k} clusters need arrays of shape ({k}, d), got {sorted(shapes)}")

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        n_clusters: int,
        *,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = -1,
    ) -> Moments:
        """Return the moments of the rows of `X`, shape (n, d), by labels up to `n_clusters - 1`; -1 is left out.

        Reads `X` three times in addition to its check. The result depends neither on the order of the rows nor on the
        number of threads. Means are right to 2**-70 of a cluster's largest value, variances to a relative 2e-15.

        Raises
        ------
        DataError
            If `X`, the labels and the weights do not fit together, or hold missing or infinite values.
        """
        rows = Rows.of(X, sample_weight)
        return moments_of(rows, _as_codes(labels, n_clusters), n_clusters, n_jobs)

    @property
    def means(self) -> Floats:
        """Mean of each cluster, shape (k, d); zeros for a cluster without rows."""
        return self.origins + self.offsets

    @property
    def variances(self) -> Floats:
        """Population variance of each cluster by column, shape (k, d); zeros for a cluster without rows."""
        with np.errstate(invalid="ignore"):  # where both are infinite
            return np.asarray(self.squares / np.where(self.weights > 0, self.weights, 1.0)[:, None])

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of the rows of both: the update of Chan, Golub and LeVeque (1983)."""
        if not isinstance(other, Moments):
            return NotImplemented
        if self.origins.shape != other.origins.shape:
            raise ValueError(f"moments of shapes {self.origins.shape} and {other.origins.shape} do not add up")
        return self.plus(other, self.weights[:, None], other.weights[:, None])

    def plus(self, other: Moments, held: Array, its: Array) -> Moments:
        """Return the moments of the rows of both, where columns may count fewer rows than there are.

        IN: held, its (k, d) or (k, 1): weight of the rows that have a value in a column, in this and in the other.
        """
        total = held + its
        share = its / np.where(total > 0, total, 1.0)
        has_rows = held > 0  # a cluster with rows only in `other` gets the origin of `other`
        both = has_rows & (its > 0)
        origins = np.where(has_rows, self.origins, other.origins)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.where(both, (other.origins - self.origins) + (other.offsets - self.offsets), 0.0)
            offsets = np.where(has_rows, self.offsets, other.offsets) + share * gap
            squares = self.squares + other.squares + held * share * gap * gap
        return Moments(self.weights + other.weights, origins, offsets, squares)

    def __reduce__(self) -> tuple[type[Moments], tuple[Floats, ...]]:
        arrays = (self.weights, self.origins, self.offsets, self.squares)
        return Moments, arrays  # through the constructor, so that a copy is frozen

    def __repr__(self) -> str:
        k, d = self.origins.shape
        return f"Moments(n_clusters={k}, n_columns={d}, weight={self.weights.sum():g})"


class MomentsOfRows(Moments):
    """Moments of rows in memory, whose values do not change; the squares are computed when they are first asked for.

    Parameters
    ----------
    rows : Rows
    codes : array of shape (n,)
        Cluster of each row; -1 leaves a row out, and so does a weight of 0.
    n_clusters : int
    n_jobs : int or None
    """

    _rows: Rows
    _codes: Indices
    _found: tuple[Ranges, Means]
    _n_jobs: int | None

    def __init__(self, rows: Rows, codes: Indices, n_clusters: int, n_jobs: int | None) -> None:
        refuse_other_number(rows, codes)
        ranges, means = ranged_means_of(rows.values, _labels_that_count(rows, codes), n_clusters, rows.weights, n_jobs)
        parts = {"weights": means.weights, "origins": np.nan_to_num(means.mean), "offsets": np.nan_to_num(means.rest)}
        for value in parts.values():
            value.flags.writeable = False
        self.__dict__.update(parts, _rows=rows, _codes=codes, _found=(ranges, means), _n_jobs=n_jobs)

    @cached_property
    def squares(self) -> Floats:  # type: ignore[override]
        """Sum of weighted squared deviations from the mean, for each column."""
        rows, labels = self._rows, _labels_that_count(self._rows, self._codes)
        squares = squares_about(rows.values, labels, rows.weights, *self._found, self._n_jobs)
        squares.flags.writeable = False
        return squares

    def are_of(self, rows: Rows, codes: Indices) -> bool:
        """Return whether these are the moments of the same rows by the same labels, in the same arrays."""
        return self._rows is rows and self._codes is codes


def moments_of(rows: Rows, codes: Array, n_clusters: int, n_jobs: int | None) -> Moments:
    """Return the moments of checked rows by checked labels; refuse another number of labels than of rows."""
    refuse_other_number(rows, codes)
    return moments_from(*squares_of(rows.values, _labels_that_count(rows, codes), n_clusters, rows.weights, n_jobs))


def refuse_other_number(rows: Rows, codes: Array) -> None:
    """Raise a DataError unless there is a label for each row."""
    if len(codes) != len(rows):
        raise DataError(f"X has {len(rows)} rows, but there are {len(codes)} labels")


def _labels_that_count(rows: Rows, codes: Array) -> Indices:
    """Return the labels, with -1 for rows of weight 0."""
    return codes.astype(np.intp, copy=False) if rows.weights is None else np.where(rows.weights > 0, codes, -1)


def moments_from(means: Means, squares: Floats) -> Moments:
    """Return the moments of clusters with these means and squares; zeros for a cluster without rows."""
    return Moments(means.weights, np.nan_to_num(means.mean), np.nan_to_num(means.rest), squares)


def _as_codes(labels: ArrayLike, n_clusters: int) -> Array:
    whole_number("n_clusters", n_clusters, 1)
    codes = np.asarray(labels)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise DataError(f"labels must be whole numbers, one for each row; got {codes.dtype}, shape {codes.shape}")
    low, high = (int(codes.min()), int(codes.max())) if codes.size else (0, -1)
    if low < -1 or high >= n_clusters:
        raise DataError(f"labels must be from -1 to {n_clusters - 1} for {n_clusters} clusters, got {low} to {high}")
    return codes
