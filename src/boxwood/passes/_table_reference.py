"""`TableReference`: the clusters of a table that is read in batches."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood._validation import as_table, listed, refuse_other_kind, refuse_unknown, shown
from boxwood.errors import DataError
from boxwood.passes._batches import Batches, rows_of
from boxwood.passes._find_labels import find_labels
from boxwood.passes._labelling import LabelColumn, Labelling, NearestCenters
from boxwood.passes._means import means_in
from boxwood.passes._medians import medians_in
from boxwood.passes._overview import Overview
from boxwood.passes._source import Source
from boxwood.reference._equal_centers import distinct, first_of_equal, two_equal
from boxwood.reference._names import Names, named_clusters
from boxwood.reference._sums import Means

__all__ = ["Measured", "TableReference"]


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
            If there is no such column, labels are missing or more than 10 000, no row is kept, or values are missing;
            if medians are asked for, and weights are not whole.
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
