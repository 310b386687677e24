"""Better sets and sides of missing values, beside all sets and all thresholds."""

from itertools import product

import numpy as np
import pytest

from boxwood import Reference, TreeBuilder
from boxwood.grow.refinement.sets import LARGEST, best_set, refined_categories
from boxwood.grow.refinement.sets import sets_in_order as allowed_in_order
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from boxwood.reference.mixed import CodedColumns
from tests.naive.trees import leaf_of
from tests.scale import law

CODES = {0: 4, 3: 5}
GAPS = (1,)
IN_ORDER = {3: 4}  # with its last code for missing values


def sets_in_order():
    """The sets that a cut of column 3 may have on a side, if its codes have an order, and their complements."""
    up_to = [set(range(end)) for end in range(6)]
    both = [side for one in up_to for side in (one - {4}, one | {4})]
    return [set(codes) for codes in {frozenset(one) for side in both for one in (side, set(range(5)) - side)}]


def random_case(seed, n=40, leaves=4, ordered=()):
    """Columns 0 and 3 hold codes, column 1 numbers with gaps, column 2 numbers."""
    rng = np.random.default_rng(seed)
    table = np.column_stack(
        [rng.integers(0, 4, n), rng.integers(0, 6, n), rng.integers(0, 6, n), rng.integers(0, 5, n)]
    )
    table = table.astype(float)
    table[rng.random(n) < 0.3, 1] = np.inf
    points = rng.normal(size=(n, 2)) + table[:, [0, 3]] % 2
    labels = np.where(rng.random(n) < 0.1, -1, rng.integers(0, 3, n))
    labels[:3] = range(3)
    weight = rng.integers(1, 4, n).astype(float) if seed % 3 == 0 else None
    builder, waiting = TreeBuilder(), [0]
    while len(waiting) < leaves:
        j = int(rng.integers(4))
        node = waiting.pop(int(rng.integers(len(waiting))))
        if j in ordered:
            waiting += builder.split_set(node, j, sorted(rng.choice(list(filter(None, sets_in_order())))))
        elif j in CODES:
            waiting += builder.split_set(node, j, np.flatnonzero(rng.random(CODES[j]) < 0.5).tolist() or [0])
        else:
            waiting += builder.split(node, j, float(rng.integers(5)) + 0.5)
    for i, node in enumerate(waiting):
        builder.label(node, i % 3)
    return builder.build(), table, Task.of(points, Reference.of(points, labels), sample_weight=weight)


def losses(task, objective):
    """The weighted loss of each kept row in each cluster."""
    labels, centers, X = task.reference.labels, task.reference.centers, task.rows.values
    costs = ((X[:, None] - centers) ** 2).sum(axis=2) if objective == "cost" else labels[:, None] != np.arange(3)
    weights = 1.0 if task.rows.weights is None else task.rows.weights[:, None]
    return costs * weights * task.kept[:, None]


def loss(tree, table, costs):
    return costs[np.arange(len(table)), tree.predict(table)].sum()


def splits_by_column(table, ordered=()):
    """For each column the ways to part all rows by it, as the rows that go to the first child."""
    for j, m in CODES.items():
        every = [np.flatnonzero(bits) for bits in product([False, True], repeat=m)]
        yield [np.isin(table[:, j], list(codes)) for codes in (sets_in_order() if j in ordered else every)]
    for j in GAPS:
        x, lacks = table[:, j], np.isinf(table[:, j])
        below = [x <= threshold for threshold in [*np.unique(x[~lacks]), LARGEST]]
        yield [side for one in below for side in (one, one | lacks, ~one, ~one & ~lacks)]


def leaves_below(entry, table):
    return np.array([leaf_of(entry, row)["leaf"] for row in table])


def cuts(entry, table, rows):
    """Each cut of a tree as nested dicts: its rows, and the leaves that these reach below either child."""
    if "cluster" in entry:
        return
    first, second = list(entry.values())[-2:]
    below = leaves_below(first, table), leaves_below(second, table)
    yield rows, below
    inside = np.isin(leaves_below(entry, table), np.unique(below[0])) & rows
    yield from cuts(first, table, inside)
    yield from cuts(second, table, rows & ~inside)


