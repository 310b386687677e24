"""Where `holds` is true no tree and no law exceeds a bound: cases that exceed the theorems as worded, and a search."""

import math

import numpy as np
import pytest

from boxwood import Mixture, ThresholdTree
from boxwood.grow import mmdt
from boxwood.grow.kernel.mmdt import GaussianLaws, grow_from_laws
from boxwood.kernels import Gaussian
from boxwood.metrics import error_rate, within_similarity
from boxwood.theory import bounds, certificate, instances
from tests.scale import search_length, searches, seeds
from tests.theory.law_cases import Atoms, crowded, crowded_similarities, gaussian_price, jumps_across, means_at_cuts

# ------------------------------------------------------------------------------------------- cases that exceed theorems


def test_theorem_1_fails_for_weighted_pooling_and_says_so():
    """A light component of large variance turns the tree around: 400 times the theorem's number."""
    mixture = Mixture([0.99, 0.01], [[0, 0], [20.4, 20]], [[1e-6, 1], [100, 1]], law="gaussian")
    tree = mmdt(mixture, pooling="weighted")
    bound = bounds.gap_error_bound(mixture, tree=tree)
    assert error_rate(mixture, tree).value > 400 * bound.value
    assert bound.holds is False
    default = bounds.gap_error_bound(mixture, tree=mmdt(mixture))
    assert error_rate(mixture, mmdt(mixture)).value < default.value
    assert default.holds is True
    assert bounds.gap_error_bound(mixture).holds is None


@pytest.mark.parametrize("d", [5, 400, 4000])
def test_beta_of_gaussians_is_not_taken_for_granted(d):
    """The price of this instance is near 1.5, and the certificate with the Gaussian beta falls to 1.08."""
    instance = instances.constant_price(d)
    mixture, beta, price = instance.mixture, instance.exact["beta"], instance.exact["price"]
    tree = mmdt(mixture, axis="range", threshold="chebyshev")
    assert certificate(mixture, tree).chebyshev_price.holds is None
    assert bounds.price_bound(mixture, tree=tree).holds is None
    for bound in (bounds.price_bound, bounds.midpoint_price_bound):
        known = bound(mixture, tree=tree, beta=beta)
        assert known.holds
        assert price <= known.value
    assert price <= certificate(mixture, tree, beta=beta).chebyshev_price.value
    wrong = Mixture(mixture.weights, mixture.means, mixture.variances, law="gaussian")
    assert bounds.price_bound(wrong, tree=tree, beta=1.0).holds is False
    assert bounds.price_bound(mixture, tree=tree, beta=1.0).holds is True
    for beta in (0.9, -1, np.nan, "2"):
        with pytest.raises(ValueError, match="beta must be a number of at least 1"):
            certificate(mixture, tree, beta=beta)


def test_proxies_need_a_tree_that_knows_them():
    """Axis 0 is ±1 with chance exp(-8) each; by variances it looks better than axis 1, by its tails it is not."""
    eps, proxies = math.exp(-8), [math.sqrt(1 / 16), 0.04]
    mixture = Mixture([1, 1], [[0, 0], [1, 1]], [[2 * eps, 0.04**2]] * 2)
    by_variance, by_tails = mmdt(mixture), mmdt(mixture, sigma=proxies)
    assert (by_variance.feature[0], by_tails.feature[0]) == (0, 1)
    bound = bounds.gap_error_bound(mixture, tree=by_variance, tail="two-sided", sigma=proxies)
    assert bound.value < eps
    assert bound.holds is False
    assert bounds.gap_error_bound(mixture, tree=by_tails, tail="two-sided", sigma=proxies).holds is True


def test_the_middle_of_the_largest_gap_exceeds_claim_2():
    """E-31: 1.07 times the claim at 10 means, 6.4 times at 100, if a crowd of means lies right behind the gap."""
    worst = {}
    for k in (10, 20, 100):
        for crowd in range(1, k - 2):
            means = np.concatenate([[0.0], np.ones(crowd), 1 + 0.9999 * np.arange(1, k - crowd)])
            gap = int(np.diff(means).argmax())
            middle = (means[gap] + means[gap + 1]) / 2
            claimed = bounds.chebyshev_minimum_bound(k, float(np.ptp(means)), 1.0)
            worst[k] = max(worst.get(k, 0.0), float((1 / (middle - means) ** 2).sum()) / claimed)
    assert {k: round(x, 2) for k, x in worst.items()} == {10: 1.07, 20: 1.62, 100: 6.38}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "width", "lean", "error"), [(110, 3000.0, 0.0, 0.0228156), (150, 6000.0, 1.0, 0.0072226)]
)
def test_crowded_means_exceed_theorem_8_and_it_says_so(k, width, lean, error):
    """The tree of middles errs 0.0228 for two-point laws, where the theorem has 0.0141; likewise for symmetric ones."""
    mixture = crowded(k, width)
    tree = mmdt(mixture, axis="range")
    theorem, own = (bound(mixture, tree=tree) for bound in (bounds.chebyshev_error_bound, bounds.midpoint_error_bound))
    assert _error_of_jumps(tree, mixture, lean) == pytest.approx(error, rel=1e-5)
    assert theorem.value < error < own.value
    assert (theorem.holds, own.holds) == (False, True)


