"""What the bounds share: the numbers of a mixture that they rest on, and the trees and tails that they speak of.

"MMDT" is `boxwood.grow.mmdt` with `pooling="max"`: every guarantee needs one sigma for each axis that no component
exceeds. Explainability-to-noise ratios are taken accordingly, in the convention of each theorem.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy.typing import ArrayLike

from boxwood.metrics import explainability_to_noise
from boxwood.reference import Mixture
from boxwood.theory._bound import Bound, Condition

__all__ = [
    "C0",
    "DEEP",
    "GAP_TREE",
    "GUARANTEES",
    "RANDOM_TREE",
    "RANGE_TREE",
    "Facts",
    "as_price",
    "as_probability",
    "constant",
    "facts_of",
    "tails",
]

C0 = 4 + 2 * math.pi**2 / 3
"""Constant of the Chebyshev bounds as published; pi² is the sharp one."""

GUARANTEES = "Fleissner, Zarvandi and Ghoshdastidar, Explainable Clustering Beyond Worst-Case Guarantees"
DEEP = "Fleissner, Zarvandi and Ghoshdastidar, Decision Trees for Interpretable Clusters in Mixture Models"
RANGE_TREE = Condition(
    "the tree is MMDT's with axis='range' and threshold 'midpoint' or 'chebyshev' (for Gaussians any but 'uniform')",
    None,
)
GAP_TREE = Condition("the tree is MMDT's with axis='gap' and threshold='midpoint'", None)
RANDOM_TREE = Condition("the tree is MMDT's with axis='range' and threshold='uniform'", None)


class Facts(NamedTuple):
    """Number of components, imbalance of the weights, explainability-to-noise ratio, and whether means differ."""

    k: int
    alpha: float
    q: float
    distinct: Condition


def facts_of(mixture: Mixture, convention: str, sigma: ArrayLike | None = None) -> Facts:
    """Return what the bounds need of a mixture, with the ratio in a convention."""
    q = explainability_to_noise(mixture, convention=convention, sigma=sigma).value
    return Facts(len(mixture.weights), mixture.alpha, q, Condition("the means are distinct", q > 0))


def constant(sharp: bool) -> float:
    """Return the constant of the Chebyshev bounds: `C0`, or the exact sum of its series."""
    return math.pi**2 if sharp else C0


def tails(tail: str) -> Condition:
    """Return the condition that bounds by tails rest on."""
    return Condition(f"components have {tail} tails with these sigmas along each axis", None)


def as_price(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool) -> Bound:
    """Return a bound on a price."""
    return Bound(value, value, conditions, source, estimated)


def as_probability(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool) -> Bound:
    """Return a bound on a probability, which is clipped at 1."""
    return Bound(value, min(1.0, value), conditions, source, estimated)
