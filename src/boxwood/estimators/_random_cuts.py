"""`RandomCuts`: the cheapest of several random trees, with a guarantee on their expected cost."""

from __future__ import annotations

from typing import Any, ClassVar

from boxwood._compat import StrOptions
from boxwood._validation import Rows
from boxwood.clusterers import KMedians
from boxwood.errors import DataError
from boxwood.estimators._base import AT_LEAST_ONE, TreeClusterer
from boxwood.grow.centers.random_cuts import with_best_centers
from boxwood.grow.grown import Grown
from boxwood.passes import Batches
from boxwood.reference import Reference, Task
from boxwood.reference.clusterer import refuse_number_of_clusters
from boxwood.theory.bounds import random_cuts_price_bound

__all__ = ["RandomCuts"]


class RandomCuts(TreeClusterer):
    """Clusters explained by a tree with one leaf for each: the cheapest of several trees of random cuts.

    Cuts are drawn from the centres alone. The expected cost of each tree is provably near that of the clustering. Use
    it for k-medians (ℓ1 or Euclidean distances), and where you need the guarantee. On data with clear clusters the
    trees of `IMM` and `ExKMC` usually cost less.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is `KMedians` of the objective, k-means for "sqeuclidean". Ignored if
        `fit` is given labels.
    n_clusters : int, default=8
        Number of clusters where `clusterer` is None.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Distance of a row to its centre: ℓ1, squared Euclidean (the units of the columns squared), or Euclidean. The
        centres of given labels, and of clusterers other than `KMedians` of this objective, are the medians (for
        "sqeuclidean": means) of their rows.
    variant : {"fast", "exact"}, default="fast"
        How cuts are drawn; see `grow.random_cuts`.
    n_trees : int, default=100
        Number of trees drawn; the cheapest on the rows of `fit` is kept, the first of equally cheap ones.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not tell that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of the trees and of the clusterer; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Always holds: each cluster of the reference has exactly one leaf, which its centre reaches.
    prices_ : array of shape (n_trees,)
        Cost of each tree in the order of the draws, divided by the cost of the clustering. The cost of a tree adds up
        the distances of rows to the centre of the cluster that their leaf carries.
    bound_ : theory.Bound
        Upper bound on the expectation of each of these prices, and where it is proved.
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
        Price of explainability of `tree_` in the objective, with the best centres for the tree's clusters and for the
        clustering; at most about the smallest of `prices_`. 0/0 counts as 1. It can be below 1 where the clustering is
        not the best.
    clusterer_ : estimator
        The fitted clusterer. It exists only if `fit` was given no labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns. They exist only if `fit` was given a data frame whose column names are all text.

    See Also
    --------
    IMM : Cuts separate as few rows as possible from their centre; for k-means, and seldom far from the best.

    Notes
    -----
    All trees are scored in one pass over the rows. A tree changes the cost only of rows that it separates from the
    centre of their cluster; all other rows are added up once for all trees. Drawing takes almost no time.

    The bound is on the expected cost of one random tree, and it also holds for the cheapest of several. It holds for
    any labels: trees do not depend on labels, and the bound is stated against the nearest centre of each row, which
    costs least.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal Algorithms for Explainable k-Medians and k-Means", ICML 2021.

    Examples
    --------
    >>> from boxwood import RandomCuts
    >>> X = [[1.0, 0.0], [2.0, 0.0], [1.0, 9.0], [8.0, 9.0], [9.0, 1.0]]
    >>> model = RandomCuts(random_state=0).fit(X, ["low", "low", "low", "high", "high"])
    >>> model.predict([[7.0, 5.0]]).tolist(), model.price_, model.bound_.value
    (['high'], 1.0, 2.0)
    >>> model.explanation_.draws.n_trees, round(model.explanation_.draws.mean, 2)
    (100, 1.21)
    """

    _method = "random_cuts"
    _facts = ("prices",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "objective": [StrOptions({"l1", "l2", "sqeuclidean"})],
        "variant": [StrOptions({"fast", "exact"})],
        "n_trees": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        objective: str = "l1",
        variant: str = "fast",
        n_trees: int = 100,
        noise: str = "leaf",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.objective = objective
        self.variant = variant
        self.n_trees = n_trees
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        if self.clusterer is not None or self.objective == "sqeuclidean":
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        return KMedians(self.n_clusters, objective=self.objective, random_state=self.random_state, n_jobs=self.n_jobs)

    def _reference(self, X: Any, rows: Rows, y: Any) -> Reference:
        return with_best_centers(Task.of(rows, super()._reference(X, rows, y), n_jobs=self._jobs()), self.objective)

    def _clusters_on(self, batches: Batches, label: str | None) -> tuple[Reference, tuple[str, ...]]:
        if self.objective == "l2" or (self.objective == "l1" and label is None and self.clusterer is None):
            what = "geometric medians" if self.objective == "l2" else "k-medians"
            raise DataError(
                f"{what} need all rows in memory, but {batches.source.name} is read in batches; name a column of "
                "labels and use objective='l1', or use objective='sqeuclidean'"
            )
        reference, notes = super()._clusters_on(batches, label)
        if self.objective == "l1" or (label is None and self.clusterer is not None):  # centres may be no means
            reference = with_best_centers(Task.of(batches, reference), self.objective)
        return reference, notes

    def _keep(self, grown: Grown) -> None:
        super()._keep(grown)
        k = self.reference_.n_clusters
        self.bound_ = random_cuts_price_bound(k, objective=self.objective, variant=self.variant, drawn=True)
