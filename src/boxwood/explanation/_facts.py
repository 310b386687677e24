"""Facts of an explanation that only the search knows."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GOALS", "BudgetFacts", "SearchFacts"]

GOALS = ("auto", "cost", "agreement")


class BudgetFacts(NamedTuple):
    """The limits that were set for the rules, all of which are kept; None where there was none.

    Parameters
    ----------
    max_depth, min_samples_leaf, max_columns, round_thresholds : int, default=None
    forbidden, preferred : tuple of str
        Names of columns.
    n_moved : int
        Number of rows, without rows left out, that rounding the thresholds sent to another leaf.
    """

    max_depth: int | None = None
    min_samples_leaf: int | None = None
    max_columns: int | None = None
    round_thresholds: int | None = None
    forbidden: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    n_moved: int = 0


class SearchFacts(NamedTuple):
    """What "auto" did to find the tree.

    Parameters
    ----------
    objective : {"auto", "cost", "agreement"}
        What was asked for.
    reason : str
        Why "auto" looked at agreement alone; empty where it did not.
    n_candidates : int
        Number of different trees that were compared.
    n_sampled : int
        Number of rows that most growers saw; the tree was refined and measured on every row. Of a table in batches it
        was refined on these rows, and measured on every row.
    stopped_by_clock : bool
        Whether the time limit ended the search.
    gap : float, default=None
        No tree with as many leaves costs less by more than this share, even if it explains other clusters; 0 if none
        costs less. Trees that test forbidden columns do not count; those that break another limit do. None if that is
        not known: for more than four leaves or more leaves than clusters, where agreement alone is looked at, in long
        tables and in wide ones, with `max_columns`, where rounded thresholds move rows, and where a cut of a pipeline's
        columns becomes several cuts of the table's.
    """

    objective: str
    reason: str
    n_candidates: int
    n_sampled: int
    stopped_by_clock: bool
    gap: float | None = None

    @property
    def by_agreement(self) -> bool:
        """Whether agreement alone decided, so that the price of the tree says little."""
        return self.objective == "agreement" or bool(self.reason)
