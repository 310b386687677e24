"""The growers as scikit-learn estimators."""

from boxwood.estimators._kernel_trees import KernelExKMC, KernelExpand, KernelIMM, KernelMMDT
from boxwood.estimators._mmdt import MMDT, ConceptMMDT
from boxwood.estimators._trees import CART, IMM, ExKMC, Expand, RandomCuts

__all__ = [
    "CART",
    "IMM",
    "MMDT",
    "ConceptMMDT",
    "ExKMC",
    "Expand",
    "KernelExKMC",
    "KernelExpand",
    "KernelIMM",
    "KernelMMDT",
    "RandomCuts",
]
