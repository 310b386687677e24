"""What the estimators share: `fit` as a recipe whose one step, growing the tree, each of them supplies."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from boxwood._compat import HasMethods, Interval, fit_context
from boxwood._frames import label_values, names_array, validated_rows
from boxwood._validation import as_weights
from boxwood.axes import AxisMap, axis_map_of
from boxwood.errors import DataError
from boxwood.estimators._cluster import fitted_clusterer, reference_of, reference_seen, refuse_one_cluster
from boxwood.grow import expand, imm
from boxwood.grow._expand import expanded
from boxwood.metrics import cost, price_of_explainability
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree

__all__ = ["AT_LEAST_TWO", "TreeClusterer", "Weights", "grow_expanded"]

Weights = NDArray[np.float64] | None
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")


class TreeClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer whose clusters are the leaves of a small tree of cuts.

    A subclass stores its parameters, and says in `_grow` how the tree is grown.
    """

    clusterer: Any
    n_clusters: int
    random_state: Any
    n_jobs: int | None

    _objective = "sqeuclidean"  # what `price_` and `score` measure

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "clusterer": [HasMethods(["fit"]), None],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],  # of no effect where labels are given
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def _grow(self, X: NDArray[Any], reference: Reference, weights: Weights, n_jobs: int) -> ThresholdTree:
        raise NotImplementedError

    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree that explains the labels `y`, or the clusters that `clusterer` finds.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows. Arrays of float32 or float64 are not copied.
        y : array-like of shape (n,), default=None
            Labels to explain, of any hashable type; the number -1 leaves a row out.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row, in the tree and, where its `fit` accepts them, in the clusterer.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If `X` has missing or infinite values or text columns, if there are not as many labels as rows, if there is
            only one cluster, or fewer different rows than clusters asked for.
        """
        n_jobs = effective_n_jobs(self.n_jobs)
        rows = self._rows(X, reset=True)
        weights = as_weights(sample_weight, len(rows))
        reference = self._reference(X, rows, y, weights)
        refuse_one_cluster(reference)
        tree, price = self._grown(X, rows, reference, weights, n_jobs)
        # assigned together, so that a fit that fails does not mix with an earlier one
        self.reference_, self.tree_, self.price_ = reference, tree, price
        self.cluster_centers_ = reference.centers
        self.n_leaves_ = tree.n_leaves
        self.labels_ = self._named(self.tree_.predict(rows, n_jobs=n_jobs))
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[Any]:
        """Fit, and return the cluster that the tree gives to each row of `X`, shape (n,)."""
        labels: NDArray[Any] = self.fit(X, y, sample_weight).labels_
        return labels

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the cluster of each row, shape (n,): a label of `y`, or the clusterer's number."""
        return self._named(self._fitted_tree().predict(self._rows(X), n_jobs=effective_n_jobs(self.n_jobs)))

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf of each row, shape (n,), with leaves numbered from 0 in pre-order."""
        return self._fitted_tree().apply(self._rows(X), n_jobs=effective_n_jobs(self.n_jobs))

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the sum of squared distances of the rows to the centre of the cluster that the tree gives them.

        Labels `y` are ignored. Greater is better; 0 is the most.
        """
        tree = self._fitted_tree()
        options: dict[str, Any] = {"centers": self.cluster_centers_, "sample_weight": sample_weight}
        return -cost(self._rows(X), tree, objective=self._objective, **options)

    # ------------------------------------------------------------------------------------------------- steps

    def _rows(self, X: Any, *, reset: bool = False) -> NDArray[Any]:
        """Return checked rows, float32 or float64; remember (or compare) the number and names of the columns."""
        at_least, n_jobs = 2 if reset else 1, effective_n_jobs(self.n_jobs)
        return validated_rows(self, X, reset=reset, at_least=at_least, n_jobs=n_jobs)

    def _reference(self, X: Any, rows: NDArray[Any], y: Any, weights: Weights) -> Reference:
        if y is not None:
            self.__dict__.pop("clusterer_", None)  # of an earlier fit
            return Reference.of(rows, label_values(y), sample_weight=weights)
        options: dict[str, Any] = {"n_clusters": self.n_clusters, "random_state": self.random_state}
        self.clusterer_ = fitted_clusterer(self._unfitted_clusterer(rows), X, rows, weights=weights, **options)
        return reference_of(self.clusterer_, X, rows, weights)

    def _unfitted_clusterer(self, rows: NDArray[Any]) -> Any:
        """Return the clusterer to be fitted; None is k-means."""
        return self.clusterer

    def _grown(
        self, X: Any, rows: NDArray[Any], reference: Reference, weights: Weights, n_jobs: int
    ) -> tuple[ThresholdTree, float]:
        """Return the tree and its price; both are found in the columns that a pipeline makes before it clusters."""
        axis_map = self._axis_map(X)
        seen, there = rows, reference
        if axis_map is not None:
            seen = axis_map.transform(rows)
            there = reference_seen(self.clusterer_, seen, reference, weights)
        tree = self._grow(seen, there, weights, n_jobs)
        price = self._price(seen, tree, there, weights, n_jobs)
        return (tree if axis_map is None else tree.pull_back(axis_map, rows)), price

    def _price(
        self, X: NDArray[Any], tree: ThresholdTree, reference: Reference, weights: Weights, n_jobs: int
    ) -> float:
        return price_of_explainability(X, tree, reference, objective=self._objective, sample_weight=weights)

    def _axis_map(self, X: Any) -> AxisMap | None:
        """Return the map of a pipeline's first steps; None for other clusterers, and where these mix columns."""
        steps = getattr(getattr(self, "clusterer_", None), "steps", ())
        if len(steps) < 2:
            return None
        try:
            return axis_map_of(self.clusterer_[:-1], X)
        except DataError:
            return None

    def _fitted_tree(self) -> ThresholdTree:
        check_is_fitted(self)
        return self.tree_

    def _named(self, clusters: NDArray[np.int64]) -> NDArray[Any]:
        return names_array(self.reference_.names)[clusters]


def grow_expanded(
    X: NDArray[Any],
    reference: Reference,
    *,
    base: str,
    objective: str,
    cuts: str,
    max_leaf_nodes: int | None,
    weights: Weights,
    n_jobs: int,
) -> ThresholdTree:
    """Return the tree expanded from that of IMM, or from the root, to `max_leaf_nodes` or twice the clusters.

    Nobody asked for the default number of leaves, so nobody is warned if fewer do.
    """
    begin = imm(X, reference, sample_weight=weights, n_jobs=n_jobs) if base == "imm" else None
    leaves = 2 * reference.n_clusters if max_leaf_nodes is None else max_leaf_nodes
    grow = expanded if max_leaf_nodes is None else expand
    return grow(
        begin,
        X,
        reference,
        max_leaf_nodes=leaves,
        objective=objective,
        cuts=cuts,
        sample_weight=weights,
        n_jobs=n_jobs,
    )
