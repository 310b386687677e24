"""What is written and drawn of an explanation: each method hands over to the file of `render` that does it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from boxwood.explanation.verbs import Measurable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.tree import DecisionTreeClassifier


class Written(Measurable):
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
        from boxwood.render.forms.text import full_text

        return full_text(self)

    def to_sentences(self) -> str:
        """Return a line for each cluster: its rows, its rule, and how well the rule describes it.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [2.0], [9.0]], ["new", "new", "old"], columns=["age"])
        >>> print(ex.to_sentences())
        new (2 rows, 66.7%): age <= 5. The rule finds 100.0% of the cluster; 100.0% of the rows it matches belong to it.
        old (1 row, 33.3%): age > 5. The rule finds 100.0% of the cluster; 100.0% of the rows it matches belong to it.
        """
        from boxwood.render.forms.text import sentences

        return sentences(self)

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

    def to_markdown(self) -> str:
        """Return the summary as Markdown, for a slide, a ticket or a language model.

        Characters of names that mean something in Markdown are escaped, and rules are code.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print(ex.to_markdown().split("\\n\\n")[1])
        | cluster | size | share | rows matched | found | precision | rule |
        | --- | ---: | ---: | ---: | ---: | ---: | --- |
        | old | 1 | 50.0% | 1 | 100.0% | 100.0% | `age > 5` |
        | young | 1 | 50.0% | 1 | 100.0% | 100.0% | `age <= 5` |
        """
        from boxwood.render.forms.text import markdown

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
        from boxwood.explanation.apply.frames import frame_of

        return frame_of(self, what)

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
            Round all counts down to multiples of it, so that no smaller group can be worked out; shares follow from the
            rounded counts. If rows are weighted, weights are rounded, and those of fewer rows are 0; a loaded model
            knows weights alone. What tells of the same rows once more is left out: the price, the frontier, sums of
            values, rows held out, and notes with numbers or shares of rows. Other medians and quartiles stay as they
            are, and other forms, such as the model file, tell exact counts. None rounds nothing.

        Returns
        -------
        str or None
            The page; None if it was written to `path`. It holds counts, shares, medians and quartiles, and no row of
            the table. Of a cluster of fewer than five rows, or of fewer than `min_count`, it shows the size and the
            rules, but no median, no sum and no bar, and says so. The same explanation gives the same page. It is below
            1 MB for 60 columns and 15 clusters, and does not grow with the rows.

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
        from boxwood.render.page.page import page

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
        from boxwood.render.page.page import in_notebook

        return in_notebook(self)


class Programs(Measurable):
    """Forms of an `Explanation` that label rows elsewhere, as `predict` does.

    A row that lacks a value which its rule needs, or has a category there that was never seen, has no cluster: NULL in
    SQL, None in Python, null in JavaScript, an empty text in a spreadsheet, no prediction in PMML. An empty text is a
    missing value in a spreadsheet alone; elsewhere it is a value, which `NULLIF(column, '')` makes NULL in SQL.
    """

    def to_sql(
        self,
        dialect: Literal["duckdb", "sqlite", "postgres", "mysql", "tsql", "bigquery", "snowflake", "spark"] = "duckdb",
        table: str | Sequence[str] | None = None,
    ) -> str:
        """Return a CASE expression of SQL that gives the cluster of a row, or a query that adds it to a table.

        A row without a cluster has NULL. Numbers are compared as doubles, and text by all its characters, even where
        the engine would compare it without case. Names are quoted, so Snowflake and PostgreSQL tell upper from lower
        case in them. Sets of categories are asked for by IN. In columns with gaps NULL and NaN are missing, and go
        where the rules send missing values. A comment on top names columns of text that were read as numbers or dates
        in a way that engines do not: convert them first.

        SQLite reads some decimals as a neighbouring double. So the dialect "sqlite" writes such thresholds as a whole
        number times or over a power of two, which it reads exactly. A value that SQLite itself reads from text, in a
        column of text or a CSV file, may still be the neighbour of the one that `predict` reads.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgres", "mysql", "tsql", "bigquery", "snowflake", "spark"}, default="duckdb"
            Engine, by its name in sqlglot: "tsql" is SQL Server, "mysql" also MariaDB. The first three need nothing
            else, the others sqlglot: `pip install "boxwood[sql]"`.
        table : str or sequence of str, default=None
            A table, for a query that selects its columns and the new column "cluster" ("cluster_1" if the model has a
            column "cluster", and so on). In a text, points separate the parts of a name, as in "sales.customers"; a
            sequence has one text for each part. None gives the expression alone.

        Raises
        ------
        DataError
            If the name of a tested column differs from another's in case only, which all engines but PostgreSQL and
            Snowflake take for the same, or if a name has the character 0.
        ImportError
            If the dialect needs sqlglot, which is missing.
        ValueError
            If the dialect is unknown, or a part of the table's name is empty.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print(ex.to_sql("sqlite", table="people"))
        SELECT *, CASE
        WHEN CAST("age" AS DOUBLE) <= 5 THEN 'young'
        WHEN CAST("age" AS DOUBLE) > 5 THEN 'old'
        END AS "cluster"
        FROM "people"
        """
        from boxwood.render.forms.sql import sql

        return sql(self, dialect=dialect, table=table)

    def to_python(self) -> str:
        """Return source of Python with `cluster(row)`, `why_none(row)` and `COLUMNS`, which needs Python alone.

        `row` is a mapping from the name of a column, or the number that is its name, to its value. The result is the
        name of the row's cluster, or None for a row without one; `why_none` then gives the column, and "missing" or
        "never seen". None and NaN are missing; a row without one of the `COLUMNS` that the rules ask for is a KeyError.
        Text in a column of numbers is a TypeError, as is a date with a time zone where those of the rules have none, or
        the other way round. Texts of dates must be in the form that the column had, or in that of ISO 8601; others are
        a ValueError, as are numbers.

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

        return python(self)

    def to_javascript(self) -> str:
        """Return source of JavaScript with `cluster(row)`, `whyNone(row)` and `COLUMNS`, which needs nothing else.

        `row` is an object from the name of a column to its value. The result is the name of the row's cluster, or null
        for a row without one; `whyNone` then gives the column, and "missing" or "never seen". null, NaN and undefined
        are missing; a row without one of the `COLUMNS` that the rules ask for, as an own property, is an Error. The
        source may stand in a page, between script tags, whatever the names are. Texts of dates must be in the form that
        the column had, or in that of ISO 8601, and have a time zone just where dates of the rules have one; others are
        a TypeError. A Date is read as it is, and so in UTC where the rules know no zone.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print("\\n".join(ex.to_javascript().split("\\n")[4:16]))
        const COLUMNS = ["age"];
        <BLANKLINE>
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

        return javascript(self)

    def to_formula(self, *, row: int = 2, columns: Sequence[str] | None = None) -> str:
        """Return a formula that gives the cluster of a row of a spreadsheet.

        It works in Excel, LibreOffice and Google Sheets. The first row of the sheet must have the names of the columns;
        the formula finds them there, wherever they stand, and gives #N/A if one is missing. The formula for row 2 can
        be copied down. A row without a cluster has an empty text. A cell with an empty text counts as an empty cell,
        and in a column with gaps an empty cell is missing; other text has no cluster there.
        Spreadsheets hold about 15 digits of a number: a value nearer to a cut than a relative 1e-13 may fall on its
        other side.

        Parameters
        ----------
        row : int, default=2
            Row of the spreadsheet that the formula is for.
        columns : sequence of str, default=None
            All columns of the sheet in their order, from column A on. The formula then has letters, which are shorter,
            and needs no names in the first row.

        Raises
        ------
        DataError
            If the formula is longer than 8,192 characters or nested deeper than 64 functions, more than Excel allows;
            if a name has the character 0; if `columns` lack a column that the tree tests, or have it twice; or, without
            them, if the name of a tested column differs from another's in case only, which a spreadsheet takes for the
            same.
        ValueError
            If `row` is no whole number of at least 1; without `columns`, of at least 2.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print(ex.to_formula(columns=["id", "age"]))
        =IF(ISNUMBER(B2),IF(B2<=5,"young","old"),"")
        >>> print(ex.to_formula()[:78])
        =IF(AND(EXACT(INDEX($1:$1,MATCH("age",$1:$1,0)),"age")),IF(ISNUMBER(INDEX(2:2,
        """
        from boxwood.render.forms.formula import formula

        return formula(self, row=row, columns=columns)

    def to_sklearn(self) -> DecisionTreeClassifier:
        """Return a fitted tree of scikit-learn that predicts the same clusters, for SHAP, dtreeviz and `plot_tree`.

        scikit-learn reads rows as float32, and refuses infinite ones. On rows that float32 holds and in which nothing
        is missing the predictions are the same; another value is rounded first, and may so pass a threshold that it is
        next to.

        `classes_` has the names of the clusters in ascending order, `feature_names_in_` the columns, unless boxwood
        named them. A two-sided cut becomes two nodes, and what is outside of it stands twice, each with half of the
        rows. Counts at the nodes are rows of the explained table, or weights; a leaf without rows counts one. The share
        of classes at a leaf is 1 for its cluster. A column of words is tested by its codes: the places of its values in
        `categories`. A set of categories becomes a node for each end of its runs of codes, and what is below stands as
        often. In a column with gaps NaN goes where the rules send missing values.

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
        """Return an ONNX model that gives the cluster of a row, as the bytes of its file; needs `boxwood[onnx]`.

        The input `X` has shape (n, d) and type float32: all columns of the table in their order. The output `cluster`
        has shape (n,): int64 if all names are whole numbers, text otherwise. A row without a cluster has -1 or an empty
        text; NaN counts as missing.

        On rows that float32 holds the clusters are those of `predict`; another value is rounded before it comes in, and
        may so pass a threshold that it is next to. A column of words comes in as codes: the places of its values in
        `categories`, then the place after the last for unknown values if these are allowed, else NaN. In a column with
        gaps NaN goes where the rules send missing values.

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
        the tree tests: numbers are doubles, and words stand as they are, not as codes. `recordCount` of a leaf is its
        rows, or their weight. A row without a cluster gets no prediction.

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


class Drawn(Measurable):
    """Pictures of an `Explanation`.

    Each takes an Axes and returns it, and shows nothing by itself. Colours are those of M. A. Petroff (2021), which
    colour-blind readers tell apart; numbers, shapes or patterns say the same in grey. Names of columns and clusters are
    drawn as they are, shortened in the middle where they are long. All pictures raise an ImportError if matplotlib is
    missing, which `pip install "boxwood[plot]"` brings, and a TypeError if `ax` is no Axes.
    """

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
            Where to draw; the picture fills it as far as its shape allows. None makes a new figure.

        Returns
        -------
        Axes
            Its `figure` can be saved: `ex.plot().figure.savefig("tree.pdf")`.

        Notes
        -----
        A loaded model has no rows. Its cuts are drawn without distributions, and its leaves tell rows of their own
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
        Of more than 4,000 rows a sample is drawn, always the same. A loaded model has no rows: only boxes are drawn.
        Codes of categories are spread a little, so that rows do not lie upon each other. The picture shows single rows.

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
        one and a half. Columns that the tree tests come first, then those that tell the clusters apart best, 40 lines
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
        """Draw stability: how far each cluster is found again on rows drawn anew, and how often each cut's column.

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
