"""Sets of positive and negative examples as one table of concept labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boxwood._types import Array, Floats
from boxwood._validation import as_table
from boxwood.errors import DataError

__all__ = ["stack_concepts"]


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


def _drawn(name: str, pool: ArrayLike | None, count: int, random: np.random.RandomState) -> Array:
    if pool is None:
        raise DataError(f"concept {name!r} has no negative examples; pass pool= to draw random ones")
    rows = as_table(pool)
    return rows[np.sort(random.permutation(len(rows))[:count])]
