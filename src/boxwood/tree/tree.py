"""`ThresholdTree`: a function of a row, as frozen arrays in pre-order; `TreeBuilder`; trees on mapped columns."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import Rows, is_on_machines, real_number, refuse_other_kind, whole_number
from boxwood.errors import DataError
from boxwood.tree.boxes import Box, boxes
from boxwood.tree.cover import Intervals, complement, intersection, join_intervals
from boxwood.tree.nodes import Nodes, as_rows, runs_of, values_at_leaves
from boxwood.tree.on_frames import tree_on_frame
from boxwood.tree.shorten import recut, shorten_thresholds

if TYPE_CHECKING:
    from boxwood.axes.maps import AxisMap


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
    members : array of bool of shape (n_nodes, n_codes), default=None
        Codes of categories for which a node asks: rows with one of them go to the first child, others to the second.
        `lower` and `upper` are the least and the greatest of these codes. A node without any asks for the interval; so
        does one whose codes are a run without a hole. None where no node asks for a set.

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

        A data frame of Spark or Dask gives the same frame with one more column, "leaf" ("leaf_1" if there is one,
        and so on), which its workers compute when the frame is. The columns of the tree are then the frame's columns of
        numbers and booleans, in their order; `columns` names them where there are others, such as labels or weights.
        NULL counts as NaN; it is an error when the frame is computed.

        Raises
        ------
        ValueError
            If `X` has fewer columns than the tree tests, is not numeric, or has NaN where a row is tested.
        """
        return self._values(X, self._leaf_numbers, n_jobs, "leaf", columns)

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
        """Return the tree with each threshold moved to the decimal with the fewest digits between the rows of `X`.

        The result labels the rows of `X` as this tree does. Each threshold moves within its gap, between the nearest
        rows on both sides. Among decimals of the same length the nearest to the middle of the gap is taken. In a column
        of whole numbers the threshold may equal the largest value on its left. In other columns it keeps two float32
        steps away from the rows if the gap is wide enough, so that engines with float32 columns agree.

        If no row of the node is on one side of a cut, the next row of the whole table on that side bounds the gap. If
        the table has none either, the threshold is kept. Takes time n times the depth.
        """
        return shorten_thresholds(self, X)

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
        if these are fewer intervals); in a column of codes of categories it becomes one cut that asks for a set. A cut
        vanishes if all raw values that can reach it are on one side.

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
        return pull_back(self, axis_map, X)

    def relabeled(self, clusters: ArrayLike) -> ThresholdTree:
        """Return the tree with other clusters at its leaves; `clusters`, shape (n_leaves,), is in their order."""
        numbers = np.asarray(clusters)
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"clusters must be whole numbers, one for each leaf; got {numbers.dtype}")
        cluster = self.cluster.copy()
        cluster[self.leaf_nodes] = numbers
        return ThresholdTree(self.feature, self.lower, self.upper, self.second, cluster, self.members)

    # ---------------------------------------------------------------------------------------------- exchange

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dicts.

        A threshold cut is `{"feature", "threshold", "left", "right"}` (left: `x <= threshold`), an interval cut
        `{"feature", "interval", "inside", "outside"}` (inside: `a <= x <= b`), a set of codes
        `{"feature", "values", "in", "out"}`, a leaf `{"leaf", "cluster"}`.
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


