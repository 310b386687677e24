"""Concept labels as one table: rows are examples, columns are concepts, NaN is "not known"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from boxwood._frames import column_names, is_frame
from boxwood._types import Floats, Indices
from boxwood._validation import listed
from boxwood.errors import DataError

__all__ = ["BINARY", "CONTINUOUS", "ConceptTable", "places_of"]

BINARY, CONTINUOUS = "binary", "continuous"
Concepts = Any  # a data frame, a mapping from names to columns, or an array


class ConceptTable(NamedTuple):
    """Checked concept labels.

    `values` has shape (n, m): 0 and 1 for binary concepts, any numbers for continuous ones, NaN where not known.
    """

    values: Floats
    names: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, concepts: Concepts, n_rows: int) -> ConceptTable:
        """Return the table of a frame or a series, of a mapping from names to columns, or of an array (n,) or (n, m).

        A column of no more than the values 0 and 1, or -1 and 1, is binary; every other one is continuous.

        Raises
        ------
        DataError
            If the table does not have `n_rows` rows, is not numeric, holds infinite values, or a concept does not have
            two examples on each side (two different values, if it is continuous).
        """
        values, names = _numbers(concepts)
        if not names:
            raise DataError("there is no concept: give a column of labels for at least one")
        if len(values) != n_rows:
            raise DataError(f"concepts must have a row for each of {n_rows} rows of embeddings, got {len(values)}")
        infinite = [name for name, column in zip(names, values.T, strict=True) if np.isinf(column).any()]
        if infinite:
            raise DataError(f"infinite values in concepts {listed(infinite)}; use NaN for examples that are not known")
        kinds = tuple(_kind(column) for column in values.T)
        values = np.column_stack([_coded(column, kind) for column, kind in zip(values.T, kinds, strict=True)])
        for name, column, kind in zip(names, values.T, kinds, strict=True):
            _refuse_one_sided(name, column, kind)
        return cls(values, names, kinds)

    def only(self, names: tuple[str, ...]) -> ConceptTable:
        """Return the table of the concepts that a projector knows; other columns are left out.

        Raises
        ------
        DataError
            If there are no labels of some of them.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            given = listed(self.names)
            raise DataError(f"there are no labels of {listed(missing)}, which the projector knows, but of {given}")
        places = [self.names.index(name) for name in names]
        return ConceptTable(self.values[:, places], names, tuple(self.kinds[j] for j in places))

    def examples(self, concept: int) -> tuple[Indices, Floats]:
        """Return the rows of which a concept is known, and its values there."""
        rows = np.flatnonzero(~np.isnan(self.values[:, concept]))
        return rows, self.values[rows, concept]


def places_of(concepts: Any, names: tuple[str, ...]) -> Indices:
    """Return where concepts stand among names: they are given by name, by place or by a mask."""
    wanted = np.atleast_1d(concepts)
    if wanted.dtype.kind in "UO":
        unknown = [repr(str(name)) for name in wanted if str(name) not in names]
        if unknown:
            raise DataError(f"there is no concept {listed(unknown)}; the concepts are {listed(names)}")
        wanted = np.array([names.index(str(name)) for name in wanted], dtype=np.intp)
    elif wanted.dtype == np.bool_:
        if wanted.shape != (len(names),):
            raise DataError(f"a mask must have one truth value for each of {len(names)} concepts, got {wanted.shape}")
        wanted = np.flatnonzero(wanted)
    if wanted.size == 0:
        raise DataError("no concept is left; give more examples of them, or other concepts")
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or wanted.min() < 0 or wanted.max() >= len(names):
        raise DataError(f"concepts must be names or places from 0 to {len(names) - 1}, got {concepts!r}")
    return wanted.astype(np.intp)


def _numbers(concepts: Concepts) -> tuple[Floats, tuple[str, ...]]:
    """Return the columns side by side, and their names; the only one of an array without names is concept0."""
    import narwhals as nw

    if is_frame(concepts):
        columns = nw.from_native(concepts, eager_only=True).iter_columns()
        concepts = dict(zip(column_names(concepts), columns, strict=True))
    elif not isinstance(concepts, Mapping):
        values = np.asarray(concepts)
        if values.ndim not in (1, 2):
            raise DataError(f"concepts must be a table with a row for each example, got shape {values.shape}")
        named = getattr(concepts, "name", None) if values.ndim == 1 else None  # that of a series
        several = [concepts] if values.ndim == 1 else list(values.T)
        concepts = {(named or f"concept{j}"): column for j, column in enumerate(several)}
    numbers = [_as_numbers(str(name), column) for name, column in concepts.items()]
    if len({column.shape for column in numbers}) > 1 or any(column.ndim != 1 for column in numbers):
        raise DataError(f"concepts must be columns of one length, got shapes {[c.shape for c in numbers]}")
    return np.column_stack(numbers) if numbers else np.empty((0, 0)), tuple(map(str, concepts))


def _as_numbers(name: str, column: Any) -> Floats:
    """Return one column as numbers, those that are missing as NaN."""
    import narwhals as nw

    if nw.dependencies.is_into_series(column) or isinstance(column, nw.Series):
        series = nw.from_native(column, series_only=True, pass_through=False)
        numeric = series.dtype.is_numeric() or series.dtype == nw.Boolean
        column = (series.cast(nw.Float64) if numeric else series).to_numpy()
    values = np.asarray(column)
    text = next((value for value in values.flat if isinstance(value, str)), None) if values.dtype.kind in "OU" else None
    if text is not None:
        raise DataError(
            f"concept {name!r} must be numbers or truth values, got text such as {str(text)!r}; "
            f"say which of it has the concept, as in labels == {str(text)!r}"
        )
    try:
        return values.astype(np.float64, casting="unsafe" if values.dtype.kind in "biufO" else "safe")  # None is NaN
    except (TypeError, ValueError) as error:
        raise DataError(f"concept {name!r} must be numbers or truth values, NaN where not known: {error}") from None


def _kind(column: Floats) -> str:
    found = set(np.unique(column[~np.isnan(column)]).tolist())
    return BINARY if found <= {0.0, 1.0} or found <= {-1.0, 1.0} else CONTINUOUS


def _coded(column: Floats, kind: str) -> Floats:
    return np.where(column == -1, 0.0, column) if kind == BINARY else column


def _refuse_one_sided(name: str, column: Floats, kind: str) -> None:
    known = column[~np.isnan(column)]
    if kind == CONTINUOUS:
        if len(np.unique(known)) < 2:
            raise DataError(f"concept {name!r} has the same value in all examples; leave it out")
        return
    for side, count in (("positive", int((known == 1).sum())), ("negative", int((known == 0).sum()))):
        if count < 2:
            raise DataError(
                f"concept {name!r} has {('no', 'only one')[count]} {side} example; give at least 2, "
                "or random examples as negatives (stack_concepts)"
            )
