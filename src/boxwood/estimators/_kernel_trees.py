"""`KernelIMM`, `KernelExKMC`, `KernelExpand` and `KernelMMDT`: clusters of a kernel, explained by trees."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boxwood._compat import Interval, StrOptions
from boxwood._types import Floats
from boxwood._validation import Rows, as_generator, total_weight
from boxwood.axes.kernel_features import MOST_TERMS
from boxwood.clusterers import KernelKMeans
from boxwood.errors import DataError
from boxwood.estimators._base import AT_LEAST_ONE, AT_LEAST_TWO, TreeClusterer
from boxwood.grow.grown import Grown
from boxwood.grow.kernel.mmdt import AXES, POINTS, PROTOTYPES, grown_of_mixture
from boxwood.grow.leaves.expand import warn_of_early_stop
from boxwood.kernels import Kernel, Precomputed
from boxwood.kernels.bandwidth import RULES
from boxwood.kernels.families import kernel_with_gamma
from boxwood.kernels.means import KernelMeans
from boxwood.metrics import agreement, kernel_cost, within_similarity
from boxwood.reference import Mixture, Reference, Task
from boxwood.reference.clusterer import refuse_number_of_clusters
from boxwood.reference.feature_space import FeatureSpace
from boxwood.reference.reference import refuse_one_cluster
from boxwood.theory.bounds import Bound, kernel_price_bound, midpoint_kernel_price_bound


class KernelTreeClusterer(TreeClusterer):
    """A small tree of cuts that explains the clusters of kernel k-means, and is measured by the kernel cost.

    A subclass stores its parameters, which include `kernel` and `gamma`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its bandwidth as a number.
    price_ : float
        Kernel price of explainability: see `metrics.price_of_explainability`.
    price_ceiling_ : float
        The highest `price_` that any tree could have: see `metrics.price_ceiling`.
    agreement_ : Agreement
        How well the tree's clusters agree with those that it explains: see `metrics.agreement`.
    """

    agreement_: Any
    kernel: Kernel | str
    gamma: Any

    _facts: ClassVar[tuple[str, ...]] = ("kernel",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "kernel": [str, Kernel],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions(set(RULES)), "array-like"],
    }

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean kernel k-means cost of the tree's clusters of rows, with a minus sign; 0 is the best score.

        The tree gives each row a cluster. The cost of a row is its squared distance, in the kernel's feature space, to
        the mean of its cluster in `X`, and the mean is that by the weights of the rows. Greater scores are better. `y`
        is ignored.
        """
        tree, rows = self._fitted_tree(), self._rows(X, sample_weight)
        of_rows = kernel_cost(self._coordinates(X, rows).rows, tree.predict(rows), kernel=self.kernel_)
        return -of_rows / total_weight(rows)

    @property
    def price_ceiling_(self) -> float:
        """The highest `price_` that any tree could have; computed when first read."""
        check_is_fitted(self)
        return self._prices_of_fit()[1]

    # ------------------------------------------------------------------------------------------------- steps

    def _unfitted_kernel(self) -> Kernel:
        """Return the kernel; one given by its name gets the bandwidth `gamma`."""
        kernel = kernel_with_gamma(self.kernel, self.gamma)
        if isinstance(kernel, Precomputed):
            raise DataError(
                "a tree tests columns, but a precomputed kernel has none; pass the kernel itself, and to explain the "
                "clusters of the precomputed kernel, pass them as labels"
            )
        return kernel

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        if self.clusterer is not None:
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        kernel = self._unfitted_kernel()
        return KernelKMeans(self.n_clusters, kernel=kernel, random_state=self.random_state, n_jobs=self.n_jobs)

    def _options(self) -> Mapping[str, Any]:
        return {**super()._options(), "kernel": self._unfitted_kernel()}

    def _keep_agreement(self, task: Task) -> None:
        predicted = np.where(task.reference.kept, self._clusters_of_fit(), -1)
        self.agreement_ = agreement(task.reference.labels, predicted, sample_weight=task.rows.weights)


FEATURE_CONSTRAINTS: dict[str, list[Any]] = {
    "features": [StrOptions({"auto", "taylor", "distance", "additive"})],
    "n_terms": [Interval(Integral, 1, MOST_TERMS, closed="both"), StrOptions({"auto"})],
    "n_landmarks": [AT_LEAST_TWO, StrOptions({"auto"}), None],
}


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
        Features that represent the kernel; see `grow.kernel_imm`. "auto" keeps the tree that costs least.
    n_terms : int or "auto", default="auto"
        Order of Taylor and χ² features.
    n_landmarks : int, "auto" or None, default="auto"
        Largest number of landmarks of a column, for "distance" and histogram intersection; see `grow.kernel_imm`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
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


