"""IMM by passes: the tree of the rows in memory, whatever comes in which batch, and few readings of the table."""

import errno
import math

import numpy as np
import pytest

from boxwood import Reference
from boxwood._validation import WholeWeights, as_integer_weights
from boxwood.batches import LabelColumn, NearestCenters
from boxwood.batches.labelling import RowStore
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.grow import METHODS, imm
from boxwood.grow.centers import imm_batches
from boxwood.loops import imm as loops
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case
from tests.scale import seeds, share
from tests.scattered import ScatteredSource, scattered


@pytest.fixture(autouse=True)
def no_table_is_small(monkeypatch):
    monkeypatch.setattr(imm_batches, "IN_MEMORY", 0)


def by_passes(X, reference, seed, weights=None, *, is_local=True, **options):
    """Return the tree of the same rows in batches, and the source that they came from."""
    columns = {"cluster": reference.labels} | ({} if weights is None else {"weight": weights})
    source = scattered(X, seed, **columns)
    source.is_local = is_local
    clusters = Reference(LabelColumn("cluster", tuple(range(reference.n_clusters))), reference.centers)
    return imm(source, clusters, sample_weight=None if weights is None else "weight", **options), source


def case_of(seed, **sizes):
    """Return rows, a reference and weights: centres beside the rows, clusters without rows, rows that weigh nothing."""
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, **sizes)
    centers = Reference.of(X, labels, sample_weight=weights).centers
    if rng.random() < 0.3:
        more = centers[rng.integers(len(centers), size=2)] * rng.choice([0.5, 1.0, 2.0], size=(2, 1))
        centers = np.vstack([centers, more + rng.choice([0.0, 1.0, 1e-3], size=(2, 1))])
    if rng.random() < 0.2:
        weights = np.where(rng.random(len(X)) < 0.2, 0.0, 1.0 if weights is None else weights)
        weights[np.flatnonzero(labels >= 0)[0]] = 1.0
    reference = Reference(labels, centers)
    is_distinct = (reference.first_of_equal_centers() == np.arange(reference.n_clusters)).all()
    return (X, reference, weights) if is_distinct else None


def all_equal(numbers, *, candidates=("all", "midpoints"), **sizes):
    """Compare cases with the tree in memory; return how many were compared, and the most passes that one took.

    Every other table is on machines that keep no bins.
    """
    compared = most = 0
    for seed in numbers:
        case = case_of(seed, **sizes)
        if case is not None:
            X, reference, weights = case
            for which in candidates:
                tree, source = by_passes(X, reference, seed, weights, is_local=seed % 2 == 0, candidates=which)
                assert tree == imm(X, reference, candidates=which, sample_weight=weights), f"seed {seed}, {which}"
                compared, most = compared + 1, max(most, source.runs)
    return compared, most


@pytest.mark.parametrize("candidates", ["all", "midpoints"])
def test_equals_the_tree_in_memory(candidates):
    assert all_equal(seeds(9), candidates=(candidates,))[0] > share(6)


@pytest.mark.parametrize("candidates", ["all", "midpoints"])
def test_equals_the_tree_in_memory_with_more_rows_and_clusters(candidates):
    assert all_equal(seeds(2, first=700), candidates=(candidates,), max_rows=600, max_clusters=20)[0] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1500, 50))
def test_equals_the_tree_in_memory_on_thousands_of_tables(first):
    assert all_equal(seeds(50, first=first), max_rows=150, max_clusters=12)[0] > share(50)


@pytest.mark.parametrize("candidates", ["all", "midpoints"])
@pytest.mark.parametrize(("values", "counts", "bins"), [(0, 100, 6), (3, 8_000_000, 16)])
def test_equals_the_tree_in_memory_where_little_fits(values, counts, bins, candidates, monkeypatch):
    """A pass that may bring few values or counts looks closer, and closer again."""
    limits = {"MOST_VALUES": values, "MOST_COUNTS": counts, "FEWEST_BINS": bins, "MOST_BINS": bins}
    for name, value in (limits | {"FEWEST_FINER": 8, "MOST_FINER": 8}).items():
        monkeypatch.setattr(imm_batches, name, value)
    compared, most = all_equal(seeds(3, first=20), candidates=(candidates,), max_rows=150)
    assert compared >= share(2)
    assert most > 6


def test_equals_the_twin():
    compared = 0
    for seed in seeds(7, first=50):
        case = case_of(seed, max_rows=20)
        if case is not None:
            X, reference, weights = case
            twin = naive.imm(X, reference.labels, reference.centers, weights)
            assert by_passes(X, reference, seed, weights)[0] == ThresholdTree.from_dict(twin), f"seed {seed}"
            compared += 1
    assert compared > share(4)


