"""`IMM`, `ExKMC`, `Expand`: one leaf for each cluster, or more for less cost or fewer mistakes. `CART` on labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from boxwood._compat import Interval, StrOptions
from boxwood.estimators._base import AT_LEAST_ONE, AT_LEAST_TWO, TreeClusterer
from boxwood.grow.grown import TIE_BREAKS, Grown
from boxwood.grow.leaves.expand import warn_of_early_stop
from boxwood.reference import Task
from boxwood.reference.coordinates import Coordinates

__all__ = ["CART", "IMM", "ExKMC", "Expand"]


class IMM(TreeClusterer):
    """Clusters explained by a tree with one leaf for each: Iterative Mistake Minimization.

    A cut makes a mistake for each row that it separates from the centre of its cluster. Each node gets the cut with the
    fewest mistakes, until each leaf holds one centre. Use it for the shortest explanation with a guarantee: if centres
    are means, the cost of the tree is at most O(k²) times that of the clusters.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is k-means. Ignored if `fit` is given labels.
    n_clusters : int, default=8
        Number of clusters of k-means where `clusterer` is None.
    candidates : {"all", "midpoints"}, default="all"
        Thresholds tried: all, or only the midpoints between neighbouring centres. The guarantee holds for both.
    tie_break : {"first", "margin", "balanced", "random"}, default="first"
        Choice among cuts with equally few mistakes: the lowest feature and threshold, the cut farthest from rows and
        centres, the cut with the most equal numbers of rows on its sides, or any; see `grow.imm`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not tell that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of "random" ties; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Always holds: each cluster has exactly one leaf, which its centre reaches.
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
    ExKMC : Continues this tree with more leaves, for less cost.
    boxwood.explain : Explains in one call, and measures what is lost.

    Notes
    -----
    Takes about one pass over the rows for the tree, beside the time of the clusterer.

    References
    ----------
    M. Moshkovitz, S. Dasgupta, C. Rashtchian, N. Frost, "Explainable k-Means and k-Medians Clustering", ICML 2020,
    arXiv:2002.12538.

    Examples
    --------
    >>> from boxwood import IMM, render
    >>> model = IMM().fit([[1.0, 7.0], [2.0, 3.0], [8.0, 5.0], [9.0, 4.0]], ["low", "low", "high", "high"])
    >>> print(render.text(model))
    |--- x0 <= 5
    |   |--- low
    |--- x0 >  5
    |   |--- high
    >>> model.predict([[0.0, 0.0]])
    array(['low'], dtype='<U4')
    """

    _method = "imm"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "candidates": [StrOptions({"all", "midpoints"})],
        "tie_break": [StrOptions(set(TIE_BREAKS))],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        candidates: str = "all",
        tie_break: str = "first",
        noise: str = "leaf",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.candidates = candidates
        self.tie_break = tie_break
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs


class _Expanded(TreeClusterer):
    """A tree whose leaves are split further by the method that a subclass names."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "max_leaf_nodes": [AT_LEAST_TWO, None],
        "base": [StrOptions({"imm", "root"})],
        "cuts": [StrOptions({"threshold", "interval"})],
        "look_ahead": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_depth": [AT_LEAST_ONE, None],
        "min_samples_leaf": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        max_leaf_nodes: int | None = None,
        base: str = "imm",
        cuts: str = "threshold",
        look_ahead: bool = True,
        tol: float = 0.0,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        noise: str = "leaf",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.max_leaf_nodes = max_leaf_nodes
        self.base = base
        self.cuts = cuts
        self.look_ahead = look_ahead
        self.tol = tol
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _warn(self, grown: Grown, task: Task, coordinates: Coordinates) -> None:
        if self.max_leaf_nodes is not None:  # no warning where the number of leaves is the default
            warn_of_early_stop(grown.tree.n_leaves, self.max_leaf_nodes, grown.early_stop)


