"""Cuts that ask for sets of categories, and columns in which missing numbers have a place: rules, words and files."""

import math

import numpy as np
import pytest

from boxwood.errors import DataError
from boxwood.words.rules import gaps_apart
from tests.models import read_model
from tests.programs import program
from tests.render.test_every_engine import case, codes_of
from tests.rule_cases import COLUMNS, CUTS, LARGEST
from tests.scale import law


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
    names = program(ex.to_python())
    assert names["cluster"](dict.fromkeys(ex.columns, "b")) == 1


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
    for j in ex._gap_columns:
        table[:, j] = np.where(np.isnan(table[:, j]), math.inf, np.minimum(table[:, j], LARGEST))
    for row, name in zip(table.tolist(), found, strict=True):
        if name is None:
            continue
        values = dict(zip(COLUMNS, row, strict=True)) | {"gaps": ex.details.gaps}
        assert [ex.names[leaf.cluster] for leaf in ex.leaves if holds(leaf.rule, values)] == [name]
        named = {cluster.name for cluster in ex.clusters if any(holds(one, values) for one in cluster.rules)}
        assert named == {name}


@law(40)
def test_missing_values_count_as_others_that_fulfil_the_same_rules(seed):
    ex, columns, _ = case(seed, 40)
    table = codes_of(ex, columns)
    for j in ex._gap_columns:
        table[:, j] = np.where(np.isnan(table[:, j]), math.inf, np.minimum(table[:, j], LARGEST))
    apart, counts_as = gaps_apart(ex.clusters)
    for row in table.tolist():
        given = dict(zip(COLUMNS, row, strict=True)) | {"gaps": ex.details.gaps}
        others = {one.column: one.intervals[-1] for one in counts_as if given[one.column] == missing_in(one)}
        filled = given | {name: within(piece) for name, piece in others.items()}
        for cluster, its in zip(ex.clusters, apart, strict=True):
            assert any(holds(one, given) for one in cluster.rules) == any(holds(one, filled) for one in its.rules)
    apart_columns = {one.column for one in counts_as}
    assert not any(one.or_missing for its in apart for rule in its.rules for one in rule if one.column in apart_columns)


def missing_in(one):
    """Return what stands for a missing value in the column of a condition."""
    return math.inf if one.categories is None else one.categories.values.index(None)


def within(piece):
    """Return a value of an interval."""
    ends = [end for end in (piece.lower, piece.upper) if end in piece and math.isfinite(end)]
    middle = [np.clip(piece.lower, -1e9, 1e9) / 2 + np.clip(piece.upper, -1e9, 1e9) / 2]
    return float([*ends, *middle][0])


@law(24)
def test_model_files(seed):

    ex, *_ = case(seed, 1)
    document = ex.to_dict()
    assert document["version"] == 3
    assert document["gaps"] == list(ex.details.gaps)
    again = read_model(ex.to_json())
    assert (again.tree, again.details.gaps, again.leaves) == (ex.tree, ex.details.gaps, ex.leaves)
    assert [one.rules for one in again.clusters] == [one.rules for one in ex.clusters]
    assert again.to_python() == ex.to_python()
    assert again._gap_columns == ex._gap_columns


def test_damaged_models_are_refused():
    import json

    from boxwood.errors import ModelError

    document = json.loads(case(3, 1)[0].to_json())
    for gaps, reason in (
        (["nothing"], "its gaps names columns that it does not list"),
        ([COLUMNS[0], COLUMNS[0]], "its gaps are not columns of numbers, or occur twice"),
        ([COLUMNS[3]], "its gaps are not columns of numbers, or occur twice"),
        ("all", "expected a list"),
    ):
        with pytest.raises(ModelError, match=reason):
            read_model(json.dumps(document | {"gaps": gaps}))


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
    from boxwood.words.rules import rule
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
    from boxwood.words.rules import rule
    from tests.rule_cases import explained_by

    builder = TreeBuilder()
    first, second = builder.split(0, 0, 5.0)
    builder.label(first, 0)
    for leaf, cluster in zip(builder.split(second, 1, 3.0), (1, 2), strict=True):
        builder.label(leaf, cluster)
    ex = explained_by(builder.build(), ("age", "income"), ("a", "b", "c"), None, ("age", "income"))
    assert rule(ex.leaves[2].rule) == "(age > 5 or missing) and (income > 3 or missing)"
    assert "age > 5 or missing" in ex.to_markdown()
    assert "c (1 row, 20.0%): (age > 5 or missing) and (income > 3 or missing)." in ex.to_text(style="sentences")


def test_an_or_that_is_no_alternative_stands_without_parentheses():
    from boxwood._dates import Dates
    from boxwood.axes import Categories
    from boxwood.explanation.records import Condition
    from boxwood.tree import Interval
    from boxwood.words.rules import rule

    words = Categories(("black or african", "white", "other"), False)
    late, race = Interval(20528.0, math.inf, True, True), Interval(0, 0, True, True)
    one = Condition("day", (late,), None, False, Dates()), Condition("race", (race,), words)
    assert rule(one) == 'day is on or after 2026-03-16 and race is "black or african"'
    gap = one[0]._replace(or_missing=True)
    assert rule((gap, one[1])) == '(day is on or after 2026-03-16 or missing) and race is "black or african"'
    named = Condition("rent or loan", (Interval(5.0, math.inf, True, True),))
    assert rule((named, one[1])) == '(rent or loan >= 5) and race is "black or african"'


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
            if j in ex._gap_columns and row[j] == math.inf:
                found.add(node)
            node = (
                node + 1 if ex.tree.is_inside(node, np.array([row[j]], dtype=float))[0] else int(ex.tree.second[node])
            )
    assert found <= reached_by_missing(ex.tree, ex._gap_columns)
    boxes = ex.tree.boxes()
    for leaf, box in enumerate(boxes):
        for cut in ex.tree.path(leaf):
            if cut.feature in ex._gap_columns and any(math.inf in piece for piece in box[cut.feature]):
                assert cut.node in reached_by_missing(ex.tree, ex._gap_columns)
