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
is interpreted until these are worth what compiling takes; then it begins anew, compiled, with its arguments as they
were (`is_search`). Steps are counted, not seconds, so that a call does the same on each machine. Where an inner loop
does most of the work, an interpreted search calls it as a loop of its own, compiled far sooner (`is_inner`).

Loading numba and its first machine code takes half a second. So a process begins without both: small calls are
interpreted, whether or not there is machine code on disk, until this has taken a quarter of that time
(`_machine_code.py` has all that needs numba).

The time spent on interpreted calls in earlier processes is stored, too (`_stored.py`). Once it has used up what a loop
may take, the next process compiles at its first call, rather than after more of that. Without it, a program that runs
for a second every day would never spend the time to compile.
"""

import atexit
import copy
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
YOUNG = 0.15  # seconds of interpretation before a process loads numba, which takes some four times as long
SHORT = 0.01  # of one call in that time: a table of longer ones will need numba in any case
PATIENCE = 0.0003  # seconds of interpretation for each byte of Python's code; compiling takes about twice as long
GUESS, QUICK = 5e-7, 4e-8  # seconds per array element before the first timed call, of a loop and of a stand-in
MORE = 10  # a timed call predicts calls with at most 10 times as many array elements
MANY = 4_000_000  # most array elements of an interpreted call, as a stand-in makes several copies
FEW, FEW_AT_ONCE = 500, 10_000  # array elements that take as long as the call itself, of a loop and of a stand-in
SEARCHED = 8.0  # seconds of interpreted searches before one is compiled, which takes as long
LOOK = 2.5e-4  # those of writing steps down once, which is done after each look at rows, beside the steps themselves
SAME = frozenset(map(np.dtype, ("?", "i1", "u1", "i4", "i8", "f8")))  # types in which numba computes like Python
ROUNDED = frozenset({"log", "log1p", "log2", "exp", "expm1", "erf", "erfc"})  # rounded differently by numba and numpy
_stand_ins: dict[Any, FunctionType] = {}  # by the function that is compiled
_elements: dict[Any, Callable[..., int]] = {}  # that a stand-in goes over, from its arguments
_at_once: dict[Any, Callable[..., int]] = {}  # of these, in memory at the same time
_searches: dict[Any, tuple[int, float]] = {}  # the place of the argument `work` of functions, seconds of a step
_inner: set[Any] = set()  # functions that interpreted searches call as loops of their own
_watchers: list[Callable[[], None]] = []


def jit(function: F) -> F:
    """Return `function` as a loop, compiled by numba when it pays; without a cache folder, anew in each process.

    One whose name has a leading underscore is a part of others: its machine code is stored in these.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):  # then Python shall run the loops as they stand here
        return function
    loop: Any = Loop(function)
    compiled: F = loop
    return compiled


def stands_in_for(
    loop: Any, elements: Callable[..., int] | None = None, at_once: Callable[..., int] | None = None
) -> Callable[[F], F]:
    """Return a decorator of the stand-in of `loop`: a numpy function with the same result to the last bit.

    It takes all types of arrays that the loop takes, and adds numbers that are not whole in the order of the loop.

    IN: elements: from the arguments, how many array elements it goes over, where these are not about those of its
    arguments, such as a value for each row and cluster; at_once: how many of them are in memory, if not all.
    """

    def register(function: F) -> F:
        python = getattr(loop, "py_func", loop)
        _stand_ins[python], _elements[python] = function, elements or _count_elements  # type: ignore[assignment]
        _at_once[python] = at_once or _elements[python]
        return function

    return register


def is_search(step: float = 0.0) -> Callable[[F], F]:
    """Return a decorator of a loop that counts its steps in the item of its argument `work`, and may begin anew.

    IN: step: seconds that a step takes if it is interpreted; 0 if an inner loop does them.
    """

    def register(loop: F) -> F:
        function = getattr(loop, "py_func", loop)
        _searches[function] = function.__code__.co_varnames.index("work"), step
        return loop

    return register


