"""What a clustering loses by being explained: the cost of the tree over the cost of the reference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._validation import as_table, as_weights
from boxwood.metrics._centers import objective_code
from boxwood.metrics._checks import check_fit
from boxwood.metrics._cost import summed_distances
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree

__all__ = ["price_of_explainability", "ratio"]


def price_of_explainability(
    X: ArrayLike,
    tree: ThresholdTree,
    reference: Reference,
    *,
    objective: str = "sqeuclidean",
    centers: ArrayLike | None = None,
    kernel: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cost of the tree's partition divided by the cost of the reference, over the rows the reference keeps.

    A price of 1 loses nothing. It is below 1 where the reference is not the best clustering and the tree's is better;
    it is never clipped.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    tree : ThresholdTree
        Tree that explains the reference; its clusters are the reference's.
    reference : Reference
        Clustering of the same rows.
    objective : {"l1", "l2", "sqeuclidean"}, default="sqeuclidean"
        See `cost`.
    centers : array-like of shape (k, d), default=None
        Centres for both partitions, such as `reference.centers`. None takes for each partition its own best centres.
    kernel : None
        Costs are measured in the columns themselves; no other value is accepted.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    float
        No unit. 1 where both costs are 0, infinite where only the reference's is.

    Raises
    ------
    DataError
        If rows, tree and reference do not fit together.
    ValueError
        If the objective is unknown or a kernel is given.

    Notes
    -----
    Takes the time of two calls of `cost`.

    References
    ----------
    M. Moshkovitz, S. Dasgupta, C. Rashtchian, N. Frost, "Explainable k-means and k-medians clustering", ICML 2020,
    arXiv:2002.12538.

    Examples
    --------
    >>> from boxwood.tree import ThresholdTree
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 5, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> X = [[0.0], [2.0], [6.0], [8.0]]
    >>> price_of_explainability(X, tree, Reference.of(X, [0, 0, 1, 1]))
    1.0
    >>> price_of_explainability(X, tree, Reference.of(X, [0, 0, 0, 1]))
    0.21428571428571427
    """
    if kernel is not None:
        raise ValueError(f"kernel must be None, got {kernel!r}: costs are measured in the columns of X")
    code, table = objective_code(objective), as_table(X)
    check_fit(table, tree, reference)
    weights = as_weights(sample_weight, len(table))
    predicted = np.where(reference.kept, tree.predict(table), -1)
    of_tree = summed_distances(table, predicted, code, centers, weights)
    return ratio(of_tree, summed_distances(table, reference.labels, code, centers, weights))


def ratio(cost: float, reference_cost: float) -> float:
    """Return `cost / reference_cost`, where 0 / 0 is 1 and anything else over 0 is infinite.

    Raises
    ------
    ValueError
        If a cost is negative or not a number.

    Examples
    --------
    >>> ratio(3.0, 2.0), ratio(0.0, 0.0), ratio(3.0, 0.0)
    (1.5, 1.0, inf)
    """
    if not (cost >= 0 and reference_cost >= 0):
        raise ValueError(f"costs must not be negative, got {cost} and {reference_cost}")
    if reference_cost > 0:
        return float(cost / reference_cost)
    return 1.0 if cost == 0 else math.inf
