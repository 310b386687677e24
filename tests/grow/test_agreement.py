"""Trees that agree most: the best of all trees within limits, and bounds that hold wherever a search stops."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boxwood import Reference
from boxwood.errors import DataError
from boxwood.grow import optimal
from boxwood.grow.exact import agreement
from boxwood.grow.exact._search import Kept
from boxwood.grow.exact.agreement import FewestMistakes, LoopCodes, resolved_by_agreement
from boxwood.loops.agreement import UNIT
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from tests import naive
from tests.cases import make_case, tree_on_rows
from tests.scale import law, seeds, share


class Small:
    """A small table and limits of its tree; weights are whole, so that ties are ties, and some are 0."""

    def __init__(self, seed, max_rows=14, depths=(1, 2, 3, 4)):
        rng = np.random.default_rng(seed)
        self.X, self.labels, weights = make_case(seed, max_rows=max_rows, max_columns=3, max_clusters=5)
        self.weights = None if weights is None else np.ceil(4 * weights)
        if weights is not None and seed % 3 == 0 and (self.labels[1:] >= 0).any():
            self.weights[0] = 0.0
        self.each = np.where(self.labels >= 0, 1.0 if self.weights is None else self.weights, 0.0)
        self.reference, self.depth = Reference.of(self.X, self.labels), int(rng.choice(depths))
        self.leaves = int(rng.integers(1, 2**self.depth + 1))
        self.least = min(int(rng.integers(1, 4)), max(np.count_nonzero(self.each) // 2, 1)) if seed % 2 else 1
        self.forbidden = (0,) if self.X.shape[1] > 1 and seed % 5 == 0 else ()

    @property
    def limits(self):
        return {"max_depth": self.depth, "max_leaf_nodes": self.leaves, "min_samples_leaf": self.least}

    def optimal(self, **options):
        options = self.limits | {"forbidden": self.forbidden, "objective": "agreement"} | options
        return optimal(self.X, self.reference, sample_weight=self.weights, **options)

    def best(self, columns=None):
        columns = [j for j in range(self.X.shape[1]) if j not in self.forbidden] if columns is None else columns
        return naive.fewest_mistakes(self.X, self.labels, self.each.tolist(), columns=columns, **self.limits)

    def lost(self, tree):
        """Return the mistakes of a tree and its number of leaves."""
        return float(self.each[tree.predict(self.X) != self.labels].sum()), tree.n_leaves

    @property
    def task(self):
        budget = Budget(max_depth=self.depth, min_samples_leaf=self.least, forbidden=self.forbidden)
        return Task.of(self.X, self.reference, sample_weight=self.weights, budget=budget)


def nested(tree, X, kept, node=0):
    """Return a tree as the twin does: column, largest value of the first side, and both sides."""
    if tree.feature[node] < 0:
        return ()
    j = int(tree.feature[node])
    inside = kept[X[kept, j] <= tree.upper[node]]
    outside = np.setdiff1d(kept, inside)
    sides = (nested(tree, X, inside, node + 1), nested(tree, X, outside, int(tree.second[node])))
    return (j, float(X[inside, j].max()), *sides)


def test_is_the_best_of_all_trees_within_the_limits():
    for seed in seeds(60):
        case = Small(seed)
        found = case.optimal()
        expected = case.best()
        assert (found.cost, found.tree.n_leaves) == expected[:2], f"seed {seed}"
        assert nested(found.tree, np.asarray(case.X, dtype=float), np.flatnonzero(case.each)) == expected[2]
        assert case.lost(found.tree) == expected[:2]
        assert (found.bound, found.gap) == (found.cost, 0)


def test_a_loop_that_is_left_after_each_look_finds_the_same(monkeypatch):
    monkeypatch.setattr(agreement, "AT_ONCE", 1)
    for seed in seeds(30, first=100):
        case = Small(seed, depths=(2, 3))
        found, expected = case.optimal(), case.best()
        assert (found.cost, found.tree.n_leaves) == expected[:2], f"seed {seed}"
        assert nested(found.tree, np.asarray(case.X, dtype=float), np.flatnonzero(case.each)) == expected[2]


def test_the_best_tree_of_some_rows_to_begin_with_changes_nothing(monkeypatch):
    monkeypatch.setattr(agreement, "SAMPLED", 3)
    monkeypatch.setattr(agreement, "FAR", 2)
    begun = []
    of_sample = agreement._of_sample
    monkeypatch.setattr(agreement, "_of_sample", lambda *given: begun.append(of_sample(*given)) or begun[-1])
    for seed in seeds(40, first=200):
        case = Small(seed, depths=(2, 3))
        case.leaves = max(case.leaves, 3)
        found, expected = case.optimal(), case.best()
        assert (found.cost, found.tree.n_leaves) == expected[:2], f"seed {seed}"
        assert nested(found.tree, np.asarray(case.X, dtype=float), np.flatnonzero(case.each)) == expected[2]
    assert sum(tree is not None for tree in begun) > share(10)


def test_without_a_depth_all_shapes_are_tried():
    for seed in seeds(20):
        case = Small(seed, max_rows=12)
        case.leaves = 2 + seed % 4
        case.depth = case.leaves - 1
        assert case.optimal(max_depth=None).cost == case.best()[0], f"seed {seed}"


def test_mistakes_is_another_name():
    case = Small(3)
    assert case.optimal(objective="mistakes") == case.optimal()


def test_few_columns_are_chosen_by_trying_all_sets():
    for seed in seeds(20):
        case = Small(seed, max_rows=10)
        allowed = [j for j in range(case.X.shape[1]) if j not in case.forbidden]
        for size in (1, 2):
            expected = min(map(case.best, itertools.combinations(allowed, min(size, len(allowed)))))
            found = case.optimal(max_columns=size)
            assert (found.cost, found.tree.n_leaves, found.gap) == (*expected[:2], 0), f"seed {seed}"
            assert nested(found.tree, np.asarray(case.X, dtype=float), np.flatnonzero(case.each)) == expected[2]
            assert len(set(found.tree.features.tolist())) <= size


def test_many_sets_of_columns_leave_a_gap_to_all_columns(monkeypatch):
    monkeypatch.setattr("boxwood.grow.exact.agreement.CHOICES", 1)
    for seed in seeds(20):
        case = Small(seed, max_rows=10)
        case.forbidden = ()
        found, free = case.optimal(max_columns=1), case.optimal()
        assert found.bound == free.cost <= found.cost
        assert len(set(found.tree.features.tolist())) <= 1


def test_bounds_hold_whenever_time_is_up(monkeypatch):
    """The clock goes on by one whenever it is read, and the loop is left after each look."""
    clock = itertools.count()
    monkeypatch.setattr(agreement, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(agreement, "AT_ONCE", 1)
    solved = 0
    for seed in seeds(20):
        case = Small(seed, depths=(3, 4))
        least, marks = case.best()[0], LoopCodes(Kept(case.task))
        for ticks in (0, 1, 2, 4, 8, 30):
            search = FewestMistakes(marks, case.least, deadline=next(clock) + ticks)
            found = search.solve_from(case.depth, case.leaves)
            assert found.bound // UNIT <= least <= found.cost // UNIT, f"seed {seed}"
            assert marks.cost(found.cuts, np.arange(len(marks.labels))) == found.cost
            solved += found.is_exact
    assert share(20) < solved < share(119)


@law(12)
def test_bounds_hold_up_to_a_share_of_the_weight_where_weights_dwarf_others(seed):
    rng = np.random.default_rng(seed)
    case = Small(seed, max_rows=8, depths=(1, 2, 3))
    case.weights = 10.0 ** rng.uniform(0, rng.choice([1, 8, 15, 18]), len(case.labels))
    case.each = np.array([Fraction(w) * (label >= 0) for w, label in zip(case.weights, case.labels, strict=True)])
    case.least = min(case.least, np.count_nonzero(case.each) // 2 or 1)
    least, total, found = case.best()[0], case.each.sum(), case.optimal()
    assert found.bound <= found.cost
    assert Fraction(found.bound) <= least + total / 10**15
    own = sum(case.each[found.tree.predict(case.X) != case.labels], Fraction(0))
    assert least <= own <= Fraction(found.cost) * (1 + Fraction(1, 10**12)) + total / 10**15


def test_a_call_for_depth_two_ends_at_its_steps_with_a_bound_that_holds():
    ended = 0
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        X, labels = rng.normal(size=(60, 4)), rng.integers(0, 4, 60)
        marks = LoopCodes.of(Task.of(X, Reference.of(X, labels), budget=Budget(max_depth=2)))
        order, leaves, least = marks.order, int(rng.integers(3, 5)), int(rng.integers(1, 4))
        best, _, n_steps = _of_depth_two(marks, leaves, least, agreement.NONE)
        steps = int(rng.integers(order.size, n_steps + 1))
        cost, bound, done = _of_depth_two(marks, leaves, least, steps)
        assert bound <= best <= cost
        assert done < steps + 2 * order.size
        ended += done < n_steps
    assert ended > share(20)


def _of_depth_two(marks, leaves, least, steps):
    """Return the cost of the best tree that is found in so many steps, a bound, and the steps done."""
    cuts, work, search = np.full((3, 2), -1), np.zeros(1, dtype=np.int64), FewestMistakes(marks, least)
    cost, bound = agreement.solve(marks.order, *search.table, leaves, least, agreement.NONE, cuts, work, steps)
    assert marks.cost(search._tree(cuts), np.arange(len(marks.labels))) == cost
    return cost, bound, int(work[0])


def test_a_window_is_left_out_where_the_steps_cannot_do_for_it(monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    task = Task.of(X, Reference.of(X, labels), budget=Budget())
    tree, enough = tree_on_rows(rng, X, 3, 2), agreement.LOOKS * X.size
    assert resolved_by_agreement(tree, task, 2, max_steps=enough) != tree
    monkeypatch.setattr(FewestMistakes, "solve", None)
    assert resolved_by_agreement(tree, task, 2, max_steps=enough - 1) == tree


def test_order_of_rows_repeats_and_the_tree_to_begin_with_change_nothing():
    for seed in seeds(20):
        case = Small(seed, max_rows=30, depths=(2, 3))
        case.least, rng, n = 1, np.random.default_rng(seed), len(case.X)
        order, repeats = rng.permutation(n), rng.integers(1, 4, size=n)

        def grown(rows, weights, case=case):
            reference = Reference(case.labels[rows], case.reference.centers)
            return optimal(case.X[rows], reference, sample_weight=weights, objective="agreement", **case.limits).tree

        weights = case.weights
        assert grown(order, None if weights is None else weights[order]) == grown(np.arange(n), weights)
        assert grown(np.repeat(np.arange(n), repeats), None) == grown(np.arange(n), repeats)


def test_subtrees_are_solved_until_none_is_better():
    gained = 0
    for seed in seeds(40):
        case = Small(seed, max_rows=30)
        case.leaves, task = 2**case.depth, case.task
        n_leaves = int(np.random.default_rng(seed).integers(2, 6))
        tree = tree_on_rows(np.random.default_rng(seed), case.X, case.reference.n_clusters, n_leaves)
        if tree.depth > case.depth or not np.isneginf(tree.lower).all():
            continue
        better = resolved_by_agreement(tree, task, case.leaves)
        lost, before = case.lost(better), case.lost(tree)
        assert lost[0] <= before[0]
        assert lost[1] <= max(case.leaves, before[1])
        assert better.depth <= case.depth
        assert better == resolved_by_agreement(better, task, case.leaves)
        if case.depth <= 2 and better != tree:
            assert lost == case.best()[:2]
        gained += lost[0] < before[0]
    assert gained > share(5)


def test_ordinary_tables():
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=400)
    X = 1.5 * rng.normal(size=(5, 4))[labels] + rng.normal(size=(400, 4))
    reference, others = Reference.of(X, labels), []
    for depth in (2, 3):
        found = optimal(X, reference, max_depth=depth, objective="agreement")
        assert found.gap == 0
        assert found.cost == np.sum(found.tree.predict(X) != labels)
        others.append(found.cost)
        grown = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, labels)
        assert found.cost <= np.sum(grown.predict(X) != labels)
    stopped = optimal(X, reference, max_depth=5, objective="agreement", time_limit=0.3)
    assert 0 <= stopped.bound < stopped.cost <= others[1]
    large = optimal(X, reference, max_leaf_nodes=60, objective="agreement", time_limit=0.1)
    assert 0 <= large.bound < large.cost < others[1]
    fractions = optimal(X, reference, max_depth=2, objective="agreement", sample_weight=np.full(400, 0.1))
    assert fractions.cost == pytest.approx(0.1 * others[0])


def test_refused():
    X = np.array([[0.0], [1.0], [2.0]])
    reference = Reference.of(X, [0, 1, 1])
    for options, error, match in (
        ({}, ValueError, "give max_leaf_nodes or max_depth"),
        ({"max_depth": 0}, ValueError, "max_depth must be at least 1"),
        ({"max_depth": 2, "min_samples_leaf": 2}, DataError, "allows no cut of 3 rows"),
        ({"max_depth": 2, "forbidden": [1]}, DataError, "forbidden column 1, but X has 1 columns"),
        ({"max_depth": 2, "forbidden": ["a"]}, TypeError, "forbidden must be a whole number"),
        ({"max_depth": 2, "centers": [[0.0], [1.0]]}, ValueError, "has no use for centers"),
        ({"max_depth": 2, "objective": "cost"}, ValueError, "max_depth is a limit for objective 'agreement' alone"),
        ({"forbidden": [0], "objective": "cost"}, ValueError, "forbidden is a limit for objective 'agreement' alone"),
    ):
        with pytest.raises(error, match=match):
            optimal(X, reference, **{"objective": "agreement"} | options)
