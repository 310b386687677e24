"""What was proved of all trees, or one-line rules, of some size, as a record of which sentences are made."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple


class Claim(NamedTuple):
    """What was proved of all trees, or one-line rules, of some size: none is better by more than so much.

    A tree has cuts of one column each, at one threshold or by a set of values, in which missing ones have a side. A
    one-line rule may ask for an interval of each of its columns.

    Parameters
    ----------
    of : {"trees", "rules"}
        What was searched.
    size : int
        Most leaves of these trees, or conditions of these rules.
    limits : tuple of str
        Parameters of `explain` that leave some of these out, which may be better.
    measure : {"agreement", "cost", "f1", "precision", "found"}
        In what none is better: one that costs less, or has more of any other.
    least : float
        Least precision of the rules that find most, and least share found by those of most precision; else 0.
    weighted : bool
        Whether rows count by their weights.
    value : float
        What the tree, or the rule, at hand has of it.
    by : float
        By how much others may be better at most, 0 if none is: a share of the rows, or of their weight; a share of the
        tree's own cost; F1, precision or share found.
    """

    of: Annotated[str, Literal["trees", "rules"]]
    size: int
    limits: tuple[str, ...]
    measure: Annotated[str, Literal["agreement", "cost", "f1", "precision", "found"]]
    least: float
    weighted: bool
    value: float
    by: float
