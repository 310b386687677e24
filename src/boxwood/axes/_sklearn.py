"""Fitted transformers of scikit-learn as axis maps."""

from __future__ import annotations

import copy
from collections import UserList
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.axes._axis_map import AxisMap
from boxwood.axes._categories import Categories, Encoding, is_missing
from boxwood.axes._composed import Chained, Selection, Stacked
from boxwood.axes._monotone import LARGEST, Elementwise, transformed
from boxwood.errors import DataError

__all__ = ["Columns", "columns_read", "encoders_of", "map_of", "name_of"]

TRIED = 1000  # rows for the test of a function
_MONOTONE = (
    "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler PowerTransformer QuantileTransformer KBinsDiscretizer"
)


class Columns(NamedTuple):
    """The input of a transformer: rows of numbers, and by column the categories (None for a number) and the name."""

    rows: Floats
    categories: tuple[Categories | None, ...]
    names: tuple[str, ...] | None

    @classmethod
    def like(cls, n_columns: int, names: Sequence[str] | None) -> Columns:
        """Return columns without rows and categories."""
        return cls(np.empty((0, n_columns)), (None,) * n_columns, None if names is None else tuple(names))

    def of(self, positions: Indices) -> Columns:
        """Return some of the columns."""
        names = None if self.names is None else tuple(self.names[j] for j in positions)
        return Columns(self.rows[:, positions], tuple(self.categories[j] for j in positions), names)

    def after(self, step: AxisMap) -> Columns:
        """Return the output columns of a map; a `Selection` keeps the categories of its columns."""
        is_unchanged = isinstance(step, Selection)
        categories = tuple(self.categories[j] if is_unchanged else None for j in step.features)
        return Columns(step.transform(self.rows), categories, None)


def map_of(transformer: Any, inputs: Columns) -> AxisMap:
    """Return a fitted transformer as a map of the input columns."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    if isinstance(transformer, ColumnTransformer):
        return _side_by_side(transformer, inputs)
    positions = _inputs(transformer, inputs)
    if not np.array_equal(positions, np.arange(len(inputs.categories))):
        part = _map_of_all(transformer, inputs.of(positions))
        return Stacked(len(inputs.categories), [(positions, part)])
    if isinstance(transformer, Pipeline):
        return _in_turn([step for _, step in transformer.steps], inputs)
    return _map_of_all(transformer, inputs)


def encoders_of(transformer: Any, inputs: Columns) -> Iterator[tuple[Any, Indices]]:
    """Yield each encoder that is the first step for some input columns, and the positions of these columns."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    if isinstance(transformer, ColumnTransformer):
        for part, positions in _parts(transformer, inputs):
            yield from ((encoder, positions[inner]) for encoder, inner in encoders_of(part, inputs.of(positions)))
        return
    positions = _inputs(transformer, inputs)
    if isinstance(transformer, Pipeline):
        first = next((step for _, step in transformer.steps if not _changes_nothing(step)), None)
        yield from ((encoder, positions[inner]) for encoder, inner in encoders_of(first, inputs.of(positions)))
    elif isinstance(transformer, (OneHotEncoder, OrdinalEncoder)):
        yield transformer, positions


def columns_read(transformer: Any, X: Any, names: Sequence[str]) -> list[str]:
    """Return the columns of a frame that a transformer will read, which need not be fitted; no value is looked at."""
    from sklearn.base import clone
    from sklearn.compose import ColumnTransformer

    if not isinstance(transformer, ColumnTransformer):
        return list(names)
    kept = {name: "passthrough" for name, part, _ in transformer.transformers if not _is_dropped(part)}
    rest = {} if _is_dropped(transformer.remainder) else {"remainder": "passthrough"}
    plain = clone(transformer).set_params(**kept, **rest).fit(X[:1])
    read = [positions for _, positions in _parts(plain, Columns.like(len(names), names))]
    return [names[j] for j in sorted(set(np.concatenate(read).tolist()))] if read else list(names)


def _is_dropped(part: Any) -> bool:
    return isinstance(part, str) and part == "drop"


def _map_of_all(transformer: Any, inputs: Columns) -> AxisMap:
    """Return a transformer that reads all input columns, in their order, as a map."""
    from sklearn.feature_selection import SelectorMixin
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

    n_columns = len(inputs.categories)
    if isinstance(transformer, Pipeline):
        return _in_turn([step for _, step in transformer.steps], inputs)
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


def _in_turn(steps: Sequence[Any], inputs: Columns) -> AxisMap:
    """Return the steps of a pipeline as one map."""
    n_columns = len(inputs.categories)
    whole: AxisMap = Selection(n_columns, range(n_columns))
    for step in steps:
        of_step = map_of(step, inputs)
        whole, inputs = Chained(whole, of_step), inputs.after(of_step)
    return whole


def _side_by_side(transformer: Any, inputs: Columns) -> AxisMap:
    """Return a ColumnTransformer as one map."""
    parts = [(positions, map_of(part, inputs.of(positions))) for part, positions in _parts(transformer, inputs)]
    if not parts:
        raise DataError("ColumnTransformer makes no columns")
    return Stacked(len(inputs.categories), parts)


def _parts(transformer: Any, inputs: Columns) -> Iterator[tuple[Any, Indices]]:
    """Yield each part of a ColumnTransformer that reads columns, with their positions among the input columns."""
    for _, part, columns in transformer.transformers_:
        if _is_dropped(part):
            continue
        positions = _columns_read(transformer, columns, inputs)
        if len(positions):
            yield part, positions


# ------------------------------------------------------------------------------ columns that a transformer reads


def _inputs(transformer: Any, inputs: Columns) -> Indices:
    """Return the positions of the columns that a transformer was fitted on, among the input columns."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None or inputs.names is None:
        n_columns = getattr(transformer, "n_features_in_", len(inputs.categories))
        if n_columns != len(inputs.categories):
            raise DataError(f"{_name(transformer)} takes {n_columns} columns, but {len(inputs.categories)} are given")
        return np.arange(n_columns)
    return np.array([_position(transformer, name, inputs.names) for name in names], dtype=np.intp)


def _columns_read(transformer: Any, columns: Any, inputs: Columns) -> Indices:
    """Return the positions of the columns that one part of a ColumnTransformer reads, among the input columns."""
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
        images, single = transformed(plain, tried), np.array([transformed(plain, row[None])[0] for row in tried[::64]])
        # each column shifted by another number of rows, and back again after the function
        shifted = transformed(plain, np.column_stack([np.roll(column, j) for j, column in enumerate(tried.T)]))
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


def _refuse_text(transformer: Any, inputs: Columns) -> None:
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
