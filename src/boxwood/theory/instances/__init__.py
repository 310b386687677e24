"""Instances from the papers' proofs, with the exact numbers they must satisfy: one file for each paper."""

from boxwood.theory.instances._instance import Instance
from boxwood.theory.instances._kernel_points import (
    far_point,
    neighborhood_price,
    quadratic_price,
    split_middle,
    three_corners,
)
from boxwood.theory.instances._mixtures import (
    constant_price,
    exponential_error,
    first_cut,
    first_cut_error,
    growing_price,
    linear_error,
    two_gaussians,
)
from boxwood.theory.instances._points import Damages as Damages
from boxwood.theory.instances._points import damages, local_optimum, star, two_centers, unit_cube, unit_grid

__all__ = [
    "Instance",
    "constant_price",
    "damages",
    "exponential_error",
    "far_point",
    "first_cut",
    "first_cut_error",
    "growing_price",
    "linear_error",
    "local_optimum",
    "neighborhood_price",
    "quadratic_price",
    "split_middle",
    "star",
    "three_corners",
    "two_centers",
    "two_gaussians",
    "unit_cube",
    "unit_grid",
]
