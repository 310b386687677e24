"""Tables in files: read into a matrix or in batches, or written with the cluster of every row."""

from boxwood.table._read import Table, read_table
from boxwood.table._write import output_format, write_labelled
from boxwood.table.column_names import ColumnError
from boxwood.table.labels import Labelled
from boxwood.table.paths import refuse_absent
from boxwood.table.scanned import scan

__all__ = [
    "ColumnError",
    "Labelled",
    "Table",
    "output_format",
    "read_table",
    "refuse_absent",
    "scan",
    "write_labelled",
]
