"""Sorted columns, partitioned down a tree: the rows of a node have the same places in every column.

An entry is twice the number of a row, plus 1 if its value equals that of the entry before it in the node. So a walk
along a column finds the possible cuts without reading a value::

    rows of a node       4    7    2    9    5      of one column, in the order of their values
    values             1.0  1.0  2.5  3.0  3.0
    entries              8   15    4   18   11      a cut may lie before 4 and before 18

The partition is stable: rows keep their order on both sides of a cut, and marks of equal values are updated.

Sorting is by a key of 31 bits that is monotone in the value: sign, exponent and the first 19 bits of the fraction.
Values with equal keys end up next to each other in any order, and are then sorted by insertion.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Floats
from boxwood.loops.jit import jit, stands_in_for

NONE, ONE = np.uint64(0), np.uint64(1)  # unsigned, so that numba need not check for negative indices


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
    """Write for the rows of a node whether they come before the place of its cut.

    IN: entries (n,): of the column; start, cut, stop. OUT: is_left (n_rows,).
    """
    for r in range(start, stop):
        is_left[entries[r] >> 1] = r < cut


@jit
def partition_order(entries, first, last, start, stop, is_left):
    """Partition the rows of a node in some columns: left rows first, then right rows, each in their order.

    IN: first, last: the columns; start, stop: the places; is_left (n_rows,). IN and OUT: entries (d, n).
    """
    right = np.empty(stop - start, dtype=entries.dtype)
    for j in range(first, last):
        column = entries[j]
        left_has_value, right_has_value = NONE, NONE  # whether each side has a row of this value
        n_left, n_right = np.uint64(start), NONE
        for r in range(np.uint64(start), np.uint64(stop)):
            entry = np.uint64(column[r])
            tied = entry & ONE
            left_has_value &= tied
            right_has_value &= tied
            goes_left = np.uint64(is_left[entry >> ONE])
            column[n_left] = entry - tied + left_has_value  # to both sides, as a branch would be mispredicted
            right[n_right] = entry - tied + right_has_value
            n_left += goes_left
            n_right += ONE - goes_left
            left_has_value |= goes_left
            right_has_value |= ONE - goes_left
        for r in range(n_right):  # not as a slice, whose checks take seconds to compile
            column[n_left + r] = right[r]


@stands_in_for(partition_order)
def _partition(entries, first, last, start, stop, is_left):
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
def partition_by_leaf(entries, first, last, leaves, starts):
    """Partition all rows in some columns by the leaves of a tree at once.

    IN: first, last: the columns; leaves (n_rows,): the leaf of each row; starts (n_leaves,): its first place.
    IN and OUT: entries (d, n).
    """
    n = entries.shape[1]
    old, following, last_value = np.empty(n, dtype=entries.dtype), np.empty_like(starts), np.empty_like(starts)
    for j in range(first, last):
        column = entries[j]
        for i in range(len(starts)):
            following[i], last_value[i] = starts[i], -1
        value = 0  # number of distinct values so far; `last_value` is this number at the last row of each leaf
        for r in range(n):
            old[r] = column[r]
        for r in range(n):
            row = old[r] >> 1
            value += 1 - (old[r] & 1)
            leaf = leaves[row]
            column[following[leaf]] = 2 * row + np.int64(last_value[leaf] == value)
            following[leaf] += 1
            last_value[leaf] = value


@stands_in_for(partition_by_leaf)
def _partition_by_leaf(entries, first, last, leaves, starts):
    for column in entries[first:last]:
        rows, value = column >> 1, (1 - (column & 1)).cumsum()
        order = leaves[rows].argsort(kind="stable")
        leaf, value = leaves[rows][order], value[order]
        place = starts[leaf] + np.arange(len(leaf)) - leaf.searchsorted(leaf)
        is_tied = np.zeros(len(leaf), dtype=column.dtype)
        is_tied[1:] = (leaf[1:] == leaf[:-1]) & (value[1:] == value[:-1])
        column[place] = 2 * rows[order] + is_tied


BITS, N_BOXES = 11, 2048  # bits and values of a digit of a key, which has three digits
FEW = 4096  # values up to which numpy sorts as fast
MANY = np.iinfo(np.int32).max
NOT_SIGN = np.iinfo(np.int64).max
MOVES = 4  # most moves of insertion for each row; if there are more, too many values have equal keys


def ascending(values: Floats) -> NDArray[Any]:
    """Return the places of finite values in ascending order, shape (n,); equal values come in any order.

    Takes a third of the time of numpy's sort, and as long where most values are equal in their first six digits.
    """
    if not FEW < len(values) <= MANY:
        return np.argsort(values)
    bits = np.ascontiguousarray(values).view(np.int64)
    rising = bits ^ ((bits >> 63) & NOT_SIGN)  # the bits of a number below zero fall where it rises
    keys = ((rising >> 33) + (1 << 30)).astype(np.int32)
    order, rows = np.empty((2, len(values)), dtype=np.int32)
    return order if sort_rows(values, keys, np.empty_like(keys), rows, order) else np.argsort(values)


@jit
def sort_rows(values, keys, spare, rows, order):
    """Write rows in the ascending order of their values, by radix sort; return False if that failed.

    Equal values come in any order.

    IN: values (n,): of the rows 0 to n - 1; keys (n,): whole numbers from 0 to 2**31 - 1, monotone in the values. OUT:
    order (n,); keys, spare, rows (n,) are overwritten; they have the types of `keys`, `keys` and `order`.
    """
    n = len(values)
    counts = np.zeros((3, N_BOXES), dtype=np.int64)
    for r in range(n):
        key = keys[r]
        order[r] = r
        for digit in range(3):
            counts[digit, (key >> (BITS * digit)) & (N_BOXES - 1)] += 1
    of_rows, sorted_rows, in_spare = order, rows, False
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
            spare[to], sorted_rows[to] = key, of_rows[r]
        keys, spare, of_rows, sorted_rows, in_spare = spare, keys, sorted_rows, of_rows, not in_spare
    if in_spare:
        for r in range(n):
            order[r] = rows[r]
    return _insert(values, order)


@stands_in_for(sort_rows)
def _sort_rows(values, keys, spare, rows, order):
    order[:] = np.lexsort((keys, values))
    return True


@jit
def _insert(values, order):
    """Sort rows that are nearly in order by insertion; return False if that takes too many moves."""
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
