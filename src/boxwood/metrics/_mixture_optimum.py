"""The best centres of a mixture, which are not its means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import as_generator
from boxwood.metrics._mixture_boxes import draw
from boxwood.reference import Mixture

__all__ = ["OptimalCost", "optimal_cost"]

_ROUNDS = 300
_UPDATES: dict[str, Callable[..., Any]] = {"l1": np.median, "sqeuclidean": np.mean}


class OptimalCost(NamedTuple):
    """Cost of k centres, its standard error, and the centres, shape (k, d), in the order of the components."""

    value: float
    standard_error: float
    centers: Floats


def optimal_cost(
    mixture: Mixture, *, objective: str = "l1", n_samples: int = 50_000, random_state: Any = None
) -> OptimalCost:
    """Return the least expected distance of a Gaussian mixture's rows to the nearest of k centres, as far as found.

    Each centre is moved to the medians (l1) or the mean (sqeuclidean) of the rows nearest to it, from the means of the
    components on, until none moves. So it is a local optimum, never worse than the means are. The denominator of
    `mixture_price` is another: the cost of each row at the mean of its own component.

    Parameters
    ----------
    mixture : Mixture
        Components, taken as Gaussians.
    objective : {"l1", "sqeuclidean"}, default="l1"
        Distance.
    n_samples : int, default=50_000
        Number of rows drawn; at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Source of the rows drawn.

    Raises
    ------
    ValueError
        If the objective is unknown or there are fewer than 2 rows.

    Notes
    -----
    Takes time `n_samples` times k d for each round, at most 300 of them, and memory `n_samples` times d.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", equation (2),
    where the centre inside the minimum is c of k.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> found = optimal_cost(Mixture([0.5, 0.5], [[-1], [1]], [[1], [1]]), random_state=0)
    >>> bool(found.centers[0, 0] < -1), bool(found.centers[1, 0] > 1)
    (True, True)
    """
    if objective not in _UPDATES:
        raise ValueError(f"objective must be 'l1' or 'sqeuclidean', got {objective!r}")
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, got {n_samples}")
    X, _ = draw(mixture, n_samples, as_generator(random_state))
    centers = mixture.means.copy()
    nearest, costs = _nearest(X, centers, objective)
    for _ in range(_ROUNDS):
        for k in np.unique(nearest):
            centers[k] = _UPDATES[objective](X[nearest == k], axis=0)
        before = nearest
        nearest, costs = _nearest(X, centers, objective)
        if np.array_equal(before, nearest):
            break
    return OptimalCost(float(costs.mean()), float(costs.std() / np.sqrt(n_samples)), centers)


def _nearest(X: Floats, centers: Floats, objective: str) -> tuple[Indices, Floats]:
    """Return the nearest centre of each row, the first among equals, and its distance."""
    nearest, costs = np.zeros(len(X), dtype=np.intp), np.full(len(X), np.inf)
    for k, center in enumerate(centers):
        apart = np.abs(X - center) if objective == "l1" else (X - center) ** 2
        distance = apart.sum(axis=1)
        closer = distance < costs
        nearest[closer], costs[closer] = k, distance[closer]
    return nearest, costs
