"""The weighted median of one column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_median"]


def weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """Return the median: half of the weight lies on either side; where a whole gap does so, its midpoint.

    With whole weights this is the median of repeated rows. Takes time n log n with weights, n without.
    """
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    below = np.cumsum(weights[order])
    place = int(np.searchsorted(below, below[-1] / 2))
    if below[place] * 2 == below[-1]:
        return float(values[order[place]] / 2 + values[order[place + 1]] / 2)
    return float(values[order[place]])
