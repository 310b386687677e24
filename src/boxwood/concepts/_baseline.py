"""`concept_baseline`: the scores of meaningless concepts on the same clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from boxwood._frames import label_values
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, list_words, refuse_other_kind, refuse_unknown, show_value
from boxwood.concepts._table import ConceptTable
from boxwood.concepts._trees import refuse_concept_tree
from boxwood.concepts.projector import ConceptProjector
from boxwood.errors import DataError
from boxwood.reference import encode_labels

NULLS = ("rename", "directions", "examples")


def concept_baseline(
    projector: ConceptProjector,
    tree: Any,
    Z: ArrayLike,
    labels: ArrayLike,
    *,
    examples: ArrayLike,
    concepts: Any,
    groups: ArrayLike | None = None,
    null: str = "rename",
    truth: ArrayLike | None = None,
    n_draws: int = 100,
    score: Callable[[Any, Any], float] = adjusted_rand_score,
    random_state: Any = None,
) -> ConceptBaseline:
    """Return the score of a tree on concepts, and the scores of trees on meaningless concepts for comparison.

    Any few directions that separate clusters give a tree that agrees with them. Only the difference to meaningless
    concepts is due to the meaning of the concepts.

    Parameters
    ----------
    projector : ConceptProjector
        How concepts are learned; a copy is fitted for each draw. If it is fitted, only its concepts are used, so after
        `select` only the selected ones.
    tree : estimator
        Any explainer of boxwood, or classifier of scikit-learn, that is fitted on scores and cluster labels; a clone is
        fitted for each draw. For Concept-MMDT give `MMDT()`.
    Z : array-like of shape (n, d)
        Embeddings that are clustered.
    labels : array-like of shape (n,)
        Their clusters. Rows with the label -1 are left out of the trees and of the scores.
    examples : array-like of shape (N, d)
        Embeddings of the examples that concepts are learned from.
    concepts : data frame, mapping or array-like of shape (N, m)
        Concept labels of the examples, as for `ConceptProjector.fit`.
    groups : array-like of shape (N,), default=None
        Class or cluster of each example; only "rename" needs it.
    null : {"rename", "directions", "examples"}, default="rename"
        How meaningless concepts are made.

        - "rename" permutes the groups of concepts that are constant in each group. Sizes, overlaps and complements of
          the concepts stay as they are. This is the strictest comparison; quote it whenever it is possible.
        - "directions" draws random vectors.
        - "examples" permutes the labels of each concept among its examples, as TCAV does. This is the weakest
          comparison: directions of permuted labels hardly separate anything.
    truth : array-like of shape (n,), default=None
        Labels that trees are scored against; None is `labels`.
    n_draws : int, default=100
        Number of sets of meaningless concepts.
    score : callable(truth, predicted) -> float, default=adjusted_rand_score
        Greater is better.
    random_state : int, RandomState or None, default=None
        Randomness of the draws.

    Returns
    -------
    ConceptBaseline
        `observed`, the score of the concepts; `draws`, the scores of meaningless ones, shape (n_draws,); `null`; and
        `p_value`, (1 + number of draws that score at least as well as the concepts) / (1 + n_draws).

    Raises
    ------
    DataError
        If numbers of rows do not match; for "rename" also if a concept is not constant within each group, or not known
        in some group.
    ValueError
        If `null` is none of those above, "rename" has no groups, `n_draws` is below 1, or the tree is a `ConceptMMDT`.

    Notes
    -----
    With "rename" the concepts themselves are learned in the same way as the renamed ones: from all examples, each with
    the value of its group. Takes the time of `n_draws` + 1 fits of the projector and of the tree.

    In Table 2 of the paper, concepts that are functions of the class score 0.3 to 0.4 on handwritten digits. Renamed
    concepts reach most of that score, and sometimes all of it. So the score alone is no evidence of meaning.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from boxwood.concepts import ConceptProjector
    >>> rng = np.random.default_rng(0)
    >>> species = rng.integers(3, size=300)
    >>> Z = 6 * np.eye(3)[species] + rng.normal(size=(300, 3))
    >>> baseline = concept_baseline(
    ...     ConceptProjector(), DecisionTreeClassifier(max_leaf_nodes=3), Z, species, examples=Z,
    ...     concepts={"first": species == 0}, groups=species, n_draws=20, random_state=0,
    ... )
    >>> bool(baseline.observed < 0.7), bool(baseline.p_value > 0.05)  # any name does as well: one species, two others
    (True, True)
    """
    refuse_unknown("null", null, NULLS)
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws}")
    refuse_concept_tree(tree)
    if not hasattr(tree, "fit"):
        raise TypeError(f"tree must be an estimator such as DecisionTreeClassifier(), got {show_value(tree)}")
    learner = projector.estimator if isinstance(projector, FrozenEstimator) else projector  # a frozen one is not fitted
    refuse_other_kind("projector", learner, ConceptProjector, "make one: boxwood.concepts.ConceptProjector()")
    rows, example_rows = as_table(Z), as_table(examples)
    codes, target = _codes(labels, truth, len(rows))
    kept = codes >= 0
    table = ConceptTable.of(concepts, len(example_rows))
    table = table.only(learner.concept_names_) if hasattr(learner, "concept_names_") else table
    random = check_random_state(random_state)

    def scored(drawn: ConceptProjector) -> float:
        scores = drawn.transform(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a tree may warn of meaningless concepts
            fitted = clone(tree).fit(scores[kept], codes[kept])
        return float(score(target[kept], fitted.predict(scores[kept])))

    projectors = _projectors(clone(learner), rows, example_rows, table, groups, null, random)
    values = [scored(drawn) for drawn in islice(projectors, n_draws + 1)]
    return ConceptBaseline(values[0], np.array(values[1:]), null)


class ConceptBaseline(NamedTuple):
    """The result of `concept_baseline`; `print` of it shows one line.

    `observed` is the score of the tree on the concepts, `draws` are the scores of the trees on meaningless concepts,
    shape (n_draws,), and `null` says how these were made.
    """

    observed: float
    draws: Floats
    null: str

    @property
    def p_value(self) -> float:
        """(1 + c) / (1 + n_draws), c the number of draws that score at least as well as the concepts."""
        return float((1 + (self.draws >= self.observed).sum()) / (1 + len(self.draws)))

    def __str__(self) -> str:
        low, middle, high = np.quantile(self.draws, [0.05, 0.5, 0.95])
        return (
            f"concepts {self.observed:.3f}; meaningless ones ({self.null}) {low:.3f} / {middle:.3f} / {high:.3f} "
            f"(5%, median, 95% of {len(self.draws)}), p = {self.p_value:.2g}"
        )


def _codes(labels: ArrayLike, truth: ArrayLike | None, n_rows: int) -> tuple[Indices, Indices]:
    """Return the clusters of rows and their true labels as whole numbers, -1 for rows that are left out."""
    codes, _ = encode_labels(label_values(labels))
    if len(codes) != n_rows:
        raise DataError(f"labels must be one for each of {n_rows} rows of embeddings, got {len(codes)} labels")
    target = codes if truth is None else encode_labels(label_values(truth))[0]
    if len(target) != n_rows:
        raise DataError(f"truth must have a label for each of {n_rows} rows of embeddings, got {len(target)}")
    return codes, target


def _projectors(
    unfitted: ConceptProjector,
    rows: Array,
    examples: Array,
    table: ConceptTable,
    groups: ArrayLike | None,
    null: str,
    random: np.random.RandomState,
) -> Iterator[ConceptProjector]:
    """Yield the projector of the concepts, then endlessly projectors of meaningless concepts."""

    def learned(values: Floats) -> ConceptProjector:
        fitted: ConceptProjector = clone(unfitted).fit(examples, dict(zip(table.names, values.T, strict=True)))
        return fitted

    if null == "rename":
        group, values = _values_of_groups(table, groups)
        yield learned(values[group])
        while True:
            yield learned(values[random.permutation(len(values))][group])
    yield learned(table.values)
    scale = rows.std(axis=0, dtype=np.float64)
    while True:
        if null == "examples":
            yield learned(_shuffle_labels(table.values, random))
        else:
            vectors = random.standard_normal((len(table.names), rows.shape[1])) / np.where(scale > 0, scale, 1.0)
            yield type(unfitted).from_vectors(vectors, names=table.names)


def _values_of_groups(table: ConceptTable, groups: ArrayLike | None) -> tuple[Indices, Floats]:
    """Return the group of each example, shape (N,), and the values of the concepts in each group, shape (g, m)."""
    if groups is None:
        raise ValueError("null='rename' permutes the groups of the examples; give groups=, the class of each example")
    codes, names = encode_labels(label_values(groups))
    if len(codes) != len(table.values) or (codes < 0).any():
        raise DataError(
            f"groups must have a label, not -1, for each of {len(table.values)} examples, got {len(codes)} labels, "
            f"{(codes < 0).sum()} of them -1"
        )
    of_groups = np.full((len(names), len(table.names)), np.nan)
    for j, concept in enumerate(table.names):
        examples, values = table.examples(j)
        of_groups[codes[examples], j] = values
        if (of_groups[codes[examples], j] != values).any():
            raise DataError(f"concept {concept!r} is not constant within groups; take null='directions' or 'examples'")
        unknown = [str(names[g]) for g in np.flatnonzero(np.isnan(of_groups[:, j]))]
        if unknown:
            raise DataError(f"concept {concept!r} is not known in groups {list_words(unknown)}; give examples of them")
    return codes, of_groups


def _shuffle_labels(values: Floats, random: np.random.RandomState) -> Floats:
    """Return the labels of each concept in random order among the examples that have one."""
    shuffled = values.copy()
    for column in shuffled.T:
        is_known = ~np.isnan(column)
        column[is_known] = random.permutation(column[is_known])
    return shuffled
