"""Tables in files: read into a matrix or in batches, or written with the cluster of every row."""

from boxwood.table._column_names import ColumnError
from boxwood.table._labels import Labelled
from boxwood.table._paths import refuse_absent
from boxwood.table._read import Table, read_table
from boxwood.table._scan import scan
from boxwood.table._write import output_format, write_labelled

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
