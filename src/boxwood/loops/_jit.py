"""The one decorator of the hot loops: compiled, without the interpreter lock, kept on disk where that is possible."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba

from boxwood.errors import CacheNote

__all__ = ["jit"]

F = TypeVar("F", bound=Callable[..., Any])
_noted = False


def jit(function: F) -> F:
    """Return `function` compiled by numba; without a writable cache folder, compiled anew in each process."""
    try:
        return numba.njit(cache=True, nogil=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba found no folder that it may write to
        _note_once()
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]


def _note_once() -> None:
    global _noted
    if not _noted:
        _noted = True
        warnings.warn(
            "compiled code cannot be kept on disk, so each process compiles anew (some seconds); "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            CacheNote,
            stacklevel=4,
        )
