"""Are clusters clearer than those that the same clusterer finds in tables without groups?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices

__all__ = ["ROWS", "Contrast", "contrast_of"]

ROWS = 1_000  # most rows of a table that is clustered for this
DRAWS = 20  # tables without groups, of each kind
FEW = 10  # a column of so many values at most keeps to them: steps alone would look like groups
BEYOND = 3.0  # deviations above the mean of these tables: so rare that noise reaches it hardly ever


class Contrast(NamedTuple):
    """Share of the variance that clusters explain, and the most that is to be expected where there are no groups."""

    explained: float
    without_groups: float


def contrast_of(rows: Floats, times: Indices, cluster: Callable[[Floats], Array], generator: Any) -> Contrast | None:
    """Return how clusters of a table compare with clusters of tables without groups.

    These are of the same size and spread: one kind is a single Gaussian with the covariance of the table, the other
    uniform in a box along its principal axes. The kind that seems to have the clearer clusters is what counts. None for
    a table without spread.

    IN: rows, times: distinct rows, and how often each occurs, as rows of the tables without groups do; cluster: returns
    the label of each row of a table, -1 for noise.
    """
    table = np.repeat(rows, times, axis=0)
    center = table.mean(axis=0)
    spread, axes = np.linalg.eigh(np.atleast_2d(np.cov(table.T, ddof=0)))
    if not np.isfinite(spread).all() or spread.max() <= 0:
        return None
    here = (rows - center) @ axes
    deviations, ends = np.sqrt(np.maximum(spread, 0.0)), (here.min(axis=0), here.max(axis=0))

    def expected(draw: Callable[[], Floats]) -> float:
        drawn = (_on_steps(center + draw() @ axes.T, rows) for _ in range(DRAWS))
        shares = [_explained(one, cluster(one)) for one in (np.repeat(part, times, axis=0) for part in drawn)]
        return float(np.mean(shares) + BEYOND * np.std(shares, ddof=1))

    gaussian = expected(lambda: generator.normal(size=here.shape) * deviations)
    uniform = expected(lambda: generator.uniform(*ends, size=here.shape))
    return Contrast(_explained(table, cluster(table)), min(max(gaussian, uniform), 1.0))


def _explained(table: Floats, labels: Array) -> float:
    """Return the share of the variance that is between clusters; rows of noise are not explained."""
    whole = np.square(table - table.mean(axis=0)).sum()
    left = np.square(table[labels < 0] - table.mean(axis=0)).sum()
    left += sum(np.square(one - one.mean(axis=0)).sum() for one in _groups(table, labels))
    return float(max(1.0 - left / whole, 0.0)) if whole > 0 else 0.0


def _groups(table: Floats, labels: Array) -> Iterator[Floats]:
    return (table[labels == label] for label in np.unique(labels[labels >= 0]))


def _on_steps(drawn: Floats, table: Floats) -> Floats:
    """Return a drawn table with the values of each column that has few of them, the nearest ones."""
    for j in range(table.shape[1]):
        values = np.unique(table[:, j])
        if len(values) <= FEW:
            drawn[:, j] = values[np.searchsorted((values[1:] + values[:-1]) / 2, drawn[:, j])]
    return drawn
