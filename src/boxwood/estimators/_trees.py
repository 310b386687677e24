"""Trees with a leaf for each cluster, `IMM` and `RandomCuts`, or with more: `ExKMC`, `Expand`, and `CART` on labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from boxwood._compat import Interval, StrOptions
from boxwood._validation import Rows
from boxwood.batches import Batches
from boxwood.clusterers import KMedians
from boxwood.errors import DataError
from boxwood.estimators._base import AT_LEAST_ONE, AT_LEAST_TWO, TreeClusterer
from boxwood.grow.centers.random_cuts import with_best_centers
from boxwood.grow.grown import TIE_BREAKS, Grown
from boxwood.grow.leaves.expand import warn_of_early_stop
from boxwood.reference import Reference, Task
from boxwood.reference.clusterer import refuse_number_of_clusters
from boxwood.reference.feature_space import FeatureSpace
from boxwood.theory.bounds import random_cuts_price_bound


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
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
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

    def _warn(self, grown: Grown, task: Task, coordinates: FeatureSpace) -> None:
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
        Fewest rows of a leaf, whatever their weights above 0. More than 1 needs `base="root"` and
        `cuts="threshold"`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
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
        Fewest rows of a leaf, whatever their weights above 0. More than 1 needs `base="root"` and
        `cuts="threshold"`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
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
        Fewest rows of a leaf, whatever their weights above 0.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
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
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
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
    >>> model.explanation_.details.draws.n_trees, round(model.explanation_.details.draws.mean, 2)
    (100, 1.21)
    """

    bound_: Any

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
