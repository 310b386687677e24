"""The best one-line rule of a cluster, by trying all boxes."""

from itertools import chain, combinations, product

import numpy as np


def all_masks(x, known=None, *, has_gaps=False):
    """Return the rows of each condition on a column, but for conditions without rows.

    A condition asks for numbers from one value to another, with or without missing ones, which are infinite; for any
    set of codes; of categories in an order for a run of codes, with or without each that stands beside the order.
    """
    if known is not None and not known.ordered:
        return _of_sets(x, [(), *_subsets(np.unique(x))])
    end = known.known if known is not None else np.inf
    numbers, beside = np.unique(x[x < end]), np.unique(x[x >= end]) if has_gaps or known is not None else []
    runs = [(low, high) for low in numbers for high in numbers if low <= high]
    masks = [(x >= low) & (x <= high) & (x < end) for low, high in runs]
    masks = [mask | np.isin(x, codes) for mask in masks for codes in [(), *_subsets(beside)]]
    return masks + ([np.isposinf(x), x < np.inf] if has_gaps else []) + (_of_sets(x, [beside]) if known else [])


def _subsets(values):
    return chain.from_iterable(combinations(values, size) for size in range(1, len(values) + 1))


def _of_sets(x, sets):
    return [np.isin(x, each) for each in sets if len(each)]


def best_value(table, is_own, weights, value, size, *, categories=None, gaps=()):
    """Return the most that a rule of up to `size` conditions has.

    IN: value: from the weight of the cluster's rows that a rule holds, that of others, and the number of rows.
    """
    masks = [all_masks(table[:, j], (categories or {}).get(j), has_gaps=j in gaps) for j in range(table.shape[1])]
    best = -1.0
    for *columns, last in combinations(range(len(masks)), min(size, len(masks))):
        of_last = np.array(_different(masks[last]), dtype=bool).reshape(-1, len(table))
        for chosen in product(*(_different(masks[j]) for j in columns)):
            rows = of_last & np.logical_and.reduce(chosen)  # with each condition on the last column
            found, others = rows @ (weights * is_own), rows @ (weights * ~is_own)
            best = max([best, *map(value, found.tolist(), others.tolist(), rows.sum(axis=1).tolist())])
    return best


def _different(masks):
    return [np.frombuffer(each, dtype=np.bool_) for each in {mask.tobytes() for mask in masks}]
