"""`Problem`: rows, their clustering, and the limits of the rules that explain it, all checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from boxwood._frames import (
    column_names,
    date_columns,
    is_frame,
    numeric_columns,
    read_texts,
    refuse_other_index,
    rows_of_table,
    weights_in,
    without_columns,
)
from boxwood._progress import in_one_step, silent
from boxwood._texts import dates_among
from boxwood._types import Floats, Indices
from boxwood._validation import Rows, list_words, refuse_no_sum
from boxwood.batches import Batches, LabelColumn, Source
from boxwood.batches.labelling import MadeClusters
from boxwood.batches.overview import MissingValues
from boxwood.batches.texts import spellings_of_texts
from boxwood.columns.column_table import ColumnTable, in_stated_order, known_orders
from boxwood.columns.of_batches import may_be_unusable
from boxwood.columns.of_frame import with_numbers
from boxwood.explanation.ask.clustering import (
    clustering_of,
    clustering_of_table,
    given_to,
    label_column_of,
    labelling_of_made,
    name_clusters,
    notes_on_clustering,
    notes_on_labels_of,
    notes_on_number,
    refuse_number,
)
from boxwood.explanation.ask.columns import (
    are_named,
    as_fitted,
    columns_beside,
    columns_for_rules,
    left_out_of,
    notes_on_columns,
    notes_on_rounding,
    refuse_one_cluster_of,
    usable_rows,
    use_in_batches,
)
from boxwood.explanation.ask.days import with_day
from boxwood.explanation.ask.gaps import CompleteCases, HasGaps, complete_cases, with_fitted_pipeline
from boxwood.explanation.ask.gathered import gather_rows
from boxwood.explanation.ask.how_many import DrawnRows, Number, settled_number
from boxwood.explanation.ask.mixed import cluster_table, read_as_it_is, refuse_method, refuse_unseen_kinds
from boxwood.explanation.ask.options import AS_THEY_ENTER, Candidates, Options
from boxwood.explanation.choose.on_table import TableSearch
from boxwood.explanation.measure.allowed import allowed_ends, refuse_useless
from boxwood.explanation.measure.batch_statistics import refuse_all_rows
from boxwood.explanation.measure.full_table import FullTable
from boxwood.explanation.measure.valleys import Groups
from boxwood.grow import METHODS
from boxwood.reference import Mixture, Reference, Task
from boxwood.reference.budget import Budget, as_names, budget_of
from boxwood.reference.clusterer import is_fitted, is_gaussian_mixture, last_step
from boxwood.reference.entry import Entry, refuse_overflow
from boxwood.reference.feature_space import BesideColumn, FeatureSpace
from boxwood.reference.reference import labels_given
from boxwood.reference.reference_batches import on_some_columns
from boxwood.reference.scaled import unit_scaling, unscaled_reference
from boxwood.table.spark import is_spark_model, reference_of_spark_model


@dataclass(frozen=True, kw_only=True)
class Problem(TableSearch):
    """The clustering of a table that trees explain, in memory or in batches: what is searched, and what else is known.

    Parameters
    ----------
    clusterer : object
        The fitted clusterer; None if labels, centres or a `Reference` were given.
    given : array or data frame
        The rows as the clusterer was given them; None if these are the rows of the task.
    complete : CompleteCases
        Which rows of the table these are: those that lack no value.
    notes : tuple of str
        What a reader should know of columns and clusters.
    by_means : bool
        Whether centres of clusters in batches are the means of their rows.
    whole : FullTable, default=None
        All rows of the table, if the rows of the task were drawn from it, with their clusters.
    other_numbers : tuple of int
        Numbers of clusters that would do nearly as well as the one that was chosen, the best ones first.
    groups : Groups, default=None
        Whether the rows of clusters that boxwood made show groups.
    """

    clusterer: Any
    given: Any
    complete: CompleteCases
    notes: tuple[str, ...]
    by_means: bool = False
    whole: FullTable | None = None
    other_numbers: tuple[int, ...] = ()
    groups: Groups | None = None

    @property
    def asked_budget(self) -> Budget:
        """Limits of the rules as they were asked for: of all rows, where the rows of the task were drawn."""
        return self.budget if self.whole is None else replace(self.budget, min_samples_leaf=self.whole.fewest)

    @property
    def task_on_table(self) -> Task:
        """The task of rows in batches in the table's units."""
        task, here = self.task, self.coordinates
        if here.scaling is None:
            return task
        assert isinstance(here.table_store, Batches)
        reference = unscaled_reference(task.reference, here.scaling)
        return task.on(replace(here.table_store, labelling=reference.labelling, store=task.batches.store), reference)


