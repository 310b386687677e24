"""The growers as scikit-learn estimators."""

from boxwood.estimators._cart import CART
from boxwood.estimators._concept_mmdt import ConceptMMDT
from boxwood.estimators._expand import ExKMC, Expand
from boxwood.estimators._imm import IMM
from boxwood.estimators._kernel_expand import KernelExKMC, KernelExpand
from boxwood.estimators._kernel_imm import KernelIMM
from boxwood.estimators._kernel_mmdt import KernelMMDT
from boxwood.estimators._mmdt import MMDT
from boxwood.estimators._random_cuts import RandomCuts

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
