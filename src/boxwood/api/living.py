"""`Drift`, a saved tree on later rows, and `match`, two explanations side by side: they print, write and draw."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boxwood.explanation.living.results import DriftFacts, MatchFacts
from boxwood.explanation.records import html_of_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.words.living import Said


class _Report:
    """What is said of segments, in the forms for people; `_said` gives it."""

    def _said(self) -> Said:
        raise NotImplementedError

    def __str__(self) -> str:
        from boxwood.words.living import as_text

        return as_text(self._said())

    _repr_html_ = html_of_result

    def to_markdown(self) -> str:
        """Return the report as Markdown, for a ticket."""
        from boxwood.render.forms.text import markdown_of

        return markdown_of(self._said())

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str = "Segments over time") -> str | None:
        """Return the report as a page for a browser, or write it to `path`; needs the package jinja2."""
        from boxwood.render.page.living import page_of

        return page_of(self._said(), title, path, self if isinstance(self, MatchFacts) else None)


@dataclass(frozen=True, repr=False)
class Drift(_Report, DriftFacts):
    """What became of the clusters of an explanation on later rows; made by `Explanation.drift`.

    Printing it says what changed beyond chance, and shows the numbers then and now. Unseen categories, missing values
    and new labels are counted. A change is reported if chance makes one so wide in at most one of a hundred reports.
    Shares are compared by Fisher's exact test, and how a column lies within clusters by the test of squares, each at 1%
    divided by the number of tests. Agreement, found and precision then owe something to luck, as the tree was chosen by
    the labels. So a change of them is reported if it is more than that, whichever tree of as many leaves was chosen;
    where rows were held out, agreement on these is what is compared. With fewer than 50 rows, then or now, no change is
    reported.

    Parameters
    ----------
    n_then, n_rows : number
        Rows of the model, and rows that were given; weights of a weighted one.
    clusters : tuple of ClusterDrift
        Sizes, and with labels what is found and precision, then and now, in the order of the clusters' numbers.
    cuts : tuple of CutDrift
        For each cut the share of the rows on its side, then and now, in pre-order.
    columns : tuple of ColumnDrift
        How each tested column of numbers lies within the clusters; none for a model that was saved without it.
    words : tuple of WordsDrift
        The same of tested columns of categories.
    lost : tuple of LostRows
        Rows without a cluster, by column and reason, with the categories that were never seen.
    n_lost_then : number
        Rows of the model that its rules gave no cluster. Their weight, in a weighted model, is their number times the
        mean weight of the others, as the model does not know it.
    labels : LabelDrift or None
        Agreement then and now, and labels that are new; None without labels.
    changes : tuple of Told
        What changed beyond chance: columns in another unit, columns that moved, the widest first, clusters that grew or
        shrank, and so on.
    untested : str
        Why no change is reported, such as too few rows; empty if there is no reason.
    notes : tuple of str
        What the model does not know.
    provenance : Provenance or None
        What the explanation rests on.

    Examples
    --------
    >>> import boxwood
    >>> ages = [[age / 10] for age in range(200, 800)]
    >>> ex = boxwood.explain(ages, ["young"] * 300 + ["old"] * 300, columns=["age"])
    >>> drift = ex.drift([[age + 15] for [age] in ages] + [[None]])
    >>> for change in drift.changes:
    ...     print(change.change, change.name)
    moved age
    shrank young
    grew old
    """

    def _said(self) -> Said:
        from boxwood.words.living import drift_said

        return drift_said(self)

    def __repr__(self) -> str:
        return f"Drift(n_rows={self.n_rows}, changes={len(self.changes)}, empty={self.empty:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as a dict that JSON can hold."""
        from boxwood.words.living import drift_facts

        return drift_facts(self)


