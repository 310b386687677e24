"""The best cut of a column for many nodes at once, by how much more each row costs on the first side.

Nodes hold different rows, so one walk down the order of a column serves them all. See `loops/refine.py` for `at`.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = [
    "BEST",
    "LAST",
    "LEFT",
    "LOWEST",
    "RIGHT",
    "SUM",
    "add_to_bins",
    "best_cuts",
    "best_cuts_of_bins",
    "bound_bins",
]

SUM, BEST, LOWEST, LAST, LEFT, RIGHT = range(6)  # of a node while a column is walked; see `best_cuts`


@jit
def best_cuts(X, column, order, at, wanted, difference, states):
    """Find the smallest sum of differences over the first side of a cut in one column, for all wanted nodes at once.

    A cut lies between two different values. Only sums below the one that is there to begin with are looked at, and the
    first of equal ones stays.

    IN: X (n, d); column; order (m,): rows in the order of the column; at (n,); wanted (n_nodes + 1,); difference (n,).
    IN and OUT: states (n_nodes + 1, 6): SUM 0; BEST: the sum to be undercut; LOWEST: 0; LAST: -1; LEFT, RIGHT: -1.
    Afterwards BEST is the smallest sum, LEFT and RIGHT are rows next to its cut (-1 if none is better); LOWEST is the
    smallest sum over the first rows in this order, none and all of them included.
    """
    for row in order:
        node = at[row]
        if not wanted[node]:
            continue
        state = states[node]
        total = state[SUM]
        if total < state[BEST] and state[LAST] >= 0 and X[state[LAST], column] != X[row, column]:
            state[BEST], state[LEFT], state[RIGHT] = total, state[LAST], row
        state[LAST] = row
        total += difference[row]
        state[SUM] = total
        state[LOWEST] = min(state[LOWEST], total)


@jit
def add_to_bins(rows, at, slot, difference, codes, columns, bins):
    """Add the rows' differences to the bins of some columns: those below zero apart from the others.

    IN: rows (m,); at (n,); slot (n_nodes + 1,): the node's place in `bins`, or -1; difference (n,); codes (n, d);
    columns (c,). OUT: bins (n_slots, c, n_bins, 2).
    """
    for row in rows:
        place = slot[at[row]]
        if place < 0:
            continue
        change, sums, code = difference[row], bins[place], codes[row]
        sign = 1 if change < 0 else 0
        for c in range(len(columns)):
            sums[c, code[columns[c]], sign] += change


@jit
def bound_bins(bins, lowest, best):
    """Turn the sums of each bin into the sum before it and the least sum that any cut inside it could have.

    IN and OUT: bins (n_slots, c, n_bins, 2). OUT: lowest (n_slots, c): the least of these; best (n_slots,): lowered to
    the sums at ends of bins that part rows.
    """
    n_slots, n_columns, n_bins, _ = bins.shape
    for s in range(n_slots):
        for c in range(n_columns):
            of_bins, before, last, seen = bins[s, c], np.int64(0), 0, False
            for b in range(n_bins):
                if of_bins[b, 0] != 0 or of_bins[b, 1] != 0:
                    last = b
            for b in range(n_bins):
                begin, rise, fall = before, of_bins[b, 0], of_bins[b, 1]
                of_bins[b, 0], of_bins[b, 1] = begin, begin + fall
                lowest[s, c] = min(lowest[s, c], begin + fall)
                before += rise + fall
                seen = seen or rise != 0 or fall != 0
                if seen and b < last:  # rows on both sides for certain
                    best[s] = min(best[s], before)


@jit
def best_cuts_of_bins(X, column, order, starts, at, slot, bounds, limits, difference, states):
    """Find the smallest sum of differences as `best_cuts` does, but walk only bins whose bound is not above a limit.

    IN: X (n, d); column; order (m,): rows bin by bin, and those of bins that are walked in the order of the column;
    starts (n_bins + 1,): rank at which each bin begins; at (n,); slot (n_nodes + 1,); bounds (n_slots, n_bins, 2): see
    `bound_bins`; limits (n_slots,); difference (n,). IN and OUT: states (n_slots, 6).
    """
    n_slots, n_bins, _ = bounds.shape
    for b in range(n_bins):
        walked = False
        for s in range(n_slots):
            if bounds[s, b, 1] <= limits[s]:
                walked = True
                states[s, SUM], states[s, LAST] = bounds[s, b, 0], -2
        if not walked:
            continue
        for r in range(starts[b], starts[b + 1]):
            row = order[r]
            node = at[row]
            s = slot[node]
            if s < 0 or bounds[s, b, 1] > limits[s]:
                continue
            state = states[s]
            total = state[SUM]
            if total < state[BEST]:
                if state[LAST] == -2:
                    state[LAST] = _row_before(X, column, order, starts, b, at, node)
                if state[LAST] >= 0 and X[state[LAST], column] != X[row, column]:
                    state[BEST], state[LEFT], state[RIGHT] = total, state[LAST], row
            state[LAST] = row
            state[SUM] = total + difference[row]


@jit
def _row_before(X, column, order, starts, first, at, node):
    """Return a row of a node with the largest value in the bins before the first one that is walked, or -1."""
    last = -1
    for b in range(first - 1, -1, -1):
        for r in range(starts[b], starts[b + 1]):
            row = order[r]
            if at[row] == node and (last < 0 or X[row, column] >= X[last, column]):
                last = row
        if last >= 0:
            break
    return last
