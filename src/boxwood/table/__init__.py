"""Tables in files: read into a matrix or in batches, or written with the cluster of every row."""

from boxwood.table.labels import Labelled
from boxwood.table.options import ColumnError, ReadOptions, refuse_absent
from boxwood.table.scanned import scan
from boxwood.table.write_labels import label_rows, output_format

__all__ = ["ColumnError", "Labelled", "ReadOptions", "label_rows", "output_format", "refuse_absent", "scan"]
