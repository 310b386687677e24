"""Means and variances of the clusters of a table in batches: to the last bit those of the same rows in memory."""

from __future__ import annotations

from functools import partial

from boxwood.passes._batches import Batches
from boxwood.passes._overview import Overview
from boxwood.reference._moments import Moments, moments_from
from boxwood.reference._sums import Means, Ranges, RowSums, SquareSums

__all__ = ["means_in", "moments_in", "ranges_of"]


def means_in(batches: Batches, overview: Overview) -> Means:
    """Return weights and means of clusters, from one pass."""
    return batches.fold(partial(RowSums, ranges_of(batches, overview))).means()


def moments_in(batches: Batches, overview: Overview, means: Means | None = None) -> Moments:
    """Return the moments of clusters, from one pass, or two if the means are not known."""
    means = means_in(batches, overview) if means is None else means
    squares = batches.fold(partial(SquareSums, ranges_of(batches, overview), means))
    return moments_from(means, squares.squares())


def ranges_of(batches: Batches, overview: Overview) -> Ranges:
    """Return what must be known before the rows of clusters are added up."""
    weights = () if batches.weight is None else (overview.heaviest, overview.lightest)
    return Ranges(overview.n_kept, overview.least, overview.most, *weights)
