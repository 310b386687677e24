"""Odd rows: those far from the mean of their cluster, against a loop over rows, and as tables show them."""

import statistics

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from boxwood import explain, load
from boxwood.errors import DataError
from tests.scale import law


def by_loops(X, labels):
    """Return the odd rows, the farthest first, with no array arithmetic."""
    X, groups = [list(map(float, row)) for row in X], range(max(labels) + 1)
    own = [[x for x, g in zip(X, labels, strict=True) if g == c] for c in groups]
    means = [[statistics.fmean(x[j] for x in rows) for j in range(len(X[0]))] for rows in own]
    distances = [sum((x[j] - means[g][j]) ** 2 for j in range(len(x))) ** 0.5 for x, g in zip(X, labels, strict=True)]
    of = [statistics.median(d for d, g in zip(distances, labels, strict=True) if g == c) for c in groups]
    times = [d / (of[g] or statistics.median(distances) or 1) for d, g in zip(distances, labels, strict=True)]
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return sorted((i for i, t in enumerate(times) if t > max(high + 3 * (high - low), 2)), key=lambda i: -times[i])


@law(40)
def test_odd_rows_are_those_of_a_loop(seed):
    random = np.random.default_rng(seed)
    n, k = int(random.integers(20, 200)), int(random.integers(2, 5))
    labels = np.append(np.arange(k), random.integers(0, k, n - k))
    X = random.normal(size=(n, 3)) + 6 * random.normal(size=(k, 3))[labels]
    X[random.choice(n, 2)] *= random.choice([1, 20, 1000])
    ex = explain(X, labels, max_leaf_nodes=k)
    assert [one.row for one in ex.outliers()] == by_loops(X, labels)
    for one in ex.outliers():
        column = ex.columns.index(one.column)
        away = np.abs(X[one.row] - X[labels == one.cluster].mean(axis=0))
        assert (column, one.value, one.cluster) == (away.argmax(), X[one.row, column], labels[one.row])


@law(12)
def test_far_rows_make_no_cluster_but_are_listed(seed):
    random = np.random.default_rng(seed)
    n, group = 600, random.integers(0, 3, 600)
    table = pd.DataFrame(random.normal(size=(n, 3)) + 7 * np.eye(3)[group], columns=list("abc"))
    far = random.choice(n, 3, replace=False)
    table.loc[far, "b"] = random.choice([-1, 1], 3) * random.uniform(200, 2000, 3)
    if seed % 2:
        table["word"] = np.array(list("xyz"))[group]
        table.loc[int((far[0] + 1) % n), "a"] = np.nan
    ex = explain(table, n_clusters=3, random_state=seed)
    assert min(one.size for one in ex.clusters) > n / 6
    odd = ex.outliers()
    assert {*far.tolist()} == {one.row for one in odd[:3]}
    assert {one.column for one in odd[:3]} == {"b"}
    assert ex.to_frame("outliers")["value"].tolist()[:3] == [table["b"][one.row] for one in odd[:3]]


@law(8)
def test_hardly_a_row_of_normal_clouds_is_odd(seed):
    X = np.random.default_rng(seed).normal(size=(2000, 2 + seed % 5))
    assert len(explain(X, n_clusters=3, random_state=0).outliers()) <= 10


def test_values_that_are_words_dates_and_missing_are_shown_as_such(tmp_path):
    days = pd.date_range("2024-01-01", periods=60).to_series(index=range(60))
    days[59] = pd.Timestamp("2060-05-01")
    ex = explain(pd.DataFrame({"day": days, "n": np.tile([1.0, 2.0], 30)}), [0] * 2 + [1] * 58)
    [one] = ex.outliers()
    assert (one.row, one.column, one.value) == (59, "day", "2060-05-01")
    ex.save(tmp_path / "model.json")
    with pytest.raises(DataError, match="holds no rows"):
        load(tmp_path / "model.json").outliers()


def test_no_row_is_odd_where_rows_of_a_cluster_are_alike():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0]], 20, axis=0)
    assert explain(StandardScaler().fit_transform(X), [0] * 20 + [1] * 20).outliers() == ()
