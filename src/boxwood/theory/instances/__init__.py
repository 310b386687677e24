"""Instances from the papers' proofs, with the exact numbers they must satisfy."""

from boxwood.theory.instances._cubes import unit_cube, unit_grid
from boxwood.theory.instances._cuts import WeightedPoints, local_optimum, star, two_centers
from boxwood.theory.instances._deviations import constant_price, exponential_error, growing_price, linear_error
from boxwood.theory.instances._expansion import far_point, split_middle
from boxwood.theory.instances._gaussians import first_cut, first_cut_error, two_gaussians
from boxwood.theory.instances._instance import Atoms, Instance
from boxwood.theory.instances._kernels import KernelPoints, neighborhood_price, quadratic_price, three_corners

__all__ = [
    "Atoms",
    "Instance",
    "KernelPoints",
    "WeightedPoints",
    "constant_price",
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
