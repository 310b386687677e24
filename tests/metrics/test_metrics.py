import inspect
import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from boxwood import DataError, KMedians, Reference, ThresholdTree, _threads, axes, grow, metrics
from boxwood.loops.costs import L2
from boxwood.metrics.agreements import SMALL, best_matching
from boxwood.metrics.costs import ratio
from boxwood.reference.centers import find_centers
from tests import naive
from tests.cases import make_case, random_tree
from tests.scale import each, seeds, share

OBJECTIVES = ("l1", "l2", "sqeuclidean")


def any_tree(rng, X, n_clusters, *, extra=2, intervals=True):
    """Return a tree of random cuts with each cluster on some leaf, and some clusters on several."""
    n_leaves = n_clusters + int(rng.integers(extra + 1))

    def cut():
        feature = int(rng.integers(X.shape[1]))
        low, high = sorted(float(x) for x in X[rng.integers(len(X), size=2), feature])
        return feature, high, low if intervals and rng.random() < 0.3 else -math.inf

    return random_tree(rng, n_leaves, cut, rng.permutation(np.arange(n_leaves) % n_clusters).__getitem__)


def chain(*cuts):
    """Return the tree that tests (feature, threshold, cluster of the left leaf) in turn, and the last cluster."""
    *cuts, last = cuts
    tree = {"cluster": last}
    for feature, threshold, cluster in reversed(cuts):
        tree = {"feature": feature, "threshold": threshold, "left": {"cluster": cluster}, "right": tree}
    return ThresholdTree.from_dict(tree)


def repeated(weights, *arrays):
    times = weights.astype(int)
    return tuple(np.repeat(array, times, axis=0) for array in arrays)


# --------------------------------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("objective", ["l1", "sqeuclidean"])
def test_costs_are_those_of_exact_arithmetic(objective):
    for seed in seeds(200):
        X, labels, weights = make_case(seed, max_rows=20, max_columns=3)
        exact = float(naive.cost(X, labels, objective, weights=weights))
        fast = metrics.partition_cost(X, labels, objective=objective, sample_weight=weights)
        assert fast == pytest.approx(exact, rel=1e-13, abs=0), seed  # an exact zero is a zero


@pytest.mark.parametrize("objective", ["l1", "sqeuclidean"])
def test_costs_under_given_centers_are_those_of_exact_arithmetic(objective):
    for seed in range(1000, 1300):
        X, labels, weights = make_case(seed, max_rows=20, max_columns=3)
        centers = X[np.random.default_rng(seed).integers(len(X), size=labels.max() + 1)] + 0.25
        exact = float(naive.cost(X, labels, objective, centers, weights))
        fast = metrics.partition_cost(X, labels, objective=objective, centers=centers, sample_weight=weights)
        assert fast == pytest.approx(exact, rel=1e-13, abs=0), seed


def test_euclidean_cost_under_given_centers():
    for seed in seeds(300):
        X, labels, weights = make_case(seed)
        centers = X[np.random.default_rng(seed).integers(len(X), size=labels.max() + 1)] + 0.25
        fast = metrics.partition_cost(X, labels, objective="l2", centers=centers, sample_weight=weights)
        exact = naive.euclidean_cost(X, labels, centers, weights)
        assert fast == pytest.approx(exact, rel=1e-13, abs=0), seed


def test_cost_of_the_geometric_median_is_the_smallest():
    proven = 0
    for seed in seeds(50):
        X, labels, weights = make_case(seed, max_columns=5)
        for cluster in range(labels.max() + 1):
            one = np.where(labels == cluster, 0, -1)
            rows = np.flatnonzero(one == 0)
            w = np.ones(len(rows)) if weights is None else weights[rows]
            center = find_centers(X, one, 1, L2, weights)
            Z = X[rows].astype(np.longdouble) - center.base[0]
            fast = metrics.partition_cost(X, one, objective="l2", sample_weight=weights)
            tries = [naive.euclidean_cost_bounds(Z, w, z) for z in (center.offset[0], *Z)]
            assert fast <= min(value for _, value in tries) * (1 + 1e-9), (seed, cluster)
            bound = max(bound for bound, _ in tries)
            assert fast >= bound * (1 - 3e-10), (seed, cluster)
            spread = Z.std(axis=0)
            if (spread[spread > 0] > 1e-3).all():  # rows next to each other blur the bound
                proven += 1
                assert fast <= bound * (1 + 3e-9), (seed, cluster)
    assert proven > share(70)


