"""Ex-Greedy and ExShallow by passes: the trees of rows in memory to the last bit, from however scattered batches."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from boxwood.batches import LabelColumn, NearestCenters
from boxwood.errors import DataError
from boxwood.grow import greedy, shallow
from boxwood.grow._methods import METHODS
from boxwood.grow.centers import greedy_batches as search
from boxwood.loops.greedy import foretold_depth, write_least_depths
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from tests.grow.test_expand_batches import look_closely, tables
from tests.scale import law, seeds
from tests.scattered import scattered

PENALTIES = (0.001, 0.03, 0.1, 1.0)
METHODS_HERE = ("greedy", "shallow")


def options(name, seed):
    return {"duplicates": "merge"} | ({"depth_penalty": PENALTIES[seed % 4]} if name == "shallow" else {})


def grown(name, task, seed):
    """Return what a method grows; equal centres may be merged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return METHODS[name].grow(task, **options(name, seed))


@pytest.fixture(params=["at once", "little by little"])
def sizes(request, monkeypatch):
    """Whether the rows are looked at as those of a small or of a large table."""
    if request.param == "little by little":
        look_closely(monkeypatch, search, search, 3, 4, 9)


@law(60)
@pytest.mark.parametrize("name", METHODS_HERE)
def test_trees_are_those_of_rows_in_memory(seed, name, sizes):
    task, by_passes = tables(seed)
    assert grown(name, by_passes, seed) == grown(name, task, seed)


@law(20)
@pytest.mark.parametrize("name", METHODS_HERE)
def test_forbidden_columns_are_hidden(seed, name, sizes):
    task, by_passes = tables(seed)
    d = by_passes.batches.n_columns
    if d == 1:
        return
    budget = Budget(forbidden=(seed % d,))
    both = replace(by_passes, budget=budget), task.within(budget)
    if both[1].equal_without_forbidden:
        for each in both:
            with pytest.raises(DataError, match="equal centres in the columns that rules may test"):
                grown(name, each, seed)
    else:
        assert grown(name, both[0], seed) == grown(name, both[1], seed)


@pytest.mark.parametrize("name", METHODS_HERE)
@law(3)
def test_a_table_with_many_rows_is_looked_at_in_bins(seed, name, monkeypatch):
    rng = np.random.default_rng(seed)
    n, k = 400, 6
    labels = rng.integers(k, size=n)
    X = np.column_stack([3 * rng.normal(size=(k, 3))[labels] + rng.normal(size=(n, 3)), rng.standard_cauchy(n) ** 3])
    weights = rng.integers(1, 4, size=n) if seed else None
    reference = Reference.of(X, labels)
    look_closely(monkeypatch, search, search, 512, 50, 200)
    columns = {"label": labels} | ({} if weights is None else {"w": weights})
    source = scattered(X, seed, **columns)
    clusters = Reference(LabelColumn("label", tuple(range(k))), reference.centers)
    by_passes = Task.of(source, clusters, sample_weight=None if weights is None else "w")
    expected = grown(name, Task.of(X, reference, sample_weight=weights), seed)
    assert grown(name, by_passes, seed) == expected
    assert source.runs <= 2 + 4 * expected.tree.depth


@law(10)
def test_sources_stand_where_rows_stand(seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.integers(0, 9, size=(60, 3)).astype(float), rng.normal(5, 3, size=(5, 3))
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    source, reference = scattered(X, seed), Reference(NearestCenters(centers), centers)
    for grow in (greedy, shallow):
        assert grow(source, reference) == grow(X, Reference(labels, centers))


def test_what_needs_all_rows_in_memory_is_refused():
    source = scattered([[0.0], [1.0], [2.0]], 0, label=[0, 1, 1])
    reference = Reference(LabelColumn("label", (0, 1)), [[0.0], [1.5]])
    with pytest.raises(DataError, match="use tie_break='first'"):
        greedy(source, reference, tie_break="margin")
    with pytest.raises(ValueError, match="at least 0"):
        shallow(source, reference, depth_penalty=-1)
    equal = Reference(LabelColumn("label", (0, 1)), [[1.0], [1.0]])
    with pytest.raises(DataError, match="equal centres"):
        greedy(source, equal)


def test_no_share_between_two_has_less_than_the_least_depth():
    rng = np.random.default_rng(0)
    for _ in seeds(300):
        k = int(rng.integers(2, 40))
        low, high = np.sort(rng.random(2) ** rng.integers(1, 9, size=2))
        n_left, least = int(rng.integers(1, k)), np.empty(1)
        write_least_depths(np.array([low]), np.array([high]), np.array([n_left]), k, least)
        depths = [foretold_depth(float(share), n_left, k) for share in np.linspace(low, high, 5)]
        assert least[0] <= min(depths) * (1 + 1e-12)
