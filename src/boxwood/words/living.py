"""What became of segments, in sentences and tables, which are written as text, as Markdown or into a page."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._messages import as_written, in_line
from boxwood.words.rules import condition
from boxwood.words.values import (
    align_lines,
    category,
    cluster_name,
    column_name,
    count_of,
    group_digits,
    percent,
    shorten_name,
    size,
)

if TYPE_CHECKING:
    from boxwood.explanation.living.results import ClusterDrift, DriftFacts, LostRows, MatchFacts, Told, WordsDrift

_NAMED = 5  # words that a line names


class CellRows(NamedTuple):
    """Rows of cells below a line of names; columns with `texts` stand to the left, others to the right."""

    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset({0})


class Said(NamedTuple):
    """A report: a headline, sentences on what changed, tables, and remarks."""

    headline: str
    changes: tuple[str, ...]
    tables: tuple[CellRows, ...]
    remarks: tuple[str, ...] = ()


def as_text(said: Said) -> str:
    """Return a report as text for a terminal."""
    changes = ["\n".join(["What changed:", *(f"- {change}" for change in said.changes)])] if said.changes else []
    tables = ["\n".join(align_lines(table.rows, table.texts)) for table in said.tables]
    notes = ["\n".join(f"Note: {remark}" for remark in said.remarks)] if said.remarks else []
    return "\n\n".join([said.headline, *changes, *tables, *notes])


def drift_said(drift: DriftFacts) -> Said:
    """Return what became of a saved tree on later rows."""
    return Said(
        _headline(drift),
        tuple(_change(one, drift) for one in drift.changes),
        tuple(each for table in _TABLES if len((each := table(drift)).rows) > 1),
        as_written(drift.notes),
    )


def _headline(drift: DriftFacts) -> str:
    rows = count_of(drift.n_rows, "row") if isinstance(drift.n_rows, int) else f"Weight {size(drift.n_rows)}"
    begin = f"{rows}, against the model's {size(drift.n_then)}"
    if drift.untested:
        return f"{begin}: {drift.untested}."
    return f"{begin}: {'these changes are beyond chance' if drift.changes else 'no change is beyond chance'}."


def _change(told: Told, drift: DriftFacts) -> str:
    name = told.name
    then, now = (None if share is None else percent(share) for share in (told.then, told.now))
    match told.change:
        case "another unit":
            return (
                f"{column_name(str(name))} is in another unit: its values are about {_times(told.now)} what they were"
            )
        case "moved":
            for one in drift.words:
                if one.column == name:
                    return f"{column_name(str(name))} moved: {now} of its values are {_word(one)}, {then} before"
            which = "up" if (told.now or 0) > (told.then or 0) else "down"
            if abs((told.now or 0) - (told.then or 0)) < _LITTLE:
                return f"{column_name(str(name))} is spread differently within the clusters"
            return f"{column_name(str(name))} moved {which}: above the old median: {then} → {now}"
        case "cut":
            [cut] = [one for one in drift.cuts if one.node == name]
            return f"{now} of the rows at the cut {condition(cut.condition)} fulfil it, {then} before"
        case "new label":
            return f"{_label(name)} is a new label, of {count_of(int(told.now or 0), 'row')}"
        case "without a cluster":
            return f"{now} of the rows have no cluster, {then} before"
        case "agreement":
            return f"agreement {_fell(told)} from {then} to {now}"
        case "found":
            return f"the rule of {_label(name)} finds {now} of it, {then} before"
        case "precision":
            return f"{now} of the rows under the rule of {_label(name)} belong to it, {then} before"
    return f"{_label(name)} {told.change} from {then} to {now} of the rows"


_LITTLE = 0.02  # of the values that are above the middle, more or fewer


def _times(factor: float | None) -> str:
    assert factor is not None  # of another unit
    return f"{group_digits(factor)} times" if factor >= 1 else f"1/{group_digits(round(1 / factor))} of"


def _fell(told: Told) -> str:
    return "rose" if (told.now or 0) > (told.then or 0) else "fell"


def _label(name: Hashable) -> str:
    return shorten_name(cluster_name(name))


def _sizes(drift: DriftFacts) -> CellRows:
    """Return a line for each cluster, and one for the rows without."""
    header = ("", "rows then", "now", "share then", "now")
    more = ("found then", "now", "precision then", "now") if drift.labels is not None else ()
    rows = [(*header, *more, ""), *(_cluster(one, bool(more)) for one in drift.clusters)]
    lost = ("no cluster", size(drift.n_lost_then), size(drift.n_lost))
    shares = drift.n_lost_then / max(drift.n_then, 1), drift.empty
    rows.append((*lost, *map(percent, shares), *[""] * len(more), ""))
    if drift.labels is not None:
        of_labels = ("", "", percent(drift.labels.agreement_then), percent(drift.labels.agreement))
        rows.append(("agreement", *of_labels, *[""] * len(more), ""))
    return CellRows(tuple(rows))


def _cluster(one: ClusterDrift, is_labelled: bool) -> tuple[str, ...]:
    cells = _label(one.name), size(one.then), size(one.now), percent(one.share_then), percent(one.share)
    of_labels = one.found_then, one.found, one.precision_then, one.precision
    return (*cells, *(map(percent, of_labels) if is_labelled else ()), one.change)


def _cuts(drift: DriftFacts) -> CellRows:
    lines = (
        (condition(one.condition), *map(percent, (one.share_then, one.share)), "moved" if one.moved else "")
        for one in drift.cuts
    )
    return CellRows((("of the rows at the cut", "then", "now", ""), *lines))


def _columns(drift: DriftFacts) -> CellRows:
    """Return a line for each column; shares of missing values stand there if any has one."""
    lack = any(one.missing or one.missing_then for one in drift.columns)
    header = "column", "above the old median then", "now", *["missing then", "now"] * lack, ""
    lines = []
    for one in drift.columns:
        shares = one.above_then, one.above, *[one.missing_then, one.missing] * lack
        lines.append((column_name(one.column), *map(percent, shares), one.change))
    return CellRows((header, *lines))


def _words(drift: DriftFacts) -> CellRows:
    """Return a line for each column of words, with the one whose share changed the most."""
    header = ("of the rows with a cluster", "then", "now", "")
    lines = (
        (f"{column_name(one.column)} is {_word(one)}", *map(percent, (one.share_then, one.share)), one.change)
        for one in drift.words
    )
    return CellRows((header, *lines))


def _word(one: WordsDrift) -> str:
    return shorten_name(category(one.word))


def _cells_of_lost(drift: DriftFacts) -> CellRows:
    lines = ((_reason(one), size(one.rows)) for one in drift.lost)
    return CellRows((("rows without a cluster, because", "rows"), *lines))


_TABLES = (_sizes, _cuts, _columns, _words, _cells_of_lost)


def _reason(one: LostRows) -> str:
    words = [f"{shorten_name(in_line(word))} ({size(rows)})" for word, rows in one.words[:_NAMED]]
    words += ["others"] * (len(one.words) > _NAMED)
    return f"{reason(one.column, one.reason)}{': ' * bool(words)}{', '.join(words)}"


def reason(column: str, why: str) -> str:
    """Return why a row has no cluster."""
    return f"{column_name(column)} {'is missing' if why == 'missing' else 'was never seen'}"


def match_said(match: MatchFacts) -> Said:
    """Return what became of clusters."""
    header = ("change", "then", "share", "now", "share", "kept")
    lines = (
        (
            one.change,
            ", ".join(map(_label, one.old)) or "-",
            percent(one.share_then),
            ", ".join(map(_label, one.new)) or "-",
            percent(one.share),
            percent(one.kept),
        )
        for one in match.changes
    )
    headline = f"{count_of(len(match.before), 'cluster')} then, {len(match.after)} now, matched {match.how}."
    return Said(headline, (), (CellRows((header, *lines), frozenset({0, 1, 3})),), as_written(match.notes))


def match_facts(match: MatchFacts) -> dict[str, Any]:
    """Return the numbers of a match by their names."""
    names = "before", "after", "overlap", "changes", "same_names", "how", "notes"
    return {name: _plain(getattr(match, name)) for name in names}


def drift_facts(drift: DriftFacts) -> dict[str, Any]:
    """Return the numbers of a drift by their names, with conditions in words."""
    facts = {name: getattr(drift, name) for name in _DRIFT}
    cuts = [one._asdict() | {"condition": condition(one.condition, whole=True)} for one in drift.cuts]
    made = None if drift.provenance is None else drift.provenance.made
    return {name: _plain(value) for name, value in (facts | {"cuts": cuts, "made": made}).items()}


_DRIFT = (
    *("n_then", "n_rows", "n_lost_then", "n_lost", "empty", "agreement", "untested", "notes"),
    *("changes", "clusters", "cuts", "columns", "words", "lost", "labels"),
)


def _plain(value: Any) -> Any:
    """Return records as dicts and tuples as lists."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
