"""Changes of the cost of a cut as it moves up a column, if each row goes to the nearest centre on its side.

A row is *cut off* if the cut lies between it and its nearest centre. All other rows keep their cost without a cut. So
the cost of a cut, from low to high, changes at few places. Say x is a row, c its nearest centre of all, b the nearest
of those left of c, and a the nearest of those left of b::

    centres    .   a         b    .         c           cut at a or between a and b: the row costs its distance to a
    row          x                                      cut at b or between b and c: the row costs its distance to b
    changes        +a - c    +b - a         +c - b      all other cuts: the row costs its distance to c

Here x lies left of a; a row between a and b has its first change at x. The centres a, b and c are read from a list of
the row's nearest centres, sorted by distance. The list is short, so it may end before the row is reached; only then are
all centres on the far side visited.

Costs are whole numbers, so sums are exact and depend neither on the order of rows nor on that of changes.

The score of a cut is its cost, divided by the cost of the rows without a cut, plus a penalty times the mean number of
tests for a row below. That number is estimated as if every later cut divided rows and centres in the same proportions
as this one: with a share `a` of the rows and `k_left` of `k` centres on the left, ::

    depth(1) = 0        depth(k) = 1 + a depth(k_left) + (1 - a) depth(k - k_left)

and `k_left` of a smaller `k` is in the same proportion, rounded up and clipped to 1 to k - 1. A side on which the cut
only tightens an earlier test of the same column needs no test of its own, as two tests merge into one.

The score is a float that is computed in the same way on every processor.
"""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for


@jit
def keep_nearest(X, rows, centers, clusters, in_node, unit, least, near, distances):
    """Remove the clusters that are no longer in the node from the rows' lists; remake lists shorter than `least`.

    A list holds the nearest of the node's centres, from the nearest on. It takes time k d to make one.

    IN: X (n, d); rows (m,): those of the node; centers (d, k): those of the node; clusters (k,): their numbers;
    in_node (n_clusters,): whether a cluster is in the node; unit; least, at most k and the longest list.
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
            if in_node[cluster]:
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


@stands_in_for(summed_costs, lambda rows, *others: len(rows))
def _summed_costs(rows, distances, share, times, scale):
    return (np.rint(distances[rows, 0] * share[rows] * scale).astype(np.int64) * times[rows]).sum(dtype=np.int64)


@jit
def add_changes(
    X, rows, first, near, distances, share, times, scale, centers, unit, ends, by_value, position, at_rows, at_centers
):
    """Write the changes of the costs of cuts at the rows of some columns, and add those at centres.

    Takes time for each row and column in proportion to the entries of the row's list that are read, and k d once for a
    row whose list is too short.

    IN: X (n, d); rows (m,); first: of the t columns; near, distances (n, length); share, times (n,); scale;
    centers (d, k): those of the node; unit; ends (t, k): their values, ascending; by_value (t, k): the centre at each
    of these places; position (t, n_clusters): the place of each cluster. OUT: at_rows (t, n); at_centers (t, k).
    """
    k, length = centers.shape[1], near.shape[1]
    to_all, beyond = np.empty(k), np.empty(k)
    for signed in rows:
        row = np.uint64(signed)  # without a sign, like other indices here: numba need not check for negative ones
        own, nearest = _whole(distances[row, 0], share[row], times[row], scale), np.uint64(near[row, 0])
        has_distances = False  # whether `to_all` holds the distances of this row
        for t in range(len(ends)):
            at_rows[t, row] = 0
            x, at = np.float64(X[row, np.uint64(first + t)]), position[t, nearest]
            value = ends[t, np.uint64(at)]
            if x == value:
                continue
            down = x < value
            step, last = (-1, 0) if down else (1, k - 1)  # from the nearest centre to the row and beyond
            extra = np.int64(0)  # what the row costs beyond `own` if the cut lies next to `at`
            reached = False  # whether the row lies before `at`
            for m in range(1, length):
                cluster = near[row, m]
                if cluster < 0 or reached or at == last:
                    break
                p = position[t, np.uint64(cluster)]
                if (p - at) * step > 0:
                    now = _whole(distances[row, m], share[row], times[row], scale) - own
                    at_centers[t, np.uint64(at)] += step * (now - extra)
                    at, extra, value = p, now, ends[t, np.uint64(p)]
                    reached = value <= x if down else value >= x
            if not reached and at != last:
                if not has_distances:
                    _write_distances(X, row, centers, unit, to_all)
                    has_distances = True
                _write_least_beyond(to_all, by_value[t], at, step, beyond)
                while not reached and at != last:
                    p = at + step
                    now = _whole(beyond[p], share[row], times[row], scale) - own
                    at_centers[t, at] += step * (now - extra)
                    at, extra, value = p, now, ends[t, p]
                    reached = value <= x if down else value >= x
            if reached:
                at_rows[t, row] = -step * extra
            else:
                at_centers[t, at] -= step * extra


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
    """Return a weighted cost as a whole number, like `integer_costs`; it is monotone in the distance."""
    return np.int64(np.rint(distance * share * scale)) * times


@jit
def _write_distances(X, row, centers, unit, out):
    """Write the squared distances of a row to all centres, like `expand.squared_distances`.

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
    """Write for each place on one side of `at` the least distance to the centre there and to those beyond it.

    IN: to_all (k,): distances to the centres; by_value (k,): the centre at each place; at; step: -1 for the places
    before `at`, 1 for those after it. OUT: beyond (k,).
    """
    p = 0 if step < 0 else len(by_value) - 1
    least = np.inf
    while p != at:
        least = min(least, to_all[by_value[p]])
        beyond[p] = least
        p -= step


