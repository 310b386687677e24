"""Notes and errors of the library in the words of the command line: options in place of parameters of `explain`."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation

LIMITS = ("max_depth", "min_samples_leaf", "max_columns", "forbidden", "preferred", "round_thresholds")
"""Parameters of `explain` that limit the rules; options have the same names."""
_OTHERS = ("max_leaf_nodes", "method", "objective", "time_limit", "validate", "categories", "numbers")
_RENAMED = {"n_clusters": "--clusters", "random_state": "--seed", "n_jobs": "--jobs"}
_PARAMETER = re.compile(rf"(?<!takes no )\b({'|'.join((*LIMITS, *_OTHERS, *_RENAMED))})(=| must|;| at once)")
_COLUMNS = re.compile(r"columns=(\[.*?\])")
_LIMITS = re.compile(r"^(max_columns=\d+): |\(((?:max_depth|min_samples_leaf)=\d+(?:, min_samples_leaf=\d+)?)\)$")
_ENDS = {
    "(columns chooses others)": "(--exclude leaves it out)",
    "standardize gives columns equal weight": "--scale unit gives columns equal weight",
    "standardize, or choose the columns (columns)": "--scale unit, or choose the columns (-c)",
    "choose the columns (columns)": "choose the columns (-c)",
    "name the columns (columns)": "name the columns (-c)",
    "(max_leaf_nodes)": "(--max-leaf-nodes)",
    "(n_clusters)": "(-k)",
    "(validate measures it)": "(--validate measures it)",
    "(categories shows them)": "(--categories shows them)",
    "(categories keeps such words)": "(--categories keeps such words)",
    "(categories)": "(--categories)",
}
"""Ends of notes, the longer first. Before them stand names of columns, which stay as they are."""
_IN_ERRORS = {
    "min_samples_leaf=": "--min-samples-leaf ",
    '(missing="drop")': "(--missing drop)",
    "more than half, so leave out": "more than half, so leave out (--exclude)",
    "leave those rows or columns out": "replace them or leave those rows out, then run again\n"
    "or leave the columns out with --exclude NAME",
}
"""Words of errors on the data by those of the command line."""


def in_words(note: str) -> str:
    """Return a note, or an error, with the options of `boxwood explain` in place of the parameters of Python."""
    from boxwood._messages import Quoting

    said = _with_options(note)
    return Quoting(said, _with_options(note.written)) if isinstance(note, Quoting) else said


def _with_options(note: str) -> str:
    found = _LIMITS.search(note)
    if found:
        inside = found[1] or found[2]
        ours = re.sub(r"(\w+)=", lambda name: f"{_option(name[1])} ", inside)
        return note[: found.start()] + found[0].replace(inside, ours) + note[found.end() :]
    for end, ours in _ENDS.items():
        if note.endswith(end):
            return note.removesuffix(end) + ours
    return note


def in_options(explanation: Explanation) -> Explanation:
    """Return the explanation for printing: its notes name the options of `boxwood explain`."""
    return replace(explanation, notes=tuple(map(in_words, explanation.notes)))


@contextmanager
def in_option_names() -> Iterator[None]:
    """Make an error about a parameter of `explain` one of usage, with the name of the option."""
    from boxwood.errors import DataError

    try:
        yield
    except DataError as error:
        text = in_words(str(error))
        for parameter, option in _IN_ERRORS.items():
            text = text.replace(parameter, option)
        if text == str(error):
            raise
        raise DataError(text) from None
    except ValueError as error:
        text = _PARAMETER.sub(lambda found: _option(found[1]) + found[2], str(error))
        text = _COLUMNS.sub(_as_option, text).replace('missing="drop"', "--missing drop")
        if text == str(error):
            raise
        raise click.UsageError(text) from None


def _as_option(found: re.Match[str]) -> str:
    """Return the option that names columns, from a list as Python writes it."""
    return f"-c {shlex.quote(','.join(ast.literal_eval(found[1])))}"


def _option(parameter: str) -> str:
    """Return the option that sets a parameter of `explain`."""
    return _RENAMED.get(parameter, f"--{parameter.replace('_', '-')}")
