"""Expansion: equal to enumeration, exact under permutation, repetition, scale and threads; the papers' instances."""

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from boxwood.errors import DataError, StoppedEarlyWarning
from boxwood.grow import cart, expand
from boxwood.grow.leaves import _cuts
from boxwood.grow.leaves._cuts import COLUMNS, NO_CODES
from boxwood.grow.shared.costs import PartitionedOrder, integer_costs, make_problem
from boxwood.loops.expand import CODES, best_by_majority, best_thresholds, cheapest_interval, cheapest_threshold
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case, tree_on_rows
from tests.scale import law, seeds, share

SMALLEST = np.finfo(float).smallest_subnormal
OBJECTIVES = ("cost", "mistakes")
CUTS = ("threshold", "interval")


def expanded(*args, **kwargs) -> ThresholdTree:
    """`expand`, where stopping early is all right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        return expand(*args, **kwargs)


def problem(seed, *, max_rows):
    """Return rows, reference and weights: a generated case, or small whole numbers, so that many cuts tie."""
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, max_rows=max_rows)
    if seed % 3 == 0:
        n, d, k = int(rng.integers(2, max_rows + 1)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
        labels, centers = rng.integers(-1, k, size=n), rng.integers(0, 6, size=(k, d)).astype(float)
        labels[0] = 0
        X = (
            centers[labels] + rng.integers(-1, 2, size=(n, d))
            if seed % 2
            else rng.integers(0, 6, size=(n, d)).astype(float)
        )
        weights = rng.integers(0, 3, size=n) + (np.arange(n) == 0.0) if seed % 4 < 2 else None
        return X, Reference(labels, centers), weights
    reference = Reference.of(X, labels, sample_weight=weights)
    if seed % 5 == 0:  # centres that are no means, one of them without rows
        k, d = reference.n_clusters + 1, X.shape[1]
        reference = Reference(reference.labels, np.asarray(X[rng.integers(len(X), size=k)], dtype=float).reshape(k, d))
    return X, reference, weights


def surrogate_cost(tree, X, reference, weights, objective) -> float:
    kept, predicted = reference.kept, tree.predict(X)
    if objective == "mistakes":
        each = (predicted != reference.labels).astype(float)
    else:
        each = ((np.asarray(X, dtype=float) - reference.centers[predicted]) ** 2).sum(axis=1)
    return float((each * (1 if weights is None else weights))[kept].sum())


def price(tree, X, reference) -> float:
    """Return the cost of the tree, each leaf around its own mean, over the cost of the reference."""
    leaves = tree.apply(X)
    means = np.array([X[leaves == leaf].mean(axis=0) for leaf in range(tree.n_leaves)])
    return float(((X - means[leaves]) ** 2).sum() / ((X - reference.centers[reference.labels]) ** 2).sum())


# --------------------------------------------------------------------------------------------------- the twin


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("cuts", "max_rows"), [("threshold", 40), ("interval", 24)])
def test_equals_enumeration(objective, cuts, max_rows):
    for seed in seeds(50):
        X, reference, weights = problem(seed, max_rows=max_rows)
        rng = np.random.default_rng(seed)
        start = tree_on_rows(rng, X, reference.n_clusters, int(rng.integers(1, 5)), 0.5) if rng.random() < 0.5 else None
        m = (1 if start is None else start.n_leaves) + int(rng.integers(0, 9))
        options = {"max_leaf_nodes": m, "objective": objective, "cuts": cuts}
        nested = None if start is None else start.to_dict()
        expected = naive.expand(nested, X, reference.labels, reference.centers, weights=weights, **options)
        tree = expanded(start, X, reference, sample_weight=weights, **options)
        assert tree == ThresholdTree.from_dict(_unnumbered(expected)), seed


def _unnumbered(d):
    return {key: _unnumbered(value) if isinstance(value, dict) else value for key, value in d.items() if key != "leaf"}


def test_sweeps_equal_enumeration_where_nearly_all_costs_tie():
    for seed in seeds(1500):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(1, 10)), int(rng.integers(1, 5))
        ordered = np.sort(rng.integers(0, rng.integers(1, 9), size=n)).astype(float)
        order = rng.permutation(n)
        costs = rng.integers(0, 3, size=(n, k))
        last = [p for p in range(n - 1) if ordered[p] < ordered[p + 1]]  # last place of each value but the highest
        sides = [(order[: p + 1], order[p + 1 :], p) for p in last]
        assert cheapest_threshold(ordered, order, costs, costs.sum(axis=0))[1:] == _first_of_the_cheapest(costs, sides)
        runs = [(p + 1, q) for p in last for q in last if p < q]
        sides = [(order[p : q + 1], np.r_[order[:p], order[q + 1 :]], p, q) for p, q in runs]
        assert cheapest_interval(ordered, order, costs, costs.sum(axis=0), 0, costs.shape[1])[
            1:
        ] == _first_of_the_cheapest(costs, sides, 2)


def test_searches_in_a_parted_order_equal_the_sweeps():
    """Also where rows share a value, blocks hold ties, a node is only some places, and bins are added up before."""
    for seed in seeds(150):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(2, 200)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
        X = rng.integers(0, rng.choice([3, 30, 10**6]), size=(n, d)).astype(float)
        labels = rng.integers(k, size=n)
        order = PartitionedOrder(Task.of(X, Reference(labels, rng.normal(size=(k, d)))))
        codes = order.bins(int(rng.choice([4, CODES])))
        order.is_left[:] = rng.random(n) < 0.7
        order.finish_split(order.root)
        rows = np.flatnonzero(order.is_left)
        mass, number = rng.integers(1, 4, size=n), np.zeros(n, dtype=np.int64)
        number[rows] = np.arange(len(rows))
        for costs in (rng.integers(0, 9, size=(n, k)), np.where(labels[:, None] == np.arange(k), 0, mass[:, None])):
            costs, best = costs[rows], []
            for j in range(d):
                by_value = np.argsort(X[rows, j], kind="stable")
                cost, rank, *clusters = cheapest_threshold(X[rows[by_value], j], by_value, costs, costs.sum(axis=0))
                best.append((cost, j if rank >= 0 else -1, rank + 1 if rank >= 0 else -1, *clusters))
            node = order.entries, 0, d, 0, len(rows)
            for bins in (NO_CODES, codes):
                found = best_thresholds(node[0], bins, rows, *node[1:], number, costs, costs.sum(axis=0))
                assert found == min(best), seed
        total = np.bincount(labels[rows], mass[rows], minlength=k).astype(np.int64)
        assert best_by_majority(*node, labels, mass, total) == min(best), seed
        total, ones = np.bincount(labels[rows], minlength=k), np.ones_like(mass)
        assert best_by_majority(*node, labels, ones[:0], total) == best_by_majority(*node, labels, ones, total)


def test_bins_of_large_nodes_change_no_tree(monkeypatch):
    for seed in seeds(60):
        X, reference, weights = problem(seed, max_rows=60)
        options = {"max_leaf_nodes": reference.n_clusters + 4, "sample_weight": weights}
        without = expanded(None, X, reference, **options)
        with monkeypatch.context() as patch:
            patch.setattr(_cuts, "LARGE", 2)
            assert expanded(None, X, reference, **options) == without, seed


def test_rows_are_parted_by_the_leaves_of_a_tree_at_once():
    """In each leaf they stay in the order of each column, with a mark where the value is that of the one before."""
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(1, 60)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
        X = rng.integers(0, rng.choice([2, 5, 10**6]), size=(n, d)).astype(float)
        labels = rng.integers(-1, 2, size=n)
        labels[0] = 0
        order, leaves = (
            PartitionedOrder(Task.of(X, Reference(labels, rng.normal(size=(2, d))))),
            rng.integers(k, size=n),
        )
        for leaf, places in enumerate(order.partition_by_leaf(leaves, k)):
            expected = np.flatnonzero((leaves == leaf) & (labels >= 0)).tolist()
            for j in range(d):
                entries = order.entries[j, places.start : places.stop]
                rows = (entries >> 1).tolist()
                assert sorted(rows) == expected
                values = X[rows, j]
                assert (np.diff(values) >= 0).all()
                is_tie = np.diff(values, prepend=-1) == 0
                assert (entries & 1).tolist() == is_tie.tolist()


def _first_of_the_cheapest(costs, sides, n_places=1):
    """Return places and clusters of the cheapest pair of sides, the lowest among equals."""
    k = costs.shape[1]
    found = [
        (costs[inside, a].sum() + costs[outside, b].sum(), *places, a, b)
        for inside, outside, *places in sides
        for a in range(k)
        for b in range(k)
    ]
    return min(found)[1:] if found else (-1,) * (n_places + 2)


def few_values(seed, *, max_rows):
    """Return rows of two or three values in each column and random labels, so that often no single cut gains."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(3, max_rows)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    X = rng.integers(0, int(rng.integers(2, 5)), size=(n, d)).astype(float)
    labels = rng.integers(-1 if seed % 5 == 0 else 0, k, size=n)
    labels[0] = 0
    if seed % 4 == 0:  # opposite corners
        labels = ((X[:, 0] > X[:, 0].mean()) ^ (X[:, -1] > 1)).astype(int) if d > 1 else labels
    weights = [None, rng.integers(0, 3, size=n) + (np.arange(n) == 0.0), rng.random(n) + 0.1][seed % 3]
    return X, Reference(labels, rng.integers(0, 4, size=(k, d)).astype(float)), weights


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("cuts", "max_rows"), [("threshold", 13), ("interval", 9)])
def test_looking_ahead_equals_enumeration_of_all_pairs(objective, cuts, max_rows):
    used = 0
    for seed in seeds(60):
        X, reference, weights = few_values(seed, max_rows=max_rows)
        rng = np.random.default_rng(seed)
        start = tree_on_rows(rng, X, reference.n_clusters, int(rng.integers(1, 3)), 0.5) if seed % 7 == 0 else None
        options = {"max_leaf_nodes": (1 if start is None else start.n_leaves) + int(rng.integers(1, 6))}
        options |= {"objective": objective, "cuts": cuts, "tol": (0.0, 0.0, 0.05, 0.2)[seed // 4 % 4]}
        nested = None if start is None else start.to_dict()
        tree = expanded(start, X, reference, look_ahead=True, sample_weight=weights, **options)
        twin = (nested, X, reference.labels, reference.centers)
        expected = naive.expand(*twin, look_ahead=True, weights=weights, **options)
        assert tree == ThresholdTree.from_dict(_unnumbered(expected)), seed
        shorter = expanded(start, X, reference, sample_weight=weights, **options)
        assert shorter == ThresholdTree.from_dict(_unnumbered(naive.expand(*twin, weights=weights, **options))), seed
        used += tree != shorter
    assert used > share(2) or objective == "cost"  # the rows nearest to a centre seldom need two cuts


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("cuts", CUTS)
@law(60)
def test_neither_cut_of_a_pair_can_move_and_lower_the_cost(objective, cuts, seed, monkeypatch):
    monkeypatch.setattr(_cuts, "ROUNDS", 100)  # until nothing moves
    rng, two_sided = np.random.default_rng(seed), cuts == "interval"
    n, d, k = rng.integers([6, 1, 2], [25, 4, 5])
    X, labels = rng.integers(0, 9, size=(n, d)).astype(float), rng.integers(k, size=n)
    X[:3, 0] = 0, 4, 8
    each = make_problem(Task.of(X, Reference(labels, rng.integers(0, 9, size=(k, d)).astype(float))), objective)
    costs, scale = integer_costs(each, np.arange(n))
    begin = rng.choice([(4.0, 4.0), (4.0, 7.5), (0.5, 4.0)] if two_sided else [(-np.inf, 0.0), (-np.inf, 4.0)])
    for n_leaves in (2, 3):
        pair = _cuts.Pair(Fraction(0), n_leaves, two_sided, 0, *begin.tolist(), scale)
        first, *seconds = _cuts.cuts_of_pair(each, np.arange(n), pair, two_sided)
        is_first = _is_in(X, first)
        sides = (is_first, seconds[0], first.first), (~is_first, seconds[1], first.second)
        of_rows = [_costs_of_leaves(X, costs, cut, cluster) for _, cut, cluster in sides]
        cost = np.where(is_first, *of_rows).sum()
        moved = (side for side, is_interval in _sides(X[:, 0]) if is_interval == two_sided)
        assert cost == min(np.where(side, *of_rows).sum() for side in moved)
        whole, cut = zip(*(_best_leaf_and_cut(X[side], costs[side], two_sided) for side, _, _ in sides), strict=True)
        assert cost == (sum(cut) if n_leaves == 3 else min(cut[0] + whole[1], whole[0] + cut[1]))


def _is_in(X, cut):
    return (cut.lower <= X[:, cut.feature]) & (X[:, cut.feature] <= cut.upper)


def _costs_of_leaves(X, costs, cut, cluster):
    """Return the cost of each row on one side of a first cut."""
    return costs[:, cluster] if cut is None else np.where(_is_in(X, cut), costs[:, cut.first], costs[:, cut.second])


def _sides(values):
    """Yield which rows are inside of each cut of a column, and whether it is an interval."""
    distinct = np.unique(values)
    for i, a in enumerate(distinct):
        for b in distinct[i:-1]:
            yield (a <= values) & (values <= b), i > 0


def _best_leaf_and_cut(X, costs, two_sided):
    """Return the lowest cost of rows in one leaf, and in two or one."""
    whole = costs.sum(axis=0).min()
    in_two = (
        costs[side].sum(axis=0).min() + costs[~side].sum(axis=0).min()
        for column in X.T
        for side, is_interval in _sides(column)
        if two_sided or not is_interval
    )
    return whole, min([whole, *in_two])


# ------------------------------------------------------------------------------------------------- properties


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("cuts", CUTS)
def test_more_leaves_never_cost_more_and_trees_are_nested(objective, cuts):
    for seed in seeds(20):
        X, reference, weights = problem(seed, max_rows=40)
        options = {"objective": objective, "cuts": cuts, "sample_weight": weights}
        smaller = expanded(None, X, reference, max_leaf_nodes=1, **options)
        for m in range(2, 9):
            tree = expanded(None, X, reference, max_leaf_nodes=m, **options)
            before, after = (surrogate_cost(t, X, reference, weights, objective) for t in (smaller, tree))
            assert after <= before * (1 + 1e-12)
            assert after < before or tree == smaller
            assert len(set(zip(tree.apply(X), smaller.apply(X), strict=True))) == len(set(tree.apply(X)))
            smaller = tree


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("cuts", CUTS)
def test_order_of_rows_repetition_layout_and_scale_change_nothing(objective, cuts):
    for seed in seeds(25):
        X, reference, weights = problem(seed, max_rows=40)
        rng = np.random.default_rng(seed)
        options = {"max_leaf_nodes": 8, "objective": objective, "cuts": cuts}
        tree = expanded(None, X, reference, sample_weight=weights, **options)

        p = rng.permutation(len(X))
        permuted = Reference(reference.labels[p], reference.centers)
        assert tree == expanded(None, X[p], permuted, sample_weight=None if weights is None else weights[p], **options)
        assert tree == expanded(None, X.astype(float), reference, sample_weight=weights, **options)

        times = rng.integers(0, 4, size=len(X))
        times[np.flatnonzero(reference.kept)[0]] = 1
        repeated = Reference(np.repeat(reference.labels, times), reference.centers)
        weighted = expanded(None, X, reference, sample_weight=times, **options)
        assert weighted == expanded(None, np.repeat(X, times, axis=0), repeated, **options)

        factor = 2.0 ** int(rng.integers(-900, 950))
        scaled = Reference(reference.labels, reference.centers * factor)
        tree_of_scaled = expanded(None, X.astype(float) * factor, scaled, sample_weight=weights, **options)
        assert np.array_equal(tree.predict(X), tree_of_scaled.predict(X.astype(float) * factor))
        assert np.array_equal(tree.second, tree_of_scaled.second)


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))  # more than a block of rows, and than work for one thread
    reference = Reference.of(X, rng.integers(0, 5, size=len(X)))
    for objective in OBJECTIVES:
        options = {"max_leaf_nodes": 12, "objective": objective, "sample_weight": rng.random(len(X))}
        trees = [expanded(None, X, reference, n_jobs=n_jobs, **options) for n_jobs in (1, 2, 5)]
        assert trees[0].n_leaves > 2
        assert trees[0] == trees[1] == trees[2]


