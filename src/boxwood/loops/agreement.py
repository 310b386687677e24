"""The tree of depth one, two or three with the fewest mistakes on a box of rows, and bounds on it.

A box is held as in `boxwood.loops.optimal`: its rows in the order of each column, and a code for each value, so that a
cut lies between two neighbouring rows whose codes differ. A tree costs `UNIT` for each mistake, a row outside the
commonest label of its leaf, times its weight, and 1 for each leaf. So of trees with as few mistakes that with the
fewest leaves is the cheapest. Of equal ones the first is taken: by the column of the cut at the root, then by its
place, then likewise on the first side and on the second, where a leaf comes before a cut.

For a cut at the root, both sides' best cuts are found by one sweep over the rows in the order of each column, which
counts the labels of either side. Three rules save such sweeps, for the cuts at the places p of one column::

    place     0    1    2    3    4    5
    low       1    1   23   23   23   40      the first side costs at least so much; it rises with p
    high     60   31   31   31    9    1      the second side; it falls
                        ^
                        looked at: 23 + 31

As rows only join the first side as p rises, it costs at least what it does before, and at most `UNIT` more for each row
that joined it; the second side likewise. So one look raises the bounds of all places: near it by the rows between, and
far from it by the order. And a side with t leaves has at least the rows outside its t commonest labels as mistakes; if
it has no others, it has a leaf for each of these.

Leaves of fewer than `least` rows are not allowed, but bounds are those of trees that may have them: only these rise and
fall as above. (E. Briţa, J. van der Linden, E. Demirović, "Optimal classification trees for continuous feature data
using dynamic programming with branch-and-bound", AAAI 2025.)
"""

import numpy as np

from boxwood.loops.jit import is_inner, is_search, jit, stands_in_for

UNIT = 1 << 10  # of a mistake; more than there are leaves
NONE = np.iinfo(np.int64).max >> 2  # more than any tree costs; the sum of two is a number
KEPT = 256  # places of a column whose bounds are kept, for those nearby


