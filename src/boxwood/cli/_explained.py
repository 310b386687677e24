"""A table becomes an explanation, as the options of `boxwood explain` say: in memory, or read in batches."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._engine import chosen_engine, opened
from boxwood.cli._in_batches import columns_of, explained_in_batches
from boxwood.cli._limits import LIMITS, limits
from boxwood.cli._talk import Talk, reading
from boxwood.cli._words import in_words, notes_on_columns
from boxwood.errors import DataError
from boxwood.grow import METHODS

if TYPE_CHECKING:
    from boxwood.cli._in_batches import Columns
    from boxwood.explanation import Explanation
    from boxwood.table import Table

__all__ = ["SCALED", "explained", "in_option_names", "read"]

SCALED = "clustered on columns scaled to equal spread; --scale none clusters them as they are"
_OPTIONS = {
    "max_leaf_nodes": "--max-leaf-nodes",
    "n_clusters": "--clusters",
    "method": "--method",
    "objective": "--objective",
    "time_limit": "--time-limit",
    "random_state": "--seed",
    "validate": "--validate",
    "n_jobs": "--jobs",
    **LIMITS,
}
"""Options of the command by the parameter of `explain` that they set."""
_IN_ERRORS = {
    "min_samples_leaf=": "--min-samples-leaf ",
    '(missing="drop")': "(--missing drop)",
    "more than half, so leave out": "more than half, so leave out (--exclude)",
}
"""Words of errors on the data by those of the command line."""
_NUMBERS = ("max_depth", "min_samples_leaf", "max_columns")  # limits that need no names of columns


@contextmanager
def explained(
    talk: Talk, file: str | None, clusters: int | None, labels: str | None, options: dict[str, Any]
) -> Iterator[Explanation]:
    """Yield the explanation of the table, which can be read as long as it is needed."""
    engine = chosen_engine(talk, file, options)
    if engine == "memory":
        assert file is not None  # which was checked
        yield _in_memory(talk, file, clusters, labels, options)
        return
    _refuse_method(options)
    with opened(talk, file, engine, options) as source:
        columns = columns_of(source, labels, options)
        given = _parameters(columns, clusters, options)
        with in_option_names():
            explanation, notes = explained_in_batches(
                talk, source, columns, labels, sample_weight=options["weights"], **given
            )
        for text in (*map(in_words, notes_on_columns(explanation)), *notes):
            talk.note(text)
        _note_on_scale(talk, explanation.columns, clusters, options)
        yield explanation


def _refuse_method(options: dict[str, Any]) -> None:
    """Refuse a method that cannot read a table in batches, or does not keep the limits, before the table is read."""
    if options["method"] == "auto":
        return
    from boxwood.reference._budget import Budget

    method = METHODS[options["method"]]
    method.refuse_without_passes()
    with in_option_names():
        method.check_budget(Budget.of(**{name: options[name] for name in _NUMBERS}))


def _in_memory(talk: Talk, file: str, clusters: int | None, labels: str | None, options: dict[str, Any]) -> Explanation:
    table, notes = read(talk, file, labels, options)
    explanation = _explain(talk, table, clusters, options)
    return replace(explanation, notes=(*notes, *explanation.notes))


def read(talk: Talk, file: str, labels: str | None, options: dict[str, Any]) -> tuple[Table, tuple[str, ...]]:
    """Return the table without columns that rules should not use, and notes on them, which are told."""
    from boxwood.explanation._guards import note_on_used, notes_on_left_out, notes_on_padded
    from boxwood.table import read_table

    with talk.status(f"reading {file}") as tick:
        chosen = {name: options[name] for name in ("columns", "exclude", "weights")}
        table = read_table(file, labels=labels, missing="drop", tick=tick, **chosen, **reading(options))
    suspects = [] if options["columns"] else _suspects(table, has_labels=labels is not None)
    left_out, used = dict(table.left_out), table.without(suspects)
    notes = notes_on_left_out(left_out, suspects)
    if not used.columns:
        raise DataError(f"no column is left in {table.name}\n{'; '.join(map(in_words, notes))}")
    notes = (note_on_used(used.columns, left_out, suspects), *notes) if notes else ()
    notes += notes_on_padded([name for name in used.padded if name in used.columns])
    for note in (*notes[:1], *table.hints, *notes[1:]):
        talk.note(in_words(note))
    return used, notes


def _suspects(table: Table, *, has_labels: bool) -> list[str]:
    """Return the columns that look like identifiers; none if labels would have no other column."""
    from boxwood.explanation._guards import identifiers_to_leave_out, looks_like_identifier

    pairs = zip(table.columns, table.X.T, strict=True)
    suspects = [name for name, values in pairs if name in table.padded or looks_like_identifier(name, values)]
    return identifiers_to_leave_out(suspects, table.columns, has_labels=has_labels)


def _explain(talk: Talk, table: Table, clusters: int | None, options: dict[str, Any]) -> Explanation:
    given = _parameters(table, clusters, options)
    with (
        talk.growing("clustering and growing" if clusters else "growing") as status,
        warnings.catch_warnings(record=True) as caught_warnings,
    ):
        warnings.simplefilter("always", UserWarning)
        from boxwood.explanation import explain
        from boxwood.explanation._explanation import with_booleans

        status(0.0, rows=len(table.X))
        with in_option_names():
            explanation = explain(
                table.X,
                table.labels,
                columns=table.columns,
                verbose=status.step,
                sample_weight=table.weights,
                **given,
            )
        explanation = with_booleans(explanation, table.booleans)
    for text in dict.fromkeys(
        str(warning.message) for warning in caught_warnings if warning.category is not DeprecationWarning
    ):
        talk.note(text)
    _note_on_scale(talk, table.columns, clusters, options)
    return explanation


def _parameters(table: Table | Columns, clusters: int | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options as parameters of `explain`."""
    return {
        "n_clusters": clusters,
        "method": options["method"],
        "max_leaf_nodes": options["max_leaf_nodes"],
        "objective": options["objective"],
        "time_limit": options["time_limit"],
        "random_state": options["seed"],
        "standardize": _is_scaled(clusters, options),
        "missing": options["missing"],
        "validate": options["validate"],
        "n_jobs": options["jobs"],
        **limits(options, table),
    }


def _is_scaled(clusters: int | None, options: dict[str, Any]) -> bool:
    scale = "unit" if options["standardize"] else options["scale"]
    return clusters is not None if scale is None else scale == "unit"


def _note_on_scale(talk: Talk, columns: tuple[str, ...], clusters: int | None, options: dict[str, Any]) -> None:
    is_asked = options["standardize"] or options["scale"] is not None
    if _is_scaled(clusters, options) and not is_asked and len(columns) > 1:
        talk.note(SCALED)


@contextmanager
def in_option_names() -> Iterator[None]:
    """Make an error about a parameter of `explain` one of usage, with the name of the option."""
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
        text = str(error)
        for parameter, option in _OPTIONS.items():
            text = re.sub(rf"\b{parameter}(=| must|;| at once)", lambda found, to=option: f"{to}{found[1]}", text)  # type: ignore[misc]
        if text == str(error):
            raise
        raise click.UsageError(text) from None
