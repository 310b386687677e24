"""The trees that "auto" chooses from, by name.

To add one, write a function that takes the task, the number of leaves and a sample of the task, and give it a line in
`CANDIDATES`. `benchmarks.quality.totals` shows what each is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import tee
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood.explanation.choose import settings
from boxwood.grow import METHODS, Method
from boxwood.grow.centers.greedy import growth_of_several
from boxwood.grow.leaves.expand import expand_tree
from boxwood.grow.leaves.impurity import grown_to_sizes
from boxwood.grow.leaves.prune import prune_tree
from boxwood.grow.refinement.exchange import loss_of
from boxwood.grow.shared.names import match_leaves
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

IMPURITIES = {"gini": "cart", "entropy": "cart-entropy", "centers": "regression-centers", "rows": "regression-rows"}
LOSSES = {"exkmc": "cost", "expand": "mistakes"}  # the ways to expand a tree, and their losses


Trees: TypeAlias = Iterator[tuple[ThresholdTree, str]]


class CandidateInput(NamedTuple):
    """What a candidate may use: rows for growers of few passes, a sample for others, and the number of leaves."""

    task: Task
    sample: Task
    leaves: int
    by_cost: bool  # whether trees are chosen by cost, and not by agreement alone
    asks_cost: bool  # whether the least cost was asked for
    by_centers: bool  # whether trees that look at the centres of clusters alone may be worth their time
    searched: tuple[int, ...]  # numbers of leaves of all searches of the task
    starts: dict[str, Trees]  # trees with a leaf for each cluster, by method: those of any number of leaves begin so
    by_impurity: dict[str, dict[int, ThresholdTree]]  # trees by their size, for all searches
    begun: set[ThresholdTree]  # trees that others were begun with
    left_out: set[str]  # methods whose trees take too much work

    @property
    def losses(self) -> dict[str, str]:
        """The ways to expand a tree that may pay, and their losses: where agreement decides, that by cost never did."""
        return {how: loss for how, loss in LOSSES.items() if self.by_cost or loss == "mistakes"}

    @property
    def by_few_rows(self) -> Task:
        """The sample; fewer of its rows for trees that look at the centres alone, where these say little."""
        n_rows = max(settings.CENTERS_ROWS, settings.ROWS_PER_LEAF * self.leaves)
        return self.sample if self.by_centers else self.sample.sampled(n_rows)


def _separating(part: CandidateInput) -> Trees:
    """Yield the trees of methods with one leaf for each cluster, expanded if more leaves are asked for."""
    seen = part._replace(task=part.task.on_usable_columns, sample=part.sample.on_usable_columns)
    for method in METHODS.values():
        if _is_complete(method, seen) and (part.by_centers or method.name != "imm"):
            task = method.task_for(part.task if method.sees_all_rows else part.by_few_rows)
            starts = part.starts.get(method.name) or _of_method(method, task, seen)
            starts, part.starts[method.name] = tee(starts)
            for start, name in starts:
                if start not in part.begun:  # for few clusters methods often agree
                    part.begun.add(start)
                    yield from _expand_tree(start, name, part)


def _of_method(method: Method, task: Task, part: CandidateInput) -> Trees:
    if method.name == "greedy":  # among those of "shallow"
        return
    if method.name == "shallow":
        yield from _of_penalties(task, part)
    else:
        yield method.grow(task).tree, method.name


def _of_penalties(task: Task, part: CandidateInput) -> Trees:
    """Yield the trees of ExShallow's penalties: the middle two, and beyond each of them if it is not clearly worse.

    The loss usually falls and then rises with the penalty. Deep trees of many clusters take longest, so small penalties
    are left out where they gain nothing. Where many clusters in many columns are cut off one by one, no more are grown.
    """
    grow = growth_of_several(task, settings.PENALTIES, most_values=settings.VALUES)
    low, loss = grow(1), "cost" if part.by_cost else "mistakes"
    high = None if low is None else grow(2)
    if low is None or high is None:
        part.left_out.add("ExShallow")
        yield from _if_grown(low, "shallow")
        return
    losses = [loss_of(tree, task, loss) for tree in (low, high)]
    if losses[0] <= settings.CLEARLY * losses[1]:
        yield from _if_grown(grow(0), "greedy")
    yield low, "shallow"
    yield high, "shallow"
    if losses[1] <= settings.CLEARLY * losses[0]:
        yield from _if_grown(grow(3), "shallow")


def _if_grown(tree: ThresholdTree | None, name: str) -> Trees:
    if tree is not None:
        yield tree, name


def _expand_tree(start: ThresholdTree, name: str, part: CandidateInput) -> Trees:
    if start.n_leaves >= part.leaves:
        yield start, name
        return
    for how, loss in part.losses.items():
        yield expand_tree(start, part.sample, part.leaves, loss=loss), f"{name}-{how}"


def _from_the_root(part: CandidateInput) -> Trees:
    """Yield the tree that is expanded from a single leaf: by what is looked at first.

    It is hardly ever the best, once cuts are refined, beside expanded trees that separate the centres.
    """
    if _has_separating(part):
        return
    for how, loss in LOSSES.items():
        if (loss == "cost") == part.by_cost:
            yield expand_tree(None, part.sample, part.leaves, loss=loss), f"{how}-root"


def _of_impurity(part: CandidateInput) -> Trees:
    """Yield CART's trees and regression trees, as large as asked for, and twice as large and pruned back.

    CART's by Gini impurity, which see all rows, gain next to nothing beside trees that separate the centres, and
    regression trees on the rows nothing where agreement counts, too.
    """
    loss, has_separating = "cost" if part.by_cost else "mistakes", _has_separating(part)
    for criterion, name in IMPURITIES.items():
        if criterion == "gini" and has_separating:
            continue
        if criterion == "centers" and not part.by_centers:
            continue
        if criterion == "rows" and not (part.asks_cost and _squares(part.sample) <= settings.SQUARES_BY_ROWS):
            continue
        task = part.task if criterion == "gini" else part.sample
        if criterion not in part.by_impurity:  # all at once takes no longer than the largest
            every = sorted({size for leaves in part.searched for size in _sizes(part._replace(leaves=leaves))})
            part.by_impurity[criterion] = dict(zip(every, grown_to_sizes(task, criterion, every), strict=True))
        tree, *larger = (part.by_impurity[criterion][size] for size in _sizes(part))
        yield tree, name
        if tree.n_leaves == task.reference.n_clusters:
            yield match_leaves(tree, task, "cost" if part.asks_cost else "mistakes"), f"{name}, matched"
        for each in larger:
            yield prune_tree(each, task, part.leaves, loss), f"{name}, pruned"


def _squares(task: Task) -> int:
    """Return how many products of two columns regression trees on the rows look at for each level of a tree."""
    return len(task.rows) * task.rows.n_columns**2


def _sizes(part: CandidateInput) -> tuple[int, ...]:
    """Return how many leaves trees of impurity grow to: with one for each cluster, those pruned back never win."""
    if _has_separating(part) and part.leaves == part.task.reference.n_clusters:
        return (part.leaves,)
    return part.leaves, settings.OVERGROWN * part.leaves


def carts_of(task: Task, loss: str) -> Iterator[ThresholdTree]:
    """Yield CART's trees by both impurities, as large as asked for, and twice as large and pruned back."""
    leaves = task.leaves()
    for criterion in ("gini", "entropy"):
        tree, larger = grown_to_sizes(task, criterion, (leaves, settings.OVERGROWN * leaves))
        yield tree
        yield prune_tree(larger, task, leaves, loss)


def _has_separating(part: CandidateInput) -> bool:
    """Return whether cost decides, and trees that separate the centres are among the candidates.

    These need not keep a budget of depth or of rows in a leaf.
    """
    task, reference = part.task, part.task.reference
    if not part.by_cost or part.leaves < reference.n_clusters:
        return False
    return not (reference.equal_pair or task.equal_without_forbidden or task.budget.limits_shape)


CANDIDATES: dict[str, Callable[[CandidateInput], Trees]] = {
    "separating": _separating,
    "from the root": _from_the_root,
    "of impurity": _of_impurity,
}


def _is_complete(method: Method, part: CandidateInput) -> bool:
    """Return whether a method makes one leaf for each cluster, and can run."""
    task = part.task
    if not method.candidate or part.leaves < task.reference.n_clusters or task.reference.equal_pair:
        return False
    return not method.of_mixtures or (task.mixture is not None and not _equal_means(task))


def _equal_means(task: Task) -> str:
    """Return the names of two components with equal means, or an empty text."""
    if task.mixture is None:
        return ""
    no_rows = np.empty(0, dtype=np.intp)
    return Reference(no_rows, task.mixture.means).equal_pair
