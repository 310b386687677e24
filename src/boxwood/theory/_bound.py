"""`Bound`: a number that a theorem promises, with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Bound", "Condition", "smallest"]


class Condition(NamedTuple):
    """What a bound rests on: `holds` is None where the parameters of a mixture cannot tell, so that it is assumed."""

    text: str
    holds: bool | None


@dataclass(frozen=True)
class Bound:
    """A bound, whether its conditions hold, and where it comes from.

    Attributes
    ----------
    value : float
        The bound as the theorem states it; one on a probability may be above 1.
    clipped : float
        The same, at most 1 where it bounds a probability; always holds: `clipped <= value`.
    conditions : tuple of Condition
        What the theorem asks of mixture and tree.
    source : str
        Paper and theorem, corrected where the remarks of the function that made it say so.
    estimated : bool
        Whether the parameters were estimated from data, so that the bound is an estimate as well.
    """

    value: float
    clipped: float
    conditions: tuple[Condition, ...]
    source: str
    estimated: bool = False

    @property
    def holds(self) -> bool:
        """Whether no condition is known to fail."""
        return all(condition.holds is not False for condition in self.conditions)


def smallest(*bounds: Bound) -> Bound:
    """Return the bound of the smallest value among those whose conditions hold, the first among equals.

    Raises
    ------
    ValueError
        If none holds.
    """
    valid = [bound for bound in bounds if bound.holds]
    if not valid:
        raise ValueError("none of the bounds holds; see their conditions")
    return min(valid, key=lambda bound: bound.value)
