"""Price of explainability at k leaves, of every method and of `explain`, for k-means clusters.

The tables are those of `benchmarks.tables`; their classes are not used.
"""

import time

import numpy as np
from sklearn.cluster import KMeans

import boxwood as bw
from benchmarks.tables import tables
from benchmarks.timing import print_table
from boxwood import grow
from boxwood.reference import Task

METHODS = [name for name in grow.METHODS if not name.startswith("kernel")]  # kernels explain other clusters


def _tree(name: str, X: np.ndarray, reference: bw.Reference, k: int) -> bw.ThresholdTree:
    method, task = grow.METHODS[name], Task.of(X, reference, max_leaf_nodes=k, random_state=0)
    from_root = {"base": "root"} if "base" in method.options else {}  # at k leaves nothing is left to expand
    return method.grow(task, **from_root).tree


def main() -> None:
    """Print a line for each table; a star marks trees that leave some cluster without a leaf."""
    rows, beaten = [], []
    for table in tables():
        cells, prices = _row(table.X, table.k)
        rows.append([f"{table.name} {table.X.shape[0]} x {table.X.shape[1]}, k={table.k}", *cells])
        if prices["explain"] > min(prices.values()) * (1 + 1e-12):
            beaten.append(table.name)
    header = ["k-means clusters of", *METHODS, "explain", "seconds"]
    print_table("Quality: price of explainability with k leaves", header, rows)
    print(f"explain is the cheapest in {len(rows) - len(beaten)} of {len(rows)}; not in: {', '.join(beaten) or '-'}")


def _row(X: np.ndarray, k: int) -> tuple[list[str], dict[str, float]]:
    kmeans = KMeans(k, n_init=3, random_state=0).fit(X)
    reference = bw.Reference.from_estimator(kmeans, X)
    trees = {name: _tree(name, X, reference, k) for name in METHODS}
    start = time.perf_counter()
    trees["explain"] = bw.explain(X, kmeans, max_leaf_nodes=k).tree
    seconds = time.perf_counter() - start
    prices = {name: bw.metrics.price_of_explainability(X, tree, reference) for name, tree in trees.items()}
    stars = {name: "" if len(set(tree.leaf_clusters)) == k else "*" for name, tree in trees.items()}
    return [*(f"{prices[name]:.4f}{stars[name]}" for name in trees), f"{seconds:.1f}"], prices