def test_thresholds_are_midpoints_between_values_at_the_node():
    for seed in seeds(200):
        X, reference, weights = problem(seed, max_rows=40)
        kept = reference.kept if weights is None else reference.kept & (weights > 0)
        for cuts in CUTS:
            tree = expanded(None, X, reference, max_leaf_nodes=9, cuts=cuts, sample_weight=weights)
            assert tree == tree.recut(X[kept], X[kept])


def test_given_leaves_that_are_not_split_keep_their_cluster():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    reference = Reference.of(X, [0, 0, 1, 2])
    cut = {"feature": 0, "threshold": 5.0, "left": {"cluster": 2}, "right": {"cluster": 0}}
    start = ThresholdTree.from_dict(cut)
    assert expand(start, X, reference, max_leaf_nodes=2) == start
    assert expand(start, X, reference, max_leaf_nodes=3).predict(X).tolist() == [2, 2, 1, 2]


def test_rows_left_out_do_not_matter():
    for seed in seeds(100):
        X, reference, _ = problem(seed, max_rows=40)
        kept = reference.kept
        alone = Reference(reference.labels[kept], reference.centers)
        wild = np.where(kept[:, None], X.astype(float), 1e300)
        weights = np.where(kept, 1.0, 1e300)
        tree = expanded(None, X[kept], alone, max_leaf_nodes=6)
        assert tree == expanded(None, wild, reference, max_leaf_nodes=6, sample_weight=weights)
        every_row = Reference(np.maximum(reference.labels, 0), reference.centers)
        assert tree == expanded(None, wild, every_row, max_leaf_nodes=6, sample_weight=kept.astype(float))


