"""Clusterings by kernel k-means over a grid of bandwidths, and what the trees that explain them are worth."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, rand_score

import boxwood as bw
from benchmarks.papers.bases import scaled
from benchmarks.papers.data import Table
from benchmarks.papers.report import degenerate
from boxwood import Reference, ThresholdTree, grow
from boxwood.kernels import Gaussian, Kernel, Laplace
from boxwood.metrics import price_of_explainability

__all__ = ["KERNELS", "ORDER", "Bar", "KernelBase", "again", "best", "explained", "grid", "kernel_bases", "measured"]

KERNELS = {"Gaussian": Gaussian, "Laplace": Laplace}
STEPS = range(-8, 13)
ORDER = 5  # of Taylor features, as in the paper


class KernelBase(NamedTuple):
    """Clusters of kernel k-means of rows `X`, and how they agree with the true classes (adjusted Rand index)."""

    scaling: str
    X: np.ndarray
    kernel: Kernel
    reference: Reference
    truth: float

    @property
    def setting(self) -> str:
        return f"{self.scaling}, {type(self.kernel).__name__} gamma {self.kernel.gamma:.3g}"


def grid(quick: bool) -> str:
    """Return the bandwidths in words."""
    first, second, *_, last = _steps(quick)
    return f"gamma is that of 'scale' times the square root of 2 to the power {first}, {second}, ..., {last}"


def _steps(quick: bool) -> range:
    return STEPS[::4] if quick else STEPS


def kernel_bases(
    table: Table, k: int, *, kernels: Sequence[str], scalings: Sequence[str], quick: bool = False
) -> Iterator[KernelBase]:
    """Yield the clusterings of each scaling of the columns, kernel and bandwidth at which the kernel is not degenerate.

    Each is the best of ten starts, of seed 0.
    """
    for scaling in scalings:
        X = scaled(table.X, scaling)
        for name in kernels:
            kernel = KERNELS[name]
            scale = kernel("scale").fitted(X).gamma
            for step in _steps(quick):
                found = kernel(scale * 2.0 ** (step / 2))
                if not degenerate(found(X, X)):
                    yield _clustered(scaling, X, found, k, table.labels, 0)


def again(base: KernelBase, truth: np.ndarray, seed: int) -> KernelBase:
    """Return the clustering of the same setting from other starts."""
    return _clustered(base.scaling, base.X, base.kernel, base.reference.n_clusters, truth, seed)


def _clustered(scaling: str, X: np.ndarray, kernel: Kernel, k: int, truth: np.ndarray, seed: int) -> KernelBase:
    labels = bw.KernelKMeans(k, kernel=kernel, n_init=10, random_state=seed, n_jobs=1).fit(X).labels_
    return KernelBase(scaling, X, kernel, Reference.of(X, labels), adjusted_rand_score(truth, labels))


def best(bases: Sequence[KernelBase]) -> KernelBase:
    """Return the clustering that agrees best with the true classes, the first of equal ones."""
    return max(bases, key=lambda base: base.truth)


def explained(base: KernelBase) -> "bw.KernelIMM":
    """Return Kernel IMM with the better of Taylor features of order 5 and similarities to all values."""
    kinds = ("taylor", "distance") if isinstance(base.kernel, Gaussian) else ("distance",)
    chosen = {"kernel": base.kernel, "n_terms": ORDER, "n_landmarks": None, "n_jobs": 1}
    models = [bw.KernelIMM(features=kind, **chosen).fit(base.X, base.reference.labels) for kind in kinds]
    return min(models, key=lambda model: model.price_)


class Bar(NamedTuple):
    """A clustering or a tree for it: what it costs, how it agrees with what it explains and with the true classes."""

    reference: Reference
    tree: ThresholdTree | None
    price: float | None
    clusters: float
    truth: float
    rand: float


def measured(base: KernelBase, model: "bw.KernelIMM", truth: np.ndarray, n_leaves: int) -> dict[str, Bar]:
    """Return the bars of both clusterings and of all trees by method; `n_leaves` is for what refines Kernel IMM."""
    X, reference = base.X, base.reference
    k = reference.n_clusters
    linear = Reference.from_estimator(KMeans(k, n_init=10, random_state=0).fit(X), X)
    imm = grow.imm(X, linear)
    bars = {
        "k-means": _bar(X, truth, linear),
        "IMM": _bar(X, truth, linear, imm, price_of_explainability(X, imm, linear)),
        "kernel k-means": _bar(X, truth, reference),
    }
    more = {"max_leaf_nodes": n_leaves, "kernel": base.kernel, "cuts": "interval"}
    trees = {
        "Kernel IMM": model.tree_,
        "Kernel ExKMC": grow.expand(model.tree_, X, reference, **more),
        "Kernel Expand": grow.expand(model.tree_, X, reference, objective="mistakes", **more),
        "CART": grow.cart(X, reference.labels, max_leaf_nodes=k),
    }
    for method, tree in trees.items():
        price = price_of_explainability(X, tree, reference, kernel=base.kernel)
        bars[method] = _bar(X, truth, reference, tree, price)
    return bars


def _bar(
    X: np.ndarray,
    truth: np.ndarray,
    reference: Reference,
    tree: ThresholdTree | None = None,
    price: float | None = None,
) -> Bar:
    labels = reference.labels if tree is None else tree.predict(X)
    clusters = adjusted_rand_score(reference.labels, labels)
    return Bar(reference, tree, price, clusters, adjusted_rand_score(truth, labels), rand_score(truth, labels))
