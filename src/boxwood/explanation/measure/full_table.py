"""`FullTable`: what a tree does in all rows of a long table of which only some are in memory.

The table has words or gaps, or boxwood makes its clusters. Cuts are chosen on the rows in memory. What leaves hold, and
what the tree costs, comes from three passes over all rows, which ask what rows in memory are asked, and so give the
same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import list_words
from boxwood.axes import Tails
from boxwood.batches import Batches, Block, LabelColumn, Source
from boxwood.batches.labelling import MadeClusters, OneCluster
from boxwood.batches.overview import Overview
from boxwood.batches.sums import Grid
from boxwood.errors import DataError
from boxwood.explanation.measure.evidence import LeafStatistics
from boxwood.grow.shared.names import without_leaves
from boxwood.metrics.agreements import LARGEST_NUMBER
from boxwood.metrics.mixed_costs import (
    Steps,
    answer_steps,
    costs_of_codes,
    costs_of_numbers,
    total_of,
    weights_of_codes,
)
from boxwood.reference.coded import CodedSource
from boxwood.reference.feature_space import FeatureSpace
from boxwood.reference.mixed import points_of_missing
from boxwood.reference.reference_batches import grid_of
from boxwood.tree import ThresholdTree
from boxwood.tree.nodes import values_at_leaves

LEAF = -1  # in the place of a column: the leaf of each row
OF_DRAWN = (
    "sizes, agreement and costs are those of all rows, profiles, pictures and other sizes of the tree those of the "
    "rows that were drawn"
)


class FullTableMeasures(NamedTuple):
    """A tree, what its leaves hold, the costs of its groups and of the clusters, and the rows that are left out.

    Parameters
    ----------
    tree : ThresholdTree
        The tree, without leaves that hold too few rows.
    facts : LeafStatistics
        Of the rows that have a leaf.
    costs : pair of float
        Cost of the tree's groups of rows, and of the clusters.
    n_unruled : int
        Number of rows without a leaf.
    n_empty : int
        Number of rows that lack so much that they are left out.
    n_unseen : int
        Number of other rows without a leaf, as their rule asks for a value that they lack, and no row in memory does;
        or without one of the clusters that were made of the latter.
    unseen : tuple of str
        Columns of numbers in which these rows have no value; of rules alone, if clusters were not made.
    gaps : mapping from str to int
        Number of the missing values of each column that needs a value, and lacks some.
    n_strange : int
        Number of rows that are left out as they hold a word without a code.
    strange : mapping from str to int
        Columns of such words, and the number of their rows.
    """

    tree: ThresholdTree
    facts: LeafStatistics
    costs: tuple[float, float]
    n_unruled: int
    n_empty: int
    n_unseen: int
    unseen: tuple[str, ...]
    gaps: Mapping[str, int]
    n_strange: int = 0
    strange: Mapping[str, int] = MappingProxyType({})

    @property
    def n_incomplete(self) -> int:
        """Number of rows that are left out as of what they lack or hold."""
        return self.n_empty + self.n_unseen + self.n_strange

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return self.facts.n_rows + self.n_unruled


@dataclass(frozen=True)
class FullTable:
    """All rows of a table in batches, and their clusters.

    Parameters
    ----------
    source : Source
        The table.
    labelling : LabelColumn, MadeClusters or OneCluster
        Gives each row its cluster: one that a column names, or the one of those made of some rows that is nearest.
    overview : Overview
        What a pass tells of the number of rows and of their weights.
    weight : str, default=None
        Column that holds the weight of each row.
    n_jobs : int or None, default=-1
        Threads of each pass.
    needed : collection of str, default=()
        Columns in which a row must have a value to have a cluster; a row that lacks all values never has one.
    fewest : int, default=1
        Number of rows with a cluster that a leaf needs at least.
    counts_all : bool, default=False
        Whether a row with a label and a leaf counts whatever it lacks or holds, as the tree was there already. Costs
        are those of the rows that lack nothing.
    """

    source: Source
    labelling: LabelColumn | MadeClusters | OneCluster
    overview: Overview
    weight: str | None = None
    n_jobs: int | None = -1
    needed: Collection[str] = ()
    fewest: int = 1
    counts_all: bool = False

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.labelling.n_clusters

    def batches(self, source: Source, columns: tuple[str, ...]) -> Batches:
        """Return some columns of the rows; IN: source: the table, or the table with codes in the place of words."""
        return Batches(source, columns, self.labelling, self.weight, n_jobs=self.n_jobs)

    def measured(self, tree: ThresholdTree, here: FeatureSpace) -> FullTableMeasures:
        """Return what a tree does in all rows; IN: here: some of the rows.

        Takes three passes. While a leaf has too few rows, the smallest is taken away, which takes three more.

        Raises
        ------
        DataError
            If a number is infinite, or the cost is beyond the largest float.
        """
        while True:
            found, sizes = self._measure_rows(tree, here)
            if sizes.min() >= self.fewest or tree.n_leaves == 1:
                return found
            tree = without_leaves(tree, np.arange(len(sizes)) == sizes.argmin())

    def fold_column(self, tree: ThresholdTree, here: FeatureSpace, column: str, make: Callable[[], Any]) -> Any:
        """Return a summary of a column of numbers, of the rows that have a leaf; the others are as without a label."""
        columns = here.columns if column in here.columns else (*here.columns, column)
        rows, at = self._rows(tree, here), columns.index(column)
        return self._coded_batches(here, columns).fold(partial(_OfRows, rows, make, at)).summary

    def fold_table(self, tree: ThresholdTree, here: FeatureSpace, make: Callable[[], Any]) -> Any:
        """Return a summary of the rows as trees take them; those that lack too much are as without a label."""
        rows = self._rows(tree, here)
        return self._coded_batches(here, here.columns).fold(partial(_OfRows, rows, make)).summary

    def _coded_batches(self, here: FeatureSpace, columns: tuple[str, ...]) -> Batches:
        words = self._words(here)
        marks = {name: one.marks for j, one in here.categories.items() if (name := here.columns[j]) in words}
        return self.batches(CodedSource(self.source, words, unseen=np.inf, marks=marks), columns)

    def _rows(self, tree: ThresholdTree, here: FeatureSpace) -> _RowsDownTree:
        points = points_of_missing(here.categories, here.gaps)
        needed = [j for j, name in enumerate(here.columns) if name in self.needed]
        tails = None if here.entry is None else here.entry.tails
        coded = {j: len(one.values) if one.others else np.nan for j, one in sorted(here.categories.items())}
        about = self.n_clusters, len(here.columns), tails, isinstance(self.labelling, MadeClusters), self.counts_all
        return _RowsDownTree(tree, points, needed, coded, *about)

    def _measure_rows(self, tree: ThresholdTree, here: FeatureSpace) -> tuple[FullTableMeasures, Ints]:
        """Return what a tree does, and the number of rows with a cluster in each leaf."""
        batches, rows = self._coded_batches(here, here.columns), self._rows(tree, here)
        first: list[_InAllRows] = []

        def ask(makes: Mapping[tuple[int, bool], Callable[[], Any]]) -> Mapping[tuple[int, bool], Any]:
            summary = batches.fold(partial(_InAllRows, rows, makes))
            first.append(summary)
            _refuse_infinite(first[0], here)
            return summary.parts

        found = answer_steps(self._questions(here, tree.n_leaves, grid_of(batches, self.overview)), ask)
        seen, weights = first[0], found.pop((LEAF, False), None)
        held = seen.rows if weights is None else weights.reshape(self.n_clusters, -1).T
        n_rows, n_kept = seen.n_rows - seen.n_unruled, int(seen.rows.sum())
        whole = self.overview.all_whole and self.overview.heaviest <= LARGEST_NUMBER
        facts = LeafStatistics(tree, held, seen.noise, n_rows, n_kept, weights is not None, whole)
        of_tree, of_clusters = (total_of([found[key] for key in found if key[1] is one]) for one in (True, False))
        gaps = {here.columns[j]: n for j in rows.needed if (n := int(seen.gaps[j]))}
        asked = range(len(here.columns)) if rows.are_made else tree.features.tolist()
        unseen = tuple(here.columns[j] for j in asked if seen.unseen[j])
        strange = {here.columns[j]: n for j in here.categories if (n := int(seen.infinite[j]))}
        without = (seen.n_unruled, seen.n_empty, seen.n_unseen, unseen, gaps, seen.n_strange, strange)
        told = FullTableMeasures(tree, facts, (of_tree, of_clusters), *without)
        return told, seen.rows.sum(axis=1)

    def _words(self, here: FeatureSpace) -> dict[str, Sequence[Hashable]]:
        """Return the values of the columns that are read as words, in the order of their codes."""
        kinds = dict(zip(self.source.names, self.source.kinds, strict=True))
        known = {here.columns[j]: one.values[: one.known] for j, one in here.categories.items()}
        return {name: values for name, values in known.items() if kinds[name] != "boolean"}

    def _questions(self, here: FeatureSpace, n_leaves: int, grid: Grid) -> dict[tuple[int, bool], Steps]:
        """Return what is asked of columns, of the clusters and of the tree's groups, and of leaves by weight."""
        k, asked = self.n_clusters, dict[tuple[int, bool], Steps]()
        for j, scale in enumerate(_scales(here).tolist()):
            for by_tree in (False, True):
                if j in here.categories:
                    asked[j, by_tree] = costs_of_codes(k, len(here.categories[j].domain), grid, scale)
                else:
                    asked[j, by_tree] = costs_of_numbers(k, grid, scale)
        if self.weight is not None:
            asked[LEAF, False] = weights_of_codes(k, n_leaves, grid)
        return asked


