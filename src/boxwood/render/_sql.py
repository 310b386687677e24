"""A tree as a SQL expression."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np

from boxwood._types import Indices
from boxwood._validation import refuse_unknown
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.render._rules import explanation_of
from boxwood.table._sql import as_double, as_name, as_number, as_text
from boxwood.tree import Box, Interval, ThresholdTree
from boxwood.tree._boxes import boxes as tree_boxes

__all__ = ["sql", "sql_case", "sqlite"]

_ALL_WHOLE = 2.0**53  # doubles hold all whole numbers up to here
_SMALLEST_GROUP = 64  # leaves; a tree of more than twice as many is tested by groups first


def sql(model: Any, *, dialect: Literal["duckdb", "sqlite"] = "duckdb") -> str:
    """Return a CASE expression that gives the cluster of a row; see `sql_case`.

    Parameters
    ----------
    model : Explanation, or a fitted estimator with `explanation_`
    dialect : {"duckdb", "sqlite"}, default="duckdb"
        "duckdb" is for engines that refuse to compare text with a number. "sqlite" casts every column: SQLite compares
        text with a number as two texts, and its `.import` of CSV makes all columns text.

    Raises
    ------
    DataError
        If the name of a tested column differs from another's in case only: SQL takes them for the same.
    ValueError
        If the dialect is unknown.

    Examples
    --------
    >>> import boxwood
    >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
    >>> print(sql(ex))
    CASE
    WHEN "age" <= 5 THEN 'young'
    WHEN "age" > 5 AND lower(CAST("age" AS VARCHAR)) <> 'nan' THEN 'old'
    END
    >>> print(sql(ex, dialect="sqlite"))
    CASE
    WHEN CAST("age" AS DOUBLE) <= 5 THEN 'young'
    WHEN CAST("age" AS DOUBLE) > 5 THEN 'old'
    END
    """
    refuse_unknown("dialect", dialect, ("duckdb", "sqlite"))
    ex = explanation_of(model)
    _refuse_alike(ex.columns, [ex.columns[j] for j in ex.tree.features])
    may_hold_nan = dialect != "sqlite"  # SQLite stores NaN as NULL
    may_hold_text = dialect == "sqlite"
    return sql_case(
        ex.tree, ex.columns, ex.names, ex.coded_columns, may_hold_nan=may_hold_nan, may_hold_text=may_hold_text
    )


def sqlite(model: Any) -> str:
    """Return `sql` of a model for SQLite."""
    return sql(model, dialect="sqlite")


def sql_case(
    tree: ThresholdTree,
    columns: Sequence[str],
    names: Sequence[Hashable],
    categories: Mapping[int, Categories] | None = None,
    *,
    may_hold_nan: bool = True,
    may_hold_text: bool = False,
) -> str:
    """Return a CASE expression that gives the cluster of a row, exactly as `tree.predict` does.

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
    may_hold_nan : bool, default=True
        Whether columns may hold NaN, which many engines sort above all numbers. If so, conditions without an upper end
        refuse it by its text: not every engine has `isnan`, and DuckDB 2.0 takes the result of `isnan` from statistics
        of Parquet files, in which NaN does not count.
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
    WHEN "age" <= 2.5e0 THEN 'young'
    WHEN "age" > 2.5e0 AND lower(CAST("age" AS VARCHAR)) <> 'nan' THEN 'old'
    END
    """
    whole = all(isinstance(name, Integral) and not isinstance(name, bool) for name in names)
    values = [str(name) if whole else as_text(str(name)) for name in names]
    known = categories or {}
    tests = [_test(as_name(column), known.get(j), may_hold_nan, may_hold_text) for j, column in enumerate(columns)]
    return _case(tree, tests, [values[cluster] for cluster in tree.leaf_clusters])


def _refuse_alike(columns: Sequence[str], tested: Sequence[str]) -> None:
    for name in tested:
        alike = [other for other in columns if other.casefold() == name.casefold()]
        if len(alike) > 1:
            raise DataError(
                f"columns {', '.join(map(repr, alike))} differ in case only, and SQL takes them for one\n"
                "rename them, or label rows with boxwood predict, which keeps them apart"
            )


class _Numeric(NamedTuple):
    """A column of numbers, which can be tested to lie in intervals: its name, and the tests that it needs."""

    name: str
    is_no_nan: str
    may_be_text: bool

    def within(self, pieces: Sequence[Interval]) -> str:
        conditions = [_within(self._number(piece), piece, self.is_no_nan) for piece in pieces]
        return _any_of([f"({one})" if " AND " in one and len(pieces) > 1 else one for one in conditions])

    def _number(self, piece: Interval) -> str:
        """Return the value to compare with the ends of an interval.

        The name alone suffices: an end in double makes a float, a whole number or a decimal a double. Whole numbers
        that no double holds are compared exactly by SQLite; only beyond 2**53 this makes a difference.
        """
        ends = [end for end in piece[:2] if math.isfinite(end)]
        needs_cast = self.may_be_text or any(abs(end) >= _ALL_WHOLE for end in ends)
        return f"CAST({self.name} AS DOUBLE)" if needs_cast else self.name


class _Categorical(NamedTuple):
    """A column of categories, whose code can be tested to lie in intervals."""

    value: str
    categories: Categories

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no code is inside."""
        values, others = self.categories
        inside = [any(code in piece for piece in pieces) for code, _ in self.categories.domain]
        excluding = others and inside[-1]  # unknown values are inside, so the test lists the values outside
        listed = [value for value, is_in in zip(values, inside, strict=False) if is_in != excluding]
        known = ", ".join(self._literal(value) for value in listed if value is not None)
        parts = [f"{self.value} {'NOT IN' if excluding else 'IN'} ({known})"] if known else []
        if excluding and not known:
            parts.append(f"{self.value} IS NOT NULL")
        if None in values and (None in listed) != excluding:
            parts.append(f"{self.value} IS NULL")
        return _any_of(parts) if parts else ""

    def _literal(self, value: Any) -> str:
        return as_double(float(value)) if self.categories.are_numbers else as_text(str(value))