def test_geometric_median_agrees_with_a_general_minimiser():
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    for stretch in (1, 10, 100):
        for n in (3, 4, 7, 40):
            X = rng.normal(size=(n, 3)) * [1, stretch, 1]
            best = min(
                minimize(lambda c, X=X: np.linalg.norm(X - c, axis=1).sum(), start, method="Nelder-Mead").fun
                for start in (X.mean(axis=0), np.median(X, axis=0), X[0])
            )
            fast = metrics.partition_cost(X, np.zeros(n, dtype=int), objective="l2")
            assert best * (1 - 1e-4) <= fast <= best * (1 + 1e-9)


@pytest.mark.parametrize(
    ("X", "weights", "expected"),
    [
        ([[3.0, 4.0]], None, [3, 4]),
        ([[3.0, 4.0]] * 5, None, [3, 4]),
        ([[0.0, 0], [1, 3], [2, 6], [7, 21], [100, 300]], None, [2, 6]),  # on a line
        ([[0.0, 0], [1, -3], [2, -6], [7, -21]], None, [1.5, -4.5]),
        ([[0.0, 0], [1, 3], [2, 6]], [1, 1, 3], [2, 6]),
        ([[0.0, 0], [4, 0], [2, 0.5]], None, [2, 0.5]),  # an angle above 120 degrees
        ([[0.0, 0], [4, 0], [0, 4], [4, 4]], None, [2, 2]),
        ([[0.0, 0], [8, 0], [4, 4], [4, -4], [4, 0]], None, [4, 0]),
        ([[0.0, 0], [0, 0], [9, 1], [1, 9]], None, [0, 0]),  # half of the weight in one place
    ],
)
def test_geometric_median_is_exact_where_it_is_plain(X, weights, expected):
    center = metrics.best_centers(X, [0] * len(X), 1, objective="l2", sample_weight=weights)
    np.testing.assert_array_equal(center, [expected])


def test_geometric_median_leaves_a_row_that_is_near_but_not_best():
    # the row (0, 0) is the median of each column, where the search begins, but not the geometric median
    angle = np.deg2rad([90, 210, 330])
    triangle = np.column_stack([np.cos(angle), np.sin(angle)])
    center = metrics.best_centers(triangle, [0, 0, 0], 1, objective="l2")
    np.testing.assert_allclose(center, 0, atol=1e-8)
    X = [[-1.0, 0.0], [0.0, -1.0], [0.0, 0.0], [5.0, 1e-9], [1e-9, 5.0], [5.0, 5.0], [-1.0, -1.0]]
    w = [1, 1, 0.01, 2, 2, 1, 0.1]
    center = metrics.best_centers(X, [0] * 7, 1, objective="l2", sample_weight=w)[0]
    bound, value = naive.euclidean_cost_bounds(np.array(X), np.array(w), center)
    assert bound >= value * (1 - 2e-9)


def test_rows_next_to_each_other_do_not_hold_the_geometric_median_back():
    for seed in seeds(150):
        rng = np.random.default_rng(seed)
        whole = rng.integers(1, 4, size=(int(rng.integers(3, 20)), 3)).astype(float)
        noisy = whole + rng.integers(0, 3, size=whole.shape) * np.spacing(1.0)
        fast, expected = (metrics.partition_cost(X, [0] * len(X), objective="l2") for X in (noisy, whole))
        assert fast == pytest.approx(expected, rel=2e-9, abs=1e-13), seed


