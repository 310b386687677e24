"""`Explanation`: a tree, and its measurements on data, as named fields; `load` reads one.

The class is a table of contents, in the order in which people meet it. Each method is a line that hands over to the
file that does it, and is imported with it, as importing all of them takes a tenth of a second.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, TYPE_CHECKING, Any, Literal, Self, cast

from numpy.typing import ArrayLike

from boxwood._types import Array, DialectName, Indices
from boxwood.api.living import Drift, match
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.explanation.records import Details

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.tree import DecisionTreeClassifier

    from boxwood.api.standalone_rules import StandaloneRules
    from boxwood.explanation.apply.results import Why
    from boxwood.explanation.measure.contrast import Contrast
    from boxwood.explanation.measure.misassigned import Exceptions, Misassigned
    from boxwood.explanation.measure.outliers import Outlier
    from boxwood.explanation.records import Frontier, Profile, Stability, Totals
    from boxwood.render.notebook.editor import Editor


_MEANT = {
    "accuracy": "agreement",
    "accuracy_": "agreement",
    "fidelity": "agreement",
    "score": "agreement, or evaluate(X, labels) on other rows",
    "feature_importances_": "to_frame('profile')",
    "feature_names": "columns",
    "feature_names_in_": "columns",
    "labels_": "predict(X)",
    "plot_tree": "plot",
    "show": "plot",
    "export_text": "rules",
    "cv_score": "held_out",
    "transform": "apply",
    "precision": "clusters, each of which has a precision",
    "recall": "clusters, of each of which a share is found",
    "coverage": "clusters, of each of which a share is found",
    "support": "clusters, each of which has matched rows",
}
"""What scikit-learn and others call something of an explanation."""


@dataclass(frozen=True, repr=False)  # a TypeError for arguments names the class that users know
class Explanation(MeasuredTree):
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
        clusters again), ", pruned" (over-grown and pruned back), ", refined" (cuts chosen again), ", resolved" (small
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
        left out do not count. `details` says which distances are used.
    price : float
        Price of explainability, `cost / reference_cost`. 0/0 counts as 1. It may be below 1 or infinite.
    agreement : float
        Share of rows whose rule names their cluster, without rows left out. `baseline` is that of the largest cluster
        alone.
    adjusted_rand : float
        Adjusted Rand index between the clusters and the tree's groups of rows.
    readability : Readability
        Numbers of leaves, depth and columns; depth and length of rules, averaged over rows.
    notes : tuple of str
        Further remarks for the reader, such as clusters without a leaf. At most one of them is printed.
    details : Details
        What the numbers count, what is said of columns, and facts on Gaussians, a kernel or random trees.
    search_report : SearchReport, default=None
        What "auto" did to find the tree; None for a method asked for by name.
    held_out : HeldOut, default=None
        Agreement and price on rows that were not used to grow, if `explain` was asked to `validate`.
    limits : LimitFacts, default=None
        Limits that were set for the rules, and the number of rows that rounding thresholds moved; None without limits.
    provenance : Provenance, default=None
        Source, date, version, where the clusters come from, columns left out and why; None where that is not known.
    changes : tuple of Edit
        What a person changed by `move_cut`, `prune`, `replace_cut`, `split`, `merge_clusters` and `rename`, and what
        that cost. Printing it shows the lines of Python that change it so again.

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
    """

    # ---------------------------------------------------------------------------------------------------------- printed
    def __str__(self) -> str:
        from boxwood.render.forms.text import text

        return text(self)

    def __repr__(self) -> str:
        return (
            f"Explanation(n_clusters={self.n_clusters}, n_leaves={self.n_leaves}, method={self.method!r}, "
            f"price={self.price:.4g}, agreement={self.agreement:.4g})"
        )

    def _repr_html_(self) -> str:
        """Return the short form of the report, for notebooks; without the package jinja2, the printed explanation.

        Like the printed explanation, it shows counts of any number of rows.
        """
        from boxwood.render.page.page import in_notebook

        return in_notebook(self)

    if not TYPE_CHECKING:  # checkers of types know the names below, and no others

        def __getattr__(self, name: str) -> Any:
            """Raise an AttributeError, which says what scikit-learn's name for it is here."""
            if hasattr(type(self), name):  # a property that raised one, which is to be seen
                return object.__getattribute__(self, name)
            known = [each for each in dir(type(self)) if not each.startswith("_")]
            meant = _MEANT | {detail: f"details.{detail}" for detail in Details._fields}
            near = [meant[name]] if name in meant else get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near and not name.startswith("_") else ""
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}", name=name, obj=self)

    # ------------------------------------------------------------------------------------------------------------- rows
    def predict(self, X: Any, *, missing: Literal["warn", "none", "error"] = "warn", as_of: Any = None) -> Array:
        """Return the name of the cluster of each row, shape (n,); reads `X` as `apply` does.

        A row without a cluster, see `apply`, has -1 if all names are numbers of one type. Otherwise the array is one of
        objects, and such a row has None. With `missing="none"` the array has that type in any case. Its `tolist()` has
        plain numbers and texts, as JSON needs them.

        For a data frame of Spark or Dask, the result is the same frame with one more column, "cluster" ("cluster_1" if
        there is one, and so on), which its workers compute when the frame is. Names become text, unless all are whole
        numbers, all floats or all booleans. A row without a cluster has NULL, without a warning, as workers compute it
        later; with `missing="error"` the computation fails.
        """
        from boxwood.explanation.apply.predict import clusters_of_rows

        return clusters_of_rows(self, X, missing, as_of)

    def predict_proba(self, X: Any, *, missing: Literal["warn", "none", "error"] = "warn", as_of: Any = None) -> Array:
        """Return the share of each cluster among the measured rows of a row's leaf, shape (n, k), in order of `names`.

        Shares are of the weights, if rows were weighted, and nothing is added to them: a leaf whose rows are all of one
        cluster gives it 1. They are those of `leaves`: `own / size` for the cluster that the leaf names. A leaf without
        rows gives that one 1. Reads `X` as `apply` does; a row without a leaf has NaN. Ages count from
        `as_of`, as there.

        Raises
        ------
        DataError
            As for `apply`; or for a model that was saved without these numbers.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [38.0], [40.0], [61.0], [67.0]], ["new", "old", "new", "new", "old", "old"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"], method="cart", max_leaf_nodes=2, min_samples_leaf=2)
        >>> ex.names, ex.predict_proba([[30.0]]).tolist()
        (('new', 'old'), [[0.75, 0.25]])
        """
        from boxwood.explanation.apply.predict import shares_of_rows

        return shares_of_rows(self, X, missing, as_of)

    def apply(self, X: Any, *, missing: Literal["warn", "none", "error"] = "warn", as_of: Any = None) -> Indices:
        """Return the leaf of each row, shape (n,).

        A data frame is read by the names of its columns, in any order; only columns that the tree tests are needed. So
        are a mapping from column to value, which is one row, and a list of them. An array has the columns of `columns`,
        in their order. A data frame of Spark or Dask gets a column "leaf".

        A row has no leaf if a value that the tree asks for on the way down is missing: None, NaN, null, or the NA of
        pandas. The same holds for a category that was never seen, unless the clusterer's encoder accepted unknown
        values; see `handle_unknown`. Other values of the row do not matter. `boxwood predict` and SQL leave the same
        rows without a cluster.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d), mapping, or list of mappings
        missing : {"warn", "none", "error"}, default="warn"
            What to do with rows that have no leaf. They get -1, and one warning counts them and names the values;
            "none" does not warn, and "error" refuses all rows.
        as_of : str or date, default=None
            Where rules say ages, the day from which they are counted, such as "2026-08-31", or the column that has it.
            None is today, as in SQL and code, whatever the day of the table was that was explained; or the column that
            `explain` was given.

        Raises
        ------
        DataError
            If a column is not numeric or is not in the frame (the message offers the nearest name), or with
            `missing="error"` if a row has no leaf. If `as_of` is given, but no rule says an age.
        ValueError
            If `missing` is another text.

        Warns
        -----
        UserWarning
            With `missing="warn"` if rows have no leaf.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"], columns=["age"])
        >>> ex.predict([[3.0], [None]], missing="none"), ex.apply([[3.0], [None]], missing="none")
        (array(['low', None], dtype=object), array([ 0, -1]))
        """
        from boxwood.explanation.apply.predict import leaves_of_rows

        return leaves_of_rows(self, X, missing, as_of)

    def handle_unknown(self, side: Literal["majority"] = "majority") -> Self:
        """Return the same rules, in which a category that was never seen goes where most rows went at each cut.

        `predict` and all exports of the result label such rows alike. Otherwise they get no cluster. Rules then say
        "country is not AT or DE" on that side. Missing values and booleans stay as they are.

        Examples
        --------
        >>> import boxwood, pandas
        >>> frame = pandas.DataFrame({"country": ["AT", "AT", "DE", "FR", "FR"]})
        >>> ex = boxwood.explain(frame, ["near", "near", "near", "far", "far"]).handle_unknown("majority")
        >>> print(ex.rules())
        far: country is FR
        near: country is not FR
        >>> ex.predict(pandas.DataFrame({"country": ["FR", "US"]})).tolist()
        ['far', 'near']
        """
        from boxwood.explanation.apply.unseen import handle_unknown

        return handle_unknown(self, side)

    def why(self, row: Any, *, immutable: Collection[str] = (), as_of: Any = None) -> Why:
        """Return why a row is in its cluster, and the smallest change that would bring it to each other cluster.

        The change is exact: no smaller one exists. Its size is the sum of the changes of all columns, each in standard
        deviations of its column among the measured rows; a change of category counts 1. Of changes of one size, the one
        with the fewest columns is taken, then the one to the first leaf, then the smaller value.

        Parameters
        ----------
        row : mapping, data frame of one row, sequence of d values, or int
            The row: its values by the names of columns, or in the order of `columns`, or the position, from 0, of a row
            that the explanation was measured on. Columns that the tree does not test may be missing from a mapping or
            a frame.
        immutable : collection of str, default=()
            Columns that no change may touch.
        as_of : str or date, default=None
            The day from which ages are counted, as for `apply`; for a row that the explanation was measured on, None is
            the day of `explain`.

        Returns
        -------
        Why
            Always holds: the row with the changed values is in the cluster that the change names. A column whose
            measured values are all whole changes to a whole number. Where a cut has an open end, the new value is the
            next double (or whole number) behind it; the printed text then says "above 3". Rows where the tree asks for
            a value that is missing, or was never seen, have no cluster; `reason` says why.

        Raises
        ------
        DataError
            If the row lacks a column that the tree tests, or a number is text or infinite; if a position is asked of a
            model file or a pickle, which hold no rows.
        TypeError
            If `row` has none of these forms.

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

        return why_of(self, row, immutable, as_of)

    # ----------------------------------------------------------------------------------------------- for people to read
    def to_text(self, *, style: Literal["full", "list", "sentences"] = "full") -> str:
        """Return all that is known in words: the rules, what they lose, how they were found, all notes, and the tree.

        Printing the explanation shows less: the rules, what they lose, and the gravest note. Each leaf of the tree
        shows its cluster, its rows and their share of all rows.

        Parameters
        ----------
        style : {"full", "list", "sentences"}, default="full"
            "list" gives the rules alone, as a list to say aloud: the first line that holds decides, so that each line
            asks only what is left to ask. "sentences" gives a line for each cluster: its rows, its rule, and how well
            the rule describes it.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [2.0], [9.0]], ["young", "young", "old"], columns=["age"])
        >>> print(ex.to_text().split("\\n\\n")[-1])
        |--- age <= 5
        |   |--- young  2 rows  66.7%
        |--- age >  5
        |   |--- old    1 row   33.3%
        >>> print(ex.to_text(style="list"))
        age <= 5: young
        otherwise: old
        Rows without age get no cluster, where a line asks for that.
        >>> print(ex.to_text(style="sentences").split("\\n")[0])
        old (1 row, 33.3%): age > 5. The rule finds 100.0% of the cluster; 100.0% of the rows it matches belong to it.
        """
        from boxwood.render.forms.text import full_text

        return full_text(self, style=style)

    def rules(self, *, full: bool = False) -> str:
        """Return a line for each cluster: its name and its rule.

        Parameters
        ----------
        full : bool, default=False
            Whether rules name all categories of a list. The printed explanation names up to eight, the most frequent
            first, and counts the others and the rows with any of the list. Categories of fewer than five rows are not
            counted, and a model file of an earlier version has no counts, so its lists keep the order of the table.

        Examples
        --------
        >>> import boxwood
        >>> import pandas as pd
        >>> rows = pd.DataFrame({"letter": [*"abcdefghijklmnopqrstuv"] * 9})
        >>> ex = boxwood.explain(rows, (rows["letter"] < "l").rename("early"))
        >>> print(ex.rules())
        early = False: letter is l, m, n, o, p, q, r, s or 3 more (99 of 198 rows)
        early = True: letter is a, b, c, d, e, f, g, h or 3 more (99 of 198 rows)
        >>> print(ex.rules(full=True).splitlines()[0])
        early = False: letter is l, m, n, o, p, q, r, s, t, u or v
        """
        from boxwood.render.forms.text import rules

        return rules(self, full=full)

    def to_markdown(self) -> str:
        """Return the summary as Markdown, for a slide, a ticket or a language model.

        Characters of names that mean something in Markdown are escaped, and rules are code.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print(ex.to_markdown().split("\\n\\n")[1])
        | cluster | size | share | matched | found | precision | rule |
        | --- | ---: | ---: | ---: | ---: | ---: | --- |
        | old | 1 | 50.0% | 1 | 100.0% | 100.0% | `age > 5` |
        | young | 1 | 50.0% | 1 | 100.0% | 100.0% | `age <= 5` |
        """
        from boxwood.render.forms.text import markdown

        return markdown(self)

    def to_csv(self) -> str:
        """Return the rules as CSV, a line for each leaf: its cluster, rows, share of all rows, precision, and rule.

        Shares are numbers between 0 and 1 with all digits; the precision of a leaf without rows is empty. A name or a
        rule that a spreadsheet would take as a formula has an apostrophe before it: one that begins with `=`, `+`, `-`,
        `@`, a tab or a line end, and is no number.

        Examples
        --------
        >>> import boxwood
        >>> print(boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"]).to_csv())
        leaf,cluster,rows,share,precision,rule
        0,young,1,0.5,1,age <= 5
        1,old,1,0.5,1,age > 5
        """
        from boxwood.render.forms.text import rule_table

        return rule_table(self)

    def to_frame(self, what: str = "clusters") -> Any:
        """Return facts as a pandas data frame; needs pandas.

        Parameters
        ----------
        what : {"clusters", "rules", "confusion", "profile", "misassigned", "outliers"}, default="clusters"
            - "clusters" has a row for each cluster: the fields of `ClusterSummary`, and its rule as text.
            - "rules" has a row for each leaf: the fields of `LeafSummary`, and its rule as text.
            - "confusion" has the clusters as rows, and those that the rules give as columns; see `confusion`.
            - "profile" has a row for each column and cluster, for categories one for each of them; see `profile`.
            - "misassigned" has a row for each misassigned row; see `misassigned`. Dates are texts, thresholds too, and
              so they are in "profile". Rows are counted from 0, whatever the index of a frame is.
            - "outliers" has a row for each odd row; see `outliers`.

        Raises
        ------
        DataError
            If rows are needed, and the explanation was read from a file, which holds none; see `evaluate`.
        ImportError
            If pandas is missing.
        ValueError
            If `what` is another text.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], ["young", "young", "old"], columns=["age"])
        >>> print(ex.to_frame()[["cluster", "size", "matched", "rule"]].to_string(index=False))
        cluster  size  matched      rule
            old     1        1  age > 50
          young     2        2 age <= 50
        """
        from boxwood.explanation.apply.frames import frame_of

        return frame_of(self, what)

    def to_svg(
        self, path: str | os.PathLike[str] | None = None, *, titles: Mapping[str, str] | None = None
    ) -> str | None:
        """Return the tree as a picture in SVG, below a title and in the look of the page: for a slide, a wiki, a paper.

        Parameters
        ----------
        path : str or path, default=None
            File to write. A file that is there is replaced as a whole. None returns the picture as text.
        titles : mapping from str to str, default=None
            Titles of columns, as for `to_html`.

        Returns
        -------
        str or None
            The picture; None if it was written to `path`. It loads nothing, and shows of rows what the page shows:
            no bar of a cluster of fewer than five rows.

        Raises
        ------
        DataError
            If the tree has one leaf or more than 150.
        ImportError
            If the package jinja2 is missing, which the extra `page` installs.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [2.0], [9.0]], ["low", "low", "high"], columns=["size"])
        >>> ex.to_svg().splitlines()[0][:5]
        '<svg '
        """
        from boxwood.render.page.svg import svg

        return svg(self, path, titles=titles)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        titles: Mapping[str, str] | None = None,
        min_count: int | None = None,
    ) -> str | None:
        """Return the report: one page for a browser, which needs nothing else and loads nothing.

        It shows the numbers, the tree, a form that runs the rules on typed values, the rules of each cluster, the
        profile, where rules and clusters disagree, the frontier, the stability and the contrasts that were asked for
        before, and the rules as code. As a reader asks it shows the trees of the frontier, and the best one without a
        column of the rules. A CSV file that is dropped on it comes back with one more column, the cluster that
        `predict` of the command line gives each row; its cells do not leave the page. It works on a phone, on paper, by
        keyboard, in light and dark. For a loaded model it shows what the model knows.

        Parameters
        ----------
        path : str or path, default=None
            File to write. A file that is there is replaced as a whole, or stays if writing fails. None returns the page
            as text.
        title : str, default=None
            Title of the page; None gives the numbers of clusters and rows.
        titles : mapping from str to str, default=None
            Titles of columns, as {"last_order": "Last order"}, by which the page calls them. Code that it holds, files
            that are labelled on it, and notes keep the names.
        min_count : int, default=None
            Round all counts down to multiples of it, so that no smaller group can be worked out; shares follow from the
            rounded counts. If rows are weighted, weights are rounded, and those of fewer rows are 0; a loaded model
            knows weights alone. The page then leaves out what would narrow them down: the price, the frontier, sums of
            values, rows held out, and notes with numbers or shares of rows. Other medians and quartiles stay as they
            are, and other forms, such as the model file, show exact counts. None rounds nothing.

        Returns
        -------
        str or None
            The page; None if it was written to `path`. It holds counts, shares, medians and quartiles, of tested
            columns round ends beyond which are fewer than five rows, and no row of the table. For a cluster of fewer
            than five rows, or of fewer than `min_count`, it shows the size and the rules, but no median, sum or bar,
            and says so. The same explanation gives the same page. It is below 1 MB for 60 columns and 15 clusters, and
            does not grow with the rows.

        Raises
        ------
        DataError
            If `titles` name a column that the table does not have.
        ImportError
            If the package jinja2 is missing, which the extra `page` installs.
        ValueError
            If `min_count` is less than 1, or rounds all counts to 0, or if two columns would have the same title.

        Notes
        -----
        The frontier is computed for the page if rows times columns times clusters are at most ten million.
        For a larger table it is shown if `frontier()` was called before. Of each size the page has the better tree of
        two, that of the frontier or the explanation's own with some cuts undone, and none that agrees less than a
        smaller one. The profile shows 40 columns at most: those
        that the tree tests and those that separate the clusters best.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["young", "young", "young", "old", "old"]
        >>> page = boxwood.explain(ages, labels, columns=["age"]).to_html(title="Our customers")
        >>> "<title>Our customers</title>" in page
        True
        """
        from boxwood.render.page.page import report

        return report(self, path, title=title, titles=titles, min_count=min_count)

    # --------------------------------------------------------------------------------------------------------- pictures
    # Each takes an Axes and returns it, and shows nothing by itself. Names of columns and clusters are drawn as they
    # are, shortened in the middle where they are long. All raise an ImportError if matplotlib is missing, which
    # `pip install matplotlib` brings, and a TypeError if `ax` is no Axes.
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree: its cuts from left to right, and its leaves at the right.

        A cut shows the distribution of its column over the rows that reach it, stacked by cluster of the reference,
        with the threshold as a line, and a bar at the end for missing values that have a place; "lost" counts the rows
        for which no leaf of their cluster can be reached any more. An edge says its condition, and is as wide as its
        share of rows. A leaf shows the number and name of its cluster, its rows with their share of all, and which
        clusters they come from.

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; the picture fills it as far as its shape allows. None makes a new figure, with a title.

        Returns
        -------
        Axes
            Its `figure` can be saved: `ex.plot().figure.savefig("tree.pdf")`.

        Notes
        -----
        A loaded model has no rows. Its cuts are drawn without distributions, and its leaves show rows of their own
        cluster from all others. Rows in no cluster (label -1) are not drawn. The outer bars also count the 1% of rows
        at each end. Takes time n times the depth.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> ages, labels = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["new", "loyal", "loyal", "new", "new"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"])
        >>> ax = ex.plot(Figure().subplots())
        >>> [text.get_text() for text in ax.texts if "age" in text.get_text()]
        ['age']
        """
        from boxwood.render.pictures.plot_tree import plot_tree

        return plot_tree(self, ax)

    def plot_boxes(self, x: str | int | None = None, y: str | int | None = None, ax: Axes | None = None) -> Axes:
        """Draw two columns of the table, with the leaves as boxes.

        A box has the number of its cluster. A row has the colour and shape of its own cluster, and a ring if its rule
        names another one. Boxes overlap where the tree cuts further columns. A row that lacks one of both values is not
        drawn.

        Parameters
        ----------
        x, y : str or int, default=None
            The columns, by name or index. None takes the column that is tested first, and then the next one.
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If there is no such column, both are the same, or the table has only one; or if a column has more than 60
            words, for which an axis has no room.

        Notes
        -----
        Of more than 4,000 rows, a fixed sample is drawn. A loaded model has no rows: only boxes are drawn.
        Codes of categories are spread a little, so that rows do not hide each other. The picture shows single rows.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris(as_frame=True)
        >>> ax = boxwood.explain(iris.data, iris.target, method="cart").plot_boxes(ax=Figure().subplots())
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('petal width (cm)', 'sepal length (cm)')
        """
        from boxwood.render.pictures.plot_boxes import plot_boxes

        return plot_boxes(self, x, y, ax)

    def plot_profile(self, ax: Axes | None = None) -> Axes:
        """Draw the profile as a heat map: columns by clusters.

        A cell has the median of the cluster, or the share of a category. Its colour is the standardised difference from
        the rest, blue for lower and orange for higher; a sign says so from half a standard deviation, two signs from
        one and a half. Columns that the tree tests come first, then those that separate the clusters best, 40 lines
        at most.

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no profile; see `profile`.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> ax = ex.plot_profile(Figure().subplots())
        >>> [text.get_text() for text in ax.texts]
        ['64 ++', '34 −−', '5 −', '5 +']
        """
        from boxwood.render.pictures.plot_measured import plot_profile

        return plot_profile(self, ax)

    def plot_frontier(self, ax: Axes | None = None) -> Axes:
        """Draw the frontier: leaves against price; against agreement if prunings have the fewest mistakes.

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no frontier; see `frontier`.

        Notes
        -----
        Call `frontier(folds=5)` before to see what is lost on held-out rows, too.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> ex = boxwood.explain(iris.data, iris.target, method="cart", max_leaf_nodes=4)
        >>> ex.plot_frontier(Figure().subplots()).get_ylabel()
        'agreement'
        """
        from boxwood.render.pictures.plot_measured import plot_frontier

        return plot_frontier(self, ax)

    def plot_stability(self, ax: Axes | None = None) -> Axes:
        """Draw stability: how much of each cluster returns on resampled rows, and how often each cut's column does.

        Grey bands mark overlaps that are doubtful (below 0.75) and unstable (below 0.6).

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no stability; see `stability`.

        Notes
        -----
        Draws what `stability` measured last, and calls it with its defaults if it was not called.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(200, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
        >>> ex = boxwood.explain(X, KMeans(3, n_init=1, random_state=0), method="imm")
        >>> stability = ex.stability(n=5)
        >>> ax = ex.plot_stability(Figure().subplots())
        >>> [text.get_text() for text in ax.get_yticklabels()][:3]
        ['cluster 0', 'cluster 1', 'cluster 2']
        """
        from boxwood.render.pictures.plot_measured import plot_stability

        return plot_stability(self, ax)

    def plot_contrast(self, first: Hashable, second: Hashable = None, ax: Axes | None = None) -> Axes:
        """Draw how two clusters differ: a bar for each of up to twelve columns, in standard deviations, largest first.

        A bar has the colour of the cluster with more; a line on it is the interval of 95% of the difference.

        Parameters
        ----------
        first, second : str or number
            Names of the clusters. Without the second, the first against the rows of all others.
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            As for `contrast`, which has the numbers.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young"] * 3 + ["old"] * 2, columns=["age", "rides"])
        >>> ax = ex.plot_contrast("young", "old", Figure().subplots())
        >>> [text.get_text() for text in ax.get_yticklabels()]
        ['age', 'rides']
        """
        from boxwood.render.pictures.plot_measured import plot_contrast

        return plot_contrast(self, first, second, ax)

    # ------------------------------------------------------------------------- clusters: what they are, and their names
    def profile(
        self,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        *,
        outcomes: bool = False,
        as_of: Any = None,
    ) -> Profile:
        """Return every column of the table, cluster by cluster: how each cluster differs from the rest.

        Clusters are those that are explained, not the tree's groups of rows. Rows left out do not count. Columns that
        no cut tests are reported, too. Columns that are not in the table's numbers are not: those that were left out,
        and those that a pipeline does not read.

        Parameters
        ----------
        X, labels, sample_weight, as_of : default=None
            Other rows, as for `evaluate`. None takes the rows that the explanation was measured on.
        outcomes : bool, default=False
            Whether to look at the outcomes of these rows: where the rules are on the columns of another table (`by`),
            these are what the clusters were made of.

        Returns
        -------
        Profile
            A tuple of NumberColumn or CategoryColumn, in the order of `columns`, which prints as a table. That of the
            explanation's own rows is kept, so that asking again costs nothing, and then also in its model file, but
            for clusters of fewer than five rows.

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no profile, and no rows are given; or if it has no
            outcomes.

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
        from boxwood.explanation.measure.profile import measure_profile, outcomes_profiled

        return outcomes_profiled(self) if outcomes else measure_profile(self._on(X, labels, sample_weight, as_of))

    def contrast(
        self,
        first: Hashable,
        second: Hashable = None,
        *,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        as_of: Any = None,
    ) -> Contrast:
        """Return what parts two clusters: the shortest rule of each on their rows alone, and how their columns differ.

        Rules are searched as by `standalone_rules`, with up to three conditions, among the rows of both alone. So they
        are mostly shorter than rules against all clusters, and say nothing on other rows.

        Parameters
        ----------
        first, second : str or number
            Names of the clusters. Without the second, the first against the rows of all others.
        X, labels, sample_weight, as_of : default=None
            Other rows, as for `evaluate`. None takes the rows that the explanation was measured on; of a table in
            batches, a sample.

        Returns
        -------
        Contrast
            The rules, and the columns with the largest effect first. Printing it tells the five largest differences of
            at least half a standard deviation.

        Raises
        ------
        DataError
            If a name is not that of a cluster, or both are the same; if one has no row; if the explanation was read
            from a file and no rows are given.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0], [66.0, 9.0]]
        >>> labels = ["young", "young", "young", "old", "old", "very old"]
        >>> print(boxwood.explain(table, labels, columns=["age", "rides"]).contrast("young", "old"))
        young (3) against old (2)
        <BLANKLINE>
        young: age <= 50 (finds 100.0%, right in 100.0% of its rows)
        old: age > 50 (finds 100.0%, right in 100.0% of its rows)
        <BLANKLINE>
        age: mean 31 against 64, 33 lower (13.8 to 52.2), 1.92 standard deviations
        rides: mean 5.67 against 5, 0.667 higher (-2.2 to 3.54), 0.833 standard deviations
        """
        from boxwood.explanation.measure.contrast import contrast_of

        return contrast_of(self._on(X, labels, sample_weight, as_of), first, second)

    def suggested_names(self) -> dict[Hashable, str]:
        """Return the name that the profile suggests for each cluster, by its present name; `rename` takes the result.

        A name has the two or three columns in which the cluster differs most from the others, as in "high revenue, low
        orders". "high" and "low" say that its mean is at least half a standard deviation above or below that of all
        other rows; "mostly" a value that half of the cluster has, "often" another whose share differs as much. For a
        column of true and false, or of 0 and 1, the name has what half of the cluster is: "member", or "member = 1".
        That values are missing names nothing. A cluster is left out if nothing distinguishes it, or if its words
        describe another cluster, too.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 6.0], [61.0, 30.0], [65.0, 28.0]]
        >>> ex = boxwood.explain(table, [0, 0, 1, 1], columns=["age", "revenue"])
        >>> ex.rename(ex.suggested_names()).names
        ('low revenue, low age', 'high revenue, high age')
        """
        from boxwood.explanation.measure.profile import measure_profile
        from boxwood.words.distinctive import suggested_names

        return suggested_names(self.clusters, measure_profile(self))

    def rename(self, names: Mapping[Hashable, Hashable], *, merge: bool = False) -> Self:
        """Return the explanation with other names of clusters; clusters that are not in the mapping keep theirs.

        A cluster may also be named as it is printed: "cluster 0" for 0.

        Rules, `predict`, model files and all facts have the new names. Notes were written before: one more note says
        which names they have, if they mention any.

        Parameters
        ----------
        names : mapping from name to name
        merge : bool, default=False
            Whether clusters that get one name become one cluster, see `merge_clusters`. Otherwise that is an error.

        Raises
        ------
        DataError
            If a name is not that of a cluster, or two clusters would have one name.
        TypeError
            If `names` is no mapping.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], [0, 0, 1]).rename({0: "young", 1: "old"})
        >>> ex.names, ex.predict([[30.0]]).tolist()
        (('young', 'old'), ['young'])
        """
        from boxwood.explanation.change.change import rename_clusters

        return rename_clusters(self, names, merge)

    def rename_like(self, old: Any, rows: Any = None, *, as_of: Any = None) -> Self:
        """Return the explanation with the names that the same clusters have in an earlier one; see `match`.

        A cluster gets the name of an old one if most rows of each are in the other. Others keep their names, or get a
        free one if it is taken: the next number, or the name with "new" behind it.

        Parameters
        ----------
        old : Explanation, Tally, array-like of labels, or str
            Where the names come from.
        rows, as_of : default=None
            As for `match`.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [61.0], [70.0]], ["young", "young", "old", "old"]
        >>> old = boxwood.explain(ages, labels, columns=["age"])
        >>> boxwood.explain(ages, [1, 1, 0, 0], columns=["age"]).rename_like(old).names
        ('old', 'young')
        """
        from boxwood.explanation.living.match import names_carried

        return self.rename(names_carried(self.names, match(old, self, rows, as_of=as_of)))

    def stay_close_to(
        self, old: MeasuredTree, *, loss: float = 0.005, by: Literal["agreement", "cost"] = "agreement"
    ) -> Self:
        """Return the explanation by an earlier tree, of which only cuts that cost too much are replaced.

        Rules that people know stay as they are where that is nearly as good: first each leaf of the earlier tree gets
        the cluster of most of the new rows in it; then, while that loses more than `loss`, a threshold moves, or the
        new tree takes the place of a part of the old one. A note says what changed.

        Parameters
        ----------
        old : Explanation
            The earlier explanation, such as a loaded model, on columns of the same names.
        loss : float, default=0.005
            What may be lost against this explanation: half a point of agreement, or half a percent of cost.
        by : {"agreement", "cost"}, default="agreement"
            Which of the two.

        Raises
        ------
        DataError
            If the rows of this explanation are not in memory, or the earlier tree tests a column that they lack.

        Examples
        --------
        >>> import boxwood
        >>> ages = [[float(age)] for age in range(20, 80)]
        >>> old = boxwood.explain(ages, ["young"] * 20 + ["old"] * 40, columns=["age"])
        >>> new = boxwood.explain(ages[1:], ["young"] * 19 + ["old"] * 40, columns=["age"])
        >>> new.stay_close_to(old).tree == old.tree
        True
        """
        from boxwood.explanation.ages import counted_as
        from boxwood.explanation.living.keep import keep_close

        return self._of(keep_close(self, counted_as(old, self), loss, by))

    def totals(self, column: str, values: Any = None) -> Totals:
        """Return what each cluster sums up to in a column of value, such as revenue, and its share of the total.

        It is kept, so that the page, the printed explanation and the model file show it from then on, but for clusters
        of fewer than five rows with a value; `explain(value_column=)` asks for it at once.

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
        >>> for name, one in zip(ex.names, ex.totals("revenue").clusters):
        ...     print(name, one.total, one.share, one.mean)
        old 30.0 0.75 30.0
        young 10.0 0.25 5.0
        """
        from boxwood.explanation.measure.totals import totals_of

        return totals_of(self, column, values)

    def representatives(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None, *, as_of: Any = None
    ) -> tuple[int | None, ...]:
        """Return the position of a typical row of each cluster: the one nearest to the cluster's middle.

        The middle is the cluster's median of each column of numbers, and its most frequent category of the others.
        Distances are added over all columns in standard deviations of the column; another category counts 1. Of
        equally near rows it is the first. None for a cluster without rows. `X`, `labels`, `sample_weight` and `as_of`
        are other rows, as for `evaluate`. Takes the time of `profile`, which is then kept.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0], [34.0], [38.0], [61.0], [67.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age"])
        >>> ex.names, ex.representatives()
        (('old', 'young'), (3, 1))
        """
        from boxwood.explanation.measure.profile import representatives_of

        return representatives_of(self._on(X, labels, sample_weight, as_of))

    # ------------------------------------------------------------------------------------------------ changes by hand
    # Each returns a new explanation, measured on the same rows, whose `changes` say what that cost. Other rows may be
    # given, as for `evaluate`; a model that was read from a file needs some.
    def move_cut(
        self,
        column: str,
        at: Any,
        *,
        to: Any,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        as_of: Any = None,
    ) -> Self:
        """Return the explanation with the cuts of a column at a value moved to another one, and what that costs.

        All cuts at this value move. Leaves keep their clusters, and a missing value stays on its side.

        Parameters
        ----------
        column : str
        at : number, text, date, or list of categories
            Where the cut is, as rules say it: 42 or "45,200", the day of "before 2026-03-01", the age "137 days ago",
            or all categories on one side.
        to : number, text, date, or list of categories
            Where it shall be. Numbers up to it are inside, if those up to the old one were; of dates, those before it.
            Categories take the place of those in `at`.
        X, labels, sample_weight, as_of : default=None
            Other rows to measure on, as for `evaluate`.

        Returns
        -------
        Explanation
            Its `changes` have one more `Edit`.

        Raises
        ------
        DataError
            If there is no such cut (the message names those that there are), or a leaf could not be reached any more;
            if the explanation was read from a file, and no rows are given.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [41.0], [61.0]], ["young", "young", "young", "old"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"])
        >>> print(ex.rules())
        old: age > 50
        young: age <= 50
        >>> moved = ex.move_cut("age", 50, to=40)
        >>> print(moved.changes)
        ex = ex.move_cut('age', 50, to=40)
            agreement 100.0% -> 75.0%, price 1.000 -> 1.381; 1 row moves: 1 from young to old
        """
        from boxwood.explanation.change.change import move_cut

        return move_cut(self._on(X, labels, sample_weight, as_of), column, at, to)

    def replace_cut(
        self,
        node: int,
        column: str,
        value: Any,
        *,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        as_of: Any = None,
    ) -> Self:
        """Return the explanation with another cut at a node of the tree, and what that costs.

        What is below stays, and each leaf there gets the cluster of most of its rows.

        Parameters
        ----------
        node : int
            Number of a cut of `tree`, in the order of the printed tree, from 0 for the first. An error lists them.
        column : str
            Column that is asked for instead.
        value : number, text, date, category, or list of categories
            Numbers up to it, dates before it, or before an age such as "137 days ago", or rows with one of the
            categories, are inside. None asks whether there is a number, in a column of `details.gaps`; with a number
            there, rows without one are with the larger ones.
        X, labels, sample_weight, as_of : default=None
            Other rows to measure on, as for `evaluate`.

        Raises
        ------
        DataError
            As `move_cut` does, and if the column is forbidden, or lacks such a category.
        ValueError
            If `node` is not the number of a cut.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 7.0], [34.0, 6.0], [38.0, 7.0], [61.0, 5.0], [67.0, 1.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> print(ex.replace_cut(0, "rides", 5).rules())
        old: rides <= 5
        young: rides > 5
        """
        from boxwood.explanation.change.change import replace_cut

        return replace_cut(self._on(X, labels, sample_weight, as_of), node, column, value)

    def split(
        self,
        leaf: int,
        column: str,
        value: Any,
        *,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        as_of: Any = None,
    ) -> Self:
        """Return the explanation with one more cut: a leaf becomes two, each with the cluster of most of its rows.

        Parameters
        ----------
        leaf : int
            Number of the leaf, as in `leaves`, `to_csv` and `why`.
        column, value
            What is asked, as for `replace_cut`.
        X, labels, sample_weight, as_of : default=None
            Other rows to measure on, as for `evaluate`.

        Raises
        ------
        DataError
            As `replace_cut` does.
        ValueError
            If there is no such leaf.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [61.0], [88.0]], ["young", "young", "old", "very old"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"], max_leaf_nodes=2)
        >>> print(ex.split(1, "age", 80).rules())
        old: 50 < age <= 80
        very old: age > 80
        young: age <= 50
        """
        from boxwood.explanation.change.change import split

        return split(self._on(X, labels, sample_weight, as_of), leaf, column, value)

    def prune(
        self,
        node: int,
        *,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        as_of: Any = None,
    ) -> Self:
        """Return the explanation without a cut and all below it: a leaf with the cluster of most of its rows.

        Parameters
        ----------
        node : int
            Number of a cut, as for `replace_cut`.
        X, labels, sample_weight, as_of : default=None
            Other rows to measure on, as for `evaluate`.

        Raises
        ------
        DataError
            If the explanation was read from a file, and no rows are given.
        ValueError
            If `node` is not the number of a cut.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [61.0], [88.0]], ["young", "young", "old", "very old"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"])
        >>> print(ex.prune(2).rules())
        old: age > 50
        very old: no rule of its own: the tree has no leaf for this cluster
        young: age <= 50
        """
        from boxwood.explanation.change.change import prune

        return prune(self._on(X, labels, sample_weight, as_of), node)

    def merge_clusters(
        self,
        *clusters: Hashable,
        name: Hashable = None,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        as_of: Any = None,
    ) -> Self:
        """Return the explanation of fewer clusters: some become one, in the place of the first of them.

        Their rules become one, without cuts that parted them alone. Agreement and price are those of the new clusters.

        Parameters
        ----------
        *clusters : str or number
            Names of at least two clusters.
        name : str or number, default=None
            Name of the new one. None is that of the first.
        X, labels, sample_weight, as_of : default=None
            Other rows to measure on, as for `evaluate`, with the clusters as they are.

        Raises
        ------
        DataError
            If a name is not that of a cluster, or `name` is that of another one; if the rows come in batches, or the
            explanation was read from a file, and no rows are given.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [61.0], [88.0]], ["young", "young", "old", "very old"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"]).merge_clusters("old", "very old")
        >>> print(ex.rules())
        old: age > 50
        young: age <= 50
        """
        from boxwood.explanation.change.change import merge_clusters

        return merge_clusters(self._on(X, labels, sample_weight, as_of), clusters, name)

    def without(
        self,
        *columns: str,
        X: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | str | None = None,
        as_of: Any = None,
    ) -> Self:
        """Return the explanation by the best tree that "auto" finds without some columns, and what that costs.

        It has as many leaves as this one, or fewer where more would not help, and keeps its limits. Later changes may
        not test the columns, either. Takes as long as `explain`.

        Parameters
        ----------
        *columns : str
            At least one. What the tree does not test may be among them, so that no later search takes it.
        X, labels, sample_weight, as_of : default=None
            Other rows to search and measure on, as for `evaluate`.

        Raises
        ------
        DataError
            If there is no such column, no other one is left, the rows come in batches, or the explanation was read from
            a file, and no rows are given.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 7.0], [34.0, 6.0], [38.0, 7.0], [61.0, 5.0], [67.0, 6.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> print(ex.without("age").changes)
        ex = ex.without('age')
            agreement 100.0% -> 80.0%, price 1.000 -> 4.308; 1 row moves: 1 from young to old
        """
        from boxwood.explanation.change.change import without

        return without(self._on(X, labels, sample_weight, as_of), columns)

    def edit(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None, *, as_of: Any = None
    ) -> Editor[Self]:
        """Return the tree as a widget for notebooks, in which all of these changes are made by hand; needs anywidget.

        Drag a threshold, choose a cut or a leaf: agreement, price and the rows that move stand beside it. "Take" hands
        the tree over as `explanation` of the widget; its `changes` are the lines of Python that make it again.

        Parameters
        ----------
        X, labels, sample_weight, as_of : default=None
            Other rows to measure on, as for `evaluate`: an explanation that was read from a file needs some.

        Returns
        -------
        Editor
            What a cell of Jupyter or VS Code shows if it is the last line there.

        Raises
        ------
        DataError
            If the explanation was read from a file, and no rows are given.
        ImportError
            If anywidget or jinja2 is missing.

        Notes
        -----
        Numbers of a threshold that is dragged come from one count of the rows that it parts: of 100,000 rows of 10
        columns in a fifth of a second, once for each threshold. Where rows come in batches or the cost is no sum of
        squares, they come once the change is made. A change is measured on all rows; one that takes longer than a fifth
        of a second says how long it took.

        Examples
        --------
        >>> import boxwood
        >>> ages, labels = [[21.0], [34.0], [61.0], [88.0]], ["young", "young", "old", "very old"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"])
        >>> widget = ex.edit()  # the last line of a cell
        >>> widget.explanation is ex  # nothing was taken yet
        True
        """
        from boxwood.render.notebook.editor import Editor

        return Editor(self._on(X, labels, sample_weight, as_of))

    # ------------------------------------------------------------------------------------------- how good the rules are
    def misassigned(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None, *, as_of: Any = None
    ) -> tuple[Misassigned, ...]:
        """Return the rows whose rule names another cluster than their own, and the cut that misled each.

        Rows left out, and rows without weight, are not among them. `X`, `labels`, `sample_weight` and `as_of` are other
        rows, as for `evaluate`; None takes the rows that the explanation was measured on. A model that was saved holds
        none.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0], [34.0], [62.0], [61.0], [67.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age"], method="imm")
        >>> [one] = ex.misassigned()
        >>> one.row, one.column, one.value, one.side, one.threshold, one.distance
        (2, 'age', 62.0, '>', 50.0, 12.0)
        """
        from boxwood.explanation.measure.misassigned import misassigned_in

        return misassigned_in(self._on(X, labels, sample_weight, as_of))

    def outliers(self) -> tuple[Outlier, ...]:
        """Return the rows that lie far from the mean of their cluster, the farthest first.

        A row is odd if its distance to the mean of its cluster, in median distances of the cluster's rows, is above 2
        and exceeds the upper quarter of all rows by more than three times the distance of the quarters (Tukey's far
        out). Distances are those in which the clusters were made, or in the columns as they are where labels were
        given. Time n d.

        Raises
        ------
        DataError
            If the explanation was read from a file, or of a table in batches that was not read into memory.

        Examples
        --------
        >>> import boxwood
        >>> ages = [[21.0], [22.0], [24.0], [25.0], [62.0], [63.0], [65.0], [66.0], [118.0]]
        >>> ex = boxwood.explain(ages, [0, 0, 0, 0, 1, 1, 1, 1, 1], columns=["age"])
        >>> [one] = ex.outliers()
        >>> one.row, one.cluster, one.column, one.value
        (8, 1, 'age', 118.0)
        """
        from boxwood.explanation.measure.outliers import outliers_in

        return outliers_in(self)

    def exceptions(self) -> Exceptions:
        """Return the fewest rows without which the tree's rules give every row its own cluster.

        They are the misassigned ones. Where the search knows how many rows any tree of as many leaves gets wrong, it is
        said whether another tree could do with fewer; no search is made for it.

        Raises
        ------
        DataError
            If the explanation was read from a file, or of a table in batches that was not read into memory.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0], [34.0], [62.0], [61.0], [67.0]]
        >>> labels = ["young", "young", "young", "old", "old"]
        >>> aside = boxwood.explain(table, labels, columns=["age"], objective="agreement").exceptions()
        >>> print(aside)
        Without 1 row (20.0%) of 5, the rules are perfect. No tree of 2 leaves has to set aside fewer.
        >>> [one.row for one in aside.rows]
        [2]
        """
        from boxwood.explanation.measure.misassigned import exceptions_of

        return exceptions_of(self)

    def confusion(
        self, X: Any = None, labels: Any = None, sample_weight: ArrayLike | str | None = None, *, as_of: Any = None
    ) -> tuple[tuple[float, ...], ...]:
        """Return how many rows of each cluster (k rows) the rules give to each cluster (k entries each).

        Weights are added if rows are weighted; rows left out do not count. Sums over the entries of a row are sizes of
        clusters, sums over the rows are `matched` of `clusters`, and the diagonal is what rules and clusters agree on.
        `X`, `labels`, `sample_weight` and `as_of` are other rows, as for `evaluate`.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0], [34.0], [62.0], [61.0], [67.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age"], method="imm")
        >>> ex.names, ex.confusion()
        (('old', 'young'), ((2, 0), (1, 2)))
        """
        from boxwood.explanation.measure.misassigned import confusion_of

        return confusion_of(self._on(X, labels, sample_weight, as_of))

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
            As in `explain`: 1 prints each tree on standard error, a function is called.

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

        For a table in batches a method by its name grows the larger tree from its own, on up to 2²³ values. "auto"
        grows it on a sample of up to 100 000 rows, and so does every method with folds, where the rows held out are
        rows of the sample, and where thresholds are rounded. Price and agreement are those of all rows in any case.

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
        from boxwood.explanation.measure.frontier import frontier_of

        return frontier_of(self, folds, verbose)

    def stability(self, n: int = 50, random_state: Any = None, *, verbose: Any = 0) -> Stability:
        """Return how much of the explanation is the same on rows drawn again, and whether groups are there at all.

        Parameters
        ----------
        n : int, default=50
            Number of resamples, at least 2: as many rows as there are, drawn with replacement, but at most 10 000.
        random_state : int or RandomState instance, default=None
            Seed or generator for the resamples, and for clusterers that take a seed. None is 0.
        verbose : int or function, default=0
            As in `explain`: 1 prints each resample on standard error, a function is called.

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
        given, or the clusterer is frozen: then only the tree is grown, and the rows to which its rules give a cluster
        are compared (`Stability.refitted` is False, and the verdict says why). Of a table in batches resamples are
        drawn from a sample of up to 100 000 rows.

        Clusters may return although no groups are there. So up to 500 rows are looked at for a gap or a valley that
        parts them (`Stability.clearer`): in a column of numbers, or on a line from a cluster of k-means to all other
        rows. Four fifths of the rows show where it is, and the last fifth must have fewer rows there than in the
        crowds on both sides; of tables without a valley at most one in twenty passes. The steps of a flag, a category
        or a frequent value are no valley, nor is the hollow of a ring or of a sheet that bends. Flags of which a row
        has one at most are taken for categories, and rows of a pipeline as they are before the first step that mixes
        columns.
        Groups that touch, or that have few rows, may be missed, and so are groups that no straight line parts. Clusters
        that `explain` makes have the same verdict there.

        Takes n fits and n growths. "auto" grows many trees each time, so name a
        method where time is short. The result is kept, and saved with the explanation; one that was read from a file
        returns what it holds.

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
        from boxwood.explanation.measure.stability import stability_of

        return stability_of(self, n, random_state, verbose)

    def evaluate(self, X: Any, labels: Any, sample_weight: ArrayLike | str | None = None, *, as_of: Any = None) -> Self:
        """Return the facts of the same tree on other rows with labels: agreement, price, sizes and all others.

        It refers to these rows, so that `profile` and others describe them. A cluster may have no row. Costs are
        measured as before: in the columns of a pipeline, on scaled columns, in a kernel's feature space. A model that
        was read from a file cannot do that: it measures squared distances in the numeric columns of the table, and a
        note says so. Rows with a label that is not the name of a cluster are left out. So are rows that `predict` gives
        no cluster, which `details.n_unruled` counts. Costs and profiles are those of the rows that have a value that
        the model knows in each column. Notes name all of them.

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
        as_of : str or date, default=None
            The day from which ages are counted, as for `apply`.

        Raises
        ------
        DataError
            If a column is missing, rows cannot be read, or no label is the name of a cluster (the message lists them);
            `drift` counts such labels.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], ["young", "young", "old"], columns=["age"])
        >>> later = ex.evaluate([[25.0], [52.0], [70.0], [80.0]], ["young", "young", "old", "old"])
        >>> later.agreement, later.clusters[1].found, later.tree == ex.tree
        (0.75, 0.5, True)
        """
        from boxwood.explanation.apply.other_rows import measured_on

        return self._of(measured_on(self, X, labels, sample_weight, as_of))

    def drift(
        self, X: Any, labels: Any = None, sample_weight: ArrayLike | str | None = None, *, as_of: Any = None
    ) -> Drift:
        """Return what changed since the rows that the tree was made of, on later rows such as those of next month.

        It has sizes then and now, the shares on both sides of each cut, rows without a cluster by reason, and what
        changed beyond chance; with labels also agreement, what is found, precision and new labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            The later rows, as for `evaluate`.
        labels : array-like of shape (n,), or str, default=None
            Names of their clusters, as for `evaluate`; other labels are counted.
        sample_weight : array-like of shape (n,), or str, default=None
            Weight of each row, if the rows of the model have some, too. Otherwise rows are counted.
        as_of : str or date, default=None
            The day of the later rows, from which ages are counted, as for `apply`.

        Raises
        ------
        DataError
            If a column is missing, or rows cannot be read.
        ValueError
            If weights are given, but the rows of the model have none.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], ["young", "young", "old"], columns=["age"])
        >>> ex.drift([[25.0], [52.0], [70.0], [None]]).lost
        (LostRows(column='age', reason='missing', rows=1, words=()),)
        """
        from boxwood.explanation.ages import at
        from boxwood.explanation.living.drift import drift_on

        return Drift(**vars(drift_on(at(self, as_of), X, labels, sample_weight)))

    def standalone_rules(
        self,
        max_conditions: int = 3,
        *,
        min_precision: float | None = None,
        min_found: float | None = None,
        validate: float | int | None = None,
    ) -> StandaloneRules:
        """Return a one-line rule for each cluster: the shortest that says who is in it, with what it finds and misses.

        The tree's rule for a cluster is what is left after the cuts of all clusters. A one-line rule is made for its
        cluster alone, so it is mostly shorter; but lines leave some rows out, and share others. A condition is an
        interval of numbers or dates, a set of categories, a boolean, or missing or not.

        Parameters
        ----------
        max_conditions : {1, 2, 3}, default=3
            Most conditions of a rule.
        min_precision : float, default=None
            Least share of a rule's rows that are in the cluster. Of rules that have it, the one that finds the most is
            taken, instead of the one with the highest F1. With `min_found` the shortest one that has both.
        min_found : float, default=None
            Least share of the cluster that a rule finds. Of rules that do, the one with the highest precision is taken.
        validate : float or int, default=None
            How well lines do on rows that were not used to make them, as in `explain`: a share of the rows, or a number
            of folds. Lines that were chosen for their rows look better there than they are.

        Returns
        -------
        StandaloneRules
            Of the best rules with one condition, two and three, a longer one is taken if it gains more than 0.01 in F1,
            or in what the other goals count, and more than luck: of a cluster of n rows, and a shorter rule of value f,
            c more conditions owe 0.75 √(c f (1 - f) / n) to it. Categories of fewer than five rows are named where it
            loses more than 0.01 without them, as one of a single row tells of that row. Limits of `explain` on columns,
            rows of a leaf and digits are kept. `StandaloneRule.best` says how much better a rule could be, unless it is
            proved that none is. The result is kept, and saved with the explanation; without arguments, one that was
            read from a file returns what it has.

        Raises
        ------
        DataError
            If the explanation was read from a file and holds no such lines.
        ValueError
            If a number is out of its range.

        Notes
        -----
        The search is exact, unless it takes more than a number of steps, which depends on rows and columns alone. Of a
        table in batches lines are made on the sample that "auto" draws, and counted in all rows by one pass; then
        nothing is proved of better ones.

        Examples
        --------
        >>> import boxwood
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> print(ex.standalone_rules())
               size  matched   found  precision  rule
        old       2        2  100.0%     100.0%  age > 50
        young     3        3  100.0%     100.0%  age <= 50
        <BLANKLINE>
        Each row is in one line.
        No rules of up to 3 conditions have a higher F1.
        """
        from boxwood.api.standalone_rules import StandaloneRules
        from boxwood.explanation.measure.line_search import find_rules

        return StandaloneRules._of(find_rules(self, max_conditions, min_precision, min_found, validate))

    def _on(self, X: Any, labels: Any, sample_weight: ArrayLike | str | None, as_of: Any) -> Self:
        """Return the explanation on other rows, or itself if none are given."""
        if X is None and labels is None and sample_weight is None and as_of is None:
            return self
        if X is None or labels is None:
            raise ValueError(
                "other rows need X and labels; sample_weight and as_of go with them, not with the rows of before"
            )
        return self.evaluate(X, labels, sample_weight, as_of=as_of)

    # ------------------------------------------------------------------------------------------------------- model file
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, for `load`. A file at `path` is replaced as a whole, or stays if writing fails.

        It is the text of `to_json`: the rules first, over lines, and in the last line all that was measured. So more
        rows that move no threshold change one line of a file under version control.
        """
        from boxwood.explanation.model_file import write_model

        write_model(self, path)

    def to_json(self) -> str:
        """Return the model file; `load` gives an equal explanation, but for what `to_dict` leaves out."""
        from boxwood.explanation.model_file import to_text

        return to_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the model file as a dict that JSON can hold: columns, clusters, nodes and facts, with a format number.

        Its rules are text for readers. Only its nodes are used to label rows. It shows no value of a single row: a
        profile and sums that were asked for lack clusters of fewer than five rows, quantiles are rounded to about a
        thousandth of the column's standard deviation, or to the day, columns that no rule tests lack categories of
        fewer than five rows, and notes quote no cell.
        """
        from boxwood.explanation.model_file import to_document

        return to_document(self)

    # ------------------------------------------------------------ programs that label rows elsewhere, as `predict` does
    def to_sql(
        self,
        dialect: DialectName = "duckdb",
        table: str | Sequence[str] | None = None,
        alias: str | None = None,
        layout: Literal["flat", "nested"] = "flat",
        nan: bool = True,
        types: Mapping[str, str] | None = None,
        reasons: bool = False,
        as_of: Any = None,
        share: bool = False,
    ) -> str:
        """Return a CASE expression of SQL that gives the cluster of a row, or a query that adds it to a table.

        A row without a cluster has NULL. Numbers are compared as doubles, and text by all its characters, even where
        the engine would compare it without case. Names are quoted, so Snowflake and PostgreSQL distinguish upper from
        lower case in them. Sets of categories become IN. In columns with missing values NULL and NaN are missing, and
        go where the rules send missing values. Comments on top say where the rules come from, and name columns of text
        that were read as numbers, booleans or dates: convert them first where your database holds text, too. Or state
        the type TEXT: then booleans, and in DuckDB, PostgreSQL and SQLite dates of ISO 8601, are read from text.

        Most engines treat NaN as the largest number, so columns that may hold it are tested for it. Whole numbers,
        decimals, booleans and dates cannot: `types` names such columns where the table did not.

        SQLite reads some decimals as a neighbouring double. So the dialect "sqlite" writes such thresholds as a whole
        number times or over a power of two, which it reads exactly. A value that SQLite itself reads from text, in a
        column of text or a CSV file, may still be the neighbour of the one that `predict` reads.

        Parameters
        ----------
        dialect : str, default="duckdb"
            Engine: "duckdb", "sqlite", "postgres" (or "postgresql"), which need nothing else, and with
            `pip install sqlglot` "redshift", "mysql" ("mariadb"), "tsql" ("sqlserver", "mssql"), "bigquery",
            "snowflake", "spark" ("databricks"), "trino" ("athena", "presto"), "clickhouse" and "oracle".
        table : str or sequence of str, default=None
            A table, for a query that selects its columns and the new column "cluster" ("cluster_1" if the model has a
            column "cluster", and so on). In a text, points separate the parts of a name, as in "sales.customers"; a
            sequence has one text for each part. A part in double braces, as "{{ ref('customers') }}" of dbt, stays as
            it is. None gives the expression alone.
        alias : str, default=None
            Name of the new column, in the expression, too. None gives the expression no name.
        layout : {"flat", "nested"}, default="flat"
            "flat" has one condition for each leaf, "nested" one for each side of a cut, and CASE within CASE.
        nan : bool, default=True
            Whether a column of floats may hold NaN. False leaves out the tests for it.
        types : mapping from str to str, default=None
            Types of columns in the database, such as `{"orders": "INTEGER", "since": "DATE"}`; other columns have those
            of the explained table, as far as it has types. Decimals such as 2.13 are compared exactly with columns of
            the type DOUBLE, so no exponent follows them.
        reasons : bool, default=False
            Whether a row without a cluster has the text "missing" or "never seen" instead of NULL, by what kept its
            rule from an answer. All clusters are then text, numbers included.
        as_of : str or date, default=None
            Where rules say ages, the day from which they are counted: None or "CURRENT_DATE" is the day of the session
            that runs the query, and "2026-08-31" that day. A column of the table has the day of each row, and is None
            for rules that were made so.
        share : bool, default=False
            Whether a second column has the share of the rows of the explanation in the row's leaf that are in the
            leaf's cluster, as in `predict_proba`; NULL without a leaf. Its name is that of the column of clusters and
            "_share", as in "cluster_share", so both have names then, without a table, too.

        Raises
        ------
        DataError
            If the name of a tested column differs from another's in case only, which all engines but PostgreSQL,
            Snowflake, ClickHouse and Oracle take for the same, or if a name has the character 0. If shares are asked
            of a model that does not tell of other clusters in its leaves.
        ImportError
            If the dialect needs sqlglot, which is missing.
        ValueError
            If the dialect, the layout or a type is unknown, a part of the table's name is empty, or a tree is deeper
            than the engine can nest CASE.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print(ex.to_sql("sqlite", table="people"))
        -- boxwood ..., from an array: 2 clusters, 2 leaves, agreement 100.0%
        SELECT *,
          CASE
            WHEN CAST("age" AS DOUBLE) <= 5 THEN 'young'
            WHEN CAST("age" AS DOUBLE) > 5 THEN 'old'
          END AS "cluster"
        FROM "people"
        """
        from boxwood.render.forms.sql import sql

        return sql(
            self,
            dialect=dialect,
            table=table,
            alias=alias,
            layout=layout,
            nan=nan,
            types=types,
            reasons=reasons,
            as_of=as_of,
            share=share,
        )

    def monitoring_sql(
        self,
        dialect: DialectName = "duckdb",
        table: str | Sequence[str] = "rows",
        types: Mapping[str, str] | None = None,
        as_of: Any = None,
    ) -> str:
        """Return a query of SQL that counts what `drift` counts of a table, beside the old numbers.

        Its result has a line for all rows, one for each cluster, for the rows without a cluster and each reason, and
        for each cut, of the rows that reach it. Columns are `line`, `what` ("rows", "cluster", "no cluster", "cut"),
        `name`, `rows_then`, `rows_now`, `share_then`, `share_now`. Numbers that the model does not know are NULL; of a
        weighted one the old numbers are weights. It reports no change: you decide which share is alarming.

        Parameters
        ----------
        dialect, table, types, as_of
            As for `to_sql`.

        Raises
        ------
        DataError, ImportError, ValueError
            As `to_sql` does.

        Examples
        --------
        >>> import boxwood, duckdb
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> con = duckdb.connect()
        >>> _ = con.execute("CREATE TABLE people AS SELECT unnest([3.0, 7.0, 8.0, NULL]) AS age")
        >>> for line in con.execute(ex.monitoring_sql("duckdb", "people")).fetchall():
        ...     print(*line[1:5])
        rows  2 4
        cluster old 1 2
        cluster young 1 1
        no cluster  0 1
        no cluster age is missing None 1
        cut age <= 5 1 1
        """
        from boxwood.render.forms.monitoring import monitoring_sql

        return monitoring_sql(self, dialect, table, types, as_of)

    def to_dbt(
        self,
        table: str = "rows",
        dialect: DialectName = "postgres",
        nan: bool = True,
        types: Mapping[str, str] | None = None,
        reasons: bool = False,
        as_of: Any = None,
    ) -> dict[str, str]:
        """Return a model of dbt that adds the cluster to a table, and its tests: texts by the names of their files.

        "customers_clusters.sql" is the model, for the table "customers". "schema.yml" describes it, and tests that the
        new column holds nothing but the clusters; that each row has one is a test that warns.

        Parameters
        ----------
        table : str, default="rows"
            Name of a model of dbt, for `ref`, or an expression in braces, such as "{{ source('shop', 'customers') }}".
        dialect, nan, types, reasons, as_of
            As for `to_sql`.

        Raises
        ------
        DataError
            As `to_sql` does, and if a name of a cluster has braces that dbt takes for its own.
        ImportError, ValueError
            As `to_sql` does.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> files = ex.to_dbt("people", types={"age": "INTEGER"})
        >>> print(files["people_clusters.sql"])
        -- boxwood ...
        SELECT *,
          CASE
            WHEN "age" <= 5 THEN 'young'
            WHEN "age" > 5 THEN 'old'
          END AS "cluster"
        FROM {{ ref('people') }}
        >>> print(files["schema.yml"])
        # boxwood ...
        version: 2
        models:
          - name: people_clusters
            description: "Rules of 2 clusters, 2 leaves, agreement 100.0%"
            columns:
              - name: cluster
                quote: true
                data_tests:
                  - accepted_values:
                      values: ["old", "young"]
                  - not_null:  # a row without a cluster lacks a value, or has a category that was never seen
                      config: {severity: warn}
        """
        from boxwood.render.forms.dbt import dbt

        return dbt(self, table=table, dialect=dialect, nan=nan, types=types, reasons=reasons, as_of=as_of)

    def to_python(self, *, as_of: Any = None, share: bool = False) -> str:
        """Return source of Python with `cluster(row)`, `why_none(row)` and `COLUMNS`, which needs Python alone.

        `row` is a mapping from the name of a column, or the number that is its name, to its value. The result is the
        name of the row's cluster, or None for a row without one; `why_none` then gives the column, and "missing" or
        "never seen". None and NaN are missing; a row without one of the `COLUMNS` that the rules ask for is a KeyError.
        Text in a column of numbers is a TypeError, as is a date with a time zone where those of the rules have none, or
        vice versa. Texts of dates must be in the form that the column had, or in that of ISO 8601; others are a
        ValueError, as are numbers.

        Where rules say ages, both functions have an argument `as_of`, the day from which these are counted; None is
        today, or the day in the column that `explain` was given.

        Parameters
        ----------
        as_of : str or date, default=None
            A day such as "2026-08-31", for a function of rules as of that day alone.
        share : bool, default=False
            Whether there is a third function, `share(row)`: the share of the rows of the explanation in the row's leaf
            that are in the leaf's cluster, as in `predict_proba`; None without a leaf.

        Raises
        ------
        DataError
            If shares are asked of a model that does not tell of other clusters in its leaves.

        Examples
        --------
        >>> import boxwood
        >>> names = {}
        >>> exec(boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"]).to_python(), names)
        >>> names["cluster"]({"age": 7}), names["cluster"]({"age": None}), names["why_none"]({"age": None})
        ('old', None, ('age', 'missing'))
        >>> names["cluster"]({"Age": 7})
        Traceback (most recent call last):
            ...
        KeyError: "no column 'age'; a missing value is None"
        """
        from boxwood.render.forms.code import python

        return python(self, as_of=as_of, share=share)

    def to_javascript(self, *, module: bool = False, as_of: Any = None) -> str:
        """Return source of JavaScript with `cluster(row)`, `whyNone(row)` and `COLUMNS`, which needs nothing else.

        `row` is an object from the name of a column to its value. The result is the name of the row's cluster, or null
        for a row without one; `whyNone` then gives the column, and "missing" or "never seen". null, NaN and undefined
        are missing; a row without one of the `COLUMNS` that the rules ask for, as an own property, is an Error. The
        source may be put in a page, between script tags, whatever the names are. Texts of dates must be in the form
        that the column had, or in that of ISO 8601, and have a time zone just where dates of the rules have one; others
        are a TypeError. Where the rules know no zone, a Date is the day and the time of the local clock, as
        `new Date(2026, 2, 16)` is; `new Date("2026-03-16")` is midnight in UTC, another day in America: give the text.

        Parameters
        ----------
        module : bool, default=False
            Whether the source is a module, whose functions others `import`. It is a script otherwise, for a page or for
            `require`.
        as_of : str or date, default=None
            A day such as "2026-08-31", for functions of rules as of that day alone. None: where rules say ages, both
            functions have an argument `asOf`, as those of Python have.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print("\\n".join(ex.to_javascript().split("\\n")[14:24]))
        function cluster(row) {
          for (const column of COLUMNS) {
            if (Object.prototype.hasOwnProperty.call(row, column)) continue;
            throw new Error("no column " + JSON.stringify(column) + " in the row; a missing value is null");
          }
          const age = numberOf("age");
          if (age === null) return null;
          if (age <= 5) {
            return "young";
          }
        """
        from boxwood.render.forms.code import javascript

        return javascript(self, module=module, as_of=as_of)

    def to_formula(
        self,
        *,
        row: int = 2,
        columns: Sequence[str] | None = None,
        let: bool = True,
        separator: Literal[",", ";"] = ",",
        as_of: Any = None,
    ) -> str:
        """Return a formula that gives the cluster of a row of a spreadsheet.

        It works in Excel, LibreOffice and Google Sheets. The first row of the sheet must have the names of the columns;
        the formula finds them there, in any order, and gives #N/A if one is missing. The formula for row 2 can
        be copied down. A row without a cluster has an empty text. A cell with an empty text counts as an empty cell,
        and in a column with missing values an empty cell is missing; other text has no cluster there.
        Spreadsheets hold about 15 digits of a number: a value nearer to a cut than a relative 1e-13 may fall on its
        other side.

        Parameters
        ----------
        row : int, default=2
            Row of the spreadsheet that the formula is for.
        columns : sequence of str, default=None
            All columns of the sheet in their order, from column A on. The formula then has letters, which are shorter,
            and needs no names in the first row.
        let : bool, default=True
            Whether LET names the values of columns, so that the formula finds each once: Excel from 2021 on, Google
            Sheets and LibreOffice from 24.8 on have it. False is for older ones. With `columns` there is no need.
        separator : {",", ";"}, default=","
            What stands between arguments. ";" is for sheets whose decimals have a comma, as German ones do; numbers of
            the formula then have one, too. Names of functions are English, as Google Sheets takes them everywhere; a
            German Excel takes them from a file alone, with ",".
        as_of : str or date, default=None
            Where rules say ages, the day from which they are counted, such as "2026-08-31"; None is TODAY().

        Raises
        ------
        DataError
            If the formula is longer than 8,192 characters or nested deeper than 64 functions, more than Excel allows;
            if a name has the character 0; if `columns` lack a column that the tree tests, or have it twice; or, without
            them, if the name of a tested column differs from another's in case only, which a spreadsheet takes for the
            same.
        ValueError
            If `row` is no whole number of at least 1; without `columns`, of at least 2; if `separator` is another one.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print(ex.to_formula(columns=["id", "age"]))
        =IF(ISNUMBER(B2),IF(B2<=5,"young","old"),"")
        >>> found, rules = ex.to_formula().split(",IF(AND(")
        >>> print(found, rules, sep="\\n")
        =LET(age,INDEX(2:2,MATCH("age",$1:$1,0))
        EXACT(INDEX($1:$1,MATCH("age",$1:$1,0)),"age")),IF(ISNUMBER(age),IF(age<=5,"young","old"),""),NA()))
        """
        from boxwood.render.forms.formula import formula

        return formula(self, row=row, columns=columns, let=let, separator=separator, as_of=as_of)

    def to_sklearn(self) -> DecisionTreeClassifier:
        """Return a fitted tree of scikit-learn that predicts the same clusters, for SHAP, dtreeviz and `plot_tree`.

        scikit-learn reads rows as float32, and refuses infinite ones. On rows that float32 holds and in which nothing
        is missing the predictions are the same; another value is rounded first, and may thus pass a threshold next to
        it.

        `classes_` has the names of the clusters in ascending order, `feature_names_in_` the columns, unless boxwood
        named them. A two-sided cut becomes two nodes, and what is outside of it is there twice, each with half of the
        rows. Counts at the nodes are rows of the explained table, or weights; a leaf without rows counts one. The share
        of classes at a leaf is 1 for its cluster. A column of categories is tested by its codes: the places of its
        values in `details.categories`. A set of categories becomes a node for each end of its runs of codes, and what
        is below is repeated as often. In a column with missing values NaN goes where the rules send missing values.

        Raises
        ------
        DataError
            If two-sided cuts and sets of categories make more than 2**17 nodes; `to_python` takes them.

        Examples
        --------
        >>> import boxwood
        >>> twin = boxwood.explain([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).to_sklearn()
        >>> twin.predict([[5.0], [6.0]]), twin.tree_.n_node_samples.tolist()
        (array([0, 1]), [4, 2, 2])
        """
        from boxwood.render.forms.sklearn import sklearn

        return cast("DecisionTreeClassifier", sklearn(self))

    def to_onnx(self) -> bytes:
        """Return an ONNX model that gives the cluster of a row, as the bytes of its file; needs onnx.

        The input `X` has shape (n, d) and type float32: all columns of the table in their order. The output `cluster`
        has shape (n,): int64 if all names are whole numbers, text otherwise. A row without a cluster has -1 or an empty
        text; NaN counts as missing.

        On rows that float32 holds the clusters are those of `predict`; another value is rounded first, and may thus
        pass a threshold next to it. A column of categories is given as codes: the places of its values in
        `details.categories`, then the place after the last for unknown values if these are allowed, else NaN. In a
        column with missing values NaN goes where the rules send missing values.

        Raises
        ------
        DataError
            If two-sided cuts and sets of categories make more than 2**17 nodes; `to_pmml` takes them.
        ImportError
            If onnx is missing.

        Examples
        --------
        >>> import boxwood
        >>> model = boxwood.explain([[1.0], [9.0]], ["young", "old"]).to_onnx()
        >>> import onnxruntime
        >>> session = onnxruntime.InferenceSession(model)
        >>> session.run(["cluster"], {"X": [[5.0], [6.0]]})
        [array(['young', 'old'], dtype=object)]
        """
        from boxwood.render.forms.onnx import onnx

        return onnx(self)

    def to_pmml(self) -> str:
        """Return a model in PMML 4.4, the XML that scoring engines of databases, streams and Java read.

        It is a `TreeModel` that predicts the field "cluster" ("cluster_1" if the table has such a column, and so on):
        an integer if all names are whole numbers of 32 bits, a string otherwise. Its other fields are the columns that
        the tree tests: numbers are doubles, and categories are written as they are, not as codes. `recordCount` of a
        leaf is its rows, or their weight. A row without a cluster gets no prediction.

        Raises
        ------
        DataError
            If a name or a category has a character that XML cannot hold, such as the character 0.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> for line in ex.to_pmml().splitlines()[12:15]:
        ...     print(line.strip()[:80])
        <Node id="0"><True/>
        <Node id="1" score="young" recordCount="1"><SimplePredicate field="age" operator
        <Node id="2" score="old" recordCount="1"><SimplePredicate field="age" operator="
        """
        from boxwood.render.forms.pmml import pmml

        return pmml(self)


def load(path: str | os.PathLike[str] | IO[str]) -> Explanation:
    """Return the explanation that `Explanation.save` or `to_json` wrote.

    Parameters
    ----------
    path : path, or file that is open for reading text
        For a model in a text, `io.StringIO(text)`.

    Raises
    ------
    ModelError
        If the file is not a boxwood model, or one of a newer format.
    OSError
        If there is no such file, or it cannot be read.
    """
    from boxwood.explanation.model_file import read_model

    return Explanation._of(read_model(path))
