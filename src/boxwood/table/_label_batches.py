"""`Labeller`: the clusters of rows in tables of Arrow, by the very SQL that labels rows of files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from boxwood._validation import shown
from boxwood.errors import DataError
from boxwood.table._column_names import distinct_names
from boxwood.table._labels import Labelled, Rules, Unseen, inputs_of, positions_of, rows_with
from boxwood.table._source import Source, connected
from boxwood.table._texts import hints_on

__all__ = ["Labeller"]

_ROWS = "boxwood_rows"


class Labeller:
    """Gives tables of one schema their clusters, and counts what is told of them. Rows come in their order.

    Attributes
    ----------
    type : pyarrow.DataType
        Type of the new column.
    n_rows : int
        Number of rows so far.
    """

    @classmethod
    @contextmanager
    def opened(cls, name: str, schema: Any, rules: Rules) -> Iterator[Self]:
        """Yield one for tables of a schema; `name` is that of the table in messages.

        Raises
        ------
        DataError
            If the schema lacks a column, or one that must be numbers holds others.
        """
        with connected() as (con, workspace):
            names = distinct_names(schema.names)
            read = sorted(set(positions_of(name, names, rules.needed).values())) or [
                0
            ]  # rows without columns have no number
            _register(con, schema.empty_table(), read)
            types = dict(zip(read, (str(row[1]) for row in con.execute(f"DESCRIBE {_ROWS}").fetchall()), strict=True))
            relation = f"{_ROWS} AS t({', '.join(f'c{i}' for i in read)})"
            all_types = tuple(types.get(i, "") for i in range(len(names)))
            yield cls(Source(con, relation, name, "parquet", names, all_types, workspace), read, rules)

    def __init__(self, source: Source, read: list[int], rules: Rules) -> None:
        self._source, self._read, self.n_rows, self._n_empty = source, read, 0, 0
        inputs = inputs_of(source, rules)
        self._texts = [one.column for one in inputs.values() if one.is_text != "false"]
        self._unseen: dict[int, Unseen] = {
            one.column: Unseen(source.names[one.column], 0, "") for one in inputs.values() if one.is_unseen != "false"
        }
        tests = [(one.is_text, one.column) for one in inputs.values() if one.is_text != "false"]
        tests += [(one.is_unseen, one.column) for one in inputs.values() if one.is_unseen != "false"]
        queries = [f"({rules.expression})", *(f"CASE WHEN {test} THEN {source.text(i)} END" for test, i in tests)]
        selected = ", ".join(f"{query} AS r{i}" for i, query in enumerate(queries))
        self._query = f"SELECT {selected} FROM {rows_with(source, inputs)}"
        self.type = source.fetch_arrow(self._query).schema.field(0).type

    def labels(self, table: Any) -> Any:
        """Return the new column for the next rows, as an array of Arrow; null for a row without a cluster.

        Raises
        ------
        DataError
            If a value that must be a number is text.
        """
        import pyarrow.compute as pc

        _register(self._source.con, table, self._read)
        labels, *found = (column.combine_chunks() for column in self._source.fetch_arrow(self._query).columns)
        for i, texts in zip(self._texts, found, strict=False):
            if texts.null_count < len(texts):
                self._refuse_text(i, texts)
        for i, values in zip(self._unseen, found[len(self._texts) :], strict=True):
            if n := len(values) - values.null_count:
                old, least = self._unseen[i], pc.min(values).as_py()
                example = min(old.example, least) if old.n_values else least
                self._unseen[i] = Unseen(old.column, old.n_values + n, example)
        self.n_rows, self._n_empty = self.n_rows + len(labels), self._n_empty + labels.null_count
        return labels

    def _refuse_text(self, i: int, texts: Any) -> None:
        import pyarrow.compute as pc

        row = pc.index(pc.is_valid(texts), True).as_py()
        name, where = self._source.names[i], f"first {shown(texts[row].as_py())} in row {self.n_rows + row + 1:,}"
        advice = "\n".join(hints_on(self._source, [name]))
        message = f"column '{name}' must be numbers, but {self._source.name} has text, {where}\n{advice}"
        raise DataError(message.rstrip())

    def done(self) -> Labelled:
        """Return the counts of all rows."""
        return Labelled(self.n_rows, self._n_empty, tuple(each for each in self._unseen.values() if each.n_values))


def _register(con: Any, table: Any, read: list[int]) -> None:
    """Make some columns of a table the rows of a query."""
    import pyarrow as pa

    known = [_known_to_duckdb(table.column(i)) for i in read]
    con.register(_ROWS, pa.Table.from_arrays(known, names=[f"c{i}" for i in read]))


def _known_to_duckdb(column: Any) -> Any:
    """Return a column of a type that DuckDB has: halves of floats and columns of nulls become others."""
    import pyarrow as pa

    other = {pa.float16(): pa.float32(), pa.null(): pa.float64()}.get(column.type)
    return column if other is None else column.cast(other)
