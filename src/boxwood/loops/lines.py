"""The best box in some columns: the rows of one cluster that it finds, against the others that it takes in.

A box asks each of its columns for an interval, a set of codes, or an interval and codes beside it. Rows stand at
positions of a column: those of an interval come first, and an interval ends at odd ones; codes follow. A state says
of each column between which positions both ends of its interval lie, and which codes are inside, outside, or open::

    positions       0   1   2   3   4   5   6   7   8   |   9    10
    ends            .  [first   last].  [first   last]  |  inside open
                        lower end        upper end      |  codes

A row is outside of all boxes of a state, inside of all, or open. No box of the state scores more than this, whatever
column one looks at: all rows of the cluster count that are not outside, of other rows only those that are inside in
all *other* columns, and of all of them those in the column's best interval and codes. Ends and codes whose best is not
enough are given up; what is left is halved.

A score is `gain * rows of the cluster - loss * other rows`, and a goal is a few scores that each better box reaches: F1
above f, as `(2 - f) * found - f * others > f * size`, is one. Rows at positions between those of both ends are inside
together, so they are summed at the first of these positions.

References
----------
C. H. Lampert, M. B. Blaschko, T. Hofmann, "Beyond Sliding Windows: Object Localization by Efficient Subwindow Search",
CVPR 2008, for halving sets of boxes; D. P. Dobkin, D. Gunopulos, W. Maass, "Computing the Maximum Bichromatic
Discrepancy", JCSS 52 (1996), for boxes of the largest sum; W. Dinkelbach, "On Nonlinear Fractional Programming",
Management Science 13 (1967), for the ratio.
"""

import numpy as np

from boxwood.loops.jit import is_search, jit

F1, PRECISION, FOUND = 0, 1, 2  # what a box has the most of; precision at a least share found, or the other way round
OPEN, INSIDE, OUTSIDE = 0, 1, 2
SLACK = 1e-9  # of the size of a cluster, for rounding


@jit
def value_of(goal, found, others, rows):
    """Return how good a box is, -1 if it is none.

    IN: goal: which, the least share, size of the cluster, fewest rows; found, others: weight of the rows of the cluster
    and of others in the box; rows: their number.
    """
    if found <= 0.0 or rows < goal[3]:
        return -1.0
    if goal[0] == F1:
        return 2.0 * found / (goal[2] + found + others)
    precision = found / (found + others)
    if goal[0] == PRECISION:
        return precision if found >= (goal[1] - SLACK) * goal[2] else -1.0
    return found / goal[2] if precision >= goal[1] - SLACK else -1.0


@jit
def set_scores(goal, best, scores):
    """Return how many scores each box reaches that is better than `best`. OUT: scores: gain, loss, least of each."""
    size = goal[2]
    slack, best = SLACK * size, max(best, 0.0)
    if goal[0] == F1:
        scores[0, 0], scores[0, 1], scores[0, 2] = 2.0 - best, best, best * size + slack
        return 1
    purity, least = (best, goal[1]) if goal[0] == PRECISION else (goal[1], best)
    strict, rate = slack if goal[0] == FOUND else -slack, 4.0
    for i in range(3):  # both at once, at several prices
        scores[i, 0], scores[i, 1] = 1.0 + rate * (1.0 - purity), rate * purity
        scores[i, 2], rate = least * size - 50.0 * slack, 0.2 * rate if i else 6.0 * rate
    scores[3, 0], scores[3, 1], scores[3, 2] = 1.0, 0.0, least * size + strict
    scores[4, 0], scores[4, 1], scores[4, 2] = 1.0 - purity, purity, -strict
    return 5


@jit
def state_of_row(position, c, sizes, ends, marks):
    """Return whether a row is inside or outside of all boxes of a state in a column, or open."""
    if position >= sizes[c, 0]:
        return marks[c, position - sizes[c, 0]]
    if position < ends[c, 0] or position > ends[c, 3]:
        return OUTSIDE
    return INSIDE if ends[c, 1] <= position <= ends[c, 2] else OPEN


@jit
def next_of(p, ends, c):
    """Return the next position of an interval that sums know."""
    return ends[c, 2] if p == ends[c, 1] + 1 and p < ends[c, 2] else p + 1


