"""Stability: what is known to be stable is called so, and what is known not to be is not."""

import re

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from boxwood import IMM, explain
from boxwood.errors import DataError
from boxwood.explanation import ClusterStability, Stability
from boxwood.explanation.measure import stability as _stability
from boxwood.explanation.measure.stability import overlaps
from boxwood.explanation.verdict import level_of, verdict_of
from tests import naive
from tests.explanation.test_pipelines import goods, pipeline
from tests.models import read_model
from tests.scale import seeds


def far_apart(n=90):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])[y] + rng.normal(size=(n, 2)), y


def one_gaussian(n=300):
    return np.random.default_rng(1).normal(size=(n, 4))


def k_means(k):
    return KMeans(k, n_init=2, random_state=0)


def test_overlaps_are_those_of_the_best_matching():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        n, k_old, k_new = rng.integers(1, [15, 5, 5])
        old, new = rng.integers(-1, k_old, size=n), rng.integers(-1, k_new, size=n)
        weights = rng.integers(1, 4, size=n).astype(float)
        found, match = overlaps(old, new, weights, k_old, k_new)
        present = np.unique(old[old >= 0])
        assert np.isnan(found).tolist() == [c not in present for c in range(k_old)]
        if len(present) == 0 or not (new >= 0).any():
            continue
        best, pairs = naive.best_overlaps(old.tolist(), new.tolist(), weights.tolist())
        assert found[present].sum() == pytest.approx(best)
        for c in present:
            assert found[c] == pytest.approx(pairs.get((c, match[c]), 0.0))
        by_number, same = overlaps(old, new, weights, k_old, k_old + k_new, matched=False)
        assert same.tolist() == list(range(k_old))
        assert by_number[present] == pytest.approx([pairs.get((c, c), 0.0) for c in present])


@pytest.mark.parametrize("method", ["imm", "auto"])
def test_clusters_far_apart_are_stable(method):
    X, _ = far_apart()
    found = explain(X, k_means(3), method=method).stability(8)
    assert found.level == "stable"
    assert found.verdict.startswith("The clusters are stable: in 8 resamples of 90 rows all clusters came back")
    assert (found.refitted, found.changed) == (True, 0.0)
    assert all(one.jaccard == one.jaccard_low == 1.0 for one in found.clusters)
    for cut in found.cuts:
        assert cut.returns == 1.0
        assert cut.low <= cut.high
        assert cut.low > 2
        assert cut.high < 18  # anywhere in the gap


def test_one_gaussian_cut_into_six_is_unstable():
    found = explain(one_gaussian(), k_means(6), method="imm").stability(12)
    assert found.level == "unstable"
    assert "Read them as one way to divide the rows, not as groups that exist" in found.verdict
    assert found.changed > 0.2
    assert min(one.jaccard for one in found.clusters) < 0.5
    assert all(one.jaccard_low <= one.jaccard for one in found.clusters)


def test_a_cluster_that_was_lost_once_is_named():
    """Its mean hides it: no cluster is said to return then."""
    often, once = ClusterStability(0, 0, 0.98, 0.9, 0), ClusterStability(1, 1, 0.93, 0.85, 1)
    assert level_of([often]) == "stable"
    assert level_of([often, once]) == "doubtful"
    assert level_of([often, once._replace(jaccard_low=0.3, lost=3)]) == "unstable"
    assert level_of([often, once._replace(jaccard_low=0.7, lost=0)]) == "doubtful"
    found = Stability(20, 1500, True, (often, once), (), 0.02, "doubtful", "", 0)
    said = (
        "The clusters are doubtful: in 20 resamples of 1,500 rows cluster 1 was lost in 1 of 20 (overlap below 0.5). On"
    )
    assert verdict_of(found).startswith(said)
    assert "came back only in part (overlap down to 0.70)" in verdict_of(
        found._replace(clusters=(often, once._replace(jaccard_low=0.7, lost=0)))
    )


