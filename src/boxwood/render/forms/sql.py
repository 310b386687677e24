"""A tree as a SQL expression."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._frames import name_as_text, refuse_unknown_columns
from boxwood._messages import as_written
from boxwood._types import DialectName, Indices
from boxwood._validation import list_words, refuse_other_kind, refuse_unknown, show_value
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.ages import where_rules_run
from boxwood.explanation.apply.predict import own_shares_of_leaves
from boxwood.explanation.measured_tree import explanation_of
from boxwood.render.forms.dialects import LAYOUTS, Dialect, dialect_of
from boxwood.render.forms.lost import lost_ways
from boxwood.render.forms.sql_tests import (
    EVERY_ROW,
    Test,
    condition_of_box,
    nan_first,
    test_of,
    within_known,
    without_nan,
)
from boxwood.render.forms.walk import comment, provenance
from boxwood.table.sql import TYPES, type_of
from boxwood.tree import Box, ThresholdTree
from boxwood.tree.boxes import boxes as tree_boxes
from boxwood.tree.boxes import intervals_inside, restrict
from boxwood.tree.nodes import Cut
from boxwood.tree.on_frames import new_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.render.forms.boxes import ClusterBoxes

NO_TYPES: Mapping[str, str] = MappingProxyType({})
_SMALLEST_GROUP = 64  # leaves; a tree of more than twice as many is tested by groups first


def sql(
    model: Any,
    *,
    dialect: DialectName = "duckdb",
    table: str | Sequence[str] | None = None,
    alias: str | None = None,
    layout: Literal["flat", "nested"] = "flat",
    nan: bool = True,
    types: Mapping[str, str] | None = None,
    reasons: bool = False,
    as_of: Any = None,
    share: bool = False,
) -> str:
    """Return a CASE expression that gives the cluster of a row, or a query that adds it to a table.

    A row without a cluster gets NULL: if a value that its rule needs is NULL or NaN, or is a category that was never
    seen. In columns of numbers with gaps rules say where NULL and NaN go. Numbers are compared as doubles,
    text by all its characters, see `sql_case`. Comments on top say where the rules come from, and name columns of text
    that were read as numbers or dates in a way that engines do not: convert them first.

    Names of columns are quoted, so they are taken as they are written here: Snowflake and PostgreSQL then tell upper
    from lower case. Columns of numbers are expected to have a type of numbers; for SQLite alone they may hold text.
    Spark takes `${x}` in the name of a column for a variable, unless `spark.sql.variable.substitute` is false there.

    Parameters
    ----------
    model : Explanation, or a fitted estimator with `explanation_`
    dialect : {"duckdb", "sqlite", "postgres", "redshift", "mysql", "tsql", ...}, default="duckdb"
        Engine; see `Explanation.to_sql`.
    table : str or sequence of str, default=None
        A table, for a query that selects all its columns and the new column "cluster" ("cluster_1" if the table of the
        model has a column "cluster", and so on). In a text, points separate the parts of a name, as in
        "sales.customers"; a sequence has one text for each part. None gives the expression alone.
    alias, layout, nan, types, reasons, as_of, share
        See `Explanation.to_sql`.

    Raises
    ------
    DataError
        If the name of a tested column differs from another's in case only, and the engine takes them for the same: all
        do but PostgreSQL, Snowflake, ClickHouse and Oracle. If a name has the character 0.
    ImportError
        If the dialect needs sqlglot, which is missing.
    ValueError
        If the dialect, the layout or a type is unknown, a part of the table's name is empty, or a tree is deeper than
        the engine can nest CASE.

    Examples
    --------
    >>> import boxwood
    >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
    >>> print(sql(ex, types={"age": "INTEGER"}))
    -- boxwood ..., from an array: 2 clusters, 2 leaves, agreement 100.0%
    CASE
      WHEN "age" <= 5 THEN 'young'
      WHEN "age" > 5 THEN 'old'
    END
    >>> print(sql(ex, dialect="mysql", table="shop.customers"))
    -- boxwood ...
    SELECT *,
      CASE
        WHEN `age` <= 5 THEN 'young'
        WHEN `age` > 5 THEN 'old'
      END AS `cluster`
    FROM `shop`.`customers`
    """
    spoken = dialect_of(dialect)
    refuse_unknown("layout", layout, LAYOUTS)
    if alias is not None:
        refuse_other_kind("alias", alias, str, "name the new column, as 'cluster'")
    ex = where_rules_run(explanation_of(model), as_of)
    if not spoken.tells_case:
        refuse_alike_names(ex.columns, [ex.columns[j] for j in ex.tree.features])
    if layout == "nested" and ex.tree.depth > spoken.most_nested:
        raise ValueError(
            f"{dialect} cannot be asked to nest a tree of depth {ex.tree.depth} (at most {spoken.most_nested}); "
            'use layout="flat"'
        )
    spoken = spoken if nan else replace(spoken, nan=None)
    known = ex._coded_columns, ex._gap_columns, spoken, ex._date_columns, known_types(ex, types, spoken)
    tests = column_tests(ex.tree, ex.columns, *known)
    level = 0 if table is None else 1
    write = _nest_cases if layout == "nested" else case_of
    case = write(ex.tree, tests, _values(ex.tree, ex.names, spoken, as_text=reasons), level)
    case = _with_reasons(ex, case, tests, spoken, level) if reasons else case
    said = _said_of_nan(case, spoken)
    if share:
        alias = alias or new_column(ex)
        shares = write(ex.tree, tests, list(map(spoken.number, own_shares_of_leaves(ex).tolist())), level)
        case += f" AS {spoken.name(alias)},\n{'  ' * level}{shares}"
        alias = new_name(f"{alias}_share", ex.columns)
    written = _name_case(case, alias, spoken) if table is None else _query(ex, case, alias, table, spoken)
    remarks = _remarks(ex, ex.tree.features.tolist(), types or {}, known[-1], spoken)
    return comment(ex, "-- ") + remarks + said + written


def sql_of_boxes(
    found: ClusterBoxes, *, dialect: DialectName = "duckdb", table: str | Sequence[str] | None = None
) -> str:
    """Return a CASE expression, or a query, as `StandaloneRules.to_sql` does."""
    spoken, ex, tested = dialect_of(dialect), found.explanation, found.features
    if not spoken.tells_case:
        refuse_alike_names(ex.columns, [ex.columns[j] for j in tested])
    known = ex._coded_columns, ex._gap_columns, spoken, ex._date_columns, known_types(ex, None, spoken)
    tests, names = _tests(tested, ex.columns, *known), _names(ex.names, spoken)
    boxes = [box for _, box in found.boxes]
    reached = _conditions(boxes, tests, [names[cluster] for cluster, _ in found.boxes])
    case = _block(reached, 0 if table is None else 1) if reached else "NULL"
    made, _ = provenance(ex)
    remarks = _remarks(ex, tested, {}, known[-1], spoken) + _said_of_nan(case, spoken)
    return f"-- {made}: {found.what}\n{remarks}" + (case if table is None else _query(ex, case, None, table, spoken))


def known_types(ex: MeasuredTree, given: Mapping[str, str] | None, dialect: Dialect) -> dict[str, str]:
    """Return what is known of the types of columns: those that the caller states, and those that the table had.

    Dates and booleans that stood as text have types of their own, as databases seldom keep them as text: a caller whose
    database does says so. Where numbers and booleans may be text, as in SQLite, only the caller knows that they
    are not.
    """
    given = given or {}
    refuse_other_kind("types", given, Mapping, "map columns to types, as {'last_order': 'TEXT'}")
    refuse_unknown_columns(given, ex.columns)
    found = {} if ex.provenance is None else dict(ex.provenance.types)
    found |= {name: "BOOLEAN" if type is bool else "" for name, type in _stood_as_text(ex).items()}
    if dialect.may_hold_text:
        found = {name: type for name, type in found.items() if type in ("DATE", "TEXT")}
    for name, declared in given.items():
        if isinstance(declared, str) and re.match("timestamp|datetime|variant|json", declared.strip().lower()):
            found[name] = ""
        elif not isinstance(declared, str) or not (kind := type_of(declared)):
            known = list_words(TYPES)
            raise ValueError(
                f"types must map columns to types of SQL such as {known}; got {show_value(declared)} for {name}"
            )
        else:
            found[name] = kind
    return found


def _stood_as_text(ex: MeasuredTree) -> dict[str, type]:
    """Return the columns of dates and booleans that were text in the table, with what they hold."""
    kinds: dict[str, type] = {ex.columns[j]: datetime for j in ex._date_columns}
    kinds |= {ex.columns[j]: bool for j, known in ex._coded_columns.items() if known.are_truths}
    texts = [] if ex.provenance is None else [name for name, type in ex.provenance.types if type == "TEXT"]
    return {name: kinds[name] for name in texts if name in kinds}


def _said_of_nan(case: str, dialect: Dialect) -> str:
    """Return a line on why NaN is asked for, if it is."""
    if dialect.nan is None or not any(part in case for part in ("isnan(", "IS_NAN(", "CAST('NaN' AS")):
        return ""
    return "-- NaN counts as missing; if no column has any, leave out the tests for it: nan=False, or --no-nan\n"


def _remarks(
    ex: MeasuredTree, features: Sequence[int], given: Mapping[str, str], types: Mapping[str, str], dialect: Dialect
) -> str:
    """Return lines on tested columns that were text in the table, and were read as numbers, booleans or dates.

    In the user's database they may be text still, such as "44,98" or "ja", which SQL cannot compare.
    IN: given: types that the caller states; types: what is known of all.
    """
    tested = {ex.columns[j]: ex._date_columns.get(j) for j in features}
    stood = {} if dialect.may_hold_text else {name: of for name, of in _stood_as_text(ex).items() if name not in given}
    read = {
        "numbers": [said for note in as_written(ex.notes) for said in _numbers_said(note, tested)],
        "booleans": [
            *(said for note in as_written(ex.notes) for said in _truths_said(note, tested)),
            *(f"{name} (such as true)" for name in tested if stood.get(name) is bool),
        ],
        "dates": [
            f"{name} (such as {dates.example})"
            for name, dates in tested.items()
            if dates and (dates.form or name in stood or (dialect.texts is None and types.get(name) == "TEXT"))
        ],
    }
    words = {ex.columns[j]: known.values for j, known in ex._coded_columns.items() if ex.columns[j] in tested}
    read["text"] = [f"{name} (such as {odd})" for name, its in words.items() if (odd := _odd_number(its)) is not None]
    said = {kind: " ".join("; ".join(columns).split()) for kind, columns in read.items() if columns}
    return "".join(
        f"-- Convert these columns to {kind} first, where your database holds them as "
        f"{'numbers' if kind == 'text' else 'text'}: {columns}\n"
        for kind, columns in said.items()
    )


def _odd_number(values: Sequence[Hashable]) -> str | None:
    """Return the first word that a database may hold as a number, whose text is another one, such as 1.10 or 0742."""
    for value in values:
        with suppress(TypeError, ValueError):
            number = float(value) if isinstance(value, str) else math.nan
            if math.isfinite(number) and value not in (repr(number), f"{number:.0f}"):
                return str(value)
    return None


def _numbers_said(note: str, tested: Collection[str]) -> list[str]:
    """Return what a note on columns that were read as numbers says of tested ones; all of it, if it is cut off."""
    if not note.startswith(_READ):
        return []
    said = note.removeprefix(_READ)
    return [said] if _CUT_OFF.search(said) else [each for each, name in _NUMBERS.findall(note) if name in tested]


def _truths_said(note: str, tested: Collection[str]) -> list[str]:
    """Return what a note on columns that were read as booleans says of tested ones, as `_numbers_said` does."""
    found = _TRUTHS.fullmatch(note)
    if found is None:
        return []
    names, yes, no = found.groups()
    said = [names] if _CUT_OFF.search(names) else [name for name in names.split(", ") if name in tested]
    return [f"{name} ({yes} is true, {no} is false)" for name in said]


# the notes on how columns were read, which a model file keeps, too
_READ = "read as numbers: "
_NUMBERS = re.compile(r"(?:: |, )((.+?) \('.+?' is [-+.0-9e]+\))")
_TRUTHS = re.compile(r"(.+): (.+) is 1, (.+) is 0")
_CUT_OFF = re.compile(r" and \d+ more$|\N{HORIZONTAL ELLIPSIS}")


def _name_case(case: str, alias: str | None, dialect: Dialect) -> str:
    return case if alias is None else f"{case} AS {dialect.name(alias)}"


def _query(ex: MeasuredTree, case: str, alias: str | None, table: str | Sequence[str], dialect: Dialect) -> str:
    """Return a query that adds the cluster to a table."""
    named = _name_case(case, alias or new_column(ex), dialect)
    stars, behind = dialect.all_columns
    return f"SELECT {stars},\n  {named}\nFROM {table_name(table, dialect)}{behind}"


def new_column(ex: MeasuredTree) -> str:
    """Return the name of the column that a query adds to a table."""
    return new_name("cluster", ex.columns)


def table_name(table: str | Sequence[str], dialect: Dialect) -> str:
    """Return the name of a table, quoted part by part; a part in double braces is for dbt, and stays as it is.

    Blanks around double braces are no part of a name.
    """
    parts = _PART.findall(table) if isinstance(table, str) else list(table) if isinstance(table, Iterable) else []
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f"table must be a name such as 'customers' or 'sales.customers'; got {show_value(table)}")
    return ".".join(part.strip() if is_template(part.strip()) else dialect.name(part) for part in parts)


def is_template(text: str) -> bool:
    """Return whether a text is an expression in double braces, which dbt replaces by a name."""
    return _TEMPLATE.fullmatch(text) is not None


_TEMPLATE = re.compile(r"\{\{(?:(?!\}\}).)*\}\}", re.DOTALL)
_PART = re.compile(rf"(?:^|(?<=\.))(\s*{_TEMPLATE.pattern}\s*|[^.]*)(?=\.|$)", re.DOTALL)


def sql_case(
    tree: ThresholdTree,
    columns: Sequence[str],
    names: Sequence[Hashable],
    categories: Mapping[int, Categories] | None = None,
    *,
    gaps: Collection[int] = (),
    nan: bool = True,
    may_hold_text: bool = False,
) -> str:
    """Return a CASE expression for DuckDB that gives the cluster of a row, exactly as `tree.predict` does.

    Every leaf is one condition, and there is no ELSE. A row gets NULL if a column that its path through the tree tests
    is NULL or NaN. Values and thresholds are compared as doubles, with all digits; a column of decimals with more than
    15 digits may be compared with a whole number as decimals. More than 128 leaves are tested in
    groups, of about the square root of their number, so a row meets few of them, and expressions are nested a few times
    only, however deep the tree is. Takes time and length of the number of leaves times the columns that each restricts.

    Parameters
    ----------
    tree : ThresholdTree
    columns : sequence of str
        Name of each column that the tree may test.
    names : sequence
        Name of each cluster. If all names are whole numbers they stay numbers; otherwise names become text.
    categories : mapping from column to Categories, default=None
        Columns of which the tree tests codes. Their tests become lists of values, compared as text, or as doubles if
        all values are numbers. A row gets NULL if such a value is missing or unknown and the categories have no code
        for it.
    gaps : collection of int, default=()
        Columns of numbers in which the tree takes a missing value as +inf, so that it has a place.
    nan : bool, default=True
        Whether columns may hold NaN; see `Dialect`.
    may_hold_text : bool, default=False
        Whether columns of numbers may hold them as text. If so, all are cast. If not, an engine that compares text with
        numbers gives wrong answers for text; DuckDB refuses to.

    Returns
    -------
    str
        The expression.

    Examples
    --------
    >>> tree = ThresholdTree.from_dict(
    ...     {"feature": 0, "threshold": 2.5, "left": {"cluster": 1}, "right": {"cluster": 0}}
    ... )
    >>> print(sql_case(tree, ["age"], ["old", "young"]))
    CASE
      WHEN isnan(CASE WHEN "age" IS NOT NULL THEN "age" END) THEN NULL
      WHEN "age" <= 2.5e0 THEN 'young'
      WHEN "age" > 2.5e0 THEN 'old'
    END
    """
    dialect = replace(dialect_of("duckdb"), may_hold_text=may_hold_text)
    dialect = dialect if nan else replace(dialect, nan=None)
    tests = column_tests(tree, columns, categories or {}, gaps, dialect)
    return case_of(tree, tests, _values(tree, names, dialect))


def _with_reasons(ex: MeasuredTree, case: str, tests: Mapping[int, Test], dialect: Dialect, level: int) -> str:
    """Return the expression with why a row has no cluster in place of NULL."""
    ways = lost_ways(ex.tree, tests, ex._gap_columns, lambda reason: dialect.literal(reason[1]))
    if not ways:
        return case
    lines = [f"WHEN {way} THEN {why}" if way else f"ELSE {why}" for way, why in ways]
    return f"COALESCE({case}, {ways[0][1] if ways[0][0] == '' else _block(lines, level)})"


def _values(tree: ThresholdTree, names: Sequence[Hashable], dialect: Dialect, *, as_text: bool = False) -> list[str]:
    """Return the name of each leaf's cluster."""
    values = _names(names, dialect, as_text=as_text)
    return [values[cluster] for cluster in tree.leaf_clusters]


