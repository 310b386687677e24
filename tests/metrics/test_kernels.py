"""Kernel costs, prices and similarities equal their definitions, the numbers of the papers, and their bounds."""

import math

import numpy as np
import pytest

from boxwood import Mixture, Reference, ThresholdTree, grow, metrics
from boxwood.errors import DataError
from boxwood.kernels import (
    Gaussian,
    Hellinger,
    Laplace,
    Linear,
    Neighborhood,
    Polynomial,
    ProductKernel,
    kernel_distances,
)
from boxwood.metrics import (
    axis_similarity,
    kernel_cost,
    mean_similarities,
    mmd,
    price_ceiling,
    price_of_explainability,
    within_similarity,
)
from boxwood.metrics.similarity import AxisSimilarity
from boxwood.theory import bounds
from tests import naive
from tests.cases import make_case
from tests.scale import seeds, share

CUT_AT_0 = ThresholdTree.from_dict({"feature": 0, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 1}})


def cauchy(t):
    return 1 / (1 + t**2)


def cauchy_inverse(level):
    return np.sqrt(1 / level - 1)


# --------------------------------------------------------------------------------------------------- cost and price


def test_cost_equals_the_twin():
    kernels = [Gaussian("scale"), Laplace("median"), Neighborhood(1.0), ProductKernel(cauchy, cauchy_inverse)]
    for seed in seeds(500):
        X, labels, weights = make_case(seed, max_rows=16)
        kernel = kernels[seed % 4].fitted(X)
        expected = naive.kernel_cost(kernel(X).tolist(), labels.tolist(), weights)
        found = kernel_cost(X, labels, kernel=kernel, sample_weight=weights)
        total = (weights if weights is not None else np.ones(len(X))).sum()
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-13 * total), f"seed {seed}"


def test_cost_with_centres_of_others_equals_the_twin_and_is_no_lower():
    for seed in seeds(250):
        X, labels, weights = make_case(seed, max_rows=16)
        k, kernel = int(labels.max()) + 1, Laplace("median").fitted(X)
        other = np.where(labels < 0, -1, np.random.default_rng(seed).permutation(k)[labels])
        other[np.random.default_rng(seed).integers(len(X))] = 0
        K = kernel(X)
        distances = naive.kernel_distances(K, np.diagonal(K), labels, k, weights)
        w = np.ones(len(X)) if weights is None else weights
        expected = math.fsum(w[i] * distances[i][c] for i, c in enumerate(other) if c >= 0)
        found = kernel_cost(X, other, kernel=kernel, reference=labels, sample_weight=weights)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-13 * w.sum())
        assert kernel_cost(X, other, kernel=kernel, sample_weight=weights) <= found * (1 + 1e-12) + 1e-13 * w.sum()


def test_linear_cost_is_the_plain_cost():
    X = np.random.default_rng(0).normal(size=(100, 3))
    labels, weights = np.arange(100) % 5 - 1, np.random.default_rng(1).uniform(size=100)
    plain = metrics.partition_cost(X, labels, sample_weight=weights)
    assert kernel_cost(X, labels, kernel="linear", sample_weight=weights) == pytest.approx(plain)
    names = np.array(["noise", "a", "b", "c", "d"])[labels + 1].astype(object)
    names[labels < 0] = -1
    assert kernel_cost(X, names, kernel="linear", sample_weight=weights) == pytest.approx(plain)


def test_cost_of_trees_and_precomputed_kernels():
    X = np.random.default_rng(0).normal(size=(60, 2))
    kernel, labels = Gaussian(0.7), (X[:, 0] > 0).astype(int)
    cost = kernel_cost(X, labels, kernel=kernel)
    assert kernel_cost(X, CUT_AT_0, kernel=kernel) == cost
    assert kernel_cost(kernel(X), CUT_AT_0.predict(X), kernel="precomputed") == pytest.approx(cost)
    with pytest.raises(DataError, match="a tree tests columns"):
        kernel_cost(kernel(X), CUT_AT_0, kernel="precomputed")


