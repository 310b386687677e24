"""`CART`: scikit-learn's decision tree on the labels."""

from __future__ import annotations

from typing import Any, ClassVar

from boxwood._compat import StrOptions
from boxwood.estimators._base import AT_LEAST_ONE, AT_LEAST_TWO, TreeClusterer

__all__ = ["CART"]


class CART(TreeClusterer):
    """Clusters explained by scikit-learn's decision tree on their labels: the baseline that everyone uses.

    Cuts are chosen for purity, without regard to distances. The price of explainability has no bound, whatever the
    number of clusters. Use it to compare, or where clusters do not gather around their means.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is k-means. Ignored if `fit` is given labels.
    n_clusters : int, default=8
        Number of clusters of k-means where `clusterer` is None.
    max_leaf_nodes : int, default=None
        Number of leaves; None is the number of clusters.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity that a cut lowers.
    max_depth : int, default=None
        Most cuts from the root to a leaf; None is no limit.
    min_samples_leaf : int, default=1
        Fewest rows of a leaf, whatever their weights.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not tell that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of ties between cuts; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Several leaves may carry the same cluster, and a cluster may have none.
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

    See Also
    --------
    Expand : Lowers mistakes and not impurity; can begin with a leaf for each cluster.
    boxwood.explain : Explains in one call, and measures what is lost.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, "Classification and Regression Trees", 1984.

    Examples
    --------
    >>> from boxwood import CART
    >>> model = CART().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.tree_.to_dict()["threshold"], model.labels_.tolist()
    (5.0, ['low', 'low', 'high', 'high'])
    """

    _method = "cart"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "max_leaf_nodes": [AT_LEAST_TWO, None],
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "max_depth": [AT_LEAST_ONE, None],
        "min_samples_leaf": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        max_leaf_nodes: int | None = None,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        noise: str = "leaf",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.max_leaf_nodes = max_leaf_nodes
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs
