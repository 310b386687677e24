"""A pass on the workers of Spark and Dask adds up what it adds up in memory, whatever happens to a worker."""

import os
import signal
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood.batches import LabelColumn, NearestCenters
from boxwood.batches.batches import rows_of
from boxwood.batches.overview import Overview
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.explanation.choose import search
from boxwood.grow import METHODS
from boxwood.grow.centers import imm_batches
from boxwood.reference import Reference, Task
from boxwood.table import spark

pytestmark = pytest.mark.machines


def some_table(seed, n=4000):
    """Return rows of three clusters with ties, their centres, and columns of labels and of weights."""
    random = np.random.default_rng(seed)
    labels = random.integers(3, size=n)
    X = random.normal(size=(n, 4)) + labels[:, None] * [2.0, 0.5, -1.0, 0.0]
    X[:, 1] = X[:, 1].round(1)
    X[:, 2] = X[:, 2].round() * 1e-12
    columns = {f"x{j}": X[:, j] for j in range(4)}
    columns |= {"segment": np.array(["a", "b", "c", "-1"])[np.where(random.random(n) < 0.1, 3, labels)]}
    columns |= {"w": random.random(n), "whole": random.integers(10**6, size=n), "flag": random.random(n) < 0.3}
    return pa.table(columns), np.array([X[labels == c].mean(axis=0) for c in range(3)])


def shuffled(table, seed=0):
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def facts(overview):
    """Return all that an overview holds, as plain values."""
    return {
        name: [each.value for each in value] if name == "weight" else np.asarray(value).tolist()
        for name, value in vars(overview).items()
    }


class Count:
    """Adds up numbers of rows, and what batches look like."""

    def __init__(self):
        self.n_rows, self.seen = 0, set()

    def update(self, batch, start):
        self.n_rows += batch.num_rows
        self.seen.add((start, tuple(batch.schema.names)))

    def merge(self, other):
        self.n_rows += other.n_rows
        self.seen |= other.seen


# ------------------------------------------------------------------------------------------------- the same sums


@pytest.mark.parametrize("parts", [1, 2, 4, 7])
def test_sums_are_those_in_memory(machines, parts):
    table, centers = some_table(parts)
    columns = ("x0", "x1", "x2", "x3")
    source = machines.source(machines.frame(shuffled(table), parts))
    for labelling in (NearestCenters(centers), LabelColumn("segment", ("c", "a", "b"))):
        batches = replace(rows_of(ArrowSource(table), weight="w"), columns=columns, labelling=labelling)
        make = partial(Overview, 3, 4)
        assert facts(replace(batches, source=source).fold(make)) == facts(batches.fold(make))


def test_columns_have_the_kinds_that_they_have_in_memory(machines):
    table, _ = some_table(0, 10)
    table = table.append_column("day", pa.array([None] * 10, pa.date32()))
    table = table.append_column("cents", pa.array([None] * 10, pa.decimal128(9, 2)))
    table = table.append_column("lists", pa.array([[1]] * 10))
    source, local = machines.source(machines.frame(table)), ArrowSource(table)
    assert (source.names, source.kinds) == (local.names, local.kinds)


def test_the_same_trees(machines, monkeypatch):
    """Every method is tried on scattered batches elsewhere; here are passes of each kind."""
    monkeypatch.setattr(imm_batches, "IN_MEMORY", 0)  # a small table would be read into memory
    table, centers = some_table(5)
    table = table.select([f"x{j}" for j in range(4)])
    reference = Reference(NearestCenters(centers), centers)
    source = machines.source(machines.frame(shuffled(table), 3))
    for name in ("imm", "greedy", "mmdt"):
        trees = [
            METHODS[name].grow(Task.of(rows, reference, random_state=0)).tree for rows in (source, ArrowSource(table))
        ]
        assert trees[0] == trees[1], name


def test_explain_says_the_same(machines):
    table, _ = some_table(6)
    table = table.drop_columns(["whole", "flag"])
    frame = machines.frame(shuffled(table), 3)
    ex, local = (
        bw.explain(rows, "segment", method="imm", sample_weight="w", names={"a": "first"})
        for rows in (frame, ArrowSource(table))
    )
    assert ex.tree == local.tree
    assert str(ex) == str(local)
    assert ex.names == ("first", "b", "c")
    assert machines.table(ex.predict(frame)).num_rows == table.num_rows
    with pytest.raises(DataError, match="no column 'segmnt'"):
        bw.explain(frame, "segmnt")


def test_batches_have_the_columns_asked_for(machines):
    table, _ = some_table(1, 50)
    source = machines.source(machines.frame(table, 3))
    for columns in ([], ["w", "x0"], ["segment"]):
        count = source.run(Count, columns)
        assert (count.n_rows, count.seen) == (50, {(None, tuple(columns))})


def test_names_may_be_anything(machines):
    names = ["a.b", "two words", 'say "hi"', "it's", "`tick`", "é🌳", "x", "X"]
    values = np.random.default_rng(0).normal(size=(30, 8))
    table = pa.table(dict(zip(names, values.T, strict=True)))
    source = machines.source(machines.frame(table))
    assert source.names == tuple(names)
    overview = rows_of(source).fold(partial(Overview, 1, 8), [7, 0, 6])
    assert overview.n_rows == 30
    assert source.run(Count, names[::-1]).seen == {(None, tuple(names[::-1]))}


def test_two_columns_of_one_name_are_refused(machines):
    frame = machines.frame(pa.table({"x": [1.0], "y": [2.0]}))
    if machines.name == "spark":
        frame = frame.toDF("x", "x")
    else:
        frame.columns = ["x", "x"]
    with pytest.raises(DataError, match="different names, but these occur more than once: 'x'"):
        machines.source(frame)


