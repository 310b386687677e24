"""Tables that are larger than memory: time, peak memory, passes and bytes of a whole explanation from a Parquet file.

`python -m benchmarks.batches` takes a few minutes and 2 GB of disk; `--rows 5 20 60` (millions of rows) and
`--folder` (for the files, which are kept and used again) choose more. Each run is a process of its own, so that its
peak memory is its own. Two readings of the same file, by DuckDB's COPY and by this package, are timed in one run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import print_table

GROUP = 122_880  # rows of a group of a Parquet file, as DuckDB writes them


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or run one task and print what it took as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[2, 5], help="millions of rows of the tall tables")
    parser.add_argument("--wide", type=float, default=0.2, help="millions of rows of the table with 100 columns")
    parser.add_argument("--folder", help="where the files are kept; else they are removed at the end")
    parser.add_argument("--task", nargs=2, metavar=("NAME", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args([] if arguments is None else arguments)
    if options.task is not None:
        print(json.dumps(_measured(*options.task)))
        return
    with tempfile.TemporaryDirectory() as folder:
        _print_all(Path(options.folder or folder), options.rows, options.wide)


def _print_all(folder: Path, millions: list[float], wide: float) -> None:
    files = [_table(folder, int(rows * 1e6), 10, 10) for rows in millions]
    files.append(_table(folder, int(wide * 1e6), 100, 30))
    rows = []
    for file in files:
        for task in ("explain", "in_memory"):
            if task == "explain" or file.stat().st_size < 2e9:
                rows.append([file.stem, task, *_cells(_run(task, file))])
    header = ["table", "explain with IMM", "seconds", "peak MB", "passes", "all columns", "readings", "tree"]
    print_table("From given centres to the whole explanation", header, rows)
    rows = []
    for file in files:
        copied, labelled = _run("copy", file), _run("label", file)
        ratio = labelled["seconds"] / copied["seconds"]
        rows.append([file.stem, f"{copied['seconds']:.1f}", f"{labelled['seconds']:.1f}", f"{ratio:.2f}"])
    print_table(
        "\nLabels written to a new file", ["table", "DuckDB's COPY, s", "with a column of labels, s", "ratio"], rows
    )


def _cells(found: dict[str, float | str]) -> list[str]:
    numbers = [f"{found['seconds']:.1f}", f"{found['peak']:,.0f}"]
    if "passes" not in found:
        return [*numbers, "", "", "", str(found["tree"])]
    return [*numbers, str(found["passes"]), str(found["whole"]), f"{found['readings']:.1f}", str(found["tree"])]


def _run(task: str, file: Path) -> dict[str, float | str]:
    command = [sys.executable, "-m", "benchmarks.batches", "--task", task, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


# ------------------------------------------------------------------------------------------------------- the tasks


def _measured(task: str, file: str) -> dict[str, float | str]:
    began = time.perf_counter()
    found = {"explain": _explained, "in_memory": _explained_in_memory, "copy": _copied, "label": _labelled}[task](file)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"seconds": time.perf_counter() - began, "peak": peak}


def _explained(file: str) -> dict[str, float | str]:
    import boxwood as bw

    centers = np.load(Path(file).with_suffix(".npy"))
    source = bw.scan(file)
    ex = bw.explain(source, bw.Reference.nearest(source, centers), method="imm")
    width = len(source.names)
    read = [len(reading.columns) for reading in source.readings]
    whole = sum(columns == width for columns in read)
    return {"passes": len(read), "whole": whole, "readings": sum(read) / width, "tree": _digest(ex)}


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
