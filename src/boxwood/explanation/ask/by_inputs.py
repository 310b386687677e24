"""Clusters of the rows of one table, its outcomes, whose rules ask for the columns of another one, its inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boxwood._frames import (
    as_matrix,
    as_rows_here,
    boolean_columns,
    column_names,
    column_values,
    is_frame,
    label_values,
    names_or_none,
    refuse_other_index,
    refuse_other_names,
    refuse_unknown_columns,
    rows_of_table,
    weights_in,
    without_columns,
)
from boxwood._messages import Quoting
from boxwood._types import Floats, Indices
from boxwood._validation import as_float_table, list_words, show_value
from boxwood.batches import Source
from boxwood.columns.column_table import ColumnTable
from boxwood.columns.keys import Join, join_tables, keys_of_frame, keys_of_index
from boxwood.errors import DataError
from boxwood.explanation.ages import names_column
from boxwood.explanation.ask.clustering import refuse_number
from boxwood.explanation.ask.explainer import is_explainer
from boxwood.explanation.ask.gathered import gather_all
from boxwood.explanation.ask.options import Options
from boxwood.explanation.ask.outcome import FOUND
from boxwood.explanation.ask.problem import Problem, problem_of, read_dates
from boxwood.explanation.ask.provenance import clusters_made, given_in, with_provenance
from boxwood.explanation.ask.steps import explain_rows
from boxwood.explanation.measure.evidence import Evidence
from boxwood.explanation.measure.held_out import Validate
from boxwood.explanation.measure.measure import LITTLE
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.reference import Reference
from boxwood.reference.budget import as_names
from boxwood.reference.labels import encode_labels
from boxwood.table.scanned import as_source
from boxwood.words.notes import CHOSEN
from boxwood.words.values import cluster_name, percent

OUTCOMES, INPUTS = "the outcomes", "the inputs"
FOLDS, FEW_FOLDS, SHARE = 5, 5_000, 0.2  # rows held out: folds up to so many rows, and of more rows a share
PART = 0.25  # share of a cluster that is found at least where inputs tell it in part
LUCK = 2.0  # standard errors by which a rule has to be more often right than any other would be
_ON_GROUPS = re.compile(rf"groups|{CHOSEN.pattern}")


def explain_by_inputs(X: Any, clustering: Any, by: Any, key: Any, asked: Options) -> MeasuredTree:
    """Return the explanation of clusters of outcomes by the columns of their inputs; see `explain`.

    Raises
    ------
    DataError
        If it is not known which rows belong together.
    """
    are_files = all(isinstance(table, Source) and table.is_held for table in (X, by))
    if are_files:
        _refuse_foreign_columns(asked, X, by)
        outcomes, inputs, labels, asked = _read_files(X, by, clustering, key, asked)
    else:
        outcomes, inputs, labels = _in_memory(X, "X"), _in_memory(by, "by"), clustering
        _refuse_foreign_columns(asked, outcomes, inputs)
    column, clustering = clustering, labels
    refuse_other_names(outcomes, labels=clustering, sample_weight=asked.sample_weight)
    refuse_other_index(outcomes, labels=clustering, sample_weight=asked.sample_weight)
    join = _join_inputs(outcomes, inputs, key)
    outcomes, inputs = (_without_key(table, key) for table in (outcomes, inputs))
    problem, labels = _label_rows(outcomes, clustering, _asked_of(outcomes, asked))
    asked_k = asked.n_clusters
    rows, own = _rows_of(inputs, join.partners), _rows_of(labels, join.rows)
    weights = weights_in(outcomes, asked.sample_weight)
    asked = replace(
        _asked_of(inputs, asked),
        n_clusters=None,
        sample_weight=None if weights is None else np.asarray(weights)[join.rows],
        validate=_rows_to_hold_out(own) if asked.validate is None else asked.validate,
    )
    ex = explain_rows(rows, own, asked)
    evidence = replace(ex._rows(), beside=partial(_numbers_beside, outcomes, inputs, join))
    if problem is not None:
        evidence = replace(evidence, outcomes=_outcomes(problem, outcomes, join, evidence))
    made = clustering is None or hasattr(clustering, "fit")
    told = tuple(map(_on_outcomes, problem.notes)) if problem is not None and made else ()
    reason = "" if ex.search_report is None else ex.search_report.reason  # nobody expects clusters to be near in inputs
    notes = (*notes_on_inputs(ex), *(note for note in ex.notes if note != reason), *told, *join.notes)
    given = given_in(rows, column, None)
    if are_files:
        beside = as_names("key", key)
        joined = f"{by.name}, joined with {X.name} by {' and '.join(beside)}"
        given = given._replace(source=joined, names=by.names, beside=beside, types=by.types)
    made_by = (
        clusters_made(problem.coordinates, problem.task.reference.n_clusters, asked_k)
        if problem is not None and clustering is None
        else given.labels
    )
    said = f"{made_by} of {X.name}" if are_files and isinstance(column, str) else f"{OUTCOMES}: {made_by}"
    return with_provenance(replace(ex, notes=notes, _evidence=evidence), given._replace(labels=said))


def _read_files(
    outcomes: Source, inputs: Source, clustering: Any, key: Any, asked: Options
) -> tuple[ColumnTable, ColumnTable, Any, Options]:
    """Return the rows of two files with their keys, the labels of the outcomes, and what is asked of the rows."""
    label, keys = clustering if isinstance(clustering, str) else None, as_names("key", key)
    own = _asked_of(outcomes, asked)
    if asked.as_of is not None and names_column(asked.as_of) and asked.as_of not in outcomes.names:
        own = replace(own, as_of=None)
    read = gather_all(outcomes, label, own, keys)
    others = replace(_asked_of(inputs, asked), sample_weight=None, are_inputs=True)
    table = gather_all(inputs, None, others, keys).table
    labels = clustering if label is None else read.labels
    return read.table, table, labels, replace(asked, sample_weight=read.sample_weight, as_of=None)


def _rows_of(table: Any, rows: Indices) -> Any:
    """Return some rows of a table, or of labels."""
    if isinstance(table, ColumnTable):
        return table.of_rows(rows)
    return [table[i] for i in rows.tolist()] if isinstance(table, (list, tuple)) else rows_of_table(table, rows)


def _numbers_beside(outcomes: Any, inputs: Any, join: Join, name: str) -> Floats:
    """Return the numbers of a column of either table, of the rows that were joined."""
    for table, rows in ((inputs, join.partners), (outcomes, join.rows)):
        if isinstance(table, ColumnTable):
            j = table.columns.index(name) if name in table.columns else -1
            if j >= 0 and j not in table.categories:
                return np.asarray(table.values[rows, j])
        elif is_frame(table) and name in column_names(table):
            return np.asarray(as_matrix(table, [name])[rows, 0], dtype=np.float64)
    raise DataError(f"{name!r} is no column of outcomes or inputs; pass its values, one for each row")


def _outcomes(problem: Problem, outcomes: Any, join: Join, evidence: Evidence) -> Evidence:
    """Return the outcomes of the rows that are explained, with the clusters that these have there."""
    n_rows, kept = problem.task.n_rows, problem.complete.rows
    place = np.full(len(outcomes), -1, dtype=np.intp)
    place[slice(None) if kept is None else kept] = np.arange(n_rows)
    own = place[join.rows if evidence.positions is None else join.rows[evidence.positions]]
    booleans = outcomes.booleans if isinstance(outcomes, ColumnTable) else boolean_columns(outcomes)
    one_leaf = np.zeros(n_rows, dtype=np.intp), np.zeros((1, 1))
    here = Evidence(problem.task, problem.coordinates, *one_leaf, booleans=tuple(booleans)).of_rows(own[own >= 0])
    reference, labels = evidence.task.reference, evidence.task.reference.labels[own >= 0]
    centers = np.zeros((reference.n_clusters, here.task.n_columns))
    return replace(here, task=here.task.with_reference(Reference(labels, centers, reference.names)))


def _rows_to_hold_out(labels: Any) -> Validate | None:
    """Return how rows are held out if nobody says; None where there are too few."""
    codes = encode_labels(label_values(labels))[0]
    sizes = np.bincount(codes[codes >= 0])
    n_rows = int(sizes[sizes > 1].sum())
    return None if n_rows < FOLDS else FOLDS if n_rows <= FEW_FOLDS else SHARE


def notes_on_inputs(ex: MeasuredTree) -> tuple[str, ...]:
    """Return notes where the inputs hardly tell the clusters, or some of them, by rows that were held out."""
    held = ex.held_out
    if held is None:
        return ()
    largest = max(ex.clusters, key=lambda cluster: cluster.share)
    if held.agreement - ex.baseline < LITTLE * (1 - ex.baseline):
        always = f"always naming {cluster_name(largest.name)} for {percent(ex.baseline)}"
        said = f"rules are right for {percent(held.agreement)}, and {always}"
        return (f"the inputs hardly tell these clusters: of rows held out, {said}",)
    found: dict[bool, list[str]] = {True: [], False: []}
    for cluster, share, precision in zip(ex.clusters, held.found, held.precision, strict=True):
        if share is not None and share < FOUND:
            rows = share * cluster.size / precision if precision else 0.0
            luck = LUCK * math.sqrt(cluster.share * (1 - cluster.share) / rows) if rows else 1.0
            is_told = share >= PART and precision is not None and precision > cluster.share + luck
            found[is_told].append(f"{cluster_name(cluster.name)} (found {percent(share)})")
    none = (f"the inputs do not tell {list_words(found[False])} on rows held out",) if found[False] else ()
    some = (f"the inputs tell {list_words(found[True])} only in part on rows held out",) if found[True] else ()
    return (*none, *some)


# ------------------------------------------------------------------------------------------------- which rows belong
def _in_memory(table: Any, name: str) -> Any:
    """Return a table in memory: a frame, an array of rows, or columns that were read from a file."""
    if isinstance(table, ColumnTable):
        return table
    if isinstance(table, Source) or (as_source(table) is not None):
        raise DataError(
            f"{name} is read in batches, but tables are joined in memory; read it into a frame, or let the engine "
            "join them: boxwood.scan('SELECT … FROM … JOIN …') with the name of the column of labels"
        )
    table = as_rows_here(table)
    return table if is_frame(table) else np.asarray(as_float_table(table))


def _join_inputs(outcomes: Any, inputs: Any, key: Any) -> Join:
    tables, names = (outcomes, inputs), (OUTCOMES, INPUTS)
    if all(isinstance(one, ColumnTable) for one in tables):  # of files, whose reader has read the keys
        return join_tables(outcomes.keys, inputs.keys, names)
    are_frames = [is_frame(one) for one in tables]
    if key is not None:
        wanted = as_names("key", [key] if isinstance(key, str) else key)
        if not all(are_frames):
            raise DataError(f"key={show_value(key)} names a column of both tables, so both must be data frames")
        own, others = (keys_of_frame(one, wanted, name) for one, name in zip(tables, names, strict=True))
        return join_tables(own, others, names)
    if not any(are_frames):
        if len(outcomes) != len(inputs):
            said = f"there are {len(outcomes):,} outcomes, but {len(inputs):,} inputs"
            raise DataError(f"{said}; rows of arrays belong together by their places, so both need one for each")
        return Join(every := np.arange(len(outcomes), dtype=np.intp), every)
    if not all(hasattr(one, "index") and hasattr(one, "iloc") for one in tables):
        raise DataError(
            "it is not known which rows of outcomes and inputs belong together; name the column of both frames that "
            "says so (key), or give two frames of pandas with one index, as pandas.DataFrame(X, index=by.index) is"
        )
    return _by_index(outcomes, inputs)


def _by_index(outcomes: Any, inputs: Any) -> Join:
    """Return the rows of two frames of pandas with the same index; one that only counts rows tells little."""
    tables, names = (outcomes, inputs), (OUTCOMES, INPUTS)
    are_counted = all(type(one.index).__name__ == "RangeIndex" for one in tables)
    shared = [name for name in column_names(outcomes) if name in column_names(inputs)]
    remedy = f"name the column that says which rows belong together{f', such as {shared[0]}' if shared else ''} (key)"
    if are_counted and not outcomes.index.equals(inputs.index):
        said = f"there are {len(outcomes):,} outcomes and {len(inputs):,} inputs, and their index only counts rows"
        raise DataError(f"{said}; {remedy}")
    own, others = keys_of_index(outcomes, OUTCOMES), keys_of_index(inputs, INPUTS, _order_of_index(outcomes, inputs))
    found = join_tables(own, others, names)
    if are_counted:
        for name in shared:
            pairs = (keys_of_frame(one, [name], where).values for one, where in zip(tables, names, strict=True))
            if differ := sum(mine != theirs for mine, theirs in zip(*pairs, strict=True)):
                said = (
                    f"{name} of outcomes and inputs differs in {differ:,} of {len(outcomes):,} rows of the same index"
                )
                raise DataError(f"{said}, which only counts rows; {remedy}")
    return found


def _order_of_index(outcomes: Any, inputs: Any) -> Sequence[Hashable]:
    """Return the parts of the inputs' index by the names of those of the outcomes; empty where these go by place."""
    own, others = [*outcomes.index.names], [*inputs.index.names]
    if own == others or max(len(own), len(others)) == 1 or None in (*own, *others):
        return ()
    if sorted(map(str, own)) != sorted(map(str, others)):
        said = f"{list_words([*map(str, own)])} in {OUTCOMES}, but {list_words([*map(str, others)])} in {INPUTS}"
        raise DataError(f"the index is of {said}; give both the same names")
    return own


