"""Guards for a first look at a table: columns that no rule should use, and clusterings that explain nothing.

The rules are those of `looks_like_identifier` for rows in memory. That the values of a column are unique is seen by a
part of them, the same part on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import (
    column_names,
    column_values,
    in_order_of,
    is_frame,
    refuse_unknown_columns,
    rounded_columns,
)
from boxwood._messages import Quoting, as_written, rounded
from boxwood._types import Array, Floats
from boxwood._validation import listed, refuse_other_kind, shown
from boxwood.axes.rare_words import FEW_WORDS
from boxwood.batches import Batches, Source
from boxwood.batches.batches import OTHER_KINDS, USABLE, CompleteRows, refuse_no_numbers, rows_of
from boxwood.batches.overview import MissingValues
from boxwood.batches.source import MarksMet, Spelling
from boxwood.columns.in_memory import labels_to_compare, seen_in_frame, seen_numbers
from boxwood.columns.of_batches import Look, look_at, seen_in_batches, seen_others
from boxwood.columns.rules import (
    FEW_ROWS,
    LIKE_IDENTIFIER,
    NO_VALUES,
    ONE_VALUE,
    THE_LABELS,
    UNSEEN_DATES,
    by_reason,
    is_like_identifier,
    left_out,
    words_of,
)
from boxwood.columns.seen import Use
from boxwood.errors import DataError
from boxwood.explanation.ask.gaps import CompleteCases, HasGaps, can_be_gathered, note_on_gaps, refuse_gaps
from boxwood.explanation.ask.options import Candidates
from boxwood.explanation.choose import settings
from boxwood.explanation.measure.measure import may_have_more_leaves
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.explanation.records import LeftOut
from boxwood.grow.leaves.expand import expanded
from boxwood.reference import Reference, Task
from boxwood.reference.budget import as_names
from boxwood.reference.clusterer import refuse_one_name
from boxwood.tree import Interval, ThresholdTree
from boxwood.words.figures import percent
from boxwood.words.values import cluster_name, column_name

if TYPE_CHECKING:
    from boxwood.explanation.ask.options import Options

FAR = 100.0  # ranges that differ by this factor leave k-means blind for the smaller one
NONE_BESIDE = "it has none beside labels and weights"
LOW = 0.9  # agreement below which more leaves are worth a word

FOUND = 0.5  # share of a cluster that is little to find
MOST_CODES = 20

_CODES = {
    "code",
    "type",
    "class",
    "group",
    "category",
    "kind",
    "region",
    "zone",
    "district",
    "ward",
    "department",
    "plan",
}


class ColumnNote(Quoting):
    """A note on columns: used, left out, or how they are read; the command line tells it before the explanation."""

    left_out: LeftOut | None

    def __new__(cls, text: str, written: str | None = None, left_out: LeftOut | None = None) -> ColumnNote:
        """Return the note; `left_out` are the columns that it says are left out."""
        made = super().__new__(cls, text, written)
        made.left_out = left_out
        return made


def columns_for_rules(X: Any, columns: Sequence[str] | None, clustering: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the columns of a frame that rules may use, and notes on those that are left out.

    If the caller names none, columns of text and without values are left out of a frame, and dates if a clusterer reads
    it. If boxwood also
    makes the clusters, or labels are given, columns that look like identifiers are left out, too, unless labels would
    have no other column. A clusterer sees them, as it is the caller's. For an array the names are as given.

    Raises
    ------
    DataError
        If no column remains.
    """
    if columns is not None and isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, got the text {shown(columns)}; write [{shown(columns)}]")
    if not is_frame(X) or columns is not None or hasattr(clustering, "steps"):
        return columns, ()
    label, by_clusterer, compared = None, hasattr(clustering, "fit"), None
    if isinstance(clustering, str):
        label, compared = clustering, labels_to_compare(column_values(X, clustering))
    elif not (by_clusterer or isinstance(clustering, Reference)):
        compared = labels_to_compare(clustering, in_table=False)
    seen = seen_in_frame(X, label, has_values=not by_clusterer)
    use = Use(by_clusterer=by_clusterer, has_labels=clustering is not None, labels=compared)
    why = left_out(seen, use)
    remaining, reasons = [one.name for one in seen if one.name not in why], by_reason(why)
    if not remaining:
        said = "; ".join(notes_on_left_out(reasons)) or NONE_BESIDE
        raise DataError(f"no numeric column is left in the table of {len(column_names(X))} columns; {said}")
    return remaining, notes_on_use(remaining, reasons)


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
        if reason == LIKE_IDENTIFIER:
            use = "; to use it, name the columns (columns)"
        told, written = (f"left out, {why}: {listed(names)}{use}" for why in (reason, in_writing))
        notes.append(ColumnNote(told, written, LeftOut(in_writing, tuple(names))))
    return tuple(notes)


