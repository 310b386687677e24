r"""IMM: the tree that at each node separates the centres with the fewest mistakes.

Moshkovitz, Dasgupta, Rashtchian and Frost, "Explainable k-Means and k-Medians Clustering", ICML 2020.

Let `after[j, b]` be the number of mistakes of a cut of column j right behind bin b; the counts give it exactly. A cut
within bin b makes at least `bound[j, b]` mistakes: the rows behind the bin of clusters whose centre lies before it, and
the rows before the bin of clusters whose centre lies behind it. A bin can hold the best cut only if its bound is at
most the smallest number of mistakes so far. Only rows in such bins are sorted::

    mistakes  \_         _/      bins    | 0 | 1 | 2 | 3 | 4 |
                \_.___._/        bound   | 9 | 4 | 2 | 1 | 5 |
                                 after   | 8 | 5 | 3 | 6 | 9 |     bins 2 and 3 can hold a cut with 3 mistakes or fewer

The counts are the reason why IMM takes about one pass. A split changes them only by its mistakes, the rows that it cuts
off from their centres; and IMM chooses splits with few mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import BLOCK_ROWS, fold_blocks, map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import Rows, as_integer_weights, refuse_unknown
from boxwood.batches import Source
from boxwood.errors import DataError
from boxwood.grow._methods import METHODS
from boxwood.grow.grown import EqualCuts, Grown, Split, TieBreak, grow_by_cuts
from boxwood.loops import imm as loops
from boxwood.loops.imm import ClusterCounts, Events, NodeColumn, events_in_bins, smallest_above, sweep
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, between


def imm(
    X: ArrayLike | Source,
    reference: Reference,
    *,
    candidates: str = "all",
    duplicates: str = "error",
    tie_break: str = "first",
    sample_weight: ArrayLike | str | None = None,
    random_state: Any = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of the Iterative Mistake Minimization algorithm: k leaves, one centre in each.

    A row is a mistake of a cut if the cut separates it from the centre of its cluster. Each node gets the cut with the
    fewest mistakes, among all features and all thresholds that separate two of the node's centres. A row that is a
    mistake already is not counted again further down.

    Parameters
    ----------
    X : array-like of shape (n, d), or Source
        Rows, float32 or float64 in any memory layout; not copied. Or a table that is read in batches, as often as it
        takes; see the notes.
    reference : Reference
        Labels and centres. Rows with label -1 are left out. A cluster without rows still gets its leaf.
    candidates : {"all", "midpoints"}, default="all"
        Thresholds that are tried: all of them, or only the midpoints between neighbouring centres. There are at most
        d (k - 1) midpoints, and the guarantee holds for them too.
    duplicates : {"error", "merge"}, default="error"
        What to do with clusters that have equal centres, which no cut separates. "error" refuses them; "merge" merges
        them into the first one, with a warning.
    tie_break : {"first", "margin", "balanced", "random"}, default="first"
        Choice among cuts with equally few mistakes. "first" takes the lowest feature, then the lowest threshold.
        "margin" takes the cut whose threshold lies farthest from the nearest row or centre of the node, as a fraction
        of the range of the node's centres in that column. "balanced" takes the cut with the most equal weights of rows
        on its two sides; a row that is a mistake already does not count. "random" takes each with equal probability.
        Ties that remain go to the first. For a table in batches only "first" is possible.
    sample_weight : array-like of shape (n,) or str, default=None
        Weight of each row, and of a mistake on it; the name of a column for a table in batches. Whole weights give the
        tree of repeated rows. Rows of weight 0 are left out.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of "random" ties; an int gives the same tree each time. It has no effect otherwise.
    n_jobs : int or None, default=-1
        Number of threads for the pass over the data; -1 uses all processors. The tree does not depend on it.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each distinct centre, and each centre lies in its own leaf.

    Raises
    ------
    DataError
        If centres are equal, or `X`, the reference and the weights do not fit together; or for a table in batches with
        a `tie_break` other than "first".

    Notes
    -----
    Let H be the depth of the tree, at most k - 1. If the centres are means, the squared Euclidean cost of the tree at
    the reference's centres is at most (2 + 8 k H) times the cost of the reference. If they are medians, the ℓ1 cost is
    at most (2 H + 1) times the cost of the reference. These are Theorems 2 and 3 of the paper.

    A threshold is the midpoint between two neighbouring values of the node's rows and centres. The guarantees hold
    whichever of several equal cuts is taken. The centres of a node without rows are still separated, so every centre
    gets a leaf.

    Time: one pass over `X`, which counts rows per cluster, feature and bin; then for each level of the tree a time
    proportional to n and to the number of mistakes, and d n log n in the worst case. Any `tie_break` but "first" sorts
    the rows of a node in each column that has a best cut. Memory: one byte for each value of
    `X`, 5 bytes for each row (13 with weights), and at most 2048 d k bytes of counts for each thread.

    A table in batches gives the same tree as its rows in memory. One pass looks for missing values, and one counts the
    rows in all columns; it keeps the bin of each value in a temporary file, of one byte for each value and each row,
    and 8 more for each row with weights. Then each level of the tree takes one pass, which reads the columns that may
    be cut. Levels whose clusters lie apart take none, but for one pass that finds all their thresholds. On several
    machines, or where the file finds no room, levels take one or two passes, and read the columns that cuts above test
    as well. Up to 2 ** 23 values are read into memory instead, which takes 128 MB at most. Memory: about 64 MB of
    counts and 34 MB of values for each thread, whatever the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from boxwood import Reference
    >>> X = np.array([[0.0, 5.0], [1.0, 6.0], [0.0, 9.0], [8.0, 5.0], [9.0, 7.0]])
    >>> imm(X, Reference.of(X, [0, 0, 1, 2, 2])).to_dict()["threshold"]
    4.5
    """
    task = Task.of(X, reference, sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs)
    return METHODS["imm"].grow(task, candidates=candidates, duplicates=duplicates, tie_break=tie_break).tree