def _names(names: Sequence[Hashable], dialect: Dialect, *, as_text: bool = False) -> list[str]:
    kinds = {*map(type, names)}
    whole = not as_text and all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds)
    return [str(name) if whole else dialect.literal(name_as_text(name)) for name in names]


def column_tests(
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dialect: Dialect,
    dates: Mapping[int, Dates] = NO_DATES,
    types: Mapping[str, str] = NO_TYPES,
) -> dict[int, Test]:
    """Return how each column that the tree tests is tested."""
    return _tests(tree.features.tolist(), columns, categories, gaps, dialect, dates, types)


def _tests(
    tested: Sequence[int],
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dialect: Dialect,
    dates: Mapping[int, Dates],
    types: Mapping[str, str],
) -> dict[int, Test]:
    return {
        j: test_of(columns[j], types.get(columns[j], ""), dialect, categories.get(j), dates.get(j), has_gaps=j in gaps)
        for j in tested
    }


def refuse_alike_names(columns: Sequence[str], tested: Sequence[str]) -> None:
    """Raise a DataError if the name of a tested column differs from another's in case only."""
    for name in tested:
        alike = [other for other in columns if other.casefold() == name.casefold()]
        if len(alike) > 1:
            raise DataError(
                f"columns {', '.join(map(repr, alike))} differ in case only, and SQL takes them for one\n"
                "rename them, or label rows with boxwood predict, which keeps them apart"
            )