@pytest.mark.crossed
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("cuts", CUTS)
def test_looking_ahead_never_costs_more_and_depends_on_nothing_else(objective, cuts):
    used = 0
    for seed in seeds(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))  # more values than bins
        labels = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
        reference = Reference.of(X, labels)
        options = {"objective": objective, "cuts": cuts, "look_ahead": True, "tol": 0.15}
        trees = [expanded(None, X, reference, max_leaf_nodes=m, **options) for m in range(1, 7)]
        costs = [surrogate_cost(tree, X, reference, None, objective) for tree in trees]
        assert all(after <= before * (1 + 1e-12) for before, after in pairwise(costs))
        used += trees[-1] != expanded(None, X, reference, max_leaf_nodes=6, **{**options, "look_ahead": False})

        p, times = rng.permutation(60), rng.integers(1, 4, size=60)
        permuted = Reference(labels[p], reference.centers)
        repeated = Reference(np.repeat(labels, times), reference.centers)
        assert trees[-1] == expanded(None, X[p], permuted, max_leaf_nodes=6, n_jobs=1, **options)
        weighted = expanded(None, X, reference, max_leaf_nodes=6, sample_weight=times, **options)
        assert weighted == expanded(None, np.repeat(X, times, axis=0), repeated, max_leaf_nodes=6, **options)
    assert used > share(6 if cuts == "threshold" else 0) or objective == "cost"


