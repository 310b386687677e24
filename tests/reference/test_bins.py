"""Bins of the columns: ranks in order, equal values together, about as many rows in each."""

import numpy as np

from boxwood import Reference
from boxwood.reference import Task
from boxwood.reference._bins import N_BINS
from tests.cases import make_case
from tests.scale import seeds


def test_a_bin_holds_a_run_of_the_order_and_all_rows_of_a_value():
    for seed in seeds(60):
        X, labels, weights = make_case(seed, max_rows=200)
        task = Task.of(X, Reference.of(X, labels), sample_weight=weights)
        codes, starts = task.bins
        for j in range(X.shape[1]):
            of_rank = codes[task.order[j], j]
            assert (np.diff(of_rank.astype(int)) >= 0).all()
            assert starts[j].tolist() == np.searchsorted(of_rank, np.arange(N_BINS + 1)).tolist()
            for value in np.unique(X[task.kept, j]):
                assert len(np.unique(codes[task.kept & (X[:, j] == value), j])) == 1


def test_values_that_differ_are_spread_over_all_bins():
    X = np.random.default_rng(0).permutation(6400).astype(float)[:, None]
    bins = Task.of(X, Reference.of(X, np.arange(6400) % 2)).bins
    assert np.bincount(bins.codes[:, 0]).tolist() == [100] * N_BINS