def _error_of_jumps(tree, mixture, lean):
    """Return the error if each axis jumps across its cut as often as its variance allows, independently."""
    stays = np.ones(mixture.n_components)
    for node, components in means_at_cuts(tree, mixture):
        distance = np.abs(mixture.means[components, tree.feature[node]] - tree.upper[node]) * (1 + 1e-9)
        stays[components] *= 1 - (0.5 / distance**2 if lean else 1 / (1 + distance**2))
    return 1 - mixture.weights @ stays


def test_crowded_means_fail_the_inequality_at_a_cut():
    mixture = crowded(45, 1000.0)
    tree = mmdt(mixture, axis="range")
    failed = bounds.chebyshev_error_bound(mixture, tree=tree, sharp=True)
    assert [condition.status for condition in failed.conditions] == ["verified", "verified", "failed"]
    assert bounds.midpoint_error_bound(mixture, tree=tree).holds is True
    best = mmdt(mixture, axis="range", threshold="chebyshev")
    assert bounds.chebyshev_error_bound(mixture, tree=best, sharp=True).holds is True


def test_crowded_similarities_exceed_theorem_12_and_it_says_so():
    """E-32: from some 40 components on, the middle of the largest gap is worse than (133) allows."""
    kernel = Gaussian(1.0)
    for step, k, holds in ((0.05, 26, True), (0.03, 44, False)):
        mixture = crowded_similarities(step)
        assert mixture.n_components == k
        laws = GaussianLaws(mixture, kernel)
        _, cuts = grow_from_laws(laws, kernel, None, "similarity")
        similar = laws.similarity, within_similarity(mixture, kernel=kernel), mixture.weights
        assert bounds.kernel_price_bound(*similar, cuts=cuts, drawn=True).holds is holds
        assert bounds.midpoint_kernel_price_bound(*similar, cuts=cuts, drawn=True).holds is True
        assert bounds.midpoint_kernel_price_bound(*similar, cuts=cuts[1:], drawn=True).holds is False
        assert bounds.midpoint_kernel_price_bound(*similar, cuts=cuts).holds is None


# ----------------------------------------------------------------------------------------------------------- conditions


def test_a_tree_is_checked_and_not_what_grew_it():
    mixture = Mixture([1, 1, 1], [[0.0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3, law="gaussian")
    tree = mmdt(mixture)
    asked = (bounds.gap_error_bound, bounds.chebyshev_error_bound, bounds.price_bound, bounds.midpoint_error_bound,
             bounds.midpoint_price_bound, bounds.sqeuclidean_price_bound)  # fmt: skip
    low, high = {"feature": 0, "threshold": -9, "left": {"cluster": 0}, "right": {"cluster": 0}}, {"cluster": 1}
    more = ThresholdTree.from_dict(
        {"feature": 1, "threshold": 4, "right": {"cluster": 2},
         "left": {"feature": 0, "threshold": 3, "left": low, "right": high}}
    )  # fmt: skip
    for bound in asked:
        assert bound(mixture).holds is None
        assert bound(mixture, tree=tree).holds is True
        assert bound(mixture, tree=ThresholdTree.from_dict(tree.to_dict())).holds is True
        assert bound(mixture, tree=tree.relabeled([2, 1, 0])).holds is False
        assert bound(mixture, tree=more).holds is False
        other = mixture.with_clusters([7, 5, 9])
        assert bound(other, tree=mmdt(other)) == bound(mixture, tree=tree)
    far = Mixture(mixture.weights, 3 * mixture.means, mixture.variances, law="gaussian")
    tree = mmdt(far)
    near = tree.with_thresholds(tree.lower, np.where(tree.feature >= 0, tree.upper - 8.9, np.inf))
    assert bounds.gap_error_bound(far, tree=tree).holds is True
    assert bounds.gap_error_bound(far, tree=near).holds is False


def test_what_the_caller_says_is_not_believed_against_the_numbers():
    mixture = Mixture([0.5, 0.5], [[0.0], [10.0]], [[1.9], [1.9]])
    tree = mmdt(mixture)
    stated = bounds.gap_error_bound(mixture, tree=tree, sigma=[1.0], sharp=True)
    assert stated.value < error_rate(mixture, tree).value / 50
    assert stated.holds is False
    assert bounds.gap_error_bound(mixture, tree=tree, sigma=[1.4]).holds is True
    for bound in (bounds.midpoint_error_bound, bounds.midpoint_price_bound):
        assert bound(mixture, tree=tree, sigma=[1.0]).holds is False
    lying = Mixture([0.5, 0.5], [[0, 0], [1, 10]], [[1, 1], [1, 1]], law="gaussian")
    other = mmdt(lying, sigma=[1, 100])
    asked = {"tree": other, "sigma": [1, 100]}
    assert bounds.midpoint_error_bound(lying, tree=other).holds is False
    for bound in (
        bounds.midpoint_error_bound(lying, **asked),
        bounds.midpoint_error_bound(lying, **asked, law="gaussian"),
    ):
        assert bound.holds is True
        assert error_rate(lying, other).value <= bound.value
    price = bounds.midpoint_price_bound(lying, **asked)
    assert price.holds is True
    assert gaussian_price(lying, other, "l1") <= price.value


def test_rounded_thresholds_are_in_the_middle():
    """Means far from 0: the middle of a gap is rounded to the next double, and the inequality is just missed."""
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 6))
        mixture = Mixture(
            rng.dirichlet(np.ones(k)), 1e6 + rng.normal(size=(k, 2)), np.full((k, 2), 1e-4), law="gaussian"
        )
        tree = mmdt(mixture)
        for bound in (bounds.gap_error_bound, bounds.midpoint_error_bound, bounds.midpoint_price_bound):
            assert bound(mixture, tree=tree).holds is True


