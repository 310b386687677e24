"""Tables in files: read into a matrix or in batches, or written with the cluster of every row."""

from typing import TYPE_CHECKING

from boxwood._imports import attach
from boxwood.table.labels import Labelled
from boxwood.table.options import ColumnError, ReadOptions, refuse_absent
from boxwood.table.scanned import scan
from boxwood.table.write_labels import label_rows, output_format

if TYPE_CHECKING:
    from boxwood.columns.of_file import Kinds as Kinds
    from boxwood.columns.of_file import Table as Table
    from boxwood.columns.of_file import read_table as read_table

__all__ = [
    "ColumnError",
    "Kinds",
    "Labelled",
    "ReadOptions",
    "Table",
    "label_rows",
    "output_format",
    "read_table",
    "refuse_absent",
    "scan",
]

if not TYPE_CHECKING:  # when they are first used, as that file imports this folder
    __getattr__, _ = attach(__name__, {"boxwood.columns.of_file": ("Kinds", "Table", "read_table")})
