"""The plan for many machines holds in a simulation that counts passes and bytes."""

from itertools import pairwise

import pytest
from benchmarks.plan import FAN_IN, Taken, _levels_of_merging, explained, plan, simulate

from boxwood.explanation.choose import search
from boxwood.table.spark import rounds_of_merging

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


def test_auto_takes_few_passes_and_little_travels(monkeypatch):
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 400)
    machines, _ = explained(6_000, 8, 6, 30, "auto")
    in_a_tree, in_tasks = (Taken.of(machines, groups) for groups in (rounds_of_merging(30_000), [16]))
    assert in_a_tree.passes <= 5
    assert in_a_tree.tables <= 5
    sample = 400 * 8 * 10  # bytes, all of which each part sent before
    assert machines.sent[2] < sample / 2
    assert in_a_tree.merged < in_tasks.merged / 10
    assert in_a_tree.seconds < in_tasks.seconds


def test_the_tree_of_merging_grows_wider_with_the_partitions():
    for n_parts in (1, 4, 5, 100, 129, 1_000, 30_000, 10**6):
        groups = [n_parts, *rounds_of_merging(n_parts)]
        assert groups[-1] <= 4
        widths = [before / after for before, after in pairwise(groups)]
        assert max(widths, default=1) <= max(32, (n_parts / 4) ** 0.5 * 1.1)
