"""The explanation step alone, warm: IMM against one pass over the data, CART, k-means and the authors' IMM."""

import importlib.util
from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import medians, peak_bytes, print_table
from boxwood import Reference
from boxwood.grow import imm

SHAPES = ((1_000_000, 10, 10), (500_000, 2, 5), (100_000, 20, 20), (10_000, 100, 50))
HAS_EXKMC = importlib.util.find_spec("ExKMC") is not None


def main() -> None:
    """Print one line for each shape."""
    header = ["blobs", "X.sum()", "IMM", "predict", "CART", "k-means", "ExKMC", "IMM/sum", "predict/sum", "CART/IMM",
              "k-means/IMM", "memory/X"]  # fmt: skip
    rows = [_row(*shape) for shape in SHAPES]
    print_table("Growth: milliseconds, and ratios of medians", header, rows)
    if not HAS_EXKMC:
        print("ExKMC: not installed, so not timed (pip install ExKMC; its sources do not build on Python 3.11)")


def _row(n: int, d: int, k: int) -> list[str]:
    X, y = make_blobs(n, d, centers=k, random_state=0)
    reference = Reference.of(X, y)
    tree = imm(X, reference)
    tasks: dict[str, Callable[[], object]] = {
        "sum": X.sum,
        "imm": lambda: imm(X, reference),
        "predict": lambda: tree.predict(X),
        "cart": lambda: DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(X, y),
        "kmeans": lambda: KMeans(k, n_init=1, random_state=0).fit(X),
    }
    if HAS_EXKMC:
        tasks["exkmc"] = _exkmc(X, k)
    seconds = medians(tasks)
    times = [f"{1e3 * seconds[name]:.1f}" if name in seconds else "-" for name in (*list(tasks)[:5], "exkmc")]
    return [
        f"{n:,} x {d}, k={k}",
        *times,
        f"{seconds['imm'] / seconds['sum']:.1f}",
        f"{seconds['predict'] / seconds['sum']:.1f}",
        f"{seconds['cart'] / seconds['imm']:.0f}",
        f"{seconds['kmeans'] / seconds['imm']:.1f}",
        f"{peak_bytes(lambda: imm(X, reference)) / X.nbytes:.2f}",
    ]


def _exkmc(X: np.ndarray, k: int) -> Callable[[], object]:
    from ExKMC.Tree import Tree

    kmeans = KMeans(k, n_init=1, random_state=0).fit(X)
    return lambda: Tree(k, base_tree="IMM").fit(X, kmeans)