@is_search()
@jit
def solve(order, codes, labels, weights, n_labels, leaves, least, limit, cuts, work, steps):
    """Return the cost of the best tree of depth two with at most 1 to 4 leaves, or `limit`, if none is cheaper.

    Also returned: a bound on the cost if leaves may have any number of rows. After so many steps the best tree so
    far is returned, with a bound that holds.

    IN: order (d, n); codes (d, m); labels, weights (m,); leaves; least: fewest rows of a leaf; limit: a cost. OUT: cuts
    (3, 2): columns and codes of the cuts at the root, on its first side and on its second; a column -1 is a leaf. IN
    and OUT: work (1,): the steps done.
    """
    total = np.zeros(n_labels, dtype=np.int64)
    for row in order[0]:
        total[labels[row]] += weights[row]
    for i in range(3):
        cuts[i, 0] = cuts[i, 1] = -1
    leaf, bound = _as_leaf(total), _least(total, leaves)
    best, at_least = min(leaf, limit), bound
    if leaves > 1 and bound < best <= UNIT:
        leaves = min(leaves, best - 1)  # as each leaf costs 1, and no mistake is allowed
    if leaves == 1 or bound >= best:
        return best, bound
    (d, n), k, bound = order.shape, n_labels, best
    box = _box(order, codes, labels, weights)
    side, parted, counts = np.zeros(n, dtype=np.uint8), np.empty(n + 1, dtype=np.int64), np.empty(k, dtype=np.int64)
    found, promise, start = np.empty((2, 4), dtype=np.int64), np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    known = np.zeros((1 if leaves == 2 else KEPT + 1, 2, d), dtype=np.int64)
    least_now = np.int64(least if leaves == 2 else 1)
    for j in range(d):
        found[0, 0] = found[0, 1] = leaf // UNIT
        found[0, 2] = found[0, 3] = -1
        _sweep(j, np.int64(0), box, side, total, n, least_now, parted, counts, known[0], found[0])
        work[0] += n
        promise[j], start[j] = found[0, 0], found[0, 3]
        if leaves == 2:
            cost, bound = _as_cut(found[0, 1], leaf), min(bound, _as_cut(found[0, 0], leaf))
            if cost < best:
                best, cuts[0, 0], cuts[0, 1] = cost, j, found[0, 3]
    if leaves == 2:
        return best, bound
    ends, weight_to = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    low, high = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    leaf_low, leaf_high = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    bounds, look_of = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    sums, sizes = np.empty((2, k), dtype=np.int64), np.empty(2, dtype=np.int64)
    at, at_code = np.int64(-1), np.int64(-1)
    for _ in range(d):
        j = np.int64(0)
        for column in range(1, d):  # that of the lowest promise comes next
            if promise[column] < promise[j]:
                j = column
        promise[j] = NONE
        rows, code, label, weight = box[0][j], box[1][j], box[2][j], box[3][j]
        n_places = _find_places(code, ends)
        if n_places == 0:
            continue
        _weigh(weight, ends, n_places, weight_to)
        if leaves == 3:
            _bound_sides(label, weight, k, ends, n_places, np.int64(1), leaf_low, leaf_high)
        _bound_sides(label, weight, k, ends, n_places, np.int64(2), low, high)
        n_looks, look_of[:n_places] = np.int64(0), -1
        p = _places_before(code, ends, n_places, start[j]) if start[j] >= 0 else -1  # where a single cut is best
        while True:
            if work[0] >= steps:
                return best, min(at_least, best)
            equal_to = _equal_to(j, code, ends, n_places, at, at_code)
            _add_sides(n_places, leaves, low, high, leaf_low, leaf_high, bounds)
            if p < 0 or bounds[p] >= best + (p < equal_to):
                p, _, _ = middle(bounds, n_places, best, equal_to)
                if p < 0:
                    break
            _part_totals(rows, label, weight, ends[p], total, side, sums, sizes)
            now = known[n_looks]
            for column in range(d):
                now[0, column], now[1, column] = low[p] // UNIT, high[p] // UNIT
            _know_nearby(p, n_places, look_of, weight_to, known, now)
            work[0] += n * cut_sides(box, side, sums, sizes, least, now, parted, counts, found)
            if n_looks < KEPT:
                look_of[p] = n_looks
                n_looks += 1
            leaf_a, leaf_b = _as_leaf(sums[0]), _as_leaf(sums[1])
            first, second = _as_cut(found[0, 0], leaf_a), _as_cut(found[1, 0], leaf_b)
            bound = min(bound, min(leaf_a + second, first + leaf_b) if leaves == 3 else first + second)
            if min(sizes[0], sizes[1]) >= least:
                a, b = _as_cut(found[0, 1], leaf_a), _as_cut(found[1, 1], leaf_b)
                if leaves == 3:
                    s = 0 if leaf_a + b <= a + leaf_b else 1  # the side that is a leaf
                    found[s, 2] = found[s, 3] = -1
                    a, b = (leaf_a, b) if s == 0 else (a, leaf_b)
                if a + b < best + (p < equal_to):
                    best, at, at_code = a + b, np.int64(j), np.int64(code[ends[p] - 1])
                    cuts[0, 0], cuts[0, 1] = at, at_code
                    for s in range(2):
                        cuts[1 + s, 0], cuts[1 + s, 1] = found[s, 2], found[s, 3]
            raise_bounds(low, high, weight_to, n_places, p, first, second)
            low[p] = leaf_low[p] = NONE
            p = -1
    return best, min(bound, best)


@jit
def _least(totals, leaves):
    """Return what a tree with so many leaves costs at least: one has the commonest labels, and each of them a leaf."""
    counts, beyond, present = np.zeros(len(totals), dtype=np.int64), np.int64(0), np.int64(0)
    top = np.full(leaves, -1)
    for c in range(len(totals)):
        if totals[c] > 0:
            present += 1
            beyond += _count(np.int64(c), totals[c], counts, top)
    return UNIT * beyond + min(present, leaves)


@jit
def _add_sides(n_places, leaves, low, high, leaf_low, leaf_high, bounds):
    """Write what both sides of each place cost at least; with three leaves, one side is a leaf."""
    for q in range(n_places):
        bounds[q] = min(leaf_low[q] + high[q], low[q] + leaf_high[q]) if leaves == 3 else low[q] + high[q]


@stands_in_for(_add_sides)
def _add_all_sides(n_places, leaves, low, high, leaf_low, leaf_high, bounds):
    low, high, leaf_low, leaf_high = low[:n_places], high[:n_places], leaf_low[:n_places], leaf_high[:n_places]
    bounds[:n_places] = np.minimum(leaf_low + high, low + leaf_high) if leaves == 3 else low + high