def grow_imm(task: Task, *, candidates: str = "all", duplicates: str = "error", tie_break: str = "first") -> Grown:
    """Return what `imm` grows for a task."""
    refuse_unknown("candidates", candidates, ("all", "midpoints"))
    if task.in_batches:
        from boxwood.grow.centers.imm_batches import tree_of_batches

        if not TieBreak(tie_break, task.random_state).is_first:
            raise DataError(
                f"tie_break={tie_break!r} needs all rows in memory; for rows in batches use tie_break='first', or give "
                "the rows as an array"
            )
        return Grown(tree_of_batches(task, duplicates, candidates), "imm")
    reference = task.reference.with_distinct_centers(duplicates)
    rows, centers = task.rows, reference.centers
    weights = None if rows.weights is None else np.where(task.kept, rows.weights, 0.0)
    bins = CenterBins.around(centers, _n_bins(len(rows), rows.n_columns, len(centers)))
    counts = CodedRows(rows, reference.labels, as_integer_weights(weights), len(centers), bins, task.n_jobs)
    clusters = np.unique(reference.first_of_equal_centers())
    grower = _Grower(counts, centers, candidates == "midpoints", TieBreak(tie_break, task.random_state))
    return Grown(grow_by_cuts(_Node(clusters, bins, np.empty(0, dtype=np.int64)), grower.step), "imm")


def _n_bins(n_rows: int, n_columns: int, n_clusters: int) -> int:
    """Return a number of bins from 16 to 256: few rows of each cluster per bin to sort, and few counts for few rows.

    Where there are more columns than rows, few of them are ever sorted.
    """
    if n_columns > n_rows:
        return 16
    return int(2 ** np.clip(np.ceil(np.log2(n_rows / n_clusters)), 5, 8))


