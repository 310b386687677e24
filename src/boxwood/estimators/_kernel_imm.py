"""`KernelIMM`: clusters of a kernel, explained by a tree with one leaf for each."""

from __future__ import annotations

from typing import Any, ClassVar

from boxwood.estimators._kernel_base import FEATURE_CONSTRAINTS, KernelTreeClusterer
from boxwood.kernels import Kernel

__all__ = ["KernelIMM"]


class KernelIMM(KernelTreeClusterer):
    """Clusters of kernel k-means explained by a tree with one leaf for each, by cuts `a <= x <= b`: Kernel IMM.

    Use it where clusters are not round (rings, moons, chains), so that a kernel finds them and k-means does not.
    For Gaussian and additive kernels the kernel cost of the tree is at most O(d k²) times that of the clusters.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is `KernelKMeans` of this kernel; for many rows pass one with
        `n_components`. Ignored if `fit` is given labels. The tree and its costs use `kernel`, even if the clusterer has
        another kernel: give the same kernel to both.
    n_clusters : int, default=8
        Number of clusters of `KernelKMeans` where `clusterer` is None.
    kernel : Kernel or str, default="gaussian"
        Kernel, or a name that `kernels.as_kernel` knows: "gaussian", "laplace", "linear", "hellinger",
        "histogram_intersection" or "chi_squared".
    gamma : float, array-like of shape (d,), "auto", "scale" or "median", default="auto"
        Bandwidth of a kernel given as "gaussian" or "laplace"; see `kernels.Gaussian`. Other kernels have a
        bandwidth of their own, or none.
    features : {"auto", "taylor", "distance", "additive"}, default="auto"
        Features that stand for the kernel; see `grow.kernel_imm`. "auto" keeps the tree that costs least.
    n_terms : int or "auto", default="auto"
        Order of Taylor and χ² features.
    n_landmarks : int, "auto" or None, default="auto"
        Largest number of landmarks of a column, for "distance" and histogram intersection; see `grow.kernel_imm`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not tell that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of `KernelKMeans`; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Always holds: each cluster has one leaf, unless no possible row could reach that leaf.
    features_ : str
        Name of the features that the tree cuts.
    feature_error_ : float
        Largest error of the features: the difference along one axis between their inner products and the kernel. It is
        0 for exact features. It is NaN for "distance", whose inner products are no kernel.
    kernel_ : Kernel
        The kernel, with its bandwidth as a number.
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
        Means of the rows of each cluster, or the clusterer's own centres. The tree does not depend on them:
        it explains means in the feature space.
    n_leaves_ : int
        Number of leaves.
    price_ : float
        Price of explainability in the kernel's feature space: the kernel k-means cost of the tree's clusters, divided
        by that of the clustering. 0/0 counts as 1. It can be below 1 where the clustering does not minimise this cost.
    price_ceiling_ : float
        The highest `price_` that any tree could have. Where it is near 1, as for narrow kernels, a price near 1 says
        nothing; read `agreement_` instead.
    agreement_ : Agreement
        How well `labels_` agree with the clustering: `matched`, `adjusted_rand` and
        `normalized_mutual_info` of `metrics.agreement`.
    clusterer_ : estimator
        The fitted clusterer. It exists only if `fit` was given no labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns. They exist only if `fit` was given a data frame whose column names are all text.

    See Also
    --------
    IMM : The same for k-means, by one-sided cuts.

    Notes
    -----
    Takes time and memory of n times the number of features. Prices take one value of the kernel for each pair of rows
    in one cluster, computed several times. The clusterer comes on top.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881.

    Examples
    --------
    >>> from boxwood import KernelIMM, render
    >>> X = [[-3.0], [-2.0], [-0.5], [0.0], [0.5], [2.0], [3.0]]
    >>> model = KernelIMM(gamma=0.5).fit(X, ["out", "out", "in", "in", "in", "out", "out"])
    >>> print(render.text(model))
    |--- -1.25 <= x0 <= 1.25
    |   |--- in
    |--- x0 < -1.25 or x0 > 1.25
    |   |--- out
    >>> model.features_, model.price_
    ('taylor', 1.0)
    """

    _method = "kernel_imm"
    _facts = ("kernel", "features", "feature_error")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelTreeClusterer._parameter_constraints,
        **FEATURE_CONSTRAINTS,
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        kernel: Kernel | str = "gaussian",
        gamma: Any = "auto",
        features: str = "auto",
        n_terms: int | str = "auto",
        n_landmarks: int | str | None = "auto",
        noise: str = "leaf",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.features = features
        self.n_terms = n_terms
        self.n_landmarks = n_landmarks
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs
