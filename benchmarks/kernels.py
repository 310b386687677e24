"""Kernels: clusters and trees against the floor of computing the Gram tiles once, and the search for intervals.

Kernel k-means and Kernel ExKMC need each value of the kernel at least once; Kernel IMM only those between rows of one
cluster, to choose between its kinds of features. Trees explain the blobs themselves. The bandwidth is "scale".
"""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.timing import medians, peak_bytes, print_table
from boxwood import KernelKMeans, Reference, grow
from boxwood.errors import StoppedEarlyWarning
from boxwood.kernels import Gaussian
from boxwood.loops._jit import jit
from boxwood.loops.expand import best_interval

ROWS = (2_000, 10_000, 50_000)
D, K = 10, 10
SPREAD = 4.0  # of blobs whose centres are some 18 apart, so that a single cut parts no cluster cleanly
ITERATIONS = 3
TASKS = ("floor", "kernel k-means", "Kernel IMM", "Kernel ExKMC")
SEARCHED = ((250, 2), (250, 10), (1_000, 2), (1_000, 10), (4_000, 2), (4_000, 10))


def main() -> None:
    """Print a line for each number of rows, then one for each search."""
    warnings.simplefilter("ignore", StoppedEarlyWarning)
    rows = [_row(n) for n in ROWS]
    header = [f"blobs x {D}, k={K}", "floor", *TASKS[1:], *(f"{task}/floor" for task in TASKS[1:])]
    print_table("Kernels: seconds, and ratios of medians", header, [[*names, *times] for names, times, _ in rows])
    header = [f"blobs x {D}, k={K}", *TASKS, "Gram matrix"]
    print_table("\nKernels: peak megabytes", header, [[*names, *peaks] for names, _, peaks in rows])
    print(f"kernel k-means: one start, at most {ITERATIONS} iterations; Kernel ExKMC: from that tree to {2 * K} leaves")
    header = ["one column", "intervals", "pairwise", "pairwise/intervals"]
    print_table("\nThe best interval: milliseconds of the search, and of looking at each pair of ends", header,
                [_search(n, k) for n, k in SEARCHED])  # fmt: skip


def _row(n: int) -> tuple[list[str], list[str], list[str]]:
    X, labels = make_blobs(n, D, centers=K, cluster_std=SPREAD, random_state=0)
    kernel = Gaussian("scale").fitted(X)
    reference = Reference.of(X, labels)
    model = KernelKMeans(K, kernel=kernel, n_init=1, max_iter=ITERATIONS, tol=0, random_state=0, n_jobs=-1)
    tree = grow.kernel_imm(X, reference, kernel=kernel)
    steps: tuple[Callable[[], object], ...] = (
        lambda: kernel.gram(X).product(np.ones((n, 1))),
        lambda: model.fit(X),
        lambda: grow.kernel_imm(X, reference, kernel=kernel),
        lambda: grow.expand(tree, X, reference, max_leaf_nodes=2 * K, kernel=kernel, cuts="interval"),
    )
    tasks = dict(zip(TASKS, steps, strict=True))
    seconds = medians(tasks)
    times = [f"{seconds[task]:.3f}" for task in TASKS]
    times += [f"{seconds[task] / seconds['floor']:.1f}" for task in TASKS[1:]]
    peaks = [f"{peak_bytes(task) / 1e6:.1f}" for task in tasks.values()]
    return [f"{n:,}"], times, [*peaks, f"{8e-6 * n * n:.0f}"]


# ---------------------------------------------------------------------------------------------------- intervals


def _search(n: int, k: int) -> list[str]:
    random = np.random.default_rng(0)
    costs = random.integers(1 << 40, size=(n, k))
    arrays = np.arange(n, dtype=float), random.permutation(n), costs, costs.sum(axis=0)
    if best_interval(*arrays, 0, k)[0] != best_pair(*arrays):
        raise AssertionError("the two searches must find the same cost")
    seconds = medians({"intervals": lambda: best_interval(*arrays, 0, k), "pairwise": lambda: best_pair(*arrays)})
    times = [f"{1e3 * seconds[name]:.2f}" for name in ("intervals", "pairwise")]
    return [f"{n:,} rows, k={k}", *times, f"{seconds['pairwise'] / seconds['intervals']:.1f}"]


@jit
def best_pair(ordered, order, costs, total):  # type: ignore[no-untyped-def]
    """Return the lowest cost of an interval that holds neither the first nor the last value, all values different.

    Looks at each pair of ends, with running totals: time n² k.

    IN: as `best_interval`.
    """
    n, k = costs.shape
    best = np.iinfo(np.int64).max
    inside = np.zeros(k, dtype=np.int64)
    for start in range(1, n - 1):
        inside[:] = 0
        for end in range(start, n - 1):
            a, b = np.iinfo(np.int64).max, np.iinfo(np.int64).max
            for cluster in range(k):
                inside[cluster] += costs[order[end], cluster]
                a, b = min(a, inside[cluster]), min(b, total[cluster] - inside[cluster])
            best = min(best, a + b)
    return best