def test_whatever_comes_in_which_batch():
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=800)
    X = np.round((2 * rng.normal(size=(6, 3)))[labels] + rng.normal(size=(800, 3)), 1)
    reference, weights = Reference.of(X, labels), rng.random(800)
    tree = imm(X, reference, sample_weight=weights)
    assert all(by_passes(X, reference, seed, weights)[0] == tree for seed in seeds(3))


@pytest.mark.parametrize("fault", ["full at once", "full later", "no numbers of rows"])
def test_where_bins_cannot_be_kept(fault, monkeypatch):
    rng = np.random.default_rng(2)
    labels = rng.integers(5, size=2000)
    X = (2 * rng.normal(size=(5, 3)))[labels] + rng.normal(size=(2000, 3))
    reference, written = Reference.of(X, labels), []

    def write(self, start, rows):
        written.append(start)
        if fault == "full at once" or len(written) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    if fault == "no numbers of rows":
        batches = ScatteredSource.batches
        monkeypatch.setattr(
            ScatteredSource, "batches", lambda self, columns: ((batch, None) for batch, _ in batches(self, columns))
        )
    else:
        monkeypatch.setattr(RowStore, "_write", write)
    assert by_passes(X, reference, 0)[0] == imm(X, reference)


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=3000)
    X = (3 * rng.normal(size=(6, 3)))[labels] + rng.normal(size=(3000, 3))
    reference = Reference.of(X, labels)
    clusters = Reference(LabelColumn("cluster", tuple(range(6))), reference.centers)
    table = scattered(X, 0, cluster=labels).table
    for n_jobs in (1, 4):
        assert imm(ArrowSource(table, batch_rows=100, n_jobs=n_jobs), clusters) == imm(X, reference)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1.7e308])
def test_scale_does_not_matter(scale):
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(-1, 1, size=(60, 2)), np.arange(60) % 4
    X *= scale / np.abs(X).max()
    reference = Reference.of(X, labels)
    assert by_passes(X, reference, 0)[0] == imm(X, reference)


def test_rows_belong_to_their_nearest_centre():
    rng = np.random.default_rng(1)
    X, centers = rng.normal(size=(500, 3)), rng.normal(size=(5, 3))
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    tree = imm(scattered(X, 0), Reference(NearestCenters(centers), centers))
    assert tree == imm(X, Reference(labels, centers))


def counted(X, labels, seed=0):
    """Return how often a table was read, value by value, and how many passes read all of its columns."""
    reference = Reference.of(X, labels)
    source = scattered(X, seed, cluster=labels)
    passes, run = [], source.run
    source.run = lambda make, columns, n_jobs: (passes.append(len(columns)), run(make, columns, n_jobs))[1]
    clusters = Reference(LabelColumn("cluster", tuple(range(reference.n_clusters))), reference.centers)
    assert imm(source, clusters) == imm(X, reference)
    return source.cells / X.size, sum(n > X.shape[1] for n in passes), source.runs


def test_readings_of_clusters_that_lie_apart(monkeypatch):
    monkeypatch.setattr(imm_batches, "MOST_VALUES", 10_000)  # a twentieth of the table, as of 2 000 000 rows
    rng = np.random.default_rng(0)
    for k, d, most_readings, most_passes in ((10, 10, 8, 7), (30, 40, 6, 14)):
        labels = rng.integers(k, size=20_000)
        X = (6 * rng.normal(size=(k, d)))[labels] + rng.normal(size=(20_000, d))
        readings, whole_passes, passes = counted(X, labels)
        assert readings <= most_readings
        assert whole_passes <= 3
        assert passes <= most_passes


