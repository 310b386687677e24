"""What is measured of a tree on the rows that it explains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import listed
from boxwood.axes import Categories
from boxwood.explanation._best import Chosen
from boxwood.explanation._explanation import ClusterSummary, Explanation, LeafSummary, Rule, leaves_of, rules_of
from boxwood.metrics import agreement, partition_cost, readability
from boxwood.metrics._price import ratio
from boxwood.reference import Reference
from boxwood.render._rules import cluster_name
from boxwood.tree import ThresholdTree

__all__ = ["measure"]


def measure(
    chosen: Chosen,
    X: Array,
    space: Array,
    reference: Reference,
    *,
    columns: tuple[str, ...],
    categories: Mapping[int, Categories],
    weights: Floats | None,
    standardized: bool,
) -> Explanation:
    """Return the explanation by a tree on the rows `X`, with costs in `space`, the rows as they were clustered."""
    tree = chosen.tree
    leaf = tree.apply(X)
    predicted = np.where(reference.kept, tree.leaf_clusters[leaf], -1)
    cost = partition_cost(space, predicted, sample_weight=weights)
    reference_cost = partition_cost(space, reference.labels, sample_weight=weights)
    leaves = _leaves(tree, leaf, reference, weights, rules_of(tree, columns, categories))
    clusters = _clusters(leaves, reference, weights)
    return Explanation(
        tree=tree,
        columns=columns,
        method=chosen.method,
        n_rows=len(X),
        n_left_out=int((~reference.kept).sum()),
        clusters=clusters,
        leaves=leaves,
        cost=cost,
        reference_cost=reference_cost,
        price=ratio(cost, reference_cost),
        agreement=sum(one.own for one in leaves) / sum(one.size for one in leaves),
        adjusted_rand=agreement(reference.labels, predicted, sample_weight=weights).adjusted_rand,
        readability=readability(X, tree, sample_weight=_kept_weights(reference, weights)),
        weighted=weights is not None,
        standardized=standardized,
        notes=(*chosen.notes, *_without_leaf(clusters)),
        categories=tuple((columns[j], known) for j, known in sorted(categories.items())),
    )


def _leaves(
    tree: ThresholdTree,
    leaf: Indices,
    reference: Reference,
    weights: Floats | None,
    rules: list[Rule],
) -> tuple[LeafSummary, ...]:
    own = tree.leaf_clusters[leaf] == reference.labels  # never so where a row is left out
    sizes = _sums(leaf, reference.kept, weights, tree.n_leaves)
    owns = _sums(leaf, own, weights, tree.n_leaves)
    return tuple(map(LeafSummary, range(tree.n_leaves), tree.leaf_clusters.tolist(), sizes, owns, rules))


def _clusters(
    leaves: tuple[LeafSummary, ...], reference: Reference, weights: Floats | None
) -> tuple[ClusterSummary, ...]:
    sizes = _sums(reference.labels, reference.kept, weights, reference.n_clusters)
    total = sum(sizes)
    return tuple(
        ClusterSummary(
            cluster=i,
            name=name,
            size=size,
            share=size / total,
            caught=_share(sum(leaf.own for leaf in mine), size),
            precision=_share(sum(leaf.own for leaf in mine), sum(leaf.size for leaf in mine)),
            rules=tuple(leaf.rule for leaf in mine),
        )
        for i, (name, size, mine) in enumerate(zip(reference.names, sizes, leaves_of(leaves, len(sizes)), strict=True))
    )


def _sums(group: Array, which: Bools, weights: Floats | None, n_groups: int) -> list[float]:
    """Return the number, or the weight, of the rows chosen in each group."""
    sums: list[float] = np.bincount(
        group[which], None if weights is None else weights[which], minlength=n_groups
    ).tolist()
    return sums


def _share(part: float, whole: float) -> float | None:
    return min(part / whole, 1.0) if whole else None  # sums of weights in another order may differ in the last digit


def _kept_weights(reference: Reference, weights: Floats | None) -> Floats | None:
    if reference.kept.all():
        return weights
    return np.where(reference.kept, 1.0 if weights is None else weights, 0.0)


def _without_leaf(clusters: tuple[ClusterSummary, ...]) -> tuple[str, ...]:
    counted = [cluster for cluster in clusters if cluster.size > 0]
    missing = [cluster_name(cluster.name) for cluster in counted if not cluster.rules]
    missed = [cluster_name(cluster.name) for cluster in counted if cluster.rules and cluster.caught == 0]
    notes = []
    if missing:
        notes.append(f"no leaf for {len(missing)} of {len(counted)} clusters: {listed(missing)}; more leaves may help")
    if missed:
        notes.append(f"the rules of {listed(missed)} catch none of their rows; more leaves may help")
    return tuple(notes)
