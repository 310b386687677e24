"""`Bound`: a number that a theorem promises, with the theorem's conditions; and what all bounds for mixtures use.

"MMDT" is `boxwood.grow.mmdt` with `pooling="max"`: every guarantee needs one sigma for each axis that no component
exceeds. Each theorem takes the explainability-to-noise ratio in a convention of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from numpy.typing import ArrayLike

from boxwood.metrics import explainability_to_noise
from boxwood.reference import Mixture

__all__ = [
    "RANDOM_TREE",
    "Bound",
    "Condition",
    "MixtureFacts",
    "as_price",
    "as_probability",
    "mixture_facts",
    "smallest_bound",
]


class Condition(NamedTuple):
    """One condition of a bound, in words, and whether it holds.

    `holds` is None where the arguments of the bound cannot tell. The bound then assumes the condition.
    """

    text: str
    holds: bool | None


@dataclass(frozen=True)
class Bound:
    """A bound, whether its conditions hold, and its source.

    Attributes
    ----------
    value : float
        The bound as the theorem states it; a bound on a probability may be above 1.
    clipped : float
        `value`, but at most 1 for a bound on a probability; always holds: `clipped <= value`.
    conditions : tuple of Condition
        What the theorem asks of the mixture, the rows and the tree.
    source : str
        Paper and theorem. Where the function that returned the bound corrects the paper, its docstring says how.
    estimated : bool
        Whether the parameters were estimated from data. The bound is then an estimate, too.
    """

    value: float
    clipped: float
    conditions: tuple[Condition, ...]
    source: str
    estimated: bool = False

    @property
    def holds(self) -> bool:
        """Whether no condition is known to fail."""
        return all(condition.holds is not False for condition in self.conditions)


def smallest_bound(*bounds: Bound) -> Bound:
    """Return the bound with the smallest value among the bounds that hold; the first of equal ones.

    Raises
    ------
    ValueError
        If a condition of every bound fails.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.theory.bounds import gap_error_bound, random_error_bound
    >>> mixture = Mixture([0.5, 0.5], [[0], [30]], [[1], [1]])
    >>> smallest_bound(gap_error_bound(mixture), random_error_bound(mixture)).source[-9:]
    'Theorem 1'
    """
    valid = [bound for bound in bounds if bound.holds]
    if not valid:
        raise ValueError("none of the bounds holds; see their conditions")
    return min(valid, key=lambda bound: bound.value)


# ------------------------------------------------------------------------------------------------------- steps


def as_price(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool = False) -> Bound:
    """Return a bound on a price."""
    return Bound(value, value, conditions, source, estimated)


def as_probability(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool) -> Bound:
    """Return a bound on a probability, clipped at 1."""
    return Bound(value, min(1.0, value), conditions, source, estimated)


RANDOM_TREE = Condition("the tree is MMDT's with axis='range' and threshold='uniform'", None)


class MixtureFacts(NamedTuple):
    """Number of components, imbalance of the weights, explainability-to-noise ratio, and whether the means differ."""

    k: int
    alpha: float
    q: float
    distinct: Condition


def mixture_facts(mixture: Mixture, convention: str, sigma: ArrayLike | None = None) -> MixtureFacts:
    """Return the numbers of a mixture that its bounds are made of, with the ratio in the given convention."""
    q = explainability_to_noise(mixture, convention=convention, sigma=sigma).value
    return MixtureFacts(len(mixture.weights), mixture.alpha, q, Condition("the means are distinct", q > 0))
