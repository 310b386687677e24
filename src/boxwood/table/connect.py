"""Connections to DuckDB, and queries that can be interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any

from boxwood._files import temporary_folder

if TYPE_CHECKING:
    import duckdb

Tick = Callable[..., None]
"""Called about ten times a second with the fraction that is done, from 0 to 1, and some with the number of rows."""

# NaN does not count in the statistics of Parquet files, so DuckDB 2.0 concludes from them that there is none; a join
# with the constants of IN, five or more, would bring rows into another order, and so be followed by a sort
NOT_USED = "statistics_propagation, in_clause"
SETTINGS = {
    "autoinstall_known_extensions": "false",  # nothing is ever downloaded
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # a name in a query is never a variable of Python
    "max_expression_depth": "100000",
    "disabled_optimizers": f"'{NOT_USED}'",
    # a group of rows of a wide Parquet file would be read as a whole before its first row is used
    "disable_parquet_prefetching": "true",
    # otherwise nobody is told how far a query is; nothing is printed
    "enable_progress_bar": "true",
    "enable_progress_bar_print": "false",
    "progress_bar_time": "0",
}


@contextmanager
def open_duckdb() -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Yield a connection to DuckDB in memory, and a folder for temporary files; both last for the block."""
    duckdb = _duckdb()
    with temporary_folder() as workspace:
        con = duckdb.connect(":memory:", config={"temp_directory": workspace})
        for name, value in SETTINGS.items():
            with suppress(duckdb.CatalogException):  # older versions lack some
                con.execute(f"SET {name} = {value}")
        try:
            yield con, workspace
        finally:
            con.close()


def _duckdb() -> Any:
    """Import DuckDB in a thread: Ctrl-C in the thread that loads its binary part would abort the process."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(import_module, "duckdb").result()


def wait_for(con: duckdb.DuckDBPyConnection, work: Callable[[], Any], tick: Tick | None = None) -> Any:
    """Return `work()`, run in another thread. The calling thread waits, reacts to Ctrl-C, and calls `tick`.

    However it is interrupted, work has ended when this raises: what cleans up needs the connection.
    """
    outcome: Future[Any] = Future()
    share = 0.0
    try:
        Thread(target=_settle, args=(outcome, work), daemon=True).start()
        while True:
            try:
                return outcome.result(timeout=0.1)
            except TimeoutError:
                if outcome.done():  # perhaps with a TimeoutError of its own
                    return outcome.result()
                if tick is not None:
                    share = max(share, float(con.query_progress()) / 100)  # which DuckDB tells to be less at times
                    tick(share)
    except BaseException:
        while not (outcome.cancel() or outcome.done()):  # an interrupt is lost on a query that has not begun
            con.interrupt()
            wait([outcome], timeout=0.05)
        raise


def _settle(outcome: Future[Any], work: Callable[[], Any]) -> None:
    if outcome.set_running_or_notify_cancel():
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)