class ExKMC(_Expanded):
    """Clusters explained by a tree with more leaves than clusters, each cut chosen for the cost it saves.

    Each step splits the leaf whose best cut saves most: it lowers the sum of squared distances to the clusters' centres
    by the largest amount. Use it where the rules of `IMM` lose too much: that sum never grows with `max_leaf_nodes`.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is k-means. Ignored if `fit` is given labels.
    n_clusters : int, default=8
        Number of clusters of k-means where `clusterer` is None.
    max_leaf_nodes : int, default=None
        Number of leaves; None is twice the number of clusters. Growth stops earlier if no further cut is found that
        gains. `fit` then warns, unless `max_leaf_nodes` is None.
    base : {"imm", "root"}, default="imm"
        Tree to begin with: that of IMM, in which each cluster has a leaf, or a single leaf.
    cuts : {"threshold", "interval"}, default="threshold"
        Whether a cut is `x <= b`, or may also be `a <= x <= b`.
    look_ahead : bool, default=True
        Whether two or three cuts are made at once where the best single cut gains little; see `grow.expand`.
    tol : float, default=0.0
        A cut is made only if it saves more than `tol` times the cost, or the mistakes, of the tree to begin with.
    max_depth : int, default=None
        Most cuts from the root to a leaf; None is no limit. It needs `base="root"`.
    min_samples_leaf : int, default=1
        Fewest rows of a leaf, whatever their weights. More than 1 needs `base="root"` and
        `cuts="threshold"`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not tell that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Several leaves may carry the same cluster; with `base="root"` a cluster may have none.
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
    IMM : One leaf for each cluster.
    Expand : Chooses cuts by mistakes and not by cost.
    boxwood.explain : Explains in one call, and measures what is lost.

    Notes
    -----
    Takes time n d (log n + k) for each level of the tree, beside the time of the clusterer; looking ahead takes d² k n
    for the rows of each leaf that no single cut helps much, for at most 32 columns.

    References
    ----------
    N. Frost, M. Moshkovitz, C. Rashtchian, "ExKMC: Expanding Explainable k-Means Clustering", 2020, arXiv:2006.02399.

    Examples
    --------
    >>> from boxwood import ExKMC
    >>> X = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]]
    >>> model = ExKMC(max_leaf_nodes=3).fit(X, [0, 0, 1, 1, 2, 2])
    >>> model.labels_, model.n_leaves_, model.price_
    (array([0, 0, 1, 1, 2, 2]), 3, 1.0)
    """

    _method = "exkmc"


class Expand(_Expanded):
    """Clusters explained by a tree with more leaves than clusters, each cut chosen for the mistakes it removes.

    A mistake is a row that the tree puts outside its own cluster. Each step splits the leaf whose best cut removes most
    mistakes. Use it for labels that are no k-means clusters, such as segments made by hand or density clusters: only
    `base="imm"` uses centres.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is k-means. Ignored if `fit` is given labels.
    n_clusters : int, default=8
        Number of clusters of k-means where `clusterer` is None.
    max_leaf_nodes : int, default=None
        Number of leaves; None is twice the number of clusters. Growth stops earlier if no further cut is found that
        gains. `fit` then warns, unless `max_leaf_nodes` is None.
    base : {"imm", "root"}, default="imm"
        Tree to begin with: that of IMM, in which each cluster has a leaf, or a single leaf.
    cuts : {"threshold", "interval"}, default="threshold"
        Whether a cut is `x <= b`, or may also be `a <= x <= b`.
    look_ahead : bool, default=True
        Whether two or three cuts are made at once where the best single cut gains little; see `grow.expand`.
    tol : float, default=0.0
        A cut is made only if it saves more than `tol` times the cost, or the mistakes, of the tree to begin with.
    max_depth : int, default=None
        Most cuts from the root to a leaf; None is no limit. It needs `base="root"`.
    min_samples_leaf : int, default=1
        Fewest rows of a leaf, whatever their weights. More than 1 needs `base="root"` and
        `cuts="threshold"`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not tell that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Several leaves may carry the same cluster; with `base="root"` a cluster may have none.
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
    IMM : One leaf for each cluster.
    ExKMC : Chooses cuts by cost and not by mistakes.
    boxwood.explain : Explains in one call, and measures what is lost.

    Notes
    -----
    Takes time n d (log n + k) for each level of the tree, beside the time of the clusterer; looking ahead takes d² k n
    for the rows of each leaf that no single cut helps much, for at most 32 columns.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining Kernel Clustering via Decision Trees", ICLR 2024,
    arXiv:2402.09881, Algorithm 3.

    Examples
    --------
    >>> from boxwood import Expand
    >>> X = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]]
    >>> labels = ["calm", "calm", "busy", "busy", "calm", "calm"]
    >>> model = Expand(base="root", cuts="interval", max_leaf_nodes=2).fit(X, labels)
    >>> model.predict([[4.5], [7.0]]).tolist()
    ['busy', 'calm']
    """

    _method = "expand"


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
