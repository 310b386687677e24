"""The tree of a method, or the best of several trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxwood.explanation._loss import Loss, least
from boxwood.grow import METHODS, Method
from boxwood.grow._cart import grow_cart
from boxwood.grow._expand import expanded
from boxwood.grow._grown import Grown
from boxwood.grow._refine import matched
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

__all__ = ["choose"]

OBJECTIVES = {"exkmc": "cost", "expand": "mistakes"}  # the expansions that "auto" tries, and their objectives
SAMPLED = 250_000  # values; in a larger table, methods that need several passes use a sample of this size
REFINED = 100_000  # values on which candidates are refined; the best candidate is then refined on the larger sample
WORTH = 1.15  # a candidate is refined if it loses at most this many times the smallest loss; refinement gains less


def choose(task: Task, name: str, **options: Any) -> Grown:
    """Return the tree of a method, or for "auto" the best candidate; `explain` states the rule."""
    if name == "auto":
        return _best(task).noting_early_stop(task)
    _refuse_leaves(task, METHODS[name])
    return METHODS[name].grow(task, **options)


def _refuse_leaves(task: Task, method: Method) -> None:
    """Raise a ValueError if the method cannot make the number of leaves asked for."""
    if not method.one_leaf_each or task.max_leaf_nodes is None:
        return
    n, what = task.reference.n_clusters, "clusters"
    if method.of_mixtures:
        n, what = task.components.n_components, "components"
    if task.max_leaf_nodes != n:
        others = [f"{name!r}" for name, other in METHODS.items() if not other.one_leaf_each]
        raise ValueError(
            f"method {method.name!r} makes one leaf for each of {n} {what}, but max_leaf_nodes={task.max_leaf_nodes}; "
            f"use 'auto', {', '.join(others[:-1])} or {others[-1]}"
        )


# ------------------------------------------------------------------------------------------- the best of several


def _best(task: Task) -> Grown:
    """Return the tree that loses least, among the candidates and the refined ones."""
    notes = []
    sample = task.sampled(SAMPLED)
    equal = _equal_centers(task.reference)
    complete = [method for method in METHODS.values() if _is_complete(method, task, equal)]
    if sample is not task:
        who = [method.name.upper() for method in complete if method.sees_all_rows]
        whole = f"{' and '.join(who)} saw every row, the other methods" if who else "the methods saw"
        notes.append(f"the table is large: {whole} a random sample of {len(sample.rows):,} rows")
    if equal:
        notes.append(f"IMM was left out, as no cut separates clusters with equal centres ({equal})")
    loss = Loss(task)
    candidates = loss.scored(_candidates(task, sample, complete))
    small = task.sampled(REFINED)
    largest_loss = WORTH * min(each.loss for each in candidates)[0]
    promising = [each for each in candidates if each.loss[0] <= largest_loss]
    refined = [(_refined(name), loss.refined(tree, small)) for _, name, tree in promising]
    best = least([*candidates, *loss.scored(refined)])
    if small is not sample:
        best = least([best, *loss.scored([(_refined(best.name), loss.refined(best.tree, sample))])])
    facts = {} if task.mixture is None else {"mixture": task.mixture}
    early_stop = "no tree with more leaves was found that loses less"
    return Grown(best.tree, best.name, facts=facts, notes=tuple(notes), early_stop=early_stop)


def _refined(name: str) -> str:
    return name if name.endswith("refined") else f"{name}, refined"


def _is_complete(method: Method, task: Task, equal: str) -> bool:
    """Return whether a method is a candidate of "auto" that makes one leaf for each cluster, and can run."""
    if not method.candidate or equal or task.leaves() < task.reference.n_clusters:
        return False
    return not method.of_mixtures or (task.mixture is not None and not _equal_means(task))


def _candidates(task: Task, sample: Task, complete: list[Method]) -> list[tuple[str, ThresholdTree]]:
    """Return the trees to choose from; of equally good ones the first is preferred."""
    leaves, k = task.leaves(), task.reference.n_clusters
    candidates = []
    for method in complete:
        start = method.grow(task if method.sees_all_rows else sample).tree
        if leaves == k:
            candidates.append((method.name, start))
        else:
            candidates += [
                (f"{method.name}-{how}", expanded(start, sample, leaves, objective=objective))
                for how, objective in OBJECTIVES.items()
            ]
    for how, objective in OBJECTIVES.items():
        candidates.append((f"{how}-root", expanded(None, sample, leaves, objective=objective)))
    candidates.append(("cart", grow_cart(sample).tree))
    return candidates + [(f"{name}, matched", matched(tree, sample)) for name, tree in candidates if tree.n_leaves == k]


def _equal_means(task: Task) -> str:
    """Return the names of two components with equal means, or an empty text."""
    if task.mixture is None:
        return ""
    no_rows = np.empty(0, dtype=np.intp)
    return _equal_centers(Reference(no_rows, task.mixture.means))


def _equal_centers(reference: Reference) -> str:
    """Return the names of two clusters with equal centres, or an empty text."""
    first = reference.first_of_equal_centers()
    later = np.flatnonzero(first != np.arange(len(first)))
    return f"{reference.names[first[later[0]]]} and {reference.names[later[0]]}" if len(later) else ""
