"""Trees that grow in memory on rows of a table in batches: on all of them, or on some that are drawn."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from boxwood import CART, Explanation, explain
from boxwood.batches import LabelColumn, NearestCenters
from boxwood.errors import DataError
from boxwood.grow import METHODS, drawn, expand, greedy, imm, shallow
from boxwood.grow.drawn import task_for_growth
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from tests.cases import make_case
from tests.scale import law
from tests.scattered import scattered

DRAWN = ("greedy", "shallow", "exkmc", "expand", "cart")


@pytest.fixture
def long_tables(monkeypatch):
    """Rows are drawn from tables of more than 600 values."""
    for name, value in (("IN_MEMORY", 600), ("ROWS", 100), ("ROWS_PER_LEAF", 5), ("ROWS_EACH", 20)):
        monkeypatch.setattr(drawn, name, value)


def tables(seed, max_rows=40, **options):
    """Return a case as a task in memory and as one in batches."""
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, max_rows=max_rows, max_clusters=8)
    if seed % 4 == 0:  # few different values
        X = rng.integers(0, 4, size=X.shape).astype(float)
    k = int(labels.max()) + 1 + (seed % 3 == 0)  # perhaps a cluster without rows
    centers = X[rng.integers(len(X), size=k)].astype(float)
    columns = {"label": labels} if weights is None else {"label": labels, "w": weights}
    options |= {"random_state": 0}  # by which CART breaks ties
    weight, labelling = None if weights is None else "w", LabelColumn("label", tuple(range(k)))
    there = Task.of(scattered(X, seed, **columns), Reference(labelling, centers), sample_weight=weight, **options)
    return Task.of(X, Reference(labels, centers), sample_weight=weights, **options), there


def grown(name, task):
    """Return what a method grows; equal centres may be merged, or refused."""
    options = {"duplicates": "merge"} if name in ("greedy", "shallow") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return METHODS[name].grow(task, **options)
        except DataError as error:
            return str(error)[:40]


def long_table(seed, weighted=False):
    """Return rows, labels with a rare cluster, and weights over four orders of magnitude, or None."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(4, size=3_000, p=[0.5, 0.3, 0.195, 0.005])
    X = rng.normal(scale=3, size=(4, 3))[labels] + rng.normal(size=(3_000, 3))
    return X, labels, 10 ** rng.uniform(0, 4, size=3_000) if weighted else None


def task_of(X, labels, weights, seed):
    columns, weight = ({}, None) if weights is None else ({"w": weights}, "w")
    source = scattered(X, seed, label=labels, **columns)
    reference = Reference.of(source, "label", sample_weight=weight)
    return Task.of(source, reference, sample_weight=weight, random_state=0)


@law(30)
@pytest.mark.parametrize("name", DRAWN)
def test_trees_of_few_rows_are_those_in_memory(seed, name):
    task, there = tables(seed)
    assert grown(name, there) == grown(name, task)


@law(12)
def test_budgets_are_kept_as_in_memory(seed):
    rng = np.random.default_rng(seed)
    d = make_case(seed, max_rows=25, max_clusters=8).X.shape[1]
    forbidden = (int(rng.integers(d)),) if d > 1 and seed % 2 else ()
    most = tables(seed, 25)[0].n_kept // 2
    depth = int(rng.integers(1, 4)) if seed % 3 else None
    budget = Budget(max_depth=depth, min_samples_leaf=max(min(int(rng.integers(1, 5)), most), 1), forbidden=forbidden)
    task, there = tables(seed, 25, budget=budget)
    for name in ("exkmc", "expand", "cart"):
        assert grown(name, there) == grown(name, task)


@law(8)
@pytest.mark.parametrize("name", DRAWN)
def test_neither_batches_nor_their_order_change_the_rows_that_are_drawn(seed, name, long_tables):
    X, labels, weights = long_table(seed, weighted=seed % 2 == 1)
    order = np.random.default_rng(seed).permutation(len(X))
    first = METHODS[name].grow(task_of(X, labels, weights, seed))
    other = METHODS[name].grow(task_of(X[order], labels[order], None if weights is None else weights[order], seed + 1))
    assert first == other
    assert [note for note in first.notes if "rows, drawn at random, and measured on all" in note]


@law(10)
def test_weights_of_drawn_rows_add_up_to_those_of_all(seed, long_tables):
    X, labels, weights = long_table(seed, weighted=seed % 2 == 1)
    few, notes = task_for_growth(task_of(X, labels, weights, seed))
    assert len(few.rows) == 200
    assert notes
    of_all, of_few = (np.bincount(y, w, 4) for y, w in ((labels, weights), (few.reference.labels, few.rows.weights)))
    np.testing.assert_allclose(of_few / of_few.sum(), of_all / of_all.sum(), atol=0.1)
    assert np.bincount(few.reference.labels)[3] >= 5  # of fifteen among three thousand
    if weights is not None:  # heavy rows are drawn more often, and count less for it
        assert few.rows.weights.max() < weights.mean()


@law(4)
def test_leaves_have_enough_of_all_rows(seed, long_tables):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2_000, 3)).round(2), rng.integers(0, 4, size=2_000)
    X[:600] = X[0]  # a sample of distinct rows does not see how many these are
    fewest = int(rng.integers(150, 400))
    for name in ("exkmc", "expand", "cart"):
        options = {"method": name, "min_samples_leaf": fewest, "max_leaf_nodes": 5}
        ex = explain(scattered(X, seed, label=y), "label", **options)
        assert np.bincount(ex.tree.apply(X)).min() >= fewest
        assert ex.n_rows == sum(leaf.size for leaf in ex.leaves) == 2_000


@law(4)
def test_expansions_begin_with_the_tree_of_imm_of_all_rows(seed, long_tables):
    task = replace(task_of(*long_table(seed), seed), max_leaf_nodes=4)
    assert METHODS["exkmc"].grow(task).tree == METHODS["imm"].grow(replace(task, max_leaf_nodes=None)).tree


@law(6)
def test_sources_stand_where_rows_stand(seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.integers(0, 9, size=(60, 3)).astype(float), rng.normal(5, 3, size=(5, 3))
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    source, reference, here = (
        scattered(X, seed),
        Reference(NearestCenters(centers), centers),
        Reference(labels, centers),
    )
    for grow in (greedy, shallow, imm):
        assert grow(source, reference) == grow(X, here)
    assert greedy(source, reference, tie_break="margin") == greedy(X, here, tie_break="margin")
    assert expand(None, source, reference, max_leaf_nodes=3) == expand(None, X, here, max_leaf_nodes=3)


def test_an_estimator_of_a_long_table_says_on_how_many_rows_it_grew(long_tables):
    X, labels, _ = long_table(0)
    model = CART(max_leaf_nodes=4).fit(scattered(X, 0, label=labels), "label")
    assert isinstance(model.explanation_, Explanation)
    assert model.explanation_.n_rows == 3_000
    assert any("the tree was grown on 200 of 3,000 rows" in note for note in model.explanation_.notes)


def test_what_needs_all_rows_in_memory_is_refused():
    source = scattered([[0.0], [1.0], [2.0]], 0, label=[0, 1, 1])
    reference = Reference(LabelColumn("label", (0, 1)), [[0.0], [1.5]])
    with pytest.raises(DataError, match="use kernel=None"):
        expand(None, source, reference, max_leaf_nodes=2, kernel="gaussian")
    with pytest.raises(DataError, match="use tie_break='first'"):
        imm(source, reference, tie_break="margin")
    with pytest.raises(ValueError, match="at least 0"):
        shallow(source, reference, depth_penalty=-1)
