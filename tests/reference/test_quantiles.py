"""Quantiles and medians of groups are those of numpy, to the last bit, whatever the values look like."""

import numpy as np
import pytest

from boxwood.batches.ranks import (
    MediansOfGroups,
    QuantilesOfGroups,
    columns_in_groups,
    places_in_groups,
    values_at_ranks,
)
from tests.scale import seeds

PERCENTS = (5, 25, 50, 75, 95)
KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(-2, 3, size=n) / 4,
    "constant": lambda rng, n: np.full(n, 0.1),
    "two values": lambda rng, n: rng.integers(0, 2, size=n).astype(float),
    "mostly zero": lambda rng, n: (rng.random(n) > 0.98) * rng.normal(size=n),  # zeros of both signs
    "skewed": lambda rng, n: rng.lognormal(2, 3, size=n),
    "huge": lambda rng, n: rng.uniform(-8e307, 8e307, size=n),
    "below the least normal double": lambda rng, n: rng.normal(size=n) * 1e-310,
    "near and far": lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.9, 1e-9, 1e9),
}


def case_of(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 7, 30, 200, 3000]))
    cuts = rng.choice(np.arange(1, n), min(n - 1, int(rng.integers(8))), replace=False)
    return KINDS[kind](rng, n), np.array([0, *np.sort(cuts), n])


@pytest.mark.parametrize("kind", KINDS)
def test_quantiles_medians_and_ranks_are_those_of_numpy(kind):
    for seed in seeds(15):
        x, bounds = case_of(kind, seed)
        parts = np.split(x, bounds[1:-1])
        found = QuantilesOfGroups(bounds, PERCENTS).of(x)
        np.testing.assert_array_equal(found, [np.percentile(part, PERCENTS) for part in (*parts, x)])
        np.testing.assert_array_equal(MediansOfGroups(bounds).of(x), [np.median(part) for part in parts])
        ranks = np.sort(np.random.default_rng(seed).integers(len(x), size=4))
        np.testing.assert_array_equal(values_at_ranks(x, ranks.tolist()), np.sort(x)[ranks])


def test_differences_may_be_larger_than_the_largest_double():
    x = np.tile([-1.7e308, 1.7e308, 1.0, 2.0, -3.0], 20)
    np.testing.assert_array_equal(values_at_ranks(x, range(100)), np.sort(x))
    assert MediansOfGroups(np.array([0, 5, 100])).of(x).tolist() == [1.0, 1.0]


def test_columns_stand_in_the_order_of_the_groups():
    X, groups = np.arange(24.0).reshape(6, 4), np.array([1, -1, 0, 1, -1, 0])
    places, counts = places_in_groups(groups, 3)
    order = [2, 5, 0, 3]
    assert (places[order].tolist(), places[[1, 4]].tolist(), counts.tolist()) == ([0, 1, 2, 3], [-1, -1], [2, 2, 0])
    for rows in (X, np.asfortranarray(X), X.astype(np.float32), X[:, ::-1][:, ::-1]):
        for room in (None, np.empty((3, 4))):
            found = columns_in_groups(rows, [2, 0], places, room)
            np.testing.assert_array_equal(found, X[order][:, [2, 0]].T)