def test_cost_is_exactly_0_for_equal_rows():
    X = np.repeat([[0.1, 1e12], [0.3, 1e-12]], 9, axis=0)
    for kernel in (Gaussian(0.3), Laplace(0.3), Hellinger()):
        assert kernel_cost(X, np.repeat([0, 1], 9), kernel=kernel) == 0


def test_quadratic_kernel_has_two_parts_of_cost_0_that_no_single_cut_finds():
    """Fleissner et al. 2024, Proposition 1, with points turned by 45 degrees; on the axes an interval finds them."""
    quadratic = Polynomial(2, 0.0)
    axes = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    turned = axes @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / math.sqrt(2)
    parts = np.array([0, 0, 1, 1])
    assert kernel_cost(axes, parts, kernel=quadratic) == 0
    assert kernel_cost(turned, parts, kernel=quadratic) == pytest.approx(0, abs=1e-12)
    inside = ThresholdTree.from_dict(
        {"feature": 0, "interval": [-0.5, 0.5], "inside": {"cluster": 0}, "outside": {"cluster": 1}}
    )
    assert price_of_explainability(axes, inside, Reference.of(axes, parts), kernel=quadratic) == 1
    one_sided = [kernel_cost(axes, axes[:, j] > t, kernel=quadratic) for j in (0, 1) for t in (-0.5, 0.5)]
    assert min(one_sided) == pytest.approx(4 / 3)
    cuts = [turned[:, j] > 0 for j in (0, 1)]
    assert [kernel_cost(turned, cut, kernel=quadratic) for cut in cuts] == [pytest.approx(2)] * 2


def test_price_with_a_kernel():
    for seed in seeds(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(50, 2)) + 3 * rng.normal(size=(4, 2))[np.arange(50) % 4]
        reference = Reference.of(X, np.arange(50) % 4 - (seed % 2))
        weights = rng.uniform(size=50) if seed % 3 else None
        tree, kernel = grow.imm(X, reference), [Gaussian("scale"), Laplace("median")][seed % 2]
        price = price_of_explainability(X, tree, reference, kernel=kernel, sample_weight=weights)
        fixed = price_of_explainability(X, tree, reference, kernel=kernel, centers="reference", sample_weight=weights)
        kept, resolved = reference.kept, kernel.fitted(X)
        w = np.ones(50) if weights is None else weights
        K = resolved(X)[kept][:, kept].tolist()
        own = naive.kernel_cost(K, reference.labels[kept].tolist(), w[kept])
        assert price == pytest.approx(naive.kernel_cost(K, tree.predict(X)[kept].tolist(), w[kept]) / own)
        D = kernel_distances(resolved, X, reference.labels, reference.n_clusters, sample_weight=weights)
        assert fixed == pytest.approx((w * D[np.arange(50), tree.predict(X)])[kept].sum() / own)
        assert price <= fixed * (1 + 1e-12)
        assert price <= price_ceiling(X, reference, kernel=resolved, sample_weight=weights) * (1 + 1e-12)


def test_linear_kernel_price_is_the_plain_price():
    X = np.random.default_rng(0).normal(size=(80, 3))
    reference = Reference.of(X, np.arange(80) % 3)
    tree = grow.cart(X, reference.labels, max_leaf_nodes=3)
    for centers in (None, "reference"):
        plain = price_of_explainability(X, tree, reference, centers=centers)
        assert price_of_explainability(X, tree, reference, kernel="linear", centers=centers) == pytest.approx(plain)
    assert price_of_explainability(X, tree, reference, centers="reference") == price_of_explainability(
        X, tree, reference, centers=reference.centers
    )


def test_price_of_narrow_kernels_says_nothing():
    X = np.arange(10.0)[:, None] - 4.5
    reference = Reference.of(X, np.arange(10) % 2)
    narrow = Gaussian(50.0)
    ceiling = price_ceiling(X, reference, kernel=narrow)
    assert ceiling == pytest.approx(10 / 8)
    assert price_of_explainability(X, CUT_AT_0, reference, kernel=narrow) == pytest.approx(1)
    assert price_ceiling(X, reference, kernel=narrow, sample_weight=np.full(10, 2.0)) == pytest.approx(ceiling)
    assert price_ceiling(np.zeros((4, 1)), [0, 0, 1, 1], kernel=Gaussian(1.0)) == math.inf
    assert price_ceiling(X, [0] * 5 + [-1] * 5, kernel=narrow) == pytest.approx(5 / 4)


