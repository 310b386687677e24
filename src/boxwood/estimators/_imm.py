"""`IMM`: the tree with the fewest mistakes at each cut."""

from __future__ import annotations

from typing import Any, ClassVar

from boxwood._compat import StrOptions
from boxwood.estimators._base import TreeClusterer
from boxwood.grow._ties import TIE_BREAKS

__all__ = ["IMM"]


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