def test_subgradient_is_zero_at_the_medians():
    for seed in seeds(300):
        X, labels, weights = make_case(seed)
        weights = np.ones(len(X)) if weights is None else weights
        centers = metrics.best_centers(X, labels, labels.max() + 1, objective="l1", sample_weight=weights)
        for cluster, center in enumerate(centers):
            rows = labels == cluster
            below = ((X[rows] < center) * weights[rows, None]).sum(axis=0)
            above = ((X[rows] > center) * weights[rows, None]).sum(axis=0)
            at = ((X[rows] == center) * weights[rows, None]).sum(axis=0)
            assert (np.abs(above - below) <= at + 1e-12 * weights.sum()).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_best_centers_cost_least(objective):
    for seed in seeds(50):
        X, labels, weights = make_case(seed)
        rng, k = np.random.default_rng(seed), labels.max() + 1
        tree = any_tree(rng, X, k)
        best = metrics.cost(X, tree, objective=objective, sample_weight=weights)
        own = metrics.best_centers(X, tree.predict(X), k, objective=objective, sample_weight=weights)
        for centers in (X[rng.integers(len(X), size=k)], Reference.of(X, labels).centers):
            surrogate = metrics.cost(X, tree, objective=objective, centers=centers, sample_weight=weights)
            assert best <= surrogate * (1 + 2e-9)
        with_own = metrics.cost(X, tree, objective=objective, centers=own, sample_weight=weights)
        assert best <= with_own * (1 + 2e-9)
        if np.abs(X).max() < 1e3:  # rounding a large centre costs digits
            assert with_own == pytest.approx(best, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_whole_weights_are_repeated_rows(objective):
    for seed in seeds(60):
        X, labels, _ = make_case(seed)
        weights = np.random.default_rng(seed).integers(0, 4, size=len(X)).astype(float)
        if not weights[labels >= 0].any():
            continue
        weighted = metrics.partition_cost(X, labels, objective=objective, sample_weight=weights)
        rows, clusters = repeated(weights, X, labels)
        assert weighted == pytest.approx(metrics.partition_cost(rows, clusters, objective=objective), rel=3e-9, abs=0)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_leaves_of_one_cluster_are_pooled(objective):
    X = np.array([[0.0], [1.0], [5.0], [8.0], [9.0]])
    tree = chain((0, 3, 1), (0, 6, 0), 1)
    pooled = metrics.partition_cost(X, ["ends", "ends", "middle", "ends", "ends"], objective=objective)
    assert metrics.cost(X, tree, objective=objective) == pooled
    assert pooled > metrics.cost(X, tree.relabeled([0, 1, 2]), objective=objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_nearest_cost_equals_the_twin(objective):
    for seed in seeds(50):
        X, _, weights = make_case(seed)
        rng = np.random.default_rng(seed)
        # rows as centres and points between two rows, so that many are equally near; some centres twice
        centers = X[rng.integers(len(X), size=5)].astype(float)
        centers[:2] = (centers[:2] + centers[2:4]) / 2
        found = metrics.nearest_cost(X, centers, objective=objective, sample_weight=weights)
        expected = naive.nearest_cost(X, centers, objective, weights)
        assert found == pytest.approx(expected, rel=1e-12), f"seed {seed}"
        labels = rng.integers(5, size=len(X))  # no other assignment is cheaper
        options = {"objective": objective, "sample_weight": weights}
        assert found <= metrics.partition_cost(X, labels, centers=centers, **options) * (1 + 1e-12)


def test_nearest_cost_in_blocks_and_by_hand(monkeypatch):
    rng = np.random.default_rng(0)
    X, centers, weights = rng.normal(size=(300, 3)), rng.normal(size=(4, 3)), rng.random(300)
    whole = metrics.nearest_cost(X, centers, sample_weight=weights)
    monkeypatch.setattr("boxwood.metrics.costs.BLOCK_ROWS", 7)
    assert metrics.nearest_cost(X, centers, sample_weight=weights) == whole
    kmeans = KMeans(4, n_init=1, random_state=0).fit(X)
    assert metrics.nearest_cost(X, kmeans.cluster_centers_) == pytest.approx(kmeans.inertia_)
    medians = KMedians(4, objective="l1", random_state=0).fit(X)
    assert metrics.nearest_cost(X, medians.cluster_centers_, objective="l1") == pytest.approx(medians.inertia_)
    tree = grow.random_cuts(centers, objective="l1", random_state=0)
    given = metrics.cost(X, tree, objective="l1", centers=centers)
    assert metrics.nearest_cost(X, centers, objective="l1") <= given
    corner = [[3.0, 4.0]], [[0.0, 0.0], [9.0, 9.0]]
    assert [metrics.nearest_cost(*corner, objective=o) for o in ("l1", "l2", "sqeuclidean")] == [7.0, 5.0, 25.0]
    for centers, message in (
        ([[0.0]], r"centers must be of shape \(k, 3\)"),
        ([[0.0, 0.0, np.nan]], "centers must be finite; center 0 is not"),
        (np.empty((0, 3)), r"centers must be of shape \(k, 3\)"),
    ):
        with pytest.raises(DataError, match=message):
            metrics.nearest_cost(X, centers)
    with pytest.raises(ValueError, match="objective"):
        metrics.nearest_cost(X, X[:2], objective="l3")


@pytest.mark.crossed
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e-12), (1e12, 1.0), (-1e12, 1.0), (0.0, 1e12)])
def test_costs_of_tiny_huge_and_far_values(objective, shift, scale):
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 2, size=(5000, 3)).astype(float)
    labels = rng.integers(0, 3, size=5000)
    expected = metrics.partition_cost(whole, labels, objective=objective)
    fast = metrics.partition_cost(shift + scale * whole, labels, objective=objective)
    power = 2 if objective == "sqeuclidean" else 1
    assert fast == pytest.approx(expected * scale**power, rel=1e-11)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_cost_of_equal_rows_is_zero(objective):
    X = np.repeat([[0.1, 1e12 + 0.3, 1e-12 / 3], [0.7, -1e12 / 7, 3e-12]], 7, axis=0)
    labels = np.repeat([0, 1], 7)
    weights = np.random.default_rng(0).random(14)
    assert metrics.partition_cost(X, labels, objective=objective) == 0
    assert metrics.partition_cost(X, labels, objective=objective, sample_weight=weights) == 0


