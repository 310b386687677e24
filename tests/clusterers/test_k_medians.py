import math
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from boxwood import IMM, DataError, KMedians, Reference, _threads, explain, metrics
from boxwood._validation import as_integer_weights
from boxwood.clusterers import _k_medians
from boxwood.clusterers import _k_medians as _seeding
from boxwood.clusterers._k_medians import Cloud, _assign_rows
from boxwood.loops.costs import L1, L2, distances
from boxwood.reference.centers import weighted_median
from tests import naive
from tests.cases import make_case
from tests.scale import seeds, share, variants

OBJECTIVES = ("l1", "l2")
CODES = {"l1": L1, "l2": L2}


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:.*clusters asked for were found")  # the tables of some checks have few rows
@parametrize_with_checks(variants(KMedians(), KMedians(objective="l2")))
def test_scikit_learn(estimator, check):
    check(estimator)


def first_centers(seed, X, k):
    """Return centres near rows, at rows, some of them equal or far from all rows."""
    rng = np.random.default_rng(seed)
    centers = X[rng.integers(len(X), size=k)].astype(np.float64)
    kind = rng.integers(3)
    if kind == 0:
        centers[rng.integers(k)] = 1e13
    return centers + (0.25 if kind == 1 else 0.0)


# ----------------------------------------------------------------------------------------------- the alternation


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_alternation_equals_its_twin(objective, monkeypatch):
    fewer = refilled = 0
    for seed in seeds(200 if objective == "l1" else 60):
        X, labels, weights = make_case(seed, max_rows=14, max_columns=3, max_clusters=5)
        k = int(labels.max()) + 1
        centers = first_centers(seed, X, k)

        def best_centers(labels, X=X, k=k, weights=weights):
            if objective == "l1":
                return naive.medians(X, labels, k, weights)
            return metrics.best_centers(X, labels, k, objective="l2", sample_weight=weights).tolist()

        model = KMedians(k, objective=objective, init=centers, tol=0)
        if len(np.unique(X, axis=0)) < k:
            fewer += 1
            check_fewer(model, X, weights)
            continue
        monkeypatch.setattr(Cloud, "best_is_costly", False)  # the twin takes no steps towards best centres
        expected = naive.alternate(X, centers, objective, best_centers, weights)
        model.fit(X, sample_weight=weights)
        refilled += len(set(naive.nearest(X, centers, objective)[0])) < k
        np.testing.assert_array_equal(model.cluster_centers_, expected[0], err_msg=str(seed))
        assert model.labels_.tolist() == expected[1], seed
        assert model.inertia_ == expected[2], seed
        assert model.n_iter_ == expected[3], seed
    assert fewer > 1
    assert refilled > 10


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_step_raises_the_cost(objective):
    steps = 0
    for seed in seeds(80):
        X, labels, weights = make_case(seed)
        k = int(labels.max()) + 1
        if len(np.unique(X, axis=0)) < k:
            continue
        cloud = Cloud(X, weights, CODES[objective], 1)
        now = _assign_rows(cloud, first_centers(seed, X, k), 0)
        total = len(X) if weights is None else weights.sum()
        rounding = total * X.shape[1] * float(np.spacing(np.abs(X.astype(np.float64)).max()))
        for _ in range(6):  # steps as they are, without the guard of `alternate`
            after = _assign_rows(cloud, cloud.best_centers(now), 0)
            assert after.cost <= now.cost * (1 + 2e-9) + rounding, seed
            steps += after.cost < now.cost
            now = after
    assert steps > share(60)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_more_steps_never_cost_more(objective):
    for seed in seeds(15):
        X = np.random.default_rng(seed).normal(size=(60, 3))
        costs = [
            KMedians(5, objective=objective, init=X[:5], max_iter=steps, tol=0).fit(X).inertia_ for steps in range(1, 9)
        ]
        assert all(after <= before * (1 + 1e-13) for before, after in pairwise(costs))
        assert costs[-1] < costs[0]


