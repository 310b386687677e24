"""Threads: a pool over blocks of rows, made for one call and gone after it.

Each block fills its own summary and the summaries come back in block order, so a result does not depend on the number
of threads. No thread outlives a call: a forked child starts clean. The calling thread only waits, so Ctrl-C is seen
between two blocks.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["BLOCK_ROWS", "fold_blocks", "map_blocks", "map_tasks", "n_threads"]

BLOCK_ROWS = 1 << 16
T = TypeVar("T")
S = TypeVar("S")


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for: -1 is every processor this process may use, None is 1."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use a positive number, or -1 for all processors")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


def map_tasks(work: Callable[[S], T], tasks: Sequence[S], *, n_jobs: int | None = -1) -> list[T]:
    """Return `[work(task) for task in tasks]`, run by `n_jobs` threads."""
    threads = min(n_threads(n_jobs), len(tasks))
    if threads <= 1:
        return [work(task) for task in tasks]
    pool = ThreadPoolExecutor(threads)
    try:
        return list(pool.map(work, tasks))
    finally:  # after an interrupt the blocks that have not begun are dropped
        pool.shutdown(wait=True, cancel_futures=True)


def fold_blocks(
    work: Callable[[T, int, int], object],
    n_rows: int,
    make: Callable[[], T],
    *,
    block: int = BLOCK_ROWS,
    n_jobs: int | None = -1,
) -> list[T]:
    """Call `work(summary, start, stop)` for each block of rows, with a summary for each thread; return the summaries.

    Which blocks share a summary depends on the threads, so summaries must add up exactly, as whole numbers do.
    """
    summaries: list[T] = []
    idle: list[T] = []

    def run(start: int) -> None:
        try:
            summary = idle.pop()
        except IndexError:
            summary = make()
            summaries.append(summary)
        work(summary, start, min(start + block, n_rows))
        idle.append(summary)

    map_tasks(run, range(0, n_rows, block), n_jobs=n_jobs)
    return summaries


def map_blocks(
    work: Callable[[int, int], T], n_rows: int, *, block: int = BLOCK_ROWS, n_jobs: int | None = -1
) -> list[T]:
    """Return `work(start, stop)` for each block of rows, in the order of the rows."""
    starts = range(0, n_rows, block)
    return map_tasks(lambda start: work(start, min(start + block, n_rows)), starts, n_jobs=n_jobs)
