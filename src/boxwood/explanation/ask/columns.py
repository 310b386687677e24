"""Columns that rules use, and notes on them: of an array or a frame, and of a table in batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from boxwood._dates import Dates
from boxwood._frames import (
    as_matrix,
    column_names,
    column_values,
    in_order_of,
    is_frame,
    numeric_columns,
    refuse_unknown_columns,
    rounded_columns,
)
from boxwood._messages import Quoting, as_written, note_on_rounded_columns
from boxwood._types import Array
from boxwood._validation import list_words, refuse_other_kind, show_value
from boxwood.batches import Batches, Source
from boxwood.batches.batches import OTHER_KINDS, USABLE, CompleteRows, refuse_no_numbers, rows_of
from boxwood.batches.labelling import MARKS_MISSING
from boxwood.batches.overview import MissingValues
from boxwood.batches.source import MarksMet, Spelling
from boxwood.columns.of_batches import NumbersInBatches, look_at, seen_in_batches, seen_others
from boxwood.columns.of_frame import seen_in_frame
from boxwood.columns.rules import (
    HARDLY_REPEATS,
    LIKE_IDENTIFIER,
    MAY_TELL,
    NO_VALUES,
    ONE_VALUE,
    SUSPICIONS,
    THE_LABELS,
    UNSEEN_DATES,
    by_reason,
    is_like_identifier,
    is_suspicion,
    reasons_to_leave_out,
)
from boxwood.columns.seen import Use, labels_to_compare, seen_numbers
from boxwood.errors import DataError
from boxwood.explanation.ask.days import COUNTED
from boxwood.explanation.ask.gaps import CompleteCases, HasGaps, note_on_gaps, refuse_gaps
from boxwood.explanation.ask.options import Candidates
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.explanation.records import LeftOut
from boxwood.reference import Reference, Task
from boxwood.reference.budget import as_names
from boxwood.reference.feature_space import BesideColumn
from boxwood.reference.reference import refuse_one_name
from boxwood.table.memory import FileInMemory
from boxwood.words.values import column_name

if TYPE_CHECKING:
    from boxwood.explanation.ask.options import Options

NONE_BESIDE = "it has none beside labels and weights"


class ColumnNote(Quoting):
    """A note on columns: used, left out, or how they are read; the command line tells it before the explanation."""

    left_out: LeftOut | None

    def __new__(cls, text: str, written: str | None = None, left_out: LeftOut | None = None) -> ColumnNote:
        """Return the note; `left_out` are the columns that it says are left out."""
        made = super().__new__(cls, text, written)
        made.left_out = left_out
        return made


def columns_for_rules(
    X: Any,
    columns: Sequence[str] | None,
    clustering: Any,
    spellings: Mapping[str, Spelling] = MappingProxyType({}),
    dates: Mapping[str, Dates] = MappingProxyType({}),
) -> tuple[Any, tuple[str, ...]]:
    """Return the columns of a frame that rules may use, and notes on those that are left out.

    If the caller names none, columns of text and without values are left out of a frame, and dates if a clusterer reads
    it. If boxwood also makes the clusters, or labels are given, columns that look like identifiers are left out, too,
    unless labels would have no other column; and if boxwood makes them, those that say when a row is from or go with
    one of these, those of many words, and numbers that are names. A clusterer sees all of these, as it is the caller's.
    For an array the names are as given.

    Raises
    ------
    DataError
        If no column remains.
    """
    if columns is not None and isinstance(columns, str):
        raise TypeError(
            f"columns must be a list of names, got the text {show_value(columns)}; write [{show_value(columns)}]"
        )
    if not is_frame(X) or columns is not None or hasattr(clustering, "steps"):
        return columns, ()
    label, by_clusterer, compared = None, hasattr(clustering, "fit"), None
    if isinstance(clustering, str):
        label, compared = clustering, labels_to_compare(column_values(X, clustering))
    elif not (by_clusterer or isinstance(clustering, Reference)):
        compared = labels_to_compare(clustering, in_table=False)
    seen = seen_in_frame(X, label, has_values=not by_clusterer)
    given = clustering is not None
    use = Use(
        by_clusterer=by_clusterer, by_boxwood=not given, has_labels=given, labels=compared, ages=ages_among(dates)
    )
    why = reasons_to_leave_out(seen, use)
    remaining, reasons = [one.name for one in seen if one.name not in why], by_reason(why)
    if not remaining:
        said = "; ".join(notes_on_left_out(reasons)) or NONE_BESIDE
        raise DataError(f"no numeric column is left in the table of {len(column_names(X))} columns; {said}")
    return remaining, notes_on_use(remaining, reasons, spellings=spellings)


def columns_beside(X: Any, notes: Sequence[str], dates: Mapping[str, Dates]) -> dict[str, BesideColumn]:
    """Return the columns of numbers and dates of a frame that clusters do without, but that may say what these are.

    IN: notes: those on columns that are left out.
    """
    told = [note.left_out for note in notes if isinstance(note, ColumnNote) and note.left_out is not None]
    plain = {*numeric_columns(X)[0]}
    why = {name: one.reason for one in told if one.reason in MAY_TELL for name in one.columns if name in plain}
    values = as_matrix(X, [*why])
    return {
        name: BesideColumn(x, dates=dates.get(name), reason=reason)
        for (name, reason), x in zip(why.items(), values.T, strict=True)
    }


def ages_among(dates: Mapping[str, Dates]) -> list[str]:
    """Return the columns of dates that are counted from a day."""
    return [name for name, one in dates.items() if one.as_of]


def as_fitted(X: Any, clustering: Any, columns: Sequence[str] | None) -> tuple[Any, tuple[str, ...]]:
    """Return a frame in the columns that a clusterer was fitted on, in that order, and a note on the others it has.

    It stays as it is if it lacks one of them, or if the caller chose others for rules.
    """
    names = [*map(str, getattr(clustering, "feature_names_in_", ()))] if hasattr(clustering, "predict") else []
    present = column_names(X) if names and is_frame(X) else ()
    if list(present) == names or not set(columns or ()) <= set(names) <= set(present):
        return X, ()
    return in_order_of(X, names), notes_on_left_out({UNFITTED: [name for name in present if name not in names]})


def notes_on_use(
    used: Sequence[str],
    left_out: Mapping[str, Sequence[str]],
    *,
    padded: Sequence[str] = (),
    spellings: Mapping[str, Spelling] = MappingProxyType({}),
    rounded: Sequence[str] = (),
    marks: Mapping[str, MarksMet] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return notes on columns: how many are used, why others are left out, and how those that are used are read.

    IN: left_out: columns by the reason; padded: numbers with leading zeros; rounded: whole numbers so large that some
    are the same double; marks: such as NA, that columns of words have.
    """
    notes = notes_on_left_out(left_out)
    first = (_note_on_used(used, left_out),) if notes else ()
    return (
        *first,
        *notes,
        *_notes_on_padded([name for name in padded if name in used]),
        *_notes_on_spellings(spellings, used),
        *_notes_on_marks({name: met for name, met in marks.items() if name in used}),
        *_note_on_rounded([name for name in rounded if name in used]),
    )


