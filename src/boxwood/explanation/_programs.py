"""The forms of an explanation that other programs run: each method hands over to the writer of `render`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

__all__ = ["Programs"]


class Programs:
    """Forms of an `Explanation` that label rows elsewhere, as `predict` does.

    A row that lacks a value which its rule needs, or has a category there that was never seen, has no cluster: NULL in
    SQL, None in Python, null in JavaScript, an empty text in a spreadsheet, no prediction in PMML.
    """

    def to_sql(
        self,
        dialect: Literal["duckdb", "sqlite", "postgres", "mysql", "tsql", "bigquery", "snowflake", "spark"] = "duckdb",
        table: str | Sequence[str] | None = None,
    ) -> str:
        """Return a CASE expression of SQL that gives the cluster of a row, or a query that adds it to a table.

        A row without a cluster has NULL. Numbers are compared as doubles, and text by all its characters, even where
        the engine would compare it without case. Names are quoted, so Snowflake and PostgreSQL tell upper from lower
        case in them.

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
            If the name of a tested column differs from another's in case only, which SQL takes for the same, or if a
            name has the character 0.
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
        from boxwood.render._sql import sql

        return sql(self, dialect=dialect, table=table)

    def to_python(self) -> str:
        """Return source of Python with one public function, `cluster(row)`, which imports nothing.

        `row` is a mapping from the name of a column to its value. The result is the name of the row's cluster, or None
        for a row without one; a column that is not there counts as missing. Text in a column of numbers is a TypeError.

        Examples
        --------
        >>> import boxwood
        >>> names = {}
        >>> exec(boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"]).to_python(), names)
        >>> names["cluster"]({"age": 7}), names["cluster"]({"age": None})
        ('old', None)
        """
        from boxwood.render._python import python

        return python(self)

    def to_javascript(self) -> str:
        """Return a function of JavaScript, `cluster(row)`, which needs nothing else.

        `row` is an object from the name of a column to its value. The result is the name of the row's cluster, or null
        for a row without one; a property that is not there counts as missing. The source may stand in a page, between
        script tags, whatever the names are.

        Examples
        --------
        >>> import boxwood
        >>> ex = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
        >>> print("\\n".join(ex.to_javascript().split("\\n")[3:9]))
        function cluster(row) {
          const age = numberOf("age");
          if (age === null) return null;
          if (age <= 5) {
            return "young";
          }
        """
        from boxwood.render._javascript import javascript

        return javascript(self)

    def to_formula(self, *, row: int = 2, columns: Sequence[str] | None = None) -> str:
        """Return a formula that gives the cluster of a row of a spreadsheet.

        It works in Excel, LibreOffice and Google Sheets. The first row of the sheet must have the names of the columns;
        the formula finds them there, wherever they stand, and gives #N/A if one is missing. The formula for row 2 can
        be copied down. A row without a cluster has an empty text. A cell with an empty text counts as an empty cell.
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
        from boxwood.render._formula import formula

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
        `categories`.

        Raises
        ------
        DataError
            If two-sided cuts make more than 2**17 nodes.

        Examples
        --------
        >>> import boxwood
        >>> twin = boxwood.explain([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).to_sklearn()
        >>> twin.predict([[5.0], [6.0]]), twin.tree_.n_node_samples.tolist()
        (array([0, 1]), [4, 2, 2])
        """
        from boxwood.render._sklearn import sklearn

        return cast("DecisionTreeClassifier", sklearn(self))

    def to_onnx(self) -> bytes:
        """Return an ONNX model that gives the cluster of a row, as the bytes of its file; needs `boxwood[onnx]`.

        The input `X` has shape (n, d) and type float32: all columns of the table in their order. The output `cluster`
        has shape (n,): int64 if all names are whole numbers, text otherwise. A row without a cluster has -1 or an empty
        text; NaN counts as missing.

        On rows that float32 holds the clusters are those of `predict`; another value is rounded before it comes in, and
        may so pass a threshold that it is next to. A column of words comes in as codes: the places of its values in
        `categories`, then the place after the last for unknown values if these are allowed, else NaN.

        Raises
        ------
        DataError
            If two-sided cuts make more than 2**17 nodes.
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
        from boxwood.render._onnx import onnx

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
        from boxwood.render._pmml import pmml

        return pmml(self)
