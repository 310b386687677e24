"""`gaussian_mixture_by_passes`: a Gaussian mixture of a table in batches, from a start on a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._threads import one_blas_thread
from boxwood._types import Floats, Indices
from boxwood._validation import refuse_unknown
from boxwood.errors import DataError
from boxwood.loops.gaussians import add_expected, deviations
from boxwood.passes._batches import Batches, Block
from boxwood.passes._exact import ExactSum
from boxwood.passes._k_means import first_look, start_on
from boxwood.passes._labelling import Labelling
from boxwood.passes._means import grid_of
from boxwood.passes._overview import Overview
from boxwood.reference._sums import Grid, rounded

__all__ = ["LikeliestComponent", "gaussian_mixture_by_passes"]

MAX_PASSES, MAX_STEPS = 20, 100
TOLERANCE = 1e-3  # gain in the mean log-likelihood of a row at which scikit-learn stops
RIDGE = 1e-6  # added to variances, as scikit-learn does
COVARIANCES = ("full", "diag")
LEAST_SHARE = 2.0**-80  # of a row in a component; less than that counts as nothing


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

    The start depends on the rows alone, and sums over rows are exact, so the mixture depends neither on batches nor on
    the order of the rows. It depends on the processor in its last digits. Components are numbered by weight, the
    greatest first.

    Raises
    ------
    DataError
        If values are missing or infinite, if there are fewer different rows than components, or if a component shrinks
        to a point.
    """
    refuse_unknown("covariance_type", covariance_type, COVARIANCES)
    batches = replace(batches, labelling=None, store=None)
    look = first_look(batches, n_components)
    overview, sample = look.overview, look.sample
    block = Block(sample.values, sample.labels, sample.weights)
    of_sample = Scale.of(overview, Grid.of(sample.weights > 0, sample.weights))

    def on_sample(components: _Components) -> _Expected:
        expected = _Expected(components, of_sample)
        expected.update(block)
        return expected

    labels = start_on(sample, n_components, random_state).labels_
    start = _of_labels(block, labels, covariance_type == "full", of_sample)
    near, *_ = _climb(start, on_sample, MAX_STEPS)
    return _climbed(batches, near, Scale.of(overview, grid_of(batches, overview)), covariance_type, max_passes)


def _climbed(batches: Batches, start: _Components, scale: Scale, covariance_type: str, max_passes: int) -> Any:
    from sklearn.mixture import GaussianMixture

    def on_all_rows(components: _Components) -> _Expected:
        return batches.fold(partial(_Expected, components, scale))

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

    @property
    def is_full(self) -> bool:
        """Whether covariances are matrices."""
        return self.roots.ndim == 3

    def log_densities(self, rows: Floats) -> Floats:
        """Return the logarithm of each component's weight times its density, shape (n, k); each row's by itself."""
        (k, d), is_full = self.means.shape, self.is_full
        squares = np.empty((len(rows), k))
        deviations(np.ascontiguousarray(rows), self.means, self.roots.reshape(k, -1, d), is_full, squares)
        diagonals = np.diagonal(self.roots, axis1=1, axis2=2) if is_full else self.roots
        with np.errstate(divide="ignore"):
            offsets = np.log(diagonals).sum(axis=1) + np.log(self.weights) - 0.5 * d * np.log(2 * np.pi)
        return np.asarray(offsets - 0.5 * squares)


class Scale(NamedTuple):
    """What makes sums over rows exact: powers of two that bring differences of rows to at most 1, and the grid."""

    factors: Floats  # (d,)
    grid: Grid

    @classmethod
    def of(cls, overview: Overview, grid: Grid) -> Scale:
        """Return the scale for rows that an overview tells of, all in one cluster."""
        with np.errstate(over="ignore"):
            width = np.minimum(overview.most[0] - overview.least[0], np.finfo(np.float64).max)
        return cls(np.ldexp(1.0, -np.clip(np.frexp(width)[1] + 1, -1022, 1024)), grid)


