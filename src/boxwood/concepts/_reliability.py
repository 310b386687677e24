"""What examples say of concepts: can embeddings tell them at all, steadily, apart from each other and from classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from boxwood._types import Array, Indices
from boxwood.concepts._concept_table import BINARY, ConceptTable
from boxwood.concepts._directions import Direction, Recipe
from boxwood.concepts._significance import permutation_p_value

if TYPE_CHECKING:
    pass

__all__ = ["Reliability", "assess"]

DRAWS = 10  # of two halves of the examples


class Reliability(NamedTuple):
    """The examples of one concept, counted, and the scores of its direction; see `ConceptReport`."""

    n_positive: int
    n_negative: int
    score: float
    balanced_accuracy: float
    p_value: float
    stability: float


def assess(
    recipe: Recipe,
    rows: Array,
    table: ConceptTable,
    concept: int,
    *,
    cv: int,
    n_permutations: int,
    random: np.random.RandomState,
) -> Reliability:
    """Return how reliably the direction of a concept is learned from its examples."""
    examples = _Examples(recipe, rows, table, concept, random)
    n_positive = int(examples.is_high.sum())
    score, accuracy = examples.cross_validated(cv)
    p_value = examples.p_value(n_permutations)
    return Reliability(n_positive, len(examples.values) - n_positive, score, accuracy, p_value, examples.stability())


class _Examples:
    """One concept, its examples, and how its direction is learned."""

    def __init__(
        self, recipe: Recipe, rows: Array, table: ConceptTable, concept: int, random: np.random.RandomState
    ) -> None:
        known, self.values = table.examples(concept)
        self.rows, self.kind, self.recipe, self.random = rows[known], table.kinds[concept], recipe, random
        self.is_high = self.values == 1 if self.kind == BINARY else self.values > self.values.mean()

    def learn(self, chosen: Indices) -> Direction:
        return self.recipe.learn(self.rows[chosen], self.values[chosen], self.kind)

    def cross_validated(self, cv: int) -> tuple[float, float]:
        """Return the score and the balanced accuracy, each a mean over folds."""
        rarest = min(self.is_high.sum(), (~self.is_high).sum()) if self.kind == BINARY else len(self.values) // 2
        folds = max(2, min(cv, int(rarest)))
        seed = self.random.randint(2**31)
        splitter = (StratifiedKFold if self.kind == BINARY else KFold)(folds, shuffle=True, random_state=seed)
        found = [self._scored(*split) for split in splitter.split(self.rows, self.is_high)]
        score, accuracy = np.mean(found, axis=0)
        return float(score), float(accuracy)

    def _scored(self, train: Indices, test: Indices) -> tuple[float, float]:
        if self.kind != BINARY and np.ptp(self.values[train]) == 0:
            return 0.0, np.nan
        direction = self.learn(train)
        scores, values = direction.scores(self.rows[test]), self.values[test]
        if self.kind == BINARY:
            return roc_auc_score(values, scores), balanced_accuracy_score(values, scores > 0)
        lost = ((values - direction.center - scores) ** 2).sum()
        spread = ((values - direction.center) ** 2).sum()  # against the mean of the rows learned from
        return (1 - lost / spread if spread > 0 else 0.0), np.nan

    def p_value(self, n_permutations: int) -> float:
        rows = self.rows.astype(np.float64)
        return permutation_p_value(rows, self.values, self.kind, n_permutations=n_permutations, random=self.random)

    def stability(self) -> float:
        """Return the mean cosine of the vectors of two disjoint halves, each with examples of both sides."""
        sides = [np.flatnonzero(self.is_high), np.flatnonzero(~self.is_high)]
        if min(map(len, sides)) < 4:
            return float("nan")
        found = []
        for _ in range(DRAWS):
            shuffled = [self.random.permutation(side) for side in sides]
            halves = [np.concatenate([side[half::2] for side in shuffled]) for half in (0, 1)]
            a, b = (self.learn(np.sort(half)).vector for half in halves)
            lengths = np.linalg.norm(a) * np.linalg.norm(b)
            found.append(float(a @ b / lengths) if lengths > 0 else 0.0)
        return float(np.mean(found))
