"""Tables from files, and random Gaussian mixtures."""

import csv
import gzip
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

import boxwood as bw

__all__ = ["Gaussians", "Table", "draw_gaussians", "folder", "load"]

ROOT = Path(__file__).parents[2]


class Table(NamedTuple):
    """Rows (n, d) and the true class of each, (n,)."""

    X: np.ndarray
    labels: np.ndarray


def folder() -> Path:
    """Return the folder of the data."""
    return Path(os.environ.get("BOXWOOD_DATA") or ROOT.parent / "shared" / "data")


def load(name: str) -> Table | None:
    """Return a table by name, or None if its file is not there."""
    path = folder() / f"{name}.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header, *records = csv.reader(lines)
    if header[-1] != "label":
        raise ValueError(f"{path.name} must have a last column 'label', got {header[-1]!r}")
    return Table(np.array([record[:-1] for record in records], dtype=float), np.array([r[-1] for r in records]))


class Gaussians(NamedTuple):
    """Weights (k,), means (k, d) and covariances (k, d, d) of a mixture that rows are drawn from."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    @property
    def mixture(self) -> "bw.Mixture":
        """The same as boxwood takes it."""
        variances = np.diagonal(self.covariances, axis1=1, axis2=2)
        return bw.Mixture(self.weights, self.means, variances, covariances=self.covariances)

    def rows(self, n: int, rng: np.random.Generator) -> Table:
        """Return n rows with the component that each was drawn from."""
        labels = rng.choice(len(self.weights), size=n, p=self.weights)
        roots = np.linalg.cholesky(self.covariances)
        X = rng.standard_normal((n, self.means.shape[1]))
        for k in range(len(self.weights)):
            mine = labels == k
            X[mine] = X[mine] @ roots[k].T + self.means[k]
        return Table(X, labels)


def draw_gaussians(
    rng: np.random.Generator, k: int, d: int, *, sd: float, radius: float = 50.0, apart: float = 20.0
) -> Gaussians:
    """Return a mixture as in appendix G of 001: means in a ball, at a distance from each other; random covariances.

    Components weigh the same. A covariance is `sd**2 A A' / d` with A standard normal, plus a thousandth of `sd**2` on
    the diagonal, so that `sd` is the typical standard deviation along an axis.
    """
    means: list[np.ndarray] = []
    while len(means) < k:
        direction = rng.standard_normal(d)
        mean = radius * rng.random() ** (1 / d) * direction / np.linalg.norm(direction)
        if all(np.linalg.norm(mean - other) >= apart for other in means):
            means.append(mean)
    A = rng.standard_normal((k, d, d))
    covariances = sd**2 * (A @ A.transpose(0, 2, 1) / d + 1e-3 * np.eye(d))
    return Gaussians(np.full(k, 1 / k), np.array(means), covariances)