def test_a_cut_must_gain_more_than_the_tolerance():
    X = np.arange(10.0)[:, None]
    reference = Reference.of(X, [0, 0, 0, 0, 0, 0, 1, 1, 0, 1])  # 3 mistakes at the root
    options = {"objective": "mistakes", "max_leaf_nodes": 4}
    for tol, n_leaves in [(0.0, 4), (0.33, 4), (0.34, 2), (0.66, 2), (0.67, 1)]:
        # the first cut saves two of them; the last one needs two more cuts, which save half a mistake each
        tree = expanded(None, X, reference, look_ahead=False, tol=tol, **options)
        ahead = expanded(None, X, reference, look_ahead=True, tol=tol, **options)
        assert (tree.n_leaves, ahead.n_leaves) == (min(n_leaves, 2), 4 if tol == 0 else min(n_leaves, 2)), tol
    start = expanded(None, X, reference, max_leaf_nodes=2, objective="mistakes")
    assert expanded(start, X, reference, tol=0.49, look_ahead=True, **options).n_leaves == 4  # of one mistake
    assert expanded(start, X, reference, tol=0.5, look_ahead=True, **options).n_leaves == 2


def test_opposite_corners_get_their_leaves():
    rng = np.random.default_rng(0)
    X = rng.permuted(np.tile(np.arange(200.0), (8, 1)), axis=1).T
    labels = ((X[:, 2] > 98.5) ^ (X[:, 5] > 101.5)).astype(int)
    for cuts in CUTS:
        options = {"objective": "mistakes", "cuts": cuts, "max_leaf_nodes": 4, "tol": 0.2}
        with pytest.warns(StoppedEarlyWarning, match=r"1 of 4 leaves: no single further cut .* by more than 0\.2 of"):
            expand(None, X, Reference.of(X, labels), **options)
        tree = expand(None, X, Reference.of(X, labels), look_ahead=True, **options)
        assert tree.n_leaves == 4
        assert tree.predict(X).tolist() == labels.tolist()


