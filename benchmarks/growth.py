"""The explanation step alone, warm: IMM against one pass over the data, CART, k-means and the authors' IMM.

A second table has the growth with the number of clusters, on rows without any structure, where trees are deep; a third
one many clusters beside words and on a page; a last one the frontier beside the growth of the larger tree it prunes.
"""

import importlib.util
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import medians, peak_bytes, print_table
from boxwood import IMM, Explanation, Reference, explain
from boxwood.explanation.measure.frontier import largest_of, way_of
from boxwood.grow import greedy, imm, refine, shallow

SHAPES = ((1_000_000, 10, 10), (500_000, 2, 5), (100_000, 20, 20), (10_000, 100, 50))
CLUSTERS = (100, 400, 1000)  # of 20,000 rows of normal numbers in 5 columns
WORDS = ((1, 3), (1, 200), (6, 20))  # columns of so many words
HAS_EXKMC = importlib.util.find_spec("ExKMC") is not None


def main() -> None:
    """Print one line for each shape."""
    header = ["blobs", "X.sum()", "IMM", "predict", "CART", "k-means", "ExKMC", "IMM/sum", "predict/sum", "CART/IMM",
              "k-means/IMM", "fit/IMM", "memory/X"]  # fmt: skip
    rows = [_row(*shape) for shape in SHAPES]
    print_table("Growth: milliseconds, and ratios of medians", header, rows)
    if not HAS_EXKMC:
        print("ExKMC: not installed, so not timed (pip install ExKMC; its sources do not build on Python 3.11)")
    print()
    names = [f"k={k}" for k in CLUSTERS]
    print_table("Many clusters: seconds of processor", ["20,000 x 5", *names, "k=400/k=100"], _by_clusters())
    print()
    header = ["CART on numbers, k=1,000", *(f"{n} of {m} words" for n, m in WORDS), "page"]
    print_table("Many clusters beside words: seconds of processor", header, [_beside_words()])
    print()
    header = ["20,000 x 10, k=8", "larger tree", "frontier", "ratio"]
    print_table("Frontiers: seconds of processor", header, _frontiers())


def _by_clusters() -> list[list[str]]:
    """Return one line for each grower: the time by number of clusters, and a ratio of two."""
    X = np.random.default_rng(0).normal(size=(20_000, 5))
    labels = {k: KMeans(k, n_init=1, random_state=0).fit(X).labels_ for k in CLUSTERS}
    growers: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {
        "imm": lambda X, y: imm(X, Reference.of(X, y), n_jobs=1),
        "greedy": lambda X, y: greedy(X, Reference.of(X, y), n_jobs=1),
        "shallow": lambda X, y: shallow(X, Reference.of(X, y), n_jobs=1),
        "imm, refined": lambda X, y: refine(imm(X, Reference.of(X, y)), X, Reference.of(X, y), n_jobs=1),
        "explain": explain,
    }
    rows = []
    for name, grow in growers.items():
        grow(X[:500], labels[100][:500] % 7)  # compiles
        seconds = {k: _processor_seconds(lambda grow=grow, k=k: grow(X, labels[k])) for k in CLUSTERS}
        rows.append([name, *(f"{seconds[k]:.2f}" for k in CLUSTERS), f"{seconds[400] / seconds[100]:.1f}"])
    return rows


def _beside_words() -> list[str]:
    """Return the time without words, with columns of words, and that of a page with so many clusters."""
    rng, n = np.random.default_rng(0), 20_000
    labels = np.arange(n) % 1000
    X = pd.DataFrame({"x": rng.normal(size=n) + labels % 37, "k": labels // 37 + 0.2 * rng.normal(size=n)})
    tables = [X, *(X.assign(**{f"w{j}": _words(rng, n, m) for j in range(d)}) for d, m in WORDS)]
    for table in tables:
        explain(table[:500], labels[:500] % 7, method="cart")  # compiles
    seconds = [_processor_seconds(lambda table=table: explain(table, labels, method="cart")) for table in tables]
    ex = explain(X[:3_400], np.arange(3_400) % 1_700, method="cart")
    return [f"{time:.2f}" for time in (*seconds, _processor_seconds(ex.to_html))]


def _words(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return np.array([f"word {i}" for i in range(m)], dtype=object)[rng.integers(m, size=n)]


def _frontiers() -> list[list[str]]:
    """Return one line for each method: the time of the larger tree, that of the frontier, and their ratio."""
    X, y = make_blobs(20_000, 10, centers=8, cluster_std=5.0, random_state=0)
    rows = []
    for method in ("auto", "cart", "exkmc", "expand", "imm"):
        anew = [explain(X, y, method=method, n_jobs=1) for _ in range(5)]  # as an explanation keeps its frontier
        growth = min(_processor_seconds(lambda ex=ex: _larger_tree(ex)) for ex in anew)
        frontier = min(_processor_seconds(ex.frontier) for ex in anew)
        rows.append([method, f"{growth:.3f}", f"{frontier:.3f}", f"{frontier / growth:.1f}"])
    return rows


def _larger_tree(ex: Explanation) -> object:
    return way_of(ex, ex._rows()).grown(ex._rows().task.with_leaves(largest_of(ex)))


def _processor_seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


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
    tasks["fit"] = lambda: IMM().fit(X, y)
    seconds = medians(tasks)
    times = [f"{1e3 * seconds[name]:.1f}" if name in seconds else "-" for name in (*list(tasks)[:5], "exkmc")]
    return [
        f"{n:,} x {d}, k={k}",
        *times,
        f"{seconds['imm'] / seconds['sum']:.1f}",
        f"{seconds['predict'] / seconds['sum']:.1f}",
        f"{seconds['cart'] / seconds['imm']:.0f}",
        f"{seconds['kmeans'] / seconds['imm']:.1f}",
        f"{seconds['fit'] / seconds['imm']:.1f}",
        f"{peak_bytes(lambda: imm(X, reference)) / X.nbytes:.2f}",
    ]


def _exkmc(X: np.ndarray, k: int) -> Callable[[], object]:
    from ExKMC.Tree import Tree

    kmeans = KMeans(k, n_init=1, random_state=0).fit(X)
    return lambda: Tree(k, base_tree="IMM").fit(X, kmeans)
