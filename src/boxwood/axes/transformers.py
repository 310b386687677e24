"""Fitted transformers of scikit-learn as axis maps of columns or of a table."""

from __future__ import annotations

import copy
from collections import UserList
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._frames import as_matrix, column_names, column_series, is_frame, refuse_unknown_columns
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import as_float_table, out_of_frozen, refuse_halves
from boxwood.axes._monotone import Elementwise, transform_rows
from boxwood.axes.categories import Categories, Encoding, is_missing
from boxwood.axes.maps import LARGEST, AxisMap, Chained, Filling, Selection, Stacked
from boxwood.errors import DataError
from boxwood.tree.cover import EVERYTHING, Intervals

TRIED = 1000  # rows on which a function is tested
_MONOTONE = (
    "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler PowerTransformer QuantileTransformer KBinsDiscretizer"
)


class InputColumns(NamedTuple):
    """The input of a transformer: rows of numbers, and by column the categories (None for a number) and the name."""

    rows: Floats
    categories: tuple[Categories | None, ...]
    names: tuple[str, ...] | None

    @classmethod
    def like(cls, n_columns: int, names: Sequence[str] | None) -> InputColumns:
        """Return columns without rows and categories."""
        return cls(np.empty((0, n_columns)), (None,) * n_columns, None if names is None else tuple(names))

    def of(self, positions: Indices) -> InputColumns:
        """Return some of the columns."""
        names = None if self.names is None else tuple(self.names[j] for j in positions)
        return InputColumns(self.rows[:, positions], tuple(self.categories[j] for j in positions), names)

    def after(self, step: AxisMap) -> InputColumns:
        """Return the output columns of a map; a `Selection` keeps the categories of its columns."""
        is_unchanged = isinstance(step, Selection)
        categories = tuple(self.categories[j] if is_unchanged else None for j in step.features)
        return InputColumns(step.transform(self.rows), categories, None)


def map_of(transformer: Any, inputs: InputColumns) -> AxisMap:
    """Return a fitted transformer as a map of the input columns."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    transformer = out_of_frozen(transformer)
    if isinstance(transformer, ColumnTransformer):
        return _side_by_side(transformer, inputs)
    positions = _inputs(transformer, inputs)
    if not np.array_equal(positions, np.arange(len(inputs.categories))):
        axis_map = _map_of_all(transformer, inputs.of(positions))
        return Stacked(len(inputs.categories), [(positions, axis_map)])
    if isinstance(transformer, Pipeline):
        return _in_turn([step for _, step in transformer.steps], inputs)
    return _map_of_all(transformer, inputs)


def encoders_of(transformer: Any, inputs: InputColumns) -> Iterator[tuple[Any, Indices]]:
    """Yield each encoder that is the first step for some input columns, and the positions of these columns."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    transformer = out_of_frozen(transformer)
    if isinstance(transformer, ColumnTransformer):
        for member, positions in _members(transformer, inputs):
            yield from ((encoder, positions[inner]) for encoder, inner in encoders_of(member, inputs.of(positions)))
        return
    positions = _inputs(transformer, inputs)
    if isinstance(transformer, Pipeline):
        first = next((step for _, step in transformer.steps if not _changes_nothing(step)), None)
        yield from ((encoder, positions[inner]) for encoder, inner in encoders_of(first, inputs.of(positions)))
    elif isinstance(transformer, (OneHotEncoder, OrdinalEncoder)):
        yield transformer, positions


def columns_read(transformer: Any, X: Any, names: Sequence[str]) -> list[str]:
    """Return the columns of a frame that a transformer, fitted or not, will read; reads no values."""
    from sklearn.base import clone
    from sklearn.compose import ColumnTransformer

    if not isinstance(transformer, ColumnTransformer):
        return list(names)
    not_dropped = {name: "passthrough" for name, member, _ in transformer.transformers if not _is_dropped(member)}
    rest = {} if _is_dropped(transformer.remainder) else {"remainder": "passthrough"}
    plain = clone(transformer).set_params(**not_dropped, **rest).fit(X[:1])
    read = [positions for _, positions in _members(plain, InputColumns.like(len(names), names))]
    return [names[j] for j in sorted(set(np.concatenate(read).tolist()))] if read else list(names)


def _is_dropped(transformer: Any) -> bool:
    return isinstance(transformer, str) and transformer == "drop"


