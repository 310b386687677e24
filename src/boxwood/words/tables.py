"""`TABLES`: results of verbs as tables of text, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from boxwood.words.values import align_lines, cluster_name, column_name, count_of, percent, size, three_digits

_MOST_ROWS = 20


class Table(NamedTuple):
    """A caption, and lines of cells, the header first; in a terminal the columns of `left` stand to the left."""

    caption: str
    lines: list[list[str]]
    left: Collection[int] = (0,)


def table_text(result: Any) -> str:
    """Return what `print` shows of a result that is one of TABLES."""
    caption, lines, left = TABLES[type(result).__name__](result)
    return "\n".join([*(align_lines(lines, left) if len(lines) > 1 else ()), *([caption] if caption else ())])


def _table_of_misassigned(rows: Any) -> Table:
    lines = [["row", "cluster", "rule names", "misled by", "value", "standard deviations away"]]
    for one in rows[:_MOST_ROWS]:
        names = (cluster_name(rows.names[cluster]) for cluster in (one.cluster, one.ruled))
        lines.append([str(one.row), *names, _misleading_side(one), _say_value(one.value), _say_value(one.deviations)])
    shown = f", the first {_MOST_ROWS}" if len(rows) > _MOST_ROWS else ""
    return Table(f"{count_of(len(rows), 'row')} whose rule names another cluster{shown}.", lines, range(len(lines[0])))


def _misleading_side(one: Any) -> str:
    """Return the side of the cut that misled a row; the words of categories and dates are a condition already."""
    if one.side in ("<=", ">", ">=", "<") and one.threshold is not None:
        return f"{column_name(one.column)} {one.side} {_say_value(one.threshold)}"
    return _say_value(one.side)


def _confusion(rows: Any) -> Table:
    names = [cluster_name(name) for name in rows.names]
    lines = [["cluster", *(f"rule: {name}" for name in names)]]
    lines += [[name, *map(size, row)] for name, row in zip(names, rows, strict=True)]
    return Table("Each line counts the rows of a cluster by the cluster that their rule names.", lines)


def _worth(worth: Any) -> Table:
    lines = [["number of the cluster", "sum", "share", "mean"]]
    for number, one in enumerate(worth.clusters):
        lines.append([str(number), _say_value(one.total), percent(one.share), _say_value(one.mean)])
    missing = f" {count_of(worth.n_missing, 'row')} without a value." if worth.n_missing else ""
    return Table(f"{column_name(worth.column)}: {_say_value(worth.total)} in total.{missing}", lines)


def _fields(facts: Any) -> Table:
    """Return a table of fields and values, for records of single facts."""
    said = ([name.replace("_", " "), _say_value(value)] for name, value in facts._asdict().items())
    return Table("", [["", "value"], *said], (0, 1))


def _say_value(value: Any) -> str:
    if value is None or value == "" or value == ():
        return "-"
    if isinstance(value, tuple):
        return "; ".join(
            ": ".join(map(_say_value, one)) if isinstance(one, tuple) else _say_value(one) for one in value
        )
    return three_digits(value) if isinstance(value, float) else str(value)


TABLES: dict[str, Callable[[Any], Table]] = {
    "MisassignedRows": _table_of_misassigned,
    "Confusion": _confusion,
    "Totals": _worth,
    "SearchReport": _fields,
    "Provenance": _fields,
}
