"""`KernelMMDT`: clusters of a kernel, told apart by their distance to prototypes."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from boxwood._compat import Interval, StrOptions
from boxwood.estimators._kernel_base import KernelTreeClusterer
from boxwood.grow._kernel_mmdt import PROTOTYPES
from boxwood.grow._kernel_mmdt_cuts import AXES
from boxwood.kernels import Kernel

__all__ = ["KernelMMDT"]


class KernelMMDT(KernelTreeClusterer):
    """Clusters explained by a tree with one leaf for each, by cuts around prototypes: `p - r <= x <= p + r`.

    The Kernel Mixture Model Decision Tree: at each node the axis is taken on which two clusters are least alike to the
    kernel, and rows are told apart by their distance to a row of one of them. Use it for clusters that are compact on
    some axis, whatever their shape: its loss is bounded where clusters are far less alike on an axis than within
    themselves. Where some columns are noise, take `axis="error"`.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained; it is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is `KernelKMeans` of this kernel; for many rows pass one with
        `n_components`. Ignored if `fit` is given labels. Trees and costs are those of `kernel`, whatever kernel a
        clusterer has: give the same to both.
    n_clusters : int, default=8
        Number of clusters of `KernelKMeans` where `clusterer` is None.
    kernel : DistanceKernel or str, default="gaussian"
        Kernel that multiplies over axes: "gaussian", "laplace", or a `ProductKernel`.
    gamma : float, array-like of shape (d,), "scale" or "median", default="scale"
        Bandwidth of a kernel given by its name; see `kernels.Gaussian`. Others have their own.
    axis : {"similarity", "error"}, default="similarity"
        Which axis and clusters are chosen at a node: those that are least alike, as in the paper; or those whose cut
        has the least bound on its mistakes, which is not drawn to columns of wide noise. See `grow.kernel_mmdt`.
    prototype : {"sample", "medoid"}, default="sample"
        A row drawn for each node, as the guarantee asks, or the value most alike to the cluster's rows on the axis.
    n_trees : int, default=1
        Number of trees grown with prototypes of their own, of which the cheapest is kept.
    random_state : int, RandomState instance or None, default=None
        Randomness of `KernelKMeans` and of prototypes; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Always holds: each cluster has exactly one leaf.
    cuts_ : tuple of PrototypeCut
        What each cut was made of, in pre-order: the cluster of its prototype, the level of similarity and the radius,
        the clusters on either side, and a bound on its share of mistakes. Columns and nodes are those in which the
        clusterer sees the rows, behind a pipeline's first steps.
    error_bound_ : float
        Sum of those bounds: the share of rows that do not reach their own cluster's leaf is at most that, in the mean
        over prototypes drawn. It may be above 1, and is no bound for medoids, nor for the best of several draws alone.
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
        Means of the rows of each cluster, or what the clusterer has for centres. The tree does not look at them.
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
    MMDT : Cuts between means, by variances.
    KernelIMM : Counts rows parted from their centre.
    boxwood.grow.kernel_mmdt_of_mixture : From the parameters of Gaussian components, without rows.

    Notes
    -----
    Takes time n d log n and, at most, d k² 512² for similarities; one value of the kernel for each two rows besides, if
    there are several draws, and for each two rows in one cluster for the price.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 5.3.

    Examples
    --------
    >>> from boxwood import KernelMMDT
    >>> X = [[-4.0], [-3.9], [0.0], [0.1], [4.0], [4.1]]
    >>> model = KernelMMDT(gamma=0.3, random_state=0).fit(X, ["out", "out", "in", "in", "out", "out"])
    >>> model.labels_.tolist(), model.price_
    (['out', 'out', 'in', 'in', 'out', 'out'], 1.0)
    >>> (cut,) = model.cuts_
    >>> model.reference_.names[cut.component], cut.prototype, round(cut.radius, 2)
    ('in', 0.1, 1.51)
    """

    _method = "kernel_mmdt"
    _facts = ("kernel", "cuts", "error_bound")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelTreeClusterer._parameter_constraints,
        "axis": [StrOptions(set(AXES))],
        "prototype": [StrOptions(set(PROTOTYPES))],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        kernel: Kernel | str = "gaussian",
        gamma: Any = "scale",
        axis: str = "similarity",
        prototype: str = "sample",
        n_trees: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.axis = axis
        self.prototype = prototype
        self.n_trees = n_trees
        self.random_state = random_state
        self.n_jobs = n_jobs
