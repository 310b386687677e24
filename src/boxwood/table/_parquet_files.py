"""Parquet files as one table: whether their columns fit together, and whether Arrow keeps what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from boxwood._messages import listed
from boxwood.errors import DataError
from boxwood.table._arrow_source import kind_of
from boxwood.table._column_names import distinct_names
from boxwood.table._formats import File
from boxwood.table._parquet_source import ParquetFile
from boxwood.table._source import Source, described, open_source

__all__ = [
    "can_be_read_in_place",
    "is_kept_by_arrow",
    "opened_files",
    "refuse_other_columns",
    "refuse_unwritable",
]


def refuse_other_columns(first: ParquetFile, file: ParquetFile, names: Sequence[str], *, all_columns: bool) -> None:
    """Raise a DataError if a file has other columns than the first one, or columns of another kind."""
    theirs = distinct_names(file.schema.names)
    lacking = [name for name in names if name not in theirs]
    further = [name for name in theirs if name not in names] if all_columns else []
    if lacking or further:
        what = [f"lacks {listed(lacking)}"] if lacking else []
        what += [f"has {listed(further)} besides"] if further else []
        raise DataError(
            f"{file.name} has other columns than {first.name}: it {' and '.join(what)}\n"
            "scan files of one table, or give the columns that all of them have: columns=[…]"
        )
    for name in names:
        mine, other = (
            kind_of(each.schema.types[distinct_names(each.schema.names).index(name)]) for each in (first, file)
        )
        if mine != other and "other" not in (mine, other):
            raise DataError(f"column '{name}' is of the kind {mine} in {first.name}, and {other} in {file.name}")


def can_be_read_in_place(files: Sequence[ParquetFile], names: Sequence[str], all_names: Sequence[str]) -> bool:
    """Return whether pyarrow finds the columns by their names, and reads the doubles that DuckDB reads."""
    import pyarrow as pa

    if list(all_names) != list(files[0].schema.names):  # repeated or empty names
        return False
    types = [file.schema.field(name).type for file in files for name in names]
    nested = any(pa.types.is_nested(type) for file in files for type in file.schema.types)
    return not any(map(pa.types.is_decimal, types)) and not (nested and any("." in name for name in all_names))


def is_kept_by_arrow(file: ParquetFile) -> bool:
    """Return whether Arrow writes the columns of a file with the types that they have there.

    It has none for lengths of time in months, days and parts of a day, nor for times of day with a zone.
    """
    with file.opened() as opened:
        columns = map(opened.schema.column, range(len(opened.schema)))
        types = [json.loads(column.logical_type.to_json()) for column in columns]
    return not any(type["Type"] == "Interval" or (type["Type"] == "Time" and type["isAdjustedToUTC"]) for type in types)


def refuse_unwritable(schema: Any, names: Sequence[str]) -> None:
    """Raise a DataError if a column of an Arrow schema, with this name for users, is of a type that Parquet lacks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for field, name in zip(schema, names, strict=True):
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except pa.ArrowNotImplementedError:
            raise DataError(
                f"column {name!r} holds {field.type}, which a Parquet file cannot\nleave it out, or make it text"
            ) from None


@contextmanager
def opened_files(files: Sequence[ParquetFile], name: str, chosen: Sequence[int]) -> Iterator[Source]:
    """Yield columns of Parquet files as one table; `chosen` are their places in the first file."""
    with open_source(files[0].path, format="parquet") as first:
        further = (File(file.path, file.name, first.workspace, None) for file in files[1:])
        tables = [first, *(described(first.con, file, "parquet", None) for file in further)]
        names = tuple(first.names[i] for i in chosen)
        rows = " UNION ALL ".join(_selected(table, names) for table in tables)
        found = [str(row[1]) for row in first.con.execute(f"DESCRIBE {rows}").fetchall()]
        # lengths of time are told by Arrow's schema alone
        types = tuple(
            "INTERVAL" if first.types[i] == "INTERVAL" else type for i, type in zip(chosen, found, strict=True)
        )
        aliases = ", ".join(f"c{i}" for i in range(len(names)))
        yield replace(first, relation=f"({rows}) AS t({aliases})", name=name, names=names, types=types)


def _selected(table: Source, names: Sequence[str]) -> str:
    return f"SELECT {', '.join(f'c{table.names.index(name)}' for name in names)} FROM {table.relation}"
