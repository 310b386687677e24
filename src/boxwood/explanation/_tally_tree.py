"""The tree of IMM on counts by cluster, column and bin."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.grow._grown import Split, grow_by_cuts
from boxwood.tree import ThresholdTree

__all__ = ["tree_of_bins"]


def tree_of_bins(counts: Ints, edges: Floats, centers: Floats, names: Sequence[Hashable]) -> ThresholdTree:
    """See `Tally.imm`."""
    left = np.cumsum(counts, axis=2)  # (k, d, e + 1): rows of each cluster up to each edge
    is_left = centers[:, :, None] <= edges  # (k, d, e): whether the centre is

    def step(clusters: Indices) -> int | Split[Indices]:
        if len(clusters) == 1:
            return int(clusters[0])
        sides = is_left[clusters]
        separates = sides.any(axis=0) & ~sides.all(axis=0)
        if not separates.any():
            equal = [str(names[c]) for c in clusters]
            raise DataError(f"clusters with equal centres, which no cut separates: {listed(equal)}; make them one")
        before, all_rows = left[clusters, :, :-1], left[clusters, :, -1:]
        mistakes = np.where(sides, all_rows - before, before).sum(axis=0)
        best = separates & (mistakes == mistakes[separates].min())
        j = int(np.argmax(best.any(axis=1)))
        i = _middle_of_widest(best[j], edges[j])
        on_left = sides[:, j, i]
        return Split(j, float(edges[j, i]), clusters[on_left], clusters[~on_left])

    return grow_by_cuts(np.arange(len(centers)), step)


def _middle_of_widest(wanted: Bools, edges: Floats) -> int:
    """Return the middle one of the run of wanted edges that is widest, the first of equally wide ones."""
    indices = np.flatnonzero(wanted)
    runs = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    widths = [edges[run[-1]] / 2 - edges[run[0]] / 2 for run in runs]
    run = runs[int(np.argmax(widths))]
    return int(run[(len(run) - 1) // 2])
