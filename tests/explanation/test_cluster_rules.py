"""The rules of a cluster with several leaves: as simple as they can be, and true for the same rows."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd

from boxwood import ThresholdTree, explain, render
from boxwood.axes import Categories
from boxwood.explanation.records import cluster_rules_of
from boxwood.tree.cover import Covers
from boxwood.words.rules import rule
from tests.cases import tree_on_values
from tests.models import read_model
from tests.naive import holds
from tests.programs import in_sqlite
from tests.scale import seeds


def leaf(cluster):
    return {"cluster": cluster}


def cut(feature, threshold, left, right):
    return {"feature": feature, "threshold": threshold, "left": left, "right": right}


def words(nested, columns, categories=None):
    """Return the rules of cluster 0 in words."""
    rules = cluster_rules_of(ThresholdTree.from_dict(nested), columns, categories or {}, 2)[0]
    return " | ".join(map(rule, rules))


def test_neighbours_and_complements_are_said_once():
    columns = ["milk", "paper"]
    assert words(cut(0, 27000, cut(1, 18000, leaf(1), leaf(0)), leaf(0)), columns) == "paper > 18,000 | milk > 27,000"
    steps = cut(0, 93.96, leaf(0), cut(0, 93.995, leaf(0), cut(0, 95.75, cut(1, 106, leaf(0), leaf(1)), leaf(1))))
    assert words(steps, columns) == "milk <= 93.995 | milk <= 95.75 and paper <= 106"
    assert words(cut(0, 1, leaf(0), cut(1, 2, leaf(0), leaf(0))), columns) == "every row"


def test_a_condition_in_common_is_said_once():
    outside = {"feature": 0, "interval": [1, 2], "inside": leaf(1), "outside": leaf(0)}
    assert words(cut(1, 5, leaf(1), outside), ["x", "y"]) == "y > 5 and (x < 1 or x > 2)"
    between = cut(0, 1, leaf(0), cut(0, 2, leaf(1), leaf(0)))
    assert words(cut(1, 5, leaf(1), between), ["x", "y"]) == "y > 5 and (x <= 1 or x > 2)"
    assert words(between, ["x", "y"]) == "x <= 1 | x > 2"


def test_categories_stay_words():
    region = Categories(("east", "north", None), True)
    nested = cut(0, 0.5, cut(1, 5, leaf(0), leaf(1)), cut(0, 1.5, leaf(0), leaf(1)))
    assert words(nested, ["region", "x"], {0: region}) == "region is north | region is east and x <= 5"
    nested = cut(0, 1.5, cut(1, 5, leaf(0), leaf(1)), leaf(0))
    assert words(nested, ["region", "x"], {0: region}) == "x <= 5 | region is neither east nor north"
    nested = cut(0, 1.5, leaf(1), cut(0, 2.5, leaf(0), leaf(1)))
    assert words(nested, ["region", "x"], {0: region}) == "region is missing"
    member = Categories((False, True), False)
    nested = cut(0, 0.5, leaf(0), cut(1, 5, leaf(0), leaf(1)))
    assert words(nested, ["member", "x"], {0: member}) == "not member | x <= 5"


def expressions(ex):
    """Return the printed rules as expressions of Python, by cluster."""
    lines = (line.split(": ", 1) for line in ex.rules().split("\n"))
    rules = {name: re.sub(r"(?<![<>])=", "==", text).replace("<==", "<=").replace(">==", ">=") for name, text in lines}
    return {name: text for name, text in rules.items() if not text.startswith("no r")}


def test_printed_rules_hold_the_rows_that_predict_gives():
    simpler = 0
    for seed in seeds(12, least=6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 6, size=(60, 3)).astype(float)
        method, leaves = [("cart", 9), ("kernel_exkmc", 6), ("expand", 8)][seed % 3]
        labels = rng.choice(["a", "b", "c"], 60)
        labels[:20] = np.where(X[:20, 0] > 3, "a", "b")
        frame = pd.DataFrame(X, columns=["x", "y", "z"]).assign(member=rng.random(60) < 0.5)
        ex = explain(frame, labels, method=method, max_leaf_nodes=leaves)
        rows = pd.DataFrame(rng.integers(-1, 14, size=(80, 3)) / 2, columns=["x", "y", "z"])
        rows["member"] = rng.random(80) < 0.5
        found = ex.predict(rows)
        for row, name in zip(rows.to_dict("records"), found, strict=True):
            said = [of for of, text in expressions(ex).items() if text == "every row" or eval(text, {}, row)]
            is_whole = all(row[column] >= 0 and row[column] % 1 == 0 for column in "xyz")
            assert said == [name] or (said == [] and not is_whole), "words name values of columns of whole numbers"
            (own,) = [cluster for cluster in ex.clusters if any(holds(one, row) for one in cluster.rules)]
            assert own.name == name
        simpler += sum(len(cluster.rules) for cluster in ex.clusters) < ex.n_leaves
        read = read_model(ex.to_json())
        assert replace(read, notes=ex.notes) == ex  # notes that quote values are written without them
    assert simpler


def test_simple_words_do_not_decide_rows_with_missing_values():
    X = [[1.0, 1.0], [9.0, 1.0], [9.0, 9.0], [1.0, 9.0]]
    ex = explain(X, ["a", "a", "b", "a"], method="cart", max_leaf_nodes=3, columns=["x", "y"])
    assert ex.rules() == "a: x <= 5 or y <= 5\nb: y > 5 and x > 5"
    assert len(ex.leaves) == 3
    assert sorted(rule(leaf.rule) for leaf in ex.leaves if leaf.cluster == 0) == ["y <= 5", "y > 5 and x <= 5"]
    rows = [(1.0, None), (None, 1.0), (None, 9.0), (9.0, None)]
    expected = [None, "a", None, None]  # the tree asks for y first
    assert ex.predict(rows, missing="none").tolist() == expected
    assert in_sqlite(render.sql(ex, dialect="sqlite"), [{"x": x, "y": y} for x, y in rows]) == expected
    assert math.isclose(sum(leaf.size for leaf in ex.leaves), 4)


def test_a_leaf_that_is_alone_has_the_words_of_its_cheapest_cover():
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, int(rng.integers(2, 9)), 2, range(4), 6)
        boxes, columns = tree.boxes(), ["x", "y"]
        rules = cluster_rules_of(tree, columns, {}, 6)
        for leaf, cluster in enumerate(tree.leaf_clusters.tolist()):
            if (tree.leaf_clusters == cluster).sum() == 1:
                few = Covers(boxes, {}).of([leaf]) or [boxes[leaf]]
                conditions = [[(columns[j], pieces) for j, pieces in box.items()] for box in few]
                said = [[each[:2] for each in one] for one in rules[cluster]]
                assert said == conditions, f"seed {seed}"
