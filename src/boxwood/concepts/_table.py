"""`ConceptTable`: concept labels as one table; rows are examples, columns are concepts, NaN is "not known"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boxwood._frames import column_names, is_frame
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, list_words, refuse_other_kind, show_value
from boxwood.errors import DataError

BINARY, CONTINUOUS = "binary", "continuous"
Concepts = Any  # a data frame, a mapping from names to columns, or an array


class ConceptTable(NamedTuple):
    """Concept labels that were checked, and the name and the kind of each concept.

    `values` has shape (n, m): 0 or 1 for a binary concept, any number for a continuous one, NaN where it is not known.
    """

    values: Floats
    names: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, concepts: Concepts, n_rows: int) -> ConceptTable:
        """Return the table of a frame, a series, a mapping from names to columns, or an array (n,) or (n, m).

        A column whose values are all 0 or 1, or all -1 or 1, is a binary concept; every other column is continuous.

        Raises
        ------
        DataError
            If the table does not have `n_rows` rows, is not numeric or holds infinite values; if a binary concept does
            not have two examples on each side; or if a continuous concept does not have two different values.
        """
        values, names = _numbers(concepts)
        if not names:
            raise DataError("there is no concept: give a column of labels for at least one")
        if len(values) != n_rows:
            raise DataError(f"concepts must have a row for each of {n_rows} rows of embeddings, got {len(values)}")
        infinite = [name for name, column in zip(names, values.T, strict=True) if np.isinf(column).any()]
        if infinite:
            raise DataError(
                f"infinite values in concepts {list_words(infinite)}; use NaN for examples that are not known"
            )
        kinds = tuple(_kind(column) for column in values.T)
        values = np.column_stack([_encode_concept(column, kind) for column, kind in zip(values.T, kinds, strict=True)])
        for name, column, kind in zip(names, values.T, kinds, strict=True):
            _refuse_one_sided(name, column, kind)
        return cls(values, names, kinds)

    def only(self, names: tuple[str, ...]) -> ConceptTable:
        """Return the table of some concepts, in the order of the names.

        Raises
        ------
        DataError
            If the table has no labels of some of them.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise DataError(
                f"concepts must have labels of all concepts of the projector; there are none of {list_words(missing)}, "
                f"but of {list_words(self.names)}"
            )
        indices = [self.names.index(name) for name in names]
        return ConceptTable(self.values[:, indices], names, tuple(self.kinds[j] for j in indices))

    def examples(self, concept: int) -> tuple[Indices, Floats]:
        """Return the indices of the rows in which a concept is known, and its values in these rows."""
        rows = np.flatnonzero(~np.isnan(self.values[:, concept]))
        return rows, self.values[rows, concept]


def concept_indices(concepts: Any, names: tuple[str, ...]) -> Indices:
    """Return the indices of concepts among `names`; concepts are names, indices or a mask."""
    chosen = np.atleast_1d(concepts)
    if chosen.dtype.kind in "UO":
        unknown = [repr(str(name)) for name in chosen if str(name) not in names]
        if unknown:
            raise DataError(f"there is no concept {list_words(unknown)}; the concepts are {list_words(names)}")
        chosen = np.array([names.index(str(name)) for name in chosen], dtype=np.intp)
    elif chosen.dtype == np.bool_:
        if chosen.shape != (len(names),):
            raise DataError(f"a mask must have one truth value for each of {len(names)} concepts, got {chosen.shape}")
        chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        raise DataError("no concept is left; give more examples of them, or other concepts")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= len(names):
        raise DataError(f"concepts must be names or indices from 0 to {len(names) - 1}, got {show_value(concepts)}")
    return chosen.astype(np.intp)


def _numbers(concepts: Concepts) -> tuple[Floats, tuple[str, ...]]:
    """Return the columns side by side, and their names: concept0, concept1, … if they have none."""
    import narwhals as nw

    if is_frame(concepts):
        columns = nw.from_native(concepts, eager_only=True).iter_columns()
        concepts = dict(zip(column_names(concepts), columns, strict=True))
    elif not isinstance(concepts, Mapping):
        values = np.asarray(concepts)
        if values.ndim not in (1, 2):
            raise DataError(
                "concepts must have a row for each example and a column for each concept, that is one or two "
                f"dimensions; got shape {values.shape}"
            )
        series_name = getattr(concepts, "name", None) if values.ndim == 1 else None
        table = [concepts] if values.ndim == 1 else list(values.T)
        concepts = {(series_name or f"concept{j}"): column for j, column in enumerate(table)}
    numbers = [_as_numbers(str(name), column) for name, column in concepts.items()]
    if len({column.shape for column in numbers}) > 1 or any(column.ndim != 1 for column in numbers):
        raise DataError(
            f"concepts must be one-dimensional columns of one length, got shapes {[c.shape for c in numbers]}"
        )
    return np.column_stack(numbers) if numbers else np.empty((0, 0)), tuple(map(str, concepts))


