"""Learning concepts from examples: directions, their reliability, and tests against chance.

The score of a concept and the least score of one that can be decoded are defined here alone. `ConceptProjector.fit`
warns by them, and `concept_report` lists them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from boxwood._threads import map_tasks, one_blas_thread
from boxwood._types import Array, Floats, Indices
from boxwood.concepts._table import BINARY, ConceptTable
from boxwood.errors import DataError

CLASSIFIERS = ("logistic", "svm", "mean-difference")
REGRESSORS = ("ridge",)


class Direction(NamedTuple):
    """A linear function of embeddings, `x @ vector + intercept`, in raw latent coordinates.

    For a binary concept it is above 0 where the concept is predicted. For a continuous concept it predicts the value
    minus `center`, the mean of its examples.
    """

    vector: Floats
    intercept: float
    center: float

    def scores(self, Z: Array) -> Floats:
        """Return the value of the function at each row, shape (n,)."""
        return np.asarray(Z @ self.vector + self.intercept)


class Recipe(NamedTuple):
    """How directions are learned: a linear model for each kind of concept, and the scale of each latent column.

    A model is a name or an estimator of scikit-learn. Columns are standardised in the same way for all concepts.
    """

    classifier: Any
    regressor: Any
    shift: Floats  # subtracted from each column, shape (d,)
    scale: Floats  # each column is then divided by it, shape (d,)

    @classmethod
    def of(cls, classifier: Any, regressor: Any, Z: Array, *, standardize: bool) -> Recipe:
        """Return the recipe with columns scaled by their deviations over all examples, or not scaled."""
        shift, scale = _shift_and_scale(Z) if standardize else (np.zeros(Z.shape[1]), np.ones(Z.shape[1]))
        return cls(classifier, regressor, shift, scale)

    def learn(self, Z: Array, values: Floats, kind: str) -> Direction:
        """Return the direction of one concept from its examples, rows of shape (n, d) and values of shape (n,)."""
        rows = np.subtract(Z, self.shift, dtype=np.float64)
        rows /= self.scale
        center = 0.0 if kind == BINARY else float(values.mean())
        model = self.classifier if kind == BINARY else self.regressor
        if isinstance(model, str) and model == "mean-difference":
            vector, intercept = _mean_difference(rows, values)
        else:
            vector, intercept = _fit_linear(model, rows, values - center)
        vector = vector / self.scale
        return Direction(vector, float(intercept - vector @ self.shift), center)


def _shift_and_scale(Z: Array) -> tuple[Floats, Floats]:
    """Return the mean of each column, and its standard deviation or a hundredth of the typical one if that is larger.

    A column may be nearly constant in the examples but vary in other data. Divided by its own small deviation, the
    column would get so large a weight that it outweighs all others in that data.
    """
    low, high = Z.min(axis=0), Z.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(low == high, low, Z.mean(axis=0, dtype=np.float64))  # a constant column becomes 0, not rounding
        deviations = Z.std(axis=0, dtype=np.float64)
    if not np.isfinite(deviations).all():
        raise DataError("the embeddings are too large for their variance; divide the columns by a power of ten")
    largest = deviations.max()
    if not largest > 0:
        return mean, np.ones_like(mean)
    typical = largest * np.sqrt(np.mean((deviations / largest) ** 2))  # root mean square, without overflow
    return mean, np.maximum(deviations, typical / 100)


def _mean_difference(rows: Floats, values: Floats) -> tuple[Floats, float]:
    """Return the difference of the means of positives and negatives, and the intercept that is 0 halfway."""
    negative, positive = rows[values == 0].mean(axis=0), rows[values == 1].mean(axis=0)
    vector = positive - negative
    return vector, -float(vector @ (positive + negative)) / 2


def _fit_linear(model: Any, rows: Floats, values: Floats) -> tuple[Floats, float]:
    """Return the coefficients and the intercept of a fitted linear model."""
    fitted = (_model_of(model) if isinstance(model, str) else clone(model)).fit(rows, values)
    if not hasattr(fitted, "coef_"):
        raise DataError(
            f"{type(fitted).__name__} has no coef_ after fit; give a linear model, such as LogisticRegression()"
        )
    coefficients = np.ravel(fitted.coef_)  # some models have shape (d,), others (1, d)
    if coefficients.shape != (rows.shape[1],):
        raise DataError(
            f"{type(fitted).__name__} has coef_ of shape {np.shape(fitted.coef_)}, expected ({rows.shape[1]},)"
        )
    return np.asarray(coefficients, dtype=np.float64), float(np.ravel(fitted.intercept_)[0])


def _model_of(model: str) -> Any:
    """Return the model that a name stands for."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    if model == "logistic":
        return LogisticRegression(C=1.0, class_weight="balanced", max_iter=10_000)
    if model == "svm":  # the primal problem draws no random numbers
        return LinearSVC(C=1.0, class_weight="balanced", dual=False, max_iter=10_000)
    return Ridge(alpha=1.0)


