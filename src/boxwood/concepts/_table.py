"""Concept labels as one table: rows are examples, columns are concepts, NaN is "not known"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from boxwood._frames import as_matrix, column_names, is_frame
from boxwood._validation import as_table, listed
from boxwood.errors import DataError

__all__ = ["BINARY", "CONTINUOUS", "ConceptTable", "stack_concepts"]

BINARY, CONTINUOUS = "binary", "continuous"
Concepts = Any  # a data frame, a mapping from names to columns, or an array


class ConceptTable(NamedTuple):
    """Checked concept labels.

    `values` has shape (n, m): 0 and 1 for binary concepts, any numbers for continuous ones, NaN where not known.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, concepts: Concepts, n_rows: int) -> ConceptTable:
        """Return the table of a data frame, of a mapping from names to columns, or of an array (n,) or (n, m).

        A column of no more than the values 0 and 1, or -1 and 1, is binary; every other one is continuous.

        Raises
        ------
        DataError
            If the table does not have `n_rows` rows, is not numeric, holds infinite values, or a concept does not have
            two examples on each side (two different values, if it is continuous).
        """
        values, names = _numbers(concepts)
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

    def examples(self, concept: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the rows of which a concept is known, and its values there."""
        rows = np.flatnonzero(~np.isnan(self.values[:, concept]))
        return rows, self.values[rows, concept]


def stack_concepts(
    sets: Mapping[str, tuple[ArrayLike, ArrayLike | None]], pool: ArrayLike | None = None, random_state: Any = None
) -> tuple[NDArray[Any], dict[str, NDArray[np.float64]]]:
    """Return embeddings and their concept labels, from a set of positive and one of negative examples for each concept.

    The bridge from folders of examples, as TCAV has them, to the one table that a `ConceptProjector` learns from.

    Parameters
    ----------
    sets : mapping from name to (positives, negatives)
        Embeddings of examples with and without the concept, each of shape (any number, d). None for the negatives
        draws as many rows from `pool`.
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
        If negatives are missing and there is no pool, or embeddings have different numbers of columns.

    Examples
    --------
    >>> Z, concepts = stack_concepts({"red": ([[1.0], [2.0]], [[-1.0], [-2.0]])})
    >>> Z.ravel(), concepts
    (array([ 1.,  2., -1., -2.]), {'red': array([1., 1., 0., 0.])})
    """
    random = check_random_state(random_state)
    parts: list[tuple[str, float, NDArray[Any]]] = []
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


def _numbers(concepts: Concepts) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    if is_frame(concepts):
        return np.asarray(as_matrix(concepts), dtype=np.float64), column_names(concepts)
    if isinstance(concepts, Mapping):
        columns = [np.asarray(column) for column in concepts.values()]
        if len({column.shape for column in columns}) > 1 or any(column.ndim != 1 for column in columns):
            raise DataError(f"concepts must be columns of one length, got shapes {[c.shape for c in columns]}")
        return _as_numbers(np.column_stack(columns) if columns else np.empty((0, 0))), tuple(map(str, concepts))
    values = _as_numbers(concepts)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[1] == 0:
        raise DataError(f"concepts must be a table with a row for each example, got shape {values.shape}")
    return values, tuple(f"concept{j}" for j in range(values.shape[1]))


def _as_numbers(concepts: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(concepts, dtype=np.float64)  # None becomes NaN
    except (TypeError, ValueError) as error:
        raise DataError(f"concepts must be numbers, NaN where not known: {error}") from None


def _kind(column: NDArray[np.float64]) -> str:
    found = set(np.unique(column[~np.isnan(column)]).tolist())
    return BINARY if found <= {0.0, 1.0} or found <= {-1.0, 1.0} else CONTINUOUS


def _coded(column: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    return np.where(column == -1, 0.0, column) if kind == BINARY else column


def _refuse_one_sided(name: str, column: NDArray[np.float64], kind: str) -> None:
    known = column[~np.isnan(column)]
    if kind == CONTINUOUS:
        if len(np.unique(known)) < 2:
            raise DataError(f"concept {name!r} has the same value in all examples; leave it out")
        return
    for side, count in (("positive", int((known == 1).sum())), ("negative", int((known == 0).sum()))):
        if count < 2:
            raise DataError(
                f"concept {name!r} has {count or 'no'} {side} examples; give at least 2, "
                "or random examples as negatives (stack_concepts)"
            )


def _drawn(name: str, pool: ArrayLike | None, count: int, random: np.random.RandomState) -> NDArray[Any]:
    if pool is None:
        raise DataError(f"concept {name!r} has no negative examples; pass pool= to draw random ones")
    rows = as_table(pool)
    return rows[np.sort(random.permutation(len(rows))[:count])]
