"""`boxwood drift MODEL FILE`: a saved tree on new rows, and what changed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._engine import check_one_table, query_option, read_while, table_or_query
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
    refuse_missing_packages,
    refuse_overwriting,
    talk_options,
)
from boxwood.cli._terminal import Talk, refuse_closed_output, show, tell
from boxwood.cli._verbs import PAST_A_LIMIT

if TYPE_CHECKING:
    from boxwood.api.living import Drift

REPORTS = (".html", ".md", ".json", ".txt")


def check_report(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    """Refuse a report that cannot be written, before any input is read."""
    if path is not None and os.path.splitext(path)[1].lower() not in REPORTS:
        raise click.BadParameter(f"'{path}': unknown extension; known: {' '.join(REPORTS)}")
    if path is not None:
        refuse_missing_packages(path)
    return check_writable(ctx, param, path)


def write_report(talk: Talk, report: Any, path: str) -> None:
    """Write a report in the form that the extension of its file says."""
    from boxwood._files import replacing

    forms = {".html": report.to_html, ".md": report.to_markdown, ".json": lambda: as_json(report)}
    content = forms.get(os.path.splitext(path)[1].lower(), report.__str__)()
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{content}\n")
    talk.wrote(path)


def show_report(talk: Talk, report: Any, options: dict[str, Any]) -> None:
    """Write a report into a file, if one is named, and print it: its numbers, or its text in short."""
    if options["output"] is not None:
        write_report(talk, report, options["output"])
    if options["as_json"]:
        talk.notes(talk.kept)
        show(as_json(report), is_code=True)
        return
    notes = talk.in_short([*talk.kept, *report.notes])
    show("\n\n".join([str(replace(report, notes=())), *["\n".join(notes)] * bool(notes)]))


def as_json(report: Any) -> str:
    """Return the numbers of a report as JSON."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False)


report_option = output_option(
    check_report, "File to write the report to: a page (.html), Markdown (.md), numbers (.json) or text (.txt)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")

_EPILOG = """\b
Examples:
  boxwood drift model.json november.csv
  boxwood drift model.json november.csv --labels segment --fail-under 0.9
  boxwood drift model.json 'november/*.parquet' -o report.html --fail-over-empty 0.02 -q      in a nightly job
"""


@click.command(name="drift", cls=Grouped, epilog=_EPILOG)
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@click.option("-l", "--labels", metavar="COLUMN", help="Column with the cluster of each row, to measure agreement.")
@report_option
@json_option
@click.option(
    "--fail-under",
    metavar="SHARE",
    type=Share(),
    help="Exit with 4 if the agreement of rules and labels is below SHARE (0.9 or 90%).",
)
@click.option(
    "--fail-over-empty",
    metavar="SHARE",
    type=Share(),
    help="Exit with 4 if more than this share of the rows (0.02 or 2%) get no cluster.",
)
@AS_OF
@NOTES
@query_option
@reading_options
@talk_options
def command(model: str, file: str | None, labels: str | None, quiet: bool, **options: Any) -> None:
    """Measure a saved tree on new rows: what changed beyond chance, and sizes then and now.

    MODEL was written by `boxwood explain`. FILE is a table as for `boxwood predict`, read in the same way; it may be
    larger than memory. Categories that were never seen, missing values and new labels are counted. With --labels,
    agreement, what the rules find and precision are compared, too.
    """
    check_one_table(file, options["sql"])
    if options["fail_under"] is not None and labels is None:
        raise click.UsageError("--fail-under needs --labels COLUMN: without labels there is no agreement.")
    refuse_overwriting(options["output"], model=model, **({} if file is None else {"table": file}))
    refuse_closed_output()
    talk = Talk(quiet, all_notes=options["notes"])
    drift = _measure_drift(talk, model, file, labels, options)
    show_report(talk, drift, options)
    _check_limits(drift, options["fail_under"], options["fail_over_empty"])


def _measure_drift(talk: Talk, model: str, file: str | None, labels: str | None, options: dict[str, Any]) -> Drift:
    from boxwood.explanation.ages import at
    from boxwood.explanation.living.sides import side_of
    from boxwood.table.rule_rows import open_for_rules

    with in_option_names():
        ex = load_model(model)
        tested = side_of(at(ex, options["as_of"]), None, "model").tested_columns
    table = table_or_query(file, options["sql"])
    with (
        read_while(talk, "measuring", file) as tick,
        open_for_rules(
            table, [tested], reading(options), labels=[labels] if labels else [], tick=tick, tell=talk.kept.append
        ) as rows,
    ):
        return ex.drift(rows, labels, as_of=options["as_of"])


def _check_limits(drift: Drift, fail_under: float | None, fail_over_empty: float | None) -> None:
    from boxwood.words.values import beside

    past = []
    if drift.n_rows == 0 and (fail_under is not None or fail_over_empty is not None):
        past.append("there are no rows, so no limit can be kept")
    if fail_under is not None and (drift.agreement is None or drift.agreement < fail_under):
        said = "not known, as no row has a label of the model" if drift.agreement is None else None
        said = said or f"{beside(drift.agreement or 0.0, fail_under)}, under {100 * fail_under:g}%"
        past.append(f"agreement is {said}")
    if fail_over_empty is not None and drift.empty > fail_over_empty:
        past.append(f"{drift.n_lost:,} of {drift.n_rows:,} rows have no cluster, more than {100 * fail_over_empty:g}%")
    if past:
        tell(f"boxwood: {'; '.join(past)}")
        raise click.exceptions.Exit(PAST_A_LIMIT)
