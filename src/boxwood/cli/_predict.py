"""`boxwood predict MODEL FILE`: the table with one more column, in a stream."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._engine import check_engine, labelling_options, read_while, table_or_query
from boxwood.cli._options import (
    AS_OF,
    NOTES,
    Grouped,
    Share,
    check_writable,
    in_option_names,
    load_model,
    output_option,
    reading,
    reading_options,
    refuse_overwriting,
    talk_options,
)
from boxwood.cli._terminal import Talk, refuse_closed_output, tell
from boxwood.cli._verbs import PAST_A_LIMIT

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.table import Labelled
    from boxwood.table.duck import Query
    from boxwood.table.labels import Unseen
    from boxwood.table.options import ReadOptions


def _check_out(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    if path is not None and path != "-":
        from boxwood.table import output_format

        try:
            output_format(path)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return check_writable(ctx, param, path)


def _check_column(ctx: click.Context, param: click.Parameter, name: str) -> str:
    if not name:
        raise click.BadParameter("a column cannot have an empty name")
    return name


_EPILOG = """\b
Examples:
  boxwood predict model.json new.csv -o labelled.csv
  boxwood predict model.json new.parquet -o labelled.parquet --column segment
  boxwood predict model.json 'data/*.parquet' -o labelled.parquet
  boxwood predict model.json --sql "SELECT * FROM 'x.parquet' WHERE year = 2024" -o labelled.parquet
  boxwood predict model.json - < new.csv | head
  boxwood predict model.json big --engine spark --spark-master local[4] -o labelled.parquet
