"""Threads: a pool over blocks of rows, which lasts for one call, and a limit on the threads of BLAS.

Each block fills its own summary and the summaries come back in block order, so a result does not depend on the number
of threads. No thread outlives a call: a forked child starts clean. The calling thread only waits, so Ctrl-C is seen
between two blocks.
"""

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from multiprocessing import current_process
from numbers import Integral
from typing import Any, TypeVar

from boxwood._messages import show_value

BLOCK_ROWS = 1 << 16
FEW = 1 << 15
T = TypeVar("T")
S = TypeVar("S")


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for: -1 is every processor this process may use, None is 1."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be a whole number or None, got {show_value(n_jobs)}")
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use a positive number, or -1 for all processors")
    if n_jobs > 0:
        return n_jobs
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, available + 1 + n_jobs)


def jobs_for(n_values: int, n_jobs: int | None) -> int | None:
    """Return the number of threads for work on some values: for few, threads take longer than they save."""
    return n_jobs if n_values > FEW else None


def jobs_of(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` of an estimator asks for, as joblib is configured, by default 1.

    A worker of multiprocessing has one: it may start no processes, and of that joblib would warn, for threads, too.
    """
    from joblib import effective_n_jobs

    return min(n_threads(n_jobs), 1) if current_process().daemon else int(effective_n_jobs(n_jobs))


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


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS and LAPACK take one thread. Any number of threads may be inside at once.

    The last digits of their results depend on the number of threads. They also depend on the processor and on the
    number of rows in a call, which this context cannot change: sums that decide a cut are added by the package's own
    loops.

    The number belongs to the whole process. The first thread to enter remembers the number, each thread that enters
    sets it to 1, and the last to leave restores it. Other code may set the number meanwhile, through threadpoolctl or
    otherwise.
    """
    return _ONE_BLAS_THREAD


@contextmanager
def quietly_by_one_thread() -> Iterator[None]:
    """Fit without warnings, by one thread.

    The fit on all rows has warned; rows that are drawn from them may be there twice, or be few.
    """
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Fit by one thread of BLAS and of OpenMP: many times faster in small tables, and the same on each machine.

    Several threads wait for each other, and add in an order of their own.
    """
    import sklearn  # noqa: F401  whose threads can be limited only once they are loaded

    with one_blas_thread(), _libraries(len(sys.modules)).limit(limits=1, user_api="openmp"):
        yield


class _OneBlasThread:
    """The context of `one_blas_thread`. A lock guards the number of entries, in all threads and in each of them."""

    def __init__(self) -> None:
        # reentrant: a fork takes the lock too, and a signal handler may fork in the thread that holds it
        self._lock, self._inside, self._of_thread = threading.RLock(), 0, threading.local()
        self._old_numbers: dict[str, tuple[Any, int]] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._after_fork
            )

    def __enter__(self) -> None:
        with self._lock:
            for library in _libraries(len(sys.modules)).select(user_api="blas").lib_controllers:
                number = library.get_num_threads()
                if number != 1:
                    self._old_numbers.setdefault(library.filepath, (library, number))
                    _set_blas_threads(library, 1)
            self._inside += 1
            self._of_thread.depth = self._depth() + 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            self._of_thread.depth = self._depth() - 1
            self._restore_if_empty()

    def _depth(self) -> int:
        return int(getattr(self._of_thread, "depth", 0))

    def _restore_if_empty(self) -> None:
        if self._inside == 0:
            for library, number in self._old_numbers.values():
                if library.get_num_threads() == 1:  # otherwise other code has set it since
                    _set_blas_threads(library, number)
            self._old_numbers.clear()

    def _after_fork(self) -> None:
        """Count the forking thread alone, as no other thread lives on in the child."""
        self._inside = self._depth()
        self._restore_if_empty()
        self._lock.release()


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:
    """Return the libraries with threads, which are looked for again after an import: it may have loaded another."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return ThreadpoolController()


def _set_blas_threads(library: Any, number: int) -> None:
    """Set the number of threads of a library, from any thread.

    From version 3.8 on, threadpoolctl gives the thread that first sets a number for OpenBLAS the sole right to do so,
    and silently ignores all other threads until that thread gives up its right or ends. So the right is taken, and
    given up at once.
    """
    give_up = getattr(library, "clear_controlling_thread", None)
    if give_up is not None:
        give_up(force=True)
    library.set_num_threads(number)
    if give_up is not None:
        give_up(force=True)


_ONE_BLAS_THREAD = _OneBlasThread()