def test_a_start_ends_where_little_is_gained():
    X = np.random.default_rng(0).normal(size=(3000, 3))
    exact, early = (KMedians(10, init=X[:10], tol=tol).fit(X) for tol in (0, 1e-2))
    assert early.n_iter_ < exact.n_iter_ < 300
    assert exact.inertia_ < early.inertia_ < 1.1 * exact.inertia_
    again = KMedians(10, init=exact.cluster_centers_, tol=0).fit(X)
    assert again.n_iter_ == 1
    np.testing.assert_array_equal(again.cluster_centers_, exact.cluster_centers_)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_always_holds(objective):
    for seed in seeds(60):
        X, labels, weights = make_case(seed)
        k = int(labels.max()) + 1
        if len(np.unique(X, axis=0)) < k:
            continue
        model = KMedians(k, objective=objective, n_init=2, random_state=seed).fit(X, sample_weight=weights)
        assert (np.bincount(model.labels_, minlength=k) > 0).all()
        assert (model.predict(X) == model.labels_).all()
        assert (model.transform(X).argmin(axis=1) == model.labels_).all()
        assert model.score(X, sample_weight=weights) == -model.inertia_
        measured = metrics.partition_cost(
            X, model.labels_, objective=objective, centers=model.cluster_centers_, sample_weight=weights
        )
        assert measured == pytest.approx(model.inertia_, rel=1e-12, abs=0)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_centers_end_at_the_best_place_for_their_rows(objective):
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        X, weights = rng.normal(size=(50, 3)) * 10.0 ** rng.integers(-3, 4, size=3), rng.random(50)
        model = KMedians(4, objective=objective, n_init=1, tol=0, random_state=seed).fit(X, sample_weight=weights)
        best = metrics.partition_cost(X, model.labels_, objective=objective, sample_weight=weights)
        assert model.inertia_ == pytest.approx(best, rel=2e-9, abs=0)


def test_distances_are_those_of_scipy():
    from scipy.spatial.distance import cdist

    X, centers = np.random.default_rng(0).normal(size=(50, 4)), np.random.default_rng(1).normal(size=(7, 4))
    for euclidean, metric in ((False, "cityblock"), (True, "euclidean")):
        out = np.empty((50, 7))
        distances(X, np.ascontiguousarray(centers.T), euclidean, out)
        np.testing.assert_allclose(out, cdist(X, centers, metric), rtol=1e-14)


def test_medians_of_many_values_equal_the_twin():
    for seed in seeds(400):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 400))
        values = rng.normal(size=n) if seed % 2 else rng.integers(0, 30, size=n).astype(float)
        weights = [None, rng.integers(0, 4, size=n).astype(float), rng.random(n)][seed % 3]
        if weights is not None:
            weights[0] = 1.0
        expected = naive.medians(values[:, None], np.zeros(n, dtype=int), 1, weights)[0][0]
        whole = None if weights is None else as_integer_weights(weights)
        assert weighted_median(values, whole) == expected, seed


# -------------------------------------------------------------------------------------------------- first centres


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rows_are_drawn_in_proportion_to_weight_and_distance(objective):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(12, 2)), rng.integers(1, 4, size=12).astype(float)
    cloud = Cloud(X, weights, CODES[objective], 1)
    away = cloud.distances(X[3:4])[:, 0]
    drawn = _seeding._draw(cloud, away, np.random.RandomState(0), 30_000)
    counts, share = np.bincount(drawn, minlength=12), away * weights / (away @ weights)
    assert counts[3] == 0
    others = np.arange(12) != 3
    assert chisquare(counts[others], 30_000 * share[others]).pvalue > 1e-3
    assert chisquare(counts[others], 30_000 * (away * share)[others] / (away @ share)).pvalue < 1e-6  # not squared


def test_expected_cost_of_single_draws_is_that_of_enumeration():
    X = np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [15.0]])
    gaps = np.abs(X - X.T)
    expected = sum(
        gaps[first, second] / gaps[first].sum() / len(X) * np.minimum(gaps[first], gaps[second]).sum()
        for first in range(len(X))
        for second in range(len(X))
    )
    cloud, rng = Cloud(X, None, L1, 1), np.random.RandomState(0)
    costs = []
    for _ in range(4000):
        centers = _seeding._draw_centers(cloud, 2, rng, lambda closest: closest, 1)
        costs.append(cloud.nearest(centers)[1].sum())
    assert abs(np.mean(costs) - expected) < 4 * np.std(costs) / math.sqrt(len(costs))
    several = [cloud.nearest(_seeding.plus_plus(cloud, 2, rng))[1].sum() for _ in range(1000)]
    assert np.mean(several) < np.mean(costs)