def _map_of_all(transformer: Any, inputs: InputColumns) -> AxisMap:
    """Return a transformer that reads all input columns, in their order, as a map."""
    from sklearn.feature_selection import SelectorMixin
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

    n_columns = len(inputs.categories)
    if isinstance(transformer, Pipeline):
        return _in_turn([step for _, step in transformer.steps], inputs)
    if _fills_numbers(transformer, inputs):
        return _filling(transformer, n_columns)
    if _changes_nothing(transformer):
        return Selection(n_columns, range(n_columns))
    if isinstance(transformer, SelectorMixin):
        return Selection(n_columns, np.flatnonzero(transformer.get_support()))
    if isinstance(transformer, (OneHotEncoder, OrdinalEncoder)):
        return Encoding(_without_names(transformer), inputs.categories)
    _refuse_text(transformer, inputs)
    if isinstance(transformer, FunctionTransformer):
        return _function(transformer, inputs.rows)
    if isinstance(transformer, KBinsDiscretizer) and transformer.encode != "ordinal":
        return _one_hot_bins(transformer, inputs.rows)
    if _is_monotone(transformer):
        return Elementwise(_without_names(transformer), inputs.rows[0], _domain(transformer, n_columns))
    raise DataError(_unknown(transformer))


def _in_turn(steps: Sequence[Any], inputs: InputColumns) -> AxisMap:
    """Return the steps of a pipeline as one map."""
    n_columns = len(inputs.categories)
    whole: AxisMap | None = None
    for step in steps:
        of_step = map_of(step, inputs)
        whole, inputs = of_step if whole is None else Chained(whole, of_step), inputs.after(of_step)
    return Selection(n_columns, range(n_columns)) if whole is None else whole


def _side_by_side(transformer: Any, inputs: InputColumns) -> AxisMap:
    """Return a ColumnTransformer as one map."""
    maps = [(positions, map_of(member, inputs.of(positions))) for member, positions in _members(transformer, inputs)]
    if not maps:
        raise DataError("ColumnTransformer makes no columns")
    return Stacked(len(inputs.categories), maps)


def _members(transformer: Any, inputs: InputColumns) -> Iterator[tuple[Any, Indices]]:
    """Yield each transformer of a ColumnTransformer that reads columns, with their positions among the input."""
    for _, member, columns in transformer.transformers_:
        if _is_dropped(member):
            continue
        positions = _columns_read(transformer, columns, inputs)
        if len(positions):
            yield member, positions


# ------------------------------------------------------------------------------ columns that a transformer reads
def _inputs(transformer: Any, inputs: InputColumns) -> Indices:
    """Return the positions of the columns that a transformer was fitted on, among the input columns."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None or inputs.names is None:
        n_columns = getattr(transformer, "n_features_in_", len(inputs.categories))
        if n_columns != len(inputs.categories):
            raise DataError(f"{_name(transformer)} takes {n_columns} columns, but {len(inputs.categories)} are given")
        return np.arange(n_columns)
    return np.array([_position(transformer, name, inputs.names) for name in names], dtype=np.intp)


def _columns_read(transformer: Any, columns: Any, inputs: InputColumns) -> Indices:
    """Return the positions among the input columns that one transformer of a ColumnTransformer reads."""
    n_columns = transformer.n_features_in_
    names = list(getattr(transformer, "feature_names_in_", []))
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = names.index(start) if isinstance(start, str) else start
        stop = names.index(stop) + 1 if isinstance(stop, str) else stop  # a slice of names includes the last one
        chosen = list(range(n_columns)[slice(start, stop, columns.step)])
    else:
        # scikit-learn 1.6 warns whoever reads its own list of the remaining columns
        columns = columns.data if isinstance(columns, UserList) else columns
        spec = np.atleast_1d(np.asarray(columns))
        positions = np.flatnonzero(spec) if spec.dtype.kind == "b" else spec
        chosen = [names.index(j) if isinstance(j, str) else j % n_columns for j in positions.tolist()]
    if names and inputs.names is not None:
        return np.array([_position(transformer, names[j], inputs.names) for j in chosen], dtype=np.intp)
    return np.array(chosen, dtype=np.intp)


def _position(transformer: Any, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise DataError(f"{_name(transformer)} reads column {name!r}, which is not among its input columns")
    return names.index(name)


# ---------------------------------------------------------------------------------------- kinds of transformers
def _changes_nothing(transformer: Any) -> bool:
    """Return whether complete rows stay unchanged: "passthrough", a filler of missing values, or no function."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import FunctionTransformer

    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return True
    if isinstance(transformer, SimpleImputer):
        return is_missing(transformer.missing_values) and not transformer.add_indicator
    return isinstance(transformer, FunctionTransformer) and transformer.func is None


