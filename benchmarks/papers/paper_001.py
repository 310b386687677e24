""" "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations": Figures 3 and 6.

Table 1 and the left of Figure 3, which shows one of its rows, are in `paper_001_table`.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from sklearn.mixture import GaussianMixture

import boxwood as bw
from benchmarks.papers import plots, sketches
from benchmarks.papers.bases import Base, Setting
from benchmarks.papers.data import draw_gaussians
from benchmarks.papers.paper_001_table import figure_3_left, scored, table_1
from benchmarks.papers.report import Options, Report, Section, numbers
from boxwood import grow
from boxwood.metrics import error_rate, explainability_to_noise

__all__ = ["sections"]

K_OF_FIGURE_3 = 10
LEAST_ERROR = 1e-12  # errors below are rounding


def sections(options: Options) -> Iterator[Section]:
    """Yield Table 1 and the Figures 1, 2, 3, 5 and 6."""
    yield sketches.two_aims(options)
    yield sketches.largest_gap(options)
    yield table_1(options)
    yield figure_3_left(options)
    yield _figure_3(options)
    yield sketches.distribution_tree(options)
    yield _figure_6(options)


# ---------------------------------------------------------------------------------------------------- Figure 3


def _figure_3(options: Options) -> Section:
    runs = 300 if options.quick else 10_000
    ratios, errors, dimensions = _noise_and_errors(runs)
    kept = errors > LEAST_ERROR
    q, log_error = ratios[kept], np.log(errors[kept])
    bins = _bins(q, log_error, 5 if options.quick else 20)
    slopes = {share: np.polyfit(bins[:, 0], bins[:, column], 1)[0] for share, column in (("99%", 2), ("1%", 1))}
    low, high = -1.0, -1 / (4 * K_OF_FIGURE_3**2)
    rows = [
        (f"slope of the {share} quantile", f"from {low:g} to {high:g}", f"{slope:.4f}", _yes(low <= slope <= high))
        for share, slope in slopes.items()
    ]
    rows += [
        (f"log error at q = {middle:.1f}", "-", f"{under:.2f} to {over:.2f}", "-")
        for middle, under, over in bins[:: max(1, len(bins) // 6)]
    ]
    table = Report(
        f"q against the logarithm of the exact error, K = {K_OF_FIGURE_3}",
        ("quantity", "theory", "ours", "inside"),
        tuple(rows),
        (
            f"{runs:,} mixtures in {dimensions.min()} to {dimensions.max()} dimensions; means standard normal times a "
            "scale drawn uniformly in its logarithm from 1 to 6, unit variances, equal weights",
            f"q: explainability-to-noise ratio, convention subgaussian; {int((~kept).sum()):,} mixtures with an error "
            f"below {LEAST_ERROR:g} are left out; quantiles 1% and 99% of the log error in bins of q of equal counts",
            "theory: Theorem 1 has the slope -1/(4K^2) for the largest error, Theorem 3 the slope -1 for the smallest",
        ),
    )
    return Section(
        "001",
        "Figure 3 (right)",
        "a scatter of q against the logarithm of the error, largest and smallest falling linearly at two slopes",
        tables=(table,),
        pictures=(plots.figure_3(options.out, q, log_error, bins),),
    )


def _noise_and_errors(runs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the explainability-to-noise ratio, the error of MMDT and the dimension of random mixtures."""
    rng = np.random.default_rng(0)
    dimensions = rng.integers(K_OF_FIGURE_3 // 2, 2 * K_OF_FIGURE_3 + 1, size=runs)
    ratios, errors = np.empty(runs), np.empty(runs)
    for i, d in enumerate(dimensions):
        means = np.exp(rng.uniform(0, np.log(6))) * rng.standard_normal((K_OF_FIGURE_3, d))
        mixture = bw.Mixture(np.ones(K_OF_FIGURE_3), means, np.ones_like(means))
        ratios[i] = explainability_to_noise(mixture, convention="subgaussian").value
        errors[i] = error_rate(mixture, grow.mmdt(mixture, axis="gap", threshold="midpoint", pooling="max")).value
    return ratios, errors, dimensions


def _bins(q: np.ndarray, log_error: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the median of q and the quantiles 1% and 99% of the log error in bins of equal counts, (n_bins, 3)."""
    parts = np.array_split(np.argsort(q), n_bins)
    return np.array([[np.median(q[part]), *np.quantile(log_error[part], [0.01, 0.99])] for part in parts])


# ---------------------------------------------------------------------------------------------------- Figure 6


def _figure_6(options: Options) -> Section:
    runs, rows_from, rows_to = (3, 1_000, 2_000) if options.quick else (100, 50_000, 100_000)
    scores = {d: np.array(list(islice(_random_scores(d, rows_from, rows_to), runs))) for d in (2, 10)}
    rows = []
    for d, found in scores.items():
        medians_of = np.median(found, axis=0)
        for name, column in (("MMDT", 0), ("CART", 1)):
            quartiles = np.quantile(found[:, column], [0.0, 0.25, 0.5, 0.75, 1.0])
            near = _yes(medians_of[0] >= medians_of[1] - 0.02) if name == "MMDT" else "-"
            rows.append((f"d = {d}, {name}", "boxes overlap", numbers(quartiles, 3), near))
    table = Report(
        "Adjusted Rand index with the true components, least / quartiles / most",
        ("trees", "paper", "ours", "median within 0.02 of CART"),
        tuple(rows),
        (
            f"{runs} random mixtures of K = 5 with means in a ball of radius 50, at least 20 apart, and {rows_from:,} "
            f"to {rows_to:,} rows; the paper names no dimension, so 2 and 10 are run",
            "covariances 16 A A' / d with A standard normal; GMM full on raw columns, one start; CART with 5 leaves",
        ),
    )
    prints = "boxes of the adjusted Rand index of MMDT and CART on 100 random mixtures, without numbers"
    picture = plots.figure_6(options.out, scores)
    return Section("001", "Figure 6", prints, tables=(table,), pictures=(picture,))


def _random_scores(d: int, rows_from: int, rows_to: int) -> Iterator[tuple[float, float]]:
    """Yield the index of MMDT and of CART for one random mixture after the other."""
    rng = np.random.default_rng(d)
    while True:
        table = draw_gaussians(rng, 5, d, sd=4.0).rows(int(rng.integers(rows_from, rows_to + 1)), rng)
        model = GaussianMixture(5, random_state=0)
        labels = model.fit_predict(table.X)
        setting = Setting("GMM", "raw", "GMM full", lambda seed: GaussianMixture(5, random_state=seed))
        base = Base(setting, 0, table.X, labels, bw.Mixture.from_gaussian_mixture(model), 0.0)
        _, mmdt, cart = scored(base, table.labels).scores
        yield mmdt, cart


def _yes(holds: bool | np.bool_) -> str:
    return "yes" if holds else "no"