def _test(name: str, categories: Categories | None, may_hold_nan: bool, may_hold_text: bool) -> _Numeric | _Categorical:
    text = f"CAST({name} AS VARCHAR)"
    is_no_nan = f"lower({text}) <> 'nan'" if may_hold_nan else ""
    if categories is None:
        return _Numeric(name, is_no_nan, may_hold_text)
    if not categories.are_numbers:
        return _Categorical(text, categories)
    number = f"CAST({name} AS DOUBLE)"  # the column may be one of booleans, which DuckDB does not compare with numbers
    # NaN is in no list of values, so it matters only where a missing or an unknown value has a code
    matters = may_hold_nan and (categories.others or None in categories.values)
    return _Categorical(f"CASE WHEN {is_no_nan} THEN {number} END" if matters else number, categories)


def _case(tree: ThresholdTree, tests: Sequence[_Numeric | _Categorical], values: Sequence[str | None]) -> str:
    """Return the expression for a tree; a leaf with the value None needs no condition."""
    if tree.n_leaves == 1:
        return values[0] or "NULL"
    if tree.n_leaves > 2 * _SMALLEST_GROUP:
        return _case_of_groups(tree, tests, values)
    reached = _conditions(tree.boxes(), tests, values)
    return "\n".join(["CASE", *reached, "END"]) if reached else "NULL"


def _conditions(
    boxes: Sequence[Box], tests: Sequence[_Numeric | _Categorical], results: Sequence[str | None]
) -> list[str]:
    """Return a line for each box that holds rows and has a result."""
    conditions = ((_condition(box, tests), result) for box, result in zip(boxes, results, strict=True) if result)
    return [f"WHEN {condition} THEN {result}" for condition, result in conditions if condition is not None]


def _condition(box: Box, tests: Sequence[_Numeric | _Categorical]) -> str | None:
    """Return the condition of a box, or None for a box that holds no row."""
    conditions = [tests[i].within(pieces) if pieces else "" for i, pieces in sorted(box.items())]
    return " AND ".join(conditions) if all(conditions) else None


def _any_of(conditions: Sequence[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


def _within(number: str, piece: Interval, is_no_nan: str) -> str:
    if piece.lower == piece.upper:
        return f"{number} = {as_number(piece.lower)}"
    parts = []
    if piece.lower > -math.inf or not piece.lower_closed:
        parts.append(f"{number} {'>=' if piece.lower_closed else '>'} {as_number(piece.lower)}")
    if piece.upper < math.inf or not piece.upper_closed:
        parts.append(f"{number} {'<=' if piece.upper_closed else '<'} {as_number(piece.upper)}")
    elif is_no_nan:
        parts.append(is_no_nan)
    return " AND ".join(parts) or f"{number} IS NOT NULL"


# ---------------------------------------------------------------------------------------------------- groups


def _case_of_groups(tree: ThresholdTree, tests: Sequence[_Numeric | _Categorical], values: Sequence[str | None]) -> str:
    """Return the expression for a tree of many leaves: one condition for each group of leaves, and in it an expression.

    A group is a subtree without the subtrees of the groups below it. Those are tested first, so the condition of a
    group is that of its subtree.
    """
    roots = _group_roots(tree, max(_SMALLEST_GROUP, math.isqrt(tree.n_leaves)))
    cases = [_case(part, tests, part_values) for part, part_values in _groups(tree, roots, values)]
    conditions = _conditions(tree_boxes(tree, roots)[:0:-1], tests, cases[:0:-1])
    return "\n".join(["CASE", *conditions, f"ELSE {cases[0]}", "END"])


def _group_roots(tree: ThresholdTree, size: int) -> list[int]:
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


def _groups(
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
    feature, lower, upper, second, cluster = (array[nodes] for array in tree._arrays())
    ends = np.isin(nodes, leaves)
    feature, lower, upper = np.where(ends, -1, feature), np.where(ends, -np.inf, lower), np.where(ends, np.inf, upper)
    second = np.where(feature < 0, -1, np.searchsorted(nodes, second))
    return ThresholdTree(feature, lower, upper, second, np.where(feature < 0, np.maximum(cluster, 0), -1))
