"""Facts of an explanation that only the search knows."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GOALS", "SearchFacts"]

GOALS = ("auto", "cost", "agreement")


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
        Number of rows that most growers saw; the tree was refined and measured on every row.
    stopped_by_clock : bool
        Whether the time limit ended the search.
    gap : float, default=None
        No tree with as many leaves costs less by more than this share, even if it explains other clusters; 0 if none
        costs less. None if that is not known: for more than four leaves or more leaves than clusters, where agreement
        alone is looked at, and in long tables.
    """

    objective: str
    reason: str
    n_candidates: int
    n_sampled: int
    stopped_by_clock: bool
    gap: float | None = None
