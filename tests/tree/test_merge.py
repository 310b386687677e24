"""Cuts that separate nothing: predictions stay, and no cut is left that could be left out."""

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from boxwood.tree import ThresholdTree
from boxwood.tree.merge import merge_leaves
from tests import naive
from tests.cases import chain, tree_on_values
from tests.scale import seeds
from tests.strategies import rows_near, trees


def every_kind_of_row(tree):
    """Return a row for each combination of values at, just below and just above the ends of the tree's cuts."""
    ends = [{-math.inf, math.inf} for _ in range(tree.n_features)]
    for j, lower, upper in zip(tree.feature, tree.lower, tree.upper, strict=True):
        if j >= 0:
            for end in (float(lower), float(upper)):
                ends[j] |= {math.nextafter(end, -math.inf), end, math.nextafter(end, math.inf)}
    return np.array(list(itertools.product(*ends)), dtype=float).reshape(-1, tree.n_features)


def without(tree, node, kept):
    """Return a tree as nested dicts, with one side of a cut in the place of the cut."""
    numbers = itertools.count()

    def walk(d):
        number = next(numbers)
        if "cluster" in d:
            return {"cluster": d["cluster"]}
        first, second = ("left", "right") if "threshold" in d else ("inside", "outside")
        sides = {side: walk(d[side]) for side in (first, second)}
        return sides[(first, second)[kept]] if number == node else {**d, **sides}

    return walk(tree.to_dict())


def test_no_row_changes_and_no_cut_is_left_that_separates_nothing():
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, int(rng.integers(2, 9)), int(rng.integers(1, 3)), range(4), int(rng.integers(1, 4)))
        X = every_kind_of_row(tree)
        less = merge_leaves(tree)
        assert less.predict(X).tolist() == tree.predict(X).tolist(), f"seed {seed}"
        assert merge_leaves(less) == less
        for node in np.flatnonzero(less.feature >= 0):
            for kept in (0, 1):
                other = without(less, node, kept)
                assert [naive.leaf_of(other, x)["cluster"] for x in X] != tree.predict(X).tolist(), f"seed {seed}"


@given(st.data())
def test_no_row_near_a_cut_changes(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    assert merge_leaves(tree).predict(X).tolist() == tree.predict(X).tolist()


def test_sibling_leaves_and_chains_of_one_cluster_become_a_leaf():
    chain = leaf = {"cluster": 2}
    for i in range(200):
        chain = {"feature": i % 5, "threshold": float(i % 7), "left": leaf, "right": chain}
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 9.5, "left": {"cluster": 1}, "right": chain})
    less = {"feature": 0, "threshold": 9.5, "left": {"cluster": 1}, "right": leaf}
    assert merge_leaves(tree) == ThresholdTree.from_dict(less)


def test_a_chain_of_cuts_in_one_column_becomes_one_cut():
    last = {"feature": 1, "threshold": 106.0, "left": {"cluster": 0}, "right": {"cluster": 1}}
    last = {"feature": 0, "threshold": 95.75, "left": last, "right": {"cluster": 1}}
    last = {"feature": 0, "threshold": 93.995, "left": {"cluster": 0}, "right": last}
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 93.96, "left": {"cluster": 0}, "right": last})
    assert merge_leaves(tree) == ThresholdTree.from_dict(last)


def test_a_deep_tree_of_many_clusters_is_left_as_it_is():
    tree = chain(3000, n_columns=3)
    assert merge_leaves(tree) is tree
