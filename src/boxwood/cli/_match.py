"""`boxwood match OLD NEW`: which clusters of two models, tallies or columns of labels are the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._drift import json_option, report_option, show_report
from boxwood.cli._engine import check_one_table, query_option, read_while, table_or_query
from boxwood.cli._options import (
    AS_OF,
    NOTES,
    Grouped,
    check_model,
    in_option_names,
    load_model,
    reading,
    reading_options,
    refuse_overwriting,
    talk_options,
)
from boxwood.cli._terminal import Talk, refuse_closed_output

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.api.living import Match
    from boxwood.explanation import Tally

_EPILOG = """\b
Examples:
  boxwood match october.json november.json november.csv
  boxwood match october.json november.json -o flow.html                    without rows, by the boxes of the rules
  boxwood match october.json november.json november.csv --named named.json    the old names for the same clusters
  boxwood match segment cluster customers.csv                              two columns of labels
"""


@click.command(name="match", cls=Grouped, epilog=_EPILOG)
@click.argument("old", metavar="OLD", type=click.Path())
@click.argument("new", metavar="NEW", type=click.Path())
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@report_option
@click.option(
    "--named",
    metavar="MODEL",
    type=click.Path(),
    callback=check_model,
    help="Write NEW with the names of OLD for clusters that are the same (.json).",
)
@json_option
@AS_OF
@NOTES
@query_option
@reading_options
@talk_options
def command(old: str, new: str, file: str | None, quiet: bool, **options: Any) -> None:
    """Say which clusters of two models are the same, grew, shrank, split, merged, are new or gone.

    OLD and NEW were written by `boxwood explain`. FILE is a table as for `boxwood predict`, whose rows both models
    label. Without it, the boxes of their rules are compared, by what each model knows of its rows. OLD or NEW may also
    be a tally that Python saved, or the name of a column of FILE that holds labels.
    """
    check_one_table(file, options["sql"], needed=False)
    inputs = {"old model": old, "new model": new, **({"table": file} if file else {})}
    refuse_overwriting(options["output"], **inputs)
    refuse_overwriting(options["named"], "'--named'", **inputs)
    refuse_closed_output()
    talk = Talk(quiet, all_notes=options["notes"])
    has_rows = file is not None or options["sql"] is not None
    before, after = (_side(path, has_rows=has_rows) for path in (old, new))
    if options["named"] is not None and not hasattr(after, "rename"):
        raise click.UsageError("--named writes a model, so NEW must be one.")
    found = _match_models(talk, before, after, file, options)
    if options["named"] is not None:
        from boxwood.explanation.living.match import names_carried

        after.rename(names_carried(after.names, found)).save(options["named"])  # type: ignore[union-attr]
        talk.wrote(options["named"])
    show_report(talk, found, options)


def _side(what: str, *, has_rows: bool) -> Explanation | Tally | str:
    """Return a model, a tally, or the name of a column where there is no such file."""
    from boxwood.errors import ModelError
    from boxwood.explanation import Tally

    if has_rows and not os.path.exists(what) and not what.endswith((".json", ".tally")):
        return what
    try:
        return load_model(what)
    except ModelError:
        try:
            return Tally.load(what)
        except ModelError:
            pass
        raise


def _match_models(
    talk: Talk,
    old: Explanation | Tally | str,
    new: Explanation | Tally | str,
    file: str | None,
    options: dict[str, Any],
) -> Match:
    from boxwood.api.living import match
    from boxwood.explanation.ages import as_of_one_day
    from boxwood.explanation.living.sides import side_of
    from boxwood.table.rule_rows import open_for_rules

    if file is None and options["sql"] is None:
        return match(old, new)
    table = table_or_query(file, options["sql"])
    with in_option_names():
        sides = as_of_one_day(old, new, options["as_of"], on_rows=True)
    tested = [{} if isinstance(one, str) else side_of(one, None, "").tested_columns for one in sides]
    labels = [one for one in (old, new) if isinstance(one, str)]
    with (
        read_while(talk, "matching on", file) as tick,
        open_for_rules(table, tested, reading(options), labels=labels, tick=tick, tell=talk.kept.append) as rows,
    ):
        return match(old, new, rows, as_of=options["as_of"])
