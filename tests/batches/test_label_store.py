"""Clusters of rows are stored by the first pass, so that later passes read only the columns that they ask for."""

import errno
import gc
import os
import pickle
import tempfile
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.batches import Batches, LabelColumn, NearestCenters
from boxwood.batches.labelling import LabelStore, RowStore
from boxwood.batches.source import ArrowSource
from boxwood.reference import Reference, Task
from tests.scale import law
from tests.scattered import scattered


class Gather:
    """Gathers the blocks; rows are told apart by their first value."""

    def __init__(self):
        self.blocks = []

    def update(self, block):
        self.blocks.append(block)

    def merge(self, other):
        self.blocks += other.blocks

    def table(self):
        """Return the values, labels and weights of all rows, in the order of their values."""
        values, labels, weights = zip(*self.blocks, strict=True)
        values, labels = np.concatenate(values), np.concatenate(labels)
        weights = np.zeros(len(labels)) if weights[0] is None else np.concatenate(weights)
        order = np.lexsort((weights, labels, *values.T))
        return values[order].tolist(), labels[order].tolist(), weights[order].tolist()


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(1, 150)), int(rng.integers(2, 6)), int(rng.integers(1, 8))
    X = rng.integers(0, 9, (n, d)).astype(float) if seed % 2 else rng.normal(size=(n, d))
    return rng, X, rng.normal(size=(k, d)) * 3 + 2


@law(60)
def test_passes_see_the_same_with_stored_clusters_and_without(seed):
    rng, X, centers = random_case(seed)
    weights = rng.random(len(X))
    source = scattered(X, seed, w=weights)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    plain = Batches(source, names, NearestCenters(centers), "w" if seed % 3 else None)
    stored = plain.with_stored_labels(len(centers))
    for _ in range(4):
        some = rng.permutation(X.shape[1])[: rng.integers(0, X.shape[1] + 1)].tolist()
        columns = None if rng.random() < 0.3 else some
        assert stored.fold(Gather, columns).table() == plain.fold(Gather, columns).table()
    assert stored.store.is_complete
    assert stored.store.n_rows == len(X)


@law(40)
def test_all_rows_are_gathered_in_their_order(seed):
    rng, X, centers = random_case(seed)
    weights, nearest = rng.random(len(X)), Reference.nearest(X, centers).labels
    table = pa.table({f"x{j}": x for j, x in enumerate(X.T)} | {"w": weights, "label": nearest})
    source, names = ArrowSource(table, batch_rows=7), tuple(f"x{j}" for j in range(X.shape[1]))
    by_column = LabelColumn("label", tuple(range(len(centers))))
    stored = Batches(source, names, NearestCenters(centers)).with_stored_labels(len(centers))
    stored.fold(Gather)
    for batches in (
        stored,
        replace(stored, store=None, weight="w"),
        Batches(source, names, by_column, "w", n_jobs=1 + seed % 3),
    ):
        found = batches.gathered()
        assert found.values.tolist() == X.tolist()
        assert found.labels.tolist() == nearest.tolist()
        assert (None if found.weights is None else found.weights.tolist()) == (batches.weight and weights.tolist())
    assert Batches(source, names).gathered().labels.tolist() == [-1] * len(X)


def test_later_passes_read_only_what_they_ask_for():
    X = np.random.default_rng(0).normal(size=(100, 5))
    source = scattered(X, 0)
    reference = Reference(NearestCenters(X[:3]), X[:3])
    task = Task.of(source, reference)
    assert task.overview.n_kept == 100
    assert source.cells == 500
    for columns, cells in (([2], 100), ([0, 4], 200), ([], 100)):
        source.cells = 0
        task.batches.fold(Gather, columns)
        assert source.cells == cells


def test_a_column_of_labels_needs_no_store(tmp_path):
    source = ArrowSource(pa.table({"a": [1.0, 2.0], "b": [0.0, 1.0], "label": [0, 1]}))
    batches = Batches(source, ("a", "b"))
    assert batches.with_stored_labels().store is None
    assert Batches(source, ("a",), NearestCenters(np.zeros((2, 1)))).with_stored_labels().store is None


def test_rows_without_numbers_are_computed_in_each_pass():
    class Unordered(ArrowSource):
        def batches(self, columns):
            return ((batch, None) for batch, _ in super().batches(columns))

    X = np.random.default_rng(0).normal(size=(100, 3))
    source = Unordered(pa.table({f"x{j}": X[:, j] for j in range(3)}), batch_rows=7)
    batches = Batches(source, ("x0", "x1", "x2"), NearestCenters(X[:4])).with_stored_labels(4)
    expected = Batches(source, ("x0", "x1", "x2"), NearestCenters(X[:4]))
    for _ in range(2):
        assert batches.fold(Gather, [1]).table() == expected.fold(Gather, [1]).table()
    assert not batches.store.is_complete


