"""Boxes of a tree's leaves, and covers of their union, point by point."""

import functools
import itertools
import math


def points(boxes, domains: dict) -> dict:
    """Return for each column the values to try: every end, its neighbours, and what lies between; or all codes."""
    found = {}
    for column in sorted({column for box in boxes for column in box}):
        ends = {end for box in boxes for piece in box.get(column, ()) for end in piece[:2] if math.isfinite(end)}
        near = {math.nextafter(end, away) for end in ends for away in (-math.inf, math.inf)} | ends | {0.0}
        found[column] = [low for low, _ in domains[column]] if column in domains else sorted(near)
    return found


def rows_near(boxes, domains: dict):
    """Yield every combination of these values, as a row by column."""
    values = points(boxes, domains)
    for row in itertools.product(*values.values()):
        yield dict(zip(values, row, strict=True))


def is_inside(row: dict, boxes) -> bool:
    """Return whether a row is in one of some boxes."""
    return any(all(any(row[j] in piece for piece in pieces) for j, pieces in box.items()) for box in boxes)


def is_any_inside(boxes, domains: dict) -> bool:
    """Return whether any row is in one of some boxes."""
    return any(is_inside(row, boxes) for row in rows_near(boxes, domains))


def cheapest_cover(boxes, domains: dict) -> tuple[int, int]:
    """Return the price of the cheapest cover of the union by boxes inside of it, and of these the fewest boxes.

    A box is one run of the values to try in each column, or any set of codes. It costs one for each end of a run that
    is not the last value, and one for a set that lacks codes. All boxes are tried.
    """
    values = points(boxes, domains)
    rows = list(rows_near(boxes, domains))
    union = frozenset(i for i, row in enumerate(rows) if is_inside(row, boxes))
    sides = [_sets(values[j], j in domains) for j in values]
    candidates: dict[frozenset, int] = {}
    for choice in itertools.product(*sides):
        held = frozenset(
            i for i, row in enumerate(rows) if all(x in one for x, (one, _) in zip(row.values(), choice, strict=True))
        )
        if held and held <= union:
            candidates[held] = min(candidates.get(held, 99), sum(price for _, price in choice))

    @functools.cache
    def best(left: frozenset) -> tuple[int, int]:
        if not left:
            return 0, 0
        first = min(left)
        tries = [(price, best(left - held)) for held, price in candidates.items() if first in held]
        return min((price + rest, 1 + n) for price, (rest, n) in tries)

    return best(union)


def _sets(values: list, coded: bool) -> list[tuple[frozenset, int]]:
    """Return the sets that one condition can hold, with their prices."""
    n = len(values)
    if coded:
        chosen = itertools.chain.from_iterable(itertools.combinations(values, m) for m in range(1, n + 1))
        return [(frozenset(some), int(len(some) < n)) for some in chosen]
    runs = itertools.combinations(range(n + 1), 2)
    return [(frozenset(values[a:b]), (a > 0) + (b < n)) for a, b in runs]