def test_price_refuses_what_does_not_go_together():
    X = np.array([[-1.0], [1.0]])
    reference = Reference.of(X, [0, 1])
    with pytest.raises(DataError, match="precomputed"):
        price_of_explainability(X, CUT_AT_0, reference, kernel="precomputed")
    for options in ({"objective": "l1"}, {"centers": [[0.0], [1.0]]}):
        with pytest.raises(ValueError, match="with a kernel"):
            price_of_explainability(X, CUT_AT_0, reference, kernel="gaussian", **options)
    with pytest.raises(ValueError, match="'reference' or None"):
        price_of_explainability(X, CUT_AT_0, reference, centers="means")
    with pytest.raises(DataError, match="label 1, but the reference has no rows"):
        kernel_cost(X, [0, 1], kernel="linear", reference=[2, 0])
    with pytest.raises(DataError, match="from -1 to 0"):
        kernel_cost(X, [0, 1], kernel="linear", reference=[0, 0])
    with pytest.raises(DataError, match="every row is left out"):
        kernel_cost(X, [-1, -1], kernel="linear")


@pytest.mark.parametrize("kind", [Gaussian, Laplace])
def test_cost_lies_between_those_of_the_axes(kind):
    """Fleissner et al. 2024, Lemma 3: cost <= sum over axes of the axis' cost <= d cost, for product kernels."""
    tight = 0
    for seed in seeds(120):
        X, labels, weights = make_case(seed, max_rows=20)
        d = X.shape[1]
        kernel = kind(tuple(1 / (np.ptp(column) or 1.0) ** 2 * (1 + seed % 9) for column in X.T.astype(float)))
        cost = kernel_cost(X, labels, kernel=kernel, sample_weight=weights)
        by_axis = sum(
            kernel_cost(X[:, [j]], labels, kernel=kind(kernel.gamma[j]), sample_weight=weights) for j in range(d)
        )
        rounding = 1e-12 * (len(X) if weights is None else weights.sum())
        assert cost <= by_axis + rounding, f"seed {seed}"
        assert by_axis <= d * cost + rounding, f"seed {seed}"
        tight += by_axis > 1.01 * cost > 0
    assert tight > share(24)


# ------------------------------------------------------------------------------------------------------ similarities


def test_similarity_of_gaussians_at_known_numbers():
    """Two normals on one axis: N(0, 0.8²) and N(1.3, 0.5²), Gaussian kernel of gamma 0.7."""
    mixture = Mixture([0.5, 0.5], [[0.0], [1.3]], [[0.64], [0.25]])
    found = axis_similarity(mixture, kernel=Gaussian(0.7))
    assert found.mean[0, 0, 1] == pytest.approx(0.3940452, abs=5e-8)
    assert found.variance[0, 0, 1] == pytest.approx(0.1165019, abs=5e-8)
    assert found.tau == found.mean[0, 0, 1] == found.mean[0, 1, 0]


@pytest.mark.full
@pytest.mark.parametrize("kernel", [Gaussian((0.7, 2.0)), Laplace((0.7, 2.0))], ids=repr)
def test_similarity_of_gaussians_equals_samples(kernel):
    rng = np.random.default_rng(0)
    mixture = Mixture([0.5, 0.3, 0.2], [[0, 1], [1.3, 0], [-3, 1]], [[0.64, 1.0], [0.25, 0.0], [2.0, 0.1]])
    samples = [rng.normal(mixture.means[c], np.sqrt(mixture.variances[c]), size=(3000, 2)) for c in range(3)]
    exact, sampled = axis_similarity(mixture, kernel=kernel), axis_similarity(samples, kernel=kernel)
    np.testing.assert_allclose(exact.mean, sampled.mean, atol=0.02)
    np.testing.assert_allclose(exact.second_moment, sampled.second_moment, atol=0.02)
    np.testing.assert_allclose(
        mean_similarities(mixture, kernel=kernel), mean_similarities(samples, kernel=kernel), atol=0.02
    )
    assert (exact.mean**2 <= exact.second_moment * (1 + 1e-12)).all()
    assert (exact.second_moment <= exact.mean * (1 + 1e-12)).all()
    assert exact.tau == pytest.approx(max(exact.mean[:, a, b].min() for a in range(3) for b in range(3) if a != b))