@jit
def _know_nearby(p, n_places, look_of, weight_to, known, now):
    """Raise the bounds of columns at a place by those of the places nearby that were looked at; OUT: now (2, d)."""
    for q in range(p - 1, -1, -1):
        if look_of[q] >= 0:
            moved = weight_to[p] - weight_to[q]
            for j in range(now.shape[1]):
                now[0, j] = max(now[0, j], known[look_of[q], 0, j])
                now[1, j] = max(now[1, j], known[look_of[q], 1, j] - moved)
            break
    for q in range(p + 1, n_places):
        if look_of[q] >= 0:
            moved = weight_to[q] - weight_to[p]
            for j in range(now.shape[1]):
                now[0, j] = max(now[0, j], known[look_of[q], 0, j] - moved)
                now[1, j] = max(now[1, j], known[look_of[q], 1, j])
            break


@stands_in_for(_know_nearby)
def _know_all_nearby(p, n_places, look_of, weight_to, known, now):
    looked = np.flatnonzero(look_of[:n_places] >= 0)
    before, after = looked[looked < p][-1:], looked[looked > p][:1]
    for q, rises, falls in [(q, 0, 1) for q in before] + [(q, 1, 0) for q in after]:
        nearby, moved = known[look_of[q]], abs(weight_to[p] - weight_to[q])
        np.maximum(now[rises], nearby[rises], out=now[rises])
        np.maximum(now[falls], nearby[falls] - moved, out=now[falls])


@jit
def _box(order, codes, labels, weights):
    """Return the rows of a box, numbered anew, their codes, labels and weights, in the order of each column."""
    number = np.empty(codes.shape[1], dtype=np.int32)
    rows, code, label = (
        np.empty(order.shape, np.int32),
        np.empty(order.shape, np.int32),
        np.empty(order.shape, np.int32),
    )
    weight = np.empty(order.shape, dtype=np.int64)
    for i in range(order.shape[1]):
        number[order[0, i]] = i
    for j in range(order.shape[0]):
        for i in range(order.shape[1]):
            row = order[j, i]
            rows[j, i], code[j, i], label[j, i], weight[j, i] = number[row], codes[j, row], labels[row], weights[row]
    return rows, code, label, weight


@stands_in_for(_box)
def _whole_box(order, codes, labels, weights):
    number = np.empty(codes.shape[1], dtype=np.int32)
    number[order[0]] = np.arange(order.shape[1])
    code = np.take_along_axis(codes, order, axis=1).astype(np.int32)
    return number[order], code, labels[order].astype(np.int32), weights[order]


@jit
def _as_leaf(totals):
    """Return the cost of a leaf with some weight of each label."""
    weight, most = np.int64(0), np.int64(0)
    for total in totals:
        weight, most = weight + total, max(most, total)
    return UNIT * (weight - most) + 1


@jit
def _as_cut(mistakes, leaf):
    """Return the cost of a cut with two leaves, or that of the leaf if it makes as few mistakes."""
    return min(UNIT * mistakes + 2, leaf)


@jit
def _find_places(code, ends):
    """Write for each place of a column the number of rows up to it, and return the number of places."""
    count = 0
    for r in range(1, len(code)):
        if code[r - 1] != code[r]:
            ends[count] = r
            count += 1
    return count


@stands_in_for(_find_places)
def _find_all_places(code, ends):
    found = np.flatnonzero(code[1:] != code[:-1]) + 1
    ends[: len(found)] = found
    return len(found)


@jit
def _places_before(code, ends, n_places, at_code):
    """Return the number of places before that whose last row has a code."""
    for p in range(n_places):
        if code[ends[p] - 1] >= at_code:
            return p
    return n_places


@stands_in_for(_places_before)
def _places_before_at_once(code, ends, n_places, at_code):
    return np.searchsorted(code[ends[:n_places] - 1], at_code)


@jit
def _equal_to(j, code, ends, n_places, at, at_code):
    """Return the number of places at which a tree would come before another with a cut in column `at`."""
    if j == at:
        return _places_before(code, ends, n_places, at_code)
    return n_places if j < at else 0


@jit
def _weigh(weight, ends, n_places, weight_to):
    """Write the weight of the rows up to each place."""
    total, r = np.int64(0), 0
    for p in range(n_places):
        while r < ends[p]:
            total += weight[r]
            r += 1
        weight_to[p] = total


