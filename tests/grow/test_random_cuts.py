"""Random cuts against the law computed cut by cut, the paper's exact expectations, and their guarantee."""

import itertools
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from boxwood import DataError
from boxwood.axes import TerminalEmbedding
from boxwood.grow import random_cuts
from boxwood.grow.centers import random_cuts as random_cutter_module
from boxwood.grow.centers.random_cuts import RandomCutter
from tests.naive import cut_laws as naive_cuts
from tests.scale import draws, law, seeds, share

TINIEST = 5e-324
KINDS = [("l1", "fast"), ("l1", "exact"), ("sqeuclidean", "fast"), ("sqeuclidean", "exact"), ("l2", "fast")]


def small_centers(seed):
    """Return two to five different centres on few axes: generic, on a grid with ties, or some of them very near."""
    rng = np.random.default_rng(seed)
    k, d = rng.integers(2, 6), rng.integers(1, 4)
    while True:
        centers = rng.normal(size=(k, d)) if seed % 3 else rng.integers(0, 6, size=(k, d)).astype(float)
        if seed % 3 == 2:
            centers[1:] = centers[0] + (centers[1:] - centers[0]) * 10.0 ** rng.integers(-4, 1, size=(k - 1, 1))
        if len(np.unique(centers, axis=0)) == k:
            return centers, rng


def many_centers(seed):
    rng = np.random.default_rng(seed)
    k, d = rng.integers(1, 60), rng.integers(1, 6)
    centers = rng.normal(size=(k, d)) if seed % 2 else rng.integers(0, 5, size=(k, d)) * 10.0 ** rng.integers(-12, 13)
    return np.unique(centers, axis=0)


def counts_of_leaf(cutter, x, n, rng, k):
    return np.bincount([cutter.draw(rng).predict(x[None], n_jobs=1)[0] for _ in range(n)], minlength=k)


def refuses(counts, probabilities):
    """Return whether a chi-square test refuses the law at level 1e-5; leaves that it never reaches must be empty."""
    possible = probabilities > 1e-12
    if counts[~possible].any():
        return True
    expected = counts.sum() * probabilities[possible]
    statistic = ((counts[possible] - expected) ** 2 / expected).sum()
    return statistic > chi2.isf(1e-5, max(1, possible.sum() - 1))


@pytest.mark.parametrize(("objective", "variant"), KINDS)
@law(6)
def test_leaf_of_a_point_has_the_law_of_the_algorithm(objective, variant, seed):
    centers, rng = small_centers(seed)
    x = centers[rng.integers(len(centers))] + rng.normal(size=centers.shape[1]) * rng.choice([0.0, 0.3, 2.0])
    median = "lower" if seed % 2 else "midpoint"
    law = naive_cuts.reached(centers, x, objective, variant == "exact", median == "lower")
    cutter = RandomCutter.of(centers, objective=objective, variant=variant, median=median)
    assert law.sum() == pytest.approx(1)
    assert not refuses(counts_of_leaf(cutter, x, draws(600, least=300), rng, len(centers)), law)


def test_the_test_of_laws_tells_them_apart():
    """What the test above cannot miss: the laws of other objectives."""
    centers = np.array([[0.0, 0.0], [0.01, 0.3], [1.0, 0.2], [2.0, 3.0]])
    x = np.array([0.6, 0.25])
    rng, objectives = np.random.default_rng(0), ["l1", "sqeuclidean", "l2"]
    drawn = {each: counts_of_leaf(RandomCutter.of(centers, objective=each), x, 1000, rng, 4) for each in objectives}
    for objective, other in itertools.permutations(objectives, 2):
        assert refuses(drawn[objective], naive_cuts.reached(centers, x, other))


@pytest.mark.parametrize(("objective", "variant"), KINDS)
def test_each_centre_has_its_own_leaf(objective, variant):
    for seed in seeds(120):
        centers = many_centers(seed)
        tree = random_cuts(centers, objective=objective, variant=variant, random_state=seed)
        assert tree.n_leaves == len(centers)
        assert tree.predict(centers).tolist() == list(range(len(centers)))
        assert tree == random_cuts(centers, objective=objective, variant=variant, random_state=seed)


