"""How much the tests try: a quarter in `make test`, all in `.ci/run`, as much as is asked for in `make soak-tests`.

The options of `tests/conftest.py` set these numbers before any test is imported.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import pytest

SEEDS = 0.25  # so many times the seeds; 1 by the option --full, or as the option --seeds says
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


def some(cases: Iterable[T]) -> list[T]:
    """Return the cases of a long list to try: all, or one in four where a quarter of the seeds is tried."""
    return list(cases)[:: math.ceil(1 / SEEDS)]


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

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def on_all_seeds(**fixtures: Any) -> None:
            __tracebackhide__ = True
            tried = seeds(n, first=first)
            outcomes = {seed: _outcome(test, seed, fixtures) for seed in tried}
            _tell(tried, {seed: error for seed, error in outcomes.items() if error is not None})

        on_all_seeds.__signature__ = _without_seed(test)  # type: ignore[attr-defined]
        return on_all_seeds

    return decorate


def _without_seed(test: Callable[..., None]) -> inspect.Signature:
    """Return the arguments that pytest gives."""
    signature = inspect.signature(test)
    return signature.replace(parameters=[one for one in signature.parameters.values() if one.name != "seed"])


def _outcome(test: Callable[..., None], seed: int, fixtures: dict[str, Any]) -> BaseException | None:
    """Return what a test raises for a seed, or None."""
    try:
        with _for_one_seed(fixtures, seed) as given:
            test(seed=seed, **given)
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
        return error
    return None


@contextmanager
def _for_one_seed(fixtures: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Give the fixtures, as new where a seed before may have left something in them."""
    given = dict(fixtures)
    if "tmp_path" in given:
        given["tmp_path"] = given["tmp_path"] / f"seed_{seed}"
        given["tmp_path"].mkdir()
    if "monkeypatch" not in given:
        yield given
        return
    with given["monkeypatch"].context() as given["monkeypatch"]:
        yield given


def _tell(tried: range, raised: dict[int, BaseException]) -> None:
    """Raise what the first seed that fails raised, or skip if all seeds skip."""
    __tracebackhide__ = True
    failed = [seed for seed, error in raised.items() if not isinstance(error, pytest.skip.Exception)]
    if failed:
        error = raised[failed[0]]
        error.add_note(f"seed {failed[0]}; of the {len(tried)} seeds from {tried[0]} on, these fail: {failed}")
        raise error
    if len(raised) == len(tried):
        raise raised[tried[0]]
