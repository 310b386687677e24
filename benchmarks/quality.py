"""Price of explainability at k leaves, of every method and of `explain`, for k-means clusters.

Columns are scaled to unit variance. Besides scikit-learn's own tables, all CSV files of the folder that BOXWOOD_DATA
names are used (header line, numeric columns first, a last column `label` ignored), at most 20 000 rows of each.
"""

import csv
import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import boxwood as bw
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
    for name, X, k in tables():
        cells, prices = _row(X, k)
        rows.append([f"{name} {X.shape[0]} x {X.shape[1]}, k={k}", *cells])
        if prices["explain"] > min(prices.values()) * (1 + 1e-12):
            beaten.append(name)
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


def tables() -> Iterator[tuple[str, np.ndarray, int]]:
    for name, k in (("iris", 3), ("wine", 3), ("breast_cancer", 5), ("digits", 10)):
        yield name, _scaled(getattr(datasets, f"load_{name}")().data), k
    folder = os.environ.get("BOXWOOD_DATA")
    if folder is None:
        print("BOXWOOD_DATA names no folder, so only the tables of scikit-learn are used")
        return
    ours = ("iris", "wine")  # the same tables as those of scikit-learn
    for path in (path for path in sorted(Path(folder).glob("*.csv.gz")) if not path.name.startswith(ours)):
        with gzip.open(path, "rt") as lines:
            header, *records = csv.reader(lines)
        if header[-1] == "label":
            X = np.array([record[:-1] for record in records], dtype=float)
            k = len({record[-1] for record in records})
            if 2 <= k <= 50:
                yield path.name.removesuffix(".csv.gz"), _scaled(X[:: len(X) // 20_000 + 1]), k


def _scaled(X: np.ndarray) -> np.ndarray:
    return np.asarray(StandardScaler().fit_transform(X))
