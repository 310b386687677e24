"""Notes on a clustering, for the reader of an explanation: what k-means was given, and what a kernel is best for."""

from __future__ import annotations

from typing import Any

from boxwood.explanation._clustering import N_CLUSTERS
from boxwood.explanation._guards import notes_on_columns, notes_on_ranges, sees_distances
from boxwood.reference import Reference
from boxwood.reference._coordinates import Coordinates

__all__ = ["notes_on_given", "notes_on_k_means", "notes_on_kernel", "notes_on_labels"]

MANY = 20  # numbers that are labels of so many clusters, and do not count them, may be a measurement


def notes_on_k_means(coordinates: Coordinates, n_clusters: int | None, standardize: bool) -> tuple[str, ...]:
    """Return notes on what k-means is given: columns, their ranges, and a number of clusters that nobody chose."""
    names, values = coordinates.columns, coordinates.table.values
    notes = notes_on_columns(names, values)
    if not standardize:
        notes += notes_on_ranges(names, values)
    if n_clusters is None:
        notes += (f"{N_CLUSTERS} clusters were made, as no number was asked for (n_clusters)",)
    return notes


def notes_on_given(coordinates: Coordinates, clusterer: Any, standardize: bool) -> tuple[str, ...]:
    """Return notes on the columns of a clustering that is given, and on their ranges where a clusterer sees them."""
    names, values = coordinates.columns, coordinates.table.values
    notes = notes_on_columns(names, values)
    if not standardize and sees_distances(clusterer):
        notes += notes_on_ranges(names, values, clusterer)
    return notes


def notes_on_labels(reference: Reference, clustering: Any) -> tuple[str, ...]:
    """Return a note that asks whether labels are a measurement: more than 20 numbers that do not count from 0 or 1."""
    k = reference.n_clusters
    numbers = [name for name in reference.names if isinstance(name, (int, float)) and not isinstance(name, bool)]
    counted = sorted(numbers) in (list(range(k)), list(range(1, k + 1)))
    if k <= MANY or len(numbers) < k or counted or isinstance(clustering, Reference) or hasattr(clustering, "fit"):
        return ()
    what = clustering if isinstance(clustering, str) else "this"
    return (
        f"{k} labels that are numbers, from {min(numbers)} to {max(numbers)}: is {what} a number rather than a "
        "cluster? then cut it into a few ranges, and explain these",
    )


def notes_on_kernel(clusterer: Any, method: str) -> tuple[str, ...]:
    """Return a note if the clusters are those of a kernel but the method is not."""
    from boxwood.clusterers import KernelKMeans
    from boxwood.reference._clusterer import last_step

    if method.startswith("kernel") or not isinstance(last_step(clusterer), KernelKMeans):
        return ()
    return (
        "the clusters are those of a kernel; method kernel_exkmc explains them by two-sided cuts and the kernel's cost",
    )
