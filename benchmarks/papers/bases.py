"""Base clusterings: the settings that the papers describe, and a wider grid to see which setting comes closest."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import DBSCAN, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

import boxwood as bw

__all__ = ["GRIDS", "KINDS", "SCALINGS", "Base", "Setting", "described", "runs", "scaled", "wide"]

SCALINGS = ("raw", "standardised")
KINDS = ("GMM", "SC", "DBS")
LARGE = 2_000  # rows; from there on spectral clustering is tried on few sparse graphs, as dense ones take minutes


class Setting(NamedTuple):
    """A scaling of the columns, and a clusterer for each seed."""

    kind: str
    scaling: str
    words: str
    make: Callable[[int], Any]

    def __str__(self) -> str:
        return f"{self.scaling}, {self.words}"


class Base(NamedTuple):
    """A clustering of rows `X`, scaled as the setting says; with its own mixture if it is a Gaussian one."""

    setting: Setting
    seed: int
    X: np.ndarray
    labels: np.ndarray
    mixture: "bw.Mixture"
    seconds: float


def described(X: np.ndarray, k: int, *, quick: bool = False) -> list[Setting]:
    """Return the settings of the three kinds as the papers describe them: scikit-learn's own, with both affinities.

    DBSCAN has no number of clusters and cannot do without a radius, so that its radius is taken from a grid.
    """
    clusterers = [
        ("GMM", "GMM full", partial(_gaussian, k, "full")),
        ("SC", "SC 10 neighbours", partial(_neighbours, k, 10)),
        *([] if len(X) > LARGE else [("SC", "SC rbf gamma 1", partial(_rbf, k, 1.0))]),
    ]
    found = [Setting(kind, scaling, words, make) for scaling in SCALINGS for kind, words, make in clusterers]
    return found + list(wide("DBS", X, k, quick=quick))


def wide(kind: str, X: np.ndarray, k: int, *, quick: bool = False) -> Iterator[Setting]:
    """Yield the settings of a wider grid."""
    for scaling in SCALINGS:
        for words, make in GRIDS[kind](scaled(X, scaling), k, quick):
            yield Setting(kind, scaling, words, make)


def runs(setting: Setting, X: np.ndarray, seeds: Iterable[int]) -> list[Base]:
    """Return the clusterings of each seed that find two clusters or more; DBSCAN draws nothing, and is run once."""
    rows, found = scaled(X, setting.scaling), []
    for seed in list(seeds)[: 1 if setting.kind == "DBS" else None]:
        clusterer, start = setting.make(seed), time.perf_counter()
        labels = clusterer.fit_predict(rows)
        seconds = time.perf_counter() - start
        if len(set(labels.tolist()) - {-1}) < 2:
            continue
        own = isinstance(clusterer, GaussianMixture)
        mixture = bw.Mixture.from_gaussian_mixture(clusterer) if own else bw.Mixture.of(rows, labels)
        found.append(Base(setting, seed, rows, labels, mixture, seconds))
    return found


def scaled(X: np.ndarray, scaling: str) -> np.ndarray:
    return X if scaling == "raw" else np.asarray(StandardScaler().fit_transform(X))


# --------------------------------------------------------------------------------------------------- clusterers


def _gaussian(k: int, covariance: str, seed: int) -> GaussianMixture:
    return GaussianMixture(k, covariance_type=covariance, random_state=seed)


def _neighbours(k: int, n: int, seed: int) -> SpectralClustering:
    return SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=n, random_state=seed)


def _rbf(k: int, gamma: float, seed: int) -> SpectralClustering:
    return SpectralClustering(k, gamma=gamma, random_state=seed)


def _means(k: int, seed: int) -> KMeans:
    return KMeans(k, n_init=1, random_state=seed)


def _density(eps: float, fewest: int, seed: int) -> DBSCAN:
    return DBSCAN(eps=eps, min_samples=fewest)


# -------------------------------------------------------------------------------------------------------- grids


def _gmm(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    for covariance in ("full",) if quick else ("full", "diag", "tied", "spherical"):
        yield f"GMM {covariance}", partial(_gaussian, k, covariance)


def _kmeans(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    yield "k-means", partial(_means, k)


def _spectral(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    large = len(X) > LARGE
    for n in (10,) if quick else (10, 20) if large else (5, 8, 10, 15, 20, 30, 50):
        yield f"SC {n} neighbours", partial(_neighbours, k, n)
    for gamma in () if quick or large else (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0):
        yield f"SC rbf gamma {gamma:g}", partial(_rbf, k, gamma)


def _dbscan(X: np.ndarray, k: int, quick: bool) -> Iterator[tuple[str, Any]]:
    shares = (0.1, 0.2) if quick else (*np.arange(0.03, 0.105, 0.01), *np.arange(0.12, 0.31, 0.02))
    spread = float(np.sqrt(X.var(axis=0).mean()))
    for share in shares:
        for fewest in (5,) if quick else (3, 5, 10):
            eps = share * spread
            yield f"DBSCAN eps {eps:.3g}, min_samples {fewest}", partial(_density, eps, fewest)


GRIDS = {"GMM": _gmm, "k-means": _kmeans, "SC": _spectral, "DBS": _dbscan}
