"""The numbers of the bounds as the papers print them, their conditions, and their errors."""

import math

import numpy as np
import pytest

from boxwood import Mixture, theory
from boxwood.errors import DataError
from boxwood.grow import mmdt
from boxwood.metrics import error_rate, explainability_to_noise
from boxwood.theory import bounds, certificate, instances
from tests.metrics.test_mixtures import THREE


def test_numbers_of_bounds():
    two = Mixture([0.5, 0.5], [[-2.0], [2.0]], [[1.0], [1.0]])
    assert round(bounds.CHEBYSHEV_CONSTANT, 7) == 10.5797363
    assert round(bounds.price_bound(two).value, 2) == 7.63
    assert bounds.chebyshev_error_bound(two).value == pytest.approx(bounds.CHEBYSHEV_CONSTANT * 2 / 16)
    assert bounds.chebyshev_error_bound(two, sharp=True).value == pytest.approx(math.pi**2 * 2 / 16)
    assert bounds.gap_error_bound(two).value == pytest.approx(0.5 * math.exp(-8 / 16))
    assert bounds.gap_error_bound(two, tail="one-sided", sharp=True).value == pytest.approx(math.exp(-2))
    assert bounds.random_error_bound(two, tail="two-sided").value == pytest.approx(2 * math.sqrt(math.pi / 8))
    assert bounds.random_chebyshev_error_bound(two).value == 1.0
    assert bounds.sqeuclidean_price_bound(two).value == pytest.approx(2 + 4 * bounds.CHEBYSHEV_CONSTANT)
    assert bounds.l2_price_bound(two).value == pytest.approx(1 + math.pi)
    corrected = bounds.estimated_error_bound(two, 0.2)
    assert corrected.value == pytest.approx(0.5 * math.exp(-0.8 * (math.sqrt(8) / 4 - math.sqrt(0.2)) ** 2))
    assert corrected.estimated
    assert bounds.gap_error_bound(THREE).value == pytest.approx(0.5 * 1.5 * 2 * math.exp(-12.5 / 36))


def test_bounds_of_the_papers_instance_lie_above_its_error():
    """T-05: 0.0043965 is below every form."""
    exact = error_rate(THREE, mmdt(THREE, pooling="max")).value
    for tail in ("gaussian", "one-sided", "two-sided"):
        assert exact < bounds.random_error_bound(THREE, tail=tail).value
        for sharp in (False, True):
            assert exact < bounds.gap_error_bound(THREE, tail=tail, sharp=sharp).value
    assert exact < bounds.chebyshev_error_bound(THREE, sharp=True).value
    far = Mixture(THREE.weights, 10 * THREE.means, THREE.variances)
    for bound in (bounds.gap_error_bound, bounds.random_error_bound, bounds.chebyshev_error_bound, bounds.price_bound):
        assert bound(far).value < bound(THREE).value


def test_conditions_are_said():
    equal = Mixture([1, 1], [[0.0], [0.0]], np.ones((2, 1)))
    for bound in (bounds.chebyshev_error_bound(equal), bounds.price_bound(equal), bounds.random_error_bound(equal)):
        assert not bound.holds
        assert bound.value == math.inf
    assert bounds.gap_error_bound(equal).value >= 0.5
    two = Mixture([0.4, 0.6], [[-2.0, 0], [2, 0]], np.ones((2, 2)))
    failing = [condition.text for condition in bounds.l2_price_bound(two).conditions if condition.holds is False]
    assert failing == ["weights are equal"]
    full = Mixture([1, 1], two.means, two.variances, covariances=[[[1, 0.5], [0.5, 1]]] * 2)
    assert not bounds.l2_price_bound(full).holds
    assert not bounds.estimated_error_bound(two, 5.0).holds
    assert not bounds.estimated_error_bound(two, 0.0).holds
    assert bounds.estimated_error_bound(two, 0.01).holds is None
    normal = Mixture(two.weights, two.means, two.variances, law="gaussian")
    known = bounds.estimated_error_bound(normal, 0.01, tree=mmdt(normal), truth=normal)
    assert [condition.status for condition in known.conditions] == ["verified"] * 5 + ["stated"]
    with pytest.raises(DataError, match="truth"):
        bounds.estimated_error_bound(normal, 0.01, truth=Mixture([1, 1], [[0.0], [1.0]], np.ones((2, 1))))
    assert bounds.gap_error_bound(two, estimated=True).estimated
    assert bounds.gap_error_bound(two).source.endswith("Theorem 1")
    with pytest.raises(ValueError, match="tail"):
        bounds.gap_error_bound(two, tail="heavy")
    with pytest.raises(DataError, match="one component"):
        bounds.gap_error_bound(Mixture([1], [[0.0]], [[1.0]]))


def test_smallest_bound():
    near, far = (Mixture([1, 1], [[0.0], [x]], np.ones((2, 1))) for x in (3.0, 30.0))
    for mixture, theorem in ((near, "Theorem 2"), (far, "Theorem 1")):
        smaller = bounds.smallest_bound(bounds.gap_error_bound(mixture), bounds.random_error_bound(mixture))
        first = math.exp(explainability_to_noise(mixture, convention="subgaussian").value / 16) > 2
        assert smaller.source.endswith("Theorem 1") == (
            bounds.gap_error_bound(mixture).value <= bounds.random_error_bound(mixture).value
        )
        assert not first or smaller.source.endswith(theorem)
    with pytest.raises(ValueError, match="none"):
        bounds.smallest_bound(bounds.price_bound(Mixture([1, 1], [[0.0], [0.0]], np.ones((2, 1)))))


