"""The tree of a method, or the best of several trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from boxwood.errors import DataError
from boxwood.explanation._gaussians import Gaussians
from boxwood.explanation._loss import Loss
from boxwood.explanation._task import Task
from boxwood.grow import cart, greedy, imm, mmdt
from boxwood.grow._expand import expanded  # in place of the warning of `expand`, a note is made
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree

__all__ = ["METHODS", "Chosen", "Task", "choose"]

METHODS = ("auto", "imm", "exkmc", "expand", "cart", "mmdt")
SAMPLED = 250_000  # values; in a larger table only IMM sees more of them; CART, one call, hears an interrupt after it
REFINED = 100_000  # values on which candidates are refined; the best of them is refined on more
WORTH = 1.15  # candidates that lose more than so many times the least are not refined: it gains less than that


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
    if method == "mmdt" and task.gaussians is not None:
        return Chosen(_of_gaussians(task, task.gaussians), method, ())
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


def _of_gaussians(task: Task, gaussians: Gaussians) -> ThresholdTree:
    n = gaussians.mixture.n_components
    if task.max_leaf_nodes not in (None, n):
        raise ValueError(
            f"method 'mmdt' makes one leaf for each of {n} components, but max_leaf_nodes={task.max_leaf_nodes}; "
            "use 'auto', 'exkmc' or 'expand'"
        )
    equal = _equal_means(task)
    if equal:
        raise DataError(f"no cut separates components with equal means ({equal}); use method 'auto' or 'cart'")
    return gaussians.labelled(mmdt(gaussians.mixture))


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
    """Return the candidate that loses least, polished."""
    notes = []
    seen = task.sampled(SAMPLED)
    equal = _equal_centers(task.reference)
    with_imm = not equal and task.leaves() >= task.reference.n_clusters
    if seen is not task:
        who = "IMM saw every row, the other methods" if with_imm else "the methods saw"
        notes.append(f"the table is large: {who} a random sample of {len(seen.X):,} rows")
    if equal:
        notes.append(f"IMM was left out, as no cut separates clusters with equal centres ({equal})")
    loss = Loss(task)
    candidates = _candidates(task, seen, with_imm=with_imm)
    small = task.sampled(REFINED)
    losses = [loss.of(tree) for _, tree in candidates]
    most = WORTH * min(losses)[0]
    worth = [candidate for candidate, lost in zip(candidates, losses, strict=True) if lost[0] <= most]
    name, tree = loss.least(candidates + [(_refined(name), loss.refined(tree, small)) for name, tree in worth])
    if small is not seen:
        name, tree = loss.least([(name, tree), (_refined(name), loss.refined(tree, seen))])
    return Chosen(tree, name, tuple(notes))


def _refined(name: str) -> str:
    return name if name.endswith("refined") else f"{name}, refined"


def _candidates(task: Task, seen: Task, *, with_imm: bool) -> list[tuple[str, ThresholdTree]]:
    """Return the trees to choose from, the first ones preferred; `seen` is what all methods but IMM are shown."""
    leaves, k = task.leaves(), task.reference.n_clusters
    candidates = []
    if with_imm:
        complete = {
            "imm": imm(task.X, task.reference, sample_weight=task.weights),
            "ex-greedy": greedy(seen.X, seen.reference, sample_weight=seen.weights),
        }
        if task.gaussians is not None and not _equal_means(task):
            complete["mmdt"] = task.gaussians.labelled(mmdt(task.gaussians.mixture))
        for name, begin in complete.items():
            if leaves == k:
                candidates.append((name, begin))
            else:
                candidates += [(f"{name}-{how}", _expanded(begin, seen, how, leaves)) for how in ("exkmc", "expand")]
    candidates += [(f"{how}-root", _expanded(None, seen, how, leaves)) for how in ("exkmc", "expand")]
    candidates.append(("cart", _cart(seen)))
    return candidates + [(f"{name}, matched", _matched(tree, seen)) for name, tree in candidates if tree.n_leaves == k]


def _matched(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree with its leaves handed out to the clusters, one to each, by most rows in the right place."""
    weights = np.ones(len(task.X)) if task.weights is None else task.weights
    kept, k = task.reference.kept, task.reference.n_clusters
    found = np.zeros((tree.n_leaves, k))
    np.add.at(found, (tree.apply(task.X)[kept], task.reference.labels[kept]), weights[kept])
    return tree.relabeled(linear_sum_assignment(found, maximize=True)[1])


def _equal_means(task: Task) -> str:
    if task.gaussians is None:
        return ""
    no_rows = np.empty(0, dtype=np.intp)
    return _equal_centers(Reference(no_rows, task.gaussians.mixture.means, task.gaussians.named(task.reference)))


def _equal_centers(reference: Reference) -> str:
    first = reference.first_of_equal_centers()
    later = np.flatnonzero(first != np.arange(len(first)))
    return f"{reference.names[first[later[0]]]} and {reference.names[later[0]]}" if len(later) else ""