@pytest.mark.full  # loops are compiled for each layout
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_cost_is_the_same_for_any_threads_and_layout(objective, monkeypatch):
    rng = np.random.default_rng(0)
    n = 2 * _threads.BLOCK_ROWS + 17
    X, labels, weights = rng.normal(size=(n, 3)).astype(np.float32), rng.integers(-1, 4, size=n), rng.random(n)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(_threads, "n_threads", lambda n_jobs, threads=threads: threads)
        found.append(metrics.partition_cost(X, labels, objective=objective, sample_weight=weights))
    wide = np.zeros((n, 6))
    wide[:, ::2] = X
    for Y in (np.asfortranarray(X), X.astype(np.float64), wide[:, ::2]):
        found.append(metrics.partition_cost(Y, labels, objective=objective, sample_weight=weights))
    assert len(set(found)) == 1


def test_best_centers_of_clusters_without_weight_are_missing():
    X, labels = [[0.0], [4.0], [6.0], [9.0]], [0, 2, 2, 3]
    for objective in OBJECTIVES:
        centers = metrics.best_centers(X, labels, 4, objective=objective, sample_weight=[1, 1, 1, 0])
        np.testing.assert_array_equal(centers, [[0], [np.nan], [5], [np.nan]])
        given = metrics.partition_cost(X, labels, objective=objective, centers=centers, sample_weight=[1, 1, 1, 0])
        assert given == 2


def test_costs_by_hand():
    X, labels = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [9.0, 9.0]]), [0, 0, 0, 1]
    assert metrics.partition_cost(X, labels, objective="l1") == 14
    assert metrics.partition_cost(X, labels, objective="l2") == 10
    assert metrics.partition_cost(X, labels) == 50
    assert metrics.partition_cost(X, labels, objective="l1", centers=[[0, 0], [9, 8]]) == 22
    assert metrics.partition_cost(X, labels, objective="l2", centers=[[0, 0], [9, 8]]) == 16
    assert metrics.partition_cost(X, labels, centers=[[0, 0], [9, 8]]) == 126


@each(
    "labels, options, message",
    [
        ([0, 0], {}, "3 rows, but 2 labels"),
        ([-1, -1, -1], {}, "every row is left out"),
        ([0, 1, 2], {"centers": [[0.0], [1.0]]}, "from -1 to 1"),
        ([0, 1, 0], {"centers": [[0.0, 1.0]]}, r"shape \(k, 1\)"),
        ([0, 1, 0], {"centers": [[0.0], [np.nan]]}, "cluster 1 is not"),
        ([0, 1, 0], {"centers": [["a"], ["b"]]}, "centers must be numeric"),
        (["a", "b", "a"], {"centers": [[0.0], [1.0]]}, "whole numbers"),
        ([0, 1, 0], {"sample_weight": [1, 2]}, "3 rows"),
        ([0, 0, 0], {"scale": 1e200}, "beyond the largest float"),
    ],
)
def test_cost_refuses_what_does_not_fit(labels, options, message):
    X = np.array([[0.0], [1.0], [3.0]]) * options.pop("scale", 1)
    with pytest.raises(DataError, match=message):
        metrics.partition_cost(X, labels, **options)


