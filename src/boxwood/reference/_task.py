"""`Task`: rows, in memory or in batches, and the clustering to be explained, checked once; all growers take a task."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._threads import fold_blocks, jobs_for, map_tasks, n_threads
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import Rows, WholeWeights, random_of, refuse_other_kind, refuse_unscanned, whole_number
from boxwood.batches.batches import Batches, Block, rows_of
from boxwood.batches.overview import Overview
from boxwood.batches.source import Source, Summary
from boxwood.batches.sums import Grid, Means, ranges_of
from boxwood.errors import DataError
from boxwood.loops.order import ascending
from boxwood.reference import bins as _bins
from boxwood.reference.bins import Bins, LooseBins
from boxwood.reference.budget import NO_BUDGET, Budget
from boxwood.reference.mixture import Mixture
from boxwood.reference.moments import Moments, moments_of
from boxwood.reference.reference import Reference, alike_without, refuse_no_reference
from boxwood.reference.reference_batches import Measured, grid_of, known_on, means_in, moments_in

S = TypeVar("S", bound=Summary[Block])

# what is found once for some rows and their labels, and serves all tasks of these
_OF_ROWS = (
    "kept",
    "ranges",
    "moments",
    "means_of_trees",
    "order",
    "bins",
    "_drawn",
    "overview",
    "means",
    "whole_weights",
)


@dataclass(frozen=True)
class Task:
    """The rows and the clustering that a tree explains, and the size of the tree.

    Every method of `boxwood.grow.METHODS` takes a task. `Task.of` is the one place that checks rows, labels and
    weights against each other. Rows are in memory, or come in batches: most questions have an answer in both cases, the
    others are asked by who knows where rows are.

    Parameters
    ----------
    store : Rows or Batches
        Rows with their weights, in the columns on which the tree is grown.
    reference : Reference
        Labels of the rows, and names and centres of the clusters; centres have the columns of the rows.
    mixture : Mixture, default=None
        Mixture that made the clusters, in the same columns; None if there is none. See `components`.
    max_leaf_nodes : int, default=None
        Number of leaves; with None the method decides.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of the method.
    n_jobs : int or None, default=-1
        Number of threads, of each pass, too. No tree depends on it.
    budget : Budget
        Limits that every tree keeps, and columns that no cut tests; none by default.
    """

    store: Rows | Batches
    reference: Reference
    mixture: Mixture | None = None
    max_leaf_nodes: int | None = None
    random_state: Any = None
    n_jobs: int | None = -1
    budget: Budget = NO_BUDGET

    @classmethod
    def of(
        cls,
        X: ArrayLike | Rows | Source | Batches,
        reference: Reference,
        *,
        sample_weight: ArrayLike | str | None = None,
        mixture: Mixture | None = None,
        max_leaf_nodes: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = -1,
        budget: Budget | None = None,
    ) -> Task:
        """Return the task of explaining a clustering of rows; for a source `sample_weight` is a column's name.

        Raises
        ------
        DataError
            If rows, labels, centres and weights do not fit together, every row is left out, or no cut is allowed. What
            a pass tells of rows in batches is checked when it is first asked for.
        TypeError, ValueError
            If the reference is none of such rows, or a number is no whole number or out of its range.
        """
        refuse_unscanned(X)
        in_batches = isinstance(X, (Source, Batches))
        (_refuse_of_rows if in_batches else refuse_no_reference)(reference)
        leaves = None if max_leaf_nodes is None else whole_number("max_leaf_nodes", max_leaf_nodes, 1)
        n_threads(n_jobs)  # refuses what is no number of threads
        store: Any = (_batches if in_batches else _rows)(X, reference, sample_weight)
        if store.n_columns != (n_columns := reference.centers.shape[1]):
            what = "the table" if in_batches else "X"
            raise DataError(f"{what} has {store.n_columns} columns, but the reference's centres have {n_columns}")
        if in_batches:
            reference = known_on(reference, store)
            store = replace(_with_labels(store, reference), n_jobs=n_jobs)
        task = cls(store, reference, mixture, leaves, random_state, n_jobs, budget or NO_BUDGET)
        if not in_batches:
            if not task.kept.any():
                raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
            task.budget.refuse_too_few(task.n_kept)
        return task

    # ------------------------------------------------------------------------------ wherever the rows are

    @property
    def in_batches(self) -> bool:
        """Whether rows come in batches."""
        return isinstance(self.store, Batches)

    @property
    def n_rows(self) -> int:
        """Number of rows, of those that are left out, too."""
        return self.overview.n_rows if self.in_batches else len(self.rows)

    @property
    def n_kept(self) -> int:
        """Number of rows with a cluster and a weight above 0."""
        return self.overview.n_kept if self.in_batches else int(self.kept.sum())

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.store.n_columns

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return (self.batches.weight if self.in_batches else self.rows.weights) is not None

    @cached_property
    def ranges(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of each column among the kept rows, each of shape (d,)."""
        if self.in_batches:
            return self.overview.least.min(axis=0), self.overview.most.max(axis=0)
        low, high = ranges_of(self.rows.values, np.where(self.kept, 0, -1), 1, n_jobs=self.n_jobs)
        return low[0], high[0]

    @property
    def grid(self) -> Grid:
        """The grid on which sums over the kept rows are exact."""
        return grid_of(self.batches, self.overview) if self.in_batches else Grid.of(self.kept, self.rows.weights)

    def fold(self, make: Callable[[], S]) -> S:
        """Return one summary of all rows, from one pass over batches, or over blocks of the rows in memory."""
        if self.in_batches:
            return self.batches.fold(make)
        rows, labels = self.rows, self.reference.labels

        def work(summary: S, start: int, stop: int) -> None:
            weights = None if rows.weights is None else rows.weights[start:stop]
            summary.update(Block(rows.values[start:stop], labels[start:stop], weights))

        first, *others = fold_blocks(work, len(rows), make, n_jobs=self.n_jobs)
        for other in others:
            first.merge(other)
        return first

    @cached_property
    def moments(self) -> Moments:
        """Weights, means and variances of the clusters, the same wherever the rows are, to the last bit.

        In batches they take one pass besides those for `overview` and `means`.
        """
        if self.in_batches:
            return moments_in(self.batches, self.overview, self.means)
        known, k = self.reference.moments, self.reference.n_clusters
        if known is not None and math.isclose(known.weights.sum(), self._kept_weight(), rel_tol=1e-9):
            return known
        return moments_of(self.rows, self.reference.labels, k, self.n_jobs)  # known ones are of other weights

    @cached_property
    def components(self) -> Mixture:
        """The mixture that made the clusters; if there is none, the clusters' frequencies, means and variances."""
        if self.mixture is not None:
            return self.mixture
        present = np.flatnonzero(self.moments.weights > 0)
        return Mixture.of_moments(self.moments, names=[self.reference.names[c] for c in present], clusters=present)

    @cached_property
    def equal_without_forbidden(self) -> str:
        """Names of two clusters whose centres differ only in columns that no cut may test; empty if there are none."""
        return alike_without(self.reference.names, self.reference.centers, self.budget.forbidden)

    def leaves(self, times: int = 1) -> int:
        """Return the number of leaves to grow: `max_leaf_nodes`, or else `times` the number of clusters.

        No tree has more leaves than rows that differ, so a larger number is cut to the number of rows. The budget may
        allow fewer.
        """
        leaves = min(self.max_leaf_nodes or times * self.reference.n_clusters, max(self.n_rows, 2))
        return self.budget.most_leaves(leaves, self.n_kept) if self.budget.limits_shape else leaves

    def within(self, budget: Budget) -> Task:
        """Return the task with another budget; nothing is sorted or read again."""
        return self._of_same_rows(replace(self, budget=budget))

    def with_leaves(self, max_leaf_nodes: int | None) -> Task:
        """Return the task with another number of leaves; nothing is sorted or read again."""
        return self._of_same_rows(replace(self, max_leaf_nodes=max_leaf_nodes))

    def with_reference(self, reference: Reference) -> Task:
        """Return the task with another clustering of the same rows; what is known of them stays if labels do."""
        task = replace(self, reference=reference)
        return self._of_same_rows(task) if reference.labels is self.reference.labels else task

    def on(self, store: Rows | Batches, reference: Reference, budget: Budget | None = None) -> Task:
        """Return a task on other rows with other clusters, as large a tree, and another budget if one is given."""
        return Task.of(
            store,
            reference,
            mixture=self.mixture,
            max_leaf_nodes=self.max_leaf_nodes,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            budget=self.budget if budget is None else budget,
        )

    def _of_same_rows(self, task: Task) -> Task:
        """Return a task of the same rows, labels and randomness, which is told what is known of these."""
        task.__dict__.update({name: self.__dict__[name] for name in _OF_ROWS if name in self.__dict__})
        return task

    # ------------------------------------------------------------------------------------- rows in memory

    @property
    def rows(self) -> Rows:
        """The rows in memory.

        Raises
        ------
        DataError
            If they come in batches.
        """
        return self.store.in_memory

    @cached_property
    def kept(self) -> Bools:
        """Whether each row is kept, shape (n,): it has a cluster and a weight above 0."""
        kept, weights = self.reference.kept, self.rows.weights
        return kept if weights is None else kept & (weights > 0)

    @cached_property
    def means_of_trees(self) -> dict[Any, Any]:
        """The means of rows by leaves, of the last few trees; see `grow.shared.names`."""
        return {}

    @property
    def on_usable_columns(self) -> Task:
        """The task as methods see it that look at nothing but the columns they may test; others are zero.

        It has no mixture. Without forbidden columns it is the task itself; so it is in batches, where methods leave out
        columns that they may not test by themselves. Takes memory for the rows.
        """
        return self._without_columns(self.budget.forbidden)

    @property
    def on_counted_columns(self) -> Task:
        """The task as `on_usable_columns`, but with the columns that costs count in any case."""
        return self._without_columns([j for j in self.budget.forbidden if j not in self.budget.counted])

    def _without_columns(self, columns: Sequence[int]) -> Task:
        hidden = tuple(columns)
        if not hidden or self.in_batches:
            return self  # and is not kept, as a task that knows itself would outlive its last user
        if hidden not in self._on_some_columns:
            self._on_some_columns[hidden] = self._with_zeros(list(hidden))
        return self._on_some_columns[hidden]

    @cached_property
    def _on_some_columns(self) -> dict[tuple[int, ...], Task]:
        return {}

    def _with_zeros(self, hidden: list[int]) -> Task:
        values, centers = self.rows.values.copy(order="K"), self.reference.centers.copy()
        values[:, hidden], centers[:, hidden] = 0.0, 0.0
        return replace(
            self, store=self.rows.mapped(values), reference=self.reference.with_centers(centers), mixture=None
        )

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """The kept rows in the ascending order of each column, shape (d, n_kept), as row numbers.

        Made when first asked for, and shared by all algorithms that are given this task. Equal values come in any
        order, which may differ between processors, so only exact sums may run over them. Takes time d n log n at most.
        """
        rows = np.flatnonzero(self.kept).astype(np.int32 if len(self.rows) <= np.iinfo(np.int32).max else np.int64)
        order = np.empty((self.rows.n_columns, len(rows)), dtype=rows.dtype)

        def fill(feature: int) -> None:
            if len(rows) == len(self.rows):
                order[feature] = ascending(np.asarray(self.rows.values[:, feature], dtype=np.float64))
            else:
                order[feature] = rows[ascending(self.rows.column(feature, rows))]

        map_tasks(fill, range(len(order)), n_jobs=jobs_for(order.size, self.n_jobs))
        return order

    @cached_property
    def bins(self) -> Bins:
        """The kept rows in bins of each column; made when first asked for, and shared like `order`.

        They come from the order of the columns, but not in a long table, where that takes longer than all else.
        """
        if self.is_long:
            return LooseBins(self.rows.values, self.kept, self.n_jobs)
        return Bins.of(self.rows.values, self.order, jobs_for(self.order.size, self.n_jobs))

    @property
    def is_long(self) -> bool:
        """Whether bins of the columns take far less time than their order."""
        return self.n_kept > _bins.LONG

    @cached_property
    def kept_weights(self) -> Floats | None:
        """Weight of each row, 0 for rows without a cluster; None if every row weighs 1."""
        if self.reference.kept.all():
            return self.rows.weights
        return np.where(self.reference.kept, 1.0 if self.rows.weights is None else self.rows.weights, 0.0)

    def _kept_weight(self) -> float:
        weights = self.rows.weights
        return float(self.kept.sum() if weights is None else weights[self.kept].sum())

    def of_rows(self, rows: Indices) -> Task:
        """Return the task on some of the rows, with leaves that may be smaller in proportion."""
        budget = self.budget
        if budget.min_samples_leaf > 1:
            budget = budget.for_share(min(int(self.kept[rows].sum()) / self.n_kept, 1.0))
        return replace(self, store=self.rows.take(rows), reference=self.reference.of_rows(rows), budget=budget)

    def sampled(self, n_rows: int) -> Task:
        """Return the task on a random sample of so many kept rows, or itself if it has no more rows."""
        return self if len(self.rows) <= n_rows else self.of_rows(self.drawn(n_rows))

    def drawn_anew(self) -> Task:
        """Return the task with other random samples."""
        seed = self.random_state if self.random_state is not None else 0
        return replace(self, random_state=int(seed) + 1 if isinstance(seed, Integral) else seed)

    def drawn(self, n_rows: int) -> Indices:
        """Return the places of the rows of a random sample of so many kept rows; all if there are no more rows."""
        return np.arange(len(self.rows)) if len(self.rows) <= n_rows else np.sort(self._drawn[:n_rows])

    @cached_property
    def _drawn(self) -> Indices:
        """The kept rows in random order; a sample takes the first ones, so that a larger one holds a smaller one."""
        rows = np.flatnonzero(self.kept)
        drawn: Indices = rows[random_of(self.random_state).permutation(len(rows))]
        return drawn

    # ------------------------------------------------------------------------------------ rows in batches

    @property
    def batches(self) -> Batches:
        """The rows in batches, with their clusters and weights."""
        assert isinstance(self.store, Batches)
        return self.store

    @cached_property
    def overview(self) -> Overview:
        """What one pass tells of all rows; made when first asked for.

        Raises
        ------
        DataError
            If values are missing or infinite, or every row is left out.
        """
        if (measured := self._measured) is not None:
            return measured.overview
        overview = self.batches.fold(partial(Overview, self.reference.n_clusters, self.n_columns))
        overview.refuse_unusable(self.batches.columns)
        return overview

    @cached_property
    def means(self) -> Means:
        """The clusters' weights and means, from one pass, if the reference does not know them."""
        measured = self._measured
        known = None if measured is None else measured.means
        return means_in(self.batches, self.overview) if known is None else known

    @cached_property
    def whole_weights(self) -> WholeWeights | None:
        """How weights become whole numbers, the same as in memory; None where every row weighs 1."""
        return self.overview.whole_weights() if self.is_weighted else None

    @property
    def _measured(self) -> Measured | None:
        known = self.reference.measured
        return known if known is not None and known.is_of(self.batches) else None


def _rows(X: Any, reference: Reference, sample_weight: Any) -> Rows:
    rows, n_labels = Rows.of(X, sample_weight), len(reference.labels)
    if len(rows) != n_labels:
        raise DataError(f"X has {len(rows)} rows, but the reference has {n_labels} labels")
    return rows


def _refuse_of_rows(reference: object) -> None:
    """Raise a TypeError, which says how to make one, unless the argument is a Reference of a table in batches."""
    instead = "make one of a table in batches: Reference.of(table, 'column') or Reference.nearest(table, centers)"
    refuse_other_kind("reference", reference, Reference, instead)
    if isinstance(reference, Reference) and not reference.in_batches:
        raise TypeError(f"the reference is one of rows in memory, but the rows are in batches; {instead}")


def _batches(X: Any, reference: Reference, sample_weight: Any) -> Batches:
    return X if isinstance(X, Batches) else rows_of(X, reference.labelling.column_read, sample_weight)


def _with_labels(batches: Batches, reference: Reference) -> Batches:
    """Return the rows with the clusters of a reference."""
    if batches.store is not None and batches.labelling is reference.labelling:
        return batches
    return replace(batches, labelling=reference.labelling).with_stored_labels(reference.n_clusters)
