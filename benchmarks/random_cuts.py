"""Random cuts: time as the number of centres doubles, many trees against one IMM, and prices beside other trees.

Prices are of tables with columns scaled to unit variance (see `quality`), for the clusters of k-medians or k-means of
each objective; all trees have one leaf a cluster.
"""

import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import boxwood as bw
from benchmarks.tables import tables
from benchmarks.timing import medians, print_table
from boxwood import grow
from boxwood.errors import StoppedEarlyWarning
from boxwood.grow.centers.random_cuts import RandomCutter
from boxwood.metrics import best_centers, price_of_explainability

CENTRES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
N_TREES = (1, 10, 100)
OBJECTIVES = ("l1", "l2", "sqeuclidean")


def main() -> None:
    """Print times per doubling with the fitted exponent, times of many trees, and prices for each objective."""
    warnings.simplefilter("ignore", StoppedEarlyWarning)
    warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)  # of CART, for clusters of few rows
    _doublings()
    _many_trees()
    for objective in OBJECTIVES:
        _prices(objective)


def _doublings() -> None:
    seconds = {objective: [_seconds_of_a_tree(k, objective) for k in CENTRES] for objective in OBJECTIVES}
    rows = []
    for i, k in enumerate(CENTRES):
        times = [f"{1e3 * seconds[o][i]:.1f}" for o in OBJECTIVES]
        ratios = [f"{seconds[o][i] / seconds[o][i - 1]:.2f}" if i else "-" for o in OBJECTIVES]
        rows.append([f"k={k:,}", *times, *ratios])
    slopes = [np.polyfit(np.log(CENTRES), np.log(seconds[o]), 1)[0] for o in OBJECTIVES]
    header = ["centres, d=10", *OBJECTIVES, *(f"{o} x" for o in OBJECTIVES)]
    print_table("Random cuts, fast: milliseconds of a tree, and ratio to half as many centres", header, rows)
    print("fitted exponents:", ", ".join(f"{o} {slope:.2f}" for o, slope in zip(OBJECTIVES, slopes, strict=True)))


def _seconds_of_a_tree(k: int, objective: str) -> float:
    centers = np.random.default_rng(0).random((k, 10))
    grow.random_cuts(centers[:10], objective=objective)  # compiled
    times = []
    for seed in range(5):
        start = time.perf_counter()
        grow.random_cuts(centers, objective=objective, random_state=seed)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _many_trees() -> None:
    rows = []
    for spread in (1, 3):
        X, labels = make_blobs(1_000_000, 10, centers=20, cluster_std=spread, random_state=0)
        reference = bw.Reference.of(X, labels, center="median")
        model = bw.RandomCuts(n_trees=100, random_state=0, n_jobs=-1)
        tasks = {
            "sum": X.sum,
            "imm": lambda X=X, reference=reference: grow.imm(X, reference),
            "best of 100": lambda X=X, reference=reference, m=model: m._grow(X, reference, None, -1),
        }
        seconds = medians(tasks)
        imm = price_of_explainability(X, grow.imm(X, reference), reference, objective="l1", centers="reference")
        prices = [f"{p:.3f}" for p in (imm, model.prices_.min(), model.prices_.mean(), model.prices_.max())]
        ratios = [f"{seconds[a] / seconds[b]:.1f}" for a, b in (("imm", "sum"), ("best of 100", "imm"))]
        rows.append([f"spread {spread}", *ratios, *prices])
    header = ["1,000,000 x 10, k=20", "IMM/sum", "best of 100/IMM", "IMM price", "best", "mean", "worst"]
    print_table(
        "\nA hundred random trees, drawn and scored, against one IMM (ratios of medians; l1 prices)", header, rows
    )


def _prices(objective: str) -> None:
    rows = []
    for name, X, k in tables():
        if len(X) <= k:
            rows.append([f"{name}, k={k}: a cluster for each row", *["-"] * 7])
            continue
        labels = _labels(X, k, objective)
        centers = best_centers(X, labels, k, objective=objective)
        if len(np.unique(centers, axis=0)) < k:
            rows.append([f"{name}, k={k}: clusters with equal medians", *["-"] * 7])
            continue
        reference = bw.Reference(labels, centers)
        cutter, random = RandomCutter.of(centers, objective=objective), np.random.default_rng(0)
        drawn = [_price(X, cutter.draw(random), reference, objective) for _ in range(max(N_TREES))]
        others = (
            grow.imm(X, reference),
            grow.expand(None, X, reference, max_leaf_nodes=k),
            grow.cart(X, labels, max_leaf_nodes=k),
        )
        cells = [_price(X, tree, reference, objective) for tree in others]
        cells += [min(drawn[:n]) for n in N_TREES] + [float(np.mean(drawn))]
        rows.append([f"{name}, k={k}", *(f"{cell:.3f}" for cell in cells)])
    header = [f"{objective} clusters of", "IMM", "ExKMC", "CART", *(f"best of {n}" for n in N_TREES), "mean"]
    header[4] = "1 random"
    print_table(f"\nPrices of trees with k leaves, {objective}", header, rows)


def _labels(X: np.ndarray, k: int, objective: str) -> np.ndarray:
    if objective == "sqeuclidean":
        return KMeans(k, n_init=3, random_state=0).fit(X).labels_
    return bw.KMedians(k, objective=objective, n_init=3, random_state=0, n_jobs=-1).fit(X).labels_


def _price(X: np.ndarray, tree: bw.ThresholdTree, reference: bw.Reference, objective: str) -> float:
    return price_of_explainability(X, tree, reference, objective=objective)
