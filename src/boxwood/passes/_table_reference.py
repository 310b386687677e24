"""`TableReference`: the clusters of a table that is read in batches."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import as_table, listed, refuse_unknown
from boxwood._warnings import warn_caller
from boxwood.errors import DataError
from boxwood.passes._labelling import Labelling
from boxwood.reference._reference import Names, _named

__all__ = ["TableReference"]


@dataclass(frozen=True, eq=False, repr=False)
class TableReference:
    """A clustering of the rows of a source: how each row gets its cluster, a centre and a name for each cluster.

    Parameters
    ----------
    labelling : Labelling
        Gives each row its cluster.
    centers : array-like of shape (k, d)
        Centre of each cluster.
    names : sequence of k hashables, or mapping from cluster to name, default=None
        Name of each cluster; None names them by their numbers.
    """

    labelling: Labelling
    centers: Floats
    names: tuple[Hashable, ...] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        centers = np.array(as_table(self.centers), dtype=np.float64)
        centers.flags.writeable = False
        object.__setattr__(self, "centers", centers)
        object.__setattr__(self, "names", _named(range(len(centers)), self.names))

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)

    def named(self, names: Names) -> TableReference:
        """Return the clustering with other names."""
        return replace(self, names=_named(self.names, names))

    def first_of_equal_centers(self) -> Indices:
        """Return for each cluster the first cluster that has the same centre, shape (k,)."""
        _, first, group = np.unique(self.centers + 0.0, axis=0, return_index=True, return_inverse=True)
        return np.asarray(first[group.reshape(-1)], dtype=np.intp)

    def refuse_equal_centers(self) -> None:
        """Raise a DataError if two centres are equal, because no cut separates them."""
        first = self.first_of_equal_centers()
        later = np.flatnonzero(first != np.arange(self.n_clusters))
        if len(later):
            pairs = ", ".join(f"{self.names[first[c]]} and {self.names[c]}" for c in later)
            raise DataError(f"clusters with equal centres, which no cut separates: {pairs}; give them one label")

    def distinct_clusters(self, duplicates: str = "error") -> Indices:
        """Return for each cluster the first one with the same centre, if all centres differ or may be merged.

        No cut separates equal centres. With `duplicates="merge"` their clusters count as the first of them, with a
        warning.

        Raises
        ------
        DataError
            If centres are equal and `duplicates` is "error".
        """
        refuse_unknown("duplicates", duplicates, ("error", "merge"))
        first = self.first_of_equal_centers()
        later = np.flatnonzero(first != np.arange(self.n_clusters))
        if len(later) and duplicates == "error":
            self.refuse_equal_centers()
        if len(later):
            pairs = listed([f"{self.names[first[c]]} and {self.names[c]}" for c in later])
            warn_caller(f"clusters with equal centres are merged into the first of them: {pairs}")
        return first

    def __repr__(self) -> str:
        return f"TableReference(n_clusters={self.n_clusters}, n_columns={self.centers.shape[1]})"
