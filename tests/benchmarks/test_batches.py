"""The benchmark of tables in batches counts what it says, on a table that is small."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from benchmarks import batches
from boxwood.grow.centers import imm_batches

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return str(batches._table(tmp_path_factory.mktemp("tables"), 4000, 4, 3))


def test_the_tree_is_that_from_memory_in_three_readings_of_all_columns(file, monkeypatch):
    monkeypatch.setattr(imm_batches, "IN_MEMORY", 0)  # which are otherwise read into memory
    found = batches._measured("explain", file)
    assert found["tree"] == batches._measured("in_memory", file)["tree"]
    assert found["whole"] == 3
    assert found["passes"] == found["whole"] + found["others"]
    assert found["others"] <= 2 * found["levels"]
    assert 3 <= found["readings"] <= 12
    assert found["bytes"] > 0
    by_one = batches._measured("duckdb 1", file)
    assert {name: by_one[name] for name in ("tree", "readings", "bytes")} == {
        name: found[name] for name in ("tree", "readings", "bytes")
    }


def test_each_run_fills_the_columns_of_its_table(file):
    for task in ("explain", "in_memory", "duckdb 2"):
        assert len(batches._cells(batches._measured(task, file))) == len(batches.FOUND)


def test_labels_in_a_column_are_nearest_centres(file, tmp_path):
    source = bw.scan(batches._with_nearest_centers(file, str(tmp_path / "labelled.parquet")))
    rows = pq.read_table(file).to_pandas()
    labels = pq.read_table(tmp_path / "labelled.parquet")["label"].to_numpy()
    nearest = bw.Reference.nearest(rows, np.load(file.replace(".parquet", ".npy")))
    np.testing.assert_array_equal(labels, nearest.labels)
    assert source.names == (*rows, "label")
    found = batches._measured("beside", file)
    assert min(found[name] for name in ("sums", *batches.METHODS)) > 0
