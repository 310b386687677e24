"""How work grows with clusters and columns: calls and memory are counted, not seconds, which `benchmarks` measures."""

import sys
import tracemalloc
from collections import Counter

import numpy as np
import pandas as pd

from boxwood import explain
from boxwood.explanation.measure.losses import Distance, Losses
from boxwood.explanation.measure.valleys import Valleys
from boxwood.grow import cart
from boxwood.grow.centers import greedy
from boxwood.loops import greedy as loops
from boxwood.reference import Reference, Task
from boxwood.tree import Interval
from boxwood.tree.cover import Covers, _cuts
from tests.scale import law

TIMES = 3  # so many times the clusters
MOST = 6  # times the calls: a little more than in proportion, and far less than the square


def explained(k, seed, *, has_words=False):
    """Return an explanation of k clusters, most of which have a leaf."""
    rng = np.random.default_rng(seed)
    groups = np.arange(3 * k) % k
    frame = pd.DataFrame({"x": rng.normal(size=3 * k) + groups % 7, "y": groups // 7 + rng.normal(size=3 * k) * 0.2})
    if has_words:
        frame["word"] = rng.choice(["red", "green", "blue"], 3 * k)
    return explain(frame, groups, method="cart")


def calls(work):
    """Return how often each function of boxwood is called."""
    counted = Counter()

    def count(frame, event, _):
        code = frame.f_code
        if event == "call" and "boxwood" in code.co_filename:
            counted[code.co_filename, code.co_name, code.co_firstlineno] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def peak(work):
    """Return the most bytes held at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@law(3)
def test_what_is_written_takes_calls_in_proportion_to_the_clusters(seed):
    def written(ex):
        ex.to_html()
        ex.to_sql()
        ex.to_json()
        str(ex)

    few, many = (explained(k, seed, has_words=seed % 2 == 1) for k in (12, 12 * TIMES))
    written(explained(5, seed))  # what is only done once
    before, after = calls(lambda: written(few)), calls(lambda: written(many))
    grown = {name: (before[name], n) for name, n in after.items() if n > MOST * (before[name] + 20)}
    assert not grown
    assert len(after) > 300


@law(3)
def test_a_naming_of_leaves_takes_no_room_for_each_leaf_and_cluster(seed):
    rng = np.random.default_rng(seed)
    n = 250
    X, labels = rng.normal(size=(2 * n, 2)), np.arange(2 * n) // 2
    reference = Reference.of(X, labels)
    tree, task = cart(X, labels, max_leaf_nodes=n), Task.of(X, reference)
    losses, namings = Losses(tree, task, task.rows, Distance("sqeuclidean")), tree.leaf_clusters[None]
    losses.of_each(namings)
    assert tree.n_leaves == n
    assert peak(lambda: losses.of_each(namings)) < n * n


@law(3)
def test_the_categories_of_a_leaf_are_looked_up_once_however_many_clusters_there_are(seed):
    n_words = 60

    def covered(k):
        rng, words = np.random.default_rng(seed), [Interval(i, i, True, True) for i in range(n_words)]
        some = [rng.choice(n_words, n_words // 2, replace=False) for _ in range(k)]
        sets = [tuple(words[j] for j in sorted(one)) for one in some]
        leaves = [{0: (Interval(i, i + 1, False, True),), 1: sets[i]} for i in range(k)]
        covers = Covers(leaves, {1: tuple((float(j), float(j)) for j in range(n_words))})
        for leaf in range(k):
            covers.of([leaf])

    counted = (calls(lambda k=k: covered(k)) for k in (8, 8 * TIMES))
    few, many = (sum(n for (_, name, _), n in each.items() if name == _cuts.__name__) for each in counted)
    assert 0 < many < MOST * few


@law(3)
def test_the_distances_of_a_row_to_all_centres_are_taken_once_however_many_columns_there_are(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    k, d, taken = 2 * greedy.LISTED + 4, 3 * greedy.COLUMNS, []
    centers = rng.normal(size=(k, d))
    X = centers + rng.normal(size=(k, d))
    write = loops._write_distances

    def count(X, row, *others):
        taken.append(int(row))
        write(X, row, *others)

    monkeypatch.setattr(loops, "_write_distances", count)
    for loop in ("keep_nearest", "add_changes"):  # as they stand, not compiled, nor as calls of numpy
        monkeypatch.setattr(greedy, loop, getattr(loops, loop).py_func)
    task = Task.of(X, Reference(np.arange(k), centers), n_jobs=1)
    lists, untested = greedy.lists_of(task), np.zeros((d, 2), dtype=bool)
    lists.cuts_at(greedy.Node((), np.arange(k), lists.order.root, np.arange(k), untested)).best([0.0])
    assert max(Counter(taken).values()) == 1


@law(3)
def test_few_rows_of_many_columns_make_no_table_of_all_pairs_of_columns(seed):
    rng = np.random.default_rng(seed)
    n, d = 20, 1500
    rows = rng.normal(size=(n, d)) if seed % 2 else rng.exponential(size=(n, d))
    assert peak(lambda: Valleys.of(rows).groups()) < 4 * d * d  # bytes, of which such a table has twice as many
