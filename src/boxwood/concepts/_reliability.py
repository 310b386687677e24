"""How reliably concepts are learned from their examples: cross-validation, a permutation test, and split halves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from boxwood._threads import map_tasks, one_blas_thread
from boxwood._types import Array, Floats, Indices
from boxwood.concepts._concept_table import BINARY, ConceptTable
from boxwood.concepts._directions import Direction, Recipe
from boxwood.concepts._significance import permutation_p_value

__all__ = ["Reliability", "assess_all"]

DRAWS = 10  # times that the examples are split into halves
FEWEST_OF_A_SIDE = 4  # examples, or halves are too small to compare


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
