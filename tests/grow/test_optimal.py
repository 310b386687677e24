"""Optimal trees: as cheap as the cheapest of all trees, and bounds that hold whenever the search stops."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from boxwood import Reference
from boxwood.errors import DataError
from boxwood.grow import greedy, imm, optimal
from boxwood.grow.exact import _search
from boxwood.grow.exact._search import Kept, LoopCosts, Search
from boxwood.grow.exact.optimal import optimal_of
from boxwood.grow.leaves.expand import expand_tree
from boxwood.loops.optimal import keep_inside
from boxwood.metrics import cost, partition_cost
from boxwood.reference import Task
from tests import naive
from tests.cases import make_case, make_vast, tree_on_rows
from tests.scale import law, seeds, share

KINDS = ("means", "centers", "mistakes")


class Small:
    """A small table, its number of leaves, and the cost of rows as one leaf; rounding is measured by `total`."""

    def __init__(self, seed, kind, max_rows=8):
        self.X, self.labels, weights = make_case(seed, max_rows=max_rows, max_columns=3, max_clusters=4)
        self.reference, self.leaves = Reference.of(self.X, self.labels), 1 + seed % 4
        self.weights = weights if weights is None or seed % 3 else weights * (np.arange(len(weights)) % 3)
        if self.weights is not None and not (self.weights * (self.labels >= 0)).any():
            self.weights = None
        self.kind, self.rows = kind, self.X.astype(float)
        self.each = np.where(self.labels >= 0, 1.0 if self.weights is None else self.weights, 0.0)
        kept = [r for r in range(len(self.X)) if self.each[r] > 0]
        self.total = max(naive.spread(self.rows, self.each, kept), self.cost(kept))

    def cost(self, rows):
        if self.kind == "means":
            return naive.spread(self.rows, self.each, rows)
        if self.kind == "mistakes":
            in_cluster = [sum(self.each[r] for r in rows if self.labels[r] == c) for c in set(self.labels)]
            return sum(self.each[r] for r in rows) - max(in_cluster)
        return min(sum(self.each[r] * ((self.rows[r] - c) ** 2).sum() for r in rows) for c in self.reference.centers)

    def least(self):
        return naive.optimal_cost(self.X, self.leaves, self.each, self.cost)

    def optimal(self, **options):
        options |= {"centers": self.reference.centers} if self.kind == "centers" else {}
        options |= {"objective": "mistakes"} if self.kind == "mistakes" else {}
        return optimal(self.X, self.reference, max_leaf_nodes=self.leaves, sample_weight=self.weights, **options)

    def stopped(self, max_boxes, incumbent=None):
        task = Task.of(self.X, self.reference, sample_weight=self.weights)
        options = {"own_means": self.kind == "means", "incumbent": incumbent}
        return optimal_of(task, self.leaves, max_boxes=max_boxes, **options)

    def kept_and_costs(self):
        task = Task.of(self.X, self.reference, sample_weight=self.weights, n_jobs=None)
        kept = Kept(task)
        if self.kind == "means":
            return kept, LoopCosts.of_means(task, kept)
        return kept, LoopCosts.of_clusters(task, kept, "mistakes" if self.kind == "mistakes" else "cost")

    def cost_of(self, tree):
        """Return the cost of a tree, leaf by leaf; its leaves have the best clusters."""
        reached = tree.apply(self.X)
        groups = ([r for r in np.flatnonzero(reached == leaf) if self.each[r] > 0] for leaf in range(tree.n_leaves))
        return sum(self.cost(rows) for rows in groups if rows)


@pytest.mark.parametrize("kind", KINDS)
def test_costs_as_much_as_the_cheapest_of_all_trees(kind):
    for seed in seeds(25):
        case = Small(seed, kind)
        found = case.optimal()
        assert found.cost == pytest.approx(case.least(), rel=1e-12, abs=1e-12 * case.total), f"seed {seed}"
        assert case.cost_of(found.tree) == pytest.approx(found.cost, rel=1e-12, abs=1e-12 * case.total)
        assert found.bound == found.cost
        assert found.gap == 0
        assert found.tree.n_leaves <= case.leaves


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_that_begins_without_a_tree_finds_the_cheapest(kind):
    for seed in seeds(80, first=1040):
        case = Small(seed, kind, max_rows=16)
        case.leaves = 3
        kept, costs = case.kept_and_costs()
        found = Search(costs.sums).solve(kept.order, 3)
        assert found.is_exact
        assert costs.in_units(found.cost) == pytest.approx(case.least(), rel=1e-12, abs=1e-12 * case.total), seed


@pytest.mark.parametrize("kind", KINDS[:2])
def test_bounds_hold_wherever_the_search_stops(kind):
    gaps = []
    for seed in seeds(20, least=10):
        case = Small(seed, kind)
        least = case.least()
        for max_boxes in (0, 0.5, 1, 3, 8, 20):
            found = case.stopped(max_boxes)
            assert found.bound <= least * (1 + 1e-12) + 1e-12 * case.total, f"seed {seed}, {max_boxes} boxes"
            assert found.cost >= least - 1e-12 * case.total
            assert case.cost_of(found.tree) == pytest.approx(found.cost, rel=1e-12, abs=1e-12 * case.total)
            assert found.gap == (1 - found.bound / found.cost if found.cost > 0 else 0)
            gaps.append(found.gap)
    assert {0 < gap < 1 for gap in gaps} == {True, False}
    assert 0.2 < np.mean([gap == 0 for gap in gaps]) < 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_whenever_time_is_up(kind, monkeypatch):
    """The clock goes on by one whenever it is read, and columns are looked at one by one."""
    clock = itertools.count()
    monkeypatch.setattr(_search, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(_search, "AT_ONCE", 1)
    monkeypatch.setattr(_search, "ONE_THREAD", 0)
    solved = 0
    for seed in seeds(25):
        case = Small(seed, kind)
        least = case.least()
        kept, costs = case.kept_and_costs()
        for ticks in (0, 1, 2, 3, 5, 9, 30):
            search = Search(costs.sums, deadline=next(clock) + ticks)
            found = search.solve(kept.order, case.leaves)
            assert costs.in_units(found.bound) <= least * (1 + 1e-12) + 1e-12 * case.total, f"seed {seed}"
            assert costs.in_units(found.cost) >= least * (1 - 1e-12) - 1e-12 * case.total
            assert search.price_cuts(kept.order[0], found.cuts).cost == found.cost
            solved += found.is_exact
    assert 25 < solved < 6 * 25


@pytest.mark.parametrize("kind", KINDS[:2])
def test_never_dearer_than_the_tree_to_begin_with(kind):
    for seed in seeds(40):
        case = Small(seed, kind, max_rows=20)
        start = tree_on_rows(np.random.default_rng(seed), case.X, case.reference.n_clusters, case.leaves)
        for max_boxes in (0, 10):
            found = case.stopped(max_boxes, incumbent=start)
            assert found.cost <= case.cost_of(start) * (1 + 1e-12) + 1e-12 * case.total


@pytest.mark.parametrize("kind", KINDS)
def test_order_of_rows_threads_and_repeats_change_nothing(kind):
    for seed in seeds(20):
        case = Small(seed, kind, max_rows=30)
        centers = {"centers": case.reference.centers} if kind == "centers" else {}
        options = centers | {"objective": "mistakes" if kind == "mistakes" else "cost", "max_leaf_nodes": 3}

        def grown(rows, weights, n_jobs=None, case=case, options=options):
            reference = Reference(case.labels[rows], case.reference.centers)
            return optimal(case.X[rows], reference, sample_weight=weights, n_jobs=n_jobs, **options).tree

        rng, n = np.random.default_rng(seed), len(case.X)
        order, repeats = rng.permutation(n), rng.integers(1, 4, size=n)
        assert grown(order, None, 3) == grown(np.arange(n), None)
        weights = case.weights
        assert grown(order, None if weights is None else weights[order]) == grown(np.arange(n), weights)
        assert grown(np.repeat(np.arange(n), repeats), None) == grown(np.arange(n), repeats)


def test_solves_ordinary_tables():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    X = 2.0 * rng.normal(size=(3, 6))[labels] + rng.normal(size=(300, 6))
    reference = Reference.of(X, labels)
    for leaves in (2, 3):
        found = optimal(X, reference, max_leaf_nodes=leaves)
        assert found.gap == 0
        assert found.cost <= min(cost(X, grow(X, reference)) for grow in (imm, greedy)) or leaves == 2
    assert found.cost == pytest.approx(cost(X, found.tree))
    few_mistakes = optimal(X, reference, max_leaf_nodes=3, objective="mistakes")
    others = [imm(X, reference), greedy(X, reference), found.tree]
    assert few_mistakes.cost == np.sum(few_mistakes.tree.predict(X) != labels)
    assert few_mistakes.cost <= min(np.sum(tree.predict(X) != labels) for tree in others)
    given = optimal(X, reference, max_leaf_nodes=5, centers=reference.centers)
    grown = expand_tree(None, Task.of(X, reference), 5, loss="cost")
    assert given.cost == pytest.approx(cost(X, given.tree, centers=reference.centers))
    assert given.cost <= cost(X, grown, centers=reference.centers) * (1 + 1e-12)


def test_thresholds_lie_midway_between_rows():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [7.0, 5.0], [9.0, 5.0]])
    tree = optimal(X, Reference.of(X, [0, 0, 1, 1]), max_leaf_nodes=2).tree
    assert tree.to_dict()["threshold"] == 4.0


def test_leaves_are_named_so_that_most_hold_rows_of_their_cluster_and_then_most_rows_agree():
    for seed in seeds(40):
        X, labels, _ = make_case(seed, max_rows=20, max_columns=2, max_clusters=4)
        reference = Reference.of(X, labels)
        k = reference.n_clusters
        tree = optimal(X, reference, max_leaf_nodes=k).tree
        reached, kept = tree.apply(X), labels >= 0
        of_leaf = [np.bincount(labels[kept & (reached == leaf)], minlength=k) for leaf in range(tree.n_leaves)]

        def value(names, of_leaf=of_leaf):
            held = [counts[name] for counts, name in zip(of_leaf, names, strict=True)]
            return sum(count > 0 for count in held), sum(held)

        names = tree.leaf_clusters.tolist()
        assert len(set(names)) == tree.n_leaves
        assert value(names) == max(value(other) for other in itertools.permutations(range(k), tree.n_leaves))


def test_more_leaves_than_clusters_have_the_commonest_and_bound_the_pooled_cost():
    for seed in seeds(30):
        X, labels, _ = make_case(seed, max_rows=20, max_columns=2, max_clusters=2)
        reference = Reference.of(X, labels)
        found = optimal(X, reference, max_leaf_nodes=4)
        if found.tree.n_leaves > reference.n_clusters:
            reached, kept = found.tree.apply(X), labels >= 0
            for leaf, cluster in enumerate(found.tree.leaf_clusters):
                assert cluster == np.bincount(labels[kept & (reached == leaf)]).argmax()
            pooled = partition_cost(X, np.where(kept, found.tree.predict(X), -1))
            assert found.bound <= pooled * (1 + 1e-9) + 1e-12 * partition_cost(X, np.where(kept, 0, -1))


def test_the_bound_by_components_is_below_every_partition():
    tight = 0
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(3, 8)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
        X = rng.normal(size=(n, d)) * np.exp(3 * rng.normal(size=d))
        task = Task.of(X, Reference.of(X, np.zeros(n, dtype=int)))
        costs = LoopCosts.of_means(task, Kept(task))
        least, bound = naive.best_kmeans_cost(X, k), costs.in_units(costs.bound_of_means(k))
        assert bound <= least
        tight += bound > 0.5 * least
    assert tight > share(5)


def test_costs_of_a_sweep_equal_those_of_rows():
    for seed in seeds(25):
        for kind in KINDS:
            case = Small(seed, kind, max_rows=12)
            kept, costs = case.kept_and_costs()
            order, codes = kept.order, kept.codes
            first, second, places = (np.zeros(order.shape, dtype=np.int64) for _ in range(3))
            best, column, code = costs.sums.sweep(order, 0, len(order), (first, second, places))
            tried = []
            for j in range(len(order)):
                for i, place in enumerate(places[j][places[j] >= 0]):
                    inside = codes[j] <= place
                    side = np.empty((len(order), np.count_nonzero(inside)), dtype=order.dtype)
                    keep_inside(order, inside, side)
                    assert all(set(part) == set(np.flatnonzero(inside)) for part in side)
                    assert all((np.diff(codes[row, part]) >= 0).all() for row, part in enumerate(side))
                    for rows, found in ((inside, first[j, i]), (~inside, second[j, i])):
                        numbers = kept.rows[rows].tolist()
                        expected = case.cost(numbers) - sum(case.cost([r]) for r in numbers)  # of each row by itself
                        found = costs.in_units(int(found)) - costs.in_units(0)
                        assert found == pytest.approx(expected, rel=1e-11, abs=1e-12 * case.total)
                    tried.append((first[j, i] + second[j, i], j, place))
            if tried:
                assert (best, column, code) == min(tried)
            assert (column < 0) == (not tried)


def test_ends_when_time_is_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30))
    reference = Reference.of(X, rng.integers(6, size=4000))
    found = optimal(X, reference, max_leaf_nodes=6, time_limit=0.2)
    assert 0 < found.bound < found.cost  # without a limit it would take hours, and both would be equal
    assert found.cost == pytest.approx(partition_cost(X, found.tree.apply(X)))
    at_once = optimal(X, reference, max_leaf_nodes=6, time_limit=0)
    assert at_once.tree.n_leaves == 1
    assert 0 < at_once.gap < 1


def test_huge_and_tiny_numbers():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    labels = [0, 0, 1, 1]
    for unit in (1e150, 1e-150, 1e-300):
        found = optimal(X * unit, Reference.of(X * unit, labels), max_leaf_nodes=2)
        assert found.tree.predict(X * unit).tolist() == labels
        assert found.cost == pytest.approx(unit * unit)
    with pytest.raises(DataError, match="beyond the largest float"):
        optimal(X * 1e200, Reference(np.array(labels), np.array([[0.0], [1e201]])), max_leaf_nodes=2)
    weights = np.full(4, 1e300)
    assert optimal(X, Reference.of(X, labels), max_leaf_nodes=2, sample_weight=weights).cost == pytest.approx(1e300)


def test_refused():
    X = np.array([[0.0], [1.0], [2.0]])
    reference = Reference.of(X, [0, 1, 1])
    for options, error, match in (
        ({"max_leaf_nodes": 0}, ValueError, "max_leaf_nodes must be at least 1"),
        ({"objective": "price"}, ValueError, "objective must be one of 'cost', 'agreement', 'mistakes'"),
        ({"objective": "mistakes", "centers": [[0.0], [1.0]]}, ValueError, "has no use for centers"),
        ({"centers": [[0.0]]}, DataError, "centers has 1 rows, but the reference has 2 clusters"),
        ({"centers": [[0.0, 1.0]]}, DataError, r"centers must be of shape \(k, 1\)"),
        ({"centers": [[0.0], [np.nan]]}, DataError, "centers must be finite"),
        ({"time_limit": "1"}, TypeError, "time_limit must be a number"),
        ({"time_limit": float("nan")}, ValueError, "time_limit must be at least 0"),
    ):
        with pytest.raises(error, match=match):
            optimal(X, reference, **{"max_leaf_nodes": 2} | options)


def least_of_vast(X, labels, weights, leaves, centers):
    """Return the cost of the cheapest of all trees, without rounding."""
    each = np.ones(len(X)) if weights is None else weights
    if centers is None:
        return naive.optimal_cost(X, leaves, each, lambda rows: naive.exact_spread(X, each, rows))
    return naive.optimal_cost(
        X, leaves, each, lambda rows: min(naive.exact_distances(X, each, rows, c) for c in centers)
    )


@law(24)
def test_bounds_hold_where_numbers_or_weights_dwarf_others(seed):
    X, labels, weights = make_vast(seed)
    reference, leaves = Reference.of(X, labels, sample_weight=weights), 2 + seed % 2
    for centers in (None, reference.centers):
        least = least_of_vast(X, labels, weights, leaves, centers)
        found = optimal(X, reference, max_leaf_nodes=leaves, centers=centers, sample_weight=weights)
        almost = Fraction(1, 10**9)
        assert Fraction(found.bound) <= least * (1 + almost)
        assert found.bound <= found.cost
        if weights is None or weights.max() < 10 or centers is not None:
            assert Fraction(found.cost) <= least * (1 + almost)
            assert found.gap == 0


def test_a_code_for_missing_does_not_hide_the_cheapest_tree():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), 2 * rng.normal(size=400), rng.normal(size=400)])
    X[rng.choice(400, size=4, replace=False), 0] = 999999999
    found = optimal(X, Reference.of(X, rng.integers(3, size=400)), max_leaf_nodes=3)
    is_code = X[:, 0] > 1e6
    rest = optimal(X[~is_code], Reference.of(X[~is_code], rng.integers(3, size=396)), max_leaf_nodes=2)
    apart = rest.cost + partition_cost(X[is_code], np.zeros(4))
    assert found.cost <= apart * (1 + 1e-9)
    assert found.gap == 0
