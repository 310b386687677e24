"""Notes on a clustering, for the reader of an explanation: what k-means was given, and what a kernel is best for."""

from __future__ import annotations

from typing import Any

from boxwood.explanation._clustering import N_CLUSTERS
from boxwood.explanation._guards import notes_on_columns, notes_on_ranges
from boxwood.reference._coordinates import Coordinates

__all__ = ["notes_on_k_means", "notes_on_kernel"]


def notes_on_k_means(coordinates: Coordinates, n_clusters: int | None, standardize: bool) -> tuple[str, ...]:
    """Return notes on what k-means is given: columns, their ranges, and a number of clusters that nobody chose."""
    names, values = coordinates.columns, coordinates.table.values
    notes = notes_on_columns(names, values)
    if not standardize:
        notes += notes_on_ranges(names, values)
    if n_clusters is None:
        notes += (f"{N_CLUSTERS} clusters were made, as no number was asked for (n_clusters)",)
    return notes


def notes_on_kernel(clusterer: Any, method: str) -> tuple[str, ...]:
    """Return a note if the clusters are those of a kernel but the method is not."""
    from boxwood.clusterers import KernelKMeans
    from boxwood.reference._clusterer import last_step

    if method.startswith("kernel") or not isinstance(last_step(clusterer), KernelKMeans):
        return ()
    return (
        "the clusters are those of a kernel; method kernel_exkmc explains them by two-sided cuts and the kernel's cost",
    )
