"""K-means of numbers and categories with gaps, against one-hot columns, and on data frames as users have them."""

import pickle
import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from boxwood import DataError, MixedKMeans, _threads, explain
from boxwood.clusterers import _mixed_k_means, of_entry
from boxwood.clusterers._k_medians import Clustering, alternate
from boxwood.clusterers._mixed_k_means import CodedTable
from boxwood.clusterers.of_entry import OfEntry
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.metrics.mixed_costs import mixed_cost, mixed_scales
from boxwood.reference.clusterer import FEW_STARTS, MANY_STARTS
from boxwood.reference.entry import Entry
from tests.naive.mixed import k_pod, one_hot
from tests.scale import law, seeds, share, variants


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:.*clusters asked for were found")  # the tables of some checks have few rows
@parametrize_with_checks(variants(MixedKMeans(), MixedKMeans(2, standardize=True)))
def test_scikit_learn(estimator, check):
    check(estimator)


def random_table(seed, n=40, d=4, gaps=(0, 0.1, 0.4)):
    """Return a table whose first column has a number in each row, its columns of codes, and weights."""
    rng = np.random.default_rng(seed)
    categorical = [j for j in range(1, d) if rng.random() < 0.5]
    table = rng.normal(size=(n, d)) + rng.integers(0, 3, size=n)[:, None]
    table[:, categorical] = rng.integers(0, rng.integers(2, 6), size=(n, len(categorical)))
    table[:, 1:][rng.random((n, d - 1)) < rng.choice(gaps)] = np.nan
    return table, categorical, [None, rng.random(n), rng.integers(0, 3, size=n).astype(float)][seed % 3]


def fitted(table, categorical, weights=None, **parameters):
    parameters = {"n_clusters": 3, "random_state": 0, **parameters}
    return MixedKMeans(categorical_features=categorical, **parameters).fit(table, sample_weight=weights)


def cloud_of(table, categorical):
    mixed = CodedTable.to_fit(MixedKMeans(), table, categorical)
    space = _mixed_k_means._Space.of(mixed, None)
    return _mixed_k_means._MixedCloud(space.placed(mixed.values), None, SQEUCLIDEAN, 1, space)


# ----------------------------------------------------------------------------------------------- the alternation


def test_steps_are_those_on_one_hot_columns():
    compared = 0
    for seed in seeds(300):
        table, categorical, _ = random_table(seed, n=12)
        rows, k = one_hot(table, categorical, np.ones(table.shape[1])), 3
        start = np.random.default_rng(seed).integers(k, size=len(table))
        start[:k] = range(k)
        columns = [[row[j] for row in rows if row[j] is not None] for j in range(len(rows[0]))]
        overall = [sum(column, Fraction(0)) / len(column) for column in columns]
        expected = k_pod(rows, start.tolist(), k, overall)
        if expected is None:  # a cluster became empty: see the rule for refilling
            continue
        cloud = cloud_of(table, categorical)
        centers = cloud.best_centers(Clustering(np.empty((k, 0)), start, 0.0, 0))
        found = alternate(cloud, centers, max_iter=100, tol=0.0)
        assert found.labels.tolist() == expected, seed
        compared += 1
    assert compared > share(200)


def test_distances_are_those_of_one_hot_columns():
    for seed in seeds(100):
        table, categorical, weights = random_table(seed)
        model = fitted(table, categorical, weights, standardize=bool(seed % 2))
        assert model.score(table) == pytest.approx(-sum(_away(model, table, categorical)), rel=1e-10)


def _away(model, table, categorical):
    """Yield the squared distance of each row to its nearest centre, column by column."""
    for row in table:
        away = np.zeros(model.n_clusters)
        for j in np.flatnonzero(~np.isnan(row)).tolist():
            if j in categorical:
                vector = np.array(model.categories_[j]) == row[j]
                gaps = ((vector - model.category_shares_[j]) ** 2).sum(axis=1)
            else:
                gaps = (row[j] - model.cluster_centers_[:, j]) ** 2
            away += model.scales_[j] ** 2 * gaps
        yield away.min()


