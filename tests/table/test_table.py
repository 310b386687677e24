"""Reading files into matrices, and labelling them by the SQL of a tree."""

import csv
import gzip
import itertools
import json
import math
import os
import pathlib
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import duckdb
import numpy as np
import polars as pl
import pyarrow
import pyarrow.parquet
import pytest

import boxwood
from boxwood.cli._options import FORMAT
from boxwood.errors import DataError
from boxwood.render.forms.sql import sql_case
from boxwood.table import ColumnError, ReadOptions, label_rows, output_format
from boxwood.table.connect import SETTINGS, open_duckdb, wait_for
from boxwood.table.duck import DuckTable
from boxwood.table.formats import FORMATS, format_of
from boxwood.table.labels import Rules
from boxwood.table.options import split_names
from boxwood.table.scanned import scan_file
from boxwood.tree import ThresholdTree, TreeBuilder
from tests import naive
from tests.cases import chain, make_case
from tests.command import invoke
from tests.reading import read_file
from tests.scale import SLOW, each, law

TINY, HUGE = 5e-324, 1.7976931348623157e308
THRESHOLDS = [
    0.0,
    -0.0,
    0.1,
    float(np.float32(0.1)),
    1 / 3,
    1e300,
    -1e300,
    1e-300,
    TINY,
    HUGE,
    -math.inf,
    math.inf,
    7.0,
]


