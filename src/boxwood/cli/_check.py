"""`boxwood check RULES FILE`: rules that others wrote, judged by what they say and by the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from boxwood.cli._choice import Choice
from boxwood.cli._drift import as_json, json_option
from boxwood.cli._groups import Grouped
from boxwood.cli._options import reading, reading_options, talk_options
from boxwood.cli._terminal import refuse_closed_output, show, tell
from boxwood.cli._verbs import PAST_A_LIMIT

if TYPE_CHECKING:
    from boxwood.api.rules import Check

LEVELS = ("error", "warning", "note")

_EPILOG = """\b
Examples:
  boxwood check segments.sql                                    what the rules say alone
  boxwood check segments.sql customers.csv --labels segment
  boxwood check models/segments.sql customers.parquet --fail-on warning -q      in a pull request
"""


@click.command(name="check", cls=Grouped, epilog=_EPILOG)
@click.argument("rules", metavar="RULES", type=click.Path())
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@click.option("-l", "--labels", metavar="COLUMN", help="Column with the label of each row, to compare the rules with.")
@click.option(
    "--dialect", metavar="NAME", help="SQL of RULES, such as postgres or bigquery; without it, it is guessed."
)
@click.option(
    "--today",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day that CURRENT_DATE stands for; the default is today.",
)
@click.option(
    "--fail-on",
    type=Choice(LEVELS),
    help="Exit with 4 if something of this level or a graver one is found.",
)
@json_option
@reading_options
@talk_options
def command(rules: str, file: str | None, labels: str | None, dialect: str | None, **options: Any) -> None:
    """Judge rules: branches that can never fire, holes, NULLs that are left out, words that are in no row.

    RULES is a file of SQL with one CASE, such as a model of dbt, of Python, or a table of names and conditions. Nothing
    in it is run. FILE is a table as for `boxwood explain`; without it the rules are judged by what they say alone.
    """
    if labels is not None and file is None:
        raise click.UsageError("--labels needs FILE: without rows there are no labels.")
    refuse_closed_output()
    found = _checked(rules, file, labels, dialect, options)
    show(as_json(found) if options["as_json"] else str(found), is_code=options["as_json"])
    _check_level(found, options["fail_on"])


def _checked(rules: str, file: str | None, labels: str | None, dialect: str | None, options: dict[str, Any]) -> Check:
    from boxwood.api.rules import read_rules
    from boxwood.judge.rows import with_labels

    today = options["today"] and options["today"].date()
    read = read_rules(Path(rules), cast("Any", dialect), today=today)  # a path, whatever its ending
    if file is None:
        return read.check()
    table, texts = with_labels(file, read.columns, labels, reading(options))
    return read.check(table, texts)


def _check_level(found: Check, fail_on: str | None) -> None:
    if fail_on is None:
        return
    grave = [one for one in found.findings if LEVELS.index(one.level) <= LEVELS.index(fail_on)]
    if grave:
        tell(f"boxwood: found {len(grave):,} of level {fail_on}{' or graver' * (fail_on != 'error')}")
        raise click.exceptions.Exit(PAST_A_LIMIT)
