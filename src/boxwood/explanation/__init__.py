"""`explain`: a clustering explained in one call; `Explanation`: the tree, its rules and its measurements, as data."""

from boxwood.explanation._explain import explain
from boxwood.explanation._explanation import (
    ClusterSummary,
    Condition,
    DrawFacts,
    Explanation,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
    Rule,
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
