"""The one decorator of the hot loops: compiled, without the interpreter lock, cached on disk where that is possible.

A loop takes some tenths of a second to compile; interpreting it takes less for a small table. So while the machine code
of a loop is not on disk, calls with small tables are interpreted until they have taken about half as long as compiling
would, in this process and earlier ones; then it is compiled. The result is the same to the last bit: loops add,
multiply, divide and compare doubles, and whole numbers that do not overflow. Files with other functions, such as
logarithms, are always compiled. `tests/loops/test_interpreted.py` checks it.

Some loops have a stand-in: a numpy function with the same arguments and the same result. It runs in place of the
interpreted loop, and, being much faster, for larger tables as well. `tests/loops/test_stand_ins.py` compares each with
the compiled loop.

A search reads its arrays as often as it must, so their size does not tell how long it takes. It counts its steps, and
is interpreted until these are worth a second, or eight in all calls; then it begins anew, compiled, with its arguments
as they were (`is_search`). Steps are counted, not seconds, so that a call does the same on each machine.

To numba an array that may not be written is of another type than one that may, so a loop with five arrays that are only
read could be compiled 32 times. Here both kinds run the same machine code, compiled for arrays that may be written. A
loop writes only what its docstring calls OUT, which `tests/loops/test_interpreted.py` checks with arrays of numpy that
refuse.

The time spent on interpreted calls in earlier processes is stored, too (`_stored.py`). Without it, a program that runs
for a second every day would never spend the time to compile.
"""

import atexit
import copy
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

import numba
import numpy as np

from boxwood.loops._stored import forget, keep, spent_before, store_code

F = TypeVar("F", bound=Callable[..., Any])
PATIENCE = 0.0003  # seconds of interpretation for each byte of Python's code; compiling takes about twice as long
GUESS, QUICK = 2e-6, 1e-7  # seconds per array element before the first timed call, of a loop and of a stand-in
MORE = 10  # a timed call predicts calls with at most 10 times as many array elements
MANY = 2_000_000  # most array elements of an interpreted call, as a stand-in makes several copies
FEW = 500  # array elements that take as long as the call itself
STEP = 1e-7  # seconds that a step of a search is worth
SEARCHED, LONG = 8.0, 1.0  # those of all calls before a search is compiled, which takes as long, and those of one call
STEPS = 300  # of one call within a search, beside those of its rows
SAME = frozenset({"bool", "int8", "uint8", "int32", "int64", "float64"})  # types in which numba computes like Python
ROUNDED = frozenset({"log", "log1p", "log2", "exp", "expm1", "erf", "erfc"})  # rounded differently by numba and numpy
_stand_ins: dict[Any, FunctionType] = {}  # by the function that is compiled
_searches: dict[Any, int] = {}  # functions that count their steps, and the place of the argument that holds these
_watchers: list[Callable[[], None]] = []


def jit(function: F) -> F:
    """Return `function` compiled by numba; without a writable cache folder, compiled anew in each process.

    One whose name has a leading underscore is a part of others: it is stored in these, and has no door for Python.
    """
    is_part = function.__name__.startswith("_")
    loop: Any = numba.njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=is_part)(function)
    if not hasattr(loop, "_compile_for_args"):  # numba is told to compile nothing, by NUMBA_DISABLE_JIT
        return function
    if is_part:
        loop._insert = lambda *args, **kws: None  # so that a call from Python asks for a function that it can call
        loop._compile_for_args = lambda *args, **kws: _with_door(function)
    else:
        store_code(loop)
        loop._compile_for_args = _Uncompiled(loop).function_for
    compiled: F = loop
    return compiled


@cache
def _with_door(function: F) -> F:
    """Return a part of other loops as a loop of its own."""
    loop: F = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)
    return loop


def stands_in_for(loop: Any) -> Callable[[F], F]:
    """Return a decorator of the stand-in of `loop`: a numpy function with the same result to the last bit.

    It takes all types of arrays that the loop takes, and adds numbers that are not whole in the order of the loop.
    """

    def register(function: F) -> F:
        _stand_ins[getattr(loop, "py_func", loop)] = function  # type: ignore[assignment]
        return function

    return register


