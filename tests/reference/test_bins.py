"""Bins of the columns: ranks in order, equal values together, about as many rows in each."""

import numpy as np
import pytest

from boxwood import Reference
from boxwood.reference import Task
from boxwood.reference.bins import N_BINS, Bins, LooseBins
from tests.cases import make_case, single
from tests.scale import seeds


@pytest.mark.parametrize("is_long", [False, True])
def test_a_bin_holds_a_run_of_the_order_and_all_rows_of_a_value(is_long, monkeypatch):
    if is_long:
        monkeypatch.setattr("boxwood.reference.bins.LONG", 0)
    for seed in seeds(60):
        X, labels, weights = make_case(seed, max_rows=200)
        task = Task.of(X, Reference.of(X, labels), sample_weight=weights)
        bins = task.bins
        assert type(bins) is (LooseBins if is_long else Bins)
        for j in range(X.shape[1]):
            of_rank = bins.codes[task.order[j], j]
            assert (np.diff(of_rank.astype(int)) >= 0).all()
            assert bins.starts[j].tolist() == np.searchsorted(of_rank, np.arange(N_BINS + 1)).tolist()
            for value in np.unique(X[task.kept, j]):
                assert len(np.unique(bins.codes[task.kept & (X[:, j] == value), j])) == 1


@pytest.mark.parametrize("is_long", [False, True])
def test_wanted_bins_are_in_order_and_others_hold_their_rows(is_long, monkeypatch):
    if is_long:
        monkeypatch.setattr("boxwood.reference.bins.LONG", 0)
    for seed in seeds(30):
        X, labels, weights = make_case(seed, max_rows=400)
        task, rng = Task.of(X, Reference.of(X, labels), sample_weight=weights), np.random.default_rng(seed)
        for j in np.repeat(np.arange(X.shape[1]), 2).tolist():
            wanted = rng.random(N_BINS) < 0.3
            order, starts = task.bins.order(j, wanted), task.bins.starts[j]
            for b in range(N_BINS):
                rows = order[starts[b] : starts[b + 1]]
                assert sorted(rows.tolist()) == np.flatnonzero(task.kept & (task.bins.codes[:, j] == b)).tolist()
                assert not wanted[b] or (np.diff(X[rows, j]) >= 0).all()


def test_values_that_differ_are_spread_over_all_bins():
    X = np.random.default_rng(0).permutation(6400).astype(float)[:, None]
    bins = Task.of(X, Reference.of(X, np.arange(6400) % 2)).bins
    assert np.bincount(bins.codes[:, 0]).tolist() == [100] * N_BINS


def test_bins_of_a_long_table_hold_about_as_many_rows_each(monkeypatch):
    monkeypatch.setattr("boxwood.reference.bins.LONG", 0)
    X = np.exp(3 * np.random.default_rng(0).normal(size=(64_000, 1)))
    sizes = np.diff(Task.of(X, Reference.of(X, np.arange(64_000) % 2)).bins.starts[0])
    assert sizes.min() > 500
    assert sizes.max() < 2000


@pytest.mark.parametrize("is_long", [False, True])
def test_common_values_have_bins_of_their_own(is_long, monkeypatch):
    if is_long:
        monkeypatch.setattr("boxwood.reference.bins.LONG", 0)
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        X = (
            rng.choice([-1.0, 0.0, 3.0], p=[0.1, 0.6, 0.3], size=(5000, 2))
            + (rng.random((5000, 2)) < 0.2) * rng.random()
        )
        X = single(X) if seed % 2 else X
        bins = Task.of(X, Reference.of(X, np.arange(5000) % 2)).bins
        for j in range(2):
            for b in np.flatnonzero(bins.single[j]):
                assert len(np.unique(X[bins.codes[:, j] == b, j])) <= 1
            values, counts = np.unique(X[:, j], return_counts=True)
            for value in values[counts > 5000 / 16]:
                code = bins.codes[X[:, j] == value, j][0]
                assert bins.single[j, code] or (X[bins.codes[:, j] == code, j] == value).all()
            if not is_long:
                n_values = [len(np.unique(X[bins.codes[:, j] == b, j])) for b in range(N_BINS)]
                assert bins.single[j].tolist() == [n == 1 for n in n_values]
