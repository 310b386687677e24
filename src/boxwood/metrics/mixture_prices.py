"""The price of explainability and the error rate of a tree on a mixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import as_generator, show_value, whole_number
from boxwood.metrics.checks import in_components
from boxwood.metrics.costs import ratio
from boxwood.reference import Mixture
from boxwood.tree import Interval, ThresholdTree

_SAMPLES = 100_000
_DEFAULT_CENTERS = {"l1": "median", "sqeuclidean": "mean", "l2": "reference"}
_NEGLIGIBLE = 1e-10  # fraction of a cluster's mass; near a median, the error of the cost is of the order of its square
_STEPS = 200


class MixturePrice(NamedTuple):
    """Price of explainability of a mixture; `standard_error` is due to sampling, and 0 if `exact`."""

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
    centers = _check_options(objective, centers)
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


def _check_options(objective: str, centers: str | None) -> str:
    if objective not in _DEFAULT_CENTERS:
        raise ValueError(f"objective must be 'l1', 'sqeuclidean' or 'l2', got {show_value(objective)}")
    if centers is None:
        return _DEFAULT_CENTERS[objective]
    if centers not in ("median", "mean", "reference"):
        raise ValueError(f"centers must be 'median', 'mean', 'reference' or None, got {show_value(centers)}")
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
        present = np.flatnonzero(weights)
        total += float(
            weights[present] @ leaf_moments(leaf, mixture, present, moment, centers[leaf.cluster]).sum(axis=1)
        )
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
    components: Indices
    masses: Floats


def _members(mixture: Mixture, leaves: list[Reach]) -> list[_Members]:
    """Return the leaves of one cluster with their components of more than negligible share in the cluster's mass."""
    masses = [mixture.weights * leaf.probability for leaf in leaves]
    least = _NEGLIGIBLE * sum(float(mass.sum()) for mass in masses) / len(mixture.weights)
    components = [np.flatnonzero(mass > least) for mass in masses]
    return [_Members(leaf, i, mass[i]) for leaf, i, mass in zip(leaves, components, masses, strict=True) if len(i)]


def _mean(mixture: Mixture, members: list[_Members]) -> Floats:
    zero = np.zeros(mixture.means.shape[1])
    return _sum_moments(mixture, members, mean_moment, zero) / sum(float(masses.sum()) for *_, masses in members)


def _median(mixture: Mixture, members: list[_Members]) -> Floats:
    """Return the coordinate medians of the rows in a cluster, for all axes at once, shape (d,).

    Starts at the mean and takes Newton's steps on the distribution function. Bisects the interval that contains the
    median instead, where Newton's step would leave this interval or is more than half of the step before.
    """
    components = np.unique(np.concatenate([components for _, components, _ in members]))
    means, sigma = mixture.means[components], np.sqrt(mixture.variances[components])
    low, high = (means - 40 * sigma).min(axis=0), (means + 40 * sigma).max(axis=0)
    tolerance = 1e-9 * np.nan_to_num(np.where(sigma > 0, sigma, np.inf).min(axis=0), posinf=0.0)
    half = sum(masses.sum() for *_, masses in members) / 2
    point, last_step = _mean(mixture, members), high - low
    for _ in range(_STEPS):
        excess = _sum_moments(mixture, members, probability_below, point) - half
        low, high = np.where(excess < 0, point, low), np.where(excess < 0, high, point)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -excess / _sum_moments(mixture, members, density_at, point)
        is_newton = (point + step > low) & (point + step < high) & (np.abs(step) < last_step / 2)
        step = np.where(is_newton, step, low + (high - low) / 2 - point)
        point, last_step = point + step, np.abs(step)
        if (last_step <= np.maximum(tolerance, 4e-16 * np.abs(point))).all():
            break
    return point