def with_weights(X: Any, asked: Options) -> tuple[Any, Options]:
    """Return the rows, and what is asked with the weights in a column of a frame, if that is named; X is without it."""
    name = asked.sample_weight
    if not isinstance(name, str):
        return X, asked
    weights = weights_in(X, name)
    return without_columns(X, [name]), replace(asked, sample_weight=weights)


def read_dates(X: Any, clustering: Any, asked: Options, *, if_any: bool = False) -> tuple[Any, Options]:
    """Return the rows, with texts of a frame that are dates or numbers as these, and what is asked, with how these are.

    Dates are counted from the day that is asked for, if one is. Texts of a column of labels stay texts. IN: if_any:
    whether a table without dates stays as it is.
    """
    return with_day(*_with_dates(X, clustering, asked), clustering, if_any=if_any)


def _with_dates(X: Any, clustering: Any, asked: Options) -> tuple[Any, Options]:
    if isinstance(X, (Source, ColumnTable)):
        return X, replace(asked, dates=X.dates)
    if not is_frame(X):
        return X, asked
    if hasattr(clustering, "fit"):  # which reads texts itself
        return X, replace(asked, dates=date_columns(X))
    labels = (clustering,) if isinstance(clustering, str) else ()
    X, read = read_texts(X, (*labels, *asked.categories, *asked.numbers))
    return X, replace(asked, dates=date_columns(X) | dates_among(read), spellings=spellings_of_texts(read))


class Posed(NamedTuple):
    """What is to be explained; its rows, in memory or in batches; and what is asked of them."""

    problem: Problem
    rows: Any
    asked: Options


def pose(X: Any, clustering: Any, asked: Options) -> Posed:
    """Return what is to be explained of an array, a frame or a table in batches, whose rows may be read into memory."""
    if not isinstance(X, Source):
        return Posed(problem_of(X, clustering, asked), X, asked)
    try:
        if (read := gather_rows(X, clustering, asked)) is None:
            return Posed(problem_of_batches(X, clustering, asked), X, asked)
    except HasGaps:
        read = gather_rows(X, clustering, asked, has_gaps=True)
        assert read is not None
    asked = replace(asked, sample_weight=read.sample_weight, dates=read.table.dates)
    return Posed(problem_of(read.table, read.labels, asked, read.whole), read.table, asked)


class _Clustered(NamedTuple):
    """Rows in memory with their clusters, in the columns on which trees are grown.

    `scaled` says whether clusters are of scaled columns; `numbers` are columns of numbers, NaN where one is missing;
    `in_table` are the names of all columns, and `left_out` tells why some of these are none for rules. `made` is what
    made the clusters, and gives other rows theirs; `clusterer` and `given` are as for `Problem`.
    """

    here: FeatureSpace
    reference: Reference
    number: Number
    complete: CompleteCases
    scaled: bool
    notes: tuple[str, ...]
    numbers: Mapping[str, Floats]
    in_table: Sequence[str]
    left_out: Callable[[], Mapping[str, Sequence[str]]]
    made: Any = None
    clusterer: Any = None
    given: Any = None
    mixture: Mixture | None = None
    parts: tuple[Indices, ...] = ()
    beside: Mapping[str, BesideColumn] = MappingProxyType({})


