"""Refinement, one level of a tree at a time: the cost of each row on the other side, and the best cut of each node.

Nodes of one level hold different rows, so one pass over the rows, or one walk along a sorted column, serves them all.
`at[level]` is the node of each row at that level, or `n_nodes` for a row without one, because its leaf lies above or it
is left out. Arrays by node have one more entry, for these rows.

Costs are whole numbers, so sums are exact: they depend neither on the order of equal values nor on threads.

Rows and nodes are unsigned inside the loops, so that numba need not check for negative indices.

Nodes are few, so a loop over nodes takes a few microseconds; whole arrays in numpy would take ten times as long.
"""

import math

import numpy as np

from boxwood.loops.jit import jit, stands_in_for

FRESH, COSTS, ROWS = range(3)  # states of a leaf: up to date, new costs, new rows
ONE = np.uint64(1)


@jit
def descend_rows(X, is_kept, feature, lower, upper, second, at, leaf, start, stop):
    """Write the node of each row at each level, and its leaf; rows that are not kept have none.

    IN: X (n, d); is_kept (n,); feature, lower, upper, second (n_nodes,), in pre-order; start, stop: rows to be placed.
    OUT: at (n_levels, n); leaf (n,).
    """
    nowhere = len(feature)
    for row in range(start, stop):
        at[:, row] = nowhere
        leaf[row] = nowhere
        if is_kept[row]:
            leaf[row] = _walk_down(X, np.uint64(row), np.uint64(0), np.uint64(0), feature, lower, upper, second, at)


@stands_in_for(descend_rows)
def _place_rows(X, is_kept, feature, lower, upper, second, at, leaf, start, stop):
    at[:, start:stop], leaf[start:stop] = len(feature), len(feature)
    rows = start + np.flatnonzero(is_kept[start:stop])
    node, level = np.zeros(len(rows), dtype=np.int64), 0
    while len(rows):
        at[level, rows] = leaf[rows] = node
        rows, node = rows[feature[node] >= 0], node[feature[node] >= 0]
        value = X[rows, feature[node]]
        node = np.where((lower[node] <= value) & (value <= upper[node]), node + 1, second[node])
        level += 1


@jit
def _walk_down(X, row, node, level, feature, lower, upper, second, at):
    """Write the nodes of a row from one node on, and return its leaf."""
    while True:
        at[level, row] = node
        if feature[node] < 0:
            return node
        level += ONE
        node = _child(X, row, node, feature, lower, upper, second)


@jit
def _child(X, row, node, feature, lower, upper, second):
    """Return the child that a row goes to; without a branch, which would be mispredicted."""
    value, second_child = X[row, np.uint64(feature[node])], np.uint64(second[node])
    inside = (lower[node] <= value) & (value <= upper[node])
    return node + ONE if inside else second_child


@jit
def compare_sides(
    X,
    rows,
    at,
    below,
    feature,
    lower,
    upper,
    second,
    cluster,
    stale,
    leaf,
    own,
    labels,
    centers,
    unit,
    share,
    times,
    scales,
    other,
    other_cost,
    difference,
    largest,
    sums,
):
    """Write the cost of each row on the other side of its node, and its difference: first side less second.

    Costs are squared distances to centres, as in `squared_distance`, or 1 outside of the row's own cluster if there are
    no centres.

    IN: X (n, d); rows (m,); at, below (n,): nodes at a level and at the next; feature, lower, upper, second, cluster
    (n_nodes,); stale (n_nodes + 1,): whether a leaf has new costs (COSTS) or new rows (ROWS); leaf (n,); own (n,): cost
    of each row in its leaf; labels (n,); centers (k, d) or (0, 0); unit; share, times (n,); scales (n_nodes + 1,),
    perhaps out of date.
    IN and OUT: other (n,): the leaf that a row would reach, n_nodes if unknown; other_cost (n,): its cost there;
    difference (n,): whole numbers, 0 for rows that are new in their node.
    OUT: largest (n_nodes + 1,): sums of the larger cost of each row; sums: see `set_differences`.
    """
    for signed in rows:
        row = np.uint64(signed)
        node, side = np.uint64(at[row]), np.uint64(other[row])
        is_first = np.uint64(below[row]) == node + ONE
        if stale[side] != FRESH:
            if stale[side] == ROWS:
                side = np.uint64(second[node]) if is_first else node + ONE
                while feature[side] >= 0:
                    side = _child(X, row, side, feature, lower, upper, second)
                other[row] = side
            c = np.uint64(cluster[side])
            if c == np.uint64(cluster[np.uint64(leaf[row])]):
                other_cost[row] = own[row]
            elif centers.size:
                other_cost[row] = _distance(X, row, centers, c, unit) * share[row]
            else:
                other_cost[row] = share[row] if np.uint64(labels[row]) != c else 0.0
        largest[node] += max(own[row], other_cost[row]) * times[row]
        _set_difference(row, node, is_first, own[row], other_cost[row], times[row], scales[node], difference, sums)


