"""A mixture of embeddings seen along concepts, and the pairs of its components that concepts tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood.errors import DataError
from boxwood.reference import Mixture

__all__ = ["project"]


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
    return Mixture(mixture.weights, mixture.means @ C.T + b, variances, mixture.names, covariances=covariances)


def _checked(mixture: Mixture, vectors: ArrayLike, intercepts: ArrayLike | None) -> tuple[Floats, Floats]:
    C = np.asarray(vectors, dtype=np.float64)
    if C.ndim != 2 or C.shape[1] != mixture.n_features or not np.isfinite(C).all():
        raise DataError(f"vectors must be finite, of shape (m, {mixture.n_features}), got shape {C.shape}")
    b = np.zeros(len(C)) if intercepts is None else np.asarray(intercepts, dtype=np.float64)
    if b.shape != (len(C),) or not np.isfinite(b).all():
        raise DataError(f"intercepts must be finite, one for each of {len(C)} vectors, got shape {b.shape}")
    return C, b


def _projected(mixture: Mixture, C: Floats) -> Floats:
    """Return C Σ Cᵀ of each component, shape (k, m, m), the same on both sides of the diagonal."""
    if mixture.covariances is None:
        covariances = np.array([(C * variances) @ C.T for variances in mixture.variances])
    else:
        covariances = np.array([C @ covariance @ C.T for covariance in mixture.covariances])
    return np.asarray((covariances + covariances.transpose(0, 2, 1)) / 2)
