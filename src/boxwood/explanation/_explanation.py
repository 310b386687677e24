"""`Explanation`: a tree, and what was measured of it on data, as named fields."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from boxwood._frames import is_frame, names_array
from boxwood._types import Array, Floats, Indices
from boxwood._validation import listed
from boxwood.axes import Categories
from boxwood.axes._table_map import coded
from boxwood.errors import DataError
from boxwood.tree import Interval, ThresholdTree

if TYPE_CHECKING:
    from boxwood.metrics._readability import Readability

__all__ = [
    "ClusterSummary",
    "Condition",
    "DrawFacts",
    "Explanation",
    "FarFromGaussian",
    "KernelFacts",
    "LeafSummary",
    "MixtureFacts",
    "Rule",
    "load",
]

_EVERY_NUMBER = (Interval(-np.inf, np.inf, True, True),)


class Condition(NamedTuple):
    """What one column must fulfil: its value lies in one of the intervals, which are ascending and disjoint.

    For a column of `categories` the intervals are those of their codes, one for each code.
    """

    column: str
    intervals: tuple[Interval, ...]
    categories: Categories | None = None


Rule: TypeAlias = tuple[Condition, ...]
"""The conditions of one leaf, all of which hold, in the order in which the path first tests their columns."""


class LeafSummary(NamedTuple):
    """A leaf: its rows (their weight, if rows are weighted), how many of them are its cluster's own, and its rule."""

    leaf: int
    cluster: int
    size: float
    own: float
    rule: Rule


class ClusterSummary(NamedTuple):
    """A cluster that is explained, and how well.

    `size` is its number of rows (their weight, if rows are weighted) and `share` their share of all rows that are not
    left out. `caught` is the share of the cluster that its rules hold, None for a cluster without rows. `precision` is
    the share of the rules' rows that are the cluster's, None where the rules hold no row. `rules` has one rule for each
    leaf of the cluster, in the order of the leaves; none for a cluster without a leaf.
    """

    cluster: int
    name: Hashable
    size: float
    share: float
    caught: float | None
    precision: float | None
    rules: tuple[Rule, ...]


class FarFromGaussian(NamedTuple):
    """A component whose rows are not those of a Gaussian along a column: "heavy-tailed", "skewed" or "two-humped"."""

    component: Hashable
    column: str
    verdict: str


class MixtureFacts(NamedTuple):
    """What the parameters of a Gaussian mixture say about a tree. They are estimated, and so is what follows from them.

    Parameters
    ----------
    explainability_to_noise : float
        Squared distance of two means in units of the variance, on the column that tells the pair apart best, for the
        pair that is hardest to tell apart. Infinite for components without variance.
    components : pair
        Names of that pair.
    column : str
        That column.
    certified_error : float
        At most this share of rows drawn from these Gaussians ends in a leaf of another component. Exact where columns
        are independent within components, and an upper bound where they are not.
    far_from_gaussian : tuple of FarFromGaussian
        Components that `metrics.tail_check` finds far from Gaussian on columns that bound a leaf of theirs.
    """

    explainability_to_noise: float
    components: tuple[Hashable, Hashable]
    column: str
    certified_error: float
    far_from_gaussian: tuple[FarFromGaussian, ...]


class DrawFacts(NamedTuple):
    """What is known of random trees, of which the explanation has the cheapest.

    Parameters
    ----------
    n_trees : int
        Number of trees drawn.
    best, mean, worst : float
        Their costs divided by that of the clusters, both around the clusters' centres.
    bound : float
        What the expectation of one of them is at most, for any data.
    """

    n_trees: int
    best: float
    mean: float
    worst: float
    bound: float


