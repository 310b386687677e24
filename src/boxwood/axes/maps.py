"""Maps of rows in which every output column is a function of one raw column, and maps made of maps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import as_float_table, as_table
from boxwood.tree.cover import EVERYTHING, MISSING, Intervals, join_intervals

LARGEST = float(np.finfo(np.float64).max)


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
    uncut : tuple of int
        Output columns that costs see and that no cut may test.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal Algorithms for Explainable k-Medians and k-Means", ICML 2021
    (arXiv 2107.00798), section 2, on coordinate cut preserving maps.
    """

    n_features: int
    features: Indices
    uncut: tuple[int, ...] = ()

    @property
    def filled(self) -> Bools:
        """Whether each output column has a number where the raw column, as plus infinity, lacks one."""
        return np.zeros(self.n_columns, dtype=bool)

    @property
    def n_columns(self) -> int:
        """Number of output columns."""
        return len(self.features)

    @property
    def affine(self) -> tuple[Floats, Floats] | None:
        """Shift and scale of each output column, if a raw value is the shift plus the scale times its image."""
        return None

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


class Selection(AxisMap):
    """Some raw columns, unchanged.

    Parameters
    ----------
    n_features : int
    features : sequence of int
        Raw column of each output column.
    """

    def __init__(self, n_features: int, features: Sequence[int] | Indices) -> None:
        self.n_features = n_features
        self.features: Indices = np.asarray(features, dtype=np.intp)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the chosen columns, shape (n, n_columns)."""
        return as_table(X, n_columns=self.n_features)[:, self.features].astype(np.float64)

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and the interval itself."""
        return int(self.features[column]), ((lower, upper),)

    @property
    def affine(self) -> tuple[Floats, Floats]:
        """No shift, and scales of 1."""
        return np.zeros(self.n_columns), np.ones(self.n_columns)


class Filling(Selection):
    """Some raw columns, with a number of each in place of plus infinity, which is a missing one.

    Parameters
    ----------
    n_features : int
    features : sequence of int
        Raw column of each output column.
    numbers : array of shape (n_columns,)
        Number that stands for a missing one.
    """

    def __init__(self, n_features: int, features: Sequence[int] | Indices, numbers: Floats) -> None:
        super().__init__(n_features, features)
        self.numbers = numbers

    @property
    def filled(self) -> Bools:
        """All of them."""
        return np.ones(self.n_columns, dtype=bool)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the chosen columns without a missing number, shape (n, n_columns)."""
        rows = np.asarray(X, dtype=np.float64)[:, self.features]
        return np.where(np.isposinf(rows), self.numbers, rows)

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and the interval itself, with missing numbers if it holds what stands for these."""
        known: Intervals = ((lower, min(upper, LARGEST)),) if lower <= LARGEST else ()
        is_inside = lower <= self.numbers[column] <= upper
        return int(self.features[column]), join_intervals([*known, *([MISSING] if is_inside else [])])


class Stacked(AxisMap):
    """The output columns of several maps, side by side; each map reads some of the raw columns.

    Parameters
    ----------
    n_features : int
    parts : sequence of pairs (columns, map)
        At least one. The map reads these raw columns, in this order.
    """

    def __init__(self, n_features: int, parts: Sequence[tuple[Indices, AxisMap]]) -> None:
        self.n_features = n_features
        self.parts: list[tuple[Indices, AxisMap]] = list(parts)
        self.features: Indices = np.concatenate([columns[part.features] for columns, part in self.parts])
        self.starts: Array = np.cumsum([0, *(part.n_columns for _, part in self.parts)])

    def transform(self, X: ArrayLike) -> Floats:
        """Return the output columns of all parts, shape (n, n_columns)."""
        table = as_float_table(X)  # where a part fills gaps, they may be there
        return np.hstack([part.transform(table[:, columns]) for columns, part in self.parts])

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its intervals as the part with the output column gives them."""
        index = int(np.searchsorted(self.starts, column, side="right")) - 1
        columns, part = self.parts[index]
        feature, intervals = part.pull_back(column - int(self.starts[index]), lower, upper)
        return int(columns[feature]), intervals

    @property
    def filled(self) -> Bools:
        """As the part with the column says."""
        return np.concatenate([part.filled for _, part in self.parts])

    @property
    def affine(self) -> tuple[Floats, Floats] | None:
        """Shift and scale of each output column, if all parts have them."""
        found = [part.affine for _, part in self.parts]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        return np.concatenate([shift for shift, _ in known]), np.concatenate([scale for _, scale in known])


class Later(AxisMap):
    """A map of rows whose dates moved: they are moved back, and go where those of before went.

    Parameters
    ----------
    before : AxisMap
        The map of the rows of before.
    by : array of shape (n_features,)
        How much later each raw column is.
    """

    before: AxisMap
    by: Floats

    def __init__(self, before: AxisMap, by: Floats) -> None:
        self.n_features, self.features, self.uncut = before.n_features, before.features, before.uncut
        self.before, self.by = before, by

    def transform(self, X: ArrayLike) -> Floats:
        """Return the images of the rows as they were before, shape (n, n_columns)."""
        return self.before.transform(as_float_table(X) - self.by)

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its later values with an image in `[lower, upper]`."""
        feature, intervals = self.before.pull_back(column, lower, upper)
        return feature, tuple((low + self.by[feature], high + self.by[feature]) for low, high in intervals)

    @property
    def filled(self) -> Bools:
        """Whether the map of before fills the column."""
        return self.before.filled

    @property
    def affine(self) -> tuple[Floats, Floats] | None:
        """Shift and scale of each output column, if the map of before has them."""
        affine = self.before.affine
        return None if affine is None else (affine[0] + self.by[self.features], affine[1])

    def domain(self, feature: int) -> Intervals:
        """Return the values that a raw column can have; those of categories do not move."""
        return self.before.domain(feature)


class Chained(AxisMap):
    """One map after another.

    Parameters
    ----------
    first, second : AxisMap
        The second map reads the output columns of the first.
    """

    first: AxisMap
    second: AxisMap

    def __init__(self, first: AxisMap, second: AxisMap) -> None:
        if second.n_features != first.n_columns:
            raise ValueError(f"the second map takes {second.n_features} columns, the first makes {first.n_columns}")
        self.n_features: int = first.n_features
        self.features: Indices = first.features[second.features]
        self.first, self.second = first, second

    def transform(self, X: ArrayLike) -> Floats:
        """Return the second map's image of the first map's image, shape (n, n_columns)."""
        return self.second.transform(self.first.transform(X))

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its values with an image in `[lower, upper]` after both maps."""
        between, intervals = self.second.pull_back(column, lower, upper)
        pulled_back = (self.first.pull_back(between, *interval)[1] for interval in intervals)
        return int(self.features[column]), join_intervals(raw for several in pulled_back for raw in several)

    @property
    def filled(self) -> Bools:
        """Whether the first map fills the column."""
        return self.first.filled[self.second.features]

    @property
    def affine(self) -> tuple[Floats, Floats] | None:
        """Shift and scale of each output column, if both maps have them."""
        first, second = self.first.affine, self.second.affine
        if first is None or second is None:
            return None
        shift, scale = first[0][self.second.features], first[1][self.second.features]
        return shift + scale * second[0], scale * second[1]

    def domain(self, feature: int) -> Intervals:
        """Return the values that a raw column can have, as the first map gives them."""
        return self.first.domain(feature)
