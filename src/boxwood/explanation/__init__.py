"""`explain`: a clustering explained in one call; `Explanation`: the tree, its rules and its measurements, as data."""

from boxwood.explanation._conditions import Condition, Rule
from boxwood.explanation._explain import explain
from boxwood.explanation._explanation import (
    ClusterSummary,
    DrawFacts,
    Explanation,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
    load,
)

__all__ = [
    "ClusterSummary",
    "Condition",
    "DrawFacts",
    "Explanation",
    "FarFromGaussian",
    "KernelFacts",
    "LeafSummary",
    "MixtureFacts",
    "Rule",
    "explain",
    "load",
]
