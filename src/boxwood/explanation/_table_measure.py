"""The facts of an explanation by a tree on a table in batches, made of what passes have told."""

from __future__ import annotations

import numpy as np

from boxwood._types import Array, Floats
from boxwood.axes import Categories
from boxwood.explanation._conditions import cluster_rules_of, rules_of
from boxwood.explanation._explanation import Explanation
from boxwood.explanation._held import confusion_in, leaves_holding
from boxwood.explanation._measure import Costs, draws_of
from boxwood.explanation._notes_on_leaves import note_on_baseline, note_on_goal, notes_on_leaves
from boxwood.explanation._spreads import Spread
from boxwood.explanation._summaries import clusters_of
from boxwood.explanation._table_evidence import TableEvidence
from boxwood.explanation._table_facts import TableFacts
from boxwood.grow._grown import Grown
from boxwood.metrics._agreement import agreement_of
from boxwood.metrics._readability import readability_of
from boxwood.passes._overview import Overview
from boxwood.passes._tree_sums import TreeSums

__all__ = ["explanation_of"]

_LARGEST_NUMBER = 1e15  # as in the agreement of rows in memory


def explanation_of(facts: TableFacts, grown: Grown, sums: TreeSums, cost: float) -> Explanation:
    """Return the explanation by a tree, as `measure` does for rows in memory.

    IN: grown: with the final tree; sums, cost: what was measured of it, or of a tree that sends each row to the same
    leaf.
    """
    task, tree, held = facts.task, grown.tree, sums.held
    columns, names = task.batches.columns, task.reference.names
    categories: dict[int, Categories] = {}
    said = tree, columns, categories
    leaves = leaves_holding(tree, held, sums.noise, rules_of(*said))
    clusters = clusters_of(leaves, names, held.sum(axis=0).tolist(), cluster_rules_of(*said, facts.k))
    confusion = confusion_in(held, tree)
    costs = Costs(cost, facts.cost_of_clusters)
    more_may_help = tree.n_leaves >= task.leaves() and not task.budget.limits_shape
    notes = notes_on_leaves(
        clusters, leaves, lambda cluster: confusion[cluster], weighted=facts.weighted, more_may_help=more_may_help
    )
    agreed = sum(one.own for one in leaves) / sum(one.size for one in leaves)
    return Explanation(
        tree=tree,
        columns=columns,
        method=grown.method,
        n_rows=task.overview.n_rows,
        n_left_out=int(sums.noise.sum()),
        clusters=clusters,
        leaves=leaves,
        cost=costs.tree,
        reference_cost=costs.reference,
        price=costs.price,
        agreement=agreed,
        adjusted_rand=agreement_of(_as_numbers_of_rows(confusion, task.overview)).adjusted_rand,
        readability=readability_of(tree, held.sum(axis=1)),
        weighted=facts.weighted,
        standardized=facts.scale is not None,
        notes=(*grown.notes, *notes, *note_on_baseline(clusters, agreed), *note_on_goal(grown.method, costs.price)),
        objective=grown.objective,
        draws=draws_of(grown, facts.k),
        search=grown.facts.get("search"),
        _table=TableEvidence(task, held, facts),
        _kept={"spreads": _spreads(facts, sums)},
    )


def _as_numbers_of_rows(table: Array, overview: Overview) -> Floats:
    """Return weights scaled to a mean of 1 for each row, unless they are whole; see `boxwood.metrics.agreement`."""
    if overview.all_whole and overview.heaviest <= _LARGEST_NUMBER:
        return table.astype(np.float64)
    scaled: Floats = table / table.max()
    return np.asarray(scaled * (overview.n_kept / scaled.sum()))


def _spreads(facts: TableFacts, sums: TreeSums) -> dict[int, Spread]:
    """Return the spread of each column that the tree tests, as `why` needs it."""
    return {
        j: Spread(facts.spreads.deviation(j) or 1.0, not sums.broken_of_kept[j]) for j in sums.tree.features.tolist()
    }