class _Node(NamedTuple):
    """A node that is still to be split or labelled."""

    clusters: Indices  # clusters whose centres lie in the node
    bins: CenterBins
    strays: Ints  # rows in the node whose centre is in another node


class _Grower:
    """One run of the algorithm. Rows that become mistakes are removed from the counts."""

    def __init__(self, counts: CodedRows, centers: Floats, midpoints: bool, ties: TieBreak) -> None:
        self.counts, self.centers, self.midpoints, self.ties = counts, centers, midpoints, ties

    def step(self, node: _Node) -> int | Split[_Node]:
        """Return the cluster of a node with one centre, or the split with the fewest mistakes."""
        if len(node.clusters) == 1:
            return int(node.clusters[0])
        search = self._search(node)
        best, bins = search.run(), search.bins
        if self.ties.is_first:
            j, threshold = best.feature, self._threshold(node, bins, best)
        else:
            j, threshold = self._choose_cut(node, search, best)
        is_left = self.centers[node.clusters, j] <= threshold
        threshold_bin = bins.code(j, threshold)
        cut_off = self.counts.cut_off(j, threshold, threshold_bin, node.clusters, is_left)
        strays = np.concatenate([node.strays, cut_off])
        strays_left = self.counts.rows.column(j, strays) <= threshold
        # a bin that is constant on one side may not be on the other, so each side gets its own array `constant`
        bins_right = bins._replace(constant=bins.constant.copy())
        left = _Node(node.clusters[is_left], bins, strays[strays_left])
        return Split(j, threshold, left, _Node(node.clusters[~is_left], bins_right, strays[~strays_left]))

    def _search(self, node: _Node) -> MistakeSearch:
        """Return the search for the cut with the fewest mistakes, in finer bins if they pay."""
        search = MistakeSearch(self.counts, self.centers, node.clusters, node.bins, self.midpoints)
        if not search.wants_finer_bins():
            return search
        bins = CenterBins.around(self.centers[node.clusters], node.bins.n_bins)
        self.counts.rebin(node.clusters, bins)
        return MistakeSearch(self.counts, self.centers, node.clusters, bins, self.midpoints)

    def _threshold(self, node: _Node, bins: CenterBins, cut: MistakeCut) -> float:
        return cut.value if self.midpoints else float(between(cut.value, self._next_value(node, bins, cut)))

    def _next_value(self, node: _Node, bins: CenterBins, cut: MistakeCut) -> float:
        """Return the smallest value above the cut's value, among the rows and centres of the node."""
        j = cut.feature
        others = np.concatenate([self.centers[node.clusters, j], self.counts.rows.column(j, node.strays)])
        nearest = float(others[others > cut.value].min())
        return min(nearest, self.counts.smallest_above(j, node.clusters, cut.value, bins.code(j, cut.value)))

    def _choose_cut(self, node: _Node, search: MistakeSearch, best: MistakeCut) -> tuple[int, float]:
        """Return feature and threshold of one of the cuts that make as few mistakes as the best one."""
        cuts = EqualCuts.joined([self._equal_cuts(node, j, values) for j, values in search.equal(best)])
        i = self.ties.chosen(cuts)
        return int(cuts.feature[i]), float(cuts.threshold[i])

    def _equal_cuts(self, node: _Node, j: int, tried: Floats) -> EqualCuts:
        """Return the cuts of a column behind the values of the equally good cuts, `tried`.

        Strays make no mistakes, so the search ignores them. But a threshold may also lie between two of them.
        """
        centers, strays = self.centers[node.clusters, j], self.counts.rows.column(j, node.strays)
        own, weights = self.counts.sorted_column(j, node.clusters)
        values = np.unique(np.concatenate([own, centers, strays]))
        if self.midpoints:
            after = np.searchsorted(values, tried, side="right")
            return EqualCuts.of_column(j, tried, values[after - 1], values[after], centers, (own, weights))
        counted = np.unique(np.concatenate([own, centers]))
        at = counted[np.searchsorted(counted, values[:-1], side="right") - 1]  # the counted value at or before each
        low = np.flatnonzero(np.isin(at, tried) & (values[:-1] >= counted[0]))
        return EqualCuts.of_column(j, None, values[low], values[low + 1], centers, (own, weights))


