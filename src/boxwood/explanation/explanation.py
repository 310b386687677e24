"""`Explanation`: a tree, and its measurements on data, as named fields."""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from inspect import isfunction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boxwood._frames import names_array, names_or_none
from boxwood._types import Array, Indices
from boxwood.axes import Categories
from boxwood.explanation._written import Drawn, Programs, Written
from boxwood.explanation.apply.rows import leaves_of_rows
from boxwood.explanation.measure.evidence import BOOLEAN, Evidence
from boxwood.explanation.records import (
    Basis,
    BudgetFacts,
    ClusterSummary,
    DrawFacts,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
    SearchFacts,
    cluster_rules_of,
    rules_of,
)
from boxwood.explanation.verbs import Applied, Regrown, frame_with_leaves
from boxwood.tree import ThresholdTree
from boxwood.tree.on_frames import is_on_machines

if TYPE_CHECKING:
    from boxwood.explanation.measure.facts import TableEvidence
    from boxwood.explanation.records import HeldOut
    from boxwood.metrics.reading import Readability

__all__ = ["Explanation", "load", "with_booleans"]


@dataclass(frozen=True, repr=False)
class Explanation(Written, Programs, Regrown, Applied, Drawn):
    """A tree that explains a clustering, and the loss of explaining it so; made by `explain`, or read by `load`.

    Printing it shows a line for each cluster and one sentence on the loss. It refers to the rows that it was measured
    on, so that more can be measured when asked for. A model file and a pickle hold no rows.

    Parameters
    ----------
    tree : ThresholdTree
        The tree that `predict` runs. Its feature j is the column j of `columns`.
    columns : tuple of d str
        Columns of the table.
    method : str
        How the tree was grown: a name of `grow.METHODS`, with additions if "auto" chose it, which the printed
        explanation says in words. "cart-entropy", "regression-centers" and "regression-rows" are trees by other
        impurities, "optimal" is the cheapest of all trees. "-root" marks an expansion from a single leaf, "-exkmc" or
        "-expand" one of a tree with a leaf for each cluster. Steps follow after commas: ", matched" (leaves assigned to
        clusters anew), ", pruned" (over-grown and pruned back), ", refined" (cuts chosen anew), ", resolved" (small
        subtrees solved exactly), ", swapped" (leaves moved). An example is "greedy-exkmc, refined".
    n_rows, n_left_out : int
        Number of rows of the table, and number of those in no cluster: labelled -1, or without a value that they need.
    clusters : tuple of k ClusterSummary
        In the order of the clusters' numbers.
    leaves : tuple of LeafSummary
        In the order of the leaves.
    cost, reference_cost : float
        Within-cluster sums of distances to the best centres: for the tree's groups of rows, and for the clusters. Rows
        left out do not count. `objective` and `kernel` say which distances are used.
    price : float
        Price of explainability, `cost / reference_cost`. 0/0 counts as 1. It may be below 1 or infinite.
    agreement : float
        Share of rows whose rule names their cluster, without rows left out. `baseline` is that of the largest cluster
        alone.
    adjusted_rand : float
        Adjusted Rand index between the clusters and the tree's groups of rows.
    readability : Readability
        Numbers of leaves, depth and columns; depth and length of rules, averaged over rows.
    weighted : bool
        Whether rows were weighted. Sizes, shares and costs then count weights instead of rows.
    standardized : bool
        Whether rows were clustered and costs measured on columns scaled to unit variance. Thresholds are in raw units.
        If costs were measured in the columns of a pipeline, a note says so.
    notes : tuple of str
        Further remarks for the reader, such as clusters without a leaf.
    mixture : MixtureFacts, default=None
        Facts from the Gaussians, if a Gaussian mixture is explained or "mmdt" grew the tree.
    categories : tuple of pairs (column, Categories)
        Columns without numbers, and their values. The tree tests codes that stand for these values. A column of
        booleans that the tree tests has the values False and True, whose codes are 0 and 1.
    objective : {"sqeuclidean", "l1", "l2"}, default="sqeuclidean"
        Distance that costs add up. For "random_cuts" it is the distance for which cuts were drawn.
    kernel : KernelFacts, default=None
        Kernel, if costs are measured in its feature space. None says that they are measured in the columns.
    draws : DrawFacts, default=None
        Facts on all random trees, if "random_cuts" grew the tree.
    search : SearchFacts, default=None
        What "auto" did to find the tree; None for a method asked for by name.
    held_out : HeldOut, default=None
        Agreement and price on rows that were not used to grow, if `explain` was asked to `validate`.
    budget : BudgetFacts, default=None
        Limits that were set for the rules, and the number of rows that rounding thresholds moved; None without limits.
    basis : Basis, default=None
        Source, date, version, where the clusters come from, columns left out and why; None where that is not known.

    Examples
    --------
    >>> import boxwood
    >>> ages, labels = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["new", "loyal", "loyal", "new", "new"]
    >>> print(boxwood.explain(ages, labels, columns=["age"], max_leaf_nodes=3, objective="agreement"))
    2 clusters of 5 rows, explained by 3 leaves on 1 of 1 column
    <BLANKLINE>
           size  share  matched   found  precision  rule
    loyal     2  40.0%        2  100.0%     100.0%  30 < age <= 50
    new       3  60.0%        3  100.0%     100.0%  age <= 30 or age > 50
    <BLANKLINE>
    The rules agree with the clusters on 100.0% of rows (always new: 60.0%).
    Grown by IMM, more leaves by Expand.
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
    search: SearchFacts | None = None
    held_out: HeldOut | None = None
    budget: BudgetFacts | None = None
    basis: Basis | None = field(default=None, compare=False)  # as the same tree may be made on two days
    _evidence: Evidence | None = field(default=None, compare=False)
    _table: TableEvidence | None = field(default=None, compare=False)  # instead of the evidence, of rows in batches
    _kept: dict[str, Any] = field(default_factory=dict, compare=False)  # what was measured when asked for, by its name

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
    def n_incomplete(self) -> int:
        """Number of rows that were left out because they lack a value that the clustering or the rules look at."""
        return 0 if self.noise is None else self.n_left_out - sum(self.noise)

    @property
    def baseline(self) -> float:
        """Agreement of giving every row to the largest cluster: `agreement` says something as far as it is above."""
        return max(cluster.share for cluster in self.clusters)

    @property
    def noise(self) -> tuple[int, ...] | None:
        """Number of rows left out (label -1) that the rules of each cluster take, whatever their weight.

        They add up to `n_left_out` less `n_incomplete`. None for a model that was saved before this was counted.
        """
        taken = [0] * self.n_clusters
        for leaf in self.leaves:
            if leaf.noise is None:
                return None
            taken[leaf.cluster] += leaf.noise
        return tuple(taken)

    @property
    def coded_columns(self) -> dict[int, Categories]:
        """Index of each column without numbers, and the categories whose codes the tree tests."""
        column_categories = dict(self.categories)
        return {j: column_categories[name] for j, name in enumerate(self.columns) if name in column_categories}

    def predict(self, X: Any, *, missing: Literal["error", "none"] = "error") -> Array:
        """Return the name of the cluster of each row, shape (n,); reads `X` as `apply` does.

        With `missing="none"` a row without a cluster has -1 if all names are numbers of one type. Otherwise the array
        is one of objects, and such a row has None.

        For a data frame of Spark or Dask comes the same frame with one more column, "cluster" ("cluster_1" if there is
        one, and so on), which its workers compute when the frame is. Names become text, unless all are whole numbers,
        all floats or all booleans. With `missing="none"` a row without a cluster has NULL; otherwise computing fails.
        """
        if is_on_machines(X):
            values = tuple(self.names[cluster] for cluster in self.tree.leaf_clusters.tolist())
            return frame_with_leaves(self, X, values, missing, "cluster")  # type: ignore[no-any-return]
        names = names_array(self.names) if missing == "error" else names_or_none(self.names)
        # a row without a leaf has leaf -1, the last one, and the name behind all others
        clusters = np.append(self.tree.leaf_clusters, len(self.names))
        found: Array = names[clusters[self.apply(X, missing=missing)]]
        return found

    def apply(self, X: Any, *, missing: Literal["error", "none"] = "error") -> Indices:
        """Return the leaf of each row, shape (n,).

        A data frame is read by the names of its columns, in any order; only columns that the tree tests are needed. An
        array has the columns of `columns`, in their order. A data frame of Spark or Dask gets a column "leaf".

        A row has no leaf if a value that it is asked for on its way down the tree is missing: None, NaN, null, or the
        NA of pandas. The same holds for a category that was never seen, unless the clusterer's encoder accepted unknown
        values. Other values of the row do not matter. `boxwood predict` and the SQL of `render.sql` leave the same rows
        without a cluster.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        missing : {"error", "none"}, default="error"
            What to do with rows that have no leaf: refuse all rows, or return -1 for these.

        Raises
        ------
        DataError
            If a column is not numeric or is not in the frame (the message offers the nearest name), or with
            `missing="error"` if a row has no leaf.
        ValueError
            If `missing` is another word.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"], columns=["age"])
        >>> ex.predict([[3.0], [None]], missing="none"), ex.apply([[3.0], [None]], missing="none")
        (array(['low', None], dtype=object), array([ 0, -1]))
        """
        if is_on_machines(X):
            return frame_with_leaves(self, X, range(self.n_leaves), missing, "leaf")  # type: ignore[no-any-return]
        return leaves_of_rows(self.tree, self.columns, self.coded_columns, X, missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the model file as a dict that JSON can hold: columns, clusters, nodes and facts, with a format number.

        Its rules are text for readers. Only its nodes are used to label rows.
        """
        from boxwood.explanation.keep.model_file import to_document

        return to_document(self)

    def to_json(self) -> str:
        """Return the model file; `from_json` gives an equal explanation."""
        from boxwood.explanation.keep.model_file import to_text

        return to_text(self)

    @classmethod
    def from_json(cls, s: str) -> Explanation:
        """Return the explanation that `to_json` wrote.

        Raises
        ------
        ModelError
            If the text is not a boxwood model, or one of a newer format.
        """
        from boxwood.explanation.keep.model_file import from_text

        return from_text(s, "this text")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, for `load`. A file at `path` is replaced as a whole, or stays if writing fails."""
        from boxwood.explanation.keep.model_file import write

        write(self, path)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle, without rows, but with the spreads of columns that `why` needs."""
        self._spreads()
        return self.__dict__ | {"_evidence": None, "_table": None}

    def __copy__(self) -> Explanation:
        """Return a copy that knows the same rows; the state for a pickle would leave them behind."""
        return replace(self, _kept=dict(self._kept))

    def __deepcopy__(self, memo: dict[int, Any]) -> Explanation:
        """Return a copy of everything but the rows, which both share: nothing changes them."""
        shared = {"_evidence", "_table", "_kept"}
        fields = {name: deepcopy(value, memo) for name, value in self.__dict__.items() if name not in shared}
        return replace(self, **fields, _kept=dict(self._kept))

    def __str__(self) -> str:
        from boxwood.render import text

        return text(self)

    def __repr__(self) -> str:
        return (
            f"Explanation(n_clusters={self.n_clusters}, n_leaves={self.n_leaves}, method={self.method!r}, "
            f"price={self.price:.4g}, agreement={self.agreement:.4g})"
        )