def case_of(tree: ThresholdTree, tests: Mapping[int, Test], values: Sequence[str | None], level: int = 0) -> str:
    """Return the expression for a tree, a condition for each leaf; a leaf with the value None needs none."""
    if tree.n_leaves == 1:
        return values[0] or "NULL"
    if tree.n_leaves > 2 * _SMALLEST_GROUP:
        return _case_of_groups(tree, tests, values, level)
    boxes = tree.boxes()
    asked_by_all = sorted(set.intersection(*(set(box) for box in boxes)))
    before = {j: is_nan for j in asked_by_all if (is_nan := nan_first(tests[j]))}
    reached = _conditions(boxes, {**tests, **{j: without_nan(tests[j]) for j in before}}, values)
    return _block([*(f"WHEN {is_nan} THEN NULL" for is_nan in before.values()), *reached], level) if reached else "NULL"


def _case_of_groups(tree: ThresholdTree, tests: Mapping[int, Test], values: Sequence[str | None], level: int) -> str:
    """Return the expression for a tree of many leaves: one condition for each group of leaves, and in it an expression.

    A group is a subtree without the subtrees of the groups below it. Those are tested first, so the condition of a
    group is that of its subtree.
    """
    roots = group_roots(tree, max(_SMALLEST_GROUP, math.isqrt(tree.n_leaves)))
    cases = [case_of(part, tests, part_values, level + 1) for part, part_values in groups(tree, roots, values)]
    conditions = _conditions(tree_boxes(tree, roots)[:0:-1], tests, cases[:0:-1])
    return _block([*conditions, f"ELSE {cases[0]}"], level)


