"""The papers' bounds on the error and the price of trees, corrected, as numbers."""

from boxwood.theory._bound import Bound, Condition, smallest
from boxwood.theory.bounds._mixture import (
    C0,
    beta,
    chebyshev_error_bound,
    chebyshev_minimum_bound,
    estimated_error_bound,
    gap_error_bound,
    l2_price_bound,
    price_bound,
    random_chebyshev_error_bound,
    random_error_bound,
    sqeuclidean_price_bound,
)

__all__ = [
    "C0",
    "Bound",
    "Condition",
    "beta",
    "chebyshev_error_bound",
    "chebyshev_minimum_bound",
    "estimated_error_bound",
    "gap_error_bound",
    "l2_price_bound",
    "price_bound",
    "random_chebyshev_error_bound",
    "random_error_bound",
    "smallest",
    "sqeuclidean_price_bound",
]
