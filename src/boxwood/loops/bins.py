"""Rows of one or several nodes in bins of columns: codes, sums by bin, and the values of some bins.

Bins are those of pairs of a node and a column, `pair = node * d + column`. The edges of a pair are ascending. A value
lies in the bin of the first edge that is not below it, or in the last bin, behind all edges::

    edges of the pair     e0       e1       e2          edges[starts[pair]], …, edges[starts[pair + 1] - 1]
    bins of the pair    0     1        2        3       value <= e0, e0 < value <= e1, …

Each bin has a slot, the index of its sums, or -1 if it is not summed. Bin b of a pair is number
`starts[pair] + pair + b` of all bins.
"""

import numpy as np

from boxwood.loops.jit import jit


@jit
def fill_bins(X, column, order, n_bins, codes, starts):
    """Write the bin of each value of one column, and the rank of the first value of each bin; equal values share a bin.

    IN: X (n, d); column; order (m,): rows in ascending order of the column. OUT: codes (n, d): its column; starts
    (n_bins + 1,).
    """
    m, current = len(order), 0
    starts[0] = 0
    for r in range(m):
        row = order[r]
        if r * n_bins >= (current + 1) * m and X[row, column] != X[order[r - 1], column]:
            while r * n_bins >= (current + 1) * m:
                current += 1
                starts[current] = r
        codes[row, column] = current
    starts[current + 1 :] = m


@jit
def code_rows(X, is_kept, edges, start, stop, codes, counts):
    """Write the bin of each value of the kept rows from `start` to `stop - 1`: the number of edges below the value.

    IN: X (n, d); is_kept (n,); edges (d, 64): ascending, the last of each column is infinite. OUT: codes (n, d).
    IN and OUT: counts (d, 64): kept rows in each bin.
    """
    for row in range(start, stop):
        if not is_kept[row]:
            continue
        for j in range(X.shape[1]):
            value, of_column = X[row, j], edges[j]
            code = np.uint64(32) * np.uint64(of_column[31] < value)  # no branch, as it would be mispredicted
            code += np.uint64(16) * np.uint64(of_column[code + np.uint64(15)] < value)
            code += np.uint64(8) * np.uint64(of_column[code + np.uint64(7)] < value)
            code += np.uint64(4) * np.uint64(of_column[code + np.uint64(3)] < value)
            code += np.uint64(2) * np.uint64(of_column[code + np.uint64(1)] < value)
            code += np.uint64(of_column[code] < value)
            codes[row, j] = code
            counts[j, code] += 1


@jit
def gather_bins(codes, column, is_kept, starts, order):
    """Write the kept rows bin by bin. IN: codes (n, d); column; is_kept (n,); starts (n_bins + 1,). OUT: order (m,)."""
    following = starts.copy()
    for row in range(len(is_kept)):
        if is_kept[row]:
            code = codes[row, column]
            order[following[code]] = row
            following[code] += 1


