"""`Mixture`: weights, means and variances of the components that a tree separates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._messages import warn_caller
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import (
    Rows,
    as_numbers,
    as_positions,
    list_words,
    refuse_no_sum,
    refuse_other_kind,
    refuse_unknown,
    show_value,
)
from boxwood.errors import DataError
from boxwood.reference.labels import Names, codes_with_gaps, named_clusters
from boxwood.reference.moments import Moments, moments_of
from boxwood.reference.reference import Reference, refuse_no_reference

LAWS = ("gaussian", "laplace", "rademacher")

_MOST_CLUSTERS = 1 << 31


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """A mixture model: for each component its weight, its mean and its variance along each axis.

    `grow.mmdt` needs nothing else, so the time for a tree does not depend on the number of rows. Make a mixture from
    labelled rows with `of`, from a fitted Gaussian mixture with `from_gaussian_mixture`, or from plain arrays.

    Parameters
    ----------
    weights : array-like of shape (k,)
        Weight of each component, above 0. The weights are divided by their sum.
    means : array-like of shape (k, d)
        Mean of each component.
    variances : array-like of shape (k, d)
        Variance of each component along each axis, at least 0 (a variance, never a standard deviation).
    names : sequence of k hashables, default=None
        Name of each component; None names them by their numbers.
    covariances : array-like of shape (k, d, d), default=None
        Covariance of each component, if axes are correlated; None if they are not, or if this is not known.
    clusters : array-like of shape (k,), default=None
        Cluster of each component, as the leaves of a tree carry it. None gives each component its own number.
    law : {"gaussian", "laplace", "rademacher"}, default=None
        Law of the components, if you know it: normal, or along each axis Laplace's, or plus or minus one standard
        deviation with equal chance. The bounds of `boxwood.theory` rest on it, and `from_gaussian_mixture` sets
        "gaussian". None states nothing.

    Attributes
    ----------
    weights, means, variances, covariances, clusters : array
        As above, read-only. Always holds: the weights add up to 1, and variances are the diagonals of the covariances.
    names, law
        As above.

    Raises
    ------
    DataError
        If arrays do not fit together, are not finite, a weight is not above 0, or a variance is below 0.
    ValueError
        If the law is not one of those.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 2.1.

    Examples
    --------
    >>> mixture = Mixture.of([[0.0], [2.0], [9.0], [9.0]], ["low", "low", "high", "high"])
    >>> mixture.names, mixture.weights, mixture.means.ravel(), mixture.variances.ravel()
    (('high', 'low'), array([0.5, 0.5]), array([9., 1.]), array([0., 1.]))
    """

    weights: Floats
    means: Floats
    variances: Floats
    names: tuple[Hashable, ...] = None  # type: ignore[assignment]
    covariances: Floats | None = field(default=None, kw_only=True)
    clusters: Indices = field(default=None, kw_only=True)  # type: ignore[arg-type]
    law: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.law is not None:
            refuse_unknown("law", self.law, LAWS)
        means = finite_array("means", self.means, (None, None))
        k, d = means.shape
        weights = finite_array("weights", self.weights, (k,))
        variances = finite_array("variances", self.variances, (k, d))
        refuse_components(weights <= 0, "weights must be above 0")
        refuse_components((variances < 0).any(axis=1), "variances must be at least 0")
        weights = weights / weights.max()  # a sum of large weights may overflow
        self._freeze("weights", weights / weights.sum())
        self._freeze("means", means)
        self._freeze("variances", variances)
        if self.covariances is not None:
            self._freeze("covariances", as_covariances(self.covariances, variances))
        self._set_clusters(np.arange(k) if self.clusters is None else self.clusters)
        object.__setattr__(self, "names", named_clusters(range(k), self.names))

    def _set_clusters(self, clusters: ArrayLike) -> None:
        n = self.n_components
        array = np.array(as_positions("clusters", clusters, _MOST_CLUSTERS))
        if len(array) != n:
            raise DataError(f"clusters must be a number from 0 on for each of {n} components, got {len(array)}")
        self._freeze("clusters", array)

    def _freeze(self, name: str, array: Array) -> None:
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    @property
    def n_components(self) -> int:
        """Number of components k."""
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number of axes d."""
        return int(self.means.shape[1])

    def with_clusters(self, clusters: ArrayLike) -> Mixture:
        """Return the mixture with these numbers of clusters for its components, shape (k,)."""
        other = copy(self)  # not through the constructor: dividing the weights by their sum again could round them
        other._set_clusters(clusters)
        return other

    def part(self, components: Sequence[int]) -> Mixture:
        """Return the mixture of some of the components."""
        chosen = as_positions("components", components, self.n_components)
        if np.array_equal(chosen, np.arange(self.n_components)):
            return self
        return Mixture(
            self.weights[chosen],
            self.means[chosen],
            self.variances[chosen],
            tuple(self.names[i] for i in chosen),
            covariances=None if self.covariances is None else self.covariances[chosen],
            clusters=self.clusters[chosen],
            law=self.law,
        )

    def rescaled(self, shift: Floats, scale: Floats) -> Mixture:
        """Return the mixture of the rows after each column is multiplied by its scale and then shifted."""
        shift, scale = as_numbers("shift", shift), as_numbers("scale", scale)
        with np.errstate(over="ignore", invalid="ignore"):  # what is no longer finite is refused
            covariances = None if self.covariances is None else self.covariances * np.outer(scale, scale)
            means, variances = self.means * scale + shift, self.variances * scale**2
        return replace(self, means=means, variances=variances, covariances=covariances)

    @property
    def alpha(self) -> float:
        """Imbalance of the weights: k times the largest weight. It is at least 1, and 1 if all weights are equal."""
        return float(max(1.0, self.n_components * self.weights.max()))

    def pooled_variances(self, pooling: str = "max") -> Floats:
        """Return one variance for each axis, shape (d,), made from the variances of the components.

        `pooling` is "max", the largest variance, as the papers' guarantees need it, or "weighted", the mean over
        components by their weights.
        """
        if pooling == "weighted":
            # not a matrix product: it may add up equal columns in different orders, and so break ties
            return np.asarray((self.weights[:, None] * self.variances).sum(axis=0))
        if pooling == "max":
            return np.asarray(self.variances.max(axis=0))
        raise ValueError(f"pooling must be 'max' or 'weighted', got {show_value(pooling)}")

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        names: Names | None = None,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = -1,
    ) -> Mixture:
        """Return the frequencies, means and population variances of the rows of `X` by `labels`; -1 leaves a row out.

        Labels are of any hashable type. Components are numbered in ascending order of the labels, and their names are
        the labels. `names` maps labels to other names. Clusters whose rows all weigh 0 are left out. `X`, of shape
        (n, d), is read three times in addition to its check; the result depends neither on the order of the rows nor on
        the number of threads.

        Raises
        ------
        DataError
            If `X`, labels and weights do not fit together, hold missing or infinite values, or no row is kept.
        """
        codes, cluster_labels = codes_with_gaps(labels)
        if not cluster_labels:
            raise DataError("every row is left out: all labels are -1 or missing")
        rows = Rows.of(X, sample_weight)
        refuse_no_sum(rows.weights)
        moments = moments_of(rows, codes, len(cluster_labels), n_jobs)
        present = [label for label, weight in zip(cluster_labels, moments.weights, strict=True) if weight > 0]
        if not present:
            raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
        return cls.of_moments(moments, names=named_clusters(present, names))

    @classmethod
    def of_moments(cls, moments: Moments, *, names: Names | None = None, clusters: ArrayLike | None = None) -> Mixture:
        """Return the mixture of clusters with these moments; clusters without weight are left out.

        `names` and `clusters` are the names, and the numbers in a tree, of the clusters with weight. Without `names`
        the name is the number among all clusters; without `clusters` the clusters with weight are numbered from 0.
        """
        refuse_other_kind("moments", moments, Moments, "make them: boxwood.Reference.of(X, labels).moments")
        present = np.flatnonzero(moments.weights > 0)
        means, variances = moments.means[present], moments.variances[present]
        if not np.isfinite(variances).all():
            j = int(np.argmin(np.isfinite(variances).all(axis=0)))
            raise DataError(
                f"the values of column {j} are too large for their variance; divide the column by some unit"
            )
        component_names = named_clusters(present.tolist(), names)
        numbers = np.arange(len(present)) if clusters is None else np.asarray(clusters)
        return cls(moments.weights[present], means, variances, component_names, clusters=numbers)

    @classmethod
    def of_reference(
        cls, rows: Rows, reference: Reference, *, moments: Moments | None = None, n_jobs: int | None = -1
    ) -> Mixture:
        """Return the frequencies, means and variances of the clusters with weight; components have the clusters' names.

        `moments` are those of the clusters' rows, if they are known.
        """
        refuse_no_reference(reference)
        if moments is None:
            moments = moments_of(Rows.of(rows), reference.labels, reference.n_clusters, n_jobs)
        refuse_other_kind("moments", moments, Moments, "leave them out")
        clusters = np.flatnonzero(moments.weights > 0)
        return cls.of_moments(moments, names=[reference.names[c] for c in clusters], clusters=clusters)

    @classmethod
    def from_gaussian_mixture(cls, mixture: Any) -> Mixture:
        """Return the parameters of a fitted `GaussianMixture` or `BayesianGaussianMixture` of any covariance type.

        Components without data are dropped, with a warning that names them: components with a weight below 1e-8 and, in
        a Bayesian mixture, components with less than one row. The names of the others are their numbers.

        Raises
        ------
        DataError
            If `mixture` is no fitted Gaussian mixture.
        """
        needed = ("weights_", "means_", "covariances_", "covariance_type")
        if not all(hasattr(mixture, name) for name in needed):
            raise DataError(
                f"expected a fitted GaussianMixture, got {type(mixture).__name__} without {list_words(needed)}"
            )
        kept = components_with_data(mixture)
        means = np.asarray(mixture.means_, dtype=np.float64)[kept]
        variances, covariances = covariances_of(mixture, means.shape[1])
        covariances = None if covariances is None else covariances[kept]
        weights = np.asarray(mixture.weights_, dtype=np.float64)[kept]
        return cls(weights, means, variances[kept], tuple(kept.tolist()), covariances=covariances, law="gaussian")

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():  # arrays come out of a pickle writable
            self._freeze(name, value) if isinstance(value, np.ndarray) else object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        law = "" if self.law is None else f", law={self.law!r}"
        correlated = "" if self.covariances is None else ", with covariances"
        return f"Mixture(n_components={self.n_components}, n_features={self.n_features}{law}{correlated})"


