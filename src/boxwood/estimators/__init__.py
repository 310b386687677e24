"""The growers as scikit-learn estimators."""

from boxwood.estimators._concept_mmdt import ConceptMMDT
from boxwood.estimators._kernel_mmdt import KernelMMDT
from boxwood.estimators._kernel_trees import KernelExKMC, KernelExpand, KernelIMM
from boxwood.estimators._mmdt import MMDT
from boxwood.estimators._random_cuts import RandomCuts
from boxwood.estimators._trees import CART, IMM, ExKMC, Expand

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
