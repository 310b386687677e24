"""`axis_map_of`: a fitted transformer as a map of a table, with codes for columns that are not numeric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._frames import as_matrix, column_names, column_values, is_frame, refuse_unknown_columns
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import as_float_table
from boxwood.axes._axis_map import AxisMap
from boxwood.axes._categories import Categories, is_missing
from boxwood.axes._sklearn import Columns, encoders_of, map_of, name_of
from boxwood.errors import DataError
from boxwood.tree._intervals import EVERYTHING, Intervals

__all__ = ["TableMap", "axis_map_of", "coded", "values_of"]


class TableMap(AxisMap):
    """A map of a table with numeric columns and columns of categories; made by `axis_map_of`.

    `transform` and `pull_back` work on numbers: `codes` replaces the categories of a table by their codes.

    Attributes
    ----------
    columns : tuple of str, or None
        Names of the raw columns; None for those of an array.
    categories : dict from raw column to Categories
        Columns of categories. Their numbers are codes.
    """

    def __init__(self, inner: AxisMap, columns: tuple[str, ...] | None, categories: Mapping[int, Categories]) -> None:
        self.inner, self.columns, self.categories = inner, columns, dict(categories)
        self.n_features, self.features = inner.n_features, inner.features

    def codes(self, X: Any) -> Floats:
        """Return the rows of a table as numbers, shape (n, n_features), with categories replaced by their codes.

        Columns of text that the map does not read are zero. A value without a code is NaN: a missing value, or a value
        that is not among the categories.
        """
        return coded(X, self.columns, self.categories, needed=self.features)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows of numbers, shape (n, n_columns)."""
        return self.inner.transform(X)

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its numbers with an image in `[lower, upper]`."""
        return self.inner.pull_back(column, lower, upper)

    def domain(self, feature: int) -> Intervals:
        """Return every number, or the codes of a column of categories."""
        return self.categories[feature].domain if feature in self.categories else EVERYTHING


def axis_map_of(transformer: Any, X: Any, columns: Sequence[str] | None = None) -> TableMap:
    """Return a fitted transformer of scikit-learn as an axis map of a table.

    Supported are StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PowerTransformer, QuantileTransformer,
    KBinsDiscretizer, FunctionTransformer, OneHotEncoder, OrdinalEncoder, selections of columns,
    SimpleImputer (of complete rows), "passthrough", and every ColumnTransformer or Pipeline of them.
    The function of a FunctionTransformer must map each number on its own, and be monotone on the values of the table.

    Parameters
    ----------
    transformer : fitted transformer
    X : array-like or data frame of shape (n, d)
        The table that the transformer was fitted on, or rows like it. It decides which columns are numeric, and the
        range on which functions are tested.
    columns : sequence of str, default=None
        Columns of a data frame to take as the raw columns, in this order; None takes all.

    Returns
    -------
    TableMap
        Its raw columns are the columns of the table, its output columns those of the transformer.

    Raises
    ------
    DataError
        If a transformer mixes columns, is not supported, or reads a column that the table does not have. The message
        names the transformer.

    Notes
    -----
    Cuts on monotone columns are pulled back by bisection over the doubles, with the transformer itself. So no formula
    is inverted, and constant and decreasing functions need no special rule. A cut takes the time of transforming about
    a thousand rows. Outside the values of the table, a function is assumed to stay monotone wherever it is defined.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> X = np.array([[1.0], [10.0], [1000.0]])
    >>> negative = axis_map_of(FunctionTransformer(np.negative).fit(X), X)
    >>> negative.pull_back(0, -np.inf, -10.0)
    (0, ((10.0, inf),))
    """
    names = _names(X, columns)
    numbers = _numbers(X, names)
    categories = _categories(transformer, names, numbers)
    readable = np.union1d(np.flatnonzero(numbers), list(categories)).astype(np.intp)
    rows = _tried(coded(X, names, categories, needed=readable))
    by_column = tuple(categories.get(j) for j in range(rows.shape[1]))
    inner = map_of(transformer, Columns(rows.astype(np.float64, copy=False), by_column, names))
    unread = np.setdiff1d(inner.features, readable)
    if unread.size:
        raise DataError(
            f"{name_of(unread[0], names)} is not numeric, and no encoder reads it first; encode it, or leave it out"
        )
    return TableMap(inner, names, categories)


def _tried(rows: Array) -> Array:
    """Return the rows on which functions are tried, with a value of its column in place of each that is not finite."""
    if 0 in rows.shape:
        raise DataError(f"X must have at least one row and one column; got shape {rows.shape}")
    lacking = ~np.isfinite(rows)
    if not lacking.any():
        return rows
    filled = rows.copy()
    for j in np.flatnonzero(lacking.any(axis=0)).tolist():
        known = rows[~lacking[:, j], j]
        filled[lacking[:, j], j] = known[0] if len(known) else 0.0
    return filled


def coded(
    X: Any,
    names: Sequence[str] | None,
    categories: Mapping[int, Categories],
    needed: Indices | None = None,
) -> Array:
    """Return a table as rows of numbers, shape (n, d): categories as their codes, and 0 in columns that are not needed.

    Parameters
    ----------
    X : array-like or data frame
    names : sequence of d str, or None
        Columns of a data frame; None for an array.
    categories : mapping from column to Categories
        Columns that become codes.
    needed : array of int, default=None
        Columns to read; None reads all.
    """
    rows = X if names is not None else _as_array(X)
    width = len(names) if names is not None else rows.shape[1]
    read = np.arange(width) if needed is None else np.unique(needed)
    if not categories and len(read) == width:
        return as_matrix(X, names) if names is not None else as_float_table(rows)
    table = np.zeros((len(rows), width), order="F")
    numbers = [j for j in read.tolist() if j not in categories]
    if names is not None:
        table[:, numbers] = as_matrix(X, [names[j] for j in numbers])
    else:
        table[:, numbers] = as_float_table(rows[:, numbers]) if numbers else 0.0
    for j in categories:
        table[:, j] = categories[j].codes(values_of(X, names[j]) if names is not None else rows[:, j].tolist())
    return table


def values_of(frame: Any, name: str) -> list[Any]:
    """Return the values of one column of a data frame."""
    import narwhals as nw

    values: list[Any] = nw.from_native(column_values(frame, name), series_only=True).to_list()
    return values


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
    """Return the categories of each column that is not numeric and has an encoder as its first step."""
    by_column: dict[int, Categories] = {}
    for encoder, positions in encoders_of(transformer, Columns.like(len(numbers), names)):
        for j, values in zip(positions.tolist(), encoder.categories_, strict=True):
            if numbers[j]:
                continue
            plain = tuple(_plain(value, name_of(j, names)) for value in values)
            categories = Categories(plain, encoder.handle_unknown != "error")
            if by_column.setdefault(j, categories) != categories:
                raise DataError(f"two encoders have different categories of {name_of(j, names)}; fit them on one table")
    return by_column


def _plain(value: Any, name: str) -> str | int | float | None:
    """Return a category as text, a number or None, as in rules, model files and SQL."""
    if is_missing(value):
        return None
    plain = value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufU" else value
    if not isinstance(plain, (str, int, float)):
        kind = type(plain).__name__
        raise DataError(f"{name} has categories of type {kind}; turn them into text, which a rule can show")
    return plain
