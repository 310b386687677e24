"""The tree of a method, or the best of several trees."""

from __future__ import annotations

from typing import Any

from boxwood.explanation._progress import Progress, silent
from boxwood.explanation._search import searched
from boxwood.grow import METHODS, Method
from boxwood.grow._grown import Grown
from boxwood.reference import Task

__all__ = ["choose"]


def choose(task: Task, name: str, *, progress: Progress = silent, **options: Any) -> Grown:
    """Return the tree of a method, or for "auto" the best candidate, telling its steps; `explain` states the rule."""
    if name == "auto":
        return searched(task, progress=progress, **options).noting_early_stop(task)
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
