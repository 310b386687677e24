"""The best one-line rule of a cluster against all boxes of small tables."""

import numpy as np
import pytest

from boxwood.axes import Categories
from boxwood.grow.lines import search
from boxwood.grow.lines.columns import as_tree, line_columns, without_needless
from boxwood.grow.lines.search import LineGoal, best_rules
from boxwood.loops import jit
from boxwood.loops import lines as loops
from tests.loops.arguments import bits, compiled
from tests.naive.lines import best_value
from tests.scale import law, seeds

GOALS = (loops.F1, loops.PRECISION, loops.FOUND)


class Small:
    """A small table of numbers, gaps, words, words in an order, and constants; ties, weights, and a goal."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.n, d = int(rng.integers(2, 13)), int(rng.integers(1, 4))
        self.own = np.append(True, rng.random(self.n - 1) < 0.5)
        self.categories, self.gaps = {}, []
        self.table = np.column_stack([self.column(rng, j) for j in range(d)])
        kinds = np.ones(self.n), rng.integers(1, 4, self.n) * 1.0, rng.random(self.n) + 0.01
        self.weights = kinds[rng.integers(3)]
        self.size = float(self.weights[self.own].sum())
        self.goal = LineGoal(
            int(rng.choice(GOALS)), float(rng.choice([0.2, 0.5, 0.8, 1.0])), int(rng.choice([1, 1, 3]))
        )

    def column(self, rng, j):
        kind = rng.integers(5)
        if kind == 0:
            return rng.normal(size=self.n) + self.own
        if kind == 1:
            self.categories[j] = Categories(tuple("abcd"), False)
            return rng.integers(0, 4, self.n)
        if kind == 2:
            self.gaps.append(j)
            return np.where(rng.random(self.n) < 0.3, np.inf, rng.integers(0, 5, self.n))
        if kind == 3:
            self.categories[j] = Categories((*"abcd", None), False, True)
            return rng.integers(0, 5, self.n)
        return rng.integers(0, 1 + rng.integers(4), self.n)

    @property
    def columns(self):
        return line_columns(self.table, range(self.table.shape[1]), self.categories, self.gaps)

    def value(self, found, others, n_rows):
        """What the goal counts, in its own words."""
        precision, share = found / max(found + others, 1e-300), found / self.size
        if found == 0 or n_rows < self.goal.min_rows:
            return -1.0
        if self.goal.kind == loops.F1:
            return 2 * precision * share / (precision + share)
        is_enough, value = (share, precision) if self.goal.kind == loops.PRECISION else (precision, share)
        return value if is_enough >= self.goal.least - 1e-9 else -1.0

    def of(self, rows):
        return self.value(self.weights[rows & self.own].sum(), self.weights[rows & ~self.own].sum(), rows.sum())

    def found(self, **more):
        """Return what the search finds with one condition, two and three; nothing where no condition is possible."""
        found = list(best_rules(self.columns, self.own, self.weights, self.goal, 3, **more))
        return [found[min(size, len(found)) - 1] if found else None for size in (1, 2, 3)]

    def best(self, size):
        more = {"categories": self.categories, "gaps": self.gaps}
        return best_value(self.table, self.own, self.weights, self.value, size, **more)


@law(500)
def test_no_box_is_better(seed):
    small = Small(seed)
    everything = small.of(np.ones(small.n, dtype=bool))  # which is no rule
    for size, one in enumerate(small.found(), 1):
        value = -1.0 if one is None else one.value
        assert max(value, everything) == pytest.approx(max(small.best(size), everything), abs=1e-8)
        assert one is None or one.bound == pytest.approx(one.value, abs=1e-8)


@law(100, first=1000)
def test_a_rule_is_worth_what_it_says_and_its_tree_holds_its_rows(seed):
    small = Small(seed)
    for one in small.found():
        if one is None or not one.asked:
            continue
        rows = np.logical_and.reduce([each.holds() for each in one.asked])
        assert small.of(rows) == pytest.approx(one.value, abs=1e-9)
        short = without_needless(one.asked)
        assert (as_tree(short).predict(small.table) == rows).all()
        assert len(short) <= len({each.column.feature for each in one.asked}) == len(one.asked)
        for each in short:
            assert {*each.codes} <= {*each.column.places[rows].tolist()}  # no category is named that no row of it needs


@law(60, first=2000)
def test_a_search_that_is_cut_short_bounds_what_it_did_not_see(seed):
    small = Small(seed)
    for size, one in enumerate(small.found(work=-1), 1):
        everything = small.of(np.ones(small.n, dtype=bool))
        assert one is None or max(one.bound, everything) >= small.best(size) - 1e-8 >= one.value - 2e-8


def test_few_columns_are_searched_where_there_are_many(monkeypatch):
    monkeypatch.setattr(search, "MOST_COLUMNS", 1)
    looked_at = 0
    for seed in seeds(40):
        small = Small(seed)
        for size, one in enumerate(small.found(), 1):
            if one is not None and len(small.columns) > 1:
                assert one.bound >= small.best(size) - 1e-8
                looked_at += one.bound == 1 > one.value
    assert looked_at


def test_columns_that_come_first_win_ties():
    x, own = np.arange(6.0), np.arange(6) < 3
    for order in ([0, 1], [1, 0]):
        columns = line_columns(np.column_stack([x, -x]), order, {}, ())
        [one] = best_rules(columns, own, np.ones(6), LineGoal(), 3)
        assert [each.column.feature for each in one.asked] == order[:1]


@law(20, first=3000)
def test_interpreted_the_loop_finds_the_same_bits(seed):
    small = Small(seed)
    there = search._LineSearch(small.columns, small.own, small.weights, small.goal)
    chosen = tuple(there.usable[:2])
    results = []
    for loop in (jit.interpret(loops.best_box), compiled(loops.best_box.py_func)):
        ends, codes = np.zeros((len(chosen), 2), dtype=np.int64), np.zeros((len(chosen), there.n_codes), dtype=bool)
        given = (*there._on(chosen), -1.0, 1e9, np.zeros(1, dtype=np.int64), ends, codes)
        results.append(bits((loop(*given), given)) if chosen else None)
    assert results[0] == results[1]
