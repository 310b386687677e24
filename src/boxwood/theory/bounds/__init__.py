"""The papers' bounds on the error and the price of trees, corrected: for mixtures, around centres, for kernels."""

from boxwood.theory.bounds._centers import MistakeCertificate as MistakeCertificate
from boxwood.theory.bounds._centers import (
    imm_certificate,
    imm_price_bound,
    random_cuts_price_bound,
    separation_probability,
)
from boxwood.theory.bounds._kernel import DistanceRatios as DistanceRatios
from boxwood.theory.bounds._kernel import (
    distance_price_bound,
    distance_ratios,
    kernel_price_bound,
    midpoint_kernel_price_bound,
    tau_bound,
    taylor_price_bound,
)
from boxwood.theory.bounds._published_bounds import PublishedBound as PublishedBound
from boxwood.theory.bounds._published_bounds import published_bounds
from boxwood.theory.bounds.bound import Bound as Bound
from boxwood.theory.bounds.bound import Condition as Condition
from boxwood.theory.bounds.bound import mixture_beta, smallest_bound
from boxwood.theory.bounds.mixtures import CHEBYSHEV_CONSTANT as CHEBYSHEV_CONSTANT
from boxwood.theory.bounds.mixtures import (
    chebyshev_error_bound,
    chebyshev_minimum_bound,
    estimated_error_bound,
    gap_error_bound,
    l2_price_bound,
    midpoint_error_bound,
    midpoint_price_bound,
    price_bound,
    random_chebyshev_error_bound,
    random_error_bound,
    sqeuclidean_price_bound,
)

__all__ = [  # functions; their results and the constant are reachable, too
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
    "midpoint_error_bound",
    "midpoint_kernel_price_bound",
    "midpoint_price_bound",
    "mixture_beta",
    "price_bound",
    "published_bounds",
    "random_chebyshev_error_bound",
    "random_cuts_price_bound",
    "random_error_bound",
    "separation_probability",
    "smallest_bound",
    "sqeuclidean_price_bound",
    "tau_bound",
    "taylor_price_bound",
]
