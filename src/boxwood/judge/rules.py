"""Rules as they were read: conditions in order, each with a name, and what other rows get."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from boxwood.judge.conditions import Condition
from boxwood.judge.space import Space
from boxwood.judge.values import NOWHERE, Place


@dataclass(frozen=True)
class Branch:
    """A condition, and the name that rows get which fulfil it first; None is NULL.

    It is implied where nobody wrote it: what is left of an inner CASE.
    """

    name: Any
    condition: Condition
    place: Place = NOWHERE
    is_implied: bool = False


@dataclass(frozen=True)
class RuleSet:
    """Rules in order; see `boxwood.api.rules.Rules`.

    Parameters
    ----------
    branches : tuple of Branch
    otherwise : str or int or float or bool or None
        What a row gets that fulfils no condition.
    has_else : bool
        Whether the rules say so.
    today : date
        The day from which ages count.
    is_aged : bool
        Whether some rule compares with that day.
    """

    branches: tuple[Branch, ...]
    otherwise: Any
    has_else: bool
    today: date
    is_aged: bool = False

    @property
    def names(self) -> tuple[Any, ...]:
        """What rows may get, in order; None last, if some may get NULL."""
        found = dict.fromkeys([*(branch.name for branch in self.branches), self.otherwise])
        return (*(name for name in found if name is not None), *[None] * (None in found))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that rules test, in the order in which they are first tested."""
        return tuple(self._space.columns)

    @cached_property
    def _space(self) -> Space:
        return Space([branch.condition for branch in self.branches])

    def _name_of(self, branch: int) -> Any:
        """Return what rows get that a branch takes; -1 is ELSE."""
        return self.otherwise if branch < 0 else self.branches[branch].name
