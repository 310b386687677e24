"""`ConceptMMDT`: the tree that tells clusters of embeddings apart by concepts."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from boxwood._compat import HasMethods
from boxwood._types import Array, Floats, Indices, Weights
from boxwood._validation import as_weights, listed
from boxwood.concepts import ConceptProjector
from boxwood.errors import DataError
from boxwood.estimators._mmdt import MMDT
from boxwood.grow import mmdt
from boxwood.metrics import partition_cost
from boxwood.metrics._mixture_tails import far_tails
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture, Reference
from boxwood.reference._clusterer import refuse_one_cluster
from boxwood.tree import ThresholdTree

__all__ = ["ConceptMMDT"]


class ConceptMMDT(MMDT):
    """Clusters of embeddings explained by a tree whose cuts are concepts, with one leaf for each cluster.

    Embeddings are scored by concept activation vectors, and the tree that tells mixtures apart, `MMDT`, is grown on the
    scores. Clusters are found, and predicted, in embeddings: `predict` takes raw ones.

    Parameters
    ----------
    projector : ConceptProjector, default=None
        Fitted on the examples of the concepts, which as a rule are other rows than those clustered; put it into a
        `sklearn.frozen.FrozenEstimator` where clones of this estimator are to know it. Not fitted, or None for a
        `ConceptProjector()`, it is learned from the concept labels that `fit` is given.
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained; it is cloned and fitted on the
        embeddings, but a `FrozenEstimator` is used as it is. None is a Gaussian mixture. Ignored if `fit` is given
        labels.
    n_clusters : int, default=8
        Number of components of the Gaussian mixture where `clusterer` is None.
    axis : {"gap", "range"}, default="gap"
        Concept to cut: that with the largest gap between neighbouring means, or the largest range of means.
    threshold : {"midpoint", "tails", "chebyshev", "gaussian", "uniform"}, default="midpoint"
        Where to cut it; see `grow.mmdt`.
    pooling : {"weighted", "max"}, default="weighted"
        The one variance of a concept: the mean of the clusters' by weight, or the largest.
    random_state : int, RandomState instance or None, default=None
        Randomness of the Gaussian mixture and of "uniform" thresholds; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    projector_ : ConceptProjector
        What scores embeddings, fitted.
    concept_names_ : tuple of m str
        Names of the concepts: feature j of the tree is the concept j.
    mixture_ : Mixture
        Clusters along concepts, from which the tree is grown: a Gaussian mixture's own parameters, projected, or those
        of the scores of the clusters' rows. Cuts between its `concepts.unseparated_pairs` are chance.
    tree_ : ThresholdTree
        The tree, on scores. Always holds: each component of `mixture_` has exactly one leaf, which its mean reaches.
    labels_ : array of shape (n,)
        What `predict` gives for the rows of `fit`.
    reference_ : Reference
        The clustering that the tree explains, its centres in the space of embeddings.
    cluster_centers_ : array of shape (k, d)
        Centres of that clustering.
    n_leaves_ : int
        Number of leaves.
    price_ : float
        Price of explainability: within-cluster squared distances of embeddings under the tree, divided by those of the
        clustering. 0/0 is 1; below 1 where the clustering does not minimise this cost.
    clusterer_ : estimator
        The fitted clusterer; only there if `fit` was given no labels.
    n_features_in_ : int
        Number of latent columns.
    feature_names_in_ : array of shape (d,)
        Names of the latent columns; only there if `fit` was given a data frame whose column names are all text.

    Warns
    -----
    UserWarning
        By `fit`, where clusters are skewed, heavy-tailed or two-humped along a concept that bounds a leaf of theirs.

    See Also
    --------
    boxwood.concepts.make_concept_tree : Any other explainer on concepts.
    boxwood.concepts.concept_text : The tree in words.
    boxwood.concepts.concept_baseline : What meaningless concepts would reach, without which no score says anything.

    Notes
    -----
    The same as a pipeline of a frozen projector and `MMDT`, as means and covariances go along with linear maps; in
    addition it finds the clusters in embeddings, measures the price there, and takes mixtures without rows. The
    standard deviation along a concept is a square root, which Algorithm 2 of the paper leaves out in print; so lengths
    of vectors and their intercepts do not change how rows are labelled. Where tails are heavy, it recommends CART.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Algorithm 2.

    Examples
    --------
    >>> from boxwood import ConceptMMDT
    >>> from boxwood.concepts import concept_text
    >>> Z = [[0.0, 1.0], [0.2, 3.0], [0.1, 2.0], [2.0, 2.0], [2.1, 1.0], [2.2, 3.0]]
    >>> names = ["grass", "grass", "grass", "rose", "rose", "rose"]
    >>> model = ConceptMMDT().fit(Z, names, concepts={"red": [0, 0, 0, 1, 1, 1]})
    >>> print(concept_text(model))
    |--- red <= 0.000349  (not red)
    |   |--- grass
    |--- red >  0.000349  (red)
    |   |--- rose
    >>> model.predict([[0.0, 0.0], [3.0, 0.0]]).tolist()
    ['grass', 'rose']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MMDT._parameter_constraints,
        "projector": [HasMethods(["fit", "transform"]), None],
    }

    def __init__(
        self,
        projector: Any = None,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        axis: str = "gap",
        threshold: str = "midpoint",
        pooling: str = "weighted",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            clusterer,
            n_clusters=n_clusters,
            axis=axis,
            threshold=threshold,
            pooling=pooling,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.projector = projector

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, concepts: Any = None) -> Self:
        """Grow the tree that explains the labels `y`, or the clusters that `clusterer` finds among embeddings.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Embeddings.
        y : array-like of shape (n,), default=None
            Labels to explain, of any hashable type; the number -1 leaves a row out.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row, in the tree and, where its `fit` accepts them, in the clusterer.
        concepts : data frame, mapping or array-like of shape (n, m), default=None
            Concept labels of these very rows, NaN where not known, to learn the projector from. None takes the
            projector as it was fitted.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If there is neither a fitted projector nor concept labels, if clusters have equal means along all concepts
            (the message names them), or as `MMDT.fit`.
        ValueError
            If there are concept labels, but the projector is frozen.
        """
        self._validate_params()
        n_jobs = effective_n_jobs(self.n_jobs)
        rows = self._rows(X, reset=True)
        weights = as_weights(sample_weight, len(rows))
        projector = self._projector(X, rows, concepts)
        reference = self._reference(X, rows, y, weights)
        refuse_one_cluster(reference)
        scores = _scores(projector, X, rows)
        mixture, tree = self._grow_on(projector, scores, reference, weights, n_jobs)
        predicted = tree.predict(scores, n_jobs=n_jobs)
        explained = np.where(reference.kept, predicted, -1)
        costs = [partition_cost(rows, labels, sample_weight=weights) for labels in (explained, reference.labels)]
        self._with(projector, mixture, tree, reference)
        self.labels_, self.price_ = self._named(predicted), ratio(*costs)
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
            Without `labels_` and `price_`, which need rows. The means are the rows of `reference_`.

        Raises
        ------
        DataError
            If the projector is not fitted, or components have equal means along all concepts.
        """
        self._validate_params()
        given = mixture if isinstance(mixture, Mixture) else Mixture.from_gaussian_mixture(mixture)
        reference = Reference(np.arange(given.n_components), given.means, given.names)
        refuse_one_cluster(reference)
        projector = self._projector(None, given.means, None)
        along = projector.project_mixture(given)
        self._with(projector, along, self._tree(along), reference)
        for name in ("clusterer_", "feature_names_in_", "labels_", "price_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.n_features_in_ = given.n_features
        return self

    def predict(self, X: Any) -> Array:
        """Return the cluster of each row of embeddings, shape (n,): a label of `y`, or the clusterer's number."""
        tree = self._fitted_tree()
        clusters = tree.predict(_scores(self.projector_, X, self._rows(X)), n_jobs=effective_n_jobs(self.n_jobs))
        return self._named(clusters)

    def apply(self, X: Any) -> Indices:
        """Return the leaf of each row of embeddings, shape (n,), with leaves numbered from 0 in pre-order."""
        tree = self._fitted_tree()
        return tree.apply(_scores(self.projector_, X, self._rows(X)), n_jobs=effective_n_jobs(self.n_jobs))

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the sum of squared distances of embeddings to the centre of the cluster that the tree gives.

        Labels `y` are ignored. Greater is better; 0 is the most.
        """
        tree, rows = self._fitted_tree(), self._rows(X)
        clusters = tree.predict(_scores(self.projector_, X, rows))
        return -partition_cost(rows, clusters, centers=self.cluster_centers_, sample_weight=sample_weight)

    # ------------------------------------------------------------------------------------------------- steps

    def _projector(self, X: Any, rows: Array, concepts: Any) -> Any:
        given = ConceptProjector() if self.projector is None else self.projector
        if concepts is not None:
            if isinstance(given, FrozenEstimator):
                raise ValueError("concepts cannot be learned by a frozen projector; give it without FrozenEstimator")
            return clone(given).fit(rows if X is None else X, concepts)
        if not hasattr(given, "vectors_"):
            raise DataError(
                "concepts are needed: give a fitted projector (in a FrozenEstimator, if this estimator is cloned), "
                "or the concept labels of the rows, fit(X, y, concepts=...)"
            )
        return given

    def _grow_on(
        self, projector: Any, scores: Array, reference: Reference, weights: Weights, n_jobs: int
    ) -> tuple[Mixture, ThresholdTree]:
        """Return the mixture along concepts and its tree, whose clusters are those of the reference."""
        clusterer = getattr(self, "clusterer_", None)
        if hasattr(clusterer, "covariance_type"):
            own = Mixture.from_gaussian_mixture(clusterer)
            clusters = np.array(own.names, dtype=np.int64)
            mixture = projector.project_mixture(own)
        else:
            kept = reference.kept if weights is None else reference.kept & (weights > 0)
            clusters = np.unique(reference.labels[kept])
            names: dict[Hashable, Hashable] = {int(c): reference.names[c] for c in clusters}
            mixture = Mixture.of(scores, reference.labels, names=names, sample_weight=weights, n_jobs=n_jobs)
        tree = self._tree(mixture)
        tree = tree.relabeled(clusters[tree.leaf_clusters])
        tails = far_tails(scores, reference.labels, tree, sample_weight=weights, n_jobs=n_jobs)
        if tails:
            concepts = projector.concept_names_
            found = listed([f"{reference.names[t.component]} ({t.verdict} along {concepts[t.axis]})" for t in tails])
            warnings.warn(f"clusters far from Gaussian: {found}; CART may give a better tree on concepts", stacklevel=3)
        return mixture, tree

    def _tree(self, mixture: Mixture) -> ThresholdTree:
        options = {"axis": self.axis, "threshold": self.threshold, "pooling": self.pooling}
        return mmdt(mixture, random_state=self.random_state, **options)

    def _with(self, projector: Any, mixture: Mixture, tree: ThresholdTree, reference: Reference) -> None:
        """Assign together, so that a fit that fails does not mix with an earlier one."""
        self.projector_, self.mixture_, self.concept_names_ = projector, mixture, tuple(projector.concept_names_)
        self.tree_, self.n_leaves_ = tree, tree.n_leaves
        self.reference_, self.cluster_centers_ = reference, reference.centers


def _scores(projector: Any, X: Any, rows: Array) -> Floats:
    return np.asarray(projector.transform(X if hasattr(projector, "feature_names_in_") else rows))
