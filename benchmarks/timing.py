"""Medians of runs that take turns, and plain tables."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence


def medians(tasks: dict[str, Callable[[], object]], *, runs: int = 5, slow: float = 2.0) -> dict[str, float]:
    """Return the median seconds of each task after a run that is not counted, the tasks taking turns.

    A task whose first run takes more than `slow` seconds is run three times in all, and all three are counted.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    first = {name: _seconds(task) for name, task in tasks.items()}
    for name, time_taken in first.items():
        if time_taken > slow:
            seconds[name].append(time_taken)
    for run in range(runs):
        for name, task in tasks.items():
            if first[name] <= slow or run < 2:
                seconds[name].append(_seconds(task))
    return {name: statistics.median(times) for name, times in seconds.items()}


def peak_bytes(task: Callable[[], object]) -> int:
    """Return the most memory that numpy and Python held at once during a task, beyond what they held before."""
    tracemalloc.start()
    task()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a header, columns aligned to the right but for the first."""
    print(title)
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, *rows):
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip(), flush=True)