def test_random_first_centers_are_different_rows_by_weight():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0]])
    cloud, rng = Cloud(X, np.array([1.0, 1, 1, 1, 4]), L1, 1), np.random.RandomState(0)
    drawn = np.array([_seeding._at_random(cloud, 2, rng)[:, 0] for _ in range(8000)])
    assert (drawn[:, 0] != drawn[:, 1]).all()
    assert chisquare(np.bincount(drawn[:, 0].astype(int)), 8000 * np.array([3, 1, 4]) / 8).pvalue > 1e-3
    after_two = drawn[drawn[:, 0] == 2, 1]
    assert chisquare(np.bincount(after_two.astype(int)), len(after_two) * np.array([3, 1]) / 4).pvalue > 1e-3


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_random_row_as_center_costs_at_most_twice_the_best(objective):
    for seed in seeds(80):
        X, labels, weights = make_case(seed)
        for rows in (labels == cluster for cluster in range(labels.max() + 1)):
            Z, w = X[rows], None if weights is None else weights[rows]
            one = np.zeros(len(Z), dtype=int)
            best = metrics.partition_cost(Z, one, objective=objective, sample_weight=w)
            each = Cloud(Z, w, CODES[objective], 1).distances(Z.astype(np.float64)).T
            mean = np.average(np.average(each, axis=1, weights=w), weights=w)
            assert mean * (len(Z) if w is None else w.sum()) <= 2 * best * (1 + 1e-9)


# ------------------------------------------------------------------------------------------------------ quality


def test_six_points_hold_a_local_optimum():
    # S. Ghoshdastidar's lecture slides, "Sub-optimality of Lloyd's algorithm", with pairs at 0, 1 and 2
    e = 0.1
    X = np.array([[x, y] for x in (0.0, 1.0, 2.0) for y in (e, -e)])
    start = np.array([[0.0, e], [0.0, -e], [1.5, 0.0]])
    means = KMeans(3, init=start, n_init=1, algorithm="lloyd", tol=0).fit(X)
    assert means.inertia_ == pytest.approx(1 + 4 * e**2)
    assert KMeans(3, n_init=20, random_state=0).fit(X).inertia_ == pytest.approx(6 * e**2)
    local = {"l1": 4 * (0.5 + e), "l2": 4 * math.hypot(0.5, e)}
    for objective in OBJECTIVES:
        stuck = KMedians(3, objective=objective, init=start, tol=0).fit(X)
        np.testing.assert_allclose(stuck.cluster_centers_, start, atol=1e-12)
        assert stuck.inertia_ == pytest.approx(local[objective])
        assert KMedians(3, objective=objective, random_state=0).fit(X).inertia_ == pytest.approx(6 * e)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_starts_find_the_optimum_of_small_tables(objective):
    found, tries = 0, seeds(20 if objective == "l1" else 10)
    for seed in tries:
        rng = np.random.default_rng(seed)
        n, k = 6, 2 + seed % 2
        X = rng.normal(size=(n, 2)) if seed % 4 < 2 else rng.integers(0, 6, size=(n, 2)).astype(float)
        if len(np.unique(X, axis=0)) < k:
            continue

        def cost_of(rows, X=X):
            Z = X[list(rows)]
            if objective == "l1":
                return float(np.abs(Z - np.median(Z, axis=0)).sum())
            return metrics.partition_cost(Z, np.zeros(len(Z), dtype=int), objective="l2")

        lowest = naive.lowest_cost(n, k, cost_of)
        cost = KMedians(k, objective=objective, random_state=seed, tol=0).fit(X).inertia_
        assert cost >= lowest * (1 - 1e-9)
        found += cost <= lowest * (1 + 1e-8)
    assert found >= 0.9 * len(tries)


def test_well_separated_blobs_are_found():
    X, y = make_blobs(600, 3, centers=6, cluster_std=0.3, random_state=1)
    for objective in OBJECTIVES:
        for init in ("k-medians++", "random"):
            model = KMedians(6, objective=objective, init=init, n_init=20, random_state=0).fit(X)
            assert len({(a, b) for a, b in zip(y.tolist(), model.labels_.tolist(), strict=True)}) == 6


def test_medians_stay_where_means_follow_outliers():
    X = np.concatenate([np.random.default_rng(0).normal(size=(200, 2)), [[1e6, 1e6]]])
    for objective in OBJECTIVES:
        center = KMedians(1, objective=objective).fit(X).cluster_centers_[0]
        assert np.abs(center).max() < 0.2
    assert X.mean(axis=0).min() > 1000


