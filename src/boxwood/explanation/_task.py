"""What is to be explained, as the growers take it; or a random sample of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from boxwood._types import Array, Floats
from boxwood.explanation._gaussians import Gaussians
from boxwood.reference import Reference

__all__ = ["Task"]


class Task(NamedTuple):
    """Rows, the clustering to be explained, how many leaves were asked for, and the Gaussians behind the clusters."""

    X: Array
    reference: Reference
    weights: Floats | None
    max_leaf_nodes: int | None
    random_state: Any
    gaussians: Gaussians | None = None

    def leaves(self, times: int = 1) -> int:
        """Return the number of leaves to grow: as asked, or that many times the clusters."""
        return self.max_leaf_nodes or times * self.reference.n_clusters

    def sampled(self, n_values: int) -> Task:
        """Return the task on a random sample of the rows that count, of about so many values."""
        if self.X.size <= n_values:
            return self
        n_rows = max(n_values // self.X.shape[1], 1)
        kept = self.reference.kept
        rows = np.flatnonzero(kept if self.weights is None else kept & (self.weights > 0))
        if len(rows) > n_rows:
            rows = np.sort(check_random_state(self.random_state).choice(rows, n_rows, replace=False))
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(X=self.X[rows], reference=self.reference.of_rows(rows), weights=weights)
