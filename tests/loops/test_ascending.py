"""The ascending order of a column, against numpy's sort."""

import numpy as np
import pytest

from boxwood.loops import order as sorting
from boxwood.loops.order import _sort_rows, ascending, sort_rows
from tests.scale import seeds

KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "every size": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-320, 308, n),
    "whole": lambda rng, n: rng.integers(-40, 40, n).astype(float),
    "zeros": lambda rng, n: rng.choice([0.0, -0.0, 5e-324, -5e-324], n),
    "equal": lambda rng, n: np.full(n, rng.normal()),
    "near": lambda rng, n: 1e9 + rng.random(n),
    "ends": lambda rng, n: rng.choice([-1.7976931348623157e308, 1.7976931348623157e308, 1.0], n),
    "ascending": lambda rng, n: np.sort(rng.normal(size=n)),
    "every other": lambda rng, n: rng.normal(size=2 * n)[::2],
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_come_in_ascending_order(kind, monkeypatch):
    monkeypatch.setattr(sorting, "FEW", 0)
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        values = KINDS[kind](rng, int(rng.integers(1, 300)))
        order = ascending(values)
        assert np.array_equal(np.sort(order), np.arange(len(values)))
        assert np.array_equal(values[order], np.sort(values)), f"seed {seed}"


def test_many_values_come_in_ascending_order():
    rng = np.random.default_rng(0)
    for kind in KINDS.values():
        values = kind(rng, 5000)
        assert np.array_equal(values[ascending(values)], np.sort(values))


def test_the_loop_says_where_values_are_too_near():
    values, order = np.arange(100.0)[::-1].copy(), np.empty(100, dtype=np.int32)
    keys = np.zeros((3, 100), dtype=np.int32)
    loop = getattr(sort_rows, "py_func", sort_rows)  # whether it is compiled or not
    assert not loop(values, *keys, order)
    assert sorted(order) == list(range(100))
    assert loop(np.zeros(100), *keys, order)


def test_numpy_sorts_values_that_are_too_near_for_the_loop():
    values, order = np.arange(100.0)[::-1].copy(), np.empty(100, dtype=np.int32)
    assert _sort_rows(values, *np.zeros((3, 100), dtype=np.int32), order)
    assert order.tolist() == list(range(99, -1, -1))