def _as_numbers(name: str, column: Any) -> Floats:
    """Return one column as numbers, missing values as NaN."""
    import narwhals as nw

    if nw.dependencies.is_into_series(column) or isinstance(column, nw.Series):
        series = nw.from_native(column, series_only=True, pass_through=False)
        numeric = series.dtype.is_numeric() or series.dtype == nw.Boolean
        column = (series.cast(nw.Float64) if numeric else series).to_numpy()
    values = np.asarray(column)
    text = next((value for value in values.flat if isinstance(value, str)), None) if values.dtype.kind in "OU" else None
    if text is not None:
        raise DataError(
            f"concept {show_value(name)} must be numbers or truth values, got text such as {show_value(str(text))}; "
            f"say which text has the concept, as in labels == {show_value(str(text))}"
        )
    try:
        return values.astype(np.float64, casting="unsafe" if values.dtype.kind in "biufO" else "safe")  # None is NaN
    except (TypeError, ValueError) as error:
        what = f"concept {show_value(name)} must be numbers or truth values, NaN where not known"
        raise DataError(f"{what}: {error}") from None


def _kind(column: Floats) -> str:
    values = set(np.unique(column[~np.isnan(column)]).tolist())
    return BINARY if values <= {0.0, 1.0} or values <= {-1.0, 1.0} else CONTINUOUS


def _encode_concept(column: Floats, kind: str) -> Floats:
    """Return a column with 0 for the -1 of a binary concept."""
    return np.where(column == -1, 0.0, column) if kind == BINARY else column


def _refuse_one_sided(name: str, column: Floats, kind: str) -> None:
    """Raise a DataError if the examples of a concept have one value only, or one example of it."""
    values = column[~np.isnan(column)]
    if kind == CONTINUOUS:
        if len(np.unique(values)) < 2:
            raise DataError(f"concept {show_value(name)} has the same value in all examples; leave it out")
        return
    for side, count in (("positive", int((values == 1).sum())), ("negative", int((values == 0).sum()))):
        if count < 2:
            raise DataError(
                f"concept {show_value(name)} has {('no', 'only one')[count]} {side} example; give at least 2, "
                "or random examples as negatives (stack_concepts)"
            )


def stack_concepts(
    sets: Mapping[str, tuple[ArrayLike, ArrayLike | None]], pool: ArrayLike | None = None, random_state: Any = None
) -> tuple[Array, dict[str, Floats]]:
    """Return embeddings and their concept labels, made of positive and negative examples of each concept.

    Use it if examples come as one folder for each concept, as in TCAV: a `ConceptProjector` learns from one table.

    Parameters
    ----------
    sets : mapping from name to (positives, negatives)
        Embeddings of examples with and without the concept, each of shape (any number, d). If negatives are None, as
        many rows as there are positives are drawn from `pool`, or all of its rows if it has fewer.
    pool : array-like of shape (n, d), default=None
        Embeddings of random examples.
    random_state : int, RandomState or None, default=None
        Randomness of the draws.

    Returns
    -------
    embeddings : array of shape (N, d)
        All examples: positives and negatives of the first concept, then of the second, and so on.
    concepts : dict from name to array of shape (N,)
        1 for the positives of a concept, 0 for its negatives, NaN for the examples of other concepts.

    Raises
    ------
    DataError
        If there is no concept, if negatives are None and there is no pool, or if embeddings have different numbers of
        columns.

    Examples
    --------
    >>> Z, concepts = stack_concepts({"red": ([[1.0], [2.0]], [[-1.0], [-2.0]])})
    >>> Z.ravel(), concepts
    (array([ 1.,  2., -1., -2.]), {'red': array([1., 1., 0., 0.])})
    """
    refuse_other_kind("sets", sets, Mapping, "give the name of each concept its examples: {name: (with, without)}")
    if not sets:
        raise DataError("there is no concept: give examples with and without at least one")
    random = check_random_state(random_state)
    blocks: list[tuple[str, float, Array]] = []
    for name, (with_concept, without) in sets.items():
        positives = as_table(with_concept)
        negatives = _draw_rows(name, pool, len(positives), random) if without is None else as_table(without)
        blocks += [(name, 1.0, positives), (name, 0.0, negatives)]
    widths = sorted({block.shape[1] for _, _, block in blocks})
    if len(widths) != 1:
        raise DataError(f"the embeddings of all concepts must have the same number of columns, got {widths}")
    names = np.concatenate([np.full(len(block), name, dtype=object) for name, _, block in blocks])
    labels = np.concatenate([np.full(len(block), label) for _, label, block in blocks])
    concepts = {name: np.where(names == name, labels, np.nan) for name in sets}
    return np.vstack([block for _, _, block in blocks]), concepts


def _draw_rows(name: str, pool: ArrayLike | None, count: int, random: np.random.RandomState) -> Array:
    """Return at most `count` random rows of a pool, in its order."""
    if pool is None:
        raise DataError(f"concept {name!r} has no negative examples; pass pool= to draw random ones")
    rows = as_table(pool)
    return rows[np.sort(random.permutation(len(rows))[:count])]