def test_a_full_disk_costs_time_and_nothing_else(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    source = ArrowSource(pa.table({f"x{j}": X[:, j] for j in range(3)}), batch_rows=100)
    batches = Batches(source, ("x0", "x1", "x2"), NearestCenters(X[:4])).with_stored_labels(4)
    expected = Batches(source, ("x0", "x1", "x2"), NearestCenters(X[:4])).fold(Gather, [1]).table()
    calls, pwrite = [], os.pwrite

    def full(file, data, at):
        calls.append(at)
        if len(calls) > 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(file, data, at)

    monkeypatch.setattr(os, "pwrite", full)
    for _ in range(2):
        assert batches.fold(Gather, [1]).table() == expected
    assert not batches.store.is_complete
    assert 6 <= len(calls) <= 6 + 2  # another thread may have begun
    assert os.path.getsize(batches.store.path) == 0


def test_a_pass_that_fails_stores_nothing_that_counts():
    class Fails(Gather):
        def update(self, block):
            raise ZeroDivisionError

    X = np.random.default_rng(0).normal(size=(100, 3))
    batches = Batches(scattered(X, 0), ("x0", "x1", "x2"), NearestCenters(X[:4])).with_stored_labels(4)
    with pytest.raises(ZeroDivisionError):
        batches.fold(Fails)
    assert not batches.store.is_complete
    assert batches.fold(Gather).table() == replace_store(batches).fold(Gather).table()
    assert batches.store.is_complete


def replace_store(batches):
    return Batches(batches.source, batches.columns, batches.labelling, batches.weight)


@pytest.mark.parametrize("n_clusters", [1, 255, 256, 65_535, 65_536, 2**20, None])
def test_numbers_of_clusters_take_as_many_bytes_as_they_need(n_clusters):
    store = LabelStore(n_clusters)
    most = (n_clusters or 2**31 - 1) - 1
    codes = np.array([-1, 0, most, most // 2])
    assert store.write(0, codes)
    assert store.read(0, 4).tolist() == codes.tolist()
    sizes = {1: 1, 255: 1, 256: 2, 65_535: 2, 65_536: 4}
    assert os.path.getsize(store.path) == 4 * sizes.get(n_clusters, 4)


def test_the_file_goes_with_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = LabelStore(3)
    store.write(5, [1, 2])
    again = pickle.loads(pickle.dumps(store))
    assert again.read(5, 2).tolist() == [1, 2]
    del again
    gc.collect()
    assert store.read(5, 2).tolist() == [1, 2]
    with pytest.raises(OSError, match="lost the numbers of rows"):
        store.read(6, 2)
    del store
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_threads_write_and_read_at_a_time():
    store = LabelStore(1000)
    codes = np.random.default_rng(0).integers(-1, 1000, 10_000)

    def work(i):
        for start in range(100 * i, 10_000, 400):
            assert store.write(start, codes[start : start + 100])
            assert store.read(start, 100).tolist() == codes[start : start + 100].tolist()

    threads = [threading.Thread(target=partial(work, i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.finish(10_000)
    assert store.read(0, 10_000).tolist() == codes.tolist()


def test_files_are_read_less_in_later_passes(tmp_path):
    X = np.random.default_rng(0).normal(size=(1000, 4))
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), tmp_path / "t.parquet")
    source = bw.scan(tmp_path / "t.parquet")
    task = Task.of(source, Reference(NearestCenters(X[:2]), X[:2]))
    assert task.overview.n_rows == 1000
    found = task.batches.fold(Gather, [3]).table()
    assert found == replace_store(task.batches).fold(Gather, [3]).table()
    assert [reading.columns for reading in source.readings[:2]] == [("x0", "x1", "x2", "x3"), ("x3",)]
    assert source.readings[1].n_bytes < source.readings[0].n_bytes / 3


def test_rows_of_several_numbers():
    store = RowStore(np.int16, 3)
    rows = np.arange(12).reshape(4, 3)
    for start in (2, 0):
        assert store.write(start, rows[start : start + 2])
    store.finish(4)
    assert (pickle.loads(pickle.dumps(store)).read(1, 3) == rows[1:]).all()
