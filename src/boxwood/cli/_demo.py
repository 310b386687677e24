"""`boxwood demo`: an explanation without a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from boxwood.cli._options import talk_options
from boxwood.cli._terminal import Talk, show
from boxwood.cli._verbs import Verb

_NEXT = """
Next, with a table of your own (CSV, Parquet, Arrow or JSON lines):
  boxwood explain FILE -k 5                          make 5 clusters and explain them
  boxwood explain FILE --labels COLUMN               explain clusters that you have
  boxwood explain FILE -k 5 --max-leaf-nodes 10      more leaves, closer to the clusters
  boxwood explain FILE -k 5 -o report.html           a page to read, send and print
  boxwood explain FILE -k 5 -o model.json -o rules.sql
  boxwood predict model.json FILE -o labelled.csv    the cluster of every row
  boxwood why model.json FILE --row 1                why a row is in its cluster, and what would change it
  boxwood compare FILE -k 5                          what other methods and more leaves would give"""


@click.command(name="demo", cls=Verb)
@talk_options
def command(quiet: bool) -> None:
    """Explain the segments of 400 made-up customers, and suggest what to try next.

    It prints the rule of each segment, the share of customers for whom the rules are right, and the tree.
    """
    talk = Talk(quiet)
    with talk.growing("growing"):
        from boxwood.api.explain import explain
        from boxwood.render.forms.text import command_text
        from boxwood.table.memory import file_in_memory

        with file_in_memory(str(_customers())) as table:  # `scan` would need pyarrow
            explanation = explain(table, "segment")
    talk.note("400 made-up customers in 4 segments: their country, age, plan, orders and last order")
    show(f"{command_text(replace(explanation, notes=()), more='')}\n{_NEXT}")


def _customers() -> Path:
    """Return the example table, which a wheel has in this folder, and the repository among its examples."""
    installed = Path(__file__).with_name("customers.csv")
    return installed if installed.exists() else Path(__file__).parents[3] / "examples" / "customers.csv"