def test_unknown_objective_is_refused():
    with pytest.raises(ValueError, match="objective must be one of"):
        metrics.cost([[0.0]], ThresholdTree.from_dict({"cluster": 0}), objective="l3")


# --------------------------------------------------------------------------------------------------------- price


@pytest.mark.parametrize("e", [0.25, 0.125, 0.4])
def test_price_is_below_one_where_the_reference_is_bad(e):
    # T-13: three pairs; the reference is a fixed point of Lloyd's iteration that splits one pair and joins the others
    X = np.array([[x, y] for x in (0.0, 1.0, 2.0) for y in (e, -e)])
    reference = Reference.of(X, [0, 1, 2, 2, 2, 2])
    squares = ((X[:, None] - reference.centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(squares.argmin(axis=1), reference.labels)
    tree = chain((0, 0.5, 0), (0, 1.5, 1), 2)
    assert metrics.partition_cost(X, reference.labels) == pytest.approx(1 + 4 * e**2)
    assert metrics.cost(X, tree) == pytest.approx(6 * e**2)
    price = metrics.price_of_explainability(X, tree, reference)
    assert price == pytest.approx(6 * e**2 / (1 + 4 * e**2))
    assert price < 1


@pytest.mark.parametrize(("v", "spoiled"), [(10, 0.5507), (100, 6.5656), (1000, 618.08)])
def test_price_of_a_lost_point_is_unbounded_while_a_better_tree_stays_bounded(v, spoiled):
    # T-14: 50 copies of each corner and one far point; the tree with one mistake loses the far point
    m = 50
    X = np.array([[1, -3], [-3, 1]] * m + [[-1, 3], [3, -1]] * m + [[0, v]], dtype=float)
    reference = Reference(np.repeat([0, 1, 2], [2 * m, 2 * m, 1]), [[-1, -1], [1, 1], [0, v]])
    good = ThresholdTree.from_dict(
        {
            "feature": 1,
            "threshold": 4,
            "left": {"feature": 0, "threshold": -2, "left": {"cluster": 0}, "right": {"cluster": 1}},
            "right": {"cluster": 2},
        }
    )
    one_mistake = chain((0, -2, 0), (1, -2, 0), 1)
    assert metrics.node_table(X, one_mistake, reference).mistakes.sum() == 0  # no leaf for the far point at all
    assert metrics.node_table(X, one_mistake, reference).own[0] == 4 * m
    assert metrics.price_of_explainability(X, good, reference) == pytest.approx(5 / 6)
    by_leaf = metrics.price_of_explainability(X, one_mistake.relabeled([0, 1, 2]), reference)
    assert by_leaf == pytest.approx(spoiled, rel=1e-4)
    pooled = metrics.price_of_explainability(X, one_mistake, reference)
    assert pooled == pytest.approx(by_leaf + 0.5)  # the two leaves of one cluster share a mean: 800 of 1600 more


@pytest.mark.parametrize("e", [0.1, 0.05, 0.01])
def test_price_of_a_tree_that_splits_the_middle_cluster(e):
    # T-16: Kernel paper, App. J
    X = np.array([[c + s * e] for c in (-1, 0, 1) for s in (-1, 1)])
    reference = Reference.of(X, [0, 0, 1, 1, 2, 2])
    tree = chain((0, 0, 0), (0, 0.5, 1), 2)
    price = metrics.price_of_explainability(X, tree, reference)
    assert price == pytest.approx(7 / 9 - 2 / (9 * e) + 1 / (9 * e**2))
    with_centers = metrics.price_of_explainability(X, tree, reference, centers=[[-1], [0], [1]])
    assert with_centers == pytest.approx(5 / 6 + (1 - e) ** 2 / (6 * e**2))
    assert metrics.price_of_explainability(X, chain((0, -0.5, 0), (0, 0.5, 1), 2), reference) == 1


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_price_is_the_ratio_of_the_costs_over_the_rows_kept(objective):
    for seed in seeds(40):
        X, labels, weights = make_case(seed)
        reference, tree = Reference.of(X, labels), any_tree(np.random.default_rng(seed), X, labels.max() + 1)
        kept = labels >= 0
        options = {"objective": objective, "sample_weight": None if weights is None else weights[kept]}
        for centers in (None, reference.centers):
            over = metrics.cost(X[kept], tree, centers=centers, **options)
            under = metrics.partition_cost(X[kept], labels[kept], centers=centers, **options)
            price = metrics.price_of_explainability(
                X, tree, reference, centers=centers, objective=objective, sample_weight=weights
            )
            # the noise left out shifts blocks and first rows, so costs may differ by a rounding
            assert price == pytest.approx(ratio(over, under), rel=3e-9, abs=0)


def test_price_of_equal_rows():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    fine, coarse = Reference.of(X, [0, 0, 1, 1]), Reference.of(X, [0, 1, 1, 1])
    tree, upside_down = chain((0, 0.5, 0), 1), chain((0, -1, 0), 1)
    assert metrics.price_of_explainability(X, tree, fine) == 1
    assert metrics.price_of_explainability(X, upside_down, fine) == math.inf
    assert metrics.price_of_explainability(X, tree, coarse) == 0


def test_ratio():
    assert ratio(0, 0) == 1
    assert ratio(1e-300, 0) == math.inf
    assert ratio(1, 4) == 0.25
    for bad in ((-1, 1), (1, -1), (math.nan, 1), (1, math.nan)):
        with pytest.raises(ValueError, match="not be negative"):
            ratio(*bad)


def test_price_refuses_what_does_not_fit():
    X = np.array([[0.0], [1.0]])
    reference, tree = Reference.of(X, [0, 1]), chain((0, 0.5, 0), 1)
    with pytest.raises(ValueError, match="with a kernel"):
        metrics.price_of_explainability(X, tree, reference, kernel="gaussian", objective="l1")
    for arguments, message in (
        ((X[:1], tree, reference), "1 rows, but 2 labels"),
        ((np.c_[X, X], tree, reference), "2 columns, but the reference's centres have 1"),
        ((X, chain((1, 0.5, 0), 1), reference), "tests column 1"),
        ((X, chain((0, 0.5, 0), 2), reference), "leaf of cluster 2"),
        ((X, tree, Reference([-1, -1], [[0.0], [1.0]])), "every row is left out"),
    ):
        with pytest.raises(DataError, match=message):
            metrics.price_of_explainability(*arguments)
        with pytest.raises(DataError, match=message):
            metrics.node_table(*arguments)


# ----------------------------------------------------------------------------------------------------- agreement


def test_agreement_is_that_of_scikit_learn():
    for seed in seeds(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        labels, predicted = (rng.integers(0, rng.integers(1, 6), size=n) for _ in range(2))
        predicted = np.where(rng.random(n) < rng.random(), labels, predicted - 1)
        found = metrics.agreement(labels, predicted)
        assert found.adjusted_rand == pytest.approx(adjusted_rand_score(labels, predicted), abs=1e-12)
        mutual = normalized_mutual_info_score(labels, predicted)
        assert found.normalized_mutual_info == pytest.approx(mutual, abs=1e-12)


def test_agreement_with_whole_weights_is_that_of_repeated_rows():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 30))
        labels, predicted = rng.integers(-1, 4, size=n), rng.integers(0, 4, size=n)
        weights = rng.integers(0, 4, size=n).astype(float)
        if not weights[labels >= 0].any():
            continue
        rows = repeated(weights, labels, predicted)
        weighted = metrics.agreement(labels, predicted, sample_weight=weights)
        assert weighted == pytest.approx(metrics.agreement(*rows), abs=1e-12)
        kept = rows[0] >= 0
        assert weighted.adjusted_rand == pytest.approx(adjusted_rand_score(rows[0][kept], rows[1][kept]), abs=1e-12)


def test_matched_is_the_best_matching():
    for seed in seeds(150):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 15))
        labels, predicted = rng.integers(0, 4, size=n), rng.integers(0, 4, size=n)
        weights = rng.random(n) + 0.1
        found = metrics.agreement(labels, predicted, sample_weight=weights)
        best = naive.matched(labels.tolist(), predicted.tolist(), weights.tolist())
        assert found.matched == pytest.approx(best, abs=1e-12)


