"""`MMDT`: the tree that separates the components of a mixture; `ConceptMMDT`: the same on concepts of embeddings."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture

from boxwood._compat import HasMethods, StrOptions
from boxwood._messages import warn_caller
from boxwood._validation import Rows, list_words, total_weight
from boxwood.axes import AxisMap
from boxwood.batches import Batches
from boxwood.concepts.projector import warn_of_undecodable
from boxwood.errors import DataError
from boxwood.estimators._base import TreeClusterer
from boxwood.estimators._fits import refuse_clusterer
from boxwood.grow import METHODS
from boxwood.grow.centers.mmdt import AXES, THRESHOLDS
from boxwood.grow.grown import Grown
from boxwood.metrics import partition_cost
from boxwood.metrics.noise import far_tails
from boxwood.reference import Mixture, Reference, Task
from boxwood.reference.clusterer import last_step, mixture_of, refuse_number_of_clusters
from boxwood.reference.feature_space import FeatureSpace
from boxwood.reference.reference import refuse_one_cluster


class MMDT(TreeClusterer):
    """Clusters explained by a tree with one leaf for each, grown from their means and variances alone.

    The Mixture Model Decision Tree. Each node cuts the axis on which the means lie farthest apart, measured in standard
    deviations. Use it for Gaussian mixtures and other clusters that gather around their means: the share of
    rows outside their own leaf falls exponentially with the explainability-to-noise ratio.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is a Gaussian mixture. Ignored if `fit` is given labels.
    n_clusters : int, default=8
        Number of components of the Gaussian mixture where `clusterer` is None.
    axis : {"gap", "range"}, default="gap"
        Axis to cut: the one with the largest gap between neighbouring means, or with the largest range of means.
    threshold : {"midpoint", "tails", "chebyshev", "cantelli", "gaussian", "uniform"}, default="midpoint"
        Position of the cut on it; see `grow.mmdt`.
    pooling : {"max", "weighted"}, default="max"
        The single variance used for an axis: the largest of the clusters' variances, as the guarantees need it, or
        their weighted mean.
    sigma : array-like of shape (d,), default=None
        Standard deviations of the axes, or sub-Gaussian parameters, instead of the pooled ones; see `grow.mmdt`.
    tie_break : {"first", "random"}, default="first"
        Choice among equally good axes, then among equally good thresholds: the lowest, or each with equal probability.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of the Gaussian mixture, of "uniform" thresholds and of "random" ties; an int gives the same result
        each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    mixture_ : Mixture
        The mixture from which the tree is grown: the parameters of a fitted Gaussian mixture, or the frequencies, means
        and variances of the clusters' rows. Its columns are those of the clusterer, which a pipeline's first steps
        compute. It leaves out clusters without rows and components without data.
    tree_ : ThresholdTree
        The tree. Always holds: each component of `mixture_` has exactly one leaf, which its mean reaches.
    labels_ : array of shape (n,)
        The cluster that the tree gives to each row of `fit`, named as by `predict`; with `noise="keep"` the number -1
        for rows that are left out.
    reference_ : Reference
        The clustering that the tree explains.
    explanation_ : Explanation
        A rule for each cluster, the agreement of the rules with the clusters, and the price, measured on the rows of
        `fit`. It is computed when first read; the estimator keeps the rows until then. A pickle holds the explanation
        and not the rows.
    cluster_centers_ : array of shape (k, d)
        Centre of each cluster of `reference_`.
    n_leaves_ : int
        Number of leaves.
    price_ : float
        Price of explainability: the sum of within-cluster squared distances of the tree's clusters, divided by that of
        the clustering. 0/0 counts as 1. It can be below 1 where the clustering does not minimise this cost.
    clusterer_ : estimator
        The fitted clusterer. It exists only if `fit` was given no labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns. They exist only if `fit` was given a data frame whose column names are all text.

    Warns
    -----
    UserWarning
        By `fit`, where clusters are skewed, heavy-tailed or two-humped along a column that bounds a leaf of theirs,
        by `metrics.tail_check` of at most 20 000 rows of each. The guarantees assume symmetry and light tails.

    See Also
    --------
    IMM : Cuts separate as few rows as possible from their centre; for k-means clusters.
    CART : Uses every row; for clusters far from any Gaussian.

    Notes
    -----
    The tree takes three passes over the rows for means and variances, and none where a Gaussian mixture has its own.
    Then `sample_weight` affects `price_` alone, as scikit-learn's mixtures take no weights. On a table in batches, the
    Gaussian mixture is fitted on a sample of up to 100 000 rows, which `explanation_.notes` says, and each row of the
    table belongs to its likeliest component.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Algorithm 1.

    Examples
    --------
    >>> from boxwood import MMDT
    >>> X = [[1.0, 0.0], [1.2, 9.0], [1.1, 5.0], [8.0, 1.0], [8.2, 7.0]]
    >>> model = MMDT().fit(X, ["low", "low", "low", "high", "high"])
    >>> model.tree_.to_dict()["feature"], model.predict([[7.0, 0.0]]).tolist()
    (0, ['high'])
    """

    clusterer_: Any

    _method = "mmdt"
    _facts = ("mixture",)
    _instead = "means and variances describe them badly, so CART or IMM may give a better tree"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "axis": [StrOptions(set(AXES))],
        "threshold": [StrOptions(set(THRESHOLDS))],
        "pooling": [StrOptions({"weighted", "max"})],
        "sigma": ["array-like", None],
        "tie_break": [StrOptions({"first", "random"})],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        axis: str = "gap",
        threshold: str = "midpoint",
        pooling: str = "max",
        sigma: ArrayLike | None = None,
        tie_break: str = "first",
        noise: str = "leaf",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.axis = axis
        self.threshold = threshold
        self.pooling = pooling
        self.sigma = sigma
        self.tie_break = tie_break
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit_mixture(self, mixture: Any) -> Self:
        """Grow the tree from a mixture alone, without any row.

        Parameters
        ----------
        mixture : Mixture or GaussianMixture
            Components to be separated. A Gaussian mixture must be fitted.

        Returns
        -------
        self
            Without `labels_`, `price_` and `explanation_`, which need rows. The means are the centres of `reference_`.

        Raises
        ------
        DataError
            If components have equal means, or there is only one.
        """
        self._validate_params()
        with self._all_or_nothing():
            given = mixture if isinstance(mixture, Mixture) else Mixture.from_gaussian_mixture(mixture)
            self.n_features_in_: int = given.n_features
            self._separate(given, given)
        return self

    def _separate(self, given: Mixture, tested: Mixture) -> None:
        """Grow the tree that separates the components of a mixture, in the columns that the tree tests."""
        self.reference_: Reference = Reference(np.arange(given.n_components), given.means, given.names)
        refuse_one_cluster(self.reference_)
        means = Reference(self.reference_.labels, tested.means, given.names)
        components = tested.with_clusters(np.arange(given.n_components))
        task = Task.of(tested.means, means, mixture=components, random_state=self.random_state)
        self._keep(METHODS[self._method].grow(task, **self._options()))
        self._fit = self._map = None

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        if self.clusterer is not None:
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        return GaussianMixture(self.n_clusters, random_state=self.random_state)

    def _clusters_on(self, batches: Batches, label: str | None) -> tuple[Reference, tuple[str, ...]]:
        if label is not None or self.clusterer is not None:
            return super()._clusters_on(batches, label)
        from boxwood.clusterers.k_means_batches import LikeliestComponent, mixture_of_sample
        from boxwood.explanation.choose.search import rows_of_sample

        n_rows = rows_of_sample(batches, self.n_clusters)
        self.clusterer_, note = mixture_of_sample(batches, self.n_clusters, n_rows, self.random_state)
        return Reference(LikeliestComponent(self.clusterer_), self.clusterer_.means_), (note,) if note else ()

    def _mixture(self, coordinates: FeatureSpace | None) -> Mixture | None:
        clusterer = getattr(self, "clusterer_", None)
        if hasattr(clusterer, "steps"):
            is_of_columns = coordinates is not None and coordinates.axis_map is not None
            last = last_step(clusterer)
            names: Any = getattr(last, "feature_names_in_", range(getattr(last, "n_features_in_", 0)))
            return mixture_of(last, self.reference_, names) if is_of_columns else None
        if not hasattr(clusterer, "covariance_type"):
            return None
        mixture = Mixture.from_gaussian_mixture(clusterer)
        return mixture.with_clusters(np.array(mixture.names, dtype=np.intp))

    def _warn(self, grown: Grown, task: Task, coordinates: FeatureSpace) -> None:
        rows, reference = task.rows, task.reference
        weights, n_jobs = rows.weights, task.n_jobs
        tails = far_tails(rows.values, reference.labels, grown.tree, sample_weight=weights, n_jobs=n_jobs)
        if tails:
            columns = (
                coordinates.columns if coordinates.axis_map is None else [f"column {j}" for j in range(rows.n_columns)]
            )
            far = list_words([f"{reference.names[t.component]} ({t.verdict} along {columns[t.axis]})" for t in tails])
            warn_caller(f"clusters far from Gaussian: {far}; {self._instead}")


class ConceptMMDT(MMDT):
    """Clusters of embeddings explained by a tree whose cuts are concepts, with one leaf for each cluster.

    Concept activation vectors give each embedding a score for each concept, and the tree of `MMDT` is grown on the
    scores. Clusters are found in the embeddings, and `predict` takes embeddings, not scores.

    Parameters
    ----------
    projector : ConceptProjector
        Projector, fitted on examples of the concepts, which are usually not the rows that are clustered. Put it into a
        `sklearn.frozen.FrozenEstimator` if this estimator is cloned, so that clones keep it fitted. A projector that is
        not fitted, such as `ConceptProjector()`, is learned from the concept labels that `fit` is given.
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted on the
        embeddings, but a `FrozenEstimator` is used as it is. None is a Gaussian mixture. Ignored if `fit` is given
        labels.
    n_clusters : int, default=8
        Number of components of the Gaussian mixture where `clusterer` is None.
    axis : {"gap", "range"}, default="gap"
        Concept to cut: the one with the largest gap between neighbouring means, or with the largest range of means.
    threshold : {"midpoint", "tails", "chebyshev", "cantelli", "gaussian", "uniform"}, default="midpoint"
        Position of the cut on it; see `grow.mmdt`.
    pooling : {"max", "weighted"}, default="max"
        The single variance used for a concept: the largest of the clusters' variances, as the guarantees need it, or
        their weighted mean.
    sigma : array-like of shape (m,), default=None
        Standard deviations of the m concepts, or sub-Gaussian parameters, instead of the pooled ones.
    tie_break : {"first", "random"}, default="first"
        Choice among equally good axes, then among equally good thresholds: the lowest, or each with equal probability.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of the Gaussian mixture, of "uniform" thresholds and of "random" ties; an int gives the same result
        each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    projector_ : ConceptProjector
        The fitted projector, which scores embeddings.
    concept_names_ : tuple of m str
        Names of the concepts: feature j of the tree is the concept j.
    mixture_ : Mixture
        The mixture from which the tree is grown, in scores: the projected parameters of a Gaussian mixture, or those of
        the scores of the clusters' rows. Cuts between its `concepts.unseparated_pairs` are due to chance.
    tree_ : ThresholdTree
        The tree, on scores. Always holds: each component of `mixture_` has exactly one leaf, which its mean reaches.
    labels_ : array of shape (n,)
        The cluster that the tree gives to each row of `fit`, named as by `predict`; with `noise="keep"` the number -1
        for rows that are left out.
    reference_ : Reference
        The clustering that the tree explains, with centres in the space of embeddings.
    explanation_ : Explanation
        A rule for each cluster, the agreement of the rules with the clusters, and the price, measured on the rows of
        `fit`. It is computed when first read; the estimator keeps the rows until then. A pickle holds the explanation
        and not the rows.
    cluster_centers_ : array of shape (k, d)
        Centre of each cluster of `reference_`.
    n_leaves_ : int
        Number of leaves.
    price_ : float
        Price of explainability: the sum of within-cluster squared distances of embeddings in the tree's clusters,
        divided by that of the clustering. 0/0 counts as 1. It can be below 1 where the clustering does not minimise
        this cost.
    clusterer_ : estimator
        The fitted clusterer. It exists only if `fit` was given no labels.
    n_features_in_ : int
        Number of latent columns.
    feature_names_in_ : array of shape (d,)
        Names of the latent columns. They exist only if `fit` was given a data frame whose column names are all text.

    Warns
    -----
    UserWarning
        By `fit`, where clusters are skewed, heavy-tailed or two-humped along a concept that bounds a leaf of theirs. By
        `fit` and `fit_mixture`, where the embeddings do not predict a concept: see `concepts.ConceptProjector`. Of a
        projector that is fitted already, only concepts on which the tree cuts are warned of.

    See Also
    --------
    boxwood.concepts.make_concept_tree : Any other explainer on concepts.
    boxwood.concepts.concept_text : The tree in words.
    boxwood.concepts.concept_baseline : Scores of trees of meaningless concepts, to compare a score with.

    Notes
    -----
    The tree is that of a pipeline of a frozen projector and `MMDT`, as means and covariances follow linear maps. In
    addition, this estimator finds the clusters in embeddings, measures the price there, and takes mixtures without
    rows.

    The standard deviation along a concept is a square root, which Algorithm 2 of the paper leaves out in print. So
    lengths of vectors and their intercepts do not change how rows are labelled. Where tails are heavy, the paper
    recommends CART.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Algorithm 2.

    Examples
    --------
    >>> from boxwood import ConceptMMDT
    >>> from boxwood.concepts import ConceptProjector, concept_text
    >>> Z = [[0.0, 1.0], [0.2, 3.0], [0.1, 2.0], [2.0, 2.0], [2.1, 1.0], [2.2, 3.0]]
    >>> names = ["grass", "grass", "grass", "rose", "rose", "rose"]
    >>> model = ConceptMMDT(ConceptProjector()).fit(Z, names, concepts={"red": [0, 0, 0, 1, 1, 1]})
    >>> print(concept_text(model))
    |--- red <= 0.000349  (not red)
    |   |--- grass
    |--- red >  0.000349  (red)
    |   |--- rose
    >>> model.predict([[0.0, 0.0], [3.0, 0.0]]).tolist()
    ['grass', 'rose']
    """

    projector_: Any
    concept_names_: tuple[Any, ...]

    _instead = "CART may give a better tree on concepts"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MMDT._parameter_constraints,
        "projector": [HasMethods(["fit", "transform"])],
    }

    def __init__(
        self,
        projector: Any,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        axis: str = "gap",
        threshold: str = "midpoint",
        pooling: str = "max",
        sigma: ArrayLike | None = None,
        tie_break: str = "first",
        noise: str = "leaf",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            clusterer,
            n_clusters=n_clusters,
            axis=axis,
            threshold=threshold,
            pooling=pooling,
            sigma=sigma,
            tie_break=tie_break,
            noise=noise,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.projector = projector

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, concepts: Any = None) -> Self:
        """Grow the tree that explains the labels `y`, or the clusters that `clusterer` finds among embeddings.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Embeddings. Columns of text are left out, as `MMDT.fit` does.
        y : array-like of shape (n,), default=None
            Labels to explain, of any hashable type; -1 leaves a row out, as a number or as text.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row, for the tree, and for the clusterer if its `fit` accepts weights.
        concepts : data frame, mapping or array-like of shape (n, m), default=None
            Concept labels of the rows of `X`, from which the projector is learned; NaN is unknown. None takes the
            projector as it was fitted.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If there is neither a fitted projector nor concept labels, if clusters have equal means along all concepts
            (the message names the clusters), or for the reasons of `MMDT.fit`.
        ValueError
            If there are concept labels, but the projector is frozen.
        """
        self._validate_params()
        refuse_clusterer(self, y)
        with self._all_or_nothing():
            self._read_kinds(X, y)
            rows = self._rows(X, sample_weight, reset=True)
            self._keep_projector(self._fitted_projector(self._numbers(X), rows, concepts))
            self._explain_clusters(X, rows, y)
            self._keep_given(X, y, sample_weight)
        self._warn_of_left_out()
        if concepts is None:  # the fit of a projector warns by itself
            self._warn_of_concepts()
        return self

    def fit_mixture(self, mixture: Any) -> Self:
        """Grow the tree from a mixture in the space of embeddings alone, without any row.

        Parameters
        ----------
        mixture : Mixture or GaussianMixture
            Components, with their covariances; see `concepts.project`. A Gaussian mixture must be fitted.

        Returns
        -------
        self
            Without `labels_`, `price_` and `explanation_`, which need rows. The means are the centres of `reference_`.

        Raises
        ------
        DataError
            If the projector is not fitted, or components have equal means along all concepts.
        """
        self._validate_params()
        with self._all_or_nothing():
            given = mixture if isinstance(mixture, Mixture) else Mixture.from_gaussian_mixture(mixture)
            self._keep_projector(self._fitted_projector(None, Rows(given.means), None))
            self.n_features_in_: int = given.n_features
            self._separate(given, self.projector_.project_mixture(given))
        self._warn_of_concepts()
        return self

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost of embeddings under the tree, with a minus sign; greater is better, 0 is the best score.

        The tree gives each embedding a cluster. Its cost is its squared distance to the centre of that cluster
        (`cluster_centers_`), and the mean is that by the weights of the rows. `y` is ignored.
        """
        tree, rows = self._fitted_tree(), self._rows(X, sample_weight)
        clusters = tree.predict(self._scores(X, rows))
        return -partition_cost(rows, clusters, centers=self.cluster_centers_) / total_weight(rows)

    # ------------------------------------------------------------------------------------------------- steps

    def _fitted_projector(self, X: Any, rows: Rows, concepts: Any) -> Any:
        given = self.projector
        if concepts is not None:
            if isinstance(given, FrozenEstimator):
                raise ValueError("a frozen projector cannot learn concepts; pass the projector without FrozenEstimator")
            return clone(given).fit(rows.values if X is None else X, concepts)
        if not hasattr(given, "vectors_"):
            raise DataError(
                "concepts are needed: give a fitted projector (in a FrozenEstimator, if this estimator is cloned), "
                "or the concept labels of the rows, fit(X, y, concepts=...)"
            )
        return given

    def _keep_projector(self, projector: Any) -> None:
        self.projector_, self.concept_names_ = projector, tuple(projector.concept_names_)

    def _warn_of_concepts(self) -> None:
        if hasattr(self.projector_, "scores_"):  # a projector of the user's own may have none
            warn_of_undecodable(self.projector_, self.tree_.features)

    def _scores(self, X: Any, rows: Rows) -> Rows:
        """Return the scores of embeddings, with the weights of their rows."""
        table = self._numbers(X) if hasattr(self.projector_, "feature_names_in_") else rows.values
        return rows.mapped(np.asarray(self.projector_.transform(table)))

    def _tested_columns(self, X: Any) -> Rows:
        return self._scores(X, self._rows(X))

    def _axis_map(self, X: Any) -> tuple[AxisMap | None, tuple[str, ...]]:
        return None, ()  # the tree tests concepts, whatever the clusterer sees

    def _coordinates(self, X: Any, rows: Rows) -> FeatureSpace:
        """Return the scores, on which the tree is grown; costs are measured in embeddings."""
        scores = self._scores(X, rows)
        return FeatureSpace(tuple(map(str, self.concept_names_)), scores, scores, measured=rows)

    def _task(self, coordinates: FeatureSpace) -> Task:
        """Return the task on scores, where clusters have no centres of their own."""
        centers = np.zeros((self.reference_.n_clusters, coordinates.rows.n_columns))
        reference = Reference(self.reference_.labels, centers, self.reference_.names)
        mixture, n_jobs = self._mixture(coordinates), self._jobs()
        return Task.of(coordinates.rows, reference, mixture=mixture, random_state=self.random_state, n_jobs=n_jobs)

    def _mixture(self, coordinates: FeatureSpace | None) -> Mixture | None:
        mixture = super()._mixture(coordinates)
        if mixture is None:
            return None
        of_scores: Mixture = self.projector_.project_mixture(mixture)
        return of_scores.with_clusters(mixture.clusters)
