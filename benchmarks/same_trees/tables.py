"""Tables with clusters, made from seeds.

All numbers come from numpy's seeded generators and from sums and products of single numbers. No clusterer, no matrix
product and no exponential of numpy stands between a seed and its table, as these may differ with the processor.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from boxwood import Mixture, Reference

KINDS = ("hard", "smooth", "positive")
MOST_ROWS, MOST_COLUMNS, MOST_CLUSTERS = 400, 8, 8


class Table(NamedTuple):
    """Rows, their clusters (-1 for noise), their weights or None, a centre for each cluster, and a mixture's parts."""

    seed: int
    X: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None
    centers: np.ndarray
    shares: np.ndarray
    variances: np.ndarray

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.centers)

    def reference(self) -> Reference:
        """Return the clusters, with their means as centres for even seeds and with the given centres for odd ones."""
        if self.seed % 2:
            return Reference(self.labels, self.centers)
        return Reference.of(self.X, self.labels, sample_weight=self.weights)

    def mixture(self) -> Mixture:
        """Return a mixture: for even seeds that of the rows, for odd ones of other numbers than any row's."""
        if self.seed % 2:
            return Mixture(self.shares, self.centers, self.variances)
        return Mixture.of(self.X, self.labels, sample_weight=self.weights)

    def names(self) -> list[str]:
        """Return a name for each row's cluster."""
        return [f"cluster {label}" for label in self.labels]


def small_table(seed: int, kind: str) -> Table:
    """Return a table of at most 400 rows, half of them with less than 30.

    "hard" has ties, duplicate rows, constant columns, neighbours in float32, values of 1e-12, 1e12 and 1e40, equal
    centres; "smooth" has blobs and few ties; "positive" has histograms' values, none below 0.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    most = 30 if rng.random() < 0.5 else MOST_ROWS
    n, d = int(rng.integers(2, most + 1)), int(rng.integers(1, MOST_COLUMNS + 1))
    k = int(rng.integers(2, min(n, MOST_CLUSTERS) + 1))
    labels = _labels(rng, n, k)
    columns = _hard_columns(rng, labels, k) if kind == "hard" else _smooth_columns(rng, labels, k)
    X = np.column_stack([columns[int(rng.integers(len(columns)))]() for _ in range(d)]).astype(np.float64)
    if kind == "positive":
        X = np.abs(X)
    if kind == "hard" and rng.random() < 0.3:  # whole rows twice
        X[rng.integers(n, size=n // 2)] = X[rng.integers(n)]
    if rng.random() < 0.2 and np.abs(X).max() < 1e30:
        X = X.astype(np.float32)
    return _table(rng, seed, X, labels, k)


def large_table(seed: int, n: int, d: int, k: int) -> Table:
    """Return blobs that overlap, with a column of ties and one of noise."""
    rng = np.random.default_rng([seed, n, d, k])
    labels = _labels(rng, n, k)
    X = rng.normal(size=(n, d)) + 3 * rng.normal(size=(k, d))[labels]
    X[:, -1] = rng.integers(0, 5, size=n) + labels
    X[:, -2] = rng.normal(size=n)
    return _table(rng, seed, X, labels, k)


def _table(rng: np.random.Generator, seed: int, X: np.ndarray, labels: np.ndarray, k: int) -> Table:
    first = np.array([np.flatnonzero(labels == c)[0] for c in range(k)])
    centers = X[first].astype(np.float64)
    if rng.random() < 0.1:
        centers[-1] = centers[0]
    scale = np.abs(centers).max(axis=0) + 1.0
    variances = rng.random(size=centers.shape) * scale
    variances[:, rng.random(centers.shape[1]) < 0.1] = 0.0
    return Table(
        seed, X, _with_noise(rng, labels, first), _weights(rng, len(X)), centers, rng.random(k) + 0.05, variances
    )


def _labels(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))


def _with_noise(rng: np.random.Generator, labels: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return labels with noise in a quarter of the tables; the rows `kept` stay, so that no cluster is lost."""
    noise = rng.random(len(labels)) < (0.2 if rng.random() < 0.25 else 0.0)
    noise[kept] = False
    return np.where(noise, -1, labels)


def _weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    kinds: list[Callable[[], np.ndarray | None]] = [
        lambda: None,
        lambda: None,
        lambda: rng.integers(1, 4, size=n).astype(float),
        lambda: rng.random(n) + 0.01,
        lambda: np.where(rng.random(n) < 0.2, 0.0, rng.integers(1, 3, size=n)),
    ]
    return kinds[int(rng.integers(len(kinds)))]()


def _smooth_columns(rng: np.random.Generator, labels: np.ndarray, k: int) -> list[Callable[[], np.ndarray]]:
    n = len(labels)
    return [
        lambda: rng.normal(size=n) + 4 * rng.normal(size=k)[labels],
        lambda: rng.normal(size=n) + 2 * rng.normal(size=k)[labels],
        lambda: rng.normal(size=n) * (0.2 + 3 * rng.random(k)[labels]),
        lambda: rng.random(n) + 0.5 * labels,
        lambda: rng.integers(0, 6, size=n) + 1.0 * labels,
    ]


def _hard_columns(rng: np.random.Generator, labels: np.ndarray, k: int) -> list[Callable[[], np.ndarray]]:
    n, tiny = len(labels), float(np.spacing(np.float32(1)))
    return [
        *_smooth_columns(rng, labels, k),
        lambda: rng.integers(0, 4, size=n).astype(float),
        lambda: rng.integers(0, 3, size=n) + 2.0 * labels,
        lambda: np.full(n, rng.normal()),
        lambda: 1.0 + rng.integers(0, 4, size=n) * tiny,
        lambda: 1.0 + rng.integers(0, 5, size=n) * np.spacing(1.0),
        lambda: 1e12 * (rng.normal(size=n) + labels),
        lambda: 1e-12 * (rng.normal(size=n) + labels),
        lambda: 1e12 + rng.integers(0, 3, size=n) + labels,
        lambda: rng.lognormal(0, 3, size=n) * (1 + labels),
        lambda: np.where(rng.random(n) < 0.6, 0.0, rng.choice([-0.0, -1.0, 1.0], size=n)),
        lambda: (1e40 if rng.random() < 0.2 else 1.0) * (rng.normal(size=n) + labels),
    ]


def as_frame(t: Table) -> pd.DataFrame:
    return pd.DataFrame(t.X, columns=[f"column {j}" for j in range(t.X.shape[1])])
