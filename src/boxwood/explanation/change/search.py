"""The rules without some columns: a tree that is searched for on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from boxwood._frames import refuse_unknown_columns
from boxwood._messages import list_words
from boxwood._progress import silent
from boxwood.errors import DataError
from boxwood.explanation.change.change import told_of_tree
from boxwood.explanation.choose.on_table import TableSearch, choose
from boxwood.explanation.measured_tree import Tree
from boxwood.explanation.records import LimitFacts


def without(ex: Tree, columns: Sequence[str]) -> Tree:
    """See `Explanation.without`."""
    if not columns:
        raise DataError("without() takes the columns that no rule shall test, got none")
    evidence = ex._rows("without()")
    refuse_unknown_columns(columns, ex.columns)
    limits = ex.limits or LimitFacts()
    forbidden = tuple(name for name in ex.columns if name in {*limits.forbidden, *columns})
    if len(forbidden) == len(ex.columns):
        raise DataError(f"every column is forbidden ({list_words([*ex.columns])}); rules need one that they may test")
    task, here = evidence.task.with_leaves(ex.n_leaves), evidence.coordinates
    search = TableSearch(task, here, evidence.budget).without([ex.columns.index(name) for name in forbidden])
    objective = "auto" if ex.search_report is None else ex.search_report.objective
    found = choose(search, "auto", silent, {"objective": objective})
    line = f"without({', '.join(map(repr, columns))})"
    preferred = tuple(name for name in limits.preferred if name not in forbidden)
    kept = limits._replace(forbidden=forbidden, preferred=preferred)
    answer = told_of_tree(replace(ex, limits=kept), found.tree, line)
    return replace(answer, _evidence=replace(answer._rows(), budget=search.budget))