def random_tree(rng, n_leaves, n_columns, values, *, deepest=False):
    builder, leaves = TreeBuilder(), [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(-1 if deepest else int(rng.integers(len(leaves))))
        a, b = sorted(rng.choice(values, 2).tolist())
        lower = a if rng.random() < 0.3 else -math.inf
        leaves += builder.split(node, int(rng.integers(n_columns)), b, lower)
    for leaf in leaves:
        builder.label(leaf, int(rng.integers(5)))
    return builder.build()


def neighbours(values):
    """Return the values, and for each the doubles below and above it."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        return np.concatenate([values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])


def run_sql(expressions, X):
    """Return the result of each expression on the columns x0, x1, … of X, with NULL for NaN; None is NULL."""
    columns = ", ".join(f"nullif(c{j}, CAST('NaN' AS DOUBLE)) AS x{j}" for j in range(X.shape[1]))
    chosen = ", ".join(f"{expression} AS e{i}" for i, expression in enumerate(expressions))
    with duckdb.connect() as con:
        con.register("t", {f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})
        return list(zip(*con.execute(f"SELECT {chosen} FROM (SELECT {columns} FROM t)").fetchall(), strict=True))


def write_csv(path, names, rows, **how):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", **how)
        writer.writerow(names)
        writer.writerows(rows)
    return str(path)


def text_file(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def labels_of(path):
    relation = f"read_csv('{path}', all_varchar=true, header=true, delim=',')" if "csv" in path else f"'{path}'"
    return [row[0] for row in duckdb.execute(f"SELECT cluster FROM {relation}").fetchall()]


# ---------------------------------------------------------------------------------------------- the SQL of a tree


@law(8)
def test_sql_labels_rows_as_the_twin_does(seed):
    rng = np.random.default_rng(seed)
    n_columns = int(rng.integers(1, 4))
    X = rng.choice(neighbours(THRESHOLDS), (150, n_columns))
    X[rng.random(X.shape) < 0.1] = np.nan
    if seed % 4 == 0:
        X = X.clip(-3e38, 3e38).astype(np.float32)
    trees = [random_tree(rng, int(rng.integers(1, 12)), n_columns, THRESHOLDS) for _ in range(55)]
    columns = [f"x{j}" for j in range(n_columns)]
    for tree, found in zip(trees, run_sql([sql_case(t, columns, range(5)) for t in trees], X), strict=True):
        nested = tree.to_dict()
        assert list(found) == [naive.cluster_or_none(nested, x) for x in X]


@law(3)
def test_sql_labels_generated_tables_as_the_tree_does(seed):
    for case_seed in range(80 * seed, 80 * seed + 80, 16):
        rng = np.random.default_rng(case_seed)
        X = make_case(case_seed).X
        trees = [random_tree(rng, 6, X.shape[1], np.asarray(X, dtype=np.float64).ravel()) for _ in range(16)]
        columns = [f"x{j}" for j in range(X.shape[1])]
        for tree, found in zip(trees, run_sql([sql_case(t, columns, range(5)) for t in trees], X), strict=True):
            assert list(found) == tree.predict(X).tolist()


@pytest.mark.parametrize(
    ("n_leaves", "deepest"),
    [(65, False), (130, True), (300, False), (300, True)] + SLOW * [(2000, False), (2000, True)],
)
def test_sql_of_many_leaves_is_grouped_and_labels_alike(n_leaves, deepest):
    rng = np.random.default_rng(n_leaves)
    tree = random_tree(rng, n_leaves, 5, rng.normal(size=1000), deepest=deepest)
    X = np.vstack([rng.normal(size=(2000, 5)), rng.choice(tree.upper[tree.feature >= 0], (2000, 5))])
    X[rng.random(X.shape) < 0.05] = np.nan
    found = run_sql([sql_case(tree, ["x0", "x1", "x2", "x3", "x4"], range(5))], X)[0]
    nested = tree.to_dict()
    assert list(found) == [naive.cluster_or_none(nested, x) for x in X]


@pytest.mark.parametrize(("n", "n_columns"), [(700, 1), (300, 3)] + SLOW * [(5000, 1), (5000, 3)])
def test_sql_of_a_deep_tree_runs_at_the_default_depth_of_expressions(n, n_columns):
    tree = chain(n, n_columns=n_columns, cluster=lambda i: i % 5, last=5)
    X = np.random.default_rng(0).integers(-1, n + 2, size=(20, n_columns)) + 0.5
    X[0, 0] = np.nan
    X[1] = n + 1
    padded = np.column_stack([X, np.zeros((20, 3 - n_columns))])
    found = run_sql([sql_case(tree, ["x0", "x1", "x2"], range(6))], padded)[0]
    nested = tree.to_dict()
    assert list(found) == [naive.cluster_or_none(nested, x) for x in X]
    assert found[1] == 5


@contextmanager
def calls_counted():
    """Give a list that has a number for each call of a function."""
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(1) if "call" in event else None)
    try:
        yield calls
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("n", [4000] + SLOW * [100_000])
def test_sql_of_a_very_deep_tree_takes_a_line_for_each_leaf(n):
    tree = chain(n, n_columns=3, cluster=lambda i: i % 5, last=5)
    with calls_counted() as calls:
        case = sql_case(tree, ["x0", "x1", "x2"], range(6))
    assert len(calls) < 1000 * n  # not more for each leaf of a longer chain
    assert len(case) < 300 * n
    depth = np.cumsum([line.endswith("CASE") - line.endswith("END") for line in case.split("\n")])
    assert depth.max() <= 4


def test_sql_quotes_names_and_keeps_whole_numbers():
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 2, "left": {"cluster": 0}, "right": {"cluster": 1}})
    case = sql_case(tree, ['a"b'], ["it's", 7])
    assert '"a""b"' in case
    assert "'it''s'" in case
    assert "'7'" in case
    assert "THEN 7\n" in sql_case(tree, ["a"], [7, 8])
    assert sql_case(ThresholdTree.from_dict({"cluster": 0}), [], ["all"]) == "'all'"


# ------------------------------------------------------------------------------------------------------ reading


@law(1)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_numbers_are_read_as_they_were_written(tmp_path, form, seed):
    X = np.column_stack([np.resize(make_case(60 * seed + i, max_columns=1).X[:, 0], 41) for i in range(60)])
    names = [f"column {j}" for j in range(X.shape[1])]
    path = str(tmp_path / f"t.{form}")
    if form == "csv":
        write_csv(path, names, [[repr(float(value)) for value in row] for row in X])
    else:
        with duckdb.connect() as con:
            con.register("t", {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(names)})
            con.execute(f"COPY t TO '{path}'")
    table = read_file(path)
    varied = [j for j in range(X.shape[1]) if len(set(X[:, j])) > 1]
    assert table.columns == tuple(names[j] for j in varied)
    assert np.array_equal(table.X, X[:, varied])
    constant = tuple(name for j, name in enumerate(names) if j not in varied)
    assert table.left_out == ((("one value only", constant),) if constant else ())


@pytest.mark.crossed
@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_any_delimiter_is_found(tmp_path, delimiter, newline):
    text = newline.join(delimiter.join(row) for row in (["a", "b c"], ["1", "2.5"], ["3", "-4e2"])) + newline
    table = read_file(text_file(tmp_path, "t.txt", text))
    assert table.columns == ("a", "b c")
    assert table.X.tolist() == [[1, 2.5], [3, -400]]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    assert read_file(text_file(tmp_path, "t.csv", "\ufeffa,b\n1,2\n2,3\n")).columns == ("a", "b")


def test_compression_is_told_by_the_bytes_and_not_by_the_name(tmp_path):
    (tmp_path / "packed.csv").write_bytes(gzip.compress(b"a\n1\n2\n"))
    plain = text_file(tmp_path, "plain.csv.gz", "a\n1\n2\n")
    for path in (str(tmp_path / "packed.csv"), plain):
        assert read_file(path).X.tolist() == [[1], [2]]


def test_durations_are_times_in_every_file(tmp_path):
    from pyarrow import feather, parquet

    table = pyarrow.table({"a": [1.0, 2.0], "d": pyarrow.array([5, 6], pyarrow.duration("s")), "b": [3, 4]})
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    for name in ("t.parquet", "t.feather"):
        read = read_file(str(tmp_path / name))
        wanted = ("a", "b"), (("times of day or lengths of time (make numbers of them, such as seconds)", ("d",)),)
        assert (read.columns, read.left_out) == wanted


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_numbers_too_large_for_doubles_are_no_single_value(tmp_path, form):
    path = str(tmp_path / f"t.{form}")
    duckdb.execute(
        f"COPY (SELECT 4611686018427387904 + i AS big, 4611686018427387904 AS same, i FROM range(20) t(i)) TO '{path}'"
    )
    reasons = dict(read_file(path).left_out)
    assert reasons == {"too large to be exact as doubles": ("big",), "one value only": ("same",)}


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_columns_of_whole_numbers_beyond_doubles_are_told(tmp_path, form):
    path = str(tmp_path / f"t.{form}")
    far = "4611686018427387904 + 100000 * i AS far, i AS near, 1e300 * i AS real, 9007199254740992 - i AS most"

    duckdb.execute(
        f"COPY (SELECT {far} FROM range(20) t(i)) TO '{path}' (FORMAT {'json' if form == 'jsonl' else form})"
    )
    assert read_file(path).rounded == ("far",)


def test_nan_of_parquet_is_told_with_remedies(tmp_path):
    path = str(tmp_path / "t.parquet")
    duckdb.execute(f"COPY (SELECT CASE WHEN i = 3 THEN 'nan'::DOUBLE ELSE i END AS a FROM range(20) t(i)) TO '{path}'")
    words = ["explain", path, "-k", "2", "--engine", "memory", "--missing", "refuse"]
    assert "missing values in 1 of 20 rows: a (1)" in invoke(*words, code=3).stderr


def test_arrow_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"^reading an Arrow file needs pyarrow: pip install pyarrow$"):
        read_file(text_file(tmp_path, "t.arrow", "anything"))


def test_every_format_has_extensions_of_its_own_and_is_offered_by_the_command_line():
    extensions = [extension for format in FORMATS.values() for extension in format.extensions]
    assert len(set(extensions)) == len(extensions)
    for name, format in FORMATS.items():
        for extension in format.extensions:
            assert format_of(f"a.b{extension.upper()}") == format_of(f"a{extension}.gz") == name
    option = FORMAT(lambda: None).__click_params__[0]
    assert list(option.type.choices) == list(FORMATS)
    assert all(f'"{name}"' in ReadOptions.__doc__ for name in FORMATS)


NAMES = ['the "net" height', "a.b", "é ü", "select", "X", "x", "1", "it's", "a,b", "c0", " padded"]


@pytest.mark.parametrize("form", ["csv", "arrow"])
def test_any_name_is_a_name(tmp_path, form):
    rows = np.arange(2 * len(NAMES)).reshape(2, -1)
    path = str(tmp_path / f"it's [a] *table*.{form}")
    if form == "csv":
        write_csv(path, NAMES, rows)
    else:
        from pyarrow import feather

        feather.write_feather(pyarrow.table(dict(zip(NAMES, rows.T, strict=True))), path)
    assert read_file(path).columns == tuple(NAMES)
    for j, name in enumerate(NAMES):
        assert read_file(path, columns=[name]).X[:, 0].tolist() == rows[:, j].tolist()


def test_names_that_are_missing_or_repeated_become_different(tmp_path):
    table = read_file(text_file(tmp_path, "t.csv", "a,a,,a_1\n1,2,3,4\n2,3,4,5\n"))
    assert table.columns == ("a", "a_1", "column 3", "a_1_1")


def test_a_glob_means_itself(tmp_path):
    text_file(tmp_path, "ab.csv", "x\n8\n9\n")
    assert read_file(text_file(tmp_path, "a*.csv", "x\n1\n2\n")).X.tolist() == [[1], [2]]
    assert read_file(text_file(tmp_path, "[a]b.csv", "x\n3\n4\n")).X.tolist() == [[3], [4]]


@pytest.mark.crossed
@pytest.mark.parametrize("folder", ["x=5", "year=2024", "y=abc", "x=5/year=2024"])
@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "jsonl"])
def test_a_folder_is_no_column(tmp_path, form, folder):
    (tmp_path / folder).mkdir(parents=True)
    paths = [str(tmp_path / f"t.{form}"), str(tmp_path / folder / f"t.{form}")]
    outs = [str(tmp_path / "o.csv"), str(tmp_path / folder / "o.csv")]
    options = "(FORMAT csv, DELIMITER '\t')" if form == "tsv" else "(FORMAT json)" if form == "jsonl" else ""
    for path, out in zip(paths, outs, strict=True):
        duckdb.execute(f"COPY (SELECT i AS x, i % 3 AS y FROM range(9) t(i)) TO '{path}' {options}")
        label_rows(path, out, Rules(CASE, {"p": "x", "q": "y"}))
    outside, inside = map(read_file, paths)
    assert inside.columns == outside.columns == ("x", "y")
    assert np.array_equal(inside.X, outside.X)
    texts = [pathlib.Path(out).read_text() for out in outs]
    assert texts[0] == texts[1]
    assert texts[0].startswith("x,y,cluster\n0,0,low\n")


def test_columns_are_chosen_and_excluded(tmp_path):
    path = text_file(tmp_path, "t.csv", '"a,b",c,d,e\n1,2,3,4\n5,6,7,8\n')
    assert read_file(path, columns=["e,c", "a,b"]).columns == ("e", "c", "a,b")
    assert read_file(path, exclude=["a,b", "d"]).columns == ("c", "e")
    with pytest.raises(ColumnError, match="no column 'f' in the table\nColumns: a,b, c, d, e"):
        read_file(path, exclude=["c,f"])
    assert split_names(["a, b", "b"], ["a", "b"]) == ("a", "b")


@pytest.mark.full
@law(2)
def test_many_columns_are_read_as_each_is_alone(tmp_path, seed):
    rng = np.random.default_rng(seed)
    kinds = [
        ["1.5", "2", "-3e4"],
        ["true", "False"],
        ["007", "12"],
        ["x", "y"],
        ["2020-01-01", "2021-02-03"],
        ["5"],
        [""],
    ]
    chosen = [kinds[i] for i in rng.integers(len(kinds), size=230)]
    names = [f"n{j}" for j in range(len(chosen))]
    rows = list(zip(*[rng.choice(kind, 12) for kind in chosen], strict=True))
    whole = read_file(write_csv(tmp_path / "t.csv", names, rows))
    for name in rng.choice(names, 6):
        others = [other for other in names if other not in (name, whole.columns[0], whole.columns[1])]
        kept = [*whole.columns[:2], name]
        alone = read_file(str(tmp_path / "t.csv"), exclude=others)
        shared = [other for other in whole.columns if other in kept]
        assert list(alone.columns) == shared
        assert np.array_equal(alone.X, whole.X[:, [whole.columns.index(other) for other in shared]])
        assert [set(alone.padded), set(alone.booleans)] == [
            set(whole.padded) & set(kept),
            set(whole.booleans) & set(kept),
        ]
        reasons = {(reason, one) for reason, some in whole.left_out for one in some if one in kept}
        assert {(reason, one) for reason, some in alone.left_out for one in some} == reasons


# a process begins with the peak of the one that started it, so one without memory stands between
MEASURED = [
    sys.executable,
    "-c",
    "import resource, subprocess, sys\nassert subprocess.call(sys.argv[1:]) == 0\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
]


@pytest.mark.slow
def test_many_columns_take_memory_of_the_table(tmp_path):
    import subprocess

    X = np.random.default_rng(0).normal(size=(5000, 300)).round(3)
    write_csv(tmp_path / "t.csv", [f"n{j}" for j in range(300)], X.tolist())
    path = str(tmp_path / "t.csv")
    reading = f"from tests.reading import read_file\nassert read_file({path!r}).X.shape == (5000, 300)"
    root = pathlib.Path(__file__).parents[2]
    done = subprocess.run([*MEASURED, sys.executable, "-c", reading], cwd=root, capture_output=True, text=True)
    assert int(done.stdout) < 600_000  # kB; about 340 000, where it took two million


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_labelling_takes_memory_of_the_columns_and_not_of_the_rows(tmp_path, form):
    import subprocess

    labelling = (
        "import sys; from boxwood.table.labels import Rules; from boxwood.table import label_rows\n"
        "label_rows(sys.argv[1], sys.argv[2], Rules('x > 0', {'x': 'n0'}))"
    )
    peaks = []
    for n_rows in (120_000, 360_000):
        values = ", ".join(f"CAST(random() * 1e9 AS BIGINT) AS n{j}" for j in range(130))  # soon written as text
        path, out = str(tmp_path / f"{n_rows}.parquet"), str(tmp_path / f"out.{form}")
        duckdb.execute(f"COPY (SELECT {values} FROM range({n_rows})) TO '{path}' (ROW_GROUP_SIZE 30000)")
        done = subprocess.run([*MEASURED, sys.executable, "-c", labelling, path, out], capture_output=True, text=True)
        peaks.append(int(done.stdout.splitlines()[-1]))  # DuckDB may show its progress before
    assert peaks[1] < 1.3 * peaks[0]


@pytest.mark.crossed
@pytest.mark.parametrize("value", ["1_1", "1_000.5", "1e1_0"])
@pytest.mark.parametrize("decimal", [None, ",", "."])
def test_an_underscore_makes_a_text(tmp_path, value, decimal):
    path = tmp_path / "t.csv"
    path.write_text(f"a;b\n{value};1\n{value};2\n", encoding="utf-8")
    assert read_file(str(path), ReadOptions(decimal=decimal)).left_out == (("one value only", ("a",)),)
    with scan_file(str(path), ReadOptions(decimal=decimal)) as source:
        assert source.kinds == ("text", "number")
    with pytest.raises(DataError, match=f"has text in 2 of 2 rows, first '{value}'"):
        label_rows(str(path), str(tmp_path / "o.csv"), Rules("x0", {"x0": "a"}), ReadOptions(decimal=decimal))


def test_text_far_down_among_numbers_is_found(tmp_path):
    rows = [[i, 2 * i] for i in range(60_000)]
    rows[50_000][1] = "oops"
    path = write_csv(tmp_path / "t.csv", ["a", "b"], rows)
    where = "text in 1 of 60,000 rows, first 'oops' in row 50,001"
    with pytest.raises(DataError, match=f"'b' must be numbers, but .* has {where}"):
        read_file(path, columns=["b"])
    (reason, names), *others = read_file(path).left_out
    assert (reason.startswith(f"numbers, but {where}"), names, others) == (True, ("b",), [])


# ----------------------------------------------------------------------------------------------------- labelling

TREE = ThresholdTree.from_dict(
    {
        "feature": 0,
        "threshold": 1.5,
        "left": {"cluster": 0},
        "right": {"feature": 1, "interval": [2.5, 3], "inside": {"cluster": 1}, "outside": {"cluster": 2}},
    }
)
CASE = sql_case(TREE, ["p", "q"], ["low", "it's", "rest"])
NUMBERS = {"p": "a", "q": "b"}


def test_csv_keeps_its_text_and_a_missing_value_on_the_way_leaves_the_row_empty(tmp_path):
    text = 'id,a,b,note\n007,1.50,,"x, y"\n008,2.0,2.50,\n009,,1, z \n010,2,NA,"quo""te"\n011,1e1,NaN,é\n012,9,3.5,-\n'
    out = str(tmp_path / "out.csv")
    result = label_rows(text_file(tmp_path, "t.csv", text), out, Rules(CASE, NUMBERS))
    lines = ["id,a,b,note,cluster", '007,1.50,,"x, y",low', "008,2.0,2.50,,it's", "009,,1, z ,"]
    lines += ['010,2,NA,"quo""te",', "011,1e1,NaN,é,", "012,9,3.5,-,rest"]
    with open(out, encoding="utf-8") as file:
        assert file.read().splitlines() == lines
    assert result == (6, 3, ())


@pytest.mark.crossed
@pytest.mark.parametrize("out", ["out.csv", "out.csv.gz", "out.tsv", "out.parquet", "out.jsonl", "out.jsonl.gz"])
@pytest.mark.parametrize("source", ["t.csv", "t.parquet"])
def test_every_output_holds_every_column_in_order(tmp_path, source, out):
    path = str(tmp_path / source)
    duckdb.execute(
        f"COPY (SELECT i AS id, i % 4 AS a, i % 7 / 2 AS b, 'n' || i AS n FROM range(5000) t(i)) TO '{path}'"
    )
    target = str(tmp_path / out)
    assert label_rows(path, target, Rules(CASE, NUMBERS), column="group").n_rows == 5000
    rows = duckdb.execute(f"SELECT * FROM '{target}'").fetchall()
    ids = np.arange(5000)
    names = np.array(["low", "it's", "rest"])[TREE.predict(np.column_stack([ids % 4, ids % 7 / 2]))]
    assert [(int(r[0]), int(r[1]), float(r[2]), r[3], r[4]) for r in rows] == [
        (i, i % 4, i % 7 / 2, f"n{i}", name) for i, name in zip(ids.tolist(), names.tolist(), strict=True)
    ]


@pytest.mark.parametrize("out", ["o.csv", "o.parquet", "o.jsonl"])
def test_words_for_truth_are_numbers(tmp_path, out):
    path = text_file(tmp_path, "t.csv", "a,b\n1,True\n2,False\n3,\n4,true\n")
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0.5, "left": {"cluster": 0}, "right": {"cluster": 1}})
    target = str(tmp_path / out)
    assert label_rows(path, target, Rules(sql_case(tree, ["p"], ["no", "yes"]), {"p": "b"}))[:2] == (4, 1)
    assert [label or None for label in labels_of(target)] == ["yes", "no", None, "yes"]


def test_a_table_of_no_rows_keeps_its_names(tmp_path):
    out = str(tmp_path / "o.csv")
    assert label_rows(text_file(tmp_path, "t.csv", "a,b\n"), out, Rules(CASE, NUMBERS)) == (0, 0, ())
    with open(out, encoding="utf-8") as file:
        assert file.read() == "a,b,cluster\n"


def test_settings_that_a_version_of_duckdb_lacks_are_passed_over(monkeypatch):
    monkeypatch.setitem(SETTINGS, "no_such_setting", "true")
    with open_duckdb() as (con, _):
        query = "SELECT current_setting('max_expression_depth'), current_setting('python_enable_replacements')"
        assert con.execute(query).fetchone() == (100_000, False)


def test_a_query_tells_how_far_it_is_and_prints_nothing(capfd):
    told = []

    def tick(share):
        told.append(share)
        if share > 0 or len(told) == 100:  # ten seconds
            raise InterruptedError

    with open_duckdb() as (con, _), pytest.raises(InterruptedError):
        wait_for(con, lambda: con.execute("SELECT max(hash(i)) FROM range(100_000_000_000) t(i)").fetchall(), tick)
    assert 0 < told[-1] < 1
    assert capfd.readouterr() == ("", "")


def test_the_share_of_a_query_never_falls():
    told, shares, ended = [], iter([20.0, -1.0, 70.0, 30.0, 80.0]), threading.Event()
    con = SimpleNamespace(query_progress=lambda: next(shares))

    def tick(share):
        told.append(share)
        if len(told) == 5:
            ended.set()

    wait_for(con, ended.wait, tick)
    assert told == [0.2, 0.2, 0.7, 0.7, 0.8]


def test_too_small_a_limit_of_memory_is_lifted(tmp_path, monkeypatch):
    path, out = str(tmp_path / "t.parquet"), str(tmp_path / "o.parquet")
    columns = ", ".join(f"hash(i + {j}) AS c{j}" for j in range(40))
    duckdb.execute(f"COPY (SELECT i % 4 AS a, i % 7 AS b, {columns} FROM range(60000) t(i)) TO '{path}'")
    limits, fetch = [], DuckTable.fetch
    monkeypatch.setattr("boxwood.table.write_labels.is_kept_by_arrow", lambda file: False)  # so that DuckDB writes

    def watched(source, sql, tick=None):
        if sql.startswith("COPY"):
            limits.append(source.con.execute("SELECT current_setting('memory_limit')").fetchone()[0])
        return fetch(source, sql, tick)

    monkeypatch.setattr(DuckTable, "fetch", watched)
    monkeypatch.setattr("boxwood.table.duck._LEAN", 4)
    monkeypatch.setattr("boxwood.table.duck._LEAN_COLUMN", 0)
    assert label_rows(path, out, Rules(CASE, NUMBERS)).n_rows == 60000
    assert limits[0] == "4.0 MiB"
    assert len(limits) == 2
    assert duckdb.execute(f"SELECT count(*) FROM '{out}'").fetchall() == [(60000,)]


@pytest.mark.slow
def test_memory_of_predict_does_not_grow_with_the_file(tmp_path):
    import subprocess

    X = [[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]]
    boxwood.explain(X, [0, 1, 2, 3], columns=["a", "b"]).save(tmp_path / "m.json")
    texts = ", ".join(f"lpad(CAST(i AS VARCHAR), 100, chr(CAST(65 + i % 20 AS INTEGER))) AS c{j}" for j in range(2))
    peaks = {"o.csv": [], "o.parquet": []}
    for rows in (1_400_000, 2_800_000):  # of fewer, not all of DuckDB's buffers are filled
        values = f"random() * 9 AS a, random() * 9 AS b, {texts}"
        duckdb.execute(f"COPY (SELECT {values} FROM range({rows}) t(i)) TO '{tmp_path}/t.csv'")
        for out, told in peaks.items():
            args = [*MEASURED, sys.executable, "-m", "boxwood", "predict", "m.json", "t.csv", "-q"]
            done = subprocess.run([*args, "-o", out], cwd=tmp_path, capture_output=True, text=True, check=True)
            told.append(int(done.stdout.splitlines()[-1]))  # DuckDB may show its progress before
    assert all(large < 1.2 * small for small, large in peaks.values()), peaks


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "a,b\n1,2\n2,x\n",
            DataError,
            r"column 'b' must be numbers, but .* has text in 1 of 2 rows, first 'x' in row 2",
        ),
        ("a,c\n1,2\n", DataError, r"lacks a column the rules need: b$"),
        ("x,y\n1,2\n", DataError, r"lacks 2 columns the rules need: a, b"),
        ("aa,b\n1,2\n", DataError, r"lacks a column the rules need: a$"),
        ("a,b,Cluster\n1,2,3\n", ColumnError, "has a column 'cluster' already"),
        ("a,b\n1,2\n3\n", DataError, r"line 3 has 1 field, the header has 2"),
    ],
)
def test_nothing_is_left_behind_by_an_error(tmp_path, text, error, message):
    path, out = text_file(tmp_path, "t.csv", text), text_file(tmp_path, "o.csv", "old")
    with pytest.raises(error, match=message):
        label_rows(path, out, Rules(CASE, NUMBERS))
    assert sorted(os.listdir(tmp_path)) == ["o.csv", "t.csv"]
    with open(out, encoding="utf-8") as file:
        assert file.read() == "old"


def test_categories_of_another_kind_are_refused(tmp_path):
    path, out = text_file(tmp_path, "t.csv", "a,b\n1,2\n"), str(tmp_path / "o.csv")
    with pytest.raises(TypeError, match=r"categories\['p'\] must be a Categories, got list"):
        label_rows(path, out, Rules(CASE, NUMBERS, {"p": ["x", "y"]}))


def test_output_formats():
    assert output_format("A.CSV.GZ") == "FORMAT csv"
    assert output_format("a.parquet") == "FORMAT parquet"
    with pytest.raises(ValueError, match=r"did you mean '\.parquet'"):
        output_format("a.parqet")
    with pytest.raises(ValueError, match="unknown extension"):
        output_format("a.parquet.gz")


def test_json_keys_that_differ_in_case_only_keep_their_names(tmp_path):
    path, out = str(tmp_path / "t.jsonl"), str(tmp_path / "o.csv")
    rows = [{"a": i, "A": 10 - i, "b": 2 * i, "b_1": i % 2} for i in range(4)]
    text_file(tmp_path, "t.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    table = read_file(path)
    assert table.columns == ("a", "A", "b", "b_1")
    assert table.X.tolist() == [list(row.values()) for row in rows]
    assert label_rows(path, out, Rules("CASE WHEN p <= 8 THEN 1 ELSE 0 END", {"p": "A"})).n_rows == 4
    with open(out, encoding="utf-8") as file:
        found = list(csv.reader(file))
    assert found[0] == ["a", "A", "b", "b_1", "cluster"]
    assert [row[:2] + row[4:] for row in found[1:]] == [[str(i), str(10 - i), str(int(i > 1))] for i in range(4)]


@pytest.mark.crossed
@pytest.mark.parametrize("source", ["t.parquet", "t.csv", "t.jsonl"])
@pytest.mark.parametrize("out", ["o.parquet", "o.jsonl"])
def test_names_that_differ_in_case_only_are_not_written_with_other_names(tmp_path, monkeypatch, source, out):
    monkeypatch.setattr("boxwood.table.write_labels.is_kept_by_arrow", lambda file: False)  # so that DuckDB writes
    path, table = str(tmp_path / source), pl.DataFrame({"a": [1.0, 2.0], "A": [3.0, 4.0]})
    write = {"t.csv": table.write_csv, "t.parquet": table.write_parquet, "t.jsonl": table.write_ndjson}
    write[source](path)
    with pytest.raises(ColumnError, match=f"columns 'a' and 'A' differ in case only, which {out} cannot hold"):
        label_rows(path, str(tmp_path / out), Rules("CASE WHEN p > 3 THEN 1 ELSE 0 END", {"p": "A"}))
    assert os.listdir(tmp_path) == [source]


@each("order", list(itertools.permutations(["a", "A", "A_1"])))
def test_json_keys_that_cannot_be_told_apart_are_refused(tmp_path, order):
    line = json.dumps({name: i for i, name in enumerate(order)})
    with pytest.raises(DataError, match="columns 'A', 'a' differ in case only and cannot be distinguished from 'A_1'"):
        read_file(text_file(tmp_path, "t.jsonl", f"{line}\n"))


def test_arrow_files_that_cannot_be_copied_are_refused(tmp_path):
    path = str(tmp_path / "t.arrow")
    table = pyarrow.table({"x": np.arange(5000.0)})
    pauses = table.append_column("pause", pyarrow.array([(1, 2, 3)] * 5000, pyarrow.month_day_nano_interval()))
    for written, damage, reason in (
        (table, slice(2000, 5000), "negative metadata length"),
        (pauses, slice(0, 0), "Parquet, to which it is copied, lacks the type month_day_nano_interval"),
    ):
        with pyarrow.ipc.new_file(path, written.schema) as writer:
            writer.write_table(written, max_chunksize=500)
        with open(path, "r+b") as file:
            file.seek(damage.start)
            file.write(b"\xff" * (damage.stop - damage.start))
        with pytest.raises(DataError, match=f"as arrow: {reason}$"):
            read_file(path)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_file_that_is_no_text_says_its_format(tmp_path, format):
    table, path = pyarrow.table({"x": [1.0, 2.0]}), tmp_path / "t.csv"
    with pyarrow.OSFile(str(path), "wb") as file:
        if format == "parquet":
            pyarrow.parquet.write_table(table, file)
        else:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    for wrong in ("csv", "tsv", "jsonl"):
        with pytest.raises(DataError, match=f"t.csv is {format}, not {wrong}; name its format: --format {format}$"):
            read_file(path, ReadOptions(format=wrong))
    assert read_file(path, ReadOptions(format=format)).names == ("x",)
