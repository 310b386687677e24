"""What a tally counts: rows with codes in the place of words, in bins, by the same passes in memory and in batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._frames import (
    as_dates,
    as_matrix,
    column_names,
    column_values,
    date_columns,
    is_frame,
    label_values,
    numeric_columns,
    read_texts,
    refuse_unknown_columns,
)
from boxwood._texts import dates_among
from boxwood._types import Array, Floats, Indices, Ints, Weights
from boxwood._validation import Rows, as_float_table, as_table, list_words
from boxwood.axes import Categories
from boxwood.batches import Batches, LabelColumn, NearestCenters, Source
from boxwood.batches.batches import USABLE, Together, rows_of
from boxwood.batches.overview import Overview
from boxwood.batches.sums import Grid, Means, Ranges, RowSums, SquareSums, fold_rows
from boxwood.columns.of_frame import Coded, readable_columns, with_missing_code
from boxwood.errors import DataError
from boxwood.reference import Moments, Reference, Task
from boxwood.reference.coded import CodedSource, find_words
from boxwood.reference.feature_space import default_columns
from boxwood.reference.labels import Names, encode_labels, named_clusters
from boxwood.reference.moments import moments_from
from boxwood.reference.reference_batches import find_labels

_Block = tuple[Array, Indices, Weights]
NONE_MISSING: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True)
class TallyRows:
    """Rows of a table, and their clusters.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns.
    fold : function
        Returns one summary of all blocks of rows, from a function that makes an empty one. Missing values are NaN.
    names : tuple of hashables
        Name of each cluster.
    centers : array of shape (k, d), default=None
        Centre of each cluster; None asks for the means.
    categories : mapping from column to Categories
        Columns of codes; their last code is that of a missing value.
    may_lack : bool, default=False
        Whether rows may lack values.
    dates : mapping from column to Dates
        Columns of dates, which are days here.
    """

    columns: tuple[str, ...]
    fold: Callable[[Callable[[], Any]], Any]
    names: tuple[Hashable, ...]
    centers: Floats | None = None
    categories: Mapping[int, Categories] = field(default_factory=dict)
    may_lack: bool = False
    dates: Mapping[int, Dates] = field(default_factory=dict)


class TallyCounts(NamedTuple):
    """What is kept of rows; see `Tally`."""

    centers: Floats
    counts: Ints
    moments: Moments
    categories: dict[int, Categories]


class First(NamedTuple):
    """What is known of the first tally: names of columns and of clusters, and columns of dates."""

    columns: Sequence[str]
    names: Sequence[Hashable]
    dates: Mapping[str, Dates]


# ------------------------------------------------------------------------------------------------------- reading
def rows_with_reference(X: Any, clusters: Any, first: First | None) -> TallyRows:
    """Return the rows of a table of numbers with a reference, or with the centres to which they are nearest."""
    known = None if first is None else first.columns
    if isinstance(X, (Source, Batches)):
        found = _batches_of_clusters(X, clusters, known)
        source = X if isinstance(X, Source) else X.source
        return replace(found, dates=_dates_in(found.columns, source.dates, first))
    if isinstance(clusters, Reference) and clusters.in_batches:
        raise TypeError("a reference of a table in batches is for that table; for rows in memory give centres")
    X, dates = _with_dates(X, (), first)
    values, columns = _numbers_in_memory(X, known)
    rows = Rows.of(values)
    reference = clusters if isinstance(clusters, Reference) else Reference.nearest(rows, clusters)
    if len(reference.labels) != len(rows):
        raise DataError(f"X has {len(rows)} rows, but there are {len(reference.labels)} labels")
    if reference.centers.shape[1] != rows.n_columns:
        raise DataError(f"X has {rows.n_columns} columns, but the centres have {reference.centers.shape[1]}")
    fold = partial(fold_rows, rows.values, reference.labels, None)
    return TallyRows(columns, fold, reference.names, reference.centers, dates=_dates_in(columns, dates, first))


def _with_dates(X: Any, but: Collection[str], first: First | None) -> tuple[Any, Mapping[str, Dates]]:
    """Return a frame with texts that are dates as dates, or those of the first tally as days; and columns of dates."""
    if not is_frame(X):
        return X, {}
    X, read = read_texts(X, (*but, *(() if first is None else first.dates)))
    if first is not None:
        return as_dates(X, first.dates), date_columns(X)
    return X, date_columns(X) | dates_among(read)


def _dates_in(columns: Sequence[str], dates: Mapping[str, Dates], first: First | None) -> dict[int, Dates]:
    """Return the columns that hold dates, which are those of the first tally if there is one.

    Raises
    ------
    DataError
        If there are dates where that has none, or with a time zone where it has none, or the other way round.
    """
    known = dates if first is None else first.dates
    for name in columns:
        if name in dates and (name not in known or bool(dates[name].zone) != bool(known[name].zone)):
            raise DataError(f"{name} has dates that the first tally lacks, or that differ in having a time zone")
    return {j: known[name] for j, name in enumerate(columns) if name in known}


def _numbers_in_memory(X: Any, known: Sequence[str] | None) -> tuple[Array, tuple[str, ...]]:
    """Return an array, or the columns of a frame that are known, found by their names; and the names."""
    if not is_frame(X):
        rows = Rows.of(X)
        return rows.values, _names_of_array(rows.n_columns, known)
    columns = _found_by_name(column_names(X), known)
    words = [name for name in numeric_columns(X)[1]["text"] if name in columns]
    if words:
        raise DataError(f"rows with categories ({list_words(words)}) have no nearest centre; {GIVE_LABELS}")
    return as_table(as_matrix(X, columns), names=columns), columns


GIVE_LABELS = "give the label of each row, or the name of a column of labels, instead of centres"


def _batches_of_clusters(X: Source | Batches, clusters: Any, known: Sequence[str] | None) -> TallyRows:
    if known is not None:
        batches = rows_of(X) if isinstance(X, Source) else X
        X = replace(batches, columns=_found_by_name(batches.columns, known))
    reference = clusters
    if not isinstance(clusters, Reference):
        centers = np.array(as_table(clusters), dtype=np.float64)
        reference = Reference(NearestCenters(centers), centers)
    elif not clusters.in_batches:
        raise TypeError("a table in batches needs a reference of its own: Reference.of(table, 'column')")
    batches = Task.of(X, reference).batches
    if batches.weight is not None:
        raise DataError(f"a tally counts every row once, but rows are weighed by {batches.weight!r}; leave that out")
    return TallyRows(batches.columns, batches.fold, reference.names, reference.centers)


def labelled_rows(X: Any, labels: Any, names: Names | None, first: First | None) -> TallyRows:
    """Return the rows of a table as it is, with words and gaps, and with labels or a column of labels.

    IN: names: of the clusters.

    Raises
    ------
    DataError
        If rules can use no such column, or the first tally has no such column or cluster.
    """
    if isinstance(X, Batches):
        raise TypeError("with labels, rows in batches are those of a table: boxwood.scan(...)")
    if isinstance(X, Source):
        return _labelled_batches(X, labels, names, first)
    column = labels if isinstance(labels, str) else None
    if column is not None:
        refuse_unknown_columns([column], column_names(X) if is_frame(X) else ())
    X, dates = _with_dates(X, () if column is None else (column,), first)
    values, columns, categories = _table_in_memory(X, column, None if first is None else first.columns)
    codes, found = encode_labels(label_values(column_values(X, labels) if isinstance(labels, str) else labels))
    if len(codes) != len(values):
        raise DataError(f"X has {len(values)} rows, but there are {len(codes)} labels")
    places = _places(found, first)
    fold = partial(fold_rows, values, np.append(places, -1)[codes], None)
    days = _dates_in(columns, dates, first)
    return TallyRows(columns, fold, _name_clusters(found, names, first), None, categories, may_lack=True, dates=days)


def _name_clusters(found: Sequence[Hashable], names: Names | None, first: First | None) -> tuple[Hashable, ...]:
    """Return the names of clusters: those of the first tally, or else the labels, or other names for these."""
    if first is not None:
        return tuple(first.names)
    if not found:
        raise DataError("every row is left out: all labels are -1 or missing")
    return named_clusters(found, names)


def _places(found: Sequence[Hashable], first: First | None) -> Indices:
    """Return the cluster of each label that was found."""
    if first is None:
        return np.arange(len(found))
    place = {name: c for c, name in enumerate(first.names)}
    if others := [str(label) for label in found if label not in place]:
        raise DataError(
            f"labels that the first tally does not have: {list_words(others)}; its clusters: "
            f"{list_words([*map(str, first.names)])}; leave these rows out (label -1), or make a new tally"
        )
    return np.array([place[label] for label in found], dtype=np.intp)


def _table_in_memory(
    X: Any, unused: str | None, known: Sequence[str] | None
) -> tuple[Floats, tuple[str, ...], dict[int, Categories]]:
    """Return rows as numbers and codes, NaN where a value is missing, the names of columns, and the categories."""
    if not is_frame(X):
        values = np.asarray(as_float_table(X))
        return values, _names_of_array(values.shape[1], known), {}
    columns = _found_by_name([name for name in column_names(X) if name != unused], known)
    empty = {name for name in numeric_columns(X)[1]["no values"] if name in columns}
    table = readable_columns(X, [name for name in columns if name not in empty], (), unused)
    values = np.full((len(X), len(columns)), np.nan, order="F")
    categories: dict[int, Categories] = {}
    for i, name in enumerate(table.columns):
        j = columns.index(name)
        x = table.values[:, i]
        if i in table.categories:
            x, categories[j] = with_missing_code(X, name, Coded(x, table.categories[i]))
        values[:, j] = np.where(table.lacks(i), np.nan, x)
    return values, columns, categories


def _names_of_array(n_columns: int, known: Sequence[str] | None) -> tuple[str, ...]:
    return default_columns(n_columns) if known is None or len(known) != n_columns else tuple(known)


def _labelled_batches(source: Source, column: Any, names: Names | None, first: First | None) -> TallyRows:
    """Return the rows of a table in batches; takes a pass over columns of text, if any, and one for labels."""
    if not isinstance(column, str):
        raise TypeError(f"labels of {source.name} must be the name of one of its columns")
    refuse_unknown_columns([column], source.names)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    usable = [name for name in source.names if kinds[name] in (*USABLE, "text", "empty") and name != column]
    columns = _found_by_name(usable, None if first is None else first.columns)
    texts = [name for name in columns if kinds[name] == "text"]
    words = find_words(source, texts).values if texts else {}
    if many := [name for name, values in words.items() if values is None]:
        raise DataError(f"columns of too many categories: {list_words(many)}; leave them out, or group rare ones")
    given = {name: values or () for name, values in words.items()}
    categories = {columns.index(name): Categories((*its, None), others=False) for name, its in given.items() if its}
    batches = Batches(CodedSource(source, given), columns)
    found = find_labels(replace(batches, columns=()), column, known=() if first is None else first.names)
    _places(found.labels, first)
    batches = replace(batches, labelling=LabelColumn(column, found.labels if first is None else tuple(first.names)))
    dates = _dates_in(columns, source.dates, first)
    named = _name_clusters(found.labels, names, first)
    return TallyRows(columns, batches.fold, named, None, categories, may_lack=True, dates=dates)


def _found_by_name(columns: Sequence[str], known: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns of a table, or those that are known, if it has these and no others."""
    if known is not None:
        refuse_other_columns(columns, known)
    return tuple(columns if known is None else known)


