"""Every estimator, fitted to labels that are given and to those of a clusterer that was told them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

import boxwood as bw
from benchmarks.same_trees.clusterers import FixedMixture, by_centers, by_scaled_centers, by_scaled_labels
from benchmarks.same_trees.lines import FEW, Grower, Line, n_trees
from benchmarks.same_trees.tables import Table, as_frame
from boxwood import ThresholdTree, kernels


def lines_of_estimators() -> list[Line]:
    """Return a line for each way through an estimator."""
    return [*_of_estimators(), *_of_kernel_estimators(), *_of_clusterers()]


def _fitted(make: Callable[[Table], Any]) -> Grower:
    return lambda t: make(t).fit(t.X, t.labels, sample_weight=t.weights).tree_


def fitted(kind: Callable[..., Any], **options: Any) -> Grower:
    return _fitted(lambda t: kind(random_state=t.seed % 100, **options))


def _of_estimators() -> list[Line]:
    lines = [
        Line("IMM", "hard", fitted(bw.IMM)),
        Line("IMM, midpoints", "smooth", fitted(bw.IMM, candidates="midpoints")),
        Line("IMM, names", "smooth", lambda t: bw.IMM().fit(t.X, t.names()).tree_),
        Line("IMM, frame", "smooth", lambda t: bw.IMM().fit(as_frame(t), t.labels).tree_),
        Line("CART", "hard", fitted(bw.CART)),
        Line("CART, entropy", "smooth", fitted(bw.CART, max_leaf_nodes=8, criterion="entropy")),
        Line("MMDT, frame", "smooth", lambda t: bw.MMDT().fit(as_frame(t), t.names()).tree_),
        Line("MMDT, range", "hard", fitted(bw.MMDT, axis="range", threshold="uniform")),
        Line("MMDT, tails", "smooth", fitted(bw.MMDT, threshold="tails", pooling="max")),
        Line("RandomCuts, 100 trees", "smooth", fitted(bw.RandomCuts), FEW),
    ]
    for kind in (bw.ExKMC, bw.Expand):
        for base in ("imm", "root"):
            for cuts in ("threshold", "interval"):
                lines.append(Line(f"{kind.__name__} {base} {cuts}", "smooth", fitted(kind, base=base, cuts=cuts), 10))
        lines.append(Line(f"{kind.__name__}, many leaves", "hard", fitted(kind, max_leaf_nodes=14, base="root")))
    for objective in ("l1", "sqeuclidean", "l2"):
        for variant in ("fast", "exact"):
            own = {"objective": objective, "variant": variant, "n_trees": 6}
            lines.append(Line(f"RandomCuts {objective} {variant}", "hard", fitted(bw.RandomCuts, **own), 10))
    return [*lines, *_of_concepts()]


def _of_concepts() -> list[Line]:
    """Return the lines of concepts, whose scores are products of matrices but for single columns as concepts."""
    return [
        Line("ConceptMMDT", "smooth", _fitted(lambda t: bw.ConceptMMDT(_columns(t), random_state=0))),
        Line("ConceptMMDT, range", "hard", _fitted(lambda t: bw.ConceptMMDT(_columns(t), axis="range"))),
        Line("ConceptMMDT of parameters", "smooth", _of_parameters_alone),
        Line("IMM on concepts", "smooth", _imm_on_concepts),
        Line("ConceptMMDT, learned", "smooth", _learned, FEW),
    ]


def _columns(t: Table) -> bw.concepts.ConceptProjector:
    """Return concepts each of which is one column, the last column first."""
    return bw.concepts.ConceptProjector.from_vectors(np.eye(t.X.shape[1])[::-1])


def _of_parameters_alone(t: Table) -> ThresholdTree:
    return bw.ConceptMMDT(_columns(t), random_state=0).fit_mixture(t.mixture()).tree_


def _imm_on_concepts(t: Table) -> ThresholdTree:
    return bw.concepts.make_concept_tree(_columns(t), bw.IMM()).fit(t.X, t.labels)[-1].tree_


def _learned(t: Table) -> ThresholdTree:
    concepts = {"low": t.labels < t.k // 2, "even": t.labels % 2 == 0}
    return bw.ConceptMMDT(bw.concepts.ConceptProjector("mean-difference")).fit(t.X, t.labels, concepts=concepts).tree_


def _of_kernel_estimators() -> list[Line]:
    gaussian = kernels.Gaussian(0.3)
    lines = [
        Line("KernelIMM", "smooth", fitted(bw.KernelIMM)),
        Line("KernelIMM", "hard", fitted(bw.KernelIMM), FEW),
        Line("KernelIMM, taylor", "smooth", fitted(bw.KernelIMM, kernel=gaussian, features="taylor"), FEW),
        Line("KernelIMM, laplace", "smooth", fitted(bw.KernelIMM, kernel="laplace", gamma="median", n_landmarks=12)),
        Line("KernelIMM, chi squared", "positive", fitted(bw.KernelIMM, kernel="chi_squared", n_terms=3), FEW),
        Line("KernelIMM, hellinger", "positive", fitted(bw.KernelIMM, kernel="hellinger"), FEW),
        Line("KernelMMDT", "smooth", fitted(bw.KernelMMDT)),
        Line("KernelMMDT, error", "smooth", fitted(bw.KernelMMDT, kernel="laplace", axis="error"), FEW),
        Line("KernelMMDT, medoid", "hard", fitted(bw.KernelMMDT, prototype="medoid", gamma=0.1), FEW),
        Line("KernelMMDT, several", "smooth", fitted(bw.KernelMMDT, **n_trees(bw.KernelMMDT, 5))),
    ]
    for kind in (bw.KernelExKMC, bw.KernelExpand):
        name = kind.__name__
        lines += [
            Line(name, "smooth", fitted(kind)),
            Line(f"{name}, thresholds", "smooth", fitted(kind, kernel=gaussian, cuts="threshold"), FEW),
            Line(f"{name}, root", "smooth", fitted(kind, base="root", kernel="polynomial"), FEW),
            Line(f"{name}, laplace", "hard", fitted(kind, kernel="laplace", max_leaf_nodes=12), FEW),
            Line(f"{name}, linear", "smooth", fitted(kind, kernel="linear"), FEW),
        ]
    return lines


def _of_clusterers() -> list[Line]:
    kinds = (bw.IMM, bw.ExKMC, bw.Expand, bw.RandomCuts, bw.MMDT, bw.CART)
    kinds += (bw.KernelIMM, bw.KernelExKMC, bw.KernelExpand, bw.KernelMMDT)
    makers = (("centres", by_centers), ("scaled labels", by_scaled_labels), ("scaled centres", by_scaled_centers))
    lines = [
        Line(f"{kind.__name__} of {name}", "smooth", _clustering(kind, make), FEW)
        for kind in kinds
        for name, make in makers
    ]
    for kind in (bw.MMDT, bw.IMM, bw.ConceptMMDT):
        lines.append(Line(f"{kind.__name__} of a mixture's clusters", "smooth", _of_frozen_mixture(kind), 10))
    return lines


def _clustering(kind: Callable[..., Any], make: Callable[[Table], Any]) -> Grower:
    return lambda t: kind(make(t), random_state=t.seed % 100).fit(t.X, sample_weight=t.weights).tree_


def _of_frozen_mixture(kind: Callable[..., Any]) -> Grower:
    def grower(t: Table) -> ThresholdTree:
        known = {"projector": _columns(t)} if kind is bw.ConceptMMDT else {}
        return kind(clusterer=FrozenEstimator(FixedMixture.of(t)), **known).fit(t.X).tree_

    return grower
