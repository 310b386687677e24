"""Measures of a tree on data: costs and their ratio, agreement with a reference, readability, counts by node."""

from boxwood.metrics._agreement import Agreement, agreement, contingency
from boxwood.metrics._centers import best_centers
from boxwood.metrics._cost import cost, partition_cost
from boxwood.metrics._nodes import NodeTable, node_table
from boxwood.metrics._price import price_of_explainability, ratio
from boxwood.metrics._readability import Readability, readability

__all__ = [
    "Agreement",
    "NodeTable",
    "Readability",
    "agreement",
    "best_centers",
    "contingency",
    "cost",
    "node_table",
    "partition_cost",
    "price_of_explainability",
    "ratio",
    "readability",
]