@jit
def gather(positions, signed, sizes, ends, marks, rows, n, base, sums):
    """Sum open rows by position, and return how many there are; they come first among the first `n` of `rows`.

    IN: positions (n_rows, m); signed (n_rows,): see `best_box`. IN and OUT: rows; base: weight of rows inside: own,
    others, number; and of own open ones. OUT: sums (3, m, n_positions): of own rows, of others that are open in that
    column alone, and of all rows.
    """
    for c in range(len(sizes)):
        p = ends[c, 0] if sizes[c, 0] else 0
        while p < sizes[c, 0] + sizes[c, 1]:
            sums[0, c, p] = sums[1, c, p] = sums[2, c, p] = 0.0
            p = next_of(p, ends, c) if p < ends[c, 3] else max(p + 1, sizes[c, 0])
    i, base[3] = 0, 0.0
    while i < n:
        row, n_open, last, is_outside = rows[i], 0, 0, False
        for c in range(len(sizes)):
            side = state_of_row(positions[row, c], c, sizes, ends, marks)
            if side == OUTSIDE:
                is_outside = True
                break
            if side == OPEN:
                n_open, last = n_open + 1, c
        if is_outside or n_open == 0:
            if not is_outside:
                base[0 if signed[row] > 0.0 else 1] += abs(signed[row])
                base[2] += 1.0
            n -= 1
            rows[i], rows[n] = rows[n], row
            continue
        weight = signed[row]
        base[3] += max(weight, 0.0)
        for c in range(len(sizes)):
            p = positions[row, c]
            if ends[c, 1] < p < ends[c, 2]:
                p = ends[c, 1] + 1
            sums[2, c, p] += abs(weight)
            if weight > 0.0:
                sums[0, c, p] += weight
            elif n_open == 1 and c == last:
                sums[1, c, p] -= weight
        i += 1
    return n


@jit
def best_interval_of_column(sums, gain, loss, ends, c, prefix, chosen):
    """Return the score of the best interval of a column. OUT: prefix: scores up to each position; chosen: its ends."""
    run, least, best, start, p = 0.0, np.inf, -np.inf, ends[c, 0], ends[c, 0]
    while p <= ends[c, 3]:
        if p <= ends[c, 1] and p & 1 and run < least:
            least, start = run, p
        run += gain * sums[0, c, p] - loss * sums[1, c, p]
        prefix[p] = run
        if p >= ends[c, 2] and p & 1 and run - least > best:
            best = run - least
            chosen[c, 0], chosen[c, 1] = start, p
        p = next_of(p, ends, c)
    return best


@jit
def narrow_interval(ends, c, prefix, needed):
    """Give up ends whose best interval scores less than needed; return whether some were. IN and OUT: ends (m, 4)."""
    start, stop = ends[c, 0], ends[c, 3]
    low, high, least, p = stop, start, np.inf, start
    while p <= stop:
        if p <= ends[c, 1] and p & 1:
            least = min(least, prefix[p - 1] if p > start else 0.0)
        if p >= ends[c, 2] and p & 1 and prefix[p] - least >= needed:
            low, high = min(low, p), max(high, p)
        p = next_of(p, ends, c)
    first, last, most, p = stop, start, -np.inf, stop
    while p >= start:
        if p >= ends[c, 2] and p & 1:
            most = max(most, prefix[p])
        if p <= ends[c, 1] and p & 1 and most - (prefix[p - 1] if p > start else 0.0) >= needed:
            first, last = min(first, p), max(last, p)
        p = ends[c, 1] if p == ends[c, 2] and p > ends[c, 1] else p - 1
    is_changed = first > start or last < ends[c, 1] or low > ends[c, 2] or high < stop
    ends[c, 0], ends[c, 1], ends[c, 2], ends[c, 3] = first, last, low, high
    return is_changed


