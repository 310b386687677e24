"""A table of numbers and categories, as users have it, as an array of numbers and codes; NaN is what is missing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from boxwood._dates import DOUBTFUL, TIMES
from boxwood._frames import (
    as_matrix,
    column_names,
    column_values,
    is_frame,
    numeric_columns,
    refuse_unknown_columns,
)
from boxwood._types import Array, Floats
from boxwood._validation import as_positions, cut_off, listed, shown
from boxwood.axes.categories import Categories, is_missing
from boxwood.errors import DataError

__all__ = ["CodedTable"]


class CodedTable(NamedTuple):
    """Numbers and codes, and what the codes mean.

    Parameters
    ----------
    values : array of shape (n, d)
        Finite numbers, codes, and NaN for what is missing or has no code.
    categories : dict
        For each column of codes the values that have one, in the order of the codes.
    names : tuple of str, or None
        Names of the columns of a data frame.
    """

    values: Floats
    categories: dict[int, Categories]
    names: tuple[str, ...] | None

    @classmethod
    def to_fit(cls, estimator: Any, X: Any, categorical: Any) -> CodedTable:
        """Return a table with the categories that it has itself; the estimator stores its columns."""
        values, texts, names = _read(estimator, X, categorical, reset=True)
        of_texts = {j: Categories(_sorted(column), others=False) for j, column in texts.items()}
        numbers = set(_positions(categorical, values.shape[1], names)) - set(texts)  # none in a data frame
        of_numbers = {j: Categories(tuple(np.unique(_present(values[:, j])).tolist()), others=False) for j in numbers}
        categories = dict(sorted({**of_texts, **of_numbers}.items()))
        return cls(_coded(values, texts, categories), categories, names)

    @classmethod
    def to_predict(cls, estimator: Any, X: Any, categories: Mapping[int, Categories]) -> CodedTable:
        """Return a table with given categories; the estimator compares the columns with those that it stores."""
        values, texts, names = _read(estimator, X, list(categories), reset=False)
        worded = [j for j, known in categories.items() if j not in texts and not known.are_numbers]
        if worded:
            raise DataError(
                f"X must be a data frame, as in fit: columns {listed(list(map(str, worded)))} were text there"
            )
        numbers = [shown(names[j]) for j in texts if names is not None and j not in categories]
        if numbers:
            raise DataError(f"columns that were numbers in fit are not now: {listed(numbers)}")
        return cls(_coded(values, texts, categories), dict(categories), names)


def _read(
    estimator: Any, X: Any, categorical: Any, *, reset: bool
) -> tuple[Floats, dict[int, list[Any]], tuple[str, ...] | None]:
    """Return the numbers of a table, the columns of categories of a data frame, and its names."""
    if np.ma.is_masked(X):
        raise DataError("X is a masked array with masked values; fill them: X.filled(numpy.nan)")
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        names = column_names(X)
        values, texts = _columns(X, names, _positions(categorical, len(names), names))
    else:
        checks: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False}
        try:
            values, texts, names = validate_data(estimator, X, reset=reset, **checks), {}, None
        except OverflowError as error:
            raise DataError(f"X must be numeric: {cut_off(str(error))}") from None
    if 0 in values.shape:
        raise DataError(f"X must have at least one row and one column; got shape {values.shape}")
    _refuse_infinite(values, names)
    return values, texts, names


def _columns(frame: Any, names: tuple[str, ...], chosen: Sequence[int]) -> tuple[Floats, dict[int, list[Any]]]:
    """Return the columns of numbers of a frame, and those of categories as lists; NaN stands in place of these."""
    numeric, others = numeric_columns(frame)
    wanted = {names[j] for j in chosen}
    dates = [name for name in (*others[DOUBTFUL], *others[TIMES]) if name not in wanted]
    if dates:
        raise DataError(
            f"columns of texts like dates, or of times: {listed(dates)}; leave them out, turn them into numbers, or "
            "name them in categorical_features"
        )
    wanted |= set(others["text"])
    texts = {j: _listed(column_values(frame, name), name) for j, name in enumerate(names) if name in wanted}
    values = np.full((len(column_values(frame, names[0])) if names else 0, len(names)), np.nan)
    for j, name in enumerate(names):
        if name in numeric and name not in wanted:
            values[:, j] = as_matrix(frame, [name])[:, 0]
    return values, texts


def _listed(series: Any, name: str) -> list[Any]:
    """Return the values of a column that can be told apart, with None for those that are missing."""
    import narwhals as nw

    values = [None if is_missing(value) else value for value in nw.from_native(series, series_only=True).to_list()]
    for value in values:
        if not isinstance(value, Hashable):
            raise DataError(
                f"column {shown(name)} holds {type(value).__name__}s, which are no categories; leave it out"
            )
    return values


def _positions(categorical: Any, n_columns: int, names: tuple[str, ...] | None) -> list[int]:
    """Return the positions of columns that are given by names, by positions, or as one truth for each column."""
    if categorical is None:
        return []
    given = np.asarray(categorical)
    if given.dtype.kind in "OU" and given.size:
        wanted = [str(name) for name in given.ravel().tolist()]
        if names is None:
            raise DataError(f"categorical_features names {listed(wanted)}, but X is no data frame; give positions")
        refuse_unknown_columns(wanted, names)
        return [names.index(name) for name in wanted]
    if given.dtype == np.bool_ and given.shape == (n_columns,):
        return [int(j) for j in np.flatnonzero(given)]
    return sorted(set(as_positions("categorical_features", categorical, n_columns).tolist()))


def _sorted(values: Sequence[Any]) -> tuple[Hashable, ...]:
    """Return the different values that are there, in an order that does not depend on that of the rows."""
    different = set(values) - {None}
    try:
        return tuple(sorted(different))
    except TypeError:  # of several types
        return tuple(sorted(different, key=lambda value: (type(value).__name__, str(value))))


def _coded(values: Floats, texts: Mapping[int, list[Any]], categories: Mapping[int, Categories]) -> Floats:
    """Return the table with codes in its columns of categories."""
    coded = values.copy() if categories else values
    for j, known in categories.items():
        coded[:, j] = known.codes(texts[j]) if j in texts else _codes_of_numbers(values[:, j], known)
    return coded


def _codes_of_numbers(x: Floats, known: Categories) -> Floats:
    keys = np.array([*known.values, np.nan], dtype=np.float64)
    index = np.searchsorted(keys[:-1], x)
    return np.where(keys[index] == x, index, np.nan)


def _present(x: Array) -> Array:
    return x[~np.isnan(x)]


def _refuse_infinite(values: Floats, names: tuple[str, ...] | None) -> None:
    infinite = np.flatnonzero(np.isinf(values).any(axis=0))
    if len(infinite):
        columns = [names[j] if names is not None else f"column {j}" for j in infinite]
        raise DataError(f"infinite values in {listed(columns)}; replace them or leave those rows out")
