"""Shorter rules give every row the same, and are nearly as short as the shortest that leave out conditions."""

import itertools

import numpy as np

import boxwood as bw
from boxwood.judge import conditions as logic
from boxwood.judge.algebra import without_parts
from boxwood.judge.conditions import truth_of
from boxwood.judge.shorten import n_tests
from tests.judge.test_check import grid, small
from tests.scale import law


def given(rules, row):
    return next((one.name for one in rules.branches if truth_of(one.condition, row) is True), rules.otherwise)


def shapes(condition):
    """Return a condition, and all that is left of it without some of its parts."""
    found, stack = {condition}, [condition]
    while stack:
        for _, without in without_parts(stack.pop()):
            if without not in found:
                found.add(without)
                stack.append(without)
    return found


def shortest(rules, rows, right):
    """Return the fewest comparisons of rules that leave out conditions and give the same, by trying all."""
    choices = [[None, *shapes(one.condition)] for one in rules.branches]
    best = n_tests(rules)
    for conditions in itertools.islice(itertools.product(*choices), 20_000):
        kept = [(one.name, c) for one, c in zip(rules.branches, conditions, strict=True) if c is not None]
        length = sum(1 for _, c in kept for _ in logic.tests_in(c))
        if (
            length < best
            and kept
            and all(first(kept, rules, row) == name for row, name in zip(rows, right, strict=True))
        ):
            best = length
    return best


def first(kept, rules, row):
    return next((name for name, c in kept if truth_of(c, row) is True), rules.otherwise)


@law(16)
def test_shorter_rules_give_the_same_and_are_nearly_the_shortest(seed):
    rng = np.random.default_rng(seed)
    rules = bw.read_rules(small(rng))
    while n_tests(rules) > 8:
        rules = bw.read_rules(small(rng))
    rows = list(grid(rules._space.columns))
    right = [given(rules, row) for row in rows]
    shorter = rules.simplified()
    assert [given(shorter, row) for row in rows] == right
    of_some = shortest(rules, rows[::7], right[::7])  # a bound from below, which is found sooner
    assert n_tests(shorter) <= of_some + 1 or n_tests(shorter) <= shortest(rules, rows, right) + 1
