"""Kernel IMM: clusters of a kernel explained by IMM on features of one column each, whose cuts are intervals.

Fleissner, Vankadara and Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Indices
from boxwood._validation import Rows, listed
from boxwood.axes import ChosenCurves, Curves, features_of_kernel, surrogate_map
from boxwood.errors import DataError
from boxwood.grow._grown import Grown
from boxwood.grow._imm import grow_imm
from boxwood.kernels import Kernel, as_kernel
from boxwood.metrics._kernel_cost import KernelSpace
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

__all__ = ["grow_kernel_imm", "kernel_imm"]


class _FeatureTree(NamedTuple):
    """A tree of Kernel IMM, the kind of features it cuts, and how far their inner products are from the kernel's."""

    tree: ThresholdTree
    features: str
    error: float


def kernel_imm(
    X: ArrayLike,
    reference: Reference,
    *,
    kernel: Kernel | str,
    features: str = "auto",
    n_terms: int | str = "auto",
    n_landmarks: int | None = 64,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of Kernel IMM: a leaf for each cluster, found by cuts `a <= x <= b` of one column each.

    IMM is run on features that stand for the kernel on each axis, with the means of the features over each cluster as
    centres; each feature is a curve with at most one peak, so that a threshold on it is an interval of its column. Use
    it for clusters that no straight cut finds.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    reference : Reference
        Clusters to be explained, of kernel k-means or any others. Only the labels count, as a mean in the feature space
        is no row; -1 leaves a row out.
    kernel : Kernel or str
        Kernel, or a name that `kernels.as_kernel` knows. A bandwidth still to be found is found from `X`.
    features : {"auto", "taylor", "distance", "additive"}, default="auto"
        Features that stand for the kernel; see `axes.surrogate_map`. "taylor" is for the Gaussian kernel, "distance"
        for every kernel that multiplies falling profiles of the distances on each axis (Gaussian, Laplace), "additive"
        for linear, Hellinger, histogram intersection and χ². "auto" tries those that the kernel has, and keeps the tree
        whose clusters cost least in the kernel's feature space, the first of equally cheap ones.
    n_terms : int or "auto", default="auto"
        Order M of Taylor and χ² features. "auto" finds it from the range of each column.
    n_landmarks : int or None, default=64
        Most landmarks of a column for "distance", and most steps for histogram intersection; None takes all different
        values, as the paper does: up to n d features of n rows.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows. Whole weights equal repeated rows; rows of weight 0 are left out.
    n_jobs : int or None, default=-1
        Number of threads; the tree does not depend on it.

    Returns
    -------
    ThresholdTree
        Always holds: a leaf for each cluster that has rows, unless no value of a row could ever reach it. A threshold
        is the midpoint between the two values of rows that it parts; an end beyond which there is no row is none.

    Raises
    ------
    DataError
        If clusters have the same mean in all features, so that no cut separates them; if values are outside of the
        kernel's domain; or if `X`, the reference and the weights do not fit together.
    ValueError
        If the kernel has no such features, as polynomial and neighbourhood kernels have none.

    Notes
    -----
    With features exact, the kernel k-means cost of the tree is at most `(2 + 8 k (k - 1)) d` times that of the clusters
    for Gaussian kernels (Theorem 4), and `2 + 8 k (k - 1)` times for additive kernels (Remark 1). See
    `theory.bounds.taylor_price_bound` for the share of an approximation, and `distance_price_bound`.

    Takes time and memory of n times the number of features, 8 bytes for each value and 1 for its bin, for the features
    and for IMM on them: Taylor features are a dozen for each column at the bandwidth "scale", landmarks 64. "auto"
    takes besides one value of the kernel for each two rows in one cluster.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Algorithm 1, with the corrections noted at `axes.TaylorFeatures`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxwood import Reference
    >>> from boxwood.kernels import Gaussian
    >>> X = np.array([[-3.0], [-2.0], [-0.5], [0.0], [0.5], [2.0], [3.0]])
    >>> outside_inside = Reference.of(X, [0, 0, 1, 1, 1, 0, 0])
    >>> kernel_imm(X, outside_inside, kernel=Gaussian(0.5)).to_dict()["interval"]
    [-1.25, 1.25]
    """
    task = Task.of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs)
    return grow_kernel_imm(task, kernel=kernel, features=features, n_terms=n_terms, n_landmarks=n_landmarks).tree


def grow_kernel_imm(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    features: str = "auto",
    n_terms: int | str = "auto",
    n_landmarks: int | None = 64,
) -> Grown:
    """Return what `kernel_imm` grows for a task; for "auto" features, the tree of lowest cost."""
    resolved, options = as_kernel(kernel), {"n_terms": n_terms, "n_landmarks": n_landmarks}
    rows = _kept(task, resolved.fitted(task.rows))
    trees: list[_FeatureTree] = []
    refusal: DataError | None = None
    for kind in _kinds(resolved, features):
        try:
            trees.append(_on_features(rows, kind, options))
        except DataError as error:  # other features may separate the clusters
            refusal = refusal or error
    if not trees:
        assert refusal is not None
        raise refusal
    best = trees[_cheapest(rows, [each.tree for each in trees])]
    tree = best.tree.relabeled(rows.clusters[best.tree.leaf_clusters])
    facts = {"kernel": rows.kernel, "features": best.features, "feature_error": best.error}
    return Grown(tree, "kernel_imm", kernel=rows.kernel, facts=facts)


class _KeptRows(NamedTuple):
    """The rows that count, and their clusters numbered without gaps."""

    rows: Rows
    labels: Indices
    clusters: Indices  # number of each of these clusters in the reference
    names: tuple[Hashable, ...]
    kernel: Kernel
    n_jobs: int | None


def _kept(task: Task, kernel: Kernel) -> _KeptRows:
    reference, kept = task.reference, task.kept
    rows = task.rows if kept.all() else task.rows.take(np.flatnonzero(kept))
    clusters, labels = np.unique(reference.labels[kept], return_inverse=True)
    return _KeptRows(rows, labels, clusters, tuple(reference.names[c] for c in clusters), kernel, task.n_jobs)


def _kinds(kernel: Kernel, features: str) -> tuple[str, ...]:
    if features != "auto":
        return (features,)
    kinds = features_of_kernel(kernel)
    if not kinds:
        raise ValueError(
            f"{type(kernel).__name__} has no features of one column each; take another kernel, or grow a tree by "
            "this one's costs with grow.expand (KernelExKMC or KernelExpand with base='root')"
        )
    return kinds


def _on_features(kept: _KeptRows, kind: str, options: dict[str, Any]) -> _FeatureTree:
    """Return the tree that IMM grows on one kind of features, pulled back to the columns of the rows."""
    curves = surrogate_map(kept.kernel, kept.rows, kind, **options)
    mapped = kept.rows.mapped(curves.transform(kept.rows))
    reference = Reference.of(mapped, kept.labels, names=kept.names)
    _refuse_equal_means(reference, kind)
    tree = grow_imm(Task.of(mapped, reference, n_jobs=kept.n_jobs)).tree
    return _FeatureTree(_pulled_back(tree, curves, kept.rows), kind, curves.error)


def _refuse_equal_means(reference: Reference, kind: str) -> None:
    first = reference.first_of_equal_centers()
    pairs = [f"{reference.names[c]} and {reference.names[of]}" for of, c in enumerate(first) if c != of]
    if pairs:
        raise DataError(
            f"clusters with equal means in all features ({kind!r}), which no cut separates: {listed(pairs)}; "
            "give them one label, or try other features or a narrower kernel"
        )


def _pulled_back(tree: ThresholdTree, curves: Curves, rows: Rows) -> ThresholdTree:
    """Return the tree on raw columns; only the features that it cuts are computed again."""
    columns = tree.features
    places = np.where(tree.feature < 0, -1, np.searchsorted(columns, tree.feature))
    of_few = ThresholdTree(places, tree.lower, tree.upper, tree.second, tree.cluster)
    few = ChosenCurves(curves, columns)
    pulled = of_few.pull_back(few, rows)
    if len(np.unique(pulled.leaf_clusters)) < pulled.n_leaves:  # where rounding puts images of rows out of order
        pulled = of_few.pull_back(few)
    return pulled.recut(rows, rows)


def _cheapest(kept: _KeptRows, trees: list[ThresholdTree]) -> int:
    """Return the index of the first tree whose clusters cost least, each around its own mean."""
    predicted = [tree.predict(kept.rows, n_jobs=kept.n_jobs) for tree in trees]
    if all(np.array_equal(labels, predicted[0]) for labels in predicted):
        return 0
    space = KernelSpace(kept.rows, kept.kernel, n_jobs=kept.n_jobs)
    return int(np.argmin([space.cost(labels, len(kept.clusters)) for labels in predicted]))