@jit
def narrow_column(c, sizes, ends, marks, base, sums, score, prefix, chosen, codes):
    """Narrow a column's state; return the most that a box scores, and whether something changed.

    IN: score: gain, loss, and what is needed. IN and OUT: ends, marks. OUT: prefix; chosen (m, 2), codes (m, n_codes):
    the best interval and codes.
    """
    gain, loss, needed, size, n_codes = score[0], score[1], score[2], sizes[c, 0], sizes[c, 1]
    total = gain * base[0] - loss * base[1]
    for i in range(n_codes):
        worth = gain * sums[0, c, size + i] - loss * sums[1, c, size + i]
        codes[c, i] = marks[c, i] == INSIDE or (marks[c, i] == OPEN and worth > 0.0)
        total += worth if codes[c, i] else 0.0
    best = best_interval_of_column(sums, gain, loss, ends, c, prefix, chosen) if size else 0.0
    total += best
    if total < needed:
        return total, False
    is_changed = narrow_interval(ends, c, prefix, needed - total + best) if size else False
    for i in range(n_codes):
        worth = gain * sums[0, c, size + i] - loss * sums[1, c, size + i]
        if marks[c, i] == OPEN and total - abs(worth) < needed:
            marks[c, i] = INSIDE if worth > 0.0 else OUTSIDE
            is_changed = True
    return total, is_changed


@jit
def in_box(positions, row, sizes, box, codes):
    """Return whether a row is in a box. IN: box (m, 2), codes (m, n_codes)."""
    for c in range(len(sizes)):
        p = positions[row, c]
        if not codes[c, p - sizes[c, 0]] if p >= sizes[c, 0] else p < box[c, 0] or p > box[c, 1]:
            return False
    return True


@jit
def branch(sizes, ends, marks, sums):
    """Return where to halve a state: the column, 0 for its lower end, 1 for its upper end or 2 for a code, the place.

    The column is -1 if all boxes hold the same rows. Halved is what most weight of open rows hangs on.
    """
    most, at, kind, place = 0.0, -1, 0, 0
    for c in range(len(sizes)):
        for end in range(2 if sizes[c, 0] else 0):  # open by the lower end are rows before its last place
            start, stop = (ends[c, 0], ends[c, 1]) if end == 0 else (ends[c, 2] + 1, ends[c, 3] + 1)
            mass = 0.0
            for p in range(start, stop):
                mass += sums[2, c, p]
            if ends[c, 2 * end] < ends[c, 2 * end + 1] and mass > most:
                most, at, kind, run, place = mass, c, end, 0.0, ends[c, 2 * end]
                for p in range(start, stop):
                    run += sums[2, c, p]
                    if 2.0 * run > mass:
                        break
                    if p & 1 and p + 2 <= ends[c, 2 * end + 1]:
                        place = p
        for i in range(sizes[c, 1]):
            mass = sums[2, c, sizes[c, 0] + i]
            if marks[c, i] == OPEN and mass > most:
                most, at, kind, place = mass, c, 2, i
    return at, kind, place


@jit
def copy_box(ends, marks, all_ends, all_marks):
    """Copy ends and marks of a state, or a box. OUT: all_ends, all_marks."""
    for c in range(len(ends)):
        for i in range(ends.shape[1]):
            all_ends[c, i] = ends[c, i]
        for i in range(marks.shape[1]):
            all_marks[c, i] = marks[c, i]


@jit
def settle(positions, signed, sizes, goal, best, ends, marks, rows, n, base, room, box, codes, work):
    """Narrow a state until nothing changes; return its open rows, -1 if no box is better, the bound, and the best box.

    The best of the boxes that columns chose by themselves is kept where it is better than `best`, which is returned.
    IN and OUT: ends, marks, rows, base, work. OUT: room: arrays to work with; box, codes.
    """
    sums, prefix, scores, chosen, picked = room
    while True:
        n_scores, is_changed, total = set_scores(goal, best, scores), False, np.inf
        n = gather(positions, signed, sizes, ends, marks, rows, n, base, sums)
        for c in range(len(sizes)):
            work[0] += n + 40 + ends[c, 3] - ends[c, 0] - max(ends[c, 2] - ends[c, 1], 0)
        for k in range(n_scores - 1, -1, -1):
            total = np.inf
            for c in range(len(sizes)):
                score, differs = narrow_column(c, sizes, ends, marks, base, sums, scores[k], prefix, chosen, picked)
                if score < scores[k, 2]:
                    return -1, -1.0, best
                is_changed, total = is_changed or differs, min(total, score)
            if is_changed:  # sums were made for the state of before
                break
        if is_changed:
            continue
        found, others, number = base[0], base[1], base[2]
        for i in range(n):
            if in_box(positions, rows[i], sizes, chosen, picked):
                number += 1.0
                found += max(signed[rows[i]], 0.0)
                others -= min(signed[rows[i]], 0.0)
        value = value_of(goal, found, others, number)
        if value <= best + SLACK:
            break
        best = value
        copy_box(chosen, picked, box, codes)
    size, most = goal[2], base[0] + base[3]
    if goal[0] == F1:
        bound = 2.0 * total / (size * scores[0, 0] + total)
    else:
        bound = most / (most + base[1]) if goal[0] == PRECISION else most / size
    return n, min(bound, 1.0), best


