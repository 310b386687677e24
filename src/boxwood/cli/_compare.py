"""`boxwood compare FILE`: methods and numbers of leaves side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from boxwood._messages import as_written
from boxwood.cli._engine import open_source
from boxwood.cli._explain import choose_columns, limits, shared_parameters, side_by_side, wanted_columns
from boxwood.cli._explain import command as explain_command
from boxwood.cli._options import LIMITS, NOTES, Grouped, in_words, reading_options, talk_options
from boxwood.cli._terminal import Talk, refuse_closed_output, show
from boxwood.grow import METHODS, method_of

if TYPE_CHECKING:
    from boxwood.batches import Source
    from boxwood.cli._explain import ColumnNames
    from boxwood.explanation import Comparison

_SHARED = (
    *("file", "clusters", "labels", "columns", "exclude", "scale", "missing", "weights", "seed", "as_of"),
    *("categories", "numbers"),
    *("objective", "time_limit", "jobs"),
    *LIMITS,
)
"""Parameters of `boxwood explain` that mean the same here."""

_EPILOG = """\b
Examples:
  boxwood compare customers.csv -k 5
  boxwood compare customers.csv -l segment --method auto --method cart --max-leaf-nodes 5,10,20
  boxwood compare customers.csv -k 5 --json | jq '.rows[] | select(.on_front)'
"""


def _methods(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of methods, of options that hold one name each, or several with commas."""
    parts = [part.strip() for name in names for part in name.split(",")]
    for part in parts:
        try:
            if part != "auto":
                method_of(part)
        except ValueError:
            raise click.BadParameter(f"'{part}' is not one of auto, {', '.join(METHODS)}") from None
    return tuple(parts)


def _leaves(ctx: click.Context, param: click.Parameter, numbers: tuple[str, ...]) -> tuple[int, ...]:
    """Return the numbers of leaves, of options that hold one each, or several with commas."""
    parts = [part.strip() for number in numbers for part in number.split(",")]
    for part in parts:
        if not part.isdecimal() or int(part) < 2:
            raise click.BadParameter(
                f"'{part}' is not a number of leaves; give whole numbers of at least 2, such as 5,10"
            )
    return tuple(map(int, parts))


@click.command(name="compare", cls=Grouped, epilog=_EPILOG)
@click.option(
    "--method",
    "methods",
    metavar="NAME",
    multiple=True,
    callback=_methods,
    help=f"Algorithm to compare: auto, {', '.join(name for name in METHODS if not name.startswith('kernel_'))}; may be "
    "repeated, or a,b,c. The default is auto, imm, greedy, shallow, exkmc, expand, cart.",
)
@click.option(
    "--max-leaf-nodes",
    "--max-leaves",
    "--leaves",
    "leaves",
    metavar="N",
    multiple=True,
    callback=_leaves,
    help="Number of leaves; may be repeated, or 5,10,20. The default is the number of clusters, and twice that.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@NOTES
@reading_options
@talk_options
def command(file: str, clusters: int | None, labels: str | None, quiet: bool, **options: Any) -> None:
    """Grow trees by several methods with several numbers of leaves, and show what each costs.

    The clusters are made or read once, as by `boxwood explain`. Each line is a tree: its leaves, the conditions of its
    longest rule, the columns that it tests, its price of explainability, the share of rows on which it agrees with the
    clusters, and the seconds that it took. A star marks the trees that no other one beats. Where agreement decides, as
    for clusters that are not compact, the price does not count and is left out.
    """
    if (clusters is None) == (labels is None):
        raise click.UsageError("give either -k N (make clusters) or --labels COLUMN (explain existing ones)")
    refuse_closed_output()
    talk = Talk(quiet, all_notes=options["notes"])
    wanted = wanted_columns(labels, options)
    with open_source(talk, file, "memory", wanted, options) as source:
        found = _compare_clusterings(talk, source, choose_columns(source, wanted), clusters, labels, options)
        from boxwood.explanation.ask.columns import is_on_reading

        read = [note for note in found.notes if is_on_reading(note, source)]
    found = replace(found, notes=tuple(in_words(note) for note in found.notes if note not in read))
    show(_as_json(found) if options["as_json"] else str(found), is_code=options["as_json"])
    talk.notes(map(in_words, read))


def _compare_clusterings(
    talk: Talk, source: Source, columns: ColumnNames, clusters: int | None, labels: str | None, options: dict[str, Any]
) -> Comparison:
    with side_by_side(talk, "comparing", source):
        from boxwood.explanation import compare

        return compare(
            source,
            labels,
            n_clusters=clusters,
            max_leaf_nodes=options["leaves"] or None,
            objective=options["objective"],
            time_limit=options["time_limit"],
            **shared_parameters(columns, options),
            **limits(options, columns),
            **({"methods": options["methods"]} if options["methods"] else {}),
        )


def _as_json(found: Comparison) -> str:
    facts = {
        "n_clusters": found.n_clusters,
        "n_rows": found.n_rows,
        "baseline": found.baseline,
        "by_agreement": found.by_agreement,
        "rows": [row._asdict() for row in found.rows],
        "notes": as_written(found.notes),
        "left_out": dict(found.left_out),
    }
    return json.dumps(facts, indent=2)


command.params[:0] = [one for one in explain_command.params if one.name in _SHARED]
