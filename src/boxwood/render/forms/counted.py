"""What `drift` counts, of a file that is read as by `boxwood predict`: by DuckDB, in memory that does not grow."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.living.counts import Counts, label_key
from boxwood.explanation.living.shapes import all_edges
from boxwood.explanation.living.sides import Side, side_of
from boxwood.reference.labels import encode_labels
from boxwood.render.forms.dialects import dialect_of
from boxwood.render.forms.monitoring import leaf_case, lost_case
from boxwood.render.forms.sql import column_tests
from boxwood.render.forms.sql_tests import Test
from boxwood.table.connect import Tick
from boxwood.table.duck import Query
from boxwood.table.labels import Rules, days_needed, inputs_of, rows_with
from boxwood.table.options import DEFAULTS, ReadOptions, suggestion
from boxwood.table.sql import as_double, as_name
from boxwood.table.write_labels import check_rows, opened_to_count

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.table.duck import DuckTable


def counted_in_file(
    ex: MeasuredTree,
    table: Query | str,
    options: ReadOptions = DEFAULTS,
    *,
    labels: str | None = None,
    tick: Tick | None = None,
    tell: Callable[[str], None] = lambda hint: None,
) -> Counts:
    """Return the counts of the rows of a file, a folder, a pattern or a query; IN: labels: column of labels.

    Raises
    ------
    DataError
        If the table cannot be read, lacks a column, or has text where a number must be.
    """
    rules, tests = _rules(side_of(ex, None, "model"), "x")
    with opened_to_count(table, rules, options) as source:
        for hint in source.hints:
            tell(hint)
        check_rows(source, rules, tick)
        counts = _count_held(ex, source, rules, labels)
        lost, reasons = lost_case(ex.tree, tests, ex._gap_columns)
        _add_lost(counts, source, rules, lost, [j for j, _ in reasons])
    return counts


def pairs_in_file(
    old: Side | str,
    new: Side | str,
    table: Query | str,
    options: ReadOptions = DEFAULTS,
    *,
    tick: Tick | None = None,
    tell: Callable[[str], None] = lambda hint: None,
) -> tuple[Side, Side, Floats]:
    """Return both sides, and the rows of a file by their clusters, shape (k + 1, m + 1); the last ones have none.

    IN: old, new: rules, or the column of labels.
    """
    sides = {"x": old, "y": new}
    both = [Rules("NULL", {}) if isinstance(one, str) else _rules(one, letter)[0] for letter, one in sides.items()]
    parts = ({**getattr(both[0], name), **getattr(both[1], name)} for name in ("needed", "categories", "dates"))
    rules = Rules(f"coalesce({both[0].expression}, {both[1].expression})", *parts)
    with opened_to_count(table, rules, options) as source:
        for hint in source.hints:
            tell(hint)
        check_rows(source, rules, tick)
        asked = [
            _label(source, one, ()) if isinstance(one, str) else each.expression
            for one, each in zip(sides.values(), both, strict=True)
        ]
        rows = f"(SELECT {asked[0]} AS x, {asked[1]} AS y FROM {rows_with(source.relation, inputs_of(source, rules))})"
        cells = source.fetch_lean(f"SELECT x, y, count(*) FROM {rows} GROUP BY x, y")
    if not cells:
        raise DataError(f"{source.name} has no rows, so there is nothing to match")
    x, y, n = map(list, zip(*cells, strict=True))
    (before, own), (after, its) = _clusters(old, x, n), _clusters(new, y, n)
    found = np.zeros((len(before.names) + 1, len(after.names) + 1))
    np.add.at(found, (own, its), n)
    return before, after, found


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.0+)?")  # as a label, in whatever form a file has it


def _clusters(side: Side | str, cells: list[Any], n: list[int]) -> tuple[Side, Indices]:
    """Return a side, and the cluster of each leaf or label, -1 for none; IN: n: rows of each."""
    if isinstance(side, str):
        are_numbers = all(one is None or _NUMBER.fullmatch(one) for one in cells)
        codes, names = encode_labels([one and int(one.partition(".")[0]) for one in cells] if are_numbers else cells)
        rows = np.bincount(codes[codes >= 0], np.array(n)[codes >= 0], minlength=len(names))
        return Side(tuple(names), rows.astype(np.float64)), codes
    assert side.tree is not None
    return side, np.array([-1 if leaf is None else side.tree.leaf_clusters[leaf] for leaf in cells])


def _rules(side: Side, letter: str) -> tuple[Rules, dict[int, Test]]:
    """Return the number of a row's leaf as rules for a file, and how columns are tested; IN: letter: of their names."""
    assert side.tree is not None
    names = [f"{letter}{j}" for j in range(len(side.columns))]
    duckdb = replace(dialect_of("duckdb"), nan=None, may_hold_text=False)
    tests = column_tests(side.tree, names, side.coded, side.gaps, duckdb)
    tested = side.tree.features.tolist()
    rules = Rules(
        leaf_case(side.tree, tests),
        {names[j]: side.columns[j] for j in tested} | days_needed(side.dates[j] for j in tested if j in side.dates),
        {names[j]: side.coded[j] for j in tested if j in side.coded},
        {names[j]: side.dates[j] for j in tested if j in side.dates},
    )
    return rules, tests


