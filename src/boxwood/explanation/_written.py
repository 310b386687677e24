"""The forms in which an explanation can be written: each method hands over to the writer of `render`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation

__all__ = ["Written"]


class Written:
    """Forms of an `Explanation` for people and for other programs."""

    def to_text(self) -> str:
        """Return what printing the explanation shows."""
        return str(self)

    def to_frame(self, what: str = "clusters") -> Any:
        """Return facts as a pandas data frame; needs pandas.

        Parameters
        ----------
        what : {"clusters", "rules", "confusion", "profile", "misassigned"}, default="clusters"
            - "clusters" has a row for each cluster: the fields of `ClusterSummary`, and its rule as text.
            - "rules" has a row for each leaf: the fields of `LeafSummary`, and its rule as text.
            - "confusion" has the clusters as rows, and those that the rules give as columns; see `confusion`.
            - "profile" has a row for each column and cluster, for categories one for each of them; see `profile`.
            - "misassigned" has a row for each misassigned row; see `misassigned`.

        Raises
        ------
        DataError
            If rows are needed, and the explanation was read from a file, which holds none; see `measure`.
        ImportError
            If pandas is missing.
        ValueError
            If `what` is another word.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], ["young", "young", "old"], columns=["age"])
        >>> print(ex.to_frame()[["cluster", "size", "ruled", "rule"]].to_string(index=False))
        cluster  size  ruled      rule
            old     1      1  age > 50
          young     2      2 age <= 50
        """
        from boxwood.explanation._frames_of import frame_of

        return frame_of(cast("Explanation", self), what)