@dataclass(frozen=True, repr=False)
class Match(_Report, MatchFacts):
    """Which clusters of two explanations are the same, and what became of the others; made by `match`.

    Printing it shows a line for each change. A cluster is the same as another one if most rows of each are in the
    other; among new rows, a part as large as the cluster was is enough. It grew or shrank if its share of the rows of
    clusters that live on did so by a tenth or more, beyond chance. A split has several parts, each mostly of the rows
    of the old cluster, that are most of it together; a merge is the same the other way round. All other clusters are
    new or gone.

    Parameters
    ----------
    before, after : tuple of MatchedCluster
        The clusters, and their rows by their own explanation.
    overlap : tuple of tuple of float
        For each old cluster, and for rows without one, the share of all rows that is in each new cluster, and in none.
    changes : tuple of Matched
        What became of clusters.
    same_names : tuple of pairs
        Names of old and new clusters of which each is most of the other, for `Explanation.rename_like`.
    how : str
        What it rests on.
    notes : tuple of str
        What is not known from that.
    """

    def _said(self) -> Said:
        from boxwood.words.living import match_said

        return match_said(self)

    def __repr__(self) -> str:
        return f"Match({', '.join(one.change for one in self.changes)})"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as a dict that JSON can hold."""
        from boxwood.words.living import match_facts

        return match_facts(self)

    @property
    def new(self) -> tuple[Hashable, ...]:
        """Names of the clusters that are new."""
        return tuple(name for one in self.changes if one.change == "new" for name in one.new)

    @property
    def gone(self) -> tuple[Hashable, ...]:
        """Names of the clusters that are gone."""
        return tuple(name for one in self.changes if one.change == "gone" for name in one.old)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the flow of rows from the old clusters, at the left, to the new ones; needs matplotlib.

        A band is as wide as the share of the rows that are in both clusters, and grey where these are not the same.
        """
        from boxwood.render.pictures.plot_measured import plot_flow

        return plot_flow(self, ax)


def match(old: Any, new: Any, rows: Any = None, *, as_of: Any = None) -> Match:
    """Return which clusters of two explanations are the same, grew, shrank, split, merged, are new or gone.

    Parameters
    ----------
    old, new : Explanation, Tally, array-like of labels, or str
        The clusters before and after: those of rules, those of the tree `imm` of a tally, or a label for each row. A
        text names the column of `rows` that holds the labels.
    rows : array-like, data frame or table in batches, default=None
        Rows that both label. Without them, rows that one of the explanations still refers to are labelled by the other;
        two models that hold no rows are compared by the boxes of their rules and what each knows of its rows. Notes say
        what is not known from that.
    as_of : str or date, default=None
        Where rules say ages, the day of the rows, from which they are counted; see `Explanation.apply`.

    Raises
    ------
    DataError
        If there are no rows to match labels on, a column is missing, or the two have no column in common.

    Examples
    --------
    >>> import boxwood
    >>> ages = [[age / 10] for age in range(200, 800)]
    >>> old = boxwood.explain(ages, ["young"] * 300 + ["old"] * 300, columns=["age"])
    >>> new = boxwood.explain(ages, [1] * 150 + [2] * 150 + [0] * 300, columns=["age"])
    >>> print(boxwood.match(old, new))
    2 clusters then, 3 now, matched on 600 old rows and 600 new rows.
    <BLANKLINE>
    change  then   share  now                   share    kept
    same    old    50.0%  cluster 0             50.0%  100.0%
    split   young  50.0%  cluster 1, cluster 2  50.0%  100.0%
    >>> new.rename_like(old).names
    ('old', 'young', 2)
    """
    from boxwood.explanation.ages import as_of_one_day
    from boxwood.explanation.living.match import match_clusters
    from boxwood.explanation.living.sides import overlap_of, side_of
    from boxwood.table.scanned import as_source

    rows = rows if (source := as_source(rows)) is None else source
    one, other = as_of_one_day(old, new, as_of, on_rows=rows is not None)
    before, after = side_of(one, rows, "old"), side_of(other, rows, "new")
    overlap = overlap_of(before, after, rows, (old, new))
    return Match(**vars(match_clusters((before.names, before.rows), (after.names, after.rows), overlap)))
