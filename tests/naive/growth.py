"""Growth by cuts tried one by one: IMM, expansions, refinement, Ex-Greedy, ExShallow."""

import copy
import math
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

from tests.naive.trees import between, leaf_of

# ----------------------------------------------------------------------------------------------------------------- IMM


def imm(X, labels, centers, weights=None, candidates="all", tie_break="first", random=None) -> dict:
    """Return IMM's tree as nested dicts: every cut of every column tried, mistakes counted row by row.

    `random` is a generator of which "random" ties draw one number each.
    """
    X, centers = np.asarray(X, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    weights = [Fraction(1)] * len(X) if weights is None else [Fraction(float(w)) for w in weights]
    rows = [r for r in range(len(X)) if labels[r] >= 0 and weights[r] > 0]
    choose = partial(_chosen, tie_break, random)
    return _imm_node(X, labels, centers, weights, candidates, choose, rows, list(range(len(centers))))


def _imm_node(X, labels, centers, weights, candidates, choose, rows, clusters) -> dict:
    if len(clusters) == 1:
        return {"cluster": clusters[0]}
    own = [r for r in rows if labels[r] in clusters]
    tried = []
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
            values = [float(X[r, j]) for r in rows] + at_centers
            difference = abs(sum(weights[r] if X[r, j] <= threshold else -weights[r] for r in own))
            tried.append((mistakes, j, threshold, _margin(values, at_centers, threshold), difference))
    j, threshold = choose(tried)
    left = [r for r in rows if X[r, j] <= threshold], [c for c in clusters if centers[c, j] <= threshold]
    right = [r for r in rows if X[r, j] > threshold], [c for c in clusters if centers[c, j] > threshold]
    shared = X, labels, centers, weights, candidates, choose
    return {
        "feature": j,
        "threshold": threshold,
        "left": _imm_node(*shared, *left),
        "right": _imm_node(*shared, *right),
    }


def _margin(values, centers, threshold) -> float:
    """Return the distance of a threshold to the nearest value, in ranges of the centres; halves do not overflow."""
    low, high = max(v for v in values if v <= threshold), min(v for v in values if v > threshold)
    width = max(centers) / 2 - min(centers) / 2
    return min(threshold / 2 - low / 2, high / 2 - threshold / 2) / width if width > 0 else 0.0


def _chosen(tie_break, random, tried) -> tuple[int, float]:
    """Return column and threshold of one of the best cuts (loss, column, threshold, margin, difference)."""
    equal = [cut for cut in tried if cut[0] == min(tried)[0]]
    if tie_break == "margin":
        return min(equal, key=lambda cut: (-cut[3], cut[1:3]))[1:3]
    if tie_break == "balanced":
        return min(equal, key=lambda cut: (cut[4], cut[1:3]))[1:3]
    if tie_break == "random":
        return sorted(cut[1:3] for cut in equal)[random.integers(len(equal)) if len(equal) > 1 else 0]
    return min(cut[1:3] for cut in equal)


# ----------------------------------------------------------------------------------------------------------- expansion


def expand(
    tree,
    X,
    labels,
    centers,
    max_leaf_nodes,
    objective="cost",
    cuts="threshold",
    look_ahead=False,
    tol=0.0,
    weights=None,
    distances=None,
) -> dict:
    """Return the expanded tree as nested dicts: every cut of every leaf tried, costs added as Python's whole numbers.

    `tree` is nested dicts or None. Leaves are numbered as they are made, the leaves of `tree` in pre-order. Distances
    (n, k) of rows to centres, such as those in a kernel's space, take the place of squared Euclidean ones. With
    `look_ahead`, every two or three cuts of a leaf are tried where no cut alone gains, or where the best saves little.
    """
    X = np.asarray(X, dtype=np.float64)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows = [r for r in range(len(X)) if labels[r] >= 0 and weights[r] > 0]
    costs = _row_costs(X, labels, np.asarray(centers), objective, rows, weights, distances)
    root = copy.deepcopy(tree) if tree is not None else {"cluster": _cheapest(_whole(costs, rows)[0], rows)}
    open_leaves = _numbered_leaves(root, X, rows)
    least = tol * _first_cost(costs, rows, open_leaves)
    n_nodes = 2 * len(open_leaves) - 1
    n_leaves = len(open_leaves)

    def split(entry, cut) -> None:
        nonlocal n_nodes, n_leaves
        _, leaf, here = entry
        _, is_interval, feature, lower, upper, first, second = cut
        del leaf["cluster"]
        leaf["feature"] = feature
        a, b = {"cluster": first}, {"cluster": second}
        if is_interval:
            leaf.update(interval=[lower, upper], inside=a, outside=b)
        else:
            leaf.update(threshold=upper, left=a, right=b)
        inside = [r for r in here if lower <= X[r, feature] <= upper]
        open_leaves.remove(entry)
        open_leaves.extend([(n_nodes, a, inside), (n_nodes + 1, b, [r for r in here if r not in inside])])
        n_nodes, n_leaves = n_nodes + 2, n_leaves + 1

    def split_twice(entry, pair) -> None:
        first, *seconds = pair
        split(entry, first)
        for side, cut in zip(open_leaves[-2:], seconds, strict=True):
            if cut is not None:
                split(side, cut)

    while n_leaves < max_leaf_nodes:
        room = max_leaf_nodes - n_leaves
        gains = [(_best_split(X, costs, entry[2], cuts), entry) for entry in open_leaves]
        gains = [(*found, entry) for found, entry in gains if found is not None and found[0] > least]
        if gains:
            gain, cut, entry = min(gains, key=lambda each: (-each[0], each[2][0]))
            pair = _pair_instead(X, costs, entry[2], cuts, room, gain) if look_ahead else None
            split(entry, cut) if pair is None else split_twice(entry, pair)
            continue
        pairs = [(_best_pair(X, costs, entry[2], cuts, room), entry) for entry in open_leaves if look_ahead]
        pairs = [(*found, entry) for found, entry in pairs if found is not None and found[0] > least]
        if not pairs:
            break
        _, pair, entry = min(pairs, key=lambda each: (-each[0], each[2][0]))
        split_twice(entry, pair)
    return root


def _pair_instead(X, costs, rows, cuts, room, gain) -> tuple | None:
    """Return the best pair of cuts of a leaf whose best cut saves little, if it saves far more for each leaf."""
    whole, scale = _whole(costs, rows)
    if gain >= min(_sums(whole, rows)) / scale / 4:
        return None
    found = _best_pair(X, costs, rows, cuts, room)
    return None if found is None or found[0] <= 1.25 * gain else found[1]


def _first_cost(costs, rows, leaves) -> float:
    """Return the cost of the rows under the clusters of the leaves that they are in."""
    whole, scale = _whole(costs, rows)
    return sum(whole[r][leaf["cluster"]] for _, leaf, here in leaves for r in here) / scale


def _best_pair(X, costs, rows, cuts, room) -> tuple | None:
    """Return the gain for each leaf, and the first cut with the cuts of its sides; one of them is None where room is 2.

    Cuts are as in `_best_split`. Few leaves win ties, then the first cut as among single cuts, then the first side.
    """
    if len(rows) < 2 or room < 2:
        return None
    whole, scale = _whole(costs, rows)
    alone = min(_sums(whole, rows))
    tried = []
    for first in _cuts_of(X, whole, rows, cuts):
        _, _, j, lower, upper, _, _ = first
        inside = [r for r in rows if lower <= X[r, j] <= upper]
        outside = [r for r in rows if not lower <= X[r, j] <= upper]
        sides = [min(_cuts_of(X, whole, side, cuts), default=None) for side in (inside, outside)]
        uncut = [min(_sums(whole, side)) for side in (inside, outside)]
        costs_of = [c if cut is None else min(c, cut[0]) for c, cut in zip(uncut, sides, strict=True)]
        one, other = costs_of[0] + uncut[1], uncut[0] + costs_of[1]
        chosen = (sides[0], None) if one <= other else (None, sides[1])
        tried.append((Fraction(min(one, other) - alone, 2), 2, first[1:5], (first, *chosen)))
        if room > 2:
            tried.append((Fraction(sum(costs_of) - alone, 3), 3, first[1:5], (first, *sides)))
    if not tried:
        return None
    minus_gain, n_leaves, _, found = min(tried, key=lambda each: each[:3])
    return (float(-minus_gain * n_leaves) / scale / n_leaves, found) if minus_gain < 0 else None


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
    tried = _cuts_of(X, whole, rows, cuts)
    alone = min(_sums(whole, rows))
    if not tried or min(tried)[0] >= alone:
        return None
    return (alone - min(tried)[0]) / scale, min(tried)


def _cuts_of(X, whole, rows, cuts) -> list:
    """Return every cut of some rows: cost, is interval, column, lower, upper, first and second cluster."""
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
    return tried


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


# ---------------------------------------------------------------------------------------------------------- refinement


def refine(d: dict, X, costs, labels) -> dict:
    """Return a nested tree of threshold cuts with its cuts chosen anew, given exact costs (n, k) of rows by cluster.

    Leaves get honest names first. Then children come before parents, second children before first ones, until a sweep
    changes nothing.
    """
    X = np.asarray(X, dtype=np.float64)
    d = honest(d, X, labels, lambda rows, c: sum(costs[r][c] for r in rows))
    for _ in range(10):
        if not _refine_node(d, d, X, costs, labels, list(range(len(X)))):
            break
    return d


def honest(d: dict, X, labels, cost) -> dict:
    """Return a nested tree in which each leaf with rows, but none of its cluster, has the cheapest that it holds."""
    d = copy.deepcopy(d)
    for _, leaf, rows in _numbered_leaves(d, X, list(range(len(X)))):
        held = sorted({int(labels[r]) for r in rows})
        if held and leaf["cluster"] not in held:
            leaf["cluster"] = min(held, key=lambda c: cost(rows, c))
    return d


def _refine_node(root, d, X, costs, labels, rows) -> bool:
    if not rows:
        return False
    if "cluster" in d:
        clusters = _clusters(root)
        total = {c: sum(costs[r][c] for r in rows) for c in sorted({int(labels[r]) for r in rows})}
        best = min(total, key=total.__getitem__)
        change = clusters.count(d["cluster"]) > 1 and total[best] < total[d["cluster"]]
        d["cluster"] = best if change else d["cluster"]
        return change
    left = [r for r in rows if X[r, d["feature"]] <= d["threshold"]]
    right = [r for r in rows if r not in left]
    changed = _refine_node(root, d["right"], X, costs, labels, right)
    changed |= _refine_node(root, d["left"], X, costs, labels, left)
    a = {r: costs[r][leaf_of(d["left"], X[r])["cluster"]] for r in rows}
    b = {r: costs[r][leaf_of(d["right"], X[r])["cluster"]] for r in rows}

    def reached(feature, threshold):
        leaves = [(leaf_of(d["left" if X[r, feature] <= threshold else "right"], X[r]), r) for r in rows]
        return {id(leaf) for leaf, _ in leaves}, {id(leaf) for leaf, r in leaves if leaf["cluster"] == labels[r]}

    best = sum(a[r] for r in left) + sum(b[r] for r in right), None
    for j in range(X.shape[1]):
        values = sorted({float(X[r, j]) for r in rows})
        for threshold in (between(low, high) for low, high in pairwise(values)):
            cost = sum(a[r] if X[r, j] <= threshold else b[r] for r in rows)
            if cost < best[0]:
                best = cost, (j, threshold)
    if best[1] is None:
        return changed
    before, (after, own) = reached(d["feature"], d["threshold"])[0], reached(*best[1])
    if before - after or after - own:
        return changed
    d["feature"], d["threshold"] = best[1]
    return True


def _clusters(d: dict) -> list[int]:
    return [d["cluster"]] if "cluster" in d else _clusters(d["left"]) + _clusters(d["right"])


# ----------------------------------------------------------------------------------------------------------- Ex-Greedy


def greedy(X, centers, costs, rows, clusters, tie_break="first", random=None) -> dict:
    """Return Ex-Greedy's tree as nested dicts, given exact costs (n, k); `rows` and `clusters` are the node's."""
    if len(clusters) == 1:
        return {"cluster": clusters[0]}
    X = np.asarray(X, dtype=np.float64)
    tried = []
    for j in range(X.shape[1]):
        ends = sorted(float(centers[c, j]) for c in clusters)
        values = sorted({float(X[r, j]) for r in rows} | set(ends))
        for (low, high), cost in greedy_costs(X, centers, costs, rows, clusters, j).items():
            threshold = between(low, high)
            n_left = sum(X[r, j] <= threshold for r in rows)
            tried.append((cost, j, threshold, _margin(values, ends, threshold), abs(len(rows) - 2 * n_left)))
    j, threshold = _chosen(tie_break, random, tried)
    rows_left = [r for r in rows if X[r, j] <= threshold]
    clusters_left = [c for c in clusters if centers[c, j] <= threshold]
    left = greedy(X, centers, costs, rows_left, clusters_left, tie_break, random)
    rows_right, clusters_right = set(rows) - set(rows_left), set(clusters) - set(clusters_left)
    right = greedy(X, centers, costs, sorted(rows_right), sorted(clusters_right), tie_break, random)
    return {"feature": j, "threshold": threshold, "left": left, "right": right}


def greedy_costs(X, centers, costs, rows, clusters, j) -> dict:
    """Return the cost of each cut in column j, by the two neighbouring values of rows or centres that it parts."""
    ends = sorted(float(centers[c, j]) for c in clusters)
    values = sorted({float(X[r, j]) for r in rows} | set(ends))
    found = {}
    for low, high in pairwise(values):
        if ends[0] <= low < ends[-1]:
            cost = 0
            for r in rows:
                side = [c for c in clusters if (centers[c, j] <= low) == (X[r, j] <= low)]
                cost += min(costs[r][c] for c in side)
            found[low, high] = cost
    return found


# ----------------------------------------------------------------------------------------------------------- ExShallow


def shallow_scores(X, centers, costs, weights, rows, clusters, tested, penalty) -> dict:
    """Return the exact score of each cut (feature, threshold) of a node; `tested` has pairs (feature, side)."""
    scores = {}
    base = max(sum(min(costs[r][c] for c in clusters) for r in rows), 1)
    total = sum(weights[r] for r in rows)
    for j in range(X.shape[1]):
        for (low, high), cost in greedy_costs(X, centers, costs, rows, clusters, j).items():
            threshold = between(low, high)
            on_left = {c for c in clusters if centers[c, j] <= threshold}
            left = sum(weights[r] for r in rows if X[r, j] <= threshold)
            share = Fraction(int(left), int(total)) if total else Fraction(1, 2)
            tests = _foretold_depth(share, len(on_left), len(clusters), len(clusters))
            tests -= share * ((j, "left") in tested) + (1 - share) * ((j, "right") in tested)
            scores[j, float(threshold)] = Fraction(cost, base) + Fraction(penalty) * tests
    return scores


def _foretold_depth(share, k_left, k, size) -> Fraction:
    if size == 1:
        return Fraction(0)
    left = min(max(math.ceil(Fraction(size * k_left, k)), 1), size - 1)
    below = (_foretold_depth(share, k_left, k, part) for part in (left, size - left))
    return 1 + sum(part * depth for part, depth in zip((share, 1 - share), below, strict=True))