@jit
def costs_of_cuts(X, entries, first, start, stop, weights, ends, at_rows, at_centers, cost, cuts):
    """Write the costs of the cuts of some columns that separate centres, ascending, and the sums on their left.

    A cut lies in a gap between two neighbouring values, of rows or of centres.

    IN: X (n, d); entries (d, n): see `loops.order`; first: of the t columns; start, stop: the places of the node;
    weights (n,) or (0,); ends (t, k), ascending; at_rows (t, n), at_centers (t, k): see `add_changes`; cost:
    of the rows without a cut. OUT: cuts: `_Cuts` of t columns, with room for all rows and centres.
    """
    costs, weight_left, places, centers_left, sizes = cuts
    k = ends.shape[1]
    for t in range(len(ends)):
        values, column, changes = ends[t], entries[first + t], at_rows[t]
        sum_now, weight, gaps, r, c = cost, np.int64(0), 0, start, 0
        while c < k:
            until = _first_from(X, first + t, column, r, stop, values[c])
            while r < until:  # the rows before the next centre; those before all centres change nothing
                row = column[r] >> 1
                sum_now += changes[row]
                weight += weights[row] if len(weights) else np.int64(1)
                r += 1
                if c > 0 and (r == stop or column[r] & 1 == 0):
                    costs[t, gaps], weight_left[t, gaps] = sum_now, weight
                    places[t, gaps], centers_left[t, gaps] = r, c
                    gaps += 1
            value = values[c]
            if r < stop and np.float64(X[column[r] >> 1, first + t]) == value:
                tied = True
                while tied:
                    row = column[r] >> 1
                    sum_now += changes[row]
                    weight += weights[row] if len(weights) else np.int64(1)
                    r += 1
                    tied = r < stop and column[r] & 1 == 1
            while c < k and values[c] == value:
                sum_now += at_centers[t, c]
                c += 1
            if c < k:
                costs[t, gaps], weight_left[t, gaps] = sum_now, weight
                places[t, gaps], centers_left[t, gaps] = r, c
                gaps += 1
        sizes[t] = gaps


@jit
def _first_from(X, j, column, start, stop, value):
    """Return the first place from `start` on with a value of at least `value`, or `stop` if there is none."""
    while start < stop:
        middle = (start + stop) // 2
        if np.float64(X[column[middle] >> 1, j]) < value:
            start = middle + 1
        else:
            stop = middle
    return start


@stands_in_for(costs_of_cuts)
def _costs_of_cuts(X, entries, first, start, stop, weights, ends, at_rows, at_centers, cost, cuts):
    costs, weight_left, places, centers_left, sizes = cuts
    for t in range(len(ends)):
        rows = entries[first + t, start:stop] >> 1
        x = X[rows, first + t].astype(np.float64)
        values = np.unique(np.concatenate([x, ends[t]]))
        r, c = x.searchsorted(values, side="right"), ends[t].searchsorted(values, side="right")
        is_cut = (c > 0) & (c < ends.shape[1])
        r, c, size = r[is_cut], c[is_cut], np.count_nonzero(is_cut)
        costs[t, :size] = cost + _sums_before(at_rows[t, rows])[r] + _sums_before(at_centers[t])[c]
        weight_left[t, :size] = _sums_before(weights[rows])[r] if len(weights) else r
        places[t, :size], centers_left[t, :size], sizes[t] = start + r, c, size


def _sums_before(numbers):
    """Return the sums of the whole numbers before each of them, and of all."""
    return np.concatenate([[0], numbers.cumsum(dtype=np.int64)])


