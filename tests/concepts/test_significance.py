"""p-values: equal to their twins, and right for concepts without meaning."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from boxwood.concepts import _learning as significance
from tests import naive
from tests.scale import seeds


def test_scores_without_the_row_itself_are_those_of_refits():
    for seed in seeds(1000):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(3, 16)), int(rng.integers(1, 6))
        Z, y = rng.normal(size=(n, d)), rng.random(n) if seed % 2 else (np.arange(n) < 2).astype(float)
        if seed % 5 == 0:
            Z[:, 0] = 3.0
        predicted = significance.predict_left_out(*significance.left_out_factors(Z), y[:, None])[:, 0]
        assert predicted == pytest.approx(naive.left_out_ridge(Z, y), abs=1e-7), seed


def test_adjusted_p_values_are_those_of_the_twin():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        p = rng.random(int(rng.integers(1, 8))).round(2)
        assert significance.holm(p) == pytest.approx(naive.holm(p))


@pytest.mark.parametrize("kind", ["binary", "continuous"])
def test_meaningless_concepts_seldom_pass(kind):
    rng, random = np.random.default_rng(3), np.random.RandomState(3)
    Z = rng.normal(size=(80, 10))
    values = (rng.random((300, 80)) < 0.4).astype(float) if kind == "binary" else rng.normal(size=(300, 80))
    p = np.array([significance.permutation_p_value(Z, v, kind, n_permutations=199, random=random) for v in values])
    low, high = binom.ppf([0.001, 0.999], len(p), 0.05)
    assert low <= (p <= 0.05).sum() <= high
    assert 0.4 < p.mean() < 0.6


def test_the_measure_is_the_area_under_the_curve():
    rng = np.random.default_rng(4)
    values = (rng.random(30) < 0.5).astype(float)
    predicted = rng.integers(0, 5, size=(30, 3)).astype(float)
    areas = significance._measure(predicted, np.column_stack([values] * 3), "binary")
    assert areas == pytest.approx([roc_auc_score(values, column) for column in predicted.T])


def test_only_some_rows_of_many_are_tested(monkeypatch):
    monkeypatch.setattr(significance, "MOST_ROWS", 50)
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(400, 3))
    options = {"n_permutations": 99, "random": np.random.RandomState(0)}
    assert significance.permutation_p_value(Z, (Z[:, 0] > 0).astype(float), "binary", **options) == 0.01
    assert significance.permutation_p_value(Z, (np.arange(400) < 1).astype(float), "binary", **options) >= 0.01


def test_all_of_the_rarer_side_are_tested(monkeypatch):
    monkeypatch.setattr(significance, "MOST_ROWS", 200)
    rng = np.random.default_rng(6)
    rare = (np.arange(20_000) < 20).astype(float)
    for values in (rare, 1 - rare):
        rows = significance._some_rows(values, "binary", np.random.RandomState(0))
        assert len(rows) == len(set(rows.tolist())) == 200
        assert set(range(20)) <= set(rows.tolist())
        p = [
            significance.permutation_p_value(
                rng.normal(size=(20_000, 2)) + 1.5 * rare[:, None], values, "binary",
                n_permutations=99, random=np.random.RandomState(seed),
            )
            for seed in range(5)
        ]  # fmt: skip
        assert p == [0.01] * 5
    random = np.random.RandomState(1)
    null = [
        significance.permutation_p_value(
            rng.normal(size=(3000, 2)), rare[:3000], "binary", n_permutations=99, random=random
        )
        for _ in range(200)
    ]
    assert np.mean(np.array(null) <= 0.05) < 0.12
    assert 0.4 < np.mean(null) < 0.6
