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
from boxwood._imports import require
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import as_table, refuse_other_kind, whole_number
from boxwood.concepts._learning import FOLDS, MIN_AUC, MIN_R2, Recipe, assess_all, holm, least_scores, score_text
from boxwood.concepts._table import ConceptTable
from boxwood.errors import DataError
from boxwood.reference import encode_labels

if TYPE_CHECKING:
    from boxwood.concepts.projector import ConceptProjector

SIGNIFICANT = 0.05  # a reliable concept has an adjusted p-value below this
SAME = 0.95  # two concepts are nearly the same if the absolute cosine of their vectors is above this
HEADER = ("concept", "examples", "score", "p", "stability", "twin", "of groups", "reliable")


def concept_report(
    projector: ConceptProjector,
    Z: ArrayLike,
    concepts: Any,
    *,
    groups: ArrayLike | None = None,
    n_permutations: int | None = None,
    cv: int = FOLDS,
    min_auc: float = MIN_AUC,
    min_r2: float = MIN_R2,
    random_state: Any = None,
    n_jobs: int | None = -1,
) -> ConceptReport:
    """Return, for each concept, how well it can be predicted from the embeddings of its examples.

    Call this before you grow a tree. A tree cuts on the concept that separates clusters best, even if the direction of
    that concept is noise.

    Parameters
    ----------
    projector : ConceptProjector
        Fitted on the concepts. It is not changed; copies of its models are fitted on parts of the examples.
    Z : array-like of shape (n, d)
        Embeddings of the examples, usually those that the projector was fitted on.
    concepts : data frame, mapping or array-like of shape (n, m)
        Concept labels of the examples, as for `ConceptProjector.fit`. Concepts that the projector does not have are
        left out.
    groups : array-like of shape (n,), default=None
        Class or cluster of each example, of any hashable type. They find concepts that are labels of
        classes in disguise; see `ConceptReport.determined_by_groups`.
    n_permutations : int, default=None
        Number of permutations for each p-value. None is 999, or 40 m if that is more: an adjusted p-value cannot be
        less than m / (n_permutations + 1), m the number of concepts.
    cv : int, default=5
        Number of folds of the cross-validation; fewer if a concept has fewer examples on a side.
    min_auc, min_r2 : float, default=0.7, 0.2
        Least score of a reliable concept: `min_auc` for a binary one, `min_r2` for a continuous one. The defaults are
        judgement, not theory.
    random_state : int, RandomState or None, default=None
        Randomness of folds, halves and permutations.
    n_jobs : int or None, default=-1
        Number of threads, each of which assesses one concept at a time; -1 is all processors, None is 1. The report
        does not depend on it.

    Returns
    -------
    ConceptReport
        `projector.select(report.reliable)` keeps the reliable concepts.

    Raises
    ------
    DataError
        If the projector was not fitted on these concepts, or the numbers of rows or columns do not match.

    Warns
    -----
    UserWarning
        If there are so few permutations that no concept can be significant.

    Notes
    -----
    A reliable concept needs both a high score and a small p-value. With many examples a concept of AUC 0.55 is
    significant, but a cut on it is nearly noise.

    The p-value compares the labels with permuted labels. Each row is predicted by a ridge regression on the other rows,
    which has a closed form: 199 permutations of 400 examples take some hundredths of a second.

    Time: for each concept `cv` + 20 fits of its model, one singular value decomposition of at most 2000 examples, and
    n (r + log n) for each permutation, r the rank. That is about one second for 400 examples, 768 columns and 999
    permutations, and three seconds for the 20 000 permutations of 500 concepts. Some hundred examples on each side are
    enough; if there are many more, give a sample. Memory: one or two copies of a concept's examples for each thread.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from boxwood.concepts import ConceptProjector
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(200, 5))
    >>> concepts = {"red": Z[:, 0] > 0, "noise": rng.random(200) > 0.5}
    >>> with warnings.catch_warnings():  # fit warns of the noise, too
    ...     warnings.simplefilter("ignore")
    ...     projector = ConceptProjector().fit(Z, concepts)
    >>> report = concept_report(projector, Z, concepts, random_state=0)
    >>> report.name, report.reliable
    (('red', 'noise'), array([ True, False]))
    >>> projector.select(report.reliable).concept_names_
    ('red',)
    """
    rows, table = _examples(projector, Z, concepts)
    n_permutations = _enough_permutations(n_permutations, len(table.names))
    recipe = Recipe.of(projector.classifier, projector.regressor, rows, standardize=projector.standardize)
    random = check_random_state(random_state)
    determined_by_groups = _determined_by(groups, table)
    measured = assess_all(recipe, rows, table, cv=cv, n_permutations=n_permutations, random=random, n_jobs=n_jobs)
    p_adjusted = holm(measured.p_value)
    least_score = least_scores(table.kinds, min_auc=min_auc, min_r2=min_r2)
    twin, twin_cosine = _twins(projector)
    return ConceptReport(
        name=table.names,
        kind=table.kinds,
        **measured._asdict(),
        p_adjusted=p_adjusted,
        twin=twin,
        twin_cosine=twin_cosine,
        determined_by_groups=determined_by_groups,
        reliable=(measured.score >= least_score) & (p_adjusted < SIGNIFICANT),
    )


