"""The rows in the order of each column, parted down a tree: a node holds the same places in every column.

An entry is twice the number of a row, plus 1 if its value equals that of the entry before it in the node. So a walk
along a column sees where a cut may lie without reading a value::

    rows of a node       4    7    2    9    5      of one column, in the order of their values
    values             1.0  1.0  2.5  3.0  3.0
    entries              8   15    4   18   11      a cut may lie before 4 and before 18

The rows of both sides of a cut keep their order, and so does the mark where equal values part.
"""

import numpy as np

from boxwood.loops._jit import jit, stands_in_for

__all__ = ["mark_ties", "part", "part_by_leaf", "set_sides"]

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
