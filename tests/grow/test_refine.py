"""Refinement: equal to its twin, never dearer, and the same shape."""

import numpy as np
import pytest

from boxwood import Reference
from boxwood.grow import expand, imm, refine
from boxwood.metrics import cost
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case
from tests.scale import seeds

OBJECTIVES = ("cost", "mistakes")


def random_tree(rng, X, k, n_leaves):
    """Return a tree of random threshold cuts at values of the rows, with random clusters."""
    from boxwood.tree import TreeBuilder

    builder, leaves = TreeBuilder(), [0]
    while len(leaves) < n_leaves:
        j = int(rng.integers(X.shape[1]))
        leaves += builder.split(leaves.pop(int(rng.integers(len(leaves)))), j, float(rng.choice(X[:, j])))
    for leaf in leaves:
        builder.label(leaf, int(rng.integers(k)))
    return builder.build()


def surrogate(tree, X, reference, objective, weights=None):
    kept = reference.kept
    clusters, weights = tree.predict(X[kept]), np.ones(len(X)) if weights is None else weights
    if objective == "mistakes":
        return np.sum(weights[kept] * (clusters != reference.labels[kept]))
    return np.sum(weights[kept, None] * (X[kept].astype(float) - reference.centers[clusters]) ** 2)


def test_equals_the_twin_for_mistakes():
    for seed in seeds(200):
        X, labels, weights = make_case(seed, max_rows=25)
        weights = None if weights is None else np.ceil(weights)
        reference, rng = Reference.of(X, labels), np.random.default_rng(seed)
        k = reference.n_clusters
        tree = random_tree(rng, X, k, int(rng.integers(1, 7)))
        kept = reference.kept
        each = np.ones(len(X), dtype=int) if weights is None else weights.astype(int)
        costs = [
            [int(w) * int(label != c) for c in range(k)] for w, label in zip(each[kept], labels[kept], strict=True)
        ]
        twin = naive.refine(tree.to_dict(), X[kept], costs)
        found = refine(tree, X, reference, objective="mistakes", sample_weight=weights)
        assert found == ThresholdTree.from_dict(twin), f"seed {seed}"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_never_dearer_and_of_the_same_shape(objective):
    for seed in seeds(60):
        X, labels, weights = make_case(seed)
        reference, rng = Reference.of(X, labels), np.random.default_rng(seed)
        tree = random_tree(rng, X, reference.n_clusters, 6)
        better = refine(tree, X, reference, objective=objective, sample_weight=weights)
        before, after = (surrogate(t, X, reference, objective, weights) for t in (tree, better))
        assert after <= before * (1 + 1e-12)
        assert better.second.tolist() == tree.second.tolist()
        assert set(better.leaf_clusters) >= set(tree.leaf_clusters)
        kept = reference.kept if weights is None else reference.kept & (weights > 0)
        assert set(better.apply(X[kept])) >= set(tree.apply(X[kept]))
        order = rng.permutation(len(X))
        moved = Reference(labels[order], reference.centers)
        weights = None if weights is None else weights[order]
        again = refine(tree, X[order], moved, objective=objective, sample_weight=weights, n_jobs=1)
        assert again == better


def test_each_cut_is_the_best_given_the_others():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=300)
    X = 2.0 * rng.normal(size=(4, 3))[labels] + rng.normal(size=(300, 3))
    reference = Reference.of(X, labels)
    tree = refine(imm(X, reference), X, reference, max_sweeps=100)
    lowest = surrogate(tree, X, reference, "cost")
    for node in np.flatnonzero(tree.feature >= 0):
        for j in range(3):
            for threshold in np.sort(X[:, j]):
                feature, upper = tree.feature.copy(), tree.upper.copy()
                feature[node], upper[node] = j, threshold
                other = ThresholdTree(feature, tree.lower, upper, tree.second, tree.cluster)
                if len(np.unique(other.apply(X))) == tree.n_leaves:
                    assert surrogate(other, X, reference, "cost") >= lowest * (1 - 1e-12)


def test_whole_weights_are_repeated_rows():
    for seed in seeds(100):
        X, labels, _ = make_case(seed)
        reference, rng = Reference.of(X, labels), np.random.default_rng(seed)
        tree, repeats = random_tree(rng, X, reference.n_clusters, 5), rng.integers(1, 4, size=len(X))
        rows = np.repeat(np.arange(len(X)), repeats)
        repeated = Reference(labels[rows], reference.centers)
        assert refine(tree, X, reference, sample_weight=repeats) == refine(tree, X[rows], repeated)


def test_lowers_the_cost_of_imm():
    rng = np.random.default_rng(1)
    labels = rng.integers(6, size=2000)
    X = 2.0 * rng.normal(size=(6, 4))[labels] + rng.normal(size=(2000, 4))
    reference = Reference.of(X, labels)
    tree = imm(X, reference)
    assert cost(X, refine(tree, X, reference)) < cost(X, tree)


def test_two_sided_cuts_stay():
    X = np.arange(12.0)[:, None]
    reference = Reference.of(X, [0, 0, 0, 1, 1, 1, 0, 0, 2, 2, 2, 2])
    tree = expand(None, X, reference, max_leaf_nodes=3, objective="mistakes", cuts="interval")
    assert np.isfinite(tree.lower).any()
    assert refine(tree, X, reference, objective="mistakes").lower.tolist() == tree.lower.tolist()


def test_refused():
    X, tree = np.array([[0.0], [1.0]]), ThresholdTree.from_dict({"cluster": 5})
    with pytest.raises(ValueError, match="max_sweeps must be at least 1"):
        refine(tree, X, Reference.of(X, [0, 1]), max_sweeps=0)
    with pytest.raises(ValueError, match="the tree has cluster 5"):
        refine(tree, X, Reference.of(X, [0, 1]))
