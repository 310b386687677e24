"""Slow, obvious twins of the fast functions: what each function means, in the fewest words."""

import copy
import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np

# ------------------------------------------------------------------------------------------------------ trees


def leaf_of(d: dict, x: np.ndarray) -> dict:
    """Return the leaf that a row reaches in a nested tree."""
    while "cluster" not in d:
        value = float(x[d["feature"]])
        if "threshold" in d:
            d = d["left"] if value <= d["threshold"] else d["right"]
        else:
            d = d["inside"] if d["interval"][0] <= value <= d["interval"][1] else d["outside"]
    return d


def between(a: float, b: float) -> float:
    """Return the midpoint m of two values, with a <= m < b."""
    middle = a / 2 + b / 2 if np.isinf(a + b) else (a + b) / 2
    return middle if a <= middle < b else a


# -------------------------------------------------------------------------------------------------------- IMM


def imm(X, labels, centers, weights=None, candidates="all") -> dict:
    """Return IMM's tree as nested dicts: every cut of every column tried, mistakes counted row by row."""
    X, centers = np.asarray(X, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    weights = [Fraction(1)] * len(X) if weights is None else [Fraction(float(w)) for w in weights]
    rows = [r for r in range(len(X)) if labels[r] >= 0 and weights[r] > 0]
    return _imm_node(X, labels, centers, weights, candidates, rows, list(range(len(centers))))


def _imm_node(X, labels, centers, weights, candidates, rows, clusters) -> dict:
    if len(clusters) == 1:
        return {"cluster": clusters[0]}
    own = [r for r in rows if labels[r] in clusters]
    best = None
    for j in range(X.shape[1]):
        at_centers = sorted({float(centers[c, j]) for c in clusters})
        if candidates == "midpoints":
            thresholds = [between(a, b) for a, b in pairwise(at_centers)]
        else:
            values = sorted({float(X[r, j]) for r in rows} | set(at_centers))
            pairs = pairwise(values)
            thresholds = [between(a, b) for a, b in pairs if at_centers[0] <= a < at_centers[-1]]
        for threshold in thresholds:
            cut_off = [r for r in own if (X[r, j] <= threshold) != (centers[labels[r], j] <= threshold)]
            mistakes = sum(weights[r] for r in cut_off)
            if best is None or mistakes < best[0]:
                best = mistakes, j, threshold
    _, j, threshold = best
    left = [r for r in rows if X[r, j] <= threshold], [c for c in clusters if centers[c, j] <= threshold]
    right = [r for r in rows if X[r, j] > threshold], [c for c in clusters if centers[c, j] > threshold]
    shared = X, labels, centers, weights, candidates
    return {
        "feature": j,
        "threshold": threshold,
        "left": _imm_node(*shared, *left),
        "right": _imm_node(*shared, *right),
    }


# -------------------------------------------------------------------------------------------------- expansion


def expand(
    tree, X, labels, centers, max_leaf_nodes, objective="cost", cuts="threshold", weights=None, distances=None
) -> dict:
    """Return the expanded tree as nested dicts: every cut of every leaf tried, costs added as Python's whole numbers.

    `tree` is nested dicts or None. Leaves are numbered as they are made, the leaves of `tree` in pre-order. Distances
    (n, k) of rows to centres, such as those in a kernel's space, take the place of squared Euclidean ones.
    """
    X = np.asarray(X, dtype=np.float64)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows = [r for r in range(len(X)) if labels[r] >= 0 and weights[r] > 0]
    costs = _row_costs(X, labels, np.asarray(centers), objective, rows, weights, distances)
    root = copy.deepcopy(tree) if tree is not None else {"cluster": _cheapest(_whole(costs, rows)[0], rows)}
    open_leaves = [(number, leaf, here) for number, leaf, here in _numbered_leaves(root, X, rows)]
    n_nodes = 2 * len(open_leaves) - 1
    n_leaves = len(open_leaves)
    while n_leaves < max_leaf_nodes:
        gains = [(_best_split(X, costs, here, cuts), number, leaf, here) for number, leaf, here in open_leaves]
        gains = [entry for entry in gains if entry[0] is not None]
        if not gains:
            break
        (_, split), number, leaf, here = min(gains, key=lambda entry: (-entry[0][0], entry[1]))
        _, is_interval, feature, lower, upper, first, second = split
        del leaf["cluster"]
        leaf["feature"] = feature
        a, b = {"cluster": first}, {"cluster": second}
        if is_interval:
            leaf.update(interval=[lower, upper], inside=a, outside=b)
        else:
            leaf.update(threshold=upper, left=a, right=b)
        inside = [r for r in here if lower <= X[r, feature] <= upper]
        open_leaves = [entry for entry in open_leaves if entry[0] != number]
        open_leaves += [(n_nodes, a, inside), (n_nodes + 1, b, [r for r in here if r not in inside])]
        n_nodes, n_leaves = n_nodes + 2, n_leaves + 1
    return root


def _row_costs(X, labels, centers, objective, rows, weights, distances=None) -> dict:
    """Return for each row its costs as floats, its weight as a float, and how often it is repeated."""
    whole = all(weights[r] == int(weights[r]) for r in rows) and sum(weights[r] for r in rows) < 2**31
    result = {}
    for r in rows:
        if objective == "mistakes":
            costs = [float(labels[r] != c) for c in range(len(centers))]
        elif distances is not None:
            costs = list(map(float, distances[r]))
        else:
            costs = [sum(float(x - z) ** 2 for x, z in zip(X[r], center, strict=True)) for center in centers]
        result[r] = (costs, 1.0, int(weights[r])) if whole else (costs, float(weights[r]), 1)
    return result


def _whole(costs, rows) -> tuple[dict, float]:
    """Return the weighted costs of a node's rows as whole numbers; their largest costs add up to just below 2**61."""
    total = math.fsum(max(costs[r][0]) * costs[r][1] * costs[r][2] for r in rows)
    scale = 2.0 ** (61 - math.frexp(total)[1])
    return {r: [round(c * costs[r][1] * scale) * costs[r][2] for c in costs[r][0]] for r in rows}, scale


def _sums(whole, rows) -> list:
    k = len(next(iter(whole.values())))
    return [sum(whole[r][c] for r in rows) for c in range(k)]


def _cheapest(whole, rows) -> int:
    sums = _sums(whole, rows)
    return sums.index(min(sums))


def _best_split(X, costs, rows, cuts) -> tuple | None:
    """Return gain and cut (cost, is interval, column, lower, upper, first and second cluster), or None."""
    if not rows:
        return None
    whole, scale = _whole(costs, rows)
    tried = []
    for j in range(X.shape[1]):
        values = sorted({float(X[r, j]) for r in rows})
        ends = [(-np.inf, between(a, b)) for a, b in pairwise(values)]
        if cuts == "interval":  # from the second value to the last but one
            for s in range(1, len(values) - 1):
                lower = -between(-values[s], -values[s - 1])
                ends += [(lower, between(values[e], values[e + 1])) for e in range(s, len(values) - 1)]
        for lower, upper in ends:
            inside = [r for r in rows if lower <= X[r, j] <= upper]
            outside = [r for r in rows if not lower <= X[r, j] <= upper]
            a, b = _cheapest(whole, inside), _cheapest(whole, outside)
            cost = _sums(whole, inside)[a] + _sums(whole, outside)[b]
            tried.append((cost, lower > -np.inf, j, lower, upper, a, b))
    alone = min(_sums(whole, rows))
    if not tried or min(tried)[0] >= alone:
        return None
    return (alone - min(tried)[0]) / scale, min(tried)


def _numbered_leaves(root, X, rows) -> list:
    leaves, stack, n_nodes = [], [(0, root, rows)], 1
    while stack:
        number, d, here = stack.pop()
        if "cluster" in d:
            leaves.append((number, d, here))
            continue
        first, second = ("left", "right") if "threshold" in d else ("inside", "outside")
        lower, upper = (-np.inf, d["threshold"]) if "threshold" in d else d["interval"]
        inside = [r for r in here if lower <= X[r, d["feature"]] <= upper]
        stack.append((n_nodes + 1, d[second], [r for r in here if r not in inside]))
        stack.append((n_nodes, d[first], inside))
        n_nodes += 2
    return leaves


# ----------------------------------------------------------------------------------------------- explanations


def holds(rule, row: dict) -> bool:
    """Return whether a row, given by column name, fulfils every condition of a rule."""
    return all(any(float(row[one.column]) in piece for piece in one.intervals) for one in rule)


def measured(ex, columns, X, labels, weights=None) -> list[tuple]:
    """Return size, share, caught and precision of each cluster, by trying every rule on every row."""
    w = [1] * len(X) if weights is None else list(weights)
    rows = [dict(zip(columns, row, strict=True)) for row in X]
    kept = [r for r in range(len(X)) if labels[r] != -1]
    found = []
    for cluster in ex.clusters:
        own = [r for r in kept if labels[r] == cluster.name]
        held = [r for r in kept if any(holds(rule, rows[r]) for rule in cluster.rules)]
        both = sum(w[r] for r in own if r in held)
        size, held_size = sum(w[r] for r in own), sum(w[r] for r in held)
        found.append((size, size / sum(w[r] for r in kept), both / size, both / held_size if held_size else None))
    return found


# ---------------------------------------------------------------------------------------------------- metrics


def parts(labels, weights=None) -> dict:
    """Return the rows of each cluster with the weight of each, as a fraction; others are missing."""
    rows_of: dict = {}
    for row, label in enumerate(labels):
        weight = Fraction(1 if weights is None else float(weights[row]))
        if label != -1 and weight > 0:
            rows_of.setdefault(label, []).append((row, weight))
    return rows_of


def center_by_column(values: list, weights: list, objective: str) -> Fraction:
    """Return the exact mean, or the smallest value that is a median by trying all of them."""
    if objective == "sqeuclidean":
        return sum(w * x for x, w in zip(values, weights, strict=True)) / sum(weights)
    return min(sorted(values), key=lambda c: sum(w * abs(x - c) for x, w in zip(values, weights, strict=True)))


def cost(X, labels, objective: str, centers=None, weights=None) -> Fraction:
    """Return the exact cost for "l1" and "sqeuclidean", with the best centres or the given ones."""
    total = Fraction(0)
    for label, rows in parts(labels, weights).items():
        for j in range(X.shape[1]):
            values, w = [Fraction(float(X[row, j])) for row, _ in rows], [weight for _, weight in rows]
            given = centers is not None
            center = Fraction(float(centers[label, j])) if given else center_by_column(values, w, objective)
            power = 1 if objective == "l1" else 2
            total += sum(weight * abs(x - center) ** power for x, weight in zip(values, w, strict=True))
    return total


def euclidean_cost(X, labels, centers, weights=None) -> float:
    """Return the weighted sum of Euclidean distances to given centres."""
    return math.fsum(
        float(weight) * math.dist(X[row].astype(float), centers[label])
        for label, rows in parts(labels, weights).items()
        for row, weight in rows
    )


def euclidean_cost_bounds(Z: np.ndarray, w: np.ndarray, point: np.ndarray) -> tuple[float, float]:
    """Return a number that no centre's cost is below, and the cost of `point`, for the sum of Euclidean distances.

    The cost is convex: at a centre z it is at least cost(point) + slope . (z - point), for any subgradient, and the
    best centre is no farther than 2 cost / weight. Rows nearer than 1e-10 of a mean distance count as at the point.
    """
    r = np.sqrt(((Z - point) ** 2).sum(axis=1))
    value, far = (w * r).sum(), r > 1e-10 * (w * r).sum() / w.sum()
    pull = ((w[far] / r[far])[:, None] * (Z[far] - point)).sum(axis=0)
    slope = max(np.sqrt((pull**2).sum()) - w[~far].sum(), 0.0)
    return float(value * (1 - 2 * slope / w.sum())), float(value)


def leaf_clusters_below(d: dict) -> set:
    """Return the clusters of the leaves of a nested tree."""
    if "cluster" in d:
        return {d["cluster"]}
    children = ("left", "right") if "threshold" in d else ("inside", "outside")
    return set.union(*(leaf_clusters_below(d[child]) for child in children))


def node_table(d: dict, X, labels, rows=None) -> list:
    """Return (rows, own, mistakes) of each node of a nested tree, in pre-order, as lists of row numbers."""
    rows = [row for row in range(len(X)) if labels[row] >= 0] if rows is None else rows
    own = [row for row in rows if labels[row] in leaf_clusters_below(d)]
    if "cluster" in d:
        return [(rows, own, [])]
    first, second = ("left", "right") if "threshold" in d else ("inside", "outside")
    sides: dict = {first: [], second: []}
    for row in rows:
        value = float(X[row, d["feature"]])
        low, high = (-np.inf, d["threshold"]) if "threshold" in d else d["interval"]
        sides[first if low <= value <= high else second].append(row)
    below = [(side, leaf_clusters_below(d[side])) for side in sides]
    lost = [row for row in own if not any(row in sides[side] and labels[row] in found for side, found in below)]
    return [(rows, own, lost), *(entry for side in sides for entry in node_table(d[side], X, labels, sides[side]))]


def conditions(path) -> int:
    """Return the number of different one-sided conditions left of a path of threshold cuts."""
    ends = {(cut.feature, cut.inside) for cut in path}
    return len(ends)


def matched(labels, predicted, weights) -> float:
    """Return the largest weight that a one-to-one matching of labels agrees on, by trying all, as a share."""
    a, b = sorted(set(labels)), sorted(set(predicted))
    b += [f"nothing {i}" for i in range(len(a))]
    best = max(
        math.fsum(w for x, y, w in zip(labels, predicted, weights, strict=True) if image[a.index(x)] == y)
        for image in itertools.permutations(b, len(a))
    )
    return best / math.fsum(weights)


# -------------------------------------------------------------------------------------------------- k-medians


def distance(x, center, objective) -> float:
    """Return the l1 or the Euclidean distance, summed column by column."""
    gaps = [float(a) - float(b) for a, b in zip(x, center, strict=True)]
    return float(sum(abs(gap) for gap in gaps)) if objective == "l1" else math.sqrt(sum(gap * gap for gap in gaps))


def nearest(X, centers, objective) -> tuple[list[int], list[float]]:
    """Return the nearest centre of each row, the first of equally near ones, and its distance."""
    found = [[distance(x, center, objective) for center in centers] for x in X]
    return [row.index(min(row)) for row in found], [min(row) for row in found]


def alternate(X, centers, objective, best_centers, weights=None, max_iter=300) -> tuple[list, list, float, int]:
    """Return centres, labels, cost and steps; `best_centers(labels)` gives the best centre of each cluster."""
    weights = np.ones(len(X)) if weights is None else weights
    now = _assigned(X, [list(center) for center in centers], objective, weights)
    for step in range(1, max_iter + 1):
        after = _assigned(X, best_centers(now[1]), objective, weights)
        gain, settled = now[2] - after[2], after[1] == now[1]
        now = now if gain < -1e-13 * now[2] else after
        if settled or gain <= 0:
            return *now, step
    return *now, max_iter


def _assigned(X, centers, objective, weights) -> tuple[list, list, float]:
    """Return centres, labels and cost, after centres without rows went to the rows farthest from theirs."""
    by_value = sorted(range(len(X)), key=lambda row: tuple(X[row]))
    while True:
        labels, costs = nearest(X, centers, objective)
        empty = [c for c in range(len(centers)) if c not in labels]
        if not empty:
            return centers, labels, float(np.sum(np.array(costs) * weights))
        if not any(costs):
            raise ValueError(f"only {len(set(labels))} different rows")
        for c in empty:
            farthest = max(by_value, key=lambda row: costs[row])
            centers = [*centers[:c], [float(x) for x in X[farthest]], *centers[c + 1 :]]
            costs = [min(cost, distance(x, centers[c], objective)) for cost, x in zip(costs, X, strict=True)]


def medians(X, labels, k, weights=None) -> list:
    """Return the median of each column of each cluster: half of the weight on either side, the midpoint of a gap."""
    rows_of = parts(labels, weights)
    return [[_median([(float(X[row, j]), w) for row, w in rows_of[c]]) for j in range(X.shape[1])] for c in range(k)]


def _median(pairs) -> float:
    pairs, total, below = sorted(pairs), sum(w for _, w in pairs), Fraction(0)
    for place, (value, w) in enumerate(pairs):
        below += w
        if 2 * below == total:
            return value / 2 + pairs[place + 1][0] / 2
        if 2 * below > total:
            return value
    raise AssertionError


def lowest_cost(n_rows: int, k: int, cost_of) -> float:
    """Return the lowest cost of all partitions of the rows into k parts; `cost_of(rows)` is the cost of a part."""
    known = {}

    def part_cost(rows):
        if rows not in known:
            known[rows] = cost_of(rows) if rows else 0.0
        return known[rows]

    return min(
        sum(part_cost(tuple(row for row in range(n_rows) if labels[row] == c)) for c in range(k))
        for labels in itertools.product(range(k), repeat=n_rows)
        if labels[0] == 0  # the parts have no order
    )


# ------------------------------------------------------------------------------------------- rows of a table


def cluster_or_none(d: dict, x: np.ndarray) -> int | None:
    """Return the cluster of a row in a nested tree, or None where a value is missing that is asked for on the way."""
    while "cluster" not in d:
        value = float(x[d["feature"]])
        if np.isnan(value):
            return None
        if "threshold" in d:
            d = d["left"] if value <= d["threshold"] else d["right"]
        else:
            d = d["inside"] if d["interval"][0] <= value <= d["interval"][1] else d["outside"]
    return d["cluster"]


# ------------------------------------------------------------------------------------------------- refinement


def refine(d: dict, X, costs) -> dict:
    """Return a nested tree of threshold cuts with its cuts chosen anew, given exact costs (n, k) of rows by cluster.

    Children before parents, second children before first ones, until a sweep changes nothing.
    """
    d = copy.deepcopy(d)
    for _ in range(10):
        if not _refine_node(d, d, np.asarray(X, dtype=np.float64), costs, list(range(len(X)))):
            break
    return d


def _refine_node(root, d, X, costs, rows) -> bool:
    if not rows:
        return False
    if "cluster" in d:
        clusters = _clusters(root)
        total = [sum(costs[r][c] for r in rows) for c in range(len(costs[0]))]
        best = total.index(min(total))
        change = clusters.count(d["cluster"]) > 1 and total[best] < total[d["cluster"]]
        d["cluster"] = best if change else d["cluster"]
        return change
    left = [r for r in rows if X[r, d["feature"]] <= d["threshold"]]
    right = [r for r in rows if r not in left]
    changed = _refine_node(root, d["right"], X, costs, right)
    changed |= _refine_node(root, d["left"], X, costs, left)
    a = {r: costs[r][leaf_of(d["left"], X[r])["cluster"]] for r in rows}
    b = {r: costs[r][leaf_of(d["right"], X[r])["cluster"]] for r in rows}

    def reached(feature, threshold):
        return {id(leaf_of(d["left" if X[r, feature] <= threshold else "right"], X[r])) for r in rows}

    best = sum(a[r] for r in left) + sum(b[r] for r in right), None
    for j in range(X.shape[1]):
        values = sorted({float(X[r, j]) for r in rows})
        for threshold in (between(low, high) for low, high in pairwise(values)):
            cost = sum(a[r] if X[r, j] <= threshold else b[r] for r in rows)
            if cost < best[0]:
                best = cost, (j, threshold)
    if best[1] is None or reached(d["feature"], d["threshold"]) - reached(*best[1]):
        return changed
    d["feature"], d["threshold"] = best[1]
    return True


def _clusters(d: dict) -> list[int]:
    return [d["cluster"]] if "cluster" in d else _clusters(d["left"]) + _clusters(d["right"])


# --------------------------------------------------------------------------------------------------- Ex-Greedy


def greedy(X, centers, costs, rows, clusters) -> dict:
    """Return Ex-Greedy's tree as nested dicts, given exact costs (n, k); `rows` and `clusters` are the node's."""
    if len(clusters) == 1:
        return {"cluster": clusters[0]}
    X = np.asarray(X, dtype=np.float64)
    best = None
    for j in range(X.shape[1]):
        ends = sorted(float(centers[c, j]) for c in clusters)
        values = sorted({float(X[r, j]) for r in rows} | set(ends))
        for threshold in (between(a, b) for a, b in pairwise(values) if ends[0] <= a < ends[-1]):
            cost = 0
            for r in rows:
                side = [c for c in clusters if (centers[c, j] <= threshold) == (X[r, j] <= threshold)]
                cost += min(costs[r][c] for c in side)
            if best is None or cost < best[0]:
                best = cost, j, threshold
    _, j, threshold = best
    rows_left = [r for r in rows if X[r, j] <= threshold]
    clusters_left = [c for c in clusters if centers[c, j] <= threshold]
    left = greedy(X, centers, costs, rows_left, clusters_left)
    rows_right, clusters_right = set(rows) - set(rows_left), set(clusters) - set(clusters_left)
    right = greedy(X, centers, costs, sorted(rows_right), sorted(clusters_right))
    return {"feature": j, "threshold": threshold, "left": left, "right": right}


# ---------------------------------------------------------------------------------------------- moments, MMDT


def moments(X, labels, weights=None) -> dict:
    """Return for each cluster its weight, and exact mean and population variance by column."""
    found = {}
    for cluster, rows in sorted(parts(labels, weights).items()):
        total = sum(weight for _, weight in rows)
        columns = [[(Fraction(float(X[row, j])), weight) for row, weight in rows] for j in range(X.shape[1])]
        means = [sum(w * x for x, w in column) / total for column in columns]
        variances = [
            sum(w * (x - mean) ** 2 for x, w in column) / total for column, mean in zip(columns, means, strict=True)
        ]
        found[cluster] = total, means, variances
    return found


def mmdt(means, deviations, axis="gap", components=None) -> dict:
    """Return the tree of midpoints as nested dicts: node by node, every gap of every axis."""
    components = list(range(len(means))) if components is None else components
    if len(components) == 1:
        return {"cluster": components[0]}
    _, _, j, threshold = min(mmdt_cuts(means, deviations, axis, components))
    left = [c for c in components if means[c][j] <= threshold]
    right = [c for c in components if means[c][j] > threshold]
    return {
        "feature": j,
        "threshold": threshold,
        "left": mmdt(means, deviations, axis, left),
        "right": mmdt(means, deviations, axis, right),
    }


def mmdt_cuts(means, deviations, axis, components) -> list:
    """Return the largest gap of every axis: minus its ratio, minus its length where that is infinite, axis, middle."""
    cuts = []
    for j, deviation in enumerate(deviations):
        values = sorted({float(means[c][j]) for c in components})
        if len(values) < 2:
            continue
        place = max(range(len(values) - 1), key=lambda i, v=values: v[i + 1] - v[i])
        a, b = values[place], values[place + 1]
        length = b - a if axis == "gap" else values[-1] - values[0]
        ratio = length / deviation if deviation > 0 else math.inf
        cuts.append((-ratio, -length if ratio == math.inf else 0, j, between(a, b)))
    return cuts


def mmdt_by_largest_ratio(means, deviations) -> dict:
    """Return the same tree grown as the paper writes it: of all leaves, always split that with the largest ratio."""
    root = {"cluster": list(range(len(means)))}
    leaves = [root]
    while True:
        cuts = [(min(mmdt_cuts(means, deviations, "gap", d["cluster"])), i, d) for i, d in enumerate(leaves)
                if len(d["cluster"]) > 1]  # fmt: skip
        if not cuts:
            break
        (_, _, j, threshold), i, leaf = min(cuts, key=lambda entry: entry[:2])
        components = leaf.pop("cluster")
        leaf.update(feature=j, threshold=threshold)
        leaf["left"] = {"cluster": [c for c in components if means[c][j] <= threshold]}
        leaf["right"] = {"cluster": [c for c in components if means[c][j] > threshold]}
        leaves = [*leaves[:i], *leaves[i + 1 :], leaf["left"], leaf["right"]]
    for leaf in leaves:
        (leaf["cluster"],) = leaf["cluster"]
    return root


def log_losses(points, means, weights, variances, objective) -> np.ndarray:
    """Return the logarithm of what is lost at each threshold on one axis, term by term."""
    from scipy.special import log_ndtr

    found = np.full(len(points), -np.inf)
    for mean, weight, variance in zip(means, weights, variances, strict=True):
        if variance == 0:
            continue
        with np.errstate(divide="ignore", over="ignore"):
            t = np.abs(points - mean) / math.sqrt(variance)
            share = {"tails": lambda t: log_ndtr(-t), "chebyshev": lambda t: -2 * np.log(t),
                     "gaussian": lambda t: -(t**2) / 2}[objective](t)  # fmt: skip
        found = np.logaddexp(found, math.log(weight) + share)
    return found


# --------------------------------------------------------------------------------------------------- tail check


def tail(values, weights) -> tuple[float, float, float, float]:
    """Return rows by weight, share beyond three robust standard deviations, skewness and middle; weights are whole."""
    rows = sorted((float(v), int(w)) for v, w in zip(values, weights, strict=True))
    total = sum(w for _, w in rows)
    low, first, median, third, high = (
        _quantile(rows, total, share) for share in map(Fraction, ("0.1", "0.25", "0.5", "0.75", "0.9"))
    )
    sigma = (third - first) / 1.3489795003921634
    beyond = sum(w for v, w in rows if abs(v - median) > 3 * sigma) / total
    n = total**2 / sum(w * w for _, w in rows)
    if high == low:
        return n, beyond, 0.0, 0.5263202179066186
    return n, beyond, ((high - median) - (median - low)) / (high - low), (third - first) / (high - low)


def _quantile(rows, total, share) -> float:
    """Return the middle of the values that have at most the share below and at most the rest above."""
    fitting = []
    for value, _ in rows:
        below, above = sum(w for v, w in rows if v < value), sum(w for v, w in rows if v > value)
        if below <= share * total and above <= (1 - share) * total:
            fitting.append(value)
    return fitting[0] + (fitting[-1] - fitting[0]) / 2


# ------------------------------------------------------------------------------------ mixtures in boxes of a tree


def explainability_to_noise(means, sigma) -> tuple[float, tuple[int, int], int]:
    """Return the smallest over pairs of the largest over axes, with the first pair and axis that attain it."""
    best = None
    for a, b in itertools.combinations(range(len(means)), 2):
        ratios = []
        for j, s in enumerate(sigma):
            apart = abs(means[a][j] - means[b][j])
            ratios.append(0.0 if apart == 0 else math.inf if s == 0 else (apart / s) ** 2)
        if best is None or max(ratios) < best[0]:
            best = max(ratios), (a, b), ratios.index(max(ratios))
    return best


def normal_share(low: float, high: float, mean: float, sigma: float) -> float:
    """Return the probability of the open interval, or of the point where both ends are equal."""
    if sigma == 0:
        return float(low <= mean <= high) if low == high else float(low < mean < high)
    a, b = (low - mean) / sigma, (high - mean) / sigma
    if a > 0:
        a, b = -b, -a
    return 0.5 * (math.erfc(-b / math.sqrt(2)) - math.erfc(-a / math.sqrt(2)))


def cells(d: dict, n_columns: int):
    """Yield every cell of the grid of all ends of all cuts, as intervals by column, with the cluster it falls in."""
    ends, stack = [set() for _ in range(n_columns)], [d]
    while stack:
        node = stack.pop()
        if "cluster" not in node:
            ends[node["feature"]] |= set(node.get("interval", [node.get("threshold")]))
            stack += [node[side] for side in ("left", "right", "inside", "outside") if side in node]
    axes = []
    for column in ends:
        points = [-math.inf, *sorted(end for end in column if math.isfinite(end)), math.inf]
        axes.append([*pairwise(points), *((p, p) for p in points[1:-1])])
    for cell in itertools.product(*axes):
        x = np.array([_inside(low, high) for low, high in cell])
        yield cell, leaf_of(d, x)["cluster"]


def _inside(low: float, high: float) -> float:
    if math.isinf(low) or math.isinf(high):
        if math.isinf(low) and math.isinf(high):
            return 0.0
        return math.nextafter(high, low) if math.isinf(low) else math.nextafter(low, high)
    return low if low == high else low + (high - low) / 2


def error_rate(weights, means, sigma, d: dict) -> float:
    """Return the share of rows in cells of another cluster than their component."""
    total = 0.0
    for cell, cluster in cells(d, len(means[0])):
        for c, weight in enumerate(weights):
            if c != cluster:
                share = (normal_share(*cell[j], means[c][j], sigma[c][j]) for j in range(len(cell)))
                total += weight * math.prod(share)
    return total


def mixture_cost(weights, means, sigma, d: dict, centers, power: int) -> float:
    """Return E of the sum over columns of |x - centre|^power, each cell by quadrature."""
    total = 0.0
    for cell, cluster in cells(d, len(means[0])):
        for c, weight in enumerate(weights):
            share = [normal_share(*cell[j], means[c][j], sigma[c][j]) for j in range(len(cell))]
            for j, interval in enumerate(cell):
                others = math.prod(share[:j] + share[j + 1 :])
                if others > 0:
                    total += weight * others * _moment(*interval, means[c][j], sigma[c][j], centers[cluster][j], power)
    return total


def _moment(low, high, mean, sigma, center, power) -> float:
    if low == high:
        return 0.0
    low, high = max(low, mean - 12 * sigma), min(high, mean + 12 * sigma)
    cuts = [low, *(p for p in (center,) if low < p < high), high]
    nodes, steps = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for a, b in pairwise(cuts):
        for p, q in pairwise(np.linspace(a, b, 9)) if a < b else []:
            x = p + (q - p) * (nodes + 1) / 2
            density = np.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
            total += float((steps * density * np.abs(x - center) ** power).sum() * (q - p) / 2)
    return total


def separations(weights, means, sigma, d: dict) -> tuple[list[float], list[float], float]:
    """Return by node in pre-order the exact and the Chebyshev chance of parting rows from their mean; and misplaced."""
    exact, chebyshev, misplaced = [], [], 0.0
    stack = [(d, list(range(len(weights))))]
    while stack:
        node, here = stack.pop()
        exact.append(0.0)
        chebyshev.append(0.0)
        if "cluster" in node:
            misplaced += sum(weights[c] for c in here if c != node["cluster"])
            continue
        j = node["feature"]
        low, high = node.get("interval", (-math.inf, node.get("threshold")))
        first, second = ("left", "right") if "threshold" in node else ("inside", "outside")
        for c in here:
            mean, s = means[c][j], sigma[c][j]
            parts = [(-math.inf, low), (high, math.inf)] if low <= mean <= high else [(low, high)]
            exact[-1] += weights[c] * sum(normal_share(a, b, mean, s) for a, b in parts)
            distance = min(abs(low - mean), abs(high - mean))
            chance = 0.0 if s == 0 else 1.0 if distance == 0 else min(1.0, (s / distance) ** 2)
            chebyshev[-1] += weights[c] * chance
        stack.append((node[second], [c for c in here if not low <= means[c][j] <= high]))
        stack.append((node[first], [c for c in here if low <= means[c][j] <= high]))
    return exact, chebyshev, misplaced


# --------------------------------------------------------------------------------- random cuts and their bounds


def expected_cost(x, centers, objective="l1", median="midpoint") -> float:
    """Return the exact expected cost of one row over the trees of random cuts, from its nodes one by one.

    Cuts between two neighbouring values of the row and the centres at a node send the row to the same side.
    """
    x, centers = [float(v) for v in x], [[float(v) for v in c] for c in centers]
    norm = {"l1": 1, "l2": 2, "sqeuclidean": 2}[objective]
    costs = [sum(abs(a - b) ** norm for a, b in zip(x, c, strict=True)) for c in centers]
    costs = [math.sqrt(cost) for cost in costs] if objective == "l2" else costs
    axes = range(len(x))
    if objective == "sqeuclidean":
        terminals = [sorted({c[i] for c in centers}) for i in axes]
        x, *centers = [[terminal_embedding(terminals[i], p[i]) for i in axes] for p in (x, *centers)]
    known = {}

    def at(here: tuple, call: tuple | None) -> float:
        """Return the expected cost from a node on; `call` is the size and the median that "l2" started from."""
        if len(here) == 1:
            return costs[here[0]]
        if objective == "l2" and (call is None or 2 * len(here) <= call[0]):
            call = len(here), tuple(middle([centers[c][i] for c in here], median) for i in axes)
        if (here, call) not in known:
            ways = list(_ways(x, centers, here, call))
            total = sum(weight for weight, _, _ in ways)
            known[here, call] = sum(weight / total * at(stay, later) for weight, stay, later in ways)
        return known[here, call]

    return at(tuple(range(len(centers))), None)


def _ways(x, centers, here: tuple, call: tuple | None):
    """Yield the weight of each interval of cuts, the centres on the row's side, and `call` if the median is there."""
    for i in range(len(x)):
        places = [centers[c][i] for c in here]
        stops = {*places, x[i]} | ({call[1][i]} if call else set())
        for a, b in pairwise(sorted(v for v in stops if min(places) <= v <= max(places))):
            stay = tuple(c for c in here if (centers[c][i] <= a) == (x[i] <= a))
            weight, main = b - a, False
            if call:
                m = call[1][i]
                weight, main = abs((b - m) ** 2 - (a - m) ** 2), (m <= a) == (x[i] <= a)
            yield weight, stay, call if main else None


def middle(values: list, median: str) -> float:
    """Return the middle value; of an even number the midpoint of the two middle ones, or the lower one."""
    ordered, half = sorted(values), len(values) // 2
    if len(values) % 2:
        return ordered[half]
    return ordered[half - 1] if median == "lower" else (ordered[half - 1] + ordered[half]) / 2


def separation_probability(x, center, median, radius: float) -> float:
    """Return the share of axis, sign and number in [0, radius²] whose cut has one of row and centre on either side."""
    shares = []
    for v, c, m in zip(x, center, median, strict=True):
        numbers = sorted({0.0, radius**2, *(q for q in ((v - m) ** 2, (c - m) ** 2) if q < radius**2)})
        for sign in (-1, 1):
            cuts = [(b - a, m + sign * math.sqrt((a + b) / 2)) for a, b in pairwise(numbers)]
            shares.append(sum(width for width, cut in cuts if (v <= cut) != (c <= cut)) / radius**2)
    return sum(shares) / len(shares)


def fewest_separated(points, centers, labels) -> int:
    """Return the fewest points that a cut at 0 <= theta < 1 on any axis parts from their centres."""
    own, counts = np.asarray(centers)[labels], []
    for i in range(points.shape[1]):
        for theta in {0.0, *(v for v in (*points[:, i], *own[:, i]) if 0 <= v < 1)}:
            counts.append(int(((points[:, i] <= theta) != (own[:, i] <= theta)).sum()))
    return min(counts)


def mistake_ratios(d: dict, X, labels, centers, weights, power: int) -> tuple[list, list, float]:
    """Return by node in pre-order the mistakes and the largest ratio of IMM's inequality; and the cost of mistakes."""
    X, mistakes, ratios, spent = np.asarray(X, dtype=np.float64), [], [], 0.0
    stack = [(d, [r for r in range(len(X)) if labels[r] >= 0], sorted(leaf_clusters_below(d)))]
    while stack:
        node, rows, here = stack.pop()
        mistakes.append(0.0)
        ratios.append(0.0)
        if "cluster" in node:
            continue
        j, cut = node["feature"], node["threshold"]
        kept = [r for r in rows if (X[r][j] <= cut) == (centers[labels[r]][j] <= cut)]
        mistakes[-1] = sum(weights[r] for r in rows) - sum(weights[r] for r in kept)
        for i in range(len(centers[0])):
            extra = mistakes[-1] * (max(centers[c][i] for c in here) - min(centers[c][i] for c in here)) ** power
            spent += extra
            costs = sum(weights[r] * abs(X[r][i] - centers[labels[r]][i]) ** power for r in rows)
            if extra > 0:
                ratios[-1] = max(ratios[-1], extra / ((4 * len(here) if power == 2 else 2) * costs))
        for side, is_left in (("right", False), ("left", True)):
            inside = [c for c in here if (centers[c][j] <= cut) == is_left]
            stack.append((node[side], [r for r in kept if (X[r][j] <= cut) == is_left], inside))
    return mistakes, ratios, spent


def kmeans_plus_plus(points, k: int) -> float:
    """Return the exact expected cost of the seeds of k-means++, over all sequences of rows."""

    def at(seeds: tuple) -> float:
        costs = [min(float(((p - points[s]) ** 2).sum()) for s in seeds) for p in points]
        if len(seeds) == k or sum(costs) == 0:
            return sum(costs)
        return sum(cost / sum(costs) * at((*seeds, r)) for r, cost in enumerate(costs) if cost > 0)

    return sum(at((r,)) for r in range(len(points))) / len(points)


def best_kmeans_cost(points, k: int) -> float:
    """Return the smallest cost of k-means, over all partitions into at most k parts."""
    best = math.inf
    for labels in itertools.product(range(k), repeat=len(points) - 1):
        labels = np.array((0, *labels))
        cost = sum(float(((p - p.mean(axis=0)) ** 2).sum()) for c in set(labels) for p in [points[labels == c]])
        best = min(best, cost)
    return best


# ------------------------------------------------------------------------------------------------------- kernels


def gram(value, X, Y) -> np.ndarray:
    """Return the values of a kernel of two rows, pair by pair."""
    rows, others = np.asarray(X, dtype=np.float64).tolist(), np.asarray(Y, dtype=np.float64).tolist()
    return np.array([[value(x, y) for y in others] for x in rows])


def kernel_distances(K, diagonal, labels, k: int, weights=None) -> list[list[float]]:
    """Return squared distances of rows to the means of labelled columns, by the sums of the definition."""
    w = np.ones(len(labels)) if weights is None else weights
    rows_of = [[i for i in range(len(labels)) if labels[i] == c and w[i] > 0] for c in range(k)]
    total = [math.fsum(w[i] for i in rows) for rows in rows_of]
    norms = [
        math.fsum(w[i] * w[j] * K[i][j] for i in rows for j in rows) / t**2 if rows else math.inf
        for rows, t in zip(rows_of, total, strict=True)
    ]
    return [
        [
            diagonal[x] + norms[c] - 2 * math.fsum(w[i] * K[x][i] for i in rows_of[c]) / total[c]
            if rows_of[c]
            else math.inf
            for c in range(k)
        ]
        for x in range(len(K))
    ]


def kernel_cost(K, labels, weights=None) -> float:
    """Return the sum over clusters of `sum w K(x, x) - sum w w' K(x, x') / sum w`."""
    w = np.ones(len(labels)) if weights is None else weights
    cost = 0.0
    for c in set(labels) - {-1}:
        rows = [i for i in range(len(labels)) if labels[i] == c and w[i] > 0]
        if rows:
            pairs = math.fsum(w[i] * w[j] * K[i][j] for i in rows for j in rows)
            cost += math.fsum(w[i] * K[i][i] for i in rows) - pairs / math.fsum(w[i] for i in rows)
    return cost


def axis_similarity(g, x, y, *, same: bool) -> tuple[float, float]:
    """Return mean and second moment of `g(|x - y|)` over pairs of values; of different rows where they are the same."""
    values = [g(abs(a - b)) for i, a in enumerate(x) for j, b in enumerate(y) if not (same and i == j)] or [1.0]
    return math.fsum(values) / len(values), math.fsum(v * v for v in values) / len(values)


def kernel_kmeans(K, start, k: int, weights) -> tuple[list[int], list[float]]:
    """Return the last labels of Lloyd's iteration in the feature space of a Gram matrix, and the cost of each step."""
    labels, costs = list(start), []
    diagonal = [K[i][i] for i in range(len(K))]
    while True:
        costs.append(kernel_cost(K, labels, weights))
        if len(costs) > 1 and costs[-1] >= costs[-2] - 1e-12 * abs(costs[-2]):
            return labels, costs
        distances = kernel_distances(K, diagonal, labels, k, weights)
        scale = max(map(abs, diagonal)) + max(abs(norm) for norm in _squared_norms(K, labels, k, weights))
        following = list(labels)
        for row, own in enumerate(labels):
            least = min(distances[row])
            if least < distances[row][own] - 1e-12 * scale:
                following[row] = next(c for c in range(k) if distances[row][c] <= least + 1e-12 * scale)
        left = [round(min(d) / (1e-12 * scale)) if w > 0 else -1 for d, w in zip(distances, weights, strict=True)]
        sizes = [sum(label == c and w > 0 for label, w in zip(following, weights, strict=True)) for c in range(k)]
        farthest = sorted(range(len(K)), key=lambda row: -left[row])
        for empty in [c for c in range(k) if sizes[c] == 0]:
            while farthest and not (left[farthest[0]] > 0 and sizes[following[farthest[0]]] > 1):
                farthest.pop(0)
            if not farthest:
                break
            row = farthest.pop(0)
            sizes[following[row]] -= 1
            following[row], sizes[empty] = empty, 1
        if following == labels:
            return labels, costs
        labels = following


def _squared_norms(K, labels, k: int, weights) -> list[float]:
    norms = []
    for c in range(k):
        rows = [i for i in range(len(labels)) if labels[i] == c and weights[i] > 0]
        total = math.fsum(weights[i] for i in rows)
        norms.append(math.fsum(weights[i] * weights[j] * K[i][j] for i in rows for j in rows) / (total or 1.0) ** 2)
    return norms


# --------------------------------------------------------------------------------------------------- Kernel MMDT


def pair_similarity(g, x, y, v, w) -> tuple[float, float]:
    """Return mean and second moment of `g(|x - y|)` over all pairs of weighted values, a value and itself included."""
    pairs = [(p * q, g(abs(a - b))) for a, p in zip(x, v, strict=True) for b, q in zip(y, w, strict=True)]
    total = math.fsum(v) * math.fsum(w)
    return math.fsum(s * value for s, value in pairs) / total, math.fsum(s * value**2 for s, value in pairs) / total


def kernel_mmdt(xi, radius, prototype, here, choice=None) -> dict | None:
    """Return the tree as nested dicts: every axis, pair and gap tried; None where components cannot be parted.

    `xi[i][a][b]` are similarities, `radius(i, level)` and `prototype(component, i)` numbers, asked for in pre-order,
    and `choice(here)` axis, component and level of a node, or None; without it those of the pair that is least alike.
    """
    if len(here) == 1:
        return {"cluster": here[0]}
    found = _of_the_least_alike(xi, here) if choice is None else choice(here)
    if found is None:
        return None
    i, c, level = found
    p, r = prototype(c, i), radius(i, level)
    inside, outside = [m for m in here if xi[i][c][m] >= level], [m for m in here if xi[i][c][m] < level]
    children = [kernel_mmdt(xi, radius, prototype, side, choice) for side in (inside, outside)]
    if None in children:
        return None
    return {"feature": i, "interval": [p - r, p + r], "inside": children[0], "outside": children[1]}


def _of_the_least_alike(xi, here) -> tuple[int, int, float] | None:
    pairs = sorted((xi[i][a][b], i, a, b) for i in range(len(xi)) for a in here for b in here if a < b)
    tried = [(i, _widest_gap(xi[i], (a, b), here)) for _, i, a, b in pairs]
    tried = [(i, gap) for i, gap in tried if gap is not None]
    if not tried:
        return None
    i, (_, c, level) = tried[0]
    return i, c, level


def surest_cut(xi, variance, weights, here) -> tuple[int, int, float] | None:
    """Return axis, component and level, in the middle of any gap, with the least bound on mistakes by Cantelli."""
    found = []
    for i in range(len(xi)):
        for c in here:
            for low, high in pairwise(sorted({xi[i][c][m] for m in here if xi[i][c][m] <= xi[i][c][c]})):
                level = -between(-high, -low)
                spreads = [(weights[m], variance[i][c][m], (level - xi[i][c][m]) ** 2) for m in here]
                if high - low > 1e-12:
                    found.append((math.fsum(p * v / (v + s) for p, v, s in spreads if v > 0), i, c, level))
    least = min(found)[0] if found else 0.0
    return next(((i, c, level) for bound, i, c, level in found if bound <= least * (1 + 1e-9)), None)


def _widest_gap(xi, pair, here) -> tuple[float, int, float] | None:
    """Return the largest gap below the similarity of a component to itself, the component, and the gap's middle."""
    best = None
    for c in pair:
        for low, high in pairwise(sorted({xi[c][m] for m in here if xi[c][m] <= xi[c][c]})):
            if high - low > (1e-12 if best is None else best[0]):
                best = high - low, c, -between(-high, -low)
    return best


def quantile(values, weights, u: float) -> float:
    """Return the first value, ascending, up to which more than a share u of the weights lies."""
    upto, pairs = 0.0, sorted(zip(values, weights, strict=True))
    for value, weight in pairs:
        upto += weight
        if upto > u * sum(weight for _, weight in pairs):
            return value
    return pairs[-1][0]


# ------------------------------------------------------------------------------------------------------- axis maps


def terminal_embedding(terminals, x: float) -> float:
    """Return the image of a value: that of its nearest terminal, plus or minus the squared distance to it."""
    y = sorted({float(t) for t in terminals})
    nearest = min(range(len(y)), key=lambda i: (abs(x - y[i]), i))
    at_nearest = sum((y[i + 1] - y[i]) ** 2 for i in range(nearest)) / 2
    return at_nearest + math.copysign((x - y[nearest]) ** 2, x - y[nearest])


def contains(intervals, x: float) -> bool:
    return any(lower <= x <= upper for lower, upper in intervals)


def taylor_feature(z: float, j: int, gamma: float) -> float:
    """Return exp(-gamma z²) z^j sqrt((2 gamma)^j / j!), in decimals of 60 digits, so that no order overflows."""
    with localcontext(Context(prec=60, Emin=-(10**9), Emax=10**9)):
        z, gamma = Decimal(z), Decimal(gamma)
        scale = ((2 * gamma) ** j / Decimal(math.factorial(j))).sqrt()
        return float((-gamma * z * z).exp() * (z**j if j else 1) * scale)


def chi_squared_feature(x: float, j: int, m: int) -> float:
    return math.sqrt(2 / j) * x * (j / m) ** x


def step_features(column, beta: float) -> list[list[float]]:
    """Return for each value of a column its features for histogram intersection, one for each different value."""
    z = [0.0, *sorted({float(x) ** beta for x in column})]
    steps = list(pairwise(z))
    return [[math.sqrt(high - low) if float(x) ** beta >= high else 0.0 for low, high in steps] for x in column]


# ------------------------------------------------------------------------------------------------------ concepts


def mean_difference_distances(Z, values) -> list[float]:
    """Return the signed distance of each row from the boundary halfway between the means of 0 and 1."""
    spread = [max(column.std(), 0.01 * math.sqrt(np.mean(Z.var(axis=0)))) or 1.0 for column in Z.T]
    low, high = (Z[[v == side for v in values]].mean(axis=0) for side in (0, 1))
    normal = [(h - b) / s**2 * (np.ptp(z) > 0) for h, b, s, z in zip(high, low, spread, Z.T, strict=True)]
    length = math.sqrt(math.fsum(w * w for w in normal))
    if length == 0:
        return []
    middle = [(h + b) / 2 for h, b in zip(high, low, strict=True)]
    return [math.fsum(w * (a - m) for w, a, m in zip(normal, x, middle, strict=True)) / length for x in Z]


def quadratic_form(c, covariance) -> float:
    """Return the variance along a vector."""
    return math.fsum(c[i] * covariance[i][j] * c[j] for i in range(len(c)) for j in range(len(c)))


def best_concepts(gaps, most: int) -> tuple[float, tuple[int, ...]]:
    """Return the largest distance of the worst pair on its best concept of some, and the first smallest such subset."""
    best, chosen = -1.0, ()
    for size in range(1, most + 1):
        for subset in itertools.combinations(range(len(gaps[0])), size):
            value = min(max(row[j] for j in subset) for row in gaps)
            if value > best:
                best, chosen = value, subset
    return best, chosen


def left_out_ridge(Z, values) -> list[float]:
    """Return what a ridge regression (alpha 1, free intercept) on the other rows predicts for each row."""
    Z = (Z - Z.mean(axis=0)) / np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0)
    predicted = []
    for i in range(len(Z)):
        rows, known = np.delete(Z, i, axis=0), np.delete(values, i)
        design = np.column_stack([np.ones(len(rows)), rows])
        penalty = np.diag([0.0] + [1.0] * Z.shape[1])
        weights = np.linalg.solve(design.T @ design + penalty, design.T @ known)
        predicted.append(float(weights[0] + Z[i] @ weights[1:]))
    return predicted


def holm(p_values) -> list[float]:
    """Return each p-value adjusted: the largest, up to it in ascending order, of p times the number not yet passed."""
    m, order = len(p_values), sorted(range(len(p_values)), key=lambda j: p_values[j])
    adjusted = [0.0] * m
    for place, j in enumerate(order):
        adjusted[j] = min(1.0, max((m - i) * p_values[order[i]] for i in range(place + 1)))
    return adjusted
