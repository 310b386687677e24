"""Measures of a tree on data: costs and their ratio, agreement with a reference, readability, counts by node."""

from boxwood.metrics._agreement import Agreement, agreement, contingency
from boxwood.metrics._cost import cost, partition_cost
from boxwood.metrics._kernel_cost import kernel_cost
from boxwood.metrics._kernel_similarity import (
    AxisSimilarity,
    axis_similarity,
    mean_similarities,
    mmd,
    within_similarity,
)
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
from boxwood.metrics._price import price_ceiling, price_of_explainability, ratio
from boxwood.metrics._readability import Readability, readability
from boxwood.metrics._tails import Tail, tail_check
from boxwood.reference._centers import best_centers

__all__ = [
    "Agreement",
    "AxisSimilarity",
    "ErrorRate",
    "ExplainabilityToNoise",
    "MixturePrice",
    "NodeTable",
    "OptimalCost",
    "Readability",
    "SignalToNoise",
    "Tail",
    "agreement",
    "axis_similarity",
    "best_centers",
    "contingency",
    "cost",
    "error_rate",
    "explainability_to_noise",
    "kernel_cost",
    "mean_similarities",
    "mixture_price",
    "mmd",
    "node_table",
    "optimal_cost",
    "partition_cost",
    "price_ceiling",
    "price_of_explainability",
    "ratio",
    "readability",
    "signal_to_noise",
    "tail_check",
    "within_similarity",
]
