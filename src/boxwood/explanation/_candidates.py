"""The trees that "auto" chooses from, by name.

To add one, write a function that takes the task, the number of leaves and a sample of the task, and give it a line in
`CANDIDATES`. `benchmarks.quality.worth` shows what each is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood.grow import METHODS, Method
from boxwood.grow._cart import grow_cart
from boxwood.grow._expand import expanded
from boxwood.grow._refine import matched
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

__all__ = ["CANDIDATES", "Part", "equal_centers"]

OBJECTIVES = {"exkmc": "cost", "expand": "mistakes"}  # the ways to expand a tree, and their objectives


class Part(NamedTuple):
    """What a candidate may use: the whole task, a sample of it, and the number of leaves; see `Search`."""

    task: Task
    sample: Task
    leaves: int
    by_cost: bool  # whether trees are chosen by cost, and not by agreement alone


Trees: TypeAlias = Iterator[tuple[ThresholdTree, str]]


def _complete(part: Part) -> Trees:
    """Yield the trees of methods with one leaf for each cluster, expanded if more leaves are asked for."""
    for method in METHODS.values():
        if _is_complete(method, part):
            start = method.grow(part.task if method.sees_all_rows else part.sample).tree
            yield from _expanded(start, method.name, part)


def _expanded(start: ThresholdTree, name: str, part: Part) -> Trees:
    if start.n_leaves >= part.leaves:
        yield start, name
        return
    for how, objective in OBJECTIVES.items():
        yield expanded(start, part.sample, part.leaves, objective=objective), f"{name}-{how}"


def _roots(part: Part) -> Trees:
    """Yield the trees that are expanded from a single leaf."""
    for how, objective in OBJECTIVES.items():
        yield expanded(None, part.sample, part.leaves, objective=objective), f"{how}-root"


def _cart(part: Part) -> Trees:
    """Yield CART's tree of every row."""
    tree = grow_cart(replace(part.task, max_leaf_nodes=part.leaves)).tree
    yield tree, "cart"
    if tree.n_leaves == part.task.reference.n_clusters:
        yield matched(tree, part.sample), "cart, matched"


CANDIDATES: dict[str, Callable[[Part], Trees]] = {"complete": _complete, "roots": _roots, "cart": _cart}


def _is_complete(method: Method, part: Part) -> bool:
    """Return whether a method makes one leaf for each cluster, and can run."""
    task = part.task
    if not method.candidate or part.leaves < task.reference.n_clusters or equal_centers(task.reference):
        return False
    return not method.of_mixtures or (task.mixture is not None and not _equal_means(task))


def _equal_means(task: Task) -> str:
    """Return the names of two components with equal means, or an empty text."""
    if task.mixture is None:
        return ""
    no_rows = np.empty(0, dtype=np.intp)
    return equal_centers(Reference(no_rows, task.mixture.means))


def equal_centers(reference: Reference) -> str:
    """Return the names of two clusters with equal centres, or an empty text."""
    first = reference.first_of_equal_centers()
    later = np.flatnonzero(first != np.arange(len(first)))
    return f"{reference.names[first[later[0]]]} and {reference.names[later[0]]}" if len(later) else ""
