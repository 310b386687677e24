"""A tree as a SQL expression."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._frames import name_as_text
from boxwood._messages import as_written
from boxwood._types import Indices
from boxwood._validation import shown
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.render.forms.code import moments_of
from boxwood.render.forms.dialects import Dialect, dialect_of
from boxwood.render.models import explanation_of
from boxwood.table.sql import as_number
from boxwood.tree import Box, Interval, ThresholdTree
from boxwood.tree.boxes import boxes as tree_boxes
from boxwood.tree.boxes import without_missing
from boxwood.tree.on_frames import new_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

_ALL_WHOLE = 2.0**53  # doubles hold all whole numbers up to here
_LARGEST = sys.float_info.max
_SMALLEST_GROUP = 64  # leaves; a tree of more than twice as many is tested by groups first


def sql(
    model: Any,
    *,
    dialect: Literal["duckdb", "sqlite", "postgres", "mysql", "tsql", "bigquery", "snowflake", "spark"] = "duckdb",
    table: str | Sequence[str] | None = None,
) -> str:
    """Return a CASE expression that gives the cluster of a row, or a query that adds it to a table.

    A row without a cluster gets NULL: if a value that its rule needs is NULL or NaN, or is a category that was never
    seen. In columns of numbers with gaps rules say where NULL and NaN go. Numbers are compared as doubles,
    text by all its characters, see `sql_case`. A comment on top names columns of text that were read as numbers or
    dates in a way that engines do not: convert them first.

    Names of columns are quoted, so they are taken as they are written here: Snowflake and PostgreSQL then tell upper
    from lower case. Columns of numbers are expected to have a type of numbers; for SQLite alone they may hold text.
    Spark takes `${x}` in the name of a column for a variable, unless `spark.sql.variable.substitute` is false there.

    Parameters
    ----------
    model : Explanation, or a fitted estimator with `explanation_`
    dialect : {"duckdb", "sqlite", "postgres", "mysql", "tsql", "bigquery", "snowflake", "spark"}, default="duckdb"
        Engine, by its name in sqlglot: "tsql" is SQL Server, "mysql" also MariaDB. The first three need nothing else,
        the others sqlglot: `pip install "boxwood[sql]"`.
    table : str or sequence of str, default=None
        A table, for a query that selects all its columns and the new column "cluster" ("cluster_1" if the table of the
        model has a column "cluster", and so on). In a text, points separate the parts of a name, as in
        "sales.customers"; a sequence has one text for each part. None gives the expression alone.

    Raises
    ------
    DataError
        If the name of a tested column differs from another's in case only, and the engine takes them for the same: all
        do but PostgreSQL and Snowflake. If a name has the character 0.
    ImportError
        If the dialect needs sqlglot, which is missing.
    ValueError
        If the dialect is unknown, or a part of the table's name is empty.

    Examples
    --------
    >>> import boxwood
    >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
    >>> print(sql(ex))
    CASE
    WHEN "age" <= 5 AND lower(CAST("age" AS VARCHAR)) <> 'nan' THEN 'young'
    WHEN "age" > 5 AND lower(CAST("age" AS VARCHAR)) <> 'nan' THEN 'old'
    END
    >>> print(sql(ex, dialect="mysql", table="shop.customers"))
    SELECT *, CASE
    WHEN `age` <= 5 THEN 'young'
    WHEN `age` > 5 THEN 'old'
    END AS `cluster`
    FROM `shop`.`customers`
    """
    spoken = dialect_of(dialect)
    ex = explanation_of(model)
    if not spoken.tells_case:
        refuse_alike(ex.columns, [ex.columns[j] for j in ex.tree.features])
    case = _expression(ex.tree, ex.columns, ex.names, ex.coded_columns, ex.gap_columns, spoken, ex.date_columns)
    return _remarks(ex) + (case if table is None else _query(ex, case, table, spoken))


def _remarks(ex: MeasuredTree) -> str:
    """Return lines on tested columns that were read as numbers, truths or dates, though they are not plainly written.

    In the user's database they may be text still, such as "44,98" or "ja", which SQL takes for no number and no truth.
    """
    tested = {ex.columns[j]: ex.date_columns.get(j) for j in ex.tree.features.tolist()}
    read = {
        "numbers": [said for note in as_written(ex.notes) for said in _numbers_said(note, tested)],
        "truths": [said for note in as_written(ex.notes) for said in _truths_said(note, tested)],
        "dates": [f"{name} (such as {dates.example})" for name, dates in tested.items() if dates and dates.form],
    }
    words = {ex.columns[j]: known.values for j, known in ex.coded_columns.items() if ex.columns[j] in tested}
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
    """Return what a note on columns that were read as truths says of tested ones, as `_numbers_said` does."""
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


def _query(ex: MeasuredTree, case: str, table: str | Sequence[str], dialect: Dialect) -> str:
    """Return a query that adds the cluster to a table."""
    return f"SELECT *, {case} AS {dialect.name(new_name('cluster', ex.columns))}\nFROM {table_name(table, dialect)}"


def table_name(table: str | Sequence[str], dialect: Dialect) -> str:
    """Return the name of a table, quoted part by part."""
    parts = table.split(".") if isinstance(table, str) else list(table) if isinstance(table, Iterable) else []
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f"table must be a name such as 'customers' or 'sales.customers'; got {shown(table)}")
    return ".".join(map(dialect.name, parts))


def sql_case(
    tree: ThresholdTree,
    columns: Sequence[str],
    names: Sequence[Hashable],
    categories: Mapping[int, Categories] | None = None,
    *,
    gaps: Collection[int] = (),
    may_hold_nan: bool = True,
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
    may_hold_nan : bool, default=True
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
    WHEN "age" <= 2.5e0 AND lower(CAST("age" AS VARCHAR)) <> 'nan' THEN 'young'
    WHEN "age" > 2.5e0 AND lower(CAST("age" AS VARCHAR)) <> 'nan' THEN 'old'
    END
    """
    dialect = replace(dialect_of("duckdb"), may_hold_nan=may_hold_nan, may_hold_text=may_hold_text)
    return _expression(tree, columns, names, categories or {}, gaps, dialect)


