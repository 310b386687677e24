"""Conditions: tests of single columns, joined by AND, OR and NOT, with the three truth values of SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from boxwood.judge.values import Test, Truth


@dataclass(frozen=True)
class All:
    """Conditions that all hold; none is always true."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Some:
    """Conditions of which one holds; none is never true."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Not:
    """A condition that is false."""

    part: Condition


@dataclass(frozen=True)
class Unknown:
    """What is neither true nor false: NULL as a condition."""


Condition: TypeAlias = Test | All | Some | Not | Unknown
"""A condition on a row. They are nested a few hundred times at most, as readers refuse more."""


def tests_in(condition: Condition) -> Iterator[Test]:
    """Yield the tests of a condition, in the order in which they stand."""
    match condition:
        case Test():
            yield condition
        case All(parts) | Some(parts):
            for part in parts:
                yield from tests_in(part)
        case Not(part):
            yield from tests_in(part)


def truth_of(condition: Condition, row: Mapping[str, Any]) -> Truth:
    """Return whether a row fulfils a condition; None if that is unknown.

    Examples
    --------
    >>> from boxwood.judge.values import Test
    >>> is_free = Test("plan", (), "in", ("free",))
    >>> [truth_of(Not(is_free), {"plan": plan}) for plan in ("team", "free", None)]
    [True, False, None]
    """
    match condition:
        case Test():
            return condition.holds(row[condition.column])
        case All(parts):
            found = {truth_of(part, row) for part in parts}
            return False if False in found else None if None in found else True
        case Some(parts):
            found = {truth_of(part, row) for part in parts}
            return True if True in found else None if None in found else False
        case Not(part):
            inner = truth_of(part, row)
            return None if inner is None else not inner
    return None


def with_tests(condition: Condition, change: Callable[[Test, bool], Condition], negated: bool = False) -> Condition:
    """Return a condition with other tests; IN: change: from a test, and whether an odd number of NOT is above."""
    match condition:
        case Test():
            return change(condition, negated)
        case All(parts):
            return All(tuple(with_tests(part, change, negated) for part in parts))
        case Some(parts):
            return Some(tuple(with_tests(part, change, negated) for part in parts))
        case Not(part):
            return Not(with_tests(part, change, not negated))
    return condition


@dataclass(frozen=True)
class Guard:
    """A condition on one column, whose value is taken for missing where it does not hold."""

    column: str
    condition: Condition

    def holds(self, value: Any) -> bool:
        """Return whether a value fulfils it."""
        return truth_of(self.condition, {self.column: value}) is True


def surely(condition: Condition, truth: bool = True) -> Condition:
    """Return the condition that another one is true, or false; where that is unknown, it is false.

    Examples
    --------
    >>> from boxwood.judge.values import Test
    >>> is_free = Test("plan", (), "in", ("free",))
    >>> [truth_of(Not(surely(is_free)), {"plan": plan}) for plan in ("team", "free", None)]
    [True, False, True]
    """
    match condition:
        case Test():
            return _test_surely(condition, truth)
        case Not(part):
            return surely(part, not truth)
        case All(parts) | Some(parts):
            found = tuple(surely(part, truth) for part in parts)
            return All(found) if isinstance(condition, All) is truth else Some(found)
    return Some()


def _test_surely(test: Test, truth: bool) -> Condition:
    if test.is_known or test.sign == "null":
        return test if truth else Not(test)
    values = tuple(value for value in test.values if value is not None)  # none is surely equal to NULL, or beside it
    if (test.values and not values) or (not truth and None in test.values):
        return Some()
    known = replace(test, is_known=True, values=values)
    return known if truth else All((Not(known), Not(replace(test, sign="null", values=()))))


def parts_of(condition: Condition) -> tuple[Condition, ...]:
    """Return the conditions that all hold where a condition holds."""
    if isinstance(condition, All):
        return tuple(inner for part in condition.parts for inner in parts_of(part))
    return (condition,)
