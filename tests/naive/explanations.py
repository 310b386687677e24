"""Rules and rows of tables, as text and one by one."""

import numpy as np

# -------------------------------------------------------------------------------------------------------- explanations


def holds(rule, row: dict) -> bool:
    """Return whether a row, given by column name, fulfils every condition of a rule."""
    return all(any(float(row[one.column]) in piece for piece in one.intervals) for one in rule)


def measured(ex, columns, X, labels, weights=None) -> list[tuple]:
    """Return size, share, ruled, caught and precision of each cluster, by trying every rule on every row."""
    w = [1] * len(X) if weights is None else list(weights)
    rows = [dict(zip(columns, row, strict=True)) for row in X]
    kept = [r for r in range(len(X)) if labels[r] != -1]
    found = []
    for cluster in ex.clusters:
        own = [r for r in kept if labels[r] == cluster.name]
        held = [r for r in kept if any(holds(rule, rows[r]) for rule in cluster.rules)]
        both = sum(w[r] for r in own if r in held)
        size, held_size = sum(w[r] for r in own), sum(w[r] for r in held)
        share = size / sum(w[r] for r in kept)
        found.append((size, share, held_size, both / size, both / held_size if held_size else None))
    return found


def noise(ex, columns, X, labels) -> tuple[int, ...]:
    """Return how many rows left out the rules of each cluster take, by trying every rule on every row."""
    rows = [dict(zip(columns, row, strict=True)) for row, label in zip(X, labels, strict=True) if label == -1]
    return tuple(sum(any(holds(rule, row) for rule in cluster.rules) for row in rows) for cluster in ex.clusters)


# ----------------------------------------------------------------------------------------------------- rows of a table


def cluster_or_none(d: dict, x: np.ndarray) -> int | None:
    """Return the cluster of a row in a nested tree, or None where a value is missing that is asked for on the way."""
    while "cluster" not in d:
        value = float(x[d["feature"]])
        if np.isnan(value):
            return None
        if "threshold" in d:
            d = d["left"] if value <= d["threshold"] else d["right"]
        elif "values" in d:
            d = d["in"] if value in d["values"] else d["out"]
        else:
            d = d["inside"] if d["interval"][0] <= value <= d["interval"][1] else d["outside"]
    return d["cluster"]


# -------------------------------------------------------------------------------------------------- misassigned rows


def misassigned(d: dict, x, cluster: int):
    """Return the cluster of a row in a nested tree, and the last cut on its way above a leaf of its own cluster.

    The cut is (column, end that is nearest, distance to it), or None.
    """
    last = None
    while "cluster" not in d:
        if cluster in _clusters_below(d):
            last = d
        value = float(x[d["feature"]])
        if "threshold" in d:
            d = d["left"] if value <= d["threshold"] else d["right"]
        else:
            d = d["inside"] if d["interval"][0] <= value <= d["interval"][1] else d["outside"]
    if last is None:
        return d["cluster"], None
    ends = [last["threshold"]] if "threshold" in last else [end for end in last["interval"] if np.isfinite(end)]
    distance, end = min((abs(float(x[last["feature"]]) - end), -end) for end in ends)
    return d["cluster"], (last["feature"], -end, distance)


def _clusters_below(d: dict) -> set:
    if "cluster" in d:
        return {d["cluster"]}
    return set().union(*(_clusters_below(d[side]) for side in ("left", "right", "inside", "outside") if side in d))
