"""`Grown`, the result of every method of growing; the loop over nodes that most methods use, and its ties."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import as_generator, refuse_unknown
from boxwood.kernels import Kernel
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder, between

Node = TypeVar("Node")


class Grown(NamedTuple):
    """A tree, and facts that only its grower knows.

    Attributes
    ----------
    tree : ThresholdTree
        The tree, on the columns of the task's rows.
    method : str
        Method that grew the tree: a name of `METHODS`, with later steps added, such as "imm-exkmc" or "cart, refined".
    objective : {"sqeuclidean", "l1", "l2"}
        Distance whose sum is the cost of this tree.
    kernel : Kernel or None
        Kernel whose feature space the distance is measured in; None measures it in the columns.
    attributes : mapping from name to value
        Facts that an estimator stores as attributes, with an underscore added to the name: "mixture" as `mixture_`.
    notes : tuple of str
        Remarks for the reader of the result.
    early_stop : str
        Why the tree has no more leaves, if it has fewer than were asked for.
    asked : int, default=None
        Number of leaves that were asked for, if `told` says that there are fewer.
    """

    tree: ThresholdTree
    method: str
    objective: str = "sqeuclidean"
    kernel: Kernel | None = None
    attributes: Mapping[str, Any] = {}
    notes: tuple[str, ...] = ()
    early_stop: str = "no further cut gains anything"
    asked: int | None = None

    def noting_early_stop(self, task: Task) -> Grown:
        """Return the same, which tells if the tree has fewer leaves than were asked for."""
        within = "within the limits " if task.budget.limits_cuts else ""
        return self._replace(asked=task.max_leaf_nodes, early_stop=f"{within}{self.early_stop}")

    def as_finished(self, tree: ThresholdTree) -> Grown:
        """Return the same with the tree as it is on the table's columns, where limits may have taken leaves away."""
        lost, why = self.tree.n_leaves - tree.n_leaves, []
        if lost > 0:
            why = [self.early_stop] if self.asked is not None and self.tree.n_leaves < self.asked else []
            why += [f"rounding and other limits took {lost} {'leaf' if lost == 1 else 'leaves'} away"]
        return self._replace(tree=tree, early_stop=", and ".join(why) or self.early_stop)

    @property
    def told(self) -> tuple[str, ...]:
        """The notes, with one if the tree has fewer leaves than were asked for."""
        if self.asked is None or self.tree.n_leaves >= self.asked:
            return self.notes
        leaves = "leaf" if self.tree.n_leaves == 1 else "leaves"
        return (*self.notes, f"the tree has {self.tree.n_leaves} {leaves} instead of {self.asked}: {self.early_stop}")


class Split(NamedTuple, Generic[Node]):
    """A cut `lower <= x[feature] <= upper`, or one of some codes, with a node of the algorithm for each side."""

    feature: int
    upper: float
    first: Node
    second: Node
    lower: float = -math.inf
    codes: tuple[int, ...] = ()


def grow_by_cuts(root: Node, step: Callable[[Node], int | Split[Node]]) -> ThresholdTree:
    """Return the tree that grows from a root by one step at each node.

    `step` gives the cluster of a node that becomes a leaf, or the split of a node that becomes a cut. Nodes are visited
    in pre-order: the first side of a cut and everything below it come before the second.
    """
    builder = TreeBuilder()
    waiting = [(0, root)]
    while waiting:
        number, node = waiting.pop()
        result = step(node)
        if isinstance(result, Split):
            if result.codes:
                first, second = builder.split_set(number, result.feature, result.codes)
            else:
                first, second = builder.split(number, result.feature, result.upper, result.lower)
            waiting += ((second, result.second), (first, result.first))
        else:
            builder.label(number, result)
    return builder.build()


TIE_BREAKS = ("first", "margin", "balanced", "random")


class EqualCuts(NamedTuple):
    """Equally good cuts, by ascending feature, then by ascending threshold. All arrays are of shape (m,).

    A threshold lies between two neighbouring values `low` and `high` of the node's rows and centres.
    """

    feature: Indices
    threshold: Floats
    low: Floats
    high: Floats
    width: Floats  # range of the node's centres in the column
    difference: Ints  # between the weights of the rows on both sides, without sign

    @classmethod
    def of_column(
        cls,
        feature: int,
        thresholds: Floats | None,
        lows: Floats,
        highs: Floats,
        centers: Floats,
        rows: tuple[Floats, Ints],
    ) -> EqualCuts:
        """Return the cuts of one column; thresholds None are midway, `rows` are sorted values and their weights."""
        values, weights = rows
        before = np.concatenate([[0], np.cumsum(weights)])
        left = before[np.searchsorted(values, lows, side="right")]
        middles = between(lows, highs) if thresholds is None else thresholds
        width = centers.max() / 2 - centers.min() / 2  # halves: the range itself may overflow
        difference = np.abs(before[-1] - 2 * left)
        return cls(np.full(len(lows), feature), middles, lows, highs, np.full(len(lows), width), difference)

    @classmethod
    def joined(cls, parts: list[EqualCuts]) -> EqualCuts:
        """Return the cuts of several columns, which come in ascending order."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def margins(self) -> Floats:
        """Return the distance of each threshold to the nearest value, as a fraction of the range of the centres."""
        half = self.threshold / 2
        nearest = np.minimum(half - self.low / 2, self.high / 2 - half)
        return np.divide(nearest, self.width, out=np.zeros_like(nearest), where=self.width > 0)


class TieBreak:
    """A rule by which one of several equally good cuts is chosen; ties that remain go to the first cut."""

    def __init__(self, rule: str, random_state: Any) -> None:
        refuse_unknown("tie_break", rule, TIE_BREAKS)
        self.rule = rule
        self._random = as_generator(random_state) if rule == "random" else None

    @property
    def is_first(self) -> bool:
        """Whether the first cut is taken, so that the others need not be found."""
        return self.rule == "first"

    def chosen(self, cuts: EqualCuts) -> int:
        """Return the index of the chosen cut."""
        if self._random is not None:
            return int(self._random.integers(len(cuts.feature))) if len(cuts.feature) > 1 else 0
        return int(np.argmax(cuts.margins()) if self.rule == "margin" else np.argmin(cuts.difference))
