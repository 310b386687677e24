"""Bounds on random cuts lie above exact expectations, and the instances are as dear as stated."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from boxwood import Reference
from boxwood.axes import TerminalEmbedding
from boxwood.grow import imm, random_cuts
from boxwood.metrics import cost, nearest_cost, node_table, partition_cost
from boxwood.theory import bounds, instances
from tests import naive
from tests.scale import draws, seeds

OBJECTIVES = ("l1", "sqeuclidean", "l2")

NORM = {"l1": 1, "l2": 2, "sqeuclidean": 2}


def centers_and_row(seed):
    """Return a few distinct centres and a row: on a grid with ties, near each other, far away, or of any scale."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    kind = rng.integers(4)
    points = [
        lambda: rng.normal(size=(k + 1, d)),
        lambda: rng.integers(0, 4, size=(k + 1, d)).astype(float),
        lambda: np.exp(3 * rng.normal(size=(k + 1, d))),
        lambda: 10.0 ** rng.integers(-6, 7) * rng.random((k + 1, d)),
    ][kind]()
    if rng.random() < 0.3:
        points[0] = points[1:].mean(axis=0)
    centers = np.unique(points[1:], axis=0)
    return points[0], rng.permutation(centers)


def costs_of_trees(x, centers, n, **options):
    """Return the cost of a row in n trees of random cuts."""
    rng = np.random.default_rng(0)
    trees = (random_cuts(centers, random_state=rng, **options) for _ in range(n))
    reached = centers[np.array([int(tree.predict(x[None])[0]) for tree in trees])]
    costs = (np.abs(reached - x) ** NORM[options["objective"]]).sum(axis=1)
    return np.sqrt(costs) if options["objective"] == "l2" else costs


# --------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_exact_expectations_are_within_the_bounds(objective):
    largest = 0.0
    for seed in seeds(400):
        x, centers = centers_and_row(seed)
        least = nearest_cost(x[None], centers, objective=objective)
        if len(centers) < 2 or least == 0:
            continue
        price = naive.expected_cost(x, centers, objective) / least
        bound = bounds.random_cuts_price_bound(len(centers), objective=objective, sharp=True).value
        assert 1 - 1e-9 <= price <= bound * (1 + 1e-9), f"seed {seed}"
        largest = max(largest, price)
    assert largest > 1.9


def test_the_distortion_of_the_embedding_is_2k_minus_1():
    """Lemma 6.1 with 2k - 1 in place of 8k, which equally spaced centres attain; and figure 3."""
    assert [naive.terminal_embedding([1, 3, 5], v) for v in range(7)] == [-1, 0, 1, 2, 3, 4, 5]
    for seed in seeds(1000):
        x, centers = centers_and_row(seed)
        embedding = TerminalEmbedding(centers)
        length = np.abs(embedding.transform(x[None]) - embedding.transform_centers(centers)).sum(axis=1)
        squared = ((x - centers) ** 2).sum(axis=1)
        assert (length <= squared * (1 + 1e-9)).all()
        assert (squared <= (2 * len(centers) - 1) * length * (1 + 1e-9)).all()
    for k in range(1, 20):
        centers = 2.0 * np.arange(k)[:, None]
        x = centers[-1:] + 1
        length = float(TerminalEmbedding(centers).transform(x)[0, 0])
        assert float(x[0, 0]) ** 2 == pytest.approx((2 * k - 1) * length)


@pytest.mark.crossed
@pytest.mark.parametrize("options", [{"variant": "fast"}, {"variant": "exact"}, {"median": "lower"}])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_trees_cost_what_is_expected(objective, options):
    """The exact expectation of one row, by its twin, against the mean of trees."""
    for seed in (0, 4):
        rng = np.random.default_rng(seed)
        centers, x = rng.random((5, 2)), rng.random(2)
        exact = naive.expected_cost(x, centers, objective, options.get("median", "midpoint"))
        costs = costs_of_trees(x, centers, draws(400), objective=objective, **options)
        assert costs.mean() == pytest.approx(exact, abs=4 * costs.std() / math.sqrt(len(costs)))


