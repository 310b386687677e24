"""Ex-Greedy and ExShallow: at each node the cut of lowest cost, or of lowest cost plus a penalty on the depth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_blocks, map_tasks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import as_integer_weights, finite_number
from boxwood.batches import Source
from boxwood.grow._methods import METHODS
from boxwood.grow.grown import EqualCuts, Grown, Split, TieBreak, grow_by_cuts
from boxwood.grow.shared.costs import (
    CutProblem,
    PartitionedOrder,
    PlacesOfNode,
    distance_unit,
    largest_costs,
    make_problem,
    scale_of,
)
from boxwood.loops.greedy import add_changes, best_scores, costs_of_cuts, keep_nearest, summed_costs
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, between

NONE = int(np.iinfo(np.int64).max)  # the cost of a cut where there is none, above all others


def greedy(
    X: ArrayLike | Source,
    reference: Reference,
    *,
    duplicates: str = "error",
    tie_break: str = "first",
    sample_weight: ArrayLike | str | None = None,
    random_state: Any = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of Ex-Greedy: k leaves with one centre in each, and the cheapest cut at every node.

    The cost of a cut is the sum, over the node's rows, of the squared distance to the nearest centre on the row's side
    of the cut. Each node gets the cut of lowest cost among all features and all thresholds that separate two of the
    node's centres. In practice the tree is often cheaper than that of IMM if clusters overlap.

    Parameters
    ----------
    X, reference, duplicates, sample_weight, random_state, n_jobs
        As for `imm`.
    tie_break : {"first", "margin", "balanced", "random"}, default="first"
        Choice among cuts of equally low cost. "first" takes the lowest feature, then the lowest threshold. "margin"
        takes the cut whose threshold lies farthest from the nearest row or centre of the node, as a fraction of the
        range of the node's centres in that column. "balanced" takes the cut with the most equal weights of rows on its
        two sides. "random" takes each with equal probability. Ties that remain go to the first.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each distinct centre, and each centre lies in its own leaf.

    Raises
    ------
    DataError
        If centres are equal, or `X`, the reference and the weights do not fit together.

    Notes
    -----
    A table in batches gives the tree of its rows in memory if it has at most 2²³ values. Of a longer one rows of so
    many values are drawn, by what they hold, heavy ones and those of rare clusters with more chance. The tree is grown
    on them, from the centres of all rows.

    The price is O(n) in the worst case: there is no bound that depends on k alone. A threshold is the midpoint between
    two neighbouring values of the node's rows and centres.

    Takes time n k d and n d log n once, and usually n d for each level of the tree: a row counts only at the cuts
    between it and its nearest centre, and lists of the 32 nearest centres of each row say what it costs there (in wide
    tables that are not large 64, or as many as columns). The worst case, in which the lists say nothing and every cut
    takes one centre away, is k levels of time n d² k. Memory: 12 bytes for each row and listed centre, 8 for each row
    and column, and about 40 for each row in each column that is searched at a time. Any `tie_break` but "first" takes
    twice the time.

    References
    ----------
    E. Laber, L. Murtinho, "On the price of explainability for some clustering problems", ICML 2021, section 5.

    Examples
    --------
    >>> from boxwood import Reference
    >>> X = [[0.0, 5.0], [1.0, 6.0], [0.0, 9.0], [8.0, 5.0], [9.0, 7.0]]
    >>> greedy(X, Reference.of(X, [0, 0, 1, 2, 2])).to_dict()["threshold"]
    4.5
    """
    task = Task.of(X, reference, sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs)
    return METHODS["greedy"].grow(task, duplicates=duplicates, tie_break=tie_break).tree


def grow_greedy(task: Task, *, duplicates: str = "error", tie_break: str = "first") -> Grown:
    """Return what `greedy` grows for a task."""
    ties = TieBreak(tie_break, task.random_state)
    weights = np.ones(task.n_rows) if task.rows.weights is None else task.rows.weights
    whole = as_integer_weights(np.where(task.kept, weights, 0.0))

    def best_cut(cuts_at: Callable[[Node], NodeCuts], node: Node) -> PlacedCut:
        cuts = cuts_at(node)
        return cuts.best([0.0])[0] if ties.is_first else _chosen_cut(cuts, ties, whole)

    return Grown(separate(task, duplicates, best_cut), "greedy")


