"""`explain`: a clustering explained in one call; `Explanation`: the tree, its rules and its measurements, as data."""

from boxwood.explanation._compare import Compared, Comparison, compare
from boxwood.explanation._conditions import Condition, Rule
from boxwood.explanation._explain import explain
from boxwood.explanation._explanation import Explanation, load
from boxwood.explanation._summaries import (
    ClusterSummary,
    DrawFacts,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
)

__all__ = [
    "ClusterSummary",
    "Compared",
    "Comparison",
    "Condition",
    "DrawFacts",
    "Explanation",
    "FarFromGaussian",
    "KernelFacts",
    "LeafSummary",
    "MixtureFacts",
    "Rule",
    "compare",
    "explain",
    "load",
]