NO_CUT = np.iinfo(np.int64).max  # more mistakes than any cut makes


class MistakeCut(NamedTuple):
    """A cut right behind a value. Of two cuts the smaller tuple is the better one."""

    mistakes: int
    feature: int
    value: float


class Counted(Protocol):
    """The counts that a search needs: of all rows in memory, or from the answer of a pass to one node."""

    counts: Ints  # (d, k, n_bins): weight of each cluster
    total: Ints  # (k,): weight of each cluster in its node

    def events(self, column: NodeColumn, constant: Bools, /) -> tuple[Array, ...]:
        """Return the events in some bins of a column; see `events_in_bins`."""


class MistakeSearch:
    """The search at one node, which holds the centres of `clusters`, by the counts at this moment."""

    counts: Counted
    clusters: Indices
    bins: CenterBins
    midpoints: bool
    low: Any
    high: Any
    after: Ints
    bound: Ints

    def __init__(self, counts: Counted, centers: Floats, clusters: Indices, bins: CenterBins, midpoints: bool) -> None:
        self.counts, self.clusters, self.bins, self.midpoints = counts, clusters, bins, midpoints
        self.centers: Array = centers[clusters]
        self.low, self.high = self.centers.min(axis=0), self.centers.max(axis=0)
        self.center_bins: Array = bins.codes(self.centers)  # (d, centres)
        self.marks: list[Floats] | None = midpoints_of(self.centers) if midpoints else None
        self.total: Array = counts.total[clusters]
        self.after, self.bound = self._bounds()
        self.start: Ints = np.zeros_like(self.after)  # the mistakes of a cut before each bin
        self.start[:, 1:] = self.after[:, :-1]
        self.open: Bools = self._open()

    def run(self) -> MistakeCut:
        """Return the best cut: the fewest mistakes, then the lowest column, then the lowest value."""
        best: MistakeCut | None = None
        lowest = np.where(self.open, self.bound, NO_CUT).min(axis=1)
        for j in np.argsort(lowest, kind="stable").tolist():
            if best is not None and (lowest[j], j) > (best.mistakes, best.feature):
                break
            wanted = self.open[j] if best is None else self.open[j] & (self.bound[j] <= best.mistakes)
            if wanted.any():
                cut = self._best_in_bins(j, wanted)
                best = cut if best is None else min(best, cut)
        assert best is not None  # the node's centres differ, so some cut separates them
        return best

    def equal(self, best: MistakeCut) -> Iterator[tuple[int, Floats]]:
        """Yield each column that has cuts as good as the best one, and the values behind which they lie, ascending."""
        opened = self._within()
        for j in range(best.feature, len(opened)):
            wanted = opened[j] & (self.bound[j] <= best.mistakes)
            if wanted.any():
                values, mistakes = self._try_column(j, wanted)
                if (mistakes == best.mistakes).any():
                    yield j, values[mistakes == best.mistakes]

    def wants_finer_bins(self) -> bool:
        """Return whether finer bins pay: many rows would have to be sorted, and the centres are close together."""
        closer = self.high / 2 - self.low / 2 < 0.25 * (self.bins.high / 2 - self.bins.low / 2)
        if not (closer & self.open.any(axis=1)).any():
            return False
        to_sort = self.weight_in(self.open)
        return 10 * to_sort > len(self.low) * int(self.counts.total[self.clusters].sum())

    def weight_in(self, wanted: Bools) -> int:
        """Return the weight of the node's rows in the wanted bins (d, n_bins), summed over columns."""
        return int(loops.weight_in_bins(self.counts.counts, self.clusters, wanted))

    # --------------------------------------------------------------------------------------------------- bounds

    def _bounds(self) -> tuple[Ints, Ints]:
        shape = len(self.low), self.bins.n_bins
        after, bound = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        loops.cut_bounds(self.counts.counts, self.counts.total, self.clusters, self.center_bins, after, bound)
        self.has_center: Bools = np.zeros(shape, dtype=np.bool_)
        np.put_along_axis(self.has_center, self.center_bins.astype(np.intp), True, axis=1)
        whole = self.bins.constant & ~self.has_center  # a bin of one value holds no cut except at a mark
        return after, np.where(whole & (not self.midpoints), after, np.minimum(bound, after))

    def _open(self) -> Bools:
        """Return the bins that may hold the best cut, by the bounds and the rule for ties, shape (d, n_bins)."""
        within, codes, last = self._within(), np.arange(self.bins.n_bins), self.center_bins.max(axis=1)[:, None]
        behind = self.start + self.after if self.midpoints else self.after  # no cut within a bin exceeds the sum
        reached = np.where(within & ~self.has_center if self.midpoints else within & (codes < last), behind, NO_CUT)
        fewest_at = int(np.argmin(reached))  # the first bin that is sure to have a cut with the fewest mistakes
        fewest = reached.flat[fewest_at]
        not_later = np.arange(reached.size).reshape(reached.shape) <= fewest_at
        opened: Bools = within & ((self.bound < fewest) | ((self.bound == fewest) & not_later))
        return opened

    def _within(self) -> Bools:
        """Return the bins that may hold a cut between two centres, shape (d, n_bins)."""
        codes = np.arange(self.bins.n_bins)
        first, last = self.center_bins.min(axis=1)[:, None], self.center_bins.max(axis=1)[:, None]
        within: Bools = (first <= codes) & (codes <= last) & (self.low < self.high)[:, None]
        within[:, 0] = within[:, -1] = False  # they lie outside of the range of the centres
        return within if self.marks is None else within & self._has_mark(self.marks)

    def _has_mark(self, marks: list[Floats]) -> Bools:
        has = np.zeros(self.after.shape, dtype=np.bool_)
        for j, of_column in enumerate(marks):
            has[j, self.bins.codes_of(j, of_column)] = True
        return has

    # ---------------------------------------------------------------------------------------------------- sweep

    def _best_in_bins(self, j: int, wanted: Bools) -> MistakeCut:
        """Return the best cut in the wanted bins of one column: sort the values in them, and sweep."""
        values, mistakes = self._try_column(j, wanted)
        if not len(values):  # the wanted bins hold no valid cut
            return MistakeCut(NO_CUT, j, np.inf)
        first = int(mistakes.argmin())
        return MistakeCut(int(mistakes[first]), j, float(values[first]))

    def _try_column(self, j: int, wanted: Bools) -> tuple[Floats, Ints]:
        """Return the values of one column behind which a cut in the wanted bins may lie, and the mistakes of each.

        Bins with a single value are marked as constant, so that they are not sorted again.
        """
        counts, marks = self.counts, np.empty(0) if self.marks is None else self.marks[j]
        centers = self.centers[:, j], self.center_bins[j]
        column = NodeColumn(j, self.clusters, *centers, marks, self.bins.codes_of(j, marks), wanted)
        *events, left, is_left = counts.events(column, self.bins.constant[j])
        order = np.argsort(events[0], kind="stable")  # at equal values rows come first and marks last
        before = ClusterCounts(self.start[j], left, self.total, is_left)
        tried: tuple[Floats, Ints] = sweep(
            Events._make(events), order, before, self.low[j], self.high[j], self.midpoints
        )
        return tried


