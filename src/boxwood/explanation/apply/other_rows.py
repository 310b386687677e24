"""The facts of a tree that is there already, on other rows: next month's, or those of a loaded model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._dates import MICROSECONDS
from boxwood._frames import (
    as_dates,
    as_rows_here,
    boolean_columns,
    column_names,
    find_labels_in,
    is_frame,
    label_values,
    numeric_columns,
    read_as_numbers,
    refuse_other_index,
    refuse_other_names,
    refuse_unknown_columns,
    rows_of_table,
    weights_in,
)
from boxwood._texts import TextReading
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import Rows, as_weights, list_words, refuse_no_rows, refuse_not_finite, show_value
from boxwood.axes.maps import Later
from boxwood.axes.transformers import encode_table
from boxwood.batches import Batches, LabelColumn, Source
from boxwood.batches.batches import OTHER_KINDS, USABLE, CompleteRows
from boxwood.batches.labelling import MissingLabels
from boxwood.batches.overview import MissingValues
from boxwood.batches.sample import drawn_rows
from boxwood.batches.texts import as_rules_read
from boxwood.columns.of_batches import look_at
from boxwood.errors import DataError
from boxwood.explanation.ages import at
from boxwood.explanation.apply.rows import note_on_lost, note_without_leaf, walk_rows, with_points
from boxwood.explanation.ask.clustering import notes_on_labels_of
from boxwood.explanation.ask.columns import boolean_columns_of, rows_for
from boxwood.explanation.ask.gaps import CompleteCases
from boxwood.explanation.ask.provenance import provenance_on_other_rows
from boxwood.explanation.choose import settings
from boxwood.explanation.living.counts import Counts, count_rows
from boxwood.explanation.measure.batch_statistics import refuse_all_rows
from boxwood.explanation.measure.evidence import LeafStatistics
from boxwood.explanation.measure.full_table import OF_DRAWN, FullTable
from boxwood.explanation.measure.measure import measure, measured_in_batches
from boxwood.explanation.measured_tree import with_kinds, with_words_of
from boxwood.grow.grown import Grown
from boxwood.reference import Reference, Task
from boxwood.reference.coded import CodedSource, rows_in_order
from boxwood.reference.feature_space import FeatureSpace
from boxwood.reference.labels import encode_labels, plain_name
from boxwood.reference.mixed import points_of_missing
from boxwood.reference.reference_batches import Measured, find_labels
from boxwood.table.scanned import as_source

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

OTHER_ROWS = "measured on the rows that were given, whether or not the tree was grown on them"
OF_TABLE = "costs are squared distances in the numeric columns of the table, as the model was read from a file"
OF_RULES = "costs are squared distances in the columns of the rules"


def measured_on(ex: MeasuredTree, X: Any, labels: Any, sample_weight: Any, as_of: Any = None) -> MeasuredTree:
    """See `Explanation.evaluate`."""
    ex = _as_of(ex, as_of)
    refuse_other_names(X, labels=labels, sample_weight=sample_weight)
    source = as_source(X)
    rows, on = (as_rows_here(X), _on_rows) if source is None else (source, _on_table)
    measured = replace(on(ex, rows, labels, sample_weight), changes=ex.changes)
    return provenance_on_other_rows(measured, rows, labels, sample_weight, ex.provenance)


def _as_of(ex: MeasuredTree, as_of: Any) -> MeasuredTree:
    """Return the explanation with ages from another day, which still knows in which columns costs are measured."""
    moved, rows = at(ex, as_of), ex._in_memory
    if moved is ex or rows is None:
        return moved
    before, by, known = dict(ex.details.dates), np.zeros(len(ex.columns)), rows.coordinates
    for name, one in moved.details.dates:
        by[ex.columns.index(name)] = (one.origin - before[name].origin) / MICROSECONDS
    axis_map = None if known.axis_map is None else Later(known.axis_map, by)
    known = replace(known, axis_map=axis_map, dates=moved._date_columns)
    return replace(moved, _evidence=replace(rows, coordinates=known))


def _on_rows(ex: MeasuredTree, X: Any, labels: Any, sample_weight: Any) -> MeasuredTree:
    refuse_no_rows(X)
    given, X = X, _in_numbers(ex, X) if is_frame(X) else X
    labels = find_labels_in(X, labels)
    refuse_other_index(X, labels=labels, sample_weight=sample_weight)
    said = notes_on_labels_of(X, labels)
    codes, found = encode_labels(label_values(labels))
    known = clusters_of_labels(found, ex.names, some=True)
    unknown = _unknown(found, known, np.bincount(codes[codes >= 0], minlength=len(found)))
    said += MissingLabels(0, len(codes), unknown=unknown).notes
    clusters = np.array([*known, -1], dtype=np.intp)[codes]
    columns = _columns_read(ex, X)
    table, weights = _table(ex, X, columns), weights_in(X, sample_weight)
    weights = X.weights if isinstance(X, Rows) and weights is None else as_weights(weights, len(table))
    if len(clusters) != len(table):
        raise DataError(f"X has {len(table)} rows, but there are {len(clusters)} labels")
    walk = walk_rows(ex.tree, ex.columns, ex._coded_columns, given, ex._gap_columns, ex._date_columns)
    leaf = walk.leaf
    lacking = np.array([_lacks(ex, j, table[:, j]) for j in columns]).T
    ruled, complete = np.flatnonzero(leaf >= 0), np.flatnonzero((leaf >= 0) & ~lacking.any(axis=1))
    if len(ruled) < len(table):
        said += (note_without_leaf(given, ex.columns, walk),)
    if len(complete) < len(ruled):
        lack = dict(zip((ex.columns[j] for j in columns), lacking.sum(axis=0).tolist(), strict=True))
        said += (_note_on_costs(len(complete), len(table), lack),)
    if not len(complete):
        raise DataError("; ".join(said) or "there are no rows to measure")
    some = None if weights is None else weights[ruled]
    facts = LeafStatistics.of_labels(ex.tree, leaf[ruled], clusters[ruled], ex.n_clusters, some)
    here = _coordinates(ex, Rows(table, weights).take(complete), columns)
    places = None if len(complete) == len(table) else complete
    rows = X if places is None else rows_of_table(X, places)
    measured = _of_clusters(ex, here, clusters[complete], rows, facts=facts)
    others = rows_of_table(X, np.setdiff1d(ruled, complete)) if len(complete) < len(ruled) else None
    if measured._evidence is not None:
        measured = replace(measured, _evidence=replace(measured._evidence, positions=places, others=others))
    left = CompleteCases(X, n_incomplete=len(table) - len(ruled))
    return left.with_other_rows(measured, (OTHER_ROWS, *said))


def _in_numbers(ex: MeasuredTree, X: Any) -> Any:
    """Return a frame with days and numbers in place of texts, in columns that held these when the tree was grown."""
    numbers = {name for j, name in enumerate(ex.columns) if j not in ex._coded_columns and j not in ex._date_columns}
    return read_as_numbers(as_dates(X, dict(ex.details.dates)), numbers)


def _lacks(ex: MeasuredTree, j: int, x: Floats) -> Bools:
    """Return whether each value of a column is missing or without a code, or has one that costs do not know."""
    known = None if ex._in_memory is None else ex._in_memory.coordinates.categories.get(j)
    lacks = np.isnan(x)
    return lacks if known is None else lacks | (x >= len(known.domain))


def _note_on_costs(n_complete: int, n_rows: int, lacking: Mapping[str, int]) -> str:
    """Return the note on measures that need all values; IN: lacking: rows without one, or with a word without code."""
    lack = list_words([f"{name} ({n:,})" for name, n in lacking.items() if n])
    have = "has" if n_complete == 1 else "have"
    of = f"costs and profiles are those of {n_complete:,} of {n_rows:,} rows"
    return f"{of}, which {have} all values; others lack {lack}"


def _of_clusters(ex: MeasuredTree, coordinates: FeatureSpace, clusters: Indices, X: Any, **known: Any) -> MeasuredTree:
    """Return the facts on rows whose clusters are known; IN: X: the rows as they were given; known: see `measure`."""
    evidence = ex._in_memory
    if evidence is None:
        centers = np.zeros((ex.n_clusters, coordinates.rows.n_columns))  # a tree that is there already needs none
        task = Task.of(coordinates.rows, Reference(clusters, centers, ex.names))
    else:
        reference = Reference(clusters, evidence.task.reference.centers, ex.names)
        task = replace(Task.of(coordinates.rows, reference), **_as_asked(evidence.task))
    kernel = None if evidence is None else evidence.kernel
    objective = ex.details.objective if kernel is not None or ex.details.kernel is None else "sqeuclidean"
    grown = Grown(ex.tree, ex.method, objective, kernel)
    measured = measure(task, grown, coordinates, **known)
    if evidence is not None:
        rows = measured._rows()
        given = None if evidence.given is None else X
        own = {name: getattr(rows, name) for name in ("task", "coordinates", "leaf", "held")}
        own |= dict.fromkeys(("positions", "whole", "others", "beside", "outcomes"))  # which are of the rows of before
        evidence = replace(evidence, **own, given=given, unplaced="")
        measured = replace(measured, _evidence=evidence)
    booleans = _booleans(ex, X) if evidence is None else evidence.booleans
    return with_kinds(with_words_of(measured, ex), booleans, dict(ex.details.dates))


def _booleans(ex: MeasuredTree, X: Any) -> tuple[str, ...]:
    """Return the columns of booleans that a loaded model does not test; of the others it knows what they are."""
    tested = {ex.columns[j] for j in ex.tree.features.tolist()}
    return tuple(name for name in boolean_columns(X) if name not in tested)


def _as_asked(task: Task) -> dict[str, Any]:
    return {name: getattr(task, name) for name in ("max_leaf_nodes", "random_state", "n_jobs", "budget")}


def clusters_of_labels(labels: Sequence[Hashable], names: Sequence[Hashable], *, some: bool = False) -> list[int]:
    """Return the cluster of each label, which must be the name of one; a truth is the same as its text in a file.

    IN: some: whether it is enough that one of them is; the others have the place -1 then.
    """
    plain: list[Hashable] = [plain_name(label) for label in labels]
    place = {name: i for i, name in enumerate(names)}
    if any(isinstance(one, bool) for one in (*plain, *names)):
        plain, place = [*map(_as_truth, plain)], {_as_truth(name): i for i, name in enumerate(names)}
    unknown = [str(label) for label in plain if label not in place]
    if unknown and not (some and len(unknown) < len(plain)):
        raise DataError(
            f"labels that the model has never seen: {list_words(unknown)}; its clusters are "
            f"{list_words([*map(str, names)])}, "
            "and -1 leaves a row out"
        )
    return [place.get(label, -1) for label in plain]


def _unknown(labels: Sequence[Hashable], places: Sequence[int], sizes: Any) -> tuple[tuple[str, int], ...]:
    """Return the labels without a place, and how many rows each has, of the sizes of all."""
    rows = zip(labels, places, sizes, strict=True)
    return tuple((str(label), int(n)) for label, place, n in rows if place < 0)


def _as_truth(name: Hashable) -> Hashable:
    return {"true": True, "false": False}.get(name.lower(), name) if isinstance(name, str) else name


def _columns_read(ex: MeasuredTree, X: Any) -> list[int]:
    """Return the columns that are measured."""
    evidence = ex._in_memory
    return _readable(ex, X) if evidence is None else list(evidence.columns)


def _coordinates(ex: MeasuredTree, rows: Rows, columns: Sequence[int]) -> FeatureSpace:
    """Return rows in the columns of the table, of which some are measured, and in those in which costs are measured."""
    evidence, table = ex._in_memory, rows.values
    gaps = tuple(sorted(ex._gap_columns & set(columns)))
    if evidence is None:
        numbers = [j for j in columns if j not in ex._coded_columns] or columns
        return FeatureSpace(
            ex.columns,
            rows,
            rows,
            categories=ex._coded_columns,
            notes=() if ex._evidence is not None else (OF_TABLE,),
            measured=rows if len(numbers) == len(ex.columns) else rows.mapped(table[:, numbers]),
            gaps=gaps,
            dates=ex._date_columns,
            scales=np.isin(np.arange(len(ex.columns)), numbers).astype(np.float64) if gaps else None,
        )
    known = evidence.coordinates
    axis_map = known.axis_map
    return replace(
        known,
        table_store=rows,
        store=rows if axis_map is None else rows.mapped(axis_map.transform(table)),
        categories={j: ex._coded_columns[j] for j in known.categories},
        gaps=gaps,
        notes=known.notes if known.measured is None else (*known.notes, OF_RULES),
        measured=None,
    )


def _readable(ex: MeasuredTree, X: Any) -> list[int]:
    """Return the columns of a table that a loaded model can read: those of numbers, and those with categories."""
    if not is_frame(X):
        return list(range(len(ex.columns)))
    present = column_names(X)
    refuse_unknown_columns([ex.columns[j] for j in ex.tree.features.tolist()], present)
    numbers = set(numeric_columns(X)[0]) | {ex.columns[j] for j in ex._coded_columns}
    tested = set(ex.tree.features.tolist())
    return [j for j, name in enumerate(ex.columns) if j in tested or (name in numbers and name in present)]


def _table(ex: MeasuredTree, X: Any, columns: list[int]) -> Array:
    """Return the table as numbers, shape (n, d), NaN for what lacks or has no code; columns that cannot be read are 0.

    A number that is missing in a column with gaps is the point plus infinity.
    """
    names = ex.columns if is_frame(X) else None
    width = np.shape(X)[1] if names is None and np.ndim(X) == 2 else len(ex.columns)
    if width != len(ex.columns):
        raise DataError(f"X has {width} columns, but {len(ex.columns)} are expected")
    if names is not None:
        refuse_unknown_columns([names[j] for j in columns], column_names(X))
    table = encode_table(
        X, names, {j: one for j, one in ex._coded_columns.items() if j in columns}, needed=np.array(columns)
    )
    if not np.isfinite(table).all():
        refuse_not_finite(np.where(np.isnan(table), 0.0, table), ex.columns)
        table = with_points(table, sorted(ex._gap_columns & set(columns)))
    return table


def _on_table(ex: MeasuredTree, source: Source, labels: Any, weight: Any) -> MeasuredTree:
    """Return the facts on a table in batches.

    Costs are measured in the columns of the table, ℓ1 distances as in `ex`, and squared ones otherwise.
    """
    if not isinstance(labels, str):
        raise DataError(
            f"labels of {source.name}, which is read in batches, must be a column of it; got {show_value(labels)}"
        )
    refuse_unknown_columns(ex.columns, source.names)
    others = {name: TextReading(None) for j, name in enumerate(ex.columns) if j not in ex._coded_columns}
    source = as_rules_read(source, others | {name: TextReading(dates) for name, dates in ex.details.dates})
    kinds = dict(zip(source.names, source.kinds, strict=True))
    words = {ex.columns[j]: one.values for j, one in ex._coded_columns.items() if kinds[ex.columns[j]] != "boolean"}
    if words or ex.details.gaps:
        return _on_mixed_table(ex, source, labels, weight, words)
    batches = rows_for(source, labels, weight, ex.columns)
    booleans = boolean_columns_of(batches)
    n_jobs = -1 if ex._evidence is None or ex._in_memory is not None else ex._evidence.task.n_jobs
    batches = replace(batches, n_jobs=n_jobs)
    try:
        measured = _measure_table(ex, labels, batches)
    except MissingValues:
        measured = _on_complete_rows(ex, labels, batches)
    return with_kinds(replace(measured, notes=(OTHER_ROWS, *measured.notes)), booleans, dict(ex.details.dates))


def _on_mixed_table(
    ex: MeasuredTree, source: Source, labels: str, weight: str | None, words: Mapping[str, Sequence[Hashable]]
) -> MeasuredTree:
    """Return the facts of a tree that asks for words or missing values; of a long table, some rows are in memory."""
    refuse_unknown_columns([labels], source.names)
    found = find_labels(Batches(source, (), weight=weight), labels, all_weighted=False, known=ex.names)
    labelling, names = LabelColumn(labels, found.labels), [*ex.columns, *([] if weight is None else [weight])]
    if settings.is_held(found.overview.n_rows, len(names)):
        kept = source.label_name(labels)
        rows = rows_in_order(source, [*names, kept], words)
        codes = labelling.codes(None, rows.column(kept).combine_chunks())
        measured = _on_rows(ex, rows, labelling.by_code(codes), weight)
    else:
        measured = _on_long_table(ex, FullTable(source, labelling, found.overview, weight), words)
    measured = replace(measured, notes=(*measured.notes, *found.missing.notes))
    if measured._evidence is None or (source.is_local and measured._evidence.whole is None):
        return measured
    return replace(measured, _evidence=replace(measured._evidence, unplaced=source.name))


def _on_long_table(ex: MeasuredTree, whole: FullTable, words: Mapping[str, Sequence[Hashable]]) -> MeasuredTree:
    """Return the facts on all rows of a table, some of which are then in memory."""
    source, evidence = whole.source, ex._in_memory
    if evidence is not None and evidence.coordinates.axis_map is not None and evidence.coordinates.scales is None:
        refuse_all_rows("a rule on columns that a pipeline reads", source.name)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    for name in ex.columns:
        if name not in words and kinds[name] not in (*USABLE, "empty"):
            source.refuse_text(name)  # says what a file holds
            raise DataError(
                f"column {name!r} of {source.name} holds {OTHER_KINDS[kinds[name]]}, where rules need numbers"
            )
    assert isinstance(whole.labelling, LabelColumn)
    points, labels = points_of_missing(ex._coded_columns, ex._gap_columns), whole.labelling.labels
    needed = [name for j, name in enumerate(ex.columns) if j not in points]
    places = clusters_of_labels(labels, ex.names, some=True)
    labelling = _in_order(whole.labelling.column, labels, places, ex.n_clusters)
    unknown = _unknown(labels, places, whole.overview.sizes)
    said = MissingLabels(0, whole.overview.n_rows, unknown=unknown).notes
    whole = replace(whole, labelling=labelling, needed=needed, counts_all=True)
    known = {name: [one for one in values if one is not None] for name, values in words.items()}
    marks = {ex.columns[j]: one.marks for j, one in ex._coded_columns.items() if ex.columns[j] in words}
    batches = whole.batches(CodedSource(source, known, unseen=np.inf, marks=marks), ex.columns)
    some = drawn_rows(batches, max(settings.DRAWN // len(ex.columns), 1), whole.overview.sizes)
    some = some.at(np.flatnonzero(~np.isinf(some.values).any(axis=1)))
    for j, point in points.items():
        some.values[np.isnan(some.values[:, j]), j] = point
    some = some.at(np.flatnonzero(~np.isnan(some.values).any(axis=1)))
    rows = Rows(some.values, None if whole.weight is None else some.own_weights)
    coordinates = _coordinates(ex, rows, range(len(ex.columns)))
    found = whole.measured(ex.tree, coordinates)
    measured = _of_clusters(ex, coordinates, some.labels, rows.values, whole=found)
    if measured._evidence is not None:
        measured = replace(measured, _evidence=replace(measured._evidence, whole=whole))
    said += (f"{len(rows):,} of {found.n_rows:,} rows, drawn at random, were read into memory; {OF_DRAWN}",)
    if found.n_unruled:
        said += (_note_on_lost(ex, count_rows(ex, source)),)
    if found.n_incomplete > found.n_unruled:
        said += (_note_on_costs(found.n_rows - found.n_incomplete, found.n_rows, {**found.gaps, **found.strange}),)
    measured = measured._with_details(n_incomplete=found.n_unruled)
    return replace(measured, notes=(OTHER_ROWS, *said, *measured.notes))


def _note_on_lost(ex: MeasuredTree, counts: Counts) -> str:
    lost = {(ex.columns[j], None if word is None else show_value(word)): n for (j, word), n in counts.lost.items()}
    return note_on_lost(lost, int(counts.at_leaves.sum()))


def _in_order(column: str, labels: Sequence[Hashable], places: Sequence[int], k: int) -> LabelColumn:
    """Return the labelling in which each label of a column is at its place among k clusters; others have no rows."""
    in_order: list[Any] = [None] * k
    for label, place in zip(labels, places, strict=True):
        if place >= 0:
            in_order[place] = label
    return LabelColumn(column, tuple(in_order))


def _on_complete_rows(ex: MeasuredTree, labels: str, batches: Batches) -> MeasuredTree:
    """Return the facts on a table in batches of which some rows lack values; these count where they have a leaf."""
    source, look = batches.source, look_at(batches)
    complete = CompleteRows(source, [name for name in batches.columns if name in look.gaps], batches.n_jobs)
    counts = count_rows(ex, source, labels, batches.weight)
    rows = counts if batches.weight is None else count_rows(ex, source, labels)
    held, kept = (_count_held(ex, some) for some in (counts.held, counts.kept))
    noise = rows.at_leaves[:-1] - kept.sum(axis=1)
    n_rows, n_kept = int(rows.at_leaves[:-1].sum()), int(kept.sum())
    facts = LeafStatistics(ex.tree, held, noise, n_rows, n_kept, counts.weighted, counts.are_whole)
    measured = _measure_table(ex, labels, replace(batches, source=complete, store=None), facts)
    n_lost, n_whole = int(rows.at_leaves[-1]), complete.n_rows or 0
    notes = [_note_on_lost(ex, rows)] * bool(n_lost)
    notes += [_note_on_costs(n_whole, look.n_rows, look.gaps)] * (n_whole < look.n_rows - n_lost)
    return CompleteCases(source, n_incomplete=n_lost).with_other_rows(measured, tuple(notes))


def _count_held(ex: MeasuredTree, of_label: Mapping[Hashable, Array]) -> Array:
    """Return the rows of each cluster in each leaf, shape (n_leaves, k), from those of each label with and without."""
    nothing = np.zeros(ex.n_leaves + 1, dtype=next((rows.dtype for rows in of_label.values()), np.int64))
    return np.array([of_label.get(cluster, nothing)[:-1] for cluster in range(ex.n_clusters)]).T


def _measure_table(ex: MeasuredTree, labels: str, batches: Batches, held: LeafStatistics | None = None) -> MeasuredTree:
    """Return the facts on the rows of a table; IN: held: what leaves hold of more rows than the complete ones."""
    known = ex._evidence
    reference = named_by_column(ex.names, batches, labels, some=True)
    task = Task.of(batches, reference, n_jobs=batches.n_jobs)
    if known is not None and known.in_batches:
        task = replace(task, max_leaf_nodes=known.task.max_leaf_nodes, budget=known.task.budget)
    objective = "l1" if ex.details.objective == "l1" else "sqeuclidean"
    measured = measured_in_batches(task, Grown(ex.tree, ex.method, objective), held=held)
    return replace(measured, notes=(*notes_on_labels_of(batches, reference), *measured.notes))


def named_by_column(names: tuple[Hashable, ...], batches: Batches, column: str, *, some: bool = False) -> Reference:
    """Return the clusters of a column that holds names of clusters, of which some may be without rows.

    IN: some: see `clusters_of_labels`.
    """
    labels, overview, missing = find_labels(batches, column, known=names)
    places = clusters_of_labels(labels, names, some=some)
    missing = missing._replace(unknown=_unknown(labels, places, overview.sizes))
    labelling, overview = _in_order(column, labels, places, len(names)), overview.placed(places, len(names))
    known = Measured(replace(batches, labelling=labelling), overview, None, missing)
    ends = np.where(overview.sizes[:, None] > 0, [overview.least, overview.most], 0.0)
    near = ends[0] / 2 + ends[1] / 2  # a tree that is there already needs no centres, but points near the rows
    return Reference(labelling, near, names, measured=known)