def _count_held(ex: MeasuredTree, source: DuckTable, rules: Rules, labels: str | None) -> Counts:
    """Return the rows at each leaf and of each label, and between the edges of columns, from one pass."""
    edges, counts = all_edges(ex), Counts.none(ex)
    counts.labelled = labels is not None
    of_words = {j: _bins_of_words(ex._coded_columns[j]) for j in edges if j in ex._coded_columns}
    bins = [f"{_x(j) if j in of_words else _bin(_x(j), each.tolist())} AS bin_{j}" for j, each in edges.items()]
    label, inputs = _label(source, labels, list(map(str, ex.names))), inputs_of(source, rules)
    selected = ", ".join([f"{rules.expression} AS leaf", f"{label} AS label", *bins])
    rows = f"(SELECT {selected} FROM {rows_with(source.relation, inputs)})"
    by = [(-1, "label"), *((j, f"bin_{j}") for j in edges)]
    sets = ", ".join(f"(leaf, {name})" for _, name in by)
    which = "".join(f" WHEN grouping({name}) = 0 THEN {j}" for j, name in by)
    found = ", ".join(["leaf", "label", *(name for _, name in by[1:]), f"CASE{which} END", "count(*)"])
    for leaf, label, *bin_of, j, n in source.fetch_lean(f"SELECT {found} FROM {rows} GROUP BY GROUPING SETS ({sets})"):
        if j < 0:
            held = counts.held.setdefault(label_key(ex.names, label), np.zeros(ex.n_leaves + 1, dtype=np.int64))
            held[ex.n_leaves if leaf is None else leaf] += n
        elif leaf is not None:
            found_in = bin_of[[*edges].index(j)]
            place = of_words[j][found_in] if j in of_words else found_in
            counts.bins[j][ex.tree.leaf_clusters[leaf], place] += n
    return counts


def _bin(x: str, edges: list[float]) -> str:
    """Return SQL of the number of the bin of a number; the last one is for no value."""
    return f"CASE WHEN {x} IS NULL THEN {len(edges) + 1} ELSE {_place(x, edges, 0)} END"


def _bins_of_words(known: Categories) -> defaultdict[Any, int]:
    """Return the number of the bin of each word, as a file has it; the last one is for words without a code."""
    nowhere = len(known.domain) + 1
    other = len(known.values) if known.others else nowhere
    kind: Callable[[Any], Any] = float if known.are_numbers else str
    words = {None if word is None else kind(word): i for i, word in enumerate(known.values)}
    return defaultdict(lambda: other, {None: nowhere} | words)


def _place(x: str, edges: list[float], first: int) -> str:
    """Return SQL of the place of a value among edges, by halves: few comparisons for a row, and few levels."""
    if not edges:
        return str(first)
    half = len(edges) // 2
    low, high = _place(x, edges[:half], first), _place(x, edges[half + 1 :], first + half + 1)
    return f"CASE WHEN {x} <= {as_double(edges[half])} THEN {low} ELSE {high} END"


def _label(source: DuckTable, labels: str | None, known: Sequence[str]) -> str:
    """Return SQL of the label of a row, NULL without one; IN: known: labels that are no marks of a missing one."""
    if labels is None:
        return "NULL"
    if labels not in source.names:
        raise DataError(f"{source.name} has no column {labels!r}{suggestion(labels, source.names)}")
    at = source.names.index(labels)
    return f"CASE WHEN {source.category(at, known)} IS NOT NULL THEN {source.label(at)} END"


def _add_lost(counts: Counts, source: DuckTable, rules: Rules, lost: str, columns: list[int]) -> None:
    """Add the rows without a leaf, by the column where they stop and the word that was never seen there."""
    if not columns:
        return
    inputs = inputs_of(source, rules)
    unseen = {j: one for j in {*columns} if (one := inputs[f"x{j}"]).is_unseen != "false"}
    of_words = "".join(
        f" WHEN {' OR '.join(f'lost = {i}' for i, k in enumerate(columns) if k == j)} THEN "
        f"CASE WHEN {one.is_unseen} THEN {source.text(one.column)} END"
        for j, one in unseen.items()
    )
    word = f"CASE{of_words} END" if unseen else "NULL"
    rows = f"(SELECT *, {rules.expression} AS leaf, {lost} AS lost FROM {rows_with(source.relation, inputs)})"
    query = f"SELECT lost, {word} AS word, count(*) FROM {rows} WHERE leaf IS NULL GROUP BY ALL"
    for reason, found, n in source.fetch_lean(query):
        counts.lost[columns[reason], found] += n


def _x(j: int) -> str:
    return as_name(f"x{j}")
