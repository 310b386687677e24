"""CART on the labels: scikit-learn's decision tree as a `ThresholdTree`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Array, Bools
from boxwood._validation import Rows, whole_number
from boxwood.errors import DataError
from boxwood.grow.grown import Grown
from boxwood.reference import Task
from boxwood.reference.budget import NO_BUDGET, Budget
from boxwood.tree import ThresholdTree, TreeBuilder

_LARGEST_EXPONENT = 100  # sums of float32 values below 2**100 stay finite in float32 too


def cart(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    max_leaf_nodes: int,
    criterion: str = "gini",
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> ThresholdTree:
    """Return scikit-learn's decision tree on the labels, best cut first.

    This baseline needs nothing but labels. It looks at the purity of leaves, not at distances, so there is no bound on
    the price: the tree can be arbitrarily worse than the tree of `imm` with the same number of leaves.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout, finite.
    labels : array-like of shape (n,)
        Cluster of each row, a whole number from 0; -1 leaves the row out.
    max_leaf_nodes : int
        Largest number of leaves. The tree has fewer if scikit-learn finds no cut, for example in pure leaves.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Measure of impurity; CART uses "gini", ID3 "entropy".
    sample_weight : array-like of shape (n,), default=None
        Weight of each row, not negative; rows of weight 0 are left out.
    random_state : int, RandomState or None, default=0
        Breaks ties between columns. If there are ties, None may give another tree each time.

    Returns
    -------
    ThresholdTree
        Always holds: every row that is not left out gets the same label as from scikit-learn's tree; where rows have
        weights, from that of the rows in ascending order. Thresholds are midpoints between values of these rows.

    Raises
    ------
    ValueError
        If `max_leaf_nodes` is below 1, or the criterion is unknown.
    DataError
        If rows, labels and weights do not fit together, or every row is left out.

    Notes
    -----
    scikit-learn rounds `X` to float32, so its thresholds may lie on the wrong side of a float64 value. Rounding keeps
    the order of values. So each of its cuts is also a cut of the float64 column, and the threshold is moved into the
    gap between the float64 values. Values that are equal in float32 stay together. scikit-learn does not cut between
    values closer than 1e-7, so scale columns of such small numbers. Columns with values beyond the range of float32 are
    divided by a power of two first.

    Takes scikit-learn's time (about n d log n for each level) and memory for a float32 copy of `X`.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression Trees", 1984.
    J. R. Quinlan, "Induction of Decision Trees", Machine Learning 1, 1986, doi:10.1007/BF00116251.

    Examples
    --------
    >>> X = [[20.0, 1.0], [30.0, 2.0], [41.0, 1.0], [60.0, 2.0]]
    >>> cart(X, [0, 0, 1, 1], max_leaf_nodes=2).to_dict()
    {'feature': 0, 'threshold': 35.5, 'left': {'leaf': 0, 'cluster': 0}, 'right': {'leaf': 1, 'cluster': 1}}
    """
    rows = Rows.of(X, sample_weight)
    n_leaves = min(whole_number("max_leaf_nodes", max_leaf_nodes, 1), len(rows))
    clusters = _as_labels(labels, len(rows))
    is_kept = clusters >= 0 if rows.weights is None else (clusters >= 0) & (rows.weights > 0)
    if not is_kept.any():
        raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
    return _cart(rows, clusters, is_kept, n_leaves, criterion, random_state, NO_BUDGET)


def grow_cart(task: Task, *, criterion: str = "gini") -> Grown:
    """Return what `cart` grows for a task; without a number of leaves, there are at most as many as clusters.

    It keeps the budget of the task by scikit-learn's own parameters.
    """
    rows, labels = task.on_usable_columns.rows, task.reference.labels
    return Grown(_cart(rows, labels, task.kept, task.leaves(), criterion, task.random_state, task.budget), "cart")


def _cart(
    rows: Rows,
    clusters: NDArray[np.integer],
    is_kept: Bools,
    max_leaf_nodes: int,
    criterion: str,
    random_state: int | np.random.RandomState | None,
    budget: Budget,
) -> ThresholdTree:
    from sklearn.tree import DecisionTreeClassifier

    table, clusters, weights = rows.values, clusters[is_kept], rows.weights
    if weights is not None:
        weights = weights[is_kept]
        weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # near 1, so that their sum stays finite
    table = table if is_kept.all() else table[is_kept]
    rounded = _as_float32(table)
    order = slice(None) if weights is None else np.lexsort((weights, clusters, *rounded.T))  # as sums of weights round
    classifier = DecisionTreeClassifier(
        criterion=criterion,
        max_leaf_nodes=max(2, max_leaf_nodes),  # scikit-learn refuses one leaf
        random_state=random_state,
        max_depth=budget.max_depth,
        min_samples_leaf=budget.min_samples_leaf,
    ).fit(rounded[order], clusters[order], None if weights is None else weights[order])
    best = classifier.classes_[classifier.tree_.value[:, 0].argmax(axis=1)]
    if max_leaf_nodes == 1:
        return _single_leaf(int(best[0]))
    return _as_tree(classifier.tree_, best).recut(table, rounded)


def _as_labels(labels: ArrayLike, n_rows: int) -> NDArray[np.integer]:
    clusters = np.asarray(labels)
    if clusters.shape != (n_rows,) or clusters.dtype.kind not in "iu":
        raise DataError(
            f"labels must be whole numbers, one for each of {n_rows} rows; "
            f"got {clusters.dtype} of shape {clusters.shape}"
        )
    if clusters.min() < -1:
        raise DataError(f"labels must be from 0, or -1 for rows left out; got {clusters.min()}")
    return clusters


def _as_float32(X: Array) -> NDArray[np.float32]:
    """Return the columns rounded to float32, those with too large values divided by a power of two first."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    exponents = np.minimum(_LARGEST_EXPONENT - np.frexp(largest)[1], 0)
    if exponents.any():
        X = np.ldexp(X, exponents)
    return X.astype(np.float32, copy=False)


def _as_tree(nodes: Any, best: NDArray[np.integer]) -> ThresholdTree:
    """Return scikit-learn's arrays of nodes as a tree; `best` is the cluster of each node, and leaves use it."""
    builder, stack = TreeBuilder(), [(0, 0)]
    while stack:
        source, target = stack.pop()  # a node of scikit-learn's tree, and of ours
        if nodes.children_left[source] < 0:
            builder.label(target, int(best[source]))
        else:
            left, right = builder.split(target, int(nodes.feature[source]), float(nodes.threshold[source]))
            stack += ((int(nodes.children_left[source]), left), (int(nodes.children_right[source]), right))
    return builder.build()


def _single_leaf(cluster: int) -> ThresholdTree:
    builder = TreeBuilder()
    builder.label(0, cluster)
    return builder.build()