class _Expected:
    """What EM expects of the rows under some components: weights, and sums about the means of the components."""

    def __init__(self, components: _Components, scale: Scale) -> None:
        k, d = components.means.shape
        self.components, self.scale, self.units = components, scale, scale.grid.units()
        self.log_likelihood = ExactSum()
        self.sums = np.zeros((k, len(self.units), 1 + d + (d * (d + 1) // 2 if components.is_full else d)))

    def update(self, block: Block) -> None:
        values, _, weights = block
        logs = self.components.log_densities(values)
        largest = logs.max(axis=1, keepdims=True)
        shares = np.exp(logs - largest)
        totals = np.zeros((len(values), 1))
        for c in range(shares.shape[1]):  # one after the other: the order of numpy depends on how many rows there are
            totals[:, 0] += shares[:, c]
        shares /= totals
        shares[shares < LEAST_SHARE] = 0.0
        likely = (largest + np.log(totals))[:, 0]
        self.log_likelihood.add(likely if weights is None else weights * likely)
        self.add(values, shares if weights is None else shares * weights[:, None])

    def add(self, values: Floats, shares: Floats) -> None:
        """Add rows with given shares."""
        shares = shares * self.scale.grid.scale
        means, factors, is_full = self.components.means, self.scale.factors, self.components.is_full
        add_expected(np.ascontiguousarray(values), shares, means, factors, is_full, self.units, self.sums)

    def merge(self, other: _Expected) -> None:
        self.log_likelihood.merge(other.log_likelihood)
        self.sums += other.sums

    @cached_property
    def found(self) -> tuple[Floats, Floats, Floats]:
        """Weights of the components (k,), sums of gaps (k, d), and of products of gaps, (k, d, d) or (k, d)."""
        k, d = self.components.means.shape
        sums, factors = np.ldexp(rounded(self.sums), self.scale.grid.weight_exponent), self.scale.factors
        weights, first, products = sums[:, 0], sums[:, 1 : 1 + d] / factors, sums[:, 1 + d :]
        if not self.components.is_full:
            return weights, first, products / factors / factors
        second = np.empty((k, d, d))
        i, j = np.tril_indices(d)
        second[:, i, j] = second[:, j, i] = products / factors[i] / factors[j]
        return weights, first, second

    @property
    def likelihood(self) -> float:
        """Mean logarithm of the density of a row."""
        return float(self.log_likelihood.value / self.found[0].sum())

    def next(self) -> _Components:
        """Return the components that are likeliest under these expectations."""
        weights, first, second = self.found
        total = weights + 10 * np.finfo(np.float64).eps  # as scikit-learn does, for components without rows
        shift = first / total[:, None]
        weights = total / total.sum()
        if second.ndim == 2:
            variances = second / total[:, None] - np.square(shift) + RIDGE
            return _Components(weights, self.components.means + shift, variances, _roots(variances))
        covariances = second / total[:, None, None] - shift[:, :, None] * shift[:, None, :]
        covariances += RIDGE * np.eye(covariances.shape[1])
        return _Components(weights, self.components.means + shift, covariances, _roots(covariances))


def _of_labels(block: Block, labels: Indices, full: bool, scale: Scale) -> _Components:
    """Return the components of the clusters of some rows."""
    values, _, weights = block
    k, d = int(labels.max()) + 1, values.shape[1]
    assert weights is not None
    shares = np.zeros((len(values), k))
    shares[np.arange(len(values)), labels] = weights
    with one_blas_thread():
        means = shares.T @ values / shares.sum(axis=0)[:, None]  # near the means, from which sums are then taken
    shape = (k, d, d) if full else (k, d)
    expected = _Expected(_Components(np.full(k, 1 / k), means, np.zeros(shape), np.zeros(shape)), scale)
    expected.add(values, shares)
    return expected.next()


def _roots(covariances: Floats) -> Floats:
    """Return roots of the inverses: upper triangles R with R R' = C⁻¹, or inverse standard deviations."""
    if covariances.ndim == 2:
        if not (covariances > 0).all():
            raise DataError(_SHRUNK)
        return np.asarray(1 / np.sqrt(covariances))
    try:
        with one_blas_thread():
            lower = np.linalg.cholesky(covariances)
            return np.linalg.inv(lower).transpose(0, 2, 1).copy()
    except np.linalg.LinAlgError:
        raise DataError(_SHRUNK) from None


_SHRUNK = "a component of the mixture shrinks to a point; ask for fewer components, or covariance_type='diag'"
