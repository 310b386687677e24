"""The tables that benchmarks of quality share: scikit-learn's own, and those of the folder that BOXWOOD_DATA names."""

import csv
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

_MOST_ROWS = 20_000
_MOST_CLASSES = 50
_WITHOUT_CLASSES = 5  # clusters that are looked for in a table without classes


class Table(NamedTuple):
    """A table with columns of unit variance, the class of each row, and the number of clusters to look for.

    Without classes all are 0.
    """

    name: str
    X: np.ndarray
    classes: np.ndarray
    k: int


def tables(*, every: bool = False) -> Iterator[Table]:
    """Yield tables of 2 to 50 classes; with `every` those of more classes, and those without, too.

    Files have a header line and numeric columns; a last column `label` has the classes. Of files with many rows every
    so-and-so-many-th row is taken, so that at most 20 000 remain.
    """
    for name, k in (("iris", 3), ("wine", 3), ("breast_cancer", 5), ("digits", 10)):
        data = getattr(datasets, f"load_{name}")()
        yield Table(name, _scaled(data.data), data.target, k)
    folder = os.environ.get("BOXWOOD_DATA")
    if folder is None:
        print("BOXWOOD_DATA names no folder, so only the tables of scikit-learn are used")
        return
    ours = ("iris", "wine")  # the same tables as those of scikit-learn
    for path in (path for path in sorted(Path(folder).glob("*.csv.gz")) if not path.name.startswith(ours)):
        table = _read(path)
        if every or (table.classes.any() and table.k <= _MOST_CLASSES):
            yield table


def _read(path: Path) -> Table:
    with gzip.open(path, "rt") as lines:
        header, *records = csv.reader(lines)
    kept = records[:: len(records) // _MOST_ROWS + 1]
    name = path.name.removesuffix(".csv.gz")
    if header[-1] != "label":
        X = np.array(kept, dtype=float)
        return Table(name, _scaled(X), np.zeros(len(X), dtype=int), _WITHOUT_CLASSES)
    X = np.array([record[:-1] for record in kept], dtype=float)
    names, classes = np.unique([record[-1] for record in kept], return_inverse=True)
    return Table(name, _scaled(X), classes, len(names))


def _scaled(X: np.ndarray) -> np.ndarray:
    return np.asarray(StandardScaler().fit_transform(X))
