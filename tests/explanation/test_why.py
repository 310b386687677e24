"""Why a row is in its cluster: the way down, and the smallest change, which equals brute force."""

import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.preprocessing import OneHotEncoder

import boxwood
from boxwood import TreeBuilder, explain
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.apply.why import OneRow, smallest_changes
from boxwood.explanation.measure import spreads as _spreads
from boxwood.words.measured import _distance
from tests import naive
from tests.explanation.test_pipelines import goods, pipeline
from tests.models import read_model
from tests.scale import each, law

COLUMNS = ("a", "b", "colour", "d")
COLOURS = Categories(("red", "green", None), others=True)
ENDS = [-3.5, -2, -1, 0, 0.5, 1, 2, 2.5, 7]


def _random_tree(rng, n_leaves, n_clusters):
    builder = TreeBuilder()
    leaves = [0]
    while len(leaves) < n_leaves:
        j = int(rng.integers(len(COLUMNS)))
        lower, upper = sorted(rng.choice(ENDS if j != 2 else [-0.5, 0.5, 1.5, 2.5], 2).tolist())
        if rng.random() < 0.5:
            lower = -math.inf
        elif rng.random() < 0.1:
            upper = math.inf
        leaves += builder.split(leaves.pop(int(rng.integers(len(leaves)))), j, upper, lower)
    for leaf in leaves:
        builder.label(leaf, int(rng.integers(n_clusters)))
    return builder.build()


@law(100)
def test_the_smallest_change_is_that_of_brute_force(seed):
    """Random trees with cuts that contradict each other, two-sided cuts, categories, fixed and whole columns."""
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(2, 5))
    tree = _random_tree(rng, int(rng.integers(2, 7)), n_clusters)
    spreads = {j: _spreads.Spread(float(rng.choice([0.5, 1, 3, 0.1])), bool(rng.random() < 0.3)) for j in (0, 1, 3)}
    immutable = set(rng.choice(4, size=int(rng.integers(0, 3)), replace=False).tolist())
    facts = {"deviations": {j: one.deviation for j, one in spreads.items()}}
    facts |= {"whole": {j: one.whole for j, one in spreads.items()}, "sizes": {2: 4}}
    for _ in range(3):
        x = [float(rng.choice([*ENDS, rng.normal()])) for _ in COLUMNS]
        x[2] = float(rng.integers(4))
        row = OneRow({j: COLOURS.value(x[j]) if j == 2 else x[j] for j in range(4)}, dict(enumerate(x)))
        cluster = int(tree.predict([x])[0])
        found = smallest_changes(
            tree,
            row,
            cluster,
            columns=COLUMNS,
            names=range(n_clusters),
            categories={2: COLOURS},
            spreads=spreads,
            immutable=immutable,
        )
        best = naive.smallest_changes(tree, x, immutable=immutable, **facts)
        assert [change.cluster for change in found] == sorted(set(best) - {cluster})
        for change in found:
            distance, n_columns, leaf, new = best[change.cluster]
            assert (change.deviations, len(change.moves), change.leaf) == (float(distance), n_columns, leaf)
            changed = {move.column: move.after for move in change.moves}
            assert changed == {
                COLUMNS[j]: COLOURS.value(new[j]) if j == 2 else new[j] for j in range(4) if new[j] != x[j]
            }
            for move in change.moves:
                j = COLUMNS.index(move.column)
                distance = 1 if j == 2 else abs(Fraction(move.after) - Fraction(x[j])) / Fraction(spreads[j].deviation)
                assert move.deviations == float(distance)


def _customers():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    spend = np.round(rng.normal(size=120) * 20 + [100, 100, 400] @ np.eye(3)[:, y])
    share = rng.random(120) * 0.4 + 0.5 * (y == 1)
    return pd.DataFrame({"spend": spend, "share": share, "unused": rng.normal(size=120), "member": y != 0}), y


@law(10)
def test_the_changed_row_is_where_the_change_says(seed):
    rng = np.random.default_rng([seed, 1])
    table, y = _customers()
    ex = explain(table, y, method="cart", max_leaf_nodes=int(rng.integers(3, 7)))
    why = ex.why(table.iloc[[row := int(rng.integers(len(table)))]])
    assert why.name == ex.predict(table.iloc[[row]])[0]
    assert why.leaf == ex.apply(table.iloc[[row]])[0]
    assert {change.name for change in why.changes} | {why.name, *why.out_of_reach} == set(ex.names)
    for change in why.changes:
        after = {move.column: move.after for move in change.moves}
        assert after.get("spend", 0.0) == int(after.get("spend", 0.0))
        assert ex.predict(pd.DataFrame([table.iloc[row].to_dict() | after]))[0] == change.name