def _scales(here: FeatureSpace) -> Floats:
    """Return the factor of each column in costs; those of a model from a file are of numbers alone."""
    if here.scales is not None:
        return here.scales
    numbers = np.array([j not in here.categories for j in range(len(here.columns))], dtype=np.float64)
    return numbers if here.scaling is None else numbers / here.scaling.scale


def _refuse_infinite(seen: _InAllRows, here: FeatureSpace) -> None:
    """Raise a DataError for infinite numbers; as such words are read that have no code."""
    counts = {j: f"{here.columns[j]} ({n:,})" for j, n in enumerate(seen.infinite.tolist()) if n}
    if numbers := [said for j, said in counts.items() if j not in here.categories]:
        raise DataError(f"infinite values: {list_words(numbers)}\nleave those rows or columns out")


class _RowsDownTree(NamedTuple):
    """How rows of a table go down a tree; `points` has what stands for a missing value in columns that may lack one.

    IN: coded: columns of codes, and what stands for a word without one: the code of all other words, or NaN; tails:
    what is done to numbers before costs are measured; are_made: whether clusters were made of some rows, so that rows
    without one lack a number that none of these lacks; counts_all: as for `FullTable`.
    """

    tree: ThresholdTree
    points: Mapping[int, float]
    needed: list[int]
    coded: Mapping[int, float]
    n_clusters: int
    n_columns: int
    tails: Tails | None = None
    are_made: bool = False
    counts_all: bool = False

    def reached(self, values: Floats, lacks: Bools) -> tuple[Floats, Indices]:
        """Return the rows as the tree takes them, and the leaf of each; -1 where it has none."""
        table = self.filled(values, lacks)
        leaves = np.cumsum(self.tree.feature < 0, dtype=np.int64) - 1
        return table, values_at_leaves(self.tree, table, leaves, None, nan="none")

    def filled(self, values: Floats, lacks: Bools) -> Floats:
        """Return the rows as trees take them."""
        table = values.copy(order="F")
        for j, point in self.points.items():
            table[lacks[:, j], j] = point
        for j, code in self.coded.items():
            table[np.isinf(values[:, j]), j] = code
        return table

    def empty(self, lacks: Bools) -> Bools:
        """Return whether each row lacks so much that it is left out."""
        return np.asarray((lacks.all(axis=1) & (not self.counts_all)) | lacks[:, self.needed].any(axis=1))

    def strange(self, values: Floats) -> Bools:
        """Return whether each row holds a word that has no code of its own."""
        return np.asarray(np.isinf(values[:, [*self.coded]]).any(axis=1))