def refuse_other_columns(columns: Sequence[str], known: Sequence[str]) -> None:
    """Raise a DataError that names the columns that a tally does not have, and those that it has besides."""
    lacking = [name for name in known if name not in columns]
    others = [name for name in columns if name not in known]
    said = [f"without {list_words(lacking)}"] * bool(lacking) + [f"with {list_words(others)}"] * bool(others)
    if said:
        raise DataError(
            f"the columns are not those of the first tally ({list_words(known)}): {', '.join(said)}; count the "
            "same columns"
        )


# ------------------------------------------------------------------------------------------------------ counting
def summarize_rows(rows: TallyRows, n_bins: int) -> TallyCounts:
    """Return what is kept of rows, from three passes: for ranges, for means and for squares.

    Bins are counted in the first pass, or in the last one where centres are not known before.

    Raises
    ------
    DataError
        If values are infinite, or missing where none may be, or no row has a cluster.
    """
    k, d = len(rows.names), len(rows.columns)
    missing = {j: one.known for j, one in rows.categories.items()}
    overview: Callable[[], Any] = partial(Overview, k, d)

    def bins(centers: Floats) -> Callable[[], BinCounts]:
        edges = edges_of(centers, n_bins, {j: n + 1 for j, n in missing.items()}, rows.dates)
        return partial(BinCounts, edges, k, missing)

    first = [overview] if rows.centers is None else [overview, bins(rows.centers)]
    seen, *found = rows.fold(partial(Together, first)).parts
    seen.refuse_unusable(rows.columns, may_lack=rows.may_lack)
    groups = _ColumnGroups.of(seen, but=[j for j, one in rows.categories.items() if not one.ordered])
    sums = rows.fold(groups.summing([partial(RowSums, each) for each in groups.ranges]))
    means = [part.means() for part in sums.parts]
    centers = groups.centers(means) if rows.centers is None else rows.centers
    last = [groups.summing([partial(SquareSums, *both) for both in zip(groups.ranges, means, strict=True)])]
    squares, *rest = rows.fold(partial(Together, last if found else [*last, bins(centers)])).parts
    (counts,) = found or rest
    if not counts.sizes.any():
        raise DataError("no row with a cluster has a value")
    moments = groups.moments(counts.sizes, means, [part.squares() for part in squares.parts])
    return _without_unused(TallyCounts(centers, counts.counts, moments, dict(rows.categories)), n_bins, rows.dates)


