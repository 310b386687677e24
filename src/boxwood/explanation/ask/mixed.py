"""Tables as they are: columns of categories, and numbers that some rows lack, for rows in memory.

A frame without categories and gaps, and whatever a clusterer of numbers is to see, takes the road of numbers instead.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._frames import NUMBERS, column_names, column_values, is_frame, kinds_of_columns, label_values, missing_in
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import Rows, as_float_table, as_weights, list_words, random_of
from boxwood.axes import axis_map_of
from boxwood.axes.categories import MANY_VALUES
from boxwood.columns.column_table import ColumnTable, with_truths
from boxwood.columns.of_frame import readable_columns
from boxwood.columns.rules import COUNTS_ROWS, MAY_TELL, by_reason, reasons_to_leave_out
from boxwood.columns.seen import Seen, Use, labels_to_compare, seen_in
from boxwood.errors import DataError
from boxwood.explanation.ask.clustering import refuse_number
from boxwood.explanation.ask.columns import NONE_BESIDE, ages_among, notes_on_use
from boxwood.explanation.ask.gaps import (
    CompleteCases,
    gaps_of,
    gaps_of_pipeline,
    labelled_cases,
    note_on_empty,
    without_gaps,
    without_rows,
)
from boxwood.explanation.ask.how_many import DrawnRows, Number, settled_number
from boxwood.explanation.ask.options import AS_THEY_ENTER
from boxwood.explanation.choose import settings
from boxwood.reference import Reference
from boxwood.reference.budget import as_names
from boxwood.reference.clusterer import FewDifferentRows, fitted_clone, is_fitted, last_step, refuse_number_of_clusters
from boxwood.reference.entry import Entry, refuse_overflow
from boxwood.reference.feature_space import FeatureSpace, default_columns, not_made
from boxwood.reference.labels import ONE_EACH, by_size, encode_labels
from boxwood.reference.mixed import unit_scales
from boxwood.reference.of_fit import labels_by
from boxwood.reference.reference import refuse_one_cluster

if TYPE_CHECKING:
    from boxwood.clusterers.of_entry import OfEntry
    from boxwood.explanation.ask.options import Options

KEPT_OUT = {MANY_VALUES: f"{MANY_VALUES} (group the rare ones, then rules can use it)"}
OF_NUMBERS = ("mmdt", "random_cuts")  # and all methods of kernels; the first takes gaps


def read_as_it_is(X: Any, clustering: Any, asked: Options) -> CompleteCases | None:
    """Return the table with its categories and gaps; None if its rows, or its clusterer, are of numbers without gaps.

    X of the complete cases is a `ColumnTable`.

    Raises
    ------
    DataError
        If a column that the caller named cannot be used, or no column is left.
    """
    if (behind := _behind_mixing_steps(X, clustering, asked)) is not None:
        return behind
    fitted = _fitted_on_words(clustering, X, asked.sample_weight)
    labels = _labels_given_for(clustering, X) if fitted is None else labels_by(fitted, X, len(X))
    if isinstance(X, ColumnTable):
        is_mixed = X.categories or (asked.missing == "learn" and X.gaps)
        return without_gaps_in(X, labels, asked) if is_mixed else None
    kinds = as_names("categories", asked.categories), as_names("numbers", asked.numbers)
    if isinstance(X, Rows) or np.ma.is_masked(X) or _needs_numbers(labels) or not _may_be_mixed(X, asked, any(kinds)):
        refuse_unseen_kinds(*kinds, "an array" if not is_frame(X) else "a clusterer")
        return None
    return _of_labels(X, clustering, labels, asked)._replace(fitted=fitted, given=None if fitted is None else X)


def _of_labels(X: Any, clustering: Any, labels: Any, asked: Options) -> CompleteCases:
    """Return a table with categories or gaps whose rows have labels; IN: clustering: where these come from."""
    if not is_frame(X):
        return without_gaps_in(_of_array(X, asked.columns), labels, asked)
    wanted = None if asked.columns is None else as_names("columns", asked.columns)
    words = as_names("categories", asked.categories)
    read = readable_columns(X, wanted, words, clustering if isinstance(clustering, str) else None)
    table = chosen_columns(
        replace(with_truths(read), names=column_names(X), dates={**read.dates, **asked.dates}),
        labels,
        are_named=wanted is not None,
        are_made=hasattr(clustering, "fit"),
        has_weights=asked.sample_weight is not None,
        in_table=isinstance(clustering, str),
        words=words,
        spellings=asked.spellings,
    )
    return without_gaps_in(table, labels, asked)


def _behind_mixing_steps(X: Any, clustering: Any, asked: Options) -> CompleteCases | None:
    """Return a table with the labels of a fitted pipeline whose first steps make columns that no rule can ask for.

    So it is if they mix columns, or fill what a row lacks by more than one number. None for others, and if the table is
    one of numbers without gaps. Rows that lack a value are left out if the pipeline takes none.
    """
    if len(getattr(clustering, "steps", ())) < 2 or isinstance(X, Rows) or not _may_be_mixed(X, asked, False):
        return None
    columns = asked.columns if is_frame(X) else None
    try:
        axis_map_of(clustering[:-1], X, columns)
    except DataError as error:
        note = not_made(error)
    else:
        lost = gaps_of(X, columns, clustering, asked.missing)
        if asked.missing != "learn" or not lost or gaps_of_pipeline(X, clustering):
            return None
        note = not_made(DataError(f"no single number stands for what {list_words([*lost])} lacks"))
    complete = labelled_cases(X, clustering, asked.sample_weight, asked.missing)
    if not _may_be_mixed(complete.X, asked, False):
        return None
    labels = labels_by(clustering, complete.X, len(complete.X))
    labels = np.where(labels < 0, -1, labels) if labels.dtype.kind in "iu" else labels
    read = _of_labels(complete.X, clustering, labels, replace(asked, sample_weight=complete.sample_weight))
    read = complete.with_fewer(read)
    return read._replace(fitted=clustering, given=X, notes=(*read.notes, note))


def chosen_columns(table: ColumnTable, clustering: Any, **about: Any) -> ColumnTable:
    """Return what `chosen_of` does.

    Raises
    ------
    DataError
        If no column is left.
    """
    table = chosen_of(table, clustering, **about)
    if not table.columns:
        why = "; ".join(table.notes[1:]) or NONE_BESIDE  # the first note says which columns are used
        raise DataError(f"no column is left in the table of {len(table.names)} columns; {why}")
    return table


def chosen_of(
    table: ColumnTable,
    clustering: Any,
    *,
    are_named: bool,
    are_made: bool = False,
    has_weights: bool = False,
    in_table: bool = True,
    words: Collection[str] = (),
    padded: Collection[str] = (),
    in_all: Mapping[str, Seen] = MappingProxyType({}),
    **said: Any,
) -> ColumnTable:
    """Return the table, with its notes, without columns that rules should not use, unless the caller named all.

    IN: are_made: whether a clusterer made the labels; has_weights: whether the caller gave weights; in_table: whether
    labels come from a column of the table; words: categories that the caller named; padded, in_all: as for `seen_in`;
    said: what else `notes_on_use` tells.
    """
    if not are_named:
        compared = None if are_made else labels_to_compare(clustering, in_table=in_table)
        given = clustering is not None
        ages = ages_among(table.dates)
        use = Use(chosen=words, by_boxwood=not given, has_labels=given, labels=compared, ages=ages)
        use = use._replace(has_weights=has_weights)
        for reason, names in by_reason(reasons_to_leave_out(seen_in(table, padded, in_all), use)).items():
            if reason == COUNTS_ROWS:
                table = replace(table, counts=table.values[:, table.columns.index(names[0])])
            table = table.without(names, reason, may_tell=reason in MAY_TELL)
    return replace(table, notes=notes_on_use(table.columns, with_advice(table.left_out), padded=[*padded], **said))


def refuse_unseen_kinds(categories: Sequence[str], numbers: Sequence[str], what: str) -> None:
    """Raise a ValueError if kinds of columns are named where they have no effect."""
    for name, given in (("categories", categories), ("numbers", numbers)):
        if given:
            needed = "a table with names of columns, and labels or n_clusters"
            raise ValueError(f"{name}={list_words(list(given))} needs {needed}; got {what}")


def refuse_method(method: str, table: ColumnTable | FeatureSpace) -> None:
    """Raise a ValueError if a method takes no categories, or no gaps; the message says what to do."""
    if (method not in OF_NUMBERS and not method.startswith("kernel")) or (method == "mmdt" and not table.categories):
        return
    what = "categories" if table.categories else "missing values"
    numbers = [name for j, name in enumerate(table.columns) if j not in table.categories]
    remedies = [f"columns={numbers}"] if table.categories else []
    remedies += ['missing="drop"'] if table.gaps and method != "mmdt" else []
    raise ValueError(f"method {method!r} takes no {what}; use another method, or {' and '.join(remedies)}")


def _fitted_on_words(clustering: Any, X: Any, weights: Any) -> Any:
    """Return a clusterer of categories, fitted to a frame if it is not; None for any other clustering."""
    if not hasattr(clustering, "fit") or not is_frame(X) or not hasattr(last_step(clustering), "categorical_features"):
        return None
    return clustering if is_fitted(clustering) else fitted_clone(clustering, X, weights)


def _labels_given_for(clustering: Any, X: Any) -> Any:
    """Return the labels in a column, or of a fitted clusterer that cannot predict; anything else as it is."""
    if isinstance(clustering, str) and is_frame(X):
        return column_values(X, clustering)
    if not hasattr(clustering, "fit") or hasattr(clustering, "steps") or hasattr(clustering, "predict"):
        return clustering
    found = getattr(last_step(clustering), "labels_", None) if is_fitted(clustering) else None
    return clustering if found is None or len(found) != len(X) else np.asarray(found)


def cluster_table(
    read: CompleteCases, asked: Options, *, is_drawn: bool
) -> tuple[FeatureSpace, Reference, tuple[Indices, ...], Number, OfEntry | None]:
    """Return the rows, their clusters, parts of a long table, the number of clusters to make, and who made them.

    Parts are places of rows that are drawn, on each of which "auto" looks for a tree; none for other tables. The
    centres of a long table are the means of the rows that are drawn. Nobody made clusters that were given.

    IN: is_drawn: whether the rows were drawn from a longer table.
    """
    weights = as_weights(read.sample_weight, len(read.X)) if read.sample_weight is not None else None
    table, codes, names, made, number = _read_labels(read, weights, asked)
    rows = Rows(table.points, weights)
    kinds: dict[str, Any] = {"categories": table.categories, "gaps": table.gaps}
    kinds["enough"] = settings.ENOUGH if asked.method == "auto" and len(rows) > settings.LONG else 1.0
    entry = _entry(table, weights, asked) if made is None else made.entry
    coordinates = FeatureSpace.mixed(table.columns, rows, codes, **kinds, entry=entry)
    given: dict[Hashable, Hashable] | None = None if names is None else dict(enumerate(names))
    is_long = asked.method == "auto" and ((is_drawn and made is None) or table.values.size > settings.GATHERED)
    parts = _parts(codes, weights, settings.DRAWN // len(table.columns), asked.random_state) if is_long else ()
    if parts:
        drawn = np.unique(np.concatenate(parts))
        means = Reference.of(coordinates.rows.take(drawn), codes[drawn], names=given)
        reference = Reference(codes, means.centers, means.names)
    else:
        reference = Reference.of(coordinates.rows, codes, names=given)
    refuse_one_cluster(reference, None if read.clustering is None else label_values(read.clustering))
    return coordinates, reference, parts, number, made


def _parts(labels: Indices, weights: Floats | None, n_rows: int, random_state: Any) -> tuple[Indices, ...]:
    """Return parts of rows that are drawn at random, each with one of each cluster; none if one has no weight."""
    kept = np.flatnonzero(labels >= 0 if weights is None else (labels >= 0) & (weights > 0))
    drawn = kept[random_of(random_state).permutation(len(kept))[:n_rows]]
    clusters, first = np.unique(labels[kept], return_index=True)
    if len(clusters) <= labels.max():
        return ()
    return tuple(np.union1d(drawn[i :: settings.PARTS], kept[first]) for i in range(settings.PARTS))


# ------------------------------------------------------------------------------------------------- which tables
def _needs_numbers(clustering: Any) -> bool:
    """Return whether the clustering is one of rows of numbers: by a clusterer, or with centres."""
    return isinstance(clustering, Reference) or hasattr(clustering, "fit")


def _may_be_mixed(X: Any, asked: Options, has_kinds: bool) -> bool:
    """Return whether a column that is looked at may hold categories, or lacks values that rules may learn from."""
    if not is_frame(X):
        return asked.missing == "learn" and bool(missing_in(X, None))
    if has_kinds:
        return True
    numbers: list[str] = []
    for name, kind in kinds_of_columns(X):
        if asked.columns is None or name in asked.columns:
            if kind == "text":
                return True
            numbers += [name] * (kind == NUMBERS)
    return asked.missing == "learn" and bool(missing_in(X, numbers))


def _of_array(X: Any, columns: Sequence[str] | None) -> ColumnTable:
    """Return an array with gaps."""
    values = np.asarray(as_float_table(X), dtype=np.float64)
    names = default_columns(values.shape[1]) if columns is None else tuple(map(str, columns))
    if len(names) != values.shape[1] or len(set(names)) < len(names):
        raise DataError(
            f"columns must have a name of its own for each of {values.shape[1]} columns, got {list_words(names)}"
        )
    if np.isinf(values).any():
        count = int(np.isinf(values).any(axis=1).sum())
        raise DataError(f"infinite values in {count} of {len(values)} rows; replace them or leave those rows out")
    return ColumnTable(names, values, names=names)


def with_advice(left_out: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return columns that are left out by the reason in words that say what to do."""
    return {KEPT_OUT.get(reason, reason): names for reason, names in left_out.items()}


