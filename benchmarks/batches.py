"""Tables that are larger than memory: time, peak memory, passes and bytes of a whole explanation from a Parquet file.

`python -m benchmarks.batches` takes a few minutes and 2 GB of disk. `--rows 5 20 60 --wide 2` (millions of rows) are
large, and `--folder` (for the files, which are kept and used again) needs 9 GB for them. `--engines` compares Spark and
Dask with the embedded default; see `engines.py`. Each run is a process of its own, so that its peak memory is its own.
Two readings of the same file, by DuckDB's COPY and by this package, are timed in one run. Explanations of labels in a
column stand beside DuckDB's own sums over the same file, in one process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engines import WORKERS, explained_by
from benchmarks.timing import print_table

GROUP = 122_880  # rows of a group of a Parquet file, as DuckDB writes them
IN_MEMORY = 4e9  # bytes of a file up to which its rows are explained in memory, too


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or run one task and print what it took as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="*", default=[2, 5], help="millions of rows of the tall tables")
    parser.add_argument(
        "--wide", type=float, default=0.2, help="millions of rows of the table with 100 columns; 0 is none"
    )
    parser.add_argument(
        "--engines", type=float, nargs="?", const=2, help="compare engines on so many million rows alone"
    )
    parser.add_argument("--folder", help="where the files are kept; else they are removed at the end")
    parser.add_argument("--task", nargs=2, metavar=("NAME", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args([] if arguments is None else arguments)
    if options.task is not None:
        print(json.dumps(_measured(*options.task)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        if options.engines is not None:
            _print_engines(_table(folder, int(options.engines * 1e6), 10, 10))
        else:
            _print_all(folder, options.rows, options.wide)


def _print_all(folder: Path, millions: list[float], wide: float) -> None:
    files = [_table(folder, int(rows * 1e6), 10, 10) for rows in millions]
    if wide:
        files.append(_table(folder, int(wide * 1e6), 100, 30))
    rows = []
    for file in files:
        for task in ("explain", "in_memory"):
            if task == "explain" or file.stat().st_size < IN_MEMORY:
                rows.append([file.stem, task, *_cells(_run(task, file))])
    header = ["table", "explain with IMM", *FOUND]
    print_table("From given centres to the whole explanation", header, rows)
    rows = []
    for file in files:
        copied, labelled = _run("copy", file), _run("label", file)
        ratio = labelled["seconds"] / copied["seconds"]
        rows.append([file.stem, f"{copied['seconds']:.1f}", f"{labelled['seconds']:.1f}", f"{ratio:.2f}"])
    print_table(
        "\nLabels written to a new file", ["table", "DuckDB's COPY, s", "with a column of labels, s", "ratio"], rows
    )
    rows = []
    for file in files:
        found = _run("beside", file)
        sums = found["sums"]
        cells = [part for name in METHODS for part in (f"{found[name]:.1f}", f"{found[name] / sums:.1f}")]
        rows.append([file.stem, f"{sums:.2f}", *cells])
    header = ["table", "DuckDB's sums, s", *(part for name in METHODS for part in (f"{name}, s", "ratio"))]
    print_table("\nLabels in a column: processor time beside sums and squares of each cluster", header, rows)


METHODS = ("imm", "auto")  # with labels in a column
FOUND = ("seconds", "CPU s", "peak MB", "passes", "all columns", "others", "levels", "readings", "GB read", "tree")


def _cells(found: dict[str, float | str]) -> list[str]:
    """Return what one run took, in the order of `FOUND`."""
    cpu = "" if found["cpu"] is None else f"{found['cpu']:.1f}"
    numbers = [f"{found['seconds']:.1f}", cpu, f"{found['peak']:,.0f}"]
    if "passes" not in found:
        return [*numbers, *[""] * 6, str(found["tree"])]
    counts = [str(found[name]) for name in ("passes", "whole", "others", "levels")]
    n_bytes = "" if found["bytes"] is None else f"{found['bytes'] / 1e9:.1f}"
    return [*numbers, *counts, f"{found['readings']:.1f}", n_bytes, str(found["tree"])]


def _print_engines(file: Path) -> None:
    rows = []
    for name in ("duckdb", "spark", "dask"):
        for workers in WORKERS:
            if name != "duckdb" or workers <= 2:
                rows.append([name, str(workers), *_cells(_run(f"{name} {workers}", file))])
    print_table(f"{file.stem} from given centres, by engine", ["engine", "workers", *FOUND], rows)


def _run(task: str, file: Path) -> dict[str, float | str]:
    command = [sys.executable, "-m", "benchmarks.batches", "--task", task, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


# ------------------------------------------------------------------------------------------------------- the tasks


def _measured(task: str, file: str) -> dict[str, float | str]:
    began = time.perf_counter()
    tasks = {"explain": _explained, "in_memory": _explained_in_memory, "copy": _copied, "label": _labelled}
    tasks["beside"] = _explained_beside_sums
    found = tasks[task](file) if task in tasks else explained_by(task, file, partial(_explained_source, file))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu = None if task.startswith(("spark", "dask")) else time.process_time()  # whose workers are other processes
    return {"seconds": time.perf_counter() - began, "cpu": cpu, "peak": peak} | found


def _explained(file: str) -> dict[str, float | str]:
    import boxwood as bw

    return _explained_source(file, bw.scan(file))


def _explained_source(file: str, source: Any) -> dict[str, float | str]:
    import boxwood as bw

    centers = np.load(Path(file).with_suffix(".npy"))
    ex = bw.explain(source, bw.Reference.nearest(source, centers), method="imm")
    width = len(source.names)
    read = [len(reading.columns) for reading in source.readings]
    whole = sum(columns == width for columns in read)
    n_bytes = [reading.n_bytes for reading in source.readings]
    return {
        "passes": len(read),
        "whole": whole,
        "others": len(read) - whole,
        "levels": ex.tree.depth,
        "readings": sum(read) / width,
        "bytes": None if None in n_bytes else sum(n_bytes),
        "tree": _digest(ex),
    }


def _explained_in_memory(file: str) -> dict[str, float | str]:
    import pyarrow.parquet as pq

    import boxwood as bw

    table = pq.read_table(file)
    X = np.column_stack([column.to_numpy() for column in table.columns])
    centers = np.load(Path(file).with_suffix(".npy"))
    ex = bw.explain(X, bw.Reference.nearest(X, centers), method="imm", columns=table.column_names)
    return {"tree": _digest(ex)}


def _digest(ex) -> str:
    """Return a few letters that differ for trees that differ in any bit."""
    from hashlib import blake2b

    tree = ex.tree
    parts = (tree.feature, tree.lower, tree.upper, tree.leaf_clusters)
    return blake2b(b"".join(np.ascontiguousarray(part).tobytes() for part in parts), digest_size=4).hexdigest()


def _copied(file: str) -> dict[str, float | str]:
    import duckdb

    with tempfile.TemporaryDirectory(dir=Path(file).parent) as folder:
        duckdb.sql(f"COPY (SELECT * FROM '{file}') TO '{folder}/copy.parquet' (FORMAT parquet)")
    return {}


def _labelled(file: str) -> dict[str, float | str]:
    model = Path(file).with_suffix(".json")
    with tempfile.TemporaryDirectory(dir=Path(file).parent) as folder:
        command = [sys.executable, "-m", "boxwood", "predict", str(model), file, "-q", "-o", f"{folder}/copy.parquet"]
        subprocess.run(command, check=True)
    return {}


def _explained_beside_sums(file: str) -> dict[str, float | str]:
    """Return the processor time of the second call of each, when loops are compiled and the file is in the cache."""
    import duckdb

    import boxwood as bw

    with tempfile.TemporaryDirectory(dir=Path(file).parent) as folder:
        labelled = _with_nearest_centers(file, f"{folder}/labelled.parquet")
        source = bw.scan(labelled)
        sums = ", ".join(f"sum({name}), sum({name} * {name})" for name in source.names[:-1])
        query = f"SELECT label, count(*), {sums} FROM '{labelled}' GROUP BY label"
        calls: dict[str, Callable[[], object]] = {"sums": lambda: duckdb.sql(query).fetchall()}
        calls |= {name: partial(bw.explain, source, "label", method=name) for name in METHODS}
        return {name: [_processor_time(call) for _ in range(2)][-1] for name, call in calls.items()}


def _processor_time(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def _with_nearest_centers(file: str, path: str) -> str:
    """Write the rows of a file with the number of the nearest centre of each as a column `label`; return the path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    centers = np.load(Path(file).with_suffix(".npy"))
    schema = pq.read_schema(file).append(pa.field("label", pa.int64()))
    with pq.ParquetFile(file) as given, pq.ParquetWriter(path, schema) as writer:
        for batch in given.iter_batches(GROUP):
            X = np.column_stack([column.to_numpy() for column in batch.columns])
            labels = (np.square(centers).sum(axis=1) - 2 * X @ centers.T).argmin(axis=1)
            writer.write_batch(batch.append_column("label", pa.array(labels)))
    return path


# ------------------------------------------------------------------------------------------------------ the tables


def _table(folder: Path, n_rows: int, n_columns: int, k: int) -> Path:
    """Return a Parquet file of Gaussian clusters that overlap a little, with its centres and a model beside it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import boxwood as bw

    file = folder / f"{n_rows / 1e6:g}M_x_{n_columns}.parquet"
    if file.with_suffix(".json").exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(n_columns)
    centers = rng.normal(size=(k, n_columns)) * 3
    names = [f"x{j}" for j in range(n_columns)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(file, schema) as writer:
        for start in range(0, n_rows, GROUP):
            X = _rows(rng, centers, min(GROUP, n_rows - start))
            writer.write_table(pa.table(dict(zip(names, X.T, strict=True)), schema=schema))
    np.save(file.with_suffix(".npy"), centers)
    X = _rows(rng, centers, 20_000)
    bw.explain(X, bw.Reference.nearest(X, centers), method="imm", columns=names).save(file.with_suffix(".json"))
    return file


def _rows(rng: np.random.Generator, centers: np.ndarray, n_rows: int) -> np.ndarray:
    return centers[rng.integers(len(centers), size=n_rows)] + rng.normal(size=(n_rows, centers.shape[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
