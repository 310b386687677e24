"""The time spent on interpreted calls in earlier processes, stored in files beside numba's cache.

Without it, a program that runs for a second every day would never spend the time to compile.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["forget", "keep", "spent_before"]


def spent_before(loop: Any) -> float:
    """Return the seconds spent on interpreted calls of a loop in earlier processes; 0 if unknown."""
    path = _path(loop)
    seconds = 0.0
    with suppress(OSError, ValueError):
        seconds = float(path.read_text("ascii")) if path else 0.0
    return seconds if seconds > 0 else 0.0  # "nan" is not


def keep(loop: Any, seconds: float) -> None:
    """Write the seconds spent so far, where that is possible."""
    path = _path(loop)
    with suppress(OSError):
        if path:
            path.write_text(f"{seconds:.4f}", "ascii")


def forget(loop: Any) -> None:
    """Delete the seconds spent, as the loop is compiled now."""
    path = _path(loop)
    with suppress(OSError):
        if path:
            path.unlink(missing_ok=True)


def _path(loop: Any) -> Path | None:
    """Return the file of a loop; None if numba's cache has no folder."""
    try:
        folder, function = loop._cache.cache_path, loop.py_func
    except AttributeError:
        return None
    return Path(folder) / f"{function.__module__.rpartition('.')[2]}.{function.__name__}.spent" if folder else None
