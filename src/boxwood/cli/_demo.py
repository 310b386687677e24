"""`boxwood demo`: an explanation without a file."""

from __future__ import annotations

import click

from boxwood.cli._errors import Verb
from boxwood.cli._talk import Talk, talk_options
from boxwood.cli._terminal import show
from boxwood.cli._words import in_options

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
    """Explain 178 wines by 13 measurements (scikit-learn's wine data), and suggest what to try next.

    It prints the rules of three clusters, what they lose (the price of explainability, and the agreement), and the
    tree. Nothing is read or written.
    """
    talk = Talk(quiet)
    with talk.growing("clustering and growing"):
        from sklearn.datasets import load_wine

        from boxwood.api.explain import explain

        wine = load_wine()
        explanation = explain(
            wine.data, n_clusters=3, columns=tuple(wine.feature_names), standardize=True, random_state=0
        )
    talk.note("178 wines, 13 measurements of each; 3 clusters made by k-means on columns scaled to equal spread")
    show(f"{in_options(explanation).to_text()}\n{_NEXT}")
