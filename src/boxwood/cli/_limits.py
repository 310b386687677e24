"""Options that limit the rules of `boxwood explain`, and notes of an explanation in the words of the options."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from boxwood.cli._explained import ColumnNames
    from boxwood.explanation import Explanation
    from boxwood.table import Table

__all__ = ["LIMITS", "in_options", "in_words", "limit_options", "limits", "notes_on_columns", "without_told"]

F = TypeVar("F", bound=Callable[..., Any])

_AT_LEAST_ONE = click.IntRange(min=1)
_OPTIONS = (
    click.option("--max-depth", metavar="N", type=_AT_LEAST_ONE, help="Most conditions in the rule of a leaf."),
    click.option("--min-samples-leaf", metavar="N", type=_AT_LEAST_ONE, help="Fewest rows in a leaf."),
    click.option(
        "--max-columns", metavar="N", type=_AT_LEAST_ONE, help="Most columns that all rules together may use."
    ),
    click.option(
        "--forbidden",
        metavar="NAME",
        multiple=True,
        help="Keep these columns out of the rules, but not out of the clustering; may be repeated, or a,b,c.",
    ),
    click.option(
        "--preferred",
        metavar="NAME",
        multiple=True,
        help="Prefer these columns if that costs at most 1%; may be repeated, or a,b,c.",
    ),
    click.option(
        "--round-thresholds",
        metavar="DIGITS",
        type=click.IntRange(1, 17),
        help="Round thresholds to this many significant digits; a note says how many rows move.",
    ),
)
LIMITS = {
    "max_depth": "--max-depth",
    "min_samples_leaf": "--min-samples-leaf",
    "max_columns": "--max-columns",
    "forbidden": "--forbidden",
    "preferred": "--preferred",
    "round_thresholds": "--round-thresholds",
}
"""Options by the parameter of `explain` that they set."""


def limit_options(command: F) -> F:
    """Add the options that limit the rules."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def limits(options: dict[str, Any], table: Table | ColumnNames) -> dict[str, Any]:
    """Return those options as parameters of `explain`. Forbidden columns that rules do not use anyway are left out.

    Raises
    ------
    ColumnError
        If the table does not have a column, or rules cannot use one that is preferred.
    """
    from boxwood.table.column_names import find_columns, split_names

    forbidden, preferred = (split_names(options[name], table.names) for name in ("forbidden", "preferred"))
    find_columns(forbidden, table.names)
    find_columns(preferred, table.columns)
    return {name: options[name] for name in LIMITS} | {
        "forbidden": [name for name in forbidden if name in table.columns],
        "preferred": list(preferred),
    }


_ENDS = {
    "(columns chooses others)": "(--exclude leaves it out)",
    "standardize gives columns equal weight": "--scale unit gives columns equal weight",
    "standardize, or choose the columns (columns)": "--scale unit, or choose the columns (-c)",
    "choose the columns (columns)": "choose the columns (-c)",
    "name the columns (columns)": "name the columns (-c)",
    "(max_leaf_nodes)": "(--max-leaf-nodes)",
    "(n_clusters)": "(-k)",
    "(categories)": "(--categories)",
}
"""Ends of notes, the longer first. Before them stand names of columns, which stay as they are."""

_LIMITS = re.compile(r"^(max_columns=\d+): |\(((?:max_depth|min_samples_leaf)=\d+(?:, min_samples_leaf=\d+)?)\)$")


def in_options(explanation: Explanation) -> Explanation:
    """Return the explanation for printing: its notes name the options of `boxwood explain`."""
    return replace(explanation, notes=tuple(map(in_words, explanation.notes)))


def notes_on_columns(explanation: Explanation) -> tuple[str, ...]:
    """Return the notes on columns that are used or left out."""
    from boxwood.explanation.ask.columns import ColumnNote

    return tuple(note for note in explanation.notes if isinstance(note, ColumnNote))


def without_told(explanation: Explanation) -> Explanation:
    """Return the explanation without the notes on columns, which are told on standard error."""
    told = notes_on_columns(explanation)
    return replace(explanation, notes=tuple(note for note in explanation.notes if note not in told))


def in_words(note: str) -> str:
    """Return a note, or an error, with the options of `boxwood explain` in place of the parameters of Python."""
    found = _LIMITS.search(note)
    if found:
        inside = found[1] or found[2]
        ours = re.sub(r"(\w+)=", lambda name: f"{LIMITS[name[1]]} ", inside)
        return note[: found.start()] + found[0].replace(inside, ours) + note[found.end() :]
    for end, ours in _ENDS.items():
        if note.endswith(end):
            return note.removesuffix(end) + ours
    return note