"""


@click.command(name="predict", cls=Grouped, epilog=_EPILOG)
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@output_option(
    _check_out, "File to write: .csv, .tsv, .jsonl (also .gz) or .parquet; without it, CSV on standard output."
)
@click.option(
    "--column",
    metavar="NAME",
    default="cluster",
    show_default=True,
    callback=_check_column,
    help="Name of the new column.",
)
@click.option(
    "--fail-over-empty",
    metavar="SHARE",
    type=Share(),
    default=0.5,
    show_default=True,
    help="Exit with 4 if more than this share of the rows (0.5 or 50%) get no cluster. OUT is written all the same.",
)
@AS_OF
@NOTES
@labelling_options
@reading_options
@talk_options
def command(model: str, file: str | None, output: str | None, column: str, quiet: bool, **options: Any) -> None:
    """Add the cluster of every row to a table.

    MODEL was written by `boxwood explain -o MODEL.json`. FILE is a table as for `boxwood explain`, also a folder or a
    pattern of Parquet files, whose rows become one file OUT. All rows and columns are kept, in their
    order: a line that looks like units, a total or a note gets an empty cluster. Only titles above the column names are
    left out, with a note even with -q. From Parquet to Parquet, types, metadata and compression are kept, too. Tables
    are streamed, so they may be larger than memory. A row gets an empty cluster if a value that its rule needs is
    missing, or is a category that was never seen, and in text if it has no date where most rows have one.
    """
    check_engine(file, options)
    refuse_overwriting(output, model=model)
    talk = Talk(quiet, all_notes=options["notes"])
    label = _label_on_cluster if options["engine"] in ("spark", "dask") else _label
    labelled = label(talk, model, file, output, column, options)
    if labelled.n_empty:
        rows = f"{labelled.n_empty:,} row{'' if labelled.n_empty == 1 else 's'}"
        odd = any(told.are_dates for told in labelled.unseen)
        talk.note(f"{rows} left without a cluster: {_name_needed_columns(load_model(model), odd)}")
    talk.notes([*talk.kept, *map(_unseen, labelled.unseen)])
    _check_limit(labelled, options["fail_over_empty"])


_NAMED = 6  # columns


def _name_needed_columns(explanation: Explanation, has_odd_dates: bool) -> str:
    """Return which columns may be to blame for a row without a cluster."""
    from boxwood.words.values import column_name, join_words

    coded, places = explanation._coded_columns, explanation._gap_columns
    tested = [j for j in explanation.tree.features.tolist() if j not in places]
    lacking = [j for j in tested if j not in coded or None not in coded[j].values]
    unseen = [j for j in tested if j in coded and not coded[j].others]
    dates = explanation._date_columns.keys() if has_odd_dates else ()
    named = [column_name(explanation.columns[j]) for j in explanation.tree.features if j in {*lacking, *unseen, *dates}]
    verbs = {"is missing": lacking, "was never seen": unseen, "is no date": dates}
    verb = join_words([verb for verb, blamed in verbs.items() if blamed], len(verbs), "or")
    return f"their value of {join_words(named, _NAMED, 'or')} {verb}" if named else "a value is missing"


def _unseen(told: Unseen) -> str:
    """Return how many rows have a category that was never seen, or no date, and what to do about empty texts."""
    from boxwood.table.sql import as_name

    rows = "1 row has" if told.n_values == 1 else f"{told.n_values:,} rows have"
    empty = "" if told.example else f"; NULLIF({as_name(told.column)}, '') in --sql QUERY makes an empty text missing"
    what = "is no date" if told.are_dates else "was never seen"
    return f"column {told.column}: {rows} a value that {what}, such as {told.example!r}{empty}"


def _check_limit(labelled: Labelled, share: float) -> None:
    if labelled.n_empty > share * labelled.n_rows:
        counts = f"{labelled.n_empty:,} of {labelled.n_rows:,} rows"
        tell(f"boxwood: {counts} have no cluster, more than {100 * share:g}%; --fail-over-empty sets this limit")
        raise click.exceptions.Exit(PAST_A_LIMIT)


def _label(
    talk: Talk, model: str, file: str | None, output: str | None, column: str, options: dict[str, Any]
) -> Labelled:
    if output is None or output == "-":
        refuse_closed_output()
    explanation = load_model(model)
    table = _table(file, options["sql"], output)
    if output is None or output == "-":
        return _print(talk, explanation, table, reading(options), column, options["as_of"])
    labelled = _write(talk, explanation, table, reading(options), column, output, options["as_of"])
    talk.wrote(output)
    return labelled


def _label_on_cluster(
    talk: Talk, model: str, file: str | None, output: str | None, column: str, options: dict[str, Any]
) -> Labelled:
    from boxwood.cli._cluster import write_on_cluster
    from boxwood.explanation.ages import to_apply

    engine = options["engine"]
    if output is None or not output.endswith(".parquet") or os.path.exists(output):
        raise click.UsageError(f"--engine {engine} writes a new folder of Parquet files; name it with -o OUT.parquet.")
    with in_option_names():
        explanation = to_apply(load_model(model), options["as_of"])
    with talk.status(f"labelling {file or 'the query'}"), _in_option_names():
        labelled = write_on_cluster(explanation, file, output, engine, column, options)
    talk.note(f"wrote {output}, a folder")
    return labelled


def _table(file: str | None, sql: str | None, output: str | None) -> str | Query:
    """Return the table to label; refuse to write over one of its files."""
    from boxwood.table.options import find_files

    for each in () if file is None else find_files(file):
        refuse_overwriting(output, table=each)
    return table_or_query(file, sql)


def _print(
    talk: Talk, explanation: Explanation, table: str | Query, options: ReadOptions, column: str, as_of: str | None
) -> Labelled:
    """Print the table when all its rows are labelled, so that nothing is printed if a later row cannot be used."""
    from boxwood._files import naming, temporary_folder

    with temporary_folder() as folder:
        whole = os.path.join(folder, "labelled.csv")
        labelled = _write(talk, explanation, table, options, column, whole, as_of)
        with open(whole, "rb") as printed, naming("standard output"):
            shutil.copyfileobj(printed, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    return labelled


def _write(
    talk: Talk,
    explanation: Explanation,
    table: str | Query,
    options: ReadOptions,
    column: str,
    out: str,
    as_of: str | None,
) -> Labelled:
    from boxwood.render.forms.labels import sql_rules
    from boxwood.table.write_labels import label_rows

    file = table if isinstance(table, str) else None
    with in_option_names(), _in_option_names(), read_while(talk, "labelling", file, foretold=True) as tick:
        rules = sql_rules(explanation, out=out, as_of=as_of)
        return label_rows(table, out, rules, options, column=column, tick=tick, tell=talk.kept.append)


@contextmanager
def _in_option_names() -> Iterator[None]:
    """Say which option names the new column."""
    from boxwood.table import ColumnError

    try:
        yield
    except ColumnError as error:
        ours = str(error).replace("choose another name for the new one", "name the new one with --column NAME")
        raise ColumnError(ours) from None