def test_cuts_of_another_mixture_verify_nothing():
    kernel = Gaussian(1.0)
    here, there = (Mixture([1, 1], [[a], [b]], [[v]] * 2) for a, b, v in ((0.0, 9.0, 1e-4), (20.0, 22.0, 1e-3)))
    _, cuts = grow_from_laws(GaussianLaws(here, kernel), kernel, None, "similarity")
    for mixture, holds in ((here, True), (there, False)):
        laws = GaussianLaws(mixture, kernel)
        similar = laws.similarity, within_similarity(mixture, kernel=kernel)
        for bound in (bounds.kernel_price_bound, bounds.midpoint_kernel_price_bound):
            assert bound(*similar, cuts=cuts, drawn=True).holds is holds


@pytest.mark.parametrize(
    ("law", "tail", "status"),
    [
        ("gaussian", "gaussian", "stated"),
        ("gaussian", "two-sided", "stated"),
        ("rademacher", "gaussian", "failed"),
        ("rademacher", "one-sided", "stated"),
        ("laplace", "two-sided", "failed"),
        (None, "one-sided", "unknown"),
    ],
)
def test_tails_follow_from_the_law(law, tail, status):
    mixture = Mixture([1, 1], [[0.0], [9.0]], [[1.0], [1.0]], law=law)
    assert bounds.gap_error_bound(mixture, tail=tail).conditions[-1].status == status
    assert bounds.gap_error_bound(mixture, tail=tail, sigma=[0.5]).conditions[-1].status == "failed"
    if law != "laplace" and status != "failed":
        assert bounds.gap_error_bound(mixture, tail=tail, sigma=[1.5]).conditions[-1].status == "stated"


# --------------------------------------------------------------------------------------------------------------- search

TREES = [
    {"axis": axis, "threshold": threshold, "pooling": pooling}
    for axis in ("gap", "range")
    for threshold in ("midpoint", "chebyshev", "tails", "gaussian")
    for pooling in ("max", "weighted")
]


class State:
    """A mixture, a tree and a law, to be changed a little at a time."""

    def __init__(self, rng):
        k, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        self.weights = rng.dirichlet(np.full(k, 2.0))
        self.means = rng.normal(size=(k, d)) * 10 ** rng.uniform(0, 1.5)
        self.sigma = 10 ** rng.uniform(-1, 0.3, size=(k, d))
        self.lean = 10 ** rng.uniform(-2, 0, size=(k, d))
        self.options = TREES[rng.integers(len(TREES))]
        self.shift = 0.0
        self.is_gaussian = rng.random() < 0.4
        self.by_proxies = rng.random() < 0.3

    def changed(self, rng):
        other = object.__new__(State)
        other.__dict__.update(self.__dict__)
        step = 10 ** rng.uniform(-3, -0.3)
        other.weights = self.weights * np.exp(step * rng.normal(size=self.weights.shape))
        other.means = self.means + step * rng.normal(size=self.means.shape) * np.ptp(self.means)
        other.sigma = self.sigma * np.exp(step * rng.normal(size=self.sigma.shape))
        other.lean = np.minimum(1.0, self.lean * np.exp(step * rng.normal(size=self.lean.shape)))
        other.shift = self.shift + step * rng.normal() * (rng.random() < 0.3)
        return other

    def evaluated(self):
        """Return pairs of an exact number and a bound."""
        law = "gaussian" if self.is_gaussian else None
        mixture = Mixture(self.weights, self.means, self.sigma**2, law=law)
        tree = self.tree(mixture, None)
        if self.is_gaussian:
            return of_gaussians(mixture, tree)
        atoms = Atoms(mixture, jumps_across(tree, mixture), self.lean)
        if atoms.exists and self.by_proxies:
            tree = self.tree(mixture, atoms.proxies())
            atoms = Atoms(mixture, jumps_across(tree, mixture), self.lean)
        return of_atoms(atoms, tree) if atoms.exists else []

    def tree(self, mixture, sigma):
        tree = mmdt(mixture, **self.options, sigma=sigma)
        moved = tree.upper + np.where(tree.feature >= 0, self.shift, 0.0)
        return tree.with_thresholds(tree.lower, moved)


