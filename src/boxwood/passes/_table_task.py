"""`TableTask`: the rows of a source and the clustering to be explained; what `Task` is for rows in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from boxwood._threads import n_threads
from boxwood._types import Floats
from boxwood._validation import WholeWeights, refuse_other_kind, whole_number
from boxwood.errors import DataError
from boxwood.passes._batches import Batches, rows_of
from boxwood.passes._means import means_in, moments_in
from boxwood.passes._overview import Overview
from boxwood.passes._source import Source
from boxwood.passes._table_reference import Measured, TableReference
from boxwood.reference._budget import NO_BUDGET, Budget
from boxwood.reference._equal_centers import alike_without
from boxwood.reference._mixture import Mixture
from boxwood.reference._sums import Means

__all__ = ["TableTask"]


@dataclass(frozen=True)
class TableTask:
    """The rows and the clustering that a tree explains, and the size of the tree, where rows come in batches.

    Parameters
    ----------
    batches : Batches
        Rows with their clusters and weights.
    reference : TableReference
        Names and centres of the clusters; centres have the columns of the rows.
    max_leaf_nodes, random_state, budget, mixture :
        As in `Task`.
    """

    batches: Batches
    reference: TableReference
    max_leaf_nodes: int | None = None
    random_state: Any = None
    budget: Budget = NO_BUDGET
    mixture: Mixture | None = None

    @classmethod
    def of(
        cls,
        X: Source | Batches,
        reference: TableReference,
        *,
        sample_weight: str | None = None,
        mixture: Mixture | None = None,
        max_leaf_nodes: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = -1,
        budget: Budget | None = None,
    ) -> TableTask:
        """Return the task of explaining a clustering of the rows of a source; `sample_weight` is a column's name.

        `n_jobs` is the number of threads, of each pass, too.

        Raises
        ------
        DataError
            If rows and centres do not fit together, or the rows have labels that the reference does not have.
        TypeError, ValueError
            If the reference is none of a source, or a number is no whole number or out of its range.
        """
        instead = "make one of a table in batches: Reference.of(table, 'column') or Reference.nearest(table, centers)"
        refuse_other_kind("reference", reference, TableReference, instead)
        leaves = None if max_leaf_nodes is None else whole_number("max_leaf_nodes", max_leaf_nodes, 1)
        n_threads(n_jobs)
        batches = X if isinstance(X, Batches) else rows_of(X, reference.labelling.column_read, sample_weight)
        if batches.n_columns != reference.centers.shape[1]:
            raise DataError(
                f"the table has {batches.n_columns} columns, but the reference's centres have "
                f"{reference.centers.shape[1]} columns"
            )
        reference = reference.of_rows(batches)
        if batches.store is None or batches.labelling is not reference.labelling:
            batches = replace(batches, labelling=reference.labelling).with_stored_labels(reference.n_clusters)
        return cls(replace(batches, n_jobs=n_jobs), reference, leaves, random_state, budget or NO_BUDGET, mixture)

    @property
    def n_jobs(self) -> int | None:
        """Number of threads, as `n_jobs` of `explain`."""
        return self.batches.n_jobs

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
        shape = self.reference.n_clusters, self.batches.n_columns
        overview = self.batches.fold(partial(Overview, *shape))
        overview.refuse_unusable(self.batches.columns)
        return overview

    @cached_property
    def means(self) -> Means:
        """The clusters' weights and means, from one pass, if the reference does not know them."""
        measured = self._measured
        known = None if measured is None else measured.means
        return means_in(self.batches, self.overview) if known is None else known

    @cached_property
    def components(self) -> Mixture:
        """The mixture, or else the clusters' frequencies, means and variances.

        These are those of the same rows in memory to the last bit. They take one pass besides those for `overview` and
        `means`.
        """
        if self.mixture is not None:
            return self.mixture
        moments = moments_in(self.batches, self.overview, self.means)
        present = [c for c, weight in enumerate(moments.weights.tolist()) if weight > 0]
        return Mixture.of_moments(moments, names=[self.reference.names[c] for c in present], clusters=present)

    @property
    def _measured(self) -> Measured | None:
        known = self.reference.measured
        return known if known is not None and known.is_of(self.batches) else None

    @cached_property
    def whole_weights(self) -> WholeWeights | None:
        """How weights become whole numbers, the same as in memory; None where every row weighs 1."""
        if self.batches.weight is None:
            return None
        heaviest = self.overview.heaviest
        return WholeWeights.scaling(heaviest, math.ldexp(self.overview.total_weight(), -math.frexp(heaviest)[1]))

    @property
    def ranges(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of each column among the kept rows, each of shape (d,)."""
        return self.overview.least.min(axis=0), self.overview.most.max(axis=0)

    @property
    def n_kept(self) -> int:
        """Number of rows with a cluster and a weight above 0."""
        return self.overview.n_kept

    def within(self, budget: Budget) -> TableTask:
        """Return the task with another budget; nothing is read again."""
        task = replace(self, budget=budget)
        known = ("overview", "means", "components", "whole_weights")
        task.__dict__.update({name: self.__dict__[name] for name in known if name in self.__dict__})
        return task

    @property
    def blurred(self) -> str:
        """Names of two clusters whose centres differ only in columns that no cut may test; empty if there are none."""
        return alike_without(self.reference.names, self.reference.centers, self.budget.forbidden)

    def leaves(self, times: int = 1) -> int:
        """Return the number of leaves to grow: `max_leaf_nodes`, or else `times` the number of clusters.

        The budget may allow fewer.
        """
        leaves = min(self.max_leaf_nodes or times * self.reference.n_clusters, max(self.overview.n_rows, 2))
        return self.budget.most_leaves(leaves, self.n_kept) if self.budget.limits_shape else leaves
