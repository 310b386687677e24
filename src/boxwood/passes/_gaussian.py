"""`gaussian_mixture_by_passes`: a Gaussian mixture of a table in batches, from a start on a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from boxwood._threads import one_blas_thread
from boxwood._types import Floats, Indices
from boxwood._validation import refuse_unknown
from boxwood.errors import DataError
from boxwood.passes._batches import Batches, Block
from boxwood.passes._k_means import first_look, start_on
from boxwood.passes._labelling import Labelling

__all__ = ["LikeliestComponent", "gaussian_mixture_by_passes"]

MAX_PASSES, MAX_STEPS = 20, 100
TOLERANCE = 1e-3  # gain in the mean log-likelihood of a row at which scikit-learn stops
RIDGE = 1e-6  # added to variances, as scikit-learn does
COVARIANCES = ("full", "diag")


@dataclass(frozen=True, eq=False)
class LikeliestComponent(Labelling):
    """Each row belongs to its likeliest component of a fitted Gaussian mixture, the first of equally likely ones.

    Parameters
    ----------
    mixture : GaussianMixture
        Fitted, with full or diagonal covariances.
    """

    mixture: Any

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the likeliest component of each row."""
        assert rows is not None
        return np.asarray(_Components.of(self.mixture).log_densities(rows).argmax(axis=1), dtype=np.intp)


def gaussian_mixture_by_passes(
    batches: Batches,
    n_components: int,
    *,
    covariance_type: str = "full",
    random_state: Any = 0,
    max_passes: int = MAX_PASSES,
) -> Any:
    """Return a fitted `GaussianMixture` of scikit-learn with the likeliest parameters that EM finds.

    One pass takes a sample. EM begins there with the clusters of k-means, and goes on with all rows, a pass for each
    step, until the mean log-likelihood of a row gains less than 0.001, or after `max_passes`. `n_iter_` counts these
    passes. Rows count with their weights.

    The start depends on the rows alone. The sums of the passes are sums of floats, so the last digits of the parameters
    depend on the order in which batches are added, and so may the component of a row between two that are as likely.
    Components are numbered by weight, the greatest first.

    Raises
    ------
    DataError
        If values are missing or infinite, if there are fewer different rows than components, or if a component shrinks
        to a point.
    """
    refuse_unknown("covariance_type", covariance_type, COVARIANCES)
    batches = replace(batches, labelling=None, store=None)
    sample = first_look(batches, n_components).sample
    block = Block(sample.values, sample.labels, sample.weights)

    def on_sample(components: _Components) -> _Expected:
        expected = _Expected(components)
        expected.update(block)
        return expected

    labels = start_on(sample, n_components, random_state).labels_
    start = _of_labels(block, labels, covariance_type == "full")
    near, *_ = _climb(start, on_sample, MAX_STEPS)
    return _climbed(batches, near, covariance_type, max_passes)


def _climbed(batches: Batches, start: _Components, covariance_type: str, max_passes: int) -> Any:
    from sklearn.mixture import GaussianMixture

    def on_all_rows(components: _Components) -> _Expected:
        return batches.fold(partial(_Expected, components))

    found, likelihood, n_passes, converged = _climb(start, on_all_rows, max_passes)
    found = found.largest_first()
    fitted = GaussianMixture(len(found.weights), covariance_type=covariance_type)
    fitted.weights_, fitted.means_, fitted.covariances_ = found.weights, found.means, found.covariances
    fitted.precisions_cholesky_ = found.roots
    is_full = covariance_type == "full"
    fitted.precisions_ = found.roots @ found.roots.transpose(0, 2, 1) if is_full else np.square(found.roots)
    fitted.converged_, fitted.n_iter_, fitted.lower_bound_ = converged, n_passes, likelihood
    fitted.n_features_in_ = found.means.shape[1]
    return fitted


def _climb(
    components: _Components, look: Callable[[_Components], _Expected], max_steps: int
) -> tuple[_Components, float, int, bool]:
    """Return better components, the mean log-likelihood before the last step, the steps, and whether it rests."""
    before = -np.inf
    for step in range(1, max_steps + 1):
        expected = look(components)
        components, likelihood = expected.next(), expected.likelihood
        if likelihood - before < TOLERANCE:
            return components, likelihood, step, True
        before = likelihood
    return components, likelihood, max_steps, False


