"""Data frames of pandas, polars, Arrow and their like as plain arrays, and names of clusters as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from boxwood._types import Array
from boxwood._validation import listed, refuse_not_finite
from boxwood.errors import DataError

__all__ = [
    "as_matrix",
    "column_names",
    "column_values",
    "is_frame",
    "label_values",
    "names_array",
    "nearest_name",
    "refuse_unknown_columns",
    "validated_rows",
]

_SIMILARITY = 0.75  # below this a suggestion is more often wrong than right


def is_frame(X: Any) -> bool:
    """Return whether `X` is a data frame with named columns."""
    if isinstance(X, (np.ndarray, list, tuple)):
        return False
    from narwhals import dependencies

    return bool(dependencies.is_into_dataframe(X))


def column_names(frame: Any) -> tuple[str, ...]:
    """Return the names of the columns, as text.

    Raises
    ------
    DataError
        If two columns have the same name.
    """
    # asked of the frame itself, as narwhals does not open one with equal names
    names = [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"columns must have different names, but these come more than once: {listed(twice)}")
    return tuple(names)


def as_matrix(frame: Any, columns: Sequence[str] | None = None) -> Array:
    """Return the columns of a frame as rows of numbers, shape (n, d); missing values become NaN.

    A frame of plain float columns in one block, such as pandas makes from an array, is not copied. Others are copied
    once, in Fortran order. Booleans become 0 and 1.

    Raises
    ------
    DataError
        If columns are not numeric or boolean, or are not in the frame.
    """
    import narwhals as nw

    found = column_names(frame)
    wanted = list(found) if columns is None else list(columns)
    refuse_unknown_columns(wanted, found)
    series = dict(zip(found, nw.from_native(frame, eager_only=True).iter_columns(), strict=True))
    kinds = {name: series[name].dtype for name in wanted}
    others = [
        f"{name} ({str(kind).split('(')[0]})"
        for name, kind in kinds.items()
        if not (kind.is_numeric() or kind == nw.Boolean)
    ]
    if others:
        raise DataError(f"columns that are not numbers: {listed(others)}; leave them out or turn them into numbers")
    if wanted == list(found) and len(set(kinds.values())) == 1 and next(iter(kinds.values())).is_float():
        whole = np.asarray(frame)
        if whole.dtype in (np.float32, np.float64):
            return whole
    n_rows = len(series[found[0]]) if found else 0
    matrix = np.empty((n_rows, len(wanted)), order="F")
    for j, name in enumerate(wanted):
        matrix[:, j] = series[name].cast(nw.Float64).to_numpy()
    return matrix


def column_values(frame: Any, name: str) -> Any:
    """Return one column, as the frame's own series."""
    import narwhals as nw

    found = column_names(frame)
    refuse_unknown_columns([name], found)
    columns = nw.from_native(frame, eager_only=True).iter_columns()
    return next(column for here, column in zip(found, columns, strict=True) if here == name).to_native()


def label_values(labels: Any) -> Any:
    """Return labels as they are, or as an array of one dimension: series, arrays of other libraries, lists of tuples.

    Raises
    ------
    DataError
        If labels of a series are missing.
    """
    if isinstance(labels, (np.ndarray, list, tuple)):
        return labels
    import narwhals as nw

    if not nw.dependencies.is_into_series(labels):
        return np.asarray(labels) if hasattr(labels, "__array__") else labels
    series = nw.from_native(labels, series_only=True)
    missing = int(series.is_null().sum())
    if missing:
        raise DataError(f"{missing} of {len(series)} labels are missing; use -1 for rows to leave out")
    return series.to_numpy()


def names_array(names: Sequence[Hashable]) -> Array:
    """Return one name for each cluster as an array: of numbers or text where all names are, of objects otherwise."""
    kinds = {type(name) for name in names}
    if len(kinds) == 1 and kinds <= {int, float, bool, str}:
        array = np.array(names)
        if array.dtype.kind != "O":  # a whole number may be too large for any type of numpy
            return array
    return _boxed(names)


def refuse_unknown_columns(wanted: Iterable[str], columns: Sequence[str]) -> None:
    """Raise a DataError for wanted columns that are not in the table, with the most similar name of each."""
    present = set(columns)
    unknown = [name for name in wanted if name not in present]
    if unknown:
        listing = listed([_with_nearest(name, columns) for name in unknown])
        raise DataError(f"no column {listing} in the table; its columns are {listed(list(columns))}")


def nearest_name(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is most similar to a misspelt one, or None if none is similar."""
    similar = get_close_matches(name, known, n=1, cutoff=_SIMILARITY)
    return similar[0] if similar else None


def _boxed(values: Sequence[Any]) -> Array:
    """Return an array of objects; numpy on its own would take a list of tuples for a table."""
    boxed = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        boxed[i] = value
    return boxed


def _with_nearest(name: str, columns: Sequence[str]) -> str:
    nearest = nearest_name(name, columns)
    return repr(name) if nearest is None else f"{name!r} (did you mean {nearest!r}?)"


def validated_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool = False,
    at_least: int = 1,
    order: Literal["C"] | None = None,
    n_jobs: int | None = -1,
) -> Array:
    """Return the rows an estimator is given, checked, float32 or float64; arrays of these types are not copied.

    Unless another memory order is asked for: means and products by BLAS depend on it in the last digits.
    The number and the names of the columns are remembered by `reset`, and compared otherwise, as scikit-learn does.
    """
    from sklearn.utils.validation import check_array, validate_data

    types = [np.float64, np.float32]
    checks: dict[str, Any] = {
        "dtype": types,
        "order": order,
        "ensure_all_finite": False,
        "ensure_min_samples": at_least,
    }
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        rows = check_array(as_matrix(X), estimator=estimator, **checks)
    else:
        rows = validate_data(estimator, X, reset=reset, **checks)
    refuse_not_finite(rows, getattr(estimator, "feature_names_in_", None), n_jobs=n_jobs)
    return rows  # type: ignore[no-any-return]
