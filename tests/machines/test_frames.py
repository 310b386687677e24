"""A tree labels the frames of Spark and Dask as it labels rows in memory."""

import datetime
import math
from itertools import compress

import numpy as np
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.explanation.choose import settings
from boxwood.tree import ThresholdTree
from tests.explanation.test_dates import customers as customers_with_dates
from tests.explanation.test_dates import dated
from tests.explanation.test_gathered import check_same, customers
from tests.render.test_every_engine import Engine, arrow_table, as_sql, check
from tests.rule_cases import COLUMNS

pytestmark = pytest.mark.machines
TREE = ThresholdTree.from_dict(
    {
        "feature": 2,
        "threshold": 0.1,
        "left": {"cluster": 2},
        "right": {"feature": 0, "interval": [-1, 1], "inside": {"cluster": 0}, "outside": {"cluster": 1}},
    }
)


def by_row(machines, frame, name):
    """Return the values of a column by the number of the row, which another column holds."""
    table = machines.table(frame)
    return [value for _, value in sorted(zip(table["row"].to_pylist(), table[name].to_pylist(), strict=True))]


def test_a_tree_adds_a_column_and_keeps_the_others(machines):
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:40, 2], X[40:80, 0] = 0.1, 1.0
    X[80:90, 2] = np.nextafter(0.1, 1)
    table = pa.table({"a.b": X[:, 0], "text": ["u"] * 300, "it's": X[:, 1], "flag": [True] * 300, "Cluster": X[:, 2]})
    table = table.append_column("row", pa.array(range(300)))
    tree = TREE.relabeled([2, 0, 1])
    renumbered = ThresholdTree(
        np.where(tree.feature == 2, 3, tree.feature), tree.lower, tree.upper, tree.second, tree.cluster
    )
    frame = machines.frame(table, 3)
    columns = ["a.b", "it's", "flag", "Cluster"]
    found = renumbered.predict(frame, columns=columns)
    assert list(found.columns) == [*table.column_names, "cluster_1"]
    assert by_row(machines, found, "cluster_1") == tree.predict(X).tolist()
    assert by_row(machines, renumbered.apply(frame, columns=columns), "leaf") == tree.apply(X).tolist()
    kept = machines.table(found).sort_by("row").select(["a.b", "text", "flag"])
    assert kept.to_pydict() == table.select(["a.b", "text", "flag"]).to_pydict()


def test_a_tree_of_one_leaf_needs_no_column(machines):
    frame = machines.frame(pa.table({"t": ["u", "v", "w"], "row": [0, 1, 2]}))
    assert by_row(machines, ThresholdTree.from_dict({"cluster": 4}).predict(frame), "cluster") == [4, 4, 4]


def test_a_tree_needs_its_columns_and_their_values(machines):
    frame = machines.frame(pa.table({"x": [1.0, 2.0], "y": [1.0, 2.0], "t": ["u", "v"]}))
    with pytest.raises(DataError, match="the tree tests column 2, but the frame has 2 numeric columns"):
        TREE.predict(frame)
    with pytest.raises(DataError, match="needs 3 columns, but the frame has 4 numeric columns: x, y, z, label; name"):
        TREE.predict(machines.frame(pa.table({"x": [1.0], "y": [1.0], "z": [1.0], "label": [1]}), 1))
    with pytest.raises(DataError, match="no column 'w'"):
        TREE.predict(frame, columns=["x", "y", "w"])
    for nothing in (None, math.nan):
        frame = machines.frame(pa.table({"x": [1.0, 1.0], "y": [0.0, nothing], "z": [0.0, nothing]}), 1)
        with pytest.raises(Exception, match="1 of 2 rows of a part of the table lack a value that their rule needs"):
            machines.table(TREE.predict(frame))


def test_rows_get_the_same_cluster_or_none(machines, tmp_path):
    def labels(ex, folder, columns):
        table = arrow_table(columns).select(COLUMNS[::-1])
        frame = machines.frame(table.append_column("row", pa.array(range(table.num_rows))))
        leaves = [None if leaf < 0 else leaf for leaf in ex.apply(table, missing="none").tolist()]
        assert by_row(machines, ex.apply(frame, missing="none"), "leaf") == leaves
        return by_row(machines, ex.predict(frame, missing="none"), "cluster")

    check(Engine(labels, trees=2), tmp_path)


DATES = pytest.mark.parametrize("gaps", [False, True]), pytest.mark.parametrize("zone", ["", "Europe/Vienna"])


def table_of_dates(rows, zone):
    """Return rows with dates as a table of Arrow, with the number of each row."""
    moments = {"joined": pa.timestamp("us"), "last": pa.timestamp("us", zone or None)}
    arrays = {name: pa.array([row[name] for row in rows], moments.get(name, pa.float64())) for name in rows[0]}
    return pa.table(arrays | {"row": pa.array(range(len(rows)))})


def frame_of_dates(machines, table):
    """Return a frame; Spark is told that moments without a time zone have none."""
    if machines.name != "spark":
        return machines.frame(table)
    kinds = {"timestamp[us]": "timestamp_ntz", "date32[day]": "date", "double": "double", "int64": "long"}
    schema = ", ".join(f"{one.name} {kinds.get(str(one.type), 'timestamp')}" for one in table.schema)
    return machines.session.createDataFrame(table, schema).repartition(2)


