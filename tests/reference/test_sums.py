"""Means of clusters: right, and the same in any order of the rows."""

from fractions import Fraction

import numpy as np
import pytest

from boxwood import Reference
from boxwood._threads import BLOCK_ROWS
from boxwood.batches.sums import means_of
from boxwood.reference import Moments
from tests.naive.sums import mean_of_rows, variance_of_rows
from tests.scale import law

KINDS = ("normal", "far", "whole", "wide", "tiny", "huge")


def table(rng: np.random.Generator, kind: str) -> np.ndarray:
    shape = rng.integers(1, 50), rng.integers(1, 4)
    if kind == "whole":
        return rng.integers(-3, 4, size=shape).astype(float)
    if kind == "huge":
        return np.full(shape, 1.7e308) * rng.choice([1, -1], size=shape)
    X = rng.normal(size=shape)
    if kind == "far":
        return X + 10.0 ** rng.integers(3, 13)
    if kind == "wide":
        return X * 10.0 ** rng.integers(-200, 200, size=shape[1])
    return X * 1e-300 if kind == "tiny" else X


def by_cluster_and_column(of_rows, X, labels, weights):
    """Yield the number of each of three clusters, of each column, and what a twin makes of their values and weights."""
    for c in range(3):
        rows = labels == c
        for j in range(X.shape[1]):
            yield c, j, of_rows(X[rows, j], None if weights is None else weights[rows])


@pytest.mark.parametrize("kind", KINDS)
@law(6)
def test_means_are_those_of_exact_fractions(kind, seed):
    rng = np.random.default_rng(seed)
    X = table(rng, kind)
    labels = rng.integers(-1, 3, size=len(X))
    weights = rng.random(len(X)) if seed % 2 else None
    mean, rest = means_of(X, labels, 3, weights)
    for c, j, exact in by_cluster_and_column(mean_of_rows, X, labels, weights):
        if exact is None:
            assert np.isnan(mean[c, j])
        else:
            error = abs(Fraction(mean[c, j]) + Fraction(rest[c, j]) - exact)
            assert error <= Fraction(2.0**-70) * Fraction(np.abs(X[:, j]).max())


def in_two_orders(kind, seed, widest):
    """Return rows, labels and weights, of very different powers of ten, and the same in another order."""
    rng = np.random.default_rng(seed)
    X = table(rng, kind)
    labels = rng.integers(-1, 3, size=len(X))
    weights = rng.random(len(X)) * 10.0 ** rng.integers(-widest, widest, size=len(X)) if seed % 2 else None
    order = rng.permutation(len(X))
    return (X, labels, weights), (X[order], labels[order], None if weights is None else weights[order])


@pytest.mark.parametrize("kind", KINDS)
@law(6)
def test_means_do_not_depend_on_the_order_of_rows(kind, seed):
    there, back = (means_of(X, labels, 3, weights) for X, labels, weights in in_two_orders(kind, seed, 200))
    for one, other in zip(there, back, strict=True):
        np.testing.assert_array_equal(one, other)


def test_means_do_not_depend_on_blocks_threads_and_layout():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BLOCK_ROWS + 100, 2)) + 1e6
    labels = rng.integers(0, 5, size=len(X))
    expected = means_of(X, labels, 5, None, n_jobs=1)
    order = rng.permutation(len(X))
    for other in (
        means_of(X, labels, 5, None, n_jobs=3),
        means_of(np.asfortranarray(X[order]), labels[order], 5, None),
    ):
        np.testing.assert_array_equal(expected, other)


@law(20)
def test_clusters_of_equal_rows_have_equal_centres(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(2, 30), 2)) * 10.0 ** rng.integers(-3, 9)
    X = np.concatenate([rows, rng.permutation(rows)])
    first, second = Reference.of(X, np.repeat([0, 1], len(rows))).centers
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("kind", KINDS)
@law(12)
def test_variances_are_those_of_exact_fractions(kind, seed):
    rng = np.random.default_rng(seed)
    X = table(rng, kind)
    labels = rng.integers(-1, 3, size=len(X))
    weights = [None, rng.random(len(X)), 2.0 ** rng.integers(-100, 100, size=len(X))][seed % 3]
    moments = Moments.of(X, labels, 3, sample_weight=weights)
    for c, j, exact in by_cluster_and_column(variance_of_rows, X, labels, weights):
        if exact is None:
            assert moments.weights[c] == 0
        elif exact >= Fraction(2) ** 1000:
            assert moments.squares[c, j] == np.inf
        else:
            error = abs(Fraction(moments.variances[c, j]) - exact)
            assert error <= Fraction(2.0**-49) * exact + Fraction(2) ** -1070


@pytest.mark.parametrize("kind", KINDS)
@law(6)
def test_variances_do_not_depend_on_the_order_of_rows(kind, seed):
    tables = in_two_orders(kind, seed, 100)
    there, back = (Moments.of(X, labels, 3, sample_weight=weights) for X, labels, weights in tables)
    assert_same(there, back)


def assert_same(one, other):
    for name in ("weights", "origins", "offsets", "squares"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@law(20)
def test_what_is_left_out_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    X, labels, weights = rng.normal(size=(30, 2)), rng.integers(0, 3, size=30), rng.random(30)
    wide = np.concatenate([X, 1e300 * rng.normal(size=(2, 2))])
    expected = Moments.of(X, labels, 3, sample_weight=weights)
    found = Moments.of(wide, [*labels, -1, 0], 3, sample_weight=[*weights, 1e200, 0.0])
    assert_same(found, expected)


def test_a_light_row_far_away_hides_nothing():
    X = np.array([[1e100], [1.0], [2.0], [4.0]])
    moments = Moments.of(X, [0, 0, 0, 0], 1, sample_weight=[1e-205, 1.0, 1.0, 1.0])
    exact = variance_of_rows(X[:, 0], np.array([1e-205, 1.0, 1.0, 1.0]))
    assert moments.variances[0, 0] == pytest.approx(float(exact), rel=1e-14)


def test_zero_has_no_sign():
    assert np.signbit(Moments.of([[-0.0], [-0.0]], [0, 0], 1).means[0, 0]) == np.False_
