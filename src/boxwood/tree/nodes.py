"""`Nodes`: the frozen arrays of a tree in pre-order, and rows on their way down.

A cut asks whether a value is in an interval, `lower <= x[feature] <= upper`, or, where a column holds the codes of
categories, in a set of codes; a threshold cut has `lower = -inf`. Rows inside go to the first child, which is the next
node; the others go to the second child::

    node     0      1     2     3     4          feature[0] = 2, second[0] = 4
           cut ── cut ── leaf  leaf  leaf        feature[1] = 0, second[1] = 3
                                                 feature[2] = feature[3] = feature[4] = -1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import as_float_table, as_numbers, position
from boxwood.errors import DataError


class CutTest(NamedTuple):
    """The test of a cut, in the order of `TreeBuilder.split`: the column, both ends, and the codes of a set."""

    feature: int
    upper: float
    lower: float
    members: tuple[int, ...]


class Cut(NamedTuple):
    """One step on the way from the root to a leaf: the test at `node`, and whether the row is inside.

    `members` are the codes of a set, ascending; without them the test is the interval from `lower` to `upper`.
    """

    node: int
    feature: int
    lower: float
    upper: float
    inside: bool
    members: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Nodes:
    """The arrays of a tree, checked and frozen; `ThresholdTree` describes them."""

    feature: Ints
    lower: Floats
    upper: Floats
    second: Ints
    cluster: Ints
    members: Bools = None  # type: ignore[assignment]  # an array from here on

    def __post_init__(self) -> None:
        for name in ("feature", "second", "cluster"):
            self._freeze(name, _whole_numbers(name, getattr(self, name)))
        for name in ("lower", "upper"):
            self._freeze(name, np.array(as_numbers(name, getattr(self, name))))
        self._freeze("members", _sets(self.members, len(self.feature) if self.feature.ndim == 1 else 0))
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
    def _leaf_numbers(self) -> Ints:
        """Number of leaves up to each node, less one, shape (n_nodes,): at a leaf its own number."""
        return _frozen(np.cumsum(self.feature < 0, dtype=np.int64) - 1)

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

    def path(self, leaf: int) -> tuple[Cut, ...]:
        """Return the cuts from the root to a leaf."""
        cuts, node = [], int(self.leaf_nodes[position("leaf", leaf, self.n_leaves)])
        while node > 0:
            child, node = node, int(self.parent[node])
            feature, upper, lower, members = self.test(node)
            cuts.append(Cut(node, feature, lower, upper, child == node + 1, members))
        return tuple(reversed(cuts))

    def test(self, node: int) -> CutTest:
        """Return the test of the cut at a node."""
        node = position("node", node, self.n_nodes)
        members = tuple(np.flatnonzero(self.members[node]).tolist()) if self.has_sets else ()
        return CutTest(int(self.feature[node]), float(self.upper[node]), float(self.lower[node]), members)

    def is_inside(self, node: int, values: Floats) -> Bools:
        """Return whether each value of the column that a node tests is inside of its cut; NaN never is."""
        with np.errstate(invalid="ignore"):
            inside = (self.lower[node] <= values) & (values <= self.upper[node])
            if self.has_sets and (members := np.flatnonzero(self.members[node])).size:
                inside &= np.isin(values, members)
        return np.asarray(inside)

    @cached_property
    def is_set(self) -> Bools:
        """Whether each node asks for a set of codes, shape (n_nodes,)."""
        return _frozen(np.asarray(self.members.any(axis=1)))

    @property
    def has_sets(self) -> bool:
        """Whether a cut asks for a set of codes."""
        return bool(self.members.shape[1])

    def with_thresholds(self, lower: Floats, upper: Floats) -> Self:
        """Return the tree with other lower and upper ends of its cuts, both of shape (n_nodes,); sets stay."""
        lower, upper = as_numbers("lower", lower), as_numbers("upper", upper)
        lower, upper = np.where(self.is_set, self.lower, lower), np.where(self.is_set, self.upper, upper)
        return type(self)(self.feature, lower, upper, self.second, self.cluster, self.members)

    # ---------------------------------------------------------------------------------------------- identity

    def _arrays(self) -> tuple[Array, ...]:
        return self.feature, self.lower, self.upper, self.second, self.cluster, self.members

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Nodes):
            return NotImplemented
        return self is other or self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> bytes:  # adding zero makes -0.0, which equals 0.0, the same bytes; the last array alone has rows
        return b"".join((array + 0).tobytes() for array in (np.array(self.n_nodes), *self._arrays()))

    def __reduce__(self) -> tuple[type[Self], tuple[Array, ...]]:
        return type(self), self._arrays()  # through the constructor, so that a copy is checked and frozen too

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_leaves={self.n_leaves}, depth={self.depth}, features={self.features.tolist()})"


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _whole_numbers(name: str, values: ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, got {array.dtype}")
    return np.array(array, dtype=np.int64)


def _check(tree: Nodes) -> None:
    """Raise a ValueError that names the first node where the arrays are not a tree in pre-order."""
    n, arrays = tree.feature.shape[0] if tree.feature.ndim == 1 else 0, tree._arrays()[:-1]
    if n == 0 or any(array.shape != (n,) for array in arrays):
        shapes = [array.shape for array in arrays]
        raise ValueError(f"a tree needs five arrays of one length, at least 1; got shapes {shapes}")
    _check_nodes(tree)
    waiting: list[int] = []  # second children: each must begin where the subtree of the first child ends
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


def _check_nodes(tree: Nodes) -> None:
    leaf = tree.feature < 0
    unbounded = np.isneginf(tree.lower) & np.isposinf(tree.upper)
    rules = [
        (tree.feature < -1, "tests a negative column"),
        (np.isnan(tree.lower) | np.isnan(tree.upper), "has a threshold that is not a number"),
        (~(tree.lower <= tree.upper), "has a lower end above its upper end"),
        (leaf & ~unbounded, "is a leaf with thresholds"),
        (leaf & (tree.second != -1), "is a leaf with a second child"),
        (leaf & (tree.cluster < 0), "is a leaf without a cluster"),
        (~leaf & (tree.cluster != -1), "is a cut with a cluster"),
    ]
    if tree.has_sets:
        rules += [
            (leaf & tree.is_set, "is a leaf with a set of codes"),
            (tree.is_set & ~_is_canonical(tree), "has a set that its ends do not span, or that is an interval"),
        ]
    broken = np.array([each for each, _ in rules])
    if broken.any():
        rule = int(broken.any(axis=1).argmax())
        raise ValueError(f"node {int(broken[rule].argmax())} {rules[rule][1]}")


def _sets(members: Any, n_nodes: int) -> Bools:
    """Return the sets of codes, shape (n_nodes, largest code + 1); with no set at all, no column."""
    sets = np.zeros((n_nodes, 0), dtype=np.bool_) if members is None else np.array(members, dtype=np.bool_)
    if sets.ndim != 2 or len(sets) != n_nodes:
        raise ValueError(f"members must have a row for each of {n_nodes} nodes, got shape {sets.shape}")
    used = np.flatnonzero(sets.any(axis=0))
    return sets[:, : int(used[-1]) + 1 if used.size else 0]


def _is_canonical(tree: Nodes) -> Bools:
    """Return whether the ends of each set are its least and greatest code, and a code between them is none of it."""
    first, last = tree.members.argmax(axis=1), tree.members.shape[1] - 1 - tree.members[:, ::-1].argmax(axis=1)
    has_hole = tree.members.sum(axis=1) < last - first + 1
    return np.asarray((tree.lower == first) & (tree.upper == last) & has_hole)


def runs_of(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs of neighbours in ascending whole numbers, each by its first and its last."""
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return runs