class TreeBuilder:
    """Builds a `ThresholdTree` from cuts that come in any order, such as best first.

    Node 0 is the root. `split` makes a node a cut and returns its two children. `label` makes a node a leaf. `build`
    refuses a tree with an unlabelled leaf. Every other mistake is refused when it is made.

    Examples
    --------
    >>> builder = TreeBuilder()
    >>> left, right = builder.split(0, feature=2, upper=0.5)
    >>> builder.label(left, 1)
    >>> builder.label(right, 0)
    >>> builder.build()
    ThresholdTree(n_leaves=2, depth=1, features=[2])
    """

    def __init__(self) -> None:
        self._cuts: dict[int, tuple[int, float, float, int]] = {}  # node -> feature, lower, upper, first child
        self._members: dict[int, list[int]] = {}  # codes of a node that asks for a set of them
        self._clusters: dict[int, int] = {}
        self._n_nodes = 1

    @classmethod
    def from_tree(cls, tree: ThresholdTree) -> tuple[Self, list[int]]:
        """Return a builder that holds `tree`, and the builder's node for each of the tree's nodes."""
        refuse_no_tree(tree)
        builder, nodes = cls(), [0] * tree.n_nodes
        for node in range(tree.n_nodes):
            if tree.feature[node] >= 0:
                nodes[node + 1], nodes[tree.second[node]] = builder.split(nodes[node], *tree.test(node))
            else:
                builder.label(nodes[node], int(tree.cluster[node]))
        return builder, nodes

    @property
    def n_leaves(self) -> int:
        """Number of nodes that are not cuts, labelled or not."""
        return self._n_nodes - len(self._cuts)

    def split(
        self, node: int, feature: int, upper: float, lower: float = -math.inf, members: Sequence[int] = ()
    ) -> tuple[int, int]:
        """Make `node` the cut `lower <= x[feature] <= upper` and return its first and second child.

        With `members`, ascending codes of categories, rows with these codes go to the first child; `lower` and `upper`
        are then the first and the last of them. If the node was labelled, its cluster is forgotten.
        """
        self._refuse_unknown(node)
        if node in self._cuts:
            raise ValueError(f"node {node} is a cut already; split one of its children instead")
        whole_number("feature", feature, 0)
        lower, upper = real_number("lower", lower), real_number("upper", upper)
        if not lower <= upper:
            raise ValueError(f"node {node}: the cut {lower} <= x <= {upper} holds no value")
        first = self._n_nodes
        self._n_nodes += 2
        self._cuts[node] = int(feature), lower, upper, first
        if len(members):
            self._members[node] = list(members)
        self._clusters.pop(node, None)
        return first, first + 1

    def split_set(self, node: int, feature: int, codes: Sequence[int]) -> tuple[int, int]:
        """Make `node` the cut that asks whether a code is one of some codes; a run of neighbours is an interval."""
        members = sorted(set(codes))
        if not members:
            raise ValueError(f"node {node}: a set of no codes holds no value")
        return self.split(node, feature, members[-1], members[0], members if len(runs_of(members)) > 1 else ())

    def label(self, node: int, cluster: int) -> None:
        """Make `node` a leaf of `cluster`. A leaf may be labelled again."""
        self._refuse_unknown(node)
        if node in self._cuts:
            raise ValueError(f"node {node} is a cut, which has no cluster; label a leaf below it")
        self._clusters[node] = whole_number("cluster", cluster, 0)

    def build(self) -> ThresholdTree:
        """Return the tree."""
        order, position = self._pre_order()
        feature = np.full(len(order), -1, dtype=np.int64)
        second, cluster = feature.copy(), feature.copy()
        lower, upper = np.full(len(order), -np.inf), np.full(len(order), np.inf)
        widest = max((codes[-1] + 1 for codes in self._members.values()), default=0)
        members = np.zeros((len(order), widest), dtype=np.bool_)
        for i, node in enumerate(order):
            if node in self._cuts:
                feature[i], lower[i], upper[i], first = self._cuts[node]
                members[i, self._members.get(node, [])] = True
                second[i] = position[first + 1]
            elif node in self._clusters:
                cluster[i] = self._clusters[node]
            else:
                raise ValueError(f"node {node} is neither a cut nor labelled with a cluster; split or label it first")
        return ThresholdTree(feature, lower, upper, second, cluster, members)

    def _pre_order(self) -> tuple[list[int], dict[int, int]]:
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            if node in self._cuts:
                first = self._cuts[node][3]
                stack += (first + 1, first)
        return order, {node: i for i, node in enumerate(order)}

    def _refuse_unknown(self, node: int) -> None:
        if not 0 <= node < self._n_nodes:
            raise ValueError(f"there is no node {node}; nodes are 0 to {self._n_nodes - 1}")


