"""Means and variances of the clusters of a table in batches: to the last bit those of the same rows in memory."""

from __future__ import annotations

from functools import partial

from boxwood.passes._batches import Batches
from boxwood.passes._overview import Overview
from boxwood.reference._moments import Moments, moments_from
from boxwood.reference._sums import Grid, Means, Ranges, RowSums, SquareSums

__all__ = ["grid_of", "means_in", "moments_in", "ranges_of"]


def means_in(batches: Batches, overview: Overview) -> Means:
    """Return weights and means of clusters, from one pass."""
    return batches.fold(partial(RowSums, ranges_of(batches, overview))).means()


def moments_in(batches: Batches, overview: Overview, means: Means) -> Moments:
    """Return the moments of clusters with these means, from one pass."""
    squares = batches.fold(partial(SquareSums, ranges_of(batches, overview), means))
    return moments_from(means, squares.squares())


def grid_of(batches: Batches, overview: Overview) -> Grid:
    """Return the grid on which sums over the rows are exact."""
    weights = () if batches.weight is None else (overview.heaviest, overview.lightest)
    return Grid(overview.n_kept, *weights)


def ranges_of(batches: Batches, overview: Overview) -> Ranges:
    """Return what must be known before the rows of clusters are added up."""
    return Ranges(overview.least, overview.most, grid_of(batches, overview))
