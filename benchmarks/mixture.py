"""MMDT: milliseconds from a mixture's parameters, and from labelled rows against one pass over them and CART."""

from collections.abc import Callable

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import medians, print_table
from boxwood import Mixture
from boxwood.grow import mmdt

PARAMETERS = ((5, 2), (100, 10), (10_000, 10), (10, 10_000))
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
LABELLED = ((5_000_000, 2, 5), (500_000, 10, 20))
THRESHOLDS = ("midpoint", "tails", "chebyshev", "gaussian")
MOST_FOR_OBJECTIVES = 100  # components; these thresholds take the square of their number at each node


def main() -> None:
    """Print a line for each number of components and axes, of rows behind the mixture, and of labelled rows."""
    rows = [[f"k={k:,}, d={d:,}", *_parameters(k, d)] for k, d in PARAMETERS]
    print_table("MMDT from parameters: milliseconds", ["means", *THRESHOLDS, "chain"], rows)
    rows = [[f"{n:,} x 2, k=5", *_given_the_mixture(n)] for n in ROWS]
    print_table("\nMMDT given the mixture: milliseconds", ["rows", "MMDT", "mixture of rows"], rows)
    rows = [[f"{n:,} x {d}, k={k}", *_labelled(n, d, k)] for n, d, k in LABELLED]
    header = ["labelled rows", "X.sum()", "mixture + MMDT", "CART", "MMDT/sum", "CART/MMDT"]
    print_table("\nMMDT from labelled rows: milliseconds, and ratios of medians", header, rows)


def _parameters(k: int, d: int) -> list[str]:
    random = np.random.default_rng(0)
    mixture = Mixture(np.ones(k), random.normal(size=(k, d)), np.ones((k, d)))
    steps = random.normal(size=(k, d))
    steps[:, 0] = np.arange(k) ** 3.0 * 1e4  # each gap wider than that before it, so one component to a cut
    chain = Mixture(np.ones(k), steps, np.ones((k, d)))
    tasks = {
        threshold: _task(mixture, threshold)
        for threshold in THRESHOLDS
        if threshold == "midpoint" or k <= MOST_FOR_OBJECTIVES
    }
    seconds = medians({**tasks, "chain": _task(chain, "midpoint")})
    return [f"{1e3 * seconds[name]:.2f}" if name in seconds else "-" for name in (*THRESHOLDS, "chain")]


def _task(mixture: Mixture, threshold: str) -> Callable[[], object]:
    return lambda: mmdt(mixture, threshold=threshold)


def _given_the_mixture(n: int) -> list[str]:
    X, labels = _labelled_rows(n, 2, 5)
    mixture = Mixture.of(X, labels)
    seconds = medians({"mmdt": lambda: mmdt(mixture), "mixture": lambda: Mixture.of(X, labels)})
    return [f"{1e3 * seconds['mmdt']:.2f}", f"{1e3 * seconds['mixture']:.2f}"]


def _labelled(n: int, d: int, k: int) -> list[str]:
    X, labels = _labelled_rows(n, d, k)
    tasks: dict[str, Callable[[], object]] = {
        "sum": X.sum,
        "mmdt": lambda: mmdt(Mixture.of(X, labels)),
        "cart": lambda: DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(X, labels),
    }
    seconds = medians(tasks)
    ratios = f"{seconds['mmdt'] / seconds['sum']:.1f}", f"{seconds['cart'] / seconds['mmdt']:.0f}"
    return [*(f"{1e3 * seconds[name]:.1f}" for name in tasks), *ratios]


def _labelled_rows(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    labels = random.integers(k, size=n)
    return random.normal(size=(n, d)) + 10 * random.normal(size=(k, d))[labels], labels
