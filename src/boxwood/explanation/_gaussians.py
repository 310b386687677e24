"""The Gaussians that stand behind a clustering: those of a fitted mixture, or those that fit its rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices
from boxwood.reference import Mixture, Reference
from boxwood.tree import ThresholdTree

__all__ = ["Gaussians", "gaussians_of"]


class Gaussians(NamedTuple):
    """A mixture, and the cluster that each of its components is."""

    mixture: Mixture
    clusters: Indices

    @classmethod
    def of(cls, X: Array, reference: Reference, weights: Floats | None) -> Gaussians:
        """Return the means and variances of the clusters."""
        mixture = Mixture.of(X, reference.labels, names=None, sample_weight=weights)
        return cls(mixture, np.array(mixture.names, dtype=np.intp))

    def named(self, reference: Reference) -> tuple[Hashable, ...]:
        """Return what the components are called."""
        return tuple(reference.names[cluster] for cluster in self.clusters)

    def labelled(self, tree: ThresholdTree) -> ThresholdTree:
        """Return a tree whose leaves carry components, with the clusters of these."""
        cluster = np.where(tree.feature < 0, self.clusters[tree.cluster], -1)
        return ThresholdTree(tree.feature, tree.lower, tree.upper, tree.second, cluster)

    def moved(self, shift: Floats, scale: Floats) -> Gaussians:
        """Return the Gaussians of rows that are multiplied by a scale and then shifted, column by column."""
        given = self.mixture
        covariances = None if given.covariances is None else given.covariances * np.outer(scale, scale)
        means, variances = given.means * scale + shift, given.variances * scale**2
        return self._replace(mixture=Mixture(given.weights, means, variances, given.names, covariances=covariances))


def gaussians_of(clusterer: Any, reference: Reference, columns: Sequence[str]) -> Gaussians | None:
    """Return the Gaussians of a fitted Gaussian mixture; None for any other clusterer.

    None too where its columns are not those of the table, or rows belong to a component that has no weight.
    `reference` is what it makes of the rows, with clusters named by the numbers of the components.
    """
    from sklearn.frozen import FrozenEstimator
    from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

    fitted = clusterer.estimator if isinstance(clusterer, FrozenEstimator) else clusterer
    if not isinstance(fitted, (GaussianMixture, BayesianGaussianMixture)):
        return None
    named = getattr(fitted, "feature_names_in_", None)
    same = fitted.means_.shape[1] == len(columns) if named is None else list(named) == list(columns)
    if not same:
        return None
    mixture = Mixture.from_gaussian_mixture(fitted)
    place = {name: i for i, name in enumerate(reference.names)}
    known = [i for i, name in enumerate(mixture.names) if name in place]
    clusters = np.array([place[mixture.names[i]] for i in known], dtype=np.intp)
    if not np.isin(reference.labels[reference.kept], clusters).all():
        return None
    return Gaussians(_part(mixture, known), clusters)


def _part(mixture: Mixture, components: list[int]) -> Mixture:
    if len(components) == mixture.n_components:
        return mixture
    covariances = None if mixture.covariances is None else mixture.covariances[components]
    names = tuple(mixture.names[i] for i in components)
    weights, means, variances = mixture.weights, mixture.means, mixture.variances
    return Mixture(weights[components], means[components], variances[components], names, covariances=covariances)
