"""`StandaloneRules`: the shortest rule of each cluster by itself; made by `Explanation.standalone_rules`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from boxwood._types import Array, DialectName
from boxwood.explanation.measure.lines import MeasuredRules, StandaloneRule
from boxwood.explanation.records import html_of_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class StandaloneRules(MeasuredRules):
    """One-line rules, one for each cluster; printing them shows a table. Made by `Explanation.standalone_rules`.

    Iterating gives the lines, in the order of the clusters' numbers. A row may be in no line, or in several. What it
    gets then is stated: the line with the highest precision, on a tie the one with more rows, then the first.
    `predict`, SQL and Python keep that order, so all give each row the same.

    Parameters
    ----------
    explanation : Explanation
        The clusters that lines describe.
    fronts : tuple of k tuples of StandaloneRule
        All rules that are worth a look: the best one with one condition, and with each further condition the best one,
        if it is better.
    trees_of_fronts : tuple of k tuples of ThresholdTree
        The same rules as chains of cuts, in which rows that a rule holds have cluster 1, and all others 0.
    chosen : tuple of k int or None
        Place in its front of the line of each cluster; None for one without a line.
    bounds : tuple of k float
        No rule for the cluster with up to `max_conditions` conditions has more than this of what rules were chosen by.
    limits : tuple of str
        Parameters of `explain` that leave some of these rules out.
    claims : tuple of k Claim or None
        What was proved of all these rules, of which printing makes a sentence.
    binary : tuple of str
        Columns that hold only 0 and 1, of which rules name the value.
    max_conditions, min_precision, min_found
        What was asked for.
    n_rows : int
        Number of rows in a cluster; of a table in batches those of the sample on which lines were made, while all
        counts are those of all rows.
    n_unmatched, n_overlapping : float
        Number of rows in a cluster, or weight, that are in no line, and in several.
    agreement : float
        Share of the rows in a cluster whose line, by the order, names their cluster.
    validated : str
        How rows were held out; empty if that was not asked for.
    order : tuple of int
        Clusters with a line, in the order in which a row is asked.
    """

    @classmethod
    def _of(cls, measured: MeasuredRules) -> Self:
        return cls(**{each.name: getattr(measured, each.name) for each in fields(MeasuredRules)})

    def __iter__(self) -> Iterator[StandaloneRule | None]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, cluster: int) -> StandaloneRule | None:
        return self.lines[cluster]

    def __str__(self) -> str:
        from boxwood.words.lines import lines_text

        return lines_text(self)

    def __repr__(self) -> str:
        made = sum(line is not None for line in self.lines)
        return f"StandaloneRules(n_clusters={len(self.lines)}, n_lines={made}, agreement={self.agreement:.4g})"

    _repr_html_ = html_of_result

    def predict(self, X: Any, *, as_of: Any = None) -> Array:
        """Return the name of the cluster whose line a row is in, shape (n,); by the order, where it is in several.

        A row in no line has -1 if all names are numbers of one type. Otherwise the array is one of objects, and such a
        row has None. See `holds` for how `X` is read, and which line holds a row that lacks a value, and
        `Explanation.apply` for `as_of`.
        """
        from boxwood._frames import names_or_none
        from boxwood.explanation.ages import lines_to_apply
        from boxwood.explanation.measure.lines import lines_of_rows

        found: Array = names_or_none(self.explanation.names)[lines_of_rows(lines_to_apply(self, as_of), X)]
        return found

    def holds(self, X: Any, *, as_of: Any = None) -> Array:
        """Return whether each line holds each row, shape (n, k): lists that may overlap.

        `X` is read as for `Explanation.predict`, and `as_of` is as there. A line does not hold a row that lacks a value
        which it asks for, or has a category there that was never seen. A cluster without a line holds none.
        """
        from boxwood.explanation.ages import lines_to_apply
        from boxwood.explanation.measure.lines import holds_of_rows

        return holds_of_rows(lines_to_apply(self, as_of), X)

    def unmatched(self) -> tuple[int, ...]:
        """Return the positions of the rows that are in a cluster and in no line.

        Raises
        ------
        DataError
            If the rows are not in memory.
        """
        from boxwood.explanation.measure.lines import unmatched_rows

        return unmatched_rows(self)

    def overlaps(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Return the rows that are in several lines: the position of each, and the clusters of these lines in order.

        The first of these clusters is the one that the row gets.

        Raises
        ------
        DataError
            If the rows are not in memory.
        """
        from boxwood.explanation.measure.lines import overlapping_rows

        return overlapping_rows(self)

    def to_text(self) -> str:
        """Return the table that printing shows, and below it each cluster's front."""
        from boxwood.words.lines import text_with_fronts

        return text_with_fronts(self)

    def to_markdown(self) -> str:
        """Return the lines as a table of Markdown, and what is known of rows in no line and in several."""
        from boxwood.render.forms.text import markdown_of_lines

        return markdown_of_lines(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the lines as a dict that JSON can hold: their order, each line and each front, with rules as text."""
        from boxwood.explanation.measure.lines import as_dict

        return as_dict(self)

    def to_sql(
        self, dialect: DialectName = "duckdb", table: str | Sequence[str] | None = None, as_of: Any = None
    ) -> str:
        """Return a CASE expression that gives the cluster of a row by its first line, NULL for one in no line.

        Parameters and errors are those of `Explanation.to_sql`.
        """
        from boxwood.render.forms.boxes import boxes_of_rules
        from boxwood.render.forms.sql import sql_of_boxes

        return sql_of_boxes(boxes_of_rules(self, as_of), dialect=dialect, table=table)

    def to_python(self, *, as_of: Any = None) -> str:
        """Return source of Python with `cluster(row)`, which gives the cluster of a row by its first line, or None.

        Rows are read as by the source of `Explanation.to_python`, and `as_of` is as there.
        """
        from boxwood.render.forms.boxes import boxes_of_rules
        from boxwood.render.forms.code import python_of_boxes

        return python_of_boxes(boxes_of_rules(self, as_of))

    def to_javascript(self, *, module: bool = False, as_of: Any = None) -> str:
        """Return source of JavaScript with `cluster(row)`, which gives the cluster of a row by its first line, or null.

        Rows are read as by the source of `Explanation.to_javascript`; `module` and `as_of` are as there.
        """
        from boxwood.render.forms.boxes import boxes_of_rules
        from boxwood.render.forms.code import javascript_of_boxes

        return javascript_of_boxes(boxes_of_rules(self, as_of), module=module)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each cluster's front: found against precision, numbered by conditions, the chosen rules filled.

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes
        """
        from boxwood.render.pictures.plot_measured import plot_lines

        return plot_lines(self, ax)