def problem_of(X: Any, clustering: Any, asked: Options, drawn_from: FullTable | None = None) -> Problem:
    """Return what is to be explained; makes the clusters, or fits the clusterer, if none are given.

    IN: drawn_from: all rows of the table, if these were drawn from it.

    Raises
    ------
    DataError
        If the table or the clustering cannot be used, or no tree could keep the limits; see `explain`.
    """
    found = _cluster_rows(X, clustering, asked, is_drawn=drawn_from is not None)
    here, complete, columns = found.here, found.complete, found.here.columns
    in_table = found.in_table or columns
    limits = asked.limits | {"cuts": allowed_ends(asked.limits["cuts"], here, in_table)}
    budget = budget_of(limits, columns, in_table, found.left_out)
    refuse_useless(budget, here, found.reference.kept)
    whole, lost = None, tuple[str, ...]()
    if drawn_from is not None:
        whole, budget, lost = _in_all_rows(drawn_from, found, asked, budget)
        complete = complete.of_drawn()
    ends = np.array([[find.reduce(x).item() for x in found.numbers.values()] for find in (np.fmin, np.fmax)])
    about: dict[str, Any] = {"scaled": found.scaled, "n_rows": len(here.rows)}
    notes = (
        *found.notes,
        *notes_on_columns([*found.numbers], found.numbers.values(), asked.dates),
        *notes_on_clustering(found.complete.clustering, ends, [*found.numbers], found.reference.names, **about),
        *notes_on_number(found.number, columns),
        *complete.notes,
        *lost,
    )
    task = _task(here.rows, found.reference, asked, found.mixture, here.budget_of_growth(budget))
    known: dict[str, Any] = {
        "complete": complete,
        "whole": whole,
        "other_numbers": found.number.others,
        "groups": found.number.groups,
    }
    return Problem(task, here, budget, found.parts, clusterer=found.clusterer, given=found.given, notes=notes, **known)


def _cluster_rows(X: Any, clustering: Any, asked: Options, *, is_drawn: bool) -> _Clustered:
    """Return the rows with their clusters: a table as it is, or the numbers that a clusterer, or all rules, take."""
    X, asked = with_weights(X, asked)
    if asked.numbers and is_frame(X):
        X = with_numbers(X, as_names("numbers", asked.numbers), asked.columns)
    in_table = column_names(X) if is_frame(X) else X.names if isinstance(X, ColumnTable) else ()
    X, unfitted = as_fitted(X, clustering, asked.columns)
    labels_given(clustering)  # refuses a reference of a table in batches
    refuse_other_index(X, labels=clustering, sample_weight=asked.sample_weight)
    if hasattr(clustering, "fit"):
        clustering = with_fitted_pipeline(clustering, X, asked.sample_weight, asked.missing)
    read = read_as_it_is(X, clustering, asked)
    rounded = tuple[str, ...]()
    if read is None or read.X.is_plain:
        known = X if isinstance(X, ColumnTable) else None if read is None or not is_frame(X) else read.X
        found = _of_numbers(X, known, clustering, asked)
    else:
        rounded = () if isinstance(X, ColumnTable) else notes_on_rounding(X, read.X.columns)
        found = _of_table(read, asked, is_drawn=is_drawn)
    about = (*unfitted, *notes_on_labels_of(X, clustering), *rounded)
    of_columns = X if isinstance(X, ColumnTable) else None if read is None else read.X
    beside = found.beside if of_columns is None else of_columns.beside
    if any(len(one.values) != len(found.here.rows) for one in beside.values()):  # rows were left out behind
        beside = {}
    here = replace(found.here.dated(asked.dates), beside=beside)
    return found._replace(here=here, in_table=in_table or found.in_table, notes=(*found.notes, *about))


