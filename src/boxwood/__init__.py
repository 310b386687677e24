"""Explain a clustering with a small tree of axis-aligned cuts.

Start with `explain`, or with an estimator such as `IMM`. Everything is imported when it is first used.
"""

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood import axes, concepts, errors, grow, kernels, metrics, render, theory  # noqa: F401
    from boxwood.clusterers import *
    from boxwood.errors import DataError  # noqa: F401
    from boxwood.estimators import *
    from boxwood.explanation import Explanation, explain, load  # noqa: F401
    from boxwood.reference import Mixture, Reference  # noqa: F401
    from boxwood.tree import ThresholdTree, TreeBuilder  # noqa: F401

__version__ = "0.1.0"

_MODULES: dict[str, tuple[str, ...]] = {
    "clusterers": ("KMedians", "KernelKMeans"),
    "errors": ("DataError", "errors"),
    "estimators": (
        *("CART", "ConceptMMDT", "ExKMC", "Expand", "IMM", "KernelExKMC", "KernelExpand", "KernelIMM", "KernelMMDT"),
        *("MMDT", "RandomCuts"),
    ),
    "explanation": ("Explanation", "explain", "load"),
    "reference": ("Mixture", "Reference"),
    "tree": ("ThresholdTree", "TreeBuilder"),
    **dict.fromkeys(("axes", "concepts", "grow", "kernels", "metrics", "render", "theory"), ()),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
__all__ = __dir__()
