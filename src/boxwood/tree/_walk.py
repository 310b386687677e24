"""The walk that every measurement shares: the rows that reach each node."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Bools, Indices
from boxwood.tree._tree import ThresholdTree

__all__ = ["rows_at_nodes"]


def rows_at_nodes(tree: ThresholdTree, X: NDArray[np.floating]) -> Iterator[tuple[int, Indices, Bools | None]]:
    """Yield node, the rows that reach it, and which of them are inside its cut (None at a leaf), in pre-order.

    Rows are in ascending order. Takes time n times the depth, and memory for the rows that wait on the way.
    """
    stack = [(0, np.arange(len(X)))]
    while stack:
        node, rows = stack.pop()
        feature = tree.feature[node]
        if feature < 0:
            yield node, rows, None
            continue
        values = X[rows, feature].astype(np.float64, copy=False)
        inside = (tree.lower[node] <= values) & (values <= tree.upper[node])
        yield node, rows, inside
        stack += ((int(tree.second[node]), rows[~inside]), (node + 1, rows[inside]))