class _ColumnGroups(NamedTuple):
    """Columns whose sums are made together: those without gaps, and each of the others, of rows that have values."""

    k: int
    d: int
    columns: list[list[int]]
    ranges: list[Ranges]

    @classmethod
    def of(cls, seen: Overview, but: Sequence[int]) -> _ColumnGroups:
        """Return the groups of columns; IN: but: columns of words, which have no means."""
        k, d = seen.least.shape
        numbers = [j for j in range(d) if j not in but]
        whole = [j for j in numbers if not seen.missing[j]]
        columns = [*([whole] if whole else []), *([j] for j in numbers if seen.missing[j])]
        ranges = [Ranges(seen.least[:, each], seen.most[:, each], Grid(seen.n_kept)) for each in columns]
        return cls(k, d, columns, ranges)

    def summing(self, makes: Sequence[Callable[[], Any]]) -> Callable[[], _OfGroups]:
        """Return what makes a summary for each group."""
        return partial(_OfGroups, self.columns, makes)

    def centers(self, means: Sequence[Means]) -> Floats:
        """Return the means of the clusters, that of all rows where a cluster has no value; 0 where there is none."""
        centers = np.zeros((self.k, self.d))
        for columns, mean in zip(self.columns, means, strict=True):
            own, has_some = mean.mean + mean.rest, mean.weights > 0
            total = math.fsum(mean.weights) or 1.0
            for i, j in enumerate(columns):
                everyone = math.fsum(mean.weights[has_some] / total * own[has_some, i])
                centers[:, j] = np.where(has_some, own[:, i], everyone)
        return centers

    def moments(self, sizes: Ints, means: Sequence[Means], squares: Sequence[Floats]) -> Moments:
        """Return the moments of all columns, each of the values that are there; zeros for columns of words."""
        origins, offsets, all_squares = np.zeros((3, self.k, self.d))
        for columns, mean, its in zip(self.columns, means, squares, strict=True):
            part = moments_from(mean, its)
            origins[:, columns], offsets[:, columns], all_squares[:, columns] = part.origins, part.offsets, part.squares
        return Moments(sizes.astype(np.float64), origins, offsets, all_squares)