def _expression(
    tree: ThresholdTree,
    columns: Sequence[str],
    names: Sequence[Hashable],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dialect: Dialect,
    dates: Mapping[int, Dates] = NO_DATES,
) -> str:
    whole = all(isinstance(name, Integral) and not isinstance(name, bool) for name in names)
    values = [str(name) if whole else dialect.literal(name_as_text(name)) for name in names]
    tests = column_tests(tree, columns, categories, gaps, dialect, dates)
    return case_of(tree, tests, [values[cluster] for cluster in tree.leaf_clusters])


def column_tests(
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dialect: Dialect,
    dates: Mapping[int, Dates] = NO_DATES,
) -> list[Test | None]:
    """Return how each column is tested; None for one that the tree does not test."""
    tested = set(tree.features.tolist())
    return [
        None
        if j not in tested
        else _Dated(dialect.name(name), dates[j], dialect, j in gaps)
        if j in dates
        else _test(name, categories.get(j), j in gaps, dialect)
        for j, name in enumerate(columns)
    ]


def refuse_alike(columns: Sequence[str], tested: Sequence[str]) -> None:
    """Raise a DataError if the name of a tested column differs from another's in case only."""
    for name in tested:
        alike = [other for other in columns if other.casefold() == name.casefold()]
        if len(alike) > 1:
            raise DataError(
                f"columns {', '.join(map(repr, alike))} differ in case only, and SQL takes them for one\n"
                "rename them, or label rows with boxwood predict, which keeps them apart"
            )


class _Numeric(NamedTuple):
    """A column of numbers, which can be tested to lie in intervals: its name, and the test that it is no NaN."""

    name: str
    is_no_nan: str
    dialect: Dialect

    def within(self, pieces: Sequence[Interval]) -> str:
        conditions = [self._within(piece) for piece in pieces]
        inside = _any_of([f"({one})" if " AND " in one and len(pieces) > 1 else one for one in conditions])
        has_end = pieces[-1].upper < math.inf or not pieces[-1].upper_closed  # NaN is above all lower ends, below none
        if self.is_no_nan and (self.dialect.trusts_statistics or not has_end):
            return f"{inside} AND {self.is_no_nan}" if inside else self.is_no_nan
        return inside or f"{self.name} IS NOT NULL"

    def _within(self, piece: Interval) -> str:
        """Return the test; an empty text if all numbers are inside."""
        number = self._number(piece)
        lower, upper, lower_closed, upper_closed = piece if self.dialect.infinity else _finite(piece)
        if lower == upper:
            return f"{number} = {self._end(lower)}"
        parts = []
        if lower > -math.inf or not lower_closed:
            parts.append(f"{number} {'>=' if lower_closed else '>'} {self._end(lower)}")
        if upper < math.inf or not upper_closed:
            parts.append(f"{number} {'<=' if upper_closed else '<'} {self._end(upper)}")
        return " AND ".join(parts)

    def _number(self, piece: Interval) -> str:
        """Return the value to compare with the ends of an interval.

        The name alone suffices: an end in double makes a float, a whole number or a decimal a double. Whole numbers
        that no double holds are compared exactly by SQLite; only beyond 2**53 this makes a difference.
        """
        ends = [end for end in piece[:2] if math.isfinite(end)]
        needs_cast = self.dialect.may_hold_text or any(abs(end) >= _ALL_WHOLE for end in ends)
        return f"CAST({self.name} AS {self.dialect.double})" if needs_cast else self.name

    def _end(self, end: float) -> str:
        return as_number(end, self.dialect.number)


