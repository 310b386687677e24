"""The tree of a method, or the best of several trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from boxwood._threads import map_blocks
from boxwood.errors import DataError
from boxwood.grow import cart, imm
from boxwood.grow._expand import expanded  # in place of the warning of `expand`, a note is made
from boxwood.metrics import best_centers, partition_cost
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree

__all__ = ["METHODS", "Chosen", "Task", "choose"]

METHODS = ("auto", "imm", "exkmc", "expand", "cart")
LARGE = 5_000_000  # values; in a larger table only IMM, which takes one pass, sees every row
SAMPLED = 1_000_000  # values that the others see then
NEAREST = 0.95  # share of rows nearest to their own cluster's mean from which on clusters are those of means


class Task(NamedTuple):
    """Rows, the clustering to be explained, and how many leaves were asked for."""

    X: NDArray[Any]
    reference: Reference
    weights: NDArray[np.float64] | None
    max_leaf_nodes: int | None
    random_state: Any

    def leaves(self, times: int = 1) -> int:
        """Return the number of leaves to grow: as asked, or that many times the clusters."""
        return self.max_leaf_nodes or times * self.reference.n_clusters

    def sampled(self) -> Task:
        """Return the task on a random sample of the rows that are not left out."""
        n_rows = max(SAMPLED // self.X.shape[1], 1)
        rows = np.flatnonzero(self.reference.kept)
        if len(rows) > n_rows:
            rows = np.sort(check_random_state(self.random_state).choice(rows, n_rows, replace=False))
        reference = Reference(self.reference.labels[rows], self.reference.centers, self.reference.names)
        return self._replace(X=self.X[rows], reference=reference, weights=_of(self.weights, rows))


class Chosen(NamedTuple):
    """A tree, what grew it, and what a reader should know of that."""

    tree: ThresholdTree
    method: str
    notes: tuple[str, ...]


def choose(task: Task, method: str) -> Chosen:
    """Return the tree of `method`, or for "auto" the best of the candidates; see `explain` for the rule."""
    chosen = _best(task) if method == "auto" else _single(task, method)
    asked = task.max_leaf_nodes
    if asked is not None and chosen.tree.n_leaves < asked:
        stopped = f"stopped at {chosen.tree.n_leaves} of {asked} leaves, as no further cut gains anything"
        return chosen._replace(notes=(*chosen.notes, stopped))
    return chosen


# ---------------------------------------------------------------------------------------------------- one tree


def _single(task: Task, method: str) -> Chosen:
    k = task.reference.n_clusters
    if method == "cart":
        return Chosen(_cart(task), method, ())
    if method == "imm" and task.leaves() != k:
        raise ValueError(
            f"method 'imm' makes one leaf for each of {k} clusters, but max_leaf_nodes={task.max_leaf_nodes}; "
            "use 'auto', 'exkmc' or 'expand'"
        )
    if task.leaves() < k:
        return Chosen(_expanded(None, task, method, task.leaves()), f"{method}-root", ())
    equal = _equal_centers(task.reference)
    if equal:
        raise DataError(f"no cut separates clusters with equal centres ({equal}); use method 'auto' or 'cart'")
    begin = imm(task.X, task.reference, sample_weight=task.weights)
    tree = begin if method == "imm" else _expanded(begin, task, method, task.leaves(times=2))
    return Chosen(tree, method, ())


def _cart(task: Task) -> ThresholdTree:
    return cart(
        task.X,
        task.reference.labels,
        max_leaf_nodes=task.leaves(),
        sample_weight=task.weights,
        random_state=task.random_state,
    )


def _expanded(begin: ThresholdTree | None, task: Task, method: str, leaves: int) -> ThresholdTree:
    objective = "cost" if method.startswith("exkmc") else "mistakes"
    return expanded(
        begin, task.X, task.reference, max_leaf_nodes=leaves, objective=objective, sample_weight=task.weights
    )


# ------------------------------------------------------------------------------------------- the best of several


def _best(task: Task) -> Chosen:
    """Return the candidate that covers every cluster and loses least."""
    notes = []
    seen = task
    if task.X.size > LARGE:
        seen = task.sampled()
        notes.append(
            f"the table is large: IMM saw every row, the other methods a random sample of {len(seen.X):,} rows"
        )
    equal = _equal_centers(task.reference)
    if equal:
        notes.append(f"IMM was left out, as no cut separates clusters with equal centres ({equal})")
    candidates = _candidates(task, seen, with_imm=not equal)
    loss = _cost if _of_means(task) else _mistakes
    losses = [(not _covers(tree, task.reference), loss(tree, task)) for _, tree in candidates]
    name, tree = candidates[losses.index(min(losses))]
    return Chosen(tree, name, tuple(notes))


def _candidates(task: Task, seen: Task, *, with_imm: bool) -> list[tuple[str, ThresholdTree]]:
    """Return the trees to choose from, the first ones preferred; `seen` is what all methods but IMM are shown."""
    leaves, k = task.leaves(), task.reference.n_clusters
    candidates = []
    if with_imm and leaves >= k:
        begin = imm(task.X, task.reference, sample_weight=task.weights)
        names = ("exkmc", "expand") if leaves > k else ()
        candidates = [(name, _expanded(begin, seen, name, leaves)) for name in names] or [("imm", begin)]
    candidates += [(name, _expanded(None, seen, name, leaves)) for name in ("exkmc-root", "expand-root")]
    return [*candidates, ("cart", _cart(seen))]


def _equal_centers(reference: Reference) -> str:
    first = reference.first_of_equal_centers()
    later = np.flatnonzero(first != np.arange(len(first)))
    return f"{reference.names[first[later[0]]]} and {reference.names[later[0]]}" if len(later) else ""


def _covers(tree: ThresholdTree, reference: Reference) -> bool:
    present = np.unique(reference.labels[reference.kept])
    return bool(np.isin(present, tree.leaf_clusters).all())


def _cost(tree: ThresholdTree, task: Task) -> float:
    predicted = np.where(task.reference.kept, tree.predict(task.X), -1)
    return partition_cost(task.X, predicted, sample_weight=task.weights)


def _mistakes(tree: ThresholdTree, task: Task) -> float:
    wrong = task.reference.kept & (tree.predict(task.X) != task.reference.labels)
    return float(wrong.sum() if task.weights is None else task.weights[wrong].sum())


def _of_means(task: Task) -> bool:
    """Return whether nearly every row lies nearest to the mean of its own cluster."""
    reference, weights = task.reference, task.weights
    means = best_centers(task.X, reference.labels, reference.n_clusters, objective="sqeuclidean", sample_weight=weights)
    means = np.where(np.isnan(means), np.inf, means)
    present: NDArray[np.bool_] = np.isfinite(means[:, 0])
    origin = means[present].mean(axis=0)
    unit = np.abs(means[present] - origin).max() or 1.0  # keeps squares of huge numbers finite
    near = np.where(present[:, None], (means - origin) / unit, 0.0)
    norms = np.where(present, np.square(near).sum(axis=1), np.inf)

    def count(start: int, stop: int) -> NDArray[np.float64]:
        labels = reference.labels[start:stop]
        rows = (task.X[start:stop] - origin) / unit
        distances = norms - 2 * rows @ near.T
        kept = labels >= 0
        own: NDArray[Any] = distances[np.arange(len(labels)), np.where(kept, labels, 0)] <= distances.min(axis=1)
        weight: NDArray[Any] = np.where(kept, 1.0 if weights is None else weights[start:stop], 0.0)
        return np.array([weight[own].sum(), weight.sum()], dtype=np.float64)

    own, total = np.sum(map_blocks(count, len(task.X)), axis=0)
    return bool(own >= NEAREST * total)


def _of(weights: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    return None if weights is None else weights[rows]