def test_both_variants_lead_a_row_alike():
    """Section 9: cuts drawn node by node and in rounds have one law for a row, where no centres are very near."""
    rng = np.random.default_rng(5)
    centers, x = rng.random((5, 2)), rng.random((1, 2))
    counts = [
        np.bincount(
            [int(random_cuts(centers, variant=variant, random_state=rng).predict(x)[0]) for _ in range(draws(1000))],
            minlength=5,
        )
        for variant in ("fast", "exact")
    ]
    reached = np.array(counts)[:, np.sum(counts, axis=0) > 20]
    assert reached.shape[1] >= 3
    assert chi2_contingency(reached).pvalue > 1e-4


def test_mean_prices_are_within_the_bound():
    """(1 + H(k - 1)) times the reference for k-medians, and the embedding's factor for k-means, on whole data."""
    for seed in seeds(30):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(2, 20)), int(rng.integers(1, 6))
        X, labels = rng.normal(size=(60, d)), np.concatenate([np.arange(k), rng.integers(k, size=60 - k)])
        X += 10 ** rng.uniform(-1, 1) * rng.normal(size=(k, d))[labels]
        for objective, center in (("l1", "median"), ("sqeuclidean", "mean")):
            reference = Reference.of(X, labels, center=center)
            trees = [random_cuts(reference.centers, objective=objective, random_state=rng) for _ in range(10)]
            costs = [cost(X, tree, objective=objective, centers=reference.centers) for tree in trees]
            base = nearest_cost(X, reference.centers, objective=objective)
            noise = 4 * np.std(costs) / math.sqrt(len(costs))
            bound = bounds.random_cuts_price_bound(k, objective=objective, sharp=True).value
            assert np.mean(costs) - noise <= bound * base
            # the cost with best centres is never above that with the given centres
            assert all(
                cost(X, tree, objective=objective) <= c * (1 + 1e-9) for tree, c in zip(trees, costs, strict=True)
            )


def test_the_first_cut_separates_centres_in_proportion_to_their_distance():
    """The measure of the cuts between two centres is their ℓ1 distance: equation (7) and section 9."""
    centers = np.random.default_rng(2).normal(size=(5, 3))
    total = np.ptp(centers, axis=0).sum()
    cuts = [random_cuts(centers, random_state=seed) for seed in seeds(1500)]
    sides = np.array([centers[:, tree.feature[0]] <= tree.upper[0] for tree in cuts])
    for a, b in combinations(range(5), 2):
        fraction = np.abs(centers[a] - centers[b]).sum() / total
        assert (sides[:, a] != sides[:, b]).mean() == pytest.approx(fraction, abs=4 * math.sqrt(0.25 / 3000))


def test_claim_4_4():
    """E of the sum of p_t until a set is empty is at most ln |E| + e, where each element leaves with p_t or more."""
    rng = np.random.default_rng(0)
    for size in (1, 10, 100):
        for draw in (lambda: 0.01, lambda: rng.random() ** 3, lambda: 1.0 - rng.random() ** 3):
            sums = []
            for _ in range(300):
                left, total = size, 0.0
                while left:
                    p = draw()
                    total += p
                    left -= rng.binomial(left, p)
                sums.append(total)
            assert np.mean(sums) - 4 * np.std(sums) / math.sqrt(300) <= math.log(size) + math.e
    assert np.mean(sums) > 1


def test_l2_prices_grow_as_stated():
    """Theorem 7.1: below a (log2 k)^1.5 with a <= 4, on random rows and centres."""
    rng, means = np.random.default_rng(0), []
    for k in (2, 4, 8, 16, 32, 64):
        centers = rng.random((k, 5))
        X = rng.random((400, 5))
        base = np.linalg.norm(X[:, None] - centers[None], axis=2).min(axis=1).sum()
        trees = [random_cuts(centers, objective="l2", random_state=rng) for _ in range(50)]
        means.append(np.mean([cost(X, tree, objective="l2", centers=centers) for tree in trees]) / base)
        assert means[-1] <= 4 * math.log2(k) ** 1.5
        assert means[-1] <= bounds.random_cuts_price_bound(k, objective="l2").value
    assert means[-1] > means[0]


