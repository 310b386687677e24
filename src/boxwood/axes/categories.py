"""Categories: the values of a column of text, their codes, and encoders as maps of codes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._texts import TRUTHS
from boxwood._types import LATER, Array, Floats, Indices
from boxwood._validation import as_table
from boxwood.axes._monotone import transform_rows
from boxwood.axes.maps import AxisMap
from boxwood.tree.boxes import Interval
from boxwood.tree.cover import Intervals, complement, join_intervals

MOST_VALUES = 255
MANY_VALUES = f"more than {MOST_VALUES} values"
_LONG = 30  # letters of a text that is written freely
_OF_FEW = 0.2  # such a share, where most values have few rows
_OWN = 0.9  # share of values that are different, where each row has its own
OTHER = "any other value"  # shown for a value that is not among the categories


class Categories(NamedTuple):
    """The categories of a column: its values, whether other values are allowed, and whether they have an order.

    The code of a value is its index in `values`. If `others` is true, every other value has the code `len(values)`. The
    value None stands for a missing value. If `ordered` is true, cuts part the values before some place from the others;
    a missing value is the last one then, and may be on either side. `marks` are texts that were read as missing, such
    as n/a: a table that holds them as texts means the same.
    """

    values: tuple[Hashable | None, ...]
    others: bool
    ordered: Annotated[bool, LATER] = False
    marks: Annotated[tuple[str, ...], LATER] = ()

    @classmethod
    def of_words(cls, values: Sequence[Hashable], marks: Iterable[str], *, lacks: bool) -> Categories:
        """Return the categories of a table that was read; IN: lacks: whether some rows lack a value, as marks say."""
        if not lacks:
            return cls(tuple(values), others=False)
        are_words = any(isinstance(value, str) for value in values)
        return cls((*values, None), others=False, marks=tuple(marks) if are_words else ())

    @property
    def domain(self) -> Intervals:
        """All codes, each as an interval."""
        return tuple((float(code), float(code)) for code in range(len(self.values) + self.others))

    def codes_in(self, pieces: Iterable[Interval]) -> list[float]:
        """Return the codes that lie in one of some intervals, which are ascending and disjoint."""
        n, codes = len(self.domain), list[float]()
        for lower, upper, lower_closed, upper_closed in pieces:
            low, high = max(lower, -1.0), min(upper, float(n))
            first = max(math.ceil(low) if lower_closed else math.floor(low) + 1, 0)
            last = min(math.floor(high) if upper_closed else math.ceil(high) - 1, n - 1)
            codes += map(float, range(first, last + 1))
        return codes

    @property
    def are_numbers(self) -> bool:
        """Whether all values that are not missing are numbers or booleans."""
        return all(value is None or isinstance(value, (int, float)) for value in self.values)

    @property
    def are_truths(self) -> bool:
        """Whether all values that are not missing are booleans, and there are some."""
        return self.known > 0 and all(value is None or isinstance(value, bool) for value in self.values)

    @property
    def known(self) -> int:
        """The number of values that are not missing."""
        return len(self.values) - (None in self.values)

    def as_written(self, values: Iterable[Hashable]) -> list[Hashable]:
        """Return values as a table may hold them: beside a missing one, the texts that stand for it."""
        return [each for value in values for each in ((None, *self.marks) if value is None else (value,))]

    def places(self, codes: Floats) -> Floats:
        """Return codes as places in the order, with plus infinity for the code of a missing value."""
        return np.where(codes < self.known, codes, np.inf)

    def codes(self, values: Sequence[Any] | Array) -> Floats:
        """Return the code of each value, shape (n,); NaN for a value without a code. Takes one pass.

        Among booleans, a word such as "yes" is one. A value that is neither text nor a number, as a band of pandas, is
        what its text is.
        """
        values = [truth(value) for value in values] if self.are_truths else values
        code_of = {value: float(code) for code, value in enumerate(self.values)}
        missing = code_of.get(None, np.nan)
        code_of |= dict.fromkeys(self.marks, missing)
        other = float(len(self.values)) if self.others else np.nan

        def code(value: Any) -> float:
            try:
                found = code_of.get(value)
            except TypeError:  # a list or an array, which is no category
                return other
            if found is not None:
                return found
            if is_missing(value):
                return missing
            return other if isinstance(value, (str, int, float, np.generic)) else code_of.get(str(value), other)

        return np.fromiter(map(code, values), dtype=np.float64, count=len(values))

    def value(self, code: float) -> Hashable:
        """Return the value with a code; `OTHER` for the code of all other values."""
        return self.values[int(code)] if code < len(self.values) else OTHER

    def chosen(self, codes: Collection[float]) -> tuple[tuple[Hashable, ...], bool]:
        """Return the values with these codes, and True; or the values without them, and False.

        The second form is returned only if the code of other values is among the codes: "not blue" covers every value
        that is not blue, also one that was never seen.
        """
        excluded = self.others and len(self.values) in codes
        return tuple(value for code, value in enumerate(self.values) if (code in codes) != excluded), not excluded


def many_values(n_rows: int, n_values: int, length: float) -> str:
    """Return why a column of too many values is left out, and what it looks like, for the advice that helps.

    IN: n_rows, n_values: rows with a value, and different values; length: mean number of letters.
    """
    if n_values < _OF_FEW * n_rows:
        return MANY_VALUES
    if n_values < _OWN * n_rows:
        return f"{MANY_VALUES}, most of them in few rows (identifiers, or categories whose rare ones can be grouped)"
    own = "hardly any of them twice (identifiers, or texts to make numbers of)"
    return f"{MANY_VALUES}, {'looks like free text' if length > _LONG else own}"


def numbers_first(texts: Iterable[str]) -> list[str]:
    """Return texts in order: numbers by what they are worth, and then others by the alphabet.

    Examples
    --------
    >>> numbers_first(["10", "nan", "don't know", "9", "0,5"])
    ['0,5', '9', '10', "don't know", 'nan']
    """

    def place(text: str) -> tuple[bool, float, str]:
        try:
            number = float(text.replace(",", "."))
        except ValueError:
            number = math.nan
        is_word = not math.isfinite(number)
        return is_word, 0.0 if is_word else number, text

    return sorted(texts, key=place)


def truth(value: Any) -> Any:
    """Return the boolean that a word stands for, and any other value as it is."""
    return TRUTHS.get(value.strip().lower(), value) if isinstance(value, str) else value


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or any other value that is not equal to itself.

    An array in a cell is none, whatever it holds.
    """
    if value is None:
        return True
    try:
        differs = value != value
    except (TypeError, ArithmeticError):  # a decimal that signals
        return True
    if isinstance(differs, (bool, np.bool_)):
        return bool(differs)
    return differs is value  # a comparison with the NA of pandas is that NA, and one of arrays an array


