"""The order of a column, and the rows in it, parted down a tree: a node holds the same places in every column.

An entry is twice the number of a row, plus 1 if its value equals that of the entry before it in the node. So a walk
along a column sees where a cut may lie without reading a value::

    rows of a node       4    7    2    9    5      of one column, in the order of their values
    values             1.0  1.0  2.5  3.0  3.0
    entries              8   15    4   18   11      a cut may lie before 4 and before 18

The rows of both sides of a cut keep their order, and so does the mark where equal values part.

A double becomes a whole number of 31 binary digits that rises with it: sign, exponent and the first 19 digits of the
fraction. Values that share these come out next to each other in any order, and are put right by insertion.
"""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for

__all__ = ["mark_ties", "part", "part_by_leaf", "set_sides", "sort_rows"]

NONE, ONE = np.uint64(0), np.uint64(1)  # numbers without a sign: numba need not check for negative indices


@jit
def mark_ties(values, order, entries):
    """Write the entries of one column. IN: values (n_rows,); order (n,): rows, ascending. OUT: entries (n,)."""
    last = values[order[0]]
    for r in range(len(order)):
        value = values[order[r]]
        entries[r] = 2 * order[r] + (1 if r > 0 and value == last else 0)
        last = value


@stands_in_for(mark_ties)
def _mark_ties(values, order, entries):
    ordered = values[order]
    entries[:] = 2 * order
    entries[1:] += ordered[1:] == ordered[:-1]


@jit
def set_sides(entries, start, cut, stop, is_left):
    """Note for the rows of a node whether they come before a place in the column of its cut.

    IN: entries (n,): of the column; start, cut, stop. OUT: is_left (n_rows,).
    """
    for r in range(start, stop):
        is_left[entries[r] >> 1] = r < cut


@jit
def part(entries, first, last, start, stop, is_left):
    """Part the places of a node in some columns into its left rows, and its right rows behind them.

    IN: first, last: the columns; start, stop: the places; is_left (n_rows,). IN and OUT: entries (d, n).
    """
    right = np.empty(stop - start, dtype=entries.dtype)
    for j in range(first, last):
        column = entries[j]
        seen_left, seen_right = NONE, NONE  # whether each side has a row of this value
        n_left, n_right = np.uint64(start), NONE
        for r in range(np.uint64(start), np.uint64(stop)):
            entry = np.uint64(column[r])
            tied = entry & ONE
            seen_left &= tied
            seen_right &= tied
            goes_left = np.uint64(is_left[entry >> ONE])
            column[n_left] = entry - tied + seen_left  # to both sides, as a branch would be guessed wrongly
            right[n_right] = entry - tied + seen_right
            n_left += goes_left
            n_right += ONE - goes_left
            seen_left |= goes_left
            seen_right |= ONE - goes_left
        for r in range(n_right):  # not as a slice, whose checks take seconds to compile
            column[n_left + r] = right[r]


@stands_in_for(part)
def _part(entries, first, last, start, stop, is_left):
    for j in range(first, last):
        column = entries[j, start:stop]
        goes_left, value = is_left[column >> 1], np.cumsum(column & 1 == 0)
        sides = []
        for side in (goes_left, ~goes_left):
            rows, of_rows = column[side] & ~1, value[side]
            rows[1:] += of_rows[1:] == of_rows[:-1]
            sides.append(rows)
        entries[j, start:stop] = np.concatenate(sides)


@jit
def part_by_leaf(entries, first, last, leaves, starts):
    """Part all places of some columns into those of the leaves of a tree at once.

    IN: first, last: the columns; leaves (n_rows,): the leaf of each row; starts (n_leaves,): its first place.
    IN and OUT: entries (d, n).
    """
    n = entries.shape[1]
    old, following, seen = np.empty(n, dtype=entries.dtype), np.empty_like(starts), np.empty_like(starts)
    for j in range(first, last):
        column = entries[j]
        for i in range(len(starts)):
            following[i], seen[i] = starts[i], -1
        value = 0  # number of the value at this entry; above, the number last seen in each leaf
        for r in range(n):
            old[r] = column[r]
        for r in range(n):
            row = old[r] >> 1
            value += 1 - (old[r] & 1)
            leaf = leaves[row]
            column[following[leaf]] = 2 * row + np.int64(seen[leaf] == value)
            following[leaf] += 1
            seen[leaf] = value


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
