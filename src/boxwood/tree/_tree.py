"""`ThresholdTree`: frozen arrays in pre-order.

A cut is `lower <= x[feature] <= upper`; a threshold cut has `lower = -inf`. Rows inside go to the first child, which
is the next node; the others go to the second child::

    node     0      1     2     3     4          feature[0] = 2, second[0] = 4
           cut ── cut ── leaf  leaf  leaf        feature[1] = 0, second[1] = 3
                                                 feature[2] = feature[3] = feature[4] = -1
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_blocks
from boxwood._types import Array, Floats, Indices, Ints
from boxwood.errors import DataError
from boxwood.loops.walk import descend

if TYPE_CHECKING:
    from boxwood.axes import AxisMap
    from boxwood.tree._boxes import Box

__all__ = ["Cut", "ThresholdTree"]


class Cut(NamedTuple):
    """One step on the way from the root to a leaf: the test at `node`, and whether the row is inside."""

    node: int
    feature: int
    lower: float
    upper: float
    inside: bool


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTree:
    """A binary tree of axis-aligned cuts whose leaves carry clusters.

    A tree is a function of a row: it holds no data, no measurement and no names. Equal trees have equal arrays, since
    nodes are in pre-order. Build one with `TreeBuilder`, a function of `boxwood.grow`, or `from_dict`.

    Parameters
    ----------
    feature : array of shape (n_nodes,)
        Column that a node tests; -1 at a leaf.
    lower, upper : arrays of shape (n_nodes,)
        Rows with `lower <= x[feature] <= upper` go to the first child, which is the next node. A threshold cut has
        `lower = -inf`. Leaves have -inf and +inf.
    second : array of shape (n_nodes,)
        Node of the second child; -1 at a leaf.
    cluster : array of shape (n_nodes,)
        Cluster of a leaf; -1 at a cut. Several leaves may share a cluster.

    Attributes
    ----------
    n_nodes, n_leaves, depth : int
        Always holds: `n_nodes == 2 * n_leaves - 1` and `depth < n_leaves`. Depth counts edges.
    n_features : int
        Smallest number of columns that a table must have (one more than the last column tested).

    Raises
    ------
    ValueError
        If the arrays are not a tree in pre-order; the message names the node.

    Examples
    --------
    >>> tree = ThresholdTree.from_dict(
    ...     {"feature": 0, "threshold": 2.5, "left": {"cluster": 1}, "right": {"cluster": 0}}
    ... )
    >>> tree.predict([[2.5], [2.6]])
    array([1, 0])
    >>> tree
    ThresholdTree(n_leaves=2, depth=1, features=[0])
    """

    feature: Ints
    lower: Floats
    upper: Floats
    second: Ints
    cluster: Ints

    def __post_init__(self) -> None:
        for name in ("feature", "second", "cluster"):
            self._freeze(name, _whole_numbers(name, getattr(self, name)))
        for name in ("lower", "upper"):
            self._freeze(name, np.array(getattr(self, name), dtype=np.float64))
        _check(self)

    def _freeze(self, name: str, array: Array) -> None:
        object.__setattr__(self, name, _frozen(array))

    # ------------------------------------------------------------------------------------------------- shape

    @property
    def n_nodes(self) -> int:
        """Number of nodes, cuts and leaves together."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (self.n_nodes + 1) // 2

    @property
    def depth(self) -> int:
        """Number of edges on the longest way from the root to a leaf."""
        return int(self.node_depth.max())

    @cached_property
    def n_features(self) -> int:
        """Smallest number of columns that a table must have."""
        return int(self.feature.max()) + 1

    @cached_property
    def features(self) -> Ints:
        """Columns that the tree tests, in ascending order."""
        return _frozen(np.unique(self.feature[self.feature >= 0]))

    @cached_property
    def leaf_nodes(self) -> Indices:
        """Node of each leaf, shape (n_leaves,); leaves are numbered in pre-order."""
        return _frozen(np.flatnonzero(self.feature < 0))

    @cached_property
    def leaf_clusters(self) -> Ints:
        """Cluster of each leaf, shape (n_leaves,)."""
        return _frozen(self.cluster[self.leaf_nodes])

    @cached_property
    def parent(self) -> Ints:
        """Parent of each node, shape (n_nodes,); -1 at the root."""
        cuts = np.flatnonzero(self.feature >= 0)
        parent = np.full(self.n_nodes, -1, dtype=np.int64)
        parent[cuts + 1] = cuts
        parent[self.second[cuts]] = cuts
        return _frozen(parent)

    @cached_property
    def node_depth(self) -> Ints:
        """Number of edges from the root to each node, shape (n_nodes,)."""
        parent, depth = self.parent.tolist(), [0] * self.n_nodes
        for node in range(1, self.n_nodes):
            depth[node] = depth[parent[node]] + 1
        return _frozen(np.array(depth, dtype=np.int64))

    # -------------------------------------------------------------------------------------------------- rows

    def apply(self, X: ArrayLike, *, n_jobs: int | None = -1) -> Ints:
        """Return the leaf of each row, shape (n,), with leaves numbered from 0 in pre-order.

        `X` of shape (n, d) may be float32 or float64 in any memory layout and is not copied; values are compared as
        float64. Infinite values are ordinary values. Takes time n times the depth reached, and no other memory.

        Raises
        ------
        ValueError
            If `X` has fewer columns than the tree tests, is not numeric, or has NaN where a row is tested.
        """
        return self._descend(X, np.cumsum(self.feature < 0, dtype=np.int64) - 1, n_jobs)

    def predict(self, X: ArrayLike, *, n_jobs: int | None = -1) -> Ints:
        """Return the cluster of each row, shape (n,); reads `X` as `apply` does."""
        return self._descend(X, self.cluster, n_jobs)

    def _descend(self, X: ArrayLike, values: Ints, n_jobs: int | None) -> Ints:
        """Return the value at the leaf of each row, given values by node."""
        rows = _as_rows(X, self.n_features)
        found = np.empty(len(rows), dtype=np.int64)

        def work(start: int, stop: int) -> None:
            nodes = self.feature, self.lower, self.upper, self.second
            descend(rows[start:stop], *nodes, values, found[start:stop])
            _refuse_nan(found[start:stop], start)

        map_blocks(work, len(rows), n_jobs=n_jobs)
        return found

    # ------------------------------------------------------------------------------------------------- leaves

    def path(self, leaf: int) -> tuple[Cut, ...]:
        """Return the cuts from the root to a leaf."""
        if not 0 <= leaf < self.n_leaves:
            raise ValueError(f"leaf must be from 0 to {self.n_leaves - 1}, got {leaf}")
        cuts, node = [], int(self.leaf_nodes[leaf])
        while node > 0:
            child, node = node, int(self.parent[node])
            test = int(self.feature[node]), float(self.lower[node]), float(self.upper[node])
            cuts.append(Cut(node, *test, inside=child == node + 1))
        return tuple(reversed(cuts))

    def boxes(self) -> list[Box]:
        """Return for each leaf the intervals that it allows, as a mapping from column to intervals.

        Columns that a leaf does not restrict are left out. See `Box`.
        """
        from boxwood.tree._boxes import boxes

        return boxes(self)

    # ---------------------------------------------------------------------------------------------- rewriting

    def shortened(self, X: ArrayLike) -> ThresholdTree:
        """Return the tree with each threshold moved to the decimal with the fewest digits that keeps every row of `X`.

        The result labels the rows of `X` as this tree does. Among decimals of the same length the one nearest the
        middle of the gap is taken. In a column of whole numbers the threshold may equal the largest value on its left;
        elsewhere it keeps two float32 steps away from the rows where the gap is wide enough, so that engines with
        float32 columns agree. Where no row reaches a side of a cut, the next row of the table on that side bounds the
        gap; where the table has none, the threshold is kept. Takes time n times the depth.
        """
        from boxwood.tree._shorten import shortened

        return shortened(self, X)

    def recut(self, X: ArrayLike, Z: ArrayLike) -> ThresholdTree:
        """Return the tree on `X` that labels its rows as this tree labels the same rows of `Z`.

        For columns of `Z` that are increasing functions of the same columns of `X` (scaled, logged, rounded to
        float32): each threshold becomes the midpoint of the gap that its rows leave in `X`.

        Raises
        ------
        ValueError
            If a cut on `Z` is no cut on the same column of `X`.
        """
        from boxwood.tree._shorten import recut

        return recut(self, X, Z)

    def pull_back(self, axis_map: AxisMap, X: ArrayLike | None = None) -> ThresholdTree:
        """Return the tree on raw columns that routes each row as this tree routes its image under a map.

        What a cut on a mapped column means for the raw one is asked of the map. One interval of raw values is one cut;
        where the cut holds for large values the children change places; several intervals are a chain of cuts that
        share a subtree by copies of it. A cut that no raw value on its way can pass, or that all pass, vanishes.

        Parameters
        ----------
        axis_map : AxisMap
            Map from raw columns to those that the tree tests.
        X : array of shape (n, n_features), default=None
            Raw rows. With them every row of `X` is routed exactly as `axis_map.transform(X)` is: cuts are nudged where
            rounding would part the two. Without them the statement holds as exactly as the map's own `pull_back`.

        Raises
        ------
        DataError
            If equal raw values of `X` have different images.
        ValueError
            If the tree tests columns that the map does not make.

        Notes
        -----
        Takes time of the map for `X`, then n for each level of the tree, and memory of the mapped rows.

        References
        ----------
        K. Makarychev, L. Shan, "Near-optimal Algorithms for Explainable k-Medians and k-Means", ICML 2021
        (arXiv 2107.00798), section 2, on coordinate cut preserving maps.

        Examples
        --------
        >>> from boxwood.axes import TerminalEmbedding
        >>> tree = ThresholdTree.from_dict(
        ...     {"feature": 0, "threshold": 2.5, "left": {"cluster": 0}, "right": {"cluster": 1}}
        ... )
        >>> tree.pull_back(TerminalEmbedding([[1.0], [3.0], [5.0]])).upper[0].round(3)
        np.float64(3.707)
        """
        from boxwood.tree._pull_back import pull_back

        return pull_back(self, axis_map, X)

    def relabeled(self, clusters: ArrayLike) -> ThresholdTree:
        """Return the tree with other clusters at its leaves, given in the order of the leaves, shape (n_leaves,)."""
        cluster = self.cluster.copy()
        cluster[self.leaf_nodes] = clusters
        return ThresholdTree(self.feature, self.lower, self.upper, self.second, cluster)

    # ---------------------------------------------------------------------------------------------- exchange

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dicts.

        A threshold cut is `{"feature", "threshold", "left", "right"}` (left: `x <= threshold`), an interval cut
        `{"feature", "interval", "inside", "outside"}` (inside: `a <= x <= b`), a leaf `{"leaf", "cluster"}`.
        """
        from boxwood.tree._exchange import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> ThresholdTree:
        """Return the tree that `to_dict` wrote; the numbers of the leaves may be left out."""
        from boxwood.tree._exchange import from_dict

        return from_dict(d)

    def to_json(self) -> str:
        """Return the tree as JSON with a format number; `from_json` gives an equal tree.

        Nodes are listed flat, so depth has no limit. Thresholds are the shortest decimals that read back as the same
        double; infinities are the strings "inf" and "-inf", as JSON has no number for them.
        """
        from boxwood.tree._exchange import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, s: str) -> ThresholdTree:
        """Return the tree that `to_json` wrote.

        Raises
        ------
        ModelError
            If the text is not JSON, not a boxwood tree, or of a newer format.
        """
        from boxwood.tree._exchange import from_json

        return from_json(s)

    # ---------------------------------------------------------------------------------------------- identity

    def _arrays(self) -> tuple[Array, ...]:
        return self.feature, self.lower, self.upper, self.second, self.cluster

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ThresholdTree):
            return NotImplemented
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self._arrays(), other._arrays(), strict=True))

    def __hash__(self) -> int:  # adding zero makes -0.0, which equals 0.0, hash as it does
        return hash(tuple((array + 0).tobytes() for array in self._arrays()))

    def __reduce__(self) -> tuple[type[ThresholdTree], tuple[Array, ...]]:
        return ThresholdTree, self._arrays()  # through the constructor, so that a copy is checked and frozen too

    def __repr__(self) -> str:
        return f"ThresholdTree(n_leaves={self.n_leaves}, depth={self.depth}, features={self.features.tolist()})"


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _whole_numbers(name: str, values: ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, got {array.dtype}")
    return np.array(array, dtype=np.int64)


def _check(tree: ThresholdTree) -> None:
    """Raise a ValueError that names the first node where the arrays are not a tree in pre-order."""
    n = tree.feature.shape[0] if tree.feature.ndim == 1 else 0
    if n == 0 or any(array.shape != (n,) for array in tree._arrays()):
        shapes = [array.shape for array in tree._arrays()]
        raise ValueError(f"a tree needs five arrays of one length, at least 1; got shapes {shapes}")
    _check_nodes(tree)
    waiting: list[int] = []  # second children, each to begin where the subtree before it ends
    for node, (is_leaf, second) in enumerate(zip((tree.feature < 0).tolist(), tree.second.tolist(), strict=True)):
        if not is_leaf:
            waiting.append(second)
        elif waiting:
            expected = waiting.pop()
            if expected != node + 1:
                raise ValueError(f"nodes are not in pre-order: node {node + 1} should be the second child {expected}")
            if node + 1 == n:
                raise ValueError(f"node {expected} is a second child, but the arrays end at node {n - 1}")
        elif node != n - 1:
            raise ValueError(f"the tree ends at node {node}, but the arrays hold {n} nodes")
    if waiting:
        raise ValueError(f"the tree is cut short: node {n - 1} is a cut without children")


def _check_nodes(tree: ThresholdTree) -> None:
    leaf = tree.feature < 0
    unbounded = np.isneginf(tree.lower) & np.isposinf(tree.upper)
    rules = (
        (tree.feature < -1, "tests a negative column"),
        (np.isnan(tree.lower) | np.isnan(tree.upper), "has a threshold that is not a number"),
        (~(tree.lower <= tree.upper), "has a lower end above its upper end"),
        (leaf & ~unbounded, "is a leaf with thresholds"),
        (leaf & (tree.second != -1), "is a leaf with a second child"),
        (leaf & (tree.cluster < 0), "is a leaf without a cluster"),
        (~leaf & (tree.cluster != -1), "is a cut with a cluster"),
    )
    for broken, reason in rules:
        if broken.any():
            raise ValueError(f"node {int(np.argmax(broken))} {reason}")


def _as_rows(X: ArrayLike, n_features: int) -> Array:
    """Return `X` as a two-dimensional float array, copied only if it is neither float32 nor float64."""
    X = np.asarray(X)
    if X.dtype not in (np.float32, np.float64):
        if X.dtype.kind not in "biufO":
            raise DataError(f"X must be numeric, got {X.dtype}")
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"X must be numeric, got {X.dtype}: {error}") from None
    if X.ndim != 2:
        raise DataError(f"X must be two-dimensional, rows by columns; got shape {X.shape}")
    if X.shape[1] < n_features:
        raise DataError(f"the tree tests column {n_features - 1}, but X has {X.shape[1]} columns")
    return X


def _refuse_nan(found: Ints, start: int) -> None:
    bad = found < 0
    if bad.any():
        row = start + int(np.argmax(bad))
        raise DataError(f"X has NaN in a tested column, first in row {row}; fill such values or leave those rows out")
