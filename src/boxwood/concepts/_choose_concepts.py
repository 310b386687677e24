"""Few concepts that tell clusters apart nearly as well as all of them."""

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

MOST_SUBSETS = 100_000  # of which each is looked at
_AT_ONCE = 1000


class ChosenConcepts(NamedTuple):
    """A subset of concepts: its names and places, its explainability-to-noise ratio and that of all concepts.

    `exact` says whether every subset was looked at, so that none of that size is better; `weakest` is the pair of
    clusters that the subset tells apart worst.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    value: float
    value_of_all: float
    exact: bool
    weakest: PairGap


def choose_concepts(
    scores: Mixture,
    max_concepts: int,
    names: Sequence[str] | None = None,
    *,
    convention: str = "subgaussian",
    pooling: str = "max",
) -> ChosenConcepts:
    """Return at most so many concepts that keep the explainability-to-noise ratio of clusters highest.

    The ratio is that of the worst pair of clusters on its best concept; the share of rows that a tree must lose is
    bounded by it. More concepts never lower it, but often few reach what all have.

    Parameters
    ----------
    scores : Mixture
        Clusters along m concepts, from `project` or from the scores of labelled rows.
    max_concepts : int
        Most concepts to take, at least 1.
    names : sequence of m str, default=None
        Names of the concepts.
    convention, pooling : str
        See `metrics.explainability_to_noise`.

    Returns
    -------
    ChosenConcepts
        Among the best subsets the smallest, of these the first in the order of the concepts, where `exact`.

    Raises
    ------
    DataError
        If there is only one cluster, or names do not fit.
    ValueError
        If `max_concepts` is below 1.

    Notes
    -----
    To find the best subset is as hard as covering sets. Where there are no more than 100 000 subsets all are looked at.
    Otherwise, for the highest ratio that it manages to keep with so many concepts (by bisection), the concept is taken
    that tells most of the remaining pairs apart, again and again; then single concepts are exchanged as long as that
    helps, and those that are not needed are dropped.

    Examples
    --------
    >>> scores = Mixture([1, 1, 1], [[0, 5, 0], [4, 0, 0], [4, 5, 1]], [[1, 1, 1]] * 3)
    >>> chosen = choose_concepts(scores, 2, ["red", "furry", "large"])
    >>> chosen.names, chosen.value, chosen.value_of_all
    (('red', 'furry'), 8.0, 8.0)
    >>> print(chosen.weakest)
    add a concept that tells 0 from 2: the best so far, red, holds them 4 standard deviations apart
    """
    if max_concepts < 1:
        raise ValueError(f"max_concepts must be at least 1, got {max_concepts}")
    if scores.n_components < 2:
        raise DataError("one cluster has nothing to be told apart from; give at least two")
    found = concept_names(scores, names)
    _, gaps = pair_gaps(scores, pooling)
    most = min(max_concepts, scores.n_features)
    exact = sum(comb(scores.n_features, size) for size in range(1, most + 1)) <= MOST_SUBSETS
    places = _best(gaps, most) if exact else _covering(gaps, most)
    ratio = explainability_to_noise(_along(scores, places), convention=convention, pooling=pooling)
    of_all = explainability_to_noise(scores, convention=convention, pooling=pooling)
    return ChosenConcepts(
        tuple(found[j] for j in places), places, ratio.value, of_all.value, exact, _weakest(scores, found, gaps, places)
    )


def _along(scores: Mixture, places: tuple[int, ...]) -> Mixture:
    return Mixture(scores.weights, scores.means[:, places], scores.variances[:, places], scores.names)


def _weakest(scores: Mixture, names: tuple[str, ...], gaps: Floats, places: tuple[int, ...]) -> PairGap:
    kept = gaps[:, places]
    p = int(kept.max(axis=1).argmin())
    first, second = list(combinations(scores.names, 2))[p]
    return PairGap(first, second, names[places[int(kept[p].argmax())]], float(kept[p].max()))


def _value(gaps: Floats, places: Sequence[int]) -> float:
    """Return the distance of the worst pair on its best concept of some."""
    return float(gaps[:, list(places)].max(axis=1).min())


def _best(gaps: Floats, most: int) -> tuple[int, ...]:
    """Return the best subset by looking at all, the small ones first."""
    of_all, best = _value(gaps, range(gaps.shape[1])), -1.0
    chosen: tuple[int, ...] = ()
    for size in range(1, most + 1):
        subsets = combinations(range(gaps.shape[1]), size)
        while batch := list(islice(subsets, _AT_ONCE)):
            values = gaps[:, np.array(batch)].max(axis=2).min(axis=0)
            first = int(values.argmax())
            if values[first] > best:
                best, chosen = float(values[first]), batch[first]
        if best == of_all:
            break
    return chosen


def _covering(gaps: Floats, most: int) -> tuple[int, ...]:
    """Return a subset that covers all pairs at a high distance, found by bisection over distances."""
    levels = np.unique(gaps)
    chosen = _cover(gaps, float(levels[0]), most)
    assert chosen is not None  # every concept holds every pair apart by the least distance or more
    low, high = 0, len(levels)
    while high - low > 1:
        middle = (low + high) // 2
        tried = _cover(gaps, float(levels[middle]), most)
        low, high = (low, middle) if tried is None else (middle, high)
        chosen = chosen if tried is None else tried
    return _without_needless(gaps, _exchanged(gaps, _filled(gaps, chosen, most)))


def _cover(gaps: Floats, level: float, most: int) -> list[int] | None:
    """Return concepts that hold each pair apart by `level`, at most so many, or None if greed finds none."""
    chosen: list[int] = []
    open_ = np.ones(len(gaps), dtype=np.bool_)
    while open_.any():
        counts = (gaps[open_] >= level).sum(axis=0)
        j = int(counts.argmax())
        if counts[j] == 0 or len(chosen) == most:
            return None
        chosen.append(j)
        open_ &= gaps[:, j] < level
    return chosen


def _filled(gaps: Floats, chosen: list[int], most: int) -> list[int]:
    """Return the concepts with others added, each the one that then helps the worst pair most."""
    chosen = list(chosen)
    while len(chosen) < most:
        worst = gaps[:, chosen].max(axis=1).argmin()
        chosen.append(int(gaps[worst].argmax()))
    return list(dict.fromkeys(chosen))


def _exchanged(gaps: Floats, chosen: list[int]) -> list[int]:
    """Return the concepts after exchanges of one for another, as long as the worst pair gains."""
    value, improved = _value(gaps, chosen), True
    while improved:
        improved = False
        for place in range(len(chosen)):
            others = gaps[:, chosen[:place] + chosen[place + 1 :]].max(axis=1, initial=0.0)
            values = np.maximum(gaps, others[:, None]).min(axis=0)
            if values.max() > value:
                value, improved = float(values.max()), True
                chosen[place] = int(values.argmax())
    return chosen


def _without_needless(gaps: Floats, chosen: list[int]) -> tuple[int, ...]:
    kept, value = sorted(set(chosen)), _value(gaps, chosen)
    for j in sorted(kept, reverse=True):
        fewer = [i for i in kept if i != j]
        if fewer and _value(gaps, fewer) == value:
            kept = fewer
    return tuple(kept)
