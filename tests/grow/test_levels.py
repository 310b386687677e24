"""The way of rows to the nodes of a tree that is not finished yet."""

import numpy as np
import pytest

from boxwood.grow.centers._growing_tree import GrowingTree
from tests.scale import seeds


def random_tree(rng, n_columns):
    """Return a tree with some cuts, and the path of each of its nodes: a list of (feature, lower, upper, side)."""
    tree, paths, ends = GrowingTree(), {0: []}, [0]
    for _ in range(rng.integers(0, 12)):
        node = ends.pop(rng.integers(len(ends)))
        feature, upper = int(rng.integers(n_columns)), float(rng.integers(-2, 3))
        lower = -np.inf if rng.random() < 0.7 else upper - 1.0
        children = tree.split(node, feature, upper, lower)
        for side, child in enumerate(children):
            paths[child] = [*paths[node], (feature, lower, upper, side == 0)]
        ends += children
    return tree, paths, ends


def reaches(row, path):
    return all((lower <= row[feature] <= upper) == inside for feature, lower, upper, inside in path)


def test_places_are_those_of_the_paths():
    for seed in seeds(150):
        rng = np.random.default_rng(seed)
        tree, by_node, ends = random_tree(rng, 4)
        asked = rng.permutation(ends)[: rng.integers(1, len(ends) + 1)].tolist()
        paths = tree.paths_to(asked)
        assert paths.columns == sorted({cut[0] for node in asked for cut in by_node[node]})
        columns = rng.permutation([*paths.columns, *(j for j in range(4) if j not in paths.columns)][:4]).tolist()
        columns = [j for j in columns if j in paths.columns or rng.random() < 0.5]
        X = rng.integers(-3, 4, size=(30, 4)).astype(float)
        places = paths.among(columns).places(np.ascontiguousarray(X[:, columns]))
        for row, place in zip(X, places, strict=True):
            assert [i for i, node in enumerate(asked) if reaches(row, by_node[node])] == ([place] if place >= 0 else [])


def test_ends_below_nodes():
    tree = GrowingTree()
    left, right = tree.split(0, 0, 1.0)
    first, second = tree.split(right, 1, 2.0)
    ends, spans = tree.ends_below([0])
    assert ends == [left, first, second]
    assert spans == {0: (0, 3), left: (0, 1), right: (1, 3), first: (1, 2), second: (2, 3)}
    ends, spans = tree.ends_below([right])
    assert ends == [first, second]
    assert spans[right] == (0, 2)


def test_a_cut_moves():
    tree = GrowingTree()
    for cluster, node in enumerate(tree.split(0, 1, 2.5)):
        tree.label(node, cluster)
    tree.move(0, 2.0)
    assert tree.build().to_dict()["threshold"] == 2.0


def test_a_finished_tree_is_one_of_the_builder():
    tree = GrowingTree()
    left, right = tree.split(0, 1, 2.5)
    with pytest.raises(ValueError, match="neither a cut nor labelled"):
        tree.build()
    tree.label(left, 1)
    tree.label(right, 0)
    assert tree.build().to_dict()["feature"] == 1
