"""Samples of tables in batches depend on the rows alone, and are fair."""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from boxwood.batches import LabelColumn
from boxwood.batches import sample as module
from boxwood.batches.batches import rows_of
from boxwood.batches.sample import Draw, sample_of
from boxwood.batches.source import ArrowSource
from tests.naive.samples import sample_of_rows
from tests.scale import law
from tests.scattered import scattered


def table(seed):
    """Return rows with many ties, -0.0 among them, labels and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 60), rng.integers(1, 4)
    X = rng.integers(-1, 2, size=(n, d)) * rng.choice([1.0, -0.0, 1e-300, 1e12], size=d)
    if seed % 3 == 0:
        X = rng.normal(size=(n, d))
    labels, weights = rng.integers(0, 3, size=n), rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
    weights[0] = 1.0
    return rng, X, labels, weights


@law(200)
def test_a_sample_is_the_rows_with_the_least_hashes_in_any_batches(seed):
    rng, X, labels, weights = table(seed)
    n_rows = int(rng.integers(1, 40))
    expected = sample_of_rows(X, labels, weights, n_rows)
    for order in (np.arange(len(X)), rng.permutation(len(X))):
        source = scattered(X[order], seed, group=labels[order], w=weights[order])
        batches = rows_of(source, "group", "w")
        sample = sample_of(labelled(batches), Draw(n_rows))
        for found, wanted in zip((sample.values, sample.labels, sample.weights), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
        assert not np.signbit(sample.values[sample.values == 0]).any()


def labelled(batches):
    return replace(batches, labelling=LabelColumn("group", (0, 1, 2)))


@law(30)
def test_a_large_sample_is_the_table(seed):
    _, X, _, _ = table(seed)
    sample = sample_of(rows_of(scattered(X, seed)), Draw(len(X)))
    rows, counts = np.unique(X + 0.0, axis=0, return_counts=True)
    order = np.lexsort(sample.values.T[::-1])
    np.testing.assert_array_equal(sample.values[order], rows)
    np.testing.assert_array_equal(sample.weights[order], counts)
    assert (sample.labels == -1).all()


@law(40)
def test_rows_drawn_from_a_sample_are_drawn_from_all_rows_in_its_order(seed):
    rng, X, _, _ = table(seed)
    sample = sample_of(rows_of(scattered(X, seed)), Draw(len(X)))
    rows = np.repeat(sample.values, sample.times, axis=0)
    for most in (1, int(rng.integers(1, len(rows) + 1)), max(len(rows) - 1, 1), len(rows), len(rows) + 1):
        drawn = sample.drawn(most)
        places = sorted(random.Random(0).sample(range(len(rows)), min(most, len(rows))))
        np.testing.assert_array_equal(drawn.values, rows[places])
        assert (drawn.times == 1).all()


def test_rows_without_a_cluster_are_left_out_where_clusters_are_known():
    source = scattered(np.arange(4.0)[:, None], 0, group=["a", "b", None, "c"])
    batches = replace(rows_of(source, "group"), labelling=LabelColumn("group", ("a", "b")))
    sample = sample_of(batches, Draw(10))
    assert sorted(zip(sample.values[:, 0].tolist(), sample.labels.tolist(), strict=True)) == [(0.0, 0), (1.0, 1)]


def test_no_rows_make_an_empty_sample():
    for batches in (
        rows_of(scattered(np.empty((0, 2)), 0)),
        rows_of(scattered(np.ones((3, 2)), 0, w=np.zeros(3)), None, "w"),
    ):
        sample = sample_of(batches, Draw(5))
        assert sample.values.shape == (0, 2)
        assert len(sample.labels) == len(sample.weights) == 0


def test_different_rows_with_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(module, "hashes", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    X = np.random.default_rng(0).integers(0, 3, size=(50, 2)).astype(float)
    whole = sample_of(rows_of(ArrowSource(pa.table({"x": X[:, 0], "y": X[:, 1]}), batch_rows=7)), Draw(100))
    rows, counts = np.unique(X, axis=0, return_counts=True)
    np.testing.assert_array_equal(whole.values, rows)
    np.testing.assert_array_equal(whole.weights, counts)
    few = sample_of(rows_of(ArrowSource(pa.table({"x": X[:, 0], "y": X[:, 1]}), batch_rows=3)), Draw(4))
    np.testing.assert_array_equal(few.values, rows[:4])
    np.testing.assert_array_equal(few.weights, counts[:4])


@pytest.mark.parametrize("kind", ["normal", "whole numbers", "one column"])
def test_samples_are_fair(kind):
    rng = np.random.default_rng(1)
    n, d, m = 4000, 1 if kind == "one column" else 3, 400
    share, mean = [], []
    for _ in range(20):
        X = (
            rng.normal(size=(n, d))
            if kind == "normal"
            else rng.permutation(100 * n)[: n * d].reshape(n, d).astype(float)
        )
        sample = sample_of(rows_of(ArrowSource(pa.table({f"x{j}": X[:, j] for j in range(d)}))), Draw(m))
        assert len(sample.values) == m
        share.append((sample.values[:, 0] < np.median(X[:, 0])).mean() - 0.5)
        mean.append((sample.values.mean(axis=0) - X.mean(axis=0)) / X.std(axis=0) * np.sqrt(m))
    assert abs(np.mean(share)) < 4 * 0.5 / np.sqrt(m * 20)  # four standard deviations of a fair sample
    assert (np.abs(np.mean(mean, axis=0)) < 4 / np.sqrt(20)).all()
    assert 0.6 < np.std(mean) < 1.4


def test_memory_does_not_grow_with_the_rows():
    summary = module.RowSample(Draw(100), 2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        summary.update(module.Block(rng.normal(size=(500, 2)), np.full(500, -1), None))
        assert len(summary.kept.keys) + summary.n_waiting <= 125
