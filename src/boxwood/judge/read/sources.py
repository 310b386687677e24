"""`SOURCES`: the table of all kinds of sources that rules are read from, in the order in which they are tried."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, NamedTuple

from boxwood._frames import column_names, column_series, is_frame
from boxwood._messages import kind_of_value, show_value
from boxwood.errors import DataError
from boxwood.judge.conditions import Condition
from boxwood.judge.read.formula import looks_like_formula, rules_of_formula
from boxwood.judge.read.javascript import looks_like_javascript, rules_of_javascript
from boxwood.judge.read.python import condition_of_query, looks_like_function, looks_like_query, rules_of_python
from boxwood.judge.read.sql import Found, condition_of_sql, looks_like_sql, looks_like_sql_alone, rules_of_sql
from boxwood.judge.read.tree import is_fitted_tree, rules_of_tree
from boxwood.judge.rules import Branch, RuleSet
from boxwood.table.duck import open_table


class Asked(NamedTuple):
    """What is asked of readers beside a source: the dialect, and the day from which ages count."""

    dialect: str | None
    today: date


def read_source(source: Any, asked: Asked) -> RuleSet:
    """Return the rules of a source; see `boxwood.read_rules`."""
    for is_of_kind, reader in SOURCES:
        if is_of_kind(source):
            found = reader(source, asked)
            if not found.branches:
                raise DataError("the source has no rules; expected at least one condition with a name")
            return RuleSet(found.branches, found.otherwise, found.has_else, asked.today, found.is_aged)
    raise TypeError(
        "expected SQL with a CASE, a file of it, a mapping from names to conditions, a table of them, a function of "
        f"Python as text, a fitted tree, or an Explanation; got {kind_of_value(source)}"
    )


def _of_file(path: Any, asked: Asked) -> Found:
    path = os.fspath(path)
    if os.path.splitext(path)[1].lower() in (".csv", ".tsv", ".parquet", ".xlsx"):
        return _of_frame(path, asked)
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise DataError(f"{path} is no text of UTF-8; save it as such") from None
    return _of_text(text, asked)


def _of_text(text: str, asked: Asked) -> Found:
    if text.lstrip().startswith("{") and '"boxwood' in text[:2000]:
        from boxwood.explanation.model_file import from_text

        return _of_explanation(from_text(text, "the text"), asked)
    if looks_like_function(text):
        return rules_of_python(text, asked.today)
    if looks_like_javascript(text):
        return rules_of_javascript(text, asked.today)
    if looks_like_formula(text):
        return rules_of_formula(text, asked.today)
    return rules_of_sql(text, asked.dialect, asked.today)


def _of_mapping(source: Mapping[Any, Any], asked: Asked) -> Found:
    return _of_pairs(list(source.items()), asked)


def _of_list(source: Any, asked: Asked) -> Found:
    """Return the rules of a list of conditions, named by their texts, or of pairs of a name and a condition."""
    pairs = [(each, each) if isinstance(each, str) else tuple(each) for each in source]
    if not all(len(pair) == 2 for pair in pairs):
        raise DataError("expected a list of conditions, or of pairs of a name and a condition")
    return _of_pairs(pairs, asked)


def _of_frame(frame: Any, asked: Asked) -> Found:
    """Return the rules of a table with the columns name and condition, in the order of its rows."""
    if not is_frame(frame):
        with open_table(frame, text=False) as source:
            rows = source.rows_alone()
            names = tuple(rows.names)
            found = rows.fetch(f"SELECT {', '.join(f'c{i}' for i in range(len(names)))} FROM {rows.relation}")
        columns = dict(zip(names, zip(*found, strict=True), strict=True)) if found else dict.fromkeys(names, ())
    else:
        names = column_names(frame)
        columns = {name: tuple(column_series(frame, name).to_list()) for name in names}
    known = {name.strip().casefold(): name for name in names}
    if not {"name", "condition"} <= known.keys():
        raise DataError(f"a table of rules has columns name and condition; got {', '.join(names)}")
    return _of_pairs(list(zip(columns[known["name"]], columns[known["condition"]], strict=True)), asked)


_REST = ("else", "otherwise", "")


def _of_pairs(pairs: list[tuple[Any, Any]], asked: Asked) -> Found:
    """Return the rules of names and conditions; a last condition that is empty, or "else", is for all other rows."""
    branches, is_aged = [], False
    otherwise: Any = None
    has_else = bool(pairs) and (_is_gap(pairs[-1][1]) or str(pairs[-1][1]).strip().casefold() in _REST)
    if has_else:
        otherwise = pairs.pop()[0]
    is_query = any(looks_like_query(str(each)) for _, each in pairs)
    for name, text in pairs:
        if not isinstance(text, str):
            raise DataError(
                f'the condition of {show_value(name)} must be a text such as "orders >= 7"; got {show_value(text)}'
            )
        condition, with_age = _condition(name, text, asked, is_query and not looks_like_sql_alone(text))
        branches.append(Branch(name, condition))
        is_aged |= with_age
    return Found(tuple(branches), otherwise, has_else, is_aged)


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _condition(name: Any, text: str, asked: Asked, is_query: bool) -> tuple[Condition, bool]:
    try:
        if asked.dialect is None and is_query:
            return condition_of_query(text, asked.today)
        return condition_of_sql(text, asked.dialect, asked.today)
    except DataError as error:
        raise DataError(f"the condition of {show_value(name)}: {error}") from None


def _of_explanation(source: Any, asked: Asked) -> Found:
    return rules_of_sql(source.to_sql("duckdb") if hasattr(source, "to_sql") else _sql(source), "duckdb", asked.today)


def _sql(measured: Any) -> str:
    from boxwood.render.forms.sql import sql

    return sql(measured)


def _of_tree(source: Any, asked: Asked) -> Found:
    return Found(tuple(rules_of_tree(source)))


def _is_path(source: Any) -> bool:
    if isinstance(source, os.PathLike):
        return True
    if not isinstance(source, str) or "\n" in source or len(source) > _LONGEST_PATH:
        return False
    return os.path.splitext(source)[1].lower() in _ENDINGS or (not looks_like_sql(source) and os.path.isfile(source))


_LONGEST_PATH = 1_000
_ENDINGS = (".sql", ".py", ".js", ".json", ".csv", ".tsv", ".txt", ".parquet", ".xlsx")

SOURCES: tuple[tuple[Callable[[Any], bool], Callable[[Any, Asked], Found]], ...] = (
    (_is_path, _of_file),
    (lambda source: isinstance(source, str), _of_text),
    (lambda source: isinstance(source, Mapping), _of_mapping),
    (lambda source: hasattr(source, "to_sql") and hasattr(source, "clusters"), _of_explanation),
    (lambda source: hasattr(source, "to_sql") and hasattr(source, "fronts"), _of_explanation),
    (is_fitted_tree, _of_tree),
    (is_frame, _of_frame),
    (lambda source: isinstance(source, (list, tuple)), _of_list),
)
"""Whether a source is of a kind, and its reader. To add a kind, write its reader in a file of its own, and a line here.
"""