def of_gaussians(mixture, tree):
    error, certain = error_rate(mixture, tree).value, certificate(mixture, tree)
    price, squared = (gaussian_price(mixture, tree, objective) for objective in ("l1", "sqeuclidean"))
    return [
        *((error, bounds.gap_error_bound(mixture, tree=tree, sharp=sharp)) for sharp in (False, True)),
        (error, bounds.chebyshev_error_bound(mixture, tree=tree, sharp=True)),
        *((error, bounds.midpoint_error_bound(mixture, tree=tree, law=law)) for law in ("any", "gaussian")),
        (error, certain.error),
        (price, bounds.price_bound(mixture, tree=tree, sharp=True)),
        (price, bounds.midpoint_price_bound(mixture, tree=tree)),
        (price, certain.price),
        (squared, bounds.sqeuclidean_price_bound(mixture, tree=tree, sharp=True)),
    ]


def of_atoms(atoms, tree):
    mixture, beta, proxies = atoms.mixture, atoms.beta(), atoms.proxies()
    error, price, squared = atoms.error(tree), atoms.price(tree, 1), atoms.price(tree, 2)
    certain = certificate(mixture, tree, beta=beta)
    two_sided = {"tree": tree, "tail": "two-sided", "sigma": proxies}
    return [
        *((error, bounds.gap_error_bound(mixture, **two_sided, sharp=sharp)) for sharp in (False, True)),
        (error, bounds.chebyshev_error_bound(mixture, tree=tree, sharp=True)),
        (error, bounds.midpoint_error_bound(mixture, tree=tree)),
        (error, certain.chebyshev_error),
        (price, bounds.price_bound(mixture, tree=tree, beta=beta, sharp=True)),
        (price, bounds.midpoint_price_bound(mixture, tree=tree, beta=beta)),
        (price, certain.chebyshev_price),
        (squared, bounds.sqeuclidean_price_bound(mixture, tree=tree, sharp=True)),
    ]


class Found:
    """What a climb found: how often a theorem held, its closest approaches, and what exceeded a bound."""

    def __init__(self):
        self.n_evaluations = self.n_held = 0
        self.exceeded, self.closest = [], {}

    def add(self, state):
        """Evaluate a state; return the largest ratio of an exact excess to a theorem's."""
        self.n_evaluations += 1
        pairs = [(exact, bound) for exact, bound in state.evaluated() if bound.holds is True]
        self.exceeded += [(exact, bound, vars(state)) for exact, bound in pairs if exact > bound.value * (1 + 1e-8)]
        ratios = {bound.source: _ratio(exact, bound) for exact, bound in pairs}
        for source, ratio in ratios.items():
            self.closest[source] = max(ratio, self.closest.get(source, 0.0))
        theorems = [ratio for source, ratio in ratios.items() if "equation" not in source]  # certificates always hold
        self.n_held += bool(theorems)
        return max(theorems, default=-1.0)


def _ratio(exact, bound):
    """Return an exact number over its bound, in excess of 1 for prices; numbers near 0 say nothing."""
    least = 1.0 if "Theorem 4" in bound.source or "(41)" in bound.source else 0.0
    return (exact - least) / (bound.value - least) if bound.value - least > 1e-9 else 0.0


def climb(n, seed):
    """Change states as long as they come closer to a theorem's number, and begin anew where they do not."""
    rng, found = np.random.default_rng(seed), Found()
    state, best, since = State(rng), -2.0, 0
    for _ in range(n):
        other = state.changed(rng)
        ratio = found.add(other)
        since = 0 if ratio > best else since + 1
        if ratio >= best:
            state, best = other, ratio
        if since > 50:
            state, best, since = State(rng), -2.0, 0
    return found


@pytest.mark.parametrize("seed", searches())
def test_no_case_exceeds_a_bound_that_holds(seed):
    found = climb(search_length(), seed)
    assert not found.exceeded
    assert found.n_held > found.n_evaluations / 10  # else the search would test nothing