def midpoints_of(centers: Floats) -> list[Floats]:
    """Return the midpoints between neighbouring centres in each column."""
    ordered = np.sort(centers, axis=0)
    middle = between(ordered[:-1], ordered[1:])
    return [middle[ordered[:-1, j] < ordered[1:, j], j] for j in range(centers.shape[1])]


class CenterBins(NamedTuple):
    """The bins of each column: of width `1 / scale` from `low` on; the last bin begins at `high`."""

    low: Floats
    high: Floats
    scale: Floats
    constant: Bools  # (d, n_bins): whether all rows of the bin have one value; False if unknown

    @classmethod
    def around(cls, centers: Floats, n_bins: int) -> CenterBins:
        """Return bins between the outermost centres, as cuts lie there; a column of equal centres gets one bin."""
        bins = cls.between(centers.min(axis=0), centers.max(axis=0), n_bins)
        bins.scale[bins.low == bins.high] = 0.0
        return bins

    @classmethod
    def between(cls, low: Floats, high: Floats, n_bins: int) -> CenterBins:
        """Return bins between two values of each column, the first of them the smaller one."""
        with np.errstate(divide="ignore", over="ignore"):
            scale = 0.5 * (n_bins - 2) / (high / 2 - low / 2)  # halves: the width itself may overflow
        return cls(low, high, np.minimum(scale, 1e300), np.zeros((len(low), n_bins), dtype=np.bool_))

    def of_columns(self, which: Indices | slice) -> CenterBins:
        """Return the bins of some columns."""
        return CenterBins._make(array[which] for array in self)

    @property
    def binning(self) -> loops.Binning:
        """The bins in the form of the loops."""
        return loops.Binning(self.low, self.high, self.scale)

    @property
    def n_bins(self) -> int:
        """Number of bins of each column."""
        return int(self.constant.shape[1])

    def codes(self, points: Floats) -> Array:
        """Return the bins of points (k, d), shape (d, k); of one byte each up to 256 bins."""
        codes = np.empty(points.shape[::-1], dtype=np.uint8 if self.n_bins <= 256 else np.int64)
        loops.bin_points(points, self.low, self.high, self.scale, self.n_bins, codes)
        return codes

    def codes_of(self, j: int, values: Floats) -> Array:
        """Return the bins of some values of column `j`."""
        codes: Array = self.of_columns(slice(j, j + 1)).codes(values[:, None])[0]
        return codes

    def code(self, j: int, value: float) -> int:
        """Return the bin of one value of column `j`."""
        return int(self.codes_of(j, np.array([value]))[0])


