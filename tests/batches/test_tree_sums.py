"""What passes tell of a tree: its thresholds are shortened as in memory, on every column and beside empty sides."""

import numpy as np
import pyarrow as pa

from boxwood.batches.source import ArrowSource
from boxwood.batches.tree_sums import cells_of, shortened_of_batches
from boxwood.explanation.choose.search import sample_task
from boxwood.explanation.measure.batch_statistics import BatchStatistics
from boxwood.reference import Reference, Task
from tests.cases import make_case, random_tree
from tests.scale import law
from tests.scattered import scattered


def tree_with_empty_sides(rng, X, k):
    """Return a tree with random cuts, at some of which all rows of the node are on one side."""

    def cut():
        feature = int(rng.integers(X.shape[1]))
        ends = np.sort(rng.choice(X[:, feature], 2) + rng.normal(size=2)).tolist()
        return feature, ends[1], ends[0] if rng.random() < 0.3 else -np.inf

    return random_tree(rng, int(rng.integers(2, 7)), cut, lambda leaf: rng.integers(k))


@law(80)
def test_thresholds_are_shortened_as_in_memory(seed):
    case, rng = make_case(seed), np.random.default_rng(seed)
    X = np.asarray(case.X, dtype=np.float64)
    source = scattered(X, seed, label=case.labels)
    task = Task.of(source, Reference.of(source, "label"))
    tree = tree_with_empty_sides(rng, X, task.reference.n_clusters)
    sums = BatchStatistics(task).of_trees([tree])[0]
    assert shortened_of_batches(sums, task.batches) == tree.shortened(X)


@law(60)
def test_trees_that_are_measured_together_hold_what_each_of_them_holds_alone(seed):
    case, rng = make_case(seed), np.random.default_rng(seed)
    X = np.asarray(case.X, dtype=np.float64)
    labels = np.where(np.arange(len(X)) % 5 == 1, -1, case.labels) if seed % 2 else case.labels
    weights = {"weight": rng.integers(1, 4, len(X)).astype(float)} if seed % 3 == 0 else {}
    source, weight = scattered(X, seed, label=labels, **weights), "weight" if weights else None
    reference = Reference.of(source, "label", sample_weight=weight)
    facts = BatchStatistics(Task.of(source, reference, sample_weight=weight))
    trees = [tree_with_empty_sides(rng, X, reference.n_clusters) for _ in range(3)]
    trees.append(trees[0].relabeled(rng.integers(reference.n_clusters, size=trees[0].n_leaves)))
    means = facts.means
    for together, tree in zip(facts.of_trees(trees), trees, strict=True):
        [alone] = facts.of_trees([tree])
        for name in ("rows", "held", "noise", "least", "most", "left", "right", "broken", "broken_of_kept"):
            np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
        assert together.costs() == alone.costs()
        leaves, labels_of_rows = tree.apply(X), np.searchsorted(np.unique(labels[labels >= 0]), labels)
        kept = labels >= 0
        np.testing.assert_array_equal(together.noise, np.bincount(leaves[~kept], minlength=tree.n_leaves))
        counts = np.zeros((tree.n_leaves, len(means.weights)), dtype=np.int64)
        np.add.at(counts, (leaves[kept], labels_of_rows[kept]), 1)
        np.testing.assert_array_equal(together.rows, counts)


def test_trees_with_too_many_cells_are_measured_one_after_the_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    trees = [tree_with_empty_sides(rng, X, 2) for _ in range(4)]
    assert [len(cells.trees) for cells in cells_of(trees, 10**6)] == [4]
    assert [len(cells.trees) for cells in cells_of(trees, 1)] == [1, 1, 1, 1]


def test_one_pass_draws_the_sample_and_finds_the_rows_near_their_means_and_the_squares():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=5000)
    X = rng.normal(size=(5000, 2)) + labels[:, None]
    source = ArrowSource(pa.table({"x": X[:, 0], "y": X[:, 1], "label": labels}), batch_rows=700)
    task = Task.of(source, Reference.of(source, "label"))
    together, apart, before = BatchStatistics(task), BatchStatistics(task), source.n_passes
    sample, _ = sample_task(task, together.beside)
    found = together.share_nearest, together.squares.squares().tolist(), sample.rows.values.tolist()
    assert source.n_passes == before + 1
    others, _ = sample_task(task)
    assert found == (apart.share_nearest, apart.squares.squares().tolist(), others.rows.values.tolist())
    assert 0.5 < found[0] < 1