def _of_numbers(X: Any, known: ColumnTable | None, clustering: Any, asked: Options) -> _Clustered:
    """Return rows of numbers with their clusters; IN: known: their columns, where all categories are left out."""
    table = X if isinstance(X, ColumnTable) else None
    if table is not None:  # of numbers and dates
        X = table.values
    if known is None:
        chosen, notes = columns_for_rules(X, asked.columns, clustering, asked.spellings, asked.dates)
    else:
        chosen, notes = list(known.columns), known.notes
    complete = complete_cases(X, chosen, clustering, asked.sample_weight, asked.missing)
    X, clustering = complete.X, complete.clustering
    unscaled = FeatureSpace.of(X, chosen, clustering, complete.sample_weight).dated(asked.dates)
    refuse_no_sum(unscaled.rows.weights)
    here, number = _weigh_columns(unscaled, clustering, asked)
    stages, was_fitted = (unscaled, here), hasattr(clustering, "fit") and is_fitted(clustering)
    with in_one_step(asked.progress if clustering is None else silent, "making clusters"):
        reference, mixture, made = clustering_of(clustering, X, stages, number.k, asked.random_state)
    values = unscaled.table.values
    values = np.where(np.isinf(values), np.nan, values) if unscaled.gaps else values
    clusterer = made if hasattr(made, "fit") else None
    return _Clustered(
        here,
        reference,
        number,
        complete,
        bool(asked.standardize) and not was_fitted,
        (*notes, *notes_on_rounding(X, unscaled.columns)),
        dict(zip(unscaled.columns, values.T, strict=True)),
        (),
        (lambda: numeric_columns(X)[1]) if table is None else (lambda: table.left_out),
        made,
        clusterer,
        None if clusterer is None else given_to(clusterer, was_fitted, X, stages),
        mixture,
        beside=columns_beside(X, notes, asked.dates) if clustering is None and is_frame(X) else {},
    )


def _of_table(read: CompleteCases, asked: Options, *, is_drawn: bool) -> _Clustered:
    """Return rows of a table with categories or gaps, with their clusters."""
    by_themselves = {name: order for name, order in known_orders(read.X).items() if name not in asked.categories}
    table = in_stated_order(read.X, by_themselves | dict(asked.orders))
    refuse_method(asked.method, table)
    here, reference, parts, number, made = cluster_table(read._replace(X=table), asked, is_drawn=is_drawn)
    refuse_no_sum(here.rows.weights)
    clusterer, given = made, None
    if read.fitted is not None:
        clusterer, given = read.fitted, read.given if read.rows is None else rows_of_table(read.given, read.rows)
    numbers = [name for j, name in enumerate(here.columns) if j not in here.categories]
    return _Clustered(
        here,
        reference,
        number,
        read._replace(X=table.of_rows(np.empty(0, dtype=np.intp)), given=None),  # rows are no longer needed
        bool(asked.standardize),
        table.notes,
        {name: table.values[:, table.columns.index(name)] for name in numbers},
        table.names,
        lambda: table.left_out,
        made,
        clusterer,
        given,
        parts=parts,
    )


def _weigh_columns(unscaled: FeatureSpace, clustering: Any, asked: Options) -> tuple[FeatureSpace, Number]:
    """Return the columns on which trees are grown, and the number of clusters to make.

    Columns stay as they are, are scaled, or enter as clusters made here have them, each with its weight in these.
    """
    rows, about = unscaled.rows, (asked.n_clusters, asked.among, asked.progress, asked.groups)
    if clustering is None:
        refuse_overflow(rows.values, squared=not asked.standardize)
    if asked.standardize == AS_THEY_ENTER:
        entry = Entry.of(rows.values, (), rows.weights, asked.measured(unscaled.columns))
        look = DrawnRows.of_entry(entry, rows.values, {}, rows.weights, unscaled.columns, has_weights=True)
        number = settled_number(look, *about)
        return unscaled.entered(entry.with_weights(number.weights)), number
    coordinates = unscaled.standardized() if asked.standardize else unscaled
    if clustering is None:
        return coordinates, settled_number(DrawnRows.of_space(coordinates), *about)
    refuse_number(asked.n_clusters)
    return coordinates, Number()


