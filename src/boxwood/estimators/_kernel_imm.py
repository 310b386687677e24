"""`KernelIMM`: clusters of a kernel, explained by a tree with one leaf for each."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from boxwood._compat import Interval, StrOptions
from boxwood.estimators._base import AT_LEAST_TWO
from boxwood.estimators._kernel_base import KernelTreeClusterer
from boxwood.kernels import Kernel

__all__ = ["KernelIMM"]


class KernelIMM(KernelTreeClusterer):
    """Clusters of kernel k-means explained by a tree with one leaf for each, by cuts `a <= x <= b`: Kernel IMM.

    Use it where clusters are no round clouds (rings, moons, chains), so that a kernel finds them and k-means does not.
    For Gaussian and additive kernels the kernel cost of the tree is at most O(d k²) times that of the clusters.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained; it is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is `KernelKMeans` of this kernel; for many rows pass one with
        `n_components`. Ignored if `fit` is given labels. Trees and costs are those of `kernel`, whatever kernel a
        clusterer has: give the same to both.
    n_clusters : int, default=8
        Number of clusters of `KernelKMeans` where `clusterer` is None.
    kernel : Kernel or str, default="gaussian"
        Kernel, or a name that `kernels.as_kernel` knows: "gaussian", "laplace", "linear", "hellinger",
        "histogram_intersection" or "chi_squared".
    gamma : float, array-like of shape (d,), "scale" or "median", default="scale"
        Bandwidth of a kernel given as "gaussian" or "laplace"; see `kernels.Gaussian`. Others have their own or none.
    features : {"auto", "taylor", "distance", "additive"}, default="auto"
        Features that stand for the kernel; see `grow.kernel_imm`. "auto" keeps what costs least.
    n_terms : int or "auto", default="auto"
        Order of Taylor and χ² features.
    n_landmarks : int or None, default=64
        Most landmarks of a column, for "distance" and histogram intersection; None takes all values.
    random_state : int, RandomState instance or None, default=None
        Randomness of `KernelKMeans`; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Always holds: each cluster has one leaf, unless no value of a row could ever reach it.
    features_ : str
        The features that it cuts.
    feature_error_ : float
        How far their inner products along one axis can be from the kernel's; 0 for exact features, not a number for
        "distance", whose inner products are no kernel.
    kernel_ : Kernel
        The kernel, with its bandwidth as a number.
    labels_ : array of shape (n,)
        What `predict` gives for the rows of `fit`.
    reference_ : Reference
        The clustering that the tree explains.
    explanation_ : Explanation
        The tree, measured on the rows of `fit`: rules, agreement and price. It is made when first asked for; until then
        the rows are kept. A pickle holds it in place of the rows.
    cluster_centers_ : array of shape (k, d)
        Means of the rows of each cluster, or what the clusterer has for centres. The tree does not look at them:
        it explains means in the feature space, which are no rows.
    n_leaves_ : int
        Number of leaves.
    price_ : float
        Price of explainability in the kernel's feature space: the kernel k-means cost of the tree's clusters, divided
        by that of the clustering. 0/0 is 1; below 1 where the clustering does not minimise this cost.
    price_ceiling_ : float
        What `price_` could be at most, whatever the tree. Where it is near 1, as for narrow kernels, a price near 1
        says nothing; look at `agreement_`.
    agreement_ : Agreement
        How far `labels_` and the clustering make the same groups: `matched`, `adjusted_rand` and
        `normalized_mutual_info` of `metrics.agreement`.
    clusterer_ : estimator
        The fitted clusterer; only there if `fit` was given no labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns; only there if `fit` was given a data frame whose column names are all text.

    See Also
    --------
    IMM : The same for k-means, by one-sided cuts.

    Notes
    -----
    Beside the clusterer, takes time and memory of n times the number of features, and for prices one value of the
    kernel for each two rows in one cluster, several times.

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
        "features": [StrOptions({"auto", "taylor", "distance", "additive"})],
        "n_terms": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_landmarks": [AT_LEAST_TWO, None],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        kernel: Kernel | str = "gaussian",
        gamma: Any = "scale",
        features: str = "auto",
        n_terms: int | str = "auto",
        n_landmarks: int | None = 64,
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
        self.random_state = random_state
        self.n_jobs = n_jobs
