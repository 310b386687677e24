"""The order of a column: rows are dealt into boxes by the leading digits of their values, the last digit first.

A double becomes a whole number of 31 binary digits that rises with it: sign, exponent and the first 19 digits of the
fraction. Values that share these come out next to each other in any order, and are put right by insertion.
"""

import numpy as np

from boxwood.loops._jit import jit, stands_in_for

__all__ = ["sort_rows"]

BITS, N_BOXES = 11, 2048  # of a digit; there are three
MOVES = 4  # for each row, at most; then the values are too near to each other for their leading digits


@jit
def sort_rows(values, keys, spare, rows, order):
    """Write rows in the ascending order of their values; return False if they came out in another order.

    Equal values come in any order.

    IN: values (n,): of the rows 0 to n - 1; keys (n,): whole numbers from 0 to 2**31 - 1 that do not fall where values
    rise. OUT: order (n,); keys, spare, rows (n,) are used up, of the types of `keys`, `keys` and `order`.
    """
    n = len(values)
    counts = np.zeros((3, N_BOXES), dtype=np.int64)
    for r in range(n):
        key = keys[r]
        order[r] = r
        for digit in range(3):
            counts[digit, (key >> (BITS * digit)) & (N_BOXES - 1)] += 1
    of_rows, dealt, is_swapped = order, rows, False
    for digit in range(3):
        shift, place = BITS * digit, 0
        if counts[digit, (keys[0] >> shift) & (N_BOXES - 1)] == n:  # all keys share this digit
            continue
        for box in range(N_BOXES):
            count = counts[digit, box]
            counts[digit, box] = place
            place += count
        for r in range(n):
            key = keys[r]
            box = (key >> shift) & (N_BOXES - 1)
            to = counts[digit, box]
            counts[digit, box] = to + 1
            spare[to], dealt[to] = key, of_rows[r]
        keys, spare, of_rows, dealt, is_swapped = spare, keys, dealt, of_rows, not is_swapped
    if is_swapped:
        for r in range(n):
            order[r] = rows[r]
    return _insert(values, order)


@stands_in_for(sort_rows)
def _sort_rows(values, keys, spare, rows, order):
    order[:] = np.lexsort((keys, values))
    return True


@jit
def _insert(values, order):
    """Put rows right that are nearly in the order of their values; return False if that takes too many moves."""
    moves = MOVES * len(order)
    for r in range(1, len(order)):
        row, place = order[r], r
        value = values[row]
        while place > 0 and values[order[place - 1]] > value and moves >= 0:
            order[place] = order[place - 1]
            place -= 1
            moves -= 1
        order[place] = row
        if moves < 0:
            return False
    return True
