"""Few concepts that separate clusters nearly as well as all of them, and the pairs that none separates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood._validation import as_numbers, real_number
from boxwood.errors import DataError
from boxwood.loops.kernels import products
from boxwood.metrics import explainability_to_noise
from boxwood.reference import Mixture
from boxwood.reference.mixture import refuse_no_mixture

MOST_SUBSETS = 100_000  # number of subsets up to which the search is exhaustive
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
    return _without_needless(gaps, _exchange_concepts(gaps, _fill_up(gaps, chosen, most)))


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


def _fill_up(gaps: Floats, chosen: list[int], most: int) -> list[int]:
    """Return up to `most` concepts: those chosen, and then step by step the one that separates the worst pair best."""
    chosen = list(chosen)
    while len(chosen) < most:
        worst = gaps[:, chosen].max(axis=1).argmin()
        chosen.append(int(gaps[worst].argmax()))
    return list(dict.fromkeys(chosen))


def _exchange_concepts(gaps: Floats, chosen: list[int]) -> list[int]:
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
    """Return the concepts without those whose removal does not lower the value; later ones are removed first."""
    kept, value = sorted(set(chosen)), _value(gaps, chosen)
    for j in sorted(kept, reverse=True):
        fewer = [i for i in kept if i != j]
        if fewer and _value(gaps, fewer) == value:
            kept = fewer
    return tuple(kept)


def unseparated_pairs(
    scores: Mixture, names: Sequence[str] | None = None, *, least_gap: float = 2.0, pooling: str = "max"
) -> tuple[PairGap, ...]:
    """Return the pairs of clusters that no concept separates, the worst pair first.

    Parameters
    ----------
    scores : Mixture
        Clusters along m concepts: the result of `project`, or a mixture made of the scores of labelled rows.
    names : sequence of m str, default=None
        Names of the concepts; None names them concept0, concept1, ….
    least_gap : float, default=2.0
        A concept separates two clusters if their means along it differ by at least this many standard deviations. If
        the clusters are Gaussian, a cut halfway puts 16% of their rows on the wrong side at a gap of 2, and 2% at 4.
    pooling : {"max", "weighted"}, default="max"
        How the variances of the clusters become one; see `Mixture.pooled_variances`.

    Returns
    -------
    tuple of PairGap
        Clusters `first` and `second`, the `concept` along which they differ most, and their `gap` along it in standard
        deviations. `print` of one shows advice.

    Raises
    ------
    DataError
        If there is not one name for each concept.

    Examples
    --------
    >>> scores = Mixture([1, 1, 1], [[0], [9], [10]], [[1], [1], [1]], ["frog", "horse", "deer"])
    >>> print(*unseparated_pairs(scores, ["striped"]))
    add a concept that separates horse from deer: along striped, the best so far, they differ by 1 standard deviations
    """
    least_gap = real_number("least_gap", least_gap)
    names = concept_names(scores, names)
    pairs, gaps = pair_gaps(scores, pooling)
    largest = gaps.max(axis=1, initial=0.0)
    unseparated = [p for p in np.argsort(largest, kind="stable") if largest[p] < least_gap]
    return tuple(
        PairGap(scores.names[pairs[p, 0]], scores.names[pairs[p, 1]], names[gaps[p].argmax()], float(largest[p]))
        for p in unseparated
    )


class PairGap(NamedTuple):
    """Two clusters, the concept along which their means differ most, and by how many standard deviations."""

    first: Hashable
    second: Hashable
    concept: str
    gap: float

    def __str__(self) -> str:
        return (
            f"add a concept that separates {self.first} from {self.second}: along {self.concept}, the best so far, "
            f"they differ by {self.gap:.2g} standard deviations"
        )


def pair_gaps(scores: Mixture, pooling: str) -> tuple[Indices, Floats]:
    """Return the pairs of components, shape (p, 2), and their gaps along each concept, shape (p, m).

    A gap is the difference of the means in standard deviations: 0 if the means are equal, infinite if they differ along
    a concept without variance.
    """
    pairs = np.array(list(combinations(range(scores.n_components), 2)), dtype=np.intp).reshape(-1, 2)
    differences = np.abs(scores.means[pairs[:, 0]] - scores.means[pairs[:, 1]])
    deviations = np.sqrt(scores.pooled_variances(pooling))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return pairs, np.where(differences > 0, differences / deviations, 0.0)


def concept_names(scores: Mixture, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return a name for each concept, concept0, concept1, … if there are none."""
    refuse_no_mixture(scores)
    if names is None:
        return tuple(f"concept{j}" for j in range(scores.n_features))
    if len(names) != scores.n_features:
        raise DataError(f"names must be one for each of {scores.n_features} concepts, got {len(names)}")
    return tuple(map(str, names))


