""" "Near-optimal Algorithms for Explainable k-Medians and k-Means": bounds, and what trees pay on its instances."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.papers import plots, sketches
from benchmarks.papers.report import Options, Report, Section
from boxwood import Reference, grow
from boxwood.metrics import cost, nearest_cost
from boxwood.theory import bounds, instances

__all__ = ["sections"]

OBJECTIVES = {"l1": "k-medians ℓ1", "sqeuclidean": "k-means", "l2": "k-medians ℓ2"}
NORM = {"l1": 1, "sqeuclidean": 2, "l2": 2}
D = 40
EPS_K = 10.0  # eps times k on the cube, the order of points that each cut parts
STEPS = 12
FAR = 10.0


def sections(options: Options) -> Iterator[Section]:
    """Yield the figures, the star, the lower-bound instances as k grows, and the growth on random instances."""
    yield _known()
    yield sketches.random_cuts_of_l1(options)
    yield sketches.embedding(options)
    yield sketches.random_cuts_of_l2(options)
    yield _star(options)
    yield _lower_bounds(options)
    yield _growth(options)


def _known() -> Section:
    table = Report(
        "What is known on the price of explainability, with later results",
        ("objective", "lower", "upper", "algorithm", "who"),
        tuple(tuple(cell or "-" for cell in row) for row in bounds.published_bounds()),
        ("log and ln alike where no constant is given; H_(k-1) = 1 + 1/2 + ... + 1/(k-1)",),
    )
    return Section("002", "Figure 1", "a table of bounds, which are statements and no measurements", tables=(table,))


# -------------------------------------------------------------------------------------------------------- star


def _star(options: Options) -> Section:
    ks, n_trees = ((3, 10), 500) if options.quick else ((3, 10, 30), 4000)
    rows = []
    for k in ks:
        cells = [str(k)]
        for objective in OBJECTIVES:
            star = instances.star(k, FAR, objective=objective)
            found = _prices(star.points, star.weights, star.centers, 1.0, objective, (objective,), n_trees)[objective]
            noise = found.std() / math.sqrt(n_trees)
            cells.append(f"{star.exact['expected_cost']:.4f} / {found.mean():.4f} ± {noise:.4f}")
        rows.append((*cells, f"{bounds.random_cuts_price_bound(k).value:.4f}"))
    table = Report(
        "Expected price of random cuts, exact / mean of trees ± standard error",
        ("k", *OBJECTIVES.values(), "1 + H_(k-1)"),
        tuple(rows),
        (f"one point, one centre at cost 1 and the others at cost {FAR:g}; {n_trees:,} trees",),
    )
    return Section("002", "the star", "no numbers; the instance on which random cuts cost most", tables=(table,))


# ------------------------------------------------------------------------------------------ lower-bound instances


class Paid(NamedTuple):
    """Prices on one instance: a bound for every tree, IMM's, those of random cuts by what they are drawn for."""

    k: int
    least: float
    imm: float
    random: dict[str, np.ndarray]


def _lower_bounds(options: Options) -> Section:
    ks, n_trees = ((50, 100), 10) if options.quick else ((50, 100, 200, 400), 50)
    paid = {
        "sqeuclidean": [_paid(_cube(k), "sqeuclidean", n_trees) for k in ks],
        "l2": [_paid(_grid(k), "l2", n_trees) for k in ks],
    }
    pictures = tuple(
        plots.prices(options.out, f"002_lower_bound_{objective}.png", ks, _lines(objective, found))
        for objective, found in paid.items()
    )
    rows = [_row(objective, one) for objective, found in paid.items() for one in found]
    remarks = [
        "random cuts: best / mean price of "
        f"{n_trees} trees drawn for each objective; all prices with the given centres, in the instance's objective",
        f"cube: d = {D}, eps = {EPS_K:g} / k; grid: d = {D}, {STEPS} steps; each centre weighs k^2",
        "any tree: what no tree of k leaves is below, from the smallest distance and the fewest points a cut parts",
        "guarantee: on the mean of trees drawn for the instance's objective",
    ]
    slopes = {objective: _slope(ks, found, objective) for objective, found in paid.items()}
    remarks += [
        f"{OBJECTIVES['sqeuclidean']}: the mean price of its random cuts grows as k^{slopes['sqeuclidean'][0]:.2f}",
        f"{OBJECTIVES['l2']}: the mean price of its random cuts grows by {slopes['l2'][1]:.2f} as k doubles",
    ]
    table = Report(
        "Prices on the lower-bound instances as k grows",
        ("instance", "k", "any tree", "IMM", *(f"cuts for {name}" for name in OBJECTIVES.values()), "guarantee"),
        tuple(rows),
        tuple(remarks),
    )
    prints = "no numbers: orders of what every tree must pay"
    return Section("002", "Theorems 8.1 and 8.4", prints, tables=(table,), pictures=pictures)


def _cube(k: int) -> instances.Instance:
    return instances.unit_cube(k, d=D, eps=EPS_K / k, random_state=0)


