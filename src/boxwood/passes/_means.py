"""Means and variances of the clusters of a table in batches: to the last bit those of the same rows in memory."""

from __future__ import annotations

from functools import partial

from boxwood.passes._batches import Batches
from boxwood.passes._overview import Overview
from boxwood.reference._moments import Moments, moments_from
from boxwood.reference._sums import Means, Ranges, RowSums, SquareSums

__all__ = ["means_in", "moments_in"]


def means_in(batches: Batches, overview: Overview) -> Means:
    """Return weights and means of clusters, from one pass."""
    return batches.fold(partial(RowSums, _ranges(batches, overview))).means()


def moments_in(batches: Batches, overview: Overview, means: Means | None = None) -> Moments:
    """Return the moments of clusters, from one pass, or two if the means are not known."""
    means = means_in(batches, overview) if means is None else means
    squares = batches.fold(partial(SquareSums, _ranges(batches, overview), means))
    return moments_from(means, squares.squares())


def _ranges(batches: Batches, overview: Overview) -> Ranges:
    weights = () if batches.weight is None else (overview.heaviest, overview.lightest)
    return Ranges(overview.n_kept, overview.least, overview.most, *weights)
