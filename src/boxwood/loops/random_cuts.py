"""Random cuts between centres: trees that are drawn, node by node or in rounds, and the cost of each.

**Node by node**, in a time near that of sorting the centres. On each axis the centres are sorted once, which gives each
centre a rank. The ranks of a node's centres form a doubly linked list on each axis: its ends are the range of the node,
and a cut takes out the ranks of the smaller child only.

Nodes that wait are kept on a stack of frames. One child stays in its parent's frame. The other gets the frame above and
is cut first. Each frame holds at most half of the centres of the frame below, so there are few frames::

    after    0 → 2 → 3 → 7        frame 0: first 0, last 7
             1 → 4 → 5 → 6        frame 1: first 1, last 6

**In rounds**, each of which draws one cut and applies it to every leaf that it separates. A cut is drawn from those
that separate centres of some leaf, but not two centres that are near each other: nearer than D / k³, with D the largest
distance of two centres in one leaf.

**The additional cost** of each of many trees over the clustering that they explain, from one pass over the rows.

Each tree has one leaf for each cluster, so only rows outside the leaf of their cluster add to the cost. The thresholds
around that leaf, in all trees, are listed by axis and side, the innermost first. So a row in the middle of its cluster
is compared with one threshold on each side of an axis, for any number of trees.

Costs are added in parts, as in `sums`, so that the cheapest tree does not depend on the order of the rows.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Ints
from boxwood.loops.jit import jit

L1, L2, SQEUCLIDEAN = 0, 1, 2  # as in costs


class SortedCenters(NamedTuple):
    """Centres in the order of their values on each axis. All arrays are of shape (d, k)."""

    values: Floats  # ascending on each axis
    mass: Floats  # measure of the cuts below each value, in two parts to be added: mass + rest
    rest: Floats
    order: Array  # centre at each rank, int32
    rank: Array  # rank of each centre, int32


class DrawnCuts(NamedTuple):
    """A tree as it is drawn, cut by cut. Cut number t makes the nodes 2t + 1 (its left child) and 2t + 2."""

    node: Ints  # (k - 1,) node that is cut
    feature: Ints  # (k - 1,)
    rank: Ints  # (k - 1,) rank of the last value on the left
    offset: Floats  # (k - 1,) measure of the cuts between that value and the cut, NaN where too small for a double
    cluster: Ints  # (2k - 1,) centre of each leaf, by node


class Edges(NamedTuple):
    """A smallest spanning tree of the centres under the l1 distance, shortest edge first."""

    ends: Ints  # (k - 1, 2)
    lengths: Floats  # (k - 1,)


@jit
def prefix_masses(values, mass, rest):
    """Write the coordinates of the sorted centres in the terminal embedding, each as a sum of two floats.

    In this embedding squared distances to a centre become l1 distances. The coordinate at a rank is half the sum of the
    squared gaps below it. The second float keeps small gaps that lie far out, which a single float would round away.

    IN: values (d, k), ascending on each axis. OUT: mass, rest (d, k), to be added.
    """
    for j in range(values.shape[0]):
        high, low = 0.0, 0.0
        mass[j, 0], rest[j, 0] = high, low
        for r in range(1, values.shape[1]):
            gap = values[j, r] - values[j, r - 1]
            low += 0.5 * gap * gap
            total = high + low
            low -= total - high
            high = total
            mass[j, r], rest[j, r] = high, low


@jit
def draw_cuts(objective, lower_median, centers, uniforms, cuts):
    """Draw a tree with one centre in each leaf.

    IN: objective: L1, SQEUCLIDEAN or L2; lower_median: whether the median of an even number is the lower of two;
    centers: SortedCenters; uniforms (k - 1, 2) in [0, 1). OUT: cuts: DrawnCuts, whose offset is the threshold itself
    under L2.
    """
    values, mass, rest, order, rank = centers
    node, feature, rank_of_cut, offset, cluster = cuts
    d, k = values.shape
    frames = 3
    while (1 << (frames - 3)) < k:
        frames += 1
    first, last = np.zeros((frames, d), np.int32), np.full((frames, d), k - 1, np.int32)
    size, where = np.full(frames, k, np.int64), np.zeros(frames, np.int64)
    phase, median = np.full(frames, 2 * k, np.int64), np.empty((frames, d))
    before, after = np.empty((d, k), np.int32), np.empty((d, k), np.int32)
    for j in range(d):
        for r in range(k):
            before[j, r], after[j, r] = r - 1, (r + 1 if r + 1 < k else -1)
    weights, members, ranks = np.empty(2 * d), np.empty(k, np.int32), np.empty(k, np.int32)
    top, t = 0, 0
    while top >= 0:
        if size[top] == 1:
            cluster[where[top]] = order[0, first[top, 0]]
            top -= 1
            continue
        if objective == L2:
            if 2 * size[top] <= phase[top]:
                phase[top] = size[top]
                _medians(values, after, first[top], size[top], lower_median, median[top])
            j, r, drawn, left_stays = _median_cut(values, median[top], first[top], last[top], uniforms[t], weights)
        else:
            j, r, drawn = _mass_cut(values, mass, rest, first[top], last[top], uniforms[t], weights)
            left_stays = False
        node[t], feature[t], rank_of_cut[t], offset[t] = where[top], j, r, drawn
        n_small, small_is_left = _smaller_side(order, before, after, j, r, first[top, j], last[top, j], members)
        if objective != L2:
            left_stays = not small_is_left
        small = top + 1
        _take_out(rank, before, after, members[:n_small], ranks, first, last, top, small)
        size[small] = n_small
        size[top] -= n_small
        if left_stays == small_is_left:
            for i in range(d):
                first[top, i], first[small, i] = first[small, i], first[top, i]
                last[top, i], last[small, i] = last[small, i], last[top, i]
            size[top], size[small] = size[small], size[top]
        phase[small] = 2 * size[small]
        where[top] = 2 * t + 1 if left_stays else 2 * t + 2
        where[small] = 2 * t + 2 if left_stays else 2 * t + 1
        top += 1
        t += 1


@jit
def _mass_cut(values, mass, rest, first, last, uniform, weights):
    """Draw a cut from the ranges of a node; return its axis, the last rank on its left, and the measure beyond it."""
    d, total = values.shape[0], 0.0
    for j in range(d):
        weights[j] = (mass[j, last[j]] - mass[j, first[j]]) + (rest[j, last[j]] - rest[j, first[j]])
        total += weights[j]
    if not total > 0.0:
        j, left = _middle_rank(values, first, last)
        return j, left, np.nan
    j = _choose_index(weights, d, uniform[0] * total)
    left, right, begin, drawn = first[j], last[j], first[j], uniform[1] * weights[j]
    while right - left > 1:
        middle = (left + right) // 2
        below = (mass[j, middle] - mass[j, begin]) + (rest[j, middle] - rest[j, begin]) <= drawn
        if below and values[j, middle] < values[j, last[j]]:  # the smallest doubles times a fraction may be themselves
            left = middle
        else:
            right = middle
    return j, left, drawn - ((mass[j, left] - mass[j, begin]) + (rest[j, left] - rest[j, begin]))


@jit
def _median_cut(values, median, first, last, uniform, weights):
    """Draw a cut around the median of a node; return its axis, the last rank on its left, its threshold, and whether
    the median is on its left.

    The squared distance from the median to the cut is uniform over all cuts that separate centres of the node. Medians
    are taken anew once a node has half of their centres or fewer, so each lies between the outermost centres.
    """
    d, total = values.shape[0], 0.0
    for j in range(d):
        below, above = median[j] - values[j, first[j]], values[j, last[j]] - median[j]
        weights[j], weights[d + j] = above * above, below * below
        total += weights[j] + weights[d + j]
    if not total > 0.0:
        j, left = _middle_rank(values, first, last)
        cut = _within(0.5 * (values[j, left] + values[j, left + 1]), values[j, left], values[j, left + 1])
        return j, left, cut, median[j] <= cut
    chosen = _choose_index(weights, 2 * d, uniform[0] * total)
    j, distance = chosen % d, np.sqrt(uniform[1] * weights[chosen])
    if chosen < d:
        cut = _within(median[j] + distance, median[j], values[j, last[j]])
    else:
        cut = _within(median[j] - distance, values[j, first[j]], median[j])
    return j, _last_rank(values, j, first[j], last[j], cut), cut, chosen < d


@jit
def _middle_rank(values, first, last):
    """Return the widest axis of a node, and the last rank whose value is not above the middle of its range."""
    widest, j = -1.0, 0
    for i in range(values.shape[0]):
        width = values[i, last[i]] - values[i, first[i]]
        if width > widest:
            widest, j = width, i
    a, b = values[j, first[j]], values[j, last[j]]
    return j, _last_rank(values, j, first[j], last[j], _within(a + 0.5 * (b - a), a, b))


@jit
def _within(cut, a, b):
    """Return the cut, rounded into a <= cut < b."""
    if cut >= b:
        cut = np.nextafter(b, -np.inf)
    return max(cut, a)


@jit
def _choose_index(weights, n, target):
    """Return the index at which the cumulative weight passes the target; never one of weight 0."""
    index = 0
    for i in range(n):
        if weights[i] > 0.0:
            index = i
            if target < weights[i]:
                break
            target -= weights[i]
    return index


@jit
def _last_rank(values, j, first, last, cut):
    """Return the last rank on an axis with a value of at most `cut`; the value at `last` must lie above it."""
    left, right = first, last
    while right - left > 1:
        middle = (left + right) // 2
        if values[j, middle] <= cut:
            left = middle
        else:
            right = middle
    return left


@jit
def _medians(values, after, first, size, lower, median):
    """Write the median of a node's centres on each axis; for an even number the midpoint of two, or the lower."""
    for j in range(values.shape[0]):
        r = first[j]
        for _ in range((size - 1) // 2):
            r = after[j, r]
        median[j] = values[j, r]
        if size % 2 == 0 and not lower:
            median[j] += 0.5 * (values[j, after[j, r]] - values[j, r])


@jit
def _smaller_side(order, before, after, j, cut, first, last, members):
    """Write the centres of the smaller child; return how many these are, and whether it is the left child.

    Takes time of the smaller child, as the list is walked from both ends at once.

    IN: order, before, after (d, k); j: axis of the cut; cut: last rank on its left; first, last: ends of the node's
    list on this axis. OUT: members.
    """
    left, right, n = first, last, 0
    while True:
        left, right, n = after[j, left], before[j, right], n + 1
        if left < 0 or left > cut:
            break
        if right < 0 or right <= cut:
            break
    is_left = left < 0 or left > cut
    r = first if is_left else last
    for i in range(n):
        members[i] = order[j, r]
        r = after[j, r] if is_left else before[j, r]
    return n, is_left


@jit
def _take_out(rank, before, after, members, ranks, first, last, source, target):
    """Move some centres from the lists of one frame into lists of another frame; all lists stay sorted.

    IN: rank (d, k); members (n,): the centres; source, target: the frames. IN and OUT: before, after (d, k); first,
    last (frames, d). OUT: ranks, at least n long: scratch.
    """
    n = len(members)
    for j in range(rank.shape[0]):
        for i in range(n):
            r = rank[j, members[i]]
            ranks[i] = r
            p, q = before[j, r], after[j, r]
            if p >= 0:
                after[j, p] = q
            else:
                first[source, j] = q
            if q >= 0:
                before[j, q] = p
            else:
                last[source, j] = p
        if n > 1:
            ranks[:n].sort()
        for i in range(n):
            before[j, ranks[i]] = ranks[i - 1] if i > 0 else -1
            after[j, ranks[i]] = ranks[i + 1] if i + 1 < n else -1
        first[target, j], last[target, j] = ranks[0], ranks[n - 1]


@jit
def spanning_edges(positions, rests, ends, lengths):
    """Write the edges of a smallest spanning tree of centres under the l1 distance (Prim's algorithm).

    IN: positions, rests (k, d): coordinates in two parts, to be added. OUT: ends (k - 1, 2), lengths (k - 1,).
    """
    k = positions.shape[0]
    # of each centre outside the tree so far: distance to the tree, and the nearest centre in it
    distance, nearest, outside = np.full(k, np.inf), np.zeros(k, np.int64), np.ones(k, np.bool_)
    current = 0
    for t in range(k - 1):
        outside[current] = False
        following = -1
        for c in range(k):
            if outside[c]:
                length = _between(positions, rests, current, c)
                if length < distance[c]:
                    distance[c], nearest[c] = length, current
                if following < 0 or distance[c] < distance[following]:
                    following = c
        ends[t, 0], ends[t, 1], lengths[t] = nearest[following], following, distance[following]
        current = following


@jit
def draw_rounds(centers, edges, uniforms, cuts):
    """Draw a tree with one centre in each leaf.

    IN: centers: SortedCenters; edges: Edges; uniforms (k - 1, 2) in [0, 1), a pair for each round.
    OUT: cuts: DrawnCuts.
    """
    values, mass, rest, _, rank = centers
    ends, lengths = edges
    node, feature, rank_of_cut, offset, cluster = cuts
    d, k = values.shape
    leaf, where = np.zeros(k, np.int64), np.zeros(k, np.int64)
    first, last = np.empty((k, d), np.int64), np.empty((k, d), np.int64)
    group, second, measure = np.empty(k, np.int64), np.empty(k, np.int64), np.empty((d, k))
    n_leaves, t, n_rounds = 1, 0, 0
    while n_leaves < k:
        measure[:] = 1.0
        _ranges(rank, leaf, n_leaves, first, last)
        shortest = _shortest_distance(mass, rest, rank, leaf, first[:n_leaves], last[:n_leaves], lengths[0])
        if lengths[0] <= shortest:
            n_groups = _near_groups(ends, lengths, shortest, group)
            near_first, near_last = np.empty((n_groups, d), np.int64), np.empty((n_groups, d), np.int64)
            _ranges(rank, group, n_groups, near_first, near_last)
            _keep(measure, near_first, near_last, False)
        _keep(measure, first[:n_leaves], last[:n_leaves], True)
        j, r, drawn = _draw_cut(mass, rest, measure, uniforms[n_rounds])
        if j < 0:
            j, r = _middle_of_widest(values, first[:n_leaves], last[:n_leaves])
            drawn = np.nan
        n_rounds += 1
        second[:n_leaves] = -1
        for c in range(k):
            cut = leaf[c]
            if rank[j, c] > r and first[cut, j] <= r:
                if second[cut] < 0:
                    node[t], feature[t], rank_of_cut[t], offset[t] = where[cut], j, r, drawn
                    where[cut], where[n_leaves], second[cut] = 2 * t + 1, 2 * t + 2, n_leaves
                    n_leaves += 1
                    t += 1
                leaf[c] = second[cut]
    for c in range(k):
        cluster[where[leaf[c]]] = c


@jit
def _between(positions, rests, a, b):
    """Return the l1 distance of two centres, whose coordinates are given in two parts."""
    total = 0.0
    for j in range(positions.shape[1]):
        total += abs((positions[a, j] - positions[b, j]) + (rests[a, j] - rests[b, j]))
    return total


@jit
def _ranges(rank, group, n_groups, first, last):
    """Write the first and the last rank of each group of centres, on each axis."""
    first[:n_groups] = rank.shape[1]
    last[:n_groups] = -1
    for j in range(rank.shape[0]):
        for c in range(rank.shape[1]):
            g = group[c]
            first[g, j] = min(first[g, j], rank[j, c])
            last[g, j] = max(last[g, j], rank[j, c])


@jit
def _shortest_distance(mass, rest, rank, leaf, first, last, shortest):
    """Return D / k³, with D the largest distance of two centres in one leaf; or an upper bound, if below `shortest`.

    Such a bound does as well as the value, as no two centres are nearer than the shortest edge.
    """
    d, k = rank.shape
    bound = 0.0
    for g in range(first.shape[0]):
        width = 0.0
        for j in range(d):
            a, b = first[g, j], last[g, j]
            width += (mass[j, b] - mass[j, a]) + (rest[j, b] - rest[j, a])
        bound = max(bound, width)
    if bound < shortest * float(k) ** 3:
        return bound / float(k) ** 3
    largest = 0.0
    for a in range(k):
        for b in range(a):
            if leaf[a] == leaf[b]:
                length = 0.0
                for j in range(d):
                    p, q = rank[j, a], rank[j, b]
                    length += abs((mass[j, p] - mass[j, q]) + (rest[j, p] - rest[j, q]))
                largest = max(largest, length)
    return largest / float(k) ** 3


@jit
def _near_groups(ends, lengths, longest, group):
    """Number the groups of centres that are joined by edges up to a length; return the number of groups.

    Two centres at most that far apart are in one group. On each axis a group covers nothing but the gaps between such
    pairs. Each pair is also in one leaf: the length never grows from round to round, so no cut was allowed to separate
    the pair before.

    IN: ends (k - 1, 2), lengths (k - 1,), ascending; longest. OUT: group (k,).
    """
    k = len(group)
    root = np.arange(k)
    for e in range(k - 1):
        if lengths[e] > longest:
            break
        a, b = ends[e, 0], ends[e, 1]
        while root[a] != a:
            a = root[a]
        while root[b] != b:
            b = root[b]
        root[max(a, b)] = min(a, b)
    n = 0
    for c in range(k):
        if root[c] == c:
            group[c] = n
            n += 1
        else:
            group[c] = group[root[c]]  # a root is the smallest number of its group
    return n


@jit
def _keep(measure, first, last, within):
    """Set the measure of gaps to 0, except of those in some range, or, if not `within`, of those in no range.

    Gap r of an axis lies between the ranks r and r + 1. IN: first, last (groups, d): ranges. IN and OUT: measure (d,
    k).
    """
    d, k = measure.shape
    steps = np.empty(k + 1, np.int64)
    for j in range(d):
        steps[:] = 0
        for g in range(first.shape[0]):
            steps[first[g, j]] += 1
            steps[last[g, j]] -= 1
        depth = 0
        for r in range(k):
            depth += steps[r]
            if (depth > 0) != within:
                measure[j, r] = 0.0


@jit
def _draw_cut(mass, rest, measure, uniform):
    """Draw a cut from the gaps whose measure is not 0; return axis, last rank on the left, and measure beyond it.

    The axis is -1 where the measure of all gaps is too small for a double.
    """
    d, k = measure.shape
    total = 0.0
    for j in range(d):
        for r in range(k - 1):
            if measure[j, r] > 0.0:
                measure[j, r] = (mass[j, r + 1] - mass[j, r]) + (rest[j, r + 1] - rest[j, r])
                total += measure[j, r]
    target, axis, rank = uniform[0] * total, -1, 0
    for j in range(d):
        for r in range(k - 1):
            if measure[j, r] > 0.0:
                axis, rank = j, r
                if target < measure[j, r]:
                    return axis, rank, uniform[1] * measure[j, r]
                target -= measure[j, r]
    return axis, rank, 0.0 if axis < 0 else uniform[1] * measure[axis, rank]


@jit
def _middle_of_widest(values, first, last):
    """Return the widest axis of any leaf, and the last rank whose value is not above the middle of its range.

    Such a cut is for leaves whose measure is too small for a double.
    """
    widest, leaf = -1.0, 0
    for g in range(first.shape[0]):
        for j in range(values.shape[0]):
            width = values[j, last[g, j]] - values[j, first[g, j]]
            if width > widest:
                widest, leaf = width, g
    return _middle_rank(values, first[leaf], last[leaf])


ROUNDING = 6755399441055744.0  # as in sums


class LeafBounds(NamedTuple):
    """The thresholds around the leaf of each of k clusters in each of T trees, the innermost first.

    Those of cluster c, axis j and side s are numbered from `starts[2 (c d + j) + s]` on. Side 0 bounds the leaf from
    above, side 1 from below.
    """

    starts: Ints  # (2 k d + 1,)
    thresholds: Floats  # ascending for side 0, descending for side 1
    trees: Ints  # tree of each threshold


class Trees(NamedTuple):
    """The nodes of T trees, one tree after the other, each in pre-order."""

    roots: Ints  # (T,) number of the first node of each tree
    feature: Ints  # (nodes,)
    upper: Floats  # (nodes,)
    second: Ints  # (nodes,) counted from the root of the tree
    cluster: Ints  # (nodes,)


@jit
def add_costs_and_moves(X, labels, weights, scale, bounds, trees, centers, unit, objective, units, cost, change):
    """Add the cost of the rows at their own centres, and for each tree the additional cost of the rows that it moves.

    IN: X (n, d); labels (n,), -1 left out; weights (n,) or (0,); scale: brings weight times distance to at most 1;
    bounds: LeafBounds; trees: Trees; centers (k, d); unit: brings differences of values to at most 1; objective L1, L2
    or SQEUCLIDEAN; units (p,): those of the parts, descending. OUT: cost (1, p); change (T, p).
    """
    starts, thresholds, owners = bounds
    k, d = centers.shape
    last_row = np.full(len(change), -1)  # the last row sent down each tree
    measured, distances = np.full(k, -1), np.empty(k)  # distances[c] is that of row measured[c]
    for i in range(X.shape[0]):
        label = labels[i]
        if label < 0:
            continue
        weight = (weights[i] if weights.size else 1.0) * scale
        if weight == 0.0:
            continue
        measured[label], distances[label] = i, _distance(X, i, centers, label, unit, objective)
        _deposit(weight * distances[label], units, cost[0])
        for j in range(d):
            x = float(X[i, j])
            for side in range(2):
                at = 2 * (label * d + j) + side
                for e in range(starts[at], starts[at + 1]):
                    if x <= thresholds[e] if side == 0 else x > thresholds[e]:
                        break
                    tree = owners[e]
                    if last_row[tree] == i:
                        continue
                    last_row[tree] = i
                    cluster = _cluster_of(X, i, trees, tree)
                    if measured[cluster] != i:
                        measured[cluster], distances[cluster] = i, _distance(X, i, centers, cluster, unit, objective)
                    _deposit(weight * (distances[cluster] - distances[label]), units, change[tree])


@jit
def _deposit(value, units, sums):
    """Add a number in parts. IN: value; units (p,). OUT: sums (p,)."""
    for part in range(len(units)):
        magic = ROUNDING * units[part]
        whole = (value + magic) - magic
        sums[part] += whole
        value -= whole


@jit
def _cluster_of(X, i, trees, tree):
    """Return the cluster of the leaf that row i reaches in one of the trees."""
    roots, feature, upper, second, cluster = trees
    root = roots[tree]
    node = root
    while feature[node] >= 0:
        node = node + 1 if float(X[i, feature[node]]) <= upper[node] else root + second[node]
    return cluster[node]


@jit
def _distance(X, i, centers, c, unit, objective):
    """Return the distance of row i to centre c, as the objective measures it, with differences times the unit."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = abs(float(X[i, j]) * unit - centers[c, j] * unit)
        total += gap if objective == L1 else gap * gap
    return np.sqrt(total) if objective == L2 else total
