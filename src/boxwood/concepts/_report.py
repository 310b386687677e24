"""`concept_report`: which concepts the embeddings of their examples support, as data and in words."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boxwood._frames import label_values
from boxwood._threads import map_tasks
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import as_table
from boxwood.concepts._concept_table import BINARY, ConceptTable
from boxwood.concepts._directions import Recipe
from boxwood.concepts._reliability import Reliability, assess
from boxwood.concepts._significance import holm
from boxwood.errors import DataError
from boxwood.kernels._gram import one_blas_thread
from boxwood.reference import encode_labels

if TYPE_CHECKING:
    from boxwood.concepts._projector import ConceptProjector

__all__ = ["ConceptReport", "concept_report"]

SIGNIFICANT = 0.05

HEADER = ("concept", "examples", "score", "p", "stability", "twin", "of groups", "reliable")
NEAR = 0.95  # cosine of a concept and its twin from which they are nearly the same


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

    def assessed(j: int) -> Reliability:
        random = np.random.RandomState(seeds[j])
        return assess(recipe, rows, table, j, cv=cv, n_permutations=count, random=random)

    with one_blas_thread():  # more of them change the last digits, and stand still where processors are busy
        found = map_tasks(assessed, range(n_concepts), n_jobs=n_jobs)
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


@dataclass(frozen=True, eq=False, repr=False)
class ConceptReport:
    """One entry for each concept; made by `concept_report`. Prints as a table (p is `p_adjusted`), notes below.

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
    n_positive: Indices
    n_negative: Indices
    score: Floats
    balanced_accuracy: Floats
    p_value: Floats
    p_adjusted: Floats
    stability: Floats
    twin: tuple[str, ...]
    twin_cosine: Floats
    determined_by_groups: Floats
    reliable: Bools

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
        found, told = [], set()
        for j, name in enumerate(self.name):
            if not self.reliable[j]:
                found.append(f"{name}: not reliable ({self._measured(j)})")
            if abs(self.twin_cosine[j]) > NEAR and (self.twin[j], name) not in told:
                told.add((name, self.twin[j]))
                word = "the same as" if self.twin_cosine[j] > 0 else "the complement of"
                found.append(f"{name}: nearly {word} {self.twin[j]} (cosine {self.twin_cosine[j]:.2f})")
            if self.determined_by_groups[j] > 1 - 1e-9:
                found.append(f"{name}: constant within each group, so it is a label of groups and not seen in examples")
        return tuple(found)

    def __repr__(self) -> str:
        return f"ConceptReport(n_concepts={len(self.name)}, n_reliable={int(self.reliable.sum())})"

    def __str__(self) -> str:
        lines = [HEADER, *(self._line(j) for j in range(len(self.name)))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*(line.rstrip() for line in padded), *(f"Note: {note}" for note in self.notes)])

    def _line(self, j: int) -> tuple[str, ...]:
        cosine, of_groups = self.twin_cosine[j], self.determined_by_groups[j]
        return (
            self.name[j],
            f"{self.n_positive[j]} + {self.n_negative[j]}",
            self._scored(j),
            f"{self.p_adjusted[j]:.2g}",
            "-" if np.isnan(self.stability[j]) else f"{self.stability[j]:.2f}",
            "-" if np.isnan(cosine) else f"{self.twin[j]} ({cosine:.2f})",
            "-" if np.isnan(of_groups) else f"{of_groups:.0%}",
            "yes" if self.reliable[j] else "no",
        )

    def _scored(self, j: int) -> str:
        return f"{'AUC' if self.kind[j] == BINARY else 'R²'} {self.score[j]:.2f}"

    def _measured(self, j: int) -> str:
        return f"{self._scored(j)}, adjusted p-value {self.p_adjusted[j]:.2g}"


def _examples(projector: ConceptProjector, Z: ArrayLike, concepts: Any) -> tuple[Array, ConceptTable]:
    check_is_fitted(projector)
    if not projector.n_examples_.all():
        raise DataError("vectors that were given cannot be learned again; fit a ConceptProjector on the examples")
    rows = as_table(Z, n_columns=projector.n_features_in_)
    return rows, ConceptTable.of(concepts, len(rows)).only(projector.concept_names_)


def _twins(projector: ConceptProjector) -> tuple[tuple[str, ...], Floats]:
    names, cosines = projector.concept_names_, projector.cosines()
    if len(names) < 2:
        return ("",), np.array([np.nan])
    np.fill_diagonal(cosines, 0.0)
    nearest = np.abs(cosines).argmax(axis=1)
    nearest = np.where(nearest == np.arange(len(names)), (nearest + 1) % len(names), nearest)  # all others orthogonal
    return tuple(names[j] for j in nearest), cosines[np.arange(len(names)), nearest]


def _determined(table: ConceptTable, groups: ArrayLike | None) -> Floats:
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