@pytest.mark.parametrize("kind", [Gaussian, Laplace])
def test_variances_keep_their_digits_where_similarities_are_close_to_0_or_to_1(kind):
    """By exponents from the largest similarity on a grid, so that neither zeros nor ones lose digits."""
    z = np.linspace(-14, 14, 2001)
    p = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    least, most = 1.0, 0.0
    for seed in seeds(60, least=30):
        rng = np.random.default_rng(seed)
        sigma = 10 ** rng.uniform(-2, 0.5)
        distance = sigma * 10 ** rng.uniform(-1, 2.5)
        gamma = 10 ** rng.choice([-13, -6, -0.1]) / (sigma * (distance + sigma) if kind is Gaussian else sigma)
        mixture = Mixture([1, 1], [[0.0], [distance]], [[sigma**2 / 2]] * 2)
        found = axis_similarity(mixture, kernel=kind(gamma))
        exponents = gamma * np.abs(distance + sigma * z) ** (2 if kind is Gaussian else 1)
        apart = np.expm1(exponents.min() - exponents)
        variance = np.exp(-2 * exponents.min()) * (p @ (apart - p @ apart) ** 2)
        assert found.variance[0, 0, 1] == pytest.approx(variance, rel=1e-3, abs=0), seed
        least, most = min(least, found.mean[0, 0, 1]), max(most, found.mean[0, 0, 1])
    assert least < 1e-20
    assert most > 1 - 1e-11


def test_variances_of_samples_keep_their_digits():
    for near, far in ((0.0, 5.2), (0.0, 15.5), (0.0, 1e-6)):
        x, y = near + np.arange(3) * 1e-7, far * (1 + np.arange(4) * 1e-2)
        found = axis_similarity([x[:, None], y[:, None]], kernel=Gaussian(1.0)).variance[0, 0, 1]
        squares = np.subtract.outer(x, y) ** 2
        exact = math.exp(-2 * squares.min()) * np.expm1(squares.min() - squares).var()
        assert found == pytest.approx(exact, rel=1e-3, abs=0)


def test_laplace_similarity_of_points_and_far_components():
    far = Mixture([1, 1], [[0.0], [1e5]], [[1e-300], [1.0]])
    assert np.isfinite(axis_similarity(far, kernel=Laplace(3.0)).mean).all()
    assert axis_similarity(far, kernel=Laplace(3.0)).tau == pytest.approx(0, abs=1e-12)
    points = Mixture([1, 1], [[0.0], [2.0]], [[0.0], [0.0]])
    assert axis_similarity(points, kernel=Laplace(0.5)).mean[0].tolist() == [[1, math.exp(-1)], [math.exp(-1), 1]]


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(0.4), Laplace(0.4), ProductKernel(cauchy, cauchy_inverse)],
    ids=["gaussian", "laplace", "product"],
)
def test_similarity_of_samples_equals_the_twin(kernel):
    profile = {Gaussian: lambda t: math.exp(-0.4 * t * t), Laplace: lambda t: math.exp(-0.4 * t)}.get(
        type(kernel), cauchy
    )
    for seed in seeds(120):
        rng = np.random.default_rng(seed)
        X, labels, _ = make_case(seed, max_rows=18, max_clusters=3)
        samples = [X[labels == c] for c in range(labels.max() + 1)]
        found = axis_similarity(samples, kernel=kernel)
        j, a, b = rng.integers(X.shape[1]), *rng.integers(len(samples), size=2)
        x, y = (samples[c][:, j].astype(float).tolist() for c in (a, b))
        mean, variance = naive.pair_similarity(profile, x, y, np.ones(len(x)), np.ones(len(y)))
        assert found.mean[j, a, b] == pytest.approx(mean, abs=1e-12)
        assert found.variance[j, a, b] == pytest.approx(variance, rel=1e-9, abs=1e-15 * variance**0.5 + 1e-31)
        assert found.second_moment[j, a, b] == pytest.approx(variance + mean**2, abs=1e-12)


