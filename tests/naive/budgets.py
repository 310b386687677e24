"""Growth within limits, and exchanges of cuts: everything that is allowed is tried."""

import copy
from itertools import pairwise

import numpy as np

from boxwood.tree import ThresholdTree
from tests.naive.trees import between


def expand(X, costs, rows, max_leaf_nodes, max_depth, least, columns) -> dict:
    """Return the tree that grows from a single leaf, the cut first that saves most, as nested dicts.

    `costs[r][c]` are whole numbers. A cut is along one of the columns and leaves `least` rows on both sides.
    """
    X = np.asarray(X, dtype=np.float64)
    root = {"cluster": _cheapest(costs, rows)[1]}
    leaves, n_nodes = [(0, root, rows, 0)], 1
    while len(leaves) < max_leaf_nodes:
        found = [(*_best(X, costs, leaf[2], least, columns), leaf) for leaf in leaves if leaf[3] < max_depth]
        found = [each for each in found if each[0] > 0]
        if not found:
            break
        _, j, threshold, chosen = min(found, key=lambda each: (-each[0], each[3][0]))
        _, node, here, depth = chosen
        sides = [r for r in here if X[r, j] <= threshold], [r for r in here if X[r, j] > threshold]
        del node["cluster"]
        node |= {"feature": j, "threshold": threshold}
        node["left"], node["right"] = ({"cluster": _cheapest(costs, side)[1]} for side in sides)
        leaves.remove(chosen)
        leaves += [(n_nodes, node["left"], sides[0], depth + 1), (n_nodes + 1, node["right"], sides[1], depth + 1)]
        n_nodes += 2
    return root


def _cheapest(costs, rows) -> tuple[int, int]:
    return min((sum(costs[r][c] for r in rows), c) for c in range(len(costs[0])))


def _best(X, costs, rows, least, columns) -> tuple:
    single, tried = _cheapest(costs, rows)[0], []
    for j in columns:
        for low, high in pairwise(sorted({float(X[r, j]) for r in rows})):
            left, right = [r for r in rows if X[r, j] <= low], [r for r in rows if X[r, j] > low]
            if min(len(left), len(right)) >= least:
                cost = _cheapest(costs, left)[0] + _cheapest(costs, right)[0]
                tried.append((cost, j, between(low, high)))
    return (0, 0, 0.0) if not tried else (single - min(tried)[0], *min(tried)[1:])


def preferring(d: dict, X, labels, preferred, share) -> dict:
    """Return the tree with cuts exchanged for cuts on preferred columns, while mistakes grow by a share at most."""
    X = np.asarray(X, dtype=np.float64)
    root, most, number = copy.deepcopy(d), _mistakes(d, X, labels) * (1 + share), 0
    while number < len(nodes := _nodes(root, np.arange(len(X)), X)):
        node, rows = nodes[number]
        number += 1
        if "cluster" in node or node["feature"] in preferred:
            continue
        tried, before = [], dict(node)
        for j in preferred:
            for swaps in (False, True):
                for low, high in pairwise(np.unique(X[rows, j]).tolist()):
                    other = {"feature": j, "threshold": between(low, high)}
                    sides = (before["right"], before["left"]) if swaps else (before["left"], before["right"])
                    other["left"], other["right"] = sides
                    node.update(other)
                    tried.append((_mistakes(root, X, labels), j, swaps, other["threshold"], other))
        node.update(before)
        best = min(tried, key=lambda each: each[:4], default=None)
        if best is not None and best[0] <= most:
            node.update(best[4])
    return root


def _mistakes(d: dict, X, labels) -> int:
    return int((ThresholdTree.from_dict(_bare(d)).predict(X) != labels).sum())


def _bare(d: dict) -> dict:
    """Return a tree without the numbers of its leaves."""
    if "cluster" in d:
        return {"cluster": d["cluster"]}
    return {
        **{name: d[name] for name in ("feature", "threshold")},
        "left": _bare(d["left"]),
        "right": _bare(d["right"]),
    }


def _nodes(d: dict, rows, X) -> list:
    """Return the nodes in pre-order with the rows that reach them."""
    if "cluster" in d:
        return [(d, rows)]
    left = X[rows, d["feature"]] <= d["threshold"]
    return [(d, rows), *_nodes(d["left"], rows[left], X), *_nodes(d["right"], rows[~left], X)]
