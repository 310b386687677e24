"""A tree that was changed by hand, measured again: every row goes down the nested tree by itself."""

from fractions import Fraction

import numpy as np

from tests.naive.explanations import cluster_or_none
from tests.naive.mixed import mixed_cost


def recount(d: dict, table, labels, weights, categorical, scales) -> dict:
    """Return agreement, price, sizes of clusters and of what rules take, and the predicted cluster of each row.

    IN: d: the nested tree; table (n, m): numbers, codes and days, +inf where a value is missing; labels: number of each
    row's cluster, -1 for rows that are left out.
    """
    weights = [1] * len(table) if weights is None else [float(weight) for weight in weights]
    kept = [i for i in range(len(table)) if labels[i] >= 0 and weights[i] > 0]
    predicted = [cluster_or_none(d, row) for row in table]
    total = sum(Fraction(weights[i]) for i in kept)
    right = sum(Fraction(weights[i]) for i in kept if predicted[i] == labels[i])
    sizes, matched = ({}, {})
    for i in kept:
        sizes[labels[i]] = sizes.get(labels[i], 0) + weights[i]
        matched[predicted[i]] = matched.get(predicted[i], 0) + weights[i]
    there = np.where(np.isinf(table), np.nan, table)
    groups = np.array([predicted[i] if i in set(kept) else -1 for i in range(len(table))])
    own = np.array([labels[i] if i in set(kept) else -1 for i in range(len(table))])
    costs = [mixed_cost(there, categorical, each, np.array(weights), scales) for each in (groups, own)]
    return {
        "agreement": float(right / total),
        "costs": [float(cost) for cost in costs],
        "sizes": sizes,
        "matched": matched,
        "predicted": predicted,
    }


def rows_moved(before, now, labels, weights) -> dict:
    """Return the rows that count, or their weight, by the clusters that rules gave them before and give them now."""
    moved: dict = {}
    for i, pair in enumerate(zip(before, now, strict=True)):
        weight = 1 if weights is None else float(weights[i])
        if pair[0] != pair[1] and labels[i] >= 0 and weight > 0:
            moved[pair] = moved.get(pair, 0) + weight
    return moved
