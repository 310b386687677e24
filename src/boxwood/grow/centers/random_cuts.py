"""Random cuts: the cheapest of several trees that are drawn from the centres alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Array, Floats, Indices, Ints, Weights
from boxwood._validation import as_generator, as_table, list_words, refuse_unknown
from boxwood.batches.ranks import medians_in
from boxwood.batches.sums import Grid, add_smallest_first
from boxwood.errors import DataError
from boxwood.grow.grown import Grown
from boxwood.grow.shared.costs import unit_of
from boxwood.loops import random_cuts as loops
from boxwood.loops.random_cuts import L1, L2, SQEUCLIDEAN, LeafBounds, Trees, add_costs_and_moves, prefix_masses
from boxwood.metrics.costs import ratio
from boxwood.reference import Reference, Task
from boxwood.reference.centers import find_centers, objective_code, without_weightless
from boxwood.reference.reference import alike_without, refuse_alike_centers
from boxwood.tree import ThresholdTree, TreeBuilder


def random_cuts(
    centers: ArrayLike,
    *,
    objective: str = "l1",
    variant: str = "fast",
    median: str = "midpoint",
    random_state: Any = None,
) -> ThresholdTree:
    """Return a random tree with one centre in each leaf, drawn without reading any rows.

    How a cut is drawn depends on `objective`:

    - "l1": uniformly from all cuts that separate two centres. Axis and threshold are drawn together, so a wide axis is
      cut more often.
    - "sqeuclidean": in the same way, but in the terminal embedding of the centres, where squared distances to the
      centres become ℓ1 distances. So the density of a threshold is proportional to its distance to the nearest
      coordinate of a centre.
    - "l2": so that the square of the threshold's distance to the coordinate median of the centres is uniform.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Centres, all different.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Cost that the tree keeps low: ℓ1 distances to medians (k-medians), squared Euclidean distances (k-means), or
        Euclidean distances (k-medians under ℓ2).
    variant : {"fast", "exact"}, default="fast"
        "fast": each node draws its own cut. "exact": cuts are drawn in rounds for all nodes together, and no cut
        separates two centres that are closer than D / k³, where D is the largest distance of two centres in one node.
        It has no effect under "l2".
    median : {"midpoint", "lower"}, default="midpoint"
        Median of an even number of centres under "l2": the midpoint of the two middle values, which treats both
        directions of an axis alike, or the lower of the two. It has no effect under the other objectives.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of the cuts; an int gives the same tree each time.

    Returns
    -------
    ThresholdTree
        Always holds: each centre has its own leaf and lies in it; the clusters are the numbers of the centres.

    Raises
    ------
    DataError
        If centres are equal, which no cut separates, or not finite.
    ValueError
        If a parameter has a value that is not listed.

    Notes
    -----
    Let H(m) = 1 + 1/2 + ... + 1/m. The guarantees compare a row's distance to the centre of its leaf with its distance
    to the nearest centre:

    - "l1" and "fast": the expected ℓ1 distance is at most 1 + H(k - 1) times the smallest [2]; for "exact" the factor
      is O(log k log log k) [1].
    - "sqeuclidean": the expected squared distance is at most 8 k (1 + H(k - 1)) times the smallest.
    - "l2": the expected cost is O(log^1.5 k) times the smallest [1].

    On some data no tree has a smaller factor than Ω(log k) for "l1", Ω(k / log k) for "sqeuclidean" and Ω(log k) for
    "l2" [1].

    Under "l1" and "l2" the distribution of trees does not change if the centres are shifted, or all axes are scaled by
    one factor; scaling a single axis changes it. No draw is rejected and repeated. If the measure of a node's cuts is
    too small for a double, its widest axis is cut in the middle.

    "fast" and "l2" take time d k log² k at worst. "exact" takes time d k², and d k² more for each round in which some
    centres are closer than D / k³. Memory: 32 bytes for each value of the centres.

    References
    ----------
    [1] K. Makarychev, L. Shan, "Near-optimal Algorithms for Explainable k-Medians and k-Means", ICML 2021: Algorithm 2
    (`variant="exact"`), section 9 (`variant="fast"`), section 6 ("sqeuclidean"), Algorithm 4 ("l2"). For "l2" the
    radius is taken around the median and thresholds are square roots, as in the paper's text; its figure differs.
    [2] A. Gupta, M. Pittu, O. Svensson, R. Yuan, "The Price of Explainability for Clustering", FOCS 2023.

    Examples
    --------
    >>> tree = random_cuts([[0.0, 0.0], [1.0, 9.0], [5.0, 9.0]], random_state=0)
    >>> tree.n_leaves, tree.predict([[0.0, 0.0], [1.0, 9.0], [5.0, 9.0]])
    (3, array([0, 1, 2]))
    """
    cutter = RandomCutter.of(centers, objective=objective, variant=variant, median=median)
    return cutter.draw(as_generator(random_state))


def grow_random_cuts(
    task: Task, *, objective: str = "l1", variant: str = "fast", median: str = "midpoint", n_trees: int = 100
) -> Grown:
    """Return the cheapest of `n_trees` random trees, all drawn from the best centres of the clusters.

    The cost of a tree is the sum of the rows' distances to these centres. Ties go to the first tree. For rows in
    batches, means of the clusters take a pass if they are not known, medians one to three, and one pass scores all
    trees.

    Raises
    ------
    DataError
        If the objective is "l2" and rows come in batches, as geometric medians need them in memory.
    """
    reference = with_best_centers(task, objective)
    reference.distinct_clusters()  # refuses equal centres
    return _cheapest(task, reference.centers, objective, variant, median, n_trees)


def _cheapest(task: Task, centers: Floats, objective: str, variant: str, median: str, n_trees: int) -> Grown:
    """Return the cheapest of `n_trees` random trees, drawn from the centres in the columns that cuts may test."""
    if n_trees < 1:
        raise ValueError(f"n_trees must be at least 1, got {n_trees}")
    allowed, hidden = centers.copy(), list(task.budget.forbidden)
    if hidden:
        refuse_alike_centers(alike_without(task.reference.names, centers, hidden), "random_cuts")
        allowed[:, hidden] = 0.0
    cutter = RandomCutter.of(allowed, objective=objective, variant=variant, median=median)
    random = as_generator(task.random_state)
    trees = [cutter.draw(random) for _ in range(n_trees)]
    least, changes = score_trees(task, centers, trees, objective=objective)
    if not np.isfinite(least):
        raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
    prices = np.array([ratio(max(least + more, 0.0), least) for more in changes.tolist()])
    attributes = {"prices": prices, "variant": variant, "on_all_columns": not hidden}
    return Grown(trees[int(np.argmin(changes))], "random_cuts", objective=objective, attributes=attributes)


def with_best_centers(task: Task, objective: str) -> Reference:
    """Return the clustering with the best centres for a distance; centres that already minimise it are kept."""
    reference = task.reference
    if reference.best_for == objective:
        return reference
    best = (_best_in_batches if task.in_batches else _best_in_memory)(task, objective)
    return reference.with_centers(np.where(np.isnan(best), reference.centers, best), best_for=objective)


def _best_in_memory(task: Task, objective: str) -> Floats:
    weights, k = task.rows.weights, task.reference.n_clusters
    code, labels = objective_code(objective), without_weightless(task.reference.labels, weights)
    best = find_centers(task.rows.values, labels, k, code, weights, n_jobs=task.n_jobs)
    return best.base + best.offset


def _best_in_batches(task: Task, objective: str) -> Floats:
    refuse_unknown("objective", objective, tuple(OBJECTIVES))
    if objective == "l2":
        raise DataError(
            "method 'random_cuts' with objective='l2' needs geometric medians, and so all rows in memory; for rows in "
            "batches use objective='l1' or 'sqeuclidean'"
        )
    return medians_in(task.batches, task.overview) if objective == "l1" else task.means.mean + task.means.rest


OBJECTIVES = {"l1": L1, "l2": L2, "sqeuclidean": SQEUCLIDEAN}
_VARIANTS = ("fast", "exact")
_MEDIANS = ("midpoint", "lower")
_SAFE = (1e-100, 1e100)  # squares of numbers in this range are neither infinite nor zero


@dataclass(frozen=True, eq=False)
class RandomCutter:
    """Centres prepared for drawing many trees: their order on each axis, and the measure of the cuts between them."""

    objective: int
    exact: bool
    lower_median: bool
    unit: float
    values: Floats  # (d, k) in ascending order, in units of `unit`
    mass: Floats  # (d, k) measure of the cuts below each value, in two parts
    rest: Floats
    order: NDArray[np.int32]  # (d, k)
    rank: NDArray[np.int32]  # (d, k)
    ends: Ints  # (k - 1, 2) edges of a smallest spanning tree; none unless `exact`
    lengths: Floats

    @classmethod
    def of(
        cls, centers: ArrayLike, *, objective: str = "l1", variant: str = "fast", median: str = "midpoint"
    ) -> RandomCutter:
        """Return the centres prepared for `random_cuts` with these parameters."""
        refuse_unknown("objective", objective, tuple(OBJECTIVES))
        refuse_unknown("variant", variant, _VARIANTS)
        refuse_unknown("median", median, _MEDIANS)
        points, unit = _in_units(np.array(as_table(centers), dtype=np.float64))
        _refuse_equal(points)
        code = OBJECTIVES[objective]
        order = np.argsort(points.T, axis=1, kind="stable")
        values = np.take_along_axis(points.T, order, axis=1)
        rank = np.empty_like(order, dtype=np.int32)
        np.put_along_axis(rank, order, np.arange(len(points), dtype=np.int32)[None], axis=1)
        mass, rest = values, np.zeros_like(values)
        if code == SQEUCLIDEAN:
            mass = np.empty_like(values)
            prefix_masses(values, mass, rest)
        exact = variant == "exact" and code != L2
        edges = _edges(mass, rest, rank) if exact else (np.empty((0, 2), np.int64), np.empty(0))
        return cls(code, exact, median == "lower", unit, values, mass, rest, order.astype(np.int32), rank, *edges)

    def draw(self, random: np.random.Generator) -> ThresholdTree:
        """Return one random tree."""
        k = self.values.shape[1]
        uniforms = random.random((k - 1, 2))
        node, feature, rank = (np.empty(k - 1, dtype=np.int64) for _ in range(3))
        offset, cluster = np.empty(k - 1), np.full(2 * k - 1, -1, dtype=np.int64)
        cuts = loops.DrawnCuts(node, feature, rank, offset, cluster)
        centers = loops.SortedCenters(self.values, self.mass, self.rest, self.order, self.rank)
        if self.exact:
            loops.draw_rounds(centers, loops.Edges(self.ends, self.lengths), uniforms, cuts)
        else:
            loops.draw_cuts(self.objective, self.lower_median, centers, uniforms, cuts)
        return _build_tree(node, feature, self._thresholds(feature, rank, offset), cluster)

    def _thresholds(self, feature: Ints, rank: Ints, offset: Floats) -> Floats:
        """Return the thresholds: `offset` is the measure from the value of a rank on, or under L2 the threshold itself.

        Thresholds are clipped in the units of the centres, as the product with the unit may round to the next centre.
        """
        left, right = self.values[feature, rank], self.values[feature, rank + 1]
        cuts = offset if self.objective == L2 else self._beyond(left, right, offset)
        return np.clip(cuts * self.unit, left * self.unit, np.nextafter(right * self.unit, -np.inf))

    def _beyond(self, left: Floats, right: Floats, offset: Floats) -> Floats:
        """Return the thresholds such that the cuts from `left` to them have measure `offset`; NaN gives the middle."""
        if self.objective == L1:
            cuts = left + offset
        else:  # the density is the distance to the nearer end
            half = (right - left) ** 2 / 4
            beyond = np.sqrt(np.maximum(2 * half - offset, 0))
            cuts = np.where(offset <= half, left + np.sqrt(np.minimum(offset, half)), right - beyond)
        return np.where(np.isnan(offset), left + (right - left) / 2, cuts)


def _build_tree(node: Ints, feature: Ints, threshold: Floats, cluster: Ints) -> ThresholdTree:
    builder = TreeBuilder()
    for number, j, cut in zip(node.tolist(), feature.tolist(), threshold.tolist(), strict=True):
        builder.split(number, j, cut)
    for leaf in np.flatnonzero(cluster >= 0).tolist():
        builder.label(leaf, int(cluster[leaf]))
    return builder.build()


def _in_units(points: Floats) -> tuple[Floats, float]:
    """Return the points divided by a unit, and the unit: a power of two such that squares and sums are finite."""
    largest = float(np.abs(points).max())
    if largest == 0 or _SAFE[0] <= largest <= _SAFE[1]:
        return points, 1.0
    unit = float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1))
    return points / unit, unit


def _refuse_equal(points: Floats) -> None:
    _, group = np.unique(points, axis=0, return_inverse=True)
    group = group.reshape(-1)
    shared = np.flatnonzero(np.bincount(group) > 1)
    if len(shared):
        sets = [" and ".join(map(str, np.flatnonzero(group == g))) for g in shared[:3]]
        more = ["..."] if len(shared) > 3 else []
        raise DataError(
            f"centres with equal coordinates, which no cut separates: {list_words(sets + more)}; merge them"
        )


def _edges(mass: Floats, rest: Floats, rank: NDArray[np.int32]) -> tuple[Ints, Floats]:
    """Return a smallest spanning tree of the centres in the measure of cuts, shortest edge first."""
    k = rank.shape[1]
    ends, lengths = np.empty((k - 1, 2), dtype=np.int64), np.empty(k - 1)
    high, low = (np.ascontiguousarray(np.take_along_axis(part, rank, axis=1).T) for part in (mass, rest))
    loops.spanning_edges(high, low, ends, lengths)
    order = np.argsort(lengths, kind="stable")
    return ends[order], lengths[order]


class Scored(NamedTuple):
    """The cost of a clustering, and the additional cost of each of some trees, both at the clustering's centres."""

    cost: float
    changes: Floats  # (T,)


