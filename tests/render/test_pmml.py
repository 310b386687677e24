"""PMML: a reader of the few elements that are written, by the rules of the standard.

`test_every_engine.py` labels rows by it, and `tests/machines/test_pmml.py` by an engine of others.
"""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import boxwood
from boxwood.axes import Categories
from boxwood.errors import DataError
from tests.render.test_hostile_names import PAIRS, explained
from tests.render.test_shapes_of_trees import deep
from tests.rule_cases import explained_by

SPACE = "{http://www.dmg.org/PMML-4_4}"
COMPARE = {
    "lessThan": lambda a, b: a < b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "greaterOrEqual": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
}
KINDS = {"double": float, "string": str, "boolean": {"true": True, "false": False}.get, "integer": int}


class Model:
    """A model of PMML, for rows that are dicts without missing values as None."""

    def __init__(self, text):
        root = ET.fromstring(text)
        assert [child.tag for child in root] == [SPACE + name for name in ("Header", "DataDictionary", "TreeModel")]
        fields = root.findall(f"{SPACE}DataDictionary/{SPACE}DataField")
        self.kind = {field.get("name"): KINDS[field.get("dataType")] for field in fields}
        tree = root.find(f"{SPACE}TreeModel")
        assert tree.get("missingValueStrategy") == "nullPrediction"
        assert [child.tag for child in tree] == [SPACE + "MiningSchema", SPACE + "Node"]
        schema = tree.find(f"{SPACE}MiningSchema")
        (self.target,) = (one.get("name") for one in schema if one.get("usageType") == "target")
        assert [one.get("name") for one in schema] == [field.get("name") for field in fields]
        (values,) = (field for field in fields if field.get("name") == self.target)
        self.values = {value.get("value") for value in values}
        self.root = tree.find(f"{SPACE}Node")

    def score(self, row):
        """Return the score; None as soon as a predicate is unknown, and where no child is true."""
        node = self.root
        while children := node.findall(f"{SPACE}Node"):
            for child in children:
                holds = self.holds(child[0], row)
                if holds is None:
                    return None
                if holds:
                    node = child
                    break
            else:
                return None
        assert node.get("score") in self.values
        return self.kind[self.target](node.get("score"))

    def holds(self, predicate, row):
        """Return whether a predicate holds, in logic of three values."""
        if predicate.tag == SPACE + "True":
            return True
        if predicate.tag == SPACE + "CompoundPredicate":
            parts = [self.holds(part, row) for part in predicate]
            assert len(parts) > 1
            decided = predicate.get("booleanOperator") == "or"
            return decided if decided in parts else None if None in parts else not decided
        value, operator = row.get(predicate.get("field")), predicate.get("operator")
        if operator in ("isMissing", "isNotMissing"):
            return (value is None) == (operator == "isMissing")
        if value is None:
            return None
        return COMPARE[operator](value, self.kind[predicate.get("field")](predicate.get("value")))


def test_cuts_that_have_all_values_on_one_side():
    for others in (False, True):
        for lower, upper in ((-math.inf, 9.0), (0.0, 9.0), (-math.inf, -1.0), (1.0, 1.0)):
            builder = boxwood.TreeBuilder()
            for leaf, cluster in zip(builder.split(0, 0, upper, lower), (0, 1), strict=True):
                builder.label(leaf, cluster)
            ex = explained_by(builder.build(), ("colour",), ("in", "out"), {0: Categories(("red", "blue"), others)})
            column = ["red", "blue", "green", None]
            found = [Model(ex.to_pmml()).score({"colour": value}) for value in column]
            assert found == ex.predict(np.array(column, dtype=object)[:, None], missing="none").tolist()


def test_names_come_through_as_they_are():
    for first, second in PAIRS:
        ex, _ = explained(first, second)
        if "\x1b" in first + second:
            with pytest.raises(DataError, match="has the character 27, which XML cannot hold; rename it"):
                ex.to_pmml()
            continue
        model = Model(ex.to_pmml())
        assert [model.score({first: value}) for value in (3.0, 8.0, None)] == [first, second, None]


def test_whole_numbers_are_integers_and_the_field_is_new():
    ex = boxwood.explain([[1.0], [9.0]], [30, 5], columns=["Cluster"])
    model = Model(ex.to_pmml())
    assert (model.target, model.score({"Cluster": 5.0}), model.score({"Cluster": 5.5})) == ("cluster_1", 30, 5)
    large = boxwood.explain([[1.0], [9.0]], [2**31, 5])
    assert Model(large.to_pmml()).score({"x0": 0.0}) == str(2**31)


def test_a_single_leaf_and_a_deep_tree():
    builder = boxwood.TreeBuilder()
    builder.label(0, 0)
    assert Model(explained_by(builder.build(), ("x0",), ("all",)).to_pmml()).score({}) == "all"
    chain = explained_by(deep(900, to_the_left=True), ("x0",), (0, 1, 2))
    model = Model(chain.to_pmml())
    for value in (-1.0, 0.0, 450.5, 899.0, 1e9):
        assert model.score({"x0": value}) == int(chain.predict([[value]])[0])