def _fills_numbers(transformer: Any, inputs: InputColumns) -> bool:
    """Return whether a filler of missing values reads numbers alone; words keep their codes."""
    from sklearn.impute import SimpleImputer

    if not isinstance(transformer, SimpleImputer) or not _changes_nothing(transformer):
        return False
    is_of_numbers = all(isinstance(each, Real) for each in transformer.statistics_.tolist())
    return is_of_numbers and not any(inputs.categories)


def _filling(imputer: Any, n_columns: int) -> AxisMap:
    """Return a SimpleImputer of numbers as a map; a column without any value at its fit is kept only if it says so."""
    numbers = imputer.statistics_.astype(np.float64)
    if imputer.keep_empty_features:
        numbers = np.where(np.isnan(numbers), 0.0, numbers)
    kept = np.flatnonzero(~np.isnan(numbers))
    return Filling(n_columns, kept, numbers[kept])


def _is_monotone(transformer: Any) -> bool:
    from sklearn import preprocessing

    known = tuple(getattr(preprocessing, name) for name in _MONOTONE.split())
    return isinstance(transformer, known)


def _one_hot_bins(transformer: Any, rows: Floats) -> AxisMap:
    """Return a KBinsDiscretizer with one column for each bin as a map: numbers of bins, and then columns of 0 and 1."""
    from sklearn.preprocessing import OneHotEncoder

    numbering = _without_names(transformer)
    numbering.encode = "ordinal"
    numbers = [np.arange(n, dtype=np.float64) for n in transformer.n_bins_]
    encoder = OneHotEncoder(categories=numbers).fit(np.zeros((1, len(numbers))))
    return Chained(Elementwise(numbering, rows[0]), Encoding(encoder, [None] * len(numbers)))


def _domain(transformer: Any, n_columns: int) -> Floats | None:
    """Return the ends of the interval where each column's function is defined; None if that is all numbers."""
    if getattr(transformer, "method", None) != "box-cox":
        return None
    positive = np.array([np.nextafter(0.0, 1.0), LARGEST])
    return np.tile(positive[:, None], (1, n_columns))