class _InAllRows:
    """Numbers of rows in leaves and without one, and a summary for each column and kind of groups."""

    def __init__(self, rows: _RowsDownTree, makes: Mapping[tuple[int, bool], Callable[[], Any]]) -> None:
        self.how, self.parts = rows, {key: make() for key, make in makes.items()}
        self.n_rows = self.n_unruled = self.n_empty = self.n_unseen = self.n_strange = 0
        self.rows = np.zeros((rows.tree.n_leaves, rows.n_clusters), dtype=np.int64)
        self.noise = np.zeros(rows.tree.n_leaves, dtype=np.int64)
        self.gaps, self.unseen, self.infinite = np.zeros((3, rows.n_columns), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        lacks = np.isnan(block.values)
        table, leaf = self.how.reached(block.values, lacks)
        is_empty, is_strange = self.how.empty(lacks), self.how.strange(block.values)
        self.n_empty += int((is_empty & ~is_strange).sum())
        self.n_strange += int(is_strange.sum())
        is_unseen = leaf < 0
        if self.how.are_made:
            is_unseen = is_unseen | (block.labels < 0)
        is_unseen &= ~(is_empty | is_strange)
        self.n_unseen += int(is_unseen.sum())
        is_whole = ~(is_empty | is_strange | is_unseen)
        self._count(block, leaf, block.kept if self.how.counts_all else block.kept & is_whole)
        self.gaps += lacks.sum(axis=0)
        self.unseen += np.isnan(table[is_unseen]).sum(axis=0)
        self.infinite += np.isinf(block.values).sum(axis=0)
        kept = block.kept & is_whole
        groups = {False: block.labels, True: self.how.tree.leaf_clusters[leaf]}
        table = table if self.how.tails is None else self.how.tails.transform(table)
        for (j, by_tree), part in self.parts.items():
            x = leaf.astype(np.float64) if j == LEAF else table[:, j]
            counts = (block.kept if j == LEAF and self.how.counts_all else kept) & (leaf >= 0)
            part.update((x[:, None], np.where(counts & np.isfinite(x), groups[by_tree], -1), block.weights))

    def _count(self, block: Block, leaf: Indices, is_kept: Bools) -> None:
        """Count rows in leaves; IN: is_kept: rows that count for their cluster, where they have a leaf."""
        has_leaf, (n_leaves, k) = leaf >= 0, self.rows.shape
        self.n_rows += len(leaf)
        self.n_unruled += int((~has_leaf).sum())
        self.noise += np.bincount(leaf[has_leaf & ~is_kept], minlength=n_leaves)
        cells = (leaf * k + block.labels)[has_leaf & is_kept]
        self.rows += np.bincount(cells, minlength=n_leaves * k).reshape(n_leaves, k)

    def merge(self, other: _InAllRows) -> None:
        """Add the rows of another part of the table."""
        for name in vars(self).keys() - {"how", "parts"}:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for key, part in self.parts.items():
            part.merge(other.parts[key])


class _OfRows:
    """A summary of rows as trees take them, or of one column; rows that lack too much have no label.

    IN: column: None for rows as trees take them. Of a column, rows without a leaf have no label, too.
    """

    def __init__(self, rows: _RowsDownTree, make: Callable[[], Any], column: int | None = None) -> None:
        self.how, self.summary, self.column = rows, make(), column

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        values = block.values[:, : self.how.n_columns]
        lacks = np.isnan(values)
        without = self.how.empty(lacks) | self.how.strange(values)
        if self.column is None:
            values = self.how.filled(values, lacks)
        else:
            without |= self.how.reached(values, lacks)[1] < 0
            values = block.values[:, [self.column]]
        self.summary.update(Block(values, np.where(without, -1, block.labels), block.weights))

    def merge(self, other: _OfRows) -> None:
        """Add the rows of another part of the table."""
        self.summary.merge(other.summary)
