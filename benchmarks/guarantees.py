"""How sharp the guarantees of MMDT are on fitted Gaussian mixtures, and what pooling by the largest variance costs.

The first table has ratios for one tree and one law: of a theorem to the certificate of the tree, and of the certificate
to the exact number. Errors count where neither is clipped at 1, prices by their excess over 1. Theorems 4 and 8 are
about the tree by ranges with Chebyshev's thresholds, the others about the default tree. The mixtures are fitted to
`benchmarks.tables`, with as many components as classes, and with 2 and 3, as theorems say little for many components.
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
from boxwood.metrics import error_rate, mixture_price, price_of_explainability
from boxwood.theory import bounds, certificate


def main() -> None:
    """Print both tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that did not converge
        _sharpness()
        _pooling()


def _sharpness() -> None:
    ratios: dict[str, list[float]] = {}
    n = 0
    for mixture in _mixtures():
        n += 1
        for name, over, under in [*_errors(mixture), *_prices(mixture)]:
            of = ratios.setdefault(name, [])
            if under > 0 and np.isfinite(over):
                of.append(over / under)
    rows = [[name, str(len(of)), *_quartiles(of)] for name, of in ratios.items()]
    header = [f"{n} fitted mixtures", "of them", "quarter", "median", "three quarters"]
    print_table("Guarantees of MMDT: ratios", header, rows)


def _errors(mixture: bw.Mixture) -> Iterator[tuple[str, float, float]]:
    """Yield names, bounds on the error, and what they are compared with; an infinite bound is left out."""
    tree, by_range = mmdt(mixture), mmdt(mixture, axis="range", threshold="chebyshev")
    certain = certificate(mixture, tree)
    gaussian, chebyshev = certain.error.value, certain.chebyshev_error.value
    of_range = certificate(mixture, by_range).chebyshev_error.value
    yield "error, Theorem 1 / certificate", *_pair(bounds.gap_error_bound(mixture, tree=tree), gaussian)
    yield (
        "error, Theorem 1 sharp / certificate",
        *_pair(bounds.gap_error_bound(mixture, tree=tree, sharp=True), gaussian),
    )
    own = bounds.midpoint_error_bound(mixture, tree=tree, law="gaussian")
    yield "error, midpoint bound / certificate", *_pair(own, gaussian)
    yield (
        "any law: error, Theorem 8 / certificate",
        *_pair(bounds.chebyshev_error_bound(mixture, tree=by_range), of_range),
    )
    yield (
        "any law: error, midpoint bound / certificate",
        *_pair(bounds.midpoint_error_bound(mixture, tree=tree), chebyshev),
    )
    exact = error_rate(mixture, tree, random_state=0)
    resolved = exact.value > 10 * exact.standard_error  # a sample cannot resolve a smaller rate
    yield "error, certificate / exact", gaussian if resolved and gaussian < 1 else np.inf, exact.value


def _pair(bound: bounds.Bound, certain: float) -> tuple[float, float]:
    counts = bound.holds and bound.value < 1 and certain < 1
    return bound.value if counts else np.inf, certain


def _prices(mixture: bw.Mixture) -> Iterator[tuple[str, float, float]]:
    tree, by_range = mmdt(mixture), mmdt(mixture, axis="range", threshold="chebyshev")
    certain, of_range = certificate(mixture, tree), certificate(mixture, by_range)
    theorem = bounds.price_bound(mixture, tree=by_range)
    own = bounds.midpoint_price_bound(mixture, tree=tree)
    gaussian, chebyshev = certain.price.value - 1, certain.chebyshev_price.value - 1
    yield "price - 1, Theorem 4 / certificate", theorem.value - 1 if theorem.holds else np.inf, of_range.price.value - 1
    yield "price - 1, midpoint bound / certificate", own.value - 1, gaussian
    yield "any law: price - 1, Theorem 4 / certificate", theorem.value - 1, of_range.chebyshev_price.value - 1
    yield "any law: price - 1, midpoint bound / certificate", own.value - 1, chebyshev
    if mixture.covariances is None:
        exact = mixture_price(mixture, tree, objective="l1", centers="reference").value - 1
        yield "price - 1, certificate / exact", gaussian if exact > 1e-9 else np.inf, exact


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