def _function(transformer: Any, rows: Floats) -> AxisMap:
    """Return the function of a FunctionTransformer as a map.

    On some of the rows, the image of a number must not depend on other columns or other rows, and columns must be
    monotone.

    Raises
    ------
    DataError
        If the function fails this test.
    """
    plain = _without_names(transformer)
    ends = np.vstack([rows.min(axis=0), rows.max(axis=0)])
    tried = np.vstack([rows[:: -(-len(rows) // TRIED)], np.linspace(ends[0], ends[1], 257)])
    tried = np.sort(np.clip(tried, *ends), axis=0)
    try:
        images, single = (
            transform_rows(plain, tried),
            np.array([transform_rows(plain, row[None])[0] for row in tried[::64]]),
        )
        # each column shifted by another number of rows, and back again after the function
        shifted = transform_rows(plain, np.column_stack([np.roll(column, j) for j, column in enumerate(tried.T)]))
        back = np.column_stack([np.roll(column, -j) for j, column in enumerate(shifted.T)])
    except Exception as error:
        raise DataError(f"{_name(transformer)} cannot be pulled back to raw columns: {error}") from error
    if images.shape != tried.shape or not _close(images, back) or not _close(images[::64], single):
        raise DataError(f"{_name(transformer)} does not map each number alone; {_REMEDY}")
    if np.isnan(images).any():
        raise DataError(f"{_name(transformer)} is not defined for all values of the table")
    steps = np.diff(images, axis=0)
    slack = 1e-9 * np.ptp(images, axis=0)  # for rounding
    if not ((steps >= -slack).all(axis=0) | (steps <= slack).all(axis=0)).all():
        raise DataError(f"{_name(transformer)} is not monotone on the values of the table; {_REMEDY}")
    return Elementwise(plain, rows[0], ends)


def _close(some: Floats, others: Floats) -> bool:
    return some.shape == others.shape and bool(np.allclose(some, others, rtol=1e-9, atol=0.0, equal_nan=True))


def _without_names(transformer: Any) -> Any:
    """Return a copy without feature names, which takes arrays without a warning."""
    plain = copy.copy(transformer)
    vars(plain).pop("feature_names_in_", None)
    return plain


_MIXERS = (
    *("PCA", "IncrementalPCA", "SparsePCA", "KernelPCA", "TruncatedSVD", "FastICA", "NMF", "FactorAnalysis"),
    *("Normalizer", "PolynomialFeatures", "RBFSampler", "Nystroem", "GaussianRandomProjection"),
)
"""Transformers whose columns are made of several columns each."""
_REMEDY = "fit the clusterer on columns that are each a function of one raw column, or pass its labels"


def _unknown(transformer: Any) -> str:
    mixes = "mixes columns" if type(transformer).__name__ in _MIXERS else "may mix columns"
    return f"{_name(transformer)} {mixes}; {_REMEDY}"


def _refuse_text(transformer: Any, inputs: InputColumns) -> None:
    for j, categories in enumerate(inputs.categories):
        if categories is not None:
            raise DataError(
                f"{_name(transformer)} cannot take {name_of(j, inputs.names)}, which is not numeric; encode it first"
            )


def _name(transformer: Any) -> str:
    kind, func = type(transformer).__name__, getattr(transformer, "func", None)
    return kind if func is None else f"{kind} ({getattr(func, '__name__', func)})"


def name_of(j: int, names: Sequence[str] | None) -> str:
    """Return the name of a column in messages."""
    return f"column {j}" if names is None else repr(names[j])


class TableMap(AxisMap):
    """A map of a table with numeric columns and columns of categories; made by `axis_map_of`.

    `transform` and `pull_back` work on numbers: `codes` replaces the categories of a table by their codes.

    Attributes
    ----------
    columns : tuple of str, or None
        Names of the raw columns; None for those of an array.
    categories : dict from raw column to Categories
        Columns of categories. Their numbers are codes.
    gaps : sequence of int
        Raw columns that are plus infinity where a number is missing, if steps fill that in.
    """

    n_features: int
    features: Indices

    inner: AxisMap
    columns: tuple[str, ...] | None
    categories: dict[int, Categories]

    def __init__(
        self,
        inner: AxisMap,
        columns: tuple[str, ...] | None,
        categories: Mapping[int, Categories],
        gaps: Sequence[int] = (),
    ) -> None:
        self.inner, self.columns, self.categories, self.gaps = inner, columns, dict(categories), gaps
        self.n_features, self.features = inner.n_features, inner.features

    def codes(self, X: Any) -> Floats:
        """Return the rows of a table as numbers, shape (n, n_features), with categories replaced by their codes.

        Columns of text that the map does not read are zero. A value without a code is NaN: a missing value, or a value
        that is not among the categories.
        """
        return encode_table(X, self.columns, self.categories, needed=self.features)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows of numbers, shape (n, n_columns)."""
        return self.inner.transform(X)

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its numbers with an image in `[lower, upper]`."""
        feature, intervals = self.inner.pull_back(column, lower, upper)
        if self.filled[column] and feature not in self.gaps:
            intervals = tuple((low, np.inf if high == LARGEST else high) for low, high in intervals if low <= LARGEST)
        return feature, intervals

    @property
    def affine(self) -> tuple[Floats, Floats] | None:
        """Shift and scale of each output column, if the inner map has them."""
        return self.inner.affine

    @property
    def filled(self) -> Bools:
        """Whether each output column has a number where the raw column lacks one."""
        return self.inner.filled

    def fills(self, feature: int) -> bool:
        """Return whether all output columns of a raw column have a number where that lacks one."""
        return bool(self.filled[self.features == feature].all())

    def domain(self, feature: int) -> Intervals:
        """Return every number, or the codes of a column of categories."""
        return self.categories[feature].domain if feature in self.categories else EVERYTHING


def axis_map_of(transformer: Any, X: Any, columns: Sequence[str] | None = None) -> TableMap:
    """Return a fitted transformer of scikit-learn as an axis map of a table.

    Supported are StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PowerTransformer, QuantileTransformer,
    KBinsDiscretizer, FunctionTransformer, OneHotEncoder, OrdinalEncoder, selections of columns,
    SimpleImputer, "passthrough", and every ColumnTransformer or Pipeline of them.
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
    rows = _pick_trial_rows(encode_table(X, names, categories, needed=readable))
    by_column = tuple(categories.get(j) for j in range(rows.shape[1]))
    inner = map_of(transformer, InputColumns(rows.astype(np.float64, copy=False), by_column, names))
    unread = np.setdiff1d(inner.features, readable)
    if unread.size:
        raise DataError(
            f"{name_of(unread[0], names)} is not numeric, and no encoder reads it first; encode it, or leave it out"
        )
    return TableMap(inner, names, categories)


def _pick_trial_rows(rows: Array) -> Array:
    """Return the rows on which functions are tried, with a finite value of the column in place of each other one."""
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


def encode_table(
    X: Any, names: Sequence[str] | None, categories: Mapping[int, Categories], needed: Indices | None = None
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
    values: list[Any] = column_series(frame, name).to_list()
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
    for encoder, positions in encoders_of(transformer, InputColumns.like(len(numbers), names)):
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
    refuse_halves(f"in column {name}, the text", [plain])
    return plain