@law(200)
def test_the_cost_is_that_of_its_labels(seed):
    table, categorical, weights = random_table(seed)
    model = fitted(table, categorical, weights, standardize=bool(seed % 2), n_init=2)
    scales = mixed_scales(table, categorical, weights) if seed % 2 else np.ones(table.shape[1])
    np.testing.assert_array_equal(model.scales_, scales)
    assert model.inertia_ == mixed_cost(table, categorical, model.labels_, weights, scales)
    assert model.inertia_ == pytest.approx(-model.score(table, sample_weight=weights), rel=1e-10)
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    kept = slice(None) if weights is None else weights > 0
    assert set(model.labels_[kept]) == {0, 1, 2}


def test_no_step_raises_the_cost():
    fell = 0
    for seed in seeds(60):
        table, categorical, weights = random_table(seed, n=80)
        costs = [
            fitted(table, categorical, weights, n_clusters=5, n_init=1, max_iter=steps, tol=0).inertia_
            for steps in range(1, 9)
        ]
        assert all(after <= before * (1 + 1e-12) for before, after in pairwise(costs)), seed
        fell += costs[-1] < costs[0]
    assert fell > share(40)


def test_a_start_ends_where_little_is_gained():
    table, categorical, _ = random_table(7, n=3000)
    exact, early = (fitted(table, categorical, n_clusters=10, n_init=1, tol=tol) for tol in (0, 0.5))
    assert early.n_iter_ < exact.n_iter_ < 300
    assert exact.inertia_ < early.inertia_ < 1.1 * exact.inertia_


@law(60)
def test_centers_are_means_and_shares(seed):
    table, categorical, weights = random_table(seed)
    model = fitted(table, categorical, weights, tol=0)
    assert model.n_iter_ < model.max_iter
    weight = np.ones(len(table)) if weights is None else weights
    for c in range(3):
        for j in range(table.shape[1]):
            rows = (model.labels_ == c) & ~np.isnan(table[:, j]) & (weight > 0)
            if j in categorical:
                assert np.isnan(model.cluster_centers_[c, j])
                values = np.array(model.categories_[j])
                shares = weight[rows] @ (table[rows, j, None] == values) / weight[rows].sum() if rows.any() else None
                if shares is not None:
                    np.testing.assert_allclose(model.category_shares_[j][c], shares, atol=1e-12)
            elif rows.any():
                mean = np.average(table[rows, j], weights=weight[rows])
                assert model.cluster_centers_[c, j] == pytest.approx(mean, rel=1e-12, abs=1e-12)
    assert all(np.allclose(shares.sum(axis=1), 1) for shares in model.category_shares_.values())


def test_an_empty_cluster_moves_to_the_farthest_row():
    table = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [9.0, 1.0], [9.0, np.nan]])
    cloud = cloud_of(table, [1])
    centers = cloud.rows(np.array([0, 0, 2]))
    after = alternate(cloud, centers, max_iter=0, tol=0.0)
    assert after.labels.tolist() == [0, 0, 2, 1, 1]
    np.testing.assert_array_equal(after.centers[1], cloud.rows(np.array([3]))[0])  # of equally far rows, the first


def test_what_no_row_of_a_cluster_has_is_that_of_all_rows():
    table = np.array([[0.0, np.nan, np.nan], [0.1, np.nan, np.nan], [9.0, 2.0, 0.0], [9.1, 6.0, 1.0]])
    model = fitted(table, [2], n_clusters=2)
    low = model.labels_[0]
    assert model.cluster_centers_[low, :2] == pytest.approx([0.05, 4.0])
    assert model.category_shares_[2].tolist() == [[0.5, 0.5]] * 2
    assert model.inertia_ == pytest.approx(0.005 * 2 + 8 + 1)


# ------------------------------------------------------------------------------------------------------ quality


def test_without_gaps_and_categories_it_is_k_means():
    ratios = []
    for seed in seeds(30):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(100, 1500)), int(rng.integers(2, 8)), int(rng.integers(2, 10))
        blobs, _ = make_blobs(n, d, centers=k, cluster_std=2.0, random_state=seed)
        X = [rng.normal(size=(n, d)), blobs, rng.random((n, d)), np.exp(rng.normal(size=(n, d)))][seed % 4]
        ours = MixedKMeans(k, random_state=seed, tol=0).fit(X).inertia_
        ratios.append(ours / KMeans(k, n_init=10, random_state=seed).fit(X).inertia_)
    assert max(ratios) < 1.01
    assert np.mean(ratios) < 1.001


