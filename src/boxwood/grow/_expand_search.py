"""The search for the best cuts of leaves of a growing tree, by passes over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from boxwood.grow._block_costs import BlockCosts, Scales
from boxwood.grow._expand_intervals import find_intervals
from boxwood.grow._expand_looks import Leaf, Looks
from boxwood.grow._expand_thresholds import find_thresholds
from boxwood.grow._levels import GrowingTree, Paths
from boxwood.grow._looks import BINS, BYTES, FEWEST, Sample
from boxwood.passes import TableTask

__all__ = ["Search"]

TWO_SIDED_BINS = 128  # of a column at a node, at most, as all pairs of them are looked at


class Search:
    """The search for the best cuts of leaves of a growing tree."""

    def __init__(self, task: TableTask, tree: GrowingTree, costs: BlockCosts, two_sided: bool) -> None:
        self.batches, self.tree, self.costs, self.two_sided = task.batches, tree, costs, two_sided
        self.least_rows = task.budget.min_samples_leaf
        self.columns = task.budget.allowed(task.batches.n_columns)
        overview = task.overview
        self.ranges = task.ranges
        repeated = self.costs.is_repeated
        self.n_repeated = overview.total_weight() if repeated else float(overview.n_kept)  # rows, with repetitions
        self.sample: Sample | None = None

    def find(self, leaves: Sequence[Leaf]) -> None:
        """Find the best cuts of leaves; those for which there is no room now stay as they are, but not the first."""
        self.measure(leaves)
        for leaf in leaves:
            leaf.is_searched = leaf.count < 2
        size = 8 * (self.costs.n_amounts + 3) * len(self.columns)
        several = [leaf for leaf in leaves if not leaf.is_searched][: max(BYTES // (size * FEWEST), 1)]
        if not several:
            return
        assert self.sample is not None
        n_bins = min(TWO_SIDED_BINS if self.two_sided else BINS, max(BYTES // (size * len(several)), FEWEST))
        paths = self.tree.paths_to([leaf.node for leaf in several])
        looks = Looks(self.batches, self.costs, paths, several, self.sample, self.ranges, n_bins)
        find = find_intervals if self.two_sided else partial(find_thresholds, least_rows=self.least_rows)
        find(looks, self.columns)
        for leaf in several:
            leaf.is_searched = True

    def measure(self, leaves: Sequence[Leaf]) -> None:
        """Find the number of rows and the scale of each leaf that are not known yet."""
        leaves = [leaf for leaf in leaves if leaf.scale == 0 or leaf.count < 0]
        if leaves:
            self.measure_at(leaves, self.tree.paths_to([leaf.node for leaf in leaves]))

    def measure_at(self, leaves: Sequence[Leaf], paths: Paths) -> None:
        """Find the number of rows and the scale of each leaf, by the paths that lead to them."""
        sampled = Sample.size(self.batches.n_columns) if self.sample is None else 0
        scales = self.batches.fold(partial(Scales, self.costs, paths, len(leaves), sampled))
        self.sample = self.sample or Sample(scales.sample)
        for leaf, count, scale in zip(leaves, scales.counts.tolist(), scales.scales(), strict=True):
            leaf.count, leaf.scale = count, scale

    def part(self, leaf: Leaf) -> None:
        """Make the cut of a leaf, if that is not done, so that its sides can be searched."""
        if leaf.sides:
            return
        self.split(leaf)
        count, left = leaf.left
        sides = (count, left), (leaf.count - count, leaf.total - left)
        for side, (n_rows, sums) in zip(leaf.sides, sides, strict=True):
            rounded = self.n_repeated if self.costs.is_repeated else n_rows
            side.count, side.scale = n_rows, self.costs.scale_of_sums(sums, leaf.scale, rounded)

    def split(self, leaf: Leaf) -> None:
        """Make the cut of a leaf in the growing tree."""
        assert leaf.cut is not None
        nodes = self.tree.split(leaf.node, leaf.cut.feature, leaf.cut.upper, leaf.cut.lower)
        leaf.sides = [Leaf(node, leaf.depth + 1) for node in nodes]
