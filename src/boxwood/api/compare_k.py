"""`compare_k`: how clusters of several numbers come back in halves of the rows, and how well rules explain them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from boxwood._frames import as_rows_here
from boxwood._progress import as_progress, tell_progress
from boxwood._types import MethodName
from boxwood._validation import refuse_other_kind, whole_number
from boxwood.explanation.ask.columns import ColumnNote, notes_on_reading
from boxwood.explanation.ask.days import COUNTED
from boxwood.explanation.ask.gathered import gathered_as_asked, share_drawn, source_to_explain
from boxwood.explanation.ask.how_many import NUMBERS, DrawnRows
from boxwood.explanation.ask.options import Options
from boxwood.explanation.ask.steps import explain_rows
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.explanation.records import html_of_result
from boxwood.reference.clusterer import FewDifferentRows
from boxwood.words.notes import CHOSEN, GROUPS, NO_GROUPS, NO_VALLEY
from boxwood.words.values import percent, price

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class OfK(NamedTuple):
    """What a number of clusters gives.

    Parameters
    ----------
    n_clusters : int
    halves : float
        Mean adjusted Rand index of k-means of one half of the rows with k-means of the other, on all rows.
    agreement, price : float
        Of the rules, one for each cluster.
    sizes : tuple of int
        Rows of the clusters, the largest first.
    conditions : int
        Of the longest rule.
    """

    n_clusters: int
    halves: float
    agreement: float
    price: float
    sizes: tuple[int, ...]
    conditions: int


@dataclass(frozen=True)
class KComparison:
    """Numbers of clusters side by side; made by `compare_k`. Printing it gives a table.

    Parameters
    ----------
    rows : tuple of OfK
    n_rows : int
        Of the table, or those that were drawn from it.
    chosen : int
        The number that `explain` takes of these.
    note : str
        Why.
    groups : bool or None
        Whether the rows show groups, of whatever number; None if they are too few to tell.
    notes : tuple of str
        On columns that are left out, and how others are read.
    """

    rows: tuple[OfK, ...]
    n_rows: int
    chosen: int
    note: str
    groups: bool | None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _text(self)

    _repr_html_ = html_of_result

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how well halves agree, and how well rules explain the clusters, by the number of clusters.

        Takes a matplotlib axis, or makes one.
        """
        from boxwood.render.pictures.plot_measured import plot_compare_k

        return plot_compare_k(self.rows, self.chosen, ax)


