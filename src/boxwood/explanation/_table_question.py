"""`TableQuestion`: what `explain` was asked of a table in batches, its clusters found and everything checked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from boxwood.explanation._asked import Asked, Candidates
from boxwood.explanation._names import renamed
from boxwood.explanation._options import with_defaults
from boxwood.explanation._table_clustering import clustering_of_table, label_column_of
from boxwood.explanation._table_evidence import refuse_all_rows
from boxwood.explanation._table_growth import Growth
from boxwood.explanation._table_guards import may_be_unusable
from boxwood.explanation._table_rows import Usable, budget_for, refuse_one_cluster_of, usable_rows
from boxwood.grow import METHODS
from boxwood.passes import Source, TableReference, TableTask
from boxwood.passes._overview import MissingValues
from boxwood.passes._scaled import scaled_batches, unit_scaling, unscaled_reference
from boxwood.reference import Mixture
from boxwood.reference._clusterer import default_clusterer, last_step
from boxwood.table._spark_models import is_spark_model, reference_of_spark_model

__all__ = ["TableQuestion", "table_question_of"]


class TableQuestion(NamedTuple):
    """A table in batches and its clusters.

    Parameters
    ----------
    growth : Growth
        How the tree is grown, with the task in the columns on which it is.
    usable : Usable
        The columns of the table that rules may test, in its units, and the rows that lack no value.
    """

    growth: Growth
    usable: Usable

    def unscaled_task(self) -> TableTask:
        """Return the task in the table's units; its columns must have been scaled."""
        task, scaling = self.growth.task, self.growth.scaling
        assert scaling is not None
        reference = unscaled_reference(task.reference, scaling)
        rows = replace(self.usable.batches, labelling=reference.labelling, store=task.batches.store)
        return TableTask.of(
            rows,
            reference,
            mixture=task.mixture,
            max_leaf_nodes=task.max_leaf_nodes,
            random_state=task.random_state,
            n_jobs=task.n_jobs,
            budget=task.budget,
        )


def table_question_of(source: Source, clustering: Any, asked: Asked) -> TableQuestion:
    """Return what is asked of a table; clusters are made, or found in it, by passes.

    Where boxwood makes the clusters, a pass looks at all columns before. Elsewhere the first pass tells whether one is
    needed: if rows lack values, or a column may be none for rules.
    """
    if is_spark_model(clustering):
        source, clustering = reference_of_spark_model(clustering, getattr(source, "frame", source))
    if asked.method != "auto":
        METHODS[asked.method].refuse_without_passes()  # before anything is read
    if clustering is not None:
        with suppress(MissingValues):
            question = _posed(source, clustering, asked, looked_at=False)
            if not _may_be_unusable(question, clustering, asked):
                return question
    return _posed(source, clustering, asked, looked_at=True)


def _may_be_unusable(question: TableQuestion, clustering: Any, asked: Asked) -> bool:
    """Return whether a column of a table with labels may be one that rules should not use."""
    if not isinstance(clustering, str) or not (asked.columns is None or isinstance(asked.columns, Candidates)):
        return False
    task = question.growth.task
    return asked.standardize or may_be_unusable(task.batches.columns, *task.ranges, task.overview.n_rows)


def _posed(source: Source, clustering: Any, asked: Asked, *, looked_at: bool) -> TableQuestion:
    usable = usable_rows(source, clustering, label_column_of(clustering), asked, looked_at=looked_at)
    batches = usable.batches
    budget = budget_for(batches, asked.method, asked.limits)
    if asked.standardize and not (clustering is None or isinstance(clustering, str)):
        refuse_all_rows("standardize with centres or a clusterer", source.name)
    scaling = unit_scaling(batches) if asked.standardize else None
    on = batches if scaling is None else scaled_batches(batches, scaling)
    reference, clusterer = clustering_of_table(on, clustering, asked.n_clusters, asked.random_state)
    task = TableTask.of(
        replace(on, labelling=reference.labelling),
        renamed(reference, asked.names),
        mixture=_mixture_of(clusterer),
        max_leaf_nodes=asked.max_leaf_nodes,
        random_state=asked.random_state,
        n_jobs=asked.n_jobs,
        budget=budget,
    )
    refuse_one_cluster_of(task)
    options, made_by = with_defaults(asked.method, asked.options, clusterer), clusterer
    if clustering is None:
        n_values = task.overview.n_rows * task.batches.n_columns
        made_by = default_clusterer(reference.n_clusters, n_values, asked.random_state)
    by_means = clustering is None or _has_means(reference)
    return TableQuestion(Growth(task, asked.method, options, made_by, scaling, by_means), usable)


def _has_means(reference: TableReference) -> bool:
    """Return whether the centres are the means of the rows of a column of labels."""
    return reference.measured is not None and reference.measured.means is not None


def _mixture_of(clusterer: Any) -> Mixture | None:
    """Return the Gaussians of a fitted mixture; its clusters have the numbers of its components."""
    fitted = last_step(clusterer)
    if not isinstance(fitted, (GaussianMixture, BayesianGaussianMixture)):
        return None
    mixture = Mixture.from_gaussian_mixture(fitted)
    return mixture.with_clusters(np.array(mixture.names, dtype=np.intp))