def test_missing_values_count_alike_as_null_and_nan(machines):
    rows = {"x": [1.0, None, float("nan"), 2.0], "n": [1, None, 3, None], "f": [True, None, False, None]}
    source = machines.source(machines.frame(pa.table(rows)))
    reference = Reference(NearestCenters(np.zeros((1, 3))), np.zeros((1, 3)))
    with pytest.raises(DataError, match=r"missing values in 3 of 4 rows: x \(2\), n \(2\), f \(2\)\nleave those"):
        Task.of(source, reference).overview  # noqa: B018


def test_numbers_of_every_type(machines):
    rows = {
        "float": pa.array([0.1, 2.5], pa.float32()),
        "small": pa.array([-128, 127], pa.int8()),
        "large": pa.array([2**53, -(2**53)], pa.int64()),
        "decimal": pa.array(["12.34", "-0.01"]).cast(pa.decimal128(9, 2)),
        "flag": pa.array([False, True]),
    }
    source = machines.source(machines.frame(pa.table(rows), 1))
    overview = replace(rows_of(source), labelling=NearestCenters(np.zeros((1, 5)))).fold(partial(Overview, 1, 5))
    assert overview.least[0].tolist() == [float(np.float32(0.1)), -128.0, -(2.0**53), -0.01, 0.0]
    assert overview.most[0].tolist() == [2.5, 127.0, 2.0**53, 12.34, 1.0]


def test_no_rows_and_parts_without_rows(machines):
    table, _ = some_table(2, 30)
    assert machines.source(machines.frame(table.slice(0, 0), 2)).run(Count, ["x0"]).n_rows == 0
    assert machines.source(machines.frame(table.slice(0, 3), 7)).run(Count, ["x0"]).n_rows == 3


class Large(Count):
    """A summary of four megabytes that no compression makes smaller, with the rows' values in the order of merges."""

    def __init__(self):
        super().__init__()
        self.noise = np.random.default_rng(0).random(1 << 19)

    def merge(self, other):
        super().merge(other)
        assert (self.noise == other.noise).all()


@pytest.mark.parametrize("width", [32, 2])
def test_many_large_summaries_are_merged_before_they_reach_the_driver(machines, width, monkeypatch):
    """Spark refuses results of more than 32 MB in these tests; the second pass knows how many partitions there are."""
    monkeypatch.setattr(spark, "WIDTH", width)
    table, _ = some_table(3, 300)
    source = machines.source(machines.frame(table, 12))
    for _ in range(2):
        summary = source.run(Large, ["x0"])
        assert summary.n_rows == 300
        assert len(summary.noise) == 1 << 19


def test_auto_takes_at_most_five_passes(machines, monkeypatch):
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 1_000)
    table, _ = some_table(6)
    table = table.drop_columns(["whole", "flag", "w"])
    frame, local = machines.source(machines.frame(shuffled(table), 3)), ArrowSource(table)
    local.is_local = False  # or it would be read into memory
    ex, other = (bw.explain(rows, "segment", max_leaf_nodes=3) for rows in (frame, local))
    assert frame.n_passes <= 5
    assert str(ex) == str(other)


# ------------------------------------------------------------------------------------------------------- errors


class Refusing(Count):
    """Refuses a table; with the text and the kind of error that it is made with."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def update(self, batch, start):
        raise self.error


@pytest.mark.parametrize("error", [DataError("column 'a' has\ntwo lines: \"é\" 'x'"), TypeError("no such type")])
def test_an_error_of_the_table_arrives_as_it_is(machines, error):
    table, _ = some_table(4, 40)
    with pytest.raises(type(error)) as caught:
        machines.source(machines.frame(table)).run(partial(Refusing, error), ["x0"])
    assert type(caught.value) is type(error)
    assert str(caught.value) == str(error)


def test_other_errors_come_with_their_text(machines):
    table, _ = some_table(4, 40)
    with pytest.raises(Exception, match="no space left") as caught:
        machines.source(machines.frame(table)).run(partial(Refusing, OSError("no space left")), ["x0"])
    assert not isinstance(caught.value, DataError)


class Killed(Count):
    """Kills its worker, as often as there are flags to take."""

    def __init__(self, flags):
        super().__init__()
        self.flags = flags

    def update(self, batch, start):
        super().update(batch, start)
        for flag in self.flags:
            try:
                flag.unlink()
            except FileNotFoundError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_costs_nothing_but_time(machines, tmp_path):
    table, _ = some_table(6, 400)
    flag = tmp_path / "flag"
    flag.touch()
    summary = machines.source(machines.frame(table, 4)).run(partial(Killed, [flag]), ["x0", "x1"])
    assert not flag.exists()
    assert summary.n_rows == 400


def test_workers_that_always_die_end_the_pass_with_an_error(machines, tmp_path):
    if machines.name == "dask":
        machines.cluster.scheduler.allowed_failures = 0
    flags = [tmp_path / f"flag{i}" for i in range(20)]
    for flag in flags:
        flag.touch()
    table, _ = some_table(6, 40)
    with pytest.raises(Exception, match=r"Python worker exited unexpectedly|worker.* died"):
        machines.source(machines.frame(table, 1)).run(partial(Killed, flags), ["x0"])
    if machines.name == "dask":
        machines.cluster.scheduler.allowed_failures = 3
    for flag in flags:
        flag.unlink(missing_ok=True)
    assert machines.source(machines.frame(table)).run(Count, ["x0"]).n_rows == 40
