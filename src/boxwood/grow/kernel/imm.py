"""Kernel IMM and its expansions: cuts on surrogate features of a kernel, each a function of one column.

Fleissner, Vankadara and Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024.

Fleissner, Vankadara and Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024, Algorithms 2 and
3. Leaves are split as by `grow.expand`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Indices
from boxwood._validation import Rows, list_words, refuse_no_sum, total_weight
from boxwood.axes import ChosenCurves, Curves, features_of_kernel, surrogate_map
from boxwood.errors import DataError
from boxwood.grow.centers.imm import grow_imm
from boxwood.grow.grown import Grown
from boxwood.grow.leaves.expand import base_of, grown_from
from boxwood.kernels import Kernel, as_kernel
from boxwood.metrics.kernel_costs import KernelSpace
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

_ROUNDING = 1e-12  # of the largest cost that there may be: so much of a difference may be rounding


class _FeatureTree(NamedTuple):
    """A tree of Kernel IMM, the kind of features it cuts, and the error of their inner products against the kernel."""

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
    n_landmarks: int | str | None = "auto",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of Kernel IMM: a leaf for each cluster, and cuts `a <= x <= b` of one column each.

    The kernel is replaced by features, each a function of one column, and IMM cuts these features. Its centres are the
    means of the features over each cluster. Each feature is a curve with at most one peak, so a threshold on it is an
    interval of its column. Use Kernel IMM for clusters that thresholds cannot separate, such as one around another.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    reference : Reference
        Clusters to be explained, of kernel k-means or of any other method. Only the labels are used: a mean in the
        feature space is no row of `X`. The label -1 leaves a row out.
    kernel : Kernel or str
        Kernel, or a name that `kernels.as_kernel` knows. A bandwidth that is not set is found from `X`.
    features : {"auto", "taylor", "distance", "additive"}, default="auto"
        Features that represent the kernel; see `axes.surrogate_map`. "taylor" is for the Gaussian kernel and for
        `kernels.TaylorKernel`. "distance" is for every product over axes of functions that fall with the distance on
        the axis (Gaussian, Laplace). "additive" is for linear, Hellinger, histogram intersection and χ² kernels. "auto"
        grows a tree on each kind of features that the kernel has, and keeps the tree of lowest cost in the kernel's
        feature space; ties go to the first kind.
    n_terms : int or "auto", default="auto"
        Order M of Taylor and χ² features, at most 1000. "auto" finds it from the range of each column.
    n_landmarks : int, "auto" or None, default="auto"
        Largest number of landmarks of a column for "distance", and of steps for histogram intersection. Fewer than the
        different values are quantiles of the rows by weight. None takes all different values, as the paper does; that
        can be n d features for n rows. "auto" does so for small tables, with at most 2000 rows and n² d at
        most 20 million (1500 rows of 8 columns), and takes 64 for larger ones. Quantiles that fall on one value are one
        landmark, so a column in which most rows share a value gets few.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row. Whole weights give the tree of repeated rows; rows of weight 0 are left out.
    n_jobs : int or None, default=-1
        Number of threads; the tree does not depend on it.

    Returns
    -------
    ThresholdTree
        Always holds: a leaf for each cluster that has rows, unless no row of any values could reach that leaf. An end
        of a cut is the midpoint between the two neighbouring values of rows; an end with no row beyond it is infinite.

    Raises
    ------
    DataError
        If clusters have the same mean in all features, so that no cut separates them; if values are outside of the
        kernel's domain; or if `X`, the reference and the weights do not fit together.
    ValueError
        If the kernel has no such features; polynomial and neighbourhood kernels have none.

    Notes
    -----
    If the features are exact, the kernel k-means cost of the tree is at most `(2 + 8 k (k - 1)) d` times the cost of
    the clusters for Gaussian kernels (Theorem 4), and at most `2 + 8 k (k - 1)` times for additive kernels (Remark 1).
    `theory.bounds.taylor_price_bound` adds the error of an approximation; see also `distance_price_bound` there.

    Time and memory are proportional to n times the number of features: 8 bytes for each value of a feature, and 1 byte
    for its bin. There are about a dozen Taylor features for each column at the bandwidth "scale", and up to 200 at
    narrower ones. There are up to n landmarks in small tables, or else 64. "auto" also computes the kernel once for
    each pair of rows in one cluster.

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
    refuse_no_sum(task.rows.weights)
    return grow_kernel_imm(task, kernel=kernel, features=features, n_terms=n_terms, n_landmarks=n_landmarks).tree


def grow_kernel_imm(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    features: str = "auto",
    n_terms: int | str = "auto",
    n_landmarks: int | str | None = "auto",
) -> Grown:
    """Return what `kernel_imm` grows for a task; under "auto" features this is the tree of lowest cost."""
    resolved, options = as_kernel(kernel), {"n_terms": n_terms, "n_landmarks": n_landmarks}
    rows = _kept_rows(task, resolved.fitted(task.rows))
    trees: list[_FeatureTree] = []
    refusal: DataError | None = None
    for kind in _kinds(resolved, features):
        try:
            trees.append(_on_features(rows, kind, options))
        except DataError as error:  # other features may still separate the clusters
            refusal = refusal or error
    if not trees:
        assert refusal is not None
        raise refusal
    best = trees[_cheapest(rows, [candidate.tree for candidate in trees])]
    tree = best.tree.relabeled(rows.clusters[best.tree.leaf_clusters])
    attributes = {"kernel": rows.kernel, "features": best.features, "feature_error": best.error}
    return Grown(tree, "kernel_imm", kernel=rows.kernel, attributes=attributes)


class _KeptRows(NamedTuple):
    """The rows that are not left out, with their clusters numbered without gaps."""

    rows: Rows
    allowed: Rows  # the same, with zeros in columns that no cut may test
    labels: Indices
    clusters: Indices  # the number that each cluster has in the reference
    names: tuple[Hashable, ...]
    kernel: Kernel
    n_jobs: int | None


def _kept_rows(task: Task, kernel: Kernel) -> _KeptRows:
    reference, kept = task.reference, task.kept
    rows, allowed = (
        rows_of_task if kept.all() else rows_of_task.take(np.flatnonzero(kept))
        for rows_of_task in (task.rows, task.on_usable_columns.rows)
    )
    clusters, labels = np.unique(reference.labels[kept], return_inverse=True)
    return _KeptRows(rows, allowed, labels, clusters, tuple(reference.names[c] for c in clusters), kernel, task.n_jobs)


def _kinds(kernel: Kernel, features: str) -> tuple[str, ...]:
    if features != "auto":
        return (features,)
    kinds = features_of_kernel(kernel)
    if not kinds:
        raise ValueError(
            f"{type(kernel).__name__} has no features of one column each; take another kernel, or grow a tree by "
            "the costs of this kernel with grow.expand (KernelExKMC or KernelExpand with base='root')"
        )
    return kinds


def _on_features(kept: _KeptRows, kind: str, options: dict[str, Any]) -> _FeatureTree:
    """Return the tree that IMM grows on one kind of features, rewritten as cuts of the columns of the rows."""
    curves = surrogate_map(kept.kernel, kept.allowed, kind, **options)
    mapped = kept.allowed.mapped(curves.transform(kept.allowed))
    reference = Reference.of(mapped, kept.labels, names=kept.names)
    _refuse_equal_means(reference, kind)
    tree = grow_imm(Task.of(mapped, reference, n_jobs=kept.n_jobs)).tree
    return _FeatureTree(_pulled_back(tree, curves, kept.allowed), kind, curves.error)


def _refuse_equal_means(reference: Reference, kind: str) -> None:
    first = reference.first_of_equal_centers()
    pairs = [f"{reference.names[c]} and {reference.names[later]}" for later, c in enumerate(first) if c != later]
    if pairs:
        raise DataError(
            f"clusters with equal means in all features ({kind!r}), which no cut separates: {list_words(pairs)}; "
            "give them one label, or try other features or a narrower kernel"
        )


def _pulled_back(tree: ThresholdTree, curves: Curves, rows: Rows) -> ThresholdTree:
    """Return the tree with cuts of raw columns; only features that the tree tests are recomputed."""
    cut_curves = ChosenCurves(curves, tree.features)
    numbers = np.where(tree.feature < 0, -1, np.searchsorted(tree.features, tree.feature))
    renumbered = ThresholdTree(numbers, tree.lower, tree.upper, tree.second, tree.cluster)
    pulled = renumbered.pull_back(cut_curves, rows)
    if len(np.unique(pulled.leaf_clusters)) < pulled.n_leaves:  # rounding changed the order of the rows' features
        pulled = renumbered.pull_back(cut_curves)
    return pulled.recut(rows, rows)


def _cheapest(kept: _KeptRows, trees: list[ThresholdTree]) -> int:
    """Return the index of the tree whose clusters cost least around their kernel means; ties go to the first.

    Costs are sums of floats, whose rounding depends on the order of the rows, so what it may change is a tie.
    """
    predicted = [tree.predict(kept.rows, n_jobs=kept.n_jobs) for tree in trees]
    if all(np.array_equal(labels, predicted[0]) for labels in predicted):
        return 0
    space = KernelSpace(kept.rows, kept.kernel, n_jobs=kept.n_jobs)
    costs = np.array([space.cost(labels, len(kept.clusters)) for labels in predicted])
    largest = total_weight(kept.rows) * float(space.diagonal.max())
    return int(np.argmax(costs <= costs.min() + _ROUNDING * largest))


def grow_kernel_exkmc(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    base: str | None = None,
    cuts: str = "interval",
    look_ahead: bool = True,
    tol: float = 0.0,
    features: str = "auto",
    n_terms: int | str = "auto",
    n_landmarks: int | str | None = "auto",
) -> Grown:
    """Return a tree expanded by kernel cost, from the tree of Kernel IMM on such features or from the root."""
    options = {"loss": "cost", "cuts": cuts, "look_ahead": look_ahead, "tol": tol}
    features_of_base = {"features": features, "n_terms": n_terms, "n_landmarks": n_landmarks}
    return _grow_expanded(task, "kernel_exkmc", as_kernel(kernel), base, features_of_base, **options)


def grow_kernel_expand(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    base: str | None = None,
    cuts: str = "interval",
    look_ahead: bool = True,
    tol: float = 0.0,
    features: str = "auto",
    n_terms: int | str = "auto",
    n_landmarks: int | str | None = "auto",
) -> Grown:
    """Return a tree expanded by mistakes, from the tree of Kernel IMM on such features or from the root."""
    options = {"loss": "mistakes", "cuts": cuts, "look_ahead": look_ahead, "tol": tol}
    features_of_base = {"features": features, "n_terms": n_terms, "n_landmarks": n_landmarks}
    return _grow_expanded(task, "kernel_expand", as_kernel(kernel), base, features_of_base, **options)


def _grow_expanded(
    task: Task, name: str, kernel: Kernel, base: str | None, features: dict[str, Any], **options: Any
) -> Grown:
    base, kernel = base_of(task, base, "kernel_imm"), kernel.fitted(task.rows)
    begin = grow_kernel_imm(task, kernel=kernel, **features).tree if base == "kernel_imm" else None
    name = name if base == "kernel_imm" else f"{name}-root"
    return grown_from(begin, task, name, kernel=kernel, **options)
