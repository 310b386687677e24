"""The tree of a method, or the best of several trees."""

from __future__ import annotations

from typing import Any

from boxwood.explanation._few_columns import grown_on_few
from boxwood.explanation._progress import Progress, silent
from boxwood.explanation._search import searched
from boxwood.grow import METHODS, Method
from boxwood.grow._grown import Grown
from boxwood.grow._names import named
from boxwood.grow._prefer import preferring
from boxwood.passes import TableTask
from boxwood.reference import Task

__all__ = ["choose", "refuse_leaves"]


def choose(task: Task, name: str, *, progress: Progress = silent, **options: Any) -> Grown:
    """Return the tree of a method, or for "auto" the best candidate, telling its steps; `explain` states the rule."""
    if name == "auto":
        return _searched(task, progress=progress, **options).noting_early_stop(task)
    method = METHODS[name]
    refuse_leaves(task, method)
    method.check_budget(task.budget)
    if task.budget.max_columns is None:
        return _preferring(method.grow(task, **options), task, method)

    def grow(task: Task, seconds: float | None) -> Grown:
        return _preferring(method.grow(task, **options), task, method)

    return grown_on_few(task, grow, "auto", several=False)


def _preferring(grown: Grown, task: Task, method: Method) -> Grown:
    """Return the tree of a method with cuts on preferred columns, where that costs nearly nothing."""
    by_cost = grown.kernel is None and grown.objective == "sqeuclidean" and not method.by_mistakes
    objective = "cost" if by_cost else "mistakes"
    tree = preferring(grown.tree, task, objective)
    if tree == grown.tree:
        return grown
    note = f"the tree of {method.name!r} was changed: cuts on other columns are cuts on preferred ones"
    return grown._replace(tree=named(tree, task, objective), notes=(*grown.notes, note))


def _searched(task: Task, *, progress: Progress, objective: str = "auto", time_limit: float | None = None) -> Grown:
    if task.budget.max_columns is None:
        return searched(task, objective=objective, time_limit=time_limit, progress=progress)

    def grow(task: Task, seconds: float | None) -> Grown:
        return searched(task, objective=objective, time_limit=seconds, progress=progress)

    return grown_on_few(task, grow, objective, several=True, time_limit=time_limit)


def refuse_leaves(task: Task | TableTask, method: Method) -> None:
    """Raise a ValueError if the method cannot make the number of leaves asked for."""
    if not method.one_leaf_each or task.max_leaf_nodes is None:
        return
    n, what = task.reference.n_clusters, "clusters"
    if method.of_mixtures and task.mixture is not None:
        n, what = task.components.n_components, "components"
    if task.max_leaf_nodes != n:
        others = [f"{name!r}" for name, other in METHODS.items() if not other.one_leaf_each]
        raise ValueError(
            f"method {method.name!r} makes one leaf for each of {n} {what}, but max_leaf_nodes={task.max_leaf_nodes}; "
            f"use 'auto', {', '.join(others[:-1])} or {others[-1]}"
        )
