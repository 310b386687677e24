"""`Drift`: a saved tree on later rows, which prints, writes and counts what became of its clusters."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from boxwood.explanation.living.results import DriftFacts


@dataclass(frozen=True, repr=False)
class Drift(DriftFacts):
    """What became of the clusters of an explanation on later rows; made by `Explanation.measure`.

    Printing it says what changed beyond chance, and shows the numbers then and now. Unseen words, missing values and
    new labels are counted. A change is told if chance makes one so wide in at most one of a hundred reports: shares are
    compared by Fisher's exact test, and how a column lies within clusters by the test of squares, each at 1% divided by
    the number of tests. Of fewer than 50 rows, then or now, none is told.

    Parameters
    ----------
    n_then, n_rows : number
        Rows of the model, and rows that were given.
    clusters : tuple of ClusterDrift
        Sizes, and with labels what is found and precision, then and now, in the order of the clusters' numbers.
    cuts : tuple of CutDrift
        For each cut the share of the rows on its side, then and now, in pre-order.
    columns : tuple of ColumnDrift
        How each tested column of numbers lies within the clusters; none for a model that was saved without it.
    lost : tuple of LostRows
        Rows without a cluster, by column and reason, with the words that were never seen.
    n_lost_then : int
        Rows of the model that lacked a value.
    labels : LabelDrift or None
        Agreement then and now, and labels that are new; None without labels.
    changes : tuple of Told
        What changed beyond chance: columns in another unit, columns that moved, the widest first, clusters that grew or
        shrank, and so on.
    untested : str
        Why no change is told, such as too few rows; empty if there is no reason.
    notes : tuple of str
        What the model cannot tell.
    basis : Basis or None
        What the explanation rests on.

    Examples
    --------
    >>> import boxwood
    >>> ages = [[age / 10] for age in range(200, 800)]
    >>> ex = boxwood.explain(ages, ["young"] * 300 + ["old"] * 300, columns=["age"])
    >>> drift = ex.measure([[age + 15] for [age] in ages] + [[None]])
    >>> for change in drift.changes:
    ...     print(change.change, change.name)
    moved age
    grew old
    shrank young
    """

    def __str__(self) -> str:
        from boxwood.words.living import as_text, drift_said

        return as_text(drift_said(self))

    def __repr__(self) -> str:
        return f"Drift(n_rows={self.n_rows}, changes={len(self.changes)}, empty={self.empty:.4g})"

    def _repr_html_(self) -> str:
        from boxwood.explanation.records import in_notebook

        return in_notebook(self)

    def to_markdown(self) -> str:
        """Return the report as Markdown, for a ticket."""
        from boxwood.render.forms.living import markdown_of
        from boxwood.words.living import drift_said

        return markdown_of(drift_said(self))

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str = "Segments over time") -> str | None:
        """Return the report as a page for a browser, or write it to `path`; needs the package jinja2."""
        from boxwood.render.page.living import page_of
        from boxwood.words.living import drift_said

        return page_of(drift_said(self), title, path)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as a dict that JSON can hold."""
        from boxwood.words.living import drift_facts

        return drift_facts(self)
