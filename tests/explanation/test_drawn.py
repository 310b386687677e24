"""Clusters that boxwood makes of a long table in batches: as of a frame, on rows that are drawn, told of all rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

from boxwood import explain, load, scan
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.explanation.choose import settings
from boxwood.explanation.measure.measure import measure
from boxwood.grow.grown import Grown
from tests.explanation.test_gathered import told
from tests.scale import draws, law

N = 600
KINDS = ("words", "gaps", "identifiers", "tails", "copies", "dates")


def separated(seed, kinds=KINDS):
    """Return a table of clear groups whose columns are of several kinds, and the group of each row."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, N)
    columns = {f"x{j}": 8.0 * rng.permutation(3)[group] + rng.normal(size=N) for j in range(3)}
    columns["again"] = 2.0 * columns["x0"] + 1.0
    of_kind = {
        "words": {
            "plan": np.array(["basic", "plus", "pro"])[group],
            "name": [f"name {i}" for i in rng.integers(0, 400, N)],
            "city": rng.choice([f"city {i}" for i in range(20)], N),
        },
        "identifiers": {
            "number": rng.permutation(N) + 1000.0,
            "rising": np.cumsum(rng.integers(1, 30, N)) * 1.0,
            "customer_id": rng.integers(10_000, 99_999, N),
        },
        "tails": {"spent": rng.lognormal(2.0 * group, 0.5), "far": 5.0 * group + 0.3 * rng.standard_t(1.5, N)},
        "dates": {"day": pd.date_range("2024-01-01", periods=N), "month": rng.integers(1, 13, N)},
    }
    for kind in kinds:
        columns |= of_kind.get(kind, {})
    frame = pd.DataFrame(columns)
    if "gaps" in kinds:
        frame["x1"] = frame["x1"].mask(rng.random(N) < 0.1)
    return frame[rng.permutation(frame.columns)], group


def in_batches(frame, n_drawn=None, patch=None):
    if patch is not None and n_drawn is not None:
        patch.setattr(settings, "DRAWN", n_drawn * len(frame.columns))
    return ArrowSource(pa.Table.from_pandas(frame), batch_rows=37)


@law(8)
@pytest.mark.usefixtures("rows_drawn")
def test_clusters_are_those_of_a_frame(seed, tmp_path, monkeypatch):
    kinds = [kind for i, kind in enumerate(KINDS) if seed == 0 or (seed >> (i % 3)) & 1]
    way = {"n_clusters": 3 if seed % 2 == 0 else None, "random_state": 0}
    kinds = kinds if seed % 2 == 0 else [kind for kind in kinds if kind not in ("gaps", "tails")]
    frame, group = separated(seed, kinds)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    expected = explain(frame, **way)
    labels = expected.predict(frame)
    assert len(expected.clusters) == 3
    monkeypatch.setattr(settings, "DRAWN", 300 * len(frame.columns))
    for thing in (frame, tmp_path / "t.csv", tmp_path / "t.parquet"):
        with scan(thing) as table:
            ex = explain(table, **way)
            assert len(table.readings) <= 7
        assert len(ex._rows().leaf) < N
        assert (ex.columns, ex.n_rows, len(ex.clusters)) == (expected.columns, N, len(expected.clusters))
        assert adjusted_rand_score(labels, ex.predict(frame)) > 0.98
        assert adjusted_rand_score(group, ex.predict(frame)) > 0.95
        assert f"found on {len(ex._rows().leaf)} of {N} rows, drawn at random" in ex.provenance.labels


WAYS = [
    {},
    {"n_clusters": 4, "method": "imm"},
    {"n_clusters": 3, "standardize": True, "method": "cart"},
    {"n_clusters": 3, "standardize": False, "max_leaf_nodes": 5},
    {"n_clusters": 2, "missing": "drop"},
    {"n_clusters": 5, "min_samples_leaf": 40},
]


@law(12)
@pytest.mark.usefixtures("rows_drawn")
def test_what_is_told_of_all_rows_is_what_they_give_in_memory(seed):
    frame, _ = separated(seed, KINDS[seed % 3 :])
    frame["weight"] = np.random.default_rng(seed).integers(1, 4, N)
    way = WAYS[seed % len(WAYS)] | ({"sample_weight": "weight"} if seed % 2 else {})
    ex = explain(in_batches(frame), random_state=seed, **way)  # of which all rows are drawn
    evidence = ex._rows()
    there = measure(evidence.task, Grown(ex.tree, ex.method), evidence.coordinates)
    assert evidence.whole is not None
    assert ex.n_rows == N
    assert ex.leaves == there.leaves
    assert [one[:5] for one in ex.clusters] == [one[:5] for one in there.clusters]
    costs = (there.cost, there.reference_cost, there.agreement)
    assert (ex.cost, ex.reference_cost, ex.agreement) == pytest.approx(costs, rel=1e-9)
    assert not ex.details.n_incomplete or way.get("missing") == "drop"


@law(16)
@pytest.mark.usefixtures("rows_drawn")
def test_rows_that_lack_what_no_drawn_row_lacks_are_told(seed, monkeypatch):
    frame, _ = separated(seed, ("words", "tails")[seed % 2 :])
    lacking = np.random.default_rng(seed).choice(N, 3, replace=False)
    frame.loc[lacking, "x1"] = np.nan
    ex = explain(in_batches(frame, 60, monkeypatch), n_clusters=3, random_state=0)
    told_of = [note for note in ex.notes if "as no row that was drawn lacks one in" in note]
    assert ex.n_left_out == ex.details.n_incomplete == sum(int(note.split()[0]) for note in told_of)
    assert all(note.endswith("lacks one in x1") for note in told_of)
    if (
        "plan" not in ex.columns and "x1" not in ex.details.gaps
    ):  # to the nearest centre there are distances in all columns
        assert ex.details.n_incomplete == 3


@pytest.mark.usefixtures("rows_drawn")
def test_more_is_told_of_the_rows_that_were_drawn(tmp_path, monkeypatch):
    for seed in range(draws(4)):
        frame, _ = separated(seed, KINDS[1 + seed % 3 :])
        frame["spent"] = np.random.default_rng(seed).normal(size=N)
        ex = explain(in_batches(frame, 300, monkeypatch), n_clusters=3, random_state=0, validate=3)
        assert all(told(ex))
        assert ex.totals("spent").total == pytest.approx(frame["spent"].sum())
        assert ex.stability(3).refitted
        ex.save(tmp_path / "model.json")
        assert list(load(tmp_path / "model.json").predict(frame)) == list(ex.predict(frame))


@pytest.mark.usefixtures("rows_drawn")
def test_costs_that_passes_do_not_measure_are_refused_before_the_rows_are_read():
    frame, _ = separated(0, ())
    for way, message in (
        ({"method": "kernel_imm"}, "method 'kernel_imm' needs all rows in memory"),
        (
            {"method": "random_cuts", "objective": "l1"},
            "objective 'l1' with clusters that are made here needs all rows",
        ),
    ):
        with pytest.raises(DataError, match=message):
            explain(in_batches(frame), n_clusters=3, **way)
    frame.loc[17, "x0"] = np.inf
    with pytest.raises(DataError, match=r"infinite values in 1 of 600 rows: x0 \(1\)"):
        explain(in_batches(frame), n_clusters=3)
