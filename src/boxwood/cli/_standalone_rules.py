"""`boxwood standalone-rules MODEL`: the one-line rules that a saved model holds, as text or as code."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from boxwood.cli._options import (
    Choice,
    Grouped,
    form_output,
    load_model,
    refuse_overwriting,
    talk_options,
    write_named_file,
)
from boxwood.cli._terminal import show
from boxwood.errors import DataError
from boxwood.render.forms.dialects import NAMES

if TYPE_CHECKING:
    from boxwood.api.standalone_rules import StandaloneRules

_FORMS = ("text", "markdown", "json", "sql", "python", "javascript")
_OPTIONS = {"dialect": ("sql",), "table": ("sql",), "as_of": ("sql", "python", "javascript")}
"""Options, and the forms that have them."""
_EPILOG = """\b
Examples:
  boxwood standalone-rules model.json
  boxwood standalone-rules model.json --to sql --dialect postgres --table sales.customers
"""


@click.command(
    name="standalone-rules", cls=Grouped, groups={"Form": ("form", "dialect", "table", "as_of")}, epilog=_EPILOG
)
@click.argument("model", metavar="MODEL", type=click.Path())
@click.option("--to", "form", type=Choice(_FORMS), default="text", show_default=True, help="Form.")
@click.option("--dialect", type=Choice(NAMES, case_sensitive=False), help="Engine of the SQL; the default is duckdb.")
@click.option("--table", metavar="NAME", help="A query that adds the cluster to this table.")
@click.option(
    "--as-of",
    metavar="DAY",
    help="The day from which ages that rules say are counted, for SQL, Python and JavaScript, as 2026-08-31; the day "
    "on which they run without.",
)
@form_output
@talk_options
def command(model: str, form: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Print the one-line rules of a model: for each cluster the shortest rule that says who is in it.

    MODEL was written by `boxwood explain --standalone-rules --save MODEL`, or by Python after `standalone_rules()`. A
    row gets the cluster of the line that holds it with the highest precision, on a tie that with more rows. A row in
    no line gets NULL or None.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        forms = _OPTIONS[name]
        if form not in forms:
            raise click.UsageError(f"--{name.replace('_', '-')} needs {' or '.join(f'--to {one}' for one in forms)}")
    refuse_overwriting(output, model=model)
    explanation = load_model(model)
    if "lines" not in explanation._kept:
        raise DataError(
            f"{model} holds no one-line rules; write it by: boxwood explain FILE … --standalone-rules --save {model}"
        )
    said = _write_form(explanation.standalone_rules(), form, given)
    if output is None or output == "-":
        show(said, is_code=form not in ("text", "markdown"))
    else:
        write_named_file(output, said, quiet)


def _write_form(lines: StandaloneRules, form: str, given: dict[str, Any]) -> str:
    if form == "json":
        return json.dumps(lines.to_dict(), indent=1, ensure_ascii=False)
    forms: dict[str, Callable[..., str]] = {
        "markdown": lines.to_markdown,
        "sql": lines.to_sql,
        "python": lines.to_python,
        "javascript": lines.to_javascript,
    }
    return forms.get(form, lines.to_text)(**given)
