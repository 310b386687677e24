"""`permutation_p_value`: whether embeddings predict a concept better than chance; `holm`: many such tests at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from boxwood._types import Floats, Indices
from boxwood.concepts._concept_table import BINARY

__all__ = ["holm", "permutation_p_value"]

MOST_ROWS = 2000  # a test of more examples takes a sample of this size
VALUES_AT_ONCE = 1 << 21  # permuted labels that are held in memory
ALPHA = 1.0  # penalty of the ridge regression on standardised columns


def permutation_p_value(
    Z: Floats,
    values: Floats,
    kind: str,
    *,
    n_permutations: int,
    random: np.random.RandomState,
) -> float:
    """Return the p-value of the hypothesis that the labels of a concept are independent of the embeddings.

    It is (1 + c) / (1 + n_permutations), c the number of permutations whose labels are predicted at least as well as
    the labels themselves. Each row is predicted by a ridge regression on the other rows. The quality of the predictions
    is the area under the ROC curve for a binary concept and R² for a continuous one. Ridge regression is used for
    every concept, whatever model its direction is learned by, so the test asks for any linear trace of the concept.

    The predictions are linear in the labels, so one decomposition serves all permutations: O(n d min(n, d)) once, then
    O(n (r + log n)) for each permutation, r the rank. If there are more than 2000 examples, a random 2000 are taken;
    half of them are of the rarer side, or all of the rarer side if it has fewer.

    Always holds: at least 1 / (n_permutations + 1). If the labels are independent of the embeddings, the p-value is at
    most p with a probability of at most p.
    """
    if len(values) > MOST_ROWS:
        rows = _some_rows(values, kind, random)
        Z, values = Z[rows], values[rows]
    if len(np.unique(values)) < 2:
        return 1.0
    factors = left_out_factors(Z)
    observed = _measure(left_out(*factors, values[:, None]), values[:, None], kind)[0]
    at_once = max(1, VALUES_AT_ONCE // len(values))
    reached = 0
    for start in range(0, n_permutations, at_once):
        count = min(at_once, n_permutations - start)
        shuffled = np.column_stack([random.permutation(values) for _ in range(count)])
        reached += int((_measure(left_out(*factors, shuffled), shuffled, kind) >= observed - 1e-12).sum())
    return (1 + reached) / (1 + n_permutations)


def left_out_factors(Z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the left singular vectors of the standardised rows, their shrinkages, and the leverage of each row."""
    rows = Z - Z.mean(axis=0)
    scale = rows.std(axis=0)
    rows = rows / np.where(scale > 0, scale, 1.0)
    U, singular, _ = np.linalg.svd(rows, full_matrices=False)
    shrinkage = singular**2 / (singular**2 + ALPHA)
    return U, shrinkage, (U**2 @ shrinkage) + 1 / len(rows)


def left_out(U: Floats, shrinkage: Floats, leverage: Floats, values: Floats) -> Floats:
    """Return the prediction for each row by a ridge regression on all other rows; labels and result are (n, p).

    The closed form needs one fit on all rows: its residual at a row, divided by 1 - leverage, is the residual of the
    fit without that row.
    """
    fitted = U @ (shrinkage[:, None] * (U.T @ values)) + values.mean(axis=0)
    lever = np.minimum(leverage, 1 - 1e-9)[:, None]  # rounding may reach 1
    return np.asarray((fitted - lever * values) / (1 - lever))


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted for the number of tests, shape (m,), by the step-down method of Holm.

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
    """Return a sample of `MOST_ROWS` rows; of a binary concept half are of the rarer side, if it has so many."""
    rows = random.permutation(len(values))
    if kind != BINARY:
        return rows[:MOST_ROWS]
    is_rare = values[rows] == (values.mean() < 0.5)
    rare = rows[is_rare][: MOST_ROWS // 2]
    return np.concatenate([rare, rows[~is_rare][: MOST_ROWS - len(rare)]])


def _measure(predicted: Floats, values: Floats, kind: str) -> Floats:
    """Return the quality of the predictions of each column of values, shape (p,): area under the curve, or R²."""
    if kind == BINARY:
        n_positive = int(values[:, 0].sum())
        ranks = (rankdata(predicted, axis=0) * values).sum(axis=0)
        return np.asarray((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * (len(values) - n_positive)))
    residuals = ((values - predicted) ** 2).sum(axis=0)
    return np.asarray(1 - residuals / ((values - values.mean(axis=0)) ** 2).sum(axis=0))
