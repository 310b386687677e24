"""A tree on later rows in SQL: one query that counts what `Explanation.measure` counts, with the old numbers beside."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import name_as_text
from boxwood.explanation.ages import where_rules_run
from boxwood.explanation.living.counts import Counts
from boxwood.explanation.living.drift import drift_of
from boxwood.explanation.living.results import DriftFacts
from boxwood.render.forms.dialects import Dialect, dialect_of
from boxwood.render.forms.lost import Reason, lost_ways
from boxwood.render.forms.sql import case_of, column_tests, known_types, refuse_alike_names, table_name
from boxwood.render.forms.sql_tests import EVERY_ROW, Test
from boxwood.words.living import reason
from boxwood.words.rules import condition
from boxwood.words.values import number

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import ThresholdTree


class _WatchLine(NamedTuple):
    """A line of the result: what it is of, its rows of so many then, and in SQL the same now."""

    what: str
    name: str
    then: float
    of_then: float
    now: str
    of: str


def monitoring_sql(
    ex: MeasuredTree,
    dialect: str,
    table: str | Sequence[str],
    types: Mapping[str, str] | None = None,
    as_of: Any = None,
) -> str:
    """See `Explanation.monitoring_sql`."""
    ex = where_rules_run(ex, as_of)
    spoken = dialect_of(dialect)
    if not spoken.tells_case:
        refuse_alike_names(ex.columns, [ex.columns[j] for j in ex.tree.features])
    known = ex._coded_columns, ex._gap_columns, spoken, ex._date_columns, known_types(ex, types, spoken)
    tests = column_tests(ex.tree, ex.columns, *known)
    lost, reasons = lost_case(ex.tree, tests, ex._gap_columns)
    counted = ["COUNT(*) AS n", *(_sum(f"leaf = {i}", f"leaf_{i}") for i in range(ex.n_leaves))]
    counted += [_sum(f"leaf IS NULL AND lost = {i}", f"lost_{i}") for i in range(len(reasons))]
    rows = f"SELECT {leaf_case(ex.tree, tests)} AS leaf, {lost} AS lost\nFROM {table_name(table, spoken)}"
    lines = "\nUNION ALL ".join(_write_line(i, line, spoken) for i, line in enumerate(_lines(ex, reasons)))
    sums = ",\n".join(counted)
    return f"WITH walked AS (\n{rows}\n), counted AS (\nSELECT {sums}\nFROM walked\n)\n{lines}\nORDER BY line"


def leaf_case(tree: ThresholdTree, tests: Mapping[int, Test]) -> str:
    """Return SQL of the number of a row's leaf, NULL without one."""
    return case_of(tree, tests, [str(i) for i in range(tree.n_leaves)])


def lost_case(tree: ThresholdTree, tests: Mapping[int, Test], gaps: Collection[int]) -> tuple[str, list[Reason]]:
    """Return SQL of the number of the reason why a row without a leaf has none, and the reasons."""
    numbers = dict[Reason, int]()
    ways = lost_ways(tree, tests, gaps, lambda reason: str(numbers.setdefault(reason, len(numbers))))
    lines = "".join(f"\nWHEN {way or EVERY_ROW} THEN {why}" for way, why in ways)
    return f"CASE{lines}\nEND" if ways else "NULL", [*numbers]


def _sum(test: str, name: str) -> str:
    return f"COALESCE(SUM(CASE WHEN {test} THEN 1 ELSE 0 END), 0) AS {name}"


def _lines(ex: MeasuredTree, reasons: Sequence[Reason]) -> list[_WatchLine]:
    """Return the lines of the result, in the order of a printed `Drift`."""
    drift: DriftFacts = drift_of(ex, Counts.none(ex))
    leaves, of_leaf = [f"leaf_{i}" for i in range(ex.n_leaves)], ex.tree.leaf_clusters.tolist()
    known = " + ".join(leaves)
    lines = [_WatchLine("rows", "", drift.n_then, drift.n_then, "n", "n")]
    for one in drift.clusters:
        own = " + ".join(leaf for leaf, cluster in zip(leaves, of_leaf, strict=True) if cluster == one.cluster)
        lines.append(_WatchLine("cluster", name_as_text(one.name), one.then, drift.n_then, own or "0", "n"))
    lines.append(_WatchLine("no cluster", "", drift.n_lost_then, drift.n_then, f"n - ({known})", "n"))
    lines += [
        _WatchLine("no cluster", reason(ex.columns[j], why), 0, 0, f"lost_{i}", "n")
        for i, (j, why) in enumerate(reasons)
    ]
    for cut in drift.cuts:
        below, inside = (_leaves_below(ex.tree, node) for node in (cut.node, cut.node + 1))
        then = round((cut.share_then or 0.0) * cut.of_then, 6)
        now = [" + ".join(f"leaf_{i}" for i in rows) for rows in (inside, below)]
        lines.append(_WatchLine("cut", condition(cut.condition, whole=True), then, cut.of_then, *now))
    return lines


def _leaves_below(tree: ThresholdTree, node: int) -> range:
    """Return the numbers of the leaves below a node, or its own: they follow one another in pre-order."""
    end, last = node, node
    while last < tree.n_nodes and tree.feature[last] >= 0:
        last = int(tree.second[last])
    end = last
    first, behind = np.searchsorted(tree.leaf_nodes, [node, end + 1]).tolist()
    return range(first, behind)


def _write_line(i: int, line: _WatchLine, dialect: Dialect) -> str:
    """Return a line as a query; names of the result stand in the first one."""
    share = dialect.number(line.then / line.of_then) if line.of_then else "NULL"
    then = number(line.then) if line.of_then else "NULL"
    now = f"CAST({line.now} AS {dialect.double}) / NULLIF({line.of}, 0)"
    cells = str(i), dialect.literal(line.what), dialect.literal(line.name), then, line.now, share, now
    named = zip(cells, ("line", "what", "name", "rows_then", "rows_now", "share_then", "share_now"), strict=True)
    return f"SELECT {', '.join(f'{cell} AS {name}' for cell, name in named)} FROM counted"
