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


# -------------------------------------------------------------------------------------------- the number of rows known


@law(40)
def test_the_number_of_rows_tells_which_hashes_are_small(seed):
    """Those with the least hashes are drawn: as many as asked for, or at least half as many where some are equal."""
    rng = np.random.default_rng(seed)
    n, m, n_values = int(rng.integers(500, 3000)), int(rng.integers(10, 60)), int(rng.choice([4, 60, 400, 10**9]))
    X = rng.integers(0, n_values, size=(n, 1 + seed % 2)).astype(float)
    labels, weights = rng.integers(0, 3, size=n), np.where(rng.random(n) < 0.1, 0.0, 1.0)
    source = scattered(X, seed, group=labels, w=weights)
    sizes = np.bincount(labels[weights > 0], minlength=3)
    draw = Draw.of(m, sizes)
    sample = sample_of(labelled(rows_of(source, "group", "w")), draw)
    n_distinct = len(np.unique(np.column_stack([X, labels])[weights > 0], axis=0))
    assert min(m / 2, n_distinct) <= len(sample.values) <= m
    assert source.runs == 1 or n_distinct < 0.7 * n
    expected = sample_of_rows(X, labels, weights, len(sample.values))
    for found, wanted in zip((sample.values, sample.labels, sample.weights), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    if len(np.unique(X, axis=0)) == n:
        assert (len(sample.values), source.runs) == (m, 1)


@law(12)
def test_a_part_of_a_long_table_sends_the_few_rows_that_stay(seed):
    rng = np.random.default_rng(seed)
    n, m, n_parts = 40_000, 400, 20
    X = rng.normal(size=(n, 2))
    draw = Draw.of(m, np.array([n]))
    sent = []
    for part in np.array_split(X, n_parts):
        summary = module.RowSample(draw, 2)
        summary.update(module.Block(part, np.full(len(part), -1), None))
        sent.append(len(summary.least()[0]))
    assert m <= sum(sent) <= 1.7 * m  # each sent 400 before
    assert max(sent) < m / 4


@law(20)
def test_rare_clusters_are_drawn_whole_or_as_often_as_asked_for_and_weigh_less(seed):
    rng = np.random.default_rng(seed)
    sizes, m, each = np.array([6000, 3000, int(rng.integers(1, 30)), int(rng.integers(100, 300))]), 500, 40
    labels = rng.permutation(np.repeat(np.arange(4), sizes))
    X, draw = rng.normal(size=(len(labels), 2)), Draw.of(m, sizes, each)
    batches = rows_of(scattered(X, seed, group=labels), "group")
    sample = sample_of(replace(batches, labelling=LabelColumn("group", (0, 1, 2, 3))), draw)
    found = np.bincount(sample.labels, minlength=4)
    assert len(sample.labels) == m
    assert found[2] > min(sizes[2] / 2, each / 3)
    assert each / 3 < found[3] < 2.5 * each
    weights = 1 / draw.rates[sample.labels]
    assert draw.rates[0] == draw.rates[1] == 1
    share = np.bincount(sample.labels, weights, 4)[3] / weights.sum() / (sizes[3] / sizes.sum())
    assert 0.4 < share < 2
