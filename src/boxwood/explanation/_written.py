"""The forms of an explanation for people: each method hands over to the writer of `render`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation

__all__ = ["Written"]


class Written:
    """Forms of an `Explanation` that people read."""

    def to_text(self) -> str:
        """Return the summary that printing the explanation shows, and below it the tree.

        Each leaf of the tree tells its cluster, its rows and their share of all rows.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [2.0], [9.0]], ["young", "young", "old"], columns=["age"])
        >>> print(ex.to_text()[len(str(ex)):].strip())
        |--- age <= 5
        |   |--- young  2 rows  66.7%
        |--- age >  5
        |   |--- old    1 row   33.3%
        """
        from boxwood.render._text_tree import full_text

        return full_text(self)

    def to_sentences(self) -> str:
        """Return a line for each cluster: its rows, its rule, and how well the rule describes it.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [2.0], [9.0]], ["young", "young", "old"], columns=["age"])
        >>> print(ex.to_sentences())
        old (1 row, 33.3%): age > 5. The rule finds 100.0% of the cluster; 100.0% of its rows are in the cluster.
        young (2 rows, 66.7%): age <= 5. The rule finds 100.0% of the cluster; 100.0% of its rows are in the cluster.
        """
        from boxwood.render._sentences import sentences

        return sentences(self)

    def to_csv(self) -> str:
        """Return the rules as CSV, a line for each leaf: its cluster, rows, share of all rows, precision, and rule.

        Shares are numbers between 0 and 1 with all digits; the precision of a leaf without rows is empty.

        Examples
        --------
        >>> import boxwood
        >>> print(boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"]).to_csv())
        leaf,cluster,rows,share,precision,rule
        0,young,1,0.5,1,age <= 5
        1,old,1,0.5,1,age > 5
        """
        from boxwood.render._sentences import rule_table

        return rule_table(self)

    def to_markdown(self) -> str:
        """Return the summary as Markdown, for a slide, a ticket or a language model.

        Characters of names that mean something in Markdown are escaped, and rules are code.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print(ex.to_markdown().split("\\n\\n")[1])
        | cluster | size | share | ruled | caught | precision | rule |
        | --- | ---: | ---: | ---: | ---: | ---: | --- |
        | old | 1 | 50.0% | 1 | 100.0% | 100.0% | `age > 5` |
        | young | 1 | 50.0% | 1 | 100.0% | 100.0% | `age <= 5` |
        """
        from boxwood.render._markdown import markdown

        return markdown(self)

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

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, title: str | None = None, min_count: int | None = None
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
        min_count : int, default=None
            Round all counts to multiples of it, so that no smaller group can be worked out; shares follow from the
            rounded counts. If rows are weighted, weights are rounded. A group that is rounded to no row has no medians.
            What tells of the same rows once more is left out: the price, the frontier, rows held out, and notes with
            numbers of rows. Medians and quartiles stay as they are, and other forms, such as the model file, tell exact
            counts. None rounds nothing.

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
            If `min_count` is less than 1, or rounds all counts to 0.

        Notes
        -----
        The frontier is computed for the page if rows times columns times clusters are at most ten million. Of a larger
        table it is shown if `frontier()` was called before. The profile shows 40 columns at most: those that the tree
        tests and those that separate the clusters best.

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
        """Return the short form of the report, for notebooks; without the package jinja2, the printed explanation.

        Like the printed explanation, it tells counts of any number of rows.
        """
        from boxwood.render._page import in_notebook

        return in_notebook(cast("Explanation", self))
