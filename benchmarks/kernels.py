"""Kernels: clusters and trees against the floor of computing the Gram tiles once; the search for intervals; widths.

Kernel k-means and Kernel ExKMC need each value of the kernel at least once; Kernel IMM only those between rows of one
cluster, to choose between its kinds of features. Trees explain the blobs themselves. The bandwidth is "scale".

The last table says how well kernel k-means finds known classes with each rule for the bandwidth, and with the best of
many bandwidths. "auto" was chosen by this table, with other tables of moons and rings.
"""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from benchmarks.papers.data import load
from benchmarks.timing import medians, peak_bytes, print_table
from boxwood import KernelKMeans, Reference, grow
from boxwood.errors import DataError, StoppedEarlyWarning
from boxwood.kernels import Gaussian, Kernel, Laplace
from boxwood.loops.expand import cheapest_interval
from boxwood.loops.jit import jit

ROWS = (2_000, 10_000, 50_000)
D, K = 10, 10
SPREAD = 4.0  # of blobs whose centres are some 18 apart, so that a single cut parts no cluster cleanly
ITERATIONS = 3
RULES = ("auto", "scale", "median")
CLASSES = ("spiral", "pathbased", "jain", "flame", "aggregation", "compound", "r15", "iris", "wine", "wdbc", "penguins",
           "ecoli", "glass", "banknote")  # fmt: skip
UNITS = ("wine", "wdbc", "penguins", "ecoli", "glass")  # tables whose columns have different units
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
    print_widths()


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
    if cheapest_interval(*arrays, 0, k)[0] != best_pair(*arrays):
        raise AssertionError("the two searches must find the same cost")
    seconds = medians({"intervals": lambda: cheapest_interval(*arrays, 0, k), "pairwise": lambda: best_pair(*arrays)})
    times = [f"{1e3 * seconds[name]:.2f}" for name in ("intervals", "pairwise")]
    return [f"{n:,} rows, k={k}", *times, f"{seconds['pairwise'] / seconds['intervals']:.1f}"]


@jit
def best_pair(ordered, order, costs, total):  # type: ignore[no-untyped-def]
    """Return the lowest cost of an interval that holds neither the first nor the last value, all values different.

    Looks at each pair of ends, with running totals: time n² k.

    IN: as `cheapest_interval`.
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


# ---------------------------------------------------------------------------------------------------- bandwidths


def print_widths() -> None:
    """Print the adjusted Rand index of kernel k-means with the classes, by table and rule for the bandwidth."""
    tables = list(_classes())
    for kernel in (Gaussian, Laplace):
        found = np.array([[_recovered(kernel, rule, X, y) for rule in RULES] for _, X, y in tables])
        best = np.array([_best_width(kernel, X, y) for _, X, y in tables])
        lines = [
            [name, *(f"{value:.2f}" for value in (*values, most))]
            for (name, _, _), values, most in zip(tables, found, best, strict=True)
        ]
        means = ["mean", *(f"{value:.3f}" for value in (*found.mean(axis=0), best.mean()))]
        header = [f"{kernel.__name__}: ARI with the classes", *RULES, "best of many"]
        print_table("\nBandwidths of kernel k-means", header, [*lines, means])
    print("best of many: by the classes, of 14 bandwidths from 1/8 to 1024 times 'scale'; columns of * are scaled")


def _classes() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield tables with classes: at most 800 rows of those whose file is there."""
    for noise in (0.05, 0.1):
        yield f"moons {noise}", *make_moons(400, noise=noise, random_state=0)
    for factor in (0.3, 0.5):
        yield f"rings {factor}", *make_circles(400, noise=0.05, factor=factor, random_state=0)
    for name in CLASSES:
        table = load(name)
        if table is None:
            continue
        rows = np.sort(np.random.default_rng(0).permutation(len(table.X))[:800])
        X, y = table.X[rows], table.labels[rows]
        yield name, X, y
        if name in UNITS:
            yield f"{name}*", (X - X.mean(axis=0)) / X.std(axis=0), y


def _recovered(kernel: Callable[[str | float], Kernel], gamma: str | float, X: np.ndarray, y: np.ndarray) -> float:
    model = KernelKMeans(len(np.unique(y)), kernel=kernel(gamma), random_state=0, n_jobs=-1)
    try:
        return float(adjusted_rand_score(y, model.fit(X).labels_))
    except DataError:  # too narrow, or too wide: fewer rows differ than there are clusters
        return 0.0


def _best_width(kernel: Callable[..., Gaussian | Laplace], X: np.ndarray, y: np.ndarray) -> float:
    scale = kernel("scale").fitted(X).gamma
    return max(_recovered(kernel, scale * 2.0**step, X, y) for step in range(-3, 11))
