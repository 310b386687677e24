"""`RandomCuts`: the cheapest of some random trees, with the guarantee that holds for each of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from boxwood._compat import Interval, StrOptions
from boxwood._validation import Rows
from boxwood.clusterers import KMedians
from boxwood.estimators._base import TreeClusterer
from boxwood.grow._grown import Grown
from boxwood.grow._random_cuts import with_best_centers
from boxwood.reference import Reference, Task
from boxwood.reference._clusterer import refuse_number_of_clusters
from boxwood.theory.bounds import random_cuts_price_bound

__all__ = ["RandomCuts"]


class RandomCuts(TreeClusterer):
    """Clusters explained by a tree with one leaf for each: the cheapest of some trees of random cuts.

    Cuts are drawn from the centres alone, and each tree's expected cost is provably near that of the clustering. Use it
    for k-medians (ℓ1 or Euclidean distances), and where the guarantee counts; on data with clear clusters the trees of
    `IMM` and `ExKMC` usually cost less.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained; it is cloned and fitted, but a
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
        Cost of each tree that was drawn, by the distance of each row to the centre of the cluster its leaf is given,
        divided by the cost of the clustering, in the order of the draws.
    bound_ : theory.Bound
        What the expectation of each of them is at most, and where that is proved.
    labels_ : array of shape (n,)
        What `predict` gives for the rows of `fit`.
    reference_ : Reference
        The clustering that the tree explains.
    explanation_ : Explanation
        The tree, measured on the rows of `fit`: rules, agreement and price. It is made when first asked for; until then
        the rows are kept. A pickle holds it in place of the rows.
    cluster_centers_ : array of shape (k, d)
        Centres of that clustering.
    n_leaves_ : int
        Number of leaves.
    price_ : float
        Price of explainability of `tree_` in the objective, with the best centres of both partitions; at most about the
        smallest of `prices_`. 0/0 is 1; below 1 where the clustering is not the best.
    clusterer_ : estimator
        The fitted clusterer; only there if `fit` was given no labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns; only there if `fit` was given a data frame whose column names are all text.

    See Also
    --------
    IMM : Cuts off as few rows as possible; for k-means, and seldom far from the best.

    Notes
    -----
    All trees are scored in one pass over the rows: a tree changes the cost by the rows alone that it cuts off from
    their cluster, so the others are looked at once for all trees. Drawing takes no time to speak of.

    The bound is on the expectation of one tree; that the cheapest is kept only helps. It holds for all labels: where a
    tree puts a row has nothing to do with its label, and the bound holds against the nearest centre of each row,
    beside which its own is no nearer.

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
        "n_trees": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        objective: str = "l1",
        variant: str = "fast",
        n_trees: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.objective = objective
        self.variant = variant
        self.n_trees = n_trees
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        if self.clusterer is not None or self.objective == "sqeuclidean":
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        return KMedians(self.n_clusters, objective=self.objective, random_state=self.random_state, n_jobs=self.n_jobs)

    def _reference(self, X: Any, rows: Rows, y: Any) -> Reference:
        return with_best_centers(Task.of(rows, super()._reference(X, rows, y)), self.objective)

    def _keep(self, grown: Grown) -> None:
        super()._keep(grown)
        k = self.reference_.n_clusters
        self.bound_ = random_cuts_price_bound(k, objective=self.objective, variant=self.variant)