def _in_all_rows(
    whole: FullTable, found: _Clustered, asked: Options, budget: Budget
) -> tuple[FullTable, Budget, tuple[str, ...]]:
    """Return all rows of a table with the clusters of those drawn, the limits on the latter, and notes on others."""
    here, n_kept = found.here, whole.overview.n_kept
    budget.refuse_too_few(n_kept)
    lost = tuple[str, ...]()
    labelling: MadeClusters | LabelColumn
    if isinstance(whole.labelling, LabelColumn):
        labelling, lost = _of_those_drawn(whole.labelling, found.reference)
    else:
        labelling = labelling_of_made(found.made, found.reference, here)
    needed = () if asked.missing == "learn" else here.columns
    whole = replace(whole, labelling=labelling, needed=needed, fewest=budget.min_samples_leaf)
    return whole, budget.for_share(min(len(here.rows) / n_kept, 1.0)), lost


def _of_those_drawn(labelling: LabelColumn, reference: Reference) -> tuple[LabelColumn, tuple[str, ...]]:
    """Return the clusters of rows that were drawn, and a note on others, whose drawn rows are empty."""
    kept = {*reference.names}
    lost = [str(label) for label in labelling.labels if label not in kept]
    labels = tuple(label for label in labelling.labels if label in kept)
    note = f"no row drawn of {list_words(lost)} has a value, so there is no such cluster here; its rows are left out"
    return LabelColumn(labelling.column, labels), (note,) if lost else ()


def _task(rows: Rows | Batches, reference: Reference, asked: Options, mixture: Mixture | None, budget: Budget) -> Task:
    return Task.of(
        rows,
        name_clusters(reference, asked.names),
        mixture=mixture,
        max_leaf_nodes=asked.max_leaf_nodes,
        random_state=asked.random_state,
        n_jobs=asked.n_jobs,
        budget=budget,
    )


def problem_of_batches(source: Source, clustering: Any, asked: Options) -> Problem:
    """Return what is asked of a table in batches whose clusters are given, and are found by passes.

    The first pass tells whether another one has to look at all columns before: if rows lack values, or a column may be
    none for rules.
    """
    if not isinstance(clustering, str):
        refuse_unseen_kinds(asked.categories, asked.numbers, f"{source.name} with centres or a clusterer")
        if is_spark_model(clustering):
            source, clustering = reference_of_spark_model(clustering, getattr(source, "frame", source))
    if asked.method != "auto":
        METHODS[asked.method].refuse_batches()  # before anything is read
    problem: Problem | None = None
    with suppress(MissingValues):
        problem = _by_passes(source, clustering, asked, looked_at=False)
        if not _may_be_unusable(problem, clustering, asked):
            return _without_labels(problem, source, clustering, asked)
    looked_at = _by_passes(source, clustering, asked, looked_at=True, known=problem)
    return _without_labels(looked_at, source, clustering, asked)


def _without_labels(problem: Problem, source: Source, clustering: Any, asked: Options) -> Problem:
    """Return the problem without columns that are the labels in other numbers, unless the caller named columns."""
    if not isinstance(clustering, str) or are_named(asked.columns):
        return problem
    task, overview = problem.task, problem.task.overview
    alike = overview.least == overview.most
    copies = [
        name
        for j, name in enumerate(task.batches.columns)
        if len(alike) > 1 and alike[:, j].all() and len(np.unique(overview.least[:, j])) == len(alike)
    ]
    if not copies or len(copies) == len(task.batches.columns):
        return problem
    return _by_passes(source, clustering, asked, looked_at=True, copies=copies, known=problem)


