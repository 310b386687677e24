"""`explain`: a clustering explained in one call; `Explanation`: the tree, its rules and its measurements, as data."""

from boxwood.explanation._changes import Change, Move
from boxwood.explanation._compare import Compared, Comparison, compare
from boxwood.explanation._conditions import Condition, Rule
from boxwood.explanation._explain import explain
from boxwood.explanation._explanation import Explanation, load
from boxwood.explanation._misassigned import Misassigned
from boxwood.explanation._profile import CategoryColumn, CategoryGroup, NumberColumn, NumberGroup
from boxwood.explanation._summaries import (
    ClusterSummary,
    DrawFacts,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
)
from boxwood.explanation._why import Step, Why

__all__ = [
    "CategoryColumn",
    "CategoryGroup",
    "Change",
    "ClusterSummary",
    "Compared",
    "Comparison",
    "Condition",
    "DrawFacts",
    "Explanation",
    "FarFromGaussian",
    "KernelFacts",
    "LeafSummary",
    "Misassigned",
    "MixtureFacts",
    "Move",
    "NumberColumn",
    "NumberGroup",
    "Rule",
    "Step",
    "Why",
    "compare",
    "explain",
    "load",
]