def star(k, far, power):
    """Return centres on the axes, one at distance 1 of the origin and the others at `far`, by a power of distance."""
    return np.diag([1.0] + [far] * (k - 1)) ** (1 / power)


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("k", "far", "power", "expected"),
    [(3, 5, 1, 1.9696970), (4, 10, 1, 2.4591537), (5, 20, 1, 2.8498936), (4, 9, 2, 2.4225564)],
)
@pytest.mark.parametrize("variant", ["fast", "exact"])
def test_expected_cost_of_a_star(k, far, power, expected, variant):
    """T-09: 1 + (D - 1) (1 - prod jD / (1 + jD)), for both variants since no pair is near."""
    exact = 1 + (far - 1) * (1 - np.prod([j * far / (1 + j * far) for j in range(1, k)]))
    assert exact == pytest.approx(expected, abs=5e-8)
    cutter = RandomCutter.of(star(k, far, power), objective="l1" if power == 1 else "sqeuclidean", variant=variant)
    rng = np.random.default_rng(3)
    n = draws(2000)
    leaves = counts_of_leaf(cutter, np.zeros(k), n, rng, k) / n
    law = naive_cuts.reached(star(k, far, power), np.zeros(k), "l1" if power == 1 else "sqeuclidean")
    costs = np.array([1.0] + [far] * (k - 1))
    assert law @ costs == pytest.approx(exact)
    error = np.sqrt((leaves @ costs**2 - (leaves @ costs) ** 2) / n)
    assert abs(leaves @ costs - exact) < 4 * error


@pytest.mark.parametrize("t", [0.1, 0.3, 0.45])
def test_two_centres_on_a_line(t):
    """T-10: expected costs of a point t between 0 and 1; T-12: its chance to lose the centre 0 under "l2"."""

    def lost(objective, median="midpoint"):
        law = naive_cuts.reached([[0.0], [1.0]], [t], objective, lower_median=median == "lower")
        cutter = RandomCutter.of([[0.0], [1.0]], objective=objective, median=median)
        counts = counts_of_leaf(cutter, np.array([t]), draws(1000), np.random.default_rng(5), 2)
        assert not refuses(counts, law)
        return law[1]

    by_l1, by_squares = lost("l1"), lost("sqeuclidean")
    assert (1 - by_l1) * t + by_l1 * (1 - t) == pytest.approx(2 * t * (1 - t))
    squared = (1 - by_squares) * t**2 + by_squares * (1 - t) ** 2
    assert squared == pytest.approx(t**2 * (1 - 2 * t**2) + 2 * t**2 * (1 - t) ** 2)
    assert lost("l2") == pytest.approx(2 * t * (1 - t))
    assert lost("l2", "lower") == pytest.approx(t**2)