def test_no_pair_is_looked_for_where_none_has_room(monkeypatch):
    X, labels = np.tile([0.0, 1.0], (20, 1)), np.arange(20) % 2
    looked_at, options = [], {"objective": "mistakes", "look_ahead": True}
    monkeypatch.setattr("boxwood.grow.leaves.expand.best_pairs", lambda *args: looked_at.append(args) or [])
    for n_leaves, n_looks in ((2, 0), (3, 1)):
        expanded(None, X, Reference.of(X, labels), max_leaf_nodes=n_leaves, **options)
        assert len(looked_at) == n_looks


def test_columns_that_are_looked_at_are_few():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), 4, axis=0)
    labels = np.repeat([0, 0, 1, 1], 4)
    noise = np.tile(np.arange(4.0), 4)[:, None].repeat(COLUMNS, axis=1)
    options = {"objective": "mistakes", "max_leaf_nodes": 4, "look_ahead": True}
    early, late = np.hstack([X, noise]), np.hstack([noise, X])  # ties go to the lowest columns
    assert expand(None, early, Reference.of(early, labels), **options).n_leaves == 4
    with pytest.warns(StoppedEarlyWarning, match=r"no further cut, alone or with a second one, lowers "):
        assert expand(None, late, Reference.of(late, labels), **options).n_leaves == 1


