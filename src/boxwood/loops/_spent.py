"""How long calls without machine code have taken in earlier processes, in files beside those of numba's cache.

Else a program that runs for a second, every day, would never take the time to compile.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["forget", "keep", "spent_before"]


def spent_before(loop: Any) -> float:
    """Return the seconds that calls of a loop took in earlier processes; 0 if they are not known."""
    path = _path(loop)
    seconds = 0.0
    with suppress(OSError, ValueError):
        seconds = float(path.read_text("ascii")) if path else 0.0
    return seconds if seconds > 0 else 0.0  # "nan" is not


def keep(loop: Any, seconds: float) -> None:
    """Write the seconds in all, where that is possible."""
    path = _path(loop)
    with suppress(OSError):
        if path:
            path.write_text(f"{seconds:.4f}", "ascii")


def forget(loop: Any) -> None:
    """Begin anew, as the loop is compiled now."""
    path = _path(loop)
    with suppress(OSError):
        if path:
            path.unlink(missing_ok=True)


def _path(loop: Any) -> Path | None:
    """Return the file of a loop; None without a folder for numba's cache."""
    try:
        folder, function = loop._cache.cache_path, loop.py_func
    except AttributeError:
        return None
    return Path(folder) / f"{function.__module__.rpartition('.')[2]}.{function.__name__}.spent" if folder else None
