"""Rows of several nodes in bins of their columns: sums by bin, and the rows of some bins.

Bins are those of pairs of a node and a column, `pair = node * d + column`. The edges of a pair are ascending. A value
lies in the bin of the first edge that is not below it, or in the last bin, behind all edges::

    edges of the pair     e0       e1       e2          edges[starts[pair]], …, edges[starts[pair + 1] - 1]
    bins of the pair    0     1        2        3       value <= e0, e0 < value <= e1, …

Each bin has a slot, in which its sums are kept; the slot -1 is that of bins that nobody looks at. Bin b of a pair is
number `starts[pair] + pair + b` of all bins.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_by_label", "add_changes_to_slots", "add_to_slots", "find_in_slots", "whole_by_node"]


@jit
def whole_by_node(costs, share, times, scales, nodes, whole):
    """Write weighted costs as whole numbers, as `costs.write_whole` does, with the scale of each row's node.

    The last column holds the largest of the costs of each row.

    IN: costs (n, k); share, times (n,); scales (m,); nodes (n,). OUT: whole (n, k + 1).
    """
    k = costs.shape[1]
    for row in range(costs.shape[0]):
        scale, largest = scales[nodes[row]], np.int64(0)
        for c in range(k):
            cost = np.int64(np.rint(costs[row, c] * share[row] * scale)) * times[row]
            whole[row, c] = cost
            largest = max(largest, cost)
        whole[row, k] = largest


@jit
def add_to_slots(values, nodes, starts, edges, slots, amounts, counts, low, high, sums):
    """Add the amounts of rows to the slots of their bins, in every column.

    IN: values (n, d); nodes (n,); starts, edges, slots: see above; amounts (n, q). OUT, by slot: counts: numbers of
    rows; low, high: their least and greatest value; sums (., q).
    """
    d, q = values.shape[1], amounts.shape[1]
    for row in range(values.shape[0]):
        for j in range(d):
            pair, value = nodes[row] * d + j, values[row, j]
            slot = slots[starts[pair] + pair + _bin_of(value, edges, starts[pair], starts[pair + 1])]
            if slot < 0:
                continue
            counts[slot] += 1
            low[slot], high[slot] = min(low[slot], value), max(high[slot], value)
            for i in range(q):
                sums[slot, i] += amounts[row, i]


@jit
def add_by_label(values, nodes, labels, mass, starts, edges, slots, counts, low, high, sums):
    """Do what `add_to_slots` does if a row has an amount at its label alone.

    IN: as there; labels (n,); mass (n,), or (0,) where each is 1.
    """
    d = values.shape[1]
    for row in range(values.shape[0]):
        amount = mass[row] if len(mass) else np.int64(1)
        for j in range(d):
            pair, value = nodes[row] * d + j, values[row, j]
            slot = slots[starts[pair] + pair + _bin_of(value, edges, starts[pair], starts[pair + 1])]
            if slot >= 0:
                counts[slot] += 1
                low[slot], high[slot] = min(low[slot], value), max(high[slot], value)
                sums[slot, labels[row]] += amount


@jit
def add_changes_to_slots(values, nodes, starts, edges, slots, changes, fixed, counts, low, high, sums):
    """Do what `add_to_slots` does for what rows add to the cost of a cut, what they take away, and more amounts.

    IN: as there; changes (d, n): at each row in each column; fixed (n, q): other amounts. OUT: as there, with
    sums (., 2 + q).
    """
    d, q = values.shape[1], fixed.shape[1]
    for row in range(values.shape[0]):
        for j in range(d):
            pair, value = nodes[row] * d + j, values[row, j]
            slot = slots[starts[pair] + pair + _bin_of(value, edges, starts[pair], starts[pair + 1])]
            if slot < 0:
                continue
            counts[slot] += 1
            low[slot], high[slot] = min(low[slot], value), max(high[slot], value)
            change = changes[j, row]
            if change > 0:
                sums[slot, 0] += change
            else:
                sums[slot, 1] -= change
            for i in range(q):
                sums[slot, 2 + i] += fixed[row, i]


@jit
def find_in_slots(values, nodes, starts, edges, slots, rows, columns, found):
    """Write the row, the column and the slot of each value that lies in a slot, and return how many there are.

    IN: as for `add_to_slots`. OUT: rows, columns, found (n d,).
    """
    d, count = values.shape[1], 0
    for row in range(values.shape[0]):
        for j in range(d):
            pair = nodes[row] * d + j
            slot = slots[starts[pair] + pair + _bin_of(values[row, j], edges, starts[pair], starts[pair + 1])]
            if slot >= 0:
                rows[count], columns[count], found[count] = row, j, slot
                count += 1
    return count


@jit
def _bin_of(value, edges, start, stop):
    """Return the number of edges from `start` to `stop - 1` that lie below a value."""
    first = start
    while start < stop:
        middle = (start + stop) // 2
        if edges[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start - first
