"""`Explanation`: a tree, and its measurements on data, as named fields."""

from __future__ import annotations

import os
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from boxwood.explanation._written import Drawn, Programs, Written

if TYPE_CHECKING:
    pass


class Explanation(Written, Programs, Drawn):
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
        Number of rows of the table, and number of those that are left out: labelled -1, of weight 0, or without a value
        that they need.
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
    gaps : tuple of str
        Columns of numbers whose missing values have a place in the tree: it takes a missing value as +inf, which is
        outside of `x <= 5`, and rules say "age > 5 or missing". In other columns of numbers a row without a value that
        it is asked for has no leaf.
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
    binary : tuple of str
        Columns of numbers that the tree tests and that hold only 0 and 1: words say `member = 0`.
    basis : Basis, default=None
        Source, date, version, where the clusters come from, columns left out and why; None where that is not known.
    dates : tuple of pairs (column, Dates)
        Columns of dates, which the tree takes as days since the beginning of 1970, and how they are said. A threshold
        is next to a round date: its cut parts dates before that one from itself and later ones.

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

    def to_dict(self) -> dict[str, Any]:
        """Return the model file as a dict that JSON can hold: columns, clusters, nodes and facts, with a format number.

        Its rules are text for readers. Only its nodes are used to label rows. It tells no value of a single row: a
        profile and sums that were asked for lack clusters of fewer than five rows, quantiles are rounded to about a
        thousandth of the column's standard deviation, or to the day, columns that no rule tests lack words of fewer
        than five rows, and notes quote no cell.
        """
        from boxwood.explanation.model_file import to_document

        return to_document(self)

    def to_json(self) -> str:
        """Return the model file; `from_json` gives an equal explanation, but for what `to_dict` leaves out."""
        from boxwood.explanation.model_file import to_text

        return to_text(self)

    @classmethod
    def from_json(cls, s: str) -> Explanation:
        """Return the explanation that `to_json` wrote.

        Raises
        ------
        ModelError
            If the text is not a boxwood model, or one of a newer format.
        """
        from boxwood.explanation.model_file import from_text

        return cls._of(from_text(s, "this text"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, for `load`. A file at `path` is replaced as a whole, or stays if writing fails."""
        from boxwood.explanation.model_file import write

        write(self, path)

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


def load(path: str | os.PathLike[str]) -> Explanation:
    """Return the explanation that `Explanation.save` wrote.

    Raises
    ------
    ModelError
        If the file is not a boxwood model, or one of a newer format.
    OSError
        If there is no such file, or it cannot be read.
    """
    from boxwood.explanation.model_file import read

    return Explanation._of(read(path))
