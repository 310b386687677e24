"""Squared differences to means that are known only after the pass: they are added up about other points meanwhile.

The sum about a point is that about the mean and the weight times the squared distance of the two. So the pass that
finds the means finds the squares, too. The farther the points are from the means, the fewer digits are left of the
difference; what is left is bounded, and where it is too little, a pass about the means themselves is needed.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats
from boxwood.reference._sums import Means, Ranges, SquareSums, rounded

__all__ = ["LARGEST_ERROR", "AboutMeans", "squares_about"]

LARGEST_ERROR = 2.0**-34  # of squares, relative to them
_ROUNDING = 2.0**-53


def squares_about(points: Floats, ranges: Ranges) -> SquareSums:
    """Return empty sums of squared differences of the rows of groups to points; IN: points (g, d), ranges of groups."""
    return SquareSums(ranges, Means(np.zeros(len(points)), points, np.zeros(points.shape)))


class AboutMeans(NamedTuple):
    """Squared differences to means, found from those to other points.

    Parameters
    ----------
    sums : SquareSums
        Squared differences to the means, in one part.
    errors : array of shape (g, d)
        Bounds of their errors.
    """

    sums: SquareSums
    errors: Floats

    @classmethod
    def of(cls, squares: SquareSums, means: Means, are_equal: Bools) -> AboutMeans:
        """Return the squares about the means of groups; IN: are_equal (g, d), whether all rows of a group are equal."""
        gap = (np.nan_to_num(means.mean) * squares.scales - squares.mean) + np.nan_to_num(means.rest) * squares.scales
        weights = np.ldexp(means.weights, -squares.grid.weight_exponent)[:, None]
        found, sums = rounded(squares.sums), copy(squares)
        left = np.where(are_equal, 0.0, np.maximum(found - weights * (gap * gap), 0.0))
        sums.sums = left[:, None, :]
        # the first term is for squares, the second for what lies below the last part, see `SquareSums`
        errors = np.where(are_equal, 0.0, (16 * found + 1.0) * _ROUNDING)
        with np.errstate(over="ignore"):
            return cls(sums, np.ldexp(errors, 2 * squares.exponents + squares.grid.weight_exponent))

    @property
    def is_exact(self) -> bool:
        """Whether enough digits are left of each sum."""
        return bool((self.errors <= LARGEST_ERROR * self.sums.squares()).all())
