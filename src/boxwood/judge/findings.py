"""What may be found in rules, as records: every sentence about them is made of these alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from boxwood.explanation.records import Rule

Level: TypeAlias = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")
"""From what is surely wrong to what is worth a look."""


class NamedBranch(NamedTuple):
    """A branch as findings name it: its number from 1, 0 for ELSE; what its rows get; and its line, 0 if not known."""

    number: int
    name: Any
    line: int = 0


@dataclass(frozen=True)
class Finding:
    """Something found in rules.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    level : {"error", "warning", "note"}
        Whether it is surely wrong, probably not meant, or worth a look.
    branch : NamedBranch, default=None
        The branch that it is about.
    others : tuple of NamedBranch, default=()
        Others that take part: those that shadow it, that it overlaps, or where its rows go.
    column : str, default=""
        The column that it is about.
    rules : tuple of Rule, default=()
        Which rows it is about; one of the rules holds for each.
    values : tuple, default=()
        Words or limits of the column that it is about.
    nearest : tuple, default=()
        For each of the values one of the table that is most like it, or None.
    text : str, default=""
        The condition that it is about, or what a column holds, in words.
    witness : dict, default=None
        A row that shows it.
    rows : int, default=None
        How many rows of the table it is about; None without a table.
    is_whole : bool, default=True
        Whether `rules` names all such rows.
    """

    kind: str
    level: Level
    branch: NamedBranch | None = None
    others: tuple[NamedBranch, ...] = ()
    column: str = ""
    rules: tuple[Rule, ...] = ()
    values: tuple[Any, ...] = ()
    nearest: tuple[Any, ...] = ()
    text: str = ""
    witness: dict[str, Any] | None = None
    rows: int | None = None
    is_whole: bool = True


class BranchRows(NamedTuple):
    """The rows of a branch: those that come to it, that it takes, that fulfil it but went to an earlier one, and how
    many of those that it takes fulfil a later one, too.

    With labels: the share of its rows that have its name for a label, and the share of that label's rows that it takes.
    With an earlier table: the rows that it took there, and the share of all rows there.
    """

    branch: NamedBranch
    reached: int
    taken: int
    taken_before: int
    also_later: int
    precision: float | None = None
    found: float | None = None
    taken_then: int | None = None
    share_then: float | None = None


KINDS = {
    "never": "a branch that no row can fulfil",
    "shadowed": "a branch whose rows all go to earlier ones",
    "overlap": "branches of which the order decides for some rows",
    "hole": "values between two thresholds that no branch takes",
    "missing values": "missing values that a negation leaves out",
    "falls through": "rows that no branch takes",
    "not needed": "a condition that changes nothing",
    "types": "a column that is compared with values of different types",
    "no column": "a column that the table lacks",
    "never met": "a value that is in no row",
    "spelling": "a value that the table spells in another way",
    "never named": "categories of the table that no branch names",
    "stale date": "a date that all rows are before, or after",
    "no rows": "a branch that takes no row of the table",
    "grew": "a branch that takes a larger share of the rows than before, beyond chance",
    "shrank": "a branch that takes a smaller share of the rows than before, beyond chance",
}
"""All kinds of findings."""
