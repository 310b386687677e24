"""A tree labels the frames of Spark and Dask as it labels rows in memory."""

import math

import numpy as np
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.render.forms.sql import sql
from boxwood.tree import ThresholdTree
from tests.render.test_writers import SEEDS, case
from tests.rule_cases import COLUMNS, random_tree

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


@pytest.mark.parametrize("seed", SEEDS)
def test_an_explanation_reads_columns_by_hostile_names(machines, seed):
    ex, _, columns, predicted = case(seed)
    types = (pa.float64(), pa.float32(), pa.bool_(), pa.string(), pa.float64())
    table = pa.table({name: pa.array(values, type) for name, values, type in zip(COLUMNS, columns, types, strict=True)})
    table = table.select([4, 3, 2, 1, 0]).append_column("row", pa.array(range(len(predicted))))
    frame = machines.frame(table, 2)
    assert by_row(machines, ex.predict(frame, missing="none"), "cluster") == predicted
    leaves = [None if leaf < 0 else leaf for leaf in ex.apply(table, missing="none").tolist()]
    assert by_row(machines, ex.apply(frame, missing="none"), "leaf") == leaves
    with pytest.raises(Exception, match="lack a value that their rule needs; fill such values"):
        machines.table(ex.predict(frame))


def test_an_explanation_says_which_column_is_not_there(machines):
    ex = bw.explain([[1.0], [2.0], [8.0]], [0, 0, 1], columns=["age"])
    frame = machines.frame(pa.table({"agee": [1.0]}))
    with pytest.raises(DataError, match=r"no column 'age' \(did you mean 'agee'\?\)"):
        ex.predict(frame)
    with pytest.raises(ValueError, match="missing"):
        ex.predict(frame, missing="drop")


@pytest.mark.parametrize(
    ("names", "kind"),
    [((3, 1), pa.int64()), ((0.5, 1.5), pa.float64()), ((True, False), pa.bool_()), ((1, "b"), None)],
)
def test_names_keep_their_type_or_become_text(machines, names, kind):
    ex = bw.explain([[1.0], [2.0], [8.0]], [0, 0, 1], columns=["age"]).rename(dict(enumerate(names)))
    found = machines.table(ex.predict(machines.frame(pa.table({"age": [1.0, 9.0]}), 1)))["cluster"]
    assert found.to_pylist() == (list(names) if kind else list(map(str, names)))
    assert found.type == kind or kind is None


# ---------------------------------------------------------------------------------------------------- SQL on Spark


@pytest.mark.parametrize("seed", SEEDS)
def test_sql_runs_on_spark_itself(spark, seed):
    ex, _, columns, predicted = case(seed)
    types = (pa.float64(), pa.float32(), pa.bool_(), pa.string(), pa.float64())
    arrays = [pa.array(values, type) for values, type in zip(columns, types, strict=True)]
    nan = [math.nan if x is None and i % 2 else x for i, x in enumerate(columns[0])]
    frame = spark.createDataFrame(
        pa.table([pa.array(nan), *arrays[1:], pa.array(range(len(predicted)))], [*COLUMNS, "row"])
    )
    spark.conf.set("spark.sql.variable.substitute", "false")  # otherwise ${x} in the name of a column is a variable
    found = frame.selectExpr("row", f"{ex.to_sql('spark')} AS c").collect()
    spark.conf.unset("spark.sql.variable.substitute")
    assert [row.c for row in sorted(found)] == predicted


def test_names_of_clusters_in_sql_are_no_variables_of_spark(spark):
    names = {0: "${spark.app.name}", 1: "it's $5 {or} \\${x}"}
    ex = bw.explain([[1.0], [2.0], [8.0]], [0, 0, 1], columns=["age"]).rename(names)
    found = (
        spark.createDataFrame(pa.table({"age": [1.0, 9.0]})).selectExpr("age", f"{ex.to_sql('spark')} AS c").collect()
    )
    assert [row.c for row in sorted(found)] == list(names.values())


def test_sql_on_spark_at_cuts_and_next_to_them(spark):
    random = np.random.default_rng(1)
    cuts = np.array([0.0, 0.1, 1 / 3, -2.5, 7.0, 123456.789, np.float32(0.1), 2.0**-30])
    near = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), [np.inf, -np.inf, np.nan]])
    X = random.choice(near, size=(200, 3))
    X[:, 1] = X[:, 1].astype(np.float32)
    table = pa.table(
        [pa.array(X[:, 0]), pa.array(X[:, 1].astype(np.float32)), pa.array(X[:, 2], from_pandas=True)],
        ["a b", "x.y", "z"],
    )
    frame = spark.createDataFrame(table.append_column("row", pa.array(range(200)))).cache()
    for _ in range(8):
        tree = random_tree(random, n_columns=3, two_sided=0.3)
        ex = explained(tree)
        expected = [None if c < 0 else c for c in ex.predict(X, missing="none").tolist()]
        found = frame.selectExpr("row", f"{sql(ex, dialect='spark')} AS c").collect()
        assert [row.c for row in sorted(found)] == expected


def explained(tree):
    from tests.rule_cases import explained_by

    return explained_by(tree, ("a b", "x.y", "z"), (0, 1, 2))
