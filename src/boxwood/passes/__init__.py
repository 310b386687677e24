"""Tables that are read in batches, as often as needed: sums over their rows, and clusters to be explained."""

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood.passes._any_task import task_of as task_of
    from boxwood.passes._batches import Batches as Batches
    from boxwood.passes._batches import Block as Block
    from boxwood.passes._labelling import LabelColumn as LabelColumn
    from boxwood.passes._labelling import Labelling as Labelling
    from boxwood.passes._labelling import NearestCenters as NearestCenters
    from boxwood.passes._source import Source as Source
    from boxwood.passes._source import Summary as Summary
    from boxwood.passes._table_reference import TableReference as TableReference
    from boxwood.passes._table_task import TableTask as TableTask

_MODULES: dict[str, tuple[str, ...]] = {
    "_any_task": ("task_of",),
    "_batches": ("Batches", "Block"),
    "_labelling": ("LabelColumn", "Labelling", "NearestCenters"),
    "_source": ("Source", "Summary"),
    "_table_reference": ("TableReference",),
    "_table_task": ("TableTask",),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
__all__ = [
    "Batches",
    "Block",
    "LabelColumn",
    "Labelling",
    "NearestCenters",
    "Source",
    "Summary",
    "TableReference",
    "TableTask",
    "task_of",
]
