"""`RuleRows`: the rows of a file as rules read them, part by part: numbers, days and codes of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boxwood._dates import Dates
from boxwood._types import Array, Floats, Indices
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.table.connect import Tick
from boxwood.table.duck import DuckTable, Query
from boxwood.table.labels import Rules, days_needed, inputs_of, rows_with
from boxwood.table.memory import as_doubles
from boxwood.table.options import DEFAULTS, ReadOptions, suggestion
from boxwood.table.sql import as_double, as_name, sql_text
from boxwood.table.write_labels import check_rows, opened_to_count

Tested: TypeAlias = Mapping[str, Categories | Dates | None]
"""The columns that rules test, by their names: of categories, of dates, or None for numbers."""


class LabelsOfFile(NamedTuple):
    """The labels of a column of a file: their texts, rows of each, and SQL of the label of a row, NULL without one."""

    texts: list[str]
    rows: list[int]
    sql: str


class RulePart(NamedTuple):
    """Some rows of a file.

    Parameters
    ----------
    tested : list of arrays of shape (n, d)
        The columns that each set of rules tests: numbers, days and codes, NaN for a value that is missing or unseen.
    labels : list of arrays of shape (n,)
        The place of each row's label among those of each column of labels, -1 without one.
    unseen : dict from column to array of shape (n,)
        Words that were never seen, None in other rows; only of columns that have some.
    """

    tested: list[Floats]
    labels: list[Indices]
    unseen: dict[str, Array]


@contextmanager
def open_for_rules(
    table: Query | str,
    tested: Sequence[Tested],
    options: ReadOptions = DEFAULTS,
    *,
    labels: Sequence[str] = (),
    tick: Tick | None = None,
    tell: Callable[[str], None] = lambda hint: None,
) -> Iterator[RuleRows]:
    """Open a file, a folder, a pattern or a query, and check that some sets of rules can read each row.

    IN: labels: columns of labels, which are what the file holds: yes, and not true.

    Raises
    ------
    DataError
        If the table cannot be read, lacks a column, or has text where a number must be.
    """
    columns = {_key(i, name): (name, kind) for i, its in enumerate(tested) for name, kind in its.items()}
    categories = {key: kind for key, (_, kind) in columns.items() if isinstance(kind, Categories)}
    dates = {key: kind for key, (_, kind) in columns.items() if isinstance(kind, Dates)}
    needed = {key: name for key, (name, _) in columns.items()} | days_needed(dates.values())
    rules = Rules("NULL", needed, categories, dates)
    with opened_to_count(table, rules, options, labels) as source:
        for hint in source.hints:
            tell(hint)
        yield RuleRows(source, rules, [[_key(i, name) for name in its] for i, its in enumerate(tested)], tick)


def _key(i: int, name: str) -> str:
    """Return the name by which a set of rules reads a column."""
    return f"{i} {name}"


class RuleRows:
    """The rows of a file that is open for some sets of rules, which read it as `boxwood predict` does."""

    def __init__(self, table: DuckTable, rules: Rules, keys: Sequence[Sequence[str]], tick: Tick | None) -> None:
        self.table, self.rules, self.keys, self.name = table, rules, keys, table.name
        checked = check_rows(table, rules, tick)
        self.n_rows, self._unseen = checked.n_rows, {one.column for one in checked.unseen}

    def labels(self, column: str, known: Sequence[str] = ()) -> LabelsOfFile:
        """Return the labels of a column; IN: known: those that are no marks of a missing one."""
        if column not in self.table.names:
            raise DataError(f"{self.name} has no column {column!r}{suggestion(column, self.table.names)}")
        at = self.table.names.index(column)
        sql = f"CASE WHEN {self.table.category(at, known)} IS NOT NULL THEN {self.table.label(at)} END"
        counts = f"SELECT {sql} AS label, count(*) FROM {self.table.relation} GROUP BY label ORDER BY label"
        found = [one for one in self.table.fetch_lean(counts) if one[0] is not None]
        return LabelsOfFile([text for text, _ in found], [n for _, n in found], sql)

    def parts(self, labels: Sequence[LabelsOfFile] = ()) -> Iterator[RulePart]:
        """Yield all rows, in any order, with their labels."""
        inputs, needed = inputs_of(self.table, self.rules), self.rules.needed
        codes = {key: _Codes.of(known) for key, known in self.rules.categories.items()}
        tested = {key: as_name(key) for its in self.keys for key in its}
        tested |= {key: one.place(tested[key]) for key, one in codes.items()}
        unseen = {needed[key]: inputs[key] for key in codes if needed[key] in self._unseen}
        words = [f"CASE WHEN {one.is_unseen} THEN {self.table.text(one.column)} END" for one in unseen.values()]
        rows = rows_with(self.table.relation, inputs)
        for i, one in enumerate(labels):
            texts = f"unnest([{', '.join(map(sql_text, one.texts))}]::VARCHAR[])"
            places = f"(SELECT {texts} AS label{i}, unnest(range({len(one.texts)})) AS place{i})"
            rows = f"(SELECT *, {one.sql} AS own{i} FROM {rows}) LEFT JOIN {places} ON own{i} = label{i}"
        selected = [*tested.values(), *(f"coalesce(place{i}, -1)" for i in range(len(labels))), *words, "1"]
        query = ", ".join(f"{sql} AS v{j}" for j, sql in enumerate(selected))
        for arrays in self.table.parts(f"SELECT {query} FROM {rows}"):
            values = iter(arrays.values())
            columns = {key: as_doubles(next(values)) for key in tested}
            columns |= {key: one.codes(columns[key]) for key, one in codes.items()}
            own = [np.asarray(next(values), dtype=np.intp) for _ in labels]
            n = len(arrays["v0"])
            matrices = [np.array([columns[key] for key in its]).reshape(len(its), n).T for its in self.keys]
            yield RulePart(matrices, own, {name: _as_objects(next(values)) for name in unseen})


def _as_objects(texts: Any) -> Array:
    """Return texts of DuckDB, masked where they are missing, with None in these places."""
    return np.where(np.ma.getmaskarray(texts), np.array(None), np.ma.getdata(texts))


class _Codes(NamedTuple):
    """Words as a file has them, and the code of each, of other words, and of a missing one."""

    words: list[Any]
    code_of: Floats

    @classmethod
    def of(cls, known: Categories) -> _Codes:
        words: list[Any] = [word for word in known.as_written(known.values) if word is not None]
        other = float(len(known.values)) if known.others else np.nan
        codes = [*known.codes(words), other, *known.codes([None])]
        return cls([*map(float if known.are_numbers else str, words)], np.array(codes))

    def place(self, value: str) -> str:
        """Return SQL for the place of a word, the next one for other words, and the last for a missing one."""
        listed = ", ".join(as_double(word) if isinstance(word, float) else sql_text(word) for word in self.words)
        n = len(self.words)
        place = f"coalesce(list_position([{listed}], {value}), {n + 1}) - 1" if n else "0"
        return f"CASE WHEN {value} IS NULL THEN {n + 1} ELSE {place} END"

    def codes(self, places: Floats) -> Floats:
        return self.code_of[places.astype(np.intp)]
