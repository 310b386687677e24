"""Weak rules name the one more leaf that mends them, and what is said of it is so."""

import numpy as np
import pandas as pd

import boxwood as bw
from tests.models import read_model
from tests.scale import law


def _noisy(seed):
    """Return a table and labels that trees of as many leaves explain in part."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(60, 300)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
    X = pd.DataFrame(rng.normal(size=(n, d)).round(1), columns=[f"x{j}" for j in range(d)])
    labels = (X.to_numpy() @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))).argmax(axis=1)
    weights = rng.integers(1, 4, size=n).astype(float) if rng.random() < 0.5 else None
    return X, labels, weights


@law(40)
def test_what_is_said_of_one_more_leaf_is_so(seed):
    X, labels, weights = _noisy(seed)
    ex = bw.explain(X, labels, max_leaf_nodes=len(np.unique(labels)), sample_weight=weights)
    mass = np.ones(len(X)) if weights is None else weights
    for cluster in ex.clusters:
        assert cluster.mend is None or cluster.is_weak
        if cluster.mend is None:
            continue
        reached = ex.tree.apply(X.to_numpy())
        own = labels == cluster.name
        held = X.index.isin(X.query(cluster.mend.condition).index)
        leaves = [leaf.leaf for leaf in ex.leaves if leaf.cluster == cluster.cluster]
        shares = []
        for leaf in leaves:  # the one that was cut is not said: the others stay whole
            rows = np.isin(reached, leaves) & ((reached != leaf) | held)
            shares.append(mass[rows & own].sum() / mass[rows].sum() if rows.any() else np.nan)
        assert np.isclose(shares, cluster.mend.precision).any()
        assert not cluster._replace(precision=cluster.mend.precision).is_weak


@law(40)
def test_a_rule_is_weak_if_it_keeps_few_of_the_others_out(seed):
    """A rule of a cluster of most rows is judged by what it adds, as that of a small one is."""
    random = np.random.default_rng(seed)
    share, n = random.uniform(0.55, 0.97), 2000
    x = np.arange(n) % 100 / 100
    kept_out = random.choice([0.05, 0.15, 0.4, 0.9])
    others = random.random(n) > share
    x[others] = np.where(random.random(others.sum()) < kept_out, 2.0, x[others])
    ex = bw.explain(pd.DataFrame({"x": x}), np.where(others, "other", "most"), max_leaf_nodes=2, objective="agreement")
    most = next(one for one in ex.clusters if one.name == "most")
    added = 1 - (1 - most.precision) / (1 - most.share)
    assert most.is_weak == (added < 0.25 or most.precision < 2 / 3)
    assert (f"are in other clusters, of all rows {1 - most.share:.1%}" in str(ex)) == most.is_weak
    assert not most._replace(precision=1.0).is_weak


def _with_a_mix():
    """Return a table whose second rule is right for 43 % of its rows, and for all of them that are blue."""
    x = np.repeat([0.0, 1.0], 300)
    colour = np.tile(["blue"] * 130 + ["red"] * 170, 2)
    others = np.where(np.arange(600) % 2, "low", "mid")
    labels = np.where(x == 0, "low", np.where(colour == "blue", "high", others))
    return pd.DataFrame({"x": x, "colour": colour, "member": colour == "blue"}), labels


def test_a_mend_is_printed_and_saved():
    X, labels = _with_a_mix()
    for columns, condition in (["x", "colour"], "colour is blue"), (["x", "member"], "member"):
        ex = bw.explain(X[columns], labels, max_leaf_nodes=2, objective="agreement")
        [weak] = [one for one in ex.clusters if one.is_weak]
        assert weak.name == "high"
        assert weak.mend == (condition, 1.0)
        assert f"(weak: 56.7% of these rows are in other clusters; 0.0% with one more leaf, where {condition})" in str(
            ex
        )
        assert read_model(ex.to_json()).clusters == ex.clusters


def test_nothing_is_said_where_no_leaf_may_be_added_or_none_mends():
    X, labels = _with_a_mix()
    limited = bw.explain(X[["x", "colour"]], labels, max_leaf_nodes=2, max_depth=1, objective="agreement")
    blind = bw.explain(X[["x"]], labels, max_leaf_nodes=2, objective="agreement")
    for ex in (limited, blind):
        assert any(one.is_weak for one in ex.clusters)
        assert all(one.mend is None for one in ex.clusters)
