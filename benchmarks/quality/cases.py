"""The cases: a table, k-means clusters of it, and a number of leaves."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from benchmarks.tables import Table, tables

NUMBERS_OF_CLUSTERS = (5, 20, 50)  # besides the number of classes
ROWS_EACH = 10  # rows for each cluster, at least
SHAPES = (  # rows, columns, clusters of the tables on which time is measured
    (10_000, 10, 5),
    (100_000, 10, 10),
    (500_000, 2, 5),
    (10_000, 100, 50),
    (20_000, 2, 100),
    (1_000_000, 10, 10),
)
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


def clusters_of(table: Table, k: int, seed: int, n_init: int = 4) -> Clusters:
    """Return the clusters of k-means, the best of some starts."""
    return Clusters(table.name, table.X, KMeans(k, n_init=n_init, random_state=seed).fit(table.X), seed)


def timed_tables() -> Iterator[Table]:
    """Yield the tables on which time is measured: the digits, and normal blobs that overlap."""
    digits = load_digits()
    yield Table("digits", digits.data, digits.target, 10)
    for n, d, k in SHAPES:
        yield blobs(f"{n} x {d}, k={k}", n, d, k, spread=1.0)


def blobs(name: str, n: int, d: int, k: int, *, spread: float) -> Table:
    """Return normal clusters that overlap, about centres with a standard deviation of `spread`."""
    rng = np.random.default_rng(0)
    centers, labels = spread * rng.normal(size=(k, d)), rng.integers(k, size=n)
    return Table(name, centers[labels] + rng.normal(size=(n, d)), labels, k)


def wide_tables() -> Iterator[Table]:
    """Yield tables of many columns: made ones, and pictures of the folder that BOXWOOD_DATA names."""
    yield blobs("blobs_100", 10_000, 100, 50, spread=1.0)
    yield blobs("blobs_500", 2_000, 500, 10, spread=0.3)
    folder = os.environ.get("BOXWOOD_DATA")
    for name, n in IMAGES.items() if folder else ():
        data = list(np.load(Path(str(folder)) / f"{name}.npz", allow_pickle=False).values())
        images, classes = (array[:n] for array in data[:2])
        X = images.reshape(n, -1).astype(float)
        X = X[:, X.std(axis=0) > 0]
        yield Table(name, np.asarray(StandardScaler().fit_transform(X)), classes, 10)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose tables."""
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="names of tables; all without it")
    parser.add_argument("--no-wide", dest="wide", action="store_false", help="without the wide tables")


def tables_of(options: argparse.Namespace) -> list[Table]:
    """Return the tables that were asked for; without the wide ones where a part has no option for them."""
    found = list(tables(every=True))
    if getattr(options, "wide", False):
        found += wide_tables()
    names = {table.name for table in found}
    if unknown := sorted(set(options.tables or ()) - names):
        sys.exit(f"no table {', '.join(unknown)}; there are: {', '.join(sorted(names))}")
    return [table for table in found if not options.tables or table.name in options.tables]
