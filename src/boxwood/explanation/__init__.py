"""What lies below the face: a problem, checked; its tree and measurements as data; their records; the model file."""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood.explanation._tally import Tally as Tally
    from boxwood.explanation.apply.compare import compare as compare
    from boxwood.explanation.apply.results import Change as Change
    from boxwood.explanation.apply.results import Compared as Compared
    from boxwood.explanation.apply.results import Comparison as Comparison
    from boxwood.explanation.apply.results import Move as Move
    from boxwood.explanation.apply.results import Step as Step
    from boxwood.explanation.apply.results import Why as Why
    from boxwood.explanation.apply.tree_changes import changes_in_words as changes_in_words
    from boxwood.explanation.claim import Claim as Claim
    from boxwood.explanation.measure.contrast import Contrast as Contrast
    from boxwood.explanation.measure.contrast import Difference as Difference
    from boxwood.explanation.measure.lines import StandaloneRule as StandaloneRule
    from boxwood.explanation.measure.misassigned import Exceptions as Exceptions
    from boxwood.explanation.measure.misassigned import Misassigned as Misassigned
    from boxwood.explanation.measure.outliers import Outlier as Outlier
    from boxwood.explanation.records import CategoryColumn as CategoryColumn
    from boxwood.explanation.records import CategoryGroup as CategoryGroup
    from boxwood.explanation.records import Clusters as Clusters
    from boxwood.explanation.records import ClusterStability as ClusterStability
    from boxwood.explanation.records import ClusterSummary as ClusterSummary
    from boxwood.explanation.records import ClusterTotals as ClusterTotals
    from boxwood.explanation.records import Condition as Condition
    from boxwood.explanation.records import CutStability as CutStability
    from boxwood.explanation.records import Details as Details
    from boxwood.explanation.records import DrawFacts as DrawFacts
    from boxwood.explanation.records import Edit as Edit
    from boxwood.explanation.records import Edits as Edits
    from boxwood.explanation.records import FarFromGaussian as FarFromGaussian
    from boxwood.explanation.records import Frontier as Frontier
    from boxwood.explanation.records import FrontierRow as FrontierRow
    from boxwood.explanation.records import HeldOut as HeldOut
    from boxwood.explanation.records import KernelFacts as KernelFacts
    from boxwood.explanation.records import LeafSummary as LeafSummary
    from boxwood.explanation.records import LeftOut as LeftOut
    from boxwood.explanation.records import MixtureFacts as MixtureFacts
    from boxwood.explanation.records import NumberColumn as NumberColumn
    from boxwood.explanation.records import NumberGroup as NumberGroup
    from boxwood.explanation.records import Profile as Profile
    from boxwood.explanation.records import Provenance as Provenance
    from boxwood.explanation.records import RowsMoved as RowsMoved
    from boxwood.explanation.records import Rule as Rule
    from boxwood.explanation.records import Stability as Stability
    from boxwood.explanation.records import Totals as Totals

_MODULES: dict[str, tuple[str, ...]] = {
    "_tally": ("Tally",),
    "boxwood.explanation.apply.compare": ("compare",),
    "boxwood.explanation.apply.results": ("Change", "Compared", "Comparison", "Move", "Step", "Why"),
    "boxwood.explanation.apply.tree_changes": ("changes_in_words",),
    "boxwood.explanation.claim": ("Claim",),
    "boxwood.explanation.measure.contrast": ("Contrast", "Difference"),
    "boxwood.explanation.measure.lines": ("StandaloneRule",),
    "boxwood.explanation.measure.misassigned": ("Misassigned", "Exceptions"),
    "boxwood.explanation.measure.outliers": ("Outlier",),
    "records": (
        "Provenance",
        "CategoryColumn",
        "CategoryGroup",
        "ClusterStability",
        "ClusterSummary",
        "ClusterTotals",
        "Clusters",
        "Condition",
        "CutStability",
        "Details",
        "DrawFacts",
        "Edit",
        "Edits",
        "FarFromGaussian",
        "Frontier",
        "FrontierRow",
        "HeldOut",
        "KernelFacts",
        "LeafSummary",
        "LeftOut",
        "MixtureFacts",
        "NumberColumn",
        "NumberGroup",
        "Profile",
        "RowsMoved",
        "Rule",
        "Stability",
        "Totals",
    ),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = __dir__()
