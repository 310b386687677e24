"""`stack_concepts`: a set of examples for each concept becomes one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boxwood._types import Array, Floats
from boxwood._validation import as_table, refuse_other_kind
from boxwood.errors import DataError

__all__ = ["stack_concepts"]


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
    parts: list[tuple[str, float, Array]] = []
    for name, (with_concept, without) in sets.items():
        positives = as_table(with_concept)
        negatives = _drawn(name, pool, len(positives), random) if without is None else as_table(without)
        parts += [(name, 1.0, positives), (name, 0.0, negatives)]
    widths = sorted({part.shape[1] for _, _, part in parts})
    if len(widths) != 1:
        raise DataError(f"the embeddings of all concepts must have the same number of columns, got {widths}")
    names = np.concatenate([np.full(len(part), name, dtype=object) for name, _, part in parts])
    labels = np.concatenate([np.full(len(part), label) for _, label, part in parts])
    concepts = {name: np.where(names == name, labels, np.nan) for name in sets}
    return np.vstack([part for _, _, part in parts]), concepts


def _drawn(name: str, pool: ArrayLike | None, count: int, random: np.random.RandomState) -> Array:
    """Return at most `count` random rows of a pool, in its order."""
    if pool is None:
        raise DataError(f"concept {name!r} has no negative examples; pass pool= to draw random ones")
    rows = as_table(pool)
    return rows[np.sort(random.permutation(len(rows))[:count])]
