"""What numba has of a loop: its compiler, and machine code in memory and on disk.

To numba an array that may not be written is of another type than one that may, so a loop with five arrays that are only
read could be compiled 32 times. Here both kinds run the same machine code, compiled for arrays that may be written. A
loop writes only what its docstring calls OUT, which `tests/loops/test_interpreted.py` checks with arrays of numpy that
refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import RLock
from types import FunctionType
from typing import Any

import numba
import numpy as np

from boxwood.loops._stored import forget, note_seconds, spent_before, store_code
from boxwood.loops.jit import Loop

_lock = RLock()
_spaces: dict[int, dict[str, Any]] = {}  # of each file, by its globals: these, with loops as numba knows them


class MachineCode:
    """Machine code of a loop: `loop` is numba's own object, which asks `Loop.function_for` for kinds that are new."""

    def __init__(self, loop: Loop) -> None:
        with _lock:
            self.loop = _numbas(loop)
        self.absent: dict[Any, int] = {}  # kinds of arguments without machine code on disk, when so many had it
        self.joined: dict[Any, object] = {}  # types with read-only arrays for which the loop has machine code

    def is_absent(self, args: tuple[Any, ...]) -> bool:
        """Return whether no machine code for these types of arguments is on disk; False if unknown."""
        loop, given = self.loop, tuple(map(_kind, args))
        if self.absent.get(given) == len(loop.overloads):  # numba would take long to name the types
            return True
        kinds = _writeable(map(loop.typeof_pyval, args))
        if kinds in loop.overloads:
            return False
        try:
            file = getattr(loop._cache, "_cache_file", None)  # there is none without a folder for it
            known = {} if file is None else file._load_index()
            if known and loop._cache._index_key(kinds, loop.targetctx.codegen()) in known:
                return False
        except (AttributeError, OSError):  # another version of numba may store it in another way
            return False
        self.absent[given] = len(loop.overloads)
        return True

    def function_for(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """Return the machine code for arguments, which is that for arrays that may be written."""
        kinds = tuple(map(self.loop.typeof_pyval, args))
        writeable = _writeable(kinds)
        function: Callable[..., Any] = self.loop.compile(writeable)
        token = object()
        # once, also where threads meet: numba takes no types twice
        if writeable != kinds and self.joined.setdefault(kinds, token) is token:
            self.loop._insert([kind._code for kind in kinds], function)
        return function

    def spent_before(self) -> float:
        """Return the seconds of interpretation in earlier processes."""
        return spent_before(self.loop)

    def keep(self, seconds: float) -> None:
        """Store the seconds of interpretation for later processes."""
        note_seconds(self.loop, seconds)

    def forget(self) -> None:
        """Let later processes count anew, as the loop is compiled now."""
        forget(self.loop)


def _numbas(loop: Loop) -> Any:
    """Return numba's loop, which Python can call."""
    home = loop.py_func.__globals__
    space = _space_of(home)
    if loop.__name__.startswith("_"):
        return numba.njit(nogil=True, no_cfunc_wrapper=True)(_in_space(loop, space))
    return space[loop.__name__] if home.get(loop.__name__) is loop else _stored_loop(loop, space)


def _space_of(home: dict[str, Any]) -> dict[str, Any]:
    """Return the globals of a file with numba's loops in place of ours, as they call each other."""
    space = _spaces.get(id(home))
    if space is None:
        space = _spaces[id(home)] = dict(home)
        for name, loop in home.items():
            if isinstance(loop, Loop):
                is_part = name.startswith("_")
                space[name] = _part(loop, space) if is_part else _stored_loop(loop, space)
    return space


def _part(loop: Loop, space: dict[str, Any]) -> Any:
    """Return a loop that only others call: it is stored in these, and has no door for Python."""
    return numba.njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)(_in_space(loop, space))


def _stored_loop(loop: Loop, space: dict[str, Any]) -> Any:
    """Return a loop whose machine code is kept on disk, and which asks ours before it compiles any."""
    found = numba.njit(nogil=True, no_cfunc_wrapper=True)(_in_space(loop, space))
    store_code(found)
    found._compile_for_args = loop.function_for
    return found


def _in_space(loop: Loop, space: dict[str, Any]) -> FunctionType:
    """Return the function of a loop with other globals."""
    plain = loop.py_func
    return FunctionType(plain.__code__, space, plain.__name__, plain.__defaults__, plain.__closure__)


def _writeable(kinds: Iterable[Any]) -> tuple[Any, ...]:
    """Return numba's types of arguments, with arrays that may be written in place of those that may not."""
    return tuple(map(_writeable_kind, kinds))


def _writeable_kind(kind: Any) -> Any:
    if isinstance(kind, numba.types.Array):
        return kind if kind.mutable else kind.copy(readonly=False)
    if isinstance(kind, numba.types.BaseTuple):
        return numba.types.BaseTuple.from_types(_writeable(kind.types), getattr(kind, "instance_class", None))
    return kind


def _kind(value: Any) -> Any:
    """Return what tells arguments of different types apart, whether or not their arrays may be written."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.c_contiguous, value.flags.f_contiguous, value.flags.aligned
    return (type(value), *map(_kind, value)) if isinstance(value, tuple) else type(value)
