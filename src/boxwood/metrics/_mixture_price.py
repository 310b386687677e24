"""What a mixture loses by being explained: the expected cost of a tree over that of the components' own means."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import as_generator
from boxwood.metrics._mixture_boxes import (
    Moment,
    Reach,
    absolute_moment,
    check_mixture,
    density_at,
    draw,
    has_independent_axes,
    mean_moment,
    moments_in,
    reaches,
    share_below,
    squared_moment,
)
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.tree import ThresholdTree

__all__ = ["MixturePrice", "mixture_price"]

_SAMPLES = 100_000
_OWN_CENTERS = {"l1": "median", "sqeuclidean": "mean", "l2": "reference"}
_NEGLIGIBLE = 1e-10  # share of a cluster's mass: near a median the cost grows by the square of what is left out
_STEPS = 200


class MixturePrice(NamedTuple):
    """Price of explainability of a mixture; `standard_error` is 0 where `exact`, else that of the sample."""

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
    """Return the price of explainability of a Gaussian mixture: the cost of its tree over its own.

    That is E|x - centre of its leaf| / E|x - mean of its component|.
    The reference is the mixture itself and not its best clustering, so the price may be below 1; it is never clipped.

    Parameters
    ----------
    mixture : Mixture
        Components, taken as Gaussians.
    tree : ThresholdTree
        Tree whose clusters are the components; leaves that share a cluster share a centre.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Distance between a row and its centre.
    centers : {"median", "mean", "reference"}, default=None
        Centre of a cluster: the coordinate medians or the means of the rows in its leaves, or the mean of its component
        (which the papers' bounds speak of). None takes the median for "l1" and the mean for "sqeuclidean", which cost
        the least, and the reference for "l2".
    n_samples : int, default=None
        Number of rows to draw instead. None is exact for "l1" and "sqeuclidean" where the axes of each component are
        independent, and 100 000 rows elsewhere.
    random_state : int, Generator, RandomState or None, default=None
        Source of the rows drawn.

    Returns
    -------
    MixturePrice
        `value` has no unit: 1 where both costs are 0, infinite where only the reference's is. The standard error is
        that of a ratio of means over the same rows.

    Raises
    ------
    DataError
        If the tree tests other columns than the mixture has, or has other clusters.
    ValueError
        If objective, centers or n_samples is unknown.

    Notes
    -----
    In a box the axes stay independent, so costs are sums of moments of truncated normals. With L leaves, exact takes
    time L k d and memory k d; medians take some 5 to 40 steps over the
    components that matter in the cluster, and are as near as changes the cost by rounding only.
    Sampling takes time and memory `n_samples` times d.

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
    check_mixture(mixture, tree)
    if n_samples is not None and n_samples < 1:
        raise ValueError(f"n_samples must be at least 1, got {n_samples}")
    independent = has_independent_axes(mixture)
    if independent and objective != "l2" and n_samples is None:
        cost = _exact_cost(mixture, tree, objective, _centers(mixture, tree, centers))
        return MixturePrice(ratio(max(cost, 0.0), _reference_cost(mixture, objective)), 0.0, True)
    X, labels = draw(mixture, n_samples or _SAMPLES, as_generator(random_state))
    clusters = tree.predict(X)
    if independent or centers == "reference":
        at = _centers(mixture, tree, centers)
    else:
        at = _centers_of_rows(X, clusters, mixture.means, centers)
    return _sampled(_distance(X, at[clusters], objective), _distance(X, mixture.means[labels], objective))


def _checked(objective: str, centers: str | None) -> str:
    if objective not in _OWN_CENTERS:
        raise ValueError(f"objective must be 'l1', 'sqeuclidean' or 'l2', got {objective!r}")
    if centers is None:
        return _OWN_CENTERS[objective]
    if centers not in ("median", "mean", "reference"):
        raise ValueError(f"centers must be 'median', 'mean', 'reference' or None, got {centers!r}")
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
    """Return the centre of each cluster, shape (k, d); a cluster that no row falls in keeps its component's mean."""
    result = mixture.means.copy()
    if centers == "reference":
        return result
    by_cluster: dict[int, list[Reach]] = {}
    for leaf in reaches(mixture, tree):
        by_cluster.setdefault(leaf.cluster, []).append(leaf)
    for cluster, leaves in by_cluster.items():
        people = _people(mixture, leaves)
        if people:
            result[cluster] = (_median if centers == "median" else _mean)(mixture, people)
    return result


class _People(NamedTuple):
    """The components with rows in a leaf that matter in its cluster, and their masses there."""

    leaf: Reach
    kept: Indices
    masses: Floats


def _people(mixture: Mixture, leaves: list[Reach]) -> list[_People]:
    masses = [mixture.weights * leaf.probability for leaf in leaves]
    least = _NEGLIGIBLE * sum(float(mass.sum()) for mass in masses) / len(mixture.weights)
    kept = [np.flatnonzero(mass > least) for mass in masses]
    return [_People(leaf, i, mass[i]) for leaf, i, mass in zip(leaves, kept, masses, strict=True) if len(i)]


def _mean(mixture: Mixture, people: list[_People]) -> Floats:
    zero = np.zeros(mixture.means.shape[1])
    return _summed(mixture, people, mean_moment, zero) / sum(float(masses.sum()) for *_, masses in people)


def _median(mixture: Mixture, people: list[_People]) -> Floats:
    """Return the coordinate medians of the rows in a cluster, for all axes at once, shape (d,).

    Newton's steps on the distribution function from the mean, or half the interval that holds the median where a step
    leaves it or does not halve the one before.
    """
    kept = np.unique(np.concatenate([kept for _, kept, _ in people]))
    means, sigma = mixture.means[kept], np.sqrt(mixture.variances[kept])
    low, high = (means - 40 * sigma).min(axis=0), (means + 40 * sigma).max(axis=0)
    near = 1e-9 * np.nan_to_num(np.where(sigma > 0, sigma, np.inf).min(axis=0), posinf=0.0)
    half = sum(masses.sum() for *_, masses in people) / 2
    at, last = _mean(mixture, people), high - low
    for _ in range(_STEPS):
        below = _summed(mixture, people, share_below, at) - half
        low, high = np.where(below < 0, at, low), np.where(below < 0, high, at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -below / _summed(mixture, people, density_at, at)
        newton = (at + step > low) & (at + step < high) & (np.abs(step) < last / 2)
        step = np.where(newton, step, low + (high - low) / 2 - at)
        at, last = at + step, np.abs(step)
        if (last <= np.maximum(near, 4e-16 * np.abs(at))).all():
            break
    return at


def _summed(mixture: Mixture, people: list[_People], moment: Moment, at: Floats) -> Floats:
    """Return the moments of each axis, weighted by the masses, shape (d,)."""
    total = np.zeros(len(at))
    for leaf, kept, masses in people:
        total += masses @ moments_in(leaf, mixture, kept, moment, at)
    return total


# ----------------------------------------------------------------------------------------------------- sampled


def _centers_of_rows(X: Floats, clusters: Ints, means: Floats, centers: str) -> Floats:
    result = means.copy()
    for cluster in np.unique(clusters):
        rows = X[clusters == cluster]
        result[cluster] = np.median(rows, axis=0) if centers == "median" else rows.mean(axis=0)
    return result


def _distance(X: Floats, centers: Floats, objective: str) -> Floats:
    apart = X - centers
    if objective == "l1":
        return np.asarray(np.abs(apart).sum(axis=1))
    squares = np.einsum("ij,ij->i", apart, apart)
    return np.asarray(squares if objective == "sqeuclidean" else np.sqrt(squares))


def _sampled(of_tree: Floats, of_reference: Floats) -> MixturePrice:
    value = ratio(float(of_tree.mean()), float(of_reference.mean()))
    if not np.isfinite(value) or not of_reference.any():
        return MixturePrice(value, 0.0, False)
    spread = np.std(of_tree - value * of_reference) / np.sqrt(len(of_tree))
    return MixturePrice(value, float(spread / of_reference.mean()), False)
