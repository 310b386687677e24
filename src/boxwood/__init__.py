"""Explain a clustering with a small tree of axis-aligned cuts.

Start with `explain`, or with an estimator such as `IMM`. Everything is imported when it is first used.
"""

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood import axes as axes
    from boxwood import concepts as concepts
    from boxwood import errors as errors
    from boxwood import grow as grow
    from boxwood import kernels as kernels
    from boxwood import metrics as metrics
    from boxwood import render as render
    from boxwood import theory as theory
    from boxwood.clusterers import *
    from boxwood.errors import DataError as DataError
    from boxwood.estimators import *
    from boxwood.explanation import Explanation as Explanation
    from boxwood.explanation import compare as compare
    from boxwood.explanation import explain as explain
    from boxwood.explanation import load as load
    from boxwood.reference import Mixture as Mixture
    from boxwood.reference import Reference as Reference
    from boxwood.tree import ThresholdTree as ThresholdTree
    from boxwood.tree import TreeBuilder as TreeBuilder

__version__ = "0.1.0"

_MODULES: dict[str, tuple[str, ...]] = {
    "clusterers": ("KMedians", "KernelKMeans"),
    "errors": ("DataError", "errors"),
    "estimators": (
        *("CART", "ConceptMMDT", "ExKMC", "Expand", "IMM", "KernelExKMC", "KernelExpand", "KernelIMM", "KernelMMDT"),
        *("MMDT", "RandomCuts"),
    ),
    "explanation": ("Explanation", "compare", "explain", "load"),
    "reference": ("Mixture", "Reference"),
    "tree": ("ThresholdTree", "TreeBuilder"),
    **dict.fromkeys(("axes", "concepts", "grow", "kernels", "metrics", "render", "theory"), ()),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
__all__ = __dir__()
