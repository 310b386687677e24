"""Tables in files: read into a matrix or in batches, or written with the cluster of every row."""

from boxwood.columns.of_file import Kinds, Table, read_table
from boxwood.table.column_names import ColumnError
from boxwood.table.labels import Labelled
from boxwood.table.options import ReadOptions
from boxwood.table.paths import refuse_absent
from boxwood.table.scanned import scan
from boxwood.table.write_labels import label_rows, output_format

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
