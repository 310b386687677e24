"""What an explanation tells of its leaves, its clusters and its method, as named fields."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from boxwood.explanation._conditions import Rule

__all__ = [
    "ClusterSummary",
    "DrawFacts",
    "FarFromGaussian",
    "KernelFacts",
    "LeafSummary",
    "MixtureFacts",
    "clusters_of",
    "leaves_of",
    "ruled_by",
]


class LeafSummary(NamedTuple):
    """A leaf with its rule.

    `size` is its number of rows, and `own` the number of those that belong to its cluster. Both are sums of weights if
    rows are weighted. `noise` is the number of rows left out (label -1) that fulfil its rule, whatever their weight;
    None for a model that was saved before this was counted.
    """

    leaf: int
    cluster: int
    size: float
    own: float
    rule: Rule
    noise: int | None = None


class ClusterSummary(NamedTuple):
    """A cluster with its rules, and how well they describe it.

    `size` is its number of rows (their weight, if rows are weighted). `share` is the fraction of all rows that are in
    it, without rows left out. `ruled` is the number (or weight) of rows that its rules take, of whichever cluster,
    without rows left out. `caught` is the fraction of the cluster's rows that its rules hold; None for a cluster
    without rows.
    `precision` is the fraction of the rules' rows that are in the cluster; None if the rules hold no row.
    `rules` together hold the rows of the cluster's leaves, in the fewest conditions that were found, the shortest rule
    first. They may overlap, and are none for a cluster without a leaf. `Explanation.leaves` has the rule of each leaf.
    """

    cluster: int
    name: Hashable
    size: float
    share: float
    ruled: float
    caught: float | None
    precision: float | None
    rules: tuple[Rule, ...]


class FarFromGaussian(NamedTuple):
    """A component whose rows are not Gaussian along a column, and how: "heavy-tailed", "skewed" or "two-humped"."""

    component: Hashable
    column: str
    verdict: str


class MixtureFacts(NamedTuple):
    """Facts on a tree that follow from the parameters of a Gaussian mixture. Like the parameters, they are estimates.

    Parameters
    ----------
    explainability_to_noise : float
        For a pair of components: the squared distance of their means in units of the variance, on the column that
        separates the pair best. The ratio is the smallest such value of all pairs. Infinite for components without
        variance.
    components : pair
        Names of the pair with the smallest value.
    column : str
        The column that separates that pair best.
    certified_error : float
        Upper bound on the share of rows drawn from these Gaussians that end in a leaf of another component. It is
        exact if columns are independent within components.
    far_from_gaussian : tuple of FarFromGaussian
        Components that `metrics.tail_check` finds far from Gaussian on a column that bounds one of their leaves.
    """

    explainability_to_noise: float
    components: tuple[Hashable, Hashable]
    column: str
    certified_error: float
    far_from_gaussian: tuple[FarFromGaussian, ...]


class DrawFacts(NamedTuple):
    """Facts on the random trees of which the explanation has the cheapest.

    Parameters
    ----------
    n_trees : int
        Number of trees drawn.
    best, mean, worst : float
        Smallest, mean and largest cost of the trees, divided by the cost of the clusters. Both costs are sums of
        distances to the clusters' centres.
    bound : float or None
        Upper bound on the expected cost of one random tree, divided by that of the clusters, for any data. None where
        columns are kept from the cuts (`forbidden`, `max_columns`): costs count these columns, and have no bound then.
    """

    n_trees: int
    best: float
    mean: float
    worst: float
    bound: float | None


class KernelFacts(NamedTuple):
    """A kernel, and the highest price in its feature space: a price is to be compared with it.

    Parameters
    ----------
    kernel : str
        The kernel, with its bandwidth.
    price_ceiling : float
        The highest price that any tree could have. If it is near 1, a price near 1 says nothing.
    """

    kernel: str
    price_ceiling: float


def leaves_of(leaves: Iterable[LeafSummary], n_clusters: int) -> list[list[LeafSummary]]:
    """Return the leaves of each cluster."""
    groups: list[list[LeafSummary]] = [[] for _ in range(n_clusters)]
    for leaf in leaves:
        groups[leaf.cluster].append(leaf)
    return groups


def ruled_by(leaves: Iterable[LeafSummary]) -> float:
    """Return the number, or the weight, of the rows in some leaves."""
    return sum(leaf.size for leaf in leaves)


def clusters_of(
    leaves: Sequence[LeafSummary], names: Sequence[Hashable], sizes: Sequence[float], rules: Sequence[tuple[Rule, ...]]
) -> tuple[ClusterSummary, ...]:
    """Return the clusters; IN: leaves of all; names, sizes, rules: of each cluster."""
    total = sum(sizes)
    return tuple(
        ClusterSummary(
            cluster=i,
            name=name,
            size=size,
            share=size / total,
            ruled=ruled_by(own),
            caught=_share(sum(leaf.own for leaf in own), size),
            precision=_share(sum(leaf.own for leaf in own), ruled_by(own)),
            rules=rules[i],
        )
        for i, (name, size, own) in enumerate(zip(names, sizes, leaves_of(leaves, len(sizes)), strict=True))
    )


def _share(part: float, whole: float) -> float | None:
    return min(part / whole, 1.0) if whole else None  # rounding can put a sum of weights above the whole
