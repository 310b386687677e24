"""The tree as one of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._frames import names_array
from boxwood._types import Array, Floats, Indices
from boxwood.explanation.measured_tree import explanation_of
from boxwood.render.forms._one_sided import OneSided, one_sided, refuse_dates

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

_UNDEFINED = -2  # what scikit-learn writes for the column and the threshold of a leaf


def sklearn(model: Any) -> Any:
    """Return a fitted `DecisionTreeClassifier` that predicts the same clusters; see `Explanation.to_sklearn`.

    Counts at the nodes are rows of the explained table, or weights; a leaf of a two-sided cut that stands twice has
    half of its rows in each place, and a leaf without rows counts one. The share of classes at a leaf is 1 for its
    cluster: it says what the rule says, not how many rows follow it. `model` may be a fitted estimator.

    Raises
    ------
    DataError
        If two-sided cuts make more than 2**17 nodes.
    """
    from sklearn.tree import DecisionTreeClassifier

    ex = explanation_of(model)
    refuse_dates(ex, "a tree of scikit-learn")
    nodes = one_sided(ex.tree)
    classes, class_of = _classes(ex)
    twin = DecisionTreeClassifier(random_state=0).fit(np.zeros((1, len(ex.columns))), [0])
    sizes = _sizes(ex, nodes)
    shares = _shares(nodes, sizes, class_of[ex.tree.leaf_clusters], len(classes))
    state = twin.tree_.__getstate__()
    tree = type(twin.tree_)(len(ex.columns), np.array([len(classes)], dtype=np.intp), 1)
    tree.__setstate__(
        state
        | {
            "max_depth": _depth(nodes),
            "node_count": len(sizes),
            "nodes": _records(nodes, sizes, shares, state["nodes"].dtype),
            "values": shares[:, None, :],
        }
    )
    twin.tree_, twin.classes_, twin.n_classes_ = tree, classes, np.int64(len(classes))
    if ex.columns != tuple(f"x{j}" for j in range(len(ex.columns))):
        twin.feature_names_in_ = np.array(ex.columns, dtype=object)
    return twin


def _classes(ex: MeasuredTree) -> tuple[Array, Indices]:
    """Return the names of the clusters, ascending where they can be sorted, and the place of each cluster's name."""
    names = names_array(ex.names)
    if names.dtype.kind == "O":
        return names, np.arange(len(names))
    classes, places = np.unique(names, return_inverse=True)
    return classes, places


def _sizes(ex: MeasuredTree, nodes: OneSided) -> Floats:
    """Return the rows of each node, or their weight, shape (n,)."""
    sizes = np.zeros(len(nodes.leaf))
    leaves = nodes.leaf >= 0
    of_leaf = np.array([leaf.size if leaf.size > 0 else 1.0 for leaf in ex.leaves])
    times = np.bincount(nodes.leaf[leaves], minlength=len(of_leaf))
    sizes[leaves] = (of_leaf / np.maximum(times, 1))[nodes.leaf[leaves]]
    for node in np.flatnonzero(~leaves)[::-1]:
        sizes[node] = sizes[nodes.left[node]] + sizes[nodes.right[node]]
    return sizes


def _shares(nodes: OneSided, sizes: Floats, class_of_leaf: Indices, n_classes: int) -> Floats:
    """Return the share of each class among the rows of each node, shape (n, n_classes)."""
    weights = np.zeros((len(sizes), n_classes))
    leaves = np.flatnonzero(nodes.leaf >= 0)
    weights[leaves, class_of_leaf[nodes.leaf[leaves]]] = sizes[leaves]
    for node in np.flatnonzero(nodes.leaf < 0)[::-1]:
        weights[node] = weights[nodes.left[node]] + weights[nodes.right[node]]
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _depth(nodes: OneSided) -> int:
    depth = np.zeros(len(nodes.leaf), dtype=np.intp)
    for node in np.flatnonzero(nodes.leaf < 0):
        depth[[nodes.left[node], nodes.right[node]]] = depth[node] + 1
    return int(depth.max())


def _records(nodes: OneSided, sizes: Floats, shares: Floats, kind: Any) -> Array:
    """Return the nodes as scikit-learn stores them."""
    is_leaf = nodes.leaf >= 0
    records = np.zeros(len(sizes), dtype=kind)
    records["left_child"], records["right_child"] = nodes.left, nodes.right
    records["feature"] = np.where(is_leaf, _UNDEFINED, nodes.feature)
    records["threshold"] = np.where(is_leaf, _UNDEFINED, nodes.threshold)
    records["impurity"] = 1 - (shares**2).sum(axis=1)
    records["n_node_samples"] = np.clip(np.rint(sizes), 1, 1 << 62)  # weights may be larger than its whole numbers
    records["weighted_n_node_samples"] = sizes
    return records
