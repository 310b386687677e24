"""Notes on clusters without a leaf, on leaves without a row of theirs, on rules that add little, and on goals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from boxwood._types import Array
from boxwood._validation import listed
from boxwood.explanation._summaries import ClusterSummary, LeafSummary
from boxwood.render._figures import percent, size
from boxwood.render._rules import cluster_name, rule

__all__ = ["note_on_baseline", "note_on_goal", "notes_on_leaves"]

BY_MISTAKES = {"exkmc": "expand", "kernel_exkmc": "kernel_expand"}
"""Methods that lower the cost alone, and those that do the same with mistakes."""
LITTLE = 0.1  # share of what the largest cluster alone leaves wrong; rules that put right less add little
SPELT_OUT = 5  # clusters and leaves that are told one by one


def notes_on_leaves(
    clusters: Sequence[ClusterSummary],
    leaves: Sequence[LeafSummary],
    ruled: Callable[[int], Array],
    *,
    weighted: bool,
    more_may_help: bool,
) -> tuple[str, ...]:
    """Return a note for each cluster with rows but without a leaf, and for each leaf with rows but none of its cluster.

    IN: ruled: returns the number or weight of the rows of a cluster that are ruled to be in each cluster, shape (k,);
    more_may_help: whether the tree has as many leaves as it may have.
    """
    names = [cluster.name for cluster in clusters]
    missing = [cluster for cluster in clusters if cluster.size > 0 and not cluster.rules]
    notes = [_without_leaf(one, names, ruled(one.cluster), weighted) for one in missing[:SPELT_OUT]]
    if more := [cluster_name(one.name) for one in missing[SPELT_OUT:]]:
        notes.append(f"no rule either for {listed(more)}")
    if missing and more_may_help:
        notes[-1] += "; more leaves may help"
    false = [leaf for leaf in leaves if leaf.size > 0 and leaf.own == 0]
    notes += [
        f"the rule of {cluster_name(names[leaf.cluster])} that says {rule(leaf.rule)} holds no row of it"
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
        f"the rules {what}: they agree on {percent(agreement)} of rows, and always naming the largest cluster on "
        f"{percent(baseline)}",
    )


def _without_leaf(cluster: ClusterSummary, names: Sequence[Hashable], where: Array, weighted: bool) -> str:
    others = [cluster_name(names[i]) for i in np.argsort(-where, kind="stable") if where[i] > 0]
    rows = "its row is" if cluster.size == 1 else f"its {cluster.size:,.10g} rows are"
    if weighted:
        rows = f"its rows, of weight {size(cluster.size)}, are"
    return f"no rule for {cluster_name(cluster.name)}: {rows} in the rules of {listed(others)}"