# --------------------------------------------------------------------------------------------------- which rows
def without_gaps_in(table: ColumnTable, clustering: Any, asked: Options) -> CompleteCases:
    """Return the table without the rows that lack a value, if these are to be dropped, or lack all values."""
    _refuse_huge(table)
    lacking, weights = table.lacking, table.counts if asked.sample_weight is None else asked.sample_weight
    if asked.missing != "learn":
        gaps = {name: lacking[:, j] for j, name in enumerate(table.columns) if lacking[:, j].any()}
        complete = without_gaps(gaps, CompleteCases(table, clustering, weights), asked.missing)
    else:
        complete = _without_empty(table, lacking, clustering, weights)
    if complete.rows is None:
        return complete._replace(X=table)
    others = np.setdiff1d(np.arange(len(table)), complete.rows)
    return complete._replace(X=_forgotten(table.of_rows(complete.rows)), others=table.of_rows(others))


def _refuse_huge(table: ColumnTable) -> None:
    """Raise a DataError for categories that files and engines, which compare numbers as doubles, cannot tell apart."""
    for j, known in table.categories.items():
        numbers = [value for value in known.values if isinstance(value, (int, float))]
        if any(abs(value) >= 1 << 53 and value == value // 1 for value in numbers):
            raise DataError(
                f"{table.columns[j]} has whole numbers of 2**53 or more as categories, and doubles do not tell all of "
                "these apart; make text of them"
            )


def _forgotten(table: ColumnTable) -> ColumnTable:
    """Return the table without a code for missing values where no row lacks one any more."""
    lacking, categories = table.lacking, dict(table.categories)
    for j, known in table.categories.items():
        if None in known.values and not lacking[:, j].any():
            categories[j] = known._replace(values=known.values[:-1], marks=())
    return replace(table, categories=categories)


def _without_empty(table: ColumnTable, lacking: Bools, clustering: Any, weights: Any) -> CompleteCases:
    """Return the rows with at least one value."""
    empty = lacking.all(axis=1)
    if not empty.any():
        return CompleteCases(table, clustering, weights)
    n, rows = len(table), np.flatnonzero(~empty)
    if not len(rows):
        raise DataError(f"none of {n:,} rows has a value in {list_words(table.columns)}")
    return without_rows(CompleteCases(table, clustering, weights), rows, n, note_on_empty(n - len(rows), n))


# ----------------------------------------------------------------------------------------------------- clusters
def _read_labels(
    read: CompleteCases, weights: Floats | None, asked: Options
) -> tuple[ColumnTable, Indices, tuple[Any, ...] | None, OfEntry | None, Number]:
    """Return the table, the cluster of each row, names of clusters if they have some, who made them, and how many."""
    clustering, table = read.clustering, read.X
    if clustering is None:
        entry = _entry(table, weights, asked)
        about = table.points, table.categories, weights, table.columns
        look = DrawnRows.of_entry(entry, *about, has_weights=asked.standardize == AS_THEY_ENTER)
        number = settled_number(look, asked.n_clusters, asked.among, asked.progress, asked.groups)
        assert number.k is not None
        made = _make_clusters(table, weights, number.k, entry.with_weights(number.weights), asked)
        return table, by_size(np.asarray(made.labels_, dtype=np.intp), weights), None, made, number
    refuse_number(asked.n_clusters)
    codes, names = encode_labels(label_values(clustering))
    if len(codes) != len(table):
        one = f"if {names[0]!r} is a column, write it without brackets" if len(codes) == 1 and names else ONE_EACH
        raise DataError(f"there are {len(table)} rows, but {len(codes)} label{'s' * (len(codes) != 1)}; {one}")
    return _with_values(table, codes, weights), codes, names, None, Number()


def _entry(table: ColumnTable, weights: Floats | None, asked: Options) -> Entry:
    """Return how the columns of a table enter distances."""
    refuse_overflow(table.points, squared=not asked.standardize)
    if asked.standardize == AS_THEY_ENTER:
        return Entry.of(table.points, table.categories, weights, asked.measured(table.columns))
    if asked.standardize:
        return Entry(unit_scales(table.points, table.categories, weights))
    return Entry(np.ones(len(table.columns)), is_scaled=False)


def _make_clusters(table: ColumnTable, weights: Floats | None, k: int, entry: Entry, asked: Options) -> OfEntry:
    """Return what has made clusters of the rows, by Lloyd's steps under the costs of numbers and categories."""
    refuse_number_of_clusters(Rows(table.points), k)
    how: dict[str, Any] = {"random_state": asked.random_state, "n_jobs": asked.n_jobs}
    from boxwood.clusterers.of_entry import OfEntry

    made = OfEntry(k, table.categories, entry, **how)
    made.fit(table.values, sample_weight=weights, progress=asked.progress)
    if made.n_found_ < k:
        raise FewDifferentRows(
            f"{k} clusters asked for, but {made.n_found_} hold all rows at no cost: the table has only so many "
            "different rows, apart from what they lack; ask for fewer clusters"
        )
    return made


def _with_values(table: ColumnTable, labels: Indices, weights: Floats | None) -> ColumnTable:
    """Return the table without columns in which no row with a cluster has a value."""
    kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
    empty = table.lacking[kept].all(axis=0)
    found = table.without([table.columns[j] for j in np.flatnonzero(empty).tolist()], "no values")
    if not found.columns:
        raise DataError("no row with a cluster has a value")
    return found
