"""What an explanation measures when it is asked: each method hands over to the file that computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.explanation._evidence import Evidence
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._misassigned import Misassigned
    from boxwood.explanation._profile_fields import ColumnProfile
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
            raise DataError("a model file or a pickle holds no rows; pass the rows and their labels: X, labels")
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
        Takes time d n (d n log n if rows are weighted) and memory for a few columns for each thread. Of a table in
        batches means, deviations and shares come from exact sums, and quantiles from two passes: the rank of one that
        is not exact is off by about 1/512 of the rows at most.

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
        found = misassigned_rows(ex.tree, rows, ex.coded_columns, ex._spreads() or {})
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
        from boxwood.explanation._held import confusion_in, held_by_leaves

        ex = cast("Explanation", self._on(X, labels, sample_weight))
        if ex._table is not None:
            return ex._table.confusion(ex.tree)
        task, leaf = ex._rows().task, ex._rows().leaf
        held, _ = held_by_leaves(leaf, ex.n_leaves, task.reference, task.rows.weights)
        return tuple(map(tuple, confusion_in(held, ex.tree).tolist()))

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
        found = typical_rows(rows.task, rows.coordinates.table.values, list(rows.columns), ex.profile())
        return tuple(None if row is None else rows.in_table(row) for row in found)