@jit
def whole_by_node(costs, share, times, scales, nodes, whole):
    """Write weighted costs as whole numbers, like `costs.write_whole`, but with the scale of each row's node.

    The last column holds the largest cost of each row.

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
            value = values[row, j]
            slot = _slot_of(value, nodes[row] * d + j, starts, edges, slots)
            if slot < 0:
                continue
            _count(slot, value, counts, low, high)
            for i in range(q):
                sums[slot, i] += amounts[row, i]


@jit
def add_by_label(values, nodes, labels, mass, starts, edges, slots, counts, low, high, sums):
    """Like `add_to_slots`, for rows whose only amount is the mass at their label.

    IN: as there; labels (n,); mass (n,), or (0,) if each is 1.
    """
    d = values.shape[1]
    for row in range(values.shape[0]):
        amount = mass[row] if len(mass) else np.int64(1)
        for j in range(d):
            value = values[row, j]
            slot = _slot_of(value, nodes[row] * d + j, starts, edges, slots)
            if slot >= 0:
                _count(slot, value, counts, low, high)
                sums[slot, labels[row]] += amount


@jit
def add_changes_to_slots(values, nodes, starts, edges, slots, changes, fixed, counts, low, high, sums):
    """Like `add_to_slots`, but sums the cost that rows add to a cut, the cost that they remove, and other amounts.

    IN: as there; changes (d, n): of the cost, in each column; fixed (n, q): other amounts. OUT: as there, with
    sums (., 2 + q).
    """
    d, q = values.shape[1], fixed.shape[1]
    for row in range(values.shape[0]):
        for j in range(d):
            value = values[row, j]
            slot = _slot_of(value, nodes[row] * d + j, starts, edges, slots)
            if slot < 0:
                continue
            _count(slot, value, counts, low, high)
            change = changes[j, row]
            if change > 0:
                sums[slot, 0] += change
            else:
                sums[slot, 1] -= change
            for i in range(q):
                sums[slot, 2 + i] += fixed[row, i]


@jit
def find_in_slots(values, nodes, starts, edges, slots, rows, columns, found_slots):
    """Write the row, the column and the slot of each value that lies in a slot, and return the number of values.

    IN: as for `add_to_slots`. OUT: rows, columns, found_slots (n d,).
    """
    d, count = values.shape[1], 0
    for row in range(values.shape[0]):
        for j in range(d):
            slot = _slot_of(values[row, j], nodes[row] * d + j, starts, edges, slots)
            if slot >= 0:
                rows[count], columns[count], found_slots[count] = row, j, slot
                count += 1
    return count


@jit
def mark_open(costs, total, cost, is_closed, one_sided, two_sided, is_open):
    """Mark the bins of a column that may hold an end of a better cut than a known one: of a threshold or an interval.

    Takes time m² k at most, less if few intervals may cost so little.

    IN: costs (m, k): of the rows in each bin under each cluster; total (k,); cost: of the known cut; is_closed (m,):
    whether a bin is ruled out, for example because it holds one value; one_sided (m,): whether a threshold inside a bin
    is better than the known cut at equal cost; two_sided (m,): whether an interval that begins at or inside a bin is.
    OUT: is_open (m,).
    """
    m, k = costs.shape
    sums = np.zeros((m + 1, k), dtype=np.int64)
    for s in range(m):
        for c in range(k):
            sums[s + 1, c] = sums[s, c] + costs[s, c]
    for s in range(m):
        on_left, on_right = sums[s, 0], total[0] - sums[s + 1, 0]
        for c in range(1, k):
            on_left, on_right = min(on_left, sums[s, c]), min(on_right, total[c] - sums[s + 1, c])
        if not is_closed[s] and (on_left + on_right < cost or (on_left + on_right == cost and one_sided[s])):
            is_open[s] = True
        for e in range(s, m):
            inside = np.int64(0)
            if e > s + 1:
                inside = sums[e, 0] - sums[s + 1, 0]
                for c in range(1, k):
                    inside = min(inside, sums[e, c] - sums[s + 1, c])
            if inside > cost:
                break  # it only grows
            outside = sums[s, 0] + total[0] - sums[e + 1, 0]
            for c in range(1, k):
                outside = min(outside, sums[s, c] + total[c] - sums[e + 1, c])
            if inside + outside < cost or (inside + outside == cost and two_sided[s]):
                is_open[s] = is_open[s] or not is_closed[s]
                is_open[e] = is_open[e] or not is_closed[e]


@jit
def _count(slot, value, counts, low, high):
    """Count a value in its slot, and widen the slot's range by it."""
    counts[slot] += 1
    low[slot], high[slot] = min(low[slot], value), max(high[slot], value)


@jit
def _slot_of(value, pair, starts, edges, slots):
    """Return the slot of the bin of a pair in which a value lies."""
    start, stop = starts[pair], starts[pair + 1]
    while start < stop:
        middle = (start + stop) // 2
        if edges[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return slots[pair + start]
