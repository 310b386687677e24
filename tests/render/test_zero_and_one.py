"""Words say `member = 0` and `member = 1` of a column that holds only these; what runs compares numbers."""

import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import boxwood
from boxwood import explain, scan
from boxwood.errors import ModelError
from boxwood.render.pictures.picture import picture_of
from tests.models import read_model
from tests.programs import in_node, program
from tests.render.test_page import Page
from tests.scale import law


def customers(seed=0, n=120):
    """Return two columns of 0 and 1, one of numbers, and clusters that need all three."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"member": rng.integers(0, 2, n), "app": rng.integers(0, 2, n) * 1.0, "age": rng.integers(18, 80, n)}
    )
    return frame, np.where(
        frame.member == 1, np.where(frame.app == 1, "both", "member"), np.where(frame.age > 50, "old", "young")
    )


@law(8)
def test_words_name_the_value(seed):
    frame, labels = customers(seed)
    ex = explain(frame, labels)
    assert ex.agreement == 1
    assert set(ex.details.binary) == {"member", "app"}
    rules = ex.rules()
    assert "both: member = 1 and app = 1" in rules or "both: app = 1 and member = 1" in rules
    page = Page(ex.to_html()).text
    tree = page[page.index("The tree") : page.rindex("For analysts")]
    for text in (str(ex), ex.to_text(), ex.to_csv(), ex.to_markdown(), tree, ex.to_json().split('"clusters"')[1]):
        assert "member = 0" in text
        assert "member <" not in text
        assert "app >" not in text
    edges = {edge.text for edge in picture_of(ex).edges}
    assert {"= 0", "= 1"} < edges


def test_what_runs_compares_numbers():
    frame, labels = customers()
    ex = explain(frame, labels)
    for code in (ex.to_sql(), ex.to_python(), boxwood.render.sql(ex, table="t")):
        assert "= 1" not in code.replace("<= 1", "")
    assert ex.predict(frame.assign(member=frame.member * 5)).tolist() == ex.predict(frame).tolist()
    own = {one.intervals for leaf in ex.leaves for one in leaf.rule if one.column == "member"}
    assert all(piece.lower == -np.inf or piece.upper == np.inf for pieces in own for piece in pieces)


def test_only_where_there_is_nothing_else():
    frame, labels = customers()
    for value in (2, 0.5, -1):
        other = frame.assign(member=frame.member.astype(float))
        other.loc[0, "member"] = value
        assert "member" not in explain(other, labels).details.binary
    assert explain(frame.astype({"member": bool}), labels).details.binary == ("app",)
    left_out = np.where(np.arange(len(frame)) == 0, -1, labels.astype(object))
    other = frame.copy()
    other.loc[0, "member"] = 7  # of a row in no cluster
    assert "member" in explain(other, left_out).details.binary


def test_other_rows_batches_estimators_and_files():
    frame, labels = customers()
    table = scan(pa.Table.from_pandas(frame.assign(segment=labels)))
    ex = explain(frame, labels, method="imm")
    for other in (explain(table, "segment", method="imm"), ex.evaluate(frame, labels), read_model(ex.to_json())):
        assert other.details.binary == ex.details.binary
        assert other.rules() == ex.rules()
    assert boxwood.IMM().fit(frame, labels).explanation_.rules() == ex.rules()
    later = ex.evaluate(frame.assign(member=frame.member * 3), labels)
    assert "member" not in later.details.binary
    assert "member > 0" in later.rules()
    with pytest.raises(ModelError, match="its binary names columns that it does not list"):
        read_model(ex.to_json().replace('"binary": [', '"binary": [\n"x",'))


def test_why_stability_and_suggested_names_say_the_value():
    frame, labels = customers()
    ex = explain(frame, labels)
    steps = ex.why({"member": 1, "app": 0, "age": 30}).steps
    said = {step.column: boxwood.words.rules.condition(step.condition) for step in steps}
    assert said["member"] == "member = 1"
    assert "from the cut" not in str(ex.why({"member": 1, "app": 0, "age": 30}))
    stable = str(ex.stability(3))
    assert "member at" not in stable
    assert "app at" not in stable
    names = " ".join(ex.suggested_names().values())
    assert "member = 1" in names
    assert "high member" not in names


def test_the_page_tells_shares_of_ones_of_columns_that_no_rule_uses():
    frame, labels = customers(n=400)
    frame["seen"] = np.where(labels == "old", 1, (np.arange(400) % 5 == 0) * 1)
    ex = explain(frame, labels)
    assert "seen" not in ex.details.binary
    text = Page(ex.to_html()).text
    assert "100.0% are 1" in text
    assert "seen = 1" in text
    assert "higher seen" not in text
    assert "higher age" in text


def test_words_stand_for_truths_wherever_the_rules_run(tmp_path):
    ex = explain(pd.DataFrame({"member": [True, False] * 20}), ["in", "out"] * 20)
    values = [" YES", "nein", "True", "false", True, 0, "constructor", "maybe", None]
    expected = ["in", "out", "in", "out", "in", "out", None, None, None]
    assert ex.predict(pd.DataFrame({"member": pd.Series(values, dtype=object)}), missing="none").tolist() == expected
    assert ex.predict([[value] for value in values], missing="none").tolist() == expected
    found = program(ex.to_python())
    assert [found["cluster"]({"member": value}) for value in values] == expected
    if shutil.which("node") is not None:
        table = [{"member": value} for value in (0, "yes", "nein", "constructor", None)]
        assert in_node(ex.to_javascript(), table, tmp_path) == ["out", "in", "out", None, None]