def _block(lines: Sequence[str], level: int) -> str:
    """Return a CASE whose lines are indented by a level more than itself; no text within a line is changed."""
    indent = "  " * level
    return "\n".join(["CASE", *(f"{indent}  {line}" for line in lines), f"{indent}END"])


def _nest_cases(tree: ThresholdTree, tests: Mapping[int, Test], values: Sequence[str], level: int) -> str:
    """Return the expression for a tree, a condition for each side of a cut, and in it the expression for what is below.

    A column is asked for NaN where the way down the tree first tests it; what the way has shown is not asked again.
    """
    leaf: dict[int, str] = dict(zip(tree.leaf_nodes.tolist(), values, strict=True))

    def below(node: int, box: Box, level: int) -> str:
        if node in leaf:
            return leaf[node]
        feature, upper, lower, members = tree.test(node)
        test = without_nan(tests[feature]) if feature in box else tests[feature]
        is_nan = nan_first(test)
        lines = [f"WHEN {is_nan} THEN NULL"] * bool(is_nan)
        test = without_nan(test) if is_nan else test
        for inside, child in ((True, node + 1), (False, int(tree.second[node]))):
            cut = Cut(node, feature, lower, upper, inside, members)
            inner = restrict(box, cut)
            ways = [test.within(intervals_inside(cut))]
            if feature in box and inner[feature]:
                ways.append(within_known(test, inner[feature], box[feature]))
            if condition := min(ways, key=len):
                result = below(child, inner, level + 2)
                apart = f"\n{'  ' * (level + 2)}" if result.startswith("CASE\n") else " "
                lines.append(f"WHEN {condition} THEN{apart}{result}")
        return _block(lines, level)

    return below(0, {}, level)