class KernelFacts(NamedTuple):
    """What a price in the feature space of a kernel must be read with.

    Parameters
    ----------
    kernel : str
        The kernel, with its bandwidth.
    price_ceiling : float
        What the price could be at most, whatever the tree. A price near 1 says nothing where this is near 1.
    """

    kernel: str
    price_ceiling: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """A tree that explains a clustering, and what is lost by it; made by `explain`, or read by `load`.

    Printing it shows a line for each cluster and one sentence on the loss. It holds no rows of the table.

    Parameters
    ----------
    tree : ThresholdTree
        The tree that runs, on `columns` in their order.
    columns : tuple of d str
        Columns of the table.
    method : str
        What grew the tree: a name of `grow.METHODS`. "-root" follows for expansions from a single leaf, and the name of
        an expansion for trees with more leaves than clusters; ", matched" where leaves were handed out to clusters
        anew, and ", refined" where cuts were chosen anew. An example is "greedy-exkmc, refined".
    n_rows, n_left_out : int
        Rows of the table, and how many of these belong to no cluster (label -1).
    clusters : tuple of k ClusterSummary
        In the order of the clusters' numbers.
    leaves : tuple of LeafSummary
        In the order of the leaves.
    cost, reference_cost : float
        Within-cluster sums of distances to the best centres: of the groups that the tree makes, and of the clusters.
        Rows left out do not count. `objective` and `kernel` say which distances.
    price : float
        Price of explainability, `cost / reference_cost`; 0/0 is 1, and it may be below 1 or infinite.
    agreement : float
        Share of the rows, without those left out, whose rule names their cluster.
    adjusted_rand : float
        Adjusted Rand index between the clusters and the groups that the tree makes.
    readability : Readability
        Numbers of leaves, depth and columns; depth and length of rules, averaged over rows.
    weighted : bool
        Whether rows were weighted; sizes, shares and costs are then those of weights.
    standardized : bool
        Whether rows were clustered and costs measured on columns of unit variance. Thresholds are in raw units. Costs
        that are measured in the columns of a pipeline have a note.
    notes : tuple of str
        What a reader should know besides, such as clusters without a leaf.
    mixture : MixtureFacts, default=None
        What the Gaussians say of the tree, where a Gaussian mixture is explained or "mmdt" grew the tree.
    categories : tuple of pairs (column, Categories)
        Columns that hold no numbers, and the values whose codes the tree tests in their place.
    objective : {"sqeuclidean", "l1", "l2"}, default="sqeuclidean"
        Distance that costs add up. Random cuts are measured by the distance they were drawn for.
    kernel : KernelFacts, default=None
        Kernel in whose feature space costs are measured; None measures them in the columns.
    draws : DrawFacts, default=None
        What is known of the trees drawn, where "random_cuts" grew the tree.

    Examples
    --------
    >>> import boxwood
    >>> ages, labels = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["new", "loyal", "loyal", "new", "new"]
    >>> print(boxwood.explain(ages, labels, columns=["age"], max_leaf_nodes=3))
    2 clusters of 5 rows, explained by 3 leaves on 1 of 1 column
    <BLANKLINE>
           size  share  caught  precision  rule
    loyal     2  40.0%  100.0%     100.0%  30 < age <= 50
    new       3  60.0%  100.0%     100.0%  age <= 30 or age > 50
    <BLANKLINE>
    The rules agree with the clusters on 100.0% of rows; within-cluster cost is 1.00 times that of the clusters
    (price of explainability).
    """

    tree: ThresholdTree
    columns: tuple[str, ...]
    method: str
    n_rows: int
    n_left_out: int
    clusters: tuple[ClusterSummary, ...]
    leaves: tuple[LeafSummary, ...]
    cost: float
    reference_cost: float
    price: float
    agreement: float
    adjusted_rand: float
    readability: Readability
    weighted: bool
    standardized: bool
    notes: tuple[str, ...]
    mixture: MixtureFacts | None = None
    categories: tuple[tuple[str, Categories], ...] = ()
    objective: str = "sqeuclidean"
    kernel: KernelFacts | None = None
    draws: DrawFacts | None = None

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Name of each cluster; labels that are numbers stay numbers."""
        return tuple(cluster.name for cluster in self.clusters)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.clusters)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.tree.n_leaves

    @property
    def coded_columns(self) -> dict[int, Categories]:
        """Place of each column that holds no numbers, and the categories whose codes the tree tests there."""
        known = dict(self.categories)
        return {j: known[name] for j, name in enumerate(self.columns) if name in known}

    def predict(self, X: Any) -> Array:
        """Return the name of the cluster of each row, shape (n,); reads `X` as `apply` does."""
        return names_array(self.names)[self.tree.leaf_clusters[self.apply(X)]]

    def apply(self, X: Any) -> Indices:
        """Return the leaf of each row, shape (n,).

        A data frame is read by the names of its columns, in any order; only columns that the tree tests are needed. An
        array has the columns of the training table, in their order. A value that the tree's categories do not
        know is refused, unless the encoder took it.

        Raises
        ------
        DataError
            If a column is missing (with the nearest name) or not numeric, or a tested value is missing.
        """
        features = self.tree.features.tolist()
        categories = {j: known for j, known in self.coded_columns.items() if j in features}
        if is_frame(X):
            here = {features.index(j): known for j, known in categories.items()}
            tested = coded(X, [self.columns[j] for j in features], here)
            self._refuse_without_code(tested[:, list(here)], categories)
            return _on_tested_columns(self.tree).apply(tested)
        rows = np.asarray(X)
        if rows.ndim == 2 and rows.shape[1] != len(self.columns):
            raise DataError(f"X has {rows.shape[1]} columns, but {len(self.columns)} are expected")
        if categories:
            rows = coded(rows, None, categories, needed=self.tree.features)
            self._refuse_without_code(rows[:, list(categories)], categories)
        return self.tree.apply(rows)

    def _refuse_without_code(self, codes: Floats, categories: Mapping[int, Categories]) -> None:
        for (j, known), column in zip(categories.items(), codes.T, strict=True):
            bad = int(np.isnan(column).sum())
            if bad:
                values = listed([str(value) for value in known.values])
                raise DataError(
                    f"{self.columns[j]} has {bad} values that are missing or none of {values}; leave those rows out"
                )

    def to_dict(self) -> dict[str, Any]:
        """Return the model file as a dict that JSON can hold: columns, clusters, nodes and facts, with a format number.

        The rules in it are text for readers; the nodes are what runs.
        """
        from boxwood.explanation._model_file import to_document

        return to_document(self)

    def to_json(self) -> str:
        """Return the model file; `from_json` gives an equal explanation."""
        from boxwood.explanation._model_file import to_text

        return to_text(self)

    @classmethod
    def from_json(cls, s: str) -> Explanation:
        """Return the explanation that `to_json` wrote.

        Raises
        ------
        ModelError
            If the text is not a boxwood model, or one of a newer format.
        """
        from boxwood.explanation._model_file import from_text

        return from_text(s, "this text")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, for `load`; a file at `path` is replaced as a whole, or kept as it is."""
        from boxwood.explanation._model_file import write

        write(self, path)

    def __str__(self) -> str:
        from boxwood.render import text

        return text(self)

    def __repr__(self) -> str:
        return (
            f"Explanation(n_clusters={self.n_clusters}, n_leaves={self.n_leaves}, method={self.method!r}, "
            f"price={self.price:.4g}, agreement={self.agreement:.4g})"
        )


