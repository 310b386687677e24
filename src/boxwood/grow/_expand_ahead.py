"""Two or three cuts of a leaf at once by passes: the rows of leaves that no single cut helps are gathered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from boxwood._types import Floats, Ints
from boxwood.grow._block_costs import BlockCosts, Part, parts_of, taken
from boxwood.grow._costs import Problem, make_problem, with_centers
from boxwood.grow._expand_search import Leaf, Search
from boxwood.grow._levels import Paths
from boxwood.grow._look_ahead import Pair, best_pairs, cuts_of_pair
from boxwood.passes import Block, TableTask
from boxwood.reference import Reference, Task

__all__ = ["LookAhead"]

VALUES = 1 << 22  # of the rows that are gathered at once, at most


class LookAhead:
    """The look ahead of `_look_ahead` for leaves of a growing tree; leaves with too many rows are left out."""

    def __init__(self, task: TableTask, search: Search) -> None:
        self.task, self.search, self.most_rows = task, search, max(VALUES // task.batches.n_columns, 1)

    def find(self, leaves: Sequence[Leaf]) -> None:
        """Find the best pairs of cuts of leaves."""
        for leaf in leaves:
            leaf.pairs = []
        mixed = self._mixed(leaves)
        for leaf in mixed:
            leaf.is_too_large = leaf.count > self.most_rows
        for some in self._at_once([leaf for leaf in mixed if not leaf.is_too_large]):
            for leaf, problem in zip(some, self._problems(some), strict=True):
                leaf.pairs = best_pairs(problem, np.arange(len(problem.rows)), two_sided=False)

    def _mixed(self, leaves: Sequence[Leaf]) -> list[Leaf]:
        """Return the leaves in which no cluster is the cheapest for every row."""
        costs = self.search.costs
        leaves = [leaf for leaf in leaves if leaf.count > 2 and costs.under(leaf.total).min() > 0]
        if costs.by_label or not leaves:
            return leaves
        paths, scales = self.search.tree.paths_to([leaf.node for leaf in leaves]), [leaf.scale for leaf in leaves]
        least = self.task.batches.fold(partial(_Least, costs, paths, np.array(scales))).sums
        single = (int(costs.under(leaf.total).min()) for leaf in leaves)
        return [leaf for leaf, cost, own in zip(leaves, single, least.tolist(), strict=True) if cost != own]

    def part(self, leaf: Leaf, pair: Pair) -> None:
        """Make the cuts of a pair, if that is not done."""
        if leaf.seconds is not None:
            return
        problem = self._problems([leaf])[0]
        leaf.cut, *leaf.seconds = cuts_of_pair(problem, np.arange(len(problem.rows)), pair, two_sided=False)
        self.search.split(leaf)
        for side, cut in zip(leaf.sides, leaf.seconds, strict=True):
            if cut is not None:
                side.cut = cut
                self.search.split(side)

    def _at_once(self, leaves: Sequence[Leaf]) -> Iterator[list[Leaf]]:
        """Yield leaves in groups whose rows can be gathered together."""
        some: list[Leaf] = []
        for leaf in leaves:
            if sum(each.count for each in some) + leaf.count > self.most_rows:
                yield some
                some = []
            some.append(leaf)
        if some:
            yield some

    def _problems(self, leaves: Sequence[Leaf]) -> list[Problem]:
        """Return the rows of leaves, with costs that are the same as among all rows."""
        paths, costs = self.search.tree.paths_to([leaf.node for leaf in leaves]), self.search.costs
        rows = self.task.batches.fold(partial(_Rows, costs, paths)).joined()
        return [self._problem(taken(rows, np.flatnonzero(rows.nodes == i))) for i in range(len(leaves))]

    def _problem(self, part: Part) -> Problem:
        costs, task = self.search.costs, self.task
        reference = Reference(part.labels, costs.centers)
        small = Task.of(part.values, reference, sample_weight=part.weights, n_jobs=task.n_jobs, budget=task.budget)
        problem = make_problem(small, "mistakes" if costs.by_label else "cost")
        share, times = costs.shares(part)
        problem = problem._replace(share=share, times=times)
        return problem if costs.by_label else with_centers(problem, costs.centers, costs.unit)


class _Least:
    """A summary of what the rows of each leaf cost under the cheapest cluster of each row."""

    def __init__(self, costs: BlockCosts, paths: Paths, scales: Floats) -> None:
        self.costs, self.paths, self.scales = costs, paths, scales
        self.sums: Ints = np.zeros(len(scales), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for part in parts_of(block, self.paths, self.costs):
            np.add.at(self.sums, part.nodes, self.costs.amounts(part, self.scales)[:, :-1].min(axis=1))

    def merge(self, other: _Least) -> None:
        """Add another summary."""
        self.sums += other.sums


class _Rows:
    """A summary that holds all rows of some leaves."""

    def __init__(self, costs: BlockCosts, paths: Paths) -> None:
        self.costs, self.paths = costs, paths
        self.found: list[Part] = []

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for part in parts_of(block, self.paths, self.costs):
            self.found.append(taken(part, np.arange(len(part.nodes))))  # a copy: a part may be a view of its block

    def merge(self, other: _Rows) -> None:
        """Add another summary."""
        self.found += other.found

    def joined(self) -> Part:
        """Return the rows."""
        values, nodes, labels, weights = zip(*self.found, strict=True)
        no_weights = weights[0] is None
        joined = (np.concatenate(each) for each in (values, nodes, labels))
        return Part(*joined, None if no_weights else np.concatenate(weights))
