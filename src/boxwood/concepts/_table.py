"""Concept labels as one table: rows are examples, columns are concepts, NaN is "not known"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boxwood._frames import column_names, is_frame
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, listed
from boxwood.errors import DataError

__all__ = ["BINARY", "CONTINUOUS", "ConceptTable", "places_of", "stack_concepts"]

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


def stack_concepts(
    sets: Mapping[str, tuple[ArrayLike, ArrayLike | None]], pool: ArrayLike | None = None, random_state: Any = None
) -> tuple[Array, dict[str, Floats]]:
    """Return embeddings and their concept labels, from a set of positive and one of negative examples for each concept.

    The bridge from folders of examples, as TCAV has them, to the one table that a `ConceptProjector` learns from.

    Parameters
    ----------
    sets : mapping from name to (positives, negatives)
        Embeddings of examples with and without the concept, each of shape (any number, d). None for the negatives
        draws as many rows from `pool`, or takes all of it.
    pool : array-like of shape (n, d), default=None
        Embeddings of random examples.
    random_state : int, RandomState or None, default=None
        Randomness of the draws.

    Returns
    -------
    embeddings : array of shape (N, d)
        All examples, one set below the other.
    concepts : dict from name to array of shape (N,)
        1 for the positives of a concept, 0 for its negatives, NaN for the examples of other concepts.

    Raises
    ------
    DataError
        If there is no concept, negatives are missing and there is no pool, or embeddings have different numbers of
        columns.

    Examples
    --------
    >>> Z, concepts = stack_concepts({"red": ([[1.0], [2.0]], [[-1.0], [-2.0]])})
    >>> Z.ravel(), concepts
    (array([ 1.,  2., -1., -2.]), {'red': array([1., 1., 0., 0.])})
    """
    if not sets:
        raise DataError("there is no concept: give examples with and without at least one")
    random = check_random_state(random_state)
    parts: list[tuple[str, float, Array]] = []
    for name, (given, others) in sets.items():
        positives = as_table(given)
        negatives = _drawn(name, pool, len(positives), random) if others is None else as_table(others)
        parts += [(name, 1.0, positives), (name, 0.0, negatives)]
    widths = sorted({part.shape[1] for _, _, part in parts})
    if len(widths) != 1:
        raise DataError(f"the embeddings of all concepts must have the same number of columns, got {widths}")
    owners = np.concatenate([np.full(len(part), name, dtype=object) for name, _, part in parts])
    signs = np.concatenate([np.full(len(part), sign) for _, sign, part in parts])
    concepts = {name: np.where(owners == name, signs, np.nan) for name in sets}
    return np.vstack([part for _, _, part in parts]), concepts


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


def _drawn(name: str, pool: ArrayLike | None, count: int, random: np.random.RandomState) -> Array:
    if pool is None:
        raise DataError(f"concept {name!r} has no negative examples; pass pool= to draw random ones")
    rows = as_table(pool)
    return rows[np.sort(random.permutation(len(rows))[:count])]
