"""How reliably concepts are learned from their examples: cross-validation, a permutation test, and split halves.

The score of a concept and the least score of one that can be decoded are defined here alone. `ConceptProjector.fit`
warns by them, and `concept_report` lists them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from boxwood._threads import map_tasks, one_blas_thread
from boxwood._types import Array, Floats, Indices
from boxwood.concepts._concept_table import BINARY, ConceptTable
from boxwood.concepts._directions import Direction, Recipe
from boxwood.concepts._significance import permutation_p_value

__all__ = ["FOLDS", "MIN_AUC", "MIN_R2", "Reliability", "assess_all", "least_scores", "quick_scores", "score_text"]

FOLDS = 5  # of the cross-validation; fewer if a side has fewer examples
MIN_AUC, MIN_R2 = 0.7, 0.2  # least scores of a concept that can be decoded
MOST_OF_A_SIDE = 500  # examples of which `quick_scores` makes its folds: the AUC of noise then varies by 0.02 …
MOST_BY_COLUMN = 5  # … or so many times the columns, if that is more: with fewer, models learn the noise of examples
DRAWS = 10  # times that the examples are split into halves
FEWEST_OF_A_SIDE = 4  # examples, or halves are too small to compare


def least_scores(kinds: Sequence[str], *, min_auc: float = MIN_AUC, min_r2: float = MIN_R2) -> Floats:
    """Return the least score of a concept of each kind that counts as decodable, shape (m,)."""
    return np.array([min_auc if kind == BINARY else min_r2 for kind in kinds])


def score_text(kind: str, score: float) -> str:
    """Return a score in words, with the name of its measure."""
    return f"{'AUC' if kind == BINARY else 'R²'} {score:.2f}"


def quick_scores(recipe: Recipe, rows: Array, table: ConceptTable, *, n_jobs: int | None) -> Floats:
    """Return the cross-validated score of each concept, shape (m,), from so many examples as bound the time.

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
        """Keep at most so many examples of each side, drawn at random, and return the same object."""
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
        score, accuracy = np.mean([self._scored(*fold) for fold in splitter.split(self.rows, self.is_high)], axis=0)
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

    def _scored(self, train: Indices, test: Indices) -> tuple[float, float]:
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