def project(mixture: Mixture, vectors: ArrayLike, intercepts: ArrayLike | None = None) -> Mixture:
    """Return the mixture of the scores `x @ vectors.T + intercepts` of embeddings x that are drawn from a mixture.

    With the vectors as rows of C and the intercepts as b, means become C μ + b and covariances C Σ Cᵀ. No rows are
    needed. `grow.mmdt` of the result is Concept-MMDT, and `metrics.explainability_to_noise` of the result is the
    explainability-to-noise ratio of the concepts: how well the best concept separates the worst pair of clusters.

    Parameters
    ----------
    mixture : Mixture
        Weights, means and covariances of embeddings. Without covariances the latent columns are taken as uncorrelated.
        The clusters of labelled rows usually have correlated columns; so if the mixture is made of labelled rows,
        project the rows and make the mixture of their scores instead.
    vectors : array-like of shape (m, d)
        Concept activation vectors, of any length.
    intercepts : array-like of shape (m,), default=None
        Added to the scores; None is 0.

    Returns
    -------
    Mixture
        The same components, with one column for each of the m concepts, and with covariances. Projected Gaussians are
        Gaussian; of other laws the result states none.

    Raises
    ------
    DataError
        If vectors are not finite or do not have d columns, or there are not m finite intercepts.

    Notes
    -----
    The standard deviation along a concept c is the square root of cᵀ Σ c. Algorithm 2 of the paper prints the variance
    cᵀ Σ c instead, against its own equation (5). With the variance the tree would change with the length of a vector,
    which has no meaning. Takes time k m d (d + m).

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", equations (4) to (6) and Algorithm 2.

    Examples
    --------
    >>> mixture = Mixture([1, 1], [[0, 0], [3, 4]], [[1, 1], [1, 1]])
    >>> scores = project(mixture, [[0.6, 0.8]])
    >>> scores.means.ravel().round(6), scores.variances.ravel().round(6)
    (array([0., 5.]), array([1., 1.]))
    """
    C, b = _check_vectors(mixture, vectors, intercepts)
    with np.errstate(over="ignore", invalid="ignore"):  # what is no longer finite is refused
        covariances = _project_covariances(mixture, C)
    variances = np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0)
    each = np.arange(len(C))
    covariances[:, each, each] = variances
    means, law = products(mixture.means, C) + b, "gaussian" if mixture.law == "gaussian" else None
    return Mixture(mixture.weights, means, variances, mixture.names, covariances=covariances, law=law)


def _check_vectors(mixture: Mixture, vectors: ArrayLike, intercepts: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return vectors, shape (m, d), and intercepts, shape (m,)."""
    refuse_no_mixture(mixture)
    C = as_numbers("vectors", vectors)
    if C.ndim != 2 or C.shape[1] != mixture.n_features or not np.isfinite(C).all():
        raise DataError(f"vectors must be finite numbers of shape (m, {mixture.n_features}), got shape {C.shape}")
    b = np.zeros(len(C)) if intercepts is None else as_numbers("intercepts", intercepts)
    if b.shape != (len(C),) or not np.isfinite(b).all():
        raise DataError(f"intercepts must be one finite number for each of {len(C)} vectors, got shape {b.shape}")
    return C, b


def _project_covariances(mixture: Mixture, C: Floats) -> Floats:
    """Return C Σ Cᵀ of each component, shape (k, m, m), exactly symmetric."""
    if mixture.covariances is None:
        covariances = np.array([products(C * variances, C) for variances in mixture.variances])
    else:
        covariances = np.array([products(products(C, covariance), C) for covariance in mixture.covariances])
    return np.asarray((covariances + covariances.transpose(0, 2, 1)) / 2)
