"""`boxwood match OLD NEW`: which clusters of two saved models are the same, and what became of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._engine import query_option, several_files
from boxwood.cli._groups import Grouped
from boxwood.cli._measure import as_json, json_option, report_option, write_report
from boxwood.cli._talk import Talk, check_model, load_model, reading, reading_options, refuse_overwriting, talk_options
from boxwood.cli._terminal import refuse_closed_output, show

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.api.living import Match

_EPILOG = """\b
Examples:
  boxwood match october.json november.json november.csv
  boxwood match october.json november.json -o flow.html                    without rows, by the boxes of the rules
  boxwood match october.json november.json november.csv --named named.json    the old names for the same clusters
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
@query_option
@reading_options
@talk_options
def command(old: str, new: str, file: str | None, quiet: bool, **options: Any) -> None:
    """Say which clusters of two models are the same, grew, shrank, split, merged, are new or gone.

    OLD and NEW were written by `boxwood explain`. FILE is a table as for `boxwood predict`, whose rows both models
    label. Without it, the boxes of their rules are compared, by what each model knows of its rows.
    """
    if file is not None and options["sql"] is not None:
        raise click.UsageError("give FILE or --sql, not both.")
    for path, option in ((options["output"], "'-o' / '--output'"), (options["named"], "'--named'")):
        refuse_overwriting(path, option, **{"old model": old, "new model": new, **({"table": file} if file else {})})
    refuse_closed_output()
    talk = Talk(quiet)
    before, after = load_model(old), load_model(new)
    found = _matched(talk, before, after, file, options)
    if options["output"] is not None:
        write_report(talk, found, options["output"])
    if options["named"] is not None:
        from boxwood.explanation.living.match import names_carried

        after.rename(names_carried(after.names, found)).save(options["named"])
        talk.wrote(options["named"])
    show(as_json(found) if options["as_json"] else str(found), is_code=options["as_json"])


def _matched(talk: Talk, old: Explanation, new: Explanation, file: str | None, options: dict[str, Any]) -> Match:
    from boxwood.api.living import Match, match
    from boxwood.explanation.living.match import Overlap, matched
    from boxwood.explanation.living.sides import side_of
    from boxwood.render.forms.counted import pairs_in_file
    from boxwood.table.duck import Query

    if file is None and options["sql"] is None:
        return match(old, new)
    hints: list[str] = []
    table = Query(options["sql"]) if file is None else file
    with talk.status(f"matching on {file or 'the query'}") as tick, several_files(file):
        pairs = pairs_in_file(old, new, table, reading(options), tick=tick, tell=hints.append)
    for hint in hints:
        talk.note(hint)
    before, after = side_of(old, None, "old"), side_of(new, None, "new")
    overlap = Overlap(pairs, pairs, f"on {int(pairs.sum()):,} rows")
    return Match(**vars(matched((before.names, before.rows), (after.names, after.rows), overlap)))
