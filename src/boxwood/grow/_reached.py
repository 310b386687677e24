"""The leaf of each row of a task, remembered, as one tree is asked for it by several steps of a search."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from boxwood._types import Indices, Ints
from boxwood._validation import Rows
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["clusters_reached", "leaves_reached"]

REMEMBERED = 1 << 20  # leaves that are remembered for one table, of all its rows and of several trees; or of one tree

_known: WeakKeyDictionary[Rows, dict[tuple[bytes, ...], Ints]] = WeakKeyDictionary()


def leaves_reached(tree: ThresholdTree, task: Task) -> Indices:
    """Return what `tree.apply(task.rows)` does, shape (n,), as an array that cannot be written.

    Trees that differ in nothing but their clusters share it. Values of rows must not change as long as `Rows` live.
    """
    n_rows, cuts = len(task.rows), tuple(each.tobytes() for each in (tree.feature, tree.lower, tree.upper, tree.second))
    known = _known.setdefault(task.rows, {})
    leaf = known.get(cuts)
    if leaf is None:
        leaf = tree.apply(task.rows, n_jobs=task.n_jobs)
        leaf.flags.writeable = False
        oldest = list(known)[: max(len(known) + 1 - max(REMEMBERED // n_rows, 1), 0)]
        for each in oldest:
            known.pop(each, None)
        known[cuts] = leaf
    return leaf


def clusters_reached(tree: ThresholdTree, task: Task) -> Indices:
    """Return what `tree.predict(task.rows)` does, shape (n,)."""
    return tree.leaf_clusters[leaves_reached(tree, task)]
