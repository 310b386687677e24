"""What can go wrong while a table is scanned is named, and nothing is left behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.errors import DataError
from tests.scale import each, some
from tests.table.test_scan import Rows, random_table


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder for temporary files, which must be empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert os.listdir(folder) == []


def write_parquet(path, n=5000, **options):
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"a": rng.normal(size=n), "b": rng.normal(size=n)}), path, **options)
    return str(path)


@each("share", [0.0, 0.3, 0.9, 0.9999])
def test_a_truncated_file_is_named(tmp_path, workplace, share):
    path = write_parquet(tmp_path / "t.parquet")
    size = os.path.getsize(path)
    os.truncate(path, int(size * share))
    with pytest.raises(DataError, match=r"cannot read .*t\.parquet as parquet: .*\n.*copy it again"):
        bw.scan(path)
    os.mkdir(tmp_path / "folder")
    if os.name == "posix":  # Windows asks for a right to make a link
        os.symlink("nowhere", tmp_path / "folder" / "2.parquet")
        with pytest.raises(DataError, match=r"2\.parquet cannot be read: No such file"):
            bw.scan(tmp_path / "folder")
        os.remove(tmp_path / "folder" / "2.parquet")
    write_parquet(tmp_path / "folder" / "0.parquet")
    os.replace(path, tmp_path / "folder" / "1.parquet")
    with pytest.raises(DataError, match=r"cannot read .*1\.parquet as parquet"):
        bw.scan(tmp_path / "folder")


def flip_byte(path):
    """Change a byte amid the second group of rows of a Parquet file."""
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(0)
    with open(path, "r+b") as file:
        file.seek(chunk.data_page_offset + chunk.total_compressed_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0xFF]))


def test_a_group_of_rows_that_cannot_be_read_is_named(tmp_path, workplace):
    path = write_parquet(
        tmp_path / "t.parquet", 300_000, row_group_size=100_000, write_page_checksum=True, use_dictionary=False
    )
    flip_byte(path)
    with bw.scan(path) as source:
        with pytest.raises(DataError, match=r"cannot read .*t\.parquet as parquet after row [0-9,]+: .*CRC"):
            source.run(Rows, ["a", "b"])
        assert source.run(Rows, ["b"]).batches  # the other column is sound
        assert source.n_passes == 1


def test_no_page_with_flipped_bytes_kills_the_process(tmp_path, workplace):
    sound = write_parquet(tmp_path / "t.parquet", 2000, row_group_size=500, compression="snappy")
    data = Path(sound).read_bytes()
    rng = np.random.default_rng(0)
    found = []
    for i in range(60):
        damaged = bytearray(data)
        for at in rng.integers(4, len(data) - 8, 4):
            damaged[at] ^= int(rng.integers(1, 256))
        path = tmp_path / f"damaged-{i}.parquet"
        path.write_bytes(damaged)
        try:
            bw.scan(path).run(Rows, ["a", "b"])
        except DataError as error:
            found.append(str(error))
    assert found
    assert all(re.search(r"damaged-|no column", text) for text in found)


def test_files_of_different_columns_are_named(tmp_path, workplace):
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": [1.0], "c": [2.0]}), tmp_path / "1.parquet")
    with pytest.raises(
        DataError, match=r"1\.parquet has other columns than .*0\.parquet: it lacks b and has c besides"
    ):
        bw.scan(tmp_path)
    assert bw.scan(tmp_path, columns=["a"]).n_rows == 2
    pq.write_table(pa.table({"b": [1.0], "a": [2.0]}), tmp_path / "1.parquet")
    assert bw.scan(tmp_path).run(Rows, ["a"]).batches[1][1].column(0).to_pylist() == [2.0]
    pq.write_table(pa.table({"b": ["x"], "a": [2.0]}), tmp_path / "1.parquet")
    with pytest.raises(DataError, match=r"column 'b' is double in .*0\.parquet, and string in .*1\.parquet"):
        bw.scan(tmp_path)


def test_empty_folders_patterns_and_tables_are_named(tmp_path, workplace):
    with pytest.raises(DataError, match="holds no Parquet files"):
        bw.scan(tmp_path)
    with pytest.raises(DataError, match="no file is named like"):
        bw.scan(tmp_path / "*.parquet")
    (tmp_path / "a.csv").write_text("a,b\n")
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"a\.csv is not a Parquet file; of other files, only one"):
        bw.scan(tmp_path / "*.csv")
    with pytest.raises(DataError, match="has column names but no rows"):
        bw.scan(tmp_path / "a.csv")
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "0.parquet")
    with pytest.raises(DataError, match="has column names but no rows"):
        bw.scan(tmp_path / "0.parquet")
    with bw.scan(tmp_path / "b*.csv") as source:
        assert source.n_rows == 1


def test_a_file_that_is_removed_or_changed_between_passes_is_named(tmp_path, workplace):
    path = write_parquet(tmp_path / "t.parquet")
    source = bw.scan(path)
    source.run(Rows, ["a"])
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match=r"t\.parquet changed while it was read; scan it again"):
        source.run(Rows, ["a"])
    source = bw.scan(path)
    write_parquet(tmp_path / "t.parquet", 5001)
    with pytest.raises(DataError, match=r"t\.parquet changed while it was read; scan it again"):
        source.run(Rows, ["a"])
    source = bw.scan(path)
    os.remove(path)
    with pytest.raises(DataError, match=r"t\.parquet cannot be read any more: No such file"):
        source.run(Rows, ["a"])
    assert source.n_passes == 0


def test_a_file_that_changes_during_a_pass_is_named(tmp_path, workplace):
    path = write_parquet(tmp_path / "t.parquet", 300_000)
    source = bw.scan(path)
    batches = source.batches(["a"])
    next(batches)
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match="changed while it was read"):
        list(batches)


def test_errors_of_a_query_are_told(workplace):
    wrong = "SELECT CAST('a' || i AS INTEGER) AS x FROM range(3) t(i)"
    with pytest.raises(DataError, match="cannot read the query as SQL: Could not convert string 'a0' to INT32"):
        bw.scan(wrong)
    with pytest.raises(DataError, match=r"cannot read the relation: .*Could not convert string 'a0' to INT32"):
        bw.scan(duckdb.sql(wrong))


def test_errors_of_a_reader_are_its_own(workplace):
    schema = pa.schema({"a": pa.float64()})

    def batches():
        yield pa.record_batch([pa.array([1.0])], schema=schema)
        raise RuntimeError("the other side hung up")

    with pytest.raises(RuntimeError, match="the other side hung up"):
        bw.scan(pa.RecordBatchReader.from_batches(schema, batches()))


def test_columns_that_parquet_lacks_are_named(workplace):
    months = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    with pytest.raises(DataError, match=r"'span' holds month_day_nano_interval, which a Parquet file cannot\nleave it"):
        bw.scan(pa.table({"a": [1.0], "span": months}).to_reader())


@pytest.mark.parametrize("form", ["frame", "reader", "file"])
def test_times_of_day_are_labels(tmp_path, workplace, form):
    clock = pa.array([7, 7, 9_000_000_001, 9_000_000_002], pa.time64("ns"))  # Python's times have no nanoseconds
    table = pa.table({"a": [0.0, 1.0, 5.0, 6.0], "clock": clock})
    pq.write_table(table, tmp_path / "t.parquet")
    things = {"frame": table, "reader": table.to_reader(), "file": tmp_path / "t.parquet"}
    names = ("00:00:00", "00:00:09")
    if form == "file":  # labels are named as DuckDB writes them, as where the file is read into memory
        names = ("00:00:00.000000007", "00:00:09.000000001", "00:00:09.000000002")
    with bw.scan(things[form]) as source:
        assert bw.explain(source, "clock").names == names


def test_a_limit_of_memory_is_for_what_is_read_here(workplace):
    table = pa.table({"a": [1.0]})
    for frame in (table, table.to_pandas()):
        with pytest.raises(TypeError, match=r"memory_limit is for tables that .*; a frame is in memory already"):
            bw.scan(frame, memory_limit="1GB")


def test_what_is_kept_of_clusters_is_removed_when_the_source_is_closed(tmp_path, workplace):
    path = write_parquet(tmp_path / "t.parquet")
    profiles = []
    for thing in (path, pq.read_table(path), pq.read_table(path).to_reader()):
        with bw.scan(thing) as source:
            ex = bw.explain(source, [[-1.0, 0.0], [0.0, 1.0], [1.0, -1.0]], method="imm")
            assert os.listdir(workplace)
            if thing is path:
                profiles.append(ex.profile())
        assert os.listdir(workplace) == []
        if source.name == "the frame":  # it can still be read, and its clusters are found anew
            profiles.append(ex.profile())
    assert profiles[0] == profiles[1]


@contextmanager
def files_of_at_most(n_bytes):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", ["reader", "query", "csv"])
def test_a_full_disk_is_named_and_nothing_is_left(tmp_path, workplace, kind):
    X = np.random.default_rng(0).normal(size=50_000)
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "\n".join(map(repr, X.tolist())))
    things = {"reader": pa.table({"a": X}).to_reader(), "query": "SELECT random() AS a FROM range(50000)", "csv": path}
    with files_of_at_most(100_000), pytest.raises(OSError, match="TMPDIR") as caught:
        bw.scan(things[kind])
    assert str(caught.value).startswith(f"cannot write a temporary file in {workplace}: ")
    assert "File too large" in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_run_leaves_its_folder_to_the_next(workplace):
    kill = "import os, sys; sys.path[:0] = eval(sys.argv[1])\n"
    kill += "from boxwood._files import lasting_folder\n"
    kill += "path, remove = lasting_folder(kill := {1}); open(path + '/rows.parquet', 'w').close()\n"
    kill += "os.kill(os.getpid(), 9)"
    environment = os.environ | {"TMPDIR": str(workplace)}
    done = subprocess.run([sys.executable, "-c", kill, repr(sys.path)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = os.listdir(workplace)
    os.utime(workplace / left, (0, 0))  # folders of less than a minute may belong to a process that begins
    with bw.scan("SELECT 1 AS a"):
        assert left not in os.listdir(workplace)


@contextmanager
def ctrl_c_from_here():
    """Let Ctrl-C end a run by a signal, which shells take from what they run behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_pass(workplace, n_jobs):
    seen = []

    class Slow(Rows):
        def update(self, batch, start):
            seen.append(start)
            if len(seen) == 15:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.02)

    table, n_threads = pa.table({"a": np.zeros(1_000_000)}), threading.active_count()
    with bw.scan(table.to_reader()) as source:
        source.n_jobs, source._batch_rows = n_jobs, lambda n_columns: 2000
        with ctrl_c_from_here():
            source.run(Slow, ["a"])
        assert len(seen) < 200  # of 500
        assert source.n_passes == 0
        assert threading.active_count() <= max(n_threads, 2)  # those of the pass have ended
        assert source.run(Rows, ["a"]).batches  # it can be read again


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("make", some(["str", "duckdb.sql"]))
def test_ctrl_c_ends_a_query(workplace, make):
    script = (
        "import os, signal, sys, threading\n"
        "sys.path[:] = eval(sys.argv[1])\n"
        "import duckdb, boxwood\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "boxwood.scan('SELECT 1 AS a').close()\n"
        f"query = {make}('SELECT sum(a.i * b.i) AS x FROM range(1000000) a(i), range(1000000) b(i)')\n"
        "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try: boxwood.scan(query)\n"
        "except KeyboardInterrupt: print('ended')\n"
    )
    command = [sys.executable, "-c", script, repr(sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)  # it would take hours
    assert done.stdout == "ended\n"


def test_an_error_in_a_summary_ends_the_pass(workplace):
    class Fails(Rows):
        def update(self, batch, start):
            raise ZeroDivisionError

    source = bw.scan(random_table(0, n=100))
    with pytest.raises(ZeroDivisionError):
        source.run(Fails, ["a"])
    assert source.n_passes == 0