# ------------------------------------------------------------------------------------------- instances of the papers


def grid_and_outlier(v, m=50):
    """T-14: a clustering that Lloyd's algorithm would keep, with one far point."""
    A, B = [(1.0, -3.0), (-3.0, 1.0)] * m, [(-1.0, 3.0), (3.0, -1.0)] * m
    labels = [0] * (2 * m) + [1] * (2 * m) + [2]
    return np.array([*A, *B, (0.0, v)]), Reference(labels, [(-1.0, -1.0), (1.0, 1.0), (0.0, v)])


@pytest.mark.parametrize(("v", "expected"), [(10.0, 0.5507), (100.0, 6.5656), (1000.0, 618.08)])
def test_mistakes_and_purity_alone_have_unbounded_price(v, expected):
    # Remark 2 of Fleissner, Vankadara, Ghoshdastidar (T-14)
    X, reference = grid_and_outlier(v)
    tree = expand(None, X, reference, max_leaf_nodes=3, objective="mistakes")
    assert price(tree, X, reference) == pytest.approx(expected, rel=1e-4)
    assert price(cart(X, reference.labels, max_leaf_nodes=3), X, reference) == pytest.approx(expected, rel=1e-4)
    inner = {"feature": 0, "threshold": -2.0, "left": {"cluster": 0}, "right": {"cluster": 1}}
    bounded = ThresholdTree.from_dict({"feature": 1, "threshold": 4.0, "left": inner, "right": {"cluster": 2}})
    assert price(bounded, X, reference) == pytest.approx(0.8333, abs=5e-5)