def notes_on_left_out(left_out: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a note for each reason why columns are left out."""
    reasons = {reason: names for reason, names in left_out.items() if names}
    notes = []
    for reason, names in reasons.items():
        (in_writing,), use = as_written([reason]), ""
        if is_suspicion(reason):
            use = "; to use it, name the columns (columns)"
        told, written = (f"left out, {why}: {list_words(names)}{use}" for why in (reason, in_writing))
        notes.append(ColumnNote(told, written, LeftOut(in_writing, tuple(names))))
    return tuple(notes)


def _notes_on_padded(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns of numbers with leading zeros, if there are any."""
    zeros = "numbers with leading zeros, which rules do not show"
    return (ColumnNote(f"{zeros}: {list_words(names)} (categories shows them)"),) if names else ()


def _notes_on_spellings(spellings: Mapping[str, Spelling], used: Sequence[str]) -> tuple[str, ...]:
    """Return notes on how columns are read whose values are numbers or truths, but not plainly."""
    numbers: dict[str, str] = {}
    truths: dict[str, list[str]] = {}
    for name, (said, is_number) in spellings.items():
        if name in used and is_number:
            numbers[name] = said
        elif name in used:
            truths.setdefault(said, []).append(name)
    notes = [ColumnNote(f"{list_words(names)}: {said}") for said, names in truths.items()]
    if numbers:
        both = numbers.values(), as_written(numbers.values())
        lists = (list_words([f"{name} ({said})" for name, said in zip(numbers, each, strict=True)]) for each in both)
        told, written = (f"read as numbers: {text}" for text in lists)
        notes.append(ColumnNote(told, written))
    return tuple(notes)


def _notes_on_marks(marks: Mapping[str, MarksMet]) -> tuple[str, ...]:
    """Return notes on words that stand for a missing value elsewhere, and on those that do here."""
    missing = [_match_marks(name, met.missing) for name, met in marks.items() if met.missing]
    words = [_match_marks(name, met.words) for name, met in marks.items() if met.words]
    notes = [f"read as missing: {list_words(missing)} (categories keeps such values)"] if missing else []
    notes += [f"read as categories, like the other values: {list_words(words)}"] if words else []
    return tuple(map(ColumnNote, notes))


def _match_marks(name: str, marks: Mapping[str, int]) -> str:
    rows = [f"{mark!r} in {n:,} row{'' if n == 1 else 's'}" for mark, n in marks.items()]
    return f"{column_name(name)} ({', '.join(rows)})"


def _note_on_used(used: Sequence[str], left_out: Mapping[str, Sequence[str]]) -> str:
    """Return how many of the columns are used, and which."""
    n_columns = len(used) + sum(map(len, left_out.values()))
    are = "is" if len(used) == 1 else "are"
    return ColumnNote(f"{len(used):,} of {n_columns:,} columns {are} used: {list_words(used)}")


def notes_on_columns(names: Sequence[str], columns: Iterable[Array], dates: Collection[str]) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, although rules may use them; IN: columns: their values."""
    return note_on_identifiers([one.name for one in seen_numbers(names, columns, dates) if is_like_identifier(one)])


def notes_in_batches(look: NumbersInBatches) -> tuple[str, ...]:
    """Return the same note on columns of a table in batches."""
    return note_on_identifiers([one.name for one in look.columns if is_like_identifier(one)])


def note_on_identifiers(suspects: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, if there are any."""
    if not suspects:
        return ()
    return (f"looks like an identifier: {list_words(suspects)}; rules on it say little (columns chooses others)",)


def notes_on_rounding(X: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns of whole numbers so large that some are the same double."""
    return _note_on_rounded(rounded_columns(X, names))


def notes_on_reading(source: Source, columns: Collection[str] | None) -> tuple[str, ...]:
    """Return lines on how a table was read, and on columns of text that look like numbers; not that it was copied.

    IN: columns: those that rules may use, None for all.
    """
    kinds = zip(source.names, source.kinds, strict=True)
    texts = [name for name, kind in kinds if kind == "text" and (columns is None or name in columns)]
    return (*(note for note in source.notes if "temporary file" not in note), *source.hints_on(texts))


def is_on_reading(note: str, source: Source) -> bool:
    """Return whether a note tells how a table was read, and not what came of its rows."""
    is_said = isinstance(note, ColumnNote) or note.startswith((COUNTED, MARKS_MISSING))
    return is_said or note in notes_on_reading(source, None)


def rounded_in(source: Source, largest: Mapping[str, float]) -> list[str]:
    """Return the columns of whole numbers of a table, by their type or their texts, of which doubles do not hold each.

    IN: largest: the largest distance to 0 of the values of columns.
    """
    large = [name for name, most in largest.items() if most > 1 << 53]
    return [name for name in large if name in source.rounded or source.types.get(name, "").startswith(_WHOLE)]


_WHOLE = ("int", "uint", "long")  # types of Arrow, and of Spark


def _note_on_rounded(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns in which large whole numbers are the same double, if there are any."""
    return (ColumnNote(note_on_rounded_columns(names)),) if names else ()


UNFITTED = "not among those that the clusterer was fitted on"


def usable_rows(
    source: Source, clustering: Any, label: str | None, asked: Options, *, looked_at: bool, copies: Sequence[str] = ()
) -> CompleteCases:
    """Return the rows and columns of a table that a clustering and its rules use.

    Only if the table is looked at, which takes a pass and seldom two or three, columns are left out by their values,
    and rows that lack some. Columns that the caller named are all used. Of others, those without values are left out.
    So are those that look like identifiers, if a column holds the clusters. From candidates, named or not, those of one
    value are left out, too. IN: copies: columns that are the labels in other numbers.
    """
    columns, weight = asked.columns, asked.sample_weight
    kinds = zip(source.names, source.kinds, strict=True)
    if not are_named(columns) and not any(kind in USABLE for name, kind in kinds if name not in (label, weight)):
        unused = left_out_of(source, (label, weight), columns)
        raise DataError(f"no numeric column in {source.name}\n{'; '.join(notes_on_left_out(unused))}".rstrip())
    batches = replace(rows_for(source, label, weight, columns), n_jobs=asked.n_jobs)
    look = look_at(batches) if looked_at else None
    is_chosen, are_candidates = are_named(columns), isinstance(columns, Candidates)
    unused = {} if is_chosen else left_out_of(source, (label, weight), columns)
    use = use_in_batches(asked, clustering, label)._replace(chosen=batches.columns if is_chosen else (), copies=copies)
    why = {} if is_chosen and not are_candidates else reasons_to_leave_out(seen_in_batches(batches, look), use)
    for reason, names in by_reason(why, _TOLD_LAST).items():
        unused.setdefault(reason, []).extend(names)
    used = [name for name in batches.columns if name not in why]
    if not used:
        refuse_none_left(source, unused)
    gaps = {} if look is None else look.gaps
    if asked.missing == "learn" and isinstance(clustering, str) and any(name in gaps for name in used):
        raise HasGaps
    complete = complete_cases_of(replace(batches, columns=tuple(used)), look, asked.missing)
    padded = [name for name in used if name in source.padded]
    largest = {} if look is None else {seen.name: max(-seen.least, seen.most) for seen in look.columns}
    inexact = rounded_in(source, largest)
    notes = notes_on_use(used, unused, padded=padded, spellings=source.spellings, rounded=inexact)
    return complete._replace(notes=(*notes, *complete.notes))


class ColumnChoice(NamedTuple):
    """Names of columns of a table in batches that rules may use, perhaps all of them chosen by the caller.

    `plain` are those of numbers, `chosen` those that the caller chose. `texts` may be words: columns called categories,
    those of text that can be no numbers, and numbers with leading zeros.
    """

    names: tuple[str, ...]
    plain: tuple[str, ...]
    texts: tuple[str, ...]
    chosen: Sequence[str]
    are_named: bool


def column_choice(source: Source, clustering: Any, asked: Options) -> ColumnChoice:
    """Return the columns of a table in batches that rules may use, words included.

    Raises
    ------
    DataError
        If a column that the caller named cannot be used.
    """
    columns, beside = asked.columns, (clustering, asked.sample_weight)
    if asked.sample_weight is not None and not source.is_held:  # of such, weights are looked at when they are read
        refuse_other_weights(asked.sample_weight, source)
    is_chosen = are_named(columns)
    refuse_unknown_columns([*(columns or ()), *asked.categories, *asked.numbers], source.names)
    every = source.candidates if isinstance(source, FileInMemory) else source.names
    names = tuple(name for name in columns or every if name not in beside and name in every)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    plain = tuple(name for name in names if kinds[name] in USABLE and name not in asked.categories)
    for name in (one for one in asked.numbers if one in names and not (source.is_held and kinds[one] == "empty")):
        refuse_no_numbers(source, name, "columns in numbers=")
    chosen = names if is_chosen else asked.categories
    words = [name for name in asked.categories if source.is_held or source.types.get(name) in _TEXTS]
    read = (*USABLE, "text", "empty") if source.is_held else (*USABLE, "text")
    unread = [name for name in chosen if kinds[name] not in read and name not in words]
    texts = [name for name in names if kinds[name] == "text" and name not in asked.categories]
    doubtful = {name for name in texts if source.hints_on([name])} if source.hints_on(texts) else set()
    for name in chosen:
        if name in unread or (is_chosen and name in texts and (name in source.mixed or name in doubtful)):
            source.refuse_text(name)  # says what a file holds
    if unread:
        raise DataError(
            f"rules use numbers and categories; columns of other kinds: {list_words(unread)}; leave them out"
        )
    padded = [name for name in source.padded if name not in asked.numbers]
    likely = {*asked.categories, *padded, *texts} - doubtful
    return ColumnChoice(names, plain, tuple(name for name in names if name in likely), chosen, is_chosen)


_TEXTS = ("string", "large_string")  # types of Arrow


def use_in_batches(asked: Options, clustering: Any, label: str | None) -> Use:
    """Return what is asked of the columns of a table in batches, of which the caller named none."""
    return Use(
        learns=asked.missing == "learn" and isinstance(clustering, str),
        drops_constants=isinstance(asked.columns, Candidates),
        by_clusterer=label is None,
        has_labels=label is not None,
    )


def are_named(columns: Sequence[str] | None) -> bool:
    """Return whether the caller named the columns to use."""
    return columns is not None and (not isinstance(columns, Candidates) or columns.are_named)


def refuse_none_left(source: Source, unused: Mapping[str, Sequence[str]]) -> NoReturn:
    """Raise a DataError, as no column of a table in batches is left; IN: unused: its columns by the reason."""
    said = f"no numeric column in {source.name}"
    if unused.get(LIKE_IDENTIFIER) or unused.get(HARDLY_REPEATS):
        said = f"no column is left in {source.name}"
    elif unused.get(ONE_VALUE):
        said = f"only constant columns in {source.name}; no cut can separate their rows"
    hints = notes_on_reading(source, unused.get(OTHER_KINDS["text"], ()))
    raise DataError("\n".join([said, "; ".join(notes_on_left_out(unused)), *hints]))


_TOLD_LAST = (UNSEEN_DATES, THE_LABELS, NO_VALUES, ONE_VALUE, *SUSPICIONS)


def on_complete_rows(work: Callable[[Batches], MeasuredTree], batches: Batches, missing: str = "drop") -> MeasuredTree:
    """Return what comes of all rows; or, if their first pass finds that some lack values, of the others."""
    try:
        return work(batches)
    except MissingValues:
        complete = complete_cases_of(batches, look_at(batches), missing)
    return complete.with_other_rows(work(complete.X), complete.notes)


def complete_cases_of(batches: Batches, look: NumbersInBatches | None, missing: str) -> CompleteCases:
    """Return the rows that lack no value, as far as a look tells; takes a pass if some rows do."""
    gaps = {} if look is None else {name: look.gaps[name] for name in batches.columns if name in look.gaps}
    if look is None or not gaps:
        return CompleteCases(batches)
    source = CompleteRows(batches.source, list(gaps), batches.n_jobs)
    assert source.n_rows is not None
    n_incomplete = look.n_rows - source.n_rows
    refuse_gaps(gaps, n_incomplete, look.n_rows, missing)
    note = note_on_gaps(gaps, n_incomplete, look.n_rows)
    complete = replace(batches, source=source, store=None)
    return CompleteCases(complete, n_incomplete=n_incomplete, notes=(note,), others=source.others)


def rows_for(source: Source, label: str | None, weight: Any, columns: Sequence[str] | None) -> Batches:
    """Return the columns of numbers as rows: those that the caller has chosen, or all, or those among candidates."""
    if weight is not None:
        refuse_other_weights(weight, source)
    batches = rows_of(source, label, weight)
    if columns is not None and are_named(columns):
        return replace(batches, columns=_choose_columns(batches, columns, label))
    return replace(batches, columns=tuple(name for name in batches.columns if columns is None or name in columns))


def refuse_other_weights(weight: Any, source: Source) -> None:
    """Raise an error unless weights are the name of a column of numbers."""
    refuse_other_kind("sample_weight", weight, str, f"name the column of {source.name} that holds the weights")
    refuse_no_numbers(source, weight, "weights")


def left_out_of(
    source: Source, beside: Collection[str | None], candidates: Collection[str] | None = None
) -> dict[str, list[str]]:
    """Return the columns that hold no numbers by the reason why rules cannot use them, but for those `beside` them."""
    names = [name for name in source.names if name not in beside and (candidates is None or name in candidates)]
    return by_reason(reasons_to_leave_out(seen_others(source, names), Use()))


def _choose_columns(batches: Batches, columns: Sequence[str], label: str | None) -> tuple[str, ...]:
    """Return the columns that the caller has chosen, in this order."""
    source, wanted = batches.source, as_names("columns", columns)
    refuse_unknown_columns(wanted, source.names)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    others = [name for name in wanted if kinds[name] in OTHER_KINDS and name != label]
    for name in others:
        source.refuse_text(name)
    if others:
        raise DataError(
            f"columns of a table in batches must be numbers, but these are not: {list_words(others)}; leave "
            "them out, or "
            "add columns of numbers made of them"
        )
    chosen = tuple(dict.fromkeys(name for name in wanted if name not in (label, batches.weight)))
    if not chosen:
        raise DataError(f"no column is left for the rules among {list_words(wanted)}")
    return chosen


def refuse_one_cluster_of(task: Task) -> None:
    """Raise a DataError unless at least two clusters have rows."""
    sizes, measured = task.overview.sizes.tolist(), task.reference.measured
    n_missing = 0 if measured is None or measured.missing is None else measured.missing.n_missing
    n_noise = task.overview.n_rows - sum(sizes) - n_missing if task.batches.weight is None else 0
    refuse_one_name([name for name, size in zip(task.reference.names, sizes, strict=True) if size], n_noise)


def boolean_columns_of(batches: Batches) -> list[str]:
    """Return the columns of the rows that hold booleans."""
    kinds = dict(zip(batches.source.names, batches.source.kinds, strict=True))
    return [name for name in batches.columns if kinds[name] == "boolean"]