def test_matrices_are_matched_as_well_as_scipy_matches_them():
    for seed in seeds(200):
        rng = np.random.default_rng(seed)
        worth = rng.integers(0, rng.choice([2, 4, 10**12]), size=rng.integers(1, SMALL + 2, size=2))
        rows, columns = best_matching(worth)
        assert len(rows) == len(set(rows.tolist())) == len(set(columns.tolist())) == min(worth.shape), seed
        assert worth[rows, columns].sum() == worth[linear_sum_assignment(worth, maximize=True)].sum(), seed


def test_agreement_stays_in_its_range_for_any_weights():
    for seed in seeds(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 20))
        labels, predicted = rng.integers(0, 5, size=n), rng.integers(0, 5, size=n)
        weights = rng.exponential(size=n) * 10.0 ** rng.integers(-9, 9)
        found = metrics.agreement(labels, predicted, sample_weight=weights)
        assert 0 < found.matched <= 1
        assert -1 <= found.adjusted_rand <= 1
        assert 0 <= found.normalized_mutual_info <= 1
        assert found == pytest.approx(metrics.agreement(labels, predicted, sample_weight=weights * 0.3), abs=1e-9)


def test_agreement_of_the_same_partition_is_one():
    for labels in (["a", "b", "b", 7], [0, 0, 0], [0, 1, 2], [3]):
        renamed = [f"x{label}" for label in labels]
        assert metrics.agreement(labels, renamed) == (1, 1, 1)
        assert metrics.agreement(labels, renamed, sample_weight=np.arange(1, len(labels) + 1) / 7) == (1, 1, 1)


