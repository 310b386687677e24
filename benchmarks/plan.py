"""What an explanation costs on many machines, on paper, and a simulation that counts the same on one.

`python -m benchmarks.plan` prints the plan for 10 billion rows on 200 machines, plan and count side by side for small
tables, and what "auto" and IMM take of 10 billion rows on 100 machines, by counts of a run. `benchmarks/plan.md`
explains the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.timing import print_table
from boxwood.batches.source import ArrowSource
from boxwood.grow.centers import imm_batches as imm
from boxwood.table.spark import rounds_of_merging

FAN_IN = 8  # summaries that one machine merges at a time
DOUBLE = 8  # bytes
PER_VALUE = 34  # bytes of a value that a pass brings home, with its row, cluster, weight and place
SUMS = 24  # doubles for each cluster and column that are added up: parts of sums, ranges, scales
ON_DISK, ON_WIRE, UNPICKLED = 1e9, 1e9, 3e8  # bytes that a machine reads and moves, and that a task merges, in a second
CELL, CORES, JOB = 25e-9, 16, 10.0  # seconds for a value of a pass, cores of a machine, seconds for job and stragglers


class Pass(NamedTuple):
    """A pass, or several that cost the same at most.

    `times` is the least and the most number of such passes; `columns` the most columns that it reads; `summary` the
    most bytes of what it adds up.
    """

    name: str
    times: tuple[int, int]
    columns: int
    summary: float


class Plan(NamedTuple):
    """Passes of an explanation by IMM from given centres, on rows that are spread over machines."""

    n_rows: float
    n_columns: int
    n_machines: int
    passes: tuple[Pass, ...]

    def read(self, one: Pass) -> float:
        """Return the bytes that a pass reads, as doubles."""
        return self.n_rows * one.columns * DOUBLE

    def moved(self, one: Pass) -> float:
        """Return the bytes that travel when the machines' summaries are merged in a tree: each is sent once."""
        return sum(parts * one.summary for parts in _levels_of_merging(self.n_machines))


