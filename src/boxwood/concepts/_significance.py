"""Whether embeddings know a concept at all: permutations of its labels, by the closed form of ridge regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from boxwood._types import Floats, Indices
from boxwood.concepts._concept_table import BINARY

__all__ = ["holm", "permutation_p_value"]

MOST_ROWS = 2000  # that a test looks at
_VALUES_AT_ONCE = 1 << 21
ALPHA = 1.0  # of the ridge regression, on standardised columns


def permutation_p_value(
    Z: Floats,
    values: Floats,
    kind: str,
    *,
    n_permutations: int,
    random: np.random.RandomState,
) -> float:
    """Return how often shuffled labels are predicted at least as well as the labels themselves.

    Each row is predicted by a ridge regression on the others. What that gives for all rows is linear in the labels, so
    one decomposition serves every permutation: O(n d min(n, d)), then O(n (r + log n)) for each, r the rank. The
    measure is the area under the ROC curve for a binary concept, R² for a continuous one; both are predicted by the
    same ridge regression, whatever model the concept is learned by, so this asks for any linear trace of the concept.
    Of more than 2000 examples a random 2000 are looked at, half of them of the rarer side as far as there are so many.

    Always holds: at least 1 / (n_permutations + 1). If labels have nothing to do with embeddings, it is at most p with
    a probability of at most p.
    """
    if len(values) > MOST_ROWS:
        rows = _some_rows(values, kind, random)
        Z, values = Z[rows], values[rows]
    if len(np.unique(values)) < 2:
        return 1.0
    factors = left_out_factors(Z)
    observed = _measure(left_out(*factors, values[:, None]), values[:, None], kind)[0]
    at_once = max(1, _VALUES_AT_ONCE // len(values))
    reached = 0
    for start in range(0, n_permutations, at_once):
        count = min(at_once, n_permutations - start)
        shuffled = np.column_stack([random.permutation(values) for _ in range(count)])
        reached += int((_measure(left_out(*factors, shuffled), shuffled, kind) >= observed - 1e-12).sum())
    return (1 + reached) / (1 + n_permutations)


def left_out_factors(Z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the left singular vectors of the standardised rows, their shrinkages and the leverages of the rows."""
    rows = Z - Z.mean(axis=0)
    scale = rows.std(axis=0)
    rows = rows / np.where(scale > 0, scale, 1.0)
    U, singular, _ = np.linalg.svd(rows, full_matrices=False)
    shrinkage = singular**2 / (singular**2 + ALPHA)
    return U, shrinkage, (U**2 @ shrinkage) + 1 / len(rows)


def left_out(U: Floats, shrinkage: Floats, leverage: Floats, values: Floats) -> Floats:
    """Return what a ridge regression on all other rows predicts for each row, for columns of labels (n, p)."""
    fitted = U @ (shrinkage[:, None] * (U.T @ values)) + values.mean(axis=0)
    lever = np.minimum(leverage, 1 - 1e-9)[:, None]  # below 1 but for rounding
    return np.asarray((fitted - lever * values) / (1 - lever))


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted for the number of tests by the method of Holm, shape (m,).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)


def _some_rows(values: Floats, kind: str, random: np.random.RandomState) -> Indices:
    rows = random.permutation(len(values))
    if kind != BINARY:
        return rows[:MOST_ROWS]
    is_rare = values[rows] == (values.mean() < 0.5)
    rare = rows[is_rare][: MOST_ROWS // 2]
    return np.concatenate([rare, rows[~is_rare][: MOST_ROWS - len(rare)]])


def _measure(predicted: Floats, values: Floats, kind: str) -> Floats:
    """Return how well each column of values is predicted, shape (p,)."""
    if kind == BINARY:
        n_positive = int(values[:, 0].sum())
        ranks = (rankdata(predicted, axis=0) * values).sum(axis=0)
        return np.asarray((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * (len(values) - n_positive)))
    lost = ((values - predicted) ** 2).sum(axis=0)
    return np.asarray(1 - lost / ((values - values.mean(axis=0)) ** 2).sum(axis=0))