def is_search(loop: F) -> F:
    """Return a loop that counts its steps in the item of its argument `work`, and may have to begin anew."""
    function = getattr(loop, "py_func", loop)
    _searches[function] = function.__code__.co_varnames.index("work")
    return loop


def interpreted(loop: Any) -> Callable[..., Any]:
    """Return a loop, or its stand-in, as a Python function, which also calls the other loops of its file in Python.

    Like machine code, it does not warn of overflow, and returns Python numbers.
    """
    space = dict(loop.py_func.__globals__)
    for name, value in list(space.items()):
        if hasattr(value, "py_func"):
            plain = _stand_ins.get(value.py_func, value.py_func)
            space[name] = FunctionType(plain.__code__, space, plain.__name__, plain.__defaults__, plain.__closure__)
    function: Callable[..., Any] = space[loop.py_func.__name__]

    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return _as_python(function(*args))

    return run


def _as_python(result: Any) -> Any:
    """Return the result of a loop with Python numbers in place of numpy's."""
    if type(result) is tuple:
        return tuple(map(_as_python, result))
    return result.item() if isinstance(result, np.generic) else result


@cache
def is_exact(loop: Any) -> bool:
    """Return whether all functions of a loop's file are rounded alike by machine code and the interpreter."""
    functions = (getattr(value, "py_func", None) for value in loop.py_func.__globals__.values())
    return not any(ROUNDED.intersection(function.__code__.co_names) for function in functions if function is not None)


def asks_for_machine_code() -> bool:
    """Return whether loops must be compiled, because NUMBA_BOUNDSCHECK or NUMBA_CPU_NAME is set."""
    return bool(numba.config.BOUNDSCHECK or numba.config.CPU_NAME)


