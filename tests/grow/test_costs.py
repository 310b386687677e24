"""Costs as whole numbers: the factor that scales them, and the same numbers however many rows a block has."""

import math

import numpy as np
import pytest

from boxwood import Reference
from boxwood.grow.shared import costs
from boxwood.reference import Task
from tests.cases import make_case
from tests.scale import seeds


def exact_scale(largest):
    return math.ldexp(1.0, min(61 - math.frexp(math.fsum(largest.tolist()))[1], 1023))


def test_the_factor_is_that_of_the_exact_sum():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        largest = rng.random(int(rng.integers(0, 30))) * 2.0 ** rng.integers(-1074, 900)
        assert costs.scale_of(largest) == exact_scale(largest)


def test_the_factor_where_a_plain_sum_would_be_wrong():
    tenths = np.full(10, 0.1)  # their exact sum is more than 1, and that of floats, one by one, is less
    assert math.frexp(sum(tenths.tolist()))[1] != math.frexp(math.fsum(tenths))[1]
    many = np.full(1 << 12, np.nextafter(2.0**-12, 0))  # just below 1
    for largest in (tenths, many, np.append(many, 1e-11), np.zeros(3), np.empty(0)):
        assert costs.scale_of(largest) == exact_scale(largest)


@pytest.mark.parametrize("objective", ["cost", "mistakes"])
def test_rows_in_several_blocks(objective, monkeypatch):
    for seed in seeds(40):
        X, labels, weights = make_case(seed)
        task = Task.of(X, Reference.of(X, labels, sample_weight=weights), sample_weight=weights)
        problem = costs.make_problem(task, objective)
        rows = np.flatnonzero(problem.kept)
        whole, scale = costs.integer_costs(problem, rows)
        expected = np.rint(problem.costs(rows) * problem.share[rows, None] * scale).astype(np.int64)
        np.testing.assert_array_equal(whole, expected * problem.times[rows, None])
        assert scale == exact_scale(costs.largest_costs(problem, rows))
        with monkeypatch.context() as patch:
            patch.setattr(costs, "BLOCK_ROWS", 0)  # costs are computed twice, as for more rows than one block has
            np.testing.assert_array_equal(costs.integer_costs(problem, rows)[0], whole)
