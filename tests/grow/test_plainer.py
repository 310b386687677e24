"""Cuts that name fewer words: no loss, no more words, beside all sets of a column; and what words owe to luck."""

from itertools import combinations

import numpy as np
import pytest

from boxwood import Reference, TreeBuilder
from boxwood.axes.mixed import NONE_ALIKE
from boxwood.grow.refinement.plainer import NUMBER, luck_of_words, with_fewer_words
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from boxwood.reference.mixed import CodedColumns
from tests.grow.test_sets import CODES, GAPS, cuts, loss, losses, random_case
from tests.scale import law


def words_of(tree, table, task):
    """Return how many words each cut names, in pre-order: those of its rows on the smaller side, two for a number."""
    named = []
    for node, (rows, below) in zip(
        np.flatnonzero(tree.feature >= 0), cuts(tree.to_dict(), table, task.kept), strict=True
    ):
        j, inside = tree.feature[node], np.isin(below[0], below[0])
        inside = tree.is_inside(node, table[:, j])
        sides = [len(np.unique(table[rows & side, j])) for side in (inside, ~inside)]
        named.append(min(sides) if j in CODES else NUMBER)
    return named


@law(60)
@pytest.mark.parametrize("objective", ["cost", "mistakes"])
def test_fewer_words_lose_nothing(seed, objective):
    tree, table, task = random_case(seed)
    plain = with_fewer_words(tree, table, task, objective, CodedColumns(CODES, gaps=GAPS))
    costs = losses(task, objective)
    assert loss(plain, table, costs) <= loss(tree, table, costs) + 1e-9
    assert plain.n_leaves == tree.n_leaves
    first = words_of(plain, table, task)[0], words_of(tree, table, task)[0]
    assert first[0] <= first[1]


@law(100)
def test_the_fewest_words_of_a_column_are_named(seed):
    """Of all sets of one column that make no more mistakes, where no two words matter alike."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(6), 2 ** np.arange(6))
    labels = rng.permutation(np.arange(6) % 2)[codes]
    own = np.flatnonzero(rng.permutation(np.arange(6) < rng.integers(1, 6))).tolist()
    table, tree = codes[:, None].astype(float), _cut(own)
    plain = with_fewer_words(tree, table, Task.of(table, Reference.of(table, labels)), "mistakes", CodedColumns({0: 6}))

    def lost(inside):
        return int((np.isin(codes, inside) == labels).sum())

    def keeps(inside):
        sides = [np.isin(codes, inside) == (leaf == 0) for leaf in (0, 1)]
        had = [tree.predict(table) == leaf for leaf in (0, 1)]
        return all((labels[sides[leaf]] == leaf).any() or not (labels[had[leaf]] == leaf).any() for leaf in (0, 1))

    every = [inside for size in range(1, 6) for inside in combinations(range(6), size)]
    fewest = min(min(len(one), 6 - len(one)) for one in every if lost(one) <= lost(own) and keeps(one))
    found = np.unique(codes[plain.predict(table) == 0]).tolist()
    assert lost(found) <= lost(own)
    assert min(len(found), 6 - len(found)) == fewest


def _cut(codes):
    builder = TreeBuilder()
    first, second = builder.split_set(0, 0, codes)
    builder.label(first, 0), builder.label(second, 1)
    return builder.build()


@law(40)
def test_names_and_the_order_of_rows_do_not_matter(seed):
    tree, table, task = random_case(seed)
    rng = np.random.default_rng(seed)
    columns = CodedColumns(CODES, gaps=GAPS)
    plain = with_fewer_words(tree, table, task, "mistakes", columns)
    order = rng.permutation(len(table))
    weights = None if task.rows.weights is None else task.rows.weights[order]
    reference = Reference(task.reference.labels[order], task.reference.centers)
    shuffled = Task.of(task.rows.values[order], reference, sample_weight=weights)
    assert with_fewer_words(tree, table[order], shuffled, "mistakes", columns) == plain
    names, renamed = rng.permutation(4), table.copy()
    renamed[:, 0] = names[table[:, 0].astype(int)]
    builder, waiting = TreeBuilder(), [(0, 0)]
    while waiting:
        node, new = waiting.pop()
        if tree.feature[node] < 0:
            builder.label(new, int(tree.cluster[node]))
            continue
        test = tree.test(node)
        if test.feature == 0:
            inside = [code for code in range(4) if tree.is_inside(node, np.array([float(code)]))[0]]
            children = builder.split_set(new, 0, sorted(names[inside].tolist()))
        else:
            children = builder.split(new, *test)
        waiting += zip((node + 1, int(tree.second[node])), children, strict=True)
    again = with_fewer_words(builder.build(), renamed, task, "mistakes", columns)
    assert (again.predict(renamed) == plain.predict(table))[task.kept].all()


def test_limits_and_preferred_columns_are_kept():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, 300)
    table = np.column_stack([codes, codes % 3]).astype(float)
    labels = (codes % 3 == 1).astype(int)
    task = Task.of(table, Reference.of(table, labels))
    tree = _cut([0, 2, 3, 5, 6, 8, 9, 11])

    def columns(**limits):
        budget = Budget(**limits)
        return with_fewer_words(
            tree, table, task, "mistakes", CodedColumns({0: 12, 1: 3}), budget=budget
        ).features.tolist()

    assert columns() == [1]
    assert columns(max_columns=1) == columns(forbidden=(1,)) == columns(preferred=(0,)) == [0]
    ordered = with_fewer_words(tree, table, task, "mistakes", CodedColumns({0: 12, 1: 3}, {0: 12}))
    assert ordered == tree


@law(40)
def test_luck_is_what_other_rows_of_a_word_get_wrong(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(6, 60)), int(rng.integers(2, 12))
    codes, labels = rng.integers(0, m, n), rng.integers(0, 2, n)
    codes[:2], labels[:2] = [0, 1], [0, 1]
    counts = np.array([np.bincount(labels[codes == code], minlength=2) for code in range(m)])
    inside = [code for code in range(m) if counts[code, 0] > counts[code, 1]] or [0]
    table = codes[:, None].astype(float)
    task = Task.of(table, Reference.of(table, labels))
    tree = _cut(inside if len(inside) < m else inside[1:])
    before = tree.predict(table)
    most = int(2 * (before == 0).sum() <= n)
    wrong = 0
    for i in range(n):
        others = counts[codes[i]] - np.eye(2, dtype=int)[labels[i]]
        said = most if others[0] == others[1] else int(others.argmax())
        wrong += said != labels[i]
    expected = max(wrong - (before != labels).sum(), 0) / n
    assert luck_of_words(tree, table, task, "mistakes", [0], NONE_ALIKE) == pytest.approx(expected)
    assert luck_of_words(tree, table, task, "mistakes", [], NONE_ALIKE) == 0
