"""The rows of a task as the loops of `loops.optimal` take them, and the costs of leaves and of cuts."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Floats, Ints
from boxwood.loops.optimal import leaf_cost, sweep_clusters, sweep_means

__all__ = ["Order", "Sums"]

Order: TypeAlias = NDArray[np.int32]
"""The rows of a box in the ascending order of each column, shape (d, n)."""


class Sums(NamedTuple):
    """Rows as the loops take them; see `boxwood.loops.optimal`."""

    codes: NDArray[np.int32]
    table: Ints
    moments: Floats
    factor: float

    def leaf(self, rows: NDArray[np.integer]) -> int:
        """Return the cost of some rows as one leaf."""
        rows = rows.astype(np.int32, copy=False)  # of the kind of an order, so that the loop is compiled for one kind
        return int(leaf_cost(rows, self.table, self.moments, self.factor))

    def sweep(self, order: Order, start: int, stop: int, out: tuple[Ints, Ints, Ints]) -> tuple[int, int, int]:
        """Return the cheapest cut of some columns, and write the costs of all; see `loops.optimal.sweep_clusters`."""
        if self.table.shape[1]:
            found: tuple[int, int, int] = sweep_clusters(order, self.codes, self.table, start, stop, *out)
        else:
            found = sweep_means(order, self.codes, self.moments, self.factor, start, stop, *out)
        cost, column, code = found
        return int(cost), int(column), int(code)
