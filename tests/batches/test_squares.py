"""Squares about means that are known only after the pass, and the passes that this saves."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from boxwood import IMM, Reference, explain
from boxwood.batches.sums import Grid, Ranges, RowSums
from boxwood.batches.tree_sums import LARGEST_ERROR, AboutMeans, empty_squares
from boxwood.errors import DataError
from boxwood.explanation.measure.batch_statistics import BatchStatistics
from boxwood.grow.centers import imm_batches
from boxwood.reference import Task
from tests import naive
from tests.scale import law
from tests.scattered import scattered


def squares_of(X, labels, k, weights, points):
    """Return squares about the means of groups, and which cells hold equal rows only."""
    kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
    labels = np.where(kept, labels, -1)
    least, most = np.full((k, X.shape[1]), np.inf), np.full((k, X.shape[1]), -np.inf)
    for c in np.unique(labels[kept]):
        least[c], most[c] = X[labels == c].min(axis=0), X[labels == c].max(axis=0)
    ranges = Ranges(least, most, Grid.of(kept, weights))
    rows, squares = RowSums(ranges), empty_squares(points, ranges)
    for one in (rows, squares):
        one.update((X, labels, weights))
    return AboutMeans.of(squares, rows.means(), least == most)


def exact_squares(X, labels, c, j, weights):
    """Return the sum of weighted squared differences to the mean, as a fraction."""
    rows = np.flatnonzero(labels == c)
    x = [Fraction(v) for v in X[rows, j].tolist()]
    w = [Fraction(v) for v in (np.ones(len(rows)) if weights is None else weights[rows]).tolist()]
    if not sum(w):
        return Fraction(0)
    mean = sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)
    return sum(a * (b - mean) ** 2 for a, b in zip(w, x, strict=True))


@law(60)
def test_errors_are_below_their_bounds(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(1, 60)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)).round(int(rng.integers(0, 4))) * rng.choice([1.0, 1e-12, 1e12])
    X += rng.choice([0.0, 1e6]) * np.abs(X).max()
    labels = rng.integers(-1, k, size=n)
    weights = [None, rng.integers(0, 3, size=n).astype(float), rng.random(n) ** 8][seed % 3]
    points = X[rng.integers(n, size=k)] + rng.choice([0.0, 1.0, 1e4]) * np.abs(X).max()
    found = squares_of(X, labels, k, weights, points)
    squares = found.sums.squares()
    for c in range(k):
        for j in range(d):
            expected = exact_squares(X, labels, c, j, weights)
            assert abs(Fraction(squares[c, j]) - expected) <= Fraction(found.errors[c, j])
    is_exact = (found.errors <= LARGEST_ERROR * squares).all()
    assert found.is_exact == is_exact


def test_points_far_away_leave_no_digits():
    X, labels = np.random.default_rng(0).normal(size=(50, 2)), np.zeros(50, dtype=np.intp)
    assert squares_of(X, labels, 1, None, X[:1]).is_exact
    assert not squares_of(X, labels, 1, None, X[:1] + 1e6).is_exact


@law(20)
def test_costs_are_the_same_wherever_the_centres_are(seed):
    """With centres far from the means, one more pass is made, about the means."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    labels = rng.integers(-1, 3, size=200)
    task = Reference.of(scattered(X, seed, label=labels), "label")
    tree = explain(scattered(X, seed, label=labels), "label", method="imm").tree
    groups = np.where(labels >= 0, tree.predict(X), -1)
    expected = [float(naive.cost(X, each, "sqeuclidean")) for each in (groups, labels)]
    for away, passes in ((0.0, 2), (rng.normal(), 2), (1e6, 3)):
        source = scattered(X, seed, label=labels)
        facts = BatchStatistics(Task.of(source, Reference(task.labelling, task.centers + away)))
        sums = facts.of_trees([tree])
        assert [*facts.costs_of(sums), facts.cost_of_clusters] == pytest.approx(expected, rel=1e-9)
        assert source.runs == passes


@law(5)
def test_the_price_of_a_tree_without_mistakes_is_1_to_the_last_bit(seed):
    X, labels = make_blobs(300, 3, centers=4, cluster_std=0.1, random_state=seed)
    ex = explain(scattered(X, seed, label=labels), "label", method="imm")
    assert (ex.agreement, ex.price) == (1.0, 1.0)
    ex = explain(scattered(X, seed), X[:4], method="imm")
    assert (ex.price == 1.0) == (ex.agreement == 1.0)


def passes(source, work):
    """Return how many columns each pass reads."""
    read, run = [], source.run
    source.run = lambda make, columns, *threads: (read.append(len(columns)), run(make, columns, *threads))[1]
    work(source)
    return read


@law(3)
def test_whole_explanations_take_few_passes_over_all_columns(seed, monkeypatch, rows_drawn):
    monkeypatch.setattr(imm_batches, "IN_MEMORY", 0)  # which are otherwise read into memory
    rng = np.random.default_rng(seed)
    centers = 6 * rng.normal(size=(5, 20))
    X = centers[rng.integers(5, size=4000)] + rng.normal(size=(4000, 20))
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    names = [f"x{j}" for j in range(20)]

    def table():
        return scattered(X, seed, label=labels)

    # clusters and ranges, counts, leaves and costs; levels read some of the columns
    def by_centers(source):
        explain(source, Reference.nearest(source, centers), method="imm", columns=names)

    assert passes(table(), by_centers).count(20) == 3
    # labels and ranges, means, counts, leaves and costs
    assert passes(table(), lambda source: explain(source, "label", method="imm")).count(21) == 4
    by_model = table()
    model = IMM(n_clusters=5).fit(by_model, "label")
    assert passes(by_model, lambda source: model.explanation_) == [21]
    in_memory = explain(X, labels, method="imm", columns=names)
    # labels and ranges, leaves and costs
    assert passes(table(), lambda source: in_memory.evaluate(source, "label")) == [21, 21]


def test_an_infinite_cost_is_refused_as_before():
    X = np.random.default_rng(0).normal(size=(50, 2)) * 1e200
    labels = (X[:, 0] > 0).astype(int)
    labels[0] = 1 - labels[0]
    with pytest.raises(DataError, match="beyond the largest float"):
        explain(scattered(X, 0, label=labels), "label", method="imm")
    assert math.isfinite(explain(scattered(X / 1e100, 0, label=labels), "label", method="imm").cost)