def separate(
    task: Task,
    duplicates: str,
    best_cut: Callable[[Callable[[Node], NodeCuts], Node], PlacedCut],
    nearest: Nearest | None = None,
) -> ThresholdTree:
    """Return a tree with one leaf for each centre; `best_cut` chooses each cut among those of a node.

    `best_cut` gets a function that computes the cuts of a node, and the node. `nearest` may be used again for the next
    tree, after `restart`.
    """
    reference = task.reference.with_distinct_centers(duplicates)
    if nearest is None:
        nearest = lists_of(task)
    order = nearest.order

    def step(node: Node) -> int | Split[Node]:
        if len(node.clusters) == 1:
            return int(node.clusters[0])
        feature, threshold, place = best_cut(nearest.cuts_at, node)
        left = reference.centers[node.clusters, feature] <= threshold
        places = order.begin_split(node.places, feature, place)
        if len(node.clusters) > 2:
            order.finish_split(node.places)
        rows_left = order.is_left[node.rows]
        on_left, on_right = node.tested.copy(), node.tested.copy()
        on_left[feature, 0] = on_right[feature, 1] = True
        paths = [(*node.path, (feature, threshold, is_left)) for is_left in (True, False)]
        first = Node(paths[0], node.rows[rows_left], places[0], node.clusters[left], on_left)
        second = Node(paths[1], node.rows[~rows_left], places[1], node.clusters[~left], on_right)
        return Split(feature, threshold, first, second)

    clusters = np.unique(reference.first_of_equal_centers())
    untested = np.zeros((task.n_columns, 2), dtype=np.bool_)
    return grow_by_cuts(Node((), np.flatnonzero(task.kept), order.root, clusters, untested), step)


def lists_of(task: Task, *, several: bool = False) -> Nearest:
    """Return the lists of nearest centres for `separate`, for one tree or, with `several`, for several in turn."""
    return Nearest(task, make_problem(task, "cost"), np.flatnonzero(task.kept), several=several)


def _chosen_cut(cuts: NodeCuts, ties: TieBreak, weights: Ints) -> PlacedCut:
    """Return the cut of lowest cost that is chosen by a rule for ties."""
    problem, order, node = cuts.nearest.problem, cuts.nearest.order, cuts.node
    jobs = problem.jobs_for(node.rows)

    def least_in(feature: int) -> int:
        return int(cuts.of(feature).cost.min(initial=NONE))  # there is no cut if all centres have the same value

    costs = map_tasks(least_in, range(problem.rows.n_columns), n_jobs=jobs)
    least = min(costs)

    def equal_in(feature: int) -> EqualCuts:
        of_column = cuts.of(feature)
        equal = of_column.cost == least
        ordered = order.rows_of(node.places, feature)
        by_value = problem.rows.column(feature, ordered), weights[ordered]
        return EqualCuts.of_column(
            feature, None, of_column.low[equal], of_column.high[equal], cuts.centers.centers[feature], by_value
        )

    features = [feature for feature, cost in enumerate(costs) if cost == least]
    equal_cuts = EqualCuts.joined(map_tasks(equal_in, features, n_jobs=jobs))
    i = ties.chosen(equal_cuts)
    feature, threshold = int(equal_cuts.feature[i]), float(equal_cuts.threshold[i])
    n_left = int(problem.rows.is_first(node.rows, feature, -np.inf, threshold).sum())
    return PlacedCut(feature, threshold, node.places.start + n_left)


