"""The terminal embedding: coordinates in which the l1 distance to a centre stands for the squared distance."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood._validation import as_table, position, real_number
from boxwood.axes.maps import AxisMap
from boxwood.errors import DataError
from boxwood.tree.cover import Intervals

LARGEST, SMALLEST = 2.0**480, 2.0**-480  # squares of spreads between them, and sums of squares, are doubles


class TerminalEmbedding(AxisMap):
    """The map under which the l1 distance to a centre stands for the squared distance to it.

    Use it to turn any algorithm for k-medians into one for k-means: transform rows and centres, grow the tree on the
    images, and pull the tree back. `grow.random_cuts` for k-means cuts in these coordinates too; it needs the centres
    only, and computes them without this class.

    On each axis the coordinates of the centres are terminals. The image of a terminal is half the sum of the squared
    gaps between the terminals up to it. The image of any other value is that of its nearest terminal, plus or minus the
    squared distance to it. So the map is increasing, and its slope is twice the distance to the nearest terminal.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Finite. Equal coordinates of several centres are one terminal.

    Attributes
    ----------
    terminals : tuple of d arrays
        Distinct coordinates of the centres on each axis, ascending.
    images : tuple of d arrays
        Image of each terminal. Always holds: the first is 0, and images increase strictly. If rounding would lose a
        squared gap, the image is the next double.
    unit : float
        Power of two that values are divided by; images are thereby divided by its square. It is 1 unless squares would
        leave the range of doubles.

    Raises
    ------
    DataError
        If centres are not finite numbers.

    Notes
    -----
    Always holds for a row x and one of k centres c, up to rounding: `|f(x) - f(c)| <= |x - c|**2 <= 8 k |f(x) - f(c)|`,
    with l1 distances on the left and right. Building takes time d k log k and memory d k; transforming a row takes time
    d log k. Cuts are pulled back by formula, exactly up to rounding. A terminal is always on the same side of a cut and
    of the cut pulled back.

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

    terminals: tuple[Floats, ...]

    def __init__(self, centers: ArrayLike) -> None:
        table = as_table(centers)
        self.n_features: int = table.shape[1]
        self.features: Indices = np.arange(self.n_features)
        columns = [table[:, j].astype(np.float64) for j in range(self.n_features)]
        self.terminals = tuple(np.unique(column) for column in columns)
        self.unit: float = _unit(self.terminals)
        self.images: tuple[Floats, ...] = tuple(_images(np.diff(terminals / self.unit)) for terminals in self.terminals)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows, shape (n, d)."""
        table = as_table(X, n_columns=self.n_features)
        mapped = np.empty(table.shape, order="F")
        for j in range(self.n_features):
            mapped[:, j] = self._embed_column(table[:, j].astype(np.float64), j)
        return mapped

    def transform_centers(self, centers: ArrayLike) -> Floats:
        """Return the image of the centres, shape (k, d): read from `images`, so without rounding."""
        table = as_table(centers, n_columns=self.n_features)
        mapped = np.empty(table.shape, order="F")
        for j, (terminals, images) in enumerate(zip(self.terminals, self.images, strict=True)):
            index = np.minimum(np.searchsorted(terminals, table[:, j].astype(np.float64)), len(terminals) - 1)
            if (terminals[index] != table[:, j]).any():
                raise DataError(f"centers must be those of the embedding; in column {j} another value came")
            mapped[:, j] = images[index]
        return mapped

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the column itself, and the interval of its values with an image in `[lower, upper]`."""
        column = position("column", column, self.n_columns)
        low = self._last(column, real_number("lower", lower), is_lower=True)
        high = self._last(column, real_number("upper", upper), is_lower=False)
        return column, ((low, high),) if low <= high else ()

    def _embed_column(self, x: Floats, j: int) -> Floats:
        y, z = self.terminals[j], self.images[j]
        last = np.searchsorted(y, x, side="right") - 1
        left, right = np.maximum(last, 0), np.minimum(last + 1, len(y) - 1)
        below, above = (x - y[left]) / self.unit, (y[right] - x) / self.unit
        middle = z[left] + (z[right] - z[left]) * 0.5
        # the images of both halves of a gap are clipped at its middle, so that rounding never changes their order
        with np.errstate(over="ignore"):  # an infinite image lies on the right side of every cut
            from_left, from_right = below**2, above**2
        inner = np.where(
            below <= above, np.minimum(z[left] + from_left, middle), np.maximum(z[right] - from_right, middle)
        )
        return np.where(last < 0, z[0] - from_left, np.where(last == len(y) - 1, z[-1] + from_left, inner))

    def _last(self, j: int, value: float, *, is_lower: bool) -> float:
        """Return the raw value of an image; both are on the same side of every terminal."""
        if math.isinf(value):
            return value
        y, z = self.terminals[j], self.images[j]
        n_before = bisect_left(z, value) if is_lower else bisect_right(z, value)  # terminals before the value
        left, below = (float(y[n_before - 1]), value - z[n_before - 1]) if n_before else (-math.inf, math.inf)
        right, above = (float(y[n_before]), z[n_before] - value) if n_before < len(y) else (math.inf, math.inf)
        middle = left + (right - left) * 0.5  # infinite or NaN beyond the terminals; it is not used there
        if below <= above:
            raw = left + math.sqrt(below) * self.unit
            raw = raw if n_before == len(y) else min(raw, middle)
        else:
            raw = right - math.sqrt(above) * self.unit
            raw = raw if n_before == 0 else max(raw, middle)
        if is_lower:
            return min(max(raw, math.nextafter(left, math.inf)), right)
        return max(min(raw, math.nextafter(right, -math.inf)), left)


def _unit(terminals: tuple[Floats, ...]) -> float:
    """Return a power of two by which values are divided, so that squares stay in the range of doubles."""
    spread = max(float(values[-1] / 2 - values[0] / 2) for values in terminals)
    if spread == 0 or SMALLEST <= spread <= LARGEST:
        return 1.0
    return 2.0 ** math.frexp(spread)[1]


def _images(gaps: Floats) -> Floats:
    """Return the images of terminals from the gaps between them; each image is a larger double than the one before."""
    images = np.concatenate([[0.0], np.cumsum(np.square(gaps)) * 0.5])
    # read as whole numbers, the bits of doubles from 0 up have the order of the doubles, and neighbours differ by 1
    steps = np.arange(len(images))
    return (np.maximum.accumulate(images.view(np.int64) - steps) + steps).view(np.float64)