class _OfGroups:
    """A summary of each group of columns, of the rows that have values there."""

    def __init__(self, columns: Sequence[list[int]], makes: Sequence[Callable[[], Any]]) -> None:
        self.columns, self.parts = columns, [make() for make in makes]

    def update(self, block: _Block) -> None:
        """Add a block of rows."""
        X, labels, weights = block
        for columns, part in zip(self.columns, self.parts, strict=True):
            values = X if len(columns) == X.shape[1] else X[:, columns]
            lacks = np.isnan(values).any(axis=1)
            part.update((values, np.where(lacks, -1, labels) if lacks.any() else labels, weights))

    def merge(self, other: _OfGroups) -> None:
        """Add other summaries."""
        for part, its in zip(self.parts, other.parts, strict=True):
            part.merge(its)


class BinCounts:
    """Number of rows of each cluster, and of its values by column and bin: a summary of blocks.

    A missing number is in no bin. Rows without any value are not counted.

    Parameters
    ----------
    edges : array of shape (d, e)
        Bin b of a column holds values above edge b - 1, and up to edge b.
    n_clusters : int
    missing : mapping from column to int
        The code of a missing value in columns of codes.
    """

    def __init__(self, edges: Floats, n_clusters: int, missing: Mapping[int, int] = NONE_MISSING) -> None:
        self.edges, self.missing = edges, missing
        self.sizes: Ints = np.zeros(n_clusters, dtype=np.int64)
        self.counts: Ints = np.zeros((n_clusters, len(edges), edges.shape[1] + 1), dtype=np.int64)

    def update(self, block: _Block) -> None:
        """Add a block of rows."""
        X, labels, _ = block
        kept = (labels >= 0) & ~np.isnan(X).all(axis=1)
        clusters = labels[kept]
        self.sizes += np.bincount(clusters, minlength=len(self.sizes))
        for j in range(X.shape[1]):
            self._add(j, X[kept, j], clusters)

    def _add(self, j: int, x: Array, clusters: Indices) -> None:
        k, _, n_bins = self.counts.shape
        if (lacks := np.isnan(x)).any():
            x = np.where(lacks, self.missing.get(j, np.nan), x)
            known = ~np.isnan(x)
            x, clusters = x[known], clusters[known]
        bins = np.searchsorted(self.edges[j], x)
        self.counts[:, j] += np.bincount(clusters * n_bins + bins, minlength=k * n_bins).reshape(k, n_bins)

    def merge(self, other: BinCounts) -> None:
        """Add other counts in the same bins."""
        self.sizes += other.sizes
        self.counts += other.counts


