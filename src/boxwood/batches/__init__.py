"""Tables that are read in batches, as often as needed: sums over their rows, and clusters to be explained."""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood.batches.batches import Batches as Batches
    from boxwood.batches.batches import Block as Block
    from boxwood.batches.labelling import LabelColumn as LabelColumn
    from boxwood.batches.labelling import Labelling as Labelling
    from boxwood.batches.labelling import NearestCenters as NearestCenters
    from boxwood.batches.source import Source as Source
    from boxwood.batches.source import Summary as Summary

_MODULES: dict[str, tuple[str, ...]] = {
    "batches": ("Batches", "Block"),
    "labelling": ("LabelColumn", "Labelling", "NearestCenters"),
    "source": ("Source", "Summary"),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = __dir__()
