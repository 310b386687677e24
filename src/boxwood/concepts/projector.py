"""`ConceptProjector`: embeddings become scores, one column for each concept; words for both sides of a concept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from boxwood._compat import HasMethods, StrOptions, fit_context
from boxwood._frames import validated_rows
from boxwood._messages import warn_caller
from boxwood._threads import jobs_of, map_blocks, map_tasks, one_blas_thread
from boxwood._types import Array, Floats
from boxwood._validation import as_numbers, as_table, list_words, refuse_other_kind, show_value
from boxwood.concepts._choosing import project
from boxwood.concepts._learning import (
    CLASSIFIERS,
    REGRESSORS,
    Direction,
    Recipe,
    least_scores,
    quick_scores,
    score_text,
    unit_vectors,
)
from boxwood.concepts._table import BINARY, CONTINUOUS, ConceptTable, concept_indices
from boxwood.errors import DataError
from boxwood.loops.kernels import products
from boxwood.reference import Mixture

Meanings = Mapping[str, tuple[str, str]]
BLOCK_ROWS = 1 << 12  # rows that are scored at once


class ConceptProjector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scores of embeddings: the signed distance of each row from the boundary of each concept.

    A concept is learned from labelled examples: some have it and some do not, or all have it to some degree. Its
    direction in the latent space, the concept activation vector, is that in which the score of a linear model grows
    fastest. A tree on scores cuts at "red > 0.16", a tree on embeddings at "latent 37 > 0.16".

    The examples are usually other rows than the rows that are clustered. So fit the projector first, on the examples
    and their concept labels, then give it to `make_concept_tree` or `ConceptMMDT`, which do not fit it again. In a
    pipeline of your own put it into a `sklearn.frozen.FrozenEstimator`; otherwise the pipeline would fit it on the
    cluster labels.

    `fit` accepts every concept, and warns of those that the embeddings cannot predict. Look at `concept_report` before
    you believe a cut: it adds whether a score may be due to chance.

    Parameters
    ----------
    classifier : {"logistic", "svm", "mean-difference"} or estimator, default="logistic"
        Linear model for binary concepts: logistic regression (C=1), a linear support vector machine (C=1), the
        difference of the two means, or any classifier of scikit-learn with `coef_`. The first two give both sides the
        same weight however many examples each has. The third is the most stable with few examples.
    regressor : {"ridge"} or estimator, default="ridge"
        Linear model for continuous concepts: ridge regression (alpha=1), or any regressor with `coef_`.
    standardize : bool, default=True
        Whether to scale latent columns to unit variance over all examples before learning. A column whose deviation is
        less than a hundredth of the typical one is divided by that hundredth instead. The vectors are in unscaled
        latent coordinates in either case.
    meanings : mapping from name to (low, high), default=None
        Words for the two sides of a concept, such as `{"size": ("small", "large")}`. The default is "not red" and "red"
        for a binary concept, "less size" and "more size" for a continuous one.
    n_jobs : int or None, default=None
        Number of threads, each of which learns one concept at a time, or scores some rows; None is 1 unless a
        `joblib.parallel_config` says otherwise, -1 is all processors. Neither vectors nor scores depend on it.

    Attributes
    ----------
    vectors_ : array of shape (m, d)
        Concept activation vectors. Always holds: each has length 1, and scores grow with the concept.
    intercepts_ : array of shape (m,)
        Always holds: the score `x @ vector + intercept` is a signed distance. It is 0 on the boundary of a binary
        concept, and where the mean of the examples is predicted for a continuous one.
    concept_names_ : tuple of m str
        Names of the concepts, from the columns of the concept labels.
    kinds_ : tuple of m str
        "binary" or "continuous".
    meanings_ : dict from name to (low, high)
        Words for the two sides of each concept.
    n_examples_ : array of shape (m,)
        Number of examples with a label of each concept; 0 if the vectors came from `from_vectors`.
    scores_ : array of shape (m,)
        Cross-validated score of each concept, as in `concept_report` (AUC of a binary concept, R² of a continuous one),
        from at most 500 examples of each side, or 5 d of them if that is more. NaN if the vectors came from
        `from_vectors`, or if a model refuses the smaller number of examples.
    n_features_in_ : int
        Number of latent columns d.
    feature_names_in_ : array of shape (d,)
        Their names; only present if `fit` got a data frame whose column names are all text.

    Warns
    -----
    UserWarning
        By `fit`, where the score of a concept is lower than that of a reliable one in `concept_report`: 0.7 for a
        binary concept, 0.2 for a continuous one.

    See Also
    --------
    concept_report : Which concepts can be predicted from the embeddings.
    boxwood.ConceptMMDT : A tree that separates clusters by concepts.

    Notes
    -----
    A tree does not depend on the length of a vector or on its intercept. Both are fixed so that scores can be read.
    Scores of two concepts may carry the same information: a concept and its complement have opposite vectors.

    Time: one linear model for each concept. That is tens of milliseconds for hundreds of examples and columns, and a
    fifth of a second for 20 000 examples and 768 columns. The scores take five models more for each concept, from at
    most 1000 or 10 d examples: a tenth of a second for 400 examples and 768 columns, a second for 20 000. Memory: one
    or two copies of a concept's examples for each thread.

    References
    ----------
    B. Kim et al., "Interpretability Beyond Feature Attribution: Quantitative Testing with Concept Activation Vectors",
    ICML 2018. M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture
    Models and Deep Representations", equations (4) and (5).

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0, 1.0], [0.2, 3.0], [0.1, 2.0], [2.0, 2.0], [2.1, 1.0], [2.2, 3.0]])
    >>> projector = ConceptProjector().fit(Z, {"red": [0, 0, 0, 1, 1, 1]})
    >>> projector.vectors_.round(1), projector.transform(Z).ravel().round(1)
    (array([[ 1., -0.]]), array([-1.1, -0.9, -1. ,  0.9,  1. ,  1.1]))
    >>> projector.fit(Z, {"red": [1, 1, 1, 1, 1, 1]})
    Traceback (most recent call last):
    ...
    boxwood.errors.DataError: concept 'red' has no negative example; give at least 2, or random examples as negatives
    (stack_concepts)
    """

    vectors_: Floats
    intercepts_: Floats
    concept_names_: tuple[str, ...]
    kinds_: tuple[str, ...]
    n_examples_: Array
    scores_: Floats

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [StrOptions(set(CLASSIFIERS)), HasMethods(["fit"])],
        "regressor": [StrOptions(set(REGRESSORS)), HasMethods(["fit"])],
        "standardize": ["boolean"],
        "meanings": [Mapping, None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        classifier: Any = "logistic",
        regressor: Any = "ridge",
        *,
        standardize: bool = True,
        meanings: Meanings | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.classifier = classifier
        self.regressor = regressor
        self.standardize = standardize
        self.meanings = meanings
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn a vector for each concept.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Embeddings of the examples.
        y : data frame, series or array-like of shape (n, m) or (n,), or mapping from name to array-like of shape (n,)
            Concept labels. A column of 0 and 1, of -1 and 1, or of booleans is a binary concept, every other column a
            continuous one. NaN or None marks an example for which the concept is not known.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If embeddings are missing or infinite, if `X` and `y` have different numbers of rows, if labels are text,
            if a binary concept has fewer than two examples on a side, if a continuous one has one value only, or if a
            model finds no direction.
        ValueError
            If `meanings` are not two words for each concept.
        """
        rows = self._rows(X, reset=True)
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None; give concept labels, one column for each concept"
            )
        table = ConceptTable.of(y, len(rows))
        recipe = Recipe.of(self.classifier, self.regressor, rows, standardize=self.standardize)
        directions = self._directions(recipe, rows, table)
        vectors, lengths = unit_vectors([direction.vector for direction in directions], table.names)
        intercepts = np.array([direction.intercept for direction in directions]) / lengths
        n_examples = np.count_nonzero(~np.isnan(table.values), axis=0)
        scores = quick_scores(recipe, rows, table, n_jobs=jobs_of(self.n_jobs))
        self._with(vectors, intercepts, table.names, table.kinds, n_examples, scores)
        warn_of_undecodable(self, range(len(table.names)))
        return self

    def transform(self, X: Any) -> Floats:
        """Return the scores of embeddings (n, d), shape (n, m): signed distances from the boundary of each concept.

        A row has the same scores, to the last digit, whatever rows come with it. Takes time n d m. Besides the scores
        themselves, memory does not grow with n.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        scores = np.empty((len(rows), len(self.vectors_)))

        def score(start: int, stop: int) -> None:
            np.add(products(rows[start:stop], self.vectors_), self.intercepts_, out=scores[start:stop])

        map_blocks(score, len(rows), block=BLOCK_ROWS, n_jobs=jobs_of(self.n_jobs))
        return scores

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the concepts, shape (m,); `input_features` is ignored."""
        check_is_fitted(self)
        return np.array(self.concept_names_, dtype=object)

    @classmethod
    def from_vectors(
        cls,
        vectors: ArrayLike,
        intercepts: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        *,
        meanings: Meanings | None = None,
    ) -> Self:
        """Return a projector with vectors that were learned elsewhere.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
            Of any length but 0; they are scaled to length 1.
        intercepts : array-like of shape (m,), default=None
            Divided by the lengths of the vectors; None is 0.
        names : sequence of m str, default=None
            Names of the concepts; None names them concept0, concept1, ….
        meanings : mapping from name to (low, high), default=None
            Words for the two sides of a concept; every concept counts as continuous.

        Raises
        ------
        DataError
            If vectors are not finite or have length 0, or if intercepts or names do not match them.
        """
        rows = np.asarray(as_table(vectors), dtype=np.float64)
        names = tuple(f"concept{j}" for j in range(len(rows))) if names is None else tuple(map(str, names))
        if len(names) != len(rows) or len(set(names)) != len(names):
            raise DataError(f"names must be different, one for each of {len(rows)} vectors, got {show_value(names)}")
        units, lengths = unit_vectors(list(rows), names)
        offsets = np.zeros(len(rows)) if intercepts is None else as_numbers("intercepts", intercepts)
        if offsets.shape != lengths.shape or not np.isfinite(offsets / lengths).all():
            raise DataError(
                f"intercepts must be one finite number for each of {len(rows)} vectors, got {show_value(intercepts)}"
            )
        projector = cls(meanings=meanings)
        projector.n_features_in_ = rows.shape[1]
        n_examples = np.zeros(len(rows), dtype=np.intp)
        scores = np.full(len(rows), np.nan)
        return projector._with(units, offsets / lengths, names, (CONTINUOUS,) * len(rows), n_examples, scores)

    def select(self, concepts: Sequence[Any] | Array) -> Self:
        """Return a projector with some of the concepts: names, indices, or a mask such as `report.reliable`.

        Raises
        ------
        DataError
            If there is no such concept, or if no concept is left.
        """
        check_is_fitted(self)
        indices = concept_indices(concepts, self.concept_names_)
        chosen = type(self)(**self.get_params(deep=False))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(chosen, name, getattr(self, name))
        names, kinds = (tuple(words[j] for j in indices) for words in (self.concept_names_, self.kinds_))
        arrays = self.vectors_, self.intercepts_, self.n_examples_, self.scores_
        vectors, intercepts, n_examples, scores = (array[indices] for array in arrays)
        return chosen._with(vectors, intercepts, names, kinds, n_examples, scores)

    def cosines(self) -> Floats:
        """Return the cosines of all pairs of vectors, shape (m, m): 1 is the same concept, -1 the complement."""
        check_is_fitted(self)
        return np.clip(self.vectors_ @ self.vectors_.T, -1.0, 1.0)

    def project_mixture(self, mixture: Mixture) -> Mixture:
        """Return the mixture of the scores of embeddings from a mixture; see `boxwood.concepts.project`."""
        check_is_fitted(self)
        return project(mixture, self.vectors_, self.intercepts_)

    # ------------------------------------------------------------------------------------------------- steps

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        return validated_rows(self, X, reset=reset, at_least=2 if reset else 1, order="C")

    def _directions(self, recipe: Recipe, rows: Array, table: ConceptTable) -> list[Direction]:
        def learned(j: int) -> Direction:
            examples, values = table.examples(j)
            return recipe.learn(rows[examples], values, table.kinds[j])

        with one_blas_thread():  # several would change the last digits, and wait for each other on busy processors
            return map_tasks(learned, range(len(table.kinds)), n_jobs=jobs_of(self.n_jobs))

    def _with(
        self,
        vectors: Floats,
        intercepts: Floats,
        names: tuple[str, ...],
        kinds: tuple[str, ...],
        n_examples: Array,
        scores: Floats,
    ) -> Self:
        self.vectors_, self.intercepts_ = vectors, intercepts
        self.concept_names_, self.kinds_, self.n_examples_, self.scores_ = names, kinds, n_examples, scores
        self.meanings_: dict[str, tuple[str, str]] = meanings_of(names, kinds, self.meanings)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def meanings_of(names: Sequence[str], kinds: Sequence[str], meanings: Meanings | None) -> dict[str, tuple[str, str]]:
    """Return two words for each concept, (low, high): those that are given, or words made of its name.

    Raises
    ------
    TypeError
        If `meanings` is no mapping.
    ValueError
        If the words of a concept are not two.
    """
    given = {} if meanings is None else meanings
    refuse_other_kind("meanings", given, Mapping, "give the names of concepts two words each: {name: (low, high)}")
    for name, words in given.items():
        if isinstance(words, str) or len(words) != 2:
            raise ValueError(f"meanings must be two words for each concept, (low, high); got {words!r} for {name!r}")
    return {
        name: given.get(name, (f"not {name}", name) if kind == BINARY else (f"less {name}", f"more {name}"))
        for name, kind in zip(names, kinds, strict=True)
    }


def warn_of_undecodable(projector: ConceptProjector, concepts: Iterable[int]) -> None:
    """Warn of those concepts that were learned from examples, but whose score is too low to be decoded."""
    examples = projector.n_examples_ > 0
    low = examples & ~(projector.scores_ >= least_scores(projector.kinds_))  # also where there is no score
    named = [_with_score(projector, j) for j in concepts if low[j]]
    if named:
        warn_caller(
            f"concepts that the embeddings do not predict: {list_words(named)}; cuts on them are near to "
            "chance, so leave "
            "them out (ConceptProjector.select), give more examples, or see concept_report"
        )


def _with_score(projector: ConceptProjector, j: int) -> str:
    kind, score, least = projector.kinds_[j], projector.scores_[j], least_scores(projector.kinds_)[j]
    if np.isnan(score):
        return f"{projector.concept_names_[j]} (no score, as its model refuses parts of the examples)"
    return f"{projector.concept_names_[j]} (cross-validated {score_text(kind, score)}, less than {least:g})"
