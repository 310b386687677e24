"""Trees with the fewest mistakes, by trying all trees."""

from functools import cache
from itertools import combinations

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
        for j in columns if depth > 0 and len(of_labels) > 1 else ():  # one label needs no cut
            for value in sorted({float(X[r, j]) for r in rows})[:-1]:
                left = frozenset(r for r in rows if X[r, j] <= value)
                if min(len(left), len(rows) - len(left)) < min_samples_leaf:
                    continue
                for share in range(1, leaves):
                    sides = best_of(left, depth - 1, share), best_of(rows - left, depth - 1, leaves - share)
                    mistakes, n_leaves, trees = (list(each) for each in zip(*sides, strict=True))
                    found.append((sum(mistakes), sum(n_leaves), (j, value, *trees)))
        return min(found)

    def best_of(rows, depth, leaves):
        return best(rows, depth, min(leaves, 2**depth, len(rows)))  # no tree has more

    return best_of(frozenset(r for r in range(len(X)) if weights[r] > 0), max_depth, max_leaf_nodes)


def fewest_mistakes_by_sets(table, labels, weights, codes, *, max_depth, max_leaf_nodes, min_samples_leaf=1):
    """Return the mistakes and the number of leaves of the best tree of a table of categories and of numbers with gaps.

    A cut asks for a set of codes in a column of `codes`, and elsewhere for numbers up to a value, with or without those
    that are missing, which are infinite. Rows of weight 0 are left out.
    """

    def sides(rows: frozenset):
        for j in range(table.shape[1]):
            values = sorted({float(table[r, j]) for r in rows})
            if j in codes:
                chosen = [set(each) for size in range(1, len(values)) for each in combinations(values, size)]
            else:
                known = [value for value in values if value < np.inf]
                up_to = [set(known[:end]) for end in range(1, len(known) + 1)]
                chosen = [each | gap for each in up_to for gap in (set(), {np.inf})]
            yield from (frozenset(r for r in rows if float(table[r, j]) in each) for each in chosen)

    @cache
    def best(rows: frozenset, depth: int, leaves: int):
        of_labels = {label: sum(weights[r] for r in rows if labels[r] == label) for label in {labels[r] for r in rows}}
        found = [(sum(of_labels.values()) - max(of_labels.values()), 1)]
        for first in sides(rows) if depth > 0 and leaves > 1 else ():
            if min(len(first), len(rows) - len(first)) < max(min_samples_leaf, 1):
                continue
            for share in range(1, leaves):
                both = best(first, depth - 1, share), best(rows - first, depth - 1, leaves - share)
                found.append((both[0][0] + both[1][0], both[0][1] + both[1][1]))
        return min(found)

    return best(frozenset(r for r in range(len(table)) if weights[r] > 0), max_depth, max_leaf_nodes)
