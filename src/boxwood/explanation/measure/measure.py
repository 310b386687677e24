"""Measurements of a tree on the rows that it explains."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Indices
from boxwood._validation import list_words, refuse_no_sum
from boxwood.axes import Categories
from boxwood.batches.tree_sums import TreeSums, shortened_of_batches
from boxwood.errors import DataError
from boxwood.explanation.measure.batch_statistics import BatchStatistics
from boxwood.explanation.measure.evidence import Evidence, LeafStatistics
from boxwood.explanation.measure.full_table import FullTableMeasures
from boxwood.explanation.measure.spreads import Spread
from boxwood.explanation.measured_tree import MeasuredTree, with_short_words
from boxwood.explanation.records import (
    ClusterSummary,
    Details,
    DrawFacts,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
    cluster_rules_of,
    clusters_of,
    rules_of,
)
from boxwood.grow.grown import Grown
from boxwood.metrics import explainability_to_noise
from boxwood.metrics.agreements import LARGEST_NUMBER
from boxwood.metrics.costs import cost_of_clusters, ratio, summed_distances
from boxwood.metrics.kernel_costs import KernelSpace
from boxwood.metrics.mixed_costs import cost_of_groups
from boxwood.metrics.mixture_prices import has_independent_axes, reaches
from boxwood.metrics.noise import far_tails
from boxwood.metrics.reading import readability_of
from boxwood.reference import Mixture, Task
from boxwood.reference.centers import objective_code
from boxwood.reference.feature_space import FeatureSpace
from boxwood.tree import ThresholdTree
from boxwood.words.rules import rule
from boxwood.words.values import beside, cluster_name, size

if TYPE_CHECKING:
    from boxwood.reference import Task


def measure(
    task: Task,
    grown: Grown,
    coordinates: FeatureSpace,
    *,
    leaf: Indices | None = None,
    costs: Costs | None = None,
    whole: FullTableMeasures | None = None,
    facts: LeafStatistics | None = None,
) -> MeasuredTree:
    """Return the explanation by a tree on the columns of a table; costs are measured in the columns that grew the tree.

    The clusters' names must be text or numbers; see `renamed`. IN: leaf (n,), costs: of this tree, if they are known;
    whole: what it does in all rows of a table, if these were drawn from it: then that is told; facts: what leaves hold
    of more rows, if these are those that costs can be measured of.
    """
    tree, reference = grown.tree, task.reference
    refuse_no_sum(task.rows.weights)
    if leaf is None:
        leaf = tree.apply(coordinates.table, n_jobs=task.n_jobs)
    if whole is not None:
        facts, costs = whole.facts, Costs(*whole.costs)
    elif facts is None:
        facts = LeafStatistics.of(task, tree, leaf)
    if costs is None:
        costs = costs_of(task, grown, np.where(reference.kept, tree.leaf_clusters[leaf], -1), coordinates)
    gaps = tuple(coordinates.columns[j] for j in coordinates.gaps)
    said = RuleColumns(coordinates.columns, coordinates.categories, coordinates.notes, coordinates.is_scaled, gaps)
    measured = make_explanation(
        task,
        grown,
        facts,
        costs,
        said,
        Details(mixture=_mixture_facts(task, grown, coordinates), binary=binary_columns(tree, coordinates, task.kept)),
        _evidence=Evidence(task, coordinates, leaf, facts.held, kernel=grown.kernel),
    )
    if whole is None:
        return measured
    n_left_out, n_incomplete = measured.n_left_out + whole.n_unruled, whole.n_incomplete
    details = measured.details._replace(n_incomplete=n_incomplete)
    return replace(measured, n_rows=whole.n_rows, n_left_out=n_left_out, details=details)


def binary_columns(tree: ThresholdTree, coordinates: FeatureSpace, kept: Bools) -> tuple[str, ...]:
    """Return the columns of numbers that a tree tests and that hold only 0 and 1, both."""
    tested = [j for j in tree.features.tolist() if j not in coordinates.categories]
    values = ((j, coordinates.table.values[:, j][kept]) for j in tested)
    return tuple(coordinates.columns[j] for j, x in values if ((x == 0) | (x == 1)).all() and x.any() and not x.all())


class RuleColumns(NamedTuple):
    """The columns that rules are said on, those that hold codes, notes on them, whether they were scaled, and gaps."""

    columns: tuple[str, ...]
    categories: Mapping[int, Categories]
    notes: tuple[str, ...] = ()
    scaled: bool = False
    gaps: tuple[str, ...] = ()


def make_explanation(
    task: Task, grown: Grown, facts: LeafStatistics, costs: Costs, said: RuleColumns, details: Details, **more: Any
) -> MeasuredTree:
    """Return the explanation by a tree, from what its leaves hold.

    IN: details: those that leaves do not tell; more: further fields of the explanation.
    """
    tree, columns, categories, k = facts.tree, said.columns, said.categories, task.reference.n_clusters
    gaps = [columns.index(name) for name in said.gaps]
    leaves, confusion = facts.leaves(rules_of(tree, columns, categories, gaps)), facts.confusion
    rules_of_clusters = cluster_rules_of(tree, columns, categories, k, gaps)
    clusters = clusters_of(leaves, task.reference.names, facts.held.sum(axis=0).tolist(), rules_of_clusters)
    agreed = sum(one.own for one in leaves) / sum(one.size for one in leaves)
    return MeasuredTree(
        tree=tree,
        columns=columns,
        method=grown.method,
        n_rows=facts.n_rows,
        n_left_out=int(facts.noise.sum()),
        clusters=clusters,
        leaves=leaves,
        cost=costs.tree,
        reference_cost=costs.reference,
        price=costs.price,
        agreement=agreed,
        adjusted_rand=facts.adjusted_rand,
        readability=readability_of(tree, facts.held.sum(axis=1), categories),
        notes=(
            *grown.told,
            *said.notes,
            *notes_on_leaves(
                clusters, leaves, confusion, weighted=facts.weighted, more_may_help=may_have_more_leaves(tree, task)
            ),
            *note_on_baseline(clusters, agreed),
            *note_on_goal(grown.method, costs.price),
        ),
        details=details._replace(
            weighted=facts.weighted,
            standardized=said.scaled,
            objective=grown.objective,
            categories=tuple((columns[j], those) for j, those in sorted(categories.items())),
            gaps=said.gaps,
            kernel=None if grown.kernel is None else KernelFacts(repr(grown.kernel), costs.ceiling),
            draws=_draws_of(grown, k),
        ),
        search_report=grown.attributes.get("search"),
        **more,
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


def costs_of(task: Task, grown: Grown, predicted: Indices, here: FeatureSpace | None = None) -> Costs:
    """Return the costs of the tree's groups of rows, and of the clusters; `predicted` is -1 for rows left out.

    Costs are those of the method: sums of its distance, or of squared distances in its kernel's feature space. Those of
    a table with categories or gaps are the sums of `mixed_cost`. `here` are the rows of the task in the columns to
    measure in; None takes those on which the tree was grown.
    """
    labels, k = task.reference.labels, task.reference.n_clusters
    if here is not None and here.scales is not None:
        cost = cost_of_groups(here, task.n_jobs)
        return Costs(cost(predicted), cost(np.where(task.kept, labels, -1)))
    rows = task.rows if here is None or here.measured is None else here.measured
    if grown.kernel is None:
        code = objective_code(grown.objective)
        of_tree = summed_distances(rows.values, predicted, code, None, rows.weights)
        return Costs(of_tree, cost_of_clusters(rows, task.reference, code))
    space = KernelSpace(rows, grown.kernel, n_jobs=task.n_jobs)
    most = space.diagonal if rows.weights is None else rows.weights * space.diagonal
    return Costs(space.cost(predicted, k), space.cost(labels, k), float(most[task.reference.kept].sum()))


def _draws_of(grown: Grown, k: int) -> DrawFacts | None:
    """Return the facts on all random trees, if there were any; the bound is proved for cuts on all columns alone."""
    if "prices" not in grown.attributes:
        return None
    prices, bound = grown.attributes["prices"], None
    if grown.attributes["on_all_columns"]:
        from boxwood.theory.bounds import random_cuts_price_bound

        bound = float(random_cuts_price_bound(k, objective=grown.objective, variant=grown.attributes["variant"]).value)
    return DrawFacts(len(prices), float(prices.min()), float(prices.mean()), float(prices.max()), bound)


def _mixture_facts(task: Task, grown: Grown, coordinates: FeatureSpace) -> MixtureFacts | None:
    """Return the facts from the mixture that grew the tree, or else from the mixture behind the clusters.

    On a curved map's columns of growth, Gaussians are none in the table's columns. Where they were not fitted, but have
    the means and variances of the clusters' rows, those of the rows in the table take their place.
    """
    mixture = grown.attributes.get("mixture", task.mixture)
    if mixture is None or coordinates.categories or coordinates.gaps:
        return None
    try:
        of_table = coordinates.to_table(mixture)
        if of_table is None and task.mixture is None:
            of_table = Mixture.of_reference(coordinates.table, task.reference)
    except DataError:  # values too large for their variance, where a map brought them near
        return None
    on_table = replace(task, store=coordinates.table)
    return None if of_table is None else mixture_facts(grown.tree, of_table, coordinates.columns, on_table)


def measured_in_batches(
    task: Task, grown: Grown, *, short_words: bool = False, held: LeafStatistics | None = None
) -> MeasuredTree:
    """Return the explanation by a tree that is there, of rows in batches.

    Takes one pass, or two where rows belong to the nearest centre; seldom one more. IN: short_words: whether words have
    short thresholds, which separate the same rows; seldom takes a pass more; held: what leaves hold of more rows.
    """
    facts = BatchStatistics(task, objective=grown.objective)
    sums = facts.of_trees([grown.tree])[0]
    measured = measured_of_batches(facts, grown, sums, held=held)
    return with_short_words(measured, shortened_of_batches(sums, task.batches)) if short_words else measured


def measured_of_batches(
    facts: BatchStatistics, grown: Grown, sums: TreeSums, cost: float | None = None, held: LeafStatistics | None = None
) -> MeasuredTree:
    """Return the explanation by a tree, as `measure` does for rows in memory.

    IN: grown: with the final tree; sums: what was measured of it, or of a tree that sends each row to the same leaf;
    cost: of the tree, if it is known; held: what leaves hold of more rows than these.
    """
    task, overview = facts.task, facts.task.overview
    whole = overview.all_whole and overview.heaviest <= LARGEST_NUMBER
    known = overview.n_rows, overview.n_kept, facts.weighted, whole
    held = held or LeafStatistics(grown.tree, sums.held, sums.noise, *known)
    costs = Costs(facts.costs_of([sums])[0] if cost is None else cost, facts.cost_of_clusters)
    no_rows = np.empty(0, dtype=np.intp)
    return make_explanation(
        task,
        grown,
        held,
        costs,
        RuleColumns(task.batches.columns, {}, scaled=facts.scale is not None),
        Details(binary=_binary_of_batches(facts, sums)),
        _evidence=Evidence(task, FeatureSpace.in_batches(task.batches), no_rows, held.held, facts, budget=task.budget),
        _kept={"spreads": _spreads(facts, sums)},
    )


def _binary_of_batches(facts: BatchStatistics, sums: TreeSums) -> tuple[str, ...]:
    """Return the columns that a tree tests and that hold only 0 and 1, both."""
    least, most = facts.task.ranges
    tested = sums.tree.features.tolist()
    found = (j for j in tested if not sums.broken_of_kept[j] and (least[j], most[j]) == (0, 1))
    return tuple(facts.task.batches.columns[j] for j in found)


def _spreads(facts: BatchStatistics, sums: TreeSums) -> dict[int, Spread]:
    """Return the spread of each column that the tree tests, as `why` needs it."""
    least, _ = facts.task.ranges
    return {
        j: Spread(facts.spreads.deviation(j) or 1.0, not sums.broken_of_kept[j], bool(least[j] < 0))
        for j in sums.tree.features.tolist()
    }


def mixture_facts(tree: ThresholdTree, mixture: Mixture, columns: Sequence[str], task: Task) -> MixtureFacts:
    """Return facts on a tree from a mixture; IN: task: rows in the same columns, or a sample of them."""
    reference, rows = task.reference, task.rows
    noise = explainability_to_noise(mixture)
    first, second = (reference.names[mixture.clusters[component]] for component in noise.pair)
    tails = far_tails(rows.values, reference.labels, tree, sample_weight=rows.weights, n_jobs=task.n_jobs)
    return MixtureFacts(
        explainability_to_noise=float(noise.value),
        components=(first, second),
        column=columns[noise.axis],
        certified_error=_certified_error(tree, mixture),
        far_from_gaussian=tuple(
            FarFromGaussian(reference.names[tail.component], columns[tail.axis], tail.verdict) for tail in tails
        ),
        fitted=task.mixture is not None,
    )


def _certified_error(tree: ThresholdTree, mixture: Mixture) -> float:
    """Return a bound on the share of rows of these Gaussians that end in a leaf of another cluster.

    If columns are not independent, the probability that a row misses its box is at most a sum over columns: of the
    probabilities that it misses the box's intervals on that column.
    """
    leaves = reaches(mixture, tree)
    owns = [mixture.clusters == cluster for cluster in tree.leaf_clusters]
    if has_independent_axes(mixture):
        wrong = sum(np.where(own, 0.0, leaf.probability) for own, leaf in zip(owns, leaves, strict=True))
        return min(float(mixture.weights @ wrong), 1.0)
    caught = (np.maximum(1 - (1 - leaf.factors).sum(axis=1), 0.0) for leaf in leaves)
    missed = 1 - sum(np.where(own, share, 0.0) for own, share in zip(owns, caught, strict=True))
    return float(np.clip(mixture.weights @ missed, np.finfo(np.float64).eps, 1.0))  # a smaller value is rounding


def may_have_more_leaves(tree: ThresholdTree, task: Task) -> bool:
    """Return whether more leaves may be asked for: the tree has all that it may have, and nothing else limits them."""
    return tree.n_leaves >= task.leaves() and not task.budget.limits_shape


BY_MISTAKES = {"exkmc": "expand", "kernel_exkmc": "kernel_expand"}
"""Methods that lower the cost alone, and those that do the same with mistakes."""
LITTLE = 0.1  # share of what the largest cluster alone leaves wrong; rules that put right less add little
SPELT_OUT = 5  # clusters and leaves that are told one by one


def notes_on_leaves(
    clusters: Sequence[ClusterSummary],
    leaves: Sequence[LeafSummary],
    confusion: Array,
    *,
    weighted: bool,
    more_may_help: bool,
) -> tuple[str, ...]:
    """Return a note for each cluster with rows but without a leaf, and for each leaf with rows but none of its cluster.

    IN: confusion (k, k): number or weight of the rows of each cluster that are ruled to be in each;
    more_may_help: whether the tree has as many leaves as it may have.
    """
    names = [cluster.name for cluster in clusters]
    missing = [cluster for cluster in clusters if cluster.size > 0 and not cluster.rules]
    notes = [_without_leaf(one, names, confusion[one.cluster], weighted) for one in missing[:SPELT_OUT]]
    if more := [cluster_name(one.name) for one in missing[SPELT_OUT:]]:
        notes.append(f"no rule for {list_words(more)} either")
    if missing and more_may_help:
        notes[-1] += "; more leaves may help"
    false = [leaf for leaf in leaves if leaf.size > 0 and leaf.own == 0]
    notes += [
        f"the rule {rule(leaf.rule)} names {cluster_name(names[leaf.cluster])}, but matches no row of it"
        for leaf in false[:SPELT_OUT]
    ]
    if len(false) > SPELT_OUT:
        notes.append(f"{len(false) - SPELT_OUT} more leaves hold no row of the cluster that they name")
    return tuple(notes)


def note_on_goal(method: str, price: float) -> tuple[str, ...]:
    """Return a note where a method lowered the cost below that of the clusters, so that it went away from them."""
    if method not in BY_MISTAKES or not price < 0.995:
        return ()
    return (
        f"method {method} lowers the cost, also where that leads away from the clusters, as these do not minimise it; "
        f"{BY_MISTAKES[method]} keeps to them",
    )


def note_on_baseline(clusters: Sequence[ClusterSummary], agreement: float) -> tuple[str, ...]:
    """Return a note where the rules are hardly better than giving every row to the largest cluster."""
    baseline = max(cluster.share for cluster in clusters)
    if baseline >= 1 or agreement - baseline >= LITTLE * (1 - baseline):
        return ()
    what = "add little" if agreement >= baseline else "are worse than none"
    return (
        f"the rules {what}: they agree on {beside(agreement, baseline)} of rows, and always naming the largest cluster "
        f"on {beside(baseline, agreement)}",
    )


def _without_leaf(cluster: ClusterSummary, names: Sequence[Hashable], where: Array, weighted: bool) -> str:
    others = [cluster_name(names[i]) for i in np.argsort(-where, kind="stable") if where[i] > 0]
    rows = "its row is" if cluster.size == 1 else f"its {cluster.size:,.10g} rows are"
    if weighted:
        rows = f"its rows, of weight {size(cluster.size)}, are"
    return f"no rule for {cluster_name(cluster.name)}: {rows} in the rules of {list_words(others)}"
