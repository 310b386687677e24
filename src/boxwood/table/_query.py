"""Queries of DuckDB in place of a table: what is one, and its rows as a relation with the names of its columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from boxwood._messages import cut_off, listed
from boxwood.errors import DataError
from boxwood.table._source import Source

if TYPE_CHECKING:
    import duckdb

__all__ = ["QUERY", "Query", "is_query", "query_table"]

QUERY = "the query"  # its name in messages


class Query(NamedTuple):
    """A query in place of the name of a file."""

    sql: str


def is_query(text: str) -> bool:
    """Return whether a text is SQL, and not the name of a file."""
    return re.match(r"\s*(SELECT|WITH|FROM)\s", text, re.IGNORECASE) is not None


def query_table(con: duckdb.DuckDBPyConnection, workspace: str, sql: str) -> Source:
    """Return the rows of a query; it runs each time they are read.

    Raises
    ------
    DataError
        If it is not one SELECT, or DuckDB cannot plan it.
    """
    import duckdb

    try:
        sql.encode()
        kinds = [statement.type.name for statement in con.extract_statements(sql)]
        if kinds != ["SELECT"]:
            raise DataError(f"the query must be one SELECT, got {listed(kinds) or 'none'}")
        inner = f"(\n{_without_end(sql)}\n)"
        found = con.execute(f"DESCRIBE SELECT * FROM {inner}").fetchall()
    except (duckdb.Error, UnicodeEncodeError) as error:
        raise DataError(f"cannot run the query: {cut_off(str(error), 500)}") from None
    names, types = (tuple(str(row[at]) for row in found) for at in (0, 1))
    aliases = ", ".join(f"c{i}" for i in range(len(names)))
    return Source(con, f"{inner} AS t({aliases})", QUERY, "SQL", names, types, workspace)


def _without_end(sql: str) -> str:
    """Return a statement without the semicolons and comments behind it, so that it can stand in brackets."""
    import duckdb

    text = sql.encode()  # places of tokens count bytes
    end = len(text)
    for start, kind in reversed(duckdb.tokenize(sql)):
        # older versions of DuckDB tell no comments, so that one may stand behind the semicolon
        if "comment" not in str(kind) and not text[start:end].startswith(b";"):
            break
        end = start
    return text[:end].decode()
