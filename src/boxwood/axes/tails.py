"""`Tails`: columns of numbers whose long tails are drawn in, so that a few far rows do not decide all distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_float_table
from boxwood.axes._monotone import Monotone


class Tails(Monotone):
    """Columns as they are near their middle, and as their logarithm far from it: `arcsinh((x - middle) / spread)`.

    Parameters
    ----------
    middle, spread : arrays of shape (d,)
        Each spread is positive; an infinite one leaves its column as it is.
    """

    middle: Floats
    spread: Floats

    def __init__(self, middle: Floats, spread: Floats) -> None:
        super().__init__(len(middle))
        self.middle, self.spread = middle, spread

    @property
    def drawn_in(self) -> tuple[int, ...]:
        """The columns that are not left as they are."""
        return tuple(np.flatnonzero(np.isfinite(self.spread)).tolist())

    def column(self, j: int) -> Tails | None:
        """Return the map of one column; None for one that is left as it is."""
        return Tails(self.middle[[j]], self.spread[[j]]) if np.isfinite(self.spread[j]) else None

    def transform(self, X: ArrayLike) -> Floats:
        """Return the rows with their tails drawn in, shape (n, d); NaN and infinite numbers stay what they are."""
        drawn = np.array(as_float_table(X), dtype=np.float64, order="K")
        for j in self.drawn_in:
            drawn[:, j] = self._images(j, drawn[:, j])
        return drawn

    def _images(self, column: int, x: Floats) -> Floats:
        if not np.isfinite(self.spread[column]):
            return x
        with np.errstate(over="ignore"):
            return np.asarray(np.arcsinh((x - self.middle[column]) / self.spread[column]))
