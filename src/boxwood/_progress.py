"""Progress of long calls, and a limit on the time of a search."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, TypeAlias, TypeVar

from boxwood._validation import show_value

T = TypeVar("T")
Progress: TypeAlias = Callable[[str, int, int], None]
"""Takes what is done ("trees grown"), how often it has been done by now, 0 as it begins, and how often it will be."""


def silent(step: str, done: int, total: int) -> None:
    """Tell nobody."""


def as_progress(verbose: Any) -> Progress:
    """Return the function that `verbose` asks for: 0 none, 1 one that writes lines, and a function itself.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if callable(verbose):
        return _in_rounds(verbose)
    if not isinstance(verbose, Integral) or verbose < 0:
        raise TypeError(f"verbose must be 0, 1 or a function of (step, done, total); got {show_value(verbose)}")
    return _in_rounds(_write) if verbose else silent


def _in_rounds(progress: Progress) -> Progress:
    """Return the function with a number behind the name of what begins anew, so that no count under a name falls."""
    begun = Counter[str]()

    def tell(step: str, done: int, total: int) -> None:
        begun[step] += done == 0
        progress(f"{step}, round {begun[step]}" if begun[step] > 1 else step, done, total)

    return tell


def _write(step: str, done: int, total: int) -> None:
    print(f"boxwood: {step}: {done:,} of {total:,}", file=sys.stderr, flush=True)


def tell_progress(progress: Progress, step: str, items: Sequence[T]) -> Iterator[T]:
    """Yield items, and tell before each, and after the last, how many are done."""
    for done, item in enumerate(items):
        progress(step, done, len(items))
        yield item
    progress(step, len(items), len(items))


@contextmanager
def in_one_step(progress: Progress, step: str) -> Iterator[None]:
    """Tell what cannot tell how far it is, as it begins and when it is done."""
    progress(step, 0, 1)
    yield
    progress(step, 1, 1)


class Steps:
    """Counts steps up to a total that is known beforehand, and tells each new number once."""

    def __init__(self, progress: Progress, step: str, total: int) -> None:
        self.progress, self.step, self.total, self.done = progress, step, total, 0
        progress(step, 0, total)

    def reach(self, done: int) -> None:
        """Tell that so many steps are done, unless as many were done before."""
        if done > self.done:
            self.done = done
            self.progress(self.step, done, self.total)


class Clock:
    """A time limit in seconds; None is none."""

    def __init__(self, time_limit: float | None) -> None:
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.stopped = False

    def has_passed(self) -> bool:
        """Return whether the time is over; remembers that it was."""
        self.stopped = self.stopped or (self.deadline is not None and time.monotonic() > self.deadline)
        return self.stopped
