"""The facts of a tree that is there already, on a table in batches."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._frames import refuse_unknown_columns
from boxwood._validation import listed, shown
from boxwood.errors import DataError
from boxwood.explanation._explanation import with_booleans
from boxwood.explanation._other_rows import OTHER_ROWS, places_of
from boxwood.explanation._table_evidence import refuse_all_rows
from boxwood.explanation._table_facts import TableFacts
from boxwood.explanation._table_measure import explanation_of
from boxwood.explanation._table_rows import Usable, boolean_columns_of, on_complete_rows, rows_for
from boxwood.grow._grown import Grown
from boxwood.passes import Batches, LabelColumn, Source, TableReference, TableTask
from boxwood.passes._find_labels import find_labels
from boxwood.passes._table_reference import Measured

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation

__all__ = ["measured_on_table", "named_by_column"]


def measured_on_table(ex: Explanation, source: Source, labels: Any, weight: Any) -> Explanation:
    """See `Explanation.measure`; costs are squared distances in the columns of the table."""
    if not isinstance(labels, str):
        raise DataError(
            f"labels of {source.name}, which is read in batches, must be a column of it; got {shown(labels)}"
        )
    refuse_unknown_columns(ex.columns, source.names)
    batches = rows_for(source, labels, weight, ex.columns)
    booleans = boolean_columns_of(batches)
    words = [ex.columns[j] for j in ex.coded_columns if ex.columns[j] not in booleans]
    if words:
        refuse_all_rows(f"a rule on categories ({listed(words)})", source.name)
    n_jobs = -1 if ex._table is None else ex._table.task.n_jobs
    measured = on_complete_rows(partial(_measured, ex, labels), replace(batches, n_jobs=n_jobs))
    return with_booleans(replace(measured, notes=(OTHER_ROWS, *measured.notes)), booleans)


def _measured(ex: Explanation, labels: str, usable: Usable) -> Explanation:
    batches, known = usable.batches, None if ex._table is None else ex._table.task
    task = TableTask.of(batches, named_by_column(ex.names, batches, labels), n_jobs=batches.n_jobs)
    if known is not None:
        task = replace(task, max_leaf_nodes=known.max_leaf_nodes, budget=known.budget)
    facts = TableFacts(task)
    sums = facts.of_trees([ex.tree])[0]
    return explanation_of(facts, Grown(ex.tree, ex.method), sums, facts.costs_of([sums])[0])


def named_by_column(names: tuple[Hashable, ...], batches: Batches, column: str) -> TableReference:
    """Return the clusters of a column that holds names of clusters; some may be without rows."""
    labels, overview = find_labels(batches, column)
    places = places_of(labels, names)
    in_order: list[Any] = [None] * len(names)
    for label, place in zip(labels, places, strict=True):
        in_order[place] = label
    labelling, overview = LabelColumn(column, tuple(in_order)), overview.placed(places, len(names))
    known = Measured(replace(batches, labelling=labelling), overview, None)
    ends = np.where(overview.sizes[:, None] > 0, [overview.least, overview.most], 0.0)
    near = ends[0] / 2 + ends[1] / 2  # a tree that is there already needs no centres, but points near the rows
    return TableReference(labelling, near, names, measured=known)
