"""`ThresholdTree`: a function of a row, as frozen arrays in pre-order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Ints
from boxwood._validation import refuse_other_kind
from boxwood.tree.boxes import Box, boxes
from boxwood.tree.nodes import Nodes, values_at_leaves
from boxwood.tree.on_frames import is_on_machines, tree_on_frame
from boxwood.tree.shorten import recut, shortened

if TYPE_CHECKING:
    from boxwood.axes import AxisMap

__all__ = ["ThresholdTree", "refuse_no_tree"]


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTree(Nodes):
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

    # -------------------------------------------------------------------------------------------------- rows

    def apply(self, X: ArrayLike | Any, *, n_jobs: int | None = -1, columns: Sequence[str] | None = None) -> Ints:
        """Return the leaf of each row, shape (n,), with leaves numbered from 0 in pre-order.

        `X` of shape (n, d) may be float32 or float64 in any memory layout and is not copied; values are compared as
        float64. Infinite values are ordinary values. Takes time n times the depth reached, and no other memory.

        For a data frame of Spark or Dask comes the same frame with one more column, "leaf" ("leaf_1" if there is one,
        and so on), which its workers compute when the frame is. The columns of the tree are then the frame's columns of
        numbers and booleans, in their order; `columns` names them where there are others, such as labels or weights.
        NULL counts as NaN; it is an error when the frame is computed.

        Raises
        ------
        ValueError
            If `X` has fewer columns than the tree tests, is not numeric, or has NaN where a row is tested.
        """
        return self._values(X, np.cumsum(self.feature < 0, dtype=np.int64) - 1, n_jobs, "leaf", columns)

    def predict(self, X: ArrayLike | Any, *, n_jobs: int | None = -1, columns: Sequence[str] | None = None) -> Ints:
        """Return the cluster of each row, shape (n,), or a frame with a column "cluster"; reads `X` as `apply` does."""
        return self._values(X, self.cluster, n_jobs, "cluster", columns)

    def _values(self, X: Any, values: Ints, n_jobs: int | None, name: str, columns: Sequence[str] | None) -> Ints:
        if is_on_machines(X):
            return tree_on_frame(self, X, values, name, columns)  # type: ignore[no-any-return]
        if columns is not None:
            raise TypeError(
                "columns are for data frames of Spark and Dask; rows have the tree's columns in their order"
            )
        return values_at_leaves(self, X, values, n_jobs)

    # ------------------------------------------------------------------------------------------------- leaves

    def boxes(self) -> list[Box]:
        """Return the box of each leaf: a mapping from each column that the leaf restricts to the intervals it allows.

        See `Box`.
        """
        return boxes(self)

    # ---------------------------------------------------------------------------------------------- rewriting

    def shortened(self, X: ArrayLike) -> ThresholdTree:
        """Return the tree with each threshold moved to the decimal with the fewest digits that keeps every row of `X`.

        The result labels the rows of `X` as this tree does. Each threshold moves within its gap, between the nearest
        rows on both sides. Among decimals of the same length the nearest to the middle of the gap is taken. In a column
        of whole numbers the threshold may equal the largest value on its left. In other columns it keeps two float32
        steps away from the rows if the gap is wide enough, so that engines with float32 columns agree.

        If no row of the node is on one side of a cut, the next row of the whole table on that side bounds the gap. If
        the table has none either, the threshold is kept. Takes time n times the depth.
        """
        return shortened(self, X)

    def recut(self, X: ArrayLike, Z: ArrayLike) -> ThresholdTree:
        """Return the tree on `X` that labels its rows as this tree labels the same rows of `Z`.

        Use it where each column of `Z` is an increasing function of the same column of `X`: scaled, logged, or rounded
        to float32. Each threshold becomes the midpoint of the gap in `X` between the rows that it separates in `Z`.

        Raises
        ------
        ValueError
            If the rows that a cut separates in `Z` overlap in the same column of `X`.
        """
        return recut(self, X, Z)

    def pull_back(self, axis_map: AxisMap, X: ArrayLike | None = None) -> ThresholdTree:
        """Return the tree on raw columns that routes each row as this tree routes its image under a map.

        The map says which raw values are inside a cut on a mapped column. If they are one interval, the cut becomes one
        cut of the raw column; the children change sides if the interval is unbounded above. If they are several
        intervals, the cut becomes a chain of cuts, each with a copy of the same subtree (that of the values outside,
        if these are fewer intervals). A cut vanishes if all raw values that can reach it are on one side.

        Parameters
        ----------
        axis_map : AxisMap
            Map from raw columns to those that the tree tests.
        X : array of shape (n, n_features), default=None
            Raw rows. With them every row of `X` is routed exactly as its image `axis_map.transform(X)`: an end of a
            cut is moved if rounding would send a row and its image to different sides. Without them the routes are as
            exact as the map's own `pull_back`.

        Raises
        ------
        DataError
            If equal raw values of `X` have different images.
        ValueError
            If the tree tests columns that the map does not make.

        Notes
        -----
        Takes the time of the map for `X`, then n for each level of the tree, and memory for the mapped rows.

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
        """Return the tree with other clusters at its leaves; `clusters`, shape (n_leaves,), is in their order."""
        numbers = np.asarray(clusters)
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"clusters must be whole numbers, one for each leaf; got {numbers.dtype}")
        cluster = self.cluster.copy()
        cluster[self.leaf_nodes] = numbers
        return ThresholdTree(self.feature, self.lower, self.upper, self.second, cluster)

    # ---------------------------------------------------------------------------------------------- exchange

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dicts.

        A threshold cut is `{"feature", "threshold", "left", "right"}` (left: `x <= threshold`), an interval cut
        `{"feature", "interval", "inside", "outside"}` (inside: `a <= x <= b`), a leaf `{"leaf", "cluster"}`.
        """
        from boxwood.tree.exchange import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> ThresholdTree:
        """Return the tree that `to_dict` wrote. The numbers of the leaves may be left out.

        Raises
        ------
        ModelError
            If an entry is no leaf and no cut, or leaves are not numbered in order.
        """
        from boxwood.tree.exchange import from_dict

        return from_dict(d)

    def to_json(self) -> str:
        """Return the tree as JSON with a format number; `from_json` gives an equal tree.

        Nodes are listed flat, so depth has no limit. Thresholds are the shortest decimals that read back as the same
        double. Infinities are the strings "inf" and "-inf", as JSON has no numbers for them.
        """
        from boxwood.tree.exchange import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, s: str) -> ThresholdTree:
        """Return the tree that `to_json` wrote.

        Raises
        ------
        ModelError
            If the text is not JSON, not a boxwood tree, or of a newer format.
        """
        from boxwood.tree.exchange import from_json

        return from_json(s)


def refuse_no_tree(tree: object) -> None:
    """Raise a TypeError, which says where trees are, unless the argument is a ThresholdTree."""
    where = "a fitted explainer has one as tree_, an explanation as tree"
    refuse_other_kind("tree", tree, ThresholdTree, where)
