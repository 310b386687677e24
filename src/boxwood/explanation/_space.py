"""The rows as they are clustered and measured: as they are, or with columns of unit variance."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood.explanation._gaussians import Gaussians
from boxwood.tree import ThresholdTree, rows_at_nodes

__all__ = ["Space", "standardized"]


class Space(NamedTuple):
    """Rows, and for scaled ones the shift and the scale of each column, with `rows = (X - shift) / scale`."""

    rows: NDArray[Any]
    shift: NDArray[np.float64] | None = None
    scale: NDArray[np.float64] | None = None

    def pulled_back(self, tree: ThresholdTree, X: NDArray[Any]) -> ThresholdTree:
        """Return the tree on `X` that labels its rows as `tree`, of threshold cuts, labels those of this space."""
        if self.shift is None or self.scale is None:
            return tree
        upper = tree.recut(X, self.rows).upper.copy()
        for node, rows, inside in rows_at_nodes(tree, self.rows):
            if inside is None or (inside.any() and not inside.all()):
                continue
            # rows on one side, or none, leave the threshold free; it keeps its place on the scale
            j = tree.feature[node]
            upper[node] = tree.upper[node] * self.scale[j] + self.shift[j]
            values = X[rows, j].astype(np.float64)
            if inside.any():
                upper[node] = max(upper[node], values.max())
            elif len(rows):
                upper[node] = min(upper[node], math.nextafter(values.min(), -math.inf))
        return ThresholdTree(tree.feature, tree.lower, upper, tree.second, tree.cluster)

    def scaled(self, gaussians: Gaussians) -> Gaussians:
        """Return the Gaussians of the rows of this space, from those of the table."""
        if self.shift is None or self.scale is None:
            return gaussians
        return gaussians.moved(-self.shift / self.scale, 1 / self.scale)

    def unscaled(self, gaussians: Gaussians) -> Gaussians:
        """Return the Gaussians of the rows of the table, from those of this space."""
        if self.shift is None or self.scale is None:
            return gaussians
        return gaussians.moved(self.shift, self.scale)


def standardized(X: NDArray[Any], weights: NDArray[np.float64] | None) -> Space:
    """Return the rows with columns of mean 0 and variance 1; constant columns are only shifted."""
    shift = np.average(X.astype(np.float64), axis=0, weights=weights)
    rows = X - shift
    largest = np.abs(rows).max(axis=0)
    largest[largest == 0] = 1.0
    # divided by the largest first, as squares of huge and of tiny numbers leave the range
    scale = largest * np.sqrt(np.average(np.square(rows / largest), axis=0, weights=weights))
    constant = X.min(axis=0) == X.max(axis=0)
    scale[constant | (scale == 0)] = 1.0
    return Space(rows / scale, shift, scale)
