"""All prunings of a nested tree, one by one."""


def prunings(d: dict, X, costs, rows) -> list[tuple[int, int, dict]]:
    """Return number of leaves, cost and nested tree of every pruning; leaves carry their cheapest cluster.

    Costs (n, k) are Python's whole numbers.
    """
    sums = [sum(costs[r][c] for r in rows) for c in range(len(costs[0]))]
    found = [(1, min(sums), {"cluster": sums.index(min(sums))})]
    if "cluster" in d:
        return found
    sides = ("left", "right") if "threshold" in d else ("inside", "outside")
    lower, upper = (float("-inf"), d["threshold"]) if "threshold" in d else d["interval"]
    inside = [r for r in rows if lower <= float(X[r][d["feature"]]) <= upper]
    outside = [r for r in rows if r not in inside]
    for a, cost_a, first in prunings(d[sides[0]], X, costs, inside):
        for b, cost_b, second in prunings(d[sides[1]], X, costs, outside):
            found.append((a + b, cost_a + cost_b, d | {sides[0]: first, sides[1]: second}))
    return found