def test_labels_stay_and_the_tree_alone_is_grown_again():
    X, y = far_apart()
    names = np.array(["a", "b", "c"])[y]
    found = explain(X, names, method="imm").stability(8)
    assert found.refitted is False
    assert found.verdict.startswith(
        "The rules are stable: in 8 resamples of 90 rows the rules of all clusters came back"
    )
    assert [one.name for one in found.clusters] == ["a", "b", "c"]
    noise = explain(X, np.random.default_rng(0).integers(3, size=90), method="cart", max_leaf_nodes=8).stability(8)
    assert noise.level == "unstable"
    assert "other rows would have led to other rules" in noise.verdict
    frozen = explain(X, FrozenEstimator(k_means(3).fit(X)), method="imm").stability(3)
    assert frozen.refitted is False


def test_a_threshold_lies_where_resamples_put_it():
    """Three values, each drawn in every resample: the same gaps, and the same decimals or midpoints in them."""
    X = np.repeat([[0.0], [1.0], [5.0]], 30, axis=0)
    for ex, ends in (
        (explain(X, np.repeat([0, 1, 2], 30), method="imm"), [0.0, 3.0]),
        (IMM(k_means(3)).fit(X).explanation_, [0.5, 3.0]),
    ):
        cuts = ex.stability(6).cuts
        assert [(cut.node, cut.column) for cut in cuts] == [(i, "x0") for i in np.flatnonzero(ex.tree.feature >= 0)]
        assert sorted(cut[2:] for cut in cuts) == [(end, 1.0, end, end, None) for end in ends]


def test_cuts_of_a_column_keep_their_places_and_a_cluster_without_a_rule_is_not_said_to_be_lost():
    x = np.random.default_rng(2).random(400)
    labels = np.where(x < 0.5, "a", "b").astype(object)
    labels[:12] = "r"  # anywhere, so that no rule is for them
    found = explain(x[:, None], labels).stability(n=20)
    assert [one.name for one in found.clusters] == ["a", "b"]
    assert "r " not in found.verdict.split(".")[0]
    first, second = sorted(found.cuts, key=lambda cut: cut.threshold)
    assert first.low <= first.threshold <= first.high < second.low <= second.threshold <= second.high
    assert first.returns <= second.returns == 1


def test_a_two_sided_cut_has_two_entries():
    X = np.repeat([[0.0], [4.0], [9.0]], 20, axis=0)
    ex = explain(X, np.repeat([0, 1, 0], 20), method="expand", base="root", cuts="interval", max_leaf_nodes=2)
    assert [cut[2:4] for cut in ex.stability(4).cuts] == [(ex.tree.lower[0], 1.0), (ex.tree.upper[0], 1.0)]


def test_the_same_seed_gives_the_same_and_another_seed_another():
    X = one_gaussian(120)
    ex, again = (explain(X, k_means(4), method="imm") for _ in range(2))
    first = ex.stability(6)
    assert first is ex.stability(6, random_state=0)
    assert first == again.stability(6)
    assert first != ex.stability(6, random_state=1)
    generator = ex.stability(6, random_state=np.random.RandomState(0))
    assert generator.random_state is None
    assert generator.clusters == first.clusters


def test_rows_without_weight_are_not_drawn_and_equal_weights_change_nothing():
    X, y = far_apart()
    more = np.concatenate([X, one_gaussian(60)[:, :2] * 10])
    labels = np.concatenate([y, np.arange(60) % 3])
    weights = np.concatenate([np.full(90, 2.0), np.zeros(60)])
    plain = explain(X, y, method="imm").stability(5)
    weighted = explain(more, labels, method="imm", sample_weight=weights).stability(5)
    assert weighted.n_rows == 90
    assert weighted.clusters == plain.clusters
    assert weighted.cuts == plain.cuts


def test_heavy_rows_count_more():
    """Half of the rows are noise between labels; their weight decides how stable the rules are."""
    X, y = far_apart()
    noise = np.random.default_rng(3).uniform(-3, 23, size=(90, 2))
    rows, labels = np.concatenate([X, noise]), np.concatenate([y, np.random.default_rng(4).integers(3, size=90)])
    light, heavy = (
        explain(rows, labels, method="cart", max_leaf_nodes=6, sample_weight=np.repeat([1.0, weight], 90)).stability(8)
        for weight in (0.01, 100.0)
    )
    assert light.changed < heavy.changed


