"""`Bound`: a number that a theorem promises, with the theorem's conditions and what is known of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from boxwood._validation import refuse_other_kind

__all__ = ["Bound", "Condition", "Status", "as_price", "as_probability", "checked", "smallest_bound"]

Status: TypeAlias = Literal["verified", "stated", "failed", "unknown"]

_HOLDS = {"verified": True, "stated": True, "failed": False, "unknown": None}


class Condition(NamedTuple):
    """One condition of a bound, in words, and what is known of it.

    Attributes
    ----------
    text : str
        The condition.
    status : {"verified", "stated", "failed", "unknown"}
        "verified" and "failed": it was checked by the arguments of the bound. "stated": the caller says so, as by
        `Mixture(..., law="gaussian")` or `sigma=`, and nothing contradicts it. "unknown": the arguments cannot tell.
    """

    text: str
    status: Status

    @property
    def holds(self) -> bool | None:
        """True if the condition is verified or stated, False if it failed, None if it is unknown."""
        return _HOLDS[self.status]


def checked(text: str, holds: bool) -> Condition:
    """Return a condition that was checked."""
    return Condition(text, "verified" if holds else "failed")


@dataclass(frozen=True)
class Bound:
    """A bound, what is known of its conditions, and its source.

    Attributes
    ----------
    value : float
        The bound as the theorem states it; a bound on a probability may be above 1.
    clipped : float
        `value`, but at most 1 for a bound on a probability; always holds: `clipped <= value`.
    conditions : tuple of Condition
        What the theorem asks of the mixture, the rows and the tree.
    source : str
        Paper and theorem. Where the function that returned the bound corrects the paper, its docstring says how.
    estimated : bool
        Whether the parameters were estimated from data. The bound is then an estimate, too.
    """

    value: float
    clipped: float
    conditions: tuple[Condition, ...]
    source: str
    estimated: bool = False

    @property
    def holds(self) -> bool | None:
        """True if every condition is verified or stated, False if one failed, None otherwise."""
        known = {condition.holds for condition in self.conditions}
        if False in known:
            return False
        return None if None in known else True


def smallest_bound(*bounds: Bound) -> Bound:
    """Return the bound with the smallest value among those that hold; the first of equal ones.

    Where none is known to hold, the smallest one is returned whose conditions are not known to fail.

    Raises
    ------
    ValueError
        If a condition of every bound fails.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.theory.bounds import gap_error_bound, random_error_bound
    >>> mixture = Mixture([0.5, 0.5], [[0], [30]], [[1], [1]])
    >>> smallest_bound(gap_error_bound(mixture), random_error_bound(mixture)).source[-9:]
    'Theorem 1'
    """
    for bound in bounds:
        refuse_other_kind("bounds", bound, Bound, "the functions of boxwood.theory.bounds return them")
    possible = [bound for bound in bounds if bound.holds] or [bound for bound in bounds if bound.holds is None]
    if not possible:
        raise ValueError("none of the bounds holds; see their conditions")
    return min(possible, key=lambda bound: bound.value)


# ------------------------------------------------------------------------------------------------------- steps


def as_price(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool = False) -> Bound:
    """Return a bound on a price."""
    return Bound(value, value, conditions, source, estimated)


def as_probability(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool = False) -> Bound:
    """Return a bound on a probability, clipped at 1."""
    return Bound(value, min(1.0, value), conditions, source, estimated)