@law(60)
@pytest.mark.parametrize("objective", ["cost", "mistakes"])
@pytest.mark.parametrize("ordered", [{}, IN_ORDER], ids=["sets", "orders"])
def test_no_single_cut_is_better(seed, objective, ordered):
    tree, table, task = random_case(seed, ordered=ordered)
    costs = losses(task, objective)
    better = refined_categories(tree, table, task, objective, CodedColumns(CODES, ordered, GAPS), max_rounds=100)
    for node in np.flatnonzero(np.isin(better.feature, list(ordered))).tolist():
        lower, upper, members = better.lower[node], better.upper[node], better.test(node).members
        assert set(members or range(int(lower), int(upper) + 1)) in sets_in_order()
    assert loss(better, table, costs) <= loss(tree, table, costs) + 1e-9
    clusters, own = better.leaf_clusters, task.reference.labels
    now = better.apply(table)
    for rows, below in cuts(better.to_dict(), table, task.kept):
        present = costs[rows, clusters[now[rows]]].sum()
        for splits in splits_by_column(table, ordered):
            after = [np.where(inside, *below) for inside in splits]
            totals = [costs[rows, clusters[leaves[rows]]].sum() for leaves in after]
            if min(totals) < present - 1e-9:  # then the best ones, of which one was looked at, would empty a leaf
                best = [leaves for leaves, total in zip(after, totals, strict=True) if total < min(totals) + 1e-9]
                assert not all(keeps_leaves(now[rows], leaves[rows], own[rows], clusters) for leaves in best)


def keeps_leaves(before, after, own, clusters):
    def held(leaves, leaf):
        return (leaves == leaf).any(), (own[leaves == leaf] == clusters[leaf]).any()

    return all(held(after, leaf) >= held(before, leaf) for leaf in np.unique(before))


@law(40)
def test_the_order_of_rows_does_not_matter(seed):
    tree, table, task = random_case(seed)
    order = np.random.default_rng(seed).permutation(len(table))
    weights = None if task.rows.weights is None else task.rows.weights[order]
    points, labels = task.rows.values[order], task.reference.labels[order]
    reference = Reference(labels, task.reference.centers)
    shuffled = Task.of(points, reference, sample_weight=weights)
    columns = CodedColumns(CODES, gaps=GAPS)
    assert refined_categories(tree, table, task, "cost", columns) == refined_categories(
        tree, table[order], shuffled, "cost", columns
    )


@law(40)
def test_limits_are_kept(seed):
    tree, table, task = random_case(seed, n=80)
    rows = np.bincount(tree.apply(table[task.kept]), minlength=tree.n_leaves)
    budget = Budget(min_samples_leaf=3, forbidden=(3,), max_columns=2)
    better = refined_categories(tree, table, task, "mistakes", CodedColumns(CODES, gaps=GAPS), budget=budget)
    assert set(better.features.tolist()) <= set(tree.features.tolist())
    assert (better.feature == 3).sum() <= (tree.feature == 3).sum()
    if (rows >= 3).all():
        assert np.bincount(better.apply(table[task.kept]), minlength=tree.n_leaves).min() >= 3


@law(400)
def test_the_best_set_in_an_order_is_the_best_of_all_that_the_order_allows(seed):
    rng = np.random.default_rng(seed)
    m, lacks = int(rng.integers(1, 9)), bool(seed % 2)
    codes, difference = rng.integers(0, m + lacks, 20), rng.integers(-3, 4, 20)
    present = set(codes.tolist())
    allowed = [{*range(end)} | more for end in range(m + 1) for more in ([set(), {m}] if lacks else [set()])]
    allowed += [set(range(m + lacks)) - one for one in allowed]
    totals = {frozenset(one): difference[np.isin(codes, list(one))].sum() for one in allowed if one & present}
    totals = {one: total for one, total in totals.items() if not present <= one}
    found = list(best_set(0, m + lacks, allowed_in_order(m, m + lacks), codes, difference))
    assert len(found) == bool(totals)
    for cut in found:
        inside = set(cut.members or range(int(cut.lower), int(cut.upper) + 1))
        assert inside in allowed
        assert cut.total == totals[frozenset(inside)] == min(totals.values())
        is_larger = 2 * np.isin(codes, list(inside)).sum() > len(codes)
        same = [one for one in totals if one & present == inside & present]
        assert len(inside) == (max if is_larger else min)(map(len, same))


def test_codes_that_no_row_has_go_where_more_rows_go():
    table = np.array([[0.0], [0.0], [0.0], [2.0], [2.0], [3.0]])
    labels = np.array([0, 0, 0, 1, 1, 0])
    task = Task.of(table, Reference.of(table, labels))
    builder = TreeBuilder()
    first, second = builder.split(0, 0, 2.5)
    builder.label(first, 0), builder.label(second, 1)
    better = refined_categories(builder.build(), table, task, "mistakes", CodedColumns({0: 5}))
    assert better.predict([[0.0], [1.0], [2.0], [3.0], [4.0]]).tolist() == [0, 0, 1, 0, 0]
