"""`Tally`: what is kept of a table, so that trees grow from it in milliseconds; tallies of tables add up."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Ints
from boxwood._validation import as_table, listed, refuse_other_kind, whole_number
from boxwood.errors import DataError
from boxwood.explanation._tally_bins import BinCounts, edges_around
from boxwood.explanation._tally_rows import batches_in, refuse_other_columns, rows_in_memory
from boxwood.passes import Batches, NearestCenters, Source, TableReference, TableTask
from boxwood.passes._means import means_in, moments_in
from boxwood.passes._overview import Overview
from boxwood.passes._source import refuse_unscanned
from boxwood.passes._together import Together
from boxwood.reference import Mixture, Moments, Reference
from boxwood.reference._budget import as_names
from boxwood.reference._moments import moments_of
from boxwood.reference._names import Names, named_clusters
from boxwood.tree import ThresholdTree

__all__ = ["N_BINS", "Tally"]

N_BINS, MOST_BINS = 256, 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """Counts of rows by cluster, column and bin, and the clusters' moments, under fixed centres.

    Yesterday's tally and today's add up to that of both days, and a tree grows from it without any row. A tally is made
    by `Tally.of`, and kept in a file by `save`. Every row counts 1.

    Parameters
    ----------
    centers : array of shape (k, d)
        Centre of each cluster.
    n_bins : int
        Number of steps between the outermost centres of a column; see `edges`.
    counts : array of shape (k, d, e + 1)
        Number of rows of each cluster by column and bin, for e edges.
    moments : Moments
        Numbers, means and variances of the rows of each cluster.
    columns : tuple of d str
        Names of the columns.
    names : sequence of k hashables, or mapping from cluster to name, default=None
        Name of each cluster; None names them by their numbers.

    Raises
    ------
    DataError
        If the parts do not fit together.

    Examples
    --------
    >>> monday = Tally.of([[1.0], [2.0], [8.0]], [[1.0], [9.0]])
    >>> tuesday = Tally.of([[3.0], [9.0], [9.5]], monday)
    >>> both = monday + tuesday
    >>> both.sizes.tolist(), both.imm().to_dict()["threshold"], round(both.mmdt().to_dict()["threshold"], 3)
    ([3, 3], 5.46875, 5.417)
    """

    centers: Floats
    n_bins: int
    counts: Ints
    moments: Moments
    columns: tuple[str, ...]
    names: tuple[Hashable, ...] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        refuse_other_kind("moments", self.moments, Moments, "make a tally by Tally.of")
        _number_of_bins(self.n_bins)
        centers = np.array(as_table(self.centers), dtype=np.float64)
        counts = np.array(self.counts)
        for name, value in (("centers", centers), ("counts", counts)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "columns", as_names("columns", self.columns))
        object.__setattr__(self, "names", named_clusters(range(len(centers)), self.names))
        self._refuse_misfit()

    def _refuse_misfit(self) -> None:
        k, d = self.centers.shape
        if len(self.columns) != d:
            raise DataError(f"the centres have {d} columns, but there are {len(self.columns)} names of columns")
        shape = k, d, self.edges.shape[1] + 1
        if self.counts.shape != shape or self.counts.dtype != np.int64:
            raise DataError(
                f"counts must be whole numbers of shape {shape}; got {self.counts.dtype}, {self.counts.shape}"
            )
        sums = self.counts.sum(axis=2)
        if (self.counts < 0).any() or (sums != sums[:, :1]).any():
            raise DataError("counts must not be negative, and add up to the same number of rows in every column")
        moments = self.moments
        if moments.origins.shape != (k, d) or (moments.weights != sums[:, 0]).any():
            raise DataError("the moments are not of the rows that were counted")

    @classmethod
    def of(
        cls,
        X: Any,
        clusters: Tally | Reference | TableReference | ArrayLike,
        *,
        n_bins: int = N_BINS,
        names: Names | None = None,
    ) -> Tally:
        """Return the tally of the rows of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n, d), or a table in batches
            Rows. A table in batches takes three passes.
        clusters : Tally, Reference, TableReference, or array-like of shape (k, d)
            What gives each row its cluster. With centres, rows belong to the nearest. With another tally they belong to
            the nearest of its centres, and columns, names and bins are that tally's, so that both add up: columns of a
            frame are found by name, those of an array are taken in order. With a reference of the same rows, rows of
            label -1 are left out.
        n_bins : int, default=256
            Number, up to 65536, of steps between the outermost centres of a column.
        names : sequence of k hashables, or mapping from cluster to name, default=None
            Name of each cluster; None takes those of `clusters`, or numbers.

        Raises
        ------
        DataError
            If rows and clusters do not fit together, values are missing, or the columns are not those of the tally.
        """
        refuse_unscanned(X)
        known = clusters.columns if isinstance(clusters, Tally) else None
        if isinstance(clusters, Tally):
            n_bins, names = clusters.n_bins, clusters.names if names is None else names
            clusters = clusters.centers
        n_bins = _number_of_bins(n_bins)
        if isinstance(X, (Source, Batches)):
            return _of_batches(cls, X, clusters, n_bins, names, known)
        if isinstance(clusters, TableReference):
            raise TypeError("a reference of a table in batches is for that table; for rows in memory give centres")
        rows, columns = rows_in_memory(X, known)
        reference = clusters if isinstance(clusters, Reference) else Reference.nearest(rows, clusters)
        if len(reference.labels) != len(rows):
            raise DataError(f"X has {len(rows)} rows, but there are {len(reference.labels)} labels")
        if reference.centers.shape[1] != rows.n_columns:
            raise DataError(f"X has {rows.n_columns} columns, but the centres have {reference.centers.shape[1]}")
        bins = BinCounts(edges_around(reference.centers, n_bins), reference.n_clusters)
        bins.update_rows(rows.values, reference.labels)
        moments = moments_of(rows, reference.labels, reference.n_clusters, n_jobs=-1)
        named = reference.names if names is None else names
        return cls(reference.centers, n_bins, bins.counts, moments, columns, named)  # type: ignore[arg-type]

    @cached_property
    def edges(self) -> Floats:
        """Edges of the bins of each column, ascending, shape (d, e); infinite where a column has fewer edges.

        They divide the way from the least to the greatest centre into `n_bins` equal steps; midpoints between
        neighbouring centres are edges, too, so that there is a cut between any two of them.
        """
        return edges_around(self.centers, self.n_bins)

    @property
    def sizes(self) -> Ints:
        """Number of rows of each cluster, shape (k,)."""
        return np.asarray(self.counts[:, 0].sum(axis=1))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sizes.sum())

    @property
    def mixture(self) -> Mixture:
        """Frequencies, means and variances of the clusters that have rows."""
        present = np.flatnonzero(self.sizes > 0)
        return Mixture.of_moments(self.moments, names=[self.names[c] for c in present], clusters=present)

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of the rows of both, with the names of this one. The order changes variances by rounding."""
        if not isinstance(other, Tally):
            return NotImplemented
        refuse_other_columns(other.columns, self.columns)
        if other.columns != self.columns:
            orders = f"{listed(self.columns)}, and {listed(other.columns)}"
            raise DataError(f"the columns of the tallies are not in one order: {orders}")
        if not np.array_equal(self.centers, other.centers) or self.n_bins != other.n_bins:
            raise DataError(
                "tallies of different centres or bins do not add up; count the new rows under the first one's centres: "
                "Tally.of(X, first)"
            )
        counts, moments = self.counts + other.counts, self.moments + other.moments
        return Tally(self.centers, self.n_bins, counts, moments, self.columns, self.names)

    def imm(self) -> ThresholdTree:
        """Return the tree of IMM on the bins: one leaf for each centre. Takes milliseconds, and reads no row.

        Each node takes the cut with the fewest mistakes among the edges of the bins. Of equally good cuts it takes the
        lowest column, and there the middle of the widest gap. There are two differences to `grow.imm`: thresholds are
        edges, and a row that is a mistake at one node is counted again further down, as bins do not tell which row it
        is.

        Raises
        ------
        DataError
            If two centres are equal, which no cut separates.
        """
        from boxwood.explanation._tally_tree import tree_of_bins

        return tree_of_bins(self.counts, self.edges, self.centers, self.names)

    def mmdt(self, **options: Any) -> ThresholdTree:
        """Return the tree of MMDT, which needs means and variances alone; so it is that of the rows, but for rounding.

        `options` are those of `grow.mmdt`.
        """
        from boxwood.grow import mmdt

        return mmdt(self.mixture, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file, in full or not at all. Names of clusters must be text, numbers or booleans."""
        from boxwood.explanation._tally_file import write

        write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tally:
        """Return the tally in a file; reading it runs nothing.

        Raises
        ------
        ModelError
            If the file is damaged or is none of a tally.
        OSError
            If it cannot be read.
        """
        from boxwood.explanation._tally_file import read

        return read(path)

    def __repr__(self) -> str:
        k, d = self.centers.shape
        return f"Tally(n_clusters={k}, n_columns={d}, n_rows={self.n_rows})"


def _of_batches(
    cls: type[Tally],
    X: Source | Batches,
    clusters: Any,
    n_bins: int,
    names: Names | None,
    known: tuple[str, ...] | None,
) -> Tally:
    """Return the tally of a table in batches."""
    X = X if known is None else batches_in(X, known)
    reference = clusters
    if not isinstance(clusters, TableReference):
        if isinstance(clusters, Reference):
            raise TypeError("a table in batches needs a reference of its own: Reference.of(table, 'column')")
        centers = np.array(as_table(clusters), dtype=np.float64)
        reference = TableReference(NearestCenters(centers), centers)
    batches = TableTask.of(X, reference).batches
    if batches.weight is not None:
        raise DataError(f"a tally counts every row once, but rows are weighed by {batches.weight!r}; leave that out")
    k, d = reference.centers.shape
    counting = partial(BinCounts, edges_around(reference.centers, n_bins), k)
    bins, overview = batches.fold(partial(Together, (counting, partial(Overview, k, d)))).parts
    overview.refuse_unusable(batches.columns)
    moments = moments_in(batches, overview, means_in(batches, overview))
    named = reference.names if names is None else names
    return cls(reference.centers, n_bins, bins.counts, moments, batches.columns, named)  # type: ignore[arg-type]


def _number_of_bins(n_bins: Any) -> int:
    number = whole_number("n_bins", n_bins, 1)
    if number > MOST_BINS:
        raise ValueError(f"n_bins must be at most {MOST_BINS}, got {number}")
    return number