def test_readings_of_one_cloud_cut_into_cells(monkeypatch):
    """The worst case: a fifth of all rows are mistakes of the first cut, and no count lasts for long."""
    monkeypatch.setattr(imm_batches, "MOST_VALUES", 10_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    centers = X[:10]
    for _ in range(5):
        labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        centers = np.array([X[labels == c].mean(axis=0) for c in range(10)])
    readings, _, passes = counted(X, labels)
    assert readings <= 16
    assert passes <= 20


def test_many_clusters_with_a_row_each():
    X = np.random.default_rng(0).normal(size=(30, 3))
    tree, _ = by_passes(X, Reference.of(X, np.arange(30)), 0)
    assert tree.predict(X).tolist() == list(range(30))


@pytest.mark.parametrize("candidates", ["all", "midpoints"])
def test_a_small_table_is_read_once_more(candidates, monkeypatch):
    monkeypatch.setattr(imm_batches, "IN_MEMORY", 1_000_000)
    compared, most = all_equal(seeds(10, first=90), candidates=(candidates,))
    assert compared > share(5)
    assert most == 2


def test_one_cluster_is_a_leaf():
    X = np.arange(4.0)[:, None]
    assert by_passes(X, Reference(np.zeros(4, dtype=int), [[1.5]]), 0)[0].n_leaves == 1


def test_equal_centers():
    X = np.array([[0.0], [2.0], [1.0], [1.0], [5.0]])
    reference = Reference([0, 0, 1, 1, 2], [[1.0], [1.0], [5.0]])
    with pytest.raises(DataError, match="equal centres, which no cut separates: 0 and 1; give them one label"):
        by_passes(X, reference, 0)
    with pytest.warns(UserWarning, match="merged into the first of them: 0 and 1"):
        tree = by_passes(X, reference, 0, duplicates="merge")[0]
    with pytest.warns(UserWarning, match="merged into the first of them: 0 and 1"):
        assert tree == imm(X, reference, duplicates="merge")


def test_options_that_need_memory_are_refused():
    X, reference = np.arange(4.0)[:, None], Reference([0, 0, 1, 1], [[0.5], [2.5]])
    with pytest.raises(DataError, match=r"tie_break='margin' needs all rows in memory; .* use tie_break='first'"):
        by_passes(X, reference, 0, tie_break="margin")
    with pytest.raises(ValueError, match="tie_break"):
        by_passes(X, reference, 0, tie_break="nonsense")
    with pytest.raises(ValueError, match="candidates"):
        by_passes(X, reference, 0, candidates="nonsense")


def test_missing_values_are_refused():
    X, reference = np.array([[0.0], [np.nan], [2.0]]), Reference([0, 0, 1], [[0.5], [2.0]])
    with pytest.raises(DataError, match="missing values in 1 of 3 rows: x0"):
        by_passes(X, reference, 0)


def test_forbidden_columns_are_not_cut():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=200)
    X = (3 * rng.normal(size=(4, 3)))[labels] + rng.normal(size=(200, 3))
    reference, budget = Reference.of(X, labels), Budget(forbidden=(1,))
    clusters = Reference(LabelColumn("cluster", (0, 1, 2, 3)), reference.centers)
    table = Task.of(scattered(X, 0, cluster=labels), clusters, budget=budget)
    tree = METHODS["imm"].grow(table).tree
    assert 1 not in tree.feature
    assert tree == METHODS["imm"].grow(Task.of(X, reference, budget=budget)).tree


# --------------------------------------------------------------------------------------------------------- weights


def test_whole_weights_depend_on_no_order():
    for seed in seeds(200):
        rng = np.random.default_rng(seed)
        weights = np.exp(rng.normal(size=rng.integers(1, 50)) * rng.choice([0.1, 10.0]))
        if rng.random() < 0.5:
            weights *= 2.0 ** rng.integers(-3, 4) / math.fsum(weights)  # the sum is about a power of two
        order = rng.permutation(len(weights))
        whole = as_integer_weights(weights)
        assert (as_integer_weights(weights[order]) == whole[order]).all()
        assert sum(whole.tolist()) + len(whole) >= 2**60
        assert sum(whole.tolist()) <= 2**62
        heaviest = weights.max()
        scale = WholeWeights.scaling(heaviest, math.ldexp(math.fsum(weights), -math.frexp(heaviest)[1]))
        assert (scale.of(weights) == whole).all()


# ----------------------------------------------------------------------------------------------------------- loops


def test_bounds_hold_where_rows_have_gone():
    """Some rows that were counted are elsewhere."""
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        n, c, n_bins = int(rng.integers(1, 60)), int(rng.integers(1, 5)), int(rng.integers(4, 12))
        labels, values = rng.integers(c, size=n), rng.integers(0, n_bins * 3, size=n)  # three values to a bin
        is_there = rng.random(n) < rng.choice([0.5, 0.9, 1.0])
        centers = rng.integers(0, n_bins * 3, size=c)
        counts = np.zeros((1, c, n_bins), dtype=np.int64)
        np.add.at(counts[0], (labels, values // 3), 1)
        after, bound = np.empty((2, 1, n_bins), dtype=np.int64)
        alive = np.bincount(labels[is_there], minlength=c)
        loops.cut_bounds(counts, alive, np.arange(c), centers[None] // 3, after, bound)
        for cut in range(n_bins * 3):
            mistakes = np.sum((values <= cut) != (centers[labels] <= cut), where=is_there)
            assert bound[0, cut // 3] <= mistakes
            if cut % 3 == 2:
                assert mistakes <= after[0, cut // 3]
                assert mistakes == after[0, cut // 3] or not is_there.all()
