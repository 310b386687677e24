"""An explanation put to use: on one row, on other rows, under other names."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._why import Why

__all__ = ["Applied"]


class Applied:
    """What an `Explanation` does with one row, with other rows, and with other names."""

    def why(self, row: Any, *, immutable: Collection[str] = ()) -> Why:
        """Return why a row is in its cluster, and the smallest change that would bring it to each other cluster.

        The change is exact: no smaller one exists. Its size is the sum of the changes of all columns, each in standard
        deviations of its column among the measured rows; a change of category counts 1. Of changes of one size, the one
        of fewest columns is taken, then the one to the first leaf, then the smaller value.

        Parameters
        ----------
        row : mapping, data frame of one row, sequence of d values, or int
            The row: its values by the names of columns, or in the order of `columns`, or the position of a row that the
            explanation was measured on. Columns that the tree does not test may be missing from a mapping or a frame.
        immutable : collection of str, default=()
            Columns that no change may touch.

        Returns
        -------
        Why
            Always holds: the row with the changed values is in the cluster that the change names. A column whose
            measured values are all whole changes to a whole number. Where a cut has an open end, the new value is the
            next double (or whole number) behind it; the printed text then says "above 3". Rows where the tree asks for
            a value that is missing, or was never seen, have no cluster; the reason is said.

        Raises
        ------
        DataError
            If the row lacks a column that the tree tests, or a number is text or infinite; if a position is asked of a
            model file or a pickle, which hold no rows.
        TypeError
            If `row` is none of these forms.

        Notes
        -----
        A change says what the rules would do, not what would happen to the person or thing that the row is about.

        Takes time for each leaf and the columns on its path; and, when first called, a pass over the columns that the
        tree tests. Model files keep the standard deviations.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> print(ex.why({"age": 45}))
        young, by leaf 0 (3 rows, 100.0% of them young)
          cut 1  age = 45  age <= 50  (5 from the cut, 0.29 standard deviations)
        would be old if age were 51 (0.35 standard deviations away)
        """
        from boxwood.explanation._why import why_of

        ex = cast("Explanation", self)
        return why_of(ex, row, immutable, ex._spreads())

    def measure(self, X: Any, labels: Any, sample_weight: ArrayLike | str | None = None) -> Explanation:
        """Return the facts of the same tree on other rows, such as those of next month.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows with the columns of the table; a frame may have them in any order, and others besides. Or a table that
            is read in batches.
        labels : array-like of shape (n,), or str
            Names of the clusters of the rows, as `names` has them, -1 for rows to leave out; or the name of the column
            of `X` that holds them, which it must be for a table in batches.
        sample_weight : array-like of shape (n,), or str, default=None
            Weight of each row; or the name of the column that holds it, in a data frame or a table in batches.

        Returns
        -------
        Explanation
            The same tree and rules, with sizes, agreement, price and all other facts of these rows. It refers to these
            rows, so that `profile` and others tell of them. A cluster may have no row. Costs are measured as before:
            in the columns of a pipeline, on scaled columns, in a kernel's feature space. A model that was read from a
            file cannot do that: it measures squared distances in the numeric columns of the table, and a note says so.

        Raises
        ------
        DataError
            If a label is not the name of a cluster (the message lists them), a column is missing, or rows cannot be
            read.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], ["young", "young", "old"], columns=["age"])
        >>> later = ex.measure([[25.0], [52.0], [70.0], [80.0]], ["young", "young", "old", "old"])
        >>> later.agreement, later.clusters[1].caught, later.tree == ex.tree
        (0.75, 0.5, True)
        """
        from boxwood.explanation._other_rows import measured_on

        return measured_on(cast("Explanation", self), X, labels, sample_weight)

    def rename(self, names: Mapping[Hashable, Hashable]) -> Explanation:
        """Return the explanation with other names of clusters; clusters that are not in the mapping keep theirs.

        A cluster may also be named as it is printed: "cluster 0" for 0.

        Rules, `predict`, model files and all facts have the new names. Notes were written before: one more note says
        which names they have, if they mention any.

        Raises
        ------
        DataError
            If a name is not that of a cluster, or two clusters would have one name.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], [0, 0, 1]).rename({0: "young", 1: "old"})
        >>> ex.names, ex.predict([[30.0]]).tolist()
        (('young', 'old'), ['young'])
        """
        from boxwood.explanation._names import with_names

        return with_names(cast("Explanation", self), names)
