"""`project`: a mixture of embeddings becomes a mixture of concept scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_numbers
from boxwood.errors import DataError
from boxwood.loops.kernels import products
from boxwood.reference import Mixture
from boxwood.reference._mixture import refuse_no_mixture

__all__ = ["project"]


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
    C, b = _checked(mixture, vectors, intercepts)
    with np.errstate(over="ignore", invalid="ignore"):  # what is no longer finite is refused
        covariances = _projected(mixture, C)
    variances = np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0)
    each = np.arange(len(C))
    covariances[:, each, each] = variances
    means, law = products(mixture.means, C) + b, "gaussian" if mixture.law == "gaussian" else None
    return Mixture(mixture.weights, means, variances, mixture.names, covariances=covariances, law=law)


def _checked(mixture: Mixture, vectors: ArrayLike, intercepts: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return vectors, shape (m, d), and intercepts, shape (m,)."""
    refuse_no_mixture(mixture)
    C = as_numbers("vectors", vectors)
    if C.ndim != 2 or C.shape[1] != mixture.n_features or not np.isfinite(C).all():
        raise DataError(f"vectors must be finite numbers of shape (m, {mixture.n_features}), got shape {C.shape}")
    b = np.zeros(len(C)) if intercepts is None else as_numbers("intercepts", intercepts)
    if b.shape != (len(C),) or not np.isfinite(b).all():
        raise DataError(f"intercepts must be one finite number for each of {len(C)} vectors, got shape {b.shape}")
    return C, b


def _projected(mixture: Mixture, C: Floats) -> Floats:
    """Return C Σ Cᵀ of each component, shape (k, m, m), exactly symmetric."""
    if mixture.covariances is None:
        covariances = np.array([products(C * variances, C) for variances in mixture.variances])
    else:
        covariances = np.array([products(products(C, covariance), C) for covariance in mixture.covariances])
    return np.asarray((covariances + covariances.transpose(0, 2, 1)) / 2)