class _WithGaps(NamedTuple):
    """A column of numbers in which missing values, NULL and NaN, have a place: its name, and the test that it is NaN.

    NaN is asked for beside every interval, as engines compare it in their own ways, see `Dialect`.
    """

    name: str
    is_nan: str
    is_no_nan: str
    dialect: Dialect

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no value is inside."""
        said, or_missing = without_missing(pieces)
        if not or_missing:
            return self._present(said) if said else ""
        if said and said[0][:2] == (-math.inf, math.inf):
            return "1 = 1"
        numbers = _Numeric(self.name, "", self.dialect)
        parts = [f"({one})" if " AND " in one else one for one in (numbers.within((piece,)) for piece in said)]
        return _any_of([*parts, f"{self.name} IS NULL", *filter(None, [self.is_nan])])

    def _present(self, pieces: Sequence[Interval]) -> str:
        """Return the test that there is a number, and that it lies in intervals."""
        if self.is_no_nan and pieces[0][:2] == (-math.inf, math.inf):
            return self.is_no_nan
        return " AND ".join(filter(None, [_Numeric(self.name, "", self.dialect).within(pieces), self.is_no_nan]))


def _finite(piece: Interval) -> Interval:
    """Return the same interval where no value is infinite: an open infinite end is that of the finite numbers."""
    lower, upper, lower_closed, upper_closed = piece
    if lower == upper and math.isinf(lower):
        return Interval(_LARGEST, -_LARGEST, True, True)  # no number
    if lower == -math.inf and not lower_closed:
        lower_closed = True
    if upper == math.inf and not upper_closed:
        upper_closed = True
    return Interval(lower, upper, lower_closed, upper_closed)


class _Dated(NamedTuple):
    """A column of dates: its name, how they are said, and whether missing ones have a place."""

    name: str
    dates: Dates
    dialect: Dialect
    has_gaps: bool

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no date is inside."""
        known, or_missing = without_missing(pieces) if self.has_gaps else (tuple(pieces), False)
        if or_missing and known and known[0][:2] == (-math.inf, math.inf):
            return "1 = 1"
        conditions = [self._within(piece) for piece in known]
        several = len(conditions) + or_missing > 1
        parts = [f"({one})" if " AND " in one and several else one for one in conditions]
        return _any_of([*parts, *[f"{self.name} IS NULL"] * or_missing]) if parts or or_missing else ""

    def _within(self, piece: Interval) -> str:
        value = self.dialect.dates[bool(self.dates.zone)].format(self.name)
        ends = cast("Iterator[tuple[str, datetime]]", filter(None, moments_of(piece, self.dates)))
        parts = [f"{value} {sign} {self._moment(moment)}" for sign, moment in ends]
        return " AND ".join(parts) or f"{self.name} IS NOT NULL"

    def _moment(self, moment: datetime) -> str:
        text = moment.isoformat(" ")  # without zeros behind a fraction, as SQLite compares texts
        return self.dialect.moments[bool(self.dates.zone)].format(text.rstrip("0") if moment.microsecond else text)


