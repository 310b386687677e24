"""Rules on the rows of a table: which conditions a row fulfils, and which branch takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boxwood._frames import as_rows_here, column_names, column_series, is_frame, refuse_unknown_columns
from boxwood._messages import kind_of_value
from boxwood._types import Array, Bools, Indices, Ints
from boxwood._validation import list_words
from boxwood.errors import DataError
from boxwood.judge.conditions import All, Condition, Not, Some, Unknown
from boxwood.judge.rules import RuleSet
from boxwood.judge.space import Column
from boxwood.judge.values import Test
from boxwood.table.duck import open_table
from boxwood.table.options import DEFAULTS, ReadOptions

_FALSE, _UNKNOWN, _TRUE = 0, 1, 2  # so AND is the least of them, and OR the largest


@dataclass(frozen=True)
class Table:
    """A table as rules look at it.

    Parameters
    ----------
    names : tuple of str
        All its columns.
    columns : mapping from str to sequence
        The values of those that are looked at.
    counts : Ints of shape (n,)
        How many rows each of these stands for.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    counts: Ints

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())


def select_columns(table: Any, wanted: Iterable[str], options: ReadOptions = DEFAULTS) -> Table:
    """Return a table with those of some columns that it has, by names of its own or such that differ in case alone."""
    if isinstance(table, Table):
        return table
    if isinstance(table, str) or hasattr(table, "__fspath__"):
        return _of_file(str(table), wanted, options)
    if isinstance(table, Mapping):
        names, column = tuple(map(str, table)), lambda name: list(table[name])
    else:
        table = as_rows_here(table)
        if not is_frame(table):
            raise TypeError(
                f"rules need columns by their names: a data frame, or the path of a file; got {kind_of_value(table)}"
            )
        names, column = column_names(table), lambda name: column_series(table, name).to_list()
    columns = {name: column(name) for name in names_in(wanted, names).values() if name is not None}
    lengths = {len(values) for values in columns.values()} or {len(column(names[0])) if names else 0}
    if len(lengths) > 1:
        raise DataError(f"columns have different numbers of rows: {', '.join(map(str, sorted(lengths)))}")
    return Table(names, columns, np.ones(lengths.pop(), dtype=np.int64))


def _of_file(path: str, wanted: Iterable[str], options: ReadOptions) -> Table:
    """Return a file by the different rows of the columns that are looked at, and how many there are of each."""
    with open_table(path, options, text=False) as source:
        rows = source.rows_alone()
        own = [name for name in names_in(wanted, rows.names).values() if name is not None]
        values = (_present(rows, rows.names.index(name)) for name in own)
        found = rows.fetch_lean(f"SELECT {', '.join([*values, 'count(*)'])} FROM {rows.relation} GROUP BY ALL")
        *columns, counts = zip(*found, strict=True) if found else [()] * (len(own) + 1)
        return Table(tuple(rows.names), dict(zip(own, columns, strict=True)), np.array(counts, dtype=np.int64))


def _present(source: Any, column: int) -> str:
    return f"CASE WHEN NOT {source.missing(column, among_words=True)} THEN c{column} END"


def names_in(wanted: Iterable[str], known: Sequence[str]) -> dict[str, str | None]:
    """Return the name that a table has for each column: its own, or the only one that differs in case alone."""
    alike: dict[str, list[str]] = {}
    for name in known:
        alike.setdefault(name.casefold(), []).append(name)
    found: dict[str, str | None] = {}
    for name in wanted:
        others = alike.get(name.casefold(), [])
        found[name] = name if name in known else others[0] if len(others) == 1 else None
    return found


@dataclass(frozen=True)
class Values:
    """The values of a column of a table: different ones, and the place of each row's among them."""

    different: tuple[Any, ...]
    codes: Indices


def distinct_values(column: Column, values: Sequence[Any]) -> Values:
    """Return values of a column by the different ones among them."""
    place: dict[Any, int] = {}
    known: dict[Any, int] = {}
    codes, form = np.empty(len(values), dtype=np.intp), column.form_of(values)
    for i, value in enumerate(values):
        key = (type(value), value) if _is_itself(value) else None
        code = known.get(key)
        if code is None:
            read = column.read(value, form)
            code = known[key] = place.setdefault((type(read), read), len(place))
        codes[i] = code
    return Values(tuple(value for _, value in place), codes)


def _is_itself(value: Any) -> bool:
    try:
        return bool(value == value)
    except (TypeError, ValueError):  # the NA of pandas
        return False


def columns_in(columns: Mapping[str, Column], table: Table) -> dict[str, Values]:
    """Return the values of columns in a table, under the names that rules have for them.

    Raises
    ------
    DataError
        If the table lacks some.
    """
    names = names_in(columns, table.names)
    lacking = [name for name, own in names.items() if own is None]
    if lacking:
        raise DataError(f"the table has no column {list_words(lacking)}; rename its columns, or those of the rules")
    return {name: distinct_values(columns[name], table.columns[own]) for name, own in names.items() if own is not None}


def truths(rules: RuleSet, values: Mapping[str, Values], n_rows: int) -> Bools:
    """Return whether each row of a table fulfils the condition of each branch, shape (n, b)."""
    known: dict[Any, Array] = {}
    found = [_truth(branch.condition, values, known) == _TRUE for branch in rules.branches]
    return np.stack([np.broadcast_to(each, (n_rows,)) for each in found], axis=1)


def branch_of_rows(fulfils: Bools) -> Indices:
    """Return the branch that takes each row, -1 for none; IN: fulfils: whether a row fulfils each, shape (n, b)."""
    return np.where(fulfils.any(axis=1), fulfils.argmax(axis=1), -1)


def names_of_rows(rules: RuleSet, table: Any) -> Array:
    """Return what each row of a table gets, shape (n,); None where that is NULL."""
    rows = select_columns(table, rules.columns)
    names = [*(branch.name for branch in rules.branches), rules.otherwise]
    found = branch_of_rows(truths(rules, columns_in(rules._space.columns, rows), len(rows.counts)))
    return np.array(names, dtype=object)[found]


def _truth(condition: Condition, values: Mapping[str, Values], known: dict[Any, Array]) -> Array:
    match condition:
        case Test():
            if condition.shape not in known:
                known[condition.shape] = _of_test(condition, values[condition.column])
            return known[condition.shape]
        case All(parts):
            return _fold_parts(np.minimum, [_truth(part, values, known) for part in parts], _TRUE)
        case Some(parts):
            return _fold_parts(np.maximum, [_truth(part, values, known) for part in parts], _FALSE)
        case Not(part):
            return np.asarray(_TRUE - _truth(part, values, known))
        case Unknown():
            return np.asarray(_UNKNOWN, dtype=np.int8)


def _fold_parts(join: Any, parts: Sequence[Array], start: int) -> Array:
    found = np.asarray(start, dtype=np.int8)
    for part in parts:
        found = join(found, part)
    return found


def _of_test(test: Test, values: Values) -> Array:
    place = {True: _TRUE, False: _FALSE, None: _UNKNOWN}
    return np.array([place[test.holds(value)] for value in values.different], dtype=np.int8)[values.codes]


def with_labels(
    table: Any, columns: Sequence[str], labels: Any, options: ReadOptions = DEFAULTS
) -> tuple[Table, Sequence[Any] | None]:
    """Return a table with the columns that rules test, and the labels of its rows, if there are any."""
    wanted = [*columns, labels] if isinstance(labels, str) else columns
    found = select_columns(table, wanted, options)
    if not isinstance(labels, str):
        return found, None if labels is None else list(labels)
    refuse_unknown_columns([labels], found.names)
    return found, found.columns[labels]
