"""What an explanation measures when it is asked: each method hands over to the file that computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.explanation._evidence import Evidence
    from boxwood.explanation._profile import ColumnProfile

__all__ = ["Measured"]


class Measured:
    """Measurements of an `Explanation` that take a pass over its rows."""

    _evidence: Evidence | None
    _kept: dict[str, Any]

    def _rows(self) -> Evidence:
        """Return the rows that the explanation was measured on.

        Raises
        ------
        DataError
            If it was read from a model file or a pickle, which hold no rows.
        """
        if self._evidence is None:
            raise DataError("a model that was saved holds no rows; pass the rows and their labels: X, labels")
        return self._evidence

    def profile(self) -> tuple[ColumnProfile, ...]:
        """Return every column of the table, cluster by cluster: how each cluster differs from the rest.

        Clusters are those that are explained, not the tree's groups of rows. Rows left out do not count. Columns that
        no cut tests are told, too. Columns that are not in the table's numbers are not: those that were left out, and
        those that a pipeline does not read.

        Returns
        -------
        tuple of NumberColumn or CategoryColumn
            In the order of `columns`. It is kept, so that asking again costs nothing.

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no profile.

        Notes
        -----
        There are no p-values: clusters were made from these columns, so tests of no difference would mean nothing.
        Takes time d n (d n log n if rows are weighted) and memory n for each thread.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> age = ex.profile()[0]
        >>> age.column, round(age.effect, 2), age.clusters[1].quantiles[2], round(age.clusters[1].index)
        ('age', 0.88, 34.0, 70)
        """
        if "profile" not in self._kept:
            from boxwood.explanation._profile import profile_of

            rows = self._rows()
            self._kept["profile"] = profile_of(rows.task, rows.coordinates.table.values, rows.columns, rows.categories)
        kept: tuple[ColumnProfile, ...] = self._kept["profile"]
        return kept
