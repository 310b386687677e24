"""The algorithms that grow trees: one paper, one file; arrays in, a `ThresholdTree` out."""

from boxwood.grow._cart import cart
from boxwood.grow._expand import expand
from boxwood.grow._greedy import greedy
from boxwood.grow._imm import imm
from boxwood.grow._kernel_imm import kernel_imm
from boxwood.grow._kernel_mmdt import kernel_mmdt, kernel_mmdt_of_mixture
from boxwood.grow._mmdt import mmdt
from boxwood.grow._random_cuts import random_cuts
from boxwood.grow._refine import refine

__all__ = [
    "cart",
    "expand",
    "greedy",
    "imm",
    "kernel_imm",
    "kernel_mmdt",
    "kernel_mmdt_of_mixture",
    "mmdt",
    "random_cuts",
    "refine",
]
