"""What passes tell of the clusters of a table in batches: labels, overview, means; so that no pass is made twice."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._frames import OrderedLabels, stated_order
from boxwood._types import Indices
from boxwood._validation import list_words, refuse_unknown, show_value
from boxwood.batches.batches import Batches, Block, Reader, rows_of
from boxwood.batches.labelling import (
    LEFT_OUT,
    MOST_LABELS,
    LabelColumn,
    MissingLabels,
    factorize,
    labels_in,
    no_labels,
    refuse_other_labels,
    write_value,
)
from boxwood.batches.overview import Overview
from boxwood.batches.ranks import medians_in
from boxwood.batches.source import Marks, Source
from boxwood.batches.sums import Grid, Means, Ranges, RowSums, SquareSums
from boxwood.errors import DataError
from boxwood.reference.labels import Names, encode_labels, named_clusters
from boxwood.reference.moments import Moments, moments_from
from boxwood.reference.reference import Reference


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
    missing : MissingLabels, default=None
        Rows without a label, where labels come from a column.
    """

    batches: Batches
    overview: Overview
    means: Means | None
    missing: MissingLabels | None = None

    def is_of(self, batches: Batches) -> bool:
        """Whether it was measured on these rows, columns, clusters and weights."""
        mine = self.batches
        same_rows = batches.source is mine.source and batches.labelling is mine.labelling
        return same_rows and (batches.columns, batches.weight) == (mine.columns, mine.weight)


def reference_by_column(
    source: Source, column: Any, *, center: str, names: Names | None, sample_weight: str | None
) -> Reference:
    """Return the clustering of the rows of a source by a column of labels; see `Reference.of`."""
    refuse_unknown("center", center, ("mean", "median"))
    if not isinstance(column, str):
        raise TypeError(f"labels of {source.name} must be the name of one of its columns, got {show_value(column)}")
    return labelled_by(rows_of(source, column, sample_weight), column, center, names)


def labelled_by(batches: Batches, column: str, center: str = "mean", names: Names | None = None) -> Reference:
    """Return the clusters of a column of labels, with the means or medians of their rows; names map labels to others.

    Takes one pass for labels and ranges, and one for the means, or one to three for medians.
    """
    labels, overview, missing = find_labels(batches, column)
    labelling = LabelColumn(column, labels)
    batches = replace(batches, labelling=labelling)
    means = means_in(batches, overview) if center == "mean" else None
    centers = medians_in(batches, overview) if means is None else means.mean + means.rest
    measured = Measured(batches, overview, means, missing)
    return Reference(labelling, centers, named_clusters(labels, names), measured=measured)


def on_some_columns(reference: Reference, batches: Batches) -> Reference | None:
    """Return the clusters of a column of labels on some of the columns on which their means are known.

    None for rows of another table. Nothing is read.
    """
    known, labelling = reference.measured, reference.labelling
    if known is None or known.means is None or batches.source is not known.batches.source:
        return None
    assert isinstance(labelling, LabelColumn)
    at = [known.batches.columns.index(name) for name in batches.columns]
    means = known.means._replace(mean=known.means.mean[:, at], rest=known.means.rest[:, at])
    measured = Measured(replace(batches, labelling=labelling), known.overview.on_columns(at), means, known.missing)
    names = named_clusters(labelling.labels, None)
    return Reference(labelling, reference.centers[:, at], names, measured=measured)


def known_on(reference: Reference, batches: Batches) -> Reference:
    """Return the clustering of some rows, once it is known that it has a cluster for each of their labels.

    Takes a pass where rows have labels, and these were found in another table; it tells the overview, too.

    Raises
    ------
    DataError
        If the rows have other labels.
    """
    labelling, known = reference.labelling, reference.measured
    is_known = known is not None and known.batches.source is batches.source
    if is_known or not isinstance(labelling, LabelColumn):
        return reference
    rows = replace(batches, labelling=labelling)
    labels, overview, missing = find_labels(rows, labelling.column, all_weighted=False, known=labelling.labels)
    if others := [str(label) for label in labels if label not in labelling.labels]:
        raise DataError(
            f"labels in column {labelling.column!r} of {batches.source.name} that the reference does not have: "
            f"{list_words(others)}; make one of this table, Reference.of(table, {labelling.column!r})"
        )
    places = [labelling.labels.index(label) for label in labels]
    placed = overview.placed(places, reference.n_clusters)
    return replace(reference, measured=Measured(rows, placed, None, missing))


class FoundLabels(NamedTuple):
    """The labels of a column in ascending order, the overview of the rows by these clusters, and rows without one."""

    labels: tuple[Hashable, ...]
    overview: Overview
    missing: MissingLabels


