"""How sharp the guarantees of MMDT are on fitted Gaussian mixtures, and what pooling by the largest variance costs.

The first table has, for one tree and the fitted Gaussians, the exact error, the certificate of the tree, and the
theorems: where neither of two bounds is clipped at 1, their ratio. The mixtures are fitted to `benchmarks.tables`, with
as many components as classes, and with 2 and 3, since theorems say little where components are many.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

import boxwood as bw
from benchmarks.tables import Table, tables
from benchmarks.timing import print_table
from boxwood.grow import mmdt
from boxwood.metrics import error_rate, price_of_explainability
from boxwood.theory import bounds, certificate

_THEOREMS = {
    "Theorem 1 (gaps)": lambda mixture, tree: bounds.gap_error_bound(mixture, tree=tree),
    "the same, sharp": lambda mixture, tree: bounds.gap_error_bound(mixture, tree=tree, sharp=True),
    "middle of the largest gap": lambda mixture, tree: bounds.midpoint_error_bound(mixture, tree=tree, law="gaussian"),
    "the same, any law": lambda mixture, tree: bounds.midpoint_error_bound(mixture, tree=tree),
    "Theorem 8 (Chebyshev)": lambda mixture, tree: bounds.chebyshev_error_bound(mixture, tree=tree),
}


def main() -> None:
    """Print both tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that did not converge
        _sharpness()
        _pooling()


def _sharpness() -> None:
    ratios: dict[str, list[float]] = {name: [] for name in _THEOREMS}
    over_exact, n = [], 0
    for mixture in _mixtures():
        n += 1
        tree = mmdt(mixture)
        certain = certificate(mixture, tree).error.value
        exact = error_rate(mixture, tree, random_state=0)
        # a sample cannot resolve a rate below ten standard errors
        if certain < 1 and exact.value > 10 * exact.standard_error:
            over_exact.append(certain / exact.value)
        for name, theorem in _THEOREMS.items():
            bound = theorem(mixture, tree)
            if bound.holds and bound.value < 1 and 0 < certain < 1:
                ratios[name].append(bound.value / certain)
    rows = [[f"{name} / certificate", str(len(of)), *_quartiles(of)] for name, of in ratios.items()]
    rows.append(["certificate / exact error", str(len(over_exact)), *_quartiles(over_exact)])
    header = [f"{n} fitted mixtures", "neither clipped", "quarter", "median", "three quarters"]
    print_table("Guarantees on the error of MMDT: ratios", header, rows)


def _mixtures() -> Iterator[bw.Mixture]:
    for table in tables():
        for k in sorted({2, 3, table.k}):
            yield bw.Mixture.from_gaussian_mixture(_fitted(table, k))


def _fitted(table: Table, k: int) -> GaussianMixture:
    kind = "full" if table.X.shape[1] <= 10 and k <= 20 else "diag"
    return GaussianMixture(k, covariance_type=kind, random_state=0).fit(table.X)


def _quartiles(values: list[float]) -> list[str]:
    return [f"{x:.4g}" for x in np.quantile(values, (0.25, 0.5, 0.75))] if values else ["-"] * 3


def _pooling() -> None:
    rows = []
    for kind in ("gaussian mixture", "k-means", "classes"):
        prices, agreements = [], []
        for table in tables():
            X, labels, mixture = _clustering(kind, table)
            reference = bw.Reference.of(X, labels)
            trees = [mmdt(mixture, pooling=pooling) for pooling in ("max", "weighted")]
            prices.append([price_of_explainability(X, tree, reference) for tree in trees])
            agreements.append([float(np.mean(tree.predict(X) == labels)) for tree in trees])
        largest, weighted = np.array(prices).T
        cells = [*np.mean(prices, axis=0), *np.mean(agreements, axis=0)]
        better = [str((a < 0.99 * b).sum()) for a, b in ((largest, weighted), (weighted, largest))]
        rows.append([f"{kind}, {len(prices)} tables", *(f"{cell:.4f}" for cell in cells), *better])
    header = [
        "clusters of",
        "price, max",
        "weighted",
        "agreement, max",
        "weighted",
        "max 1 % below",
        "weighted 1 % below",
    ]
    print_table("\nMMDT with pooling by the largest and by the weighted variance: means over tables", header, rows)


def _clustering(kind: str, table: Table) -> tuple[np.ndarray, np.ndarray, bw.Mixture]:
    """Return rows, labels without gaps, and the mixture that MMDT explains."""
    if kind == "gaussian mixture":
        fitted = _fitted(table, table.k)
        labels = fitted.predict(table.X)
        if len(np.unique(labels)) == table.k:
            return table.X, labels, bw.Mixture.from_gaussian_mixture(fitted)
    else:
        by_kmeans = kind == "k-means"
        labels = KMeans(table.k, n_init=1, random_state=0).fit_predict(table.X) if by_kmeans else table.classes
    labels = np.unique(labels, return_inverse=True)[1]
    return table.X, labels, bw.Mixture.of(table.X, labels)