def load(path: str | os.PathLike[str]) -> Explanation:
    """Return the explanation that `Explanation.save` wrote.

    Raises
    ------
    ModelError
        If the file is not a boxwood model, or one of a newer format.
    OSError
        If there is no such file, or it cannot be read.
    """
    from boxwood.explanation._model_file import read

    return read(path)


def leaves_of(leaves: Iterable[LeafSummary], n_clusters: int) -> list[list[LeafSummary]]:
    """Return the leaves of each cluster."""
    groups: list[list[LeafSummary]] = [[] for _ in range(n_clusters)]
    for leaf in leaves:
        groups[leaf.cluster].append(leaf)
    return groups


def rules_of(tree: ThresholdTree, columns: tuple[str, ...], categories: Mapping[int, Categories]) -> list[Rule]:
    """Return the rule of each leaf; a column that may have any value is no condition."""
    return [
        tuple(_condition(j, pieces, columns, categories) for j, pieces in box.items() if pieces != _EVERY_NUMBER)
        for box in tree.boxes()
    ]


def _condition(
    j: int, pieces: tuple[Interval, ...], columns: tuple[str, ...], categories: Mapping[int, Categories]
) -> Condition:
    if j not in categories:
        return Condition(columns[j], pieces)
    codes = [code for code, _ in categories[j].domain if any(code in piece for piece in pieces)]
    return Condition(columns[j], tuple(Interval(code, code, True, True) for code in codes), categories[j])


def _on_tested_columns(tree: ThresholdTree) -> ThresholdTree:
    """Return the tree for a table that has only the columns that it tests, in ascending order."""
    place = np.full(tree.n_features + 1, -1)  # the last one is for leaves, whose column is -1
    place[tree.features] = np.arange(tree.features.size)
    return ThresholdTree(place[tree.feature], tree.lower, tree.upper, tree.second, tree.cluster)
