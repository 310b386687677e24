"""The geometric median of some rows: Weiszfeld's iteration with the step of Vardi and Zhang, sped up and certified.

Newton's step is taken if it lowers the cost by at least the amount that is guaranteed for Weiszfeld's step. Weiszfeld's
step alone needs thousands of iterations for rows that are spread along a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from boxwood._threads import BLOCK_ROWS, map_blocks
from boxwood._types import Array, Floats, Indices
from boxwood.loops.costs import add_pulls

__all__ = ["geometric_median", "next_point"]

TOLERANCE = 1e-9  # largest error of the cost, as a fraction of the smallest cost
NEAR = 0.1 * TOLERANCE  # a row closer than this fraction of the mean distance counts as lying at the point
MAX_STEPS = 500
NEWTON_COLUMNS = 128  # with more columns, computing the curvature costs more than it saves


@dataclass(frozen=True, eq=False)
class _State:
    """A point and the cost there. `slope` is the length of the smallest subgradient, `step` leads to a lower cost."""

    point: Floats
    cost: float
    slope: float
    step: Floats
    newton_step: Floats | None
    nearest: int  # row nearest to the point


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows in the units of the search, `z = (x - origin) / unit`; every coordinate lies between -1 and 1."""

    X: Array
    rows: Indices
    weights: Floats
    origin: Floats
    unit: float
    n_jobs: int | None

    @property
    def total(self) -> float:
        return float(self.weights[self.rows].sum()) if self.weights.size else float(len(self.rows))

    def coordinates(self, row: int) -> Floats:
        """Return a row in these units, computed as in the loop."""
        row_in_units: Floats = (self.X[row].astype(np.float64) - self.origin) * (1.0 / self.unit)
        return row_in_units

    def at(self, point: Floats, cost: float) -> _State:
        """Return the state at a point, where the cost is about `cost`."""
        d = len(point)
        radius = NEAR * cost / self.total

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            sums, pull = np.array([0.0, 0.0, 0.0, np.inf, 0.0]), np.zeros(d)
            bend = np.zeros((d, d) if d <= NEWTON_COLUMNS else (0, 0))
            rows = self.rows[start:stop]
            add_pulls(self.X, rows, self.weights, self.origin, self.unit, point, radius, sums, pull, bend)
            return sums, pull, bend

        parts = map_blocks(work, len(self.rows), n_jobs=self.n_jobs)
        sums, pull, bend = (np.array(part) for part in zip(*parts, strict=True))
        nearest = int(sums[np.argmin(sums[:, 3]), 4])
        return _state(point, sums[:, :3].sum(axis=0), pull.sum(axis=0), bend.sum(axis=0), nearest)


def geometric_median(
    X: Array,
    rows: Indices,
    weights: Floats | None,
    start: Floats,
    *,
    n_jobs: int | None = -1,
) -> Floats:
    """Return the geometric median of some rows of `X` less `start`, the median of each column, shape (d,).

    The cost is convex, and has a subgradient of length `slope` at the point. No minimum is farther from the point than
    2 cost / weight. So at most a fraction `slope * 2 / weight` of the cost can still be saved.
    """
    unit = max(float(np.max(np.abs(X[part].astype(np.float64) - start))) for part in _parts(rows))
    if unit == 0.0 or len(start) == 1:  # in one column the median is the geometric median
        return np.zeros_like(start)
    cloud = _Rows(X, rows, np.empty(0) if weights is None else weights, start, unit, n_jobs)
    at_start = cloud.at(np.zeros_like(start), 0.0)
    state = cloud.at(at_start.point, at_start.cost)  # the cost decides which rows count as lying at the point
    flat = TOLERANCE / 2 * cloud.total
    tried = -1
    for _ in range(MAX_STEPS):
        if state.slope > flat and state.nearest != tried:
            tried = state.nearest  # close to a row, the slope does not show whether the row is the median
            at_row = cloud.at(cloud.coordinates(tried), state.cost)
            state = at_row if at_row.cost <= state.cost else state
        if state.slope <= flat:
            break
        following = _next(cloud, state, flat)
        if following.slope > flat and not following.cost < state.cost:  # rounding leaves nothing to gain
            break
        state = following
    return state.point * unit


def next_point(X: Array, rows: Indices, weights: Floats | None, point: Floats, *, n_jobs: int | None = -1) -> Floats:
    """Return the point after one step towards the geometric median of some rows, shape (d,); takes one pass.

    The step is Newton's, or Weiszfeld's above 128 columns. It usually lowers the cost, but may raise it.
    """
    cloud = _Rows(X, rows, np.empty(0) if weights is None else weights, point, 1.0, n_jobs)
    state = cloud.at(np.zeros_like(point), 0.0)
    moved = point + (state.step if state.newton_step is None else state.newton_step)
    return moved if np.isfinite(moved).all() else point  # close to a row the curvature may be infinite


def _next(cloud: _Rows, state: _State, flat: float) -> _State:
    """Return the state after a step: Newton's if it saves as much as is sure for Weiszfeld's, or ends the search."""
    least = 0.5 * state.slope * float(np.linalg.norm(state.step))
    for step in _shortened(state.newton_step):
        reached = cloud.at(state.point + step, state.cost)
        if state.cost - reached.cost >= least or reached.slope <= flat:
            return reached
    return cloud.at(state.point + state.step, state.cost)


def _shortened(step: Floats | None) -> Iterator[Floats]:
    if step is not None:
        yield from (step, step / 4, step / 16)


def _state(point: Floats, sums: Floats, pull: Floats, bend: Floats, nearest: int) -> _State:
    cost, inverse, weight_at_point = sums
    length = float(np.linalg.norm(pull))
    slope = max(length - weight_at_point, 0.0)
    if slope == 0.0:
        return _State(point, float(cost), 0.0, np.zeros_like(pull), None, nearest)
    descent = pull * (slope / length)
    # the curvature is the sum of w / r less the bend; the small part keeps it regular for rows on a line
    curvature = inverse * (1 + 1e-14) * np.eye(len(bend)) - bend - np.tril(bend, -1).T
    newton_step = np.linalg.solve(curvature, descent) if bend.size else None
    return _State(point, float(cost), slope, descent / inverse, newton_step, nearest)


def _parts(rows: Indices) -> list[Indices]:
    return [rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS)]