def compare_k(
    X: Any,
    n_clusters: Iterable[int] | None = None,
    *,
    method: MethodName = "auto",
    sample_weight: Any = None,
    random_state: Any = None,
    columns: Sequence[str] | None = None,
    standardize: bool | Literal["auto"] = "auto",
    missing: Literal["learn", "drop", "refuse"] = "learn",
    categories: Sequence[str] | Mapping[str, Sequence[Any] | None] = (),
    numbers: Sequence[str] = (),
    as_of: Any = None,
    n_jobs: int | None = -1,
    verbose: Any = 0,
) -> KComparison:
    """Return for several numbers of clusters whether halves of the rows agree, groups are real, and rules are good.

    Parameters
    ----------
    X : array-like, data frame of shape (n, d), or table in batches
        Rows, as for `explain`; of a long table in batches rows are drawn, as there, and `KComparison.note` says so.
    n_clusters : iterable of int, default=None
        Numbers of clusters to compare, each at least 2; None is 2 to 10, or as many as there are different rows.
    method, sample_weight, random_state, columns, standardize, missing, categories, numbers, as_of, n_jobs
        As for `explain`.
    verbose : int or function, default=0
        With 1 a line on standard error says how many numbers of clusters are done; see `explain`.

    Returns
    -------
    KComparison
        A row for each number. `KComparison.chosen` is the one that `explain` takes: the largest on which halves of the
        rows agree, or, if they agree on none, the smallest of those on which they agree best; one of which half of the
        clusters lie apart where groups show, and at most four where none do; and another one that is nearly as good,
        if rules are right for too few rows.

    Raises
    ------
    DataError
        If the table cannot be used, or has fewer different rows than clusters.
    ValueError
        If there is no number of clusters, or one below 2.

    Notes
    -----
    Takes the time of one `explain` for each number and of one that chooses.

    References
    ----------
    R. Tibshirani, G. Walther, "Cluster validation by prediction strength", Journal of Computational and Graphical
    Statistics 14 (2005), for the halves.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boxwood import compare_k
    >>> found = compare_k(load_wine(as_frame=True).data, [2, 3, 4])
    >>> found.chosen, [row.conditions for row in found.rows]
    (3, [1, 2, 2])
    """
    given = {name: value for name, value in locals().items() if name not in ("X", "n_clusters", "verbose")}
    if n_clusters is not None:
        refuse_other_kind("n_clusters", n_clusters, Iterable, "name several, as range(2, 9)")
    wanted = sorted({whole_number("n_clusters", k, 2) for k in (NUMBERS if n_clusters is None else n_clusters)})
    if not wanted:
        raise ValueError("n_clusters must have at least one number, got none")
    whole, asked = None, Options.of({**given, "n_clusters": None})
    if (source := source_to_explain(X, None)) is not None:
        read, asked = gathered_as_asked(source, asked)
        X, whole = read.table, read.whole
    rows, found = as_rows_here(X), list[OfK]()
    for k in tell_progress(as_progress(verbose), "numbers of clusters tried", wanted):
        try:
            ex = explain_rows(rows, None, replace(asked, n_clusters=k))
        except FewDifferentRows:
            if n_clusters is not None or not found:
                raise
            break
        look = DrawnRows.of_space(ex._rows().coordinates)
        groups = asked.groups or look.groups()
        asked = replace(asked, groups=groups)
        found.append(_row(ex, look.settle(groups, k).agreement_of_halves(k)))
    among = [row.n_clusters for row in found]
    taken = explain_rows(rows, None, replace(asked, among=among))
    note = next(note for note in reversed(taken.notes) if CHOSEN.search(note))
    note = "\n".join([note, *(one for one in dict.fromkeys((*asked.notes, *taken.notes)) if one.startswith(COUNTED))])
    if whole is not None:
        note = f"{note}\n{share_drawn(taken.n_rows, whole.overview.n_rows)}"
    assert asked.groups is not None
    told = () if source is None else notes_on_reading(source, asked.columns)
    told = (*told, *(one for one in taken.notes if isinstance(one, ColumnNote)))
    return KComparison(tuple(found), taken.n_rows, taken.n_clusters, note, asked.groups.show, told)


def _row(ex: MeasuredTree, halves: float) -> OfK:
    sizes = tuple(sorted((round(one.size) for one in ex.clusters), reverse=True))
    return OfK(ex.n_clusters, halves, ex.agreement, ex.price, sizes, ex.tree.depth)


def _text(found: KComparison) -> str:
    """Return a line for each number of clusters; a star marks the one that would be chosen."""
    header = ("", "clusters", "halves agree", "agreement", "price", "smallest", "longest rule")
    cells = [
        (
            "*" if row.n_clusters == found.chosen else "",
            f"{row.n_clusters:,}",
            f"{row.halves:.2f}",
            percent(row.agreement),
            price(row.price),
            f"{row.sizes[-1]:,}",
            f"{row.conditions:,} condition{'s' if row.conditions > 1 else ''}",
        )
        for row in found.rows
    ]
    widths = [max(len(row[i]) for row in (header, *cells)) for i in range(len(header))]
    lines = [
        "  ".join([row[0].ljust(1), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        for row in (header, *cells)
    ]
    told = "halves agree: adjusted Rand index between clusters of two halves of the rows; 1 if equal"
    told += {None: "", True: f"\n{GROUPS}", False: f"\n{NO_GROUPS} {NO_VALLEY}"}[found.groups]
    return f"Clusters of {found.n_rows:,} rows\n\n" + "\n".join(lines) + f"\n\n{told}\n\n{found.note}"