@contextmanager
def watched_compiling(watcher: Callable[[], None]) -> Iterator[None]:
    """Call `watcher` whenever compiling a loop begins, which is once for each type of array on a machine."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


class _Uncompiled:
    """Calls of a loop with types of arguments for which no machine code is loaded."""

    def __init__(self, loop: Any) -> None:
        self.loop, self.compile = loop, loop._compile_for_args
        self.plain: Callable[..., Any] | None = None
        self.absent: dict[Any, int] = {}  # kinds of arguments without machine code on disk, when so many had it
        self.joined: dict[Any, object] = {}  # types with read-only arrays for which the loop has machine code
        self.patience = 0.0  # seconds of interpretation before compiling; set once files are complete
        self.spent: float | None = None  # seconds of interpretation so far, in this process and in earlier ones
        self.has_compiled = False
        self.rate, self.largest = 0.0, 0  # most seconds per array element, and most elements, of calls so far

    def function_for(self, *args: Any, **kws: Any) -> Callable[..., Any]:
        """Return the function that runs a call; numba calls this method in place of its own `_compile_for_args`."""
        if self._is_absent(args):
            if self._is_quick(args):
                return self._search if self.loop.py_func in _searches else self._interpret
            for watcher in _watchers:
                watcher()
            self.has_compiled = True
            forget(self.loop)
        return self._machine_code(args)

    def _machine_code(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """Return the machine code for arguments, which is that for arrays that may be written."""
        kinds = tuple(map(self.loop.typeof_pyval, args))
        writeable = _writeable(kinds)
        if writeable == kinds:
            function: Callable[..., Any] = self.compile(*args)
            return function
        function = self.loop.compile(writeable)
        token = object()
        if self.joined.setdefault(kinds, token) is token:  # once, also where threads meet: numba takes no types twice
            self.loop._insert([kind._code for kind in kinds], function)
        return function

    def _is_absent(self, args: tuple[Any, ...]) -> bool:
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

    def _is_quick(self, args: tuple[Any, ...]) -> bool:
        """Return whether a call is likely to be interpreted before `patience` is used up."""
        is_search = self.loop.py_func in _searches
        self.patience = self.patience or (SEARCHED if is_search else PATIENCE * _bytes(self.loop, set()))
        self.spent = spent_before(self.loop) if self.spent is None else self.spent
        size, has_stand_in = sum(map(_size, args)), self.loop.py_func in _stand_ins
        foretold = size <= MORE * self.largest
        rate = self.rate if foretold else max(self.rate, QUICK if has_stand_in else GUESS)
        rate = STEP if is_search else rate
        if size > MANY or self.spent + rate * (size + FEW) >= self.patience or asks_for_machine_code():
            return False
        return has_stand_in or (all(map(_is_same, args)) and is_exact(self.loop))

    def _as_plain(self) -> Callable[..., Any]:
        """Return the loop as a function of Python; the time spent on it is stored at the end of the process."""
        if self.plain is None:
            self.plain = interpreted(self.loop)
            atexit.register(self._keep)
        return self.plain

    def _search(self, *args: Any) -> Any:
        """Interpret a search until its steps are spent; then compile it, and begin anew."""
        plain, at, before = self._as_plain(), _searches[self.loop.py_func], copy.deepcopy(args)
        left = min(self.patience - (self.spent or 0.0), LONG)
        steps = _LoopSteps(args[at], left / STEP, args[0].shape[-1])
        try:
            return plain(*args[:at], steps, *args[at + 1 :])
        except _Spent:
            _restore(args, before)
        finally:
            self.spent = (self.spent or 0.0) + STEP * steps.done
        return self.loop(*args)

    def _interpret(self, *args: Any) -> Any:
        plain = self._as_plain()
        size, began = sum(map(_size, args)), time.thread_time()
        try:
            return plain(*args)
        finally:
            took = time.thread_time() - began
            self.spent = (self.spent or 0.0) + took
            self.rate, self.largest = max(self.rate, took / (size + FEW)), max(self.largest, size)

    def _keep(self) -> None:
        """Store the seconds spent so far, at the end of the process."""
        if self.spent and not self.has_compiled:
            keep(self.loop, self.spent)


class _Spent(Exception):
    """The steps of an interpreted search are spent."""


class _LoopSteps:
    """The steps of a search, counted where machine code has an array, and none more than there are `left`."""

    def __init__(self, work: Any, left: float, n_rows: int) -> None:
        self.work, self.left, self.n_rows = work, left, n_rows
        self.done = float(n_rows)

    def __getitem__(self, i: int) -> Any:
        return self.work[i]

    def __setitem__(self, i: int, value: Any) -> None:
        self.done += int(value - self.work[i]) * (1 + STEPS / self.n_rows)
        if self.done >= self.left:
            raise _Spent
        self.work[i] = value


def _restore(args: tuple[Any, ...], before: tuple[Any, ...]) -> None:
    """Write into arrays what they held before; what did not change is not written, as other threads may read it."""
    for now, then in zip(args, before, strict=True):
        if isinstance(now, np.ndarray) and not np.array_equal(now, then):
            now[...] = then


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


def _bytes(loop: Any, seen: set[Any]) -> int:
    """Return the size of a loop's bytecode, with that of the loops that it calls."""
    seen.add(loop)
    code = loop.py_func.__code__
    called = (loop.py_func.__globals__.get(name) for name in code.co_names)
    return len(code.co_code) + sum(
        _bytes(function, seen) for function in called if hasattr(function, "py_func") and function not in seen
    )


def _size(value: Any) -> int:
    """Return the number of array elements of an argument."""
    if isinstance(value, tuple):
        return sum(map(_size, value))
    return value.size if isinstance(value, np.ndarray) else 0


def _is_same(value: Any) -> bool:
    """Return whether the interpreter computes with the types of an argument like numba."""
    if isinstance(value, tuple):
        return all(map(_is_same, value))
    return not isinstance(value, np.ndarray | np.generic) or value.dtype.name in SAME