@pytest.mark.full
def test_every_kind_of_clusterer_is_fitted_on_what_it_was_given():
    X, _ = far_apart()
    iris = load_iris(as_frame=True).data
    scaled = make_pipeline(StandardScaler(), k_means(3))
    explanations = [
        explain(X, DBSCAN(2.0), method="imm"),
        explain(X, GaussianMixture(3, random_state=0), method="mmdt"),
        explain(iris, scaled, method="imm"),
        explain(iris, k_means(3).fit(iris), method="imm", columns=list(iris.columns[:3])),
        explain(X, k_means(3).fit(X), method="imm", standardize=True),
        explain(X, k_means(3), method="imm", standardize=True),
        explain(X, n_clusters=3, method="kernel_imm"),
        explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6),
        IMM(make_pipeline(StandardScaler(), k_means(3))).fit(iris).explanation_,
    ]
    for ex in explanations:
        found = ex.stability(3)
        assert found.refitted, ex
        assert min(one.jaccard for one in found.clusters) > 0.2, ex
        assert len(str(found).splitlines()) == 5 + len(found.clusters) + len(found.cuts)
    assert all(
        one.low is None for one in explanations[7].stability(3).cuts if one.column in dict(ex.details.categories)
    )


def test_long_tables_are_sampled(monkeypatch):
    monkeypatch.setattr(_stability, "ROWS", 40)
    X, y = far_apart()
    found = explain(X, y, method="imm").stability(3)
    assert found.n_rows == 40
    assert "3 resamples of 40 rows" in found.verdict


def test_it_is_kept_and_saved():
    X, y = far_apart()
    ex = explain(X, y, method="imm")
    assert "stability" not in ex.to_dict()
    found = ex.stability(3)
    again = read_model(ex.to_json())
    assert again == ex
    assert again.stability() == found
    with pytest.raises(DataError, match=r"call stability\(\) before save"):
        read_model(explain(X, y, method="imm").to_json()).stability()


def test_odd_numbers_and_trees_that_were_there_are_refused():
    X, y = far_apart()
    with pytest.raises(ValueError, match="n must be"):
        explain(X, y, method="imm").stability(1)
    model = IMM(k_means(3)).fit(X)
    with pytest.raises(ValueError, match="cannot be grown again"):
        explain(X[:50], model).stability(3)


def test_new_names_are_those_of_the_stability():
    X = np.random.default_rng(0).normal(size=(200, 2))
    ex = explain(X, KMeans(4, n_init=1, random_state=0), method="imm")
    before = ex.stability(n=5)
    renamed = ex.rename({0: "A", 1: "B", 2: "C", 3: "D"})
    stability = renamed.stability(n=5)
    assert [one.name for one in stability.clusters] == ["A", "B", "C", "D"]
    assert not re.search(r"cluster [0-9]", stability.verdict)
    assert stability.level == before.level


def test_the_same_rows_measured_again_are_as_stable():
    X = np.random.default_rng(0).normal(size=(150, 3)) * [1, 20, 300]
    ex = explain(X, KMeans(3, n_init=1, random_state=0).fit(X), standardize=True, method="cart")
    again = ex.evaluate(X, np.array(ex.names)[ex._rows().task.reference.labels])
    assert again.stability(4).clusters == ex.stability(4).clusters


def test_leaves_of_a_resample_may_be_smaller_in_proportion():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(600, 2)), rng.normal(size=(70, 2)) + 20])
    labels = np.repeat([0, 1], [600, 70])
    ex = explain(X, labels, method="cart", min_samples_leaf=65)
    before, _stability.ROWS = _stability.ROWS, 200
    try:
        assert ex.stability(4).level == "stable"
    finally:
        _stability.ROWS = before


def test_rounded_rules_are_compared_with_rounded_rules():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 1)) * 0.1 + centre for centre in (130.0, 190.0, 240.0)])
    ex = explain(X, np.repeat([0, 1, 1], 50), method="cart", round_thresholds=1)
    assert ex.tree.upper[0] == 200  # instead of about 160
    stability = ex.stability(4)
    assert stability.changed == 0
    assert {(cut.low, cut.high) for cut in stability.cuts} == {(200.0, 200.0)}
