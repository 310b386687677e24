"""Medians of a table in batches: those of the same rows in memory."""

import numpy as np
import pytest

from boxwood import DataError, Reference
from boxwood.passes import TableTask, _medians
from tests.cases import make_case
from tests.scale import seeds
from tests.scattered import scattered


@pytest.mark.parametrize("seed", seeds(200))
def test_medians_are_those_of_rows_in_memory(seed, monkeypatch):
    rng, case = np.random.default_rng(seed), make_case(seed)
    if seed % 2:  # bins are narrowed many times
        monkeypatch.setattr(_medians, "MOST_COUNTS", 1)
        monkeypatch.setattr(_medians, "MOST_GATHERED", int(rng.choice([0, 3, 10])))
    weights = None if case.weights is None else rng.integers(0, 4, size=len(case.weights)).astype(float)
    if weights is not None:
        weights[np.unique(case.labels, return_index=True)[1]] = 2.0  # no cluster without weight
    columns = {} if weights is None else {"weight": weights}
    source = scattered(case.X.astype(np.float64), seed, label=case.labels, **columns)
    found = Reference.of(source, "label", center="median", sample_weight=None if weights is None else "weight")
    expected = Reference.of(case.X, case.labels, center="median", sample_weight=weights)
    np.testing.assert_array_equal(found.centers, expected.centers)
    np.testing.assert_array_equal(np.signbit(found.centers), np.signbit(expected.centers))


@pytest.mark.parametrize("seed", seeds(20))
def test_wide_ranges_and_few_passes(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5000, 2)) * 10.0 ** rng.integers(-300, 300, size=(5000, 1))
    labels = rng.integers(-1, 3, size=5000)
    source = scattered(X, seed, label=labels)
    np.testing.assert_array_equal(
        Reference.of(source, "label", center="median").centers, Reference.of(X, labels, center="median").centers
    )
    assert source.runs == 2


def test_keys_are_in_the_order_of_numbers():
    values = np.array([-np.inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e300, np.inf])
    keys = _medians._keys(values)
    assert (np.diff(keys) >= 0).all()
    assert np.diff(keys)[[3, 4, 5, 7]].tolist() == [2, 0, 1, 1]  # no double has the key between 0 and the one below
    np.testing.assert_array_equal(_medians._values(keys), values)


def test_a_cluster_without_rows_keeps_its_centre():
    source = scattered(np.arange(6.0)[:, None], 0)
    task = TableTask.of(source, Reference.nearest(source, [[1.0], [4.0], [99.0]]))
    np.testing.assert_array_equal(_medians.medians_in(task.batches, task.overview)[:, 0], [1.0, 4.0, np.nan])


def test_refused():
    source = scattered(np.arange(4.0)[:, None], 0, label=[0, 0, 1, 1], w=[1.0, 0.5, 1.0, 1.0])
    with pytest.raises(DataError, match="need whole weights; column 'w' has others"):
        Reference.of(source, "label", center="median", sample_weight="w")