def find_labels(
    batches: Batches, column: str, *, all_weighted: bool = True, known: Collection[Hashable] = ()
) -> FoundLabels:
    """Return the labels of a column but for -1, "-1" and missing ones, from one pass.

    IN: all_weighted, whether each needs a row with weight, as clusters do that have no other centre than their mean;
    known: labels that are no marks of missing ones.

    Raises
    ------
    DataError
        If there is no label, there are more than 10 000, or one lacks the weight that it needs.
    """
    source = batches.source
    if source.kinds[source.names.index(column)] == "other":
        raise no_labels(source.name, column)
    names = [*batches.columns, *([] if batches.weight is None else [batches.weight]), source.label_name(column)]
    marks = source.marks_in(column, known)
    as_written = _are_as_written(source, column)
    left_out = LEFT_OUT if as_written else LEFT_OUT[:1]
    make = partial(_LabelsMet, batches.n_columns, batches.weight is not None, bool(source.marks), marks, left_out)
    found = batches.source.run(make, names, batches.n_jobs)
    _refuse_unusable(found, batches, column)
    given: list[Any] = list(found.places)
    if as_written and all(isinstance(label, str) for label in given):
        given = list(labels_in(given).values())
    order = source.orders.get(column) or found.order
    codes, labels = encode_labels(OrderedLabels.of(given, order) if order else _as_given(given))
    overview = found.overview.placed(codes.tolist(), len(labels))
    overview.refuse_unusable(batches.columns)
    empty = [str(label) for label, size in zip(labels, overview.sizes.tolist(), strict=True) if size == 0]
    if empty and all_weighted:
        raise DataError(
            f"clusters without weight: {list_words(empty)}; leave their rows out (label -1), or weigh some of them"
        )
    return FoundLabels(labels, overview, MissingLabels(found.missing, overview.n_rows, tuple(found.marks_met)))


def _are_as_written(source: Source, column: str) -> bool:
    """Return whether texts of labels stand for what a file holds, be it numbers; texts by their type are texts."""
    is_text = column in source.typed_texts or source.kinds[source.names.index(column)] == "text"
    return bool(source.missing_words) or (bool(source.marks) and not is_text)


class _LabelsMet:
    """A summary of record batches: the place of each label that was seen, and an overview by these places."""

    def __init__(self, n_columns: int, is_weighted: bool, of_file: bool, marks: Marks, left_out: Sequence[str]) -> None:
        self.reader = Reader(
            n_values=n_columns, taken=list(range(n_columns)), weight_at=n_columns if is_weighted else -1
        )
        self.label_at = n_columns + is_weighted
        self.places: dict[Hashable, int] = {}
        self.overview = Overview(0, n_columns)
        self.of_file, self.marks, self.left_out = of_file, marks, left_out
        self.missing, self.too_many = 0, False
        self.marks_met: set[str] = set()
        self.order: Sequence[Hashable] = ()

    def update(self, batch: Any, start: int | None) -> None:
        """Add a record batch."""
        block = self.reader.block(batch)
        labels = self._codes(batch.column(self.label_at))
        self.overview.update(Block(block.values, labels, block.weights))

    def merge(self, other: _LabelsMet) -> None:
        """Add what another summary has seen."""
        self.missing, self.too_many = self.missing + other.missing, self.too_many or other.too_many
        self.marks_met |= other.marks_met
        self.order = self.order or other.order
        places = self._places(list(other.places))
        if self.too_many:
            return
        self.overview.merge(other.overview.placed(places, len(self.places)))

    def _codes(self, column: Any) -> Indices:
        """Return the place of each label of a batch, -1 for rows that are left out."""
        self.order = self.order or stated_order(column) or ()
        codes, distinct = factorize(column, of_file=self.of_file)
        if self.of_file:
            distinct = [write_value(value, column.type) for value in distinct]
        absent = [value != value or self.marks.has(value) for value in distinct]
        self.marks_met |= {value for value in distinct if self.marks.has(value) and value.strip()}
        self.missing += int(np.array([*absent, True])[codes].sum())  # the last one stands for NULL
        left_out = [none or value == -1 or value in self.left_out for value, none in zip(distinct, absent, strict=True)]
        places = iter(self._places([value for value, out in zip(distinct, left_out, strict=True) if not out]))
        by_code = np.array([-1 if out or self.too_many else next(places) for out in left_out] + [-1], dtype=np.intp)
        return by_code[codes]

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


def _refuse_unusable(found: _LabelsMet, batches: Batches, column: str) -> None:
    where = f"column {column!r} of {batches.source.name}"
    if found.too_many:
        raise DataError(
            f"{where} has more than {MOST_LABELS} different values; expected labels of clusters, "
            "one for each row; name the column that holds them"
        )
    n_labels = len(found.places)
    if n_labels == 0 or batches.source.marks:
        refuse_other_labels(batches.source.name, column, n_labels, found.overview.n_rows)


def _as_given(labels: list[Any]) -> Any:
    """Return labels as `encode_labels` gets them from a table in memory: numbers and booleans as an array."""
    is_plain = all(isinstance(label, (bool, int, float)) for label in labels)
    is_huge = any(isinstance(label, int) and abs(label) >= 1 << 63 for label in labels)  # which numpy may round
    return np.array(labels) if is_plain and not is_huge else labels


def means_in(batches: Batches, overview: Overview) -> Means:
    """Return weights and means of clusters, from one pass."""
    return batches.fold(partial(RowSums, ranges_of_batches(batches, overview))).means()


def moments_in(batches: Batches, overview: Overview, means: Means) -> Moments:
    """Return the moments of clusters with these means, from one pass."""
    squares = batches.fold(partial(SquareSums, ranges_of_batches(batches, overview), means))
    return moments_from(means, squares.squares())


def grid_of(batches: Batches, overview: Overview) -> Grid:
    """Return the grid on which sums over the rows are exact."""
    weights = () if batches.weight is None else (overview.heaviest, overview.lightest)
    return Grid(overview.n_kept, *weights)


def ranges_of_batches(batches: Batches, overview: Overview) -> Ranges:
    """Return what must be known before the rows of clusters are added up."""
    return Ranges(overview.least, overview.most, grid_of(batches, overview))
