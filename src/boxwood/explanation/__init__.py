"""`explain`: a clustering explained in one call; `Explanation`: the tree, its rules and its measurements, as data."""

from boxwood.explanation._changes import Change, Move
from boxwood.explanation._compare import Compared, Comparison, compare
from boxwood.explanation._conditions import Condition, Rule
from boxwood.explanation._explain import explain
from boxwood.explanation._explanation import Explanation, load
from boxwood.explanation._misassigned import Misassigned
from boxwood.explanation._profile import CategoryColumn, CategoryGroup, NumberColumn, NumberGroup
from boxwood.explanation._records import (
    ClusterStability,
    CutStability,
    Frontier,
    FrontierRow,
    HeldOut,
    Stability,
)
from boxwood.explanation._summaries import (
    ClusterSummary,
    DrawFacts,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
)
from boxwood.explanation._tally import Tally
from boxwood.explanation._tree_changes import changes_in_words
from boxwood.explanation._why import Step, Why

__all__ = [
    "CategoryColumn",
    "CategoryGroup",
    "Change",
    "ClusterStability",
    "ClusterSummary",
    "Compared",
    "Comparison",
    "Condition",
    "CutStability",
    "DrawFacts",
    "Explanation",
    "FarFromGaussian",
    "Frontier",
    "FrontierRow",
    "HeldOut",
    "KernelFacts",
    "LeafSummary",
    "Misassigned",
    "MixtureFacts",
    "Move",
    "NumberColumn",
    "NumberGroup",
    "Rule",
    "Stability",
    "Step",
    "Tally",
    "Why",
    "changes_in_words",
    "compare",
    "explain",
    "load",
]