def test_bounds_of_the_papers():
    """1 + H(k - 1) for one node after the other; Theorem 4.1 with Claim 4.4; Theorem 6.3; IMM's theorems 2 and 3."""
    bound = bounds.random_cuts_price_bound
    assert [bound(k).value for k in (2, 3, 5, 10, 20)] == pytest.approx([2, 2.5, 3.0833, 3.8290, 4.5477], abs=5e-5)
    assert bound(4, variant="exact").value == pytest.approx(1 + 4 * (2 * math.log(4) + math.e) * 6)
    assert bound(3, objective="sqeuclidean").value == 24 * 2.5
    assert bound(3, objective="sqeuclidean", sharp=True).value == 5 * 2.5
    assert bound(3, objective="sqeuclidean", variant="exact").value == 24 * bound(3, variant="exact").value
    assert bound(16, objective="l2").value == pytest.approx(1 + 4 * (8 * (8 * math.log(16) + 9) / 2 + 16))
    growth = [bound(2**m, objective="l2").value / m**1.5 for m in (1, 4, 16, 64, 256)]
    assert growth == sorted(growth, reverse=True)
    assert growth[-1] < 53
    assert all(bound(k).value <= bound(k, variant="exact").value for k in range(2, 2000, 7))
    for k in (2, 5, 9):
        assert bounds.imm_price_bound(k).value == 2 + 8 * k * (k - 1)
        assert bounds.imm_price_bound(k, objective="l1").value == 2 * k - 1
    assert bounds.imm_price_bound(8, depth=3).value == 2 + 8 * 8 * 3
    assert bounds.imm_price_bound(1, depth=0).value == 2
    assert "FOCS 2023" in bound(3).source
    assert not math.isnan(bound(2, objective="l2").value)
    assert bound(2).conditions[0].status == "unknown"
    assert bound(2).holds is None
    assert bound(2, drawn=True).holds is True


def test_bad_parameters_of_bounds():
    bound = bounds.random_cuts_price_bound
    for options, words in (
        ({"k": 1}, "k must be at least 2"),
        ({"k": 3, "objective": "l3"}, "objective must be one of 'l1'"),
        ({"k": 3, "variant": "slow"}, "variant must be one of 'fast', 'exact'; got 'slow'"),
    ):
        with pytest.raises(ValueError, match=words):
            bound(**options)
    for options in ({"k": 0}, {"k": 5, "depth": 2}, {"k": 5, "depth": 5}, {"k": 1, "depth": 1}):
        with pytest.raises(ValueError, match="depth"):
            bounds.imm_price_bound(**options)
    with pytest.raises(ValueError, match="objective must be one of 'sqeuclidean', 'l1'"):
        bounds.imm_price_bound(3, objective="l2")
    with pytest.raises(ValueError, match="radius"):
        bounds.separation_probability([0.0], [1.0], [0.0], 0.0)


def test_the_table_of_known_bounds():
    """Figure 1 of Makarychev and Shan, with earlier and later results."""
    rows = bounds.published_bounds()
    figure = {row.objective: (row.lower, row.upper) for row in rows if row.who == "Makarychev, Shan 2021"}
    assert figure == {
        "k-medians, ℓ1": ("", "O(log k log log k)"),
        "k-medians, ℓ2": ("Ω(log k)", "O(log^(3/2) k)"),
        "k-means": ("Ω(k / log k)", "O(k log k log log k)"),
    }
    first = {row.objective: row.lower for row in rows if row.algorithm == "IMM"}
    assert first == {"k-medians, ℓ1": "Ω(log k)", "k-means": "Ω(log k)"}
    years = {name: [int(row.who[-4:]) for row in rows if row.objective == name] for name in figure}
    assert all(column == sorted(column) for column in years.values())
    assert all(row.lower or row.upper for row in rows)


def test_the_table_of_known_kernel_bounds():
    """Table 1 of Fleissner, Vankadara and Ghoshdastidar."""
    rows = [row for row in bounds.published_bounds() if row.objective.startswith("kernel")]
    assert [(row.algorithm, row.lower or row.upper.split(",")[0]) for row in rows] == [
        ("Kernel IMM", "O(k²)"),
        ("Kernel IMM", "O(d k²)"),
        ("Kernel IMM", "O(d k² C)"),
        ("Kernel ExKMC", "unbounded"),
        ("Kernel Expand", "unbounded"),
    ]
    assert {row.who for row in rows} == {"Fleissner, Vankadara, Ghoshdastidar 2024"}


def test_everything_is_exported():
    assert theory.certificate is certificate
    assert {"Bound", "Certificate", "Instance", "bounds", "instances"} <= set(theory.__all__)
    with pytest.raises(TypeError):
        instances.two_gaussians(1.0).exact["price"] = 0.0
