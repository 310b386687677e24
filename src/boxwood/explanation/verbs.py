"""What an explanation measures when it is asked, and how it is applied: each method hands over to a file."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from boxwood._dates import Dates
from boxwood._frames import column_names, names_array, names_or_none, refuse_unknown_columns
from boxwood._types import Array, Indices
from boxwood._validation import refuse_unknown
from boxwood.axes import Categories
from boxwood.explanation.apply.rows import leaves_of_rows
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.tree import ThresholdTree
from boxwood.tree.on_frames import Labeller, is_on_machines, with_new_column

if TYPE_CHECKING:
    from boxwood.explanation.apply.results import Why
    from boxwood.explanation.measure.misassigned import Misassigned
    from boxwood.explanation.records import Frontier, Profile, Stability, Worth


class Applied(MeasuredTree):
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
        from boxwood.explanation.apply.why import why_of

        return why_of(self, row, immutable, self._spreads())

    def measure(self, X: Any, labels: Any, sample_weight: ArrayLike | str | None = None) -> Self:
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
            Rows with a label that is not the name of a cluster are left out. So are rows with words that the model has
            never seen, which `n_incomplete` counts beside those with gaps. Notes name both.

        Raises
        ------
        DataError
            If no label is the name of a cluster (the message lists them), a column is missing, or rows cannot be read.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], ["young", "young", "old"], columns=["age"])
        >>> later = ex.measure([[25.0], [52.0], [70.0], [80.0]], ["young", "young", "old", "old"])
        >>> later.agreement, later.clusters[1].caught, later.tree == ex.tree
        (0.75, 0.5, True)
        """
        from boxwood.explanation.apply.other_rows import measured_on

        return self._of(measured_on(self, X, labels, sample_weight))

    def rename(self, names: Mapping[Hashable, Hashable]) -> Self:
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
        from boxwood.explanation.ask.names import with_names

        return with_names(self, names)

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
        return leaves_of_rows(
            self.tree, self.columns, self.coded_columns, X, missing, self.gap_columns, self.date_columns
        )