for _part in Explanation.__mro__[1:-1]:
    for _name, _method in vars(_part).items():
        if isfunction(_method):  # a TypeError for its arguments names the class that users know
            _method.__qualname__ = f"Explanation.{_name}"


def with_booleans(explanation: Explanation, columns: Collection[str]) -> Explanation:
    """Return the explanation with rules that say `member` and `not member` for columns of booleans.

    The tree tests such a column as 0 and 1, which are the codes of False and True.
    """
    if explanation._evidence is not None and columns:
        evidence = replace(explanation._evidence, booleans=tuple(columns))
        explanation = replace(explanation, _evidence=evidence)
    if explanation._table is not None and columns:
        explanation = replace(explanation, _table=replace(explanation._table, booleans=tuple(columns)))
    coded = explanation.coded_columns
    tested = [j for j in map(int, explanation.tree.features) if j not in coded and explanation.columns[j] in columns]
    if not tested:
        return explanation
    coded |= dict.fromkeys(tested, BOOLEAN)
    of_leaves = rules_of(explanation.tree, explanation.columns, coded)
    of_clusters = cluster_rules_of(explanation.tree, explanation.columns, coded, explanation.n_clusters)
    return replace(
        explanation,
        categories=tuple((explanation.columns[j], coded[j]) for j in sorted(coded)),
        leaves=tuple(leaf._replace(rule=rule) for leaf, rule in zip(explanation.leaves, of_leaves, strict=True)),
        clusters=tuple(
            cluster._replace(rules=rules) for cluster, rules in zip(explanation.clusters, of_clusters, strict=True)
        ),
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
    from boxwood.explanation.keep.model_file import read

    return read(path)
