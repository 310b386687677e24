"""Columns of every set: the best of all trees on them is the best of all trees of sets and gaps."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import boxwood as bw
from boxwood._validation import Rows
from boxwood.axes import Categories
from boxwood.axes.every_set import EverySetMap
from boxwood.grow.exact.agreement import agreeing_of
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.tree.cover import MISSING
from tests import naive
from tests.scale import law, seeds, share

MAX = sys.float_info.max


class Small:
    """A small table of two categories and two numbers, of which all but one have gaps, and limits of its tree.

    The second category has an order for half of the seeds; its last code is then that of missing values.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n, sizes = int(rng.integers(6, 15)), rng.integers(1, 6, size=2)
        self.table = np.column_stack(
            [
                *(rng.integers(0, size, n) for size in sizes),
                np.where(rng.random(n) < 0.3, np.inf, rng.integers(0, 4, n)),
                np.round(rng.normal(size=n), 1),
            ]
        )
        self.table[rng.integers(n), 2] = 1.0
        self.categories = {j: Categories(tuple("abcdef"[: sizes[j]]), False) for j in (0, 1)}
        self.is_ordered = bool(seed % 4 > 1 and (self.table[:, 1] < sizes[1] - 1).any())
        if self.is_ordered:
            self.categories[1] = Categories((*"abcdef"[: sizes[1] - 1], None), False, ordered=True)
        self.labels = rng.integers(0, 3, n)
        self.labels[:2] = 0, 1
        self.weights = rng.integers(1, 4, n).astype(float) if seed % 2 else None
        self.each = np.ones(n) if self.weights is None else self.weights
        self.depth = int(rng.integers(1, 4))
        self.leaves, self.least = int(rng.integers(2, 2**self.depth + 1)), 1 + int(seed % 3 == 0)

    @property
    def limits(self) -> dict[str, int]:
        return {"max_depth": self.depth, "max_leaf_nodes": self.leaves, "min_samples_leaf": self.least}

    def fewest(self) -> tuple[float, int]:
        table, codes = self.table.copy(), (0, 1)
        if self.is_ordered:  # like a number with gaps
            table[table[:, 1] == len(self.categories[1].values) - 1, 1], codes = np.inf, (0,)
        return naive.fewest_mistakes_by_sets(table, self.labels, self.each.tolist(), codes, **self.limits)


@law(80)
def test_the_best_tree_on_the_columns_is_the_best_of_sets_and_gaps(seed: int) -> None:
    case = Small(seed)
    axis_map = EverySetMap(case.table, case.categories, np.ones(len(case.table), dtype=bool))
    rows = Rows(axis_map.transform(case.table), case.weights)
    budget = Budget(max_depth=case.depth, min_samples_leaf=case.least)
    task = Task.of(rows, Reference.of(rows, case.labels), budget=budget)
    found = agreeing_of(task, case.leaves)
    assert (found.mistakes, found.tree.n_leaves) == case.fewest()
    on_table = found.tree.pull_back(axis_map, case.table)
    assert on_table.n_leaves == found.tree.n_leaves
    assert (on_table.predict(case.table) == found.tree.predict(rows.values)).all()


def test_explain_says_that_no_tree_agrees_more() -> None:
    proved = 0
    for seed in seeds(20):
        case = Small(seed)
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({f"n{j}": np.where(np.isinf(x), np.nan, x) for j, x in enumerate(case.table.T)})
        for j, known in case.categories.items():
            values = [known.values[int(code)] for code in case.table[:, j]]
            frame[f"n{j}"] = pd.Categorical(values, [*"abcdef"], ordered=True) if known.ordered else values
        frame["own"] = [f"c{label}" for label in case.labels]
        ex = bw.explain(
            frame, "own", columns=["n0", "n1", "n2", "n3"], objective="agreement", sample_weight=case.weights,
            **case.limits,
        )  # fmt: skip
        labels = np.array([f"c{label}" for label in case.labels])
        mistakes = case.each[np.asarray(ex.predict(frame)) != labels].sum()
        assert mistakes == case.fewest()[0], f"seed {seed}"
        assert ex.search_report is not None
        assert ex.search_report.agreement_gap == 0
        proved += ex.agreement < 1
    assert proved > share(5)


def test_a_cut_goes_back_to_codes_and_to_gaps() -> None:
    table = np.array([[0, 2.0], [1, 3.0], [2, np.inf], [4, 9.0]])
    kept = np.array([True, True, True, False])
    axis_map = EverySetMap(table, {0: Categories(tuple("abcde"), False)}, kept)
    assert axis_map.features.tolist() == [0, 0, 0, 1, 1]
    codes = [axis_map.pull_back(column, 0.5, 1.5) for column in range(3)]
    assert codes == [(0, ((code, code),)) for code in (0.0, 1.0, 2.0)]
    for column, cut, values in (
        (3, 2.5, ((-np.inf, 2.5),)),
        (3, 3.0, ((-np.inf, MAX),)),
        (4, 2.5, ((-np.inf, 2.5), MISSING)),
        (4, np.nextafter(2.0, 0.0), (MISSING,)),
        (4, 3.0, ((-np.inf, np.inf),)),
    ):
        assert axis_map.pull_back(column, -np.inf, cut) == (1, values)
    assert axis_map.transform(table)[3].tolist() == [0, 0, 0, 3, 3]  # beyond the numbers of rows that are kept


def test_half_of_an_even_number_of_codes_is_in_one_column_only() -> None:
    for n_codes, n_sets in ((1, 1), (2, 1), (3, 3), (4, 7), (8, 127)):
        table = np.arange(n_codes, dtype=float)[:, None]
        categories = {0: Categories(tuple("abcdefgh"[:n_codes]), False)}
        images = EverySetMap(table, categories, np.ones(n_codes, dtype=bool)).transform(table)
        assert images.shape[1] == n_sets
        sides = {frozenset((tuple(column), tuple(1 - column))) for column in images.T}
        assert len(sides) == n_sets
