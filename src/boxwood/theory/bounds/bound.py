"""`Bound`: a number that a theorem promises, with its conditions and their status.

A mixture knows its law where the caller states one: `Mixture(..., law="gaussian")`. A law of another family fails a
condition; without a law the condition is unknown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import real_number, refuse_other_kind, refuse_unknown, show_value
from boxwood.metrics import explainability_to_noise
from boxwood.reference import Mixture
from boxwood.reference.mixture import refuse_no_mixture, sigma_of

Status: TypeAlias = Literal["verified", "stated", "failed", "unknown"]

_HOLDS = {"verified": True, "stated": True, "failed": False, "unknown": None}


class Condition(NamedTuple):
    """One condition of a bound, in words, and its status.

    Attributes
    ----------
    text : str
        The condition.
    status : {"verified", "stated", "failed", "unknown"}
        "verified" and "failed": it was checked by the arguments of the bound. "stated": the caller says so, as by
        `Mixture(..., law="gaussian")` or `sigma=`, and nothing contradicts it. "unknown": the arguments do not show it.
    """

    text: str
    status: Status

    @property
    def holds(self) -> bool | None:
        """True if the condition is verified or stated, False if it failed, None if it is unknown."""
        return _HOLDS[self.status]


def check_condition(text: str, holds: bool) -> Condition:
    """Return a condition that was checked."""
    return Condition(text, "verified" if holds else "failed")


@dataclass(frozen=True)
class Bound:
    """A bound, its conditions with their status, and its source.

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
    def holds(self) -> bool | None:
        """True if every condition is verified or stated, False if one failed, None otherwise."""
        known = {condition.holds for condition in self.conditions}
        if False in known:
            return False
        return None if None in known else True