def test_similarity_of_samples_is_too_large_by_the_pairs_of_a_row_with_itself():
    rng = np.random.default_rng(0)
    mixture, kernel = Mixture([1, 1], [[0.0], [1.0]], [[1.0], [0.5]]), Gaussian(1.0)
    exact, n = axis_similarity(mixture, kernel=kernel), 4
    draws = [
        axis_similarity([rng.normal(m, np.sqrt(v), size=(n, 1)) for m, v in ((0, 1), (1, 0.5))], kernel=kernel)
        for _ in range(1500)
    ]
    itself = np.eye(2) / n
    for moment in ("mean", "second_moment"):
        found = np.mean([getattr(draw, moment) for draw in draws], axis=0)
        of_law = getattr(exact, moment)
        np.testing.assert_allclose(found, of_law + itself * (1 - of_law), atol=0.02)


def test_similarity_of_correlated_gaussians():
    rng = np.random.default_rng(0)
    covariances = np.array([[[1.0, 0.8], [0.8, 1.0]], [[0.5, -0.3], [-0.3, 0.4]]])
    means = np.array([[0.0, 0.0], [1.0, 0.5]])
    mixture = Mixture([1, 1], means, np.diagonal(covariances, axis1=1, axis2=2), covariances=covariances)
    kernel = Gaussian((0.6, 1.5))
    samples = [rng.multivariate_normal(means[c], covariances[c], size=3000) for c in range(2)]
    exact = mean_similarities(mixture, kernel=kernel)
    np.testing.assert_allclose(exact, mean_similarities(samples, kernel=kernel), atol=0.01)
    plain = Mixture([1, 1], means, mixture.variances)
    assert abs(exact[0, 0] - mean_similarities(plain, kernel=kernel)[0, 0]) > 0.02
    diagonal = Mixture([1, 1], means, plain.variances, covariances=[np.diag(v) for v in plain.variances])
    np.testing.assert_allclose(
        mean_similarities(diagonal, kernel=kernel), mean_similarities(plain, kernel=kernel), rtol=1e-12
    )
    with pytest.raises(DataError, match="no formula"):
        mean_similarities(mixture, kernel=Laplace(1.0))


def test_bad_components_are_refused():
    mixture = Mixture([1, 1], [[0.0], [1.0]], [[1.0], [1.0]])
    with pytest.raises(ValueError, match="must multiply over axes"):
        axis_similarity(mixture, kernel=Linear())
    with pytest.raises(DataError, match="pass a sample of each component"):
        axis_similarity(mixture, kernel=ProductKernel(cauchy, cauchy_inverse))
    with pytest.raises(ValueError, match="still to be found"):
        axis_similarity(mixture, kernel="gaussian")
    with pytest.raises(DataError, match="same columns"):
        axis_similarity([[[0.0]], [[0.0, 1.0]]], kernel=Gaussian(1.0))
    for use in (
        lambda: mean_similarities([[[0.0]]], kernel="precomputed"),
        lambda: mmd([[0.0]], [[1.0]], kernel="precomputed"),
    ):
        with pytest.raises(ValueError, match="no values for samples"):
            use()


# --------------------------------------------------------------------------------------------------------------- MMD