# ----------------------------------------------------------------------------------------------------------- separation


def test_separation_equals_the_twin():
    for seed in seeds(1500):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 5))
        x, center, median = rng.choice([rng.normal(size=(3, d)), rng.integers(-2, 3, size=(3, d)) + 0.0])
        radius = float(10 ** rng.uniform(-1, 1))
        probability = float(bounds.separation_probability(x, center, median, radius))
        assert probability == pytest.approx(naive.separation_probability(x, center, median, radius), abs=1e-12)
        lengths = np.linalg.norm(x - median), np.linalg.norm(center - median)
        lemma = np.linalg.norm(x - center) * sum(lengths) / (2 * d * radius**2)
        assert probability <= lemma * (1 + 1e-9) + 1e-15


def test_separation_by_draws():
    """Lemma 7.2, with a row beyond the radius, which the text leaves out."""
    rng = np.random.default_rng(0)
    x, center, median, radius = np.array([3.0, -0.5, 0.2]), np.array([0.5, 0.6, 0.4]), np.array([0.1, 0.2, 0.0]), 1.5
    n = 400_000
    axis, sign = rng.integers(3, size=n), rng.choice([-1, 1], size=n)
    cut = median[axis] + sign * np.sqrt(rng.uniform(0, radius**2, size=n))
    fraction = ((x[axis] <= cut) != (center[axis] <= cut)).mean()
    exact = float(bounds.separation_probability(x, center, median, radius))
    assert fraction == pytest.approx(exact, abs=4 * math.sqrt(exact / n))
    both = bounds.separation_probability([x, center], center, median, radius)
    assert both.tolist() == [exact, 0.0]


# ------------------------------------------------------------------------------------------------------------ instances


