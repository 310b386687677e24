"""Measurements of a tree on the rows that it explains."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import Rows, refuse_infinite_sum
from boxwood.errors import DataError
from boxwood.explanation._conditions import Rule, cluster_rules_of, rules_of
from boxwood.explanation._evidence import Evidence
from boxwood.explanation._explanation import Explanation
from boxwood.explanation._mixture_facts import mixture_facts
from boxwood.explanation._notes_on_leaves import note_on_goal, notes_on_leaves
from boxwood.explanation._summaries import (
    DrawFacts,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
    clusters_of,
)
from boxwood.grow._grown import Grown
from boxwood.metrics import agreement
from boxwood.metrics._cost import summed_distances
from boxwood.metrics._kernel_cost import KernelSpace
from boxwood.metrics._price import ratio
from boxwood.metrics._readability import readability_at
from boxwood.reference import Reference, Task
from boxwood.reference._centers import objective_code
from boxwood.reference._coordinates import Coordinates
from boxwood.theory.bounds import random_cuts_price_bound
from boxwood.tree import ThresholdTree

__all__ = ["Costs", "costs_of", "draws_of", "measure"]


def measure(task: Task, grown: Grown, coordinates: Coordinates) -> Explanation:
    """Return the explanation by a tree on the columns of a table; costs are measured in the columns that grew the tree.

    The clusters' names must be text or numbers; see `renamed`.
    """
    tree, reference, weights = grown.tree, task.reference, task.rows.weights
    refuse_infinite_sum(weights)
    leaf = tree.apply(coordinates.table, n_jobs=task.n_jobs)
    predicted = np.where(reference.kept, tree.leaf_clusters[leaf], -1)
    costs = costs_of(task, grown, predicted, coordinates.measured)
    said = tree, coordinates.columns, coordinates.categories
    leaves = _leaves(tree, leaf, reference, weights, rules_of(*said))
    sizes = _sums(reference.labels, reference.kept, weights, reference.n_clusters)
    clusters = clusters_of(leaves, reference.names, sizes, cluster_rules_of(*said, reference.n_clusters))
    return Explanation(
        tree=tree,
        columns=coordinates.columns,
        method=grown.method,
        n_rows=len(task.rows),
        n_left_out=int((~reference.kept).sum()),
        clusters=clusters,
        leaves=leaves,
        cost=costs.tree,
        reference_cost=costs.reference,
        price=costs.price,
        agreement=sum(one.own for one in leaves) / sum(one.size for one in leaves),
        adjusted_rand=agreement(reference.labels, predicted, sample_weight=weights).adjusted_rand,
        readability=readability_at(tree, leaf, task.kept_weights),
        weighted=weights is not None,
        standardized=coordinates.scaling is not None,
        notes=(
            *grown.notes,
            *coordinates.notes,
            *notes_on_leaves(
                clusters,
                leaves,
                lambda cluster: _ruled(predicted, reference, weights, cluster),
                weighted=weights is not None,
                more_may_help=tree.n_leaves >= task.leaves() and not task.budget.limits_shape,
            ),
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
        both = (summed_distances(rows.values, groups, code, None, rows.weights) for groups in (predicted, labels))
        return Costs(*both)
    space = KernelSpace(rows, grown.kernel, n_jobs=task.n_jobs)
    most = space.diagonal if rows.weights is None else rows.weights * space.diagonal
    return Costs(space.cost(predicted, k), space.cost(labels, k), float(most[task.reference.kept].sum()))


def draws_of(grown: Grown, k: int) -> DrawFacts | None:
    """Return the facts on all random trees, if there were any."""
    if "prices" not in grown.facts:
        return None
    prices = grown.facts["prices"]
    variant = grown.facts["variant"]
    bound = random_cuts_price_bound(k, objective=grown.objective, variant=variant).value
    return DrawFacts(len(prices), float(prices.min()), float(prices.mean()), float(prices.max()), float(bound))


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


def _leaves(
    tree: ThresholdTree,
    leaf: Indices,
    reference: Reference,
    weights: Floats | None,
    rules: list[Rule],
) -> tuple[LeafSummary, ...]:
    own = tree.leaf_clusters[leaf] == reference.labels  # always False for a row left out
    sizes = _sums(leaf, reference.kept, weights, tree.n_leaves)
    owns = _sums(leaf, own, weights, tree.n_leaves)
    noise = np.bincount(leaf[~reference.kept], minlength=tree.n_leaves).tolist()
    return tuple(map(LeafSummary, range(tree.n_leaves), tree.leaf_clusters.tolist(), sizes, owns, rules, noise))


def _ruled(predicted: Indices, reference: Reference, weights: Floats | None, cluster: int) -> Array:
    """Return the number, or the weight, of the rows of a cluster that are ruled to be in each cluster, shape (k,)."""
    own = reference.labels == cluster
    return np.bincount(predicted[own], None if weights is None else weights[own], minlength=reference.n_clusters)


def _sums(group: Array, which: Bools, weights: Floats | None, n_groups: int) -> list[float]:
    """Return the number, or the weight, of the rows chosen in each group."""
    sums: list[float] = np.bincount(
        group[which], None if weights is None else weights[which], minlength=n_groups
    ).tolist()
    return sums