def _notes_on_padded(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns of numbers with leading zeros, if there are any."""
    zeros = "numbers with leading zeros, which rules do not show"
    return (ColumnNote(f"{zeros}: {listed(names)} (categories shows them)"),) if names else ()


def _notes_on_spellings(spellings: Mapping[str, Spelling], used: Sequence[str]) -> tuple[str, ...]:
    """Return notes on how columns are read whose values are numbers or truths, but not plainly."""
    numbers: dict[str, str] = {}
    truths: dict[str, list[str]] = {}
    for name, (said, is_number) in spellings.items():
        if name in used and is_number:
            numbers[name] = said
        elif name in used:
            truths.setdefault(said, []).append(name)
    notes = [ColumnNote(f"{listed(names)}: {said}") for said, names in truths.items()]
    if numbers:
        both = numbers.values(), as_written(numbers.values())
        lists = (listed([f"{name} ({said})" for name, said in zip(numbers, each, strict=True)]) for each in both)
        told, written = (f"read as numbers: {text}" for text in lists)
        notes.append(ColumnNote(told, written))
    return tuple(notes)


def _notes_on_marks(marks: Mapping[str, MarksMet]) -> tuple[str, ...]:
    """Return notes on words that stand for a missing value elsewhere, and on those that do here."""
    missing = [_met(name, met.missing) for name, met in marks.items() if met.missing]
    words = [_met(name, met.words) for name, met in marks.items() if met.words]
    notes = [f"read as missing: {listed(missing)} (categories keeps such words)"] if missing else []
    notes += [f"read as words, like the other values: {listed(words)}"] if words else []
    return tuple(map(ColumnNote, notes))


def _met(name: str, marks: Mapping[str, int]) -> str:
    rows = [f"{mark!r} in {n:,} row{'' if n == 1 else 's'}" for mark, n in marks.items()]
    return f"{column_name(name)} ({', '.join(rows)})"


def _note_on_used(used: Sequence[str], left_out: Mapping[str, Sequence[str]]) -> str:
    """Return how many of the columns are used, and which."""
    n_columns = len(used) + sum(map(len, left_out.values()))
    are = "is" if len(used) == 1 else "are"
    return ColumnNote(f"{len(used):,} of {n_columns:,} columns {are} used: {listed(used)}")


def notes_on_columns(names: Sequence[str], columns: Iterable[Array], dates: Collection[str]) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, although rules may use them; IN: columns: their values."""
    return note_on_identifiers([one.name for one in seen_numbers(names, columns, dates) if is_like_identifier(one)])


def notes_in_batches(look: Look) -> tuple[str, ...]:
    """Return the same note on columns of a table in batches."""
    return note_on_identifiers([one.name for one in look.columns if is_like_identifier(one)])


def note_on_identifiers(suspects: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, if there are any."""
    if not suspects:
        return ()
    return (f"looks like an identifier: {listed(suspects)}; rules on it say little (columns chooses others)",)


def notes_on_rounding(X: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns of whole numbers so large that some are the same double."""
    return _note_on_rounded(rounded_columns(X, names))


def _note_on_rounded(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns in which large whole numbers are the same double, if there are any."""
    return (ColumnNote(rounded(names)),) if names else ()


def notes_on_ranges(names: Sequence[str], ends: Floats, clusterer: Any = None) -> tuple[str, ...]:
    """Return a note for k-means, or a clusterer that is given, on columns whose ranges differ 100-fold.

    IN: ends (2, d): least and greatest value of each column.
    """
    ranges = ends[1] - ends[0]
    varies = np.flatnonzero(ranges > 0)
    if len(varies) < 2:
        return ()
    wide, narrow = (int(varies[find(ranges[varies])]) for find in (np.argmax, np.argmin))
    if ranges[wide] < FAR * ranges[narrow]:
        return ()
    who, remedy = "k-means", "standardize gives columns equal weight"
    if clusterer is not None:
        who = type(clusterer).__name__
        remedy = f"make_pipeline(StandardScaler(), {who}(…)) gives columns equal weight"
    first, second = column_name(names[narrow]), column_name(names[wide])
    told = f"{who} hardly sees {first}, which spans {ranges[narrow]:.3g}, beside {second}, which spans"
    return (
        Quoting(
            f"{told} {ranges[wide]:.3g}; {remedy}",
            f"{who} hardly sees {first} beside {second}, which spans at least {FAR:.0f} times as much; {remedy}",
        ),
    )


def sees_distances(clusterer: Any) -> bool:
    """Return whether a clusterer looks at distances in the columns as they are: no pipeline, mixture or explainer."""
    return hasattr(clusterer, "fit") and not hasattr(clusterer, "steps") and not hasattr(clusterer, "covariance_type")


def notes_on_outcome(explanation: MeasuredTree, made_here: bool, clusterer: Any = None) -> tuple[str, ...]:
    """Return a note if one of several columns explains the clusters of a clusterer without a single exception."""
    n_columns, used = len(explanation.columns), np.unique(explanation.tree.feature[explanation.tree.feature >= 0])
    by_distance = made_here or sees_distances(clusterer)
    if not by_distance or explanation.agreement < 1 or len(used) != 1 or n_columns == 1:
        return ()
    scale = "" if explanation.standardized else "standardize, or " if made_here else "scale them, or "
    return (
        f"{column_name(explanation.columns[int(used[0])])} alone decides the cluster of every row; "
        f"if other columns should count, {scale}choose the columns (columns)",
    )


class Seen(NamedTuple):
    """What "auto" saw, and how a tree of these rows would be told of.

    Parameters
    ----------
    task : Task
        Rows on which trees were grown, in the columns of growth.
    reached : function from a tree on these columns to int and float
        Leaves and agreement of the tree as rules of the table.
    is_all : bool
        Whether that is its agreement on all rows of the table.
    """

    task: Task
    reached: Callable[[ThresholdTree], tuple[int, float]]
    is_all: bool


def notes_on_agreement(agreement: float, tree: ThresholdTree, seen: Seen) -> tuple[str, ...]:
    """Return a note on how many more leaves would agree with at least 90% of the rows, if the tree agrees with fewer.

    The tree is expanded to up to four times as many leaves, or as were asked for, on a sample where the table is large.
    No other tree is tried, so nothing is said of what no tree can reach.
    """
    if agreement >= LOW:
        return ()
    sample, asked = seen.task.sampled(settings.ROWS), max(tree.n_leaves, seen.task.max_leaf_nodes or 0)
    about = "" if seen.is_all else "about "
    for more in (2, 4):
        tree = expanded(tree, sample, more * asked, objective="mistakes")
        leaves, share = seen.reached(tree)
        if share >= LOW and leaves > asked:
            return (f"with {leaves:,} leaves the rules could reach {about}{percent(share)} (max_leaf_nodes)",)
    if leaves <= asked or share - agreement < 1 - LOW:
        return ()
    return (f"one tree of {leaves:,} leaves that was tried reaches {about}{percent(share)} (max_leaf_nodes)",)


def notes_on_missed(explanation: MeasuredTree, task: Task) -> tuple[str, ...]:
    """Return a note on clusters of whose rows the rules find few, where an agreement of 90% or more hides that."""
    missed = [one for one in explanation.clusters if one.rules and one.found is not None and one.found < FOUND]
    if not missed or explanation.agreement < LOW:
        return ()
    said = listed([f"{percent(one.found)} of {cluster_name(one.name)}" for one in missed], 3)
    agreement = percent(explanation.agreement)
    more = "; try more leaves (max_leaf_nodes)" if may_have_more_leaves(explanation.tree, task) else ""
    return (f"the rules find only {said}, but are right for {agreement} of all rows{more}",)


def notes_on_codes(explanation: MeasuredTree, numbers: Collection[str]) -> tuple[str, ...]:
    """Return a note on columns of numbers in the rules that may be codes, so that they are better taken as categories.

    They have 3 to 20 different values, all whole numbers, and a name such as "ward" or "code", or the rules take
    numbers in between, as nobody does who orders them. IN: numbers: columns that the caller said are numbers.
    """
    evidence = explanation._in_memory
    if evidence is None or explanation.n_rows < FEW_ROWS:
        return ()
    rules = [rule for cluster in explanation.clusters for rule in cluster.rules]
    middle = {one.column for rule in rules for one in rule if any(map(_is_between, one.intervals))}
    beside = explanation.coded_columns.keys() | explanation.gap_columns | explanation.date_columns.keys()
    found = []
    for j in explanation.tree.features.tolist():
        name = explanation.columns[j]
        if j in beside or name in numbers or not (name in middle or _CODES & set(words_of(name))):
            continue
        values = np.unique(evidence.coordinates.table.values[:, j])
        if 3 <= len(values) <= MOST_CODES and (values == np.floor(values)).all():
            said = f"{column_name(name)} ({len(values)} whole numbers"
            found.append((f"{said}, {values[0]:.0f} to {values[-1]:.0f})", f"{said})"))
    if not found:
        return ()
    told, written = map(_as_codes, zip(*found, strict=True))
    return (Quoting(told, written),)


def _as_codes(said: Sequence[str]) -> str:
    advice = ("read as numbers; if they are codes", "rules can name them one by one (categories)")
    return f"{listed(said)}: {', '.join(advice)}"


def notes_on_alike(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on labels, and on words in columns of the rules, that differ in case or in blanks alone."""
    found = []
    for j in explanation.tree.features.tolist():
        if alike := _alike(explanation.coded_columns[j].values if j in explanation.coded_columns else ()):
            found.append(f"{column_name(explanation.columns[j])} ({', '.join(alike[0])})")
    labels = listed([", ".join(group) for group in _alike(explanation.names)])
    said = "that differ only in case or in blanks count as different"
    return tuple(f"{what} {said}: {which}" for what, which in (("labels", labels), ("words", listed(found))) if which)


def notes_on_panels(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on columns of many words in the rules, such as countries, whose rows are in one cluster each."""
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None:
        return ()
    kept, found = evidence.task.kept, []
    for j in sorted({*explanation.tree.features.tolist()} & explanation.coded_columns.keys()):
        codes, known = evidence.coordinates.table.values[kept, j], explanation.coded_columns[j].known
        is_there = codes < known
        rows = np.stack([codes, evidence.task.reference.labels[kept]], axis=1)[is_there]
        n_words = len(np.unique(rows[:, 0]))
        if FEW_WORDS < n_words <= len(rows) // 2 and len(np.unique(rows, axis=0)) == n_words:
            said = f"all rows of each value of {column_name(explanation.columns[j])} are in one cluster"
            advice = "to learn what such values have in common, choose the columns (columns)"
            found.append(f"{said} ({n_words} values); {advice}")
    return tuple(found)


def _alike(values: Iterable[Hashable]) -> list[list[str]]:
    """Return the groups of texts that differ in upper and lower case, or in blanks, alone."""
    groups: dict[str, list[str]] = {}
    for value in values:
        if isinstance(value, str):
            groups.setdefault(" ".join(value.split()).casefold(), []).append(repr(value))
    return [group for group in groups.values() if len(group) > 1]


def _is_between(piece: Interval) -> bool:
    return bool(np.isfinite(piece.lower) and np.isfinite(piece.upper))


UNFITTED = "not among those that the clusterer was fitted on"


def usable_rows(
    source: Source,
    clustering: Any,
    label: str | None,
    asked: Options,
    *,
    looked_at: bool,
    copies: Sequence[str] = (),
) -> CompleteCases:
    """Return the rows and columns of a table that a clustering and its rules use.

    Only if the table is looked at, which takes a pass and seldom two or three, columns are left out by their values,
    and rows that lack some. Columns that the caller named are all used. Of others, those without values are left out.
    So are those that look like identifiers, if boxwood makes the clusters or a column holds them. From candidates,
    named or not, those of one value are left out, too. IN: copies: columns that are the labels in other numbers.
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
    use = Use(
        chosen=batches.columns if is_chosen else (),
        learns=asked.missing == "learn" and can_be_gathered(clustering),
        drops_constants=are_candidates,
        by_clusterer=clustering is not None and label is None,
        has_labels=label is not None,
        copies=copies,
    )
    why = {} if is_chosen and not are_candidates else left_out(seen_in_batches(batches, look), use)
    for reason, names in by_reason(why, _TOLD_LAST).items():
        unused.setdefault(reason, []).extend(names)
    used = [name for name in batches.columns if name not in why]
    if not used:
        raise DataError(f"{_none_left(source, unused)}\n{'; '.join(notes_on_left_out(unused))}")
    gaps = {} if look is None else look.gaps
    if asked.missing == "learn" and can_be_gathered(clustering) and any(name in gaps for name in used):
        raise HasGaps
    complete = complete_cases_of(replace(batches, columns=tuple(used)), look, asked.missing)
    padded = [name for name in used if name in source.padded]
    notes = notes_on_use(used, unused, padded=padded, spellings=source.spellings)
    return complete._replace(notes=(*notes, *complete.notes))


def are_named(columns: Sequence[str] | None) -> bool:
    """Return whether the caller named the columns to use."""
    return columns is not None and (not isinstance(columns, Candidates) or columns.are_named)


def _none_left(source: Source, unused: Mapping[str, Sequence[str]]) -> str:
    """Return why no column is left."""
    if unused.get(LIKE_IDENTIFIER):
        return f"no column is left in {source.name}"
    if unused.get(ONE_VALUE):
        return f"only constant columns in {source.name}; no cut can separate their rows"
    return f"no numeric column in {source.name}"


_TOLD_LAST = (UNSEEN_DATES, THE_LABELS, NO_VALUES, ONE_VALUE, LIKE_IDENTIFIER)


def on_complete_rows(work: Callable[[Batches], MeasuredTree], batches: Batches, missing: str = "drop") -> MeasuredTree:
    """Return what comes of all rows; or, if their first pass finds that some lack values, of the others."""
    try:
        return work(batches)
    except MissingValues:
        complete = complete_cases_of(batches, look_at(batches), missing)
    return complete.told(work(complete.X), complete.notes)


def complete_cases_of(batches: Batches, look: Look | None, missing: str) -> CompleteCases:
    """Return the rows that lack no value, as far as a look tells; takes a pass if some rows do."""
    gaps = {} if look is None else {name: look.gaps[name] for name in batches.columns if name in look.gaps}
    if look is None or not gaps:
        return CompleteCases(batches)
    source = CompleteRows(batches.source, list(gaps), batches.n_jobs)
    assert source.n_rows is not None
    n_incomplete = look.n_rows - source.n_rows
    refuse_gaps(gaps, n_incomplete, look.n_rows, missing)
    note = note_on_gaps(gaps, n_incomplete, look.n_rows)
    return CompleteCases(replace(batches, source=source, store=None), n_incomplete=n_incomplete, notes=(note,))


def rows_for(source: Source, label: str | None, weight: Any, columns: Sequence[str] | None) -> Batches:
    """Return the columns of numbers as rows: those that the caller has chosen, or all, or those among candidates."""
    if weight is not None:
        refuse_other_weights(weight, source)
    batches = rows_of(source, label, weight)
    if columns is not None and are_named(columns):
        return replace(batches, columns=_chosen(batches, columns, label))
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
    return by_reason(left_out(seen_others(source, names), Use()))


def _chosen(batches: Batches, columns: Sequence[str], label: str | None) -> tuple[str, ...]:
    """Return the columns that the caller has chosen, in this order."""
    source, wanted = batches.source, as_names("columns", columns)
    refuse_unknown_columns(wanted, source.names)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    others = [name for name in wanted if kinds[name] in OTHER_KINDS and name != label]
    for name in others:
        source.refuse_text(name)
    if others:
        raise DataError(
            f"columns of a table in batches must be numbers, but these are not: {listed(others)}; leave them out, or "
            "add columns of numbers made of them"
        )
    chosen = tuple(dict.fromkeys(name for name in wanted if name not in (label, batches.weight)))
    if not chosen:
        raise DataError(f"no column is left for the rules among {listed(wanted)}")
    return chosen


def refuse_one_cluster_of(task: Task) -> None:
    """Raise a DataError unless at least two clusters have rows."""
    sizes = task.overview.sizes.tolist()
    refuse_one_name([name for name, size in zip(task.reference.names, sizes, strict=True) if size])


def boolean_columns_of(batches: Batches) -> list[str]:
    """Return the columns of the rows that hold booleans."""
    kinds = dict(zip(batches.source.names, batches.source.kinds, strict=True))
    return [name for name in batches.columns if kinds[name] == "boolean"]