def test_star_to_the_printed_digits():
    for k, far, expected in ((3, 5, 1.9696970), (4, 10, 2.4591537), (5, 20, 2.8498936)):
        assert instances.star(k, far).exact["expected_cost"] == pytest.approx(expected, abs=5e-8)
    assert instances.star(4, 9, objective="sqeuclidean").exact["expected_cost"] == pytest.approx(2.4225564, abs=5e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_star_equals_the_twin_and_tends_to_the_bound(objective):
    for k, far in ((2, 1.0), (2, 7.0), (3, 5.0), (4, 9.0), (6, 30.0)):
        star = instances.star(k, far, objective=objective)
        for median in ("midpoint", "lower"):
            twin = naive.expected_cost(star.points[0], star.centers, objective, median)
            assert star.exact["expected_cost"] == pytest.approx(twin, rel=1e-12)
        assert nearest_cost(star.points[:1], star.centers, objective=objective) == pytest.approx(1)
    limit = instances.star(9, 1e9, objective=objective).exact
    assert limit["expected_cost"] == pytest.approx(limit["limit"], rel=1e-6)
    if objective != "l2":
        assert limit["limit"] == bounds.random_cuts_price_bound(9).value


@pytest.mark.crossed
@pytest.mark.parametrize("variant", ["fast", "exact"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_star_by_trees(objective, variant):
    star = instances.star(4, 9.0, objective=objective)
    costs = costs_of_trees(star.points[0], star.centers, draws(600), objective=objective, variant=variant)
    assert costs.mean() == pytest.approx(star.exact["expected_cost"], abs=4 * costs.std() / math.sqrt(len(costs)))


def test_two_centers_equal_the_twin():
    for t in (0.0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.9, 1.0):
        for objective in OBJECTIVES:
            for median in ("midpoint", "lower"):
                exact = instances.two_centers(t, objective=objective, median=median).exact
                twin = naive.expected_cost([t], [[0.0], [1.0]], objective, median)
                assert exact["expected_cost"] == pytest.approx(twin, abs=1e-12)
    t = 0.3
    squared = instances.two_centers(t, objective="sqeuclidean").exact["expected_cost"]
    assert squared == pytest.approx(t**2 * (1 - 2 * t**2) + 2 * t**2 * (1 - t) ** 2)
    assert instances.two_centers(t).exact["expected_cost"] == pytest.approx(2 * t * (1 - t))
    assert instances.two_centers(t, objective="l2").exact["probability"] == pytest.approx(2 * t * (1 - t))
    assert instances.two_centers(t, objective="l2", median="lower").exact["probability"] == pytest.approx(t**2)


@pytest.mark.parametrize("median", ["midpoint", "lower"])
def test_two_centers_by_trees(median):
    """The corrected algorithm; with theta in place of its root no point up to 1/4 would be parted from 0."""
    for t in (0.2, 0.7):
        instance = instances.two_centers(t, objective="l2", median=median)
        rng = np.random.default_rng(1)
        trees = (
            random_cuts(instance.centers, objective="l2", median=median, random_state=rng) for _ in range(draws(1000))
        )
        fraction = np.mean([int(tree.predict(instance.points)[0]) for tree in trees])
        assert fraction == pytest.approx(instance.exact["probability"], abs=4 * math.sqrt(0.25 / draws(1000)))


GENERATORS = [
    (instances.unit_cube, {"k": 30, "d": 12, "eps": 0.05}, "sqeuclidean"),
    (instances.unit_cube, {"k": 6, "d": 2, "eps": 0.4}, "sqeuclidean"),
    (instances.unit_cube, {"k": 40, "d": 30, "eps": 0.02, "copies": 3.0}, "sqeuclidean"),
    (instances.unit_grid, {"k": 30, "d": 12, "steps": 4}, "l2"),
    (instances.unit_grid, {"k": 8, "d": 6, "steps": 10}, "l2"),
    (instances.unit_grid, {"k": 40, "d": 30, "steps": 8, "copies": 80.0}, "l2"),
]


@pytest.mark.parametrize(("generator", "sizes", "objective"), GENERATORS)
def test_lower_bounds_hold_for_every_tree(generator, sizes, objective):
    for seed in range(5):
        instance = generator(**sizes, random_state=seed)
        exact, k = instance.exact, sizes["k"]
        options = {"objective": objective, "sample_weight": instance.weights}
        labels, centers = instance.reference.labels, instance.centers
        assert partition_cost(instance.points, labels, centers=centers, **options) == pytest.approx(
            exact["reference_cost"]
        )
        distances = [np.linalg.norm(a - b) for a, b in combinations(centers, 2)]
        assert exact["min_distance"] == pytest.approx(min(distances), rel=1e-12)
        assert exact["fewest_separated"] == naive.fewest_separated(instance.points, centers, labels)
        assert exact["price_bound"] == pytest.approx(exact["cost_bound"] / exact["reference_cost"])
        trees = [imm(instance.points, instance.reference, sample_weight=instance.weights)]
        trees += [random_cuts(centers, objective=o, random_state=seed) for o in OBJECTIVES]
        for tree in trees:
            assert tree.n_leaves == k
            assert cost(instance.points, tree, **options) >= exact["cost_bound"] * (1 - 1e-9)
        damaged = node_table(instance.points, trees[1], instance.reference).mistakes
        assert damaged[0] >= exact["fewest_separated"]
        together = np.where(labels == 1, 0, labels)
        assert partition_cost(instance.points, together, **options) >= exact["cost_bound"]


def test_the_lemmas_hold_where_they_are_checked():
    """Lemma 8.3 at k = 400, d = 40, eps = 0.05: each cut parts at least eps k / 4; and Lemmas 8.2, 8.5 and 8.6."""
    for seed in range(4):
        cube = instances.unit_cube(400, d=40, eps=0.05, random_state=seed).exact
        assert cube["fewest_separated"] >= cube["separated_bound"] == 5
        assert cube["reference_cost"] == pytest.approx(2 * 400 * 0.05**2 * 40)
        assert cube["cost_bound"] > cube["paper_cost_bound"] == 10
        assert cube["price_bound"] > 1
        grid = instances.unit_grid(400, d=40, steps=6, random_state=seed).exact
        assert grid["reference_cost"] == pytest.approx(2 * 400 * math.sqrt(40) / 6)
        assert grid["fewest_separated"] >= grid["separated_bound"] == pytest.approx(400 / 12)
        assert grid["min_distance"] >= grid["distance_bound"] == math.sqrt(40) / 4
    full = instances.unit_cube(200, eps=0.1, random_state=0)
    assert full.centers.shape[1] == math.ceil(300 * math.log(200))
    assert full.exact["min_distance"] >= full.exact["distance_bound"]


def damages_of_paths(instance, tree):
    """Return level, undamaged and damaged centres of each cut in pre-order, row by row from the root."""
    rows, labels, found = instance.points, instance.labels, []
    stack = [(tree.to_dict(), 0, [])]
    while stack:
        node, level, path = stack.pop()
        if "cluster" in node:
            continue
        undamaged = damaged = 0
        for c in range(len(instance.centers)):
            own = rows[labels == c]
            if all((row[j] <= threshold) == is_left for row in own for j, threshold, is_left in path):
                undamaged += 1
                damaged += len({bool(row[node["feature"]] <= node["threshold"]) for row in own}) == 2
        found.append((level, undamaged, damaged))
        for side, is_left in (("right", False), ("left", True)):
            stack.append((node[side], level + 1, [*path, (node["feature"], node["threshold"], is_left)]))
    return found


def test_damages_equal_the_twin():
    for seed in seeds(10):
        grid = instances.unit_grid(12, d=5, steps=4, random_state=seed)
        tree = random_cuts(grid.centers, random_state=seed)
        found, expected = instances.damages(grid, tree), damages_of_paths(grid, tree)
        assert list(zip(*(array.tolist() for array in found), strict=True)) == expected, f"seed {seed}"
        sums = [sum(d for level, _, d in expected if level == at) for at in range(tree.depth)]
        assert found.by_level.tolist() == sums
        assert found.undamaged[0] == 12
    with pytest.raises(ValueError, match="mixture has no rows"):
        instances.damages(instances.two_gaussians(1.0), tree)


def test_cuts_of_the_first_levels_damage_many_centres():
    """Lemma 8.6 (b), and what the proof of Theorem 8.4 adds up: each of these levels damages at least eps k / 8."""
    k, d, steps, checked = 1000, 20, 6, 0
    grid = instances.unit_grid(k, d=d, steps=steps, random_state=0)
    trees = [random_cuts(grid.centers, objective=o, random_state=s) for o in OBJECTIVES for s in range(2)]
    for tree in [*trees, imm(grid.points, grid.reference, sample_weight=grid.weights)]:
        found = instances.damages(grid, tree)
        held = (found.level < math.log2(k) / 4) & (found.undamaged > math.sqrt(k))
        assert (found.damaged[held] >= found.undamaged[held] / steps / 2).all()
        checked += int(held.sum())
        left = k - np.cumsum(found.by_level)  # undamaged below each level
        for level in range(int(math.log2(k)) // 4 + 1):
            assert left[level] < k / 2 or found.by_level[level] >= k / steps / 8
        assert found.by_level[0] >= grid.exact["fewest_separated"]
        apart = max(0.0, grid.exact["min_distance"] - math.sqrt(d) / steps)
        costs = cost(grid.points, tree, objective="l2", centers=grid.centers, sample_weight=grid.weights)
        assert costs >= found.damaged.sum() * apart > 0  # a damaged centre has a point with another centre
    assert checked > 20


def test_the_papers_own_sizes():
    cube, grid = instances.unit_cube(20, random_state=0), instances.unit_grid(20, random_state=0)
    assert cube.points.shape == grid.points.shape == (60, math.ceil(300 * math.log(20)))
    assert cube.weights.tolist() == [400.0] * 20 + [1.0] * 40
    assert cube.exact["separated_bound"] == pytest.approx(75 * math.log(20))
    multiples = grid.points * 3
    assert np.array_equal(multiples, np.round(multiples))
    assert np.array_equal(grid.points[:20], grid.centers)
    again = instances.unit_cube(20, random_state=np.random.default_rng(0))
    assert np.array_equal(again.points, cube.points)
