"""Trees with the fewest mistakes, by trying all trees."""

from functools import cache

import numpy as np


def fewest_mistakes(X, labels, weights, *, max_depth, max_leaf_nodes, min_samples_leaf=1, columns=None):
    """Return the mistakes and the number of leaves of the best tree, and its cuts as nested tuples.

    A cut is a column, the largest value of its first side, and the trees on both sides; `()` is a leaf. The best tree
    has the fewest mistakes, then the fewest leaves, then the first cuts in pre-order. Rows of weight 0 are left out.
    """
    X = np.asarray(X, dtype=np.float64)
    columns = range(X.shape[1]) if columns is None else columns

    @cache
    def best(rows: frozenset, depth: int, leaves: int):
        of_labels = {label: sum(weights[r] for r in rows if labels[r] == label) for label in {labels[r] for r in rows}}
        found = [(sum(of_labels.values()) - max(of_labels.values()), 1, ())]
        for j in columns if depth > 0 else ():
            for value in sorted({float(X[r, j]) for r in rows})[:-1]:
                left = frozenset(r for r in rows if X[r, j] <= value)
                if min(len(left), len(rows) - len(left)) < min_samples_leaf:
                    continue
                for share in range(1, leaves):
                    sides = best(left, depth - 1, share), best(rows - left, depth - 1, leaves - share)
                    mistakes, n_leaves, trees = (list(each) for each in zip(*sides, strict=True))
                    found.append((sum(mistakes), sum(n_leaves), (j, value, *trees)))
        return min(found)

    return best(frozenset(r for r in range(len(X)) if weights[r] > 0), max_depth, max_leaf_nodes)
