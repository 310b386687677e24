"""The best centre of each cluster: mean, coordinate median, geometric median.

Newton's step is taken if it lowers the cost by at least the amount that is guaranteed for Weiszfeld's step. Weiszfeld's
step alone needs thousands of iterations for rows that are spread along a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import BLOCK_ROWS, map_blocks, map_tasks
from boxwood._types import Array, Floats, Indices, Ints, Weights
from boxwood._validation import Rows, as_integer_weights, number_of_clusters, refuse_no_sum, refuse_unknown
from boxwood.batches.sums import means_of
from boxwood.loops.costs import L1, L2, SQEUCLIDEAN, add_pulls
from boxwood.reference.labels import whole_labels
from boxwood.reference.moments import MomentsOfRows

if TYPE_CHECKING:
    from boxwood.reference.reference import Reference

_OBJECTIVES = {"l1": L1, "l2": L2, "sqeuclidean": SQEUCLIDEAN}


class Centers(NamedTuple):
    """Centres as base + offset, both of shape (k, d). They are kept apart so that no digit of a distance is lost."""

    base: Floats
    offset: Floats


def best_centers(
    X: ArrayLike, labels: ArrayLike, n_clusters: int, *, objective: str, sample_weight: ArrayLike | None = None
) -> Floats:
    """Return the centre of each cluster that makes its cost smallest, shape (k, d).

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout; not copied.
    labels : array-like of shape (n,)
        Cluster of each row, a whole number from 0 to `n_clusters` - 1; -1 leaves the row out.
    n_clusters : int
        Number of clusters k. Clusters may have no rows.
    objective : {"l1", "l2", "sqeuclidean"}
        Distance of a row to its centre; the cost is its sum over rows. Under "l1" the best centre is the median of each
        column (the midpoint if a whole gap is best), under "l2", the Euclidean distance, the geometric median, and
        under "sqeuclidean" the mean.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row. Whole weights give the result of repeated rows; rows of weight 0 are left out. None gives
        every row the weight 1.

    Returns
    -------
    array of shape (k, d)
        NaN for clusters without weight.

    Raises
    ------
    DataError
        If labels or weights do not fit the rows, or values are missing or infinite.
    ValueError
        If the objective is unknown.

    Notes
    -----
    Means take one pass over the data. Medians take O(n) per column (O(n log n) with weights).

    The geometric median is found by Weiszfeld's iteration, with the step of Vardi and Zhang at data points, and with
    Newton's step if that is better. The search stops when a bound shows that the cost is within a relative 1e-9 of the
    smallest cost, when rounding leaves nothing to gain, or after 500 steps; 10 to 20 steps are usual. A row closer to
    the centre than 1e-10 of the mean distance counts as lying at the centre. Each step is one pass that takes time
    n d^2 (n d above 128 columns). For rows on a line the result is exactly a median on that line.

    Extra memory: 16 bytes for each row; for medians also one column for each thread. The result does not depend on the
    number of threads.

    References
    ----------
    Y. Vardi, C.-H. Zhang, "The multivariate L1-median and associated data depth", PNAS 97 (2000),
    doi:10.1073/pnas.97.4.1423.

    Examples
    --------
    >>> X = [[0.0, 0.0], [2.0, 0.0], [9.0, 0.0], [5.0, 5.0]]
    >>> best_centers(X, [0, 0, 0, 1], 2, objective="l1")
    array([[2., 0.],
           [5., 5.]])
    >>> best_centers(X, [0, 0, -1, -1], 2, objective="sqeuclidean")
    array([[ 1.,  0.],
           [nan, nan]])
    """
    code, rows = objective_code(objective), Rows.of(X, sample_weight)
    number_of_clusters(n_clusters, len(rows))
    refuse_no_sum(rows.weights)
    table, weights = rows.values, rows.weights
    clusters = whole_labels(labels, len(table), n_clusters)
    centers = find_centers(table, without_weightless(clusters, weights), n_clusters, code, weights)
    return centers.base + centers.offset


def objective_code(objective: str) -> int:
    """Return the number of an objective in the loops."""
    refuse_unknown("objective", objective, _OBJECTIVES)
    return _OBJECTIVES[objective]


def without_weightless(labels: Indices, weights: Weights) -> Indices:
    """Return the labels with -1 for rows of weight 0."""
    return labels if weights is None else np.where(weights > 0, labels, -1)


def find_centers(X: Array, labels: Indices, k: int, code: int, weights: Weights, *, n_jobs: int | None = -1) -> Centers:
    """Return the best centre of each cluster; see `best_centers`. Rows of weight 0 must have the label -1."""
    if code == SQEUCLIDEAN:
        return Centers(*means_of(X, labels, k, weights, n_jobs))
    groups = Groups.of(labels, k)
    centers = _medians(X, groups, weights, n_jobs)
    if code == L2:
        _add_geometric_medians(X, groups, weights, centers, n_jobs)
    return centers


def known_means(rows: Rows, reference: Reference) -> Centers | None:
    """Return what `find_centers` finds for the means of the clusters, if the reference knows the means of these rows.

    Then each cluster has rows of weight above 0.
    """
    known = reference.moments
    if isinstance(known, MomentsOfRows) and known.are_of(rows, reference.labels) and known.weights.all():
        return Centers(known.origins, known.offsets)
    return None


def next_centers(X: Array, groups: Groups, weights: Weights, centers: Floats, *, n_jobs: int | None = -1) -> Floats:
    """Return the centres after one step towards each geometric median, shape (k, d); takes one pass over the data."""
    moved = np.array(centers)

    def work(cluster: int, rows: Indices, jobs: int | None) -> None:
        moved[cluster] = next_point(X, rows, weights, centers[cluster], n_jobs=jobs)

    groups.for_each(work, n_jobs)
    return moved


class Groups(NamedTuple):
    """The rows sorted by cluster: the rows of cluster c are `order[ends[c] : ends[c + 1]]`."""

    order: Indices
    ends: Indices

    @classmethod
    def of(cls, labels: Indices, k: int) -> Groups:
        """Return the rows of each of k clusters; rows with label -1 are left out."""
        order = np.argsort(
            (labels + 1).astype(np.min_scalar_type(k)), kind="stable"
        )  # numpy sorts short numbers by radix
        ends = np.cumsum(np.bincount(labels + 1, minlength=k + 1))
        return cls(order[ends[0] :], ends - ends[0])

    def parts(self) -> list[slice]:
        """Return the slice of `order` that holds each cluster."""
        return [slice(start, stop) for start, stop in pairwise(self.ends.tolist())]

    def for_each(self, work: Callable[[int, Indices, int | None], None], n_jobs: int | None) -> None:
        """Call `work(cluster, rows, jobs)` for each cluster with rows.

        A large cluster gets all threads; small clusters are divided among the threads.
        """
        parts = [(cluster, self.order[part]) for cluster, part in enumerate(self.parts()) if part.start < part.stop]
        for cluster, rows in parts:
            if len(rows) > BLOCK_ROWS:
                work(cluster, rows, n_jobs)
        small = [part for part in parts if len(part[1]) <= BLOCK_ROWS]
        map_tasks(lambda part: work(*part, 1), small, n_jobs=n_jobs)


def _medians(X: Array, groups: Groups, weights: Weights, n_jobs: int | None) -> Centers:
    parts = groups.parts()
    whole = None if weights is None else as_integer_weights(weights[groups.order])

    def work(column: int) -> list[float]:
        values = X[:, column][groups.order].astype(np.float64, copy=False)
        return [
            weighted_median(values[part], None if whole is None else whole[part]) if part.start < part.stop else np.nan
            for part in parts
        ]

    base = np.array(map_tasks(work, range(X.shape[1]), n_jobs=n_jobs)).T
    return Centers(base, np.zeros_like(base))


def _add_geometric_medians(X: Array, groups: Groups, weights: Weights, centers: Centers, n_jobs: int | None) -> None:
    """Write the offsets from medians to geometric medians; for rows on a line the offset is 0."""

    def work(cluster: int, rows: Indices, jobs: int | None) -> None:
        centers.offset[cluster] = geometric_median(X, rows, weights, centers.base[cluster], n_jobs=jobs)

    groups.for_each(work, n_jobs)


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
class _UnitRows:
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
    X: Array, rows: Indices, weights: Floats | None, start: Floats, *, n_jobs: int | None = -1
) -> Floats:
    """Return the geometric median of some rows of `X` less `start`, the median of each column, shape (d,).

    The cost is convex, and has a subgradient of length `slope` at the point. No minimum is farther from the point than
    2 cost / weight. So at most a fraction `slope * 2 / weight` of the cost can still be saved.
    """
    unit = max(float(np.max(np.abs(X[part].astype(np.float64) - start))) for part in _parts(rows))
    if unit == 0.0 or len(start) == 1:  # in one column the median is the geometric median
        return np.zeros_like(start)
    cloud = _UnitRows(X, rows, np.empty(0) if weights is None else weights, start, unit, n_jobs)
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
    cloud = _UnitRows(X, rows, np.empty(0) if weights is None else weights, point, 1.0, n_jobs)
    state = cloud.at(np.zeros_like(point), 0.0)
    moved = point + (state.step if state.newton_step is None else state.newton_step)
    return moved if np.isfinite(moved).all() else point  # close to a row the curvature may be infinite


def _next(cloud: _UnitRows, state: _State, flat: float) -> _State:
    """Return the state after a step: Newton's if it saves as much as is sure for Weiszfeld's, or ends the search."""
    least = 0.5 * state.slope * float(np.linalg.norm(state.step))
    for step in _shorten_steps(state.newton_step):
        reached = cloud.at(state.point + step, state.cost)
        if state.cost - reached.cost >= least or reached.slope <= flat:
            return reached
    return cloud.at(state.point + state.step, state.cost)


def _shorten_steps(step: Floats | None) -> Iterator[Floats]:
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


FEW = 64  # number of values up to which sorting is faster than halving


def weighted_median(values: Floats, weights: Ints | None = None) -> float:
    """Return the median, with half of the weight on either side; if this holds in a whole gap, its midpoint.

    Weights are whole numbers, so that sums of them depend on no order; those of `as_integer_weights` stand for any.
    This is the median of repeated rows. Takes time n.
    """
    return _of_values(values, weights) + 0.0  # -0.0 is 0.0


def _of_values(values: Floats, weights: Ints | None) -> float:
    if weights is None:
        return _median(values)
    kept = weights > 0
    if not kept.all():
        values, weights = values[kept], weights[kept]
    return _median_by_weight(values, weights)


def _median(values: Floats) -> float:
    half = len(values) // 2
    partitioned = np.partition(values, half)
    if len(values) % 2:
        return float(partitioned[half])
    return _midpoint(partitioned[:half].max(), partitioned[half])


def _median_by_weight(values: Floats, weights: Ints) -> float:
    """Halve the values until few are left; `below` is the weight of all values dropped on the left."""
    total, below = int(weights.sum()), 0
    while len(values) > FEW:
        middle = len(values) // 2
        order = np.argpartition(values, middle)
        left, right = order[:middle], order[middle:]
        through = below + int(weights[left].sum())
        if 2 * through == total:
            return _midpoint(values[left].max(), values[right].min())
        kept, below = (left, below) if 2 * through > total else (right, through)
        values, weights = values[kept], weights[kept]
    order = np.argsort(values)
    ends = 2 * (below + np.cumsum(weights[order]))
    rank = int(np.searchsorted(ends, total))
    value = values[order[rank]]
    return _midpoint(value, values[order[rank + 1]]) if ends[rank] == total else float(value)


def _midpoint(a: float, b: float) -> float:
    return float(a if a == b else a / 2 + b / 2)  # half of the least double is 0