def values_at_leaves(
    tree: Nodes, X: ArrayLike, values: Ints, n_jobs: int | None, *, nan: Literal["error", "none"] = "error"
) -> Ints:
    """Return the value at the leaf of each row, shape (n,), from values of at least 0 by node, shape (n_nodes,).

    A row with NaN where it is tested is an error, or has the value -1 with `nan="none"`. See `ThresholdTree.apply` for
    rows and errors.
    """
    from boxwood.loops.walk import descend  # here, as SQL and model files need the tree without the compiler

    rows = as_rows(X, tree.n_features)
    reached = np.empty(len(rows), dtype=np.int64)
    values = values.view()
    values.flags.writeable = False  # as the tree's arrays are, so that the loop is compiled for one kind of array

    def work(start: int, stop: int) -> None:
        nodes = tree.feature, tree.lower, tree.upper, tree.second
        if tree.has_sets:
            reached[start:stop] = walk_by_nodes(tree, rows[start:stop], values)
        else:
            descend(rows[start:stop], *nodes, values, reached[start:stop])
        if nan == "error":
            _refuse_nan(reached[start:stop], start)

    map_blocks(work, len(rows), n_jobs=n_jobs)
    return reached


def walk_by_nodes(tree: Nodes, rows: Array, values: Ints) -> Ints:
    """Return the value at the leaf of each row, -1 where it has NaN that is tested, without a compiled loop.

    So go rows of trees with sets of codes, and those of a file, which is read without the compiler.
    """
    reached = np.empty(len(rows), dtype=np.int64)
    stack = [(0, np.arange(len(rows)))]
    while stack:
        node, at = stack.pop()
        if tree.feature[node] < 0:
            reached[at] = values[node]
            continue
        x = rows[at, tree.feature[node]]
        inside, lacks = tree.is_inside(node, x), np.isnan(x)
        reached[at[lacks]] = -1
        stack += ((int(tree.second[node]), at[~inside & ~lacks]), (node + 1, at[inside]))
    return reached