def _grid(k: int) -> instances.Instance:
    return instances.unit_grid(k, d=D, steps=STEPS, random_state=0)


def _paid(instance: instances.Instance, objective: str, n_trees: int) -> Paid:
    points, weights, centers = instance.points, instance.weights, instance.centers
    base = instance.exact["reference_cost"]
    tree = grow.imm(points, instance.reference, sample_weight=weights)
    imm = cost(points, tree, objective=objective, centers=centers, sample_weight=weights) / base
    random = _prices(points, weights, centers, base, objective, tuple(OBJECTIVES), n_trees)
    return Paid(len(centers), instance.exact["price_bound"], imm, random)


def _prices(
    points: np.ndarray,
    weights: np.ndarray,
    centers: np.ndarray,
    base: float,
    objective: str,
    drawn_for: tuple[str, ...],
    n_trees: int,
) -> dict[str, np.ndarray]:
    """Return the prices of trees of random cuts, with the given centres, by the objective they are drawn for."""
    options = {"objective": objective, "centers": centers, "sample_weight": weights}
    prices = {}
    for name in drawn_for:
        rng = np.random.default_rng(list(OBJECTIVES).index(name))
        trees = (grow.random_cuts(centers, objective=name, random_state=rng) for _ in range(n_trees))
        prices[name] = np.array([cost(points, tree, **options) / base for tree in trees])
    return prices


def _row(objective: str, paid: Paid) -> tuple[str, ...]:
    return (
        f"{'cube' if objective == 'sqeuclidean' else 'grid'}, {OBJECTIVES[objective]}",
        str(paid.k),
        f"{paid.least:.2f}",
        f"{paid.imm:.2f}",
        *(f"{found.min():.2f} / {found.mean():.2f}" for found in paid.random.values()),
        f"{bounds.random_cuts_price_bound(paid.k, objective=objective, sharp=True).value:.0f}",
    )


def _lines(objective: str, found: list[Paid]) -> dict[str, list[float]]:
    lines = {"any tree": [one.least for one in found], "IMM": [one.imm for one in found]}
    return lines | {f"cuts for {OBJECTIVES[name]}": [one.random[name].mean() for one in found] for name in OBJECTIVES}


def _slope(ks: tuple[int, ...], found: list[Paid], objective: str) -> tuple[float, float]:
    """Return the exponent of the mean price in k, and its growth as k doubles."""
    means = [one.random[objective].mean() for one in found]
    return float(np.polyfit(np.log(ks), np.log(means), 1)[0]), float(np.polyfit(np.log2(ks), means, 1)[0])


# ------------------------------------------------------------------------------------------------------ growth


def _growth(options: Options) -> Section:
    ks = (2, 4, 8, 16) if options.quick else (2, 4, 8, 16, 32, 64)
    n_instances, n_trees = (3, 10) if options.quick else (10, 50)
    means = {o: [_mean_price(k, o, n_instances, n_trees) for k in ks] for o in OBJECTIVES}
    a = max(mean / math.log2(k) ** 1.5 for k, mean in zip(ks, means["l2"], strict=True))
    lines = {OBJECTIVES[o]: found for o, found in means.items()}
    curve = {f"{a:.2f} (log2 k)^1.5": [a * math.log2(k) ** 1.5 for k in ks]}
    picture = plots.prices(options.out, "002_growth.png", ks, lines | curve)
    rows = [
        (
            str(k),
            *(f"{found[i]:.3f}" for found in means.values()),
            f"{means['l2'][i] / math.log2(k) ** 1.5:.3f}",
            f"{bounds.random_cuts_price_bound(k).value:.3f}",
        )
        for i, k in enumerate(ks)
    ]
    table = Report(
        "Mean price of random cuts on random instances",
        ("k", *OBJECTIVES.values(), "ℓ2 over (log2 k)^1.5", "1 + H_(k-1)"),
        tuple(rows),
        (
            f"{n_instances} instances of 1,000 rows and k centres, uniform in [0, 1]^5, {n_trees} trees each, with the "
            "given centres",
            f"ℓ2: all means are at most a (log2 k)^1.5 with a = {a:.3f}",
        ),
    )
    prints = "no numbers: the expected price grows at most as log^1.5 k"
    return Section("002", "Theorem 7.1", prints, tables=(table,), pictures=(picture,))


def _mean_price(k: int, objective: str, n_instances: int, n_trees: int) -> float:
    rng, means = np.random.default_rng(k), []
    for _ in range(n_instances):
        X, centers = rng.random((1000, 5)), rng.random((k, 5))
        distances = np.linalg.norm(X[:, None] - centers[None], ord=NORM[objective], axis=2)
        reference = Reference(distances.argmin(axis=1), centers)
        base = nearest_cost(X, centers, objective=objective)
        weights = np.ones(len(X))
        prices = _prices(X, weights, reference.centers, base, objective, (objective,), n_trees)
        means.append(prices[objective].mean())
    return float(np.mean(means))
