"""Counts of rows by cluster, column and bin, where bins are fixed by the centres alone, so that counts add up."""

from __future__ import annotations

import numpy as np

from boxwood._threads import BLOCK_ROWS
from boxwood._types import Array, Floats, Indices, Ints, Weights

__all__ = ["BinCounts", "edges_around"]


def edges_around(centers: Floats, n_bins: int) -> Floats:
    """Return the edges of the bins of each column, ascending, shape (d, e); infinite where a column has fewer edges.

    An edge is a threshold that separates some centres: at least the least centre, and less than the greatest.
    """
    columns = [_edges(np.unique(values), n_bins) for values in centers.T]
    edges = np.full((len(columns), max(map(len, columns))), np.inf)
    for j, column in enumerate(columns):
        edges[j, : len(column)] = column
    return edges


def _edges(values: Floats, n_bins: int) -> Floats:
    low, high = values[0], values[-1]
    share = np.arange(n_bins) / n_bins
    steps = low * (1 - share) + high * share  # halves of the range: the range itself may overflow
    middles = values[:-1] / 2 + values[1:] / 2
    middles = np.where((values[:-1] <= middles) & (middles < values[1:]), middles, values[:-1])
    edges = np.unique(np.concatenate([steps, middles]))
    return np.asarray(edges[(low <= edges) & (edges < high)])


class BinCounts:
    """Number of rows of each cluster by column and bin: a summary of blocks."""

    def __init__(self, edges: Floats, n_clusters: int) -> None:
        self.edges = edges
        self.counts: Ints = np.zeros((n_clusters, len(edges), edges.shape[1] + 1), dtype=np.int64)

    def update(self, block: tuple[Array, Indices, Weights]) -> None:
        """Add a block of rows; bin b of a column holds values above edge b - 1, and up to edge b."""
        X, labels, _ = block
        kept = labels >= 0
        clusters = labels[kept]
        k, d, n_bins = self.counts.shape
        for j in range(d):
            bins = np.searchsorted(self.edges[j], X[kept, j])
            self.counts[:, j] += np.bincount(clusters * n_bins + bins, minlength=k * n_bins).reshape(k, n_bins)

    def update_rows(self, X: Array, labels: Indices) -> None:
        """Add all rows of a table in memory, block by block."""
        for start in range(0, len(X), BLOCK_ROWS):
            self.update((X[start : start + BLOCK_ROWS], labels[start : start + BLOCK_ROWS], None))

    def merge(self, other: BinCounts) -> None:
        """Add other counts in the same bins."""
        self.counts += other.counts
