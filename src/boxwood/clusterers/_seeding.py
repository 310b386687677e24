"""First centres of k-medians: rows drawn one after another, far ones more often."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.clusterers._k_medians_steps import Cloud, few_rows
from boxwood.loops.nearest import add_potentials

__all__ = ["SEEDINGS"]


def _plus_plus(cloud: Cloud, k: int, rng: np.random.RandomState) -> Floats:
    """Return k rows, each drawn with a chance in proportion to its distance to the nearest row so far.

    The distance itself, not its square: the chance of a row is its share of the cost. Of 2 + log k candidates the one
    that leaves the lowest cost is taken, the first of equal ones.
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
    """Return rows drawn in proportion to weight times chance; rows lie on the line of chances in the cloud's order."""
    with np.errstate(over="ignore"):  # a cost beyond the largest float is refused when it is the cost of clusters
        shares = chance[cloud.order] if cloud.weights is None else (chance * cloud.weights)[cloud.order]
        ends = np.cumsum(shares)
    places = np.searchsorted(ends, rng.uniform(size=size) * ends[-1], side="right")
    last = np.searchsorted(ends, ends[-1])  # rounding may lead behind the last row that has a share
    return np.asarray(cloud.order[np.minimum(places, last)])


def _potentials(cloud: Cloud, candidates: Floats, closest: Floats) -> Floats:
    columns, weights = np.ascontiguousarray(candidates.T), cloud.loop_weights

    def work(start: int, stop: int) -> Floats:
        sums = np.zeros(len(candidates))
        rows = slice(start, stop)
        add_potentials(cloud.X[rows], weights[rows], columns, cloud.euclidean, closest[rows], sums)
        return sums

    return np.asarray(np.sum(cloud.map_blocks(work), axis=0))
