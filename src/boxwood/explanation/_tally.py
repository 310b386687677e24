"""`Tally`: what is kept of a table, so that trees grow from it in milliseconds; tallies of tables add up."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._dates import DATE_FORMS, Dates
from boxwood._files import replacing
from boxwood._types import Floats, Ints
from boxwood._validation import as_table, list_words, refuse_other_kind, refuse_unscanned, show_value, whole_number
from boxwood.axes import Categories
from boxwood.errors import DataError, ModelError
from boxwood.explanation._tally_rows import (
    GIVE_LABELS,
    First,
    edges_of,
    labelled_rows,
    refuse_other_columns,
    rows_with_reference,
    summarize_rows,
)
from boxwood.explanation._tally_tree import tree_of_bins, with_sides
from boxwood.explanation.records import cluster_rules_of
from boxwood.reference import Mixture, Moments, Reference
from boxwood.reference.budget import as_names
from boxwood.reference.labels import Names, named_clusters
from boxwood.tree import ThresholdTree
from boxwood.tree.tree import refuse_no_tree

N_BINS, MOST_BINS = 256, 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """Counts of rows by cluster, column and bin, and the clusters' moments, under fixed centres.

    Yesterday's tally and today's add up to that of both days, and a tree grows from it without any row. A tally is made
    by `Tally.of`, and kept in a file by `save`. Every row counts 1. Words are counted as they are, each in a bin of its
    own. A missing number is in no bin, and enters neither mean nor variance.

    Parameters
    ----------
    centers : array of shape (k, d)
        Centre of each cluster; 0 in a column of words, where the shares of the words are counted.
    n_bins : int
        Number of steps between the outermost centres of a column; see `edges`.
    counts : array of shape (k, d, e + 1)
        Number of values of each cluster by column and bin, for e edges.
    moments : Moments
        Numbers of the rows of each cluster, and means and variances of the values that they have.
    columns : tuple of d str
        Names of the columns.
    names : sequence of k hashables, or mapping from cluster to name, default=None
        Name of each cluster; None names them by their numbers.
    categories : tuple of pairs (column, Categories), default=()
        Columns of words, and their values: bin b counts value b. None stands for a missing one.
    dates : tuple of pairs (column, Dates), default=()
        Columns of dates, which are days since the beginning of 1970.

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

    Words and gaps:

    >>> rows = [["AT", 20.0], ["AT", None], ["CH", 60.0], ["CH", None]]
    >>> import pandas as pd
    >>> both = Tally.of(pd.DataFrame(rows, columns=["country", "age"]), ["new", "new", "loyal", "loyal"])
    >>> both.rules(both.imm())
    {'loyal': 'country is CH', 'new': 'country is AT'}
    """

    centers: Floats
    n_bins: int
    counts: Ints
    moments: Moments
    columns: tuple[str, ...]
    names: tuple[Hashable, ...] = None  # type: ignore[assignment]
    categories: tuple[tuple[str, Categories], ...] = ()
    dates: tuple[tuple[str, Dates], ...] = ()

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
        if (self.counts < 0).any():
            raise DataError("counts must not be negative")
        is_one = self.moments.origins.shape == (k, d)
        lacking = self.sizes[:, None] - self._held if is_one else np.full((k, d), -1)
        if (lacking < 0).any() or lacking[:, list(self._coded_columns)].any():
            raise DataError("the moments are not of the rows that were counted")

    @classmethod
    def of(
        cls,
        X: Any,
        clusters: Tally | Reference | ArrayLike | str,
        *,
        like: Tally | None = None,
        n_bins: int = N_BINS,
        names: Names | None = None,
    ) -> Tally:
        """Return the tally of the rows of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n, d), or a table in batches
            Rows. With labels they may have words, and lack values; a row without any value is left out. Texts of a
            frame that are dates count as dates, as in `explain`. A table in batches takes three passes, one more for
            labels, and one more for words.
        clusters : Tally, Reference, labels, column, or array-like of shape (k, d)
            What gives each row its cluster. Labels are one for each row, of any hashable type, or the name of a column
            that holds them; those of -1 and missing ones leave rows out. The centres are then the means. With centres,
            shape (k, d), rows belong to the nearest. With another tally they belong to the nearest of its centres, and
            it is that of `like`, too. With a reference of the same rows, rows of label -1 are left out.
        like : Tally, default=None
            The first tally, if labels are given: centres, bins, columns and names are those of that tally, so that both
            add up. Columns of a frame are found by name, those of an array are taken in order. Labels are the names of
            its clusters. Words may be others.
        n_bins : int, default=256
            Number, up to 65536, of steps between the outermost centres of a column.
        names : sequence of k hashables, or mapping from cluster to name, default=None
            Name of each cluster; None takes those of `clusters` or `like`, or labels, or numbers.

        Raises
        ------
        DataError
            If rows and clusters do not fit together, columns or labels are not those of the first tally, a column has
            more than 255 words, or values are infinite. Without labels, also if values are missing or words.
        """
        refuse_unscanned(X)
        first, known = clusters if isinstance(clusters, Tally) else like, None
        if first is not None:
            refuse_other_kind("like", first, Tally, "make it by Tally.of")
            n_bins, known = first.n_bins, First(first.columns, first.names, dict(first.dates))
        n_bins = _number_of_bins(n_bins)
        if _are_labels(clusters):
            rows = labelled_rows(X, clusters, names, known)
            rows = rows if first is None else replace(rows, centers=first.centers)
        else:
            if isinstance(clusters, Tally) and clusters.categories:
                raise DataError(
                    f"rows with categories have no nearest centre; {GIVE_LABELS}: Tally.of(X, labels, like=first)"
                )
            rows = rows_with_reference(X, clusters.centers if isinstance(clusters, Tally) else clusters, known)
        if names is None:
            names = rows.names if first is None else first.names
        found = summarize_rows(rows, n_bins)
        kinds: list[dict[int, Any]] = [found.categories, dict(rows.dates)]
        categories, dates = (tuple((rows.columns[j], one) for j, one in sorted(kind.items())) for kind in kinds)
        return cls(found.centers, n_bins, found.counts, found.moments, rows.columns, names, categories, dates)  # type: ignore[arg-type]

    @cached_property
    def edges(self) -> Floats:
        """Edges of the bins of each column, ascending, shape (d, e); infinite where a column has fewer edges.

        They divide the way from the least to the greatest centre into `n_bins` equal steps; midpoints between
        neighbouring centres are edges, too, so that there is a cut between any two of them. In a column of dates each
        is before the roundest date up to the next one. In a column of words they are the places of all words but the
        last.
        """
        codes = {j: len(one.values) for j, one in self._coded_columns.items()}
        return edges_of(self.centers, self.n_bins, codes, self._date_columns)

    @property
    def _coded_columns(self) -> dict[int, Categories]:
        """Index of each column of words, and the values whose codes trees test."""
        return {self.columns.index(name): known for name, known in self.categories}

    @property
    def _date_columns(self) -> dict[int, Dates]:
        """Index of each column of dates, and how they are said."""
        return {self.columns.index(name): dates for name, dates in self.dates}

    @property
    def _zones(self) -> dict[str, str]:
        """The time zone of each column of dates, before whose round dates the edges are."""
        return {name: dates.zone for name, dates in self.dates}

    @property
    def sizes(self) -> Ints:
        """Number of rows of each cluster, shape (k,)."""
        return np.asarray(self.moments.weights.astype(np.int64))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sizes.sum())

    @property
    def lacking(self) -> dict[int, Ints]:
        """Index of each column of numbers that some rows lack, and the number of these rows by cluster, shape (k,)."""
        lacking = self.sizes[:, None] - self._held
        return {j: lacking[:, j] for j in np.flatnonzero(lacking.any(axis=0)).tolist()}

    @cached_property
    def _held(self) -> Ints:
        """Number of values of each cluster and column, shape (k, d)."""
        return np.asarray(self.counts.sum(axis=2))

    @property
    def mixture(self) -> Mixture:
        """Frequencies, means and variances of the clusters that have rows.

        Means and variances are of numbers that are there; a cluster without any in a column has those of all rows.

        Raises
        ------
        DataError
            If there are columns of words, which have no means.
        """
        if self.categories:
            words = list_words([name for name, _ in self.categories])
            raise DataError(
                f"categories have no means and variances: {words}; use imm(), or tally the columns of numbers alone"
            )
        present = np.flatnonzero(self.sizes > 0)
        mixture = Mixture.of_moments(self.moments, names=[self.names[c] for c in present], clusters=present)
        if not self.lacking:
            return mixture
        held, means, squares = self._held[present], self.moments.means[present], self.moments.squares[present]
        total = np.maximum(held.sum(axis=0), 1)
        everyone = (held * means).sum(axis=0) / total
        spread = (squares + held * np.square(means - everyone)).sum(axis=0) / total
        variances = np.where(held > 0, squares / np.maximum(held, 1), spread)
        return replace(mixture, means=np.where(held > 0, means, everyone), variances=variances)

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of the rows of both, with the names of this one. The order changes variances by rounding.

        Words have the codes of this tally; those of the other alone come behind them.
        """
        if not isinstance(other, Tally):
            return NotImplemented
        refuse_other_columns(other.columns, self.columns)
        if other.columns != self.columns:
            orders = f"{list_words(self.columns)}, and {list_words(other.columns)}"
            raise DataError(f"the columns of the tallies are not in one order: {orders}")
        if not np.array_equal(self.centers, other.centers) or self.n_bins != other.n_bins:
            raise DataError(
                "tallies of different centres or bins do not add up; count the new rows under the first one's centres: "
                "Tally.of(X, first), or with labels Tally.of(X, labels, like=first)"
            )
        if self._zones != other._zones:
            raise DataError(
                "columns are dates in one tally, and numbers or of another zone in the other; count one kind"
            )
        categories = _join_categories(self, other)
        known = {self.columns.index(name): one for name, one in categories}
        codes = {j: len(one.values) for j, one in known.items()}
        n_edges = edges_of(self.centers, self.n_bins, codes, self._date_columns).shape[1]
        counts = _place_counts(self, known, n_edges + 1) + _place_counts(other, known, n_edges + 1)
        moments = self.moments.plus(other.moments, self._held, other._held)
        return Tally(self.centers, self.n_bins, counts, moments, self.columns, self.names, categories, self.dates)

    def imm(self) -> ThresholdTree:
        """Return the tree of IMM on the bins: one leaf for each centre. Takes milliseconds, and reads no row.

        Each node takes the cut with the fewest mistakes among the edges of the bins. Of equally good cuts it takes the
        lowest column, and there the middle of the widest gap. There are two differences to `grow.imm`: thresholds are
        edges, and a row that is a mistake at one node is counted again further down, as bins do not tell which row it
        is.

        On words a cut asks for one of them: a centre has it if its share there is above a threshold between two
        centres' shares. A set of words that parts these centres with fewer mistakes takes its place. Missing numbers
        are on the upper side, on the lower one, or parted from all others, by the number of mistakes. The tree tests
        codes of words, and takes a missing number as plus infinity; `rules` says it in words.

        Raises
        ------
        DataError
            If two centres are equal, which no cut separates.
        """
        return tree_of_bins(self.counts, self.sizes, self.edges, self.centers, self._coded_columns, self.names)

    def mmdt(self, **options: Any) -> ThresholdTree:
        """Return the tree of MMDT, which needs means and variances alone; so it is that of the rows, but for rounding.

        Missing numbers are on the side of each cut whose clusters lack more of them. `options` are those of
        `grow.mmdt`.

        Raises
        ------
        DataError
            If there are columns of words.
        """
        from boxwood.grow import mmdt

        tree, lacking = mmdt(self.mixture, **options), self.lacking
        return with_sides(tree, lacking) if lacking else tree

    def rules(self, tree: ThresholdTree) -> dict[Hashable, str]:
        """Return the rule of each cluster in words, by a tree on these columns, such as `imm()`."""
        from boxwood.words.rules import rules_in_words

        refuse_no_tree(tree)
        if tree.n_features > len(self.columns):
            raise DataError(
                f"the tree tests column {tree.n_features - 1}, but the tally has {len(self.columns)} columns"
            )
        kinds = self._coded_columns, len(self.names), self.lacking, self._date_columns
        said = cluster_rules_of(tree, self.columns, *kinds)
        return {name: rules_in_words(rules) for name, rules in zip(self.names, said, strict=True)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file, in full or not at all. Names of clusters must be text, numbers or booleans."""

        write_tally(self, path)

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

        return read_tally(path)

    def __repr__(self) -> str:
        k, d = self.centers.shape
        return f"Tally(n_clusters={k}, n_columns={d}, n_rows={self.n_rows})"


def _number_of_bins(n_bins: Any) -> int:
    number = whole_number("n_bins", n_bins, 1)
    if number > MOST_BINS:
        raise ValueError(f"n_bins must be at most {MOST_BINS}, got {number}")
    return number


def _are_labels(clusters: Any) -> bool:
    """Return whether clusters are labels of rows or the name of a column of labels, and no centres."""
    return isinstance(clusters, str) or (not isinstance(clusters, (Tally, Reference)) and np.ndim(clusters) == 1)


# ---------------------------------------------------------------------------------------------------------- sums
def _join_categories(some: Tally, others: Tally) -> tuple[tuple[str, Categories], ...]:
    """Return the columns of words of two tallies, and their values: those of the first one before others.

    Raises
    ------
    DataError
        If a column has words in one tally, and numbers or another order of values in the other.
    """
    joined = {}
    for j, name in enumerate(some.columns):
        mine, its = (tally._coded_columns.get(j, _NO_WORDS) for tally in (some, others))
        if mine is its:
            continue
        for tally, known in ((some, mine), (others, its)):
            if known is _NO_WORDS and tally.counts[:, j].any():
                raise DataError(f"{name} has categories in one tally and numbers in the other; count the same kind")
        joined[name] = _both(name, mine, its)
    return tuple(joined.items())


_NO_WORDS = Categories((None,), others=False)


def _both(name: str, mine: Categories, its: Categories) -> Categories:
    """Return the values of a column in two tallies; without an order, those of the first tally keep their codes."""
    if not (mine.ordered or its.ordered):
        return mine._replace(values=(*mine.values, *(value for value in its.values if value not in mine.values)))
    less, more = sorted((one.values[: one.known] for one in (mine, its)), key=len)
    if (less and mine.ordered != its.ordered) or tuple(value for value in more if value in less) != less:
        raise DataError(f"{name} has values in an order, which is not the same in both tallies; state one for both")
    lacks = [None] if None in (*mine.values, *its.values) else []
    return Categories((*more, *lacks), others=False, ordered=True)


def _place_counts(tally: Tally, categories: Mapping[int, Categories], n_bins: int) -> Ints:
    """Return the counts of a tally by the codes of other categories, in so many bins."""
    counts = np.zeros((*tally.counts.shape[:2], n_bins), dtype=np.int64)
    for j in range(len(tally.columns)):
        if j not in categories:
            held = tally.counts[:, j, :n_bins]
            counts[:, j, : held.shape[1]] = held
            continue
        values = tally._coded_columns.get(j, _NO_WORDS).values
        places = [categories[j].values.index(value) for value in values]
        counts[:, j, places] = tally.sizes[:, None] if values is _NO_WORDS.values else tally.counts[:, j, : len(places)]
    return counts


FORMAT, VERSION = "boxwood tally", 2
_MOMENTS = ("weights", "origins", "offsets", "squares")
_NAMES = (str, int, float, bool)
_DAMAGE = (ValueError, TypeError, KeyError, EOFError, OverflowError, MemoryError, NotImplementedError)


def write_tally(tally: Tally, path: str | os.PathLike[str]) -> None:
    """Write a tally to a file, which is renamed when it is complete."""
    names = [name.item() if isinstance(name, np.generic) else name for name in tally.names]
    if strange := [name for name in names if not isinstance(name, _NAMES)]:
        raise DataError(f"names of clusters in a file must be text, numbers or booleans; got {show_value(strange[0])}")
    heading = {
        "format": FORMAT,
        "version": VERSION,
        "n_bins": tally.n_bins,
        "columns": list(tally.columns),
        "names": names,
        "categories": [[name, list(known.values), known.ordered] for name, known in tally.categories],
        "dates": [[name, dates.zone, dates.form] for name, dates in tally.dates],
    }
    arrays = {name: getattr(tally.moments, name) for name in _MOMENTS}
    text = np.frombuffer(json.dumps(heading).encode(), dtype=np.uint8)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, heading=text, centers=tally.centers, counts=tally.counts, **arrays)


def read_tally(path: str | os.PathLike[str]) -> Tally:
    """Return the tally in a file."""
    with open(os.fspath(path), "rb") as file:  # not the number of an open file
        try:
            if file.read(2) != b"PK":
                raise ValueError("it is not an archive of numpy")
            rest = file.read()  # at once, so that an error of the system is none of what the file says
            with np.load(io.BytesIO(b"PK" + rest), allow_pickle=False) as arrays:
                return _tally(arrays)
        except (*_DAMAGE, zipfile.BadZipFile, zlib.error) as error:
            raise ModelError(f"{os.fspath(path)} is not a tally, or is damaged: {error}") from None


def _tally(arrays: Any) -> Tally:
    heading = json.loads(arrays["heading"].tobytes())
    if not isinstance(heading, dict) or heading.get("format") != FORMAT:
        raise ValueError("its heading names another format")
    if heading["version"] not in (1, VERSION):
        raise ValueError(f"it has version {heading['version']!r}, and this boxwood reads versions 1 and {VERSION}")
    columns, names = heading["columns"], heading["names"]
    if not all(isinstance(name, str) for name in columns) or not all(isinstance(name, _NAMES) for name in names):
        raise ValueError("names of columns must be text, those of clusters text, numbers or booleans")
    moments = Moments(*(arrays[name] for name in _MOMENTS))
    read = [_read_categories(columns, *entry) for entry in heading.get("categories", ())]
    dates = [_read_dates(columns, *entry) for entry in heading.get("dates", ())]
    parts = arrays["centers"], heading["n_bins"], arrays["counts"], moments, tuple(columns), tuple(names)
    return Tally(*parts, tuple(read), tuple(dates))


def _read_categories(columns: list[str], name: Any, values: Any, ordered: Any) -> tuple[str, Categories]:
    are_plain = isinstance(values, list) and all(isinstance(value, (*_NAMES, NoneType)) for value in values)
    if not are_plain or len({*values}) < len(values) or name not in columns or not isinstance(ordered, bool):
        raise ValueError("categories must be columns with different values, which are text, numbers, booleans or none")
    return name, Categories(tuple(values), others=False, ordered=ordered)


def _read_dates(columns: list[str], name: Any, zone: Any, form: Any) -> tuple[str, Dates]:
    if name not in columns or not isinstance(zone, str) or form not in ("", *DATE_FORMS):
        raise ValueError("dates must be columns with a time zone and a known form")
    return name, Dates(zone, form)
