"""The cost of every cut of one column, when each row goes to the nearest centre on its own side.

A row is *cut off* if the cut lies between it and its nearest centre. All other rows cost what they cost without a cut.
So the cost of all cuts in turn, from low to high, is a sum that changes at few places. Say x is a row, c its nearest
centre of all, and b and a are ever nearer ones of those ever farther to the left::

    centres    .   a         b    .         c           cut at a or between a and b: the row costs its distance to a
    row          x                                      cut at b or between b and c: the row costs its distance to b
    changes        +a - c    +b - a         +c - b      all other cuts: the row costs its distance to c

Here x lies left of a, so no cut between them has a centre on the left; a row between a and b has its first change at x.
The centres a, b and c are found in a list of the row's nearest centres, from the nearest on. The list is short, so it
may end before the row is reached; only then are all centres on the far side visited.

Costs are whole numbers, so sums are exact and depend neither on the order of rows nor on that of changes.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_changes", "costs_of_cuts", "keep_nearest", "summed_costs"]


@jit
def keep_nearest(X, rows, centers, clusters, inside, unit, least, near, distances):
    """Take the clusters that left the node out of the rows' lists; lists shorter than `least` are made anew.

    A list holds the nearest of the node's centres, from the nearest on. It takes time k d to make one.

    IN: X (n, d); rows (m,): those of the node; centers (d, k): those of the node; clusters (k,): their numbers;
    inside (n_clusters,): whether a cluster is in the node; unit; least, at most k and the longest list.
    IN and OUT: near (n, length): clusters, and -1 behind the end of a list; distances (n, length).
    """
    length = near.shape[1]
    to_all = np.empty(len(clusters))
    for row in rows:
        count = 0
        for i in range(length):
            cluster = near[row, i]
            if cluster < 0:
                break
            if inside[cluster]:
                near[row, count], distances[row, count] = cluster, distances[row, i]
                count += 1
        if count < least:
            _write_distances(X, row, centers, 0, len(clusters), unit, to_all)
            count = _keep_least(to_all, clusters, near, distances, row)
        if count < length:
            near[row, count] = -1


@jit
def summed_costs(rows, distances, share, times, scale):
    """Return the sum of the rows' costs at their nearest centres, a whole number.

    IN: rows (m,); distances (n, length); share, times (n,); scale.
    """
    cost = np.int64(0)
    for row in rows:
        cost += _whole(distances[row, 0], share[row], times[row], scale)
    return cost


@jit
def add_changes(X, rows, j, near, distances, share, times, scale, centers, position, unit, at_rows, at_centers):
    """Write by how much the cost of a cut in column j changes where it passes a row, and add where it passes a centre.

    Takes time for each row in proportion to the part of its list that is read; k d where the list is too short.

    IN: X (n, d); rows (m,); j; near, distances (n, length); share, times (n,); scale; centers (d, k): in the order of
    column j; position (n_clusters,): place of each cluster in this order; unit. OUT: at_rows (m,); at_centers (k,).
    """
    k, length = centers.shape[1], near.shape[1]
    ends = centers[j]
    beyond = np.empty(k)
    for i in range(len(rows)):
        row = rows[i]
        at_rows[i] = 0
        x, at = np.float64(X[row, j]), position[near[row, 0]]
        if x == ends[at]:
            continue
        step, last = (-1, 0) if x < ends[at] else (1, k - 1)  # from the nearest centre towards the row and beyond
        own = _whole(distances[row, 0], share[row], times[row], scale)
        more = np.int64(0)  # what the row costs beyond `own` if the cut lies next to `at`
        reached = False  # whether the row lies before `at`
        for m in range(1, length):
            if near[row, m] < 0 or reached or at == last:
                break
            p = position[near[row, m]]
            if (p - at) * step > 0:
                now = _whole(distances[row, m], share[row], times[row], scale) - own
                at_centers[at] += step * (now - more)
                at, more = p, now
                reached = ends[p] <= x if step < 0 else ends[p] >= x
        if not reached and at != last:
            _write_least_beyond(X, row, centers, at, step, unit, beyond)
            while not reached and at != last:
                p = at + step
                now = _whole(beyond[p], share[row], times[row], scale) - own
                at_centers[at] += step * (now - more)
                at, more = p, now
                reached = ends[p] <= x if step < 0 else ends[p] >= x
        if reached:
            at_rows[i] = -step * more
        else:
            at_centers[at] -= step * more


@jit
def costs_of_cuts(ordered, order, centers, at_rows, at_centers, cost):
    """Return both ends of each gap in which a cut parts centres, its cost, and numbers of rows and centres on its left.

    A gap lies between two neighbouring values, of rows or centres. Gaps ascend. All arrays are of one length.

    IN: ordered (n,): values of the rows, ascending; order (n,): row of each value; centers (k,), ascending;
    at_rows (n,), at_centers (k,): see `add_changes`; cost: that of the rows without a cut.
    """
    n, k = len(ordered), len(centers)
    lows, highs, costs = np.empty(n + k), np.empty(n + k), np.empty(n + k, dtype=np.int64)
    n_rows, n_centers = np.empty(n + k, dtype=np.int64), np.empty(n + k, dtype=np.int64)
    r, c, gaps = 0, 0, 0
    while c < k:
        low = min(centers[c], ordered[r]) if r < n else centers[c]
        while r < n and ordered[r] == low:
            cost += at_rows[order[r]]
            r += 1
        while c < k and centers[c] == low:
            cost += at_centers[c]
            c += 1
        if 0 < c < k:
            lows[gaps], costs[gaps], n_rows[gaps], n_centers[gaps] = low, cost, r, c
            highs[gaps] = min(centers[c], ordered[r]) if r < n else centers[c]
            gaps += 1
    return lows[:gaps], highs[:gaps], costs[:gaps], n_rows[:gaps], n_centers[:gaps]


@jit
def _whole(distance, share, times, scale):
    """Return a weighted cost as a whole number, as `whole_costs` makes it; it does not fall as the distance grows."""
    return np.int64(np.rint(distance * share * scale)) * times


@jit
def _write_distances(X, row, centers, start, stop, unit, out):
    """Write the squared distances of a row to some centres, as `expand.squared_distances` does.

    IN: X (n, d); row; centers (d, k); start, stop: the first centre and the one after the last; unit. OUT: out (k,).
    """
    out[start:stop] = 0.0
    for j in range(centers.shape[0]):
        x = np.float64(X[row, j]) * 0.5
        for c in range(start, stop):
            difference = (x - centers[j, c] * 0.5) * unit
            out[c] += difference * difference


@jit
def _keep_least(to_all, clusters, near, distances, row):
    """Write the least distances of a row and their clusters into its list, and return their number.

    IN: to_all (k,); clusters (k,). OUT: near, distances (n, length).
    """
    count, length = 0, near.shape[1]
    for c in range(len(clusters)):
        distance = to_all[c]
        if count == length and distance >= distances[row, count - 1]:
            continue
        i = min(count, length - 1)
        while i > 0 and distances[row, i - 1] > distance:
            near[row, i], distances[row, i] = near[row, i - 1], distances[row, i - 1]
            i -= 1
        near[row, i], distances[row, i] = clusters[c], distance
        count = min(count + 1, length)
    return count


@jit
def _write_least_beyond(X, row, centers, at, step, unit, beyond):
    """Write for each centre on one side of `at` the least distance of the row to this centre and those behind it.

    IN: X (n, d); row; centers (d, k); at; step: -1 for the centres before `at`, 1 for those after it; unit.
    OUT: beyond (k,).
    """
    k = centers.shape[1]
    start, stop, first = (0, at, 0) if step < 0 else (at + 1, k, k - 1)
    _write_distances(X, row, centers, start, stop, unit, beyond)
    for p in range(first - step, at, -step):
        beyond[p] = min(beyond[p], beyond[p + step])
