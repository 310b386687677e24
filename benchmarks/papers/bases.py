"""Base clusterings over a small grid of settings."""

import time
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import DBSCAN, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

import boxwood as bw

__all__ = ["GRIDS", "Base", "bases", "scaled"]

SCALINGS = ("raw", "standardised")
LARGE = 2_000  # rows; from there on spectral clustering is tried on few sparse graphs, as dense ones take minutes


class Base(NamedTuple):
    """A clustering of rows `X`, scaled as the setting says; with its own mixture if it is a Gaussian one."""

    setting: str
    X: np.ndarray
    labels: np.ndarray
    mixture: "bw.Mixture"
    seconds: float


def bases(kind: str, X: np.ndarray, k: int, *, quick: bool = False) -> Iterator[Base]:
    """Yield the clusterings of each setting that finds at least two clusters."""
    for scaling in SCALINGS:
        rows = scaled(X, scaling)
        for words, clusterer in GRIDS[kind](rows, k, quick):
            start = time.perf_counter()
            labels = clusterer.fit_predict(rows)
            seconds = time.perf_counter() - start
            if len(set(labels.tolist()) - {-1}) < 2:
                continue
            own = isinstance(clusterer, GaussianMixture)
            mixture = bw.Mixture.from_gaussian_mixture(clusterer) if own else bw.Mixture.of(rows, labels)
            yield Base(f"{scaling}, {words}", rows, labels, mixture, seconds)


def scaled(X: np.ndarray, scaling: str) -> np.ndarray:
    return X if scaling == "raw" else np.asarray(StandardScaler().fit_transform(X))


def _gmm(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    kinds = ("full",) if quick else ("full", "diag", "tied", "spherical")
    for covariance, seed in product(kinds, range(1 if quick else 5)):
        yield f"GMM {covariance}, seed {seed}", GaussianMixture(k, covariance_type=covariance, random_state=seed)


def _kmeans(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    for seed in range(1 if quick else 5):
        yield f"k-means, seed {seed}", KMeans(k, n_init=1, random_state=seed)


def _spectral(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    large = len(X) > LARGE
    for neighbors in (10,) if quick else (10, 20) if large else (5, 8, 10, 15, 20, 30, 50):
        yield (
            f"SC {neighbors} neighbours",
            SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=neighbors, random_state=0),
        )
    for gamma in () if quick or large else (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0):
        yield f"SC rbf gamma {gamma:g}", SpectralClustering(k, gamma=gamma, random_state=0)


def _dbscan(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    shares = (0.1, 0.2) if quick else (*np.arange(0.03, 0.105, 0.01), *np.arange(0.12, 0.31, 0.02))
    spread = float(np.sqrt(X.var(axis=0).mean()))
    for share, fewest in product(shares, (5,) if quick else (3, 5, 10)):
        eps = share * spread
        yield f"DBSCAN eps {eps:.3g}, min_samples {fewest}", DBSCAN(eps=eps, min_samples=fewest)


GRIDS = {"GMM": _gmm, "k-means": _kmeans, "SC": _spectral, "DBS": _dbscan}
