"""Measures of a tree on data: costs and their ratio, agreement with a reference, readability, counts by node."""

from boxwood.metrics._agreement import Agreement, agreement, contingency
from boxwood.metrics._centers import best_centers
from boxwood.metrics._cost import cost, partition_cost
from boxwood.metrics._mixture import (
    ErrorRate,
    ExplainabilityToNoise,
    SignalToNoise,
    error_rate,
    explainability_to_noise,
    signal_to_noise,
)
from boxwood.metrics._mixture_optimum import OptimalCost, optimal_cost
from boxwood.metrics._mixture_price import MixturePrice, mixture_price
from boxwood.metrics._nodes import NodeTable, node_table
from boxwood.metrics._price import price_of_explainability, ratio
from boxwood.metrics._readability import Readability, readability
from boxwood.metrics._tails import Tail, tail_check

__all__ = [
    "Agreement",
    "ErrorRate",
    "ExplainabilityToNoise",
    "MixturePrice",
    "NodeTable",
    "OptimalCost",
    "Readability",
    "SignalToNoise",
    "Tail",
    "agreement",
    "best_centers",
    "contingency",
    "cost",
    "error_rate",
    "explainability_to_noise",
    "mixture_price",
    "node_table",
    "optimal_cost",
    "partition_cost",
    "price_of_explainability",
    "ratio",
    "readability",
    "signal_to_noise",
    "tail_check",
]
