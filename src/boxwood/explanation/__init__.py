"""`explain`: a clustering explained in one call; `Explanation`: the tree, its rules and its measurements, as data."""

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood.explanation._changes import Change as Change
    from boxwood.explanation._changes import Move as Move
    from boxwood.explanation._compare import Compared as Compared
    from boxwood.explanation._compare import Comparison as Comparison
    from boxwood.explanation._compare import compare as compare
    from boxwood.explanation._conditions import Condition as Condition
    from boxwood.explanation._conditions import Rule as Rule
    from boxwood.explanation._explain import explain as explain
    from boxwood.explanation._explanation import Explanation as Explanation
    from boxwood.explanation._explanation import load as load
    from boxwood.explanation._misassigned import Misassigned as Misassigned
    from boxwood.explanation._profile_fields import CategoryColumn as CategoryColumn
    from boxwood.explanation._profile_fields import CategoryGroup as CategoryGroup
    from boxwood.explanation._profile_fields import NumberColumn as NumberColumn
    from boxwood.explanation._profile_fields import NumberGroup as NumberGroup
    from boxwood.explanation._records import ClusterStability as ClusterStability
    from boxwood.explanation._records import CutStability as CutStability
    from boxwood.explanation._records import Frontier as Frontier
    from boxwood.explanation._records import FrontierRow as FrontierRow
    from boxwood.explanation._records import HeldOut as HeldOut
    from boxwood.explanation._records import Stability as Stability
    from boxwood.explanation._summaries import ClusterSummary as ClusterSummary
    from boxwood.explanation._summaries import DrawFacts as DrawFacts
    from boxwood.explanation._summaries import FarFromGaussian as FarFromGaussian
    from boxwood.explanation._summaries import KernelFacts as KernelFacts
    from boxwood.explanation._summaries import LeafSummary as LeafSummary
    from boxwood.explanation._summaries import MixtureFacts as MixtureFacts
    from boxwood.explanation._tally import Tally as Tally
    from boxwood.explanation._tree_changes import changes_in_words as changes_in_words
    from boxwood.explanation._why import Step as Step
    from boxwood.explanation._why import Why as Why

_MODULES: dict[str, tuple[str, ...]] = {
    "_changes": ("Change", "Move"),
    "_compare": ("Compared", "Comparison", "compare"),
    "_conditions": ("Condition", "Rule"),
    "_explain": ("explain",),
    "_explanation": ("Explanation", "load"),
    "_misassigned": ("Misassigned",),
    "_profile_fields": ("CategoryColumn", "CategoryGroup", "NumberColumn", "NumberGroup"),
    "_records": ("ClusterStability", "CutStability", "Frontier", "FrontierRow", "HeldOut", "Stability"),
    "_summaries": ("ClusterSummary", "DrawFacts", "FarFromGaussian", "KernelFacts", "LeafSummary", "MixtureFacts"),
    "_tally": ("Tally",),
    "_tree_changes": ("changes_in_words",),
    "_why": ("Step", "Why"),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
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
