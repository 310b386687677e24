"""Overlap of clusterings, by sets of rows and by every matching."""

from itertools import permutations


def best_overlaps(old, new, weights) -> tuple[float, dict]:
    """Return the largest sum of Jaccard overlaps over all one-to-one matchings, and the overlap of each pair.

    Labels are numbers; -1 is no cluster.
    """
    rows = range(len(old))
    pairs = {}
    for a in sorted({c for c in old if c >= 0}):
        for b in sorted({c for c in new if c >= 0}):
            both = sum(weights[r] for r in rows if old[r] == a and new[r] == b)
            either = sum(weights[r] for r in rows if old[r] == a or new[r] == b)
            pairs[a, b] = both / either if either else 0.0
    some, others = sorted({a for a, _ in pairs}), sorted({b for _, b in pairs})
    others += [None] * (len(some) - len(others))
    best = max(
        sum(pairs.get(pair, 0.0) for pair in zip(some, order, strict=False))
        for order in permutations(others, len(some))
    )
    return best, pairs