@stands_in_for(_weigh)
def _weigh_all(weight, ends, n_places, weight_to):
    weight_to[:n_places] = np.cumsum(weight)[ends[:n_places] - 1]


@jit
def _bound_sides(label, weight, n_labels, ends, n_places, leaves, low, high):
    """Write for each place what both sides cost at least with so many leaves: see `_least`.

    With one leaf, that is what they cost. IN: label, weight (n,): in the order of the column.
    """
    counts, top, r = np.zeros(n_labels, dtype=np.int64), np.full(leaves, -1), 0
    beyond, present = np.int64(0), np.int64(0)
    for p in range(n_places):
        while r < ends[p]:
            present += counts[label[r]] == 0 and weight[r] > 0
            beyond += _count(np.int64(label[r]), weight[r], counts, top)
            r += 1
        low[p] = UNIT * beyond + min(present, leaves)
    counts[:], top[:], r, beyond, present = 0, -1, len(label), np.int64(0), np.int64(0)
    for p in range(n_places - 1, -1, -1):
        while r > ends[p]:
            r -= 1
            present += counts[label[r]] == 0 and weight[r] > 0
            beyond += _count(np.int64(label[r]), weight[r], counts, top)
        high[p] = UNIT * beyond + min(present, leaves)


@stands_in_for(_bound_sides, lambda label, weight, n_labels, *others: len(label) * n_labels)
def _bound_all_sides(label, weight, n_labels, ends, n_places, leaves, low, high):
    counts = _counts_to(label, weight, n_labels)
    before = counts[:, ends[:n_places] - 1]
    for sums, out in (before, low), (counts[:, -1:] - before, high):
        beyond = np.sort(sums, axis=0)[: max(n_labels - leaves, 0)].sum(axis=0)
        out[:n_places] = UNIT * beyond + np.minimum((sums > 0).sum(axis=0), leaves)


def _counts_to(label, weight, n_labels):
    """Return the weight of each label in the rows up to each, one row a label."""
    counts = np.zeros((n_labels, len(label)), dtype=np.int64)
    counts[label, np.arange(len(label))] = weight
    return np.cumsum(counts, axis=1)


@jit
def _count(label, weight, counts, top):
    """Count a row, and return by how much the weight outside the commonest labels grows.

    IN and OUT: counts (k,): weight of each label; top: the commonest labels, or -1.
    """
    counts[label] += weight
    least = 0
    for t in range(len(top)):
        if top[t] == label:
            return 0
        if top[t] < 0:
            top[t] = label
            return 0
        if counts[top[t]] < counts[top[least]]:
            least = t
    if counts[label] <= counts[top[least]]:
        return weight
    out = top[least]
    top[least] = label
    return weight - (counts[label] - counts[out])


@jit
def _part_totals(rows, label, weight, end, total, side, sums, sizes):
    """Write the side of a place that each row is on, and the weight of each label and the rows of either side."""
    sums[0] = 0
    for r in range(end):
        side[rows[r]] = 0
        sums[0, label[r]] += weight[r]
    for r in range(end, len(rows)):
        side[rows[r]] = 1
    for c in range(len(total)):
        sums[1, c] = total[c] - sums[0, c]
    sizes[0], sizes[1] = end, len(rows) - end


@stands_in_for(_part_totals)
def _all_part_totals(rows, label, weight, end, total, side, sums, sizes):
    side[rows[:end]], side[rows[end:]], sums[0] = 0, 1, 0
    np.add.at(sums[0], label[:end], weight[:end])
    sums[1] = total - sums[0]
    sizes[:] = end, len(rows) - end


@is_inner
@jit
def cut_sides(box, side, totals, sizes, least, bounds, parted, counts, found):
    """Find the first of the best single cuts of the rows on either side of a cut, or that none beats a leaf.

    Returned is the number of columns that were looked at. The column of the lowest bound comes first, as it rules out
    most of the others.

    IN: box: as `_box` returns it; side (n,): 0 or 1; totals (2, k): weight of each label; sizes (2,): rows. IN and OUT:
    bounds (2, d): mistakes of which a cut of each column makes no fewer. OUT: found (2, 4): fewest mistakes, those with
    `least` rows in a leaf, the column and code of that cut; -1 for a leaf. Also overwritten: parted (n + 1,), counts
    (k,).
    """
    n_swept = 0
    for s in range(2):
        found[s, 0] = found[s, 1] = _as_leaf(totals[s]) // UNIT
        found[s, 2] = found[s, 3] = first = -1
        for j in range(bounds.shape[1]):
            if first < 0 or bounds[s, j] < bounds[s, first]:
                first = j
        for turn in range(-1, bounds.shape[1]):
            j = first if turn < 0 else turn
            if (turn < 0 or turn != first) and bounds[s, j] < found[s, 1] + (j < found[s, 2]):
                n_swept += 1
                _sweep(j, s, box, side, totals[s], sizes[s], least, parted, counts, bounds, found[s])
    return n_swept


