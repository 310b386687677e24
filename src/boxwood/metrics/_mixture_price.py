"""The price of explainability of a mixture: the expected cost of a tree divided by that of the components' means."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import as_generator, shown, whole_number
from boxwood.metrics._checks import in_components
from boxwood.metrics._mixture_boxes import (
    Moment,
    Reach,
    absolute_moment,
    density_at,
    draw,
    has_independent_axes,
    mean_moment,
    moments_in,
    probability_below,
    reaches,
    squared_moment,
)
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.tree import ThresholdTree

__all__ = ["MixturePrice", "mixture_price", "ratio_of_means"]

_SAMPLES = 100_000
_DEFAULT_CENTERS = {"l1": "median", "sqeuclidean": "mean", "l2": "reference"}
_NEGLIGIBLE = 1e-10  # fraction of a cluster's mass; near a median, an error of the mass changes the cost by its square
_STEPS = 200


class MixturePrice(NamedTuple):
    """Price of explainability of a mixture; `standard_error` is that of the sample, and 0 if `exact`."""

    value: float
    standard_error: float
    exact: bool


def mixture_price(
    mixture: Mixture,
    tree: ThresholdTree,
    *,
    objective: str = "l1",
    centers: str | None = None,
    n_samples: int | None = None,
    random_state: Any = None,
) -> MixturePrice:
    """Return the price of explainability of a Gaussian mixture: the cost of its tree divided by its own cost.

    It is E|x - centre of the cluster of x's leaf| / E|x - mean of x's component|. The divisor belongs to the mixture
    itself and not to its best clustering, so the price may be below 1; it is never clipped.

    Parameters
    ----------
    mixture : Mixture
        Components, taken as Gaussians.
    tree : ThresholdTree
        Tree whose clusters are the components; leaves that share a cluster share a centre.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Distance of a row to its centre.
    centers : {"median", "mean", "reference"}, default=None
        Centre of a cluster: the coordinate medians or the means of the rows in its leaves, or ("reference") the mean of
        its component, as in the papers' bounds. None takes the centres of least cost, medians for "l1" and means for
        "sqeuclidean"; for "l2" it takes "reference".
    n_samples : int, default=None
        Number of rows to draw for an estimate. None computes the exact price where that is possible: for "l1" and
        "sqeuclidean", if the axes of each component are independent. Otherwise it draws 100 000 rows.
    random_state : int, Generator, RandomState or None, default=None
        Source of the rows that are drawn.

    Returns
    -------
    MixturePrice
        `value` has no unit. It is 1 if both costs are 0, and infinite if only the mixture's own cost is 0. The standard
        error is that of a ratio of two means over the same rows.

    Raises
    ------
    DataError
        If the tree tests a column or has a cluster that the mixture does not have.
    ValueError
        If `objective` or `centers` is unknown, or `n_samples` is less than 1.

    Notes
    -----
    Independent axes stay independent within a box, so the exact costs are sums of moments of truncated normals. With L
    leaves, they take time L k d and memory k d. Medians take between 5 and 40 steps of the same cost; their error
    changes the price by rounding only. Sampling takes time and memory `n_samples` times d.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Definition 1 and
    Appendix A.3; the same, "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations",
    Appendix F (l2).

    Examples
    --------
    >>> from boxwood import Mixture, ThresholdTree
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> price = mixture_price(Mixture([0.5, 0.5], [[-1], [1]], [[1], [1]]), tree, centers="reference")
    >>> round(price.value, 7), price.exact
    (0.8124421, True)
    """
    centers = _checked(objective, centers)
    tree = in_components(mixture, tree)
    if n_samples is not None:
        whole_number("n_samples", n_samples, 1)
    independent = has_independent_axes(mixture)
    if independent and objective != "l2" and n_samples is None:
        cost = _exact_cost(mixture, tree, objective, _centers(mixture, tree, centers))
        return MixturePrice(ratio(max(cost, 0.0), _reference_cost(mixture, objective)), 0.0, True)
    X, labels = draw(mixture, n_samples or _SAMPLES, as_generator(random_state))
    clusters = tree.predict(X)
    if independent or centers == "reference":
        points = _centers(mixture, tree, centers)
    else:
        points = _centers_of_rows(X, clusters, mixture.means, centers)
    return ratio_of_means(_distance(X, points[clusters], objective), _distance(X, mixture.means[labels], objective))


def _checked(objective: str, centers: str | None) -> str:
    if objective not in _DEFAULT_CENTERS:
        raise ValueError(f"objective must be 'l1', 'sqeuclidean' or 'l2', got {shown(objective)}")
    if centers is None:
        return _DEFAULT_CENTERS[objective]
    if centers not in ("median", "mean", "reference"):
        raise ValueError(f"centers must be 'median', 'mean', 'reference' or None, got {shown(centers)}")
    return centers


# ------------------------------------------------------------------------------------------------------- exact


def _reference_cost(mixture: Mixture, objective: str) -> float:
    if objective == "sqeuclidean":
        return float(mixture.weights @ mixture.variances.sum(axis=1))
    return float(mixture.weights @ np.sqrt(2 / np.pi * mixture.variances).sum(axis=1))


def _exact_cost(mixture: Mixture, tree: ThresholdTree, objective: str, centers: Floats) -> float:
    moment = absolute_moment if objective == "l1" else squared_moment
    total = 0.0
    for leaf in reaches(mixture, tree):
        weights = mixture.weights * leaf.probability
        kept = np.flatnonzero(weights)
        total += float(weights[kept] @ moments_in(leaf, mixture, kept, moment, centers[leaf.cluster]).sum(axis=1))
    return total


def _centers(mixture: Mixture, tree: ThresholdTree, centers: str) -> Floats:
    """Return the centre of each cluster, shape (k, d); for a cluster without rows it is the mean of its component."""
    result = mixture.means.copy()
    if centers == "reference":
        return result
    by_cluster: dict[int, list[Reach]] = {}
    for leaf in reaches(mixture, tree):
        by_cluster.setdefault(leaf.cluster, []).append(leaf)
    for cluster, leaves in by_cluster.items():
        members = _members(mixture, leaves)
        if members:
            result[cluster] = (_median if centers == "median" else _mean)(mixture, members)
    return result


class _Members(NamedTuple):
    """A leaf, the components with more than negligible mass in it, and these masses."""

    leaf: Reach
    kept: Indices
    masses: Floats


def _members(mixture: Mixture, leaves: list[Reach]) -> list[_Members]:
    """Return the leaves of one cluster with their components. A mass is compared to that of the whole cluster."""
    masses = [mixture.weights * leaf.probability for leaf in leaves]
    least = _NEGLIGIBLE * sum(float(mass.sum()) for mass in masses) / len(mixture.weights)
    kept = [np.flatnonzero(mass > least) for mass in masses]
    return [_Members(leaf, i, mass[i]) for leaf, i, mass in zip(leaves, kept, masses, strict=True) if len(i)]


def _mean(mixture: Mixture, members: list[_Members]) -> Floats:
    zero = np.zeros(mixture.means.shape[1])
    return _summed(mixture, members, mean_moment, zero) / sum(float(masses.sum()) for *_, masses in members)


def _median(mixture: Mixture, members: list[_Members]) -> Floats:
    """Return the coordinate medians of the rows in a cluster, for all axes at once, shape (d,).

    Starts at the mean and takes Newton's steps on the distribution function. Bisects the interval that contains the
    median instead, where Newton's step would leave this interval or is more than half of the step before.
    """
    kept = np.unique(np.concatenate([kept for _, kept, _ in members]))
    means, sigma = mixture.means[kept], np.sqrt(mixture.variances[kept])
    low, high = (means - 40 * sigma).min(axis=0), (means + 40 * sigma).max(axis=0)
    tolerance = 1e-9 * np.nan_to_num(np.where(sigma > 0, sigma, np.inf).min(axis=0), posinf=0.0)
    half = sum(masses.sum() for *_, masses in members) / 2
    point, last_step = _mean(mixture, members), high - low
    for _ in range(_STEPS):
        excess = _summed(mixture, members, probability_below, point) - half
        low, high = np.where(excess < 0, point, low), np.where(excess < 0, high, point)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -excess / _summed(mixture, members, density_at, point)
        is_newton = (point + step > low) & (point + step < high) & (np.abs(step) < last_step / 2)
        step = np.where(is_newton, step, low + (high - low) / 2 - point)
        point, last_step = point + step, np.abs(step)
        if (last_step <= np.maximum(tolerance, 4e-16 * np.abs(point))).all():
            break
    return point


def _summed(mixture: Mixture, members: list[_Members], moment: Moment, point: Floats) -> Floats:
    """Return a moment along each axis, weighted by the masses and summed over components and leaves, shape (d,)."""
    total = np.zeros(len(point))
    for leaf, kept, masses in members:
        total += masses @ moments_in(leaf, mixture, kept, moment, point)
    return total


# ----------------------------------------------------------------------------------------------------- sampled


def _centers_of_rows(X: Floats, clusters: Ints, means: Floats, centers: str) -> Floats:
    result = means.copy()
    for cluster in np.unique(clusters):
        rows = X[clusters == cluster]
        result[cluster] = np.median(rows, axis=0) if centers == "median" else rows.mean(axis=0)
    return result


def _distance(X: Floats, centers: Floats, objective: str) -> Floats:
    difference = X - centers
    if objective == "l1":
        return np.asarray(np.abs(difference).sum(axis=1))
    squares = np.einsum("ij,ij->i", difference, difference)
    return np.asarray(squares if objective == "sqeuclidean" else np.sqrt(squares))


def ratio_of_means(of_tree: Floats, of_reference: Floats) -> MixturePrice:
    """Return the ratio of the means of two costs of the same rows, with its standard error."""
    value = ratio(float(of_tree.mean()), float(of_reference.mean()))
    if not np.isfinite(value) or not of_reference.any():
        return MixturePrice(value, 0.0, False)
    spread = np.std(of_tree - value * of_reference) / np.sqrt(len(of_tree))
    return MixturePrice(value, float(spread / of_reference.mean()), False)
