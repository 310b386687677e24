"""What passes tell of a tree: its thresholds are shortened as in memory, on every column and beside empty sides."""

import numpy as np

from boxwood.batches.tree_sums import shortened_of_batches
from boxwood.explanation.measure.batch_statistics import BatchStatistics
from boxwood.reference import Reference, Task
from boxwood.tree import TreeBuilder
from tests.cases import make_case
from tests.scale import law
from tests.scattered import scattered


def tree_with_empty_sides(rng, X, k):
    """Return a tree with random cuts, at some of which all rows of the node are on one side."""
    builder, leaves = TreeBuilder(), [0]
    for _ in range(int(rng.integers(1, 6))):
        feature = int(rng.integers(X.shape[1]))
        ends = np.sort(rng.choice(X[:, feature], 2) + rng.normal(size=2)).tolist()
        lower = ends[0] if rng.random() < 0.3 else -np.inf
        leaves += builder.split(leaves.pop(int(rng.integers(len(leaves)))), feature, ends[1], lower)
    for leaf in leaves:
        builder.label(leaf, int(rng.integers(k)))
    return builder.build()


@law(80)
def test_thresholds_are_shortened_as_in_memory(seed):
    case, rng = make_case(seed), np.random.default_rng(seed)
    X = np.asarray(case.X, dtype=np.float64)
    source = scattered(X, seed, label=case.labels)
    task = Task.of(source, Reference.of(source, "label"))
    tree = tree_with_empty_sides(rng, X, task.reference.n_clusters)
    sums = BatchStatistics(task).of_trees([tree])[0]
    assert shortened_of_batches(sums, task.batches) == tree.shortened(X)