def _without_key(table: Any, key: Any) -> Any:
    if isinstance(table, ColumnTable):
        return replace(table, keys=None)
    return table if key is None else without_columns(table, [key] if isinstance(key, str) else key)


# ---------------------------------------------------------------------------------------------- what is asked of each
def _names_in(table: Any) -> Collection[str] | None:
    """Return the names of the columns of a table; None for an array, which has none."""
    return (
        table.names or table.columns
        if isinstance(table, ColumnTable)
        else table.names
        if isinstance(table, Source)
        else column_names(table)
        if is_frame(table)
        else None
    )


def _refuse_foreign_columns(asked: Options, outcomes: Any, inputs: Any) -> None:
    """Raise a DataError if columns or kinds are named that neither table has."""
    tables = [_names_in(outcomes), _names_in(inputs)]
    if None in tables:  # names of columns are those of an array
        return
    wanted = [*(asked.columns or ()), *asked.categories, *asked.numbers]
    refuse_unknown_columns(
        wanted, [*dict.fromkeys(name for names in tables for name in names or ())], where="outcomes and inputs"
    )


def _asked_of(table: Any, asked: Options) -> Options:
    """Return what is asked of the columns of a table: names of columns are those of either table, or of both."""
    names = _names_in(table)
    if names is None:
        return replace(asked, columns=None, categories=(), numbers=(), orders={})

    def own(wanted: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in wanted if name in names)

    columns = None if asked.columns is None else as_names("columns", asked.columns)
    return replace(
        asked,
        columns=None if columns is None else own(columns) or None,
        categories=own(asked.categories),
        numbers=own(asked.numbers),
        orders={name: order for name, order in asked.orders.items() if name in names},
    )


