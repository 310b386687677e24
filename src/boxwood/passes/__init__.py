"""Tables that are read in batches, as often as needed: sums over their rows, and clusters to be explained."""

from boxwood.passes._any_task import task_of
from boxwood.passes._batches import Batches, Block
from boxwood.passes._labelling import LabelColumn, Labelling, NearestCenters
from boxwood.passes._source import Source, Summary
from boxwood.passes._table_reference import TableReference
from boxwood.passes._table_task import TableTask

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
