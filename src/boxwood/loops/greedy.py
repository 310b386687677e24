"""How the cost of a cut changes as it moves up a column, when each row goes to the nearest centre on its own side.

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

from boxwood.loops._jit import jit, stands_in_for

__all__ = ["add_changes", "keep_nearest", "summed_costs"]


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
            _write_distances(X, np.uint64(row), centers, unit, to_all)
            count = _keep_least(to_all, clusters, near, distances, row)
        if count < length:
            near[row, count] = -1


@stands_in_for(keep_nearest)
def _keep_nearest(X, rows, centers, clusters, inside, unit, least, near, distances):
    places, lists, costs = np.arange(near.shape[1]), near[rows], distances[rows]
    stays = inside[lists] & ~np.logical_or.accumulate(lists < 0, axis=1)
    counts, following = stays.sum(axis=1), np.argsort(~stays, axis=1, kind="stable")
    is_kept = places < counts[:, None]
    lists = np.where(is_kept, np.take_along_axis(lists, following, axis=1), lists)
    costs = np.where(is_kept, np.take_along_axis(costs, following, axis=1), costs)
    short = np.flatnonzero(counts < least)
    to_all = np.zeros((len(short), len(clusters)))
    for j in range(len(centers)):
        difference = (X[rows[short], j, None].astype(np.float64) * 0.5 - centers[j] * 0.5) * unit
        to_all += difference * difference
    nearest = np.argsort(to_all, axis=1, kind="stable")[:, : len(places)]
    counts[short] = nearest.shape[1]
    lists[short, : nearest.shape[1]] = clusters[nearest]
    costs[short, : nearest.shape[1]] = np.take_along_axis(to_all, nearest, axis=1)
    near[rows], distances[rows] = np.where(places == counts[:, None], -1, lists), costs


@jit
def summed_costs(rows, distances, share, times, scale):
    """Return the sum of the rows' costs at their nearest centres, a whole number.

    IN: rows (m,); distances (n, length); share, times (n,); scale.
    """
    cost = np.int64(0)
    for row in rows:
        cost += _whole(distances[row, 0], share[row], times[row], scale)
    return cost


@stands_in_for(summed_costs)
def _summed_costs(rows, distances, share, times, scale):
    return (np.rint(distances[rows, 0] * share[rows] * scale).astype(np.int64) * times[rows]).sum()


@jit
def add_changes(
    X, rows, first, near, distances, share, times, scale, centers, unit, ends, by_value, position, at_rows, at_centers
):
    """Write by how much the costs of cuts of some columns change where they pass rows, and add where they pass centres.

    Takes time for each row and column in proportion to the part of the row's list that is read; k d once for a row
    whose list is too short.

    IN: X (n, d); rows (m,); first: of the t columns; near, distances (n, length); share, times (n,); scale;
    centers (d, k): those of the node; unit; ends (t, k): their values, ascending; by_value (t, k): the centre at each
    of these places; position (t, n_clusters): the place of each cluster. OUT: at_rows (t, n); at_centers (t, k).
    """
    k, length = centers.shape[1], near.shape[1]
    to_all, beyond = np.empty(k), np.empty(k)
    for signed in rows:
        row = np.uint64(signed)  # without a sign, like other indices here: numba need not check for negative ones
        own, nearest = _whole(distances[row, 0], share[row], times[row], scale), np.uint64(near[row, 0])
        measured = False  # whether `to_all` holds the distances of this row
        for t in range(len(ends)):
            at_rows[t, row] = 0
            x, at = np.float64(X[row, np.uint64(first + t)]), position[t, nearest]
            value = ends[t, np.uint64(at)]
            if x == value:
                continue
            down = x < value
            step, last = (-1, 0) if down else (1, k - 1)  # from the nearest centre to the row and beyond
            more = np.int64(0)  # what the row costs beyond `own` if the cut lies next to `at`
            reached = False  # whether the row lies before `at`
            for m in range(1, length):
                cluster = near[row, m]
                if cluster < 0 or reached or at == last:
                    break
                p = position[t, np.uint64(cluster)]
                if (p - at) * step > 0:
                    now = _whole(distances[row, m], share[row], times[row], scale) - own
                    at_centers[t, np.uint64(at)] += step * (now - more)
                    at, more, value = p, now, ends[t, np.uint64(p)]
                    reached = value <= x if down else value >= x
            if not reached and at != last:
                if not measured:
                    _write_distances(X, row, centers, unit, to_all)
                    measured = True
                _write_least_beyond(to_all, by_value[t], at, step, beyond)
                while not reached and at != last:
                    p = at + step
                    now = _whole(beyond[p], share[row], times[row], scale) - own
                    at_centers[t, at] += step * (now - more)
                    at, more, value = p, now, ends[t, p]
                    reached = value <= x if down else value >= x
            if reached:
                at_rows[t, row] = -step * more
            else:
                at_centers[t, at] -= step * more


@stands_in_for(add_changes)
def _add_changes(
    X, rows, first, near, distances, share, times, scale, centers, unit, ends, by_value, position, at_rows, at_centers
):
    def costs(squares):
        return np.rint(squares * share[rows] * scale).astype(np.int64) * times[rows]

    def change_at_rows(x, values, position, in_order, at_centers):
        def move(moves, to, now):
            np.add.at(at_centers, at[moves], (step * (now - more))[moves])
            at[moves], more[moves] = to[moves], now[moves]
            reached[moves] = np.where(down, values[at] <= x, values[at] >= x)[moves]

        at, more, ended = position[near[rows, 0]], np.zeros_like(own), np.zeros(len(rows), dtype=np.bool_)
        down, reached = x < values[at], x == values[at]
        step, last = np.where(down, -1, 1), np.where(down, 0, len(values) - 1)
        for m in range(1, near.shape[1]):
            to = position[near[rows, m]]
            ended |= near[rows, m] < 0
            move(~(ended | reached | (at == last)) & ((to - at) * step > 0), to, costs(distances[rows, m]) - own)
        up_to = np.minimum.accumulate(in_order, axis=1)
        behind = np.minimum.accumulate(in_order[:, ::-1], axis=1)[:, ::-1]
        while (moves := ~reached & (at != last)).any():
            to = np.where(moves, at + step, at)
            move(moves, to, costs(np.where(down, up_to[places, to], behind[places, to])) - own)
        np.subtract.at(at_centers, at[~reached], (step * more)[~reached])
        return np.where(reached, -step * more, 0)

    own, places, to_all = costs(distances[rows, 0]), np.arange(len(rows)), np.zeros((len(rows), centers.shape[1]))
    for j in range(len(centers)):
        difference = (X[rows, j, None].astype(np.float64) * 0.5 - centers[j] * 0.5) * unit
        to_all += difference * difference
    for t in range(len(ends)):
        x, in_order = X[rows, first + t].astype(np.float64), to_all[:, by_value[t]]
        at_rows[t, rows] = change_at_rows(x, ends[t], position[t], in_order, at_centers[t])


@jit
def _whole(distance, share, times, scale):
    """Return a weighted cost as a whole number, as `whole_costs` makes it; it does not fall as the distance grows."""
    return np.int64(np.rint(distance * share * scale)) * times


@jit
def _write_distances(X, row, centers, unit, out):
    """Write the squared distances of a row to all centres, as `expand.squared_distances` does.

    IN: X (n, d); row; centers (d, k); unit. OUT: out (k,).
    """
    out[:] = 0.0
    for j in range(centers.shape[0]):
        x = np.float64(X[row, j]) * 0.5
        for c in range(centers.shape[1]):
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
def _write_least_beyond(to_all, by_value, at, step, beyond):
    """Write for each place on one side of `at` the least distance to the centre there and those behind it.

    IN: to_all (k,): distances to the centres; by_value (k,): the centre at each place; at; step: -1 for the places
    before `at`, 1 for those after it. OUT: beyond (k,).
    """
    p = 0 if step < 0 else len(by_value) - 1
    least = np.inf
    while p != at:
        least = min(least, to_all[by_value[p]])
        beyond[p] = least
        p -= step