def test_mmd_equals_its_definition():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(2, 12, size=2)
        X, Y, kernel = rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) + seed % 3, Gaussian(0.8)
        A, B, C = kernel(X), kernel(Y), kernel(X, Y)
        v = A.mean() + B.mean() - 2 * C.mean()
        u = (A.sum() - n) / (n * (n - 1)) + (B.sum() - m) / (m * (m - 1)) - 2 * C.mean()
        assert mmd(X, Y, kernel=kernel, squared=True) == pytest.approx(v, abs=1e-12)
        assert mmd(X, Y, kernel=kernel) == pytest.approx(math.sqrt(v))
        assert mmd(X, Y, kernel=kernel, unbiased=True, squared=True) == pytest.approx(u, abs=1e-12)
        assert mmd(X, Y, kernel=kernel, unbiased=True) == pytest.approx(math.sqrt(max(u, 0)))
        S = mean_similarities([X, Y], kernel=kernel)
        assert S[0, 0] + S[1, 1] - 2 * S[0, 1] == pytest.approx(v, abs=1e-12)


def test_mmd_estimates_that_of_gaussian_laws():
    mixture, kernel = Mixture([1, 1], [[0.0], [1.3]], [[0.64], [0.25]]), Gaussian(0.7)
    S = mean_similarities(mixture, kernel=kernel)
    exact = S[0, 0] + S[1, 1] - 2 * S[0, 1]
    rng = np.random.default_rng(0)
    draws = [(rng.normal(0, 0.8, size=(8, 1)), rng.normal(1.3, 0.5, size=(8, 1))) for _ in range(2000)]
    assert np.mean([mmd(*pair, kernel=kernel, unbiased=True, squared=True) for pair in draws]) == pytest.approx(
        exact, abs=0.02
    )
    bias = (2 - S[0, 0] - S[1, 1]) / 8
    assert np.mean([mmd(*pair, kernel=kernel, squared=True) for pair in draws]) == pytest.approx(exact + bias, abs=0.02)


def test_mmd_of_single_rows():
    assert mmd([[0.0]], [[3.0]], kernel="linear") == 3
    with pytest.raises(DataError, match="at least two rows"):
        mmd([[0.0]], [[3.0], [4.0]], kernel="linear", unbiased=True)


# ------------------------------------------------------------------------------------------------------------ bounds


def test_the_papers_bound_on_tau_is_false_and_the_corrected_one_holds():
    """Fleissner, Zarvandi, Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Lemma 11."""
    d = 10
    mixture = Mixture([1, 1], [[0.0] * d, [0.5] * d], [[0.0625] * d] * 2)
    kernel = Gaussian(1.0)
    tau, S = axis_similarity(mixture, kernel=kernel).tau, mean_similarities(mixture, kernel=kernel)
    within, squared = S[0, 0], S[0, 0] + S[1, 1] - 2 * S[0, 1]
    assert tau == pytest.approx(0.7322950, abs=5e-8)
    assert within == pytest.approx(0.32768, abs=5e-8)
    assert within - squared / (2 * d) == pytest.approx(0.2993467, abs=5e-8)  # as printed, and below tau
    assert bounds.tau_bound(within, math.sqrt(squared), d) == pytest.approx(0.9044347, abs=5e-8)


def test_the_corrected_bound_on_tau_holds():
    near = 0
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(2, 5)), int(rng.integers(1, 6))
        shape = k, d
        mixture = Mixture(np.ones(k), rng.normal(size=shape) * rng.uniform(0, 3), rng.uniform(0, 1, size=shape))
        kernel = Gaussian(float(rng.uniform(0.1, 3)))
        S, tau = mean_similarities(mixture, kernel=kernel), axis_similarity(mixture, kernel=kernel).tau
        pairs = [(a, b) for a in range(k) for b in range(a)]
        bound = max(
            bounds.tau_bound((S[a, a] + S[b, b]) / 2, math.sqrt(S[a, a] + S[b, b] - 2 * S[a, b]), d) for a, b in pairs
        )
        assert tau <= bound + 1e-12
        near += d == 1 and bound - tau < 1e-9  # on one axis it is attained
    assert near > share(20)