def _may_be_unusable(problem: Problem, clustering: Any, asked: Options) -> bool:
    """Return whether a column of a table with labels may be one that rules should not use."""
    if not isinstance(clustering, str) or not (asked.columns is None or isinstance(asked.columns, Candidates)):
        return False
    task, use = problem.task, use_in_batches(asked, clustering, label_column_of(clustering))
    return bool(asked.standardize) or may_be_unusable(task.batches, task.ranges, task.n_rows, use)


def _by_passes(
    source: Source,
    clustering: Any,
    asked: Options,
    *,
    looked_at: bool,
    copies: Sequence[str] = (),
    known: Problem | None = None,
) -> Problem:
    """Return the problem.

    IN: copies: columns that are left out as they are the labels in other numbers; known: the problem of more columns,
    whose labels and means are not looked for again.
    """
    label = label_column_of(clustering)
    usable = usable_rows(source, clustering, label, asked, looked_at=looked_at, copies=copies)
    batches = usable.X
    dated_here = FeatureSpace.in_batches(batches).dated(asked.dates)
    limits = asked.limits | {"cuts": allowed_ends(asked.limits["cuts"], dated_here, source.names)}
    budget = budget_of(limits, batches.columns, source.names, lambda: left_out_of(source, ()))
    if asked.method != "auto":
        _refuse_limits(asked.method, budget)
    if asked.standardize and not isinstance(clustering, str):
        refuse_all_rows("standardize with centres or a clusterer", source.name)
    here = FeatureSpace.in_batches(batches, unit_scaling(batches) if asked.standardize else None)
    assert isinstance(here.store, Batches)
    refuse_number(asked.n_clusters)
    reference = None if known is None else on_some_columns(known.task.reference, here.store)
    reference = reference or clustering_of_table(here.store, clustering)
    clusterer = clustering if hasattr(clustering, "fit") else None
    mixture = None if clusterer is None else _mixture_of(clusterer)
    task = _task(here.store, reference, asked, mixture, budget)
    refuse_one_cluster_of(task)
    notes, by_means = (*notes_on_labels_of(source, reference), *usable.notes), _has_means(reference)
    return Problem(task, here, budget, clusterer=clusterer, given=None, complete=usable, notes=notes, by_means=by_means)


def refuse_in_batches(method: str, label: str | None, limits: Mapping[str, Any]) -> None:
    """Raise an error for a method that reads no table in batches, or does not keep limits, before a table is read.

    Rows of which clusters are made are in memory.
    """
    if method == "auto":
        return
    if label is not None:
        METHODS[method].refuse_batches()
    numbers = ("max_depth", "min_samples_leaf", "max_columns")  # limits that need no names of columns
    METHODS[method].check_budget(Budget.of(**{name: limits[name] for name in numbers}))


def _refuse_limits(method: str, budget: Budget) -> None:
    """Raise a ValueError if trees of a method do not keep one of the limits where rows are in batches."""
    METHODS[method].check_budget(budget)
    if budget.preferred and METHODS[method].by_passes:
        raise ValueError(
            f"method {method!r} has no preferred where rows are read in batches, as its cuts are moved by all rows "
            "in memory; use 'auto', or explain a sample"
        )


def _has_means(reference: Reference) -> bool:
    """Return whether the centres are the means of the rows of a column of labels."""
    return reference.measured is not None and reference.measured.means is not None


def _mixture_of(clusterer: Any) -> Mixture | None:
    """Return the Gaussians of a fitted mixture in the columns of the table; None for one behind other steps.

    Its clusters have the numbers of its components.
    """
    fitted = last_step(clusterer)
    if len(getattr(clusterer, "steps", ())) > 1 or not is_gaussian_mixture(fitted):
        return None
    mixture = Mixture.from_gaussian_mixture(fitted)
    return mixture.with_clusters(np.array(mixture.names, dtype=np.intp))