def test_gaps_do_not_hide_clusters():
    X, y = make_blobs(600, 4, centers=5, cluster_std=0.3, random_state=1)
    table = np.column_stack([X, y % 3, y // 2]).astype(float)
    rng = np.random.default_rng(0)
    table[rng.random(table.shape) < 0.3] = np.nan
    table[:, 0] = X[:, 0]
    model = fitted(table, [4, 5], n_clusters=5)
    groups = pd.crosstab(y, model.labels_).max(axis=1).sum()
    assert groups > 0.97 * len(y)


def test_explained():
    table, categorical, _ = random_table(0, n=200, gaps=(0,))
    assert categorical
    for columns in ([], categorical):
        model = fitted(table, columns)
        explanation = explain(table, model)
        assert explanation.n_rows == 200
        assert (explanation.tree.predict(table) == model.labels_).mean() > 0.8


# -------------------------------------------------------------------------------------- weights, order, threads


@law(100)
def test_whole_weights_are_repeated_rows_in_any_order(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 8, size=(30, 3)).astype(float)
    table[:, 1:][rng.random((30, 2)) < 0.1] = np.nan
    table[0] = 8.0  # of weight 1, so that both tables have the same middle and values
    weights = rng.integers(0, 4, size=30)
    weights[0] = 1
    weighted = fitted(table[weights > 0], [2], weights[weights > 0].astype(float), n_init=2, random_state=seed)
    other = fitted(rng.permutation(np.repeat(table, weights, axis=0)), [2], n_init=2, random_state=seed)
    assert weighted.inertia_ == pytest.approx(other.inertia_, rel=1e-12)
    np.testing.assert_allclose(weighted.cluster_centers_, other.cluster_centers_, rtol=1e-12)
    np.testing.assert_array_equal(weighted.predict(table), other.predict(table))


def test_threads_change_nothing():
    table, categorical, _ = random_table(3, n=_threads.BLOCK_ROWS + 5000)
    weights = np.random.default_rng(1).random(len(table))
    models = [fitted(table, categorical, weights, n_init=1, max_iter=4, n_jobs=n_jobs) for n_jobs in (None, 3)]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_array_equal(models[0]._centers, models[1]._centers)
    assert models[0].inertia_ == models[1].inertia_


def test_same_seed_same_result():
    table, categorical, weights = random_table(4, n=200)
    one, two, other = (fitted(table, categorical, weights, n_init=1, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert (one.cluster_centers_[:, 0] != other.cluster_centers_[:, 0]).any()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(table), one.labels_)


# ---------------------------------------------------------------------------------------------- tables and users


COUNTRIES = ["AT", "AT", "CH", None, "US", "US", None, "US"]
ORDERS = [1.0, 2.0, None, 1.5, 8.0, None, None, 9.0]
MEMBERS = [True, True, False, True, False, None, None, False]


def frames():
    columns = {"country": COUNTRIES, "orders": ORDERS, "member": MEMBERS}
    return {
        "pandas": pd.DataFrame(columns),
        "categorical": pd.DataFrame(columns).astype({"country": "category", "member": "boolean"}),
        "nullable": pd.DataFrame(columns).convert_dtypes(),
        "ordered": pd.DataFrame(
            columns | {"country": pd.Categorical(COUNTRIES, categories=["US", "CH", "AT"], ordered=True)}
        ),
        "polars": pl.DataFrame(columns),
        "enum": pl.DataFrame(columns, schema_overrides={"country": pl.Enum(["US", "CH", "AT", "DE"])}),
        "polars categorical": pl.DataFrame(columns, schema_overrides={"country": pl.Categorical}),
        "arrow": pa.table(columns),
    }


@pytest.mark.parametrize("kind", frames())
def test_frames(kind):
    frame = frames()[kind]
    model = MixedKMeans(2, random_state=0).fit(frame)
    codes = [np.nan if country is None else ["AT", "CH", "US"].index(country) for country in COUNTRIES]
    numbers = [[np.nan if x is None else float(x) for x in column] for column in (ORDERS, MEMBERS)]
    table = np.column_stack([codes, *numbers])
    expected = fitted(table, [0], n_clusters=2)
    assert model.labels_.tolist() == expected.labels_.tolist()
    assert model.labels_[6] == -1
    assert model.inertia_ == expected.inertia_
    assert model.categories_ == {"country": ("AT", "CH", "US")}
    np.testing.assert_array_equal(model.category_shares_["country"], expected.category_shares_[0])
    assert model.predict(frame).tolist() == model.labels_.tolist()
    assert model.feature_names_in_.tolist() == ["country", "orders", "member"]


def test_other_tables_of_the_same_columns():
    model = MixedKMeans(2, random_state=0).fit(frames()["pandas"])
    others = {
        "country": ["AT", "DE", "DE", None],
        "orders": [None, 9.0, None, None],
        "member": [None, None, None, True],
    }
    labels = model.predict(pd.DataFrame(others))
    assert labels.tolist() == [model.labels_[0], model.labels_[4], -1, model.labels_[0]]
    empty = {"country": [None, None], "orders": [1.0, 9.0], "member": [None, None]}
    assert model.predict(pd.DataFrame(empty)).tolist() == [model.labels_[0], model.labels_[4]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an array has no names
        with pytest.raises(DataError, match=r"X must be a data frame, as in fit: columns 0 were text"):
            model.predict(np.ones((2, 3)))
    with pytest.raises(DataError, match="numbers in fit are not now: 'orders'"):
        model.predict(pd.DataFrame(others | {"orders": ["a", "b", "c", "d"]}))


@pytest.mark.parametrize("columns", [["zip", "day"], [0, 1], [True, True, False]], ids=str)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_numbers_and_dates_may_be_categories(frame, columns):
    days = pd.to_datetime(["2026-01-01", "2026-01-01", "2026-03-01", None]).to_series(index=range(4))
    table = frame({"zip": [8001, 8001, 1010, 8001], "day": days, "x": [0.0, 0.1, 5.0, 0.2]})
    model = MixedKMeans(2, categorical_features=columns, random_state=0).fit(table)
    assert model.categories_["zip"] == (1010, 8001)
    assert len(model.categories_["day"]) == 2
    assert np.isnan(model.cluster_centers_[:, :2]).all()
    assert model.labels_.tolist() == model.predict(table).tolist()
    assert len(set(model.labels_[[0, 1, 3]])) == 1


def test_columns_without_values_do_not_count():
    table = np.array([[0.0, np.nan, np.nan], [1.0, np.nan, np.nan], [9.0, np.nan, np.nan]])
    model = fitted(table, [2], n_clusters=2)
    assert np.isnan(model.cluster_centers_[:, 1]).all()
    assert model.category_shares_[2].shape == (2, 0)
    assert model.predict([[np.nan, 5.0, 1.0], [9.0, 5.0, 1.0]]).tolist() == [-1, model.labels_[2]]


def test_any_numbers_are_codes():
    codes = np.array([0.0, 0.0, 1.0, 2.0, np.nan])
    table = np.column_stack([[0.0, 0.5, 1.0, 8.0, 9.0], codes])
    named = np.column_stack([table[:, 0], np.array([-7.5, 1e300, 3.0, np.nan])[[0, 0, 1, 2, 3]]])
    assert fitted(named, [1]).inertia_ == fitted(table, [1]).inertia_
    assert fitted(named, [1]).categories_ == {1: (-7.5, 3.0, 1e300)}


def test_values_of_several_types_are_told_apart():
    frame = pd.DataFrame({"code": ["1", 1, "a", 1, "1", None], "x": [0.0, 5.0, 0.0, 5.0, 0.0, 5.0]})
    model = MixedKMeans(2, random_state=0).fit(frame)
    assert model.categories_["code"] == (1, "1", "a")


def test_rows_of_weight_zero_are_left_out_but_labelled():
    table = np.array([[0.0, 0.0], [1.0, 0.0], [100.0, 1.0], [8.0, 1.0], [9.0, 1.0]])
    model = fitted(table, [1], [1, 1, 0, 1, 1], n_clusters=2)
    assert sorted(model.cluster_centers_[:, 0]) == [0.5, 8.5]
    assert model.labels_[2] == model.labels_[4]


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_far_from_zero_and_small(unit):
    table = unit * np.array([[0.0, 7.0], [1.0, 7.0], [8.0, 7.0], [9.0, np.nan]])
    assert fitted(table, [], n_clusters=2).inertia_ == pytest.approx(unit**2)
    far = 1e12 + 1e-3 * np.array([[0.0], [1.0], [8.0], [9.0]])
    near = far - 1e12
    assert fitted(far, [], n_clusters=2).inertia_ == pytest.approx(fitted(near, [], n_clusters=2).inertia_, rel=1e-12)


def test_fewer_different_rows_than_clusters_give_fewer_clusters():
    for table, weights, found in (
        ([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]], None, 2),
        ([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], [1, 1, 0], 2),
        ([[1.0, np.nan], [1.0, 1.0], [1.0, 1.0]], None, 1),
    ):
        with pytest.warns(
            ConvergenceWarning, match=f"^{found} of the 3 clusters asked for were found, as the table has"
        ):
            model = fitted(np.array(table), [1], weights)
        assert len(model.cluster_centers_) == len(np.unique(model.labels_)) == found
        assert model.inertia_ == 0
        assert model.labels_.tolist() == model.predict(np.array(table)).tolist()
    gaps = pd.DataFrame({"number": [1.0, None] * 6, "word": ["b"] * 6 + ["a"] * 6})
    with pytest.raises(DataError, match="3 clusters asked for, but 2 hold all rows at no cost"):
        explain(gaps, n_clusters=3)
    with pytest.raises(DataError, match="3 clusters asked for, but the table has only 2 rows"):
        fitted(np.eye(2), [1])


def test_a_start_that_finds_fewer_centers_is_left_out():
    table = np.array([[1.0, np.nan], [1.0, 2.0], [1.0, 3.0]])  # a start from the second row finds the third alone
    models = [fitted(table, [], n_clusters=3, random_state=seed) for seed in range(20)]
    assert {model.inertia_ for model in models} == {0.0}
    assert {len(model.cluster_centers_) for model in models} == {3}
    with pytest.warns(ConvergenceWarning):
        models = [fitted(table, [], n_clusters=3, n_init=1, random_state=seed) for seed in range(20)]
    assert {len(model.cluster_centers_) for model in models} == {2, 3}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_init": 0}, "n_init"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"standardize": 2.5}, "standardize"),
        ({"categorical_features": [2]}, "whole numbers from 0 to 1"),
        ({"categorical_features": [0.5]}, "whole numbers from 0 to 1"),
        ({"categorical_features": [True]}, "whole numbers from 0 to 1"),
        ({"categorical_features": ["a"]}, "not a data frame; give positions"),
        ({"categorical_features": "a"}, "categorical_features"),
    ],
    ids=str,
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MixedKMeans(**{"n_clusters": 2, **parameters}).fit([[1.0, 0.0], [2.0, 1.0], [3.0, 1.0]])


def test_wrong_data():
    for X, weights, message in (
        ([[1.0], [np.inf]], None, "infinite values in column 0"),
        ([[np.nan], [np.nan]], None, "every row lacks every value"),
        ([[1.0], [np.nan]], [0, 1], "every row lacks every value"),
        ([[1.0], [2.0]], [1, -1], "not negative"),
        ([[1.0], [2.0]], [1], "one weight for each"),
        ([[1e308 * x] for x in (-1.7, -1, -0.3, 0.3, 1, 1.7)], None, "beyond the largest float"),
        (np.ma.masked_array([[1.0], [2.0]], [[0], [1]]), None, "masked"),
        (pd.DataFrame({"a": [[1], [2]]}), None, "'a' holds lists, which are not categories"),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2])}), None, "or of times: a; leave them out"),
        (pd.DataFrame({"a": ["2026-01-01", "2026-01-02"]}), None, "columns of texts like dates.*: a; leave them out"),
    ):
        with pytest.raises(DataError, match=message):
            MixedKMeans(1, random_state=0).fit(X, sample_weight=weights)
    with pytest.raises(DataError, match="did you mean 'aged'"):
        MixedKMeans(1, categorical_features=["age"]).fit(pd.DataFrame({"aged": [1.0]}))
    with pytest.raises(ValueError, match="2 features"):
        MixedKMeans(1).fit([[1.0]]).predict([[1.0, 2.0]])


def test_parameters_survive_cloning():
    model = MixedKMeans(2, categorical_features=["a"], standardize=True)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(("large", "starts"), [(100, MANY_STARTS), (99, FEW_STARTS)])
def test_clusters_of_a_large_table_come_of_few_starts(monkeypatch, large, starts):
    made = []
    monkeypatch.setattr(of_entry, "LARGE", large)
    monkeypatch.setattr(of_entry, "MixedKMeans", lambda k, **how: made.append(how["n_init"]) or MixedKMeans(k, **how))
    found = OfEntry(2, {}, Entry(np.ones(2)), random_state=0).fit(np.random.default_rng(0).normal(size=(50, 2)))
    assert made == [starts]
    assert found.n_found_ == 2
