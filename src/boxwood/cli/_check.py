"""`boxwood check RULES FILE`: rules that others wrote, judged by what they say and by the rows of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from boxwood.cli._drift import json_option
from boxwood.cli._options import Choice, Grouped, reading, reading_options, talk_options
from boxwood.cli._terminal import refuse_closed_output, show, tell
from boxwood.cli._verbs import PAST_A_LIMIT

if TYPE_CHECKING:
    from datetime import datetime

    from boxwood.api.rules import Check, Difference, Rules

LEVELS = ("error", "warning", "note")

_EPILOG = """\b
Examples:
  boxwood check segments.sql                                    what the rules say alone
  boxwood check segments.sql customers.csv --labels segment
  boxwood check models/segments.sql customers.parquet --fail-on warning -q      in a pull request
  boxwood check new.sql customers.csv --against old.sql                         which rows go from where to where
  boxwood check segments.sql july.csv --before june.csv
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
    "--as-of",
    "today",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day that CURRENT_DATE stands for; the default is today.",
)
@click.option("--before", metavar="FILE", help="Rows of an earlier month: which branches grew or shrank since.")
@click.option(
    "--before-today",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day that CURRENT_DATE stands for in --before.",
)
@click.option(
    "--against",
    metavar="RULES",
    help="Rules that these replace, such as those of the main branch: also say which rows go from where to where.",
)
@click.option("--fail-on", type=Choice(LEVELS), help="Exit with 4 if something of this level or a graver one is found.")
@json_option
@reading_options
@talk_options
def command(rules: str, file: str | None, labels: str | None, dialect: str | None, **options: Any) -> None:
    """Judge rules: branches that can never fire, holes, NULLs that are left out, categories that are in no row.

    RULES is a file of SQL with one CASE, such as a model of dbt, of Python, or a table of names and conditions. Nothing
    in it is run. FILE is a table as for `boxwood explain`; without it the rules are judged by what they say alone.
    """
    for option, given in (("--labels", labels), ("--before", options["before"])):
        if given is not None and file is None:
            raise click.UsageError(f"{option} needs FILE: without rows there is nothing to compare it with.")
    refuse_closed_output()
    read = _read(rules, dialect, options["today"])
    earlier = _read(rules, dialect, options["before_today"] or options["today"])
    found, moved = _check_rules(read, file, labels, earlier, options), None
    if (old := options["against"]) is not None:
        moved = _difference(_read(old, dialect, options["today"]), read, file, options)
    if options["as_json"]:
        facts = found.to_dict() | ({} if moved is None else {"difference": moved.to_dict()})
        show(json.dumps(facts, indent=2, ensure_ascii=False), is_code=True)
    else:
        show("\n\n".join(map(str, [found] if moved is None else [found, moved])))
    _check_level(found, options["fail_on"])


def _read(rules: str, dialect: str | None, today: datetime | None) -> Rules:
    from boxwood.api.rules import read_rules

    # a path, whatever its ending
    return read_rules(Path(rules), cast("Any", dialect), today=today and today.date())


def _check_rules(read: Rules, file: str | None, labels: str | None, earlier: Rules, options: dict[str, Any]) -> Check:
    """Return what is found; IN: earlier: the rules as of the day of the earlier rows."""
    from boxwood.judge.rows import select_columns, with_labels

    if file is None:
        return read.check()
    table, texts = with_labels(file, read.columns, labels, reading(options))
    before = options["before"]
    found = None if before is None else earlier.check(select_columns(before, read.columns, reading(options)))
    return read.check(table, texts, before=found)


def _difference(old: Rules, new: Rules, file: str | None, options: dict[str, Any]) -> Difference:
    """Return what becomes of the rows of a table where new rules replace old ones."""
    from boxwood.judge.rows import select_columns

    wanted = (*old.columns, *new.columns)
    return old.difference(new, None if file is None else select_columns(file, wanted, reading(options)))


def _check_level(found: Check, fail_on: str | None) -> None:
    if fail_on is None:
        return
    grave = [one for one in found.findings if LEVELS.index(one.level) <= LEVELS.index(fail_on)]
    if grave:
        tell(f"boxwood: found {len(grave):,} of level {fail_on}{' or graver' * (fail_on != 'error')}")
        raise click.exceptions.Exit(PAST_A_LIMIT)