def test_price_bound_of_kernel_mmdt_by_hand():
    """The same paper, Theorem 12, with min for max and the square that its proof loses."""
    mixture, kernel = Mixture([1, 3], [[0.0], [9.0]], [[1e-4], [1e-4]]), Gaussian(1.0)
    similarity, within = axis_similarity(mixture, kernel=kernel), within_similarity(mixture, kernel=kernel)
    s, tau, noise = within[0], similarity.tau, similarity.variance.max()
    share = (4 + 2 * math.pi**2 / 3) * 1.5 * noise * 2 / (s - tau) ** 2
    found = bounds.kernel_price_bound(similarity, within, mixture.weights)
    assert share < 1
    assert found.value == pytest.approx(1 + (1 + s) / (1 - s) * share)
    assert found.holds is None  # prototypes and cuts are not known
    sharp = bounds.kernel_price_bound(similarity, within, mixture.weights, sharp=True, estimated=True)
    assert sharp.value - 1 == pytest.approx((found.value - 1) * math.pi**2 / bounds.CHEBYSHEV_CONSTANT)
    assert sharp.estimated


def test_price_bound_is_trivial_where_components_are_alike():
    mixture, kernel = Mixture([1, 1], [[0.0], [0.1]], [[1.0], [1.0]]), Gaussian(1.0)
    similarity, within = axis_similarity(mixture, kernel=kernel), within_similarity(mixture, kernel=kernel)
    found = bounds.kernel_price_bound(similarity, within)
    assert found.value == pytest.approx(1 + (1 + within[0]) / (1 - within[0]))
    alike = Mixture([1, 1], [[0.0] * 10, [0.5] * 10], [[0.0625] * 10] * 2)
    wide = bounds.kernel_price_bound(axis_similarity(alike, kernel=kernel), within_similarity(alike, kernel=kernel))
    assert wide.holds is False
    assert "tau lies below" in wide.conditions[0].text


def test_what_is_lost_in_rounding_verifies_no_price_bound():
    rows = np.random.default_rng(0).normal(size=(40, 1)) + np.repeat([[0.0], [2.0]], 20, axis=0)
    mixture = Mixture.of(rows, np.repeat([0, 1], 20))
    for gamma, status in ((1e-11, "verified"), (1e-13, "failed"), (1e-17, "failed")):
        similar = [measure(mixture, kernel=Gaussian(gamma)) for measure in (axis_similarity, within_similarity)]
        for bound in (bounds.kernel_price_bound, bounds.midpoint_kernel_price_bound):
            assert bound(*similar).value > 1e9
            assert bound(*similar).conditions[0].status == status
    without_variance = AxisSimilarity(np.array([[[0.9, 0.1], [0.1, 0.9]]]), np.zeros((1, 2, 2)))
    assert bounds.kernel_price_bound(without_variance, [0.9, 0.9]).holds is False
    equal_rows = AxisSimilarity(np.array([[[1.0, 0.1], [0.1, 1.0]]]), np.zeros((1, 2, 2)))
    assert bounds.kernel_price_bound(equal_rows, [1.0, 1.0]).value == 1
    assert bounds.kernel_price_bound(equal_rows, [1.0, 1.0]).conditions[0].holds is True


def test_price_bounds_of_kernel_imm_by_hand():
    """Fleissner et al. 2024, Theorems 4 and 5, with the constants of their proofs."""
    exact = bounds.taylor_price_bound(3, 2, n_rows=50, delta=0.0, cost=1.0)
    assert exact.value == (2 + 8 * 6) * 2
    assert bounds.taylor_price_bound(3, 2, n_rows=50, delta=0.1, cost=4.0).value == pytest.approx(100 + 20 * 51 / 4)
    assert bounds.distance_price_bound(3, 2, stretch=0.5, shrink=3.0).value == (2 + 8 * 1.5 * 6) * 2
    with pytest.raises(ValueError, match="above 0"):
        bounds.taylor_price_bound(3, 2, n_rows=50, delta=0.1, cost=0.0)
    with pytest.raises(ValueError, match="not be below 0"):
        bounds.distance_price_bound(3, 2, stretch=-1.0, shrink=3.0)
