"""The best centres of a mixture; they differ from its means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import as_generator, show_value, whole_number
from boxwood.metrics.mixture_prices import draw
from boxwood.reference import Mixture

__all__ = ["OptimalCost", "optimal_cost"]

_ROUNDS = 300
_UPDATES: dict[str, Callable[..., Any]] = {"l1": np.median, "sqeuclidean": np.mean}


class OptimalCost(NamedTuple):
    """Cost of k centres, its standard error, and the centres in the order of the components, shape (k, d)."""

    value: float
    standard_error: float
    centers: Floats


def optimal_cost(
    mixture: Mixture, *, objective: str = "l1", n_samples: int = 50_000, random_state: Any = None
) -> OptimalCost:
    """Return a local minimum of the expected distance of a Gaussian mixture's rows to the nearest of k centres.

    The centres start at the means of the components. Each is moved to the medians (l1) or the mean (sqeuclidean) of the
    rows nearest to it, until no row changes its nearest centre. So the cost is never above that of the means. It is not
    the divisor of `mixture_price`, which measures each row against the mean of its own component.

    Parameters
    ----------
    mixture : Mixture
        Components, taken as Gaussians.
    objective : {"l1", "sqeuclidean"}, default="l1"
        Distance of a row to its centre.
    n_samples : int, default=50_000
        Number of rows drawn; at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Source of the rows that are drawn.

    Returns
    -------
    OptimalCost
        `value`, `standard_error` and `centers`.

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
    read with c_k as the centre inside the minimum.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> optimum = optimal_cost(Mixture([0.5, 0.5], [[-1], [1]], [[1], [1]]), random_state=0)
    >>> bool(optimum.centers[0, 0] < -1), bool(optimum.centers[1, 0] > 1)
    (True, True)
    """
    if objective not in _UPDATES:
        raise ValueError(f"objective must be 'l1' or 'sqeuclidean', got {show_value(objective)}")
    whole_number("n_samples", n_samples, 2)
    X, _ = draw(mixture, n_samples, as_generator(random_state))
    centers = mixture.means.copy()
    labels, costs = _assigned(X, centers, objective)
    for _ in range(_ROUNDS):
        for k in np.unique(labels):
            centers[k] = _UPDATES[objective](X[labels == k], axis=0)
        before = labels
        labels, costs = _assigned(X, centers, objective)
        if np.array_equal(before, labels):
            break
    return OptimalCost(float(costs.mean()), float(costs.std() / np.sqrt(n_samples)), centers)


def _assigned(X: Floats, centers: Floats, objective: str) -> tuple[Indices, Floats]:
    """Return the number of the nearest centre of each row, the first among equals, and the distance to it."""
    labels, costs = np.zeros(len(X), dtype=np.intp), np.full(len(X), np.inf)
    for k, center in enumerate(centers):
        by_axis = np.abs(X - center) if objective == "l1" else (X - center) ** 2
        distance = by_axis.sum(axis=1)
        closer = distance < costs
        labels[closer], costs[closer] = k, distance[closer]
    return labels, costs