def _conditions(boxes: Sequence[Box], tests: Mapping[int, Test], results: Sequence[str | None]) -> list[str]:
    """Return a line for each box that holds rows and has a result."""
    conditions = ((condition_of_box(box, tests), result) for box, result in zip(boxes, results, strict=True) if result)
    return [f"WHEN {condition or EVERY_ROW} THEN {result}" for condition, result in conditions if condition is not None]


def group_roots(tree: ThresholdTree, size: int) -> list[int]:
    """Return the roots of groups of at least `size` leaves and less than twice as many, in pre-order; 0 is the first.

    A group counts as one leaf of the group above it. Only the first group may be smaller.
    """
    features, second = tree.feature.tolist(), tree.second.tolist()
    leaves, roots = [1] * tree.n_nodes, []
    for node in range(tree.n_nodes - 1, -1, -1):
        if features[node] >= 0:
            leaves[node] = leaves[node + 1] + leaves[second[node]]
        if leaves[node] >= size or node == 0:
            roots.append(node)
            leaves[node] = 1
    return roots[::-1]


def groups(
    tree: ThresholdTree, roots: Sequence[int], values: Sequence[str | None]
) -> Iterator[tuple[ThresholdTree, list[str | None]]]:
    """Yield the tree of each group and the values of its leaves; a group below it is a leaf with the value None."""
    is_root = np.isin(np.arange(tree.n_nodes), roots)
    group = np.zeros(tree.n_nodes, dtype=np.intp)  # number of the group of each node
    outer = np.zeros(tree.n_nodes, dtype=np.intp)  # that of its parent
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        for child in (node + 1, int(tree.second[node])):
            outer[child] = group[node]
            group[child] = np.searchsorted(roots, child) if is_root[child] else group[node]
    leaf = np.cumsum(tree.feature < 0) - 1
    inner = np.flatnonzero(is_root)[1:]
    members = np.concatenate([np.arange(tree.n_nodes), inner])
    owners = np.concatenate([group, outer[inner]])
    order = np.lexsort([members, owners])
    for nodes in np.split(members[order], np.cumsum(np.bincount(owners))[:-1]):
        ends = nodes[1:][is_root[nodes[1:]]]
        part = _part(tree, nodes, ends)
        yield part, [None if is_root[node] else values[leaf[node]] for node in nodes[part.leaf_nodes].tolist()]


def _part(tree: ThresholdTree, nodes: Indices, leaves: Indices) -> ThresholdTree:
    """Return the tree of some nodes; the nodes in `leaves` become leaves of cluster 0."""
    feature, lower, upper, second, cluster, members = (array[nodes] for array in tree._arrays())
    ends = np.isin(nodes, leaves)
    feature, lower, upper = np.where(ends, -1, feature), np.where(ends, -np.inf, lower), np.where(ends, np.inf, upper)
    second = np.where(feature < 0, -1, np.searchsorted(nodes, second))
    cluster = np.where(feature < 0, np.maximum(cluster, 0), -1)
    return ThresholdTree(feature, lower, upper, second, cluster, members & (feature >= 0)[:, None])
