"""How much the tests try: a quarter in `make test`, a third in `.ci/run`, as much as is asked for in `make soak-tests`.

The options of `tests/conftest.py` set these numbers before any test is imported.
"""

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import pytest

SEEDS = 0.25  # so many times the seeds; 1 by the option --full, or as the option --seeds says
ALL_KINDS = 0.3  # from so many times the seeds on, all kinds of cases are tried
SIZE = 1  # so many times the rows of generated tables at most; the option --size
SLOW = False  # whether slow tests run, too; the option --slow

T = TypeVar("T")


def seeds(n: int, *, first: int = 0, least: int = 1) -> range:
    """Return the seeds to try: from `first` on, `n` of them or as the options say, and at least so many as `least`."""
    return range(first, first + max(least, math.ceil(n * SEEDS)))


def share(n: int) -> float:
    """Return how many cases must be of some kind at least: `n` where all seeds are tried, much fewer where few are."""
    return n if SEEDS >= 1 else n * SEEDS / 2


def draws(n: int, *, least: int = 1) -> int:
    """Return how many random draws a test compares with a law: `n` or as the options say, and at least `least`."""
    return max(least, math.ceil(n * SEEDS))


def some(cases: Iterable[T], *, of: int = 4) -> list[T]:
    """Return the cases of a long list to try: all by --full, a third of these in CI, or one in so many as `of`."""
    step = of if SEEDS < ALL_KINDS else min(of, 3) if SEEDS < 1 else 1
    return list(cases)[::step]


def drawn(cases: Iterable[T], seed: int) -> list[T]:
    """Return the doors, or other cases of one kind, on which a seed of a law is tried: one in turn; all by --full."""
    every = list(cases)
    return every if SEEDS >= 1 else [every[seed % len(every)]]


def diagonal(sizes: list[int]) -> list[bool]:
    """Return which combinations of so many values of each parameter are enough to try each value in one of them."""
    needed = {tuple(i % size for size in sizes) for i in range(max(sizes))}
    return [place in needed for place in itertools.product(*map(range, sizes))]


def variants(first: T, *others: T) -> list[T]:
    """Return what one check is run on: the first one, and the others where slow tests run."""
    return [first, *others] if SLOW else [first]


def searches() -> range:
    """Return the seeds of searches for a case that breaks a guarantee; `make soak-tests` tries 100 000 cases in all."""
    return range(17 * SEEDS) if SLOW and SEEDS > 1 else seeds(4)


def search_length() -> int:
    """Return how many cases one search tries."""
    return 600 if SLOW else 100


def law(n: int, *, first: int = 0) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a test on the seeds `seeds(n, first=first)`, its argument `seed`, as one case of pytest.

    All seeds are tried, and a failure names those that fail. A seed may skip itself; the case is skipped if all do.
    Each seed has a folder `tmp_path` of its own, and what it changes by `monkeypatch` is undone after it.
    """
    return lambda test: _as_one_case(test, ["seed"], lambda: {seed: {"seed": seed} for seed in seeds(n, first=first)})


def each(names: str, table: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a test on each row of a table, as `pytest.mark.parametrize(names, table)` does, but as one case of pytest.

    All rows are tried, and a failure names those that fail by their places. It is for short calls of one kind: what is
    refused, and by which words.
    """
    given = names.split(", ")
    rows = [dict(zip(given, row if len(given) > 1 else [row], strict=True)) for row in table]
    return lambda test: _as_one_case(test, given, lambda: dict(enumerate(rows)))


def _as_one_case(
    test: Callable[..., None], given: list[str], tries: Callable[[], dict[int, dict[str, Any]]]
) -> Callable[..., None]:
    """Return a test that tries `test` with the arguments of all tries, and tells which fail."""

    @wraps(test)
    def all_tried(**fixtures: Any) -> None:
        __tracebackhide__ = True
        arguments = tries()
        outcomes = {number: _outcome(test, number, more, fixtures) for number, more in arguments.items()}
        _tell(given, list(arguments), {number: error for number, error in outcomes.items() if error is not None})

    all_tried.__signature__ = _without(test, given)  # type: ignore[attr-defined]
    return all_tried


def _without(test: Callable[..., None], given: list[str]) -> inspect.Signature:
    """Return the arguments that pytest gives."""
    signature = inspect.signature(test)
    return signature.replace(parameters=[one for one in signature.parameters.values() if one.name not in given])


def _outcome(
    test: Callable[..., None], number: int, more: dict[str, Any], fixtures: dict[str, Any]
) -> BaseException | None:
    """Return what a test raises for a try, or None."""
    try:
        with _for_one_try(fixtures, number) as own:
            test(**more, **own)
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
        return error
    return None


@contextmanager
def _for_one_try(fixtures: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Give the fixtures, as new where a try before may have left something in them."""
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / f"try_{number}"
        own["tmp_path"].mkdir()
    if "monkeypatch" not in own:
        yield own
        return
    with own["monkeypatch"].context() as own["monkeypatch"]:
        yield own


def _tell(given: list[str], tried: list[int], raised: dict[int, BaseException]) -> None:
    """Raise what the first try that fails raised, or skip if all tries skip."""
    __tracebackhide__ = True
    failed = [number for number, error in raised.items() if not isinstance(error, pytest.skip.Exception)]
    if failed:
        error, kind = raised[failed[0]], "seed" if given == ["seed"] else "row"
        error.add_note(f"{kind} {failed[0]}; of the {len(tried)} {kind}s from {tried[0]} on, these fail: {failed}")
        raise error
    if len(raised) == len(tried):
        raise raised[tried[0]]
