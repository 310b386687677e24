"""The plan for many machines holds in a simulation that counts passes and bytes."""

import pytest
from benchmarks.plan import FAN_IN, _levels_of_merging, plan, simulate

pytestmark = pytest.mark.full


@pytest.mark.parametrize("shape", [(3_000, 4, 5), (5_000, 12, 8), (400, 30, 3), (2_000, 2, 12)])
def test_counts_are_within_the_plan(shape):
    planned, machines = simulate(*shape, n_machines=11)
    least, most = (sum(one.times[end] for one in planned.passes) for end in (0, 1))
    assert least <= len(machines.counted) <= most
    largest = max(one.summary for one in planned.passes)
    overhead = 5_000  # names of classes and of arrays in a pickle
    assert largest / 20 <= max(summary for _, summary, _ in machines.counted) <= largest + overhead
    n_sent = sum(_levels_of_merging(11))
    bound = sum(one.times[1] * (planned.moved(one) + n_sent * overhead) for one in planned.passes)
    assert sum(moved for *_, moved in machines.counted) <= bound


def test_summaries_do_not_grow_with_the_rows():
    small, large = (plan(n, 1000, 200, levels=20, n_machines=200, open_columns=50) for n in (1e7, 1e10))
    assert [one.summary for one in small.passes] == [one.summary for one in large.passes]
    assert max(one.summary for one in large.passes) < 100e6


def test_each_round_of_merging_has_an_eighth_of_the_summaries():
    assert FAN_IN == 8
    assert _levels_of_merging(200) == [200, 25, 4]
    assert _levels_of_merging(1) == []