def smallest_bound(*bounds: Bound) -> Bound:
    """Return the bound with the smallest value among those that hold; the first of equal ones.

    Where none is known to hold, the smallest one is returned whose conditions are not known to fail.

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
    for bound in bounds:
        refuse_other_kind("bounds", bound, Bound, "the functions of boxwood.theory.bounds return them")
    possible = [bound for bound in bounds if bound.holds] or [bound for bound in bounds if bound.holds is None]
    if not possible:
        raise ValueError("none of the bounds holds; see their conditions")
    return min(possible, key=lambda bound: bound.value)


# ------------------------------------------------------------------------------------------------------- steps
def as_price(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool = False) -> Bound:
    """Return a bound on a price."""
    return Bound(value, value, conditions, source, estimated)


def as_probability(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool = False) -> Bound:
    """Return a bound on a probability, clipped at 1."""
    return Bound(value, min(1.0, value), conditions, source, estimated)


RANDOM_TREES = "grow.mmdt with axis='range', threshold='uniform', pooling='max'"

TAILS = {"gaussian": 0.5, "one-sided": 1.0, "two-sided": 2.0}
"""The factor of exp(-s² / 2 sigma²) in the bound on the probability of a deviation by s."""

_ABSOLUTE_DEVIATION = {"gaussian": math.sqrt(2 / math.pi), "laplace": math.sqrt(0.5), "rademacher": 1.0}  # over sigma
_TAILS_OF = {"gaussian": tuple(TAILS), "rademacher": ("one-sided", "two-sided"), "laplace": ()}
# over sigma²: that of a Gaussian; of a law with such tails at most the integral of 2 s min(1, P(|x - mean| >= s))
_LARGEST_VARIANCE = {"gaussian": 1.0, "one-sided": 2 + 2 * math.log(2), "two-sided": 2 + 2 * math.log(2)}
_ROUNDING = 1e-9


class MixtureNumbers(NamedTuple):
    """The numbers of a mixture from which bounds are computed.

    Number of components k, imbalance alpha of the weights, one sigma for each axis, the explainability-to-noise ratio q
    for these sigmas, and whether the means differ.
    """

    k: int
    alpha: float
    sigma: Floats
    q: float
    distinct: Condition


def mixture_numbers(mixture: Mixture, convention: str, sigma: ArrayLike | None = None) -> MixtureNumbers:
    """Return the numbers of a mixture from which bounds are computed, with the ratio in the given convention."""
    deviations = sigma_of(mixture, "max", sigma)
    q = explainability_to_noise(mixture, convention=convention, sigma=deviations).value
    return MixtureNumbers(
        mixture.n_components, mixture.alpha, deviations, q, check_condition("the means are distinct", q > 0)
    )


def gaussian(mixture: Mixture) -> Condition:
    """Return the condition that components are Gaussian."""
    text = "components are Gaussian along each axis"
    if mixture.law is None:
        return Condition(text, "unknown")
    return Condition(text, "stated" if mixture.law == "gaussian" else "failed")


def tail_condition(mixture: Mixture, tail: str, sigma: ArrayLike | None, deviations: Floats) -> Condition:
    """Return the condition that components have tails of a kind with the sigmas of a bound.

    `sigma` is what the caller gave, which states the condition unless the variances or the law contradict it.
    """
    refuse_unknown("tail", tail, TAILS)
    return Condition(
        f"components have {tail} tails with these sigmas along each axis",
        _tail_status(mixture, tail, sigma is not None, deviations),
    )


def _tail_status(mixture: Mixture, tail: str, is_given: bool, deviations: Floats) -> Status:
    variances = mixture.variances.max(axis=0) / (1 + _ROUNDING)  # as the square of a deviation is rounded
    if mixture.law is None:
        if (variances > _LARGEST_VARIANCE[tail] * deviations**2).any():
            return "failed"
        return "stated" if is_given else "unknown"
    fits = tail in _TAILS_OF[mixture.law] and (variances <= deviations**2).all()
    return "stated" if fits else "failed"


def with_beta(mixture: Mixture, beta: float | None) -> tuple[float, Condition]:
    """Return beta, the ratio of standard deviation to mean absolute deviation, and the condition that it is right.

    Without `beta` it is that of the mixture's law, or of Gaussians where no law is stated. No law has a beta below that
    of rows at plus or minus one standard deviation.
    """
    if beta is not None and not (isinstance(beta, Real) and beta >= 1):
        raise ValueError(f"beta must be a number of at least 1, as no law has a smaller one; got {show_value(beta)}")
    value = mixture_beta(mixture, family=mixture.law or "gaussian") if beta is None else real_number("beta", beta)
    least = mixture_beta(mixture, family=mixture.law or "rademacher")
    text = f"on each axis the largest standard deviation is at most {value:.6g} times the mean absolute deviation"
    if value < least * (1 - _ROUNDING):
        return value, Condition(text, "failed")
    if mixture.law is None and beta is None:
        return value, Condition(f"{text}, as for Gaussians", "unknown")
    return value, Condition(text, "stated")


def mixture_beta(mixture: Mixture, *, family: str = "gaussian", pooling: str = "max") -> float:
    """Return the paper's beta: the largest ratio over axes of standard deviation to mean absolute deviation.

    It turns standard deviations into an ℓ1 cost: the sum of the axes' sigmas is at most beta times the mean ℓ1
    distance of a row from its component's mean. It is at least 1.

    Parameters
    ----------
    mixture : Mixture
        Components.
    family : {"gaussian", "laplace", "rademacher"}, default="gaussian"
        Law of each component along an axis. The ratios of a single component are sqrt(pi / 2), sqrt(2) and 1.
    pooling : {"max", "weighted"}, default="max"
        How the components' variances along an axis become one sigma², see `Mixture.pooled_variances`. The theorem
        needs "max"; "weighted" is the paper's equation (7). They differ only where components differ in variance.

    Raises
    ------
    ValueError
        If the family or the pooling is unknown.

    Notes
    -----
    Axes without variance are skipped; with no axis left beta is 1. The paper says 1 for Gaussians; it is sqrt(pi / 2).

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Assumption 3.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> mixture = Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]])
    >>> [round(mixture_beta(mixture, family=family), 7) for family in ("gaussian", "laplace", "rademacher")]
    [1.2533141, 1.4142136, 1.0]
    """
    refuse_no_mixture(mixture)
    refuse_unknown("family", family, _ABSOLUTE_DEVIATION)
    sigma = np.sqrt(mixture.pooled_variances(pooling))
    varies = sigma > 0
    absolute = mixture.weights @ (np.sqrt(mixture.variances[:, varies]) / sigma[varies])
    with np.errstate(over="ignore", divide="ignore"):  # infinite where only a component of tiny weight varies
        return float((1 / (_ABSOLUTE_DEVIATION[family] * absolute)).max(initial=1.0))


def drawn_trees(how: str, drawn: bool) -> Condition:
    """Return the condition that trees are drawn by a procedure, which no tree can show."""
    return Condition(f"trees are drawn by {how}", "stated" if drawn else "unknown")
