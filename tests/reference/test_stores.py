"""Rows in memory and in batches: a task answers the same questions alike, and each refuses what is for the other."""

import pickle

import numpy as np
import pytest

from boxwood import explain
from boxwood.batches import NearestCenters
from boxwood.batches.overview import Overview
from boxwood.errors import DataError
from boxwood.grow._methods import METHODS
from boxwood.grow.grown import Grown
from boxwood.metrics import price_ceiling
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from tests.cases import make_case
from tests.scale import law
from tests.scattered import scattered

ASKED = ("n_rows", "n_columns", "n_kept", "is_weighted", "ranges", "grid", "equal_without_forbidden", "components")


def both(seed):
    """Return the task of a case in memory, and that of the same rows in batches."""
    case = make_case(seed)
    X = np.asarray(case.X, dtype=np.float64)
    weight = {} if case.weights is None else {"weight": case.weights}
    source, name = scattered(X, seed, label=case.labels, **weight), "weight" if weight else None
    here = Reference.of(X, case.labels, sample_weight=case.weights)
    there = Reference.of(source, "label", sample_weight=name)
    options = {"max_leaf_nodes": [None, 3, 9][seed % 3], "budget": Budget.of(max_depth=[None, 1, 2, 3][seed % 4])}
    in_memory = Task.of(X, here, sample_weight=case.weights, **options)
    return in_memory, Task.of(source, there, sample_weight=name, **options)


@law(40)
def test_a_task_answers_alike_wherever_its_rows_are(seed):
    here, there = both(seed)
    for name in ASKED:
        mine, its = getattr(here, name), getattr(there, name)
        assert repr(mine) == repr(its) if name in ("grid", "components") else np.array_equal(mine, its), name
    for name in ("weights", "origins", "offsets", "squares"):
        np.testing.assert_array_equal(getattr(here.moments, name), getattr(there.moments, name))
    assert [here.leaves(times) for times in (1, 2)] == [there.leaves(times) for times in (1, 2)]
    for task in (here, there):
        found = task.fold(lambda task=task: Overview(task.reference.n_clusters, task.n_columns))
        assert (found.n_rows, found.n_kept) == (task.n_rows, task.n_kept)
        np.testing.assert_array_equal([found.least.min(axis=0), found.most.max(axis=0)], task.ranges)


def test_what_is_known_of_rows_is_not_read_again():
    _, task = both(1)
    source = task.batches.source
    task.moments  # noqa: B018
    before = source.runs
    for other in (task.within(Budget.of()), task.with_leaves(2), task.with_reference(task.reference.named(None))):
        assert other.ranges is not None
        assert other.moments is task.moments
    assert source.runs == before


def test_rows_and_reference_are_in_one_place():
    here, there = both(0)
    with pytest.raises(TypeError, match="one of a table in batches, but the rows are in memory; make one of these: "):
        Task.of(here.rows, there.reference)
    for call in (
        lambda: explain(here.rows, there.reference),
        lambda: price_ceiling(here.rows, there.reference, kernel="gaussian"),
        lambda: there.reference.kept,
        lambda: there.reference.of_rows(np.arange(2)),
    ):
        with pytest.raises(TypeError, match="one of a table in batches, but the rows are in memory"):
            call()
    with pytest.raises(TypeError, match="one of rows in memory, but the rows are in batches; make one of a table in"):
        Task.of(there.batches, here.reference)
    with pytest.raises(DataError, match=r"all rows in memory, but .* is read in batches; read a sample of its rows"):
        there.rows  # noqa: B018
    with pytest.raises(DataError, match="'kernel_imm' needs all rows in memory; for rows in batches use 'imm' or"):
        METHODS["kernel_imm"].grow(there)
    assert isinstance(METHODS["imm"].grow(there), Grown)


def test_a_reference_of_a_table_in_batches_is_copied_and_named():
    centers = np.array([[0.0], [9.0]])
    reference = Reference(NearestCenters(centers), centers, ["near", "far"])
    assert repr(reference) == "Reference(n_clusters=2, in batches, n_columns=1)"
    copied = pickle.loads(pickle.dumps(reference.named({"far": "away"})))
    assert copied.in_batches
    assert copied.names == ("near", "away")
    assert copied.labelling.codes(np.array([[1.0], [8.0]]), None).tolist() == [0, 1]
