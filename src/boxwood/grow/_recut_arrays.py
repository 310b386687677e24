"""Arrays of refinement, as its loops take them."""

from __future__ import annotations

import numpy as np

from boxwood._types import Array, Floats, Ints
from boxwood.grow._costs import Problem
from boxwood.tree import ThresholdTree

__all__ = ["centers_in", "last_below", "one_kind", "summed"]

_NO_CENTERS = np.empty((0, 0))


def summed(parts: list[Array]) -> Array:
    """Return the sum of arrays, one for each block of rows."""
    return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)


def centers_in(problem: Problem) -> Floats:
    """Return the centres of a problem of distances, and none for other costs."""
    return one_kind(_NO_CENTERS if problem.centers is None else problem.centers)


def one_kind(array: Array) -> Array:
    """Return a view, or else a copy, that is contiguous and cannot be written, so that loops compile for one kind."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def last_below(tree: ThresholdTree) -> Ints:
    """Return the last node of the subtree of each node, shape (n_nodes,)."""
    last = np.arange(tree.n_nodes)
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        last[node] = last[tree.second[node]]
    return last
