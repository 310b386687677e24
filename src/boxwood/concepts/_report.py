"""What examples say of concepts: can embeddings tell them at all, steadily, apart from each other and from classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boxwood._frames import label_values
from boxwood._validation import as_table
from boxwood.concepts._linear import Direction, Recipe
from boxwood.concepts._significance import holm, permutation_p_value
from boxwood.concepts._table import BINARY, ConceptTable
from boxwood.errors import DataError
from boxwood.reference import encode_labels

if TYPE_CHECKING:
    from boxwood.concepts._projector import ConceptProjector

__all__ = ["ConceptReport", "concept_report"]

DRAWS = 10  # of two halves of the examples
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class ConceptReport:
    """One entry for each concept; made by `concept_report`.

    Attributes
    ----------
    name, kind : tuple of m str
        Name of each concept; "binary" or "continuous".
    n_positive, n_negative : array of shape (m,)
        Number of examples on each side; of a continuous concept, above and not above their mean.
    score : array of shape (m,)
        Cross-validated area under the ROC curve (0.5 is chance), or R² of a continuous concept (0 is its mean).
    balanced_accuracy : array of shape (m,)
        Cross-validated mean of the accuracies on both sides; NaN for a continuous concept.
    p_value, p_adjusted : array of shape (m,)
        Significance by permutation of the labels, and the same adjusted for the number of concepts (Holm).
    stability : array of shape (m,)
        Mean cosine of the vectors that are learned from two disjoint halves of the examples, over 10 draws; NaN where
        there are too few.
    twin, twin_cosine : tuple of m str, array of shape (m,)
        The other concept whose vector lies nearest to this one's or to its opposite, and the cosine: 1 is the same
        concept, -1 its complement. Empty and NaN where there is no other.
    determined_by_groups : array of shape (m,)
        Share of the concept's variance that lies between groups: 1 where it is constant in each, so that it is a
        label of classes in disguise. NaN where no groups were given.
    reliable : array of shape (m,)
        Whether the score is high enough and `p_adjusted` below 0.05.
    """

    name: tuple[str, ...]
    kind: tuple[str, ...]
    n_positive: NDArray[np.intp]
    n_negative: NDArray[np.intp]
    score: NDArray[np.float64]
    balanced_accuracy: NDArray[np.float64]
    p_value: NDArray[np.float64]
    p_adjusted: NDArray[np.float64]
    stability: NDArray[np.float64]
    twin: tuple[str, ...]
    twin_cosine: NDArray[np.float64]
    determined_by_groups: NDArray[np.float64]
    reliable: NDArray[np.bool_]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, as lists."""
        return {field.name: np.asarray(getattr(self, field.name)).tolist() for field in fields(self)}

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each concept; needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("a data frame needs pandas: pip install pandas") from None
        return pd.DataFrame(self.to_dict())

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before cuts on these concepts are believed, a sentence each."""
        found = []
        for j, name in enumerate(self.name):
            if not self.reliable[j]:
                found.append(f"{name}: not reliable ({self._measured(j)})")
            if abs(self.twin_cosine[j]) > 0.95 and name < self.twin[j]:
                word = "the same as" if self.twin_cosine[j] > 0 else "the complement of"
                found.append(f"{name}: nearly {word} {self.twin[j]} (cosine {self.twin_cosine[j]:.2f})")
            if self.determined_by_groups[j] > 1 - 1e-9:
                found.append(f"{name}: constant within each group, so it is a label of groups and not seen in examples")
        return tuple(found)

    def _measured(self, j: int) -> str:
        measure = "AUC" if self.kind[j] == BINARY else "R²"
        return f"{measure} {self.score[j]:.2f}, adjusted p-value {self.p_adjusted[j]:.2g}"


def concept_report(
    projector: ConceptProjector,
    Z: ArrayLike,
    concepts: Any,
    *,
    groups: ArrayLike | None = None,
    n_permutations: int | None = None,
    cv: int = 5,
    min_auc: float = 0.7,
    min_r2: float = 0.2,
    random_state: Any = None,
) -> ConceptReport:
    """Return, for each concept, how well the embeddings of its examples know it.

    Look before you cut: a tree takes the concept that parts clusters best, be it noise to its own examples.

    Parameters
    ----------
    projector : ConceptProjector
        Fitted on the concepts; its models are fitted again on parts of the examples.
    Z : array-like of shape (n, d)
        Embeddings of the examples, as a rule those that the projector was fitted on.
    concepts : data frame, mapping or array-like of shape (n, m)
        Their concept labels, as for `ConceptProjector.fit`.
    groups : array-like of shape (n,), default=None
        Class or cluster of each example, of any hashable type, to find concepts that are labels of classes in disguise.
    n_permutations : int, default=None
        Permutations for each p-value; None is 999, or 40 for each concept if these are more, as an adjusted p-value
        cannot be less than m / (n_permutations + 1).
    cv : int, default=5
        Folds of the cross-validation; fewer where a concept has fewer examples on a side.
    min_auc, min_r2 : float, default=0.7, 0.2
        Score that a reliable concept needs. Judgement, not theory.
    random_state : int, RandomState or None, default=None
        Randomness of folds, halves and permutations.

    Returns
    -------
    ConceptReport
        `projector.select(report.reliable)` keeps the concepts worth believing.

    Raises
    ------
    DataError
        If the projector was not fitted on these concepts, or rows do not fit together.

    Warns
    -----
    UserWarning
        If `n_permutations` are so few that no concept can be significant.

    Notes
    -----
    A small p-value alone is not enough: with many examples a concept of AUC 0.55 is significant, and a cut on it is
    nearly noise. Permutations are those of the scores that a ridge regression on the other rows gives (closed form):
    199 of them take some hundredths of a second for 400 examples.

    Time: for each concept `cv` + 20 fits of its model, one singular value decomposition of its examples (of at most
    2000), and n log n for each permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from boxwood.concepts import ConceptProjector
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(200, 5))
    >>> concepts = {"red": Z[:, 0] > 0, "noise": rng.random(200) > 0.5}
    >>> projector = ConceptProjector().fit(Z, concepts)
    >>> report = concept_report(projector, Z, concepts, random_state=0)
    >>> report.name, report.reliable
    (('red', 'noise'), array([ True, False]))
    >>> projector.select(report.reliable).concept_names_
    ('red',)
    """
    rows, table = _examples(projector, Z, concepts)
    random = check_random_state(random_state)
    n_concepts = len(table.names)
    count = max(999, 40 * n_concepts) if n_permutations is None else n_permutations
    if n_concepts >= SIGNIFICANT * (count + 1):
        warnings.warn(
            f"{count} permutations are too few for any of {n_concepts} concepts to be significant; "
            f"take at least {int(n_concepts / SIGNIFICANT)}",
            stacklevel=2,
        )
    recipe = Recipe.of(projector.classifier, projector.regressor, rows, standardize=projector.standardize)
    tests = [_Test(recipe, rows, table, j, random) for j in range(n_concepts)]
    scores = [test.cross_validated(cv) for test in tests]
    p_values = np.array([test.p_value(count) for test in tests])
    score, p_adjusted = np.array([one[0] for one in scores]), holm(p_values)
    least = np.array([min_auc if kind == BINARY else min_r2 for kind in table.kinds])
    twin, twin_cosine = _twins(projector)
    return ConceptReport(
        name=table.names,
        kind=table.kinds,
        n_positive=np.array([test.is_high.sum() for test in tests]),
        n_negative=np.array([(~test.is_high).sum() for test in tests]),
        score=score,
        balanced_accuracy=np.array([one[1] for one in scores]),
        p_value=p_values,
        p_adjusted=p_adjusted,
        stability=np.array([test.stability() for test in tests]),
        twin=twin,
        twin_cosine=twin_cosine,
        determined_by_groups=_determined(table, groups),
        reliable=(score >= least) & (p_adjusted < SIGNIFICANT),
    )


class _Test:
    """One concept, its examples, and how its direction is learned."""

    def __init__(
        self, recipe: Recipe, rows: NDArray[Any], table: ConceptTable, concept: int, random: np.random.RandomState
    ) -> None:
        known, self.values = table.examples(concept)
        self.rows, self.kind, self.recipe, self.random = rows[known], table.kinds[concept], recipe, random
        self.is_high = self.values == 1 if self.kind == BINARY else self.values > self.values.mean()

    def learn(self, chosen: NDArray[np.intp]) -> Direction:
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

    def _scored(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> tuple[float, float]:
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


def _examples(projector: ConceptProjector, Z: ArrayLike, concepts: Any) -> tuple[NDArray[Any], ConceptTable]:
    check_is_fitted(projector)
    if not projector.n_examples_.all():
        raise DataError("vectors that were given cannot be learned again; fit a ConceptProjector on the examples")
    rows = as_table(Z, n_columns=projector.n_features_in_)
    table = ConceptTable.of(concepts, len(rows))
    if table.names != projector.concept_names_:
        raise DataError(f"the projector knows the concepts {projector.concept_names_}, but labels are of {table.names}")
    return rows, table


def _twins(projector: ConceptProjector) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    names, cosines = projector.concept_names_, projector.cosines()
    if len(names) < 2:
        return ("",), np.array([np.nan])
    np.fill_diagonal(cosines, 0.0)
    nearest = np.abs(cosines).argmax(axis=1)
    nearest = np.where(nearest == np.arange(len(names)), (nearest + 1) % len(names), nearest)  # all others orthogonal
    return tuple(names[j] for j in nearest), cosines[np.arange(len(names)), nearest]


def _determined(table: ConceptTable, groups: ArrayLike | None) -> NDArray[np.float64]:
    """Return the share of each concept's variance that lies between groups, shape (m,)."""
    if groups is None:
        return np.full(len(table.names), np.nan)
    codes, _ = encode_labels(label_values(groups))
    if len(codes) != len(table.values):
        raise DataError(f"groups must have a label for each of {len(table.values)} examples, got {len(codes)}")
    shares = []
    for j in range(len(table.names)):
        known, values = table.examples(j)
        deviations = values - values.mean()
        _, where = np.unique(codes[known], return_inverse=True)
        means = np.bincount(where, deviations) / np.bincount(where)
        shares.append(1 - ((deviations - means[where]) ** 2).sum() / (deviations**2).sum())
    return np.array(shares)
