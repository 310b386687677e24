"""Shorter rules that give every possible row the same: some conditions go, none is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from boxwood.judge.algebra import without_parts
from boxwood.judge.boxes import CellBox, meet
from boxwood.judge.conditions import All, tests_in
from boxwood.judge.rules import Branch, RuleSet
from boxwood.judge.space import Space


def shorten_rules(rules: RuleSet) -> RuleSet:
    """Return the shortest rules that are found by leaving out branches, then parts of conditions, in either order.

    What is left of the last one may be ELSE.
    """
    ways = (_as_short_as_can_be(rules, backwards=backwards) for backwards in (False, True))
    return min(ways, key=n_tests)


def n_tests(rules: RuleSet) -> int:
    """Return the number of comparisons in rules."""
    return sum(1 for branch in rules.branches for _ in tests_in(branch.condition))


def _as_short_as_can_be(rules: RuleSet, *, backwards: bool) -> RuleSet:
    space = rules._space
    found = rules
    while True:
        edits = [_with_a_branch(edited) for edited in _edits(found)][:: -1 if backwards else 1]
        better = (edited for edited in edits if _length(edited) < _length(found))
        shorter = next((each for each in better if gives_the_same(space, rules, each)), None)
        if shorter is None:
            return found
        found = shorter


def _length(rules: RuleSet) -> tuple[int, int]:
    return n_tests(rules), len(rules.branches)


def _with_a_branch(rules: RuleSet) -> RuleSet:
    """Return rules with at least one branch: without any, one for all rows."""
    if rules.branches:
        return rules
    return replace(rules, branches=(Branch(rules.otherwise, All()),), otherwise=None, has_else=False)


def _edits(rules: RuleSet) -> Iterator[RuleSet]:
    """Yield rules without a branch, with a branch that takes all rows that come to it, or without a part of one."""
    branches = rules.branches
    for i in range(len(branches)):
        yield replace(rules, branches=(*branches[:i], *branches[i + 1 :]))
    for i, branch in enumerate(branches):
        has_else = branch.name is not None
        yield replace(rules, branches=branches[:i], otherwise=branch.name, has_else=has_else)
    for i, branch in enumerate(branches):
        for _, without in without_parts(branch.condition):
            shorter = replace(branch, condition=without)
            yield replace(rules, branches=(*branches[:i], shorter, *branches[i + 1 :]))


def gives_the_same(space: Space, rules: RuleSet, others: RuleSet) -> bool:
    """Return whether rules and others, on columns of the same cells, give every possible row the same."""
    first, second = regions(space, rules), regions(space, others)
    for name, boxes, before in first:
        for other, its, its_before in second:
            if name == other and type(name) is type(other):
                continue
            both = (box for one in boxes for its_one in its if (box := meet(one, its_one)) is not None)
            if space.search.any_outside(both, [*before, *its_before]) is not None:
                return False
    return True


def regions(space: Space, rules: RuleSet) -> list[tuple[object, list[CellBox], list[CellBox]]]:
    """Return for each branch, and for ELSE at last, its name, its boxes, and those of the branches before it."""
    found: list[tuple[object, list[CellBox], list[CellBox]]] = []
    before: list[CellBox] = []
    for branch in rules.branches:
        boxes = space.boxes(branch.condition)
        found.append((branch.name, boxes, before))
        before = [*before, *boxes]
    return [*found, (rules.otherwise, [{}], before)]
