"""Categories: the values of a column of text, their codes, and encoders as maps of codes."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table
from boxwood.axes._axis_map import AxisMap
from boxwood.axes._monotone import transformed
from boxwood.tree._intervals import Intervals, complement, joined

__all__ = ["Categories", "Encoding", "is_missing"]


class Categories(NamedTuple):
    """The values that a column can have, and whether a value that is none of them counts as one more.

    The code of a value is its place among them; where `others` is true, all further values have the code that comes
    next. None stands for a missing value.
    """

    values: tuple[Hashable, ...]
    others: bool

    @property
    def domain(self) -> Intervals:
        """The codes, as intervals."""
        return tuple((float(code), float(code)) for code in range(len(self.values) + self.others))

    @property
    def are_numbers(self) -> bool:
        """Whether all values that are not missing are numbers or booleans."""
        return all(value is None or isinstance(value, (int, float)) for value in self.values)

    def codes(self, values: Sequence[Any] | Array) -> Floats:
        """Return the code of each value, shape (n,), and NaN for a value that has none. Takes one pass."""
        known = {value: float(code) for code, value in enumerate(self.values)}
        missing = known.get(None, np.nan)
        other = float(len(self.values)) if self.others else np.nan
        found = (known[value] if value in known else missing if is_missing(value) else other for value in values)
        return np.fromiter(found, dtype=np.float64, count=len(values))

    def chosen(self, codes: Collection[float]) -> tuple[tuple[Hashable, ...], bool]:
        """Return the values that have these codes, and True; or those that have not, and False.

        The second where further values have one of them too, or where it is the shorter list and there are no others.
        """
        inside = tuple(value for code, value in enumerate(self.values) if code in codes)
        outside = tuple(value for code, value in enumerate(self.values) if code not in codes)
        excluded = len(self.values) in codes if self.others else len(outside) < len(inside)
        return (outside, False) if excluded else (inside, True)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or another value that does not equal itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # the NA of pandas is neither
        return True


class Encoding(AxisMap):
    """A fitted one-hot or ordinal encoder, as a map of numbers: codes of categories, or the numbers that it encodes.

    It is known by what it makes of each value, so that dropped and infrequent categories, and values that it does not
    know, are dealt with by the encoder itself. Where it refuses these, a number between two known ones stands for the
    lower of them.

    Parameters
    ----------
    encoder : fitted OneHotEncoder or OrdinalEncoder
    categories : sequence of d Categories or None
        What the numbers of each column stand for; None for a column of numbers.

    Notes
    -----
    Building takes time and memory of the number of categories of a column times all output columns.
    """

    def __init__(self, encoder: Any, categories: Sequence[Categories | None]) -> None:
        self.n_features = len(categories)
        self.has_others = encoder.handle_unknown != "error"
        values = [list(known) for known in encoder.categories_]
        self.keys = [_keys(known, named) for known, named in zip(values, categories, strict=True)]
        self.images: list[Floats] = [np.empty(0)] * self.n_features
        for j in reversed(range(self.n_features)):
            images = _images(encoder, values, j, self.has_others)
            if j == self.n_features - 1:
                self.features = np.full(images.shape[1], -1)
                self._places = np.zeros(images.shape[1], dtype=np.intp)
            # what no column changes is a function of the first one
            made = (images != images[0]).any(axis=0) if j else self.features < 0
            self.features[made] = j
            self._places[made] = np.arange(made.sum())
            order = np.argsort(self.keys[j], kind="stable")
            rows = np.append(order, len(order)) if self.has_others else order
            self.keys[j], self.images[j] = self.keys[j][order], images[rows][:, made]

    def transform(self, X: ArrayLike) -> Floats:
        """Return the encoded rows, shape (n, n_columns), from numbers of shape (n, d)."""
        table = as_table(X, n_columns=self.n_features)
        found = [self._found(j, table[:, j].astype(np.float64)) for j in range(self.n_features)]
        mapped = np.empty((len(table), self.n_columns), order="F")
        for column, (j, place) in enumerate(zip(self.features, self._places, strict=True)):
            mapped[:, column] = self.images[j][found[j], place]
        return mapped

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its numbers whose image lies in `[lower, upper]`."""
        feature = int(self.features[column])
        keys, images = self.keys[feature], self.images[feature][:, self._places[column]]
        inside = (lower <= images) & (images <= upper)
        if not self.has_others:
            starts = [-np.inf, *keys[1:].tolist()]
            ends = [*np.nextafter(keys[1:], -np.inf).tolist(), np.inf]
            return feature, joined((starts[i], ends[i]) for i in np.flatnonzero(inside))
        if inside[-1]:  # so is everything but the known numbers that are not
            return feature, complement(joined((key, key) for key in keys[~inside[:-1]].tolist()))
        return feature, joined((key, key) for key in keys[inside[:-1]].tolist())

    def _found(self, j: int, x: Floats) -> Indices:
        """Return the place of each number among the keys of a column."""
        keys = self.keys[j]
        place = np.maximum(np.searchsorted(keys, x, side="right") - 1, 0)
        return np.where(keys[place] == x, place, len(keys)) if self.has_others else place


def _keys(values: list[Any], named: Categories | None) -> Floats:
    """Return the number that stands for each value of a column."""
    return np.array(values, dtype=np.float64) if named is None else named.codes(values)


def _images(encoder: Any, values: list[list[Any]], j: int, has_others: bool) -> Floats:
    """Return what the encoder makes of rows with each value of one column, and with another one at the end."""
    tried = values[j] + ([_other(values[j])] if has_others else [])
    rows = np.empty((len(tried), len(values)), dtype=object)
    for i, known in enumerate(values):
        rows[:, i] = known[0]
    rows[:, j] = tried
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the value that it does not know
        return transformed(encoder, rows)


def _other(values: list[Any]) -> Any:
    """Return a value of the same kind that is none of the values."""
    present = [value for value in values if not is_missing(value)]
    if present and all(isinstance(value, (int, float, np.number, np.bool_)) for value in present):
        return max(float(value) for value in present) + 1.0
    return "\0"