@is_search(step=3e-6)
@jit
def best_box(positions, signed, sizes, goal, best, most_work, work, box, codes):
    """Return the value of the best box in some columns, and the most that one may have which was not looked at.

    Nothing is better than `best`, if that is returned; else `box` and `codes` have the best one. A value counts as
    better by more than 1e-9.

    IN: positions (n_rows, m); signed (n_rows,): weight of each row, below 0 for others than the cluster's; sizes
    (m, 2): positions of the interval, and codes, of each column; goal (4,): see `value_of`; best: of boxes that are
    known; most_work. IN and OUT: work (1,): positions looked at so far. OUT: box (m, 2), codes (m, n_codes).
    """
    m, n_codes, n_positions, n_rows = len(sizes), codes.shape[1], 1, len(signed)
    depth = 80 * m + 8
    for c in range(m):
        depth, n_positions = depth + sizes[c, 1], max(n_positions, sizes[c, 0] + sizes[c, 1])
    all_ends, all_marks = np.zeros((depth, m, 4), np.int64), np.zeros((depth, m, n_codes), np.int64)
    all_bases, bounds, counts = np.zeros((depth, 4)), np.ones(depth), np.zeros(depth, np.int64)
    rows, ends, marks, base = (
        np.arange(n_rows),
        np.zeros((m, 4), np.int64),
        np.zeros((m, n_codes), np.int64),
        np.zeros(4),
    )
    room = (
        np.zeros((3, m, n_positions)),
        np.zeros(n_positions),
        np.zeros((5, 3)),
        np.zeros((m, 2), np.int64),
        np.zeros((m, n_codes), np.bool_),
    )
    for c in range(m):
        if sizes[c, 0]:
            all_ends[0, c, 0] = all_ends[0, c, 2] = 1
            all_ends[0, c, 1] = all_ends[0, c, 3] = sizes[c, 0] - 2
    counts[0], top, left = n_rows, 1, -1.0
    while top > 0:
        top -= 1
        if bounds[top] <= best + SLACK:
            continue
        if work[0] > most_work:
            left = max(left, bounds[top])
            continue
        copy_box(all_ends[top], all_marks[top], ends, marks)
        for i in range(4):
            base[i] = all_bases[top, i]
        n, bound, best = settle(
            positions, signed, sizes, goal, best, ends, marks, rows, counts[top], base, room, box, codes, work
        )
        c, kind, place = branch(sizes, ends, marks, room[0]) if n > 0 else (-1, 0, 0)
        if c >= 0 and top + 2 > depth:
            left = max(left, bound)
        elif c >= 0:
            for child in range(2):  # last, and so looked at first, is the half with the box that the column chose
                is_first = (child == 1) == (room[4][c, place] if kind == 2 else room[3][c, kind] <= place)
                copy_box(ends, marks, all_ends[top], all_marks[top])
                bounds[top], counts[top] = bound, n
                for i in range(4):
                    all_bases[top, i] = base[i]
                if kind == 2:
                    all_marks[top, c, place] = INSIDE if is_first else OUTSIDE
                elif is_first:
                    all_ends[top, c, 2 * kind + 1] = place
                else:
                    all_ends[top, c, 2 * kind] = place + 2
                top += 1
    return best, left
