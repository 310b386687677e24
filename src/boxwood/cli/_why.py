"""`boxwood why MODEL`: why a row is in its cluster, and the smallest change to each other one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._options import AS_OF, Grouped, in_option_names, load_model, reading, reading_options, talk_options
from boxwood.cli._terminal import Talk, refuse_closed_output, show
from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood._dates import Dates
    from boxwood.api.explanation import Explanation
    from boxwood.axes import Categories

_EPILOG = """\b
Examples:
  boxwood why model.json customers.csv --row 17
  boxwood why model.json --set income=45200 --set region=east
  boxwood why model.json customers.csv --row 17 --set income=60000     if the income were different
  boxwood why model.json customers.csv --row 17 --immutable age        changes that leave the age as it is
"""


@click.command(name="why", cls=Grouped, epilog=_EPILOG)
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("file", metavar="[TABLE]", required=False, type=click.Path())
@click.option("--row", metavar="N", type=click.IntRange(min=1), help="Row of the table, from 1; in Python from 0.")
@click.option("--set", "given", metavar="COLUMN=VALUE", multiple=True, help="A value of the row; may be repeated.")
@click.option(
    "--immutable",
    metavar="NAME",
    multiple=True,
    help="Column that changes must leave alone; may be repeated, or a,b,c.",
)
@AS_OF
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
@reading_options
@talk_options
def command(model: str, file: str | None, row: int | None, given: tuple[str, ...], quiet: bool, **options: Any) -> None:
    """Say why a row is in its cluster: its path down the tree, and what would change it.

    MODEL was written by `boxwood explain`. The row is in TABLE, or its values are given with --set; an empty value, or
    n/a, is a missing one. Each line of the answer is a cut on its path, with the row's value and how far it is from it,
    or the smallest change of the row that would bring it to another cluster.
    """
    if (file is None) != (row is None):
        raise click.UsageError("give a table and --row N together, or --set COLUMN=VALUE alone")
    if file is None and not given:
        raise click.UsageError("give a row: TABLE --row N, or --set COLUMN=VALUE for each column that the rules test")
    refuse_closed_output()
    talk = Talk(quiet)
    explanation = load_model(model)
    immutable = _columns(explanation, options["immutable"])
    values = {} if file is None else _read(talk, explanation, file, int(row or 1), options)
    values |= _parse_values(explanation, given)
    _refuse_absent(explanation, values)
    with in_option_names():
        why = explanation.why(values, immutable=immutable, as_of=options["as_of"])
    show(json.dumps(why.to_dict(), indent=2) if options["as_json"] else str(why), is_code=options["as_json"])


def _read(talk: Talk, explanation: Explanation, file: str, row: int, options: dict[str, Any]) -> dict[str, Any]:
    from boxwood.table.labels import read_row

    tested = [int(j) for j in explanation.tree.features]
    kinds: dict[int, Categories | Dates] = {**explanation._coded_columns, **explanation._date_columns}
    columns = {explanation.columns[j]: kinds.get(j) for j in tested}
    with talk.status(f"reading {file}") as tick:
        return read_row(file, row, columns, reading(options), tick=tick)


def _parse_values(explanation: Explanation, given: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of `--set`; names of columns may hold equals signs."""
    values: dict[str, Any] = {}
    for text in given:
        known = [name for name in explanation.columns if text.startswith(f"{name}=")]
        if not known:
            _columns(explanation, (text.split("=")[0],))
            raise click.UsageError(f"--set '{text}' has no value; write --set COLUMN=VALUE")
        name = max(known, key=len)
        values[name] = _value(explanation, name, text[len(name) + 1 :])
    return values


def _value(explanation: Explanation, name: str, text: str) -> Any:
    """Return a value as a file would give it; None for a missing one."""
    from boxwood._texts import MARKS
    from boxwood.axes.categories import truth

    categories = explanation._coded_columns.get(explanation.columns.index(name))
    by_text = {} if categories is None else {str(value): value for value in categories.values if value is not None}
    if text not in by_text and text.strip().lower() in MARKS:
        return None
    if (dates := dict(explanation.details.dates).get(name)) is not None:
        try:
            return dates.moment(dates.number(text))
        except DataError as error:
            raise click.UsageError(f"--set {name}: {error}") from None
    if categories is not None and not categories.are_numbers:
        return by_text.get(text, text)
    booleans = categories is not None and categories.are_truths
    if booleans and isinstance(truth(text), bool):
        return truth(text)
    try:
        return float(text)
    except ValueError:
        from boxwood.table.columns import number_of

        number = number_of(text)
    if number is None:
        expected = "True or False" if booleans else "a number"
        raise click.UsageError(f"--set {name} must be {expected}, got '{text}'")
    return number


def _columns(explanation: Explanation, names: tuple[str, ...]) -> list[str]:
    """Return the names of columns of the model; an unknown one is an error of usage."""
    from boxwood.table.options import find_columns, split_names

    found = split_names(names, explanation.columns)
    find_columns(found, explanation.columns)
    return list(found)


def _refuse_absent(explanation: Explanation, values: dict[str, Any]) -> None:
    tested = [explanation.columns[int(j)] for j in explanation.tree.features]
    absent = [name for name in tested if name not in values]
    if absent:
        them = "it" if len(absent) == 1 else "them"
        raise click.UsageError(
            f"the rules also test {', '.join(absent)}; give {them} with --set, with no value if missing"
        )