@dataclass(frozen=True, eq=False, repr=False)
class ConceptReport:
    """The evidence for each concept in its examples; the result of `concept_report`.

    Every attribute has one entry for each concept. `print(report)` shows a table with a line for each concept, whose
    column "p" is `p_adjusted`, and the notes below it.

    Attributes
    ----------
    name, kind : tuple of m str
        Name of each concept; "binary" or "continuous".
    n_positive, n_negative : array of shape (m,)
        Number of examples on each side. The sides of a continuous concept are above its mean, and the others.
    score : array of shape (m,)
        Cross-validated score: area under the ROC curve of a binary concept (0.5 is chance), R² of a continuous concept
        (0 is as good as its mean).
    balanced_accuracy : array of shape (m,)
        Cross-validated accuracy, averaged over the two sides; NaN for a continuous concept.
    p_value, p_adjusted : array of shape (m,)
        p-value of a permutation test, and the same adjusted for the number of concepts by the method of Holm.
    stability : array of shape (m,)
        Cosine of the two vectors that are learned from two disjoint halves of the examples, averaged over 10 draws.
        NaN if a side has fewer than 4 examples.
    twin, twin_cosine : tuple of m str, array of shape (m,)
        The other concept whose vector has the largest absolute cosine with this one's, and that cosine. A cosine of 1
        means the same concept, -1 the complement. Empty and NaN if there is no other concept.
    determined_by_groups : array of shape (m,)
        Share of the concept's variance that lies between groups. At 1 the concept is constant within each group, so
        the examples cannot distinguish it from a label of the groups. NaN without groups.
    reliable : array of shape (m,)
        Whether the score is high enough and `p_adjusted` is below 0.05.
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

    @property
    def unreliable(self) -> tuple[str, ...]:
        """Names of the concepts that are not reliable."""
        return tuple(name for name, reliable in zip(self.name, self.reliable, strict=True) if not reliable)

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about concepts, one sentence each; read them before you believe a cut on these concepts."""
        notes = []
        noted = set()  # pairs of twins: if two concepts are each other's twin, only the first is noted
        for j, name in enumerate(self.name):
            if not self.reliable[j]:
                notes.append(f"{name}: not reliable ({self._score(j)}, adjusted p-value {self.p_adjusted[j]:.2g})")
            if abs(self.twin_cosine[j]) > SAME and (self.twin[j], name) not in noted:
                noted.add((name, self.twin[j]))
                word = "the same as" if self.twin_cosine[j] > 0 else "the complement of"
                notes.append(f"{name}: nearly {word} {self.twin[j]} (cosine {self.twin_cosine[j]:.2f})")
            if self.determined_by_groups[j] > 1 - 1e-9:
                notes.append(
                    f"{name}: constant within each group, so examples cannot distinguish it from a label of groups"
                )
        return tuple(notes)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the attributes by name, as lists."""
        return {field.name: np.asarray(getattr(self, field.name)).tolist() for field in fields(self)}

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each concept; needs pandas."""
        return require("pandas", "pandas", "a data frame").DataFrame(self.to_dict())

    def __repr__(self) -> str:
        return f"ConceptReport(n_concepts={len(self.name)}, n_reliable={int(self.reliable.sum())})"

    def __str__(self) -> str:
        lines = [HEADER, *(self._cells(j) for j in range(len(self.name)))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*(line.rstrip() for line in padded), *(f"Note: {note}" for note in self.notes)])

    def _cells(self, j: int) -> tuple[str, ...]:
        cosine, of_groups = self.twin_cosine[j], self.determined_by_groups[j]
        return (
            self.name[j],
            f"{self.n_positive[j]} + {self.n_negative[j]}",
            self._score(j),
            f"{self.p_adjusted[j]:.2g}",
            "-" if np.isnan(self.stability[j]) else f"{self.stability[j]:.2f}",
            "-" if np.isnan(cosine) else f"{self.twin[j]} ({cosine:.2f})",
            "-" if np.isnan(of_groups) else f"{of_groups:.0%}",
            "yes" if self.reliable[j] else "no",
        )

    def _score(self, j: int) -> str:
        return score_text(self.kind[j], self.score[j])


