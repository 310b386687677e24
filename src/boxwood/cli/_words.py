"""Notes of an explanation in the words of the command line, with an option for each parameter of Python."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from boxwood.cli._limits import LIMITS

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["in_options", "in_words", "notes_on_columns", "without_told"]

_ENDS = {
    "(columns chooses others)": "(--exclude leaves it out)",
    "standardize gives columns equal weight": "--scale unit gives columns equal weight",
    "standardize, or choose the columns (columns)": "--scale unit, or choose the columns (-c)",
    "choose the columns (columns)": "choose the columns (-c)",
    "name the columns (columns)": "name the columns (-c)",
    "(max_leaf_nodes)": "(--max-leaf-nodes)",
    "(n_clusters)": "(-k)",
}
"""Ends of notes, the longer first. Before them stand names of columns, which stay as they are."""

_LIMITS = re.compile(r"^(max_columns=\d+): |\(((?:max_depth|min_samples_leaf)=\d+(?:, min_samples_leaf=\d+)?)\)$")


def in_options(explanation: Explanation) -> Explanation:
    """Return the explanation for printing: its notes name the options of `boxwood explain`."""
    return replace(explanation, notes=tuple(map(in_words, explanation.notes)))


def notes_on_columns(explanation: Explanation) -> tuple[str, ...]:
    """Return the notes on columns that are used or left out."""
    from boxwood.explanation._guards import ColumnNote

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
