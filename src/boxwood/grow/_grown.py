"""`Grown`, the result of every method of growing; and the loop over nodes that most methods use."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from boxwood.kernels import Kernel
from boxwood.passes import TableTask
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["Grown", "Split", "grow_by_cuts"]

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
    facts : mapping from name to value
        Facts that an estimator stores as attributes, with an underscore added to the name: "mixture" as `mixture_`.
    notes : tuple of str
        Remarks for the reader of the result.
    early_stop : str
        Why the tree has no more leaves, if it has fewer than were asked for.
    """

    tree: ThresholdTree
    method: str
    objective: str = "sqeuclidean"
    kernel: Kernel | None = None
    facts: Mapping[str, Any] = {}
    notes: tuple[str, ...] = ()
    early_stop: str = "no further cut gains anything"

    def noting_early_stop(self, task: Task | TableTask) -> Grown:
        """Return the same with a note if the tree has fewer leaves than were asked for."""
        asked = task.max_leaf_nodes
        if asked is None or self.tree.n_leaves >= asked:
            return self
        within = " within the limits" if task.budget.limits_cuts else ""
        note = f"stopped at {self.tree.n_leaves} of {asked} leaves, as{within} {self.early_stop}"
        return self._replace(notes=(*self.notes, note))


class Split(NamedTuple, Generic[Node]):
    """A cut `lower <= x[feature] <= upper`, with a node of the algorithm for each of its two sides."""

    feature: int
    upper: float
    first: Node
    second: Node
    lower: float = -math.inf


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
            first, second = builder.split(number, result.feature, result.upper, result.lower)
            waiting += ((second, result.second), (first, result.first))
        else:
            builder.label(number, result)
    return builder.build()