def _examples(projector: ConceptProjector, Z: ArrayLike, concepts: Any) -> tuple[Array, ConceptTable]:
    """Return the embeddings and the labels of the examples, checked, for the concepts of the projector."""
    check_is_fitted(projector)
    if not projector.n_examples_.all():
        raise DataError(
            "the projector must be fitted on examples, but its vectors came from from_vectors and cannot be learned "
            "again; fit a ConceptProjector on the examples"
        )
    rows = as_table(Z, n_columns=projector.n_features_in_)
    return rows, ConceptTable.of(concepts, len(rows)).only(projector.concept_names_)


def refuse_no_report(report: object) -> None:
    """Raise a TypeError, which says how to make one, unless the argument is a ConceptReport."""
    refuse_other_kind("report", report, ConceptReport, "make one: concept_report(projector, Z, concepts)")


def _enough_permutations(n_permutations: int | None, n_concepts: int) -> int:
    """Return the number of permutations; warn if it is so small that no adjusted p-value can be significant."""
    if n_permutations is None:
        return max(999, 40 * n_concepts)
    n_permutations = whole_number("n_permutations", n_permutations, 1)
    if n_concepts >= SIGNIFICANT * (n_permutations + 1):
        warnings.warn(
            f"{n_permutations} permutations are too few for any of {n_concepts} concepts to be significant; "
            f"take at least {int(n_concepts / SIGNIFICANT)}",
            stacklevel=3,
        )
    return n_permutations


def _twins(projector: ConceptProjector) -> tuple[tuple[str, ...], Floats]:
    """Return the name of the most similar other concept for each concept, and the cosine of the two vectors."""
    names, cosines = projector.concept_names_, projector.cosines()
    if len(names) < 2:
        return ("",), np.array([np.nan])
    np.fill_diagonal(cosines, 0.0)
    row = np.arange(len(names))
    twin = np.abs(cosines).argmax(axis=1)
    twin = np.where(twin == row, (twin + 1) % len(names), twin)  # the concept itself: all others are orthogonal to it
    return tuple(names[j] for j in twin), cosines[row, twin]


def _determined_by(groups: ArrayLike | None, table: ConceptTable) -> Floats:
    """Return the share of each concept's variance that lies between groups, shape (m,); NaN without groups."""
    if groups is None:
        return np.full(len(table.names), np.nan)
    codes, _ = encode_labels(label_values(groups))
    if len(codes) != len(table.values):
        raise DataError(f"groups must have a label for each of {len(table.values)} examples, got {len(codes)}")
    shares = []
    for j in range(len(table.names)):
        examples, values = table.examples(j)
        deviations = values - values.mean()
        _, group = np.unique(codes[examples], return_inverse=True)
        means = np.bincount(group, deviations) / np.bincount(group)
        shares.append(1 - ((deviations - means[group]) ** 2).sum() / (deviations**2).sum())
    return np.array(shares)