def is_inner(loop: F) -> F:
    """Return a loop that does most of the work of searches: interpreted ones do not call it in Python."""
    _inner.add(getattr(loop, "py_func", loop))
    return loop


def interpret(loop: Any) -> Callable[..., Any]:
    """Return a loop, or its stand-in, as a Python function, which also calls other loops of its file in Python.

    Inner ones it calls as they are. Like machine code, it does not warn of overflow, and returns Python numbers.
    """
    space = dict(loop.py_func.__globals__)
    for name, value in list(space.items()):
        if hasattr(value, "py_func") and (value.py_func is loop.py_func or value.py_func not in _inner):
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
    if "numba" not in sys.modules and not {"NUMBA_BOUNDSCHECK", "NUMBA_CPU_NAME"}.intersection(os.environ):
        return False
    from numba import config

    return bool(config.BOUNDSCHECK or config.CPU_NAME)


@contextmanager
def watched_compiling(watcher: Callable[[], None]) -> Iterator[None]:
    """Call `watcher` whenever compiling a loop begins, which is once for each type of array on a machine."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


class Loop:
    """A loop: it is interpreted where that is likely to be quick, and otherwise run as numba's machine code."""

    young = YOUNG  # seconds of interpretation that are left to this process before it loads numba

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func: Any = function
        self.run: Callable[..., Any] = self._begin  # numba's loop, once there is one
        self.machine: Any = None  # the same with what is known of its machine code
        self.plain: Callable[..., Any] | None = None
        self.patience = 0.0  # seconds of interpretation before compiling; set once files are complete
        self.spent = 0.0  # seconds of interpretation so far, in this process
        self.before: float | None = None  # in earlier ones
        self.has_compiled = False
        self.rate, self.largest = 0.0, 0  # most seconds per array element, and most elements, of calls so far

    def __call__(self, *args: Any) -> Any:
        """Run the loop."""
        return self.run(*args)

    def _begin(self, *args: Any) -> Any:
        """Interpret a call while the process is young; otherwise load numba."""
        size = self._size(args)
        if self._seconds(size) < min(SHORT, Loop.young) and self._may_be_interpreted(args, size):
            return self._in_python(*args)
        self.load()
        return self.run(*args)

    def load(self) -> None:
        """Let numba run the loop from now on, and no loop begin without it."""
        from boxwood.loops._machine_code import MachineCode

        Loop.young = 0.0
        self.machine = MachineCode(self)
        self.run = self.machine.loop

    def function_for(self, *args: Any, **kws: Any) -> Callable[..., Any]:
        """Return the function that runs a call; numba calls this method in place of its own `_compile_for_args`."""
        if self.machine.is_absent(args):
            if self._is_quick(args):
                return self._in_python
            for watcher in _watchers:
                watcher()
            self.has_compiled = True
            self.machine.forget()
        function: Callable[..., Any] = self.machine.function_for(args)
        return function

    def _is_quick(self, args: tuple[Any, ...]) -> bool:
        """Return whether a call may well be interpreted before `patience` is used up, here or in processes before."""
        is_search = self.py_func in _searches
        self.patience = self.patience or (SEARCHED if is_search else PATIENCE * _bytes(self, set()))
        self.before = self.machine.spent_before() if self.before is None else self.before
        if self.before >= self.patience or self.spent >= self.patience:
            return False
        size = self._size(args)
        return self._seconds(size) < self.patience - self.spent and self._may_be_interpreted(args, size)

    def _size(self, args: tuple[Any, ...]) -> int:
        """Return how many array elements a call goes over."""
        elements: int = _elements.get(self.py_func, _count_elements)(*args)
        return elements

    def _seconds(self, size: int) -> float:
        """Return the seconds that an interpreted call is likely to take; of a search, until it is asked again."""
        is_quick = self.py_func in _stand_ins or self.py_func in _searches
        rate = self.rate if size <= MORE * self.largest else max(self.rate, QUICK if is_quick else GUESS)
        return rate * (size + self._few)

    @property
    def _few(self) -> int:
        return FEW_AT_ONCE if self.py_func in _stand_ins else FEW

    def _may_be_interpreted(self, args: tuple[Any, ...], size: int) -> bool:
        """Return whether interpreting a call gives what machine code gives, in no more memory than there is."""
        if asks_for_machine_code():
            return False
        at_once = _at_once[self.py_func](*args) if self.py_func in _at_once else size
        if at_once > MANY and self.py_func not in _searches:
            return False
        return self.py_func in _stand_ins or (_is_same(args) and is_exact(self))

    def _in_python(self, *args: Any) -> Any:
        """Interpret a call, whose time counts; it is stored at the end of the process."""
        if self.plain is None:
            self.plain = interpret(self)
            atexit.register(self._keep)
        return (self._search if self.py_func in _searches else self._interpret)(self.plain, args)

    def _search(self, plain: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Interpret a search until its steps are spent; then begin anew, compiled."""
        (at, step), before = _searches[self.py_func], copy.deepcopy(args)
        left = Loop.young or self.patience - self.spent
        steps = _LoopSteps(args[at], step, left)
        try:
            return plain(*args[:at], steps, *args[at + 1 :])
        except _Spent:
            _restore(args, before)
        finally:
            self._count(steps.seconds)
        return self(*args)

    def _interpret(self, plain: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        size, collects, began = self._size(args), gc.isenabled(), time.thread_time()
        gc.disable()  # a collection of what imports have left takes far longer than a small call, and is not its time
        try:
            return plain(*args)
        finally:
            took = time.thread_time() - began
            if collects:
                gc.enable()
            self._count(took)
            self.rate, self.largest = max(self.rate, took / (size + self._few)), max(self.largest, size)

    def _count(self, seconds: float) -> None:
        self.spent += seconds
        Loop.young = max(Loop.young - seconds, 0.0)

    def _keep(self) -> None:
        """Store the seconds spent so far, at the end of the process; those of one without numba are few enough."""
        if self.spent and self.machine is not None and not self.has_compiled:
            self.machine.keep((self.before or 0.0) + self.spent)


class _Spent(Exception):
    """The steps of an interpreted search are spent."""


class _LoopSteps:
    """The steps of a search, counted where machine code has an array, and none more than seconds are `left`."""

    def __init__(self, work: Any, step: float, left: float) -> None:
        self.work, self.step, self.left = work, step, left
        self.seconds = LOOK

    def __getitem__(self, i: int) -> Any:
        return self.work[i]

    def __setitem__(self, i: int, value: Any) -> None:
        self.seconds += LOOK + self.step * int(value - self.work[i])
        if self.seconds >= self.left:
            raise _Spent
        self.work[i] = value


def _restore(args: tuple[Any, ...], before: tuple[Any, ...]) -> None:
    """Write into arrays what they held before; what did not change is not written, as other threads may read it."""
    for now, then in zip(args, before, strict=True):
        if isinstance(now, np.ndarray) and not np.array_equal(now, then):
            now[...] = then


def _bytes(loop: Any, seen: set[Any]) -> int:
    """Return the size of a loop's bytecode, with that of the loops that it calls."""
    seen.add(loop)
    code = loop.py_func.__code__
    called = (loop.py_func.__globals__.get(name) for name in code.co_names)
    return len(code.co_code) + sum(
        _bytes(function, seen) for function in called if hasattr(function, "py_func") and function not in seen
    )


def _count_elements(*values: Any) -> int:
    """Return the number of array elements of arguments."""
    return sum(
        value.size if isinstance(value, np.ndarray) else _count_elements(*value)
        for value in values
        if isinstance(value, np.ndarray | tuple)
    )


def _is_same(value: Any) -> bool:
    """Return whether the interpreter computes with the types of an argument like numba."""
    if isinstance(value, tuple):
        return all(map(_is_same, value))
    return not isinstance(value, np.ndarray | np.generic) or value.dtype in SAME