def _sum_moments(mixture: Mixture, members: list[_Members], moment: Moment, point: Floats) -> Floats:
    """Return a moment along each axis, weighted by the masses and summed over components and leaves, shape (d,)."""
    total = np.zeros(len(point))
    for leaf, components, masses in members:
        total += masses @ leaf_moments(leaf, mixture, components, moment, point)
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


_SAMPLES_OF_ERROR = 200_000


class ErrorRate(NamedTuple):
    """Fraction of rows in a leaf of another component; `standard_error` is due to sampling, and 0 if `exact`."""

    value: float
    standard_error: float
    exact: bool


def error_rate(
    mixture: Mixture, tree: ThresholdTree, *, n_samples: int | None = None, random_state: Any = None
) -> ErrorRate:
    """Return the fraction of rows of a Gaussian mixture that the tree labels with another component than their own.

    The result is exact if the axes of each component are independent: the probability of a box is then a product of
    interval probabilities. The probabilities of wrong leaves are added, rather than those of right leaves subtracted
    from 1. So an error of 1e-30 is as accurate as one of 0.3.

    Parameters
    ----------
    mixture : Mixture
        Components, taken as Gaussians. A component without variance along an axis has all rows at its mean there.
    tree : ThresholdTree
        Tree whose clusters are the components. Interval cuts and several leaves for one component are allowed.
    n_samples : int, default=None
        Number of rows to draw for an estimate. None computes the exact rate for independent axes, and draws 200 000
        rows for correlated ones.
    random_state : int, Generator, RandomState or None, default=None
        Source of the rows that are drawn.

    Returns
    -------
    ErrorRate
        `value`, `standard_error` and `exact`. The standard error of a sample is that of the rate (errors + 1) /
        (rows + 2), so it is never 0.

    Raises
    ------
    DataError
        If the tree tests a column or has a cluster that the mixture does not have.
    ValueError
        If `n_samples` is less than 1.

    Notes
    -----
    With L leaves and m columns on a path, the exact rate takes time L m k and memory m k. Sampling takes time and
    memory `n_samples` times d, or d² for correlated axes.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 2.3.

    Examples
    --------
    >>> from boxwood import Mixture, ThresholdTree
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> error_rate(Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]]), tree)
    ErrorRate(value=0.022750131948179195, standard_error=0.0, exact=True)
    """
    tree = in_components(mixture, tree)
    if n_samples is None and has_independent_axes(mixture):
        return ErrorRate(_exact_error(mixture, tree), 0.0, True)
    n = _SAMPLES_OF_ERROR if n_samples is None else whole_number("n_samples", n_samples, 1)
    X, labels = draw(mixture, n, as_generator(random_state))
    errors = int(np.count_nonzero(tree.predict(X) != labels))
    rate = (errors + 1) / (n + 2)
    return ErrorRate(errors / n, float(np.sqrt(rate * (1 - rate) / n)), False)


def _exact_error(mixture: Mixture, tree: ThresholdTree) -> float:
    wrong = np.zeros(len(mixture.weights))
    for leaf in reaches(mixture, tree):
        others = np.arange(len(wrong)) != leaf.cluster
        wrong[others] += leaf.probability[others]
    return min(1.0, float(mixture.weights @ wrong))


Moment: TypeAlias = Callable[[Floats, Floats, Floats, Floats, Floats], Floats]
"""A moment of a normal variable on a piece: a function of low, high (in standard units), mean, sigma and a point."""


def has_independent_axes(mixture: Mixture) -> bool:
    """Return whether all covariances between axes are 0 or absent, so that probabilities of intervals multiply."""
    if mixture.covariances is None:
        return True
    diagonal = np.eye(mixture.means.shape[1], dtype=bool)
    return not np.any(mixture.covariances[:, ~diagonal])


