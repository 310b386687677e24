"""Random cuts in rounds: each round draws one cut and applies it to every leaf that it separates.

A cut is drawn from those that separate centres of some leaf, but not two centres that are near each other: nearer than
D / k³, with D the largest distance of two centres in one leaf.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Ints
from boxwood.loops.jit import jit

__all__ = ["DrawnCuts", "Edges", "SortedCenters", "draw_rounds", "spanning_edges"]


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
                length = _distance(positions, rests, current, c)
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
        j, r, drawn = _drawn(mass, rest, measure, uniforms[n_rounds])
        if j < 0:
            j, r, drawn = _middle_rank(values, first[:n_leaves], last[:n_leaves])
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
def _distance(positions, rests, a, b):
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
def _drawn(mass, rest, measure, uniform):
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
def _middle_rank(values, first, last):
    """Return the widest axis of any leaf, the last rank whose value is not above the middle of its range, and NaN.

    NaN is the measure beyond the rank: this cut is for leaves whose measure is too small for a double.
    """
    widest, axis, leaf = -1.0, 0, 0
    for g in range(first.shape[0]):
        for j in range(values.shape[0]):
            width = values[j, last[g, j]] - values[j, first[g, j]]
            if width > widest:
                widest, axis, leaf = width, j, g
    left, right = first[leaf, axis], last[leaf, axis]
    middle = values[axis, left] + 0.5 * widest
    while right - left > 1:
        rank = (left + right) // 2
        if values[axis, rank] <= middle and values[axis, rank] < values[axis, last[leaf, axis]]:
            left = rank
        else:
            right = rank
    return axis, left, np.nan