# --------------------------------------------------------------------------------------------------- which clusters
def _label_rows(outcomes: Any, clustering: Any, asked: Options) -> tuple[Problem | None, Any]:
    """Return the outcomes with their clusters, and the label of each of their rows."""
    if hasattr(clustering, "fit") and is_explainer(clustering):
        raise DataError("an explainer has rules of its own, on the outcomes; give its clusterer, or its labels")
    if clustering is None or hasattr(clustering, "fit"):
        problem = _pose_outcomes(outcomes, clustering, asked)
        names, codes = names_or_none(problem.task.reference.names), np.full(len(outcomes), -1, dtype=np.intp)
        kept = problem.complete.rows
        codes[slice(None) if kept is None else kept] = problem.task.reference.labels
        return problem, names[codes]
    refuse_number(asked.n_clusters)
    if isinstance(clustering, Reference):
        clustering = names_or_none(clustering.names)[clustering.labels]
    labels = label_values(column_values(outcomes, clustering) if isinstance(clustering, str) else clustering)
    if len(labels) != len(outcomes):
        raise DataError(f"there are {len(outcomes)} outcomes, but {len(labels)} labels; give one for each")
    try:
        return _pose_outcomes(outcomes, clustering, asked), labels
    except DataError:  # the labels need no other column: these are only told of
        return None, labels


def _pose_outcomes(outcomes: Any, clustering: Any, asked: Options) -> Problem:
    """Return the clusters of the outcomes, apart from all that limits the rules."""
    asked = asked.of_clusters().scaled_for(clustering, outcomes)
    X, asked = read_dates(outcomes, clustering, asked, if_any=True)
    return problem_of(X, clustering, asked)


def _on_outcomes(note: str) -> str:
    """Return a note on columns of the outcomes as one beside notes on inputs; those on groups speak for themselves."""
    if _ON_GROUPS.search(note):
        return note
    return Quoting(f"{OUTCOMES}: {note}", f"{OUTCOMES}: {getattr(note, 'written', note)}")