def score_trees(
    task: Task, centers: Floats, trees: Sequence[ThresholdTree], *, objective: str = "sqeuclidean"
) -> Scored:
    """Return the cost of a task's clusters and of trees that explain them.

    A row in the middle of its cluster takes one comparison for each side of an axis, whatever the number of trees. Only
    for a tree that moves the row to another leaf is the row sent down the tree. So T trees take one pass over the rows,
    plus time for their mistakes. The result depends neither on the order of the rows nor on threads and batches.

    Parameters
    ----------
    task : Task
        Rows, labels and weights.
    centers : array of shape (k, d)
        Centre of each cluster.
    trees : sequence of ThresholdTree
        Trees of threshold cuts with one leaf for each cluster.
    objective : {"l1", "l2", "sqeuclidean"}, default="sqeuclidean"
        Distance of a row to a centre.
    """
    centers, code = np.ascontiguousarray(centers), objective_code(objective)
    scale = _Scale.of(unit_of(*task.ranges, centers) / 2, code, centers.shape[1], task.grid)
    return task.fold(partial(_Scores, trees, centers, scale)).scored()


class _Scale(NamedTuple):
    """Powers of two that scale all summands to at most 1."""

    unit: float  # of differences of values
    objective: int
    distance_exponent: int
    grid: Grid

    @classmethod
    def of(cls, unit: float, objective: int, n_columns: int, grid: Grid) -> _Scale:
        return cls(unit, objective, n_columns.bit_length(), grid)

    @property
    def factor(self) -> float:
        """The factor of weights times distances."""
        return math.ldexp(self.grid.scale, -self.distance_exponent)

    def back(self, sums: Floats) -> Floats:
        """Return sums in the original scale."""
        of_unit = -(math.frexp(self.unit)[1] - 1) * (2 if self.objective == SQEUCLIDEAN else 1)
        with np.errstate(over="ignore"):
            return np.ldexp(sums, self.distance_exponent + self.grid.weight_exponent + of_unit)


