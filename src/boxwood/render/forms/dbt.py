"""A model of dbt that adds the cluster to a table, and its tests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from boxwood._frames import name_as_text
from boxwood._messages import show_value
from boxwood.errors import DataError
from boxwood.explanation.measured_tree import MeasuredTree, explanation_of
from boxwood.render.forms.dialects import Dialect, dialect_of
from boxwood.render.forms.sql import new_column, sql, table_name
from boxwood.render.forms.walk import provenance

_OF_DBT = re.compile(r"\{[{%#]")
_END = re.compile(r"\{%[-+]?\s*endraw")


def dbt(
    model: Any,
    *,
    table: str = "rows",
    dialect: Any = "postgres",
    nan: bool = True,
    types: Mapping[str, str] | None = None,
    reasons: bool = False,
    as_of: Any = None,
) -> dict[str, str]:
    """Return the files of a model of dbt by their names; see `Explanation.to_dbt`."""
    ex, spoken = explanation_of(model), dialect_of(dialect)
    words = re.findall(r"\w+", table)
    if not words or not all(table.split(".")):
        raise ValueError(f"table must be the name of a model of dbt, such as 'customers'; got {show_value(table)}")
    of_dbt = table if "{{" in table else f"{{{{ ref({', '.join(map(repr, table.split('.')))}) }}}}"
    query = sql(ex, dialect=dialect, table=of_dbt, nan=nan, types=types, reasons=reasons, as_of=as_of)
    name = f"{words[-1]}_clusters"
    return {
        f"{name}.sql": _with_rules_as_they_are(query, table_name(of_dbt, spoken)),
        "schema.yml": _schema(ex, name, spoken, reasons),
    }


def _with_rules_as_they_are(query: str, table: str) -> str:
    """Return a query in which dbt reads nothing but the name of the table as its own."""
    if "\r" in query:
        raise DataError("dbt makes a plain line end of a carriage return, which a column, a word or a cluster has")
    rules, name, end = query.rpartition(table)
    if _END.search(rules):
        raise DataError("the rules hold endraw in braces, where dbt would read what follows as code; rename it")
    return f"{{% raw %}}{rules}{{% endraw %}}{name}{end}" if _OF_DBT.search(rules) else query


def _schema(ex: MeasuredTree, model: str, dialect: Dialect, reasons: bool) -> str:
    """Return the description and the tests of the new column, whose values are those of the clusters alone."""
    values, are_text = _values(ex, dialect, reasons)
    lines = [
        f"# {provenance(ex)[0]}",
        "version: 2",
        "models:",
        f"  - name: {model}",
        f"    description: {_in_yaml(f'Rules of {provenance(ex)[1]}')}",
        "    columns:",
        f"      - name: {new_column(ex)}",
        "        quote: true",
        "        data_tests:",
        "          - accepted_values:",
        f"              values: {_in_yaml(values)}",
        *([] if are_text else ["              quote: false"]),
        "          - not_null:  # a row without a cluster lacks a value, or has a category that was never seen",
        "              config: {severity: warn}",
    ]
    return "\n".join(lines)


def _values(ex: MeasuredTree, dialect: Dialect, reasons: bool) -> tuple[Sequence[str | int], bool]:
    """Return the values of the column as dbt puts them into its query, which adds quotes alone, and whether to."""
    whole = [int(str(name)) for name in ex.names if isinstance(name, Integral) and not isinstance(name, bool)]
    if len(whole) == len(ex.names) and not reasons:
        return whole, False
    texts = [*map(name_as_text, ex.names), *(("missing", "never seen") if reasons else ())]
    for text in texts:
        if _OF_DBT.search(text):
            raise DataError(f"dbt takes a part of {show_value(text)} for code of its own; rename the cluster")
    return [re.sub("^[^']*'|'$", "", dialect.literal(text)) for text in texts], True


def _in_yaml(value: object) -> str:
    """Return a text, or a list, as YAML has it, which has other escapes than JSON for some characters."""
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in json.dumps(value, ensure_ascii=False))
