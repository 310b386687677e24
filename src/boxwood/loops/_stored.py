"""What is kept of a loop on disk: its machine code, sealed, and beside it the time spent on calls without any.

numba's cache trusts its files: one that was cut off by a full disk stops every process that comes after, and a byte
that changed inside machine code is run. So each file ends with a seal, a digest of what it holds and of the source that
it was made from. A file without its seal counts as absent: the loop is compiled anew, and the file is written over.
"""

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

from boxwood.errors import CacheNote

_noted = False


def store_code(loop: Any) -> None:
    """Let numba keep the machine code of a loop on disk; without a folder that can be written it stays in memory."""
    try:
        loop._cache = _StoredCode(loop.py_func)
    except (RuntimeError, OSError):  # numba found no folder that it may write to
        _note_once()


class _StoredCode(FunctionCache):  # type: ignore[misc]  # numba has no types
    """numba's cache of one function, without which everything works: nothing that fails here is an error."""

    _cache_file: Any

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        file = self._cache_file
        self._cache_file = _SealedFiles(file._cache_path, self._impl.filename_base, file._source_stamp)

    def load_overload(self, types: Any, target: Any) -> Any:
        """Return the machine code for types of arguments, or None: also if a process at the same time stored others."""
        found = None
        with suppress(Exception):  # stored when a class of an argument had another place or name
            found = super().load_overload(types, target)
        return found if found is not None and tuple(found.signature.args) == tuple(types) else None

    def save_overload(self, types: Any, result: Any) -> None:
        """Store machine code, if that is possible: the disk may be full, or something else have the file's name."""
        try:
            super().save_overload(types, result)
        except OSError:
            _note_once()


class _SealedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Index and files of one function's machine code, each with its seal behind what pickle reads."""

    def _load_index(self) -> dict[Any, Any]:
        try:
            self._check(self._index_path)
            index: dict[Any, Any] = super()._load_index()
        except Exception:  # damaged, unreadable, or of a class that has another name now: as if there were none
            return {}
        return index

    def _load_data(self, name: str) -> Any:
        self._check(self._data_path(name))
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[Any]:
        with super()._open_for_write(path) as file:
            yield file
            file.flush()
            file.write(self._seal(Path(file.name).read_bytes()))

    def _check(self, path: str) -> None:
        """Raise OSError, which to numba is a file that is not there, unless a file ends with its seal."""
        content = Path(path).read_bytes()
        size = hashlib.sha256().digest_size
        if content[-size:] != self._seal(content[:-size]):
            raise OSError(f"{path} is damaged")

    def _seal(self, content: bytes) -> bytes:
        return hashlib.sha256(repr((self._version, self._source_stamp)).encode() + content).digest()


def _note_once() -> None:
    global _noted
    if not _noted:
        _noted = True
        warnings.warn(
            "compiled code cannot be kept on disk, so each process compiles again (some seconds); "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            CacheNote,
            stacklevel=4,
        )


def spent_before(loop: Any) -> float:
    """Return the seconds spent on interpreted calls of a loop in earlier processes; 0 if unknown."""
    path = _path(loop)
    seconds = 0.0
    with suppress(OSError, ValueError):
        seconds = float(path.read_text("ascii")) if path else 0.0
    return seconds if seconds > 0 else 0.0  # "nan" is not


def note_seconds(loop: Any, seconds: float) -> None:
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
