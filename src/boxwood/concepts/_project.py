"""A mixture of embeddings seen along concepts, and the pairs of its components that concepts tell apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood.errors import DataError
from boxwood.loops.kernels import products
from boxwood.reference import Mixture

__all__ = ["PairGap", "pair_gaps", "project", "unit_vectors", "unseparated_pairs"]


def project(mixture: Mixture, vectors: ArrayLike, intercepts: ArrayLike | None = None) -> Mixture:
    """Return the mixture of the scores `x @ vectors.T + intercepts` of embeddings x drawn from a mixture.

    Means become C μ + b and covariances C Σ Cᵀ, so `grow.mmdt` of the result is Concept-MMDT, in a time that does not
    depend on any number of rows, and `metrics.explainability_to_noise` of it the concepts' explainability-to-noise
    ratio: how well the worst pair of clusters is told apart by its best concept.

    Parameters
    ----------
    mixture : Mixture
        Weights, means and covariances of embeddings. Without covariances its latent axes are taken as uncorrelated,
        which a mixture made of labelled rows as a rule is not: then project the rows, and make the mixture of these.
    vectors : array-like of shape (m, d)
        Concept activation vectors, of any length.
    intercepts : array-like of shape (m,), default=None
        Added to the scores; None is 0.

    Returns
    -------
    Mixture
        The same components along m concepts, with covariances.

    Raises
    ------
    DataError
        If vectors do not have d columns, or intercepts are not m.

    Notes
    -----
    The standard deviation along a concept is the square root of cᵀ Σ c. Algorithm 2 of the paper prints the variance in
    its place, against its own equation (5); with that the tree would change with the length of a vector, which means
    nothing. Takes time k m d (d + m).

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
    C, b = _checked(mixture, vectors, intercepts)
    covariances = _projected(mixture, C)
    variances = np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0)
    each = np.arange(len(C))
    covariances[:, each, each] = variances
    return Mixture(mixture.weights, products(mixture.means, C) + b, variances, mixture.names, covariances=covariances)


class PairGap(NamedTuple):
    """Two clusters, the concept that holds them farthest apart, and how far, in standard deviations."""

    first: Hashable
    second: Hashable
    concept: str
    gap: float

    def __str__(self) -> str:
        return (
            f"add a concept that tells {self.first} from {self.second}: the best so far, {self.concept}, "
            f"holds them {self.gap:.2g} standard deviations apart"
        )


def unseparated_pairs(
    scores: Mixture, names: Sequence[str] | None = None, *, least_gap: float = 2.0, pooling: str = "max"
) -> tuple[PairGap, ...]:
    """Return the pairs of clusters that no concept separates, the worst first.

    Parameters
    ----------
    scores : Mixture
        Clusters along concepts, from `project` or from the scores of labelled rows.
    names : sequence of m str, default=None
        Names of the concepts.
    least_gap : float, default=2.0
        Standard deviations that the means of two clusters must be apart on some concept. A cut in the middle of a gap
        of 2 puts 16% of the rows of Gaussian clusters on the wrong side, of 4 it is 2%.
    pooling : {"max", "weighted"}, default="max"
        How the variances of the clusters become one; see `Mixture.pooled_variances`.

    Returns
    -------
    tuple of PairGap
        Each of which prints as advice.

    Examples
    --------
    >>> scores = Mixture([1, 1, 1], [[0], [9], [10]], [[1], [1], [1]], ["frog", "horse", "deer"])
    >>> print(*unseparated_pairs(scores, ["striped"]))
    add a concept that tells horse from deer: the best so far, striped, holds them 1 standard deviations apart
    """
    found = concept_names(scores, names)
    pairs, gaps = pair_gaps(scores, pooling)
    best = gaps.max(axis=1, initial=0.0)
    return tuple(
        PairGap(scores.names[pairs[p, 0]], scores.names[pairs[p, 1]], found[int(gaps[p].argmax())], float(best[p]))
        for p in np.argsort(best, kind="stable")
        if best[p] < least_gap
    )


def pair_gaps(scores: Mixture, pooling: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the pairs of components, shape (p, 2), and their distances along each axis in standard deviations (p, m).

    Distances are infinite along an axis without variance, and 0 for equal means.
    """
    pairs = np.array(list(combinations(range(scores.n_components), 2)), dtype=np.intp).reshape(-1, 2)
    apart = np.abs(scores.means[pairs[:, 0]] - scores.means[pairs[:, 1]])
    deviations = np.sqrt(scores.pooled_variances(pooling))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return pairs, np.where(apart > 0, apart / deviations, 0.0)


def concept_names(scores: Mixture, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return a name for each axis of a mixture of scores."""
    if names is None:
        return tuple(f"concept{j}" for j in range(scores.n_features))
    if len(names) != scores.n_features:
        raise DataError(f"{scores.n_features} concepts need as many names, got {len(names)}")
    return tuple(map(str, names))


def unit_vectors(
    vectors: Sequence[NDArray[np.float64]], names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return vectors scaled to length 1, shape (m, d), and the lengths they had, shape (m,)."""
    stacked = np.array(vectors, dtype=np.float64)
    largest = np.abs(stacked).max(axis=1)
    for name, size in zip(names, largest, strict=True):
        if not (np.isfinite(size) and size > 0):
            raise DataError(f"concept {name!r} has no direction: its vector has length {size:g}; leave it out")
    scaled = stacked / largest[:, None]  # first by the largest, as squares of tiny and of huge numbers leave the range
    lengths = np.linalg.norm(scaled, axis=1)
    return scaled / lengths[:, None], largest * lengths


def _checked(
    mixture: Mixture, vectors: ArrayLike, intercepts: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    C = np.asarray(vectors, dtype=np.float64)
    if C.ndim != 2 or C.shape[1] != mixture.n_features or not np.isfinite(C).all():
        raise DataError(f"vectors must be finite, of shape (m, {mixture.n_features}), got shape {C.shape}")
    b = np.zeros(len(C)) if intercepts is None else np.asarray(intercepts, dtype=np.float64)
    if b.shape != (len(C),) or not np.isfinite(b).all():
        raise DataError(f"intercepts must be finite, one for each of {len(C)} vectors, got shape {b.shape}")
    return C, b


def _projected(mixture: Mixture, C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return C Σ Cᵀ of each component, shape (k, m, m), the same on both sides of the diagonal."""
    if mixture.covariances is None:
        covariances = np.array([products(C * variances, C) for variances in mixture.variances])
    else:
        covariances = np.array([products(products(C, covariance), C) for covariance in mixture.covariances])
    return np.asarray((covariances + covariances.transpose(0, 2, 1)) / 2)
