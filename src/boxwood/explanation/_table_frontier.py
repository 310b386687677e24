"""The frontier of a table in batches: prunings of one larger tree, measured on all rows by passes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boxwood.explanation._frontier import (
    HeldOutBySize,
    expanded_name,
    frontier_on,
    held_out_by_size,
    largest_of,
    way_of,
)
from boxwood.explanation._losses import Distance, LeafLosses, cost_by_means
from boxwood.explanation._records import Frontier
from boxwood.explanation._table_facts import TableFacts
from boxwood.explanation._table_growth import Growth, grown_by_name
from boxwood.explanation._table_in_memory import with_sample_in_memory
from boxwood.grow import METHODS
from boxwood.grow._expand_passes import expanded_by_passes
from boxwood.grow._prune_passes import shares_by_passes
from boxwood.passes import TableTask
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation

__all__ = ["frontier_by_passes"]


def frontier_by_passes(ex: Explanation, folds: int) -> Frontier:
    """Return the frontier of a table in batches; `Explanation.frontier` states how it is made.

    A method by its name grows the larger tree on all rows, and they prune it. Otherwise, with folds, and where
    thresholds are rounded, a sample does. Price and agreement are those of all rows, held out those of the sample.
    """
    assert ex._table is not None
    growth, task = ex._table.growth, ex._table.task
    is_rounded = task.budget.round_thresholds is not None
    if not folds and not is_rounded and growth is not None and growth.method != "auto":
        way = _ByName(growth)
        largest = replace(growth.task, max_leaf_nodes=largest_of(ex))
        shares = shares_by_passes(way.grown(largest), growth.task, way.objective)
        nothing = HeldOutBySize([None] * len(shares.sizes()), None)
        return frontier_on(ex, shares, _losses(TableFacts(growth.task), shares.tree), nothing, 0, way, ex.n_rows)
    sampled, is_all = with_sample_in_memory(ex)
    evidence = sampled._rows()
    of_sample, to_grow = way_of(sampled, evidence), replace(evidence.task, max_leaf_nodes=largest_of(ex))
    shares, _, grown_on = of_sample.prunings(to_grow, evidence)
    held = held_out_by_size(sampled, evidence, to_grow, of_sample, shares.sizes(), folds, Distance(ex.objective))
    n_grown = ex.n_rows if is_all and grown_on is to_grow else len(grown_on.rows)
    if growth is None or not is_rounded:
        facts = TableFacts(task if growth is None else growth.task)
    else:  # the larger tree tests the table's columns
        facts = TableFacts(task, None if growth.scaling is None else growth.scaling.scale)
    return frontier_on(ex, shares, _losses(facts, shares.tree), held, folds, of_sample, n_grown)


class _ByName:
    """How a method by its name grows the larger tree by passes."""

    def __init__(self, growth: Growth) -> None:
        self.method, self.options = growth.method, growth.options
        self.objective = "mistakes" if METHODS[growth.method].by_mistakes else "cost"
        self.has_one_leaf_each = METHODS[growth.method].one_leaf_each
        self.name = expanded_name(growth.method, self.objective) if self.has_one_leaf_each else growth.method

    def grown(self, task: TableTask) -> ThresholdTree:
        """Return the tree with as many leaves as the task asks for."""
        if not self.has_one_leaf_each:
            return self._by_method(task)
        start, leaves = self._by_method(replace(task, max_leaf_nodes=None)), task.leaves()
        if start.n_leaves >= leaves:
            return start
        return expanded_by_passes(start, task, leaves, objective=self.objective)[0]

    def _by_method(self, task: TableTask) -> ThresholdTree:
        return grown_by_name(TableFacts(task), self.method, self.options).tree


def _losses(facts: TableFacts, tree: ThresholdTree) -> LeafLosses:
    """Return what the prunings of a tree lose on all rows, from two passes, or three."""
    [sums] = facts.of_trees([tree])
    means, inside = sums.means(), facts.cost_inside_leaves(sums)
    present = means.weights > 0
    shift = means.mean[np.argmax(present)]
    away = np.where(present[:, None], (means.mean - shift) + means.rest, 0.0)
    cost = cost_by_means(means.weights, away if facts.scale is None else away / facts.scale, inside, facts.k)
    return LeafLosses(sums.held.astype(np.float64), cost, facts.cost_of_clusters)
