"""What examples say of concepts: can embeddings tell them at all, steadily, apart from each other and from classes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boxwood._frames import label_values
from boxwood._threads import map_tasks, one_blas_thread
from boxwood._validation import as_table
from boxwood.concepts._linear import Direction, Recipe
from boxwood.concepts._report import ConceptReport
from boxwood.concepts._significance import holm, permutation_p_value
from boxwood.concepts._table import BINARY, ConceptTable
from boxwood.errors import DataError
from boxwood.reference import encode_labels

if TYPE_CHECKING:
    from boxwood.concepts._projector import ConceptProjector

__all__ = ["concept_report"]

DRAWS = 10  # of two halves of the examples
SIGNIFICANT = 0.05


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
    n_jobs: int | None = -1,
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
        Their concept labels, as for `ConceptProjector.fit`; columns that the projector does not know are left out.
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
    n_jobs : int or None, default=-1
        Number of threads, each of which looks at one concept at a time; -1 is all processors, None is 1. The report
        does not depend on it.

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
    2000), and n (r + log n) for each permutation, r the rank: about a second for 400 examples, 768 columns and 999
    permutations, three for the 20 000 permutations of 500 concepts. Some hundred examples on each side say enough; of
    many more, give a sample. Memory: one copy of a concept's examples, or two, for each thread.

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
    seeds = random.randint(2**31, size=n_concepts)

    def examined(j: int) -> _Found:
        return _Test(recipe, rows, table, j, np.random.RandomState(seeds[j])).found(cv, count)

    with one_blas_thread():  # more of them change the last digits, and stand still where processors are busy
        found = map_tasks(examined, range(n_concepts), n_jobs=n_jobs)
    n_positive, n_negative, score, accuracy, p_values, stability = map(np.array, zip(*found, strict=True))
    p_adjusted = holm(p_values)
    least = np.array([min_auc if kind == BINARY else min_r2 for kind in table.kinds])
    twin, twin_cosine = _twins(projector)
    return ConceptReport(
        name=table.names,
        kind=table.kinds,
        n_positive=n_positive,
        n_negative=n_negative,
        score=score,
        balanced_accuracy=accuracy,
        p_value=p_values,
        p_adjusted=p_adjusted,
        stability=stability,
        twin=twin,
        twin_cosine=twin_cosine,
        determined_by_groups=_determined(table, groups),
        reliable=(score >= least) & (p_adjusted < SIGNIFICANT),
    )


class _Found(NamedTuple):
    """What is found of one concept."""

    n_positive: int
    n_negative: int
    score: float
    balanced_accuracy: float
    p_value: float
    stability: float


class _Test:
    """One concept, its examples, and how its direction is learned."""

    def __init__(
        self, recipe: Recipe, rows: NDArray[Any], table: ConceptTable, concept: int, random: np.random.RandomState
    ) -> None:
        known, self.values = table.examples(concept)
        self.rows, self.kind, self.recipe, self.random = rows[known], table.kinds[concept], recipe, random
        self.is_high = self.values == 1 if self.kind == BINARY else self.values > self.values.mean()

    def found(self, cv: int, n_permutations: int) -> _Found:
        n_positive = int(self.is_high.sum())
        score, accuracy = self.cross_validated(cv)
        p_value = self.p_value(n_permutations)
        return _Found(n_positive, len(self.values) - n_positive, score, accuracy, p_value, self.stability())

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
    return rows, ConceptTable.of(concepts, len(rows)).only(projector.concept_names_)


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
