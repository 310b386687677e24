"""`boxwood export MODEL`: another form of a saved model, without data."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._options import (
    Choice,
    Grouped,
    check_writable,
    describe_forms,
    in_option_names,
    load_model,
    output_option,
    refuse_overwriting,
    takes_page_options,
    talk_options,
    write_form,
    write_named_file,
)
from boxwood.cli._terminal import refuse_closed_output, show
from boxwood.errors import DataError
from boxwood.render import EXPORTERS
from boxwood.render.forms.dialects import LAYOUTS, NAMES
from boxwood.render.forms.exporters import STYLES

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation

_FORMS = {name: exporter for name, exporter in EXPORTERS.items() if exporter.kind != "object"}


def _split(ctx: click.Context, param: click.Parameter, names: str | None) -> list[str] | None:
    return None if names is None else next(csv.reader([names]), [])


def _pairs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Return types by columns; names of columns may hold equals signs, types hold none."""
    pairs = [text.rpartition("=") for text in given]
    for name, sign, _ in pairs:
        if not (name and sign):
            raise click.BadParameter("write --types COLUMN=TYPE, such as --types last_order=TEXT")
    return {name: type for name, _, type in pairs} or None


def _check_out(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    return path if path is not None and os.path.isdir(path) else check_writable(ctx, param, path)


_HELP = f"""Print a saved model in another form.

{describe_forms(_FORMS)}

SQL, Python, JavaScript, PMML, the formula and ONNX label rows as `boxwood predict` does. A row that lacks a value which
its rule needs, or has a category there that was never seen, gets NULL, None, null, no prediction or an empty text. An
empty text is a missing value for the formula alone; in SQL, NULLIF(column, '') makes it NULL. A spreadsheet holds about
15 digits of a number, and ONNX reads float32; a value so near to a cut that it is rounded past it may fall on the other
side. The formula finds its columns by their names in row 1 of the sheet, in any order; copy it down from row 2.
It gives #N/A if a name is missing there.
"""
_EPILOG = """\b
Examples:
  boxwood export model.json
  boxwood export model.json --to sql --dialect postgres --table sales.customers
  boxwood export model.json --to python -o rules.py
  boxwood export model.json --to dbt --table customers --dialect snowflake -o models/segments
"""


_GROUPS = {
    "Form": (
        "form",
        "style",
        "dialect",
        "table",
        "layout",
        "nan",
        "types",
        "reasons",
        "share",
        "as_of",
        "module",
        "columns",
        "let",
        "separator",
    ),
    "Report": ("title", "titles", "min_count"),
    "Output": ("output", "quiet", "debug"),
}
"""Options of the help by their groups; `--table` and `--columns` are parts of a form here."""


@click.command(name="export", cls=Grouped, groups=_GROUPS, help=_HELP, epilog=_EPILOG)
@click.argument("model", metavar="MODEL", type=click.Path())
@click.option(
    "--to",
    "form",
    type=Choice(list(_FORMS), elsewhere={name: f"--to sql --dialect {name}" for name in NAMES}),
    default="text",
    show_default=True,
    help="Form.",
)
@click.option(
    "--style",
    type=Choice(STYLES),
    help="For text: all that is known (full, the default), or the rules as a list to say aloud (list).",
)
@click.option("--dialect", type=Choice(NAMES, case_sensitive=False), help="Engine of the SQL; the default is duckdb.")
@click.option(
    "--table", metavar="NAME", help="A query that adds the cluster to this table; points separate parts of its name."
)
@click.option(
    "--layout",
    type=Choice(LAYOUTS),
    help="For SQL: a condition for each leaf (flat, the default), or one for each side of a cut (nested).",
)
@click.option(
    "--no-nan",
    "nan",
    flag_value=False,
    default=None,
    help="Leave out SQL's tests for NaN, if no column of floats holds any.",
)
@click.option(
    "--types",
    metavar="COLUMN=TYPE",
    multiple=True,
    callback=_pairs,
    help="Type of a column in the database, as last_order=TEXT, where it is not that of the explained table.",
)
@click.option(
    "--reasons",
    flag_value=True,
    default=None,
    help="For SQL: 'missing' or 'never seen' for a row without a cluster, instead of NULL.",
)
@click.option(
    "--share",
    flag_value=True,
    default=None,
    help="The share of the leaf's rows that are in its cluster: for SQL a second column, for Python a function share.",
)
@click.option(
    "--module", flag_value=True, default=None, help="A JavaScript module to import, instead of a script for a page."
)
@click.option(
    "--columns",
    metavar="NAMES",
    callback=_split,
    help="All columns of the spreadsheet in their order, as a,b,c; the formula is shorter then, and row 1 is not read.",
)
@click.option(
    "--no-let",
    "let",
    flag_value=False,
    default=None,
    help="A formula for spreadsheets without LET, such as Excel 2019; it is longer.",
)
@click.option(
    "--separator",
    type=Choice([",", ";"]),
    help="What stands between arguments of the formula; with ; its numbers have decimal commas.",
)
@click.option(
    "--as-of",
    metavar="DAY",
    help="The day from which ages that rules say are counted, as 2026-08-31, or for SQL, Python and JavaScript the "
    "column that has it; the day on which they run without.",
)
@takes_page_options
@output_option(_check_out, "File to write instead of printing, or the folder for dbt.")
@talk_options
def command(model: str, form: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Write a saved model in another form."""
    exporter = _FORMS[form]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in exporter.options:
            where = " or ".join(f"--to {form}" for form, one in _FORMS.items() if name in one.options)
            raise click.UsageError(f"--{'no-' * (name in ('nan', 'let'))}{name.replace('_', '-')} needs {where}")
    if exporter.kind == "bytes" and output is None:
        raise click.UsageError(f"--to {form} does not write text; name a file with -o")
    if exporter.kind == "folder" and (output in (None, "-") or os.path.isfile(str(output))):
        raise click.UsageError(f"--to {form} writes several files; name a folder with -o")
    if exporter.kind != "folder" and output is not None and os.path.isdir(output):
        raise click.BadParameter(f"'{output}' is not a file; name another one", param_hint="'-o' / '--output'")
    refuse_overwriting(output, model=model)
    explanation = load_model(model)
    with in_option_names():
        content = _write_form(explanation, form, given)
    if isinstance(content, dict):
        _write_folder(str(output), content, quiet)
    elif output is not None and output != "-":
        write_named_file(output, content, quiet)
    elif isinstance(content, str):
        show(content, is_code=exporter.kind != "text")
    else:
        refuse_closed_output()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def _write_folder(folder: str, files: dict[str, str], quiet: bool) -> None:
    """Write files into a folder, which is made if it is not there; those of others stay as they are."""
    for name in files:
        path = os.path.join(folder, name)
        if os.path.exists(path) and "boxwood" not in Path(path).read_text(encoding="utf-8", errors="replace"):
            raise click.UsageError(f"'{path}' was not written by boxwood; name another folder with -o")
    os.makedirs(folder, exist_ok=True)
    for name, content in files.items():
        write_named_file(os.path.join(folder, name), content, quiet)


def _write_form(explanation: Explanation, form: str, options: dict[str, Any]) -> str | bytes | dict[str, str]:
    """Return the form; options that it cannot take are errors of usage."""
    try:
        content: str | bytes | dict[str, str] = write_form(explanation, form, **options)
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise click.UsageError(str(error)) from None
    return content
