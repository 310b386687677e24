"""`TableTask` and `TableReference`: the rows of a source and the clustering to be explained."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import n_threads
from boxwood._types import Floats, Indices
from boxwood._validation import WholeWeights, as_table, listed, refuse_other_kind, refuse_unknown, shown, whole_number
from boxwood.errors import DataError
from boxwood.passes.batches import Batches, Block, Reader, rows_of
from boxwood.passes.labelling import (
    LEFT_OUT,
    MOST_LABELS,
    LabelColumn,
    Labelling,
    NearestCenters,
    codes_of,
    labels_in,
    no_labels,
    refuse_other_labels,
    written,
)
from boxwood.passes.overview import Overview
from boxwood.passes.ranks import medians_in
from boxwood.passes.source import Source
from boxwood.passes.sums import Grid, Means, Ranges, RowSums, SquareSums
from boxwood.reference.budget import NO_BUDGET, Budget
from boxwood.reference.equal_centers import alike_without, distinct, first_of_equal, two_equal
from boxwood.reference.labels import Names, encode_labels, named_clusters
from boxwood.reference.mixture import Mixture
from boxwood.reference.moments import Moments, moments_from

__all__ = ["Measured", "TableReference", "TableTask", "find_labels", "grid_of", "means_in", "moments_in", "ranges_of"]


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
        return None if self.batches.weight is None else self.overview.whole_weights()

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


@dataclass(frozen=True, eq=False)
class Measured:
    """What is known of the clusters of some rows, so that no pass is made twice.

    Parameters
    ----------
    batches : Batches
        The rows, with their clusters and weights.
    overview : Overview
        What one pass tells of them.
    means : Means or None
        Weights and means of the clusters, if they are known.
    """

    batches: Batches
    overview: Overview
    means: Means | None

    def is_of(self, batches: Batches) -> bool:
        """Whether it was measured on these rows, columns, clusters and weights."""
        mine = self.batches
        same_rows = batches.source is mine.source and batches.labelling is mine.labelling
        return same_rows and (batches.columns, batches.weight) == (mine.columns, mine.weight)


@dataclass(frozen=True, eq=False, repr=False)
class TableReference:
    """A clustering of the rows of a source: how each row gets its cluster, a centre and a name for each cluster.

    Parameters
    ----------
    labelling : Labelling
        Gives each row its cluster.
    centers : array-like of shape (k, d)
        Centre of each cluster.
    names : sequence of k hashables, or mapping from cluster to name, default=None
        Name of each cluster; None names them by their numbers.
    measured : Measured, default=None
        What is known of the clusters already; `of` fills it in.
    """

    labelling: Labelling
    centers: Floats
    names: tuple[Hashable, ...] = None  # type: ignore[assignment]
    measured: Measured | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        centers = np.array(as_table(self.centers), dtype=np.float64)
        centers.flags.writeable = False
        object.__setattr__(self, "centers", centers)
        object.__setattr__(self, "names", named_clusters(range(len(centers)), self.names))

    @classmethod
    def of(
        cls,
        source: Source,
        column: Any,
        *,
        center: str = "mean",
        names: Names | None = None,
        sample_weight: str | None = None,
    ) -> TableReference:
        """Return the clustering of the rows of a source by a column of labels; -1 leaves a row out, as text, too.

        Clusters are numbered in ascending order of their labels, and their names are the labels. `names` maps labels to
        other names, `sample_weight` is a column's name. The rows are all other columns of numbers and booleans. Takes
        one pass for labels and ranges, and one for the means, or one to three for medians (`center="median"`). Both are
        those of the rows in memory to the last bit.

        Raises
        ------
        DataError
            If there is no such column, labels are missing or more than 10 000, no row is kept, or values are missing.
        """
        refuse_other_kind("source", source, Source, "name a file, or a table of Arrow, by boxwood.scan")
        refuse_unknown("center", center, ("mean", "median"))
        if not isinstance(column, str):
            raise TypeError(f"labels of {source.name} must be the name of one of its columns, got {shown(column)}")
        batches = rows_of(source, column, sample_weight)
        labels, overview = find_labels(batches, column)
        labelling = LabelColumn(column, labels)
        batches = replace(batches, labelling=labelling)
        means = means_in(batches, overview) if center == "mean" else None
        centers = medians_in(batches, overview) if means is None else means.mean + means.rest
        return cls(labelling, centers, named_clusters(labels, names), measured=Measured(batches, overview, means))

    @classmethod
    def nearest(cls, source: Source, centers: ArrayLike, *, names: Names | None = None) -> TableReference:
        """Return the clustering by the nearest centre, the first of equally near ones; reads no row.

        Raises
        ------
        DataError
            If the source has fewer columns of numbers and booleans than the centres.
        """
        refuse_other_kind("source", source, Source, "name a file, or a table of Arrow, by boxwood.scan")
        points = np.array(as_table(centers), dtype=np.float64)
        n_columns = rows_of(source).n_columns
        if n_columns < points.shape[1]:
            raise DataError(f"the centres have {points.shape[1]} columns, but {source.name} has {n_columns} of numbers")
        return cls(NearestCenters(points), points, named_clusters(range(len(points)), names))

    def of_rows(self, batches: Batches) -> TableReference:
        """Return the clustering of some rows, once it is known that it has a cluster for each of their labels.

        Takes a pass where rows have labels, and these were found in another table; it tells the overview, too.

        Raises
        ------
        DataError
            If the rows have other labels, or some are missing.
        """
        labelling, known = self.labelling, self.measured
        is_known = known is not None and known.batches.source is batches.source
        if is_known or not isinstance(labelling, LabelColumn):
            return self
        rows = replace(batches, labelling=labelling)
        labels, overview = find_labels(rows, labelling.column, all_weighted=False)
        if others := [str(label) for label in labels if label not in labelling.labels]:
            raise DataError(
                f"labels in column {labelling.column!r} of {batches.source.name} that the reference does not have: "
                f"{listed(others)}; make one of this table, Reference.of(table, {labelling.column!r})"
            )
        places = [labelling.labels.index(label) for label in labels]
        return replace(self, measured=Measured(rows, overview.placed(places, self.n_clusters), None))

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)

    def named(self, names: Names) -> TableReference:
        """Return the clustering with other names."""
        return replace(self, names=named_clusters(self.names, names))

    @property
    def equal_pair(self) -> str:
        """Names of two clusters with equal centres, such as "a and b"; empty if all centres differ."""
        return two_equal(self.names, self.centers)

    def first_of_equal_centers(self) -> Indices:
        """Return for each cluster the first cluster that has the same centre, shape (k,)."""
        return first_of_equal(self.centers)

    def distinct_clusters(self, duplicates: str = "error") -> Indices:
        """Return for each cluster the first one with the same centre, if all centres differ or may be merged.

        See `Reference.with_distinct_centers`.
        """
        return distinct(self.names, self.centers, duplicates)

    def __repr__(self) -> str:
        return f"TableReference(n_clusters={self.n_clusters}, n_columns={self.centers.shape[1]})"


class FoundLabels(NamedTuple):
    """The labels of a column in ascending order, and the overview of the rows by these clusters."""

    labels: tuple[Hashable, ...]
    overview: Overview


def find_labels(batches: Batches, column: str, *, all_weighted: bool = True) -> FoundLabels:
    """Return the labels of a column but for -1 and "-1", from one pass.

    IN: all_weighted, whether each needs a row with weight, as clusters do that have no other centre than their mean.

    Raises
    ------
    DataError
        If labels are missing, there is none, there are more than 10 000, or one lacks the weight that it needs.
    """
    source = batches.source
    if source.kinds[source.names.index(column)] == "other":
        raise no_labels(source.name, column)
    names = [*batches.columns, *([] if batches.weight is None else [batches.weight]), source.label_name(column)]
    make = partial(_Labels, batches.n_columns, batches.weight is not None, source.missing_labels)
    found = batches.source.run(make, names, batches.n_jobs)
    _refuse_unusable(found, batches, column)
    given: list[Any] = list(found.places)
    if source.missing_labels and all(isinstance(label, str) for label in given):
        given = list(labels_in(given).values())
    codes, labels = encode_labels(_as_given(given))
    overview = found.overview.placed(codes.tolist(), len(labels))
    overview.refuse_unusable(batches.columns)
    empty = [str(label) for label, size in zip(labels, overview.sizes.tolist(), strict=True) if size == 0]
    if empty and all_weighted:
        raise DataError(
            f"clusters without weight: {listed(empty)}; leave their rows out (label -1), or weigh some of them"
        )
    return FoundLabels(labels, overview)


class _Labels:
    """A summary of record batches: the place of each label that was seen, and an overview by these places."""

    def __init__(self, n_columns: int, is_weighted: bool, marks: tuple[str, ...]) -> None:
        self.reader = Reader(
            n_values=n_columns, taken=list(range(n_columns)), weight_at=n_columns if is_weighted else -1
        )
        self.label_at = n_columns + is_weighted
        self.places: dict[Hashable, int] = {}
        self.overview = Overview(0, n_columns)
        self.marks, self.missing, self.too_many = marks, 0, False

    def update(self, batch: Any, start: int | None) -> None:
        """Add a record batch."""
        block = self.reader.block(batch)
        labels = self._codes(batch.column(self.label_at))
        self.overview.update(Block(block.values, labels, block.weights))

    def merge(self, other: _Labels) -> None:
        """Add what another summary has seen."""
        self.missing, self.too_many = self.missing + other.missing, self.too_many or other.too_many
        places = self._places(list(other.places))
        if self.too_many:
            return
        self.overview.merge(other.overview.placed(places, len(self.places)))

    def _codes(self, column: Any) -> Indices:
        """Return the place of each label of a batch, -1 for rows that are left out."""
        codes, distinct = codes_of(column, of_file=bool(self.marks))
        if self.marks:  # of a file
            distinct = [written(value, column.type) for value in distinct]
        absent = [value != value or value == "" or self._is_mark(value) for value in distinct]
        self.missing += int(np.array([*absent, True])[codes].sum())  # the last one stands for NULL
        left_out = [
            none or value == -1 or value in (LEFT_OUT if self.marks else LEFT_OUT[:1])
            for value, none in zip(distinct, absent, strict=True)
        ]
        places = iter(self._places([value for value, out in zip(distinct, left_out, strict=True) if not out]))
        by_code = np.array([-1 if out or self.too_many else next(places) for out in left_out] + [-1], dtype=np.intp)
        return by_code[codes]

    def _is_mark(self, value: Any) -> bool:
        return isinstance(value, str) and value.strip().lower() in self.marks

    def _places(self, labels: list[Hashable]) -> list[int]:
        """Return the place of each label, with new places for new ones; none if there are too many."""
        new = [label for label in labels if label not in self.places]
        self.too_many = self.too_many or len(self.places) + len(new) > MOST_LABELS
        if self.too_many:  # nothing but their number matters any more
            return []
        if new:
            old = list(self.places.values())
            self.places |= {label: len(old) + i for i, label in enumerate(new)}
            self.overview = self.overview.placed(old, len(self.places))
        return [self.places[label] for label in labels]


def _refuse_unusable(found: _Labels, batches: Batches, column: str) -> None:
    where = f"column {column!r} of {batches.source.name}"
    if found.missing:
        raise DataError(
            f"{found.missing} of {found.overview.n_rows} labels in {where} are missing; use -1 for rows to leave out"
        )
    if found.too_many:
        raise DataError(
            f"{where} has more than {MOST_LABELS} different values; expected labels of clusters, "
            "one for each row; name the column that holds them"
        )
    n_labels = len(found.places)
    if n_labels == 0 or batches.source.missing_labels:
        refuse_other_labels(batches.source.name, column, 0, n_labels, found.overview.n_rows)


def _as_given(labels: list[Any]) -> Any:
    """Return labels as `encode_labels` gets them from a table in memory: numbers and booleans as an array."""
    is_plain = all(isinstance(label, (bool, int, float)) for label in labels)
    is_huge = any(isinstance(label, int) and abs(label) >= 1 << 63 for label in labels)  # which numpy may round
    return np.array(labels) if is_plain and not is_huge else labels


def means_in(batches: Batches, overview: Overview) -> Means:
    """Return weights and means of clusters, from one pass."""
    return batches.fold(partial(RowSums, ranges_of(batches, overview))).means()


def moments_in(batches: Batches, overview: Overview, means: Means) -> Moments:
    """Return the moments of clusters with these means, from one pass."""
    squares = batches.fold(partial(SquareSums, ranges_of(batches, overview), means))
    return moments_from(means, squares.squares())


def grid_of(batches: Batches, overview: Overview) -> Grid:
    """Return the grid on which sums over the rows are exact."""
    weights = () if batches.weight is None else (overview.heaviest, overview.lightest)
    return Grid(overview.n_kept, *weights)


def ranges_of(batches: Batches, overview: Overview) -> Ranges:
    """Return what must be known before the rows of clusters are added up."""
    return Ranges(overview.least, overview.most, grid_of(batches, overview))