def clusters_below(tree: Nodes) -> list[frozenset[int]]:
    """Return the clusters of the leaves below each node; that of a leaf is its own."""
    below: list[frozenset[int]] = [frozenset()] * tree.n_nodes
    for node in range(tree.n_nodes - 1, -1, -1):  # children lie behind their parents
        is_leaf = tree.feature[node] < 0
        below[node] = (
            frozenset([int(tree.cluster[node])]) if is_leaf else below[node + 1] | below[int(tree.second[node])]
        )
    return below


def rows_at_nodes(tree: Nodes, X: NDArray[np.floating]) -> Iterator[tuple[int, Indices, Bools | None]]:
    """Yield each node in pre-order, the numbers of the rows that reach it, and whether each is inside its cut.

    The last is None at a leaf. Numbers of rows are ascending. Takes time n times the depth, and memory for the rows of
    the nodes that wait for their turn.
    """
    stack = [(0, np.arange(len(X)))]
    while stack:
        node, rows = stack.pop()
        feature = tree.feature[node]
        if feature < 0:
            yield node, rows, None
            continue
        values = X[:, feature][rows].astype(np.float64, copy=False)
        inside = tree.is_inside(node, values)
        yield node, rows, inside
        stack += ((int(tree.second[node]), rows[~inside]), (node + 1, rows[inside]))


def as_rows(X: ArrayLike, n_features: int) -> Array:
    """Return `X` as a two-dimensional array of float32 or float64 that has all columns that a tree tests."""
    rows = as_float_table(X)
    if rows.shape[1] < n_features:
        raise DataError(f"the tree tests column {n_features - 1}, but X has {rows.shape[1]} columns")
    return rows


def _refuse_nan(reached: Ints, start: int) -> None:
    """Raise a DataError if a row of the block that begins at row `start` has met NaN."""
    bad = reached < 0
    if bad.any():
        row = start + int(np.argmax(bad))
        raise DataError(f"X has NaN in a tested column, first in row {row}; fill such values or leave those rows out")
