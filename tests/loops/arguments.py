"""Random arguments of each loop that has a stand-in."""

import numpy as np

from boxwood.batches.sums import Grid, Ranges, RowSums
from boxwood.grow.centers.greedy import _ColumnCuts
from boxwood.loops import agreement, bins, costs, expand, greedy, imm, impurity, jit, optimal, order, refine, sums, walk
from boxwood.loops import greedy as greedy_costs
from boxwood.loops import imm as imm_events
from boxwood.loops import order as sort
from boxwood.loops import walk as gaps
from tests import scale
from tests.loops.tables import CODE, labels_with_gaps, random_tree


def compiled(function):
    """Return a loop that is not interpreted, however small its arrays are."""
    loop = jit.jit(function)
    loop.load()
    loop.spent = np.inf
    return loop.machine.loop


def bits(value):
    """Return a value as something that equals another one only if all bits and types are the same."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    return (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else (type(value), repr(value))


def of_leaf_cost(table):
    rows, moments, factor = table.rows.astype(CODE), table.moments(), table.rng.choice([1.0, 0.3, 1e-12])
    if table.rng.random() < 0.5:
        return rows, table.whole(1 << 50, (table.n, table.k)), np.empty((table.n, 0)), factor
    return rows, np.empty((table.n, 0), dtype=np.int64), moments, factor


def of_sweep_means(table):
    ordered, codes = table.ordered()
    shape = (table.d, len(table.rows) if table.rng.random() < 0.5 else 0)
    costs = np.zeros((2, *shape), dtype=np.int64)
    first, last = np.sort(table.rng.integers(0, table.d, size=2)).tolist()
    factor = table.rng.choice([1.0, 0.3, 1e-12])
    return ordered, codes, table.moments(), factor, first, last + 1, *costs, np.zeros(shape, dtype=CODE)


def of_keep_inside(table):
    ordered, _ = table.ordered()
    inside = table.rng.random(table.n) < 0.5
    return ordered, inside, np.zeros((table.d, np.count_nonzero(inside[ordered[0]])), dtype=CODE)


def of_costs_of_cuts(table):
    entries, start, stop = table.entries()
    first = int(table.rng.integers(table.d))
    t = int(table.rng.integers(1, table.d - first + 1))
    among = table.X[table.rng.integers(table.n, size=table.k)] + table.rng.choice([0.0, 0.1, 1.0])
    ends = np.sort(among.T[first : first + t].astype(np.float64, order="C"), axis=1)
    at_rows, at_centers = table.whole(1 << 40, (t, table.n)), table.whole(1 << 40, (t, table.k))
    columns = np.zeros((4, t, table.n + table.k), dtype=np.int64)
    cuts = _ColumnCuts(*columns, np.zeros(t, dtype=np.int64))
    return table.X, entries, first, start, stop, table.whole_weights, ends, at_rows, at_centers, 1 << 50, cuts


def of_best_by_rows(table):
    entries, start, stop = table.entries()
    first, last = np.sort(table.rng.integers(0, table.d, size=2)).tolist()
    values, rows = table.whole(int(table.rng.choice([1, 1 << 25])), (table.n, table.d)).astype(np.int32), table.rows
    of_rows = table.whole_weights[rows] if len(table.whole_weights) else np.ones(len(rows), dtype=np.int64)
    added, weight = (values[rows] * of_rows[:, None]).sum(axis=0), int(of_rows.sum())
    mean = added // weight
    node = first, last + 1, start, stop
    return entries, *node, values, table.whole_weights, mean, added - weight * mean, weight


def of_gini(table):
    entries, start, stop = table.entries()
    first, last = np.sort(table.rng.integers(0, table.d, size=2)).tolist()
    weights = table.whole_weights if table.rng.random() < 0.5 else table.whole_weights << 20
    of_rows = weights[table.rows] if len(weights) else np.ones(len(table.rows), dtype=np.int64)
    total = np.zeros(table.k, dtype=np.int64)
    np.add.at(total, table.labels[table.rows], of_rows)
    labels = np.full(table.n, table.rng.choice([9, 99]), dtype=np.uint8)  # of the rows of other nodes
    labels[table.rows] = table.labels[table.rows]
    return entries, first, last + 1, start, stop, labels, weights, total


def of_entropy(table):
    args = of_gini(table)
    numbers = impurity.whole_x_log_x.py_func(0, int(table.rng.choice([2, 2000])), 0.5 ** table.rng.integers(9))
    return *args, numbers, 2.0 ** table.rng.integers(20)


def of_centers(table):
    *args, total = of_gini(table)
    clusters = np.flatnonzero(total)
    number = np.zeros(table.k, dtype=np.int32)
    number[clusters] = np.arange(len(clusters))
    squares = np.triu(np.abs(table.whole(int(table.rng.choice([2, (1 << 31) - 1])), (len(clusters),) * 2)), 1)
    return *args, total[clusters], number, squares + squares.T


def of_bin_block(table):
    """Rows of clusters, of which some are left out, in 8 bins of each column; bins are wider than a column or not."""
    labels = labels_with_gaps(table)
    weights = table.whole_weights * table.rng.integers(0, 2, size=len(table.whole_weights))
    x = table.X.astype(np.float64)
    low = x.min(axis=0)
    high = np.where(table.rng.random(table.d) < 0.5, x.max(axis=0), np.median(x, axis=0))
    scale = np.minimum(6.0 / np.maximum(high - low, 1e-300), 1e300)
    counted = (labels >= 0) & (weights > 0 if len(weights) else True)
    next_free = np.cumsum(np.bincount(labels[counted] + 1, minlength=table.k + 1))[:-1] + 3
    order, codes = np.full(table.n + 3, -1, dtype=CODE), np.zeros((table.d, table.n + 3), dtype=np.uint8)
    counts = table.whole(5, (table.d, table.k, 8))
    return table.X, labels, weights, 10, imm.Binning(low, high, scale), next_free, order, codes, counts


def sorted_rows(table):
    """Rows that are sorted by cluster and binned, some of which are no longer alive; their counts and positions."""
    X, labels, weights, _, binning, next_free, order, codes, counts = of_bin_block(table)
    next_free -= 3
    first = np.append(next_free, table.n)
    counts[:] = 0
    jit.interpret(imm.bin_block)(X, labels, weights, 0, binning, next_free, order, codes, counts)
    first[-1] = m = int(next_free[-1])
    alive = table.rng.random(m) < 0.8
    weights = weights[order[:m]] if len(weights) else weights
    rows = imm.SortedRows(order[:m].copy(), codes[:, :m].copy(), alive, weights)
    counts[:] = 0
    for position in np.flatnonzero(alive):
        c = np.searchsorted(first, position, side="right") - 1
        counts[np.arange(table.d), c, codes[:, position]] += weights[position] if len(weights) else 1
    return rows, counts, first, binning


def of_cut_off(table):
    rows, counts, first, binning = sorted_rows(table)
    clusters = np.sort(table.rng.permutation(table.k)[: table.rng.integers(1, table.k + 1)])
    j = int(table.rng.integers(table.d))
    threshold = float(table.X[table.rng.integers(table.n), j])
    code = np.uint8(imm.bin_of.py_func(threshold, binning.low[j], binning.high[j], binning.scale[j], 8))
    is_left, found = table.rng.random(len(clusters)) < 0.5, np.full(table.n, -1)
    return table.X, rows, counts, counts[0].sum(axis=1), clusters, is_left, first, j, threshold, code, found


def of_smallest_above(table):
    X, rows, counts, _, clusters, _, first, j, threshold, code, _ = of_cut_off(table)
    return X, j, rows, counts[j], first, clusters, threshold, int(code)


def of_events_in_bins(table):
    """In 8 bins, or in as many behind a thousand empty ones: more than a byte can number."""
    X, rows, counts, _, clusters, _, first, j, *_ = of_cut_off(table)
    empty, kind = (0, np.uint8) if table.rng.random() < 0.5 or scale.SEEDS < scale.ALL_KINDS else (1000, np.int64)
    points = [table.rng.normal(size=size) for size in (len(clusters), table.rng.integers(3))]
    centers, marks = ((x, table.rng.integers(empty, empty + 8, size=len(x), dtype=kind)) for x in points)
    wanted = table.rng.random(empty + 8) < table.rng.choice([0.2, 0.8])
    column = imm_events.NodeColumn(j, clusters, *centers, *marks, wanted)
    rows = rows._replace(codes=rows.codes.astype(kind) + kind(empty))
    return X, column, rows, np.pad(counts[j], ((0, 0), (empty, 0))), first, table.rng.random(empty + 8) < 0.2


def of_descend(table):
    tree = random_tree(table)
    table.X[table.rng.random(table.X.shape) < 0.1] = np.nan
    return table.X, *tree, table.rng.integers(9, size=len(tree[0])), np.full(table.n, 7)


def of_place_rows(table):
    start, stop = np.sort(table.rng.integers(0, table.n + 1, size=2)).tolist()
    kept, room = table.rng.random(table.n) < 0.8, np.full((4, table.n), 7)
    return table.X, kept, *random_tree(table), room[:3], room[3], start, stop


def of_squared_distance(table):
    return table.X, table.rows, table.centers(table.k), table.labels[: len(table.rows)], 0.3, np.ones(len(table.rows))


def of_keep_nearest(table):
    k = 6
    length, inside = int(table.rng.integers(1, k + 1)), table.rng.random(k) < table.rng.choice([0.3, 0.8])
    inside[table.rng.integers(k)] = True
    clusters = np.flatnonzero(inside)
    near = np.argsort(table.rng.random((table.n, k)), axis=1)[:, :length].astype(CODE)
    near[table.rng.random(near.shape) < 0.1] = -1
    least = int(table.rng.integers(1, min(len(clusters), length) + 1))
    centers = table.centers(len(clusters)).T.copy()
    of_lists = least, near, np.sort(table.rng.random(near.shape), axis=1)
    return table.X, table.rows, centers, clusters, inside, 0.3, *of_lists


def of_widen_gaps(table):
    tree = random_tree(table)
    table.X[table.rng.random(table.X.shape) < 0.1] = np.nan
    ends = np.column_stack(tree[1:3])
    return table.X, *tree, ends, np.full(ends.shape, -np.inf), np.full(ends.shape, np.inf)


def of_add_changes(table):
    X, rows, centers, clusters, inside, unit, least, near, distances = of_keep_nearest(table)
    centers = np.round(centers / 0.25) * 0.25 if table.rng.random() < 0.5 else centers
    jit.interpret(greedy.keep_nearest)(X, rows, centers, clusters, inside, unit, least, near, distances)
    first = int(table.rng.integers(table.d))
    t = int(table.rng.integers(1, table.d - first + 1))
    by_value = np.argsort(centers[first : first + t], axis=1, kind="stable")
    ends, position = np.take_along_axis(centers[first : first + t], by_value, axis=1), np.zeros((t, 6), dtype=np.int64)
    np.put_along_axis(position, clusters[by_value], np.arange(len(clusters))[None], axis=1)
    scale, times = 2.0**40 / max(distances[rows].max(), 1e-300), table.rng.integers(1, 9, size=table.n)
    of_rows = near, distances, table.rng.random(table.n), times, min(scale, 1e300)
    changes = np.zeros((t, table.n), dtype=np.int64), np.zeros(ends.shape, dtype=np.int64)
    return X, rows, first, *of_rows, centers, unit, ends, by_value, position, *changes


def of_best_scores(table):
    """Cuts of few different costs, as scores are equal then, scored after others were or as the first ones."""
    k, t, room = max(table.k, 2), table.d, table.n + 1
    sizes, ends = table.rng.integers(0, room + 1, size=t), table.rng.integers(1, k, size=(t, room))
    costs, places = table.rng.integers(1, 6, size=(t, room)), np.sort(table.rng.integers(0, room, size=(t, room)))
    of_cuts = _ColumnCuts(costs, places, places, np.sort(ends), sizes)
    total, penalties = int(table.rng.choice([0, room])), table.rng.choice([0.0, 0.03, 1.0], size=2)
    scores, best = np.full(2, np.inf), np.full((2, 4), -1)
    if table.rng.random() < 0.5:
        scores[:], best[:] = table.rng.integers(1, 4, size=2), 3
    tested = table.rng.random((t + 1, 2)) < 0.5
    return of_cuts, 1, k, total, tested, float(table.rng.choice([1.0, 3.0])), penalties, scores, best


def of_summed_costs(table):
    _, rows, _, _, distances, share, times, scale, *_ = of_add_changes(table)
    return rows, distances, share, times, scale


def of_fill_bins(table):
    column, n_bins = int(table.rng.integers(table.d)), int(table.rng.choice([2, 64]))
    ordered = table.rows[np.argsort(table.X[table.rows, column], kind="stable")]
    ordered = ordered[: table.rng.choice([0, len(ordered)])]
    codes = np.zeros(table.X.shape, dtype=np.uint8)
    return table.X, column, ordered, n_bins, codes, np.full(n_bins + 1, -1)


def of_write_costs(table):
    leaf, cluster = table.rng.integers(5, size=table.n), table.rng.integers(table.k, size=5)
    centers = table.centers(table.k if table.rng.random() < 0.5 else 0)
    labels, share = table.rng.integers(table.k, size=table.n), table.rng.random(table.n)
    return table.X, table.rows, leaf, cluster, labels, centers, 0.3, share, np.full(table.n, 7.0)


def of_add_costs(table):
    weights = table.rng.random(table.n if table.rng.random() < 0.5 else 0)
    of_centers = table.centers(table.k), table.rng.normal(size=(table.k, table.d))
    objective = int(table.rng.choice([costs.L1, costs.L2, costs.SQEUCLIDEAN]))
    return table.X, labels_with_gaps(table), weights, *of_centers, objective, table.rng.random(table.k)


def of_mark_ties(table):
    x = table.X[:, 0].astype(np.float64)
    return x, np.argsort(x).astype(CODE), np.zeros(table.n, dtype=CODE)


def of_sort_rows(table):
    x = table.X[:, 0].astype(np.float64)
    keys = np.unique(x, return_inverse=True)[1] * 2 + (x == 0) * ~np.signbit(x)
    spare = np.zeros((3, table.n), dtype=CODE)
    return x, keys.astype(CODE), *spare


def of_part(table):
    entries, start, stop = table.entries()
    first, last = np.sort(table.rng.integers(0, table.d, size=2)).tolist()
    return entries, first, last + 1, start, stop, table.rng.random(table.n) < table.rng.choice([0.0, 0.3, 1.0])


def of_widen(table):
    labels, shape = labels_with_gaps(table), (table.k, table.d)
    table.X[table.rng.random(table.X.shape) < 0.1] = np.nan
    return table.X, labels, np.full(shape, np.inf), np.full(shape, -np.inf)


def of_row_sums(table):
    """What a summary of weighted rows hands to the loops, and where it adds them up."""
    labels = labels_with_gaps(table)
    weights = np.ldexp(table.rng.random(table.n), table.rng.integers(-40, 9)) if table.rng.random() < 0.5 else None
    if weights is not None:
        weights[table.rng.random(table.n) < 0.2] = 0.0
    ranges = Ranges.of(table.X, labels, table.k, weights, 1)._replace(
        grid=Grid.of((labels >= 0) & (True if weights is None else weights > 0), weights)
    )
    return labels, np.empty(0) if weights is None else weights, RowSums(ranges)


def of_add_parts(table):
    labels, weights, found = of_row_sums(table)
    return table.X, labels, weights, found.scales, found.scale, found.units, found.sums, found.totals


def box_of(table):
    """A box of rows with weights, of which some are 0, as the search for the fewest mistakes holds it."""
    ordered, codes = table.ordered()
    return ordered, codes, table.labels.astype(np.int64), table.rng.integers(0, 4, size=table.n)


def of_column(table):
    """A column of a box, and rows up to each of its places."""
    rows, codes, labels, weights = jit.interpret(agreement._box)(*box_of(table))
    ends, j = np.zeros(len(rows[0]), dtype=np.int64), int(table.rng.integers(table.d))
    n_places = jit.interpret(agreement._find_places)(codes[j], ends)
    return rows[j], codes[j], labels[j], weights[j], ends, n_places


def of_find_places(table):
    code = of_column(table)[1]
    return code, np.zeros(len(code), dtype=np.int64)


def of_weigh(table):
    _, _, _, weight, ends, n_places = of_column(table)
    return weight, ends, n_places, np.zeros_like(ends)


def of_bound_sides(table):
    _, _, label, weight, ends, n_places = of_column(table)
    leaves = int(table.rng.integers(1, 4))
    return label, weight, table.k, ends, n_places, leaves, np.zeros_like(ends), np.zeros_like(ends)


def of_part_totals(table):
    rows, _, label, weight, *_ = of_column(table)
    end, total, whole = int(table.rng.integers(len(rows) + 1)), np.zeros(table.k, dtype=np.int64), (2, table.k)
    np.add.at(total, label, weight)
    side, sums = np.zeros(len(rows), dtype=np.uint8), np.zeros(whole, dtype=np.int64)
    return rows, label, weight, end, total, side, sums, np.zeros(2, dtype=np.int64)


def of_sweep(table):
    """A column on one side of a cut, with the best single cut of other columns."""
    box = jit.interpret(agreement._box)(*box_of(table))
    n, s, j = box[0].shape[1], int(table.rng.integers(2)), int(table.rng.integers(table.d))
    side, totals = table.rng.integers(2, size=n, dtype=np.uint8), np.zeros(table.k, dtype=np.int64)
    own = side[box[0][j]] == s
    np.add.at(totals, box[2][j][own], box[3][j][own])
    leaf = int(totals.sum() - totals.max())
    fewest = int(table.rng.integers(leaf + 1))
    found = np.array([fewest, table.rng.integers(fewest, leaf + 1), table.rng.integers(-1, table.d), 0])
    spare = np.zeros(n + 1, dtype=np.int64), np.zeros(table.k, dtype=np.int64)
    least = int(table.rng.integers(1, 4))
    return j, s, box, side, totals, int(own.sum()), least, *spare, np.zeros((2, table.d), dtype=np.int64), found


def of_cut_sides(table):
    """A box whose rows are on either side of a cut, and what single cuts of each side make at least."""
    box, side = jit.interpret(agreement._box)(*box_of(table)), table.rng.integers(2, size=table.n, dtype=np.uint8)
    n, side = box[0].shape[1], side[: box[0].shape[1]]
    first, label, weight = side[box[0][0]], box[2][0], box[3][0]
    totals = np.array([np.bincount(label[first == s], weight[first == s], table.k) for s in range(2)]).astype(np.int64)
    spare = np.zeros(n + 1, dtype=np.int64), np.zeros(table.k, dtype=np.int64)
    least, bounds = int(table.rng.integers(1, 4)), np.zeros((2, table.d), dtype=np.int64)
    return box, side, totals, np.bincount(side, minlength=2), least, bounds, *spare, np.zeros((2, 4), dtype=np.int64)


def of_places_before(table):
    _, code, _, _, ends, n_places = of_column(table)
    return code, ends, n_places, int(table.rng.integers(-1, code.max() + 2))


def of_know_nearby(table):
    """A place that was not looked at, and what is known of columns at those that were."""
    p, look_of = int(table.rng.integers(table.n)), table.rng.integers(-1, 3, size=table.n)
    look_of[p] = -1
    weight_to = np.cumsum(table.rng.integers(3, size=table.n))
    return p, table.n, look_of, weight_to, *(table.rng.integers(9, size=(4, 2, table.d))[i] for i in (slice(3), 3))


def of_add_shares(table):
    low, high = table.rng.integers(0, 9, size=(2, 3, table.d, table.n)) * agreement.UNIT
    j, n_places = int(table.rng.integers(table.d)), int(table.rng.integers(table.n + 1))
    shares = np.array([[0, 2], [1, 1], [2, 0]])[: table.rng.integers(1, 4)]
    return low, high, shares, j, n_places, np.zeros(table.n, dtype=np.int64)


def of_part_of_box(table):
    order = box_of(table)[0]
    side = table.rng.integers(2, size=order.max() + 1, dtype=np.uint8)
    d, n_second = len(order), int(side[order[0]].sum())
    sizes = order.shape[1] - n_second, n_second
    return order, side, *(np.zeros((d, size), dtype=order.dtype) for size in sizes)


def of_places(table):
    """Bounds of places, the best cost, and up to which place a tree may be as good."""
    m = int(table.rng.integers(table.n + 1))
    bounds = table.rng.integers(0, 5, size=table.n)
    return bounds, m, int(table.rng.integers(6)), int(table.rng.integers(m + 1))


def of_raise_bounds(table):
    low, high, weight_to = table.rng.integers(0, 9, size=(3, table.n)) * agreement.UNIT
    at, costs = int(table.rng.integers(table.n)), table.rng.integers(0, 9, size=2) * agreement.UNIT
    return low, high, np.cumsum(weight_to) // agreement.UNIT, table.n, at, *costs.tolist()


def of_add_sides(table):
    bounds = table.rng.integers(0, 9, size=(5, table.n))
    return int(table.rng.integers(table.n + 1)), int(table.rng.integers(3, 5)), *bounds


def of_first_least(table):
    low, high = table.rng.integers(0, 9, size=(2, table.n))
    return low, high, int(table.rng.integers(1, table.n + 1))


def of_begin(table):
    box = box_of(table)
    d, n = box[0].shape
    leaves_of = np.arange(1, 1 + int(table.rng.integers(1, 4)))
    places, sides = np.zeros((2, d, n), dtype=np.int64), np.zeros((2, len(leaves_of), d, n), dtype=np.int64)
    of_columns = np.zeros((2, d), dtype=np.int64)
    return *box, table.k, leaves_of, places[0], of_columns[0], places[1], *sides, of_columns[1]


class Level:
    """Rows below a level of a random tree: where they are, what they cost there, and which nodes have other cuts."""

    def __init__(self, table):
        rng, self.tree = table.rng, random_tree(table)
        m = len(self.tree[0])
        at = np.zeros((4, table.n), dtype=np.int64)
        jit.interpret(refine.descend_rows)(table.X, rng.random(table.n) < 0.8, *self.tree, at[:3], at[3], 0, table.n)
        level = int(rng.integers(2))
        self.at, self.below, self.leaf = at[level], at[level + 1], at[3]
        inner = np.append(self.tree[0] >= 0, False)
        self.rows, self.chosen = np.flatnonzero(inner[self.at]), inner & (rng.random(m + 1) < 0.8)
        self.leaves = np.flatnonzero(~inner[:m])
        self.other = rng.choice(self.leaves, size=table.n)
        self.cluster, self.stale = rng.integers(table.k, size=m), rng.integers(3, size=m + 1)
        self.own, self.other_cost, self.share = rng.random((3, table.n))
        self.times, self.scales = rng.integers(1, 9, size=table.n), rng.choice([1.0, 2.0**20], size=m + 1)
        self.difference, self.sums = table.whole(9, table.n), table.whole(9, (m + 1, 4))


def of_compare_sides(table):
    level = Level(table)
    level.other[table.rng.random(table.n) < 0.3] = len(level.cluster)
    level.stale[-1] = refine.ROWS
    of_rows = table.labels, table.centers(table.k if table.rng.random() < 0.5 else 0), 0.3, level.share, level.times
    written = level.other, level.other_cost, level.difference, table.rng.random(len(level.stale)), level.sums
    where = level.rows, level.at, level.below, *level.tree, level.cluster, level.stale, level.leaf, level.own
    return table.X, *where, *of_rows, level.scales, *written


def of_set_differences(table):
    level = Level(table)
    costs = level.own, level.other_cost, level.times, level.scales
    return level.rows, level.at, level.below, *costs, level.difference, level.sums


def of_count_leaves(table):
    level = Level(table)
    cuts = np.maximum(np.append(level.tree[0], 0), 0), table.rng.normal(size=len(level.stale))
    of_rows = level.leaf, level.other, table.labels, level.cluster, np.zeros((len(level.stale), 3), dtype=np.int64)
    return table.X, level.rows, level.at, level.below, level.chosen, *cuts, *of_rows


def of_add_to_bins(table):
    level = Level(table)
    slot = np.where(level.chosen, np.cumsum(level.chosen) - 1, -1)
    columns = np.flatnonzero(table.rng.random(table.d) < 0.7)
    codes = table.rng.integers(8, size=(table.n, table.d), dtype=np.uint8)
    bins = table.whole(9, (max(int(level.chosen.sum()), 1), len(columns), 8, 2))
    return level.rows, level.at, slot, level.difference, codes, columns, bins


def of_bound_bins(table):
    """Sums of some bins, of which many are empty, in two of three columns."""
    bins = table.rng.integers(-4, 5, size=(2, 2, table.n, 2)) * table.rng.integers(2, size=(2, 2, table.n, 1))
    single = table.rng.integers(2, size=(3, table.n)).astype(bool)
    return bins, np.array([2, 0]), single, *(table.rng.integers(-9, 9, size=size) for size in ((2, 2), 2))


def of_squared_distances(table):
    return table.X, table.centers(table.k).T.copy(), 0.3, np.ones((table.n, table.k))


def of_majority(table):
    entries, start, stop = table.entries()
    first, last = np.sort(table.rng.integers(0, table.d, size=2)).tolist()
    of_rows = table.whole_weights[table.rows] if len(table.whole_weights) else np.ones(len(table.rows), dtype=np.int64)
    total = np.zeros(table.k, dtype=np.int64)
    np.add.at(total, table.labels[table.rows], of_rows)
    return entries, first, last + 1, start, stop, table.labels, table.whole_weights, total


def of_bin_cluster(table):
    rows, counts, first, binning = sorted_rows(table)
    cluster = int(table.rng.integers(table.k))
    counts[:, cluster] = 0
    return table.X, rows, cluster, int(first[cluster]), int(first[cluster + 1]), binning, counts


def of_cut_bounds(table):
    _, counts, _, _ = sorted_rows(table)
    clusters = np.sort(table.rng.permutation(table.k)[: table.rng.integers(1, table.k + 1)])
    total = np.maximum(counts[0].sum(axis=1) - table.rng.integers(3, size=table.k), 0)
    bins = table.rng.integers(8, size=(table.d, len(clusters)), dtype=np.uint8)
    return counts, total, clusters, bins, *table.whole(9, (2, table.d, 8))


def of_weight_in(table):
    _, counts, _, _ = sorted_rows(table)
    clusters = np.sort(table.rng.permutation(table.k)[: table.rng.integers(1, table.k + 1)])
    return counts, clusters, table.rng.random((table.d, 8)) < 0.5


def of_write_whole(table):
    costs_of, share = table.rng.random((table.n, table.k)) * 9, table.rng.random(table.n)
    times = table.rng.integers(1, 9, size=table.n)
    return costs_of, share, times, float(table.rng.choice([1.0, 2.0**40])), np.zeros((table.n, table.k), dtype=np.int64)


def of_partition_by_leaf(table):
    table.rows = np.arange(table.n)
    entries, _, _ = table.entries()
    first, last = np.sort(table.rng.integers(0, table.d, size=2)).tolist()
    leaves = table.rng.integers(3, size=table.n)
    sizes = np.bincount(leaves, minlength=3)
    return entries, first, last + 1, leaves, np.cumsum(sizes) - sizes


def of_add_squares(table):
    labels, weights, found = of_row_sums(table)
    means, rests = table.rng.random((table.k, table.d)), table.rng.random((table.k, table.d)) * 1e-17
    return table.X, labels, weights, means, rests, found.scales, found.scale, found.units, found.sums


ARGUMENTS = {
    refine.compare_sides: of_compare_sides,
    refine.set_differences: of_set_differences,
    refine.count_leaves: of_count_leaves,
    refine.add_to_bins: of_add_to_bins,
    refine.bound_bins: of_bound_bins,
    expand.squared_distances: of_squared_distances,
    expand.best_by_majority: of_majority,
    imm.bin_cluster: of_bin_cluster,
    imm.cut_bounds: of_cut_bounds,
    imm.weight_in_bins: of_weight_in,
    costs.write_whole: of_write_whole,
    order.partition_by_leaf: of_partition_by_leaf,
    sums.add_squares: of_add_squares,
    agreement._box: box_of,
    agreement._find_places: of_find_places,
    agreement._weigh: of_weigh,
    agreement._bound_sides: of_bound_sides,
    agreement._part_totals: of_part_totals,
    agreement._sweep: of_sweep,
    agreement.cut_sides: of_cut_sides,
    agreement._places_before: of_places_before,
    agreement._know_nearby: of_know_nearby,
    agreement.add_shares: of_add_shares,
    agreement.part: of_part_of_box,
    agreement._add_sides: of_add_sides,
    agreement._first_least: of_first_least,
    agreement.middle: of_places,
    agreement.raise_bounds: of_raise_bounds,
    agreement.begin: of_begin,
    gaps.widen_gaps: of_widen_gaps,
    greedy.keep_nearest: of_keep_nearest,
    greedy.add_changes: of_add_changes,
    greedy.summed_costs: of_summed_costs,
    bins.fill_bins: of_fill_bins,
    imm.bin_block: of_bin_block,
    imm.remove_cut_off: of_cut_off,
    imm_events.events_in_bins: of_events_in_bins,
    imm_events.smallest_above: of_smallest_above,
    walk.descend: of_descend,
    refine.descend_rows: of_place_rows,
    optimal.leaf_cost: of_leaf_cost,
    optimal.sweep_means: of_sweep_means,
    optimal.keep_inside: of_keep_inside,
    greedy_costs.costs_of_cuts: of_costs_of_cuts,
    greedy_costs.best_scores: of_best_scores,
    impurity.best_by_gini: of_gini,
    impurity.best_by_entropy: of_entropy,
    impurity.best_by_centers: of_centers,
    impurity.best_by_rows: of_best_by_rows,
    expand.squared_distance: of_squared_distance,
    refine.write_costs: of_write_costs,
    costs.add_costs: of_add_costs,
    order.partition_order: of_part,
    order.mark_ties: of_mark_ties,
    sort.sort_rows: of_sort_rows,
    sums.widen: of_widen,
    sums.add_parts: of_add_parts,
}
# arguments that hold nothing of use afterwards
USED_UP = {sort.sort_rows: slice(1, 4), agreement._sweep: slice(7, 9), agreement.cut_sides: slice(6, 8)}
