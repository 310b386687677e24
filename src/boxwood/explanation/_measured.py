"""What an explanation measures when it is asked: each method hands over to the file that computes it."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.explanation._evidence import Evidence
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._misassigned import Misassigned
    from boxwood.explanation._profile import ColumnProfile
    from boxwood.explanation._records import Frontier, Stability
    from boxwood.explanation._spreads import Spread
    from boxwood.explanation._table_evidence import TableEvidence

__all__ = ["Measured"]


class Measured:
    """Measurements of an `Explanation` that take a pass over its rows."""

    _evidence: Evidence | None
    _table: TableEvidence | None
    _kept: dict[str, Any]

    def _rows(self, what: str = "this") -> Evidence:
        """Return the rows that the explanation was measured on; IN: what: what needs them.

        Raises
        ------
        DataError
            If it was read from a model file or a pickle, which hold no rows, or its rows are read in batches.
        """
        self._refuse_batches(what)
        if self._evidence is None:
            raise DataError("a model that was saved holds no rows; pass the rows and their labels: X, labels")
        return self._evidence

    def _on(self, X: Any, labels: Any, sample_weight: ArrayLike | str | None) -> Measured:
        """Return the explanation on other rows, or itself if none are given."""
        ex = cast("Explanation", self)
        if X is None and labels is None and sample_weight is None:
            return ex
        if X is None or labels is None:
            raise ValueError("other rows need X and labels; sample_weight goes with them, not with the rows of before")
        return ex.measure(X, labels, sample_weight)

    def _spreads(self) -> dict[int, Spread] | None:
        """Return the spread of each column of numbers that the tree tests; None if neither rows nor file have them."""
        if "spreads" not in self._kept and self._evidence is not None:
            from boxwood.explanation._spreads import spreads_of

            ex, rows = cast("Explanation", self), self._evidence
            tested = [j for j in ex.tree.features.tolist() if j not in ex.coded_columns]
            self._kept["spreads"] = spreads_of(rows.task, rows.coordinates.table.values, tested)
        return self._kept.get("spreads")

    def _refuse_batches(self, what: str) -> None:
        if self._table is not None:
            from boxwood.explanation._table_evidence import refuse_all_rows

            refuse_all_rows(what, self._table.task.batches.source.name)

    def _refuse_no_rows(self, call: str) -> None:
        """Raise a DataError if the explanation holds no rows, so that what is asked for had to be measured before."""
        if self._evidence is None and self._table is None:
            raise DataError(f"a model that was saved holds no rows, and not what is asked for; call {call} before save")

    def profile(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> tuple[ColumnProfile, ...]:
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
        tuple of NumberColumn or CategoryColumn
            In the order of `columns`. That of the explanation's own rows is kept, so that asking again costs nothing,
            and then also in its model file.

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no profile, and no rows are given.

        Notes
        -----
        There are no p-values: clusters were made from these columns, so tests of no difference would mean nothing.
        Takes time d n (d n log n if rows are weighted) and memory n for each thread. Of a table in batches means,
        deviations and shares come from exact sums, and quantiles from two passes: the rank of one that is not exact is
        off by about 1/512 of the rows at most.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> age = ex.profile()[0]
        >>> age.column, round(age.effect, 2), age.clusters[1].quantiles[2], round(age.clusters[1].index)
        ('age', 0.88, 34.0, 70)
        """
        ex = self._on(X, labels, sample_weight)
        if "profile" not in ex._kept and ex._table is not None:
            from boxwood.explanation._table_profile import profile_by_passes

            ex._kept["profile"] = profile_by_passes(ex._table)
        if "profile" not in ex._kept:
            from boxwood.explanation._profile import profile_of

            rows = ex._rows()
            ex._kept["profile"] = profile_of(rows.task, rows.coordinates.table.values, rows.columns, rows.categories)
        kept: tuple[ColumnProfile, ...] = ex._kept["profile"]
        return kept

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
        from boxwood.explanation._misassigned import misassigned_rows

        ex = cast("Explanation", self._on(X, labels, sample_weight))
        ex._refuse_batches("misassigned()")
        rows = ex._rows()
        return misassigned_rows(ex.tree, rows, ex.coded_columns, ex._spreads() or {})

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
        from boxwood.explanation._summaries import confusion_of

        ex = cast("Explanation", self._on(X, labels, sample_weight))
        if ex._table is not None:
            return ex._table.confusion(ex.tree)
        task, leaf = ex._rows().task, ex._rows().leaf
        return confusion_of(task.reference, ex.tree.leaf_clusters[leaf], task.rows.weights)

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
        from boxwood.explanation._typical import typical_rows

        ex = self._on(X, labels, sample_weight)
        ex._refuse_batches("typical()")
        rows = ex._rows()
        return typical_rows(rows.task, rows.coordinates.table.values, list(rows.columns), ex.profile())

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
        "auto" looked at agreement alone; of a long table a sample is taken, as "auto" does. So this tree, for which
        many were compared, mostly loses less than the pruning of its size. A tree that was there already counts as one
        of "auto" by agreement. Where the thresholds of this tree were rounded (`round_thresholds`), those of the larger
        tree are, before it is pruned.

        For a table in batches a method by its name grows the larger tree by passes over all rows. "auto" grows it on a
        sample of up to 100 000 rows, and so does every method with folds: then the rows held out are rows of the
        sample. Price and agreement are those of all rows in any case.

        Takes at most twice as long as the growth of the larger tree, from about 1 000 rows on; with folds as many
        growths again, and as many of this tree. The result is kept, and saved with the explanation; without folds what
        was kept is returned even if it has some.

        Examples
        --------
        >>> import boxwood
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> ex = boxwood.explain(iris.data, iris.target, method="cart", max_leaf_nodes=4)
        >>> print(ex.frontier())
        leaves  price  agreement
             2  1.735      66.7%
             3  1.012      96.0%
             4  0.960      97.3%
             4  0.960      97.3%  <- this tree
             5  1.010      98.0%
             6  0.971      98.7%
             7  1.004      99.3%
             9  1.000     100.0%
        """
        from boxwood.explanation._frontier import frontier_of
        from boxwood.explanation._holdout import checked_folds
        from boxwood.explanation._progress import as_progress

        progress = as_progress(verbose)
        folds, kept = checked_folds(folds), self._kept.get("frontier")
        if kept is None or folds not in (0, kept.folds):
            self._refuse_no_rows(f"frontier({folds or ''})")
            kept = self._kept["frontier"] = frontier_of(self, folds, progress)  # type: ignore[arg-type]
        return kept  # type: ignore[no-any-return]

    def stability(self, n: int = 50, random_state: Any = None, *, verbose: Any = 0) -> Stability:
        """Return how much of the explanation is the same on rows drawn again, and a verdict in one sentence.

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
        Jaccard index, by weight if rows are weighted, on the different rows of the resample. Below 0.6 on average a
        cluster is not to be trusted, and from 0.75 on it is valid: the numbers of Hennig's R package fpc. Where labels
        were given, or the clusterer is frozen, there is nothing to fit again: only the tree is grown, and the rows to
        which its rules give a cluster are compared (`Stability.refitted` and the verdict say so). Of a table in batches
        resamples are drawn from a sample of up to 100 000 rows.

        Takes n fits and n growths. "auto" grows many trees each time, so name a method where time is short. The result
        is kept, and saved with the explanation; one that was read from a file returns what it holds.

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
        from boxwood.explanation._progress import as_progress
        from boxwood.explanation._stability import stability_of

        kept, seed = self._kept.get("stability"), 0 if random_state is None else random_state
        is_same = kept is not None and isinstance(seed, Integral) and (kept.n, kept.random_state) == (n, seed)
        if not (is_same or (kept is not None and self._evidence is None and self._table is None)):
            self._refuse_no_rows("stability()")
            ex = cast("Explanation", self)
            if ex._table is not None:
                from boxwood.explanation._table_in_memory import with_sample_in_memory

                ex, _ = with_sample_in_memory(ex)
            kept = self._kept["stability"] = stability_of(ex, n, random_state, as_progress(verbose))
        return kept  # type: ignore[return-value]