def edges_of(
    centers: Floats, n_bins: int, n_codes: Mapping[int, int] = NONE_MISSING, dates: Mapping[int, Dates] = NO_DATES
) -> Floats:
    """Return the edges of the bins of each column, ascending, shape (d, e); infinite where a column has fewer edges.

    In a column of numbers an edge is a threshold that separates some centres: at least the least centre, and less than
    the greatest. In one of codes each code has a bin of its own. In one of dates an edge is before the roundest date up
    to the next edge.

    IN: n_codes: number of the codes of columns of codes.
    """
    columns = []
    for j, values in enumerate(map(np.unique, centers.T)):
        edges = np.arange(n_codes[j] - 1.0) if j in n_codes else _edges(values, n_bins)
        columns.append(_before_round_dates(edges, values, dates[j]) if j in dates else edges)
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


def _before_round_dates(edges: Floats, values: Floats, dates: Dates) -> Floats:
    """Return an edge from each one up to the next, and not beyond the next centre, so that it separates the same."""
    ends = np.minimum(np.append(edges[1:], np.inf), values[np.searchsorted(values, edges, side="right")])
    found = np.array([dates.roundest(low, high) for low, high in zip(edges.tolist(), ends.tolist(), strict=True)])
    return np.where(found < ends, found, edges)  # dates are told apart to the microsecond alone


def _without_unused(found: TallyCounts, n_bins: int, dates: Mapping[int, Dates]) -> TallyCounts:
    """Return the same without a code for a missing value in columns of codes where no row of a cluster lacks one."""
    categories = dict(found.categories)
    for j, one in categories.items():
        if not found.counts[:, j, one.known].any():
            categories[j] = one._replace(values=one.values[:-1])
    edges = edges_of(found.centers, n_bins, {j: len(one.values) for j, one in categories.items()}, dates)
    return found._replace(categories=categories, counts=found.counts[:, :, : edges.shape[1] + 1])
