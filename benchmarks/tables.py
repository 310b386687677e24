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


class Table(NamedTuple):
    """A table with columns of unit variance, the class of each row, and the number of clusters to look for."""

    name: str
    X: np.ndarray
    classes: np.ndarray
    k: int


def tables() -> Iterator[Table]:
    """Yield tables of 2 to 50 classes; files have a header line, numeric columns, and a last column `label`.

    Of files with many rows every so-and-so-many-th row is taken, so that at most 20 000 remain.
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
        with gzip.open(path, "rt") as lines:
            header, *records = csv.reader(lines)
        if header[-1] == "label":
            kept = records[:: len(records) // _MOST_ROWS + 1]
            X = np.array([record[:-1] for record in kept], dtype=float)
            names, classes = np.unique([record[-1] for record in kept], return_inverse=True)
            if 2 <= len(names) <= 50:
                yield Table(path.name.removesuffix(".csv.gz"), _scaled(X), classes, len(names))


def _scaled(X: np.ndarray) -> np.ndarray:
    return np.asarray(StandardScaler().fit_transform(X))