@DATES[0]
@DATES[1]
def test_rows_with_dates_get_the_same_cluster_or_none(machines, gaps, zone):
    ex, rows, wanted = dated(gaps, zone)
    frame = frame_of_dates(machines, table_of_dates(rows, zone))
    assert by_row(machines, ex.predict(frame, missing="none"), "cluster") == wanted
    days = [row | {"joined": row["joined"] and row["joined"].date()} for row in rows]
    whole = [row["joined"] is None or row["joined"].time() == datetime.time() for row in rows]
    table = table_of_dates(rows, zone).filter(pa.array(whole))
    table = table.set_column(1, "joined", pa.array(list(compress([row["joined"] for row in days], whole)), pa.date32()))
    table = table.set_column(3, "row", pa.array(range(table.num_rows)))
    found = ex.predict(frame_of_dates(machines, table), missing="none")
    assert by_row(machines, found, "cluster") == list(compress(wanted, whole))


def test_tables_with_dates_give_what_a_frame_gives(machines):
    frame = customers_with_dates(2, gaps=True)
    expected = bw.explain(frame, "segment", random_state=0)
    ex = bw.explain(machines.frame(pa.Table.from_pandas(frame)), "segment", random_state=0)
    assert ex.tree == expected.tree
    assert str(ex.clusters) == str(expected.clusters)


def test_an_explanation_says_which_column_is_not_there(machines):
    ex = bw.explain([[1.0], [2.0], [8.0]], [0, 0, 1], columns=["age"])
    frame = machines.frame(pa.table({"agee": [1.0]}))
    with pytest.raises(DataError, match=r"no column 'age' \(did you mean 'agee'\?\)"):
        ex.predict(frame)
    with pytest.raises(ValueError, match="missing"):
        ex.predict(frame, missing="drop")
    lacking = machines.frame(pa.table({"age": [1.0, None]}))
    with pytest.raises(Exception, match="lack a value that their rule needs; fill such values"):
        machines.table(ex.predict(lacking, missing="error"))


@pytest.mark.parametrize(
    ("names", "kind"), [((3, 1), pa.int64()), ((0.5, 1.5), pa.float64()), ((True, False), pa.bool_()), ((1, "b"), None)]
)
def test_names_keep_their_type_or_become_text(machines, names, kind):
    ex = bw.explain([[1.0], [2.0], [8.0]], [0, 0, 1], columns=["age"]).rename(dict(enumerate(names)))
    found = machines.table(ex.predict(machines.frame(pa.table({"age": [1.0, 9.0]}), 1)))["cluster"]
    assert found.to_pylist() == (list(names) if kind else list(map(str, names)))
    assert found.type == kind or kind is None


def test_tables_with_words_and_gaps_give_what_a_frame_gives(machines, monkeypatch):
    frame, way = customers(0), {"columns": ["age", "country", "plan", "member", "visits"], "random_state": 0}
    table, expected = machines.frame(pa.Table.from_pandas(frame)), bw.explain(frame, "segment", **way)
    ex = bw.explain(table, "segment", **way)
    check_same(ex, expected)
    assert str(ex.frontier()) == str(expected.frontier())
    assert ex.evaluate(table, "segment").agreement == ex.agreement
    for ask in (ex.misassigned, ex.evaluate(table, "segment").representatives, lambda: ex.why(3)):
        with pytest.raises(DataError, match="has no order of rows; read them into a frame"):
            ask()
    with pytest.raises(DataError, match="'weight' can only be shown where all rows are in memory"):
        ex.totals("weight")
    monkeypatch.setattr(settings, "GATHERED", 1000)
    monkeypatch.setattr(settings, "DRAWN", 1000)
    assert ex.evaluate(table, "segment").cost == pytest.approx(ex.cost, rel=1e-14)
    for clusters in ({"labels": "segment"}, {"n_clusters": 3, "standardize": True}):
        check_same(bw.explain(table, **clusters, **way), bw.explain(bw.scan(frame), **clusters, **way))


# ---------------------------------------------------------------------------------------------------- SQL on Spark


def test_sql_on_spark_gives_rows_the_same_cluster_or_none(spark, tmp_path):
    def labels(ex, folder, columns):
        table = arrow_table(columns)
        frame = spark.createDataFrame(table.append_column("row", pa.array(range(table.num_rows))))
        return [row.c for row in sorted(frame.selectExpr("row", f"{as_sql(ex, 'spark')} AS c").collect())]

    spark.conf.set("spark.sql.variable.substitute", "false")  # otherwise ${x} in the name of a column is a variable
    check(Engine(labels, trees=8), tmp_path)
    spark.conf.unset("spark.sql.variable.substitute")


@DATES[0]
@DATES[1]
def test_sql_on_spark_gives_rows_with_dates_the_same_cluster_or_none(spark, machines, gaps, zone):
    ex, rows, wanted = dated(gaps, zone)
    frame = frame_of_dates(machines, table_of_dates(rows, zone))
    for elsewhere in ("America/New_York", "UTC"):
        spark.conf.set("spark.sql.session.timeZone", elsewhere)
        assert [row.c for row in sorted(frame.selectExpr("row", f"{as_sql(ex, 'spark')} AS c").collect())] == wanted
    spark.conf.unset("spark.sql.session.timeZone")


def test_names_of_clusters_in_sql_are_no_variables_of_spark(spark):
    names = {0: "${spark.app.name}", 1: "it's $5 {or} \\${x}"}
    ex = bw.explain([[1.0], [2.0], [8.0]], [0, 0, 1], columns=["age"]).rename(names)
    found = (
        spark.createDataFrame(pa.table({"age": [1.0, 9.0]})).selectExpr("age", f"{ex.to_sql('spark')} AS c").collect()
    )
    assert [row.c for row in sorted(found)] == list(names.values())