class Measured(Applied):
    """Measurements of an `Explanation` that take a pass over its rows."""

    def _on(self, X: Any, labels: Any, sample_weight: ArrayLike | str | None) -> Self:
        """Return the explanation on other rows, or itself if none are given."""
        if X is None and labels is None and sample_weight is None:
            return self
        if X is None or labels is None:
            raise ValueError("other rows need X and labels; sample_weight goes with them, not with the rows of before")
        return self.measure(X, labels, sample_weight)

    def profile(self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None) -> Profile:
        """Return every column of the table, cluster by cluster: how each cluster differs from the rest.

        Clusters are those that are explained, not the tree's groups of rows. Rows left out do not count. Columns that
        no cut tests are told, too. Columns that are not in the table's numbers are not: those that were left out, and
        those that a pipeline does not read.

        Parameters
        ----------
        X, labels, sample_weight : default=None
            Other rows, as for `measure`. None takes the rows that the explanation was measured on.

        Returns
        -------
        Profile
            A tuple of NumberColumn or CategoryColumn, in the order of `columns`, which prints as a table. That of the
            explanation's own rows is kept, so that asking again costs nothing, and then also in its model file, but
            for clusters of fewer than five rows.

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no profile, and no rows are given.

        Notes
        -----
        There are no p-values: clusters were made from these columns, so tests of no difference would mean nothing.
        Takes time d n (d n log n if rows are weighted) and memory for a few columns for each thread. Of a table in
        batches everything comes from exact sums and counts; quantiles take one to four passes.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> age = ex.profile()[0]
        >>> age.column, round(age.effect, 2), age.clusters[1].quantiles[2], round(age.clusters[1].index)
        ('age', 0.88, 34.0, 70)
        """
        from boxwood.explanation.records import Profile

        ex = self._on(X, labels, sample_weight)
        if "profile" not in ex._kept:
            from boxwood.explanation.measure.profile import profiled

            ex._kept["profile"] = profiled(ex._known())
        kept, names = ex._kept["profile"], ex.names
        if getattr(kept, "names", None) != names:
            dates = dict(ex.dates)
            kept = (one._replace(dates=dates[one.column]) if one.column in dates else one for one in kept)
            kept = ex._kept["profile"] = Profile(kept, names)
        return kept  # type: ignore[no-any-return]

    def worth(self, column: str, values: Any = None) -> Worth:
        """Return what each cluster sums up to in a column of value, such as revenue, and its share of the total.

        It is kept, so that the page, the printed explanation and the model file tell it from then on, but for clusters
        of fewer than five rows with a value; `explain(value=)` asks for it at once.

        Parameters
        ----------
        column : str
            Name of the column. Of a column that was looked at, sums follow from the profile; of any other column of
            numbers of a table in batches, from a pass.
        values : array-like of shape (n,) or data frame, default=None
            The values of another column, one for each row of the table, or a frame that has it, of rows in memory. NaN
            adds nothing.

        Raises
        ------
        DataError
            If the column was not looked at and no values are given, or the table in batches has no such column of
            numbers; if there are no rows any more to sum over.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 5.0], [61.0, 30.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "old"], columns=["age", "revenue"])
        >>> for name, one in zip(ex.names, ex.worth("revenue").clusters):
        ...     print(name, one.total, one.share, one.mean)
        old 30.0 0.75 30.0
        young 10.0 0.25 5.0
        """
        from boxwood.explanation.measure.worth import worth_of

        found = self._kept["worth"] = worth_of(self, column, values)
        return found

    def suggested_names(self) -> dict[Hashable, str]:
        """Return a name for each cluster that the profile suggests, by its name; none is ever set by itself.

        A name has the two or three columns in which the cluster differs most from the others, as in "high revenue, low
        orders". "high" and "low" say that its mean is at least half a standard deviation above or below that of all
        other rows; "mostly" a value that half of the cluster has, "often" another whose share differs as much. A
        column of true and false, or of 0 and 1, stands for what half of the cluster is: "member", or "member = 1". A
        cluster has no name here if it stands out in nothing, or all that is said of it is said of another, too.
        `rename` takes the result.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 6.0], [61.0, 30.0], [65.0, 28.0]]
        >>> ex = boxwood.explain(table, [0, 0, 1, 1], columns=["age", "revenue"])
        >>> ex.rename(ex.suggested_names()).names
        ('low revenue, low age', 'high revenue, high age')
        """
        from boxwood.words.standing import suggested_names

        return suggested_names(self.clusters, self.profile())

    def misassigned(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> tuple[Misassigned, ...]:
        """Return the rows whose rule names another cluster than their own, and the cut that misled each.

        Rows left out, and rows without weight, are not among them. `X`, `labels` and `sample_weight` are other rows, as
        for `measure`; None takes the rows that the explanation was measured on. A model that was saved holds none.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0], [34.0], [62.0], [61.0], [67.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age"], method="imm")
        >>> [one] = ex.misassigned()
        >>> one.row, one.column, one.value, one.side, one.threshold, one.distance
        (2, 'age', 62.0, '>', 50.0, 12.0)
        """
        from boxwood.explanation.measure.misassigned import misassigned_rows

        ex = self._on(X, labels, sample_weight)
        ex._refuse_batches("misassigned()")
        rows = ex._rows()
        found = misassigned_rows(ex.tree, rows, ex.coded_columns, ex._spreads() or {}, ex.gap_columns, ex.date_columns)
        return tuple(one._replace(row=rows.in_table(one.row)) for one in found)

    def confusion(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> tuple[tuple[float, ...], ...]:
        """Return how many rows of each cluster (k rows) the rules give to each cluster (k entries each).

        Weights are added if rows are weighted; rows left out do not count. Sums over the entries of a row are sizes of
        clusters, sums over the rows are `ruled` of `clusters`, and the diagonal is what rules and clusters agree on.
        `X`, `labels` and `sample_weight` are other rows, as for `measure`.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0], [34.0], [62.0], [61.0], [67.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age"], method="imm")
        >>> ex.names, ex.confusion()
        (('old', 'young'), ((2, 0), (1, 2)))
        """
        from boxwood.explanation.measure.leaf_facts import confusion_in

        ex = self._on(X, labels, sample_weight)
        return tuple(map(tuple, confusion_in(ex._known().held, ex.tree).tolist()))

    def typical(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> tuple[int | None, ...]:
        """Return the position of a typical row of each cluster: the one nearest to the cluster's middle.

        The middle is the cluster's median of each column of numbers, and its most frequent category of the others.
        Distances are added over all columns in standard deviations of the column; another category counts 1. Of
        equally near rows it is the first. None for a cluster without rows. `X`, `labels` and `sample_weight` are other
        rows, as for `measure`. Takes the time of `profile`, which is then kept.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0], [34.0], [38.0], [61.0], [67.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age"])
        >>> ex.names, ex.typical()
        (('old', 'young'), (3, 1))
        """
        from boxwood.explanation.measure.profile import typical_rows

        ex = self._on(X, labels, sample_weight)
        ex._refuse_batches("typical()")
        rows = ex._rows()
        found = typical_rows(rows.task, rows.coordinates.table.values, rows.columns, ex.profile())
        return tuple(None if row is None else rows.in_table(row) for row in found)


class Measurable(Measured):
    """Measurements of an `Explanation` for which trees are grown. What was measured once is kept, and saved."""

    def frontier(self, folds: int = 0, *, verbose: Any = 0) -> Frontier:
        """Return leaves against price and agreement: what fewer leaves would lose, and what more would gain.

        One tree is grown to four times as many leaves as clusters, or to twice the leaves of this tree if these are
        more. Of all ways to undo its cuts, the one that loses least is taken for every number of leaves.

        Parameters
        ----------
        folds : int, default=0
            Number of parts into which rows are split, by cluster. For each part trees are grown on the other rows and
            measured on this one; 0 does not.
        verbose : int or function, default=0
            As in `explain`: 1 tells each tree on standard error, a function is called.

        Returns
        -------
        Frontier
            A row for each number of leaves at which a pruning loses less than all smaller ones, and a row for this tree
            (`is_this`). Always holds: what prunings have the least of (`Frontier.objective`) never rises with the
            leaves. Price and agreement are measured as those of the explanation, and need not be monotone both. Held
            out, the losses of all parts are added before they are divided.

        Raises
        ------
        DataError
            If the explanation was read from a file and holds no such frontier; if there are fewer rows than folds.
        ValueError
            If `folds` is 1 or negative, or more than 100.

        Notes
        -----
        The tree is grown by the method of the explanation. One of the methods with one leaf for each cluster is
        expanded from there: by Expand if it looks at mistakes or at a kernel, and by ExKMC otherwise. For "auto" it is
        a cheaper one: a regression tree on the centres, pruned by cost, or CART by entropy, pruned by mistakes, where
        "auto" looked at agreement alone. So this tree, for which many were compared, mostly loses less than the pruning
        of its size. Of a long table a sample is taken, as "auto" does, for the trees of "auto" and for expansions; the
        tree that is expanded is that of all rows. A tree that was there already counts as one of "auto" by agreement.
        Where the thresholds of this tree were rounded (`round_thresholds`), those of the larger tree are, before it is
        pruned.

        For a table in batches a method by its name grows the larger tree by passes over all rows. "auto" grows it on a
        sample of up to 100 000 rows, and so does every method with folds, where the rows held out are rows of the
        sample, and where thresholds are rounded. Price and agreement are those of all rows in any case.

        Takes at most twice as long as the growth of the larger tree, but for about a millisecond, and but for the
        passes over all rows where a sample was taken; with folds as many growths again, and as many of this tree. The
        result is kept, and saved with the explanation; without folds what was kept is returned even if it has some.

        Examples
        --------
        >>> import boxwood
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> ex = boxwood.explain(iris.data, iris.target, method="cart", max_leaf_nodes=4)
        >>> print(ex.frontier())
        leaves  agreement  price
             2      66.7%  1.735
             3      96.0%  1.012
             4      97.3%  0.960
             4      97.3%  0.960  <- this tree
             5      98.0%  1.010
             6      98.7%  0.971
             7      99.3%  1.004
             9     100.0%  1.000
        """
        from boxwood.explanation.ask.progress import as_progress
        from boxwood.explanation.measure.frontier import frontier_of
        from boxwood.explanation.measure.held_out import checked_folds

        progress = as_progress(verbose)
        folds, kept = checked_folds(folds), self._kept.get("frontier")
        if kept is None or folds not in (0, kept.folds):
            self._refuse_no_rows(f"frontier({folds or ''})")
            kept = self._kept["frontier"] = frontier_of(self, folds, progress)
        return kept

    def stability(self, n: int = 50, random_state: Any = None, *, verbose: Any = 0) -> Stability:
        """Return how much of the explanation is the same on rows drawn again, and whether groups are there at all.

        Parameters
        ----------
        n : int, default=50
            Number of resamples, at least 2: as many rows as there are, drawn with replacement, but at most 10 000.
        random_state : int or RandomState instance, default=None
            Seed or generator for the resamples, and for clusterers that take a seed. None is 0.
        verbose : int or function, default=0
            As in `explain`: 1 tells each resample on standard error, a function is called.

        Returns
        -------
        Stability
            For each cluster how far it is found again (`clusters`), for each cut how often its column returns and
            where its threshold lies (`cuts`), the share of rows that change their cluster, and the verdict. Printing
            it shows all of them.

        Raises
        ------
        DataError
            If the explanation was read from a file and holds no stability.
        ValueError
            If the tree was there already, on other rows than those of its fit; if `n` is below 2.

        Notes
        -----
        On each resample a clone of the clusterer is fitted, and a tree is grown by the method of the explanation.
        Clusters are matched with the original ones so that the sum of their overlaps is largest; the overlap is the
        Jaccard index, by weight if rows are weighted, on the different rows of the resample. Where it is below 0.5 the
        cluster was lost; from 0.75 on it is valid: the numbers of Hennig's R package fpc. What decides is the overlap
        that is undercut in 5% of the resamples, not the mean. Nothing is fitted again where labels or centres were
        given, where the clusterer is frozen, and for clusters of tables with words or gaps, those that boxwood made
        among them: only the tree is grown, and the rows to which its rules give a cluster are compared
        (`Stability.refitted` is False then, and the verdict says why). Of a table in batches resamples are drawn from a
        sample of up to 100 000 rows.

        Clusters may return although no groups are there. So the share of variance that they explain on up to 1,000 rows
        is compared with that in 20 Gaussian and 20 uniform tables of the same size and spread, which the same clusterer
        divides. Clearer (`Stability.clearer`) is a share above the mean of either kind by more than 3 standard
        deviations. Noise hardly ever reaches it; groups of very unequal sizes or shaped like thin bars may miss it, and
        what bends, such as a ring, is clearer than either kind of table without being groups.

        Takes n fits and n growths, and 41 fits of 1,000 rows. "auto" grows many trees each time, so name a method where
        time is short. The result is kept, and saved with the explanation; one that was read from a file returns what it
        holds.

        References
        ----------
        C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics & Data Analysis 52 (2007)
        258-271, doi:10.1016/j.csda.2006.11.025.

        Examples
        --------
        >>> import boxwood
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(200, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
        >>> ex = boxwood.explain(X, KMeans(3, n_init=1, random_state=0), method="imm")
        >>> print(ex.stability(n=10).verdict[:39])
        The clusters are stable: in 10 resample
        >>> ex.stability(n=10).cuts[0].returns
        1.0
        """
        from boxwood.explanation.ask.progress import as_progress
        from boxwood.explanation.measure.held_out import with_rows_in_memory
        from boxwood.explanation.measure.stability import stability_of

        kept, seed = self._kept.get("stability"), 0 if random_state is None else random_state
        is_same = kept is not None and isinstance(seed, Integral) and (kept.n, kept.random_state) == (n, seed)
        if not (is_same or (kept is not None and self._evidence is None)):
            self._refuse_no_rows("stability()")
            ex, _ = with_rows_in_memory(self)
            kept = self._kept["stability"] = stability_of(ex, n, random_state, as_progress(verbose))
        return kept  # type: ignore[return-value]


def frame_with_leaves(
    ex: MeasuredTree, frame: Any, values: Sequence[Hashable], missing: Literal["error", "none"], name: str
) -> Any:
    """Return the frame with one more column: for each row the value of its leaf, from a value for each leaf.

    Raises
    ------
    DataError
        If the frame lacks a column that the tree tests.
    """
    refuse_unknown("missing", missing, ("error", "none"))
    present = column_names(frame)
    tested = [ex.columns[j] for j in ex.tree.features.tolist()]
    refuse_unknown_columns(tested, present)
    labeller = Labeller(
        places=tuple(map(present.index, tested)),
        names=tuple(tested),
        leaf_of=_Leaves(ex.tree, ex.columns, ex.coded_columns, ex.gap_columns, ex.date_columns),
        values=tuple(values),
        missing=missing,
    )
    return with_new_column(frame, labeller, name)


@dataclass(frozen=True)
class _Leaves:
    """The leaf of each row of a small table, whose columns are those that the tree tests."""

    tree: ThresholdTree
    columns: tuple[str, ...]
    categories: Mapping[int, Categories]
    gaps: Collection[int]
    dates: Mapping[int, Dates]

    def __call__(self, table: Any) -> Indices:
        return leaves_of_rows(self.tree, self.columns, self.categories, table, "none", self.gaps, self.dates)
