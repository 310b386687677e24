"""`Tally`: what is kept of a table, so that trees grow from it in milliseconds; tallies of tables add up."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._files import replacing
from boxwood._frames import as_matrix, column_names, is_frame
from boxwood._threads import BLOCK_ROWS
from boxwood._types import Array, Bools, Floats, Indices, Ints, Weights
from boxwood._validation import Rows, as_table, listed, refuse_other_kind, shown, whole_number
from boxwood.errors import DataError, ModelError
from boxwood.grow.grown import Split, grow_by_cuts
from boxwood.passes import Batches, NearestCenters, Source
from boxwood.passes.batches import Together, rows_of
from boxwood.passes.overview import Overview
from boxwood.passes.source import refuse_unscanned
from boxwood.reference import Mixture, Moments, Reference, Task
from boxwood.reference.budget import as_names
from boxwood.reference.coordinates import default_columns
from boxwood.reference.labels import Names, named_clusters
from boxwood.reference.moments import moments_of
from boxwood.reference.streamed import means_in, moments_in
from boxwood.tree import ThresholdTree

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
        clusters: Tally | Reference | ArrayLike,
        *,
        n_bins: int = N_BINS,
        names: Names | None = None,
    ) -> Tally:
        """Return the tally of the rows of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n, d), or a table in batches
            Rows, of numbers: words go in as columns of 0 and 1, one for each value, and gaps filled, beside such a
            column. A table in batches takes three passes.
        clusters : Tally, Reference, or array-like of shape (k, d)
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
        if isinstance(clusters, Reference) and clusters.in_batches:
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

        return tree_of_bins(self.counts, self.edges, self.centers, self.names)

    def mmdt(self, **options: Any) -> ThresholdTree:
        """Return the tree of MMDT, which needs means and variances alone; so it is that of the rows, but for rounding.

        `options` are those of `grow.mmdt`.
        """
        from boxwood.grow import mmdt

        return mmdt(self.mixture, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file, in full or not at all. Names of clusters must be text, numbers or booleans."""

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
    if not isinstance(clusters, Reference):
        centers = np.array(as_table(clusters), dtype=np.float64)
        reference = Reference(NearestCenters(centers), centers)
    elif not clusters.in_batches:
        raise TypeError("a table in batches needs a reference of its own: Reference.of(table, 'column')")
    batches = Task.of(X, reference).batches
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


def edges_around(centers: Floats, n_bins: int) -> Floats:
    """Return the edges of the bins of each column, ascending, shape (d, e); infinite where a column has fewer edges.

    An edge is a threshold that separates some centres: at least the least centre, and less than the greatest.
    """
    columns = [_edges(np.unique(values), n_bins) for values in centers.T]
    edges = np.full((len(columns), max(map(len, columns))), np.inf)
    for j, column in enumerate(columns):
        edges[j, : len(column)] = column
    return edges


def _edges(values: Floats, n_bins: int) -> Floats:
    low, high = values[0], values[-1]
    share = np.arange(n_bins) / n_bins
    steps = low * (1 - share) + high * share  # halves of the range: the range itself may overflow
    middles = values[:-1] / 2 + values[1:] / 2
    middles = np.where((values[:-1] <= middles) & (middles < values[1:]), middles, values[:-1])
    edges = np.unique(np.concatenate([steps, middles]))
    return np.asarray(edges[(low <= edges) & (edges < high)])


class BinCounts:
    """Number of rows of each cluster by column and bin: a summary of blocks."""

    def __init__(self, edges: Floats, n_clusters: int) -> None:
        self.edges = edges
        self.counts: Ints = np.zeros((n_clusters, len(edges), edges.shape[1] + 1), dtype=np.int64)

    def update(self, block: tuple[Array, Indices, Weights]) -> None:
        """Add a block of rows; bin b of a column holds values above edge b - 1, and up to edge b."""
        X, labels, _ = block
        kept = labels >= 0
        clusters = labels[kept]
        k, d, n_bins = self.counts.shape
        for j in range(d):
            bins = np.searchsorted(self.edges[j], X[kept, j])
            self.counts[:, j] += np.bincount(clusters * n_bins + bins, minlength=k * n_bins).reshape(k, n_bins)

    def update_rows(self, X: Array, labels: Indices) -> None:
        """Add all rows of a table in memory, block by block."""
        for start in range(0, len(X), BLOCK_ROWS):
            self.update((X[start : start + BLOCK_ROWS], labels[start : start + BLOCK_ROWS], None))

    def merge(self, other: BinCounts) -> None:
        """Add other counts in the same bins."""
        self.counts += other.counts


def rows_in_memory(X: Any, known: Sequence[str] | None) -> tuple[Rows, tuple[str, ...]]:
    """Return the rows of an array or a frame, and the names of their columns: those that are known, if any are.

    The columns of a frame are found by their names, in any order.
    """
    if is_frame(X):
        columns: Sequence[str] = column_names(X)
        if known is not None:
            refuse_other_columns(columns, known)
            columns = known
        return Rows.of(as_matrix(X, columns)), tuple(columns)
    rows = Rows.of(X)
    return rows, default_columns(rows.n_columns) if known is None or len(known) != rows.n_columns else tuple(known)


def batches_in(X: Source | Batches, known: Sequence[str]) -> Batches:
    """Return the rows of a table in batches, with the columns that are known."""
    batches = rows_of(X) if isinstance(X, Source) else X
    refuse_other_columns(batches.columns, known)
    return replace(batches, columns=tuple(known))


def refuse_other_columns(columns: Sequence[str], known: Sequence[str]) -> None:
    """Raise a DataError that names the columns that a tally does not have, and those that it has besides."""
    lacking = [name for name in known if name not in columns]
    others = [name for name in columns if name not in known]
    said = [f"without {listed(lacking)}"] * bool(lacking) + [f"with {listed(others)}"] * bool(others)
    if said:
        raise DataError(
            f"the columns are not those of the first tally ({listed(known)}): {', '.join(said)}; count the same columns"
        )


FORMAT, VERSION = "boxwood tally", 1
_MOMENTS = ("weights", "origins", "offsets", "squares")
_NAMES = (str, int, float, bool)
_DAMAGE = (ValueError, TypeError, KeyError, EOFError, OverflowError, MemoryError, NotImplementedError)


def write(tally: Tally, path: str | os.PathLike[str]) -> None:
    """Write a tally to a file, which is renamed when it is complete."""
    names = [name.item() if isinstance(name, np.generic) else name for name in tally.names]
    if strange := [name for name in names if not isinstance(name, _NAMES)]:
        raise DataError(f"names of clusters in a file must be text, numbers or booleans; got {shown(strange[0])}")
    heading = {
        "format": FORMAT,
        "version": VERSION,
        "n_bins": tally.n_bins,
        "columns": list(tally.columns),
        "names": names,
    }
    arrays = {name: getattr(tally.moments, name) for name in _MOMENTS}
    text = np.frombuffer(json.dumps(heading).encode(), dtype=np.uint8)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, heading=text, centers=tally.centers, counts=tally.counts, **arrays)


def read(path: str | os.PathLike[str]) -> Tally:
    """Return the tally in a file."""
    with open(os.fspath(path), "rb") as file:  # not the number of an open file
        try:
            if file.read(2) != b"PK":
                raise ValueError("it is no archive of numpy")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return _tally(arrays)
        except (*_DAMAGE, zipfile.BadZipFile, zlib.error) as error:
            raise ModelError(f"{os.fspath(path)} is no tally, or is damaged: {error}") from None


def _tally(arrays: Any) -> Tally:
    heading = json.loads(arrays["heading"].tobytes())
    if not isinstance(heading, dict) or heading.get("format") != FORMAT:
        raise ValueError("its heading names another format")
    if heading["version"] != VERSION:
        raise ValueError(f"it has version {heading['version']!r}, and this boxwood reads version {VERSION}")
    columns, names = heading["columns"], heading["names"]
    if not all(isinstance(name, str) for name in columns) or not all(isinstance(name, _NAMES) for name in names):
        raise ValueError("names of columns must be text, those of clusters text, numbers or booleans")
    moments = Moments(*(arrays[name] for name in _MOMENTS))
    return Tally(arrays["centers"], heading["n_bins"], arrays["counts"], moments, tuple(columns), tuple(names))


def tree_of_bins(counts: Ints, edges: Floats, centers: Floats, names: Sequence[Hashable]) -> ThresholdTree:
    """See `Tally.imm`."""
    left = np.cumsum(counts, axis=2)  # (k, d, e + 1): rows of each cluster up to each edge
    is_left = centers[:, :, None] <= edges  # (k, d, e): whether the centre is

    def step(clusters: Indices) -> int | Split[Indices]:
        if len(clusters) == 1:
            return int(clusters[0])
        sides = is_left[clusters]
        separates = sides.any(axis=0) & ~sides.all(axis=0)
        if not separates.any():
            equal = [str(names[c]) for c in clusters]
            raise DataError(f"clusters with equal centres, which no cut separates: {listed(equal)}; make them one")
        before, all_rows = left[clusters, :, :-1], left[clusters, :, -1:]
        mistakes = np.where(sides, all_rows - before, before).sum(axis=0)
        best = separates & (mistakes == mistakes[separates].min())
        j = int(np.argmax(best.any(axis=1)))
        i = _middle_of_widest(best[j], edges[j])
        on_left = sides[:, j, i]
        return Split(j, float(edges[j, i]), clusters[on_left], clusters[~on_left])

    return grow_by_cuts(np.arange(len(centers)), step)


def _middle_of_widest(wanted: Bools, edges: Floats) -> int:
    """Return the middle one of the run of wanted edges that is widest, the first of equally wide ones."""
    indices = np.flatnonzero(wanted)
    runs = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    widths = [edges[run[-1]] / 2 - edges[run[0]] / 2 for run in runs]
    run = runs[int(np.argmax(widths))]
    return int(run[(len(run) - 1) // 2])
