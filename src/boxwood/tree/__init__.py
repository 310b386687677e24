"""The tree: a function of a row, frozen, and nothing else."""

from boxwood.tree._boxes import Box, Interval
from boxwood.tree._builder import TreeBuilder
from boxwood.tree._nodes import Cut
from boxwood.tree._numbers import between, shortest_between
from boxwood.tree._tree import ThresholdTree
from boxwood.tree._walk import rows_at_nodes

__all__ = ["Box", "Cut", "Interval", "ThresholdTree", "TreeBuilder", "between", "rows_at_nodes", "shortest_between"]