stands_in_for(cut_sides)(getattr(cut_sides, "py_func", cut_sides))  # on whole arrays, as what it calls has a stand-in


@jit
def _sweep(j, s, box, side, totals, size, least, parted, counts, bounds, found):
    """Look at all cuts of a column on one side of another cut.

    What is behind a cut has its commonest label counted only where that may decide; until then it is what it was. What
    is before it only makes more mistakes further on.

    IN: j: the column; s: the side; else as for `cut_sides`. IN and OUT: found.
    """
    rows, codes, labels, weights = box[0][j], box[1][j], box[2][j], box[3][j]
    end = 0
    for r in range(len(rows)):
        parted[end] = r  # in any case, as a branch would be mispredicted
        end += side[rows[r]] == s
    total, behind = np.int64(0), np.int64(0)
    for c in range(len(counts)):
        counts[c] = 0
        total += totals[c]
        behind = max(behind, totals[c])
    best = relaxed = total - behind
    most, before, last, at = np.int64(0), np.int64(0), np.int64(-1), np.int64(-1)
    for i in range(size):
        r = parted[i]
        code = np.int64(codes[r])
        if most + behind > total - best and code != last:
            behind = np.int64(0)
            for c in range(len(counts)):
                behind = max(behind, totals[c] - counts[c])
            mistakes = total - most - behind
            if mistakes < best:
                relaxed = min(relaxed, mistakes)
                if i >= least and size - i >= least:
                    best, at = mistakes, last
        last = code
        before += weights[r]
        count = counts[labels[r]] + weights[r]
        counts[labels[r]] = count
        most = max(most, count)
        if before - most >= best:
            break
    bounds[s, j], found[0] = relaxed, min(found[0], relaxed)
    if at >= 0 and best < found[1] + (j < found[2]):
        found[1], found[2], found[3] = best, j, at


@stands_in_for(_sweep, lambda j, s, box, side, totals, *others: side.size + len(box[0][j]) * len(totals))
def _sweep_at_once(j, s, box, side, totals, size, least, parted, counts, bounds, found):
    own = side[box[0][j]] == s
    codes, labels, weights = box[1][j][own], box[2][j][own], box[3][j][own]
    ends, total = np.flatnonzero(codes[1:] != codes[:-1]) + 1, totals.sum()
    before = _counts_to(labels, weights, len(totals))[:, ends - 1]
    mistakes = total - before.max(axis=0) - (totals[:, None] - before).max(axis=0)
    leaf = total - totals.max()
    bounds[s, j] = mistakes.min(initial=leaf)
    found[0] = min(found[0], bounds[s, j])
    mistakes[(ends < least) | (size - ends < least)] = leaf
    if mistakes.min(initial=leaf) < min(leaf, found[1] + (j < found[2])):
        at = mistakes.argmin()
        found[1], found[2], found[3] = mistakes[at], j, codes[ends[at] - 1]


@jit
def raise_bounds(low, high, weight_to, n_places, p, first, second):
    """Raise the bounds of all places by what the sides of one of them cost at least; OUT: low, high (n_places,)."""
    for q in range(p):
        low[q] = max(low[q], first - UNIT * (weight_to[p] - weight_to[q]))
        high[q] = max(high[q], second)
    low[p], high[p] = max(low[p], first), max(high[p], second)
    for q in range(p + 1, n_places):
        low[q] = max(low[q], first)
        high[q] = max(high[q], second - UNIT * (weight_to[q] - weight_to[p]))


@stands_in_for(raise_bounds)
def _raise_all_bounds(low, high, weight_to, n_places, p, first, second):
    moved = UNIT * (weight_to[:n_places] - weight_to[p])
    low[:n_places] = np.maximum(low[:n_places], first + np.minimum(moved, 0))
    high[:n_places] = np.maximum(high[:n_places], second - np.maximum(moved, 0))


