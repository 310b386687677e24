"""The tree: a function of a row, frozen, and nothing else."""

from boxwood.tree.boxes import Box, Interval
from boxwood.tree.nodes import Cut, rows_at_nodes
from boxwood.tree.shorten import between, shortest_between
from boxwood.tree.tree import ThresholdTree, TreeBuilder

__all__ = ["Box", "Cut", "Interval", "ThresholdTree", "TreeBuilder", "between", "rows_at_nodes", "shortest_between"]
