"""Random arguments of each loop that has a stand-in."""

import numpy as np

from boxwood.batches.sums import Grid, Ranges, RowSums
from boxwood.grow.centers.greedy import _ColumnCuts
from boxwood.loops import costs, expand, greedy, imm, impurity, jit, optimal, order, refine, sums, walk
from boxwood.loops import greedy as greedy_costs
from boxwood.loops import imm as imm_events
from boxwood.loops import order as sort
from boxwood.loops import walk as gaps
from tests import scale
from tests.loops.tables import CODE, labels_with_gaps, random_tree


def compiled(function):
    """Return a loop that is not interpreted, however small its arrays are."""
    loop = jit.jit(function)
    loop._compile_for_args.__self__.spent = np.inf
    return loop


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
    jit.interpreted(imm.bin_block)(X, labels, weights, 0, binning, next_free, order, codes, counts)
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
    jit.interpreted(greedy.keep_nearest)(X, rows, centers, clusters, inside, unit, least, near, distances)
    first = int(table.rng.integers(table.d))
    t = int(table.rng.integers(1, table.d - first + 1))
    by_value = np.argsort(centers[first : first + t], axis=1, kind="stable")
    ends, position = np.take_along_axis(centers[first : first + t], by_value, axis=1), np.zeros((t, 6), dtype=np.int64)
    np.put_along_axis(position, clusters[by_value], np.arange(len(clusters))[None], axis=1)
    scale, times = 2.0**40 / max(distances[rows].max(), 1e-300), table.rng.integers(1, 9, size=table.n)
    of_rows = near, distances, table.rng.random(table.n), times, min(scale, 1e300)
    changes = np.zeros((t, table.n), dtype=np.int64), np.zeros(ends.shape, dtype=np.int64)
    return X, rows, first, *of_rows, centers, unit, ends, by_value, position, *changes


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


ARGUMENTS = {
    gaps.widen_gaps: of_widen_gaps,
    greedy.keep_nearest: of_keep_nearest,
    greedy.add_changes: of_add_changes,
    imm.bin_block: of_bin_block,
    imm.cut_off: of_cut_off,
    imm_events.events_in_bins: of_events_in_bins,
    imm_events.smallest_above: of_smallest_above,
    walk.descend: of_descend,
    refine.place_rows: of_place_rows,
    optimal.leaf_cost: of_leaf_cost,
    optimal.sweep_means: of_sweep_means,
    optimal.keep_inside: of_keep_inside,
    greedy_costs.costs_of_cuts: of_costs_of_cuts,
    impurity.best_by_gini: of_gini,
    impurity.best_by_entropy: of_entropy,
    impurity.best_by_centers: of_centers,
    impurity.best_by_rows: of_best_by_rows,
    expand.squared_distance: of_squared_distance,
    refine.write_costs: of_write_costs,
    costs.add_costs: of_add_costs,
    order.partition: of_part,
    order.mark_ties: of_mark_ties,
    sort.sort_rows: of_sort_rows,
    sums.widen: of_widen,
    sums.add_parts: of_add_parts,
}
USED_UP = {sort.sort_rows: slice(1, 4)}  # arguments that hold nothing of use afterwards
