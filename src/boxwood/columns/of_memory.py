"""What queries show of the columns of a file in memory: words, labels, keys and weights, and the rows themselves."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._frames import OrderedLabels
from boxwood._types import Array, Floats
from boxwood.axes.categories import MOST_VALUES, many_values, places_in_order
from boxwood.batches.labelling import LEFT_OUT, labels_in, no_labels, note_on_marks, refuse_other_labels
from boxwood.columns.keys import DATES, DATES_IN_ZONE, Keys, say_kinds
from boxwood.columns.seen import EXACT, Seen
from boxwood.errors import DataError
from boxwood.reference.coded import FoundWords
from boxwood.table.columns import Column, refuse_text
from boxwood.table.duck import DuckTable
from boxwood.table.memory import FileInMemory, as_doubles
from boxwood.table.sql import sql_text
from boxwood.table.words import learn_words, marks_met, marks_of


def words_in(source: FileInMemory, columns: Sequence[str], asked: Collection[str]) -> FoundWords:
    """Return the values of some columns; IN: asked: those in which each text is a word."""
    values: dict[str, tuple[Hashable, ...] | None] = {}
    lacking, why, met = set[str](), dict[str, str](), {}
    for name in columns:
        i, column = source.place_of(name), source.column(name)
        marks = (column.profile.marks if column.profile is not None else None) or ()
        if name in asked:
            source.table.words[i] = marks
        sql = _word(source.table, i, column)
        rows = source.fetch(f"SELECT DISTINCT {sql} AS v FROM {source.table.relation} LIMIT {MOST_VALUES + 2}")
        known = [value for (value,) in rows if value is not None and value == value]
        lacking |= {name} if len(known) < len(rows) else set()
        if len(known) > MOST_VALUES:
            counts = f"count({sql}), approx_count_distinct({sql}), coalesce(avg(length(CAST({sql} AS VARCHAR))), 0)"
            why[name] = many_values(*source.fetch(f"SELECT {counts} FROM {source.table.relation}")[0])
        values[name] = None if name in why else tuple(known[k] for k in places_in_order(known))
        if marks and name not in asked and name not in why:
            met[name] = marks_met(source.table, i, marks)
    return FoundWords(values, 0, frozenset(lacking), met, why)


def _word(table: DuckTable, i: int, column: Column) -> str:
    """Return SQL for a value as a word: numbers and truths stay what they are."""
    if table.kind(i) == "text":
        return table.category(i)
    return column.sql if column.kind in ("number", "boolean") else table.label(i)


class RowsInMemory(NamedTuple):
    """The rows of a file: numbers and codes, shape (n, d), NaN where one is missing, and what belongs to them.

    `notes` say which labels count as missing; `keys` say which rows of another table belong to these.
    """

    values: Floats
    labels: Array | None
    weights: Floats | None
    keys: Keys | None
    notes: tuple[str, ...]


def read_rows(
    source: FileInMemory,
    columns: Sequence[str],
    words: Mapping[str, Sequence[Hashable]],
    *,
    label: str | None = None,
    weight: str | None = None,
    key: Sequence[str] = (),
) -> RowsInMemory:
    """Return all rows, in the order of the file, from one query for each hundred columns.

    IN: words: the values of the columns that are read as codes.
    """
    table = source.table
    sql = [
        _code(_word(table, source.place_of(name), source.column(name)), words[name])
        if name in words
        else source.column(name).sql
        for name in columns
    ]
    labels = None if label is None else _Labels.of(source, label)
    keys = [_KeyColumn.of(source, name) for name in key]
    beside = [labels and labels.sql, None if weight is None else table.number(source.place_of(weight))]
    values, found = source.values(sql, [*beside, *(part.sql for part in keys)])
    y, notes = (None, ()) if labels is None else labels.read(table, found[0])
    mass = None if weight is None else _weights(source, weight, as_doubles(found[1]))
    parts = [part.read(its) for part, its in zip(keys, found[2:], strict=True)]
    return RowsInMemory(values, y, mass, Keys.of_columns(parts) if parts else None, notes)


def number_column(source: FileInMemory, name: str) -> Floats:
    """Return the numbers of a column, NaN for missing ones; raise a DataError if it holds others."""
    refuse_other_values(source, name)
    return source.values([source.column(name).sql])[0][:, 0]


def refuse_other_values(source: FileInMemory, name: str) -> None:
    """Raise a DataError if a column holds no numbers; it says where others are."""
    column = source.column(name)
    if column.is_mixed or column.kind in ("text", "unclear", "time", "other"):
        source.refuse_text(name)


def with_too_large(source: FileInMemory, columns: Sequence[Seen]) -> Sequence[Seen]:
    """Return what is known of columns, with whether their only number stands for several of the file."""
    for seen in columns:
        if not seen.is_word and seen.n_values == 1 and abs(seen.least) > EXACT:
            text = source.table.text(source.place_of(seen.name))
            seen.are_too_large = bool(
                source.fetch(f"SELECT min({text}) <> max({text}) FROM {source.table.relation}")[0][0]
            )
    return columns


def _code(sql: str, values: Sequence[Hashable]) -> str:
    """Return SQL for the place of a value among some, as a double; NULL for others."""
    listed = ", ".join(sql_text(value) if isinstance(value, str) else repr(value) for value in values)
    return f"CAST(nullif(list_position([{listed}], {sql}), 0) - 1 AS DOUBLE)"


def _weights(source: FileInMemory, name: str, values: Floats) -> Floats:
    """Return weights, from what DuckDB has read; raise a DataError if some are none."""
    refuse_text(source.table, source.place_of(name), len(values))
    if not np.isfinite(values).all() or (values < 0).any():
        count = int((~(np.isfinite(values) & (values >= 0))).sum())
        raise DataError(
            f"column '{name}' must hold weights, but {count:,} of {len(values):,} rows have none, or one below 0\n"
            "use 0 for rows to leave out"
        )
    if not values.any():
        raise DataError(f"column '{name}' must hold weights, but every row has the weight 0")
    return values


class _Labels(NamedTuple):
    """A column of labels: SQL of the label of each row, NULL where it is missing, and what the texts stand for.

    `kind` is DuckDB's type of labels that are numbers of one type; few others are read as codes, many as texts.
    """

    column: int
    sql: str
    known: Mapping[str, Hashable]
    kind: str | None

    @classmethod
    def of(cls, source: FileInMemory, name: str) -> _Labels:
        """Look at the labels of a table; raise a DataError if they are none of clusters."""
        table, column = source.table, source.place_of(name)
        if table.kind(column) == "other" and table.types[column] != '"NULL"':
            raise no_labels(table.name, name)
        learn_words(table, {column: marks_of(table, column)})
        text, missing = table.label(column), table.missing(column, among_words=True)
        others = f"{text} NOT IN ({', '.join(map(sql_text, LEFT_OUT))})"
        counts = f"count(DISTINCT {text}) FILTER (NOT {missing} AND {others}), count(*)"
        n_labels, n_rows = source.fetch(f"SELECT {counts} FROM {table.relation}")[0]
        if n_rows:
            refuse_other_labels(table.name, name, n_labels, n_rows)
        value = f"CASE WHEN NOT {missing} THEN {text} END"
        known = _known_texts(source, column, value)
        kind = _type_of(list(known.values()))
        if kind is not None:
            return cls(column, f"CAST({value} AS {kind})", known, kind)
        return cls(column, _code(value, [*known]) if len(known) <= MOST_VALUES else value, known, None)

    def read(self, table: DuckTable, values: Any) -> tuple[Array, tuple[str, ...]]:
        """Return the labels, from what DuckDB has read, and a note on words that stand for a missing one."""
        found, lacks, marks = np.ma.getdata(values), np.ma.getmaskarray(values), list[str]()
        if lacks.any() and table.has_marks:
            text, missing = table.label(self.column), table.missing(self.column, among_words=True)
            absent = f"SELECT DISTINCT {text} AS mark FROM {table.relation} WHERE {missing} AND trim(mark) <> ''"
            marks = [mark for (mark,) in table.fetch(absent)]
        if self.kind is None:
            named = np.array([*self.known.values(), None], dtype=object)
            is_code = found.dtype.kind == "f"
            places = {text: place for place, text in enumerate(self.known)}
            codes = np.where(lacks, -1, found) if is_code else [places.get(text, -1) for text in found]
            found = named[np.asarray(codes, dtype=np.intp)]
        elif lacks.any():
            found = found if self.kind == "DOUBLE" else found.astype(object)
            found[lacks] = np.nan if self.kind == "DOUBLE" else None
        order = table.orders.get(self.column)
        notes = (note_on_marks(marks),) if marks else ()
        return np.asarray(found) if order is None else OrderedLabels.of(found, order), notes


class _KeyColumn(NamedTuple):
    """A column of keys: what they are, and SQL of the key of each row, NULL where it is missing."""

    name: str
    kind: str
    sql: str
    known: Mapping[str, Hashable]

    @classmethod
    def of(cls, source: FileInMemory, name: str) -> _KeyColumn:
        """Look at the keys of a table."""
        table, i, column = source.table, source.place_of(name), source.column(name)
        if column.kind == "date":
            zone = column.dates(table.types[i], table.zones.get(i, "UTC")).zone
            return cls(name, DATES_IN_ZONE if zone else DATES, column.sql, {})
        learn_words(table, {i: marks_of(table, i)})
        sql = f"CASE WHEN NOT {table.missing(i, among_words=True)} THEN {table.label(i)} END"
        known = _known_texts(source, i, sql)
        return cls(name, say_kinds(known.values()), sql, known)

    def read(self, values: Any) -> tuple[str, str, list[Hashable]]:
        """Return the name, the kind and the keys, from what DuckDB has read."""
        if not self.known:
            return self.name, self.kind, [None if one != one else one for one in as_doubles(values).tolist()]
        keys = [self.known.get(one) for one in np.ma.getdata(values).tolist()]
        lacks = np.ma.getmaskarray(values).tolist()
        return self.name, self.kind, [None if lack else one for one, lack in zip(keys, lacks, strict=True)]


def _known_texts(source: FileInMemory, column: int, sql: str) -> dict[str, Hashable]:
    """Return what each text of a column stands for; texts by their type are texts."""
    rows = source.fetch(f"SELECT DISTINCT {sql} AS v FROM {source.table.relation} WHERE v IS NOT NULL")
    is_typed = source.table.kind(column) == "text" and not source.table.has_marks
    return {text: text for (text,) in rows} if is_typed else labels_in(text for (text,) in rows)


def _type_of(labels: Sequence[Hashable]) -> str | None:
    """Return DuckDB's type for labels that are numbers of one type of numpy, and None for others."""
    if all(isinstance(label, float) for label in labels):
        return "DOUBLE"
    whole = [label for label in labels if isinstance(label, int)]
    if len(whole) < len(labels):
        return None
    return "BIGINT" if max(whole) < 2**63 else "UBIGINT" if min(whole) >= 0 else None