class _RawAndMapped(NamedTuple):
    """The same rows in raw and in mapped columns."""

    raw: NDArray[np.floating]
    mapped: NDArray[np.floating]


class _Visit(NamedTuple):
    """A node of the mapped tree, and where it goes in the new tree."""

    node: int
    new_node: int
    allowed: dict[int, Intervals]  # raw values that can reach the new node, for each raw column cut above it
    rows: Indices  # rows that reach the new node


def pull_back(
    tree: ThresholdTree, axis_map: AxisMap, X: ArrayLike | None = None, images: Array | None = None
) -> ThresholdTree:
    """See `ThresholdTree.pull_back`; IN: images: those of `X`, if they are known."""
    if not all(hasattr(axis_map, name) for name in ("n_columns", "transform", "pull_back", "domain")):
        raise TypeError(f"axis_map must be an AxisMap, such as boxwood.axes.Scaling; got {type(axis_map).__name__}")
    if tree.n_features > axis_map.n_columns:
        raise ValueError(f"the tree tests column {tree.n_features - 1}, but the map makes {axis_map.n_columns} columns")
    table = _both(axis_map, X, images)
    builder = TreeBuilder()
    stack = [_Visit(0, 0, {}, np.arange(len(table.raw)))]
    while stack:
        visit = stack.pop()
        if tree.feature[visit.node] < 0:
            builder.label(visit.new_node, int(tree.cluster[visit.node]))
        else:
            stack.extend(_cut(tree, axis_map, table, builder, visit))
    return builder.build()


def _both(axis_map: AxisMap, X: ArrayLike | None, images: Array | None) -> _RawAndMapped:
    if X is None:
        return _RawAndMapped(np.empty((0, axis_map.n_features)), np.empty((0, axis_map.n_columns)))
    raw = as_rows(X, axis_map.n_features)
    if images is None:
        images = axis_map.transform(X if isinstance(X, Rows) else raw)
    return _RawAndMapped(raw, images)


def _cut(
    tree: ThresholdTree, axis_map: AxisMap, table: _RawAndMapped, builder: TreeBuilder, visit: _Visit
) -> Iterator[_Visit]:
    """Cut the new tree at a node, and yield the children to be visited."""
    node, new_node, allowed, rows = visit
    column = int(tree.feature[node])
    feature, wanted = axis_map.pull_back(column, float(tree.lower[node]), float(tree.upper[node]))
    z, x = table.mapped[rows, column], table.raw[rows, feature].astype(np.float64, copy=False)
    wanted = _nudge_ends(wanted, x, (tree.lower[node] <= z) & (z <= tree.upper[node]), node)
    domain = axis_map.domain(feature)
    reachable = allowed.get(feature, domain)
    pieces, swapped = _pieces(wanted, reachable, domain)
    children = node + 1, int(tree.second[node])
    in_piece, in_no_piece = children[::-1] if swapped else children
    if len(pieces) > 1 and _holds_codes(domain):
        members = [code for code, _ in domain if any(low <= code <= high for low, high in pieces)]
        first, second = builder.split_set(new_node, feature, [int(code) for code in members])
        within = _contains(pieces, table.raw[rows, feature].astype(np.float64, copy=False))
        yield _Visit(in_piece, first, {**allowed, feature: intersection(pieces, reachable)}, rows[within])
        rest = intersection(complement(pieces), reachable)
        yield _Visit(in_no_piece, second, {**allowed, feature: rest}, rows[~within])
        return
    for piece in pieces:
        first, second = builder.split(new_node, feature, piece[1], piece[0])
        within = _contains((piece,), table.raw[rows, feature].astype(np.float64, copy=False))
        yield _Visit(in_piece, first, {**allowed, feature: intersection((piece,), reachable)}, rows[within])
        reachable, new_node, rows = intersection(complement((piece,)), reachable), second, rows[~within]
    yield _Visit(in_no_piece, new_node, {**allowed, feature: reachable}, rows)


