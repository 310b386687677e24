"""`boxwood export MODEL`: another form of a saved model, without data."""

from __future__ import annotations

import click

from boxwood.cli._errors import Verb
from boxwood.cli._model import load_model
from boxwood.cli._talk import Talk, check_writable, refuse_overwriting, talk_options
from boxwood.cli._terminal import show
from boxwood.cli._words import in_options
from boxwood.render import EXPORTERS

__all__ = ["command"]


@click.command(name="export", cls=Verb)
@click.argument("model", metavar="MODEL")
@click.option("--to", "form", type=click.Choice(list(EXPORTERS)), default="text", show_default=True, help="Form.")
@click.option("-o", "--output", metavar="OUT", callback=check_writable, help="File to write instead of printing.")
@talk_options
def command(model: str, form: str, output: str | None, quiet: bool) -> None:
    """Print a saved model in another form.

    SQL is a CASE expression that gives the cluster of a row. It uses the names of the table's columns. sqlite is SQL
    that casts columns to numbers, as SQLite may hold numbers as text.
    """
    refuse_overwriting(output, "'-o' / '--output'", model=model)
    explanation = load_model(model)
    text = EXPORTERS[form].write(in_options(explanation) if form == "text" else explanation)
    if output is None or output == "-":
        show(text, is_code=form != "text")
        return
    from boxwood._files import replacing

    with replacing(output) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    Talk(quiet).wrote(output)
