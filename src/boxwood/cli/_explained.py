"""A table becomes an explanation, as the options of `boxwood explain` say: in memory, or read in batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from boxwood._validation import listed
from boxwood.cli._engine import chosen_engine, opened
from boxwood.cli._options import LIMITS, in_option_names, in_words, reading
from boxwood.cli._terminal import Status, Talk
from boxwood.errors import DataError
from boxwood.grow import METHODS

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.batches import Source
    from boxwood.columns.column_table import ColumnTable
    from boxwood.table import Kinds, Table
    from boxwood.table.options import Wanted

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
    _refuse_method(labels, options)
    wanted = _wanted(labels, options)
    with opened(talk, file, engine, wanted, options) as source:
        with in_option_names():
            columns = columns_of(source, wanted)
        kinds = zip(source.names, source.kinds, strict=True)
        hints = source.hints_on([name for name, kind in kinds if kind == "text" and name in columns.columns])
        given = _parameters(columns, clusters, options) | kinds_of(options)._asdict()
        with in_option_names():
            explanation, warned = explained_in_batches(
                talk, source, columns, labels, sample_weight=options["weights"], value=options["value"], **given
            )
        for text in warned:
            talk.note(text)
        read = [note for note in source.notes if "temporary file" not in note]  # which asks for nothing
        yield replace(explanation, notes=tuple(dict.fromkeys((*read, *hints, *explanation.notes))))


def _refuse_method(labels: str | None, options: dict[str, Any]) -> None:
    """Refuse a method that cannot read a table in batches, or does not keep the limits, before the table is read.

    Rows of which clusters are made are in memory.
    """
    if options["method"] == "auto":
        return
    from boxwood.reference.budget import Budget

    method = METHODS[options["method"]]
    if labels is not None:
        method.refuse_batches()
    with in_option_names():
        method.check_budget(Budget.of(**{name: options[name] for name in _NUMBERS}))


def _in_memory(talk: Talk, file: str, clusters: int | None, labels: str | None, options: dict[str, Any]) -> Explanation:
    from boxwood.explanation.ask.basis import Given, with_basis

    table, columns = read(talk, file, labels, options)
    with _growing(talk, makes_clusters=labels is None) as (status, warned):
        from boxwood.api.explain import explain

        status(0.0, rows=len(columns))
        given = _parameters(columns, clusters, options) | kinds_of(options)._asdict()
        with in_option_names():
            explanation = explain(columns, table.labels, verbose=status.step, sample_weight=table.weights, **given)
    for text in warned:
        talk.note(text)
    source = "standard input" if file == "-" else file
    beside = [name for name in (labels, options["weights"]) if name is not None]
    assert explanation.basis is not None
    made_by = f"the column {labels}" if labels is not None else explanation.basis.labels
    explanation = with_basis(explanation, Given(source, table.names, made_by, beside, labels or "", table.types))
    if (value := options["value"]) is not None:
        explanation.worth(value, None if value in explanation.columns else table.worth)
    return explanation


def read(talk: Talk, file: str, labels: str | None, options: dict[str, Any]) -> tuple[Table, ColumnTable]:
    """Return what was read, and of this the columns that rules may use, with notes on them and on how it was read."""
    from boxwood.columns.of_file import column_table
    from boxwood.explanation.ask.columns import notes_on_left_out
    from boxwood.explanation.ask.mixed import chosen_of, with_advice
    from boxwood.table import read_table

    with talk.status(f"reading {file}") as tick, in_option_names():
        wanted, how = _wanted(labels, options), reading(options)
        missing = "learn" if options["missing"] == "learn" else "drop"  # which `explain` refuses, if asked to
        table = read_table(
            file,
            how,
            **wanted._asdict(),
            missing=missing,
            kinds=kinds_of(options),
            value=options.get("value"),
            tick=tick,
        )
    told = {name: getattr(table, name) for name in ("padded", "spellings", "rounded", "marks")}
    columns = column_table(table, learns=missing == "learn")
    columns = chosen_of(
        columns, table.labels, are_named=bool(options["columns"]), words=[*_categories(options)], **told
    )
    if not columns.columns:
        why = notes_on_left_out(with_advice(columns.left_out))
        raise DataError(f"no column is left in {table.name}\n{'; '.join(map(in_words, why))}")
    notes = dict.fromkeys((*columns.notes[:1], *table.hints, *columns.notes[1:]))
    return table, replace(columns, notes=tuple(notes))


def kinds_of(options: dict[str, Any]) -> Kinds:
    """Return the columns whose kind the options name."""
    from boxwood.table import Kinds

    return Kinds(_categories(options), _names(options["numbers"]))


def _categories(options: dict[str, Any]) -> dict[str, list[str] | None]:
    """Return the columns of categories, with the values in their order of those of which one is given, as S<M<L."""
    found: dict[str, list[str] | None] = {}
    for text in _names(options["categories"]):
        name, _, order = text.partition(":")
        if "<" in order:
            found[name.strip()] = [value.strip() for value in order.split("<")]
        else:
            found[text] = None
    return found


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in given for name in text.split(",") if name.strip())


@contextmanager
def _growing(talk: Talk, *, makes_clusters: bool) -> Iterator[tuple[Status, list[str]]]:
    """Show that a tree is grown; yield the line of the status, and a list that holds the warnings after the block."""
    warned: list[str] = []
    doing = "clustering and growing" if makes_clusters else "growing"
    with talk.growing(doing) as status, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield status, warned
    warned += dict.fromkeys(str(each.message) for each in caught if each.category is not DeprecationWarning)


def _parameters(table: ColumnTable | ColumnNames, clusters: int | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options as parameters of `explain`."""
    return {
        "n_clusters": clusters,
        "method": options["method"],
        "max_leaf_nodes": options["max_leaf_nodes"],
        "objective": options["objective"],
        "time_limit": options["time_limit"],
        "random_state": options["seed"],
        "standardize": scale_of("unit" if options["standardize"] else options["scale"]),
        "missing": options["missing"],
        "validate": options["validate"],
        "n_jobs": options["jobs"],
        **limits(options, table),
    }


