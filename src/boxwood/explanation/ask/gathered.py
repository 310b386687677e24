"""A table in batches that is read into memory, all of its rows or a sample: with words or gaps, or to be clustered.

Passes add up numbers, and a tree needs few of them. Sets of words and sides of missing values are chosen by looking at
the rows again and again, and so is how columns enter clusters. So tables of up to `settings.GATHERED` values are held
at once. Of a longer one rows are drawn, by what they hold, so that neither batches nor machines change the sample.
They are taken for a frame, of which clusters and trees are made, and the tree is measured on all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import refuse_unknown_columns
from boxwood._types import Array, Floats, Indices
from boxwood._validation import list_words
from boxwood.axes import Categories
from boxwood.axes.categories import numbers_first
from boxwood.batches import Batches, Source
from boxwood.batches.batches import OTHER_KINDS, Together, refuse_no_numbers
from boxwood.batches.labelling import LabelColumn, OneCluster
from boxwood.batches.overview import Overview
from boxwood.batches.sample import Draw, Sample, drawn_rows, sample_of
from boxwood.batches.source import AS_NAMES, AS_WORDS, Spelling
from boxwood.columns.column_table import ColumnTable, with_truths
from boxwood.columns.keys import Keys
from boxwood.columns.of_batches import NumberSums, look_of
from boxwood.columns.of_memory import number_column, read_rows, with_too_large, words_in
from boxwood.columns.rules import NO_VALUES, ONE_VALUE, by_reason, reasons_to_leave_out
from boxwood.columns.seen import Seen, SeenWords, Use, seen_in
from boxwood.errors import DataError
from boxwood.explanation.ages import names_column
from boxwood.explanation.ask.columns import ColumnChoice, column_choice, refuse_none_left, rounded_in
from boxwood.explanation.ask.days import can_count, count_from_day, with_day
from boxwood.explanation.ask.mixed import KEPT_OUT, chosen_of, with_advice
from boxwood.explanation.ask.options import Candidates
from boxwood.explanation.choose import settings
from boxwood.explanation.measure.batch_statistics import refuse_all_rows
from boxwood.explanation.measure.full_table import OF_DRAWN, FullTable
from boxwood.grow import METHODS
from boxwood.reference.coded import CodedSource, FoundWords, find_words
from boxwood.reference.reference_batches import find_labels
from boxwood.table.memory import FileInMemory
from boxwood.table.scanned import as_source

if TYPE_CHECKING:
    from boxwood.batches.sample import RowSample
    from boxwood.explanation.ask.options import Options


class Gathered(NamedTuple):
    """Rows of a table in memory, with labels, None where clusters are to be made, and weights.

    They are taken for a frame, so those that lack values are among them; `whole` has all rows of a long table, of which
    these were drawn. Dates of a file in memory are counted from the day that is asked for.
    """

    table: ColumnTable
    labels: Array | None
    sample_weight: Floats | None
    whole: FullTable | None


def source_to_explain(X: Any, clustering: Any) -> Source | None:
    """Return what `as_source` does, but a long file that fits into memory as one that is read there, not drawn from."""
    source = as_source(X)
    if source is None or source.as_held is None or not (clustering is None or isinstance(clustering, str)):
        return source
    assert source.n_rows is not None
    if settings.is_held(source.n_rows, len(source.names)):
        return source
    held = source.as_held()
    held.tick = source.tick
    return held


def gather_rows(source: Source, clustering: Any, asked: Options, *, has_gaps: bool = False) -> Gathered | None:
    """Return the rows of a table in memory, or those that are drawn; None for a clustering that is found by passes.

    Rows are read into memory if boxwood makes their clusters, or if a column has their labels, and they are few and on
    this machine, or have gaps, or words that rules may use. Takes a pass over the columns of text, if there are any,
    one for the labels, and one for the rows.

    IN: has_gaps: whether it lacks values, as far as that is known.

    Raises
    ------
    DataError
        If a column that the caller named cannot be used, or no column is left.
    """
    if clustering is None or (source.is_held and isinstance(clustering, str)):
        return gather_all(source, clustering, asked)
    if not isinstance(clustering, str):
        return None
    wanted, n_rows = column_choice(source, clustering, asked), source.n_rows
    is_held = source.is_local and n_rows is not None and settings.is_held(n_rows, len(wanted.names))
    if not (wanted.texts or has_gaps or is_held):
        return None
    usable = _usable(source, wanted, asked)
    if not usable.names or not (usable.words or has_gaps or is_held):
        return None
    return _read(source, clustering, asked, wanted, usable)


def gathered_as_asked(source: Source, asked: Options, label: str | None = None) -> tuple[Gathered, Options]:
    """Return rows of a table as `gather_all` does, in which dates are counted, and what is asked of them."""
    source, asked = with_day(source, replace(asked, dates=source.dates), None)
    read = gather_all(source, label, asked)
    return read, replace(asked, sample_weight=read.sample_weight, as_of=None)


def gather_all(source: Source, label: str | None, asked: Options, key: Sequence[str] = ()) -> Gathered:
    """Return the rows of a table in memory, all of them, or of a long one those that are drawn.

    Takes a pass over the columns of text, if there are any, and one for the rows. IN: label: the column of labels; key:
    columns of a file in memory that say which rows of another one belong to these. Beside both there may be no other.

    Raises
    ------
    DataError
        If a column that the caller named cannot be used, or no column is left.
    """
    wanted = column_choice(source, label, asked)
    usable = _usable(source, wanted, asked)
    if not usable.names and not (key and label):
        refuse_none_left(source, usable.unused)
    return _read(source, label, asked, wanted, usable, key)


def share_drawn(n_drawn: int, n_rows: int) -> str:
    """Return the words that say which rows were read."""
    return f"{n_drawn:,} of {n_rows:,} rows, drawn at random, were read into memory"


def numbers_in_order(source: Source, n_rows: int, column: str) -> Floats:
    """Return the numbers of a column, one for each row in the order of the table, NaN for missing ones.

    Raises
    ------
    DataError
        If the column holds no numbers, or the table has not so many rows, or none of them has a place of its own.
    """
    if isinstance(source, FileInMemory):
        return number_column(source, column)
    refuse_no_numbers(source, column, "values")
    if source.is_local and source.n_rows in (None, n_rows):
        values = Batches(source, (column,)).gathered().values[:, 0]
        if len(values) == n_rows:
            return values
    raise DataError(f"the values of {column!r} can only be shown where all rows are in memory; let rules use it")


# ------------------------------------------------------------------------------------------------------- columns
def _words_in(source: Source, wanted: ColumnChoice, asked: Options) -> FoundWords:
    """Return the words of columns of text and the number of rows, by a pass unless the table knows the latter."""
    if isinstance(source, FileInMemory):
        return words_in(source, wanted.texts, asked.categories)
    if not wanted.texts and source.n_rows is not None:
        return FoundWords({}, source.n_rows, frozenset(), {})
    return find_words(source, wanted.texts or wanted.plain[:1], asked.n_jobs, whole=asked.categories)


def _look_at_columns(
    source: Source, wanted: ColumnChoice, words: Mapping[str, Sequence[Hashable] | None], found: FoundWords
) -> list[Seen]:
    """Return what is known of columns before they are read; IN: words: those of columns that may hold some."""
    kinds, seen = dict(zip(source.names, source.kinds, strict=True)), list[Seen]()
    for name in wanted.names:
        if name in words:
            among = source.text_among(name) if name in source.mixed and name not in wanted.chosen else None
            seen.append(SeenWords(name, words[name], lacks_some=name in found.lacking, among=among))
            seen[-1].why_no_words = found.why.get(name, seen[-1].why_no_words)
        elif name not in wanted.plain:
            seen.append(Seen(name, kinds[name]))
    return seen


class _Usable(NamedTuple):
    """Columns that rules can use: their names, words of those of text, others by the reason, what texts hold."""

    names: list[str]
    words: Mapping[str, Sequence[Hashable]]
    unused: dict[str, list[str]]
    of_texts: FoundWords


def _usable(source: Source, wanted: ColumnChoice, asked: Options) -> _Usable:
    """Return the columns that rules can use, as far as that is known before rows are read."""
    found = _words_in(source, wanted, asked)
    words = {name: values for name, values in found.values.items() if name in wanted.texts}
    for name in source.mixed:
        if values := words.get(name):
            words[name] = tuple(numbers_first(map(str, values)))
    use = Use(chosen=wanted.chosen, learns=asked.missing == "learn", drops_constants=not wanted.are_named)
    why = reasons_to_leave_out(_look_at_columns(source, wanted, words, found), use)
    unused = by_reason({name: reason for name, reason in why.items() if name not in wanted.plain})
    for reason, them in unused.items():
        if reason not in (NO_VALUES, ONE_VALUE) or not source.is_held:
            _refuse_named(them, reason, wanted, source)
    kept = {name: values for name, values in words.items() if values and name not in why}
    names = [name for name in wanted.names if name in wanted.plain or name in kept]
    return _Usable(names, kept, unused, found)


def _choose_columns(
    source: Source, wanted: ColumnChoice, usable: _Usable, drawn: _DrawnTable, asked: Options
) -> ColumnTable:
    """Return the rows with the columns that rules may use, now that these are read."""
    table, day = _without_useless(source, wanted, _table(source, drawn.values, usable), asked), tuple[str, ...]()
    said = _how_read(source, table, usable, asked)
    are_outcomes = drawn.keys is not None and not asked.are_inputs  # of which dates may be no columns
    is_counted = source.is_held and asked.as_of is not None
    if is_counted and not (are_outcomes and not can_count(table.dates, asked.as_of)):
        table, _, day = count_from_day(table, table.dates, asked.as_of)
    said |= {"words": asked.categories, "in_all": drawn.in_all}
    said |= {"are_named": wanted.are_named, "are_made": asked.are_inputs, "has_weights": drawn.weights is not None}
    table = chosen_of(table, () if asked.are_inputs else drawn.labels, **said)
    if not table.columns and (drawn.keys is None or drawn.labels is None):
        refuse_none_left(source, with_advice(table.left_out))
    return replace(table, notes=(*table.notes, *drawn.notes, *day), keys=drawn.keys)


def _without_useless(source: Source, wanted: ColumnChoice, table: ColumnTable, asked: Options) -> ColumnTable:
    """Return the rows without columns whose values tell none of them from another."""
    drops_constants = source.is_held or isinstance(asked.columns, Candidates)
    use = Use(chosen=table.columns, learns=asked.missing == "learn", drops_constants=drops_constants)
    seen: Sequence[Seen] = seen_in(table)
    if isinstance(source, FileInMemory):
        seen = with_too_large(source, seen)
        if asked.as_of is not None and names_column(asked.as_of):  # from whose days one date is not equally far
            seen = [one for one in seen if one.kind != "date" or one.n_values != 1]
    for reason, them in by_reason(reasons_to_leave_out(seen, use), (NO_VALUES, ONE_VALUE)).items():
        if reason == NO_VALUES and not source.is_held:
            _refuse_named(them, reason, wanted, source)
        table = table.without(them, reason)
    return table


def _how_read(source: Source, table: ColumnTable, usable: _Usable, asked: Options) -> dict[str, Any]:
    """Return what `notes_on_use` tells of how columns are read."""
    numbers = {name: table.values[:, j] for j, name in enumerate(table.columns) if j not in table.categories}
    largest = {name: float(np.fmax.reduce(np.abs(x), initial=0.0)) for name, x in numbers.items()}
    return {
        "padded": [name for name in source.padded if name in table.columns and name not in usable.words],
        "spellings": _spellings(source, usable.words, asked.categories),
        "marks": usable.of_texts.marks,
        "rounded": rounded_in(source, largest),
    }


def _spellings(source: Source, words: Collection[str], asked: Collection[str]) -> dict[str, Spelling]:
    """Return how columns are read that may be read in another way, but for words that were asked for.

    IN: words: the columns that are read as words.
    """
    told = {name: said for name, said in source.spellings.items() if said == AS_NAMES or name not in words}
    told |= {name: AS_WORDS for name in source.mixed if name in words}
    return {name: said for name, said in told.items() if name not in asked}


def _refuse_named(names: Collection[str], reason: str, wanted: ColumnChoice, source: Source) -> None:
    if chosen := [name for name in names if name in wanted.chosen]:
        hints = "".join(f"\n{hint}" for hint in source.hints_on(chosen if reason == OTHER_KINDS["text"] else ()))
        raise DataError(
            f"rules cannot use {list_words(chosen)} of {source.name}: {KEPT_OUT.get(reason, reason)}{hints}"
        )


def _table(source: Source, values: Floats, usable: _Usable) -> ColumnTable:
    """Return the rows as numbers and codes; a missing word gets the code behind all others."""
    names, words, unused, found = usable
    categories: dict[int, Categories] = {}
    for j, name in enumerate(names):
        if name in words:
            lacks = np.isnan(values[:, j])
            values[lacks, j] = len(words[name])
            met = found.marks[name].missing if name in found.marks else ()
            categories[j] = Categories.of_words(words[name], met, lacks=bool(lacks.any()))
    kinds = dict(zip(source.names, source.kinds, strict=True))
    booleans = tuple(name for name in names if kinds[name] == "boolean" and name not in words)
    beside = categories, booleans, unused, tuple(source.names), source.dates
    return with_truths(ColumnTable(tuple(names), values, *beside))


def _refuse_infinite(values: Floats, names: Sequence[str]) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        counts = zip(names, infinite.sum(axis=0).tolist(), strict=True)
        where = list_words([f"{name} ({count:,})" for name, count in counts if count])
        n_rows = int(infinite.any(axis=1).sum())
        raise DataError(
            f"infinite values in {n_rows:,} of {len(values):,} rows: {where}\nleave those rows or columns out"
        )


# ---------------------------------------------------------------------------------------------------------- rows
def _read(
    source: Source, label: str | None, asked: Options, wanted: ColumnChoice, usable: _Usable, key: Sequence[str] = ()
) -> Gathered:
    """Return rows with the columns that rules may use, and what belongs to the rows."""
    if isinstance(source, FileInMemory):
        rows = read_rows(source, usable.names, usable.words, label=label, weight=asked.sample_weight, key=key)
        drawn = _DrawnTable(rows.values, rows.labels, rows.weights, rows.notes, keys=rows.keys)
    else:
        drawn = _rows(source, label, asked, usable)
        _give_back_memory()
    _refuse_infinite(drawn.values, usable.names)
    return Gathered(_choose_columns(source, wanted, usable, drawn, asked), drawn.labels, drawn.weights, drawn.whole)


class _DrawnTable(NamedTuple):
    """Rows with their labels, None where clusters are to be made, weights, and notes.

    If they were drawn, `whole` has all rows, and `in_all` says what is known of columns of numbers there.
    """

    values: Floats
    labels: Array | None
    weights: Floats | None
    notes: tuple[str, ...] = ()
    whole: FullTable | None = None
    in_all: Mapping[str, Seen] = MappingProxyType({})
    keys: Keys | None = None


def _rows(source: Source, clustering: str | None, asked: Options, usable: _Usable) -> _DrawnTable:
    """Return all rows of a table, or some that are drawn if these are more values than memory should hold."""
    weight, names, n_rows = asked.sample_weight, usable.names, usable.of_texts.n_rows
    batches = Batches(CodedSource(source, usable.words), tuple(names), weight=weight, n_jobs=asked.n_jobs)
    is_held = settings.is_held(n_rows, len(names))
    if clustering is None:
        return _all_of(batches, None) if is_held else _some_to_cluster(batches, source, asked, usable)
    refuse_unknown_columns([clustering], source.names)
    found = find_labels(replace(batches, columns=()), clustering)
    labelling, notes = LabelColumn(clustering, found.labels), found.missing.notes
    batches = replace(batches, labelling=labelling)
    if is_held:
        return _all_of(batches, labelling)._replace(notes=notes)
    some = drawn_rows(batches, _n_drawn(names), found.overview.sizes)
    some = _with_each_cluster(some, batches, found.overview.sizes, asked.missing)
    share = share_drawn(len(some.values), n_rows)
    note = f"{share}, as tables with categories or missing values are, and the tree was grown on these; {OF_DRAWN}"
    whole = FullTable(source, labelling, found.overview, weight, asked.n_jobs)
    labels = labelling.by_code(some.labels)
    return _DrawnTable(some.values, labels, _weights(some, weight), (*notes, note), whole)


def _all_of(batches: Batches, labelling: LabelColumn | None) -> _DrawnTable:
    rows = batches.gathered()
    return _DrawnTable(rows.values, None if labelling is None else labelling.by_code(rows.labels), rows.weights)


def _some_to_cluster(batches: Batches, source: Source, asked: Options, usable: _Usable) -> _DrawnTable:
    """Return rows that are drawn to make clusters of; the pass that draws them looks at all rows."""
    _refuse_other_costs(source, asked)
    n_drawn, d, n_rows = _n_drawn(batches.columns), batches.n_columns, usable.of_texts.n_rows
    as_one, parts = replace(batches, labelling=OneCluster()), list[Any]()

    def looking(make: Callable[[], RowSample]) -> RowSample:
        parts[:] = as_one.fold(partial(Together, [partial(Overview, 1, d), partial(NumberSums, d), make])).parts
        parts[0].refuse_unusable(batches.columns, may_lack=True)
        return parts[2]  # type: ignore[no-any-return]

    some = sample_of(as_one, Draw.of(n_drawn, np.array([n_rows])), looking).drawn(n_drawn)
    overview, numbers, _ = parts
    whole = FullTable(source, OneCluster(), overview, batches.weight, asked.n_jobs)
    note = f"{share_drawn(len(some.values), n_rows)}; clusters and trees are made of these"
    in_all = {seen.name: seen for seen in look_of(batches, numbers).columns if seen.name not in usable.words}
    return _DrawnTable(some.values, None, _weights(some, batches.weight), (note,), whole, in_all)


def _refuse_other_costs(source: Source, asked: Options) -> None:
    """Raise a DataError for costs that passes do not measure: those of kernels, and of distances to medians."""
    if asked.method.startswith("kernel"):
        METHODS[asked.method].refuse_batches()
    if (objective := asked.options.get("objective")) in ("l1", "l2"):
        refuse_all_rows(f"objective {objective!r} with clusters that are made here", source.name)


def _n_drawn(names: Sequence[str]) -> int:
    return max(settings.DRAWN // len(names), 1)


def _weights(some: Sample, weight: str | None) -> Floats | None:
    return some.own_weights if weight is not None or (some.own_weights != 1.0).any() else None


def _with_each_cluster(some: Sample, batches: Batches, sizes: Indices, missing: str) -> Sample:
    """Return the rows with all those of clusters of which none was drawn that rules may use.

    A tree knows the clusters of its rows alone. Such rows weigh as much as their share of the table; if they are more
    than were drawn, so many of them are taken.

    IN: sizes (k,): number of the rows of each cluster in the table; missing: as for `explain`.
    """
    labelling, lacks = batches.labelling, np.isnan(some.values)
    assert isinstance(labelling, LabelColumn)
    usable = ~(lacks.all(axis=1) if missing == "learn" else lacks.any(axis=1))
    lost = np.setdiff1d(np.arange(len(sizes)), some.labels[usable])
    if not len(lost):
        return some
    rare = LabelColumn(labelling.column, tuple(labelling.labels[c] for c in lost.tolist()))
    theirs = drawn_rows(replace(batches, labelling=rare), min(int(sizes[lost].sum()), len(some.labels)))
    share = min(len(some.labels) / int(sizes.sum()), 1.0)
    theirs = theirs._replace(labels=lost[theirs.labels], own_weights=theirs.own_weights * share)
    others = some.at(np.flatnonzero(~np.isin(some.labels, lost)))
    return Sample(*(np.concatenate(parts) for parts in zip(others, theirs, strict=True)))


def _give_back_memory() -> None:
    """Return what a pass has freed to the system, as Arrow keeps it for the next one and growth comes on top of it."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
