"""`ConceptProjector`: from embeddings to scores of concepts, one column for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from boxwood._compat import HasMethods, StrOptions, fit_context
from boxwood._frames import validated_rows
from boxwood._threads import map_blocks, map_tasks, one_blas_thread
from boxwood._validation import listed
from boxwood.concepts._linear import CLASSIFIERS, REGRESSORS, Direction, Recipe
from boxwood.concepts._project import project, unit_vectors
from boxwood.concepts._table import BINARY, CONTINUOUS, ConceptTable, places_of
from boxwood.errors import DataError
from boxwood.loops.kernels import products
from boxwood.reference import Mixture

__all__ = ["ConceptProjector"]

Meanings = Mapping[str, tuple[str, str]]
BLOCK_ROWS = 1 << 12  # that are scored at once


class ConceptProjector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Embeddings as scores of concepts: how far, and on which side, each row lies from each concept's boundary.

    A concept is learned from examples that have it and examples that do not (or that have it in some degree), as the
    direction in the latent space in which a linear model's score grows: its concept activation vector. Trees on the
    scores cut at "red > 0.16" in the place of "latent 37 > 0.16".

    The examples are as a rule other rows than those that are clustered. So fit the projector first, on the examples
    and their concept labels, and freeze it in the pipeline that explains clusters: `make_concept_tree`, `ConceptMMDT`.
    (In a pipeline of your own put it into a `sklearn.frozen.FrozenEstimator`, or it would take clusters for concepts.)
    Look at `concept_report` before you believe a cut: `fit` accepts every concept, also one that the embeddings know
    nothing of.

    Parameters
    ----------
    classifier : {"logistic", "svm", "mean-difference"} or estimator, default="logistic"
        Linear model for binary concepts: logistic regression (C=1), a linear support vector machine (C=1), the
        difference of the two means, or any classifier of scikit-learn with `coef_`. The first two give both sides the
        same weight however many examples each has; the last is the steadiest with few examples.
    regressor : {"ridge"} or estimator, default="ridge"
        Linear model for continuous concepts: ridge regression (alpha=1), or any regressor with `coef_`.
    standardize : bool, default=True
        Whether to learn on latents scaled to unit variance over all examples (columns of less than a hundredth of the
        typical deviation are not blown up to it). Vectors are in latent coordinates all the same.
    meanings : mapping from name to (low, high), default=None
        Words for the two sides of a concept, such as `{"size": ("small", "large")}`; by default "not red" and "red"
        for a binary concept, "less size" and "more size" for a continuous one.
    n_jobs : int or None, default=None
        Number of threads, each of which learns one concept at a time, or scores some rows; None is 1 unless a
        `joblib.parallel_config` says otherwise, -1 is all processors. Neither vectors nor scores depend on it.

    Attributes
    ----------
    vectors_ : array of shape (m, d)
        Concept activation vectors. Always holds: each has length 1, and points to where there is more of the concept.
    intercepts_ : array of shape (m,)
        So that a score, `x @ vector + intercept`, is a signed distance: 0 is the boundary of a binary concept, and
        where the mean of its examples is predicted for a continuous one.
    concept_names_ : tuple of m str
        Names of the concepts, from the columns of the concept labels.
    kinds_ : tuple of m str
        "binary" or "continuous".
    meanings_ : dict from name to (low, high)
        Words for the two sides of each concept.
    n_examples_ : array of shape (m,)
        Number of examples of which each concept was known; 0 for vectors that were given.
    n_features_in_ : int
        Number of latent columns d.
    feature_names_in_ : array of shape (d,)
        Their names; only there if `fit` was given a data frame whose column names are all text.

    See Also
    --------
    concept_report : Which concepts the embeddings know at all.
    boxwood.ConceptMMDT : The tree that tells clusters apart by concepts.

    Notes
    -----
    A tree does not depend on the length of a vector or on its intercept; both are fixed so that scores can be read.
    Scores of several concepts may be one and the same: a concept that is another's complement has the opposite vector.
    Time: one linear model for each concept, tens of milliseconds for hundreds of examples and columns, a fifth
    of a second for 20 000 examples and 768 columns. Memory: one copy of a concept's examples, or two, for each thread.

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

    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> Self:
        """Learn a vector for each concept.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Embeddings of the examples.
        y : data frame, series or array-like of shape (n, m) or (n,), or mapping from name to array-like of shape (n,)
            Concept labels. Columns of 0 and 1, of -1 and 1, or of booleans are binary concepts, all others are
            continuous; NaN (or None) where it is not known whether an example has the concept.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If embeddings are missing or infinite, the rows of both do not fit together, labels are text, a concept has
            fewer than two examples on a side or one value only, or its model finds no direction.
        ValueError
            If `meanings` are not two words each.
        """
        rows = self._rows(X, reset=True)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: concept labels, a column each")
        table = ConceptTable.of(y, len(rows))
        directions = self._directions(rows, table)
        vectors, lengths = unit_vectors([one.vector for one in directions], table.names)
        intercepts = np.array([one.intercept for one in directions]) / lengths
        known = np.count_nonzero(~np.isnan(table.values), axis=0)
        return self._with(vectors, intercepts, table.names, table.kinds, known)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of embeddings, (n, d) to (n, m): signed distances from the boundary of each concept.

        A row has the same scores, to the last digit, whatever rows come with it. Takes time n d m and, beside the
        scores, no memory that grows with n.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        scores = np.empty((len(rows), len(self.vectors_)))

        def score(start: int, stop: int) -> None:
            np.add(products(rows[start:stop], self.vectors_), self.intercepts_, out=scores[start:stop])

        map_blocks(score, len(rows), block=BLOCK_ROWS, n_jobs=effective_n_jobs(self.n_jobs))
        return scores

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the concepts, shape (m,); `input_features` are ignored."""
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
        """Return a projector onto vectors that were learned elsewhere, shape (m, d), scaled to length 1.

        Intercepts, shape (m,), are divided by the lengths too; None is 0. None names concepts concept0, concept1, ….

        Raises
        ------
        DataError
            If vectors are not finite or have length 0, or intercepts or names do not fit to them.
        """
        given = check_array(vectors, dtype=np.float64)
        found = tuple(f"concept{j}" for j in range(len(given))) if names is None else tuple(map(str, names))
        if len(found) != len(given) or len(set(found)) != len(found):
            raise DataError(f"each of {len(given)} vectors must have a name of its own, got {listed(found)}")
        units, lengths = unit_vectors(list(given), found)
        offsets = np.zeros(len(given)) if intercepts is None else np.asarray(intercepts, dtype=np.float64) / lengths
        if offsets.shape != lengths.shape or not np.isfinite(offsets).all():
            raise DataError(f"intercepts must be one finite number for each of {len(given)} vectors")
        projector = cls(meanings=meanings)
        projector.n_features_in_ = given.shape[1]
        none = np.zeros(len(given), dtype=np.intp)
        return projector._with(units, offsets, found, (CONTINUOUS,) * len(given), none)

    def select(self, concepts: Sequence[Any] | NDArray[Any]) -> Self:
        """Return a projector onto some of the concepts: names, places, or a mask such as `report.reliable`.

        Raises
        ------
        DataError
            If there is no such concept, or none is left.
        """
        check_is_fitted(self)
        places = places_of(concepts, self.concept_names_)
        chosen = type(self)(**self.get_params(deep=False))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(chosen, name, getattr(self, name))
        names, kinds = (tuple(words[j] for j in places) for words in (self.concept_names_, self.kinds_))
        return chosen._with(self.vectors_[places], self.intercepts_[places], names, kinds, self.n_examples_[places])

    def cosines(self) -> NDArray[np.float64]:
        """Return the cosine of each two vectors, shape (m, m): 1 for the same concept, -1 for its complement."""
        check_is_fitted(self)
        return np.clip(self.vectors_ @ self.vectors_.T, -1.0, 1.0)

    def project_mixture(self, mixture: Mixture) -> Mixture:
        """Return a mixture of embeddings as one of scores; see `boxwood.concepts.project`."""
        check_is_fitted(self)
        return project(mixture, self.vectors_, self.intercepts_)

    # ------------------------------------------------------------------------------------------------- steps

    def _rows(self, X: Any, *, reset: bool = False) -> NDArray[Any]:
        return validated_rows(self, X, reset=reset, at_least=2 if reset else 1, order="C")

    def _directions(self, rows: NDArray[Any], table: ConceptTable) -> list[Direction]:
        recipe = Recipe.of(self.classifier, self.regressor, rows, standardize=self.standardize)

        def learned(j: int) -> Direction:
            known, values = table.examples(j)
            return recipe.learn(rows[known], values, table.kinds[j])

        with one_blas_thread():  # more of them change the last digits, and stand still where processors are busy
            return map_tasks(learned, range(len(table.kinds)), n_jobs=effective_n_jobs(self.n_jobs))

    def _with(
        self,
        vectors: NDArray[np.float64],
        intercepts: NDArray[np.float64],
        names: tuple[str, ...],
        kinds: tuple[str, ...],
        n_examples: NDArray[Any],
    ) -> Self:
        self.vectors_, self.intercepts_ = vectors, intercepts
        self.concept_names_, self.kinds_, self.n_examples_ = names, kinds, n_examples
        given = self.meanings or {}
        for name, words in given.items():
            if isinstance(words, str) or len(words) != 2:
                raise ValueError(
                    f"meanings must be two words for each concept, (low, high); got {words!r} for {name!r}"
                )
        self.meanings_ = {
            name: given.get(name, (f"not {name}", name) if kind == BINARY else (f"less {name}", f"more {name}"))
            for name, kind in zip(names, kinds, strict=True)
        }
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
