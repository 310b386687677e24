"""The functions of `boxwood.grow`, with every value of every parameter that chooses between ways."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.same_trees.lines import FEW, MANY, Grower, Line, n_trees
from benchmarks.same_trees.tables import Table
from boxwood import ThresholdTree, grow, kernels


def lines_of_grow() -> list[Line]:
    """Return a line for each way through `grow`."""
    return [*_of_labels(), *_of_expand(), *_of_kernels(), *_of_mixtures(), *_of_centers()]


def with_rows(function: Callable[..., ThresholdTree], **options: Any) -> Grower:
    return lambda t: function(t.X, t.reference(), sample_weight=t.weights, **options)


def _of_labels() -> list[Line]:
    return [
        Line("grow.imm", "hard", with_rows(grow.imm), MANY),
        Line("grow.imm", "smooth", with_rows(grow.imm), MANY),
        Line("grow.imm, midpoints", "hard", with_rows(grow.imm, candidates="midpoints"), MANY),
        Line("grow.imm, merged", "hard", with_rows(grow.imm, duplicates="merge")),
        Line("grow.imm, one thread", "smooth", with_rows(grow.imm, n_jobs=1)),
        Line("grow.greedy", "hard", with_rows(grow.greedy), MANY),
        Line("grow.greedy, merged", "hard", with_rows(grow.greedy, duplicates="merge")),
        Line("grow.cart", "hard", by_cart()),
        Line("grow.cart, entropy", "smooth", by_cart(criterion="entropy", random_state=3)),
        Line("grow.refine imm", "hard", refined(with_rows(grow.imm))),
        Line("grow.refine imm, mistakes", "hard", refined(with_rows(grow.imm), objective="mistakes")),
        Line("grow.refine cart, one sweep", "smooth", refined(by_cart(), max_sweeps=1)),
        Line("grow.refine intervals", "smooth", refined(expanded(cuts="interval"))),
    ]


def by_cart(**options: Any) -> Grower:
    return lambda t: grow.cart(t.X, t.labels, max_leaf_nodes=t.k + 1, sample_weight=t.weights, **options)


def refined(begin: Grower, **options: Any) -> Grower:
    return lambda t: grow.refine(begin(t), t.X, t.reference(), sample_weight=t.weights, **options)


def expanded(*, of_imm: bool = False, more: int = 3, **options: Any) -> Grower:
    def grower(t: Table) -> ThresholdTree:
        begin = with_rows(grow.imm)(t) if of_imm else None
        leaves = t.k + more
        return grow.expand(begin, t.X, t.reference(), max_leaf_nodes=leaves, sample_weight=t.weights, **options)

    return grower


def _of_expand() -> list[Line]:
    choices = [(objective, cuts) for objective in ("cost", "mistakes") for cuts in ("threshold", "interval")]
    lines = [
        Line(f"grow.expand {objective} {cuts}", "hard", expanded(objective=objective, cuts=cuts), MANY)
        for objective, cuts in choices
    ]
    lines += [
        Line(f"grow.expand imm {objective} {cuts}", "smooth", expanded(of_imm=True, objective=objective, cuts=cuts))
        for objective, cuts in choices
    ]
    lines.append(Line("grow.expand imm, many leaves", "smooth", expanded(of_imm=True, more=30)))
    for kernel in _kernels().values():
        for cuts in ("threshold", "interval"):
            grower = expanded(kernel=kernel, cuts=cuts)
            lines.append(Line(f"grow.expand {_named(kernel)} {cuts}", "positive", grower, FEW))
    lines.append(Line("grow.expand gaussian mistakes", "smooth", expanded(kernel="gaussian", objective="mistakes")))
    return lines


def _kernels() -> dict[str, Any]:
    return {
        "gaussian": kernels.Gaussian("median"),
        "laplace": kernels.Laplace(0.5),
        "linear": kernels.Linear(),
        "polynomial": kernels.Polynomial(degree=2),
        "neighborhood": kernels.Neighborhood(1.0),
        "hellinger": kernels.Hellinger(),
        "intersection": kernels.HistogramIntersection(),
        "chi_squared": kernels.ChiSquared(),
    }


def _named(kernel: Any) -> str:
    return kernel if isinstance(kernel, str) else type(kernel).__name__


def _of_kernels() -> list[Line]:
    options: list[tuple[str, dict[str, Any]]] = [
        ("smooth", {"kernel": "gaussian"}),
        ("hard", {"kernel": "gaussian"}),
        ("smooth", {"kernel": kernels.Gaussian(0.2), "features": "taylor"}),
        ("smooth", {"kernel": kernels.Gaussian(0.2), "features": "taylor", "n_terms": 5}),
        ("smooth", {"kernel": kernels.Gaussian("median"), "features": "distance"}),
        ("smooth", {"kernel": kernels.Laplace(0.5)}),
        ("smooth", {"kernel": kernels.Laplace("median"), "features": "distance", "n_landmarks": 9}),
        ("smooth", {"kernel": "laplace", "features": "distance", "n_landmarks": None}),
        ("smooth", {"kernel": "linear", "features": "additive"}),
        ("positive", {"kernel": "hellinger"}),
        ("positive", {"kernel": kernels.HistogramIntersection(0.5), "features": "additive"}),
        ("positive", {"kernel": "histogram_intersection", "n_landmarks": 7}),
        ("positive", {"kernel": "chi_squared"}),
        ("positive", {"kernel": "chi_squared", "n_terms": 3}),
    ]
    lines = [Line(f"grow.kernel_imm {_words(own)}", kind, with_rows(grow.kernel_imm, **own)) for kind, own in options]
    return lines + _of_kernel_mmdt()


def _words(options: dict[str, Any]) -> str:
    return " ".join(_named(value) if name == "kernel" else f"{name}={value}" for name, value in options.items())


def _of_kernel_mmdt() -> list[Line]:
    choices = [(axis, prototype) for axis in ("similarity", "error") for prototype in ("sample", "medoid")]
    cauchy = kernels.ProductKernel(_cauchy, _inverse_cauchy)
    lines = []
    for axis, prototype in choices:
        own = {"axis": axis, "prototype": prototype, "random_state": 5}
        grower = with_rows(grow.kernel_mmdt, kernel="gaussian", **own)
        lines += [
            Line(f"grow.kernel_mmdt {axis} {prototype}", "smooth", grower),
            Line(f"grow.kernel_mmdt {axis} {prototype}", "hard", grower, FEW),
            Line(f"grow.kernel_mmdt_of_mixture {axis} {prototype}", "smooth", _of_parameters(**own)),
        ]
    several = with_rows(grow.kernel_mmdt, kernel="laplace", random_state=2, **n_trees(grow.kernel_mmdt, 4))
    lines.append(Line("grow.kernel_mmdt, several", "smooth", several))
    lines.append(
        Line("grow.kernel_mmdt cauchy", "smooth", with_rows(grow.kernel_mmdt, kernel=cauchy, random_state=1), FEW)
    )
    return lines


def _of_parameters(**options: Any) -> Grower:
    return lambda t: grow.kernel_mmdt_of_mixture(t.mixture(), kernel=kernels.Gaussian(0.4 + t.seed % 3), **options)


def _cauchy(distance: Any) -> Any:
    return 1 / (1 + distance * distance)


def _inverse_cauchy(level: Any) -> Any:
    return np.sqrt(1 / level - 1)


def _of_mixtures() -> list[Line]:
    lines = []
    for axis in ("gap", "range"):
        for threshold in ("midpoint", "tails", "chebyshev", "gaussian", "uniform"):
            for pooling in ("weighted", "max"):
                own = {"axis": axis, "threshold": threshold, "pooling": pooling}
                kind = "hard" if threshold == "midpoint" else "smooth"
                lines.append(Line(f"grow.mmdt {axis} {threshold} {pooling}", kind, by_mmdt(**own), 10))
    return [*lines, Line("grow.mmdt, random ties", "hard", by_mmdt(tie_break="random"))]


def by_mmdt(**options: Any) -> Grower:
    return lambda t: grow.mmdt(t.mixture(), random_state=t.seed % 100, **options)


def _of_centers() -> list[Line]:
    lines = []
    for objective in ("l1", "sqeuclidean", "l2"):
        for variant in ("fast", "exact"):
            for kind in ("hard", "smooth"):
                grower = _drawn(objective=objective, variant=variant)
                lines.append(Line(f"grow.random_cuts {objective} {variant}", kind, grower))
    return [*lines, Line("grow.random_cuts l2, lower median", "smooth", _drawn(objective="l2", median="lower"))]


def _drawn(**options: Any) -> Grower:
    """Return the grower of a random tree, for the different rows among the first forty instead of centres."""
    return lambda t: grow.random_cuts(np.unique(t.X[:40], axis=0), random_state=t.seed % 100, **options)
