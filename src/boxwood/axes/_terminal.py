"""The terminal embedding: squared distances to centres as distances along each axis."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_table
from boxwood.axes._axis_map import AxisMap
from boxwood.tree._intervals import Intervals

__all__ = ["TerminalEmbedding"]

LARGEST, SMALLEST = 2.0**480, 2.0**-480  # spreads whose squares and sums of squares stay in the range of doubles


class TerminalEmbedding(AxisMap):
    """The map under which the l1 distance to a centre stands for the squared distance to it.

    On each axis the coordinates of the centres are terminals. A terminal is mapped to half the sum of the squared gaps
    between the terminals before it, and any other value to its nearest terminal's image plus or minus the squared
    distance to it: increasing, with slope twice the distance to the nearest terminal. Trees grown for k-medians on the
    embedded centres are trees for k-means, once pulled back.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Finite. Equal coordinates of several centres are one terminal.

    Attributes
    ----------
    terminals : tuple of d arrays
        Different coordinates of the centres on each axis, ascending.
    images : tuple of d arrays
        Image of each terminal. Always holds: the first is 0, and they increase strictly, by the least step of a double
        where a squared gap would be lost to rounding.
    unit : float
        Values are divided by this power of two first, so images by its square. It is 1 unless squares would leave the
        range of doubles.

    Raises
    ------
    DataError
        If centres are not finite numbers.

    Notes
    -----
    Always holds for a row x and a centre c, of k centres: `|f(x) - f(c)| <= |x - c|**2 <= 8 k |f(x) - f(c)|`, with l1
    distances on the left and right, up to rounding. Building takes time d k log k and memory d k; a row, time d log k.
    The inverse is by formula, exact up to rounding; the side of the terminals themselves is always right.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal Algorithms for Explainable k-Medians and k-Means", ICML 2021
    (arXiv 2107.00798), section 6, Lemmas 6.1 and 6.2.

    Examples
    --------
    >>> embedding = TerminalEmbedding([[1.0], [3.0], [5.0]])
    >>> embedding.transform([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]).ravel()
    array([-1.,  0.,  1.,  2.,  3.,  4.,  5.])
    >>> embedding.pull_back(0, -np.inf, 3.0)
    (0, ((-inf, 4.0),))
    """

    def __init__(self, centers: ArrayLike) -> None:
        table = as_table(centers)
        self.n_features = table.shape[1]
        self.features = np.arange(self.n_features)
        columns = [table[:, j].astype(np.float64) for j in range(self.n_features)]
        self.terminals = tuple(np.unique(column) for column in columns)
        self.unit = _unit(self.terminals)
        self.images = tuple(_images(np.diff(terminals / self.unit)) for terminals in self.terminals)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows of shape (n, d), shape (n, d)."""
        table = as_table(X, n_columns=self.n_features)
        mapped = np.empty(table.shape, order="F")
        for j in range(self.n_features):
            mapped[:, j] = self._embedded(table[:, j].astype(np.float64), j)
        return mapped

    def transform_centers(self, centers: ArrayLike) -> Floats:
        """Return the image of the centres themselves, shape (k, d), without arithmetic: exactly `images`."""
        table = as_table(centers, n_columns=self.n_features)
        mapped = np.empty(table.shape, order="F")
        for j, (terminals, images) in enumerate(zip(self.terminals, self.images, strict=True)):
            mapped[:, j] = images[np.searchsorted(terminals, table[:, j].astype(np.float64))]
        return mapped

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the column itself, and the interval of values whose image lies in `[lower, upper]`."""
        low, high = self._last(column, lower, is_lower=True), self._last(column, upper, is_lower=False)
        return column, ((low, high),) if low <= high else ()

    def _embedded(self, x: Floats, j: int) -> Floats:
        y, z = self.terminals[j], self.images[j]
        last = np.searchsorted(y, x, side="right") - 1
        left, right = np.maximum(last, 0), np.minimum(last + 1, len(y) - 1)
        below, above = (x - y[left]) / self.unit, (y[right] - x) / self.unit
        middle = z[left] + (z[right] - z[left]) * 0.5
        # both halves of a gap stop at its middle, so that rounding never puts their images out of order
        inner = np.where(
            below <= above, np.minimum(z[left] + below**2, middle), np.maximum(z[right] - above**2, middle)
        )
        return np.where(last < 0, z[0] - below**2, np.where(last == len(y) - 1, z[-1] + below**2, inner))

    def _last(self, j: int, value: float, *, is_lower: bool) -> float:
        """Return the raw value at an image, on the same side of every terminal as the image."""
        if math.isinf(value):
            return value
        y, z = self.terminals[j], self.images[j]
        place = bisect_left(z, value) if is_lower else bisect_right(z, value)  # terminals before the value
        left, below = (float(y[place - 1]), value - z[place - 1]) if place else (-math.inf, math.inf)
        right, above = (float(y[place]), z[place] - value) if place < len(y) else (math.inf, math.inf)
        middle = left + (right - left) * 0.5  # infinite or not a number beyond the terminals, where it is not needed
        if below <= above:
            raw = left + math.sqrt(below) * self.unit
            raw = raw if place == len(y) else min(raw, middle)
        else:
            raw = right - math.sqrt(above) * self.unit
            raw = raw if place == 0 else max(raw, middle)
        if is_lower:
            return min(max(raw, math.nextafter(left, math.inf)), right)
        return max(min(raw, math.nextafter(right, -math.inf)), left)


def _unit(terminals: tuple[Floats, ...]) -> float:
    spread = max(float(values[-1] / 2 - values[0] / 2) for values in terminals)
    if spread == 0 or SMALLEST <= spread <= LARGEST:
        return 1.0
    return 2.0 ** math.frexp(spread)[1]


def _images(gaps: Floats) -> Floats:
    images = np.concatenate([[0.0], np.cumsum(np.square(gaps)) * 0.5])
    # doubles that are not negative are ordered as their bits; each is at least one step above the one before
    steps = np.arange(len(images))
    return (np.maximum.accumulate(images.view(np.int64) - steps) + steps).view(np.float64)