@jit
def middle(bounds, n_places, best, equal_to):
    """Return the middle of the longest run of places whose bounds are below the best cost, and both ends; or -1.

    Up to place `equal_to` bounds may be equal to it.
    """
    longest, middle, start, begin, end = 0, -1, -1, -1, -1
    for q in range(n_places + 1):
        if q < n_places and bounds[q] < best + (q < equal_to):
            if start < 0:
                start = q
        elif start >= 0:
            if q - start > longest:
                longest, middle, begin, end = q - start, (start + q - 1) // 2, start, q - 1
            start = -1
    return middle, begin, end


@stands_in_for(middle)
def _middle_at_once(bounds, n_places, best, equal_to):
    is_open = np.zeros(n_places + 2, dtype=np.bool_)
    is_open[1:-1] = bounds[:n_places] < best + (np.arange(n_places) < equal_to)
    starts, stops = np.flatnonzero(is_open[1:] != is_open[:-1]).reshape(-1, 2).T
    if len(starts) == 0:
        return -1, -1, -1
    run = (stops - starts).argmax()
    return (starts[run] + stops[run] - 1) // 2, starts[run], stops[run] - 1


@jit
def begin(order, codes, labels, weights, n_labels, leaves_of, ends, n_places, weight_to, low, high, next_place):
    """Write what is known of the places of all columns before `look` looks at one.

    IN: leaves_of (s,): numbers of leaves that a side may have. OUT: ends, weight_to (d, n): rows and weight up to each
    place; n_places (d,); low, high (s, d, n): bounds of both sides; next_place (d,): where a single cut is best, or -1.
    """
    n, box = order.shape[1], _box(order, codes, labels, weights)
    leaf_low, leaf_high = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for j in range(order.shape[0]):
        label, weight = box[2][j], box[3][j]
        count = _find_places(box[1][j], ends[j])
        n_places[j], next_place[j] = count, -1
        if count:
            _weigh(weight, ends[j], count, weight_to[j])
            _bound_sides(label, weight, n_labels, ends[j], count, 1, leaf_low, leaf_high)
            next_place[j] = _first_least(leaf_low, leaf_high, count)
            for i in range(len(leaves_of)):
                _bound_sides(label, weight, n_labels, ends[j], count, leaves_of[i], low[i, j], high[i, j])


@jit
def _first_least(low, high, n_places):
    """Return the first place at which both sides cost least."""
    best = 0
    for p in range(1, n_places):
        if low[p] + high[p] < low[best] + high[best]:
            best = p
    return best


stands_in_for(_first_least)(lambda low, high, n_places: (low[:n_places] + high[:n_places]).argmin())
stands_in_for(begin, lambda order, codes, labels, weights, n_labels, *others: order.size * n_labels)(
    getattr(begin, "py_func", begin)  # on whole arrays, as all that it calls has a stand-in
)


