"""Explain a clustering with a small tree of axis-aligned cuts.

Start with `explain`, or with an estimator such as `IMM`. Everything is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# name -> module that defines it; a module that defines itself is a submodule
_PLACES = {
    "CART": "boxwood.estimators",
    "ConceptMMDT": "boxwood.estimators",
    "DataError": "boxwood.errors",
    "ExKMC": "boxwood.estimators",
    "Expand": "boxwood.estimators",
    "Explanation": "boxwood.explanation",
    "IMM": "boxwood.estimators",
    "KMedians": "boxwood.reference._kmedians",
    "KernelExKMC": "boxwood.estimators",
    "KernelExpand": "boxwood.estimators",
    "KernelIMM": "boxwood.estimators",
    "KernelKMeans": "boxwood.reference._kernel_kmeans",
    "KernelMMDT": "boxwood.estimators",
    "MMDT": "boxwood.estimators",
    "Mixture": "boxwood.reference",
    "RandomCuts": "boxwood.estimators",
    "Reference": "boxwood.reference",
    "ThresholdTree": "boxwood.tree",
    "TreeBuilder": "boxwood.tree",
    "concepts": "boxwood.concepts",
    "axes": "boxwood.axes",
    "errors": "boxwood.errors",
    "explain": "boxwood.explanation",
    "grow": "boxwood.grow",
    "kernels": "boxwood.kernels",
    "load": "boxwood.explanation",
    "metrics": "boxwood.metrics",
    "render": "boxwood.render",
    "theory": "boxwood.theory",
}

if TYPE_CHECKING:
    from boxwood import axes, concepts, errors, grow, metrics, render, theory
    from boxwood.errors import DataError
    from boxwood.estimators import (
        CART,
        IMM,
        MMDT,
        ConceptMMDT,
        ExKMC,
        Expand,
        KernelExKMC,
        KernelExpand,
        KernelIMM,
        KernelMMDT,
        RandomCuts,
    )
    from boxwood.explanation import Explanation, explain, load
    from boxwood.reference import Mixture, Reference
    from boxwood.reference._kernel_kmeans import KernelKMeans
    from boxwood.reference._kmedians import KMedians
    from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = [
    "CART",
    "IMM",
    "MMDT",
    "ConceptMMDT",
    "DataError",
    "ExKMC",
    "Expand",
    "Explanation",
    "KMedians",
    "KernelExKMC",
    "KernelExpand",
    "KernelIMM",
    "KernelKMeans",
    "KernelMMDT",
    "Mixture",
    "RandomCuts",
    "Reference",
    "ThresholdTree",
    "TreeBuilder",
    "axes",
    "concepts",
    "errors",
    "explain",
    "grow",
    "kernels",
    "load",
    "metrics",
    "render",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'boxwood' has no attribute {name!r}")
    module = import_module(_PLACES[name])
    value = module if module.__name__ == f"boxwood.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