def test_cost_of_a_row_settles_as_samples_grow():
    # D. Pollard, "Strong consistency of k-means clustering", Annals of Statistics 9 (1981), for medians
    def sample(n, seed):
        rng = np.random.default_rng(seed)
        return rng.normal(size=(n, 2)) + 3 * rng.integers(0, 2, size=(n, 2))

    for objective in OBJECTIVES:
        spread = [
            np.std(
                [
                    KMedians(4, objective=objective, n_init=3, random_state=0).fit(sample(n, s)).inertia_ / n
                    for s in range(6)
                ]
            )
            for n in (100, 6400)
        ]
        assert spread[1] < spread[0] / 3  # an eighth is expected
        model = KMedians(4, objective=objective, random_state=0).fit(sample(6400, 0))
        fresh = -model.score(sample(50_000, 99)) / 50_000
        assert fresh == pytest.approx(model.inertia_ / 6400, rel=0.02)


# -------------------------------------------------------------------------------------- weights, order, threads


def test_whole_weights_are_repeated_rows_in_any_order():
    for seed in seeds(150):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 8, size=(25, 2)).astype(float)  # whole numbers are summed without rounding
        weights = rng.integers(0, 4, size=25)
        repeated = rng.permutation(np.repeat(X, weights, axis=0))
        weighted = KMedians(3, n_init=2, random_state=seed).fit(X, sample_weight=weights)
        other = KMedians(3, n_init=2, random_state=seed).fit(repeated)
        np.testing.assert_array_equal(weighted.cluster_centers_, other.cluster_centers_)
        assert weighted.inertia_ == other.inertia_
        assert (weighted.labels_ == weighted.predict(X)).all()


