"""`Task`: rows and the clustering to be explained, checked once. Every algorithm takes a task."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from boxwood._threads import map_tasks, n_threads
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import Rows, whole_number
from boxwood.errors import DataError
from boxwood.passes.sums import ranges_of
from boxwood.reference import bins as _bins
from boxwood.reference.bins import Bins, LooseBins, ascending
from boxwood.reference.budget import NO_BUDGET, Budget
from boxwood.reference.equal_centers import alike_without
from boxwood.reference.mixture import Mixture
from boxwood.reference.reference import Reference, refuse_no_reference

__all__ = ["Task"]

# what is found once for some rows and their labels, and serves all tasks of these
_OF_ROWS = ("kept", "value_range", "means_of_trees", "order", "bins", "_drawn")


@dataclass(frozen=True)
class Task:
    """The rows and the clustering that a tree explains, and the size of the tree.

    Every method of `boxwood.grow.METHODS` takes a task. `Task.of` is the one place that checks rows, labels and
    weights against each other.

    Parameters
    ----------
    rows : Rows
        Rows with their weights, in the columns on which the tree is grown.
    reference : Reference
        Labels of the rows, and names and centres of the clusters; centres have the columns of `rows`.
    mixture : Mixture, default=None
        Mixture that made the clusters, in the same columns; None if there is none. See `components`.
    max_leaf_nodes : int, default=None
        Number of leaves; with None the method decides.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of the method.
    n_jobs : int or None, default=-1
        Number of threads. No tree depends on it.
    budget : Budget
        Limits that every tree keeps, and columns that no cut tests; none by default.
    """

    rows: Rows
    reference: Reference
    mixture: Mixture | None = None
    max_leaf_nodes: int | None = None
    random_state: Any = None
    n_jobs: int | None = -1
    budget: Budget = NO_BUDGET

    @classmethod
    def of(
        cls,
        X: ArrayLike | Rows,
        reference: Reference,
        *,
        sample_weight: ArrayLike | None = None,
        mixture: Mixture | None = None,
        max_leaf_nodes: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = -1,
        budget: Budget | None = None,
    ) -> Task:
        """Return the task of explaining a clustering of rows.

        Raises
        ------
        DataError
            If rows, labels, centres and weights do not fit together, every row is left out, or no cut is allowed.
        TypeError, ValueError
            If the reference is none, or a number is no whole number or out of its range.
        """
        refuse_no_reference(reference)
        leaves = None if max_leaf_nodes is None else whole_number("max_leaf_nodes", max_leaf_nodes, 1)
        n_threads(n_jobs)  # refuses what is no number of threads
        rows = Rows.of(X, sample_weight)
        n_labels, n_columns = len(reference.labels), reference.centers.shape[1]
        if len(rows) != n_labels:
            raise DataError(f"X has {len(rows)} rows, but the reference has {n_labels} labels")
        if rows.n_columns != n_columns:
            raise DataError(f"X has {rows.n_columns} columns, but the reference's centres have {n_columns}")
        task = cls(rows, reference, mixture, leaves, random_state, n_jobs, budget or NO_BUDGET)
        if not task.kept.any():
            raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
        task.budget.refuse_too_few(task.n_kept)
        return task

    @cached_property
    def kept(self) -> Bools:
        """Whether each row is kept, shape (n,): it has a cluster and a weight above 0."""
        kept, weights = self.reference.kept, self.rows.weights
        return kept if weights is None else kept & (weights > 0)

    @cached_property
    def value_range(self) -> tuple[Floats, Floats]:
        """The smallest and the largest value of each column among the kept rows, each of shape (d,)."""
        low, high = ranges_of(self.rows.values, np.where(self.kept, 0, -1), 1, n_jobs=self.n_jobs)
        return low[0], high[0]

    @cached_property
    def means_of_trees(self) -> dict[Any, Any]:
        """The means of rows by leaves, of the last few trees; see `grow._reached`."""
        return {}

    @property
    def n_kept(self) -> int:
        """Number of kept rows."""
        return int(self.kept.sum())

    @cached_property
    def blinkered(self) -> Task:
        """The task as methods see it that look at nothing but the columns they may test; others are zero.

        It has no mixture. Without forbidden columns it is the task itself. Takes memory for the rows.
        """
        hidden = list(self.budget.forbidden)
        if not hidden:
            return self
        values, centers = self.rows.values.copy(order="K"), self.reference.centers.copy()
        values[:, hidden], centers[:, hidden] = 0.0, 0.0
        return replace(
            self, rows=self.rows.mapped(values), reference=self.reference.with_centers(centers), mixture=None
        )

    @property
    def blurred(self) -> str:
        """Names of two clusters whose centres differ only in columns that no cut may test; empty if there are none."""
        return alike_without(self.reference.names, self.reference.centers, self.budget.forbidden)

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

        map_tasks(fill, range(len(order)), n_jobs=self.n_jobs)
        return order

    @cached_property
    def bins(self) -> Bins:
        """The kept rows in bins of each column; made when first asked for, and shared like `order`.

        They come from the order of the columns, but not in a long table, where that takes longer than all else.
        """
        if self.is_long:
            return LooseBins(self.rows.values, self.kept, self.n_jobs)
        return Bins.of(self.rows.values, self.order, self.n_jobs)

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

    @cached_property
    def components(self) -> Mixture:
        """The mixture that made the clusters; if there is none, the clusters' frequencies, means and variances."""
        if self.mixture is not None:
            return self.mixture
        moments = self.reference.moments
        if moments is not None and not math.isclose(moments.weights.sum(), self._kept_weight(), rel_tol=1e-9):
            moments = None  # of other weights than those of the task
        return Mixture.of_reference(self.rows, self.reference, moments=moments, n_jobs=self.n_jobs)

    def _kept_weight(self) -> float:
        weights = self.rows.weights
        return float(self.kept.sum() if weights is None else weights[self.kept].sum())

    def leaves(self, times: int = 1) -> int:
        """Return the number of leaves to grow: `max_leaf_nodes`, or else `times` the number of clusters.

        No tree has more leaves than rows that differ, so a larger number is cut to the number of rows. The budget may
        allow fewer.
        """
        leaves = min(self.max_leaf_nodes or times * self.reference.n_clusters, max(len(self.rows), 2))
        return self.budget.most_leaves(leaves, self.n_kept) if self.budget.limits_shape else leaves

    def of_rows(self, rows: Indices) -> Task:
        """Return the task on some of the rows, with leaves that may be smaller in proportion."""
        budget = self.budget
        if budget.min_samples_leaf > 1:
            budget = budget.for_share(min(int(self.kept[rows].sum()) / self.n_kept, 1.0))
        return replace(self, rows=self.rows.take(rows), reference=self.reference.of_rows(rows), budget=budget)

    def within(self, budget: Budget) -> Task:
        """Return the task with another budget; rows are not sorted again."""
        return self._of_same_rows(replace(self, budget=budget))

    def with_leaves(self, max_leaf_nodes: int | None) -> Task:
        """Return the task with another number of leaves; rows are not sorted again."""
        return self._of_same_rows(replace(self, max_leaf_nodes=max_leaf_nodes))

    def _of_same_rows(self, task: Task) -> Task:
        """Return a task of the same rows, labels and randomness, which is told what is known of these."""
        task.__dict__.update({name: self.__dict__[name] for name in _OF_ROWS if name in self.__dict__})
        return task

    def with_reference(self, reference: Reference) -> Task:
        """Return the task with another clustering of the same rows; what is known of them stays if labels do."""
        task = replace(self, reference=reference)
        return self._of_same_rows(task) if reference.labels is self.reference.labels else task

    def sampled(self, n_rows: int) -> Task:
        """Return the task on a random sample of so many kept rows, or itself if it has no more rows."""
        if len(self.rows) <= n_rows:
            return self
        return self.of_rows(np.sort(self._drawn[:n_rows]))

    @cached_property
    def _drawn(self) -> Indices:
        """The kept rows in random order; a sample takes the first ones, so that a larger one holds a smaller one."""
        rows = np.flatnonzero(self.kept)
        drawn: Indices = rows[check_random_state(self.random_state).permutation(len(rows))]
        return drawn
