"""Measurements of a tree on the rows that it explains."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Indices
from boxwood._validation import Rows, refuse_infinite_sum
from boxwood.errors import DataError
from boxwood.explanation._conditions import cluster_rules_of, rules_of
from boxwood.explanation._evidence import Evidence
from boxwood.explanation._explanation import Explanation
from boxwood.explanation._held import confusion_in, held_by_leaves, leaves_holding
from boxwood.explanation._mixture_facts import mixture_facts
from boxwood.explanation._notes_on_leaves import note_on_baseline, note_on_goal, notes_on_leaves
from boxwood.explanation._summaries import (
    DrawFacts,
    KernelFacts,
    MixtureFacts,
    clusters_of,
)
from boxwood.grow._grown import Grown
from boxwood.metrics._agreement import agreement, agreement_of
from boxwood.metrics._cost import cost_of_clusters, summed_distances
from boxwood.metrics._kernel_cost import KernelSpace
from boxwood.metrics._price import ratio
from boxwood.metrics._readability import readability_of
from boxwood.reference import Task
from boxwood.reference._centers import objective_code
from boxwood.reference._coordinates import Coordinates
from boxwood.theory.bounds import random_cuts_price_bound
from boxwood.tree import ThresholdTree

__all__ = ["Costs", "costs_of", "draws_of", "measure"]


def measure(
    task: Task, grown: Grown, coordinates: Coordinates, *, leaf: Indices | None = None, costs: Costs | None = None
) -> Explanation:
    """Return the explanation by a tree on the columns of a table; costs are measured in the columns that grew the tree.

    The clusters' names must be text or numbers; see `renamed`. IN: leaf (n,), costs: of this tree, if they are known.
    """
    tree, reference, weights = grown.tree, task.reference, task.rows.weights
    refuse_infinite_sum(weights)
    if leaf is None:
        leaf = tree.apply(coordinates.table, n_jobs=task.n_jobs)
    if costs is None:
        costs = costs_of(task, grown, np.where(reference.kept, tree.leaf_clusters[leaf], -1), coordinates.measured)
    said = tree, coordinates.columns, coordinates.categories
    held, noise = held_by_leaves(leaf, tree.n_leaves, reference, weights)
    leaves, confusion = leaves_holding(tree, held, noise, rules_of(*said)), confusion_in(held, tree)
    rules_of_clusters = cluster_rules_of(*said, reference.n_clusters)
    clusters = clusters_of(leaves, reference.names, held.sum(axis=0).tolist(), rules_of_clusters)
    agreed = sum(one.own for one in leaves) / sum(one.size for one in leaves)
    return Explanation(
        tree=tree,
        columns=coordinates.columns,
        method=grown.method,
        n_rows=len(task.rows),
        n_left_out=int(noise.sum()),
        clusters=clusters,
        leaves=leaves,
        cost=costs.tree,
        reference_cost=costs.reference,
        price=costs.price,
        agreement=agreed,
        adjusted_rand=_adjusted_rand(task, tree, leaf, confusion),
        readability=readability_of(tree, held.sum(axis=1)),
        weighted=weights is not None,
        standardized=coordinates.scaling is not None,
        notes=(
            *grown.notes,
            *coordinates.notes,
            *notes_on_leaves(
                clusters,
                leaves,
                lambda cluster: confusion[cluster],
                weighted=weights is not None,
                more_may_help=tree.n_leaves >= task.leaves() and not task.budget.limits_shape,
            ),
            *note_on_baseline(clusters, agreed),
            *note_on_goal(grown.method, costs.price),
        ),
        mixture=_mixture_facts(task, grown, coordinates),
        categories=tuple(
            (coordinates.columns[j], column_categories)
            for j, column_categories in sorted(coordinates.categories.items())
        ),
        objective=grown.objective,
        kernel=None if grown.kernel is None else KernelFacts(repr(grown.kernel), costs.ceiling),
        draws=draws_of(grown, reference.n_clusters),
        search=grown.facts.get("search"),
        _evidence=Evidence(task, coordinates, leaf, kernel=grown.kernel),
    )


class Costs(NamedTuple):
    """Cost of the tree's groups of rows, cost of the clusters, and the highest cost that any groups could have."""

    tree: float
    reference: float
    most: float = math.inf

    @property
    def price(self) -> float:
        """Price of explainability."""
        return ratio(self.tree, self.reference)

    @property
    def ceiling(self) -> float:
        """The highest price that any tree could have."""
        return ratio(self.most, self.reference)


def costs_of(task: Task, grown: Grown, predicted: Indices, rows: Rows | None = None) -> Costs:
    """Return the costs of the tree's groups of rows, and of the clusters; `predicted` is -1 for rows left out.

    Costs are those of the method: sums of its distance, or of squared distances in its kernel's feature space. `rows`
    are the rows to measure on; None takes those on which the tree was grown.
    """
    rows, labels, k = task.rows if rows is None else rows, task.reference.labels, task.reference.n_clusters
    if grown.kernel is None:
        code = objective_code(grown.objective)
        of_tree = summed_distances(rows.values, predicted, code, None, rows.weights)
        return Costs(of_tree, cost_of_clusters(rows, task.reference, code))
    space = KernelSpace(rows, grown.kernel, n_jobs=task.n_jobs)
    most = space.diagonal if rows.weights is None else rows.weights * space.diagonal
    return Costs(space.cost(predicted, k), space.cost(labels, k), float(most[task.reference.kept].sum()))


def draws_of(grown: Grown, k: int) -> DrawFacts | None:
    """Return the facts on all random trees, if there were any; the bound is proved for cuts on all columns alone."""
    if "prices" not in grown.facts:
        return None
    prices, bound = grown.facts["prices"], None
    if grown.facts["on_all_columns"]:
        bound = float(random_cuts_price_bound(k, objective=grown.objective, variant=grown.facts["variant"]).value)
    return DrawFacts(len(prices), float(prices.min()), float(prices.mean()), float(prices.max()), bound)


def _mixture_facts(task: Task, grown: Grown, coordinates: Coordinates) -> MixtureFacts | None:
    """Return the facts from the mixture that grew the tree, or else from the mixture behind the clusters."""
    mixture = grown.facts.get("mixture", task.mixture)
    if mixture is None or coordinates.categories:
        return None
    try:
        of_table = coordinates.to_table(mixture, task.reference)
    except DataError:  # values too large for their variance, where a curved map brought them near
        return None
    return mixture_facts(grown.tree, of_table, coordinates.columns, replace(task, rows=coordinates.table))


def _adjusted_rand(task: Task, tree: ThresholdTree, leaf: Indices, confusion: Array) -> float:
    """Return the adjusted Rand index of clusters and rules, from their confusion if rows are not weighted."""
    weights, labels = task.rows.weights, task.reference.labels
    if weights is None:
        return agreement_of(confusion.astype(np.float64)).adjusted_rand
    return agreement(labels, tree.leaf_clusters[leaf], sample_weight=weights).adjusted_rand