def draw(mixture: Mixture, n: int, rng: np.random.Generator) -> tuple[Floats, Indices]:
    """Return `n` rows of the mixture, taken as Gaussian, and the component of each row: shapes (n, d) and (n,)."""
    labels = rng.choice(len(mixture.weights), size=n, p=mixture.weights)
    X = rng.standard_normal((n, mixture.means.shape[1]))
    if has_independent_axes(mixture):
        X *= np.sqrt(mixture.variances)[labels]
    else:
        for k, root in enumerate(_square_roots(mixture)):
            rows = labels == k
            X[rows] = X[rows] @ root
    X += mixture.means[labels]
    return X, labels


def _square_roots(mixture: Mixture) -> Floats:
    """Return the symmetric square roots of the covariances, shape (k, d, d); covariances may be singular."""
    values, vectors = np.linalg.eigh(np.asarray(mixture.covariances))
    return np.asarray((vectors * np.sqrt(values.clip(min=0))[:, None, :]) @ vectors.transpose(0, 2, 1))


class Reach(NamedTuple):
    """One leaf: its cluster, its intervals, and the probability that a row of each component reaches it.

    `probability` (k,) is for the box, `factors` (k, m) for the intervals of each restricted column. The probability of
    the box is the product of its factors.
    """

    cluster: int
    pieces: Pieces
    probability: Floats
    factors: Floats


def reaches(mixture: Mixture, tree: ThresholdTree) -> Iterator[Reach]:
    """Yield each leaf of the tree with its exact probabilities; components have independent normal axes.

    A leaf takes time and memory of components times intervals of the columns on its path.
    """
    sigma = np.sqrt(mixture.variances)
    for box, cluster in zip(tree.boxes(), tree.leaf_clusters.tolist(), strict=True):
        pieces = Pieces.of(box)
        column = pieces.columns[pieces.piece_column]
        factors = pieces.sum_pieces(pieces.between(mixture.means[:, column], sigma[:, column]))
        yield Reach(cluster, pieces, factors.prod(axis=1), factors)


