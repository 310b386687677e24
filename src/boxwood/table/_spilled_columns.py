"""How the columns of a table are written into a temporary Parquet file: each value as `read_table` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from boxwood.passes._labelling import MOST_LABELS
from boxwood.table._profiles import Profile, profiles_of
from boxwood.table._source import Source as Table
from boxwood.table._source import Tick
from boxwood.table._sql import as_text
from boxwood.table._write import group_rows

__all__ = ["Column", "are_numbers", "columns_to_write", "copy_columns", "is_mixed", "typed_column"]

_KEPT = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN")
_KEPT_KINDS = {*_KEPT, *(f"U{name}" for name in _KEPT), "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"}


_WIDE = ("HUGEINT", "UHUGEINT", "BIGNUM", "DECIMAL")  # types of numbers that become doubles, which may be equal


class Column(NamedTuple):
    """A column to write.

    Parameters
    ----------
    sql, kind : str
        Its values, and what they are; see `passes.Source`.
    label : str, or None
        Its texts, where labels need them.
    is_mixed, is_padded : bool
        Whether some texts are no numbers, or numbers have leading zeros.
    """

    sql: str
    kind: str
    label: str | None = None
    is_mixed: bool = False
    is_padded: bool = False


def columns_to_write(table: Table, chosen: Sequence[int], tick: Tick | None) -> list[Column]:
    """Return how columns are written: those of text are looked at, as `read_table` does."""
    texts = [i for i in chosen if table.kind(i) == "text"]
    profiles = profiles_of(table, texts, tick)[1] if texts else {}
    written = {i: typed_column(table, i) for i in chosen}
    written |= {i: _of_text(table, profile, False) for i, profile in profiles.items()}
    numbers = [i for i, profile in profiles.items() if are_numbers(profile)]
    wide = [i for i in chosen if table.types[i].split("(")[0] in _WIDE]
    whole, labels = _looked_at(table, [i for i in numbers if _may_be_whole(profiles[i])], [*numbers, *wide], tick)
    written |= {i: _of_text(table, profiles[i], True) for i in whole}
    for i in labels:
        written[i] = written[i]._replace(label=f"CASE WHEN NOT {table.missing(i)} THEN {table.label(i)} END")
    return [written[i] for i in chosen]


def _looked_at(
    table: Table, whole: Sequence[int], labels: Sequence[int], tick: Tick | None
) -> tuple[list[int], list[int]]:
    """Return the first columns that hold whole numbers, and the second ones that may be labels by their texts alone."""
    tests = [*(f"bool_and(n{i} = floor(n{i}))" for i in whole), *map(_needs_text, labels)]
    if not tests:
        return [], []
    values = [f"{table.number(i)} AS n{i}" for i in whole]  # once, for they are used more than once
    values += [f"{table.text(i)} AS t{i}, {table.missing(i)} AS m{i}" for i in labels]
    found = table.fetch(f"SELECT {', '.join(tests)} FROM (SELECT {', '.join(values)} FROM {table.relation})", tick)[0]
    first, second = found[: len(whole)], found[len(whole) :]
    return [*compress(whole, first)], [*compress(labels, second)]


def _needs_text(i: int) -> str:
    """Return SQL for whether texts t that may be labels are not those of whole numbers that doubles hold."""
    whole = f"TRY_CAST(t{i} AS BIGINT)"
    is_plain = f"t{i} = CAST({whole} AS VARCHAR) AND {whole} BETWEEN -{1 << 53} AND {1 << 53}"
    return f"NOT bool_and(m{i} OR coalesce({is_plain}, false)) AND approx_count_distinct(t{i}) <= {2 * MOST_LABELS}"


def _may_be_whole(profile: Profile) -> bool:
    """Return whether the least and the greatest value are whole numbers that doubles tell apart."""
    ends = (profile.low or 0.0, profile.high or 0.0)
    return all(abs(end) < 1 << 53 and end == int(end) for end in ends)


def _are_huge(profile: Profile) -> bool:
    """Return whether the ends are so large that doubles between them are whole."""
    return max(-(profile.low or 0.0), profile.high or 0.0) >= 1 << 53


def are_numbers(profile: Profile) -> bool:
    return profile.numbers == profile.filled > 0 and not profile.dates


def is_mixed(profile: Profile) -> bool:
    """Return whether at least half of the values are numbers, but not all."""
    return profile.numbers < profile.filled <= 2 * profile.numbers


def _of_text(table: Table, profile: Profile, is_whole: bool) -> Column:
    """Return how a column of text is written: as booleans, whole numbers or doubles, if all its values are numbers."""
    i = profile.column
    if are_numbers(profile):
        if profile.words:
            return Column(f"CAST({table.number(i)} AS BOOLEAN)", "boolean")
        number = f"CAST({table.number(i)} AS {'BIGINT' if is_whole else 'DOUBLE'})"
        return Column(number, "number", is_padded=bool(profile.padded) and (is_whole or _are_huge(profile)))
    kind = "empty" if profile.filled == 0 else "date" if profile.dates else "text"
    return Column(table.category(i, ()), kind, is_mixed=is_mixed(profile))


def typed_column(table: Table, i: int) -> Column:
    """Return how a column of any other type is written: numbers that Arrow lacks become doubles, others text."""
    kind, type = table.kind(i), table.types[i]
    if type in _KEPT_KINDS or type.startswith("TIMESTAMP_") or kind == "other":
        return Column(f"c{i}", "boolean" if type == "BOOLEAN" else kind)
    return Column(f"CAST(c{i} AS DOUBLE)" if kind == "number" else table.text(i), kind)


def copy_columns(table: Table, columns: Sequence[Column], out: str) -> str:
    """Return the SQL that writes columns as c0, c1, …"""
    labels = [f"{column.label} AS t{j}" for j, column in enumerate(columns) if column.label is not None]
    selected = ", ".join([*(f"{column.sql} AS c{j}" for j, column in enumerate(columns)), *labels])
    options = f"FORMAT parquet, ROW_GROUP_SIZE {group_rows(len(columns))}, USE_TMP_FILE false"
    return f"COPY (SELECT {selected} FROM {table.relation}) TO {as_text(out)} ({options})"