def plan(n_rows: float, n_columns: int, n_clusters: int, *, levels: int, n_machines: int, open_columns: int) -> Plan:
    """Return the plan.

    `levels` is the depth of the tree. `open_columns` is the most columns that a level looks at: those that may hold a
    best cut, and those cut above. Where clusters are found from centres on the way, each pass reads all columns.
    """
    cells = n_clusters * n_columns
    bins = min(max(n_rows / n_clusters, imm.FEWEST_BINS), imm.MOST_BINS, max(imm.MOST_COUNTS / cells, 8))
    counts = (n_clusters + 3) * n_columns * bins * DOUBLE
    values = min(n_rows, imm.MOST_VALUES) * PER_VALUE
    sums = SUMS * cells * DOUBLE
    passes = (
        Pass("labels, ranges, missing values", (1, 1), n_columns, 3 * cells * DOUBLE),
        Pass("means of the clusters", (1, 1), n_columns, sums),
        Pass("counts by cluster, column and bin", (1, 1), n_columns, counts),
        Pass("levels of the tree", (levels // 4, 2 * levels + 2), open_columns, counts + values),
        Pass("leaves of the tree, costs", (1, 1), n_columns, 2 * sums),
    )
    return Plan(n_rows, n_columns, n_machines, passes)


def _levels_of_merging(n_machines: int) -> list[int]:
    """Return how many summaries travel in each round, down to the last one."""
    rounds = [n_machines]
    while rounds[-1] > 1:
        rounds.append(math.ceil(rounds[-1] / FAN_IN))
    return rounds[:-1]


# ------------------------------------------------------------------------------------------------------ simulation


class Machines(ArrowSource):
    """A table whose rows are spread over machines, none of which sees another's; it counts what would travel.

    `counted` has for each pass the number of columns, the bytes of the largest summary, and the bytes that travelled;
    `sent` the most bytes that one of the parts sends.
    """

    is_local = False

    def __init__(self, table: Any, n_machines: int) -> None:
        super().__init__(table, n_jobs=1)
        self.n_machines, self.counted, self.sent = n_machines, list[tuple[int, int, int]](), list[int]()

    def run(self, make: Callable[[], Any], columns: Sequence[str], n_jobs: int | None = -1) -> Any:
        """Return one summary of all batches, merged in a tree."""
        import cloudpickle

        sent = cloudpickle.dumps(make)
        parts, n = [], self.table.num_rows
        for i in range(self.n_machines):
            summary = cloudpickle.loads(sent)()
            first, last = (n * j // self.n_machines for j in (i, i + 1))
            for batch in self.table.select(list(columns)).slice(first, last - first).to_batches():
                summary.update(batch, None)
            parts.append(cloudpickle.dumps(summary))
        largest, moved = max(map(len, parts)), 0
        self.sent.append(largest)
        while len(parts) > 1:
            moved += sum(map(len, parts))
            parts = [_merged(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
            largest = max(largest, *map(len, parts))
        self.counted.append((len(columns), largest, moved))
        return cloudpickle.loads(parts[0])


def _merged(pickles: Sequence[bytes]) -> bytes:
    import cloudpickle

    first, *others = map(cloudpickle.loads, pickles)
    for other in others:
        first.merge(other)
    return cloudpickle.dumps(first)


def simulate(
    n_rows: int, n_columns: int, n_clusters: int, n_machines: int = 20, seed: int = 0
) -> tuple[Plan, Machines]:
    """Return the plan of explaining a small table of Gaussian clusters by IMM, and the machines after it."""
    machines, depth = explained(n_rows, n_columns, n_clusters, n_machines, "imm", seed)
    size = {"levels": depth, "n_machines": n_machines, "open_columns": n_columns}
    return plan(n_rows, n_columns, n_clusters, **size), machines


def explained(
    n_rows: int, n_columns: int, n_clusters: int, n_machines: int, method: str, seed: int = 0
) -> tuple[Machines, int]:
    """Return machines that have explained a small table of Gaussian clusters by labels, and the depth of the tree."""
    import pyarrow as pa

    import boxwood as bw

    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_clusters, n_columns)) * 3
    labels = rng.integers(n_clusters, size=n_rows)
    X = centers[labels] + rng.normal(size=(n_rows, n_columns))
    table = pa.table({f"x{j}": X[:, j] for j in range(n_columns)} | {"label": labels})
    machines = Machines(table, n_machines)
    clusters = bw.Reference.of(machines, "label")
    with patch.object(imm, "IN_MEMORY", 0):  # which are otherwise read into memory
        ex = bw.explain(machines, clusters, method=method, max_leaf_nodes=n_clusters)
    return machines, ex.tree.depth


class Taken(NamedTuple):
    """What an explanation takes of a long table on Spark, by what was counted on a small one of as many columns.

    Parameters
    ----------
    passes : int
        Number of passes.
    tables : float
        Columns that they read, in tables.
    sent : float
        Bytes that a partition sends in all passes.
    merged : float
        Most bytes that a task reads which merges sums, in one pass.
    seconds : float
        Estimate of the time: reading, computing, moving, merging, and starting jobs, one after the other.
    """

    passes: int
    tables: float
    sent: float
    merged: float
    seconds: float

    @classmethod
    def of(
        cls, machines: Machines, groups: Sequence[int], *, n_rows: float = 1e10, n_parts: int = 30_000, n: int = 100
    ) -> Taken:
        """Return what `n` machines take; IN: groups: sums that are left after each round of merging."""
        n_columns = len(machines.names)
        tables = sum(columns for columns, *_ in machines.counted) / n_columns
        cells, sent = tables * n_rows * n_columns, float(sum(machines.sent))
        before, widths = n_parts, list[float]()
        for after in (*groups, 1):
            widths.append(before / after)
            before = after
        seconds = cells * (DOUBLE / ON_DISK + CELL / CORES) / n
        seconds += n_parts * sent / n / ON_WIRE + sum(widths) * sent / UNPICKLED + JOB * len(machines.sent)
        return cls(len(machines.sent), tables, sent, max(widths) * max(machines.sent), seconds)


def main() -> None:
    """Print the plan, and plan and simulation side by side."""
    large = plan(1e10, 1000, 200, levels=20, n_machines=200, open_columns=50)
    rows = [
        [
            one.name,
            "1" if one.times[1] == 1 else f"{one.times[0]} to {one.times[1]}",
            f"{one.columns:,}",
            f"{large.read(one) / 1e12:.1f}",
            f"{large.read(one) / large.n_machines / 1e9:,.0f}",
            f"{one.summary / 1e6:.0f}",
            f"{large.moved(one) / 1e9:.1f}",
        ]
        for one in large.passes
    ]
    header = ["pass", "times", "columns", "TB read", "GB each machine", "MB summary", "GB moved"]
    print_table("10 000 000 000 rows x 1000 columns, 200 clusters, 200 machines, a tree of 20 levels", header, rows)
    rows = []
    for shape in ((50_000, 10, 10), (20_000, 40, 20), (20_000, 10, 40)):
        planned, machines = simulate(*shape)
        least, most = (sum(one.times[end] for one in planned.passes) for end in (0, 1))
        largest = max(one.summary for one in planned.passes)
        counted = max(summary for _, summary, _ in machines.counted)
        rows.append(
            [
                " x ".join(f"{size:,}" for size in shape),
                f"{least} to {most}",
                f"{len(machines.counted)}",
                f"{largest / 1e6:.2f}",
                f"{counted / 1e6:.2f}",
                f"{sum(one.times[1] * planned.moved(one) for one in planned.passes) / 1e6:.0f}",
                f"{sum(moved for *_, moved in machines.counted) / 1e6:.0f}",
            ]
        )
    header = ["rows x columns x clusters", "passes, planned", "counted"]
    header += ["MB summary, at most", "counted", "MB moved, at most", "counted"]
    print_table("\nPlan and simulation, 20 machines", header, rows)
    print_taken(60_000, 50, 50, 300)


def print_taken(n_rows: int, n_columns: int, n_clusters: int, n_parts: int) -> None:
    """Print what "auto" and IMM take of 10 billion rows, merged in 16 tasks and in a tree, by counts on small parts."""
    rows = []
    for method in ("imm", "auto"):
        machines, _ = explained(n_rows, n_columns, n_clusters, n_parts, method)
        for name, groups in (("in 16 tasks", [16]), ("in a tree", rounds_of_merging(30_000))):
            taken = Taken.of(machines, groups)
            rows.append(
                [
                    f"{method}, merged {name}",
                    f"{taken.passes}",
                    f"{taken.tables:.1f}",
                    f"{taken.sent / 2**20:.1f}",
                    f"{taken.merged / 1e9:.2f}",
                    f"{taken.seconds / 60:.0f}",
                ]
            )
    header = ["", "passes", "tables read", "MiB sent by a partition", "GB read by a merging task", "minutes"]
    print_table(f"\n10 000 000 000 rows x {n_columns} columns, {n_clusters} clusters, 100 machines", header, rows)


if __name__ == "__main__":
    main()