class Pieces(NamedTuple):
    """The p intervals of one box, side by side; each of its m restricted columns has one or more of them.

    ::

        columns        2         7
        intervals     [a b]     [c d] [e f]
        piece_column   0         1     1       position in `columns`

    A box without points has a column with an empty interval.
    """

    columns: Indices
    piece_column: Indices
    lower: Floats
    upper: Floats
    lower_closed: Bools
    upper_closed: Bools

    @classmethod
    def of(cls, box: dict[int, tuple[Interval, ...]]) -> Pieces:
        """Return the intervals of a box of a tree."""
        empty = (Interval(0.0, 0.0, False, False),)
        rows = [(i, *interval) for i, intervals in enumerate(box.values()) for interval in intervals or empty]
        table = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        columns = np.array(list(box), dtype=np.intp)
        return cls(columns, table[0].astype(np.intp), table[1], table[2], table[3] > 0, table[4] > 0)

    def column(self, j: int) -> Pieces:
        """Return the intervals of one column; the whole line if the box does not restrict it."""
        in_column = self.columns[self.piece_column] == j
        if not in_column.any():
            return Pieces.of({j: (Interval(-np.inf, np.inf, False, False),)})
        ends = (array[in_column] for array in (self.lower, self.upper, self.lower_closed, self.upper_closed))
        return Pieces(np.array([j], dtype=np.intp), np.zeros(int(in_column.sum()), dtype=np.intp), *ends)

    def sum_pieces(self, values: Floats) -> Floats:
        """Return values of shape (k, p), summed over the intervals of each column: shape (k, m)."""
        if not len(self.columns):
            return np.empty((len(values), 0))
        return np.add.reduceat(values, np.searchsorted(self.piece_column, np.arange(len(self.columns))), axis=1)

    def ends(self, mean: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """Return both ends of each interval in standard units of normals, shape (..., p); sigma may be zero."""
        low = _standard(self.lower, mean, sigma, np.where(self.lower_closed, -np.inf, np.inf))
        high = _standard(self.upper, mean, sigma, np.where(self.upper_closed, np.inf, -np.inf))
        return low, np.maximum(low, high)

    def between(self, mean: Floats, sigma: Floats) -> Floats:
        """Return the probability of each interval for normals of shape (..., p)."""
        return probability_between(*self.ends(mean, sigma))


def _standard(x: Floats, mean: Floats, sigma: Floats, at_mean: Floats) -> Floats:
    """Return (x - mean) / sigma; `at_mean` stands for 0 / 0, where sigma is zero and x the mean.

    With an infinite `at_mean`, the end of an interval lies to the left or to the right of such a mean, so that the
    interval contains the mean or excludes it.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = (x - mean) / sigma
    return np.where(np.isnan(z), at_mean, z)


def probability_between(low: Floats, high: Floats) -> Floats:
    """Return P(low < Z < high) for a standard normal Z; accurate in both tails."""
    from scipy.special import ndtr

    flip = low > 0
    if not np.any(flip):
        return np.asarray(ndtr(high) - ndtr(low))
    return np.asarray(ndtr(np.where(flip, -low, high)) - ndtr(np.where(flip, -high, low)))


def density(z: Floats) -> Floats:
    """Return the standard normal density."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi))


def absolute_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[|x - center|; low < (x - mean) / sigma < high] for a normal x."""
    offset = mean - center
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        middle = np.clip(np.nan_to_num(-offset / sigma, nan=0.0, posinf=np.inf, neginf=-np.inf), low, high)
    excess = probability_between(middle, high) - probability_between(low, middle)
    return np.asarray(offset * excess + sigma * (2 * density(middle) - density(low) - density(high)))


def squared_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[(x - center)^2; low < (x - mean) / sigma < high] for a normal x."""
    offset, at_low, at_high = mean - center, density(low), density(high)
    edges = _product(low, at_low) - _product(high, at_high)
    probability = probability_between(low, high)
    return np.asarray((offset**2 + sigma**2) * probability + 2 * offset * sigma * (at_low - at_high) + sigma**2 * edges)


def mean_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[x - center; low < (x - mean) / sigma < high] for a normal x."""
    return np.asarray((mean - center) * probability_between(low, high) + sigma * (density(low) - density(high)))


def probability_below(low: Floats, high: Floats, mean: Floats, sigma: Floats, x: Floats) -> Floats:
    """Return P(y <= x; low < (y - mean) / sigma < high) for a normal y."""
    return probability_between(low, np.clip(_standard(x, mean, sigma, np.array(np.inf)), low, high))


def density_at(low: Floats, high: Floats, mean: Floats, sigma: Floats, x: Floats) -> Floats:
    """Return the density of a normal y at x, and 0 unless low < (x - mean) / sigma < high."""
    z = _standard(x, mean, sigma, np.array(np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((z > low) & (z < high), np.nan_to_num(density(z) / sigma), 0.0)


def leaf_moments(leaf: Reach, mixture: Mixture, components: Array, moment: Moment, point: Floats) -> Floats:
    """Return a moment of some components along each axis, given that their row is in the leaf: (n_components, d).

    `moment` is one of the functions above and `point` its last argument, shape (d,). The result is 0 for a component
    that has no rows in the leaf.
    """
    means, sigma = mixture.means[components], np.sqrt(mixture.variances[components])
    infinity = np.array(np.inf)
    result = moment(-infinity, infinity, means, sigma, point)  # of unrestricted columns
    column = leaf.pieces.columns[leaf.pieces.piece_column]
    mean, deviation = means[:, column], sigma[:, column]
    inside = moment(*leaf.pieces.ends(mean, deviation), mean, deviation, point[column])
    sums, factors = leaf.pieces.sum_pieces(inside), leaf.factors[components]
    result[:, leaf.pieces.columns] = np.divide(sums, factors, out=np.zeros_like(sums), where=factors > 0)
    return result


def _product(z: Floats, at_z: Floats) -> Floats:
    """Return z times a density at z: 0 for infinite z."""
    return np.where(np.isfinite(z), z, 0.0) * at_z
