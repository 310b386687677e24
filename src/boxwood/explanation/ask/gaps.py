"""Rows that lack a value where the clustering or the rules look: they are left out, or are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import (
    column_names,
    column_values,
    is_frame,
    label_values,
    missing_in,
    numeric_columns,
    rows_of_table,
)
from boxwood._types import Bools, Indices
from boxwood._validation import Rows, as_weights, list_words
from boxwood.axes import axis_map_of
from boxwood.axes.categories import is_missing
from boxwood.axes.transformers import columns_read, values_of
from boxwood.errors import DataError
from boxwood.explanation.living.counts import with_rows_left_out
from boxwood.reference import Reference
from boxwood.reference.clusterer import fitted_pipeline, flat, is_fitted, last_step
from boxwood.reference.labels import encode_labels, labels_of

if TYPE_CHECKING:
    from boxwood.explanation.measure.full_table import FullTableMeasures
    from boxwood.explanation.measured_tree import Tree


class CompleteCases(NamedTuple):
    """A table without the rows that lack a value, and what belongs to its rows.

    Parameters
    ----------
    X, clustering, sample_weight
        As given to `explain`, for the complete rows; of a table in batches X has them, and the others are None.
    rows : array of int, or None
        Positions of the complete rows in the whole table; None if all are complete, and of a table in batches.
    n_incomplete : int
        Number of the other rows of the table.
    notes : tuple of str
        How many rows lack a value, and where.
    fitted : object, default=None
        The clusterer of categories that made the labels; None for any others.
    given : data frame, default=None
        What it was given: all rows of the whole table.
    others : array, data frame, ColumnTable or Source, default=None
        The rows that lack a value, to which the rules may give a cluster all the same.
    """

    X: Any
    clustering: Any = None
    sample_weight: Any = None
    rows: Indices | None = None
    n_incomplete: int = 0
    notes: tuple[str, ...] = ()
    fitted: Any = None
    given: Any = None
    others: Any = None

    def with_other_rows(self, explanation: Tree, notes: tuple[str, ...] = ()) -> Tree:
        """Return the explanation of the complete rows with the others as rows that are left out, and further notes."""
        if not (self.n_incomplete or notes):
            return explanation
        numbers = {name: getattr(explanation, name) + self.n_incomplete for name in ("n_rows", "n_left_out")}
        evidence = explanation._evidence
        if evidence is not None and self.rows is not None:
            evidence = replace(evidence, positions=self.rows)
        notes = (*notes, *explanation.notes)
        details = explanation.details._replace(n_incomplete=explanation.details.n_incomplete + self.n_incomplete)
        explanation = replace(explanation, **numbers, details=details, notes=notes, _evidence=evidence)
        return explanation if self.others is None else with_rows_left_out(explanation, self.others)

    def of_drawn(self) -> CompleteCases:
        """Return the rows as some that were drawn: the others, and what these lack, are told of all rows."""
        return self._replace(rows=None, n_incomplete=0, notes=(), others=None)

    def with_fewer(self, read: CompleteCases) -> CompleteCases:
        """Return what was read of these rows, perhaps fewer of them, with its places in the whole table."""
        rows = self.rows if read.rows is None or self.rows is None else self.rows[read.rows]
        return read._replace(
            rows=read.rows if self.rows is None else rows,
            n_incomplete=self.n_incomplete + read.n_incomplete,
            notes=(*self.notes, *read.notes),
        )


class HasGaps(Exception):
    """A table in batches lacks values from which rules may learn."""


def complete_cases(
    X: Any, columns: Sequence[str] | None, clustering: Any, sample_weight: Any, missing: str
) -> CompleteCases:
    """Return the rows that have all values that the clustering and the rules look at.

    Raises
    ------
    DataError
        If more than half of the rows lack a value, or any if `missing` is "refuse".
    """
    gaps = {} if isinstance(X, Rows) or np.ma.is_masked(X) else gaps_of(X, columns, clustering, missing)
    gaps |= gaps_of_pipeline(X, clustering)
    complete = without_gaps(gaps, CompleteCases(X, clustering, sample_weight), missing)
    if complete.rows is None:
        return complete
    others = np.setdiff1d(np.arange(len(X)), complete.rows)
    return complete._replace(X=rows_of_table(X, complete.rows), others=rows_of_table(X, others))


def labelled_cases(X: Any, pipeline: Any, sample_weight: Any, missing: str) -> CompleteCases:
    """Return the rows for which a fitted pipeline has clusters: all, or those that lack no value that it reads.

    Raises
    ------
    DataError
        As `complete_cases` does.
    """
    complete = without_gaps(gaps_of_pipeline(X, pipeline), CompleteCases(X, pipeline, sample_weight), missing)
    return complete if complete.rows is None else complete._replace(X=rows_of_table(X, complete.rows))


def without_gaps(gaps: Mapping[str, Bools], whole: CompleteCases, missing: str) -> CompleteCases:
    """Return the rows that lack no value; the table itself stays as it is.

    IN: gaps: for each column that lacks values, which rows lack one.

    Raises
    ------
    DataError
        As `complete_cases` does.
    """
    if not gaps:
        return whole
    incomplete = np.logical_or.reduce(list(gaps.values()))
    counts = {name: int(lacks.sum()) for name, lacks in gaps.items()}
    refuse_gaps(counts, int(incomplete.sum()), len(incomplete), missing, _to_leave_out(gaps))
    rows = np.flatnonzero(~incomplete)
    return without_rows(
        whole, rows, len(incomplete), note_on_gaps(counts, len(incomplete) - len(rows), len(incomplete))
    )


def without_rows(whole: CompleteCases, rows: Indices, n_rows: int, note: str) -> CompleteCases:
    """Return some of the rows of a table, which itself stays as it is, with a note on the others."""
    return CompleteCases(
        whole.X,
        _clustering_of_rows(whole.clustering, rows, n_rows),
        _values_of_rows("weights", whole.sample_weight, rows, n_rows),
        rows,
        n_rows - len(rows),
        (note, *_notes_on_lost(whole.X, whole.clustering, rows)),
    )


def with_fitted_pipeline(clustering: Any, X: Any, sample_weight: Any, missing: str) -> Any:
    """Return a clusterer as it is, but a pipeline fitted: its first steps say what the columns are.

    A pipeline that takes missing values gets them. Any other is fitted on the rows that have all values it reads.
    """
    if not hasattr(clustering, "steps") or is_fitted(clustering):
        return flat(clustering)
    if sample_weight is not None:
        as_weights(sample_weight, len(X))
    try:
        return flat(fitted_pipeline(clustering, X, sample_weight))
    except ValueError:
        read = columns_read(clustering.steps[0][1], X, column_names(X)) if is_frame(X) else None
        complete = complete_cases(X, read, None, sample_weight, missing)
        if complete.rows is None:
            raise
        return flat(fitted_pipeline(clustering, complete.X, complete.sample_weight))


def note_on_gaps(counts: Mapping[str, int], n_incomplete: int, n_rows: int) -> str:
    """Return the note on rows that are left out as they lack values."""
    lack = "lacks a value and was" if n_incomplete == 1 else "lack a value and were"
    return f"{n_incomplete:,} of {n_rows:,} rows {lack} left out: {_where(counts)}"


def notes_on_all_rows(found: FullTableMeasures, missing: str) -> tuple[str, ...]:
    """Return notes on the rows of a long table that are left out, by what they lack or hold.

    Raises
    ------
    DataError
        If rows lack values and `missing` is "refuse", or more than half of them do and `missing` is "drop".
    """
    n_rows, notes = found.n_rows, list[str]()
    if found.n_empty and missing == "learn":
        notes.append(note_on_empty(found.n_empty, n_rows))
    elif found.n_empty:
        refuse_gaps(found.gaps, found.n_empty, n_rows, missing)
        notes.append(note_on_gaps(found.gaps, found.n_empty, n_rows))
    if found.n_unseen:
        lack = "lacks a value and was" if found.n_unseen == 1 else "lack a value and were"
        notes.append(
            f"{found.n_unseen:,} of {n_rows:,} rows {lack} left out, as no row that was drawn lacks one in "
            f"{list_words(found.unseen)}"
        )
    if found.n_strange:
        notes.append(_note_on_words(found.n_strange, n_rows, found.strange))
    return tuple(notes)


def note_on_empty(n_empty: int, n_rows: int) -> str:
    """Return the note on rows without any value."""
    lack = (
        "has no value in any column in use and was" if n_empty == 1 else "have no value in any column in use and were"
    )
    return f"{n_empty:,} of {n_rows:,} rows {lack} left out"


def _note_on_words(n_strange: int, n_rows: int, words: Mapping[str, int]) -> str:
    """Return the note on rows that hold a word without a code; IN: words: how many, by column."""
    hold, were = ("holds", "was") if n_strange == 1 else ("hold", "were")
    begin = f"{n_strange:,} of {n_rows:,} rows {hold} a value that no row drawn has, and {were} left out"
    return f"{begin}: {_where(words)}"


def refuse_gaps(
    counts: Mapping[str, int], n_incomplete: int, n_rows: int, missing: str, worst: Sequence[str] = ()
) -> None:
    """Raise a DataError if more than half of the rows lack a value, or any if `missing` is "refuse".

    IN: worst: columns without which it were no more than half, if they are known.
    """
    said = f"missing values in {n_incomplete:,} of {n_rows:,} rows: {_where(counts)}"
    if missing == "refuse":
        raise DataError(f'{said}; fill them, or leave those rows out (missing="drop")')
    if 2 * n_incomplete > n_rows:
        most = max(counts.values())
        worst = worst or [name for name, count in counts.items() if 2 * count >= most]
        raise DataError(
            f"{said}; these are more than half, so leave out {list_words(worst)}, or fill the missing values"
        )


def _to_leave_out(gaps: Mapping[str, Bools]) -> list[str]:
    """Return few columns without which no more than half of the rows lack a value: those with most gaps."""
    left, out = dict(gaps), list[str]()
    while left and 2 * int(np.logical_or.reduce(list(left.values())).sum()) > len(next(iter(left.values()))):
        out.append(max(left, key=lambda name: int(left[name].sum())))
        del left[out[-1]]
    return out


def _where(counts: Mapping[str, int]) -> str:
    order = sorted(counts, key=lambda name: -counts[name])
    return list_words([f"{name} ({counts[name]:,})" for name in order])


def gaps_of(X: Any, columns: Sequence[str] | None, clustering: Any, missing: str) -> dict[str, Bools]:
    """Return for each column that is looked at, and lacks values, which rows lack one.

    What the first steps of a pipeline fill is not lacking, if rules may learn from missing values.
    """
    if not hasattr(clustering, "steps") or len(clustering.steps) < 2:
        return missing_in(X, _looked_at(X, columns, clustering), columns) or _gaps_of_objects(X)
    try:
        axis_map = axis_map_of(clustering[:-1], X, columns if is_frame(X) else None)
    except DataError:  # then the rules use the columns of numbers
        chosen = columns if columns is not None or not is_frame(X) else numeric_columns(X)[0]
        return missing_in(X, chosen, columns)
    codes, names = axis_map.codes(X), axis_map.columns
    read = np.unique(axis_map.features).tolist()
    lacking = {j: np.isnan(codes[:, j]) for j in read if not (missing == "learn" and axis_map.fills(j))}
    for j in set(lacking) & set(axis_map.categories):
        values = values_of(X, names[j]) if names is not None else np.asarray(X, dtype=object)[:, j]
        lacking[j] &= np.array([is_missing(value) for value in values])  # a value never seen is told as such
    said = columns if names is None else names
    return {str(said[j]) if said else f"column {j}": lacks for j, lacks in lacking.items() if lacks.any()}


def _gaps_of_objects(X: Any) -> dict[str, Bools]:
    """Return the gaps of an array of objects, which may hold text: the first steps of a pipeline may encode that."""
    if not isinstance(X, np.ndarray) or X.dtype != object or X.ndim != 2:
        return {}
    lacking = {f"column {j}": np.array([is_missing(value) for value in X[:, j]]) for j in range(X.shape[1])}
    return {name: lacks for name, lacks in lacking.items() if lacks.any()}


def gaps_of_pipeline(X: Any, clustering: Any) -> dict[str, Bools]:
    """Return the gaps in all columns that a pipeline reads, if it names no cluster of rows that have some.

    The rules may use fewer columns than it reads.
    """
    if not hasattr(clustering, "steps") or isinstance(X, Rows) or np.ma.is_masked(X):
        return {}
    gaps = missing_in(X, columns_read(clustering.steps[0][1], X, column_names(X)) if is_frame(X) else None)
    if not gaps:
        return {}
    lacking = np.logical_or.reduce(list(gaps.values()))
    rows = np.flatnonzero(lacking) if hasattr(clustering, "predict") else np.arange(len(lacking))
    try:
        labels_of(clustering, rows_of_table(X, rows), len(rows))
    except ValueError:
        return gaps
    return {}


def _looked_at(X: Any, columns: Sequence[str] | None, clustering: Any) -> list[str] | None:
    """Return the columns of a frame that the rules may use, or that a clusterer was fitted on; None for an array."""
    if not is_frame(X):
        return None
    chosen = numeric_columns(X)[0] if columns is None else list(columns)
    chosen = [name for name in chosen if not (isinstance(clustering, str) and name == clustering)]
    return list(dict.fromkeys([*chosen, *map(str, getattr(clustering, "feature_names_in_", ()))]))


def _clustering_of_rows(clustering: Any, rows: Indices, n_rows: int) -> Any:
    """Return labels, or a reference, of some of the rows; a fitted clusterer that cannot predict keeps their labels."""
    if clustering is None or isinstance(clustering, str):
        return clustering
    if isinstance(clustering, Reference):
        return clustering.of_rows(rows) if len(clustering.labels) == n_rows else clustering
    if not hasattr(clustering, "fit"):
        return _values_of_rows("labels", label_values(clustering), rows, n_rows)
    labels = getattr(last_step(clustering), "labels_", None)
    if hasattr(clustering, "predict") or labels is None or len(labels) != n_rows:
        return clustering
    if hasattr(clustering, "steps"):
        pipeline, (name, last) = copy(clustering), clustering.steps[-1]
        pipeline.steps = [*clustering.steps[:-1], (name, _with_labels(last, labels[rows]))]
        return pipeline
    return _with_labels(clustering, labels[rows])


def _with_labels(clusterer: Any, labels: Any) -> Any:
    """Return a fitted clusterer that knows other labels; a frozen one stays frozen."""
    from sklearn.frozen import FrozenEstimator

    if isinstance(clusterer, FrozenEstimator):
        return FrozenEstimator(_with_labels(clusterer.estimator, labels))
    other = copy(clusterer)
    other.labels_ = labels
    return other


def _notes_on_lost(X: Any, clustering: Any, rows: Indices) -> tuple[str, ...]:
    """Return a note on clusters of which no row is complete: of labels, or of a pipeline that takes missing values."""
    if isinstance(clustering, str):
        clustering = column_values(X, clustering)
    elif hasattr(clustering, "steps"):
        try:
            clustering = labels_of(clustering, X, len(X))
        except ValueError:  # it takes none
            return ()
    if clustering is None or isinstance(clustering, Reference) or hasattr(clustering, "fit"):
        return ()
    codes, labels = encode_labels(label_values(clustering))
    lost = [str(labels[c]) for c in np.setdiff1d(codes, codes[rows]).tolist() if c >= 0]
    return (f"every row of {list_words(lost)} lacks a value, so there is no such cluster here",) if lost else ()


def _values_of_rows(what: str, values: Any, rows: Indices, n_rows: int) -> Any:
    if values is None or isinstance(values, str) or not hasattr(values, "__len__"):
        return values
    if len(values) != n_rows:
        raise DataError(f"there are {n_rows} rows, but {len(values)} {what}")
    return [values[i] for i in rows.tolist()] if isinstance(values, (list, tuple)) else np.asanyarray(values)[rows]
