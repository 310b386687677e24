""" "Explainable Clustering Beyond Worst-Case Guarantees": price, runtime (Tables 1 and 2), and Theorem 5's instance."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.mixture import GaussianMixture

import boxwood as bw
from benchmarks.papers import plots, sketches
from benchmarks.papers.bases import SCALINGS, Base, Setting, runs, wide
from benchmarks.papers.data import draw_gaussians, load
from benchmarks.papers.report import Line, Number, Options, Report, Section, absent, numbers, worst
from benchmarks.timing import medians
from boxwood import grow
from boxwood.metrics import price_of_explainability
from boxwood.theory import Instance, instances

__all__ = ["sections"]

METHODS = ("MMDT", "IMM", "CART")
PRICES = {
    "Gaussians": ("1.0151", "1.0016", "1.0002"),
    "wine": ("1.0444", "1.0469", "1.0724"),
    "rice": ("0.9620", "0.9628", "0.9623"),
}
SECONDS = {
    "Gaussians": ("0.0646", "79.4106", "0.7145"),
    "wine": ("0.0020", "0.0047", "0.0015"),
    "rice": ("0.0009", "0.0459", "0.0085"),
}
CLUSTERS = {"wine": 3, "rice": 2}
SPREAD = 4.0  # typical standard deviation of the components along an axis, as in Figure 6 of the other mixture paper
SPREADS = (2.0, 4.0, 6.0, 8.0)
LARGE = 5_000_000


class Priced(NamedTuple):
    """What a setting costs: prices of the three methods, a row for each seed."""

    words: str
    prices: np.ndarray
    first: Base


def sections(options: Options) -> Iterator[Section]:
    """Yield Figures 1 and 2, Tables 1 and 2, and the price on the instance of Theorem 5."""
    yield sketches.mixture_and_tree(options)
    yield sketches.prototype(options)
    timed: list[tuple[str, str, Base]] = []
    yield _table_1(options, timed)
    yield _table_2(options, timed)
    yield _theorem_5(options)


# ---------------------------------------------------------------------------------------------- Tables 1 and 2


def _table_1(options: Options, timed: list[tuple[str, str, Base]]) -> Section:
    """Return the prices; what is timed for Table 2 is put into `timed`."""
    n = 5_000 if options.quick else 100_000
    lines = [_gaussians(options, n, timed)]
    for name, k in CLUSTERS.items():
        table = load(name)
        if table is None:
            lines.append(absent(name, list(zip(METHODS, PRICES[name], strict=True))))
            continue
        lines.append(_of_table(name, table.X, k, options, timed))
    return Section(
        "000",
        "Table 1",
        "price of explainability of MMDT, IMM and CART on Gaussians, Wine and Rice",
        tuple(lines),
        remarks=(
            "MMDT: axis by range, threshold by equation 6, variances pooled by weight, from the fitted mixture; CART: "
            "K leaves; clusters: a Gaussian mixture of scikit-learn with full covariances, one start a seed",
            "cost: l1, which is how the paper defines the price, with the best centres of each partition; the paper "
            "does not say how columns are scaled, and standardised ones are judged: Wine in Table 1 of the other "
            "mixture paper can be had from these alone",
            "Gaussians: a new mixture for each seed, means in a ball of radius 50 and at least 20 apart, covariances "
            f"sd^2 A A' / 2 with A standard normal and sd = {SPREAD:g}, of which the paper says nothing; the spread "
            "is that over mixtures; the paper's text has 500,000 rows, its tables 100,000",
        ),
    )


def _of_table(name: str, X: np.ndarray, k: int, options: Options, timed: list[tuple[str, str, Base]]) -> Line:
    tried = [priced for kind in ("GMM", "k-means") for setting in wide(kind, X, k, quick=options.quick)
             for priced in _priced(runs(setting, X, options.seeds))]  # fmt: skip
    judged = next(one for one in tried if one.words == "standardised, GMM full, l1")
    timed.append((name, f"{name} {len(X):,} x {X.shape[1]}, K={k}", judged.first))
    items = _numbers(PRICES[name], judged.prices)
    return Line(
        timed[-1][1],
        judged.words,
        items,
        why="the paper names no scaling and no seeds; raw and standardised columns, four covariance types and k-means, "
        "both costs were tried; the authors' scaling and seeds would be needed",
        closest=_closest(tried, PRICES[name]),
    )


def _gaussians(options: Options, n: int, timed: list[tuple[str, str, Base]]) -> Line:
    spreads = (SPREAD,) if options.quick else SPREADS
    tried = [one for sd in spreads for one in _priced(_gaussian_bases(n, sd, options.seeds))]
    judged = next(one for one in tried if one.words == f"raw, sd {SPREAD:g}, GMM full, l1")
    timed.append(("Gaussians", f"Gaussians {n:,} x 2, K=5", judged.first))
    if not options.quick:
        base = next(iter(_gaussian_bases(LARGE, SPREAD, range(1))))
        timed.append(("Gaussians", f"Gaussians {LARGE:,} x 2, K=5", base))
    return Line(
        f"Gaussians {n:,} x 2, K=5",
        judged.words,
        _numbers(PRICES["Gaussians"], judged.prices),
        why="the paper gives neither means nor covariances; mixtures of four spreads were drawn; the authors' mixture "
        "would be needed",
        closest=_closest(tried, PRICES["Gaussians"]),
    )


def _gaussian_bases(n: int, sd: float, seeds: Iterable[int]) -> Iterator[Base]:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = draw_gaussians(rng, 5, 2, sd=sd).rows(n, rng).X
        setting = Setting("GMM", SCALINGS[0], f"sd {sd:g}, GMM full", lambda s: GaussianMixture(5, random_state=s))
        yield from runs(setting, X, [seed])


def _priced(bases: Iterable[Base]) -> list[Priced]:
    """Return the prices of one setting, by cost; the bases are its seeds."""
    found: dict[str, list[list[float]]] = {"l1": [], "sqeuclidean": []}
    first = None
    for base in bases:
        first = first or base
        reference = bw.Reference.of(base.X, base.labels)
        trees = [grow_it() for grow_it in _growers(base).values()]
        for cost, rows in found.items():
            rows.append([price_of_explainability(base.X, tree, reference, objective=cost) for tree in trees])
    assert first is not None, "every setting finds two clusters"
    return [Priced(f"{first.setting}, {cost}", np.array(rows), first) for cost, rows in found.items()]


def _growers(base: Base) -> "dict[str, Callable[[], bw.ThresholdTree]]":
    reference = bw.Reference.of(base.X, base.labels)
    chosen = {"axis": "range", "threshold": "gaussian", "pooling": "weighted"}
    return {
        "MMDT": lambda: grow.mmdt(base.mixture, **chosen),
        "IMM": lambda: grow.imm(base.X, reference),
        "CART": lambda: grow.cart(base.X, reference.labels, max_leaf_nodes=reference.n_clusters),
    }


def _numbers(printed: tuple[str, ...], prices: np.ndarray) -> tuple[Number, ...]:
    return tuple(Number(*one, tuple(of.tolist())) for *one, of in zip(METHODS, printed, prices.T, strict=True))


def _closest(tried: list[Priced], printed: tuple[str, ...]) -> str:
    best = min(tried, key=lambda one: worst(one.prices.mean(axis=0), printed))
    means = best.prices.mean(axis=0)
    return f"{numbers(means, 4)}, mean, off by {worst(means, printed):.4f} ({best.words}; {len(tried)} tried)"


def _table_2(options: Options, timed: list[tuple[str, str, Base]]) -> Section:
    lines = []
    for name, words, base in timed:
        seconds = medians(_growers(base))
        items = [Number(*one, (found,), judged=False)
                 for *one, found in zip(METHODS, SECONDS[name], seconds.values(), strict=True)]  # fmt: skip
        lines.append(Line(words, f"fitting the mixture: {base.seconds:.3f} seconds", tuple(items)))
    return Section(
        "000",
        "Table 2",
        "seconds of MMDT, IMM and CART",
        tuple(lines),
        remarks=(
            "growing alone, compiled and warm, medians of 5 runs, of 3 where one takes seconds: MMDT from the "
            "fitted parameters, IMM and CART from labelled rows; every method needs the mixture, which is told apart",
            "the paper's own IMM is not the one timed here; 5,000,000 is the number of rows in the other mixture paper",
        ),
    )


# --------------------------------------------------------------------------------------------------- Theorem 5


def _theorem_5(options: Options) -> Section:
    most, n_trees = (5, 20) if options.quick else (12, 200)
    prices = {k: _growing_prices(k, n_trees) for k in range(2, most + 1)}
    log_k = np.log(list(prices))
    means = np.array([found.mean() for found in prices.values()])
    slope = np.polyfit(log_k, means, 1)[0]
    rows = [
        (f"{k}", f"{k**3:,}", f"{np.log(k):.3f}", numbers((found.mean(), found.min(), found.max()), 4))
        for k, found in prices.items()
    ]
    table = Report(
        "Price on random corners of the cube of K^3 axes, mean / least / most over trees",
        ("K", "axes", "log K", "ours"),
        (*rows, ("slope of the mean", "-", "-", f"{slope:.4f}")),
        (
            f"{n_trees} trees: MMDT, axis by range, ties at random (all axes that part the means of a node are equal), "
            "a new instance for every 10; l1 price, exact, leaf medians being the means",
            f"balanced cuts would cost 1 + log2(K) / 4 = 1 + {0.25 / np.log(2):.4f} log K",
        ),
    )
    picture = plots.theorem_5(options.out, prices)
    prints = "no numbers: the price of every tree grows at least as log K, asymptotically"
    return Section("000", "Theorem 5", prints, tables=(table,), pictures=(picture,))


def _growing_prices(k: int, n_trees: int) -> np.ndarray:
    """Return the prices of random trees on random instances of k components."""
    drawn = (instances.growing_price(k, random_state=seed) for seed in range(n_trees // 10))
    ties = {"axis": "range", "threshold": "midpoint", "pooling": "weighted", "tie_break": "random"}
    return np.array(
        [
            _price_of_deviations(instance, grow.mmdt(instance.mixture, random_state=seed, **ties))
            for instance in drawn
            for seed in range(10)
        ]
    )


def _price_of_deviations(instance: Instance, tree: "bw.ThresholdTree") -> float:
    """Return the l1 price of a tree with the means as centres: only rows that deviate on its own axes can cost more."""
    means, eps, axes = instance.mixture.means, instance.exact["eps"], tree.features
    moves = np.zeros((2 * len(axes), means.shape[1]))
    moves[np.arange(len(moves)), np.repeat(axes, 2)] = np.tile([1.0, -1.0], len(axes))
    rows = (means[:, None] + moves).reshape(-1, means.shape[1])
    extra = np.abs(rows - means[tree.predict(rows)]).sum(axis=1) - 1.0
    return float(1 + eps * extra.sum() / len(means) / instance.exact["baseline_l1"])
