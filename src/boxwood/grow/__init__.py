"""The algorithms that grow trees: arrays in, a `ThresholdTree` out. `METHODS` is the table of all of them.

A module is imported when the first of its names is used, so the table of methods costs nothing.
"""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood.grow._methods import METHODS as METHODS
    from boxwood.grow._methods import Method as Method
    from boxwood.grow._methods import method_of as method_of
    from boxwood.grow.centers.greedy import greedy as greedy
    from boxwood.grow.centers.greedy import shallow as shallow
    from boxwood.grow.centers.imm import imm as imm
    from boxwood.grow.centers.mmdt import mmdt as mmdt
    from boxwood.grow.centers.random_cuts import random_cuts as random_cuts
    from boxwood.grow.exact.optimal import Optimal as Optimal
    from boxwood.grow.exact.optimal import optimal as optimal
    from boxwood.grow.kernel.imm import kernel_imm as kernel_imm
    from boxwood.grow.kernel.mmdt import kernel_mmdt as kernel_mmdt
    from boxwood.grow.kernel.mmdt import kernel_mmdt_of_mixture as kernel_mmdt_of_mixture
    from boxwood.grow.leaves.cart import cart as cart
    from boxwood.grow.leaves.expand import expand as expand
    from boxwood.grow.refinement.refine import refine as refine

_MODULES: dict[str, tuple[str, ...]] = {
    "_methods": ("METHODS", "Method", "method_of"),
    "boxwood.grow.refinement.refine": ("refine",),
    "boxwood.grow.centers.greedy": ("greedy", "shallow"),
    "boxwood.grow.centers.imm": ("imm",),
    "boxwood.grow.centers.mmdt": ("mmdt",),
    "boxwood.grow.centers.random_cuts": ("random_cuts",),
    "boxwood.grow.exact.optimal": ("Optimal", "optimal"),
    "boxwood.grow.kernel.imm": ("kernel_imm",),
    "boxwood.grow.kernel.mmdt": ("kernel_mmdt", "kernel_mmdt_of_mixture"),
    "boxwood.grow.leaves.cart": ("cart",),
    "boxwood.grow.leaves.expand": ("expand",),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = [name for name in __dir__() if name not in ("Method", "Optimal", "method_of")]