def unit_vectors(vectors: Sequence[Floats], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return vectors scaled to length 1, shape (m, d), and their lengths before, shape (m,)."""
    stacked = np.array(vectors, dtype=np.float64)
    largest = np.abs(stacked).max(axis=1)
    for name, size in zip(names, largest, strict=True):
        if not (np.isfinite(size) and size > 0):
            raise DataError(
                f"concept {name!r} has no direction: its vector must be finite and not 0, got length {size:g}; "
                "leave the concept out"
            )
    scaled = stacked / largest[:, None]  # else the squares of tiny or huge numbers would underflow or overflow
    lengths = np.linalg.norm(scaled, axis=1)
    with np.errstate(over="ignore"):  # a length may be infinite where no number of the vector is
        return scaled / lengths[:, None], largest * lengths


FOLDS = 5  # folds of the cross-validation; fewer if a side has fewer examples
MIN_AUC, MIN_R2 = 0.7, 0.2  # least scores of a concept that can be decoded
MOST_OF_A_SIDE = 500  # most examples of each side in `quick_scores`: the AUC of noise then varies by 0.02 …
MOST_BY_COLUMN = 5  # … or 5 times the number of columns, if that is more: with fewer, models overfit
DRAWS = 10  # number of random splits of the examples into halves
FEWEST_OF_A_SIDE = 4  # fewest examples of each side; with fewer, halves are too small to compare


def least_scores(kinds: Sequence[str], *, min_auc: float = MIN_AUC, min_r2: float = MIN_R2) -> Floats:
    """Return the least score of a concept of each kind that counts as decodable, shape (m,)."""
    return np.array([min_auc if kind == BINARY else min_r2 for kind in kinds])


def score_text(kind: str, score: float) -> str:
    """Return a score in words, with the name of its measure."""
    return f"{'AUC' if kind == BINARY else 'R²'} {score:.2f}"


def quick_scores(recipe: Recipe, rows: Array, table: ConceptTable, *, n_jobs: int | None) -> Floats:
    """Return the cross-validated score of each concept, shape (m,), from a limited number of examples.

    NaN where the model of a concept refuses the smaller number of examples. The result is the same each time.
    """
    most = max(MOST_OF_A_SIDE, MOST_BY_COLUMN * rows.shape[1])

    def score(j: int) -> float:
        examples = _Examples(recipe, rows, table, j, np.random.RandomState(0))
        try:
            return examples.sampled(most).cross_validated(FOLDS)[0]
        except ValueError:
            return float("nan")

    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")  # the model says the same of all examples
        return np.array(map_tasks(score, range(len(table.names)), n_jobs=n_jobs))


class Reliability(NamedTuple):
    """Entries of a `ConceptReport`, each of shape (m,)."""

    n_positive: Indices
    n_negative: Indices
    score: Floats
    balanced_accuracy: Floats
    p_value: Floats
    stability: Floats


def assess_all(
    recipe: Recipe,
    rows: Array,
    table: ConceptTable,
    *,
    cv: int,
    n_permutations: int,
    random: np.random.RandomState,
    n_jobs: int | None,
) -> Reliability:
    """Return how reliably each concept is learned by a recipe; the result does not depend on the number of threads."""
    seeds = random.randint(2**31, size=len(table.names))

    def assess(j: int) -> tuple[float, ...]:
        examples = _Examples(recipe, rows, table, j, np.random.RandomState(seeds[j]))
        score, accuracy = examples.cross_validated(cv)
        p_value = examples.p_value(n_permutations)
        return (*examples.counts(), score, accuracy, p_value, examples.stability())

    with one_blas_thread():  # several would change the last digits, and wait for each other on busy processors
        entries = map_tasks(assess, range(len(table.names)), n_jobs=n_jobs)
    return Reliability(*map(np.array, zip(*entries, strict=True)))


class _Examples:
    """The examples of one concept; every method draws from the same random numbers."""

    def __init__(
        self, recipe: Recipe, rows: Array, table: ConceptTable, concept: int, random: np.random.RandomState
    ) -> None:
        examples, self.values = table.examples(concept)
        self.rows, self.kind, self.recipe, self.random = rows[examples], table.kinds[concept], recipe, random
        self.is_high = self.values == 1 if self.kind == BINARY else self.values > self.values.mean()

    def sampled(self, most: int) -> _Examples:
        """Keep at most `most` examples of each side, drawn at random, and return the same object."""
        sides = [np.flatnonzero(side) for side in (self.is_high, ~self.is_high)]
        kept = [side if len(side) <= most else self.random.choice(side, most, replace=False) for side in sides]
        chosen = np.sort(np.concatenate(kept))
        self.rows, self.values, self.is_high = self.rows[chosen], self.values[chosen], self.is_high[chosen]
        return self

    def counts(self) -> tuple[int, int]:
        """Return the number of examples on the high side and on the low side."""
        n_high = int(self.is_high.sum())
        return n_high, len(self.values) - n_high

    def cross_validated(self, cv: int) -> tuple[float, float]:
        """Return the score and the balanced accuracy, each a mean over folds."""
        most_folds = min(self.counts()) if self.kind == BINARY else len(self.values) // 2
        n_folds = max(2, min(cv, most_folds))
        seed = self.random.randint(2**31)
        splitter = (StratifiedKFold if self.kind == BINARY else KFold)(n_folds, shuffle=True, random_state=seed)
        score, accuracy = np.mean([self._score_fold(*fold) for fold in splitter.split(self.rows, self.is_high)], axis=0)
        return float(score), float(accuracy)

    def p_value(self, n_permutations: int) -> float:
        """Return the p-value of a permutation test."""
        rows = self.rows.astype(np.float64)
        return permutation_p_value(rows, self.values, self.kind, n_permutations=n_permutations, random=self.random)

    def stability(self) -> float:
        """Return the mean cosine of the vectors of two disjoint halves, each with examples of both sides."""
        sides = [np.flatnonzero(self.is_high), np.flatnonzero(~self.is_high)]
        if min(map(len, sides)) < FEWEST_OF_A_SIDE:
            return float("nan")
        cosines = []
        for _ in range(DRAWS):
            shuffled = [self.random.permutation(side) for side in sides]
            halves = [np.concatenate([side[half::2] for side in shuffled]) for half in (0, 1)]
            a, b = (self._learn(np.sort(half)).vector for half in halves)
            lengths = np.linalg.norm(a) * np.linalg.norm(b)
            cosines.append(float(a @ b / lengths) if lengths > 0 else 0.0)
        return float(np.mean(cosines))

    def _learn(self, subset: Indices) -> Direction:
        return self.recipe.learn(self.rows[subset], self.values[subset], self.kind)

    def _score_fold(self, train: Indices, test: Indices) -> tuple[float, float]:
        """Return the score of one fold and its balanced accuracy, NaN for a continuous concept."""
        if self.kind != BINARY and np.ptp(self.values[train]) == 0:
            return 0.0, np.nan
        direction = self._learn(train)
        scores, values = direction.scores(self.rows[test]), self.values[test]
        if self.kind == BINARY:
            return roc_auc_score(values, scores), balanced_accuracy_score(values, scores > 0)
        residuals = ((values - direction.center - scores) ** 2).sum()
        total = ((values - direction.center) ** 2).sum()  # around the mean of the training rows
        return (1 - residuals / total if total > 0 else 0.0), np.nan


MOST_ROWS = 2000  # most examples in a permutation test; if there are more, a sample is taken
VALUES_AT_ONCE = 1 << 21  # most permuted labels in memory at a time
ALPHA = 1.0  # penalty of the ridge regression on standardised columns


def permutation_p_value(
    Z: Floats, values: Floats, kind: str, *, n_permutations: int, random: np.random.RandomState
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
    observed = _measure(predict_left_out(*factors, values[:, None]), values[:, None], kind)[0]
    at_once = max(1, VALUES_AT_ONCE // len(values))
    reached = 0
    for start in range(0, n_permutations, at_once):
        count = min(at_once, n_permutations - start)
        shuffled = np.column_stack([random.permutation(values) for _ in range(count)])
        reached += int((_measure(predict_left_out(*factors, shuffled), shuffled, kind) >= observed - 1e-12).sum())
    return (1 + reached) / (1 + n_permutations)


def left_out_factors(Z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the left singular vectors of the standardised rows, their shrinkages, and the leverage of each row."""
    rows = Z - Z.mean(axis=0)
    scale = rows.std(axis=0)
    rows = rows / np.where(scale > 0, scale, 1.0)
    U, singular, _ = np.linalg.svd(rows, full_matrices=False)
    shrinkage = singular**2 / (singular**2 + ALPHA)
    return U, shrinkage, (U**2 @ shrinkage) + 1 / len(rows)


def predict_left_out(U: Floats, shrinkage: Floats, leverage: Floats, values: Floats) -> Floats:
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
