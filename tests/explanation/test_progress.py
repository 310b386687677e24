"""Progress is told to those who ask, and threads change nothing."""

import itertools
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from boxwood import compare_k, explain
from tests.scale import each, law

X, Y = load_iris(return_X_y=True)


def told(run):
    """Return the steps that a function is told, by their names."""
    steps = {}
    run(lambda step, done, total: steps.setdefault(step, []).append((done, total)))
    return steps


@pytest.mark.parametrize("leaves", [3, 5])
def test_the_steps_of_auto_count_up_to_their_number(leaves):
    steps = told(lambda verbose: explain(X, Y, max_leaf_nodes=leaves, validate=3, verbose=verbose))
    assert set(steps) == {"steps to the tree", "trees grown without the rows held out"}
    assert_counts_up(steps)
    assert len(steps["trees grown without the rows held out"]) == 4


def assert_counts_up(steps):
    """Each name counts from 0 up to one number, and never falls."""
    for counts in steps.values():
        done, totals = zip(*counts, strict=True)
        assert len(set(totals)) == 1
        assert (done[0], done[-1]) == (0, totals[0])
        assert all(a < b for a, b in itertools.pairwise(done))


@law(24)
def test_no_count_of_a_call_falls_and_each_has_a_name(seed):
    rng = np.random.default_rng(seed)
    n, has_words, has_labels = int(rng.integers(40, 300)), rng.random() < 0.7, rng.random() < 0.3
    table = pd.DataFrame({f"x{j}": rng.normal(size=n).round(2) for j in range(int(rng.integers(1, 4)))})
    if has_words:
        table["word"] = rng.choice(["red", "green", "blue", "grey"], size=n)
    if rng.random() < 0.5:
        table.loc[rng.random(n) < 0.1, "x0"] = np.nan
    labels = rng.choice(["a", "b", "c"], size=n) if has_labels else None
    how = {} if has_labels or rng.random() < 0.5 else {"n_clusters": int(rng.integers(2, 5))}
    how |= {"validate": 2} if rng.random() < 0.3 else {}
    steps = told(lambda verbose: explain(table, labels, verbose=verbose, **how))
    assert_counts_up(steps)
    names = [re.sub(", round .*", "", name) for name in steps]
    assert "steps to the tree" in names
    assert ("looking for groups" in names) == (not has_labels)
    assert ("numbers of clusters tried" in names) == (not has_labels and "n_clusters" not in how)
    assert any(name in names for name in ("making clusters", "starts of clusters")) == (not has_labels)
    for name, count in Counter(names).items():  # numbered one by one
        assert {name, *(f"{name}, round {i}" for i in range(2, count + 1))} <= {*steps}


def test_what_begins_anew_has_a_number():
    steps = told(lambda verbose: explain(np.random.default_rng(2).normal(size=(200, 4)), verbose=verbose))
    assert_counts_up(steps)
    assert {"steps to the tree", "steps to the tree, round 2", "making clusters, round 2"} <= {*steps}


def test_each_resample_is_told():
    steps = told(lambda verbose: explain(X, Y, method="cart").stability(4, verbose=verbose))
    assert steps == {"resamples": [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]}


def test_each_number_of_clusters_is_told():
    steps = told(lambda verbose: compare_k(X, (2, 3), method="cart", verbose=verbose))
    assert steps == {"numbers of clusters tried": [(0, 2), (1, 2), (2, 2)]}


def test_each_tree_of_the_frontier_is_told():
    ex = explain(X, Y, method="cart")
    assert told(lambda verbose: ex.frontier(verbose=verbose)) == {"trees of the frontier": [(0, 1), (1, 1)]}
    assert told(lambda verbose: ex.frontier(verbose=verbose)) == {}  # it is kept
    assert told(lambda verbose: ex.frontier(3, verbose=verbose)) == {
        "trees of the frontier": [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)],
        "trees grown without the rows held out": [(0, 3), (1, 3), (2, 3), (3, 3)],
    }


def test_lines_are_written_to_standard_error_only_when_asked_for(capsys):
    explain(X, Y)
    assert capsys.readouterr() == ("", "")
    explain(X, Y, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "boxwood: steps to the tree: 9 of 9"


@each("verbose", ["yes", -1, 0.5, None])
def test_other_values_are_refused(verbose):
    with pytest.raises(TypeError, match="verbose must be 0, 1 or a function"):
        explain(X, Y, verbose=verbose)


def test_threads_change_nothing():
    one, none, every = (explain(X, Y, n_jobs=n_jobs, validate=0.5) for n_jobs in (1, None, -1))
    assert one == none == every
    assert one._rows().task.n_jobs == 1
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        explain(X, Y, n_jobs=0)
    with pytest.raises(TypeError, match="n_jobs must be a whole number"):
        explain(X, np.asarray(Y), n_jobs="all")