def test_a_row_may_come_in_many_forms():
    table, y = _customers()
    ex = explain(table, y, method="cart", max_leaf_nodes=5)
    why = ex.why(7)
    assert why.steps
    record = table.iloc[7].to_dict()
    frame = pl.from_pandas(table.iloc[[7]])
    for row in (
        np.int64(7),
        record,
        table.iloc[7],
        table.iloc[[7]],
        frame,
        table.iloc[7].tolist(),
        tuple(record.values()),
    ):
        assert ex.why(row) == why
    assert ex.why({"spend": record["spend"], "share": record["share"], "member": record["member"]}) == why
    plain = explain(table.to_numpy(dtype=float), y, method="cart")
    assert plain.why(table.to_numpy(dtype=float)[7]) == plain.why(7)
    assert plain.why(table.to_numpy(dtype=float)[[7]]) == plain.why(7)


@each(
    "row, error, message",
    [
        ({"spend": 3}, DataError, "no column 'share'"),
        ({"spend": "much", "share": 1, "member": True}, DataError, "X must be numeric, got text in spend"),
        ({"spend": 10**400, "share": 1, "member": True}, DataError, "spend is not"),
        ([1, 2, 3], DataError, "row has 3 values, but there are 4 columns"),
        (pd.DataFrame({"spend": [1, 2], "share": [1, 2], "member": [True] * 2}), DataError, "of one row, got 2 rows"),
        (500, ValueError, "row must be from 0 to 119, got 500"),
        (-1, ValueError, "row must be"),
        ("spend", TypeError, "row must be a mapping"),
        (None, TypeError, "row must be a mapping"),
        (3.5, TypeError, "row must be a mapping"),
        (True, TypeError, "row must be a mapping"),
    ],
)
def test_what_is_no_row(row, error, message):
    table, y = _customers()
    with pytest.raises(error, match=message):
        explain(table, y, method="cart", max_leaf_nodes=5).why(row)


def test_immutable_columns_must_be_known():
    table, y = _customers()
    ex = explain(table, y, method="cart")
    with pytest.raises(DataError, match=r"did you mean 'spend'\?"):
        ex.why(0, immutable=["spent"])
    with pytest.raises(TypeError, match="immutable must be a list of names, got the text 'spend'"):
        ex.why(0, immutable="spend")
    fixed = ex.why(0, immutable=["spend", "share", "member"])
    assert fixed.changes == ()
    assert set(fixed.out_of_reach) == {1, 2}
    assert "no such change reaches" in str(fixed)


def test_a_missing_or_unseen_value_has_a_reason():
    table = goods()
    ex = explain(table, pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6)
    coded = [ex.columns[j] for j in ex._coded_columns]
    row, column = next((i, step.column) for i in range(len(table)) for step in ex.why(i).steps if step.column in coded)
    record = table.iloc[row].to_dict()
    unseen = ex.why(record | {column: "never"})
    assert (unseen.cluster, unseen.name) == (None, None)
    assert unseen.reason.startswith(f"{column} is 'never', which was never seen (known: ")
    assert ex.predict(pd.DataFrame([record | {column: "never"}]), missing="none")[0] in (None, -1)
    blank = ex.why(dict.fromkeys(record))
    assert (blank.cluster, blank.leaf, blank.steps, blank.changes) == (None, None, (), ())
    assert blank.reason.endswith("is missing")
    assert str(blank) == f"no cluster: {blank.reason}"


@pytest.mark.parametrize("weighted", [False, True])
def test_a_loaded_model_knows_the_spreads(tmp_path, weighted):
    table, y = _customers()
    weights = np.random.default_rng(0).random(120) if weighted else None
    ex = explain(table, y, method="cart", max_leaf_nodes=5, sample_weight=weights)
    ex.save(tmp_path / "model.json")
    record = table.iloc[3].to_dict()
    assert boxwood.load(tmp_path / "model.json").why(record) == ex.why(record)
    assert pickle.loads(pickle.dumps(ex)).why(record) == ex.why(record)
    (spread, *_) = ex._spreads().values()
    values = table[ex.columns[next(iter(ex._spreads()))]]
    assert spread.deviation == pytest.approx(np.sqrt(np.cov(values, aweights=weights, bias=True)))


