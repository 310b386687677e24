"""What an explanation measures by growing again: each method hands over to the file that computes it."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

from boxwood.errors import DataError
from boxwood.explanation._measured import Measured

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._records import Frontier, Stability

__all__ = ["Regrown"]


class Regrown(Measured):
    """Measurements of an `Explanation` for which trees are grown. What was measured once is kept, and saved."""

    def _refuse_no_rows(self, call: str) -> None:
        """Raise a DataError if the explanation holds no rows, so that what is asked for had to be measured before."""
        if self._evidence is None and self._table is None:
            raise DataError(
                f"a model file or a pickle holds no rows, and this was not asked for before; call {call} before save"
            )

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
        that is undercut in 5% of the resamples, not the mean. Where labels were given, or the clusterer is frozen,
        there is nothing to fit again: only the tree is grown, and the rows to which its rules give a cluster are
        compared (`Stability.refitted` and the verdict say so). Of a table in batches resamples are drawn from a sample
        of up to 100 000 rows.

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