@pytest.mark.parametrize(("e", "expected"), [(0.1, 9.6667), (0.05, 40.7778), (0.01, 1089.6667)])
def test_from_the_root_the_price_is_unbounded(e, expected):
    # Theorem 6 of Fleissner, Vankadara, Ghoshdastidar (T-16): the first cut splits the middle cluster
    labels = np.repeat([0, 1, 2], 2)
    reference = Reference(labels, [[-1.0], [0.0], [1.0]])
    X = reference.centers[labels] + np.tile([-e, e], 3)[:, None]
    first = expand(None, X, reference, max_leaf_nodes=2)
    assert first.upper[0] == 0
    tree = expand(first, X, reference, max_leaf_nodes=3)
    assert tree == expand(None, X, reference, max_leaf_nodes=3)
    assert price(tree, X, reference) == pytest.approx(expected, abs=5e-5)
    assert price(tree, X, reference) == pytest.approx(7 / 9 - 2 / (9 * e) + 1 / (9 * e**2))
    at_centers = surrogate_cost(tree, X, reference, None, "cost") / (6 * e**2)
    assert at_centers == pytest.approx(5 / 6 + (1 - e) ** 2 / (6 * e**2))


def test_an_interval_finds_what_no_threshold_does():
    X = np.arange(9.0)[:, None]
    reference = Reference.of(X, [0, 0, 0, 1, 1, 1, 0, 0, 0])
    tree = expand(None, X, reference, max_leaf_nodes=2, objective="mistakes", cuts="interval")
    assert tree.to_dict()["interval"] == [2.5, 5.5]
    assert tree.predict(X).tolist() == reference.labels.tolist()


# ------------------------------------------------------------------------------------------------- edge cases


def test_stops_where_nothing_gains_and_says_so():
    xor = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    reference = Reference.of(xor, [0, 0, 1, 1])
    for cuts in CUTS:
        with pytest.warns(
            StoppedEarlyWarning, match="stopped at 1 of 4 leaves: no single further cut lowers the number of mis"
        ):
            tree = expand(None, xor, reference, max_leaf_nodes=4, objective="mistakes", cuts=cuts)
        assert tree.n_leaves == 1
        # a pair of cuts would lower it, but needs three leaves
        with pytest.warns(StoppedEarlyWarning, match="1 of 2 leaves: no single further cut lowers the number of mis"):
            expand(None, xor, reference, max_leaf_nodes=2, objective="mistakes", cuts=cuts, look_ahead=True)
    with pytest.warns(StoppedEarlyWarning, match="stopped at 1 of 2 leaves: no single further cut lowers the cost"):
        expand(None, [[3.0, 3.0]], Reference([0], [[0.0, 0.0]]), max_leaf_nodes=2)
    with pytest.warns(StoppedEarlyWarning):
        expand(None, [[3.0]] * 5, Reference([0, 1, 0, 1, 0], [[0.0], [9.0]]), max_leaf_nodes=2)


def test_zeros_of_both_signs_stay_together():
    X = np.array([[-0.0], [0.0], [-0.0], [0.0], [SMALLEST], [SMALLEST]])
    reference = Reference([0, 0, 0, 0, 1, 1], [[0.0], [1.0]])
    tree = expand(None, X, reference, max_leaf_nodes=2, objective="mistakes")
    assert tree.upper[0] == 0
    assert tree.predict(X).tolist() == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e12, 1e300, 1.7e308])