def test_a_model_without_spreads_still_says_the_way():
    table, y = _customers()
    ex = explain(table, y, method="cart", max_leaf_nodes=5)
    document = ex.to_dict()
    del document["spreads"]
    why = read_model(json.dumps(document)).why(table.iloc[3])
    assert [step.condition for step in why.steps] == [step.condition for step in ex.why(3).steps]
    assert why.changes == ()
    assert "Note: the model was saved without the spreads" in str(why)


def test_the_text():
    table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 0.5], [67.0, 0.25]]
    ex = explain(table, ["young", "young", "young", "old", "old"], columns=["age", "share"], method="imm")
    assert str(ex.why([52, 3.0])) == (
        "old, by leaf 1 (2 rows, 100.0% of them old)\n"
        "  cut 1  age = 52  age > 50  (2 from the cut, 0.12 standard deviations)\n"
        "would be young if age were 50 (0.12 standard deviations away)"
    )
    near = ex.why([52, 3.0]).changes[0]
    one = near._replace(moves=(near.moves[0]._replace(deviations=1.0),))
    word = near.moves[0]._replace(column="city", before="x", after="y", deviations=1.0)
    assert [
        _distance(near._replace(moves=moves)) for moves in [one.moves, (word,), (word, word), (*one.moves, word)]
    ] == [
        "1 standard deviation away",
        "one other category",
        "2 other categories",
        "1 standard deviation away, and one other category",
    ]
    open_end = explain([[0.25], [0.5], [8.5], [9.5]], ["low", "low", "high", "high"], columns=["x"], method="imm")
    assert "would be high if x were above 4 " in str(open_end.why([0.5]))
    assert open_end.why([0.5]).changes[0].moves[0].after == math.nextafter(4, 5)


@pytest.mark.parametrize("member", [True, None])
def test_the_facts_are_data_of_json(member):
    table, y = _customers()
    ex = explain(table, y, method="cart")
    why = ex.why({"spend": -1e308, "share": 0.5, "unused": 0.0, "member": member})
    facts = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert (facts["cluster"], facts["leaf"], facts["reason"]) == (why.name, why.leaf, why.reason)
    assert [step["column"] for step in facts["steps"]] == [step.column for step in why.steps]
    assert [change["cluster"] for change in facts["changes"]] == [change.name for change in why.changes]
    assert all(step["condition"] in str(why) for step in facts["steps"])


def test_categories_that_are_numbers_are_no_distances():
    builder = TreeBuilder()
    left, right = builder.split(0, feature=0, upper=0.0)
    builder.label(left, 0)
    builder.label(right, 1)
    codes = Categories((0.5, 1.5), False)
    kinds = {"columns": ["code"], "names": [0, 1], "categories": {0: codes}, "spreads": {}}
    [change] = smallest_changes(builder.build(), OneRow({0: 0.5}, {0: 0.0}), 0, immutable=[], **kinds)
    assert change.moves == (("code", 0.5, 1.5, 1.0, True, None),)
    assert _distance(change) == "one other category"


@law(40)
def test_whatever_numbers_a_row_holds_it_has_the_cluster_that_predict_gives(seed):
    """Infinite, huge, missing: in columns with gaps, in which missing numbers have a place, and in others."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    labels = (table.a > 0).astype(int) + 2 * (table.b > 0.3)
    table.loc[rng.random(60) < rng.choice([0, 0.3]), "b"] = np.nan
    ex = explain(table, labels, method="cart", max_leaf_nodes=6)
    for _ in range(8):
        row = {name: float(rng.choice([np.inf, -np.inf, np.nan, 1e308, 0.1, -0.1])) for name in "abc"}
        cluster = ex.predict(pd.DataFrame([row]), missing="none")[0]
        assert ex.why(row).cluster == (None if cluster == -1 else cluster), row
        assert ex.why(row).to_dict() == json.loads(json.dumps(ex.why(row).to_dict(), allow_nan=False))