def plain_value(value: Any) -> Hashable | None:
    """Return a value as text, a whole number where it is one, a number or a truth; None for anything else."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        return int(plain)
    return plain if isinstance(plain, (str, int, float)) else None


def places_in_order(values: Sequence[Hashable]) -> list[int]:
    """Return the places of values in ascending order; numbers and texts together are ordered by type."""
    try:
        return sorted(range(len(values)), key=lambda i: values[i])  # type: ignore[return-value, arg-type]
    except TypeError:
        return sorted(range(len(values)), key=lambda i: (type(values[i]).__name__, str(values[i])))


class Encoding(AxisMap):
    """A fitted one-hot or ordinal encoder as a map of numbers: codes of categories, or the numbers that it encodes.

    The images are computed by the encoder itself, one for each value that it knows and one for an unknown value. So
    dropped, infrequent and unknown categories need no rule here. If the encoder refuses unknown values, a number
    between two known ones has the image of the lower one.

    Parameters
    ----------
    encoder : fitted OneHotEncoder or OrdinalEncoder
    categories : sequence of d Categories or None
        Categories of each column of codes; None for a column of numbers.

    Attributes
    ----------
    has_others : bool
        Whether the encoder has an image for unknown values.
    keys : list of d arrays
        Numbers of the known values of each raw column, ascending.
    images : list of d arrays of shape (n_keys, m_j)
        Output columns that depend on raw column j: a row per key, and one more for unknown values if there are any.

    Notes
    -----
    Building takes time and memory of the number of categories of a column times all output columns.
    """

    features: Indices

    def __init__(self, encoder: Any, categories: Sequence[Categories | None]) -> None:
        self.n_features: int = len(categories)
        self.has_others: Any = encoder.handle_unknown != "error"
        values = [list(column) for column in encoder.categories_]
        self.keys: list[Floats] = [_keys(column, named) for column, named in zip(values, categories, strict=True)]
        self.images: list[Floats] = [np.empty(0)] * self.n_features
        for j in reversed(range(self.n_features)):
            images = _images(encoder, values, j, self.has_others)
            if j == self.n_features - 1:
                self.features = np.full(images.shape[1], -1)
                self._image_columns = np.zeros(images.shape[1], dtype=np.intp)
            # an output column belongs to the raw column that changes it; constant ones belong to column 0
            depends = (images != images[0]).any(axis=0) if j else self.features < 0
            self.features[depends] = j
            self._image_columns[depends] = np.arange(depends.sum())
            order = np.argsort(self.keys[j], kind="stable")
            rows = np.append(order, len(order)) if self.has_others else order
            self.keys[j], self.images[j] = self.keys[j][order], images[rows][:, depends]

    def transform(self, X: ArrayLike) -> Floats:
        """Return the encoded rows, shape (n, n_columns), from numbers of shape (n, d)."""
        table = as_table(X, n_columns=self.n_features)
        indices = [self._indices(j, table[:, j].astype(np.float64)) for j in range(self.n_features)]
        mapped = np.empty((len(table), self.n_columns), order="F")
        for column, (j, image_column) in enumerate(zip(self.features, self._image_columns, strict=True)):
            mapped[:, column] = self.images[j][indices[j], image_column]
        return mapped

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its numbers with an image in `[lower, upper]`."""
        feature = int(self.features[column])
        keys, images = self.keys[feature], self.images[feature][:, self._image_columns[column]]
        inside = (lower <= images) & (images <= upper)
        if not self.has_others:
            starts = [-np.inf, *keys[1:].tolist()]
            ends = [*np.nextafter(keys[1:], -np.inf).tolist(), np.inf]
            return feature, join_intervals((starts[i], ends[i]) for i in np.flatnonzero(inside))
        if inside[-1]:  # every number but the keys outside
            return feature, complement(join_intervals((key, key) for key in keys[~inside[:-1]].tolist()))
        return feature, join_intervals((key, key) for key in keys[inside[:-1]].tolist())

    def _indices(self, j: int, x: Floats) -> Indices:
        """Return the index of each number among the keys of a column; `len(keys)` for an unknown number."""
        keys = self.keys[j]
        index = np.maximum(np.searchsorted(keys, x, side="right") - 1, 0)
        return np.where(keys[index] == x, index, len(keys)) if self.has_others else index


def _keys(values: list[Any], named: Categories | None) -> Floats:
    """Return the number that stands for each value of a column."""
    return np.array(values, dtype=np.float64) if named is None else named.codes(values)


def _images(encoder: Any, values: list[list[Any]], j: int, has_others: bool) -> Floats:
    """Return the encoder's output for each value of one column, with an unknown value last if it takes any.

    All other columns have their first value.
    """
    inputs = values[j] + ([_unknown(values[j])] if has_others else [])
    rows = np.empty((len(inputs), len(values)), dtype=object)
    for i, column in enumerate(values):
        rows[:, i] = column[0]
    rows[:, j] = inputs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about the unknown value
        return transform_rows(encoder, rows)


def _unknown(values: list[Any]) -> Any:
    """Return a value of the same kind that is not among the values."""
    present = [value for value in values if not is_missing(value)]
    if present and all(isinstance(value, (int, float, np.number, np.bool_)) for value in present):
        return max(float(value) for value in present) + 1.0
    return "\0"