def limits(options: dict[str, Any], table: ColumnTable | ColumnNames) -> dict[str, Any]:
    """Return the options that limit the rules as parameters of `explain`, less forbidden columns that rules cannot use.

    Raises
    ------
    ColumnError
        If the table does not have a column, or rules cannot use one that is preferred.
    """
    from boxwood.table.options import find_columns, split_names

    forbidden, preferred = (split_names(options[name], table.names) for name in ("forbidden", "preferred"))
    find_columns(forbidden, table.names)
    find_columns(preferred, table.columns)
    return {name: options[name] for name in LIMITS} | {
        "forbidden": [name for name in forbidden if name in table.columns],
        "preferred": list(preferred),
    }


def scale_of(option: str | None) -> bool | Literal["auto"]:
    """Return what the option --scale asks of columns."""
    return "auto" if option is None else option == "unit"


class ColumnNames(NamedTuple):
    """Names of all columns of a table, and of those that are clustered and explained."""

    names: tuple[str, ...]
    columns: tuple[str, ...]


def told_by_rows(source: Source, status: Status) -> Callable[[float, int], None]:
    """Return a function that shows the share and the rows of each pass."""
    doing = status.doing

    def tick(share: float, n_rows: int) -> None:
        number = source.n_passes + 1
        if (status.doing, status.passes) != (doing, number):
            status.begin(doing, number)
        status(share, source.n_rows or n_rows)

    return tick


def _wanted(labels: str | None, options: dict[str, Any]) -> Wanted:
    """Return the columns that the options name."""
    from boxwood.table.options import Wanted

    return Wanted(options["columns"], options["exclude"], labels, options["weights"])


def columns_of(source: Source, wanted: Wanted) -> ColumnNames:
    """Return the columns to use: those that are named, or candidates, of which `explain` leaves some out.

    Raises
    ------
    ColumnError
        If the table lacks a column that is named.
    DataError
        If no column remains.
    """
    from boxwood.explanation.ask.options import Candidates

    places, are_named, *_ = wanted.among(source.names)
    chosen = [source.names[i] for i in places]
    if not chosen:
        raise DataError(f"no numeric column in {source.name}\nits columns: {listed(source.names)}")
    return ColumnNames(source.names, Candidates(chosen, are_named=are_named))


def explained_in_batches(
    talk: Talk, source: Source, columns: ColumnNames, labels: str | None, **options: Any
) -> tuple[Explanation, list[str]]:
    """Return the explanation of a source, and the warnings; options are those of `explain`."""
    from boxwood.api.explain import explain

    with _growing(talk, makes_clusters=labels is None) as (status, warned):
        source.tick = told_by_rows(source, status)
        try:
            explanation = explain(source, labels, columns=columns.columns, verbose=status.step, **options)
        finally:
            source.tick = None
    return explanation, warned
