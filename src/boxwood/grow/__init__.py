"""The algorithms that grow trees: arrays in, a `ThresholdTree` out. `METHODS` is the table of all of them.

A module is imported when the first of its names is used, so the table of methods costs nothing.
"""

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood.grow._cart import cart as cart
    from boxwood.grow._expand import expand as expand
    from boxwood.grow._greedy import greedy as greedy
    from boxwood.grow._imm import imm as imm
    from boxwood.grow._kernel_imm import kernel_imm as kernel_imm
    from boxwood.grow._kernel_mmdt import kernel_mmdt as kernel_mmdt
    from boxwood.grow._kernel_mmdt import kernel_mmdt_of_mixture as kernel_mmdt_of_mixture
    from boxwood.grow._methods import METHODS as METHODS
    from boxwood.grow._methods import Method as Method
    from boxwood.grow._methods import method_of as method_of
    from boxwood.grow._mmdt import mmdt as mmdt
    from boxwood.grow._optimal import Optimal as Optimal
    from boxwood.grow._optimal import optimal as optimal
    from boxwood.grow._random_cuts import random_cuts as random_cuts
    from boxwood.grow._refine import refine as refine
    from boxwood.grow._shallow import shallow as shallow

_MODULES: dict[str, tuple[str, ...]] = {
    "_cart": ("cart",),
    "_expand": ("expand",),
    "_greedy": ("greedy",),
    "_imm": ("imm",),
    "_kernel_imm": ("kernel_imm",),
    "_kernel_mmdt": ("kernel_mmdt", "kernel_mmdt_of_mixture"),
    "_methods": ("METHODS", "Method", "method_of"),
    "_mmdt": ("mmdt",),
    "_optimal": ("Optimal", "optimal"),
    "_random_cuts": ("random_cuts",),
    "_refine": ("refine",),
    "_shallow": ("shallow",),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
__all__ = [name for name in __dir__() if name not in ("Method", "Optimal", "method_of")]
