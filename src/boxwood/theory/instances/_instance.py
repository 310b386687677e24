"""`Instance`: points or a mixture from a paper's proof, and the exact numbers that a tree must give on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_generator, whole_number
from boxwood.kernels import Kernel
from boxwood.metrics.mixture_prices import draw
from boxwood.reference import Mixture, Reference


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """Points with their clusters, or a mixture, and exact numbers.

    An instance of points has `points`, `weights` and `reference`. An instance of a mixture has `mixture` instead, from
    which `sample` draws rows. All other attributes but `exact` are then None.

    Attributes
    ----------
    exact : mapping from str to float
        Exact quantities and bounds; each generator names its own.
    points : array of shape (n, d) or None
        Rows.
    weights : array of shape (n,) or None
        Weight of each row; many copies of a row are one row of large weight.
    reference : Reference or None
        Cluster of each row and the centres, shape (k, d).
    kernel : Kernel or None
        Kernel for which the clusters are an optimum of kernel k-means. None for instances without a kernel.
    mixture : Mixture or None
        Weights, means and variances of the components, which need not be Gaussian.
    deviation : float or None
        The probability eps of each deviation, see `instance_of_deviations`. None for Gaussian components.
    """

    exact: Mapping[str, float]
    points: Floats | None = None
    weights: Floats | None = None
    reference: Reference | None = None
    kernel: Kernel | None = None
    mixture: Mixture | None = None
    deviation: float | None = None

    @property
    def labels(self) -> Indices:
        """Cluster of each row, shape (n,)."""
        if self.reference is None:
            raise ValueError("a mixture has no rows; draw some by sample, or list all rows of a discrete one by atoms")
        return self.reference.labels

    @property
    def centers(self) -> Floats:
        """Centres of the clusters or means of the components, shape (k, d)."""
        return self._mixture().means if self.reference is None else self.reference.centers

    def sample(self, n: int, random_state: Any = None) -> tuple[Floats, Indices]:
        """Return `n` rows of a mixture and their components, shapes (n, d) and (n,).

        Raises
        ------
        ValueError
            If the instance has points and no mixture.
        """
        mixture, rng, n = self._mixture(), as_generator(random_state), whole_number("n", n, 0)
        if self.deviation is None:
            return draw(mixture, n, rng)
        labels = rng.choice(len(mixture.weights), size=n, p=mixture.weights)
        X = mixture.means[labels]
        move = np.floor(rng.random(n) / self.deviation)  # 2 j: axis j by +1; 2 j + 1: axis j by -1; from 2 d on: none
        deviates = np.flatnonzero(move < 2 * X.shape[1])
        move = move[deviates].astype(np.intp)
        X[deviates, move // 2] += 1.0 - 2.0 * (move % 2)
        return X, labels

    def atoms(self) -> Instance:
        """Return all rows of a discrete mixture as points, with their probabilities as weights.

        Clusters are the components and centres their means. Takes memory k (2 d + 1) d.

        Raises
        ------
        ValueError
            If the instance is not a discrete mixture.
        """
        mixture = self._mixture()
        if self.deviation is None:
            raise ValueError("Gaussian components have no atoms; use sample")
        (k, d), eps = mixture.means.shape, self.deviation
        moves = np.concatenate([np.zeros((1, d)), np.eye(d), -np.eye(d)])
        chances = np.concatenate([[max(0.0, 1 - 2 * d * eps)], np.full(2 * d, eps)])
        points = (mixture.means[:, None] + moves).reshape(-1, d)
        labels, weights = np.repeat(np.arange(k), len(moves)), np.outer(mixture.weights, chances).ravel()
        return instance_of_points(points, Reference(labels, mixture.means), dict(self.exact), weights=weights)

    def _mixture(self) -> Mixture:
        if self.mixture is None:
            raise ValueError("the instance has no mixture to draw from; use its points")
        return self.mixture


def instance_of_points(
    points: Array,
    reference: Reference,
    exact: dict[str, float],
    *,
    weights: Floats | None = None,
    kernel: Kernel | None = None,
) -> Instance:
    """Return an instance of points; without weights each point weighs 1."""
    return Instance(
        exact=MappingProxyType(exact),
        points=points,
        weights=np.ones(len(points)) if weights is None else weights,
        reference=reference,
        kernel=kernel,
    )


def instance_of_deviations(means: Floats, eps: float, exact: dict[str, float]) -> Instance:
    """Return components of equal weight whose rows differ from their mean on at most one axis.

    A row deviates on axis j by +1 with probability eps, and by -1 with probability eps; it never deviates on two axes.
    So every axis has variance and mean absolute deviation 2 eps. A cut on axis j that separates two means at distance
    1 errs on the rows that deviate on this axis towards the other side.

    `exact` gets "eps", "beta" (the ratio of standard deviation to mean absolute deviation) and "baseline_l1" (the mean
    ℓ1 distance of a row from its mean).
    """
    refuse_unless(eps > 0, "a deviation is too rare for a double; take a smaller ratio")
    k, d = means.shape
    mixture = Mixture(np.full(k, 1 / k), means, np.full((k, d), 2 * eps))
    always = {"eps": eps, "beta": 1 / math.sqrt(2 * eps), "baseline_l1": 2 * d * eps}
    return Instance(exact=MappingProxyType(always | exact), mixture=mixture, deviation=eps)


def refuse_unless(fits: bool, message: str) -> None:
    """Raise a ValueError with this message unless the parameters of an instance fit."""
    if not fits:
        raise ValueError(message)
