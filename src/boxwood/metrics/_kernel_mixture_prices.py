"""The kernel price of a mixture's tree: expected squared distances to kernel means, by formula or from a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import as_generator, refuse_unknown, whole_number
from boxwood.kernels import DistanceKernel, Gaussian, Kernel
from boxwood.kernels.bandwidth import by_axis
from boxwood.kernels.families import as_distance_kernel
from boxwood.metrics.checks import in_components
from boxwood.metrics.costs import ratio
from boxwood.metrics.mixture_prices import (
    MixturePrice,
    Pieces,
    Reach,
    draw,
    has_independent_axes,
    ratio_of_means,
    reaches,
)
from boxwood.metrics.similarity import moments_of_gaussians
from boxwood.reference import Mixture
from boxwood.reference.mixture import refuse_no_mixture
from boxwood.tree import ThresholdTree

_SAMPLES = 4_000  # rows of a sample, whose pairs are all compared


def kernel_mixture_price(
    mixture: Mixture,
    tree: ThresholdTree,
    *,
    kernel: Kernel,
    centers: str = "mean",
    n_samples: int | None = None,
    random_state: Any = None,
) -> MixturePrice:
    """Return the price of explainability of a Gaussian mixture in the feature space of a kernel.

    It is E|φ(x) - centre of the cluster of x's leaf|² / E|φ(x) - kernel mean of x's component|². The divisor belongs to
    the mixture itself and not to its best clustering, so the price may be below 1; it is never clipped.

    Parameters
    ----------
    mixture : Mixture
        Components, taken as Gaussians.
    tree : ThresholdTree
        Tree whose clusters are the components; leaves that share a cluster share a centre. Cuts may be two-sided.
    kernel : DistanceKernel
        `Gaussian`, `Laplace` or `ProductKernel`, with a number as its bandwidth; there are no rows to find it from.
    centers : {"mean", "reference"}, default="mean"
        Centre of a cluster: the kernel mean of the rows in its leaves, which costs least; or ("reference") the kernel
        mean of its component, as in the paper's bound.
    n_samples : int, default=None
        Number of rows to draw for an estimate. None computes the exact price where there is a formula: for `Gaussian`,
        if the axes of each component are independent. Otherwise it draws 4000 rows.
    random_state : int, Generator, RandomState or None, default=None
        Source of the rows that are drawn.

    Returns
    -------
    MixturePrice
        `value` has no unit. It is 1 if both costs are 0, and infinite if only the mixture's own cost is 0. The standard
        error is that of a ratio of two averages over pairs of the same rows.

    Raises
    ------
    DataError
        If the tree tests a column or has a cluster that the mixture does not have.
    ValueError
        If the kernel is not a product over axes, its bandwidth is not yet a number, `centers` is unknown, or
        `n_samples` is less than 2.

    Notes
    -----
    A Gaussian kernel times two Gaussian densities is a Gaussian density of two variables. So its mean over a pair of
    boxes is a product over axes of probabilities of rectangles, which Owen's function gives. Costs are exact to 1e-12,
    but for leaves of probability less than 1e-8, whose part of the cost is exact to their probability. With the leaves
    L of a cluster, this takes time L² k² for each column that they test.

    Samples take time `n_samples`² d and memory `n_samples` k.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", equations (26)
    ("mean") and (27) ("reference").

    Examples
    --------
    >>> from boxwood import Mixture, ThresholdTree
    >>> from boxwood.kernels import Gaussian
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> mixture = Mixture([0.5, 0.5], [[-1], [1]], [[1], [1]])
    >>> price = kernel_mixture_price(mixture, tree, kernel=Gaussian(0.5))
    >>> round(price.value, 6), price.exact
    (0.791515, True)
    """
    refuse_no_mixture(mixture)
    product = as_distance_kernel(kernel)
    by_axis(getattr(product, "gamma", 1.0), mixture.n_features)  # refuses a bandwidth that is not yet a number
    refuse_unknown("centers", centers, ("mean", "reference"))
    tree = in_components(mixture, tree)
    if n_samples is not None:
        whole_number("n_samples", n_samples, 2)  # pairs of rows are compared
    if n_samples is None and isinstance(product, Gaussian) and has_independent_axes(mixture):
        return MixturePrice(_exact(mixture, tree, product, centers), 0.0, True)
    X, labels = draw(mixture, n_samples or _SAMPLES, as_generator(random_state))
    return _estimate_price(product, X, tree.predict(X).astype(np.intp), labels, centers)


# ------------------------------------------------------------------------------------------------------- exact
def _exact(mixture: Mixture, tree: ThresholdTree, kernel: Gaussian, centers: str) -> float:
    axes, _ = moments_of_gaussians(mixture, kernel)
    within = np.diagonal(axes.prod(axis=0))
    leaves = list(reaches(mixture, tree))
    similarities = [
        _similarity_to_center(mixture, kernel, axes, [leaf for leaf in leaves if leaf.cluster == cluster], centers)
        for cluster in sorted({leaf.cluster for leaf in leaves})
    ]
    return ratio(max(1.0 - sum(similarities), 0.0), max(1.0 - float(mixture.weights @ within), 0.0))


def _similarity_to_center(mixture: Mixture, kernel: Gaussian, axes: Floats, leaves: list[Reach], centers: str) -> float:
    """Return the saving by the centre of a cluster, from the cost 1 of each row in the cluster's leaves.

    It is P |mean|² for the mean of these rows as centre, and P (2 <mean, centre> - |centre|²) for another centre, where
    P is their probability.
    """
    p, gamma = mixture.weights, by_axis(kernel.gamma, mixture.n_features)
    probability = float(sum(p @ leaf.probability for leaf in leaves))
    if centers == "reference":
        cluster, everywhere = leaves[0].cluster, Pieces.of({})
        pairs = (similarity_in_boxes(mixture, gamma, axes, leaf.pieces, everywhere) for leaf in leaves)
        shared = sum(float(p @ pair[:, cluster]) for pair in pairs)
        return 2 * shared - probability * float(axes[:, cluster, cluster].prod())
    if probability == 0:
        return 0.0
    boxes = [leaf.pieces for leaf in leaves]
    total = sum(float(p @ similarity_in_boxes(mixture, gamma, axes, a, b) @ p) for a in boxes for b in boxes)
    return float(np.clip(total / probability, 0.0, probability))


# ----------------------------------------------------------------------------------------------------- samples
def _estimate_price(
    kernel: DistanceKernel, X: Floats, clusters: Indices, labels: Indices, centers: str
) -> MixturePrice:
    """Return the price from all pairs of different rows.

    Each cost is the mean of one number per row, the influence of the row on the cost. So the standard error is that of
    a ratio of two means.
    """
    k = int(max(clusters.max(), labels.max())) + 1
    in_leaf, of_component = np.eye(k)[clusters], np.eye(k)[labels]
    sums = kernel.gram(X).product(np.hstack([in_leaf, of_component]))
    to_leaves, to_components = sums[:, :k], sums[:, k:]
    of_reference = _own_mean_cost(to_components, labels)
    if centers == "mean":
        return ratio_of_means(_own_mean_cost(to_leaves, clusters), of_reference)
    return ratio_of_means(_other_mean_cost(to_leaves, to_components, clusters, labels), of_reference)


def _own_mean_cost(sums: Floats, groups: Indices) -> Floats:
    """Return one number per row; their mean is the cost of groups at their own kernel means.

    `sums` (n, k) are the sums of the kernel between each row and the rows of each group.
    """
    own, mean = _within(sums, groups)
    return 1.0 - 2.0 * own + mean[groups]


def _other_mean_cost(to_leaves: Floats, to_components: Floats, clusters: Indices, labels: Indices) -> Floats:
    """Return one number per row; their mean is the cost of clusters of leaves at the means of the components."""
    n, k = to_components.shape
    rows, sizes = np.arange(n), np.bincount(labels, minlength=k)
    n_in_leaves = np.bincount(clusters, minlength=k)
    own, within = _within(to_components, labels)
    is_own = clusters == labels  # a row is not compared with itself
    others = np.maximum(sizes[clusters] - is_own, 1)
    to_center = (to_components[rows, clusters] - is_own) / others
    cost = 1.0 - 2.0 * to_center + within[clusters]
    # a row shifts its component's mean, and that mean is the centre of its cluster's leaves
    between = np.bincount(clusters, to_center, minlength=k) / np.maximum(n_in_leaves, 1)
    to_its_leaves = (to_leaves[rows, labels] - is_own) / np.maximum(n_in_leaves[labels] - is_own, 1)
    change = -2.0 * (to_its_leaves - between[labels]) + 2.0 * (own - within[labels])
    change *= n_in_leaves[labels] / sizes[labels]
    return np.asarray(cost + change - change.mean())


def _within(sums: Floats, groups: Indices) -> tuple[Floats, Floats]:
    """Return the mean of the kernel between each row and the others of its group, and its mean in each group."""
    n, k = sums.shape
    sizes = np.bincount(groups, minlength=k)
    alone = sizes[groups] == 1  # a single row is similar to itself
    own = np.where(alone, 1.0, (sums[np.arange(n), groups] - 1.0) / np.maximum(sizes[groups] - 1, 1))
    return own, np.bincount(groups, own, minlength=k) / np.maximum(sizes, 1)


def similarity_in_boxes(mixture: Mixture, gamma: Floats, axes: Floats, first: Pieces, second: Pieces) -> Floats:
    """Return E[K(x, y); x in the first box, y in the second] for each pair of components of x and y, shape (k, k).

    `axes` (d, k, k) holds the means of the kernel's factors without boxes. The axes of each component are independent,
    so the result is a product over axes. On an axis, the kernel times both densities is the density of two correlated
    normals, times the mean of the kernel's factor.
    """
    factors = axes.copy()
    for j in sorted({*first.columns.tolist(), *second.columns.tolist()}):
        factors[j] *= _rectangles(
            mixture.means[:, j], mixture.variances[:, j], gamma[j], first.column(j), second.column(j)
        )
    return np.asarray(factors.prod(axis=0))


def _rectangles(means: Floats, variances: Floats, gamma: float, first: Pieces, second: Pieces) -> Floats:
    """Return the probability of the intervals of one axis under the joint density, for each pair, shape (k, k)."""
    a, b, apart = variances[:, None], variances[None, :], means[:, None] - means[None, :]
    stretch = 1 + 2 * gamma * (a + b)
    narrow_a, narrow_b = 1 + 2 * gamma * a, 1 + 2 * gamma * b
    correlation = 2 * gamma * np.sqrt(a) * np.sqrt(b) / np.sqrt(narrow_a * narrow_b)
    remainder = np.sqrt(stretch / (narrow_a * narrow_b))  # sqrt(1 - correlation²), without loss of digits
    x = means[:, None] - 2 * gamma * a * apart / stretch, np.sqrt(a * narrow_b / stretch)
    y = means[None, :] + 2 * gamma * b * apart / stretch, np.sqrt(b * narrow_a / stretch)
    low_x, high_x = (end[:, :, :, None] for end in first.ends(*(of_pair[:, :, None] for of_pair in x)))
    low_y, high_y = (end[:, :, None, :] for end in second.ends(*(of_pair[:, :, None] for of_pair in y)))
    law = correlation[:, :, None, None], remainder[:, :, None, None]
    upper = _both_below(high_x, high_y, *law) - _both_below(low_x, high_y, *law)
    lower = _both_below(high_x, low_y, *law) - _both_below(low_x, low_y, *law)
    return np.asarray((upper - lower).sum(axis=(2, 3)).clip(0.0, 1.0))


def _both_below(x: Floats, y: Floats, correlation: Floats, remainder: Floats) -> Floats:
    """Return the probability that two standard normals of a correlation are below x and y, by Owen's function."""
    from scipy.special import ndtr, owens_t

    x, y, correlation, remainder = np.broadcast_arrays(x, y, correlation, remainder)
    x, y = (np.where(end == 0, 1e-300, end) for end in (x, y))  # the formula divides by both
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        of_x = owens_t(x, (y / x - correlation) / remainder)
        of_y = owens_t(y, (x / y - correlation) / remainder)
        probability = (ndtr(x) + ndtr(y) - ((x > 0) != (y > 0))) / 2 - of_x - of_y
    probability = np.where(np.isposinf(x), ndtr(y), np.where(np.isposinf(y), ndtr(x), probability))
    return np.where(np.isneginf(x) | np.isneginf(y), 0.0, probability)
