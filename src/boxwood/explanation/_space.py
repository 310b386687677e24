"""The columns on which rows are clustered and measured, and the way back from them to the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Floats
from boxwood.axes import AxisMap, Categories, Scaling
from boxwood.axes._composed import Chained
from boxwood.explanation._gaussians import Gaussians
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree

__all__ = ["Space"]


class Space(NamedTuple):
    """Rows as they are clustered and measured, and the map that made them of the table's; None where it is these.

    `scaling` is the last part of the map, where the rows were standardized.
    """

    rows: Array
    axis_map: AxisMap | None = None
    scaling: Scaling | None = None

    def standardized(self, weights: Floats | None) -> Space:
        """Return the rows with columns of mean 0 and variance 1; constant columns are only shifted."""
        scaling = _unit_variance(self.rows, weights)
        whole = scaling if self.axis_map is None else Chained(self.axis_map, scaling)
        return Space(scaling.transform(self.rows), whole, scaling)

    def pulled_back(self, tree: ThresholdTree, X: Array, categories: Mapping[int, Categories]) -> ThresholdTree:
        """Return the tree on the table's rows `X` with short thresholds that labels them as `tree` labels those here.

        Cuts of categories stay as they are: what rows leave free between two codes is other categories.
        """
        pulled = tree if self.axis_map is None else tree.pull_back(self.axis_map, X)
        short = pulled.shortened(X)
        named = np.isin(pulled.feature, list(categories))
        lower, upper = np.where(named, pulled.lower, short.lower), np.where(named, pulled.upper, short.upper)
        return ThresholdTree(pulled.feature, lower, upper, pulled.second, pulled.cluster)

    def scaled(self, gaussians: Gaussians) -> Gaussians:
        """Return the Gaussians of the rows of this space, from those of the rows before they were standardized."""
        if self.scaling is None:
            return gaussians
        shift, scale = self.scaling.shift, self.scaling.scale
        return gaussians.moved(-shift / scale, 1 / scale)

    def unscaled(
        self,
        gaussians: Gaussians,
        X: Array,
        reference: Reference,
        weights: Floats | None,
    ) -> Gaussians:
        """Return the Gaussians of the rows `X` of the table, from those of this space.

        A curved map makes no Gaussians of Gaussians; then they are those that fit the clusters' rows in the table.
        """
        if self.axis_map is None:
            return gaussians
        if isinstance(self.axis_map, Scaling):
            return gaussians.moved(self.axis_map.shift, self.axis_map.scale)
        return Gaussians.of(X, reference, weights)


def _unit_variance(X: Array, weights: Floats | None) -> Scaling:
    shift = np.average(X.astype(np.float64), axis=0, weights=weights)
    rows = X - shift
    largest = np.abs(rows).max(axis=0)
    largest[largest == 0] = 1.0
    # divided by the largest first, as squares of huge and of tiny numbers leave the range
    scale = largest * np.sqrt(np.average(np.square(rows / largest), axis=0, weights=weights))
    constant = X.min(axis=0) == X.max(axis=0)
    scale[constant | (scale == 0)] = 1.0
    return Scaling(shift, scale)