def _holds_codes(domain: Intervals) -> bool:
    """Return whether the values of a column are the codes of categories: 0, 1, and so on."""
    return all(low == high == code for code, (low, high) in enumerate(domain))


# ------------------------------------------------------------------------------------------------ choice of cuts


def _pieces(wanted: Intervals, allowed: Intervals, domain: Intervals) -> tuple[Intervals, bool]:
    """Return the fewest intervals that separate wanted from unwanted values, and whether the wanted ones are outside.

    Only allowed values count. There is no interval if all of them are on one side.
    """
    inside, outside = _runs(wanted, allowed)
    is_lower = bool(inside and outside) and inside[-1][1] == math.inf and outside[0][0] == -math.inf
    swapped = len(outside) < len(inside) or (len(outside) == len(inside) and is_lower)
    chosen = outside if swapped else inside
    return tuple(_trim_piece(piece, domain) for piece in chosen), swapped


def _runs(wanted: Intervals, allowed: Intervals) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the maximal runs of allowed values inside the wanted set, and outside it, as intervals."""
    tiles = sorted([(*tile, True) for tile in wanted] + [(*tile, False) for tile in complement(wanted)])
    runs: list[tuple[float, float, bool]] = []
    for lower, upper, is_in in tiles:
        if not _meets(lower, upper, allowed):
            continue
        if runs and runs[-1][2] == is_in:
            lower = runs.pop()[0]
        runs.append((lower, upper, is_in))
    return [run[:2] for run in runs if run[2]], [run[:2] for run in runs if not run[2]]


def _meets(lower: float, upper: float, allowed: Intervals) -> bool:
    """Tell whether an interval holds an allowed value."""
    i = bisect_left(allowed, lower, key=lambda piece: piece[1])
    return i < len(allowed) and allowed[i][0] <= upper


def _trim_piece(piece: tuple[float, float], domain: Intervals) -> tuple[float, float]:
    """Return the part of an interval between its first and its last value in the domain."""
    possible = intersection((piece,), domain)
    return possible[0][0], possible[-1][1]


# ------------------------------------------------------------------------------------------------------- nudging


def _nudge_ends(wanted: Intervals, x: Floats, inside: Bools, node: int) -> Intervals:
    """Return a set with its ends moved so that it holds the values flagged as inside, and no other of `x`."""
    wrong = _contains(wanted, x) != inside
    if not wrong.any():
        return wanted
    within, outside = np.unique(x[inside]), np.unique(x[~inside])
    both = np.intersect1d(within, outside)
    if both.size:
        raise DataError(
            f"node {node}: the map gives equal values different images, first {both[0]}; it is not a function"
        )
    for value in np.unique(x[wrong & inside]).tolist():
        wanted = _with(wanted, value, outside)
    for value in np.unique(x[wrong & ~inside]).tolist():
        wanted = complement(_with(complement(wanted), value, within))
    return wanted


def _contains(intervals: Intervals, x: Floats) -> Bools:
    """Return whether each value is in one of the intervals."""
    if not intervals:
        return np.zeros(len(x), dtype=bool)
    lower, upper = np.array(intervals).T
    index = np.searchsorted(lower, x, side="right") - 1
    contained: Bools = (index >= 0) & (x <= upper[index])
    return contained


def _with(intervals: Intervals, value: float, others: Floats) -> Intervals:
    """Return a set with one more value: the nearest interval is extended to it, unless others lie in between."""
    reaches = [(value - upper, upper, value) for _, upper in intervals if upper < value]
    reaches += [(lower - value, value, lower) for lower, _ in intervals if lower > value]
    for _, lower, upper in sorted(reaches):
        if np.searchsorted(others, lower) == np.searchsorted(others, upper):
            return join_intervals([*intervals, (lower, upper)])
    return join_intervals([*intervals, (value, value)])
