"""IMM: the tree that at each node separates the centres with the fewest mistakes.

Moshkovitz, Dasgupta, Rashtchian and Frost, "Explainable k-Means and k-Medians Clustering", ICML 2020.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import as_whole_weights, refuse_unknown
from boxwood.grow._grown import Grown, Split, grow_by_cuts
from boxwood.grow._imm_counts import Bins, Counts
from boxwood.grow._imm_search import Cut, Search
from boxwood.grow._methods import METHODS
from boxwood.grow._ties import EqualCuts, TieBreak
from boxwood.passes import Source, TableReference, task_of
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, between

__all__ = ["grow_imm", "imm"]


def imm(
    X: ArrayLike | Source,
    reference: Reference | TableReference,
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
    reference : Reference or TableReference
        Labels and centres; a TableReference for a table in batches. Rows with label -1 are left out. A cluster without
        rows still gets its leaf.
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
    rows in all columns. Then the levels of the tree take one pass each or less where clusters lie apart, and one or two
    where they overlap; these read only the columns that are cut and those that may be next. Where rows belong to their
    nearest centres, every pass reads all columns. Up to 1 000 000 values are read into memory instead. Memory: about
    64 MB of counts and 28 MB of values for each thread, whatever the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from boxwood import Reference
    >>> X = np.array([[0.0, 5.0], [1.0, 6.0], [0.0, 9.0], [8.0, 5.0], [9.0, 7.0]])
    >>> imm(X, Reference.of(X, [0, 0, 1, 2, 2])).to_dict()["threshold"]
    4.5
    """
    task = task_of(X, reference, sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs)
    return METHODS["imm"].grow(task, candidates=candidates, duplicates=duplicates, tie_break=tie_break).tree


def grow_imm(task: Task, *, candidates: str = "all", duplicates: str = "error", tie_break: str = "first") -> Grown:
    """Return what `imm` grows for a task."""
    refuse_unknown("candidates", candidates, ("all", "midpoints"))
    reference = task.reference.with_distinct_centers(duplicates)
    rows, centers = task.rows, reference.centers
    weights = None if rows.weights is None else np.where(task.kept, rows.weights, 0.0)
    bins = Bins.around(centers, _n_bins(len(rows), len(centers)))
    counts = Counts(rows, reference.labels, as_whole_weights(weights), len(centers), bins, task.n_jobs)
    clusters = np.unique(reference.first_of_equal_centers())
    grower = _Grower(counts, centers, candidates == "midpoints", TieBreak(tie_break, task.random_state))
    return Grown(grow_by_cuts(_Node(clusters, bins, np.empty(0, dtype=np.int64)), grower.step), "imm")


def _n_bins(n_rows: int, n_clusters: int) -> int:
    """Return a number of bins from 32 to 256: few rows of each cluster per bin to sort, and few counts for few rows."""
    return int(2 ** np.clip(np.ceil(np.log2(n_rows / n_clusters)), 5, 8))


class _Node(NamedTuple):
    """A node that is still to be split or labelled."""

    clusters: Indices  # clusters whose centres lie in the node
    bins: Bins
    strays: Ints  # rows in the node whose centre is in another node


class _Grower:
    """One run of the algorithm. Every mistake is taken out of the counts."""

    def __init__(self, counts: Counts, centers: Floats, midpoints: bool, ties: TieBreak) -> None:
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
            j, threshold = self._chosen(node, search, best)
        is_left = self.centers[node.clusters, j] <= threshold
        threshold_bin = bins.code(j, threshold)
        cut_off = self.counts.cut_off(j, threshold, threshold_bin, node.clusters, is_left)
        strays = np.concatenate([node.strays, cut_off])
        strays_left = self.counts.rows.column(j, strays) <= threshold
        # a bin that is constant on one side may not be on the other, so each side gets its own array `constant`
        bins_right = bins._replace(constant=bins.constant.copy())
        left = _Node(node.clusters[is_left], bins, strays[strays_left])
        return Split(j, threshold, left, _Node(node.clusters[~is_left], bins_right, strays[~strays_left]))

    def _search(self, node: _Node) -> Search:
        """Return the search for the cut with the fewest mistakes, in closer bins if they pay."""
        search = Search(self.counts, self.centers, node.clusters, node.bins, self.midpoints)
        if not search.wants_closer_bins():
            return search
        bins = Bins.around(self.centers[node.clusters], node.bins.n_bins)
        self.counts.rebin(node.clusters, bins)
        return Search(self.counts, self.centers, node.clusters, bins, self.midpoints)

    def _threshold(self, node: _Node, bins: Bins, cut: Cut) -> float:
        return cut.value if self.midpoints else float(between(cut.value, self._next_value(node, bins, cut)))

    def _next_value(self, node: _Node, bins: Bins, cut: Cut) -> float:
        """Return the smallest value above the cut's value, among the rows and centres of the node."""
        j = cut.feature
        others = np.concatenate([self.centers[node.clusters, j], self.counts.rows.column(j, node.strays)])
        nearest = float(others[others > cut.value].min())
        return min(nearest, self.counts.smallest_above(j, node.clusters, cut.value, bins.code(j, cut.value)))

    def _chosen(self, node: _Node, search: Search, best: Cut) -> tuple[int, float]:
        """Return feature and threshold of one of the cuts that make as few mistakes as the best one."""
        cuts = EqualCuts.joined([self._equal_cuts(node, j, values) for j, values in search.equal(best)])
        i = self.ties.chosen(cuts)
        return int(cuts.feature[i]), float(cuts.threshold[i])

    def _equal_cuts(self, node: _Node, j: int, found: Floats) -> EqualCuts:
        """Return the cuts of a column behind the values that were found.

        Strays make no mistakes, so the search passes over them. But a threshold may also lie between two of them.
        """
        centers, strays = self.centers[node.clusters, j], self.counts.rows.column(j, node.strays)
        own, weights = self.counts.sorted_column(j, node.clusters)
        values = np.unique(np.concatenate([own, centers, strays]))
        if self.midpoints:
            after = np.searchsorted(values, found, side="right")
            return EqualCuts.of_column(j, found, values[after - 1], values[after], centers, (own, weights))
        counted = np.unique(np.concatenate([own, centers]))
        at = counted[np.searchsorted(counted, values[:-1], side="right") - 1]  # the counted value at or before each
        low = np.flatnonzero(np.isin(at, found) & (values[:-1] >= counted[0]))
        return EqualCuts.of_column(j, None, values[low], values[low + 1], centers, (own, weights))
