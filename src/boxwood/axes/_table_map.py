"""`axis_map_of`: a fitted transformer as a map of a table, with codes for what is no number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._frames import as_matrix, column_names, column_values, is_frame, refuse_unknown_columns
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import as_table, refuse_not_finite
from boxwood.axes._axis_map import AxisMap
from boxwood.axes._categories import Categories, is_missing
from boxwood.axes._sklearn import Columns, encoders_of, map_of, name_of
from boxwood.errors import DataError
from boxwood.tree._intervals import EVERYTHING, Intervals

__all__ = ["TableMap", "axis_map_of", "coded"]


class TableMap(AxisMap):
    """A map of a table whose columns may hold categories; made by `axis_map_of`.

    Rows are numbers throughout: `codes` gives those of a table.

    Attributes
    ----------
    columns : tuple of str, or None
        Names of the raw columns; None for those of an array.
    categories : dict from raw column to Categories
        Columns whose numbers are codes, and of what.
    """

    def __init__(self, inner: AxisMap, columns: tuple[str, ...] | None, categories: Mapping[int, Categories]) -> None:
        self.inner, self.columns, self.categories = inner, columns, dict(categories)
        self.n_features, self.features = inner.n_features, inner.features

    def codes(self, X: Any) -> Floats:
        """Return the rows of a table as numbers, shape (n, n_features): categories as their codes.

        Columns of text that the map does not read are zero. A missing value, and one that is not among the categories
        where there are no others, is NaN.
        """
        return coded(X, self.columns, self.categories, needed=self.features)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows of numbers, shape (n, n_columns)."""
        return self.inner.transform(X)

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its numbers whose image lies in `[lower, upper]`."""
        return self.inner.pull_back(column, lower, upper)

    def domain(self, feature: int) -> Intervals:
        """Return every number, or the codes of a column of categories."""
        return self.categories[feature].domain if feature in self.categories else EVERYTHING


def axis_map_of(transformer: Any, X: Any, columns: Sequence[str] | None = None) -> TableMap:
    """Return a fitted transformer of scikit-learn as an axis map of a table.

    Known are StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PowerTransformer, QuantileTransformer,
    KBinsDiscretizer with ordinal codes, FunctionTransformer of a function that maps each number alone and is monotone
    on the values of the table, OneHotEncoder, OrdinalEncoder, choices of columns, SimpleImputer (rows must be complete
    all the same), "passthrough", and every ColumnTransformer or Pipeline of them.

    Parameters
    ----------
    transformer : fitted transformer
    X : array-like or data frame of shape (n, d)
        The table that the transformer was fitted on, or rows like it. Read for the range of functions, and for which
        columns hold numbers.
    columns : sequence of str, default=None
        Columns of a data frame that are the raw ones, in this order; None is all.

    Raises
    ------
    DataError
        If a transformer mixes columns, is unknown, or reads columns that are not there; the message names it.

    Notes
    -----
    Cuts on monotone columns are pulled back by bisection over the doubles against the transformer itself: no formula
    is turned round, and flat and decreasing functions are dealt with as well. A cut takes about a thousand rows'
    transformation. Beyond the values of the table a function is taken to stay monotone as far as it is defined.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> X = np.array([[1.0], [10.0], [1000.0]])
    >>> turned = axis_map_of(FunctionTransformer(np.negative).fit(X), X)
    >>> turned.pull_back(0, -np.inf, -10.0)
    (0, ((10.0, inf),))
    """
    names = _names(X, columns)
    numbers = _numbers(X, names)
    categories = _categories(transformer, names, numbers)
    readable = np.union1d(np.flatnonzero(numbers), list(categories)).astype(np.intp)
    rows = coded(X, names, categories, needed=readable)
    refuse_not_finite(rows, names)
    known = tuple(categories.get(j) for j in range(rows.shape[1]))
    inner = map_of(transformer, Columns(rows.astype(np.float64, copy=False), known, names))
    unread = np.setdiff1d(inner.features, readable)
    if unread.size:
        raise DataError(
            f"{name_of(unread[0], names)} holds no numbers, and no encoder reads it first; encode it, or leave it out"
        )
    return TableMap(inner, names, categories)


def coded(
    X: Any,
    names: Sequence[str] | None,
    categories: Mapping[int, Categories],
    needed: Indices | None = None,
) -> Array:
    """Return a table as rows of numbers, shape (n, d): categories as their codes, and zero where no number is needed.

    Parameters
    ----------
    X : array-like or data frame
    names : sequence of d str, or None
        Columns of a data frame; None for an array.
    categories : mapping from column to Categories
        Columns that become codes.
    needed : array of int, default=None
        Columns that are read; None is all.
    """
    rows = X if names is not None else _as_array(X)
    width = len(names) if names is not None else rows.shape[1]
    read = np.arange(width) if needed is None else np.unique(needed)
    if not categories and len(read) == width:
        return as_matrix(X, names) if names is not None else as_table(rows)
    table = np.zeros((len(rows), width), order="F")
    numbers = [j for j in read.tolist() if j not in categories]
    if names is not None:
        table[:, numbers] = as_matrix(X, [names[j] for j in numbers])
    else:
        table[:, numbers] = as_table(rows[:, numbers]) if numbers else 0.0
    for j in categories:
        table[:, j] = categories[j].codes(_values(X, names[j]) if names is not None else rows[:, j].tolist())
    return table


# ------------------------------------------------------------------------------------------------------- reading


def _names(X: Any, columns: Sequence[str] | None) -> tuple[str, ...] | None:
    if not is_frame(X):
        return None
    names = column_names(X)
    refuse_unknown_columns(columns or (), names)
    return names if columns is None else tuple(columns)


def _as_array(X: Any) -> Array:
    table = np.asarray(X)
    if table.ndim != 2:
        raise DataError(f"X must be two-dimensional, rows by columns; got shape {table.shape}")
    return table


def _values(frame: Any, name: str) -> list[Any]:
    import narwhals as nw

    values: list[Any] = nw.from_native(column_values(frame, name), series_only=True).to_list()
    return values


def _numbers(X: Any, names: Sequence[str] | None) -> Bools:
    """Return which columns hold numbers, shape (d,)."""
    if names is not None:
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        kinds = dict(zip(column_names(X), frame.schema.values(), strict=True))
        return np.array([kinds[name].is_numeric() or kinds[name] == nw.Boolean for name in names])
    table = _as_array(X)
    if table.dtype.kind != "O":
        return np.full(table.shape[1], table.dtype.kind in "biuf")
    return np.array([not any(isinstance(value, (str, bytes)) for value in column) for column in table.T])


def _categories(transformer: Any, names: Sequence[str] | None, numbers: Bools) -> dict[int, Categories]:
    """Return the categories of each column that holds no numbers and that an encoder reads first."""
    found: dict[int, Categories] = {}
    for encoder, places in encoders_of(transformer, Columns.like(len(numbers), names)):
        for j, values in zip(places.tolist(), encoder.categories_, strict=True):
            if numbers[j]:
                continue
            known = tuple(_plain(value, name_of(j, names)) for value in values)
            mine = Categories(known, encoder.handle_unknown != "error")
            if found.setdefault(j, mine) != mine:
                raise DataError(f"two encoders know different categories of {name_of(j, names)}")
    return found


def _plain(value: Any, name: str) -> str | int | float | None:
    """Return a category as rules, model files and SQL can hold it."""
    if is_missing(value):
        return None
    plain = value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufU" else value
    if not isinstance(plain, (str, int, float)):
        kind = type(plain).__name__
        raise DataError(f"{name} has categories of type {kind}, which no rule can name; turn them into text first")
    return plain
