"""`Question`: rows in memory, their clustering, and the limits of the rules that explain it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from boxwood._frames import weights_in, without_columns
from boxwood._validation import refuse_infinite_sum
from boxwood.explanation._asked import Asked
from boxwood.explanation._budgets import budget_of, finished, in_coordinates
from boxwood.explanation._clustering import clustering_of, given_to
from boxwood.explanation._gaps import Complete, complete_rows, refuse_other_index, with_fitted_pipeline
from boxwood.explanation._guards import columns_for_rules, notes_on_rounding
from boxwood.explanation._names import renamed
from boxwood.explanation._notes_on_clusters import notes_on_given, notes_on_k_means, notes_on_labels
from boxwood.reference import Task
from boxwood.reference._budget import Budget
from boxwood.reference._clusterer import is_fitted
from boxwood.reference._coordinates import Coordinates
from boxwood.tree import ThresholdTree

__all__ = ["Question", "question_of", "with_weights"]


@dataclass(frozen=True)
class Question:
    """The clustering of a table that trees explain.

    Parameters
    ----------
    task : Task
        Rows and clusters in the columns on which trees are grown.
    coordinates : Coordinates
        The same rows in the table's columns, and the map between them.
    budget : Budget
        Limits of the rules, on the table's columns.
    clusterer : object
        The fitted clusterer; None if labels or a `Reference` were given.
    given : array or data frame
        The rows as the clusterer was given them; None if these are the rows of the task.
    complete : Complete
        Which rows of the table these are: those that lack no value.
    notes : tuple of str
        What a reader should know of columns and clusters.
    """

    task: Task
    coordinates: Coordinates
    budget: Budget
    clusterer: Any
    given: Any
    complete: Complete
    notes: tuple[str, ...]

    def finished(self, tree: ThresholdTree) -> tuple[ThresholdTree, int]:
        """Return a tree on the task's columns as one of short thresholds on the table's, and how many rows moved."""
        here = self.coordinates
        return finished(here.shortened(here.pulled_back(tree)), self.task, self.budget, here)

    def keeps_leaves(self, tree: ThresholdTree) -> bool:
        """Return whether a tree has as many leaves on the table's columns; a cut of categories may become several."""
        return self.coordinates.pulled_back(tree).n_leaves == tree.n_leaves


def with_weights(X: Any, asked: Asked) -> tuple[Any, Asked]:
    """Return the rows, and what is asked with the weights in a column of a frame, if that is named; X is without it."""
    name = asked.sample_weight
    if not isinstance(name, str):
        return X, asked
    weights = weights_in(X, name)
    return without_columns(X, [name]), replace(asked, sample_weight=weights)


def question_of(X: Any, clustering: Any, asked: Asked) -> Question:
    """Return what is to be explained; makes the clusters, or fits the clusterer, if none are given.

    Raises
    ------
    DataError
        If the table or the clustering cannot be used, or no tree could keep the limits; see `explain`.
    """
    made_here = clustering is None
    X, asked = with_weights(X, asked)
    refuse_other_index(X, labels=clustering, sample_weight=asked.sample_weight)
    clustering = with_fitted_pipeline(clustering, X, asked.sample_weight, asked.missing)
    chosen, notes = columns_for_rules(X, asked.columns, clustering)
    complete = complete_rows(X, chosen, clustering, asked.sample_weight, asked.missing)
    X, clustering = complete.X, complete.clustering
    unscaled = Coordinates.of(X, chosen, clustering, complete.sample_weight)
    refuse_infinite_sum(unscaled.rows.weights)
    budget = budget_of(X, unscaled.columns, asked.limits)
    coordinates = unscaled.standardized() if asked.standardize else unscaled
    stages, was_fitted = (unscaled, coordinates), hasattr(clustering, "fit") and is_fitted(clustering)
    if made_here:
        notes += notes_on_k_means(unscaled, asked.n_clusters, asked.standardize)
    else:
        notes += notes_on_given(unscaled, clustering, asked.standardize and not was_fitted)
    notes += (*notes_on_rounding(X, unscaled.columns), *complete.notes)
    reference, mixture, fitted = clustering_of(clustering, X, stages, asked.n_clusters, asked.random_state)
    notes += notes_on_labels(reference, clustering)
    task = Task.of(
        coordinates.rows,
        renamed(reference, asked.names),
        mixture=mixture,
        max_leaf_nodes=asked.max_leaf_nodes,
        random_state=asked.random_state,
        n_jobs=asked.n_jobs,
        budget=in_coordinates(budget, coordinates),
    )
    clusterer = fitted if hasattr(fitted, "fit") else None
    given = None if clusterer is None else given_to(clusterer, was_fitted, X, stages)
    return Question(task, coordinates, budget, clusterer, given, complete, notes)
