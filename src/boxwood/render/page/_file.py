"""What a page must know to label the rows of a file as `boxwood predict` does: how their columns are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._dates import ISO, MICROSECONDS, NOW, Dates, pattern_of
from boxwood._messages import as_cell
from boxwood._texts import BLANKS, MARKS, PAIRS, TRUTHS
from boxwood.explanation.measure.told import range_told
from boxwood.render.forms.code import plain_category
from boxwood.table.columns import PARTED_BY_POINTS
from boxwood.table.heads import MEANS, SENTENCE, TOTAL
from boxwood.table.written import BESIDE, PLAIN, PLAIN_WORDS, pattern_of_number

if TYPE_CHECKING:
    from boxwood.axes import Categories
    from boxwood.explanation.measured_tree import MeasuredTree

_ISO_FORM = "%Y%m%d%H%M%S%f%z"  # the parts of ISO 8601 in the order of its groups


def file_rules(ex: MeasuredTree, least: int) -> dict[str, Any]:
    """Return the columns that the rules need, and the names of clusters as cells have them.

    IN: least: rows of a group whose values are told.
    """
    relative = [dates for j, dates in ex._date_columns.items() if dates.as_of and j in ex.tree.features]
    days = any(one.day_column for one in relative)
    ages = "" if not relative or days else "moment" if any(one.as_of == NOW for one in relative) else "day"
    return {
        "columns": file_columns(ex, least),
        "clusters": [[plain_category(name), _cell(plain_category(name))] for name in ex.names],
        "label": "" if ex.provenance is None else str(ex.provenance.label),
        "ages": ages,
        "day": str(np.datetime64(relative[0].origin // MICROSECONDS, "D")) if ages == "day" else "",
    }


def reading_rules() -> dict[str, Any]:
    """Return how texts are read: words, and the patterns by which Python and DuckDB read, as JavaScript writes them."""
    return {
        "marks": MARKS,
        "blanks": BLANKS,
        "pairs": PAIRS,
        "truths": [[word, int(truth)] for word, truth in TRUTHS.items()],
        "plainWords": sorted(PLAIN_WORDS),
        "patterns": {
            "number.": _whole(pattern_of_number(".")),
            "number,": _whole(pattern_of_number(",")),
            "parted": _whole(PARTED_BY_POINTS),
            "plain": _whole(PLAIN.pattern),
            "total": _whole(TOTAL, "iu"),
            "mean": [f"^(?:{MEANS})", "iu"],
            "sentence": [f"^(?:{_letters(SENTENCE.pattern)})", "u"],
            "beside": [_letters(BESIDE.pattern), "gu"],
        },
    }


def file_columns(ex: MeasuredTree, least: int) -> list[dict[str, Any]]:
    """Return how the tested columns are read, and behind them the one that has the day from which ages are counted."""
    tested, dates = ex.tree.features.tolist(), ex._date_columns
    days = {dates[j].day_column for j in tested if j in dates and dates[j].day_column}
    columns = [_column(ex.columns[j], dates.get(j) or ex._coded_columns.get(j)) for j in tested]
    columns = [one | _of_table(ex, j, least) for j, one in zip(tested, columns, strict=True)]
    return columns + [_column(name, Dates()) for name in sorted(days)]


def _column(name: str, kind: Categories | Dates | None) -> dict[str, Any]:
    """Return how a column is read; IN: kind: None for numbers."""
    if kind is None:
        return {"name": name, "kind": "numbers"}
    if isinstance(kind, Dates):
        forms = [(kind.form, pattern_of(kind.form))] * bool(kind.form) + [(_ISO_FORM, ISO)]
        return {"name": name, "kind": "dates", "forms": forms, "example": kind.example}
    if kind.are_truths or kind.are_numbers:
        return {"name": name, "kind": "truths" if kind.are_truths else "codes"}
    known = [str(value) for value in kind.as_written(kind.values) if value is not None]
    return {"name": name, "kind": "words", "known": known}


def _of_table(ex: MeasuredTree, j: int, least: int) -> dict[str, Any]:
    """Return what values of a column the table had: which ends, whether missing ones, and from when ages count."""
    known, dates = ex._coded_columns.get(j), ex._date_columns.get(j)
    if known is not None:
        lacks = {"gaps": True} if known.others or None in known.values else {}
        return lacks | ({"open": True} if known.others else {})
    ends = None if dates is not None and dates.is_relative else range_told(ex, j, least)
    origin = {"origin": dates.origin / MICROSECONDS} if dates is not None and dates.as_of else {}
    return ({"ends": ends} | origin if ends else {}) | ({"gaps": True} if j in ex._gap_columns else {})


def _cell(name: str | float | bool) -> str:
    return as_cell(name) if isinstance(name, str) else str(name).lower()


def _whole(pattern: str, flags: str = "u") -> list[str]:
    return [f"^(?:{pattern})$", flags]


def _letters(pattern: str) -> str:
    """Return a pattern whose letters are those of all languages to JavaScript, too."""
    return pattern.replace(r"[^\W\d_]", r"\p{L}")
