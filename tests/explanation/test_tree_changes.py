"""What changed from one tree to another: matched cuts, and the share of rows in another cluster."""

import numpy as np
import pandas as pd
import pytest

from boxwood import DataError, Tally, TreeBuilder, changes_in_words
from boxwood.explanation.apply.tree_changes import tree_changes
from boxwood.words.measured import two_digits
from tests.scale import law
from tests.scattered import scattered


def stump(cut, feature=0, clusters=(0, 1)):
    builder = TreeBuilder()
    for leaf, cluster in zip(builder.split(0, feature, cut), clusters, strict=True):
        builder.label(leaf, cluster)
    return builder.build()


def two_cuts(first, second):
    builder = TreeBuilder()
    left, right = builder.split(0, *first)
    builder.label(left, 0)
    for leaf, cluster in zip(builder.split(right, *second), (1, 2), strict=True):
        builder.label(leaf, cluster)
    return builder.build()


def test_words():
    old, new = two_cuts((0, 41200.0), (1, 3.5)), two_cuts((0, 42000.0), (2, 0.1 + 0.2))
    X = pd.DataFrame({"income": [41000.0, 41500.0, 43000.0, 43000.0], "age": [1.0, 2.0, 9.0, 1.0], "pay": 0.0})
    assert changes_in_words(old, new, rows=X).splitlines() == [
        "the cut on income moved from 41,200 to 42,000",
        "the cut on age at 3.5 is gone",
        "a cut on pay at ≈ 0.3 is new",
        "50 % of rows changed cluster",
    ]
    assert changes_in_words(old, old, columns=["a", "b"]) == "no cut changed"
    assert changes_in_words(old, old, rows=X).splitlines()[-1] == "0 % of rows changed cluster"
    assert changes_in_words(stump(1.0), stump(2.0)) == "the cut on x0 moved from 1 to 2"


def test_a_cut_that_separates_other_clusters_is_another_cut():
    changes = tree_changes(stump(1.0), stump(1.0, clusters=(1, 0)))
    assert (len(changes.moved), len(changes.gone), len(changes.new), changes.n_same) == (0, 1, 1, 0)
    same = tree_changes(two_cuts((0, 1.0), (1, 2.0)), two_cuts((0, 1.0), (1, 5.0)))
    assert (len(same.moved), same.n_same, same.share) == (1, 1, None)


def test_two_sided_cuts():
    def between(lower, upper):
        builder = TreeBuilder()
        for leaf, cluster in zip(builder.split(0, 0, upper, lower), (0, 1), strict=True):
            builder.label(leaf, cluster)
        return builder.build()

    expected = "the cut on age moved from between 1 and 2 to between 1 and 3"
    assert changes_in_words(between(1.0, 2.0), between(1.0, 3.0), ["age"]) == expected


@law(20)
def test_the_share_of_rows_is_exact_from_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(40, 2)).astype(float)
    old, new = (two_cuts((0, rng.random() * 5), (1, rng.random() * 5)) for _ in range(2))
    expected = float((old.predict(X) != new.predict(X)).mean())
    assert tree_changes(old, new, X).share == expected
    assert tree_changes(old, new, scattered(X, seed)).share == expected


@law(10)
def test_the_share_is_estimated_from_bins(seed):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [8.0, 8.0]])
    X = centers[rng.integers(0, 3, size=20_000)] + 1.5 * rng.normal(size=(20_000, 2))
    tally = Tally.of(X, centers)
    old, new = (two_cuts((0, 3 + 2 * rng.random()), (1, 3 + 2 * rng.random())) for _ in range(2))
    found = tree_changes(old, new, tally)
    assert found.is_estimate
    assert found.share == pytest.approx(tree_changes(old, new, X).share, abs=0.004)
    assert "as estimated from bins" in changes_in_words(old, new, rows=tally)
    assert tree_changes(old, old, tally).share == pytest.approx(0, abs=1e-9)
    far = two_cuts((0, -100.0), (1, 100.0))
    assert tree_changes(far, stump(5.0, clusters=(2, 0)), tally).share == pytest.approx(1)


def test_shares_in_words():
    expected = {0.0131: "1.3 %", 1.0: "100 %", 0.0004: "less than 0.1 %", 0.9996: "more than 99.9 %", 0.995: "99.5 %"}
    assert {share: two_digits(share) for share in expected} == expected


def test_refused():
    with pytest.raises(DataError, match="the trees test column 1, but there are 1 names"):
        changes_in_words(stump(1.0, feature=1), stump(1.0), ["a"])
    with pytest.raises(DataError, match="test more columns than the tally has"):
        changes_in_words(stump(1.0, feature=1), stump(1.0), ["a", "b"], Tally.of([[1.0]], [[1.0]]))
    with pytest.raises(DataError, match="rows must be a table or a Tally"):
        changes_in_words(stump(1.0), stump(1.0), ["a"], 3)
    with pytest.raises(TypeError, match="tree must be a ThresholdTree"):
        changes_in_words("x", stump(1.0))
