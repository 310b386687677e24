"""ExShallow: no cut of a node has a lower score, without penalty it is Ex-Greedy, with one its rules are shorter."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from boxwood import Reference
from boxwood.errors import DataError
from boxwood.grow import greedy, shallow
from boxwood.grow.centers.greedy import Nearest, grow_several
from boxwood.metrics import readability
from boxwood.reference import Task
from boxwood.tree import rows_at_nodes
from tests import naive
from tests.cases import make_case
from tests.scale import seeds


def usable(n_seeds):
    """Yield cases whose clusters have unequal centres."""
    for seed in seeds(n_seeds):
        X, labels, weights = make_case(seed, max_rows=25, max_columns=3)
        reference = Reference.of(X, labels, sample_weight=weights)
        if len(np.unique(reference.first_of_equal_centers())) == reference.n_clusters:
            yield X, reference, weights


def whole_numbers(seed):
    """Return rows and centres of small whole numbers, whose squared distances are exact, and weights."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(2, 20)), int(rng.integers(1, 4)), int(rng.integers(2, 7))
    X = rng.integers(0, 6, size=(n, d)).astype(float)
    centers = rng.permutation(np.unique(rng.integers(0, 6, size=(k, d)), axis=0)).astype(float)
    if len(centers) < 2:
        centers = np.array([[0.0] * d, [5.0] * d])
    weights = rng.integers(1, 4, size=n) if seed % 2 else np.ones(n, dtype=int)
    return X, Reference(rng.integers(len(centers), size=n), centers), weights


@pytest.mark.parametrize("penalty", [0.0, 0.03, 0.5, 10.0])
def test_no_cut_of_a_node_has_a_lower_score(penalty):
    for seed in seeds(100):
        X, reference, weights = whole_numbers(seed)
        costs = (((X[:, None] - reference.centers) ** 2).sum(axis=2) * weights[:, None]).astype(int).tolist()
        tree = shallow(X, reference, depth_penalty=penalty, sample_weight=weights)
        paths = {0: (list(range(reference.n_clusters)), frozenset())}
        for node, rows, inside in rows_at_nodes(tree, X):
            if inside is None:
                continue
            clusters, tested = paths[node]
            scores = naive.shallow_scores(
                X, reference.centers, costs, weights, rows.tolist(), clusters, tested, penalty
            )
            j, threshold = int(tree.feature[node]), float(tree.upper[node])
            assert float(scores[j, threshold] - min(scores.values())) < 1e-12, f"seed {seed}, node {node}"
            left = [c for c in clusters if reference.centers[c, j] <= threshold]
            paths[node + 1] = left, tested | {(j, "left")}
            paths[int(tree.second[node])] = [c for c in clusters if c not in left], tested | {(j, "right")}


def test_without_penalty_it_is_ex_greedy():
    for X, reference, weights in usable(150):
        same = shallow(X, reference, depth_penalty=0.0, sample_weight=weights)
        assert same == greedy(X, reference, sample_weight=weights)


def test_several_penalties_give_the_trees_of_each():
    n_different = 0
    for X, reference, weights in usable(100):
        penalties = [0.0, 0.1, 0.01, 3.0, 0.1]
        trees = grow_several(Task.of(X, reference, sample_weight=weights), penalties)
        assert trees == [shallow(X, reference, depth_penalty=p, sample_weight=weights) for p in penalties]
        n_different += trees[0] != trees[3]
    assert n_different > 10


def test_costs_are_computed_once_where_several_penalties_choose_the_same_cuts(monkeypatch):
    X = np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]])
    task, nodes = Task.of(X, Reference.of(X, [0, 0, 1, 1, 2, 2])), []
    cuts_at = Nearest.cuts_at
    monkeypatch.setattr(Nearest, "cuts_at", lambda self, node: nodes.append(node) or cuts_at(self, node))
    trees = grow_several(task, [0.0, 0.01, 0.02])
    assert trees[0] == trees[1] == trees[2]
    assert len(nodes) == 2


def test_a_huge_penalty():
    """Scores are infinite, so the cheapest cut wins."""
    for X, reference, weights in usable(30):
        tree = shallow(X, reference, depth_penalty=1e308, sample_weight=weights)
        assert tree.predict(reference.centers).tolist() == list(range(reference.n_clusters))


def test_each_centre_has_its_leaf_whatever_the_layout_and_threads():
    for X, reference, weights in usable(150):
        tree = shallow(X, reference, sample_weight=weights)
        assert tree.n_leaves == reference.n_clusters
        assert tree.predict(reference.centers).tolist() == list(range(reference.n_clusters))
        assert shallow(np.asfortranarray(X), reference, sample_weight=weights, n_jobs=1) == tree


def test_whole_weights_are_repeated_rows():
    for seed in seeds(60):
        X, reference, weights = whole_numbers(2 * seed + 1)
        rows = np.repeat(np.arange(len(X)), weights)
        assert shallow(X, reference, sample_weight=weights) == shallow(X[rows], reference.of_rows(rows))


def test_a_penalty_shortens_the_rules():
    X, _ = make_blobs(3000, 4, centers=25, cluster_std=1.5, random_state=0)
    reference = Reference.from_estimator(KMeans(25, n_init=1, random_state=0).fit(X), X)
    sizes = [
        readability(X, shallow(X, reference, depth_penalty=penalty)).weighted_average_explanation_size
        for penalty in (0.0, 0.1, 1.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


def test_refused():
    X, reference = [[0.0], [1.0], [5.0]], Reference([0, 0, 1], [[0.5], [5.0]])
    for penalty in (-0.1, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"depth_penalty must be a (number of at least 0|finite number)"):
            shallow(X, reference, depth_penalty=penalty)
    with pytest.raises(DataError, match="equal centres"):
        shallow(X, Reference([0, 0, 1], [[0.5], [0.5]]))
