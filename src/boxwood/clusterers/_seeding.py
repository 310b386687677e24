"""First centres of k-medians: rows drawn one after another, far rows with a higher chance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.clusterers._k_medians_steps import Cloud, few_rows
from boxwood.loops.nearest import add_potentials

__all__ = ["SEEDINGS"]


def _plus_plus(cloud: Cloud, k: int, rng: np.random.RandomState) -> Floats:
    """Return k rows, each drawn with a chance in proportion to its distance to the nearest row drawn before.

    It is the distance and not its square, so that the chance of a row is its fraction of the cost. Of 2 + log k
    candidates the one that leaves the lowest cost is taken, and of equal ones the first.
    """
    return _drawn(cloud, k, rng, lambda closest: closest, 2 + int(np.log(k)))


def _at_random(cloud: Cloud, k: int, rng: np.random.RandomState) -> Floats:
    """Return k different rows, drawn by weight."""
    return _drawn(cloud, k, rng, lambda closest: np.sign(closest), 1)


SEEDINGS: dict[str, Callable[[Cloud, int, np.random.RandomState], Floats]] = {
    "k-medians++": _plus_plus,
    "random": _at_random,
}


def _drawn(
    cloud: Cloud, k: int, rng: np.random.RandomState, chance: Callable[[Floats], Floats], n_trials: int
) -> Floats:
    """Return k different rows, each the best of some candidates, drawn by `chance` of their distance to the others."""
    first = _draw(cloud, np.ones(len(cloud.X)), rng, 1)
    centers = cloud.rows(first)
    closest = np.full(len(cloud.X), np.inf)
    cloud.lower_to(centers[0], closest)
    while len(centers) < k:
        if not closest.any():
            raise few_rows(k, len(centers))
        candidates = cloud.rows(_draw(cloud, chance(closest), rng, n_trials))
        potentials = _potentials(cloud, candidates, closest) if n_trials > 1 else np.zeros(1)
        center = candidates[np.argmin(potentials)]
        centers = np.vstack([centers, center])
        cloud.lower_to(center, closest)
    return centers


def _draw(cloud: Cloud, chance: Floats, rng: np.random.RandomState, size: int) -> Indices:
    """Return rows drawn with chances in proportion to weight times `chance`, laid end to end in the cloud's order."""
    with np.errstate(over="ignore"):  # a cost beyond the largest float is refused when it is the cost of clusters
        chances = chance[cloud.order] if cloud.weights is None else (chance * cloud.weights)[cloud.order]
        ends = np.cumsum(chances)
    ranks = np.searchsorted(ends, rng.uniform(size=size) * ends[-1], side="right")
    last = np.searchsorted(ends, ends[-1])  # rounding may lead behind the last row that has a chance
    return np.asarray(cloud.order[np.minimum(ranks, last)])


def _potentials(cloud: Cloud, candidates: Floats, closest: Floats) -> Floats:
    """Return the cost of all rows with each candidate as one more centre."""
    columns, weights = np.ascontiguousarray(candidates.T), cloud.loop_weights

    def work(start: int, stop: int) -> Floats:
        sums = np.zeros(len(candidates))
        rows = slice(start, stop)
        add_potentials(cloud.X[rows], weights[rows], columns, cloud.euclidean, closest[rows], sums)
        return sums

    return np.asarray(np.sum(cloud.map_blocks(work), axis=0))
