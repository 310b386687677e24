"""Shorter rules give every row the same, and are nearly as short as the shortest that leave out conditions."""

import numpy as np

import boxwood as bw
from boxwood.judge import conditions as logic
from boxwood.judge.algebra import without_parts
from boxwood.judge.conditions import truth_of
from boxwood.judge.shorten import n_tests
from tests import naive
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


def numbered(rules, row):
    """Return the number of the branch that takes a row, each of which has a name of its own; -1 is ELSE."""
    return next((i for i, one in enumerate(rules.branches) if truth_of(one.condition, row) is True), -1)


def shortest(rules, rows):
    """Return the fewest comparisons of rules that leave out some and give the rows of a grid the same."""
    choices = []
    for i, one in enumerate(rules.branches):
        held = [
            (np.array([truth_of(shape, row) is True for row in rows]), sum(1 for _ in logic.tests_in(shape)))
            for shape in shapes(one.condition)
        ]
        choices.append((i, held))
    return naive.shortest(choices, -1, np.array([numbered(rules, row) for row in rows]))


@law(40)
def test_shorter_rules_give_the_same_and_are_nearly_the_shortest(seed):
    rng = np.random.default_rng(seed)
    rules = bw.read_rules(small(rng))
    while not 1 < n_tests(rules) <= 8:
        rules = bw.read_rules(small(rng))
    rows = list(grid(rules._space.columns))
    shorter = rules.simplified()
    assert [given(shorter, row) for row in rows] == [given(rules, row) for row in rows]
    assert n_tests(shorter) <= shortest(rules, rows) + 1


def test_a_last_branch_that_takes_all_other_rows_becomes_else():
    rules = bw.read_rules("CASE WHEN a < 5 THEN 'x' WHEN a >= 5 OR a IS NULL THEN 'y' END").simplified()
    assert rules.to_sql() == "CASE\n  WHEN \"a\" < 5 THEN 'x'\n  ELSE 'y'\nEND"
