"""The error rate of a tree on a mixture: the fraction of rows that it puts into leaves of another component."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boxwood._validation import as_generator, whole_number
from boxwood.metrics._checks import in_components
from boxwood.metrics._mixture_boxes import draw, has_independent_axes, reaches
from boxwood.reference import Mixture
from boxwood.tree import ThresholdTree

__all__ = ["ErrorRate", "error_rate"]

_SAMPLES = 200_000


class ErrorRate(NamedTuple):
    """Fraction of rows in a leaf of another component; `standard_error` is that of the sample, and 0 if `exact`."""

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
    n = _SAMPLES if n_samples is None else whole_number("n_samples", n_samples, 1)
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