@dataclass(frozen=True, eq=False)
class _Components:
    """Gaussians: weights (k,), means (k, d), covariances and roots of their inverses, (k, d, d) or diagonals (k, d)."""

    weights: Floats
    means: Floats
    covariances: Floats
    roots: Floats

    @classmethod
    def of(cls, fitted: Any) -> _Components:
        return cls(fitted.weights_, fitted.means_, fitted.covariances_, fitted.precisions_cholesky_)

    def largest_first(self) -> _Components:
        order = np.argsort(-self.weights, kind="stable")
        return _Components(self.weights[order], self.means[order], self.covariances[order], self.roots[order])

    def deviations(self, rows: Floats, c: int) -> Floats:
        """Return rows about a mean, in axes and units in which the Gaussian is a standard one."""
        gaps = rows - self.means[c]
        return np.asarray(gaps @ self.roots[c] if self.roots.ndim == 3 else gaps * self.roots[c])

    def log_densities(self, rows: Floats) -> Floats:
        """Return the logarithm of each component's weight times its density, shape (n, k)."""
        logs = np.empty((len(rows), len(self.weights)))
        for c in range(len(self.weights)):
            diagonal = np.diagonal(self.roots[c]) if self.roots.ndim == 3 else self.roots[c]
            logs[:, c] = -0.5 * np.square(self.deviations(rows, c)).sum(axis=1) + np.log(diagonal).sum()
        with np.errstate(divide="ignore"):
            return np.asarray(logs + np.log(self.weights) - 0.5 * rows.shape[1] * np.log(2 * np.pi))


class _Expected:
    """What EM expects of the rows under some components: weights, and sums about the means of the components."""

    def __init__(self, components: _Components) -> None:
        k, d = components.means.shape
        self.components = components
        self.log_likelihood, self.weights = 0.0, np.zeros(k)
        self.first, self.second = np.zeros((k, d)), np.zeros(components.covariances.shape)

    def update(self, block: Block) -> None:
        values, _, weights = block
        with one_blas_thread():
            logs = self.components.log_densities(values)
            largest = logs.max(axis=1, keepdims=True)
            shares = np.exp(logs - largest)
            totals = shares.sum(axis=1, keepdims=True)
            shares /= totals
            counted = np.ones(len(values)) if weights is None else weights
            self.log_likelihood += float((counted * (largest + np.log(totals))[:, 0]).sum())
            self._add(values, shares * counted[:, None])

    def _add(self, values: Floats, shares: Floats) -> None:
        self.weights += shares.sum(axis=0)
        for c, mean in enumerate(self.components.means):
            gaps = values - mean
            weighted = gaps * shares[:, c, None]
            self.first[c] += weighted.sum(axis=0)
            self.second[c] += weighted.T @ gaps if self.second.ndim == 3 else (weighted * gaps).sum(axis=0)

    def merge(self, other: _Expected) -> None:
        self.log_likelihood += other.log_likelihood
        self.weights += other.weights
        self.first += other.first
        self.second += other.second

    @property
    def likelihood(self) -> float:
        """Mean logarithm of the density of a row."""
        return float(self.log_likelihood / self.weights.sum())

    def next(self) -> _Components:
        """Return the components that are likeliest under these expectations."""
        total = self.weights + 10 * np.finfo(np.float64).eps  # as scikit-learn does, for components without rows
        shift = self.first / total[:, None]
        weights = total / total.sum()
        if self.second.ndim == 2:
            variances = self.second / total[:, None] - np.square(shift) + RIDGE
            return _Components(weights, self.components.means + shift, variances, _roots(variances))
        covariances = self.second / total[:, None, None] - shift[:, :, None] * shift[:, None, :]
        covariances += RIDGE * np.eye(covariances.shape[1])
        return _Components(weights, self.components.means + shift, covariances, _roots(covariances))


def _of_labels(block: Block, labels: Indices, full: bool) -> _Components:
    """Return the components of the clusters of some rows."""
    values, _, weights = block
    k, d = int(labels.max()) + 1, values.shape[1]
    assert weights is not None
    shares = np.zeros((len(values), k))
    shares[np.arange(len(values)), labels] = weights
    means = shares.T @ values / shares.sum(axis=0)[:, None]  # near the means, from which sums are then taken
    shape = (k, d, d) if full else (k, d)
    expected = _Expected(_Components(np.full(k, 1 / k), means, np.zeros(shape), np.zeros(shape)))
    expected._add(values, shares)
    return expected.next()


def _roots(covariances: Floats) -> Floats:
    """Return roots of the inverses: upper triangles R with R R' = C⁻¹, or inverse standard deviations."""
    if covariances.ndim == 2:
        if not (covariances > 0).all():
            raise DataError(_SHRUNK)
        return np.asarray(1 / np.sqrt(covariances))
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        raise DataError(_SHRUNK) from None
    return np.linalg.inv(lower).transpose(0, 2, 1).copy()


_SHRUNK = "a component of the mixture shrinks to a point; ask for fewer components, or covariance_type='diag'"
