"""Kernels, their distances and costs."""

import math

import numpy as np


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


def distance_ratios(X, labels, kernel, weights) -> tuple[float, float]:
    """Return the largest V/P of pairs of centres and P/V of rows: P is u'u, V u' K+ u, for their differences u."""
    kept = [i for i, (c, w) in enumerate(zip(labels, weights, strict=True)) if c >= 0 and w > 0]
    columns = [[float(x) for x in column] for column in np.transpose(X)]
    values = [sorted({column[i] for i in kept}) for column in columns]
    grams = [kernel.axis_kernel(j, axis, axis) for j, axis in enumerate(values)]
    Z = {i: [K[axis.index(column[i])] for K, axis, column in zip(grams, values, columns, strict=True)] for i in kept}
    members = {c: [i for i in kept if labels[i] == c] for c in sorted({labels[i] for i in kept})}
    centers = {
        c: [sum(weights[i] * Z[i][j] for i in rows) / sum(weights[i] for i in rows) for j in range(len(columns))]
        for c, rows in members.items()
    }

    def squares(first, second):
        steps = [a - b for a, b in zip(first, second, strict=True)]
        return sum(u @ np.linalg.pinv(K) @ u for u, K in zip(steps, grams, strict=True)), sum(u @ u for u in steps)

    pairs = [squares(centers[a], centers[b]) for a in members for b in members if a < b]
    rows = [squares(Z[i], centers[labels[i]]) for i in kept]
    stretch = max((product / plain for product, plain in pairs if product > 1e-12), default=0.0)
    return stretch, max((plain / product for product, plain in rows if product > 1e-12), default=0.0)


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
