"""The forms in which an explanation can be written: each method hands over to the writer of `render`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation

__all__ = ["Written"]


class Written:
    """Forms of an `Explanation` for people and for other programs."""

    def to_text(self) -> str:
        """Return what printing the explanation shows."""
        return str(self)

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, title: str | None = None, min_count: int = 5
    ) -> str | None:
        """Return the report: one page for a browser, which needs nothing else and loads nothing.

        It shows the numbers, the tree, a form that runs the rules on typed values, the rules of each cluster, the
        profile, where rules and clusters disagree, the frontier, the stability if it was asked for before, and the
        rules as code. It works on a phone, on paper, by keyboard, in light and dark. Of a loaded model it shows what
        the model knows.

        Parameters
        ----------
        path : str or path, default=None
            File to write. A file that is there is replaced as a whole, or stays if writing fails. None returns the page
            as text.
        title : str, default=None
            Title of the page; None gives the numbers of clusters and rows.
        min_count : int, default=5
            Groups of fewer rows are not told: neither counts, nor medians, nor bars. Of the next larger count of the
            same table, from which a hidden one would follow, a bound is told. If rows are weighted, weights are
            counted. 1 tells all.

        Returns
        -------
        str or None
            The page; None if it was written to `path`. It holds counts, shares, medians and quartiles, and no row of
            the table. The same explanation gives the same page. It is below 1 MB for 60 columns and 15 clusters, and
            does not grow with the rows.

        Raises
        ------
        ImportError
            If the package jinja2 is missing, which the extra `page` installs.
        ValueError
            If `min_count` is less than 1.

        Notes
        -----
        The frontier is computed for the page if the table has at most a million numbers. Of a larger table it is
        shown if `frontier()` was called before. The profile shows 40 columns at most: those that the tree tests and
        those that separate the clusters best.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["young", "young", "young", "old", "old"]
        >>> page = boxwood.explain(ages, labels, columns=["age"]).to_html(title="Our customers")
        >>> "<title>Our customers</title>" in page
        True
        """
        from boxwood._files import replacing
        from boxwood.render._page import page

        text = page(self, title=title, min_count=min_count)
        if path is None:
            return text
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        return None

    def _repr_html_(self) -> str:
        """Return the short form of the report, for notebooks; without the package jinja2, the printed explanation."""
        from boxwood.render._page import in_notebook

        return in_notebook(cast("Explanation", self))
