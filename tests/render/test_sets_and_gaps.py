"""Cuts that ask for sets of categories, and columns in which missing numbers have a place: all that runs agrees."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

from boxwood.errors import DataError
from tests.render.test_pmml import scores
from tests.render.test_writers import as_plain_text, as_rows, clipped, in_node
from tests.rule_cases import (
    COLUMNS,
    CUTS,
    LARGEST,
    categories_with_missing,
    expected,
    explanation_with_gaps,
    rows,
)
from tests.scale import law, seeds
from tests.test_one_answer import DOORS, by_sqlite, in_duckdb, polars_frame

N_ROWS = 400


def case(seed, n=N_ROWS):
    """Return an explanation, the columns of a table, and the cluster of each row or None, value by value."""
    rng = np.random.default_rng(seed)
    known = categories_with_missing(rng)
    ex, columns = explanation_with_gaps(rng, known), rows(rng, {j: _present(one) for j, one in known.items()}, n)
    return ex, columns, expected(ex, known, columns)


def _present(known):
    return known._replace(values=tuple(value for value in known.values if value is not None))


def test_the_trees_of_these_tests_ask_for_everything():
    sets = gaps = missing = 0
    for seed in range(12):
        ex, columns, found = case(seed)
        sets += ex.tree.has_sets
        gaps += bool(ex.gap_columns & set(ex.tree.features.tolist()))
        placed = [j for j in ex.gap_columns if ex.tree.feature[0] == j]
        missing += any(name is not None for j in placed for name, x in zip(found, columns[j], strict=True) if x is None)
    assert sets >= 8
    assert gaps >= 8
    assert missing >= 2


@law(40)
def test_python(seed):
    ex, columns, found = case(seed)
    names = {}
    exec(ex.to_python(), names)
    assert list(map(names["cluster"], as_rows(columns))) == found


@law(8)
def test_javascript(seed, tmp_path):
    ex, columns, found = case(seed)
    assert in_node(ex.to_javascript(), as_rows(columns), tmp_path) == found


@law(24)
def test_duckdb(seed, tmp_path):
    ex, columns, found = case(seed)
    assert in_duckdb(ex, tmp_path, columns) == found


@law(40)
def test_sqlite(seed):
    ex, columns, found = case(seed)
    for kinds in (["REAL", "DOUBLE", "INTEGER", "TEXT", "NUMERIC"], [""] * 5):
        assert by_sqlite(ex.to_sql("sqlite"), kinds, columns) == found


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "tsql", "bigquery", "snowflake", "spark"])
def test_other_dialects_say_the_same_when_they_are_parsed_back(dialect, tmp_path):
    import sqlglot

    for seed in seeds(6):
        ex, columns, _ = case(seed)
        columns = [[clipped(value) for value in column] for column in columns]  # some have no infinity
        found = expected(ex, ex.coded_columns, columns)
        written = ex.to_sql(dialect).replace("$\\{", "${")
        plain = sqlglot.parse_one(written, read=dialect).transform(as_plain_text)
        path = tmp_path / f"{seed}.parquet"
        polars_frame(columns, nan=dialect not in ("mysql", "tsql")).write_parquet(path)
        assert [row[0] for row in duckdb.execute(f"SELECT {plain.sql('duckdb')} FROM '{path}'").fetchall()] == found


@law(40)
def test_pmml(seed):
    ex, columns, found = case(seed)
    assert scores(ex, columns) == found


# ------------------------------------------------------------------------------------------- engines for some of it


def codes_of(ex, columns):
    """Return the rows as the numbers that ONNX and scikit-learn take: codes, and NaN for what has none."""
    table = np.empty((len(columns[0]), len(COLUMNS)))
    for j, column in enumerate(columns):
        known = ex.coded_columns.get(j)
        table[:, j] = [np.nan if x is None else x for x in column] if known is None else known.codes(column)
    return table


def in_single(columns):
    """Return columns whose numbers are those of float32."""
    return [
        [float(np.float32(x)) if isinstance(x, float) else x for x in c] if j < 2 else c for j, c in enumerate(columns)
    ]


@law(24)
def test_onnx(seed):
    import onnxruntime

    ex, columns, _ = case(seed)
    columns = in_single(columns)
    found = expected(ex, ex.coded_columns, columns)
    session = onnxruntime.InferenceSession(ex.to_onnx())
    (names,) = session.run(["cluster"], {"X": codes_of(ex, columns).astype(np.float32)})
    assert names.tolist() == ["" if name is None else name for name in found]


@law(24)
def test_scikit_learn(seed):
    ex, columns, _ = case(seed)
    columns = in_single([[max(min(x, 1e9), -1e9) if isinstance(x, float) else x for x in c] for c in columns])
    found = expected(ex, ex.coded_columns, columns)
    labelled = [i for i, name in enumerate(found) if name is not None]
    twin = ex.to_sklearn()
    names = twin.predict(pd.DataFrame(codes_of(ex, columns)[labelled], columns=list(COLUMNS)))
    assert names.tolist() == [found[i] for i in labelled]


def test_onnx_and_scikit_learn_refuse_sets_that_make_too_many_nodes():
    from boxwood import TreeBuilder
    from boxwood.axes import Categories
    from tests.rule_cases import explained_by

    builder, node, n = TreeBuilder(), 0, 12
    for j in range(n):
        first, node = builder.split_set(node, j, [0, 2, 4])
        builder.label(first, 0)
    builder.label(node, 1)
    known = dict.fromkeys(range(n), Categories(tuple("abcdef"), False))
    ex = explained_by(builder.build(), tuple(f"x{j}" for j in range(n)), (0, 1), known)
    for form in (ex.to_sklearn, ex.to_onnx):
        with pytest.raises(DataError, match=r"as each two-sided cut doubles .*, and each set of categories what is on"):
            form()
    names = {}
    exec(ex.to_python(), names)
    assert names["cluster"](dict.fromkeys(ex.columns, "b")) == 1


@law(12)
def test_spreadsheets(seed):
    import formulas

    ex, columns, _ = case(seed, 200)
    limit = [[max(min(x, 1e300), -1e300) if isinstance(x, float) else x for x in c] for c in columns]
    columns = [[x if x is None or isinstance(x, (str, bool)) or abs(x) > 1e-300 else 0.0 for x in c] for c in limit]
    written = formulas.Parser().ast(ex.to_formula(row=7, columns=COLUMNS))[1].compile()
    cells = {
        f"{letter}7": np.array([["" if x is None else x] for x in c], dtype=object)
        for letter, c in zip("ABCDE", columns, strict=True)
    }
    found = np.broadcast_to(np.asarray(written(*(cells[name] for name in written.inputs))), (200, 1)).ravel().tolist()
    assert found == ["" if name is None else name for name in expected(ex, ex.coded_columns, columns)]


# -------------------------------------------------------------------------------------------------- rules and files


def holds(rule, row):
    """Return whether a row, a mapping from column to number (NaN without a code), fulfils a rule."""
    for one in rule:
        x = row[one.column]
        if one.or_missing and x == math.inf:
            continue
        inside = any(x in piece for piece in one.intervals)
        if not inside or (x == math.inf and one.column in row["gaps"]):
            return False
    return True


@law(40)
def test_rules_say_where_rows_go(seed):
    ex, columns, found = case(seed, 100)
    table = codes_of(ex, columns)
    for j in ex.gap_columns:
        table[:, j] = np.where(np.isnan(table[:, j]), math.inf, np.minimum(table[:, j], LARGEST))
    for row, name in zip(table.tolist(), found, strict=True):
        if name is None:
            continue
        values = dict(zip(COLUMNS, row, strict=True)) | {"gaps": ex.gaps}
        assert [ex.names[leaf.cluster] for leaf in ex.leaves if holds(leaf.rule, values)] == [name]
        named = {cluster.name for cluster in ex.clusters if any(holds(one, values) for one in cluster.rules)}
        assert named == {name}


@law(24)
def test_model_files(seed):
    import boxwood

    ex, *_ = case(seed)
    document = ex.to_dict()
    assert document["version"] == 3
    assert document["gaps"] == list(ex.gaps)
    again = boxwood.Explanation.from_json(ex.to_json())
    assert (again.tree, again.gaps, again.leaves) == (ex.tree, ex.gaps, ex.leaves)
    assert [one.rules for one in again.clusters] == [one.rules for one in ex.clusters]
    assert again.to_python() == ex.to_python()
    assert again.gap_columns == ex.gap_columns


def test_damaged_models_are_refused():
    import json

    import boxwood
    from boxwood.errors import ModelError

    document = json.loads(case(3)[0].to_json())
    for gaps, reason in (
        (["nothing"], "its gaps names columns that it does not list"),
        ([COLUMNS[0], COLUMNS[0]], "its gaps are no columns of numbers, or come twice"),
        ([COLUMNS[3]], "its gaps are no columns of numbers, or come twice"),
        ("all", "expected a list"),
    ):
        with pytest.raises(ModelError, match=reason):
            boxwood.Explanation.from_json(json.dumps(document | {"gaps": gaps}))


WORDS = {
    (-math.inf, 5.0): ("age <= 5", "age > 5 or missing"),
    (-math.inf, LARGEST): ("age is not missing", "age is missing"),
    (math.nextafter(5.0, 9.0), LARGEST): ("age > 5", "age <= 5 or missing"),
    (5.0, LARGEST): ("age >= 5", "age < 5 or missing"),
    (5.0, math.inf): ("age >= 5 or missing", "age < 5"),
    (math.nextafter(30.0, 99.0), 45.0): ("30 < age <= 45", "age <= 30 or age > 45 or missing"),
    (5.0, 5.0): ("age = 5", "age < 5 or age > 5 or missing"),
}


@pytest.mark.parametrize("ends", WORDS)
def test_words(ends):
    from boxwood import TreeBuilder
    from boxwood.render.forms.text import tree
    from boxwood.render.words.rules import rule
    from tests.rule_cases import explained_by

    builder = TreeBuilder()
    lower, upper = ends
    first, second = builder.split(0, 0, upper, lower)
    builder.label(first, 0)
    builder.label(second, 1)
    ex = explained_by(builder.build(), ("age",), ("in", "out"), None, ("age",))
    assert tuple(rule(leaf.rule) for leaf in ex.leaves) == WORDS[ends]
    assert [line.removeprefix("|--- ") for line in tree(ex).split("\n")[::2]] == list(WORDS[ends])


def test_conditions_with_or_stand_in_parentheses():
    from boxwood import TreeBuilder
    from boxwood.render.words.rules import rule
    from tests.rule_cases import explained_by

    builder = TreeBuilder()
    first, second = builder.split(0, 0, 5.0)
    builder.label(first, 0)
    for leaf, cluster in zip(builder.split(second, 1, 3.0), (1, 2), strict=True):
        builder.label(leaf, cluster)
    ex = explained_by(builder.build(), ("age", "income"), ("a", "b", "c"), None, ("age", "income"))
    assert rule(ex.leaves[2].rule) == "(age > 5 or missing) and (income > 3 or missing)"
    assert "age > 5 or missing" in ex.to_markdown()
    assert "c (1 row, 20.0%): (age > 5 or missing) and (income > 3 or missing)." in ex.to_sentences()


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_cluster_or_none(door, tmp_path):
    tried = 0
    for seed in seeds(12, least=6):
        ex, columns, found = case(seed, 150)
        if found.count(None) <= 75:  # the command line ends with another code, if most rows are without a cluster
            assert DOORS[door](ex, tmp_path, columns) == found, seed
            tried += 1
    assert tried >= 3


def test_below_a_cut_that_asks_for_a_number_nothing_is_missing():
    from boxwood import TreeBuilder
    from boxwood.render.forms.text import tree
    from boxwood.render.pictures.picture import picture_of
    from tests.rule_cases import explained_by

    builder = TreeBuilder()
    there, gone = builder.split(0, 0, LARGEST)
    builder.label(gone, 0)
    for i, leaf in enumerate(builder.split(there, 0, 5.0)):
        builder.label(leaf, i)
    ex = explained_by(builder.build(), ("age",), ("a", "b"), None, ("age",))
    said = [line.replace("|   ", "").removeprefix("|--- ") for line in tree(ex).split("\n") if "rows" not in line]
    assert said == ["age is not missing", "age <= 5", "age > 5", "age is missing"]
    assert [edge.full for edge in picture_of(ex).edges] == said
    assert [edge.text for edge in picture_of(ex).edges] == ["any number", "≤ 5", "> 5", "missing"]


@law(24)
def test_missing_values_reach_the_cuts_that_are_named(seed):
    from boxwood.tree.boxes import reached_by_missing

    ex, *_ = case(seed, 1)
    rng, found = np.random.default_rng(seed), set()
    for _ in range(300):
        row = [rng.choice([*CUTS, -1e9, 1e9, math.inf]) for _ in range(2)] + [rng.integers(6) for _ in range(3)]
        node = 0
        while (j := int(ex.tree.feature[node])) >= 0:
            if j in ex.gap_columns and row[j] == math.inf:
                found.add(node)
            node = (
                node + 1 if ex.tree.is_inside(node, np.array([row[j]], dtype=float))[0] else int(ex.tree.second[node])
            )
    assert found <= reached_by_missing(ex.tree, ex.gap_columns)
    boxes = ex.tree.boxes()
    for leaf, box in enumerate(boxes):
        for cut in ex.tree.path(leaf):
            if cut.feature in ex.gap_columns and any(math.inf in piece for piece in box[cut.feature]):
                assert cut.node in reached_by_missing(ex.tree, ex.gap_columns)


@pytest.mark.full
@pytest.mark.parametrize("seed", [11, 13])
def test_a_hundred_thousand_rows(seed, tmp_path):
    ex, columns, found = case(seed, 100_000)
    assert ex.tree.has_sets
    assert None in found
    names = {}
    exec(ex.to_python(), names)
    assert list(map(names["cluster"], as_rows(columns))) == found
    assert in_node(ex.to_javascript(), as_rows(columns), tmp_path) == found
    assert in_duckdb(ex, tmp_path, columns) == found
    assert by_sqlite(ex.to_sql("sqlite"), [""] * 5, columns) == found
    assert DOORS["pandas"](ex, tmp_path, columns) == found
    assert DOORS["polars"](ex, tmp_path, columns) == found