def refuse_no_mixture(mixture: object) -> None:
    """Raise a TypeError, which says how to make one, unless the argument is a Mixture."""
    how = "make one: boxwood.Mixture.of(X, labels), or Mixture.from_gaussian_mixture(fitted)"
    refuse_other_kind("mixture", mixture, Mixture, how)


def sigma_of(mixture: Mixture, pooling: str, sigma: ArrayLike | None) -> Floats:
    """Return one sigma for each axis, shape (d,): `sigma` if it is given, else the pooled standard deviations."""
    refuse_no_mixture(mixture)
    if sigma is None:
        return np.sqrt(mixture.pooled_variances(pooling))
    d = mixture.n_features
    try:
        deviations = as_numbers("sigma", sigma)
    except DataError:
        deviations = np.empty(0)
    if deviations.shape != (d,) or not np.isfinite(deviations).all() or (deviations < 0).any():
        raise DataError(f"sigma must be {d} finite numbers, not negative, one for each axis; got {show_value(sigma)}")
    return deviations


def finite_array(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Return a copy of finite numbers in an array of this shape, where None is any size above 0."""
    array = np.array(as_numbers(name, values))
    fits = array.ndim == len(shape) and all(
        size > 0 and size == (wanted or size) for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        expected = "(k, d)" if None in shape else str(shape)
        raise DataError(f"{name} must have shape {expected}, got {array.shape}")
    if not np.isfinite(array).all():
        raise DataError(f"{name} must be finite, but hold missing or infinite values")
    return array


def refuse_components(wrong: Bools | np.bool_, expected: str) -> None:
    """Raise a DataError with the numbers of the components that are wrong, if any is."""
    if wrong.any():
        raise DataError(f"{expected}; wrong for components {list_words([str(k) for k in np.flatnonzero(wrong)])}")


def as_covariances(covariances: ArrayLike, variances: Floats) -> Floats:
    """Return covariances of components, shape (k, d, d): symmetric, with the variances as diagonals."""
    k, d = variances.shape
    array = finite_array("covariances", covariances, (k, d, d))
    scale = np.sqrt(variances[:, :, None]) * np.sqrt(variances[:, None, :])
    refuse_components(
        (np.abs(array - array.transpose(0, 2, 1)) > 1e-8 * scale).any(axis=(1, 2)), "covariances must be symmetric"
    )
    diagonal = np.diagonal(array, axis1=1, axis2=2)
    refuse_components(
        (np.abs(diagonal - variances) > 1e-8 * variances).any(axis=1), "covariances must have the variances as diagonal"
    )
    return array


_NEGLIGIBLE_WEIGHT = 1e-8


def components_with_data(mixture: Any) -> Indices:
    """Return the numbers of the components that have data; warn of the others by their weights."""
    weights = np.asarray(mixture.weights_, dtype=np.float64)
    empty = weights < _NEGLIGIBLE_WEIGHT
    if hasattr(mixture, "mean_precision_prior_"):  # Bayesian: prior plus the rows of each component
        empty |= np.asarray(mixture.mean_precision_) - mixture.mean_precision_prior_ < 1
    if empty.all():
        raise DataError("no component of the mixture has data")
    if empty.any():
        dropped = list_words([f"{k} (weight {weights[k]:.1e})" for k in np.flatnonzero(empty)])
        warn_caller(f"components without data are dropped: {dropped}")
    return np.flatnonzero(~empty)


def covariances_of(mixture: Any, d: int) -> tuple[Floats, Floats | None]:
    """Return variances (k, d) and, for the types that have them, covariances (k, d, d)."""
    stored, kind = np.asarray(mixture.covariances_, dtype=np.float64), mixture.covariance_type
    k = len(mixture.weights_)
    if kind in ("full", "tied"):
        turned, deviations = stored.swapaxes(-2, -1), np.sqrt(np.diagonal(stored, axis1=-2, axis2=-1))
        if (np.abs(stored - turned) > 1e-9 * deviations[..., :, None] * deviations[..., None, :]).any():
            stored = (stored + turned) / 2  # float32, and columns far from zero, break symmetry by rounding
        covariances = np.broadcast_to(stored, (k, d, d))
        return np.diagonal(covariances, axis1=1, axis2=2), covariances
    return np.broadcast_to(stored if kind == "diag" else stored[:, None], (k, d)), None
