"""The cases: a table, k-means clusters of it, and a number of leaves."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from benchmarks.tables import Table, tables

NUMBERS_OF_CLUSTERS = (5, 20, 50)  # besides the number of classes
ROWS_EACH = 10  # rows for each cluster, at least
IMAGES = {"mnist": 4000, "cifar10_small": 3000}  # tables of pictures, and how many of their rows are taken


class Clusters(NamedTuple):
    """A table of standardised columns and the clusters of k-means with one seed."""

    table: str
    X: np.ndarray
    kmeans: KMeans
    seed: int

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.kmeans.n_clusters)

    @property
    def key(self) -> str:
        """The table's name and size, the number of clusters and the seed, as text."""
        return f"{self.table} {self.X.shape[0]}x{self.X.shape[1]} k={self.k} seed={self.seed}"


def numbers_of_clusters(table: Table) -> list[int]:
    """Return the numbers of clusters that a table is cut into."""
    return sorted({k for k in (table.k, *NUMBERS_OF_CLUSTERS) if len(table.X) >= ROWS_EACH * k})


def clusters_of(table: Table, k: int, seed: int) -> Clusters:
    """Return the clusters of k-means, the best of four starts."""
    return Clusters(table.name, table.X, KMeans(k, n_init=4, random_state=seed).fit(table.X), seed)


def wide_tables() -> Iterator[Table]:
    """Yield tables of many columns: made ones, and pictures of the folder that BOXWOOD_DATA names."""
    yield _blobs("blobs", 10_000, 100, 50, spread=1.0)
    yield _blobs("blobs", 2_000, 500, 10, spread=0.3)
    folder = os.environ.get("BOXWOOD_DATA")
    for name, n in IMAGES.items() if folder else ():
        data = np.load(Path(str(folder)) / f"{name}.npz", allow_pickle=False)
        images = next(each for each in data.values() if each.ndim >= 2)
        X = images.reshape(len(images), -1)[:n].astype(float)
        X = X[:, X.std(axis=0) > 0]
        yield Table(name, np.asarray(StandardScaler().fit_transform(X)), np.zeros(n, dtype=int), 10)


def _blobs(name: str, n: int, d: int, k: int, *, spread: float) -> Table:
    rng = np.random.default_rng(0)
    centers, labels = spread * rng.normal(size=(k, d)), rng.integers(k, size=n)
    return Table(name, centers[labels] + rng.normal(size=(n, d)), labels, k)


def all_tables(*, wide: bool) -> Iterator[Table]:
    """Yield every table; the wide ones if asked for."""
    yield from tables()
    if wide:
        yield from wide_tables()