def test_sizes_near_the_ends_of_the_range(size):
    X = np.array([[-1.0, 1.0], [-0.75, 1.0], [0.75, 1.0], [1.0, 1.0]]) * size
    centers = np.array([[-0.875, 1.0], [0.875, 1.0]]) * size
    tree = expand(None, X, Reference([0, 0, 1, 1], centers), max_leaf_nodes=2)
    assert tree.predict(X).tolist() == [0, 0, 1, 1]
    assert tree.upper[0] == 0
    for weight in (5e-324, 1e-300, 1e300):
        weights = np.full(4, weight)
        assert tree == expand(None, X, Reference([0, 0, 1, 1], centers), max_leaf_nodes=2, sample_weight=weights)


def test_a_huge_constant_column_does_not_hide_a_small_one():
    X = np.array([[1e300, 0.0], [1e300, 1.0], [1e300, 8.0], [1e300, 9.0]])
    tree = expand(None, X, Reference.of(X, [0, 0, 1, 1]), max_leaf_nodes=2)
    assert (tree.feature[0], tree.upper[0]) == (1, 4.5)


def test_bad_parameters_and_data():
    X, reference = np.arange(4.0)[:, None], Reference([0, 0, 1, -1], [[0.5], [2.0]])
    start = ThresholdTree.from_dict({"feature": 1, "threshold": 5.0, "left": {"cluster": 0}, "right": {"cluster": 1}})
    many = ThresholdTree.from_dict({"feature": 0, "threshold": 5.0, "left": {"cluster": 0}, "right": {"cluster": 2}})
    for error, match, tree, changed in [
        (ValueError, "max_leaf_nodes must be at least 1", None, {"max_leaf_nodes": 0}),
        (ValueError, "max_leaf_nodes must be at least 2, the leaves to begin with; got 1", many.relabeled([0, 1]), {}),
        (ValueError, "objective must be one of", None, {"objective": "gini"}),
        (ValueError, "cuts must be one of", None, {"cuts": "oblique"}),
        (ValueError, "kernel must be a Kernel or one of", None, {"kernel": "gauss"}),
        (ValueError, "look_ahead must be True or False; got 'two'", None, {"look_ahead": "two"}),
        (ValueError, "tol must be a number of at least 0", None, {"tol": -1.0}),
        (DataError, "the tree tests column 1, but X has 1", start, {"max_leaf_nodes": 2}),
        (DataError, "the tree has cluster 2, but the reference has 2", many, {"max_leaf_nodes": 2}),
        (DataError, "every row is left out", None, {"sample_weight": [0, 0, 0, 1]}),
        (DataError, "sample_weight must have one weight for each", None, {"sample_weight": [1.0]}),
    ]:
        with pytest.raises(error, match=match):
            expand(tree, X, reference, **{"max_leaf_nodes": 1, **changed})
    with pytest.raises(DataError, match="X has 3 rows, but the reference has 4 labels"):
        expand(None, X[:3], reference, max_leaf_nodes=1)
    with pytest.raises(DataError, match="X has 2 columns, but the reference's centres have 1"):
        expand(None, np.zeros((4, 2)), reference, max_leaf_nodes=1)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("noise", [0.05, 0.2, None])
def test_opposite_corners_with_noise_get_their_leaves(noise, cuts):
    """A sliver at an edge always saves some mistakes; noise None is the uniform square."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        corners = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])[np.arange(200) % 4]
        X = rng.random((200, 2)) if noise is None else corners + rng.normal(0, noise, size=(200, 2))
        labels = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) if noise is None else corners[:, 0] != corners[:, 1]
        reference = Reference.of(X, labels.astype(int))
        options = {"objective": "mistakes", "cuts": cuts, "max_leaf_nodes": 4}
        alone, ahead = (expanded(None, X, reference, look_ahead=a, **options).predict(X) for a in (False, True))
        assert (alone != labels).sum() > 20
        assert (ahead != labels).sum() <= 7
