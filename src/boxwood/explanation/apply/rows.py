"""Rows of a table down the tree of an explanation; a row without a value that it is asked for has no leaf."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._frames import (
    as_dates,
    as_rows_here,
    is_frame,
    numeric_columns,
    only_columns,
    read_as_numbers,
    row_by_names,
)
from boxwood._messages import warn_caller
from boxwood._types import Array, Floats, Indices
from boxwood._validation import list_words, refuse_no_rows, refuse_unknown, show_value
from boxwood.axes import Categories
from boxwood.axes.categories import is_missing
from boxwood.axes.transformers import encode_table, values_of
from boxwood.batches.source import Source
from boxwood.columns.column_table import ColumnTable
from boxwood.errors import DataError
from boxwood.tree import ThresholdTree
from boxwood.tree.nodes import as_rows, values_at_leaves, walk_by_nodes

Missing = Literal["warn", "none", "error"]
MISSING = get_args(Missing)
LARGEST = float(np.finfo(np.float64).max)
NAMED = 3  # values of a column


def leaves_in(
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    X: Any,
    missing: Missing,
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> Indices:
    """Return the leaf of each row, shape (n,), or -1; see `Explanation.apply`.

    IN: gaps: columns in which a missing number is the point plus infinity; dates: columns of dates.
    """
    refuse_unknown("missing", missing, MISSING)
    if isinstance(X, (Source, str, os.PathLike)):
        what = f"{X.name} is read in batches" if isinstance(X, Source) else f"{show_value(os.fspath(X))} is a text"
        raise DataError(
            f"predict and apply label rows in memory and frames of Spark and Dask, but {what}; to "
            "label a file, save the explanation and run: boxwood predict model.json FILE -o OUT"
        )
    X = as_rows_here(X)
    read, on_table, table, reached = walk_rows(tree, columns, categories, X, gaps, dates)
    if missing != "none" and reached.min(initial=0) < 0:
        if missing == "error":
            rows = np.flatnonzero(reached < 0)
            stop = read[find_stops(on_table, table[rows[:1]])[0]]
            _refuse(X, columns, categories, rows, stop, len(reached))
        said = note_without_leaf(X, columns, Walk(read, on_table, table, reached))
        warn_caller(f'{said}; missing="none" gives none without this warning, and missing="error" refuses them')
    return reached


def _refuse(
    X: Any, columns: Sequence[str], categories: Mapping[int, Categories], rows: Indices, j: int, n_rows: int
) -> None:
    """Raise a DataError for rows without a leaf; IN: j: the column that the first of them lacks."""
    row = int(rows[0])
    value = _values(X, columns, j, rows[:1])[0]
    what = "missing" if is_missing(value) else never_seen(value, categories[j])
    lack = "lack a value that their rule needs" if is_missing(value) else "hold no value that their rule knows"
    raise DataError(
        f"{len(rows)} of {n_rows} rows {lack}, first row {row}: {columns[j]} is {what}; fill such values or leave "
        'those rows out; predict and apply give them no cluster by missing="none"'
    )


def note_without_leaf(X: Any, columns: Sequence[str], walk: Walk) -> str:
    """Return how many rows have no leaf, and which values are to blame."""
    rows, lost = np.flatnonzero(walk.leaf < 0), Counter[tuple[str, Any]]()
    stops = np.asarray(walk.columns)[find_stops(walk.tree, walk.table[rows])]
    for j in np.unique(stops).tolist():
        values = _values(X, columns, j, rows[stops == j])
        lost.update((columns[j], None if is_missing(value) else show_value(value)) for value in values)
    return note_on_lost(lost, len(walk.leaf))


def note_on_lost(lost: Mapping[tuple[str, str | None], float], n_rows: int) -> str:
    """Return how many rows have no leaf; IN: lost: how many stop at which column and word, None for a missing one."""
    found, n_lost = list[str](), int(sum(lost.values()))
    for column in dict.fromkeys(column for column, _ in lost):
        words = Counter({word or "missing": int(n) for (name, word), n in lost.items() if name == column})
        found.append(f"{column} {list_words([f'{word} ({n:,})' for word, n in words.most_common()], NAMED)}")
    get, its = ("gets", "its") if n_lost == 1 else ("get", "their")
    return f"{n_lost:,} of {n_rows:,} rows {get} no cluster, as {its} rule knows no such value: {'; '.join(found)}"


class Walk(NamedTuple):
    """Rows on their way down a tree.

    Parameters
    ----------
    columns : list of int
        The columns of the explanation that `table` holds: all, or those that the tree tests.
    tree : ThresholdTree
        The tree on these columns.
    table : array of shape (n, len(columns))
        Numbers, codes and days; NaN for a value that is missing or has no code, +inf for one missing that has a place.
    leaf : array of shape (n,)
        Leaf of each row, or -1.
    """

    columns: list[int]
    tree: ThresholdTree
    table: Array
    leaf: Indices


def walk_rows(
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    X: Any,
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> Walk:
    """Return the way of rows in memory; arguments as for `leaves_in`."""
    read, table = _read_tested(X, columns, tree.features.tolist(), categories, dates)
    table = with_points(table, [i for i, j in enumerate(read) if j in gaps])
    on_table = tree if len(read) == len(columns) else _on_columns(tree, read)
    return Walk(read, on_table, table, values_at_leaves(on_table, table, tree._leaf_numbers, n_jobs=-1, nan="none"))


def walk_tested(tree: ThresholdTree, table: Floats, gaps: Collection[int] = ()) -> Walk:
    """Return the way of rows of which the tested columns are given, as numbers and codes."""
    read = tree.features.tolist()
    table, on_table = with_points(table, [i for i, j in enumerate(read) if j in gaps]), _on_columns(tree, read)
    return Walk(read, on_table, table, walk_by_nodes(on_table, table, tree._leaf_numbers))


def count_row_from_day(row: Mapping[Any, Any], dates: Mapping[str, Dates]) -> Mapping[Any, Any]:
    """Return a row, by the names of its columns, with dates that are counted from the day in another column."""
    found = dict(row)
    for name, one in dates.items():
        if one.day_column and not is_missing(row[name]):
            day = row[one.day_column]
            found[name] = None if is_missing(day) else one.number_from(row[name], day, name)
    return found


def _of_mappings(X: Any, columns: Sequence[str], needed: Sequence[str], dates: Mapping[str, Dates]) -> Any:
    """Return a row that is a mapping from column to value, or a list of them, as an array; anything else as it is."""
    if isinstance(X, Mapping) and not any(map(np.ndim, X.values())):
        X = [X]
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, Mapping) for row in X):
        return X
    table = np.full((len(X), len(columns)), None, dtype=object)
    wanted = [*needed, *(one.day_column for one in dates.values() if one.day_column)]
    for i, row in enumerate(X):
        values = count_row_from_day(row_by_names(row, wanted, f"row {i}"), dates)
        table[i] = [values.get(name) for name in columns]
    return table


def _refuse_text(X: Any, numbers: Sequence[str]) -> None:
    """Raise a DataError for a frame in which a column that rules test as a number holds text."""
    for name in numeric_columns(only_columns(X, numbers))[1]["text"] if numbers else ():
        found = next((value for value in values_of(X, name) if not is_missing(value)), None)
        if isinstance(found, str):
            raise DataError(
                f"the rules test {name} as a number, got text such as {show_value(found)}; turn it into numbers"
            )


def _words_and_dates(columns: Sequence[str], tested: Mapping[int, Categories], dates: Sequence[int]) -> list[str]:
    """Return the names of columns that no number can stand for."""
    words = [j for j, known in tested.items() if any(isinstance(value, str) for value in known.values)]
    return [columns[j] for j in sorted({*words, *dates})]


def _read_tested(
    X: Any,
    columns: Sequence[str],
    features: list[int],
    categories: Mapping[int, Categories],
    dates: Mapping[int, Dates],
) -> tuple[list[int], Array]:
    """Return the columns that the tree tests, and them as numbers; values that are missing or without a code are NaN.

    An array of numbers is returned as it is, with all its columns.
    """
    tested = {j: categories[j] for j in features if j in categories}
    names = [columns[j] for j in features]
    of_dates = {columns[j]: dates[j] for j in features if j in dates}
    X = _of_mappings(X, columns, names, of_dates)
    if is_frame(X):
        numbers = [columns[j] for j in features if j not in tested and j not in dates]
        days = [one.day_column for one in of_dates.values() if one.day_column]
        X = as_dates(only_columns(X, list(dict.fromkeys([*names, *days]))), of_dates)
        X = read_as_numbers(X, numbers)
        _refuse_text(X, numbers)
        return features, encode_table(X, names, {features.index(j): tested[j] for j in tested})
    refuse_no_rows(X)
    rows = np.asarray(X)
    if rows.ndim == 2 and rows.shape[1] != len(columns):
        raise DataError(f"X has {rows.shape[1]} columns, but {len(columns)} are expected")
    if rows.dtype.kind in "biuf" and (kinds := _words_and_dates(columns, tested, [j for j in features if j in dates])):
        raise DataError(
            f"this model needs the columns {list_words(names)}, got an array of numbers, but "
            f"{list_words(kinds)} hold categories or dates; give a data frame"
        )
    if rows.ndim != 2 or (rows.dtype.kind != "O" and not tested):
        return list(range(len(columns))), as_rows(rows, len(columns))
    table = np.empty((len(rows), len(features)), order="F")
    for i, j in enumerate(features):
        values = rows[:, j].tolist()
        table[:, i] = tested[j].codes(values) if j in tested else numbers_of(values, columns[j], dates.get(j))
    return features, table


def never_seen(value: Any, categories: Categories) -> str:
    """Return in words that a value is none of the categories; of an empty text, or a number among texts, what to do."""
    known = list_words(["missing" if is_missing(each) else str(each) for each in categories.values])
    advice = "; an empty text is a value, a missing one is None" if isinstance(value, str) and not value else ""
    if not isinstance(value, str) and all(isinstance(each, str) for each in categories.values if each is not None):
        advice = "; that is no text, as these are, so read the column as text"
    return f"{show_value(value)}, which was never seen (known: {known}){advice}"


def with_points(table: Array, gaps: Sequence[int]) -> Array:
    """Return a table with plus infinity for each missing number of some columns, and the largest double for that."""
    if not gaps:
        return table
    filled = np.array(table, dtype=np.float64, order="F")
    for j in gaps:
        x = np.minimum(filled[:, j], LARGEST)  # an infinite number is large, but no gap
        filled[:, j] = np.where(np.isnan(x), np.inf, x)
    return filled


def numbers_of(values: Sequence[Any], name: str, dates: Dates | None = None) -> Floats:
    """Return values of any type as numbers, shape (n,), with NaN for those that are missing; IN: dates: as days."""
    if dates is not None:
        values = [np.nan if is_missing(value) else dates.number(value, name) for value in values]
    if any(isinstance(value, (str, bytes)) for value in values):
        raise DataError(f"X must be numeric, got text in {name}")
    try:
        return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"X must be numeric, but {name} is not: {error}") from None


def _on_columns(tree: ThresholdTree, features: Sequence[int]) -> ThresholdTree:
    """Return the tree for a table of only these columns, in ascending order."""
    position = np.full(tree.n_features + 1, -1)  # the last one is for leaves, whose column is -1
    position[features] = np.arange(len(features))
    return ThresholdTree(position[tree.feature], tree.lower, tree.upper, tree.second, tree.cluster, tree.members)


def find_stops(tree: ThresholdTree, rows: Array) -> Indices:
    """Return the column of the cut where each of some rows without a leaf stops."""
    feature = np.empty(len(rows), dtype=np.intp)
    stack = [(0, np.arange(len(rows)))]
    while stack:
        node, at = stack.pop()
        if not len(at):
            continue
        x = np.asarray(rows[at, tree.feature[node]], dtype=np.float64)
        lacks, inside = np.isnan(x), tree.is_inside(node, x)
        feature[at[lacks]] = tree.feature[node]
        stack += ((int(tree.second[node]), at[~inside & ~lacks]), (node + 1, at[inside]))
    return feature


def _values(X: Any, columns: Sequence[str], j: int, rows: Indices) -> list[Any]:
    """Return values of a column as the table has them."""
    values = values_of(X, columns[j]) if is_frame(X) else np.asarray(X)[:, j]
    return [values[row] for row in rows.tolist()]


def walk_of_others(
    others: Any,
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dates: Mapping[int, Dates],
) -> Walk | None:
    """Return the way down a tree of the rows that were left out; None if there are none, or they are in batches.

    IN: others: an array, a data frame, a `ColumnTable` or a table in batches; else as for `walk_rows`.
    """
    if others is None or isinstance(others, Source):
        return None
    if isinstance(others, ColumnTable):
        others, dates = _as_given(others, columns), NO_DATES
    return walk_rows(tree, columns, categories, others, gaps, dates)


def _as_given(table: ColumnTable, columns: Sequence[str]) -> Array:
    """Return rows with words in place of codes, and None for what is missing; dates are days."""
    found = np.full((len(table), len(columns)), None, dtype=object)
    for j, name in enumerate(table.columns):
        if name not in columns:
            continue
        known, values = table.categories.get(j), table.values[:, j].tolist()
        words = values if known is None else [known.value(int(code)) for code in values]
        found[:, columns.index(name)] = [None if is_missing(one) else one for one in words]
    return found
