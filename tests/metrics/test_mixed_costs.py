"""Costs of groups in tables of numbers and categories with gaps, against one-hot columns in whole fractions."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from boxwood import DataError, metrics
from boxwood.metrics.mixed_costs import mixed_cost, mixed_scales
from tests.naive.mixed import mixed_cost as twin
from tests.naive.mixed import mixed_variances
from tests.scale import law, seeds

COLUMNS = (
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: 1e12 + 1e-3 * rng.normal(size=n),
    lambda rng, n: 1e-12 * rng.normal(size=n),
    lambda rng, n: np.full(n, 0.1),
    lambda rng, n: rng.integers(0, 3, size=n).astype(float),
    lambda rng, n: 1e100 * rng.normal(size=n),
)


def mixed_case(seed, max_rows=14):
    """Return a table, its columns of categories, groups, and weights: few rows, many gaps, anything constant."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, max_rows)), int(rng.integers(1, 5))
    categorical = {j for j in range(d) if rng.random() < 0.5}
    codes = [rng.integers(0, rng.integers(1, 6), size=n).astype(float) for _ in range(d)]
    kinds = rng.integers(len(COLUMNS), size=d)
    table = np.column_stack([codes[j] if j in categorical else COLUMNS[kinds[j]](rng, n) for j in range(d)])
    table[rng.random(table.shape) < rng.choice([0, 0.2, 0.9])] = np.nan
    weights = [None, rng.integers(0, 4, size=n) * 1.0, rng.random(n), 10.0 ** rng.integers(-5, 5, size=n)]
    weight = weights[rng.integers(4)]
    if weight is not None and not weight.any():
        weight[0] = 1.0
    return table, categorical, rng.integers(-1, rng.integers(1, 5), size=n), weight


def test_costs_are_those_of_one_hot_columns():
    for seed in seeds(1000):
        table, categorical, groups, weights = mixed_case(seed)
        scales = np.random.default_rng(seed).choice([1.0, 0.3, 2.0**-300], size=table.shape[1])
        expected = twin(table, categorical, groups, weights, scales)
        found = mixed_cost(table, categorical, groups, weights, scales)
        assert found == pytest.approx(float(expected), rel=1e-14, abs=0), seed


def test_scales_bring_variances_to_one():
    constant = 0
    for seed in seeds(1000):
        table, categorical, _, weights = mixed_case(seed)
        scales = mixed_scales(table, categorical, weights)
        for scale, variance in zip(scales.tolist(), mixed_variances(table, categorical, weights), strict=True):
            constant += variance == 0
            scaled = float(Fraction(scale) ** 2 * variance) if variance else scale
            assert scaled == pytest.approx(1, rel=1e-14, abs=0), seed
    assert constant > 10


def test_without_gaps_and_categories_it_is_the_cost_of_a_partition():
    for seed in seeds(50):
        rng = np.random.default_rng(seed)
        X, labels, weights = rng.normal(size=(200, 3)), rng.integers(-1, 4, size=200), rng.random(200)
        expected = metrics.partition_cost(X, labels, sample_weight=weights)
        assert mixed_cost(X, (), labels, weights, np.ones(3)) == pytest.approx(expected, rel=1e-13)
        coded = X.copy()
        coded[:, 1] = rng.integers(0, 4, size=200)
        one_hot = OneHotEncoder(sparse_output=False).fit_transform(coded[:, [1]])
        expected = metrics.partition_cost(np.hstack([X[:, [0, 2]], one_hot]), labels, sample_weight=weights)
        assert mixed_cost(coded, {1}, labels, weights, np.ones(3)) == pytest.approx(expected, rel=1e-13)


@law(60)
def test_neither_order_nor_names_nor_threads_change_a_digit(seed):
    table, categorical, groups, weights = mixed_case(seed, max_rows=300)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(table)), rng.permutation(max(groups.max() + 1, 1))
    codes = {j: rng.permutation(6).astype(float) for j in categorical}
    other = np.asfortranarray(table[order])
    for j, code in codes.items():
        there = ~np.isnan(other[:, j])
        other[there, j] = code[other[there, j].astype(int)]
    scales = np.ones(table.shape[1])
    cost = mixed_cost(table, categorical, groups, weights, scales, n_jobs=1)
    weight = None if weights is None else weights[order]
    named = np.where(groups < 0, -1, names[groups])[order]
    assert mixed_cost(other, categorical, named, weight, scales, n_jobs=3) == cost
    np.testing.assert_array_equal(
        mixed_scales(other, categorical, weight), mixed_scales(table, categorical, weights, n_jobs=1)
    )


def test_tables_of_several_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 5, size=1000), rng.normal(size=1000)])
    table[rng.random(table.shape) < 0.2] = np.nan
    groups, weights = rng.integers(-1, 3, size=1000), rng.random(1000)
    cost = mixed_cost(table, {0}, groups, weights, np.ones(2))
    monkeypatch.setattr("boxwood.metrics.mixed_costs.BLOCK_ROWS", 77)
    assert mixed_cost(table, {0}, groups, weights, np.ones(2)) == cost


def test_a_group_of_equal_values_costs_nothing():
    table = np.array([[0.1, 2.0], [0.1, 2.0], [0.1, np.nan], [7.0, 1.0]])
    assert mixed_cost(table, {1}, np.array([0, 0, 0, 1]), np.array([0.1, 0.2, 0.3, 1.0]), np.ones(2)) == 0
    nothing = np.full((3, 2), np.nan)
    assert mixed_cost(nothing, {1}, np.array([0, 1, 1]), None, np.ones(2)) == 0
    assert mixed_cost(table, {1}, np.full(4, -1), None, np.ones(2)) == 0
    assert mixed_scales(nothing, {1}, None).tolist() == [1, 1]


def test_only_the_scaled_cost_must_be_in_range():
    table, groups = np.array([[0.0], [2e200]]), np.zeros(2, dtype=int)
    assert mixed_cost(table, (), groups, None, mixed_scales(table, (), None)) == pytest.approx(2)
    with pytest.raises(DataError, match="beyond the largest float"):
        mixed_cost(table, (), groups, None, np.ones(1))
