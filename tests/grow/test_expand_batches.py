"""Expansions by passes: the trees of rows in memory to the last bit, from however scattered batches."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from boxwood.batches import LabelColumn, NearestCenters
from boxwood.errors import DataError
from boxwood.grow import expand
from boxwood.grow._methods import METHODS
from boxwood.grow.leaves import _cuts_batches, expand_batches
from boxwood.grow.leaves import _cuts_batches as search
from boxwood.grow.leaves.expand import expand_tree, grow_exkmc, grow_expand
from boxwood.grow.leaves.expand_batches import expanded_in_batches
from boxwood.grow.shared import batches
from boxwood.grow.shared.batches import inner_edges
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from tests.cases import make_case, tree_on_rows
from tests.scale import law, seeds
from tests.scattered import scattered

OBJECTIVES = ("cost", "mistakes")
CUTS = ("threshold", "interval")


def tables(seed, max_rows=40, **options):
    """Return a case as a task in memory and as one in batches."""
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, max_rows=max_rows, max_clusters=8)
    kind = seed % 4
    if kind == 0:  # few different values
        X = rng.integers(0, 4, size=X.shape).astype(float)
    k = int(labels.max()) + 1 + (seed % 3 == 0)  # perhaps a cluster without rows
    centers = X[rng.integers(len(X), size=k)].astype(float)
    if kind == 1:
        centers = centers + rng.normal(size=centers.shape)
    reference = Reference(labels, centers)
    columns = {"label": labels} if weights is None else {"label": labels, "w": weights}
    source = scattered(X, seed, **columns)
    weight = None if weights is None else "w"
    labelling = LabelColumn("label", tuple(range(k)))
    by_passes = Task.of(source, Reference(labelling, centers), sample_weight=weight, **options)
    return Task.of(X, reference, sample_weight=weights, **options), by_passes


def look_closely(monkeypatch, search, looks, bins, values, sampled):
    """Look at small tables as at large ones: in few bins, with few values that are gathered, and a small sample."""
    monkeypatch.setattr(search, "BINS", bins)
    monkeypatch.setattr(search, "FEWEST", min(bins, search.FEWEST))
    monkeypatch.setattr(looks, "VALUES", values)
    if hasattr(search, "TWO_SIDED_BINS"):
        monkeypatch.setattr(search, "TWO_SIDED_BINS", bins)
    monkeypatch.setattr(batches, "SAMPLED", sampled)


@pytest.fixture(params=["at once", "little by little"])
def sizes(request, monkeypatch):
    """Whether the rows are looked at as those of a small or of a large table."""
    if request.param == "little by little":
        look_closely(monkeypatch, search, _cuts_batches, 3, 8, 9)


@law(24)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("cuts", CUTS)
def test_trees_are_those_of_rows_in_memory(seed, objective, cuts, sizes):
    rng = np.random.default_rng(seed)
    task, by_passes = tables(seed)
    X, k = task.rows.values, task.reference.n_clusters
    base = tree_on_rows(rng, X, k, int(rng.integers(1, 4)), 0.5) if seed % 2 else None
    leaves, tol, ahead = int(rng.integers(3, 12)), float(rng.choice([0.0, 0.0, 0.05])), bool(rng.integers(2))
    options = {"loss": objective, "cuts": cuts, "tol": tol, "look_ahead": ahead}
    expected = expand_tree(base, task, leaves, instead=True, **options)
    assert expanded_in_batches(base, by_passes, leaves, instead=True, **options) == (expected, ())


@law(6)
@pytest.mark.parametrize("cuts", CUTS)
def test_pairs_of_cuts_are_made_instead_of_slivers_as_in_memory(seed, cuts):
    rng = np.random.default_rng(seed)
    X = rng.random((150, 3)).round(3)
    labels = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)) + 2 * ((X[:, 0] > 0.7) & (X[:, 2] > 0.3)) * (seed % 2)
    reference = Reference.of(X, labels.astype(int))
    clusters = Reference(LabelColumn("label", tuple(range(reference.n_clusters))), reference.centers)
    by_passes = Task.of(scattered(X, seed, label=labels.astype(int)), clusters)
    for objective, leaves in product(OBJECTIVES, (3, 4, 9)):
        options = {"loss": objective, "cuts": cuts, "look_ahead": True}
        expected = expand_tree(None, Task.of(X, reference), leaves, instead=True, **options)
        assert expanded_in_batches(None, by_passes, leaves, instead=True, **options) == (expected, ())
    alone = expand_tree(None, Task.of(X, reference), 4, loss="mistakes", cuts=cuts, look_ahead=False)
    both = expand_tree(None, Task.of(X, reference), 4, loss="mistakes", cuts=cuts, instead=True)
    assert both != alone or seed % 2


@law(24)
def test_budgets_are_kept_as_in_memory(seed, sizes):
    rng = np.random.default_rng(seed)
    d = make_case(seed, max_rows=25, max_clusters=8).X.shape[1]
    forbidden = (int(rng.integers(d)),) if d > 1 and seed % 2 else ()
    depth = int(rng.integers(1, 4)) if seed % 3 else None
    budget = Budget(max_depth=depth, min_samples_leaf=int(rng.integers(1, 5)), forbidden=forbidden)
    most = tables(seed, 25)[0].n_kept // 2
    budget = replace(budget, min_samples_leaf=max(min(budget.min_samples_leaf, most), 1))
    task, by_passes = tables(seed, 25, budget=budget)
    for grow in (grow_exkmc, grow_expand):
        assert grow(by_passes, base="root") == grow(task, base="root")


@law(10)
def test_the_nearest_centers_may_be_the_clusters(seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.integers(0, 9, size=(60, 3)).astype(float), rng.integers(0, 9, size=(5, 3)).astype(float)
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    reference = Reference(NearestCenters(centers), centers)
    for objective in OBJECTIVES:
        expected = expand_tree(None, Task.of(X, Reference(labels, centers)), 8, loss=objective, look_ahead=False)
        found = expand(None, scattered(X, seed), reference, max_leaf_nodes=expected.n_leaves, objective=objective)
        assert found == expected


@law(3)
def test_a_table_with_many_rows_is_looked_at_in_bins(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, k = 400, 4
    labels = rng.integers(k, size=n)
    X = np.column_stack([3 * rng.normal(size=k)[labels] + rng.normal(size=n), rng.standard_cauchy(size=n) ** 5])
    reference = Reference.of(X, labels)
    look_closely(monkeypatch, search, _cuts_batches, 512, 50, 200)
    clusters = Reference(LabelColumn("label", tuple(range(k))), reference.centers)
    for objective in OBJECTIVES:
        source = scattered(X, seed, label=labels)
        expected = expand_tree(None, Task.of(X, reference), 6, loss=objective, look_ahead=False)
        assert expanded_in_batches(None, Task.of(source, clusters), 6, loss=objective, look_ahead=False) == (
            expected,
            (),
        )
        assert source.runs <= 20  # though values lie far apart


def test_what_needs_all_rows_in_memory_is_refused():
    source = scattered([[0.0], [1.0], [2.0]], 0, label=[0, 1, 1])
    reference = Reference(LabelColumn("label", (0, 1)), [[0.0], [1.5]])
    with pytest.raises(DataError, match="use kernel=None"):
        expand(None, source, reference, max_leaf_nodes=2, kernel="gaussian")


def test_edges_lie_inside_and_part_whatever_is_there():
    rng = np.random.default_rng(0)
    for seed in seeds(300):
        scale = 10.0 ** rng.integers(-300, 300)
        low, high = np.sort(rng.choice([0.0, -0.0, -5e-324, 1.0, -scale, scale, rng.normal()], size=2)).tolist()
        if low == high:
            continue
        sample = np.sort(rng.choice([low, high, 0.0, rng.normal()], size=rng.integers(0, 9)))
        n_bins = int(rng.integers(2, 20))
        edges = inner_edges(low, high, sample, n_bins)
        assert 1 <= len(edges) <= n_bins - 1, seed
        assert low <= edges[0] <= edges[-1] < high, seed
        assert (np.diff(edges) > 0).all(), seed


@law(15)
def test_the_tree_to_begin_with_is_that_of_imm(seed):
    def outcome(name, task):
        try:
            return METHODS[name].grow(task)
        except DataError as error:  # centres are equal
            return str(error)[:40]

    task, by_passes = tables(seed)
    for name in ("exkmc", "expand"):
        assert outcome(name, by_passes) == outcome(name, task)


@law(20)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_two_cuts_at_once_are_found_among_the_rows_of_leaves(seed, objective, sizes):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(60, 3)).astype(float)
    labels = ((X[:, 0] > 1) != (X[:, 1] > 1)).astype(int)  # as in XOR no single cut gains much
    reference = Reference.of(X, labels)
    clusters = Reference(LabelColumn("label", (0, 1)), reference.centers)
    by_passes = Task.of(scattered(X, seed, label=labels), clusters)
    expected = expand_tree(None, Task.of(X, reference), 6, loss=objective, instead=True)
    assert expanded_in_batches(None, by_passes, 6, loss=objective, instead=True) == (expected, ())


def test_leaves_with_too_many_rows_to_look_ahead_are_said(monkeypatch):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    source, clusters = scattered(X, 0, label=[0, 0, 1, 1]), LabelColumn("label", (0, 1))
    task = Task.of(source, Reference(clusters, [[0.5, 0.5], [0.5, 0.5]]), max_leaf_nodes=4)
    assert grow_expand(task, base="root").tree.n_leaves == 4
    monkeypatch.setattr(expand_batches, "VALUES", 7)
    grown = grow_expand(task, base="root")
    assert grown.tree.n_leaves == 1
    assert "1 leaf has more than" in grown.notes[0]