def shallow(
    X: ArrayLike | Source,
    reference: Reference,
    *,
    depth_penalty: float = 0.03,
    duplicates: str = "error",
    sample_weight: ArrayLike | str | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of ExShallow: k leaves with one centre in each, grown by cost and by the number of tests.

    The score of a cut adds two terms. The first is its cost in Ex-Greedy (see `greedy`), divided by the cost of the
    node's rows at their nearest centres. The second is `depth_penalty` times the mean number of tests that rows of this
    node will need. Each node gets the cut of lowest score among all features and all thresholds that separate two of
    its centres. Rules are shorter than those of `greedy`; with many clusters the tree is often cheaper too.

    Parameters
    ----------
    X, reference, duplicates, sample_weight, n_jobs
        As for `imm`.
    depth_penalty : float, default=0.03
        Price of a test, as a fraction of the cost of the node's rows; at least 0. The value 0 gives the tree of
        `greedy`.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each distinct centre, and each centre lies in its own leaf.

    Raises
    ------
    DataError
        If centres are equal, or `X`, the reference and the weights do not fit together.
    ValueError
        If `depth_penalty` is negative or not finite.

    Notes
    -----
    The number of tests is predicted: every later cut is assumed to divide rows and centres in the same proportions as
    this one. A test is not counted on a side that an earlier test of the same feature bounds already, because two such
    tests merge into one condition. The paper's code rounds the rows of each predicted node to whole rows. Here they
    stay fractions, so that weights are allowed.

    The price has no bound that depends on k alone. Takes the time and memory of `greedy`, draws rows as it does, and
    takes time k for the predicted depth of each cut whose cost does not rule it out: usually few, and (n + k) d for
    each node at worst. A threshold is the midpoint between two neighbouring values of the node's rows and centres. Ties
    go to the lowest feature, then to the lowest threshold.

    References
    ----------
    E. Laber, L. Murtinho, F. Oliveira, "Shallow decision trees for explainable k-means clustering", Pattern Recognition
    137 (2023), doi:10.1016/j.patcog.2022.109239.

    Examples
    --------
    >>> from boxwood import Reference
    >>> X = [[0.0, 5.0], [1.0, 6.0], [0.0, 9.0], [8.0, 5.0], [9.0, 7.0]]
    >>> shallow(X, Reference.of(X, [0, 0, 1, 2, 2])).to_dict()["threshold"]
    4.5
    """
    task = Task.of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs)
    return METHODS["shallow"].grow(task, depth_penalty=depth_penalty, duplicates=duplicates).tree


def grow_shallow(task: Task, *, depth_penalty: float = 0.03, duplicates: str = "error") -> Grown:
    """Return what `shallow` grows for a task."""
    return Grown(grow_several(task, [depth_penalty], duplicates=duplicates)[0], "shallow")


def grow_several(task: Task, penalties: Sequence[float], *, duplicates: str = "error") -> list[ThresholdTree]:
    """Return the tree of `shallow` for each of several depth penalties.

    Costs of cuts are computed once for all penalties with the same cuts from the root down.
    """
    grow = growth_of_several(task, penalties, duplicates=duplicates)
    return [tree for number in range(len(penalties)) if (tree := grow(number)) is not None]


class _WorkSpent(Exception):
    """A tree takes more work than it may."""


def growth_of_several(
    task: Task, penalties: Sequence[float], *, duplicates: str = "error", most_values: float = math.inf
) -> Callable[[int], ThresholdTree | None]:
    """Return a function that grows the tree of one of several depth penalties; see `grow_several`.

    It returns None for a tree for which more than `most_values` values of rows would be looked at.
    """
    for penalty in penalties:
        refuse_negative_penalty(penalty)
    nearest = lists_of(task, several=len(penalties) > 1)
    cuts_of: dict[Path, dict[int, PlacedCut]] = {}  # by node, the cut of each penalty whose tree has the node

    def tree_for(number: int) -> ThresholdTree | None:
        left = most_values

        def best_cut(cuts_at: Callable[[Node], NodeCuts], node: Node) -> PlacedCut:
            nonlocal left
            if number not in cuts_of.setdefault(node.path, {}):
                left -= len(node.rows) * task.n_columns
                if left < 0:
                    raise _WorkSpent
                above = cuts_of.get(node.path[:-1], {}) if node.path else dict.fromkeys(range(len(penalties)))
                together = [other for other, cut in above.items() if cut == above[number]]
                best_cuts = cuts_at(node).best([penalties[other] for other in together])
                cuts_of[node.path].update(zip(together, best_cuts, strict=True))
            return cuts_of[node.path][number]

        if cuts_of:
            nearest.restart()
        try:
            return separate(task, duplicates, best_cut, nearest)
        except _WorkSpent:
            return None

    return tree_for


def refuse_negative_penalty(penalty: float) -> None:
    """Raise a ValueError if a depth penalty is negative or not finite."""
    if finite_number("depth_penalty", penalty) < 0:
        raise ValueError(f"depth_penalty must be a number of at least 0, got {penalty}")


LISTED = 32  # centres in the list of a row; longer lists take more time to update, shorter ones end too early
DEAR = 16  # number of columns from which lists are longer, as distances to centres beyond their end cost more
LARGEST = 1 << 23  # most numbers in all lists with which they may be longer
COLUMNS = 32  # columns for which the list of a row is read at once, while it is in the cache
VALUES = 1 << 21  # most changes at rows in memory for each thread, unless one column has more rows
SCORED = 1 << 15  # costs of cuts that are scored at once, while they are in the cache


Path: TypeAlias = tuple[tuple[int, float, bool], ...]
"""The cuts above a node, from the root down: feature, threshold, and whether the node is on the left."""


class Node(NamedTuple):
    """The rows of a node, the clusters whose centres lie in it, and the cuts above it."""

    path: Path
    rows: Indices
    places: PlacesOfNode
    clusters: Indices
    tested: Bools  # (d, 2): whether the node is left, or right, of a cut of this feature above it


class PlacedCut(NamedTuple):
    """A cut of a node, and the place behind the last row on its left."""

    feature: int
    threshold: float
    place: int


class ColumnCuts(NamedTuple):
    """The cuts of one column that separate centres, ascending. All arrays are of shape (m,).

    A threshold lies in the gap between two neighbouring values, of rows or of centres.
    """

    low: Floats
    high: Floats
    cost: Ints
    rows_left: Ints
    centers_left: Ints


class _ColumnCuts(NamedTuple):
    """The cuts of t columns: see `loops.greedy.costs_of_cuts`. Arrays are of shape (t, m), but for the last."""

    costs: Ints
    weight_left: Ints
    places: Ints
    centers_left: Ints
    sizes: Ints  # (t,): cuts of each column

    @classmethod
    def with_room(cls, n_columns: int, n_cuts: int) -> _ColumnCuts:
        costs, weight_left, places, centers_left = np.empty((4, n_columns, n_cuts), dtype=np.int64)
        return cls(costs, weight_left, places, centers_left, np.empty(n_columns, dtype=np.int64))

    def of_first(self, n_columns: int) -> _ColumnCuts:
        """Return the arrays of the first columns."""
        return _ColumnCuts._make(array[:n_columns] for array in self)


class NodeCenters(NamedTuple):
    """The centres of a node, in the form of `loops.greedy`."""

    clusters: Indices
    centers: Floats  # (d, k)
    ends: Floats  # (d, k): their values, ascending
    by_value: Ints  # (d, k): the centre at each of these places
    position: Ints  # (d, n_clusters): the place of each cluster

    @classmethod
    def of(cls, clusters: Indices, all_centers: Floats, uncut: Sequence[int] = ()) -> NodeCenters:
        """Return the centres of some clusters, beyond all rows in columns that no cut may test, where none is found."""
        centers = np.ascontiguousarray(all_centers[clusters].T)
        by_value = np.argsort(centers, axis=1, kind="stable")
        position = np.zeros((len(centers), len(all_centers)), dtype=np.int64)
        np.put_along_axis(position, clusters[by_value], np.arange(len(clusters))[None], axis=1)
        ends, hidden = np.take_along_axis(centers, by_value, axis=1), list(uncut)
        ends[hidden], position[hidden] = np.inf, 0
        return cls(clusters, centers, ends, by_value, position)


class Nearest:
    """For each row of a problem a list of the nearest centres among those of its node.

    A row is in one node at a time, because the rows of a node are divided among its children. So the lists of a node
    are updated in place from those of its parent, and the sorted columns are partitioned in place. If several trees
    are grown, copies of both at the root are kept, unless they are large.
    """

    order: PartitionedOrder
    task: Task
    problem: CutProblem
    centers: Floats
    share: Array
    times: Array
    near: Array
    distances: Floats

    def __init__(self, task: Task, problem: CutProblem, rows: Indices, *, several: bool = False) -> None:
        self.task, self.problem, self.centers = task, problem, task.reference.centers
        self.unit: float = distance_unit(task)
        self.largest: Floats = np.zeros(task.n_rows)
        self.largest[rows] = largest_costs(problem, rows)
        self.share, self.times = (np.ascontiguousarray(each) for each in (problem.share, problem.times))
        weights = task.rows.weights
        self.weights: Ints = as_integer_weights(None if weights is None else np.where(task.kept, weights, 0.0))
        n, d = task.rows.values.shape
        shape = n, min(_length_of_lists(n, d), len(self.centers))
        self.near, self.distances = np.full(shape, -1, dtype=np.int32), np.empty(shape)
        self.order = PartitionedOrder(self.task)
        self.keeps_root: bool = several and max(self.near.size, self.order.entries.size) <= LARGEST
        self.at_root: tuple[Array, ...] | None = None

    def restart(self) -> None:
        """Put all rows back into the root."""
        if self.at_root is None:
            self.near[:] = -1
            self.order = PartitionedOrder(self.task)
        else:
            self.near[:], self.distances[:], self.order.entries[:] = self.at_root

    def cuts_at(self, node: Node) -> NodeCuts:
        """Return the cuts of a node; after this, the cuts of its parent are no longer available."""
        rows, clusters = node.rows, node.clusters
        centers = NodeCenters.of(clusters, self.centers, self.task.budget.counted)
        inside = np.zeros(len(self.centers), dtype=np.bool_)
        inside[clusters] = True
        least = min(len(clusters), max(self.near.shape[1] // 4, 1))

        def keep(start: int, stop: int) -> None:
            block = rows[start:stop]
            of_node = centers.centers, clusters, inside, self.unit, least
            keep_nearest(self.problem.rows.values, block, *of_node, self.near, self.distances)

        map_blocks(keep, len(rows), n_jobs=self.problem.jobs_for(rows))
        if self.keeps_root and self.at_root is None and not node.path:
            self.at_root = self.near.copy(), self.distances.copy(), self.order.entries.copy()
        return NodeCuts(self, node, centers)


def _length_of_lists(n_rows: int, n_columns: int) -> int:
    """Return how many centres the list of a row has: in wide tables as many as columns, which take longer to look at.

    Each block of columns may take the distances of a row to all centres where its list ends too early.
    """
    longer = min(max(2 * LISTED, n_columns), LARGEST // max(n_rows, 1)) if n_columns >= DEAR else 0
    return longer if longer >= 2 * LISTED else LISTED


class NodeCuts:
    """The cuts of a node. `cost` is the cost of its rows without a cut, a whole number."""

    nearest: Nearest
    node: Node
    centers: NodeCenters

    def __init__(self, nearest: Nearest, node: Node, centers: NodeCenters) -> None:
        self.nearest, self.node, self.centers = nearest, node, centers
        self.scale: float = scale_of(nearest.largest[node.rows])
        of_rows = nearest.distances, nearest.share, nearest.times
        self.cost: int = int(summed_costs(node.rows, *of_rows, self.scale))

    def best(self, penalties: Sequence[float]) -> list[PlacedCut]:
        """Return the cut of lowest score for each depth penalty; with 0 it is the cut of lowest cost.

        Ties go to the lowest cost, then to the lowest feature, then to the lowest threshold.
        """
        nearest, node, k = self.nearest, self.node, len(self.node.clusters)
        weight = len(node.rows) if not nearest.weights.size else int(nearest.weights[node.rows].sum())
        weighing = np.array(penalties, dtype=np.float64)
        total = k, weight, node.tested, float(max(self.cost, 1)), weighing

        def best_of(first: int, last: int) -> tuple[Floats, Ints]:
            scores, best = np.full(len(weighing), np.inf), np.full((len(weighing), 4), -1, dtype=np.int64)
            (at_rows, at_centers), step = self._changes(first, last), max(1, SCORED // max(len(node.rows), 1))
            cuts = _ColumnCuts.with_room(min(step, last - first), len(node.rows) + k)
            for start in range(first, last, step):
                stop = min(start + step, last)
                block, columns = cuts.of_first(stop - start), slice(start - first, stop - first)
                self._write_costs(start, stop, at_rows[columns], at_centers[columns], block)
                best_scores(block, start, *total, scores, best)
            return scores, best

        at_once = max(1, min(COLUMNS, VALUES // len(nearest.near)))
        by_columns = nearest.order.by_columns(best_of, node.places, steps=16, most=at_once)
        chosen = []
        for p in range(len(weighing)):
            candidates = [(scores[p], *best[p].tolist()) for scores, best in by_columns if best[p, 1] >= 0]
            _, _, feature, place, n_left = min(candidates)
            chosen.append(PlacedCut(feature, self._threshold(feature, place, n_left), place))
        return chosen

    def of(self, feature: int) -> ColumnCuts:
        """Return the cuts of a column."""
        cuts = _ColumnCuts.with_room(1, len(self.node.rows) + len(self.node.clusters))
        at_rows, at_centers = self._changes(feature, feature + 1)
        self._write_costs(feature, feature + 1, at_rows, at_centers, cuts)
        costs, _, places, centers_left = (array[0, : cuts.sizes[0]] for array in cuts[:4])
        low, high = self._gap(feature, places, centers_left)
        return ColumnCuts(low, high, costs, places - self.node.places.start, centers_left)

    def _changes(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return the changes of cost at rows (t, n), set for rows of the node only, and at centres (t, k)."""
        lists, columns = self.nearest, slice(first, last)
        at_rows = np.empty((last - first, len(lists.near)), dtype=np.int64)
        at_centers = np.zeros((last - first, len(self.node.clusters)), dtype=np.int64)
        of_rows = lists.near, lists.distances, lists.share, lists.times, self.scale
        _, centers, ends, by_value, position = self.centers
        of_centers = centers, lists.unit, ends[columns], by_value[columns], position[columns]
        add_changes(lists.problem.rows.values, self.node.rows, first, *of_rows, *of_centers, at_rows, at_centers)
        return at_rows, at_centers

    def _write_costs(self, first: int, last: int, at_rows: Ints, at_centers: Ints, cuts: _ColumnCuts) -> None:
        lists, node = self.nearest, (first, *self.node.places, self.nearest.weights, self.centers.ends[first:last])
        values, entries = lists.problem.rows.values, lists.order.entries
        costs_of_cuts(values, entries, *node, at_rows, at_centers, self.cost, cuts)

    def _threshold(self, feature: int, place: int, n_left: int) -> float:
        """Return the threshold of the cut before a place with `n_left` centres on its left: the middle of its gap."""
        order, (start, stop) = self.nearest.order, self.node.places
        low, high = self.centers.ends[feature, n_left - 1 : n_left + 1].tolist()
        if place > start:
            low = max(low, order.value(feature, place - 1))
        if place < stop:
            high = min(high, order.value(feature, place))
        return float(between(low, high))

    def _gap(self, feature: int, places: Ints, centers_left: Ints) -> tuple[Floats, Floats]:
        """Return the neighbouring values, of rows or centres, on both sides of cuts before some places."""
        order, (start, stop), ends = self.nearest.order, self.node.places, self.centers.ends[feature]
        before, behind = order.values(feature, places - 1), order.values(feature, places)
        low = np.where(places > start, np.maximum(before, ends[centers_left - 1]), ends[centers_left - 1])
        high = np.where(places < stop, np.minimum(behind, ends[centers_left]), ends[centers_left])
        return low, high