def test_both_variants_have_one_law_where_no_pair_is_near():
    """T-23: each node by itself, or all in rounds."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        centers, x = rng.random((4, 2)) + np.arange(4)[:, None], rng.random(2) * 4
        assert naive_cuts.reached(centers, x, exact=True) == pytest.approx(naive_cuts.reached(centers, x))


def test_first_cuts_in_rounds_are_uniform_and_part_no_near_pair():
    centers = np.array([[0.0, 0.0], [0.004, 0.003], [1.0, 0.002], [2.0, 1.0], [2.0, 1.001]])
    cutter, rng = RandomCutter.of(centers, variant="exact"), np.random.default_rng(2)
    allowed = naive_cuts.allowed(centers, np.full(2, np.inf), [range(5)])
    everywhere = naive_cuts.pieces(centers, np.full(2, np.inf), range(5))
    assert len(allowed) < len(everywhere)
    drawn = [cutter.draw(rng) for _ in range(draws(2000))]
    roots = [(int(tree.feature[0]), float(tree.upper[0])) for tree in drawn]
    lengths = np.array([b - a for _, a, b in allowed])
    counts = np.array([sum(j == i and a <= cut < b for i, cut in roots) for j, a, b in allowed])
    assert counts.sum() == draws(2000)
    assert not refuses(counts, lengths / lengths.sum())


def test_no_round_parts_a_pair_that_is_near_for_all_leaves(monkeypatch):
    """Each round is replayed on all leaves: D is the largest distance within any of them, not in the leaf that is cut.

    So a leaf of two near centres waits until the others are nearly as small. On the line of four centres the first two
    would not wait for the others in 1 of 70 trees, if each leaf had its own D.
    """
    rounds, waited = [], 0

    def spy(node, feature, threshold, cluster):
        rounds[:] = [cut for cut, _ in itertools.groupby(zip(feature.tolist(), threshold.tolist(), strict=True))]
        return built(node, feature, threshold, cluster)

    built = random_cutter_module._build_tree
    monkeypatch.setattr(random_cutter_module, "_build_tree", spy)
    for seed in seeds(700):
        rng = np.random.default_rng(seed)
        centers = np.array([[0.0], [0.0148], [5.0], [6.0]])  # the first two are nearer than 1 / 4³
        if seed < 100:
            far = rng.normal(size=(int(rng.integers(2, 5)), int(rng.integers(1, 4))))
            near = far[:2] + 10.0 ** rng.integers(-4, 0, size=(2, 1)) * rng.normal(size=(2, far.shape[1]))
            centers = rng.permutation(np.vstack([far, near]))
        k, between = len(centers), np.abs(centers[:, None] - centers).sum(axis=2)
        tree = random_cuts(centers, variant="exact", random_state=seed)
        leaf = np.zeros(k, dtype=int)
        for j, threshold in rounds:
            together = leaf[:, None] == leaf
            nearest = between[together].max() / k**3
            left = centers[:, j] <= threshold
            parted = together & (left[:, None] != left)
            assert parted.any()
            assert between[parted].min() > nearest * (1 - 1e-12), f"seed {seed}"
            widths = [between[leaf == one][:, leaf == one].max() for one in np.unique(leaf)]
            waited += any(0 < width <= nearest for width in widths)
            leaf = np.unique(2 * leaf + left, return_inverse=True)[1]
        assert len(np.unique(leaf)) == k == tree.n_leaves
    assert waited > share(300)


def test_thresholds_are_as_dense_as_the_distance_to_the_nearest_centre():
    roots = [
        random_cuts([[1.0], [3.0], [5.0]], objective="sqeuclidean", random_state=s).upper[0] for s in range(draws(1000))
    ]
    share = (np.array([naive_cuts.embedded(root, [1, 3, 5]) for root in roots])) / 4
    assert kstest(share, "uniform").pvalue > 1e-4


def test_squared_cuts_are_cuts_of_the_embedding_pulled_back():
    for seed in seeds(100):
        centers = many_centers(2 * seed + 1)
        embedding = TerminalEmbedding(centers)
        embedded = random_cuts(embedding.transform(centers), random_state=seed)
        tree = random_cuts(centers, objective="sqeuclidean", random_state=seed)
        pulled = embedded.pull_back(embedding)
        assert np.array_equal(tree.feature, pulled.feature)
        assert tree.upper == pytest.approx(pulled.upper, rel=1e-9, abs=1e-9)


def test_median_cuts_have_the_law_of_drawing_until_one_parts_the_centres():
    centers = np.array([[0.0, 1.0], [2.0, 1.5], [3.0, -1.0], [7.0, 0.0]])
    rng = np.random.default_rng(4)
    slow = [naive_cuts.median_cut(centers, rng) for _ in range(draws(1500))]
    cutter = RandomCutter.of(centers, objective="l2")
    fast = [(int(t.feature[0]), float(t.upper[0])) for t in (cutter.draw(rng) for _ in range(draws(1500)))]
    cells = [(j, a, b) for j in range(2) for a, b in pairwise(np.linspace(-1, 7, 9))]
    both = np.array([[sum(i == j and a <= cut < b for i, cut in drawn) for j, a, b in cells] for drawn in (slow, fast)])
    both = both[:, both.sum(axis=0) > 10]
    expected = both.sum(axis=0) / 2
    assert ((both - expected) ** 2 / expected).sum() < chi2.isf(1e-5, both.shape[1] - 1)


@pytest.mark.parametrize(("objective", "variant"), KINDS)
def test_cuts_move_with_the_centres(objective, variant):
    """Shifted and scaled by powers of two, and far from zero, where rejection would need 10^12 draws."""
    for seed in seeds(40):
        centers = np.unique(np.round(many_centers(2 * seed + 1), 3), axis=0)
        options = {"objective": objective, "variant": variant, "random_state": seed}
        tree, moved = random_cuts(centers, **options), random_cuts(centers * 8, **options)
        assert np.array_equal(moved.upper, tree.upper * 8)
        assert np.array_equal(moved.feature, tree.feature)
    tree, moved = (random_cuts([[a, a], [a + 1, a]], objective=objective, random_state=1) for a in (0.0, 1e6))
    assert moved.upper[0] == pytest.approx(1e6 + tree.upper[0], abs=1e-9)


@pytest.mark.crossed
@pytest.mark.parametrize(("objective", "variant"), KINDS)
@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e12, 1e300])
def test_units_of_any_size(objective, variant, unit):
    centers = np.array([[0.0, 1.0], [3.0, 1.0], [3.0, 1.5], [-2.0, 7.0]]) * unit
    tree = random_cuts(centers, objective=objective, variant=variant, random_state=0)
    assert tree.predict(centers).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("objective", "variant"), KINDS)
def test_gaps_of_all_sizes_on_one_axis(objective, variant):
    """Far apart, squares of small gaps vanish beside those of large ones; still every centre gets its leaf."""
    centers = np.array([[0.0], [1e-200], [1e-9], [2e-9], [1.0], [1.0 + 1e-9], [np.nextafter(1e6, 0)], [1e6]])
    for seed in seeds(20):
        tree = random_cuts(centers, objective=objective, variant=variant, random_state=seed)
        assert tree.predict(centers).tolist() == list(range(8))


@pytest.mark.crossed
@pytest.mark.parametrize(("objective", "variant"), KINDS)
@pytest.mark.parametrize(
    "centers",
    [
        [[0.0, 0.0], [TINIEST, 0.0]],
        [[0.0, 0.0], [TINIEST, 0.0], [TINIEST, TINIEST], [2 * TINIEST, TINIEST]],
        [[0.0, 0.0], [TINIEST, 0.0], [TINIEST, TINIEST], [1.0, 1.0]],
        [[0.0, 0.0], [1e-161, 0.0], [1e-161, 1e-161], [1.0, 1.0]],
        [[1e-170, 0.0], [np.nextafter(1e-170, 1), 0.0], [np.nextafter(1e-170, 1), 1e-200], [1.0, 1.0]],
        [[1.7e308, 0.0], [-1.7e308, 1.0], [0.0, 1e308]],
    ],
)
def test_gaps_of_the_smallest_and_largest_doubles(objective, variant, centers):
    cutter, rng = RandomCutter.of(centers, objective=objective, variant=variant), np.random.default_rng(0)
    for _ in range(draws(40)):
        assert cutter.draw(rng).predict(centers).tolist() == list(range(len(centers)))


def test_small_gaps_far_out_keep_their_share():
    """Two gaps of 1e-9 and 2e-9 beyond 1e6: the second is parted four times as often."""
    centers = np.array([[0.0], [1e6], [1e6 + 2**-29], [1e6 + 3 * 2**-29]])
    n = draws(1000)
    last = [random_cuts(centers, objective="sqeuclidean", random_state=s) for s in range(n)]
    second = [tree.path(tree.predict([[1e6]])[0])[1].upper >= centers[2, 0] for tree in last]
    assert abs(np.mean(second) - 0.8) < 4 * np.sqrt(0.16 / n)


def test_expected_cost_is_within_the_guarantee():
    """On 200 random clusterings, with 4 standard errors, by Theorem 1.1 of Gupta et al.: 1 + H(k - 1)."""
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        k, d = rng.integers(2, 8), rng.integers(1, 5)
        centers = rng.normal(size=(k, d))
        X = centers[rng.integers(k, size=60)] + rng.normal(size=(60, d)) * 10 ** rng.uniform(-2, 0.5)
        distances = np.abs(X[:, None] - centers).sum(axis=2)
        cutter = RandomCutter.of(centers)
        costs = [distances[np.arange(60), cutter.draw(rng).predict(X, n_jobs=1)].sum() for _ in range(100)]
        ratio = np.array(costs) / distances.min(axis=1).sum()
        assert ratio.mean() - 4 * ratio.std() / np.sqrt(100) <= 1 + sum(1 / i for i in range(1, k))


def test_squared_costs_are_within_their_guarantee():
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        k, d = rng.integers(2, 8), rng.integers(1, 5)
        centers = rng.normal(size=(k, d))
        X = centers[rng.integers(k, size=60)] + rng.normal(size=(60, d)) * 10 ** rng.uniform(-2, 0.5)
        distances = ((X[:, None] - centers) ** 2).sum(axis=2)
        for variant in ("fast", "exact"):
            cutter = RandomCutter.of(centers, objective="sqeuclidean", variant=variant)
            costs = [distances[np.arange(60), cutter.draw(rng).predict(X, n_jobs=1)].sum() for _ in range(50)]
            assert np.mean(costs) / distances.min(axis=1).sum() <= 8 * k * (1 + sum(1 / i for i in range(1, k)))


def test_one_centre_is_one_leaf():
    assert random_cuts([[3.0, 4.0]]).to_dict() == {"leaf": 0, "cluster": 0}


def test_chains_of_many_centres():
    """Powers of two on a line: a chain nearly as deep as there are centres, drawn in little time."""
    centers = 2.0 ** np.arange(400)[:, None]
    tree = random_cuts(centers, random_state=0)
    assert tree.depth > 100
    assert tree.predict(centers).tolist() == list(range(400))


@pytest.mark.parametrize(
    ("centers", "message"),
    [
        ([[0.0, 1.0], [2.0, 2.0], [0.0, 1.0]], "0 and 2"),
        ([[0.0, np.nan], [1.0, 1.0]], "missing values"),
        ([], "two-dimensional"),
    ],
)
def test_bad_centres_are_refused(centers, message):
    with pytest.raises(DataError, match=message):
        random_cuts(centers)


@pytest.mark.parametrize("wrong", [{"objective": "l3"}, {"variant": "slow"}, {"median": "upper"}])
def test_unknown_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be one of"):
        random_cuts([[0.0], [1.0]], **wrong)