class _Scores:
    """A summary of blocks: the cost of the clustering, and the additional cost of each tree."""

    def __init__(self, trees: Sequence[ThresholdTree], centers: Floats, scale: _Scale) -> None:
        self.centers, self.scale, self.units = centers, scale, scale.grid.units()
        self.bounds = LeafBounds(*_bounds(trees, *centers.shape))
        sizes = np.array([tree.n_nodes for tree in trees])
        nodes = (np.concatenate([getattr(tree, name) for tree in trees]) for name in Trees._fields[1:])
        self.trees = Trees(np.cumsum(sizes) - sizes, *nodes)
        self.cost, self.change = np.zeros((1, len(self.units))), np.zeros((len(trees), len(self.units)))

    def update(self, block: tuple[Array, Indices, Weights]) -> None:
        """Add a block of rows."""
        X, labels, weights = block
        weights = np.empty(0) if weights is None else weights
        unit, objective, factor = self.scale.unit, self.scale.objective, self.scale.factor
        known = self.bounds, self.trees, self.centers, unit, objective, self.units
        add_costs_and_moves(X, labels, weights, factor, *known, self.cost, self.change)

    def merge(self, other: _Scores) -> None:
        """Add other sums for the same trees."""
        self.cost += other.cost
        self.change += other.change

    def scored(self) -> Scored:
        """Return the sums."""
        return Scored(
            float(self.scale.back(add_smallest_first(self.cost))[0]), self.scale.back(add_smallest_first(self.change))
        )


