"""How much the tests try: enough for a verdict in `make test`, as much as is asked for in `make soak-tests`.

The options of `tests/conftest.py` set these numbers before any test is imported.
"""

from typing import TypeVar

SEEDS = 1  # so many times the seeds; the option --seeds
SIZE = 1  # so many times the rows of generated tables at most; the option --size
SLOW = False  # whether slow tests run, too; the option --slow

T = TypeVar("T")


def seeds(n: int, *, first: int = 0) -> range:
    """Return the seeds to try: `n` of them from `first` on, or so many times more."""
    return range(first, first + n * SEEDS)


def draws(n: int) -> int:
    """Return how many random draws a test compares with a law: `n`, or so many times more."""
    return n * SEEDS


def variants(first: T, *others: T) -> list[T]:
    """Return what one check is run on: the first one, and the others where slow tests run."""
    return [first, *others] if SLOW else [first]


def searches() -> range:
    """Return the seeds of searches for a case that breaks a guarantee; `make soak-tests` tries 100 000 cases in all."""
    return range(17 * SEEDS if SLOW and SEEDS > 1 else 4)


def search_length() -> int:
    """Return how many cases one search tries."""
    return 600 if SLOW else 100