@stands_in_for(compare_sides)
def _compare_all_sides(
    X, rows, at, below, feature, lower, upper, second, cluster, stale, leaf, own, labels, centers, unit, share, times,
    scales, other, other_cost, difference, largest, sums,
):  # fmt: skip
    node, state = at[rows], stale[other[rows]]
    is_first = below[rows] == node + 1
    moved, new = rows[state == ROWS], node[state == ROWS]
    side = np.where(is_first[state == ROWS], second[new], new + 1)
    while (inner := np.flatnonzero(feature[side] >= 0)).size:
        old, value = side[inner], X[moved[inner], feature[side[inner]]]
        side[inner] = np.where((lower[old] <= value) & (value <= upper[old]), old + 1, second[old])
    other[moved] = side
    anew = rows[state != FRESH]
    apart = anew[cluster[other[anew]] != cluster[leaf[anew]]]
    other_cost[anew] = own[anew]
    _write_costs(X, apart, other, cluster, labels, centers, unit, share, other_cost)
    np.add.at(largest, node, np.maximum(own[rows], other_cost[rows]) * times[rows])
    _set_all_differences(rows, at, below, own, other_cost, times, scales, difference, sums)


@jit
def _distance(X, row, centers, c, unit):
    """Return the squared distance of a row to a centre, equal to that of `squared_distance` to the last digit."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = (np.float64(X[row, j]) * 0.5 - centers[c, j] * 0.5) * unit
        total += gap * gap
    return total


@jit
def _set_difference(row, node, is_first, own, other_cost, times, scale, difference, sums):
    cost_here, cost_there = np.int64(np.rint(own * scale)), np.int64(np.rint(other_cost * scale))
    new_difference = (cost_here - cost_there if is_first else cost_there - cost_here) * times
    sums[node, 1] += max(difference[row] - new_difference, 0)
    difference[row] = new_difference
    sums[node, 0] += new_difference if is_first else 0
    sums[node, 2] += cost_here > cost_there
    sums[node, 3] += 1


@jit
def set_differences(rows, at, below, own, other_cost, times, scales, difference, sums):
    """Write the difference of each row, a whole number: its cost on the first side of its node less that on the second.

    IN: rows (m,); at, below, own, other_cost, times (n,); scales (n_nodes + 1,).
    IN and OUT: difference (n,): the old ones before, the new ones after.
    OUT: sums (n_nodes + 1, 4): the sum of differences over the first side; the sum of all falls of differences; the
    number of rows on their costlier side; the number of rows.
    """
    for signed in rows:
        row = np.uint64(signed)
        node = np.uint64(at[row])
        is_first = np.uint64(below[row]) == node + ONE
        _set_difference(row, node, is_first, own[row], other_cost[row], times[row], scales[node], difference, sums)


@stands_in_for(set_differences)
def _set_all_differences(rows, at, below, own, other_cost, times, scales, difference, sums):
    node = at[rows]
    is_first, scale = below[rows] == node + 1, scales[node]
    here, there = (np.rint(costs[rows] * scale).astype(np.int64) for costs in (own, other_cost))
    new = np.where(is_first, here - there, there - here) * times[rows]
    told = np.where(is_first, new, 0), np.maximum(difference[rows] - new, 0), here > there, np.ones_like(new)
    np.add.at(sums, node, np.column_stack(told))
    difference[rows] = new


@jit
def add_gaps(X, rows, slots, weights, centers, unit, gaps, sums):
    """Add up the weighted gaps between rows and a centre of their slot, in the units of `squared_distance`.

    IN: X (n, d); rows, slots, weights (m,); centers (n_slots, d); unit. OUT: gaps (n_slots, d); sums (n_slots, 2): of
    weights, and of weighted squared gaps.
    """
    for i in range(len(rows)):
        s, squares = slots[i], 0.0
        for j in range(X.shape[1]):
            gap = (np.float64(X[rows[i], j]) * 0.5 - centers[s, j] * 0.5) * unit
            gaps[s, j] += weights[i] * gap
            squares += gap * gap
        sums[s, 0] += weights[i]
        sums[s, 1] += weights[i] * squares


@jit
def write_costs(X, rows, leaf, cluster, labels, centers, unit, share, own):
    """Write the weighted costs of some rows in their leaves; see `compare_sides`.

    IN: X (n, d); rows (m,); leaf (n,); cluster (n_nodes,); labels (n,); centers (k, d) or (0, 0); unit; share (n,).
    OUT: own (n,).
    """
    for signed in rows:
        row = np.uint64(signed)
        c = np.uint64(cluster[np.uint64(leaf[row])])
        if centers.size:
            own[row] = _distance(X, row, centers, c, unit) * share[row]
        else:
            own[row] = share[row] if np.uint64(labels[row]) != c else 0.0


@stands_in_for(write_costs)
def _write_costs(X, rows, leaf, cluster, labels, centers, unit, share, own):
    c, distances = cluster[leaf[rows]], np.zeros(len(rows))
    for j in range(X.shape[1] if centers.size else 0):
        gap = (X[rows, j].astype(np.float64) * 0.5 - centers[c, j] * 0.5) * unit
        distances += gap * gap
    own[rows] = distances * share[rows] if centers.size else np.where(labels[rows] != c, share[rows], 0.0)


@jit
def count_leaves(X, rows, at, below, chosen, feature, upper, leaf, other, labels, cluster, counts):
    """Count the rows of each leaf below the chosen nodes, under their present cuts and under new ones.

    IN: X (n, d); rows (m,); at, below (n,); chosen (n_nodes + 1,); feature, upper (n_nodes + 1,): the new cuts; leaf,
    other (n,); labels (n,); cluster (n_nodes,). OUT: counts (n_nodes + 1, 3): rows now, rows under the new cuts, and
    rows of the leaf's cluster among the latter.
    """
    for signed in rows:
        row = np.uint64(signed)
        node = np.uint64(at[row])
        if chosen[node]:
            is_first = np.uint64(below[row]) == node + ONE
            stays = (X[row, np.uint64(feature[node])] <= upper[node]) == is_first
            now, elsewhere = np.uint64(leaf[row]), np.uint64(other[row])
            then = now if stays else elsewhere
            counts[now, 0] += 1
            counts[then, 1] += 1
            counts[then, 2] += labels[row] == cluster[then]


@stands_in_for(count_leaves)
def _count_all_leaves(X, rows, at, below, chosen, feature, upper, leaf, other, labels, cluster, counts):
    rows = rows[chosen[at[rows]]]
    node = at[rows]
    stays = (X[rows, feature[node]] <= upper[node]) == (below[rows] == node + 1)
    then = np.where(stays, leaf[rows], other[rows])
    np.add.at(counts[:, 0], leaf[rows], 1)
    np.add.at(counts[:, 1], then, 1)
    np.add.at(counts[:, 2], then, labels[rows] == cluster[then])


@jit
def move_rows(
    X,
    rows,
    at,
    level,
    chosen,
    feature,
    lower,
    upper,
    second,
    leaf,
    own,
    other,
    other_cost,
    others,
    differences,
    fallen,
    moved,
):
    """Move the rows that a new cut puts on the other side of their node, down to their new leaf.

    The difference of a row is removed from the nodes that it leaves, and is 0 in the nodes that it enters.

    IN: X (n, d); rows (m,); level; chosen (n_nodes + 1,): nodes with new cuts; feature, lower, upper, second
    (n_nodes,): the tree with the new cuts.
    IN and OUT: at (n_levels, n); leaf, own (n,), and other, other_cost (n,), which are swapped; others, differences
    (n_cached, n): of the first levels.
    OUT: fallen (n_nodes + 1,): sums of falls of differences; moved (n_nodes + 1,): True for nodes that rows have left
    or entered.
    """
    nowhere = len(feature)
    for signed in rows:
        row = np.uint64(signed)
        node = np.uint64(at[level, row])
        if not chosen[node]:
            continue
        child = _child(X, row, node, feature, lower, upper, second)
        below = np.uint64(level) + ONE
        if at[below, row] == child:
            continue
        while below < at.shape[0] and at[below, row] < nowhere:
            left = np.uint64(at[below, row])
            moved[left] = True
            if below < differences.shape[0]:
                fallen[left] += max(differences[below, row], 0)
                differences[below, row] = 0
                others[below, row] = nowhere
            at[below, row] = nowhere
            below += ONE
        old_leaf, old_cost = leaf[row], own[row]
        leaf[row] = _walk_down(X, row, child, np.uint64(level) + ONE, feature, lower, upper, second, at)
        own[row] = other_cost[row]
        other[row], other_cost[row] = old_leaf, old_cost
        below = np.uint64(level) + ONE
        while below < at.shape[0] and at[below, row] < nowhere:
            moved[np.uint64(at[below, row])] = True
            below += ONE


@jit
def rows_at(nodes, at, rows):
    """Write the rows of some nodes, ascending, and return their number.

    IN: nodes (n_nodes + 1,): whether each is one of them; at (n,). OUT: rows (n,).
    """
    count = np.uint64(0)
    for row in range(len(at)):
        rows[count] = row
        count += np.uint64(1) if nodes[np.uint64(at[row])] else np.uint64(0)
    return np.int64(count)


@jit
def write_scales(nodes, sums, error, scales, is_new, in_doubt):
    """Write the scale of `integer_costs` for some nodes, from plain sums of their rows' largest costs.

    Returns whether a scale has changed, and whether some sum is not precise enough, in which case its scale stays.

    IN: nodes (m,); sums (n_nodes + 1,); error: upper bound on the relative error of sums. IN and OUT: scales
    (n_nodes + 1,). OUT: is_new, in_doubt (n_nodes + 1,): set for nodes of either kind.
    """
    some_new, some_in_doubt = False, False
    for node in nodes:
        exponent = math.frexp(sums[node] * (1 - error))[1]
        if exponent != math.frexp(sums[node] * (1 + error))[1]:
            in_doubt[node] = some_in_doubt = True
            continue
        scale = math.ldexp(1.0, min(61 - exponent, 1023))
        if scale != scales[node]:
            scales[node], is_new[node], some_new = scale, True, True
    return some_new, some_in_doubt


@jit
def find_candidates(nodes, is_new, sums, may_cut, unknown, lowest, fallen, current, candidates):
    """Update the lower bounds on the sums of each node, and mark the columns in which it may have a better cut.

    IN: nodes (m,); is_new (n_nodes + 1,): whether a node has no bounds yet; sums: see `set_differences`; may_cut (d,);
    unknown: lower bound on all sums. IN and OUT: lowest (n_nodes + 1, d): lower bounds on the sums over the first rows
    in a column; fallen (n_nodes + 1,): upper bounds on the fall of these sums since, 0 afterwards. OUT: current
    (n_nodes + 1,): the sum of the present cut; candidates (n_nodes + 1, d).
    """
    for node in nodes:
        current[node], fall, is_wrong = sums[node, 0], fallen[node] + sums[node, 1], sums[node, 2] > 0
        fallen[node] = 0
        for j in range(len(may_cut)):
            lowest[node, j] = unknown if is_new[node] else max(lowest[node, j] - fall, unknown)
            candidates[node, j] = is_wrong and may_cut[j] and lowest[node, j] < current[node]


@jit
def split_by_size(candidates, n_rows, least, large, small):
    """Separate nodes with candidate columns by size; return the number of large ones, and whether there are small ones.

    IN: candidates (n_nodes + 1, d); n_rows (n_nodes + 1,); least: fewest rows of a large node. OUT: large
    (n_nodes + 1,): the large nodes, ascending; small (n_nodes + 1, d): the candidate columns of the others.
    """
    n_large, any_small = 0, False
    for node in range(len(n_rows)):
        is_large, is_candidate = n_rows[node] >= least, False
        for j in range(candidates.shape[1]):
            is_candidate = is_candidate or candidates[node, j]
            small[node, j] = candidates[node, j] and not is_large
        any_small = any_small or (is_candidate and not is_large)
        if is_candidate and is_large:
            large[n_large] = node
            n_large += 1
    return n_large, any_small


SUM, BEST, LOWEST, LAST, LEFT, RIGHT = range(6)  # entries of a node's state during a walk; see `best_cuts`


@jit
def best_cuts(X, column, order, at, is_candidate, difference, states):
    """Find the smallest sum of differences over the first side of a cut in one column, for all candidate nodes at once.

    A cut lies between two different values. Only sums below the initial BEST count; of equal sums the first is taken.

    IN: X (n, d); column; order (m,): rows in the order of the column; at (n,); is_candidate (n_nodes + 1,); difference
    (n,). IN and OUT: states (n_nodes + 1, 6): at first SUM is 0; BEST: the sum to be undercut; LOWEST: 0; LAST, LEFT,
    RIGHT: -1. Afterwards BEST is the smallest sum, LEFT and RIGHT are the rows next to its cut (-1 if none is better);
    LOWEST is the smallest sum over the first rows in this order, for any number of rows from none to all.
    """
    for row in order:
        node = at[row]
        if not is_candidate[node]:
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
def take_better(nodes, column, states, current, best, feature, left, right):
    """Take the cuts of a column where they are better; of equal cuts the one in the lowest column is better.

    IN: nodes (m,); column; states (m, 6); current (n_nodes + 1,): sums of the cuts that the nodes have. IN and OUT:
    best, feature, left, right (n_nodes + 1,): sums of the best cuts, their columns, and rows next to them.
    """
    for i in range(len(nodes)):
        node, total = nodes[i], states[i, BEST]
        is_equal = total == best[node] and total < current[node] and column < feature[node]
        if total < best[node] or is_equal:
            best[node], feature[node] = total, column
            left[node], right[node] = states[i, LEFT], states[i, RIGHT]


@jit
def add_to_bins(rows, at, slot, difference, codes, columns, bins):
    """Add the rows' differences to the bins of some columns: negative ones apart from the others.

    IN: rows (m,); at (n,); slot (n_nodes + 1,): the node's place in `bins`, or -1; difference (n,); codes (n, d);
    columns (c,). OUT: bins (n_slots, c, n_bins, 2).
    """
    one, zero = (
        np.uint64(1),
        np.uint64(0),
    )  # without a sign, as the indices here: numba need not check for negative ones
    for signed in rows:
        row = np.uint64(signed)
        place = slot[np.uint64(at[row])]
        if place < 0:
            continue
        s, change = np.uint64(place), difference[row]
        sign = one if change < 0 else zero
        for c in range(len(columns)):
            bins[s, c, np.uint64(codes[row, np.uint64(columns[c])]), sign] += change


@stands_in_for(add_to_bins)
def _add_all_to_bins(rows, at, slot, difference, codes, columns, bins):
    rows = rows[slot[at[rows]] >= 0]
    place, change = slot[at[rows]], difference[rows]
    for c, column in enumerate(columns):
        np.add.at(bins, (place, c, codes[rows, column], (change < 0).astype(np.intp)), change)


@jit
def bound_bins(bins, columns, single, lowest, best):
    """Replace the sums of each bin by the sum before it and a lower bound on the sums of cuts inside it.

    No cut is inside a bin that holds one value, so the bound is the sum before it.

    IN: columns (c,); single (d, n_bins): bins that hold one value. IN and OUT: bins (n_slots, c, n_bins, 2).
    OUT: lowest (n_slots, c): the least of these bounds; best (n_slots,): lowered to the least sum at an end of a bin
    with rows on both sides.
    """
    n_slots, n_columns, n_bins, _ = bins.shape
    for s in range(n_slots):
        for c in range(n_columns):
            of_bins, before, last, has_rows = bins[s, c], np.int64(0), 0, False
            for b in range(n_bins):
                if of_bins[b, 0] != 0 or of_bins[b, 1] != 0:
                    last = b
            for b in range(n_bins):
                begin, rise, fall = before, of_bins[b, 0], of_bins[b, 1]
                of_bins[b, 0], of_bins[b, 1] = begin, begin if single[columns[c], b] else begin + fall
                lowest[s, c] = min(lowest[s, c], of_bins[b, 1])
                before += rise + fall
                has_rows = has_rows or rise != 0 or fall != 0
                if has_rows and b < last:  # rows on both sides for certain
                    best[s] = min(best[s], before)


@stands_in_for(bound_bins)
def _bound_all_bins(bins, columns, single, lowest, best):
    is_used, sums = (bins != 0).any(axis=3), bins.sum(axis=3)
    after = np.cumsum(sums, axis=2)
    bins[..., 0] = after - sums
    bins[..., 1] = bins[..., 0] + np.where(single[columns], 0, bins[..., 1])
    np.minimum(lowest, bins[..., 1].min(axis=2), out=lowest)
    has_before = np.logical_or.accumulate(is_used, axis=2)[..., :-1]
    has_behind = np.logical_or.accumulate(is_used[..., ::-1], axis=2)[..., -2::-1]
    inside = np.where(has_before & has_behind, after[..., :-1], best[:, None, None])
    np.minimum(best, inside.min(axis=(1, 2), initial=np.iinfo(np.int64).max), out=best)


@jit
def best_cuts_of_bins(X, column, order, starts, at, slot, bounds, limits, difference, states):
    """Like `best_cuts`, but walks only the bins whose bound is at most a limit.

    IN: X (n, d); column; order (m,): rows bin by bin, sorted by the column inside the bins that are walked;
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
    """Return a row of a node with the largest value in the bins before bin `first`, or -1."""
    last = -1
    for b in range(first - 1, -1, -1):
        for r in range(starts[b], starts[b + 1]):
            row = order[r]
            if at[row] == node and (last < 0 or X[row, column] >= X[last, column]):
                last = row
        if last >= 0:
            break
    return last
