"""The papers' bounds on the error and the price of trees, corrected, as numbers."""

from boxwood.theory._bound import Bound, Condition, smallest
from boxwood.theory.bounds._cuts import random_cuts_price_bound, separation_probability
from boxwood.theory.bounds._distances import DistanceRatios, distance_ratios
from boxwood.theory.bounds._error import (
    chebyshev_error_bound,
    chebyshev_minimum_bound,
    estimated_error_bound,
    gap_error_bound,
    random_chebyshev_error_bound,
    random_error_bound,
)
from boxwood.theory.bounds._facts import C0
from boxwood.theory.bounds._imm import MistakeCertificate, imm_certificate, imm_price_bound
from boxwood.theory.bounds._kernels import (
    distance_price_bound,
    kernel_price_bound,
    tau_bound,
    taylor_price_bound,
)
from boxwood.theory.bounds._price import beta, l2_price_bound, price_bound, sqeuclidean_price_bound
from boxwood.theory.bounds._published import PublishedBound, table

__all__ = [
    "C0",
    "Bound",
    "Condition",
    "DistanceRatios",
    "MistakeCertificate",
    "PublishedBound",
    "beta",
    "chebyshev_error_bound",
    "chebyshev_minimum_bound",
    "distance_price_bound",
    "distance_ratios",
    "estimated_error_bound",
    "gap_error_bound",
    "imm_certificate",
    "imm_price_bound",
    "kernel_price_bound",
    "l2_price_bound",
    "price_bound",
    "random_chebyshev_error_bound",
    "random_cuts_price_bound",
    "random_error_bound",
    "separation_probability",
    "smallest",
    "sqeuclidean_price_bound",
    "table",
    "tau_bound",
    "taylor_price_bound",
]