class _KernelExpanded(KernelTreeClusterer):
    """A tree with leaves split by the method that a subclass names."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelTreeClusterer._parameter_constraints,
        "max_leaf_nodes": [AT_LEAST_TWO, None],
        "base": [StrOptions({"kernel_imm", "root"})],
        "cuts": [StrOptions({"threshold", "interval"})],
        "look_ahead": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        **FEATURE_CONSTRAINTS,
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        kernel: Kernel | str = "gaussian",
        gamma: Any = "auto",
        max_leaf_nodes: int | None = None,
        base: str = "kernel_imm",
        cuts: str = "interval",
        look_ahead: bool = True,
        tol: float = 0.0,
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
        self.max_leaf_nodes = max_leaf_nodes
        self.base = base
        self.cuts = cuts
        self.look_ahead = look_ahead
        self.tol = tol
        self.features = features
        self.n_terms = n_terms
        self.n_landmarks = n_landmarks
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _warn(self, grown: Grown, task: Task, coordinates: FeatureSpace) -> None:
        if self.max_leaf_nodes is not None:  # no warning where the number of leaves is the default
            warn_of_early_stop(grown.tree.n_leaves, self.max_leaf_nodes, grown.early_stop)


class KernelExKMC(_KernelExpanded):
    """Clusters of kernel k-means explained by a tree with more leaves than clusters, each cut chosen for its saving.

    Each step splits the leaf whose best cut saves most: it lowers the sum of squared distances to the clusters' means,
    in the kernel's feature space, by the largest amount. Use it where `KernelIMM`, with one leaf for each cluster,
    loses too much: that sum never grows with `max_leaf_nodes`.

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
        Kernel, or a name that `kernels.as_kernel` knows.
    gamma : float, array-like of shape (d,), "auto", "scale" or "median", default="auto"
        Bandwidth of a kernel given as "gaussian" or "laplace"; see `kernels.Gaussian`. Other kernels have a
        bandwidth of their own, or none.
    max_leaf_nodes : int, default=None
        Number of leaves; None is twice the number of clusters. Growth stops earlier if no further cut is found that
        gains. `fit` then warns, unless `max_leaf_nodes` is None.
    base : {"kernel_imm", "root"}, default="kernel_imm"
        Tree to begin with: that of Kernel IMM, in which each cluster has a leaf, or a single leaf. "root" works with
        any kernel, but no bound covers its tree.
    cuts : {"threshold", "interval"}, default="interval"
        Whether an added cut is `x <= b`, or may also be `a <= x <= b`, like the cuts of Kernel IMM.
    look_ahead : bool, default=True
        Whether two or three cuts are made at once where no single cut gains enough; see `grow.expand`.
    tol : float, default=0.0
        A cut is made only if it saves more than `tol` times the cost, or the mistakes, of the tree to begin with.
    features : {"auto", "taylor", "distance", "additive"}, default="auto"
        Features that represent the kernel; see `grow.kernel_imm`. "auto" keeps the tree that costs least.
    n_terms : int or "auto", default="auto"
        Order of Taylor and χ² features.
    n_landmarks : int, "auto" or None, default="auto"
        Largest number of landmarks of a column, for "distance" and histogram intersection; see `grow.kernel_imm`.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
    random_state : int, RandomState instance or None, default=None
        Randomness of `KernelKMeans`; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : ThresholdTree
        The tree. Several leaves may carry the same cluster; with `base="root"` a cluster may have none.
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
        Means of the rows of each cluster, or the clusterer's own centres. The tree does not depend on them.
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
    KernelIMM : One leaf for each cluster.
    KernelExpand : Chooses cuts by mistakes and not by cost.
    ExKMC : The same for k-means.

    Notes
    -----
    `features`, `n_terms` and `n_landmarks` are for the tree of Kernel IMM; they have no effect with `base="root"`.

    Computes one value of the kernel for each pair of rows, and takes time n d (log n + k²) for each level of the tree;
    the clusterer and the tree of Kernel IMM come on top.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining Kernel Clustering via Decision Trees", ICLR 2024,
    arXiv:2402.09881, Algorithm 2.

    Examples
    --------
    >>> from boxwood import KernelExKMC
    >>> X = [[-3.0], [-2.5], [0.0], [0.5], [3.0], [3.5], [6.0], [6.5]]
    >>> labels = ["red", "red", "blue", "blue", "red", "red", "blue", "blue"]
    >>> model = KernelExKMC(gamma=1.0, max_leaf_nodes=3).fit(X, labels)
    >>> model.predict([[-9.0], [1.0], [2.8], [9.0]]).tolist(), model.price_
    (['red', 'blue', 'red', 'blue'], 1.0)
    """

    _method = "kernel_exkmc"


class KernelExpand(_KernelExpanded):
    """Clusters of kernel k-means explained by a tree with more leaves than clusters, each cut chosen for its mistakes.

    A mistake is a row that the tree puts outside its own cluster. Each step splits the leaf whose best cut removes most
    mistakes. Use it where agreement with the clusters matters more than their cost. The kernel decides on the
    clusters, the tree of Kernel IMM and the price, but not on the cuts that are added.

    Parameters
    ----------
    clusterer, n_clusters, kernel, gamma, max_leaf_nodes, base, cuts, look_ahead, tol, noise, random_state, n_jobs
        As for `KernelExKMC`; so are `features`, `n_terms` and `n_landmarks`.

    Attributes
    ----------
    tree_, kernel_, labels_, reference_, explanation_, cluster_centers_, n_leaves_, price_, price_ceiling_, agreement_
        As for `KernelExKMC`; so are `clusterer_`, `n_features_in_` and `feature_names_in_`.

    See Also
    --------
    KernelIMM : One leaf for each cluster.
    KernelExKMC : Chooses cuts by cost and not by mistakes.
    Expand : The same for k-means.

    Notes
    -----
    Takes time n d (log n + k²) for each level of the tree; the clusterer, the tree of Kernel IMM and the price come on
    top.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining Kernel Clustering via Decision Trees", ICLR 2024,
    arXiv:2402.09881, Algorithm 3.

    Examples
    --------
    >>> from boxwood import KernelExpand
    >>> X = [[-3.0], [-2.5], [0.0], [0.5], [3.0], [3.5], [6.0], [6.5]]
    >>> labels = ["red", "red", "blue", "blue", "red", "red", "blue", "blue"]
    >>> model = KernelExpand(gamma=1.0).fit(X, labels)
    >>> model.labels_.tolist() == labels, model.n_leaves_
    (True, 3)
    """

    _method = "kernel_expand"


class KernelMMDT(KernelTreeClusterer):
    """Clusters explained by a tree with one leaf for each, by cuts around prototypes: `p - r <= x <= p + r`.

    The Kernel Mixture Model Decision Tree. Each node takes the axis, and the level of similarity by the kernel, with
    the smallest bound on mistakes. It splits rows by their distance to a row of one of the clusters, the prototype. Use
    it for clusters of any shape that are compact on some axis: its loss is bounded where rows of two clusters are far
    less alike on an axis than rows of one cluster.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained. It is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is `KernelKMeans` of this kernel; for many rows pass one with
        `n_components`. Ignored if `fit` is given labels. The tree and its costs use `kernel`, even if the clusterer has
        another kernel: give the same kernel to both.
    n_clusters : int, default=8
        Number of clusters of `KernelKMeans` where `clusterer` is None.
    kernel : DistanceKernel or str, default="gaussian"
        Kernel that multiplies over axes: "gaussian", "laplace", or a `ProductKernel`.
    gamma : float, array-like of shape (d,), "auto", "scale" or "median", default="auto"
        Bandwidth of a kernel given by its name; see `kernels.Gaussian`. Other kernels have a bandwidth of their own.
    axis : {"similarity", "error"}, default="error"
        Choice of the axis and the two clusters at a node: the least alike, as in the paper; or those whose cut has the
        smallest bound on its mistakes. "error" does not prefer columns of wide noise, and was better on 32 tables with
        classes: trees agreed with the classes on 72.4 % of rows on average, and on 68.8 % with "similarity"; at the
        bandwidth "scale" on 71.5 % and 68.6 %. On 140 tables of three blobs it made no more mistakes at any of four
        bandwidths. See `grow.kernel_mmdt`.
    prototype : {"sample", "medoid"}, default="sample"
        A row drawn at random for each node, as the guarantee requires, or the value on the axis most alike to the
        cluster's rows.
    n_trees : int, default=1
        Number of trees grown, each with its own prototypes. The cheapest is kept.
    noise : {"leaf", "keep"}, default="leaf"
        What `labels_` and `fit_predict` give to rows with the label -1, which are left out: the cluster of their leaf,
        or -1. `predict` gives the cluster of the leaf in either case: a row alone does not show that it is noise.
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
        Facts on each cut, in pre-order: the cluster of its prototype, the level of similarity and the radius, the
        clusters on either side, and a bound on its share of mistakes. Columns and nodes are those of the tree in the
        clusterer's columns, which a pipeline's first steps compute.
    error_bound_ : float
        Sum of those bounds. The share of rows that do not reach the leaf of their own cluster is at most this, averaged
        over the prototypes drawn. It may be above 1. It is no bound for medoids, or for the best of several draws.
        Where a cluster has more than 512 different values on an axis, it is computed from summaries; see
        `grow.kernel_mmdt`.
    price_bound_ : Bound
        Bound on `price_`, averaged over the prototypes drawn: the smaller one of `theory.bounds.kernel_price_bound` and
        `midpoint_kernel_price_bound` that holds, for the similarities from which the tree was grown. For medoids
        `holds` is None. It takes one value of the kernel for each pair of rows in one cluster, and is computed when
        first read; a pickle has it only if it was read before.
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
        Means of the rows of each cluster, or the clusterer's own centres. The tree does not depend on them.
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
    MMDT : Cuts between means, by variances.
    KernelIMM : Cuts separate as few rows as possible from their centre.
    boxwood.grow.kernel_mmdt_of_mixture : The tree of `fit_mixture`, by a function.

    Notes
    -----
    Takes time n d log n, and at most d k² 512² for similarities. Several draws take one more value of the kernel for
    each pair of rows. The price takes one for each pair of rows in one cluster.

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
    _price_bound: Bound | None = None  # once it is known

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelTreeClusterer._parameter_constraints,
        "axis": [StrOptions(set(AXES))],
        "prototype": [StrOptions(set(PROTOTYPES))],
        "n_trees": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        kernel: Kernel | str = "gaussian",
        gamma: Any = "auto",
        axis: str = "error",
        prototype: str = "sample",
        n_trees: int = 1,
        noise: str = "leaf",
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
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit_mixture(self, mixture: Any) -> Self:
        """Grow the tree from Gaussian components alone, whose similarities have a closed form; no row is read.

        Parameters
        ----------
        mixture : Mixture or GaussianMixture
            Components to be separated; their covariances are taken as diagonal. A Gaussian mixture must be fitted.

        Returns
        -------
        self
            With `cuts_`, `error_bound_` and `price_bound_`, and without `labels_`, `price_` and `explanation_`, which
            need rows. The means are the centres of `reference_`. `n_trees` has no effect, as rows show which is
            cheapest.

        Raises
        ------
        DataError
            If components are alike on every axis, there is only one, or the kernel has no formula.
        ValueError
            If the kernel's bandwidth is no number: give `gamma`, or a kernel that has its own.
        """
        self._validate_params()
        with self._all_or_nothing():
            given = mixture if isinstance(mixture, Mixture) else Mixture.from_gaussian_mixture(mixture)
            self.n_features_in_: int = given.n_features
            self.reference_: Reference = Reference(np.arange(given.n_components), given.means, given.names)
            refuse_one_cluster(self.reference_)
            options: dict[str, Any] = {
                "kernel": self._unfitted_kernel(),
                "axis": self.axis,
                "prototype": self.prototype,
            }
            self._keep(grown_of_mixture(given, **options, random=as_generator(self.random_state)))
            self._price_bound = self._bound(within_similarity(given, kernel=self.kernel_), given.weights)
            self._fit = self._map = None
        return self

    @property
    def price_bound_(self) -> Bound:
        """Bound on the expected price on the rows of `fit`; computed when first read."""
        check_is_fitted(self)
        if self._price_bound is None:
            self._price_bound = self._bound_of_fit()
        return self._price_bound

    def _bound_of_fit(self) -> Bound:
        """Return the bound for the rows of `fit`; components are the clusters that have a leaf."""
        task = self.explanation_._rows().task
        labels, weights = np.where(task.kept, task.reference.labels, -1), task.rows.weights
        k = task.reference.n_clusters
        components = np.sort(self.tree_.leaf_clusters)
        sums = np.bincount(labels + 1, weights, k + 1)[1:][components].astype(np.float64)
        means = KernelMeans.of(self.kernel_, task.rows, labels, k, sample_weight=weights, n_jobs=self._jobs())
        estimated = bool(np.bincount(labels + 1)[1:].max() > POINTS)
        return self._bound(means.squares[components], sums, estimated=estimated)

    def _bound(self, within: Floats, weights: Floats, *, estimated: bool = False) -> Bound:
        """Return the smaller bound on the price of those that hold; IN: within, weights (k,): of the components."""
        components = np.sort(self._grown.tree.leaf_clusters)
        given: dict[str, Any] = {
            "cuts": [cut.renumber(components) for cut in self.cuts_],
            "drawn": self.prototype == "sample",
            "estimated": estimated,
        }
        similar = self._grown.attributes["similarity"], within, weights
        known = [bound(*similar, **given) for bound in (kernel_price_bound, midpoint_kernel_price_bound)]
        return min(known, key=lambda bound: (bound.holds is False, bound.value))
