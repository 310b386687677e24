"""`choose_concepts`: few concepts that separate clusters nearly as well as all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats
from boxwood.concepts._separation import PairGap, concept_names, pair_gaps
from boxwood.errors import DataError
from boxwood.metrics import explainability_to_noise
from boxwood.reference import Mixture

__all__ = ["ChosenConcepts", "choose_concepts"]

MOST_SUBSETS = 100_000  # up to so many subsets the search is exhaustive
SUBSETS_AT_ONCE = 1000


def choose_concepts(
    scores: Mixture,
    max_concepts: int,
    names: Sequence[str] | None = None,
    *,
    convention: str = "subgaussian",
    pooling: str = "max",
) -> ChosenConcepts:
    """Return at most `max_concepts` concepts with a high explainability-to-noise ratio of the clusters.

    For each pair of clusters the concept counts that separates them best; the ratio is that of the worst pair. It
    bounds the share of rows that a tree must lose. A subset never has a higher ratio than all concepts, but often a few
    concepts reach the ratio of all.

    Parameters
    ----------
    scores : Mixture
        Clusters along m concepts: the result of `project`, or a mixture made of the scores of labelled rows.
    max_concepts : int
        Largest number of concepts to choose, at least 1.
    names : sequence of m str, default=None
        Names of the concepts; None names them concept0, concept1, ….
    convention, pooling : str
        See `metrics.explainability_to_noise`.

    Returns
    -------
    ChosenConcepts
        `names` and `indices` of the chosen concepts; `value`, their ratio, and `value_of_all`, the ratio of all
        concepts; `exact`, whether every subset was compared; and `weakest`, the pair of clusters that they separate
        worst. If `exact`, the ratio is the highest possible: of several such subsets the smallest is returned, then
        the first in the order of the concepts.

    Raises
    ------
    DataError
        If there is only one cluster, or there is not one name for each concept.
    ValueError
        If `max_concepts` is below 1.

    Notes
    -----
    To find the best subset is as hard as set cover. If there are at most 100 000 subsets, all are compared. Otherwise a
    search by bisection looks for the largest gap at which greed still succeeds: it takes the concept that separates
    most of the remaining pairs by that gap, again and again. Then single concepts are exchanged while that helps, and
    concepts without use are dropped.

    Examples
    --------
    >>> scores = Mixture([1, 1, 1], [[0, 5, 0], [4, 0, 0], [4, 5, 1]], [[1, 1, 1]] * 3)
    >>> chosen = choose_concepts(scores, 2, ["red", "furry", "large"])
    >>> chosen.names, chosen.value, chosen.value_of_all
    (('red', 'furry'), 8.0, 8.0)
    >>> print(chosen.weakest)
    add a concept that separates 0 from 2: along red, the best so far, they differ by 4 standard deviations
    """
    if max_concepts < 1:
        raise ValueError(f"max_concepts must be at least 1, got {max_concepts}")
    names = concept_names(scores, names)
    if scores.n_components < 2:
        raise DataError("one cluster has no other to be separated from; give a mixture of at least two")
    _, gaps = pair_gaps(scores, pooling)
    most = min(max_concepts, scores.n_features)
    exact = sum(comb(scores.n_features, size) for size in range(1, most + 1)) <= MOST_SUBSETS
    indices = _best(gaps, most) if exact else _covering(gaps, most)
    ratio = explainability_to_noise(_along(scores, indices), convention=convention, pooling=pooling)
    ratio_of_all = explainability_to_noise(scores, convention=convention, pooling=pooling)
    weakest = _weakest(scores, names, gaps, indices)
    return ChosenConcepts(tuple(names[j] for j in indices), indices, ratio.value, ratio_of_all.value, exact, weakest)


class ChosenConcepts(NamedTuple):
    """A subset of concepts; the result of `choose_concepts`, which says what the fields mean."""

    names: tuple[str, ...]
    indices: tuple[int, ...]
    value: float
    value_of_all: float
    exact: bool
    weakest: PairGap


def _along(scores: Mixture, indices: tuple[int, ...]) -> Mixture:
    """Return the mixture along some of the concepts."""
    return Mixture(scores.weights, scores.means[:, indices], scores.variances[:, indices], scores.names)


def _weakest(scores: Mixture, names: tuple[str, ...], gaps: Floats, indices: tuple[int, ...]) -> PairGap:
    """Return the pair of clusters that some of the concepts separate worst."""
    chosen_gaps = gaps[:, indices]
    pair = int(chosen_gaps.max(axis=1).argmin())
    first, second = list(combinations(scores.names, 2))[pair]
    best = int(chosen_gaps[pair].argmax())
    return PairGap(first, second, names[indices[best]], float(chosen_gaps[pair, best]))


def _value(gaps: Floats, subset: Sequence[int]) -> float:
    """Return the gap of the worst pair along its best concept of a subset."""
    return float(gaps[:, list(subset)].max(axis=1).min())


# ------------------------------------------------------------------------------------------- all subsets compared


def _best(gaps: Floats, most: int) -> tuple[int, ...]:
    """Return the subset of the largest value, at most `most` concepts; of equals the smallest, then the first."""
    value_of_all, best = _value(gaps, range(gaps.shape[1])), -1.0
    chosen: tuple[int, ...] = ()
    for size in range(1, most + 1):
        subsets = combinations(range(gaps.shape[1]), size)
        while batch := list(islice(subsets, SUBSETS_AT_ONCE)):
            values = gaps[:, np.array(batch)].max(axis=2).min(axis=0)
            first = int(values.argmax())
            if values[first] > best:
                best, chosen = float(values[first]), batch[first]
        if best == value_of_all:
            break
    return chosen


# ------------------------------------------------------------------------------------------------- greedy search


def _covering(gaps: Floats, most: int) -> tuple[int, ...]:
    """Return a subset of high value: a cover, found by bisection over all gaps, then improved."""
    levels = np.unique(gaps)
    chosen = _cover(gaps, float(levels[0]), most)
    assert chosen is not None  # every concept separates every pair by the smallest gap
    low, high = 0, len(levels)
    while high - low > 1:
        middle = (low + high) // 2
        cover = _cover(gaps, float(levels[middle]), most)
        low, high = (low, middle) if cover is None else (middle, high)
        chosen = chosen if cover is None else cover
    return _without_needless(gaps, _exchanged(gaps, _filled(gaps, chosen, most)))


def _cover(gaps: Floats, level: float, most: int) -> list[int] | None:
    """Return at most `most` concepts that separate every pair by `level`; None if greed does not find them."""
    chosen: list[int] = []
    is_open = np.ones(len(gaps), dtype=np.bool_)  # pairs that are not separated yet
    while is_open.any():
        counts = (gaps[is_open] >= level).sum(axis=0)
        j = int(counts.argmax())
        if counts[j] == 0 or len(chosen) == most:
            return None
        chosen.append(j)
        is_open &= gaps[:, j] < level
    return chosen


def _filled(gaps: Floats, chosen: list[int], most: int) -> list[int]:
    """Return up to `most` concepts: those chosen, and again and again the one that separates the worst pair best."""
    chosen = list(chosen)
    while len(chosen) < most:
        worst = gaps[:, chosen].max(axis=1).argmin()
        chosen.append(int(gaps[worst].argmax()))
    return list(dict.fromkeys(chosen))


def _exchanged(gaps: Floats, chosen: list[int]) -> list[int]:
    """Return the concepts after exchanges of one for another, made while the value grows."""
    value, improved = _value(gaps, chosen), True
    while improved:
        improved = False
        for i in range(len(chosen)):
            others = gaps[:, chosen[:i] + chosen[i + 1 :]].max(axis=1, initial=0.0)
            values = np.maximum(gaps, others[:, None]).min(axis=0)  # after an exchange of concept i for each concept
            if values.max() > value:
                value, improved = float(values.max()), True
                chosen[i] = int(values.argmax())
    return chosen


def _without_needless(gaps: Floats, chosen: list[int]) -> tuple[int, ...]:
    """Return the concepts without those that can go at no loss of value, later ones dropped first."""
    kept, value = sorted(set(chosen)), _value(gaps, chosen)
    for j in sorted(kept, reverse=True):
        fewer = [i for i in kept if i != j]
        if fewer and _value(gaps, fewer) == value:
            kept = fewer
    return tuple(kept)