@is_search()
@jit
def look(
    order, codes, labels, weights, n_labels, leaves_of, shares, least, ends, n_places, weight_to, low, high,
    next_place, least_of, state, cuts, work, steps,
):  # fmt: skip
    """Look at cuts at the root of a tree of depth three until there are none left, or so many steps are done.

    The cut that is looked at is in the column of the lowest bound, and in the middle of its places that may be better.

    IN: shares (t, 2): leaves of both sides, as numbers of `leaves_of`; else as for `begin` and `solve`. IN and OUT:
    low, high, next_place and the other arrays of `begin`; work; least_of (d,): least bound of each column; state (4,):
    the least cost, column and code of its root, least bound of the places looked at; cuts (7, 2): as for `solve`, in
    pre-order.
    """
    d, n = order.shape
    bounds, side = np.empty(n, dtype=np.int64), np.empty(codes.shape[1], dtype=np.uint8)
    code_of = np.empty(n, dtype=np.int32)
    a_cuts, b_cuts = np.empty((3, 2), dtype=np.int64), np.empty((3, 2), dtype=np.int64)
    while work[0] < steps:
        j = -1
        for column in range(d):
            if n_places[column] and (j < 0 or least_of[column] < least_of[j]):
                j = column
        best, at = state[0], state[1]
        if j < 0 or least_of[j] >= best + (at >= 0):
            return True
        rows, count = order[j], n_places[j]
        if j == at:
            for r in range(n):
                code_of[r] = codes[j, rows[r]]
        equal_to = _equal_to(j, code_of, ends[j], count, at, state[2])
        add_shares(low, high, shares, j, count, bounds)
        p, start, stop = next_place[j], np.int64(0), count - 1
        next_place[j] = -1
        if p < 0 or bounds[p] >= best + (p < equal_to):
            p, start, stop = middle(bounds, count, best, equal_to)
            if p < 0:
                least_of[j] = NONE
                continue
        to = weight_to[j]
        slack = UNIT * (max(to[p] - to[start], to[stop] - to[p]) // 4) if best >= UNIT else 0  # more would pay less
        end = ends[j, p]
        for r in range(n):
            side[rows[r]] = r >= end
        first, second = np.empty((d, end), dtype=order.dtype), np.empty((d, n - end), dtype=order.dtype)
        part(order, side, first, second)
        work[0] += order.size
        seen, code = NONE, np.int64(codes[j, rows[end - 1]])
        for share in range(len(shares)):
            i, o = shares[share]
            most = best + (p < equal_to) + slack
            cost, a_bound, b_bound, n_solved = np.int64(0), low[i, j, p], high[o, j, p], 0
            for turn in range(2):  # the smaller side first
                is_first = (turn == 0) == (end <= n - end)
                limit, known = (most - b_bound, a_bound) if is_first else (most - a_bound, b_bound)
                if limit <= known:
                    break
                box, of, out = (first, leaves_of[i], a_cuts) if is_first else (second, leaves_of[o], b_cuts)
                least_cost, bound = solve(box, codes, labels, weights, n_labels, of, least, limit, out, work, NONE)
                cost += least_cost
                n_solved += least_cost < limit
                if is_first:
                    a_bound = max(a_bound, bound)
                else:
                    b_bound = max(b_bound, bound)
            seen = min(seen, a_bound + b_bound)
            raise_bounds(low[i, j], high[o, j], to, count, p, a_bound, b_bound)
            low[i, j, p] = NONE
            is_tree = n_solved == 2 and min(end, n - end) >= least
            if is_tree and _is_better(cost, j, code, a_cuts, b_cuts, state, cuts):
                state[0], state[1], state[2] = cost, j, code
                best, cuts[0, 0], cuts[0, 1] = cost, j, code
                for i in range(3):
                    for t in range(2):
                        cuts[1 + i, t], cuts[4 + i, t] = a_cuts[i, t], b_cuts[i, t]
                equal_to = p + 1  # another share of the leaves may come before this one
        state[3] = min(state[3], seen)
        least_of[j] = add_shares(low, high, shares, j, count, bounds)
    return False


@jit
def _is_better(cost, column, code, a_cuts, b_cuts, state, cuts):
    """Return whether a tree comes before the best one so far: by cost, and then by its cuts in pre-order."""
    if cost != state[0]:
        return cost < state[0]
    if state[1] < 0:
        return False
    if column != state[1] or code != state[2]:
        return column < state[1] or (column == state[1] and code < state[2])
    for i in range(6):
        mine = a_cuts[i] if i < 3 else b_cuts[i - 3]
        for t in range(2):
            if mine[t] != cuts[1 + i, t]:
                return mine[t] < cuts[1 + i, t]
    return False


@jit
def add_shares(low, high, shares, j, n_places, bounds):
    """Write the bound of each place of a column, and return the least.

    It is the least of all shares of the leaves between both sides.
    """
    least = NONE
    for q in range(n_places):
        bounds[q] = NONE
        for s in range(len(shares)):
            bounds[q] = min(bounds[q], low[shares[s, 0], j, q] + high[shares[s, 1], j, q])
        least = min(least, bounds[q])
    return least


@stands_in_for(add_shares)
def _add_all_shares(low, high, shares, j, n_places, bounds):
    first, second = shares.T
    bounds[:n_places] = (low[first, j, :n_places] + high[second, j, :n_places]).min(axis=0)
    return bounds[:n_places].min(initial=NONE)


@jit
def part(order, side, first, second):
    """Write the rows of either side, in the order of each column."""
    for j in range(order.shape[0]):
        a, b = 0, 0
        for row in order[j]:
            if side[row]:
                second[j, b] = row
                b += 1
            else:
                first[j, a] = row
                a += 1


@stands_in_for(part)
def _part_at_once(order, side, first, second):
    is_second = side[order] != 0
    first[:], second[:] = order[~is_second].reshape(first.shape), order[is_second].reshape(second.shape)