def _bounds(trees: Sequence[ThresholdTree], k: int, d: int) -> tuple[Ints, Floats, Ints]:
    """Return the cuts on the path to each cluster's leaf, grouped by cluster, axis and side, the innermost first.

    Group g is bounds `starts[g]` to `starts[g + 1]`; the last array holds the number of the tree of each bound.
    """
    groups, bounds, tree_numbers = [np.empty(0, np.int64)], [np.empty(0)], [np.empty(0, np.int64)]
    for number, tree in enumerate(trees):
        node, cluster = tree.leaf_nodes, tree.leaf_clusters
        while (has_parent := tree.parent[node] >= 0).any():
            child, cluster = node[has_parent], cluster[has_parent]
            node = tree.parent[child]
            below = child != node + 1  # the leaf lies above the cut, which bounds it from below
            groups.append(2 * (cluster * d + tree.feature[node]) + below)
            bounds.append(tree.upper[node])
            tree_numbers.append(np.full(len(node), number))
    group, bound, tree_number = np.concatenate(groups), np.concatenate(bounds), np.concatenate(tree_numbers)
    order = np.lexsort((tree_number, np.where(group % 2 == 1, -bound, bound), group))
    starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=2 * k * d))])
    return starts.astype(np.int64), bound[order], tree_number[order]