@pytest.mark.parametrize("init", ["k-medians++", "random"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_of_random_tables(objective, init):
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        X, weights = rng.normal(size=(30, 2)), rng.integers(0, 4, size=30)
        model = KMedians(4, objective=objective, init=init, n_init=2, random_state=seed)
        weighted = clone(model).fit(X, sample_weight=weights)
        repeated = clone(model).fit(np.repeat(X, weights, axis=0))
        np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-6)
        assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_threads_change_nothing(objective):
    X = np.random.default_rng(0).normal(size=(_threads.BLOCK_ROWS * 2 + 17, 2))
    weights = np.random.default_rng(1).random(len(X))
    models = [
        KMedians(3, objective=objective, n_init=1, max_iter=3, random_state=0, n_jobs=n_jobs).fit(
            X, sample_weight=weights
        )
        for n_jobs in (None, 2, 3)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)
        np.testing.assert_array_equal(model.labels_, models[0].labels_)
        assert model.inertia_ == models[0].inertia_


def test_same_seed_same_result():
    X = np.random.default_rng(0).normal(size=(300, 3))
    one, two, other = (KMedians(6, n_init=1, random_state=seed).fit(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert (one.cluster_centers_ != other.cluster_centers_).any()
    assert (pickle.loads(pickle.dumps(one)).predict(X) == one.labels_).all()


def test_number_of_starts(monkeypatch):
    def starts(X, **parameters):
        seen = []
        monkeypatch.setattr(_k_medians, "alternate", lambda *args, **kw: seen.append(1) or alternate(*args, **kw))
        KMedians(2, max_iter=1, random_state=0, **parameters).fit(X)
        return len(seen)

    alternate = _k_medians.alternate
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert starts(X) == _k_medians.MANY_STARTS
    assert starts(X, n_init=4) == 4
    assert starts(X, init=X[:2], n_init=4) == 1
    monkeypatch.setattr(_k_medians, "LARGE", 39)
    assert starts(X) == _k_medians.FEW_STARTS


# ---------------------------------------------------------------------------------------------- tables and users


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_explained(objective):
    X = load_iris().data
    model = KMedians(3, objective=objective, random_state=0).fit(X)
    reference = Reference.from_estimator(model, X)
    np.testing.assert_array_equal(reference.centers, model.cluster_centers_)
    np.testing.assert_array_equal(reference.labels, model.labels_)
    tree = IMM(KMedians(3, objective=objective, random_state=0)).fit(X)
    np.testing.assert_array_equal(tree.cluster_centers_, model.cluster_centers_)
    assert tree.n_leaves_ == 3
    explanation = explain(X, model)
    assert (explanation.tree.predict(X) == model.labels_).mean() > 0.9


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames(frame):
    X = load_iris().data
    table = frame({f"c{j}": X[:, j] for j in range(4)})
    model = KMedians(3, random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3"]
    assert model.get_feature_names_out().tolist() == ["kmedians0", "kmedians1", "kmedians2"]
    np.testing.assert_array_equal(model.predict(table), KMedians(3, random_state=0).fit(X).labels_)


@pytest.mark.full  # loops are compiled for float32
def test_float32_is_not_copied():
    X = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)
    model = KMedians(3, random_state=0)
    assert model._rows(X, reset=True) is X
    single, double = (KMedians(3, random_state=0).fit(Z) for Z in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(single.cluster_centers_, double.cluster_centers_)
    assert single.inertia_ == double.inertia_


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_edges(objective):
    one_row = KMedians(1, objective=objective).fit([[3.0, 4.0]])
    assert one_row.cluster_centers_.tolist() == [[3.0, 4.0]]
    assert one_row.inertia_ == 0
    each = KMedians(3, objective=objective, random_state=0).fit([[1.0], [2.0], [9.0], [9.0]])
    assert each.inertia_ == 0
    assert sorted(each.cluster_centers_.ravel()) == [1, 2, 9]
    for unit in (1e-12, 1e12):
        X = unit * np.array([[0.0, 7.0], [1.0, 7.0], [8.0, 7.0], [9.0, 7.0]])
        model = KMedians(2, objective=objective, random_state=0).fit(X)
        assert model.inertia_ == pytest.approx(2 * unit)
        assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    far = 1e12 + np.array([[0.0], [1.0], [8.0], [9.0]])
    assert KMedians(2, objective=objective, random_state=0).fit(far).inertia_ == 2


def test_rows_of_weight_zero_are_left_out_but_labelled():
    X = [[0.0], [1.0], [100.0], [8.0], [9.0]]
    model = KMedians(2, random_state=0).fit(X, sample_weight=[1, 1, 0, 1, 1])
    assert sorted(model.cluster_centers_.ravel()) == [0.5, 8.5]
    assert model.labels_[2] == model.labels_[4]


def check_fewer(model, X, weights=None):
    """Check clusters of a table with fewer different rows than clusters asked for: each different row is one."""
    with pytest.warns(
        ConvergenceWarning, match=f"of the {model.n_clusters} clusters asked for were found, as the table"
    ):
        model.fit(X, sample_weight=weights)
    different = np.unique(X if weights is None else np.asarray(X)[np.asarray(weights) > 0], axis=0)
    np.testing.assert_array_equal(np.unique(model.cluster_centers_, axis=0), different)
    assert len(model.cluster_centers_) == len(different)
    assert model.labels_.tolist() == model.predict(X).tolist()
    assert model.inertia_ == 0
    assert model.transform(X).shape == (len(X), len(different)) == (len(X), len(model.get_feature_names_out()))


@pytest.mark.parametrize("init", ["k-medians++", "random", [[0.0], [1.0], [2.0]]], ids=str)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_fewer_different_rows_than_clusters_give_fewer_clusters(init, objective):
    for X, weights in (
        ([[1.0], [1.0], [2.0], [2.0]], None),
        ([[5.0], [5.0], [5.0]], None),
        ([[0.1], [0.1], [0.3]], [3, 1, 2]),
        ([[1.0], [2.0], [3.0]], [1, 1, 0]),
    ):
        check_fewer(KMedians(3, objective=objective, init=init, random_state=0), X, weights)
    with pytest.raises(DataError, match="3 clusters asked for, but the table has only 2 rows; ask for fewer clusters"):
        KMedians(3, objective=objective, init=init, random_state=0).fit([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"objective": "sqeuclidean"}, "objective"),
        ({"init": "k-means++"}, "init"),
        ({"n_init": 0}, "n_init"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"init": [[1.0, 2.0], [3.0, 4.0]]}, r"2 clusters and the 1 columns of X; got shape \(2, 2\)"),
        ({"init": [[1.0]]}, r"got shape \(1, 1\)"),
        ({"init": [[1.0], [np.nan]]}, "missing values"),
    ],
    ids=str,
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        KMedians(**{"n_clusters": 2, **parameters}).fit([[1.0], [2.0], [3.0]])


def test_wrong_data():
    for X, weights, message in (
        ([[1.0], [np.nan]], None, "missing values"),
        ([[1.0], [np.inf]], None, "infinite values"),
        ([[1.0], [2.0]], [1, -1], "not negative"),
        ([[1.0], [2.0]], [1], "one weight for each"),
        ([[1e308 * x] for x in (-1.7, -1, -0.3, 0.3, 1, 1.7)], None, "beyond the largest float"),
        ([[1e100 * x] for x in (0, 1, 2, 9)], [1e300] * 4, "beyond the largest float"),
    ):
        with pytest.raises(DataError, match=message):
            KMedians(2, random_state=0).fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="2 features"):
        KMedians(1).fit([[1.0]]).predict([[1.0, 2.0]])