@jit
def best_scores(cuts, first, k, total, tested, base, penalties, scores, best):
    """Update, for each penalty, the best cut so far by the cuts of some more columns.

    Among equal scores the lowest cost wins, then the cut that came first. Takes time k at most for the depth of each
    cut whose cost alone does not rule it out.

    IN: cuts: of t columns, see `costs_of_cuts`; first: of these columns; k: number of centres; total:
    weight of the rows; tested (d, 2): whether a test of the left, and of the right side of a column merges with an
    earlier one; base: cost of the rows at their nearest centres, at least 1; penalties (p,). IN and OUT: scores (p,):
    infinite before the first cut; best (p, 4): cost, column, place behind the last row on the left, and centres there;
    the column is -1 before the first cut.
    """
    costs, weight_left, places, centers_left, sizes = cuts
    numbers, parts, depths = np.empty(k, dtype=np.int64), np.zeros((k + 1, 2), dtype=np.int64), np.zeros(k + 1)
    for t in range(len(sizes)):
        n_numbers, n_left_of_parts = 0, 0  # `numbers` and `parts` are filled for this number of centres on the left
        merges_left, merges_right = tested[first + t, 0], tested[first + t, 1]
        for i in range(sizes[t]):
            share = weight_left[t, i] / total if total > 0 else 0.5
            n_left = centers_left[t, i]
            merged = (share if merges_left else 0.0) + (1.0 - share if merges_right else 0.0)
            relative = costs[t, i] / base
            left, right = 1.0 if n_left > 1 else 0.0, 1.0 if n_left < k - 1 else 0.0  # two centres need a test
            least = 1.0 + share * left + (1.0 - share) * right - merged
            depth = -1.0
            for p in range(len(penalties)):
                if relative + penalties[p] * least > scores[p]:
                    continue
                if depth < 0.0:
                    if n_left != n_left_of_parts:
                        n_left_of_parts = n_left
                        n_numbers = _split_in_proportion(n_left_of_parts, k, numbers, parts)
                    depth = _depth(share, numbers[:n_numbers], parts, depths)
                score = relative + penalties[p] * (depth - merged)
                first_of_all = best[p, 1] < 0  # a score may be infinite
                if first_of_all or score < scores[p] or (score == scores[p] and costs[t, i] < best[p, 0]):
                    scores[p] = score
                    best[p, 0], best[p, 1], best[p, 2], best[p, 3] = costs[t, i], first + t, places[t, i], n_left


@stands_in_for(best_scores, lambda cuts, first, k, *others: cuts[0].size * k)  # a depth for each number of centres
def _best_scores(cuts, first, k, total, tested, base, penalties, scores, best):
    def scores_at(at, penalty):
        depths = np.empty(len(at))
        for number in np.unique(n_left[at]):
            here = n_left[at] == number
            n_numbers = _split_in_proportion(number, k, numbers, parts)
            of_numbers = np.zeros((k + 1, np.count_nonzero(here)))
            depths[here] = _depth(share[at][here], numbers[:n_numbers], parts, of_numbers)
        return relative[at] + penalty * (depths - merged[at])

    numbers, parts = np.empty(k, dtype=np.int64), np.zeros((k + 1, 2), dtype=np.int64)
    for t in range(len(cuts[4])):
        cost, weight, places, n_left = (array[t, : cuts[4][t]] for array in cuts[:4])
        share, relative = weight / total if total > 0 else np.full(len(cost), 0.5), cost / base
        merges_left, merges_right = tested[first + t]
        merged = (share if merges_left else 0.0 * share) + (1.0 - share if merges_right else 0.0)
        least = 1.0 + share * (n_left > 1) + (1.0 - share) * (n_left < k - 1) - merged
        for p in range(len(penalties) if len(cost) else 0):
            bounds = relative + penalties[p] * least  # no score is below its bound
            limit = min(scores[p], scores_at(bounds.argmin(keepdims=True), penalties[p])[0])
            at = np.flatnonzero(bounds <= limit)
            if len(at):
                found = scores_at(at, penalties[p])
                i = np.lexsort((cost[at], found))[0]
                if best[p, 1] < 0 or (found[i], cost[at[i]]) < (scores[p], best[p, 0]):
                    scores[p], best[p] = found[i], (cost[at[i]], first + t, places[at[i]], n_left[at[i]])


@jit
def _split_in_proportion(k_left, k, sizes, parts):
    """Write the sizes of all subtrees in centres, from k down to 2, and how each size divides; return their number.

    IN: k_left: how many of the k centres go left. OUT: sizes (k,); parts (k + 1, 2): centres on the left and on the
    right, by size; zeros for other numbers.
    """
    parts[:] = 0
    parts[k, 0] = 1  # marks a number that is reached
    n_sizes = 0
    for m in range(k, 1, -1):
        if parts[m, 0] == 0:
            continue
        first = min(max((m * k_left + k - 1) // k, 1), m - 1)
        parts[m, 0], parts[m, 1] = first, m - first
        parts[first, 0], parts[m - first, 0] = max(parts[first, 0], 1), max(parts[m - first, 0], 1)
        sizes[n_sizes] = m
        n_sizes += 1
    return n_sizes


@jit
def _depth(share, sizes, parts, depths):
    """Return the estimated depth for `sizes[0]` centres. IN: depths[1]: 0. OUT: depths (k + 1,)."""
    for i in range(len(sizes) - 1, -1, -1):
        m = sizes[i]
        depths[m] = 1.0 + share * depths[parts[m, 0]] + (1.0 - share) * depths[parts[m, 1]]
    return depths[sizes[0]]