def test_agreement_leaves_out_noise_of_the_first_only():
    for none in (-1, None, np.nan):
        assert metrics.agreement([0, 0, 1, none], [5, 5, -1, 5]) == (1, 1, 1)
    assert metrics.agreement([0, 0, 1, 1], [-1, -1, 0, -1]).matched == 0.75


def test_agreement_refuses_what_does_not_fit():
    for arguments, message in (
        (([0, 1], [0]), "1 rows, but 2 labels"),
        (([-1, -1], [0, 0]), "every row is left out"),
        (([None, np.nan], [0, 0]), "every row is left out"),
    ):
        with pytest.raises(DataError, match=message):
            metrics.agreement(*arguments)
    with pytest.raises(DataError, match="has weight 0"):
        metrics.agreement([0, -1], [0, 0], sample_weight=[0, 1])


# --------------------------------------------------------------------------------------------------- readability


def test_readability_by_hand():
    tree = ThresholdTree.from_dict(
        {
            "feature": 0,
            "interval": [2, 4],
            "inside": {"feature": 0, "interval": [1, 3], "inside": {"cluster": 0}, "outside": {"cluster": 1}},
            "outside": {
                "feature": 0,
                "threshold": 3,
                "left": {"feature": 3, "threshold": 0, "left": {"cluster": 2}, "right": {"cluster": 3}},
                "right": {"cluster": 4},
            },
        }
    )
    # rules: 2 <= x <= 3 | 3 < x <= 4 | x < 2, z <= 0 | x < 2, z > 0 | x > 4
    X = np.array([[2, 0, 0, 0], [4, 0, 0, 0], [1, 0, 0, -1], [1, 0, 0, 1], [5, 0, 0, 0]], dtype=float)
    np.testing.assert_array_equal(tree.predict(X), [0, 1, 2, 3, 4])
    found = metrics.readability(X, tree, sample_weight=[1, 2, 3, 4, 10])
    assert found[:3] == (5, 3, 2)
    assert found.weighted_average_depth == pytest.approx((2 * 3 + 3 * 7 + 2 * 10) / 20)
    assert found.weighted_average_explanation_size == pytest.approx((2 * 3 + 2 * 7 + 1 * 10) / 20)


