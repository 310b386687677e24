"""`boxwood compare-k FILE`: numbers of clusters side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._engine import open_source
from boxwood.cli._explain import choose_columns, shared_parameters, side_by_side, wanted_columns
from boxwood.cli._explain import command as explain_command
from boxwood.cli._options import NOTES, Grouped, in_words, reading_options, talk_options
from boxwood.cli._terminal import Talk, refuse_closed_output, show
from boxwood.explanation.ask.how_many import NUMBERS

if TYPE_CHECKING:
    from boxwood.api.compare_k import KComparison
    from boxwood.batches import Source
    from boxwood.cli._explain import ColumnNames

_SHARED = (
    *("file", "columns", "exclude", "scale", "missing", "weights", "seed", "categories", "numbers", "as_of"),
    *("method", "jobs"),
)
"""Parameters of `boxwood explain` that mean the same here."""

_EPILOG = """\b
Examples:
  boxwood compare-k customers.csv
  boxwood compare-k customers.csv --from 2 --to 15 --json | jq '.chosen'
"""


@click.command(name="compare-k", cls=Grouped, epilog=_EPILOG)
@click.option("--from", "low", metavar="K", type=click.IntRange(min=2), default=2, help="Fewest clusters.")
@click.option("--to", "high", metavar="K", type=click.IntRange(min=2), help="Most clusters.  [default: 10]")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@NOTES
@reading_options
@talk_options
def command(file: str, low: int, high: int | None, quiet: bool, **options: Any) -> None:
    """Try several numbers of clusters: do halves of the rows agree, are groups real, and are rules good?

    Each line is a number of clusters: how well clusters of one half of the rows agree with those of the other, the
    share of rows that follow their rule, the price of explainability, the rows of the smallest cluster, and the
    conditions of the longest rule. A star marks the number that `boxwood explain` chooses when -k is not given. A
    sentence says whether a gap or a valley parts the rows, so that there are groups at all.
    """
    if high is not None and high < low:
        raise click.UsageError(f"--to {high} is below --from {low}")
    refuse_closed_output()
    talk = Talk(quiet, all_notes=options["notes"])
    wanted = wanted_columns(None, options)
    with open_source(talk, file, "memory", wanted, options) as source:
        found = _compare(talk, source, choose_columns(source, wanted), _numbers(low, high), options)
    text = json.dumps(_as_dict(found), indent=2) if options["as_json"] else in_words(str(found))
    show(text, is_code=options["as_json"])
    talk.notes(map(in_words, found.notes))


def _numbers(low: int, high: int | None) -> range | None:
    """Return the numbers that are tried; None leaves them to the library."""
    if high is None and low == NUMBERS[0]:
        return None
    return range(low, 1 + (max(low, NUMBERS[-1]) if high is None else high))


def _compare(
    talk: Talk, source: Source, columns: ColumnNames, numbers: range | None, options: dict[str, Any]
) -> KComparison:
    with side_by_side(talk, "clustering and growing", source) as status:
        from boxwood.api.compare_k import compare_k

        more = shared_parameters(columns, options)
        return compare_k(source, numbers, method=options["method"], verbose=status.step, **more)


def _as_dict(found: KComparison) -> dict[str, Any]:
    rows = [row._asdict() for row in found.rows]
    about = {"n_rows": found.n_rows, "chosen": found.chosen, "note": found.note, "groups": found.groups}
    return {**about, "rows": rows}


command.params[:0] = [one for one in explain_command.params if one.name in _SHARED]
