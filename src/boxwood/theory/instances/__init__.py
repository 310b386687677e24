"""Instances from the papers' proofs, with the exact numbers they must satisfy."""

from boxwood.theory.instances._mixture import (
    Atoms,
    Instance,
    constant_price,
    exponential_error,
    first_cut,
    first_cut_error,
    growing_price,
    linear_error,
    two_gaussians,
)

__all__ = [
    "Atoms",
    "Instance",
    "constant_price",
    "exponential_error",
    "first_cut",
    "first_cut_error",
    "growing_price",
    "linear_error",
    "two_gaussians",
]