def test_readability_of_a_hole():
    tree = ThresholdTree.from_dict(
        {"feature": 0, "interval": [1, 2], "inside": {"cluster": 0}, "outside": {"cluster": 1}}
    )
    assert metrics.readability([[0.0], [3.0]], tree) == (2, 1, 1, 1.0, 2.0)


def test_readability_of_a_single_leaf():
    assert metrics.readability([[1.0]], ThresholdTree.from_dict({"cluster": 0})) == (1, 0, 0, 0.0, 0.0)


def test_readability_counts_conditions_once():
    for seed in seeds(300):
        X, labels, weights = make_case(seed)
        rng = np.random.default_rng(seed)
        tree = any_tree(rng, X, labels.max() + 1, extra=6, intervals=False)
        found = metrics.readability(X, tree, sample_weight=weights)
        w = np.ones(len(X)) if weights is None else weights
        paths = [tree.path(leaf) for leaf in tree.apply(X)]
        assert found.weighted_average_depth == pytest.approx(np.average([len(path) for path in paths], weights=w))
        sizes = [naive.conditions(path) for path in paths]
        assert found.weighted_average_explanation_size == pytest.approx(np.average(sizes, weights=w))
        assert found.n_features == len({cut.feature for leaf in range(tree.n_leaves) for cut in tree.path(leaf)})


# --------------------------------------------------------------------------------------------------------- nodes


def test_node_table_is_that_of_the_definition():
    for seed in seeds(400):
        X, labels, weights = make_case(seed)
        tree = any_tree(np.random.default_rng(seed), X, labels.max() + 1, extra=4)
        if seed % 5 == 0:  # some clusters have no leaf
            tree = tree.relabeled(np.minimum(tree.leaf_clusters, 1))
        table = metrics.node_table(X, tree, Reference.of(X, labels), sample_weight=weights)
        w = np.ones(len(X), dtype=int) if weights is None else weights
        expected = [[w[rows].sum() for rows in entry] for entry in naive.node_table(tree.to_dict(), X, labels)]
        for array, column in zip(table, np.array(expected).T, strict=True):
            np.testing.assert_allclose(array, column, rtol=1e-12)
            assert array.dtype.kind == ("i" if weights is None else "f")


def test_mistakes_add_up_to_the_rows_that_leave_their_cluster():
    for seed in seeds(300):
        X, labels, _ = make_case(seed)
        tree = any_tree(np.random.default_rng(seed), X, labels.max() + 1, extra=0)
        table = metrics.node_table(X, tree, Reference.of(X, labels))
        wrong = ((tree.predict(X) != labels) & (labels >= 0)).sum()
        leaves = tree.leaf_nodes
        assert table.mistakes.sum() == wrong == (table.rows - table.own)[leaves].sum()
        assert not table.mistakes[leaves].any()
        cuts = np.flatnonzero(tree.feature >= 0)
        below = table.own[cuts + 1] + table.own[tree.second[cuts]]
        np.testing.assert_array_equal(table.own[cuts], below + table.mistakes[cuts])


def test_node_table_of_a_deep_tree():
    n = 3000
    X = np.arange(n, dtype=float)[:, None]
    tree = chain(*((0, i, i) for i in range(n - 1)), n - 1)
    labels = np.arange(n)
    labels[[10, 2000]] = 2000, 10
    table = metrics.node_table(X, tree, Reference.of(X, labels))
    assert np.flatnonzero(table.mistakes).tolist() == [20]  # both are parted from their leaf by the cut at 10
    assert table.mistakes.sum() == 2


# ------------------------------------------------------------------------------------------------ the public names


@pytest.mark.parametrize("package", [metrics, axes])
def test_the_docstring_of_a_package_lists_its_names(package):
    assert [name for name in package.__all__ if f"`{name}`" not in package.__doc__] == []


@pytest.mark.parametrize("name", metrics.__all__)
def test_arguments_come_in_one_order_and_kernels_by_keyword(name):
    parameters = inspect.signature(getattr(metrics, name)).parameters
    order = ["X", "mixture", "components", "tree", "labels", "reference"]
    ranks = [order.index(parameter) for parameter in parameters if parameter in order]
    assert ranks == sorted(ranks)
    assert "kernel" not in parameters or parameters["kernel"].kind is inspect.Parameter.KEYWORD_ONLY