class CodedRows:
    """Rows sorted by cluster, the bin of each of their values, and the weight per (column, cluster, bin).

    Memory: one byte per value and five per row (13 with weights), plus the counts: d × k × n_bins whole numbers.

    A *position* is an index into the rows sorted by cluster, `order`; cluster c has positions `first[c]` up to, but not
    including, `first[c + 1]`.
    """

    sorted_rows: Any
    first: Ints
    counts: Array

    def __init__(
        self, rows: Rows, labels: Indices, weights: Ints, n_clusters: int, bins: CenterBins,
        n_jobs: int | None,
    ) -> None:  # fmt: skip
        X, n_columns = rows.values, rows.n_columns
        self.rows = rows
        starts, self.first = _start_positions(labels, weights, n_clusters, n_jobs)
        n_rows = int(self.first[-1])
        self.order: Array = np.empty(n_rows, dtype=np.int32 if len(X) < 2**31 else np.int64)
        self.codes: Array = np.empty((n_columns, n_rows), dtype=np.uint8)
        self.is_counted: Bools = np.ones(n_rows, dtype=np.bool_)

        def work(counts: Ints, start: int, stop: int) -> None:
            block = starts[start // BLOCK_ROWS]
            block_rows = X[start:stop], labels[start:stop], weights[start:stop]
            loops.bin_block(*block_rows, start, bins.binning, block, self.order, self.codes, counts)

        shape = n_columns, n_clusters, bins.n_bins
        counts_of_blocks = fold_blocks(
            work, len(X), lambda: np.zeros(shape, dtype=np.int64), block=BLOCK_ROWS, n_jobs=n_jobs
        )
        self.counts = counts_of_blocks[0]
        for counts_of_block in counts_of_blocks[1:]:
            self.counts += counts_of_block
        self.total: Any = self.counts[0].sum(axis=1)
        self.weights: Array = weights[self.order] if weights.size else weights
        self.sorted_rows = loops.SortedRows(self.order, self.codes, self.is_counted, self.weights)

    def rebin(self, clusters: Indices, bins: CenterBins) -> None:
        """Bin the rows of some clusters anew."""
        self.counts[:, clusters] = 0
        for c in clusters:
            span = int(self.first[c]), int(self.first[c + 1])
            loops.bin_cluster(self.rows.values, self.sorted_rows, c, *span, bins.binning, self.counts)

    def events(self, column: NodeColumn, constant: Bools) -> tuple[Array, ...]:
        """Return the events in some bins of a column, and mark bins of one value; see `events_in_bins`."""
        counted = self.counts[column.number], self.first
        events: tuple[Array, ...] = events_in_bins(self.rows.values, column, self.sorted_rows, *counted, constant)
        return events

    def smallest_above(self, j: int, clusters: Indices, value: float, code: int) -> float:
        """Return the smallest value of column `j` above `value`, whose bin is `code`, or infinity."""
        counted = self.counts[j], self.first
        return float(smallest_above(self.rows.values, j, self.sorted_rows, *counted, clusters, value, code))

    def sorted_column(self, j: int, clusters: Indices) -> tuple[Floats, Ints]:
        """Return the values of the rows of `clusters` in column `j`, ascending, and the weight of each."""
        spans = [np.arange(self.first[c], self.first[c + 1]) for c in clusters.tolist()]
        positions = np.concatenate(spans)
        positions = positions[self.is_counted[positions]]
        values = self.rows.column(j, self.order[positions])
        weights = self.weights[positions] if self.weights.size else np.ones(len(positions), dtype=np.int64)
        order = np.argsort(values, kind="stable")
        return values[order], weights[order]

    def cut_off(self, j: int, threshold: float, threshold_bin: int, clusters: Indices, is_left: Bools) -> Ints:
        """Remove the rows that become mistakes under a cut from the counts, and return them.

        `is_left` says which of the clusters have their centre on the left.
        """
        counts = self.counts[j][clusters]
        right, left = counts[:, threshold_bin:].any(axis=1), counts[:, : threshold_bin + 1].any(axis=1)
        hit = np.flatnonzero(np.where(is_left, right, left))  # usually few clusters have rows on the other side
        cut = j, threshold, np.uint8(threshold_bin)
        cut_rows = np.empty(int((self.first[clusters[hit] + 1] - self.first[clusters[hit]]).sum()), dtype=np.int64)
        sums = self.sorted_rows, self.counts, self.total
        size = loops.remove_cut_off(self.rows.values, *sums, clusters[hit], is_left[hit], self.first, *cut, cut_rows)
        return cut_rows[:size]


def _start_positions(labels: Indices, weights: Ints, n_clusters: int, n_jobs: int | None) -> tuple[Ints, Ints]:
    """Return the first position of each block's rows of each cluster, (blocks, k), and of each cluster, (k + 1,).

    The last entry of the second array is the end of the last cluster.
    """

    def work(start: int, stop: int) -> Ints:
        block = labels[start:stop]
        if weights.size:
            block = np.where(weights[start:stop] > 0, block, -1)
        return np.bincount(block + 1, minlength=n_clusters + 1)[1:]

    sizes = np.array(map_blocks(work, len(labels), block=BLOCK_ROWS, n_jobs=n_jobs), dtype=np.int64)  # (blocks, k)
    first = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    return first[:-1] + np.cumsum(sizes, axis=0) - sizes, first