class _Categorical(NamedTuple):
    """A column of categories, whose code can be tested to lie in intervals."""

    value: str
    categories: Categories
    literals: tuple[str | None, ...]  # of each value; of a missing one, those of texts that stand for it, or None
    lacks: str  # the test that there is no value

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no code is inside."""
        values, others = self.categories[:2]
        inside = [any(code in piece for piece in pieces) for code, _ in self.categories.domain]
        excluding = others and inside[-1]  # unknown values are inside, so the test lists the values outside
        listed = [i for i, is_in in zip(range(len(values)), inside, strict=False) if is_in != excluding]
        known = ", ".join(literal for i in listed if (literal := self.literals[i]) is not None)
        parts = [f"{self.value} {'NOT IN' if excluding else 'IN'} ({known})"] if known else []
        if excluding and not known:
            parts.append(f"{self.value} IS NOT NULL")
        if None in values and (None in [values[i] for i in listed]) != excluding:
            parts.append(f"{self.value} IS NULL")
        return _any_of(parts) if parts else ""


Test: TypeAlias = _Numeric | _WithGaps | _Dated | _Categorical
"""How a column is tested."""


def _test(column: str, categories: Categories | None, has_gaps: bool, dialect: Dialect) -> Test:
    name = dialect.name(column)
    is_no_nan = f"lower(CAST({name} AS {dialect.text})) <> 'nan'" if dialect.may_hold_nan else ""
    if has_gaps:
        return _WithGaps(name, is_no_nan.replace(" <> ", " = "), is_no_nan, dialect)
    if categories is None:
        return _Numeric(name, is_no_nan, dialect)
    values = categories.values
    if not categories.are_numbers:
        texts = ([str(each) for each in categories.as_written([value]) if each is not None] for value in values)
        found = (", ".join(map(dialect.compared_literal, its)) or None for its in texts)
        return _Categorical(dialect.as_compared(name), categories, tuple(found), f"{name} IS NULL")
    if not dialect.casts_booleans and categories.are_truths:
        text = f"lower(CAST({name} AS {dialect.text}))"
        return _Categorical(text, categories, tuple(map(_AS_TEXTS.get, values)), f"{name} IS NULL")
    number = f"CAST({name} AS {dialect.double})"  # the column may be one of booleans, which DuckDB refuses as numbers
    # NaN is in no list of values, so it matters only where a missing or an unknown value has a code
    matters = dialect.may_hold_nan and (categories.others or None in values or dialect.trusts_statistics)
    literals = (None if value is None else dialect.number(float(value)) for value in values)  # type: ignore[arg-type]
    value = f"CASE WHEN {is_no_nan} THEN {number} END" if matters else number
    lacks = f"({name} IS NULL OR NOT {is_no_nan})" if is_no_nan else f"{number} IS NULL"
    return _Categorical(value, categories, tuple(literals), lacks)


_AS_TEXTS: dict[Hashable, str] = {True: "'true', '1'", False: "'false', '0'"}  # of columns of booleans, and of numbers


def case_of(tree: ThresholdTree, tests: Sequence[Test | None], values: Sequence[str | None]) -> str:
    """Return the expression for a tree; a leaf with the value None needs no condition."""
    if tree.n_leaves == 1:
        return values[0] or "NULL"
    if tree.n_leaves > 2 * _SMALLEST_GROUP:
        return _case_of_groups(tree, tests, values)
    reached = _conditions(tree.boxes(), tests, values)
    return "\n".join(["CASE", *reached, "END"]) if reached else "NULL"


def _case_of_groups(tree: ThresholdTree, tests: Sequence[Test | None], values: Sequence[str | None]) -> str:
    """Return the expression for a tree of many leaves: one condition for each group of leaves, and in it an expression.

    A group is a subtree without the subtrees of the groups below it. Those are tested first, so the condition of a
    group is that of its subtree.
    """
    roots = group_roots(tree, max(_SMALLEST_GROUP, math.isqrt(tree.n_leaves)))
    cases = [case_of(part, tests, part_values) for part, part_values in groups(tree, roots, values)]
    conditions = _conditions(tree_boxes(tree, roots)[:0:-1], tests, cases[:0:-1])
    return "\n".join(["CASE", *conditions, f"ELSE {cases[0]}", "END"])


def _conditions(boxes: Sequence[Box], tests: Sequence[Test | None], results: Sequence[str | None]) -> list[str]:
    """Return a line for each box that holds rows and has a result."""
    conditions = ((condition_of_box(box, tests), result) for box, result in zip(boxes, results, strict=True) if result)
    return [f"WHEN {condition} THEN {result}" for condition, result in conditions if condition is not None]


def condition_of_box(box: Box, tests: Sequence[Test | None]) -> str | None:
    """Return the condition of a box, or None for a box that holds no row."""
    conditions = []
    for j, pieces in sorted(box.items()):
        test = tests[j]
        assert test is not None  # boxes restrict columns that the tree tests
        conditions.append(test.within(pieces) if pieces else "")
    return " AND ".join(conditions) if all(conditions) else None


def _any_of(conditions: Sequence[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


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
