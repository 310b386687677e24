"""`boxwood explain --standalone-rules` and `boxwood standalone-rules` say and write what Python does."""

import json

import pytest

import boxwood as bw
from tests.command import invoke as run
from tests.customers import customers


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the path of a model with lines, and what explaining printed."""
    folder = tmp_path_factory.mktemp("lines")
    customers(300).to_csv(folder / "t.csv", index=False)
    model = folder / "model.json"
    given = ["explain", str(folder / "t.csv"), "-l", "segment", "-c", "orders,discount,premium", "--standalone-rules"]
    return model, run(*given, "--save", str(model)).output


def test_explain_prints_lines_below_the_tree_and_the_model_keeps_them(saved):
    model, printed = saved
    lines = bw.load(model).standalone_rules()
    assert printed.split("One-line rules\n\n")[1].startswith(f"{lines}\n")
    assert all(len(line.rule) <= 3 for line in lines)


def test_each_form_is_that_of_python(saved, tmp_path):
    model, _ = saved
    lines = bw.load(model).standalone_rules()
    forms = {"text": lines.to_text(), "markdown": lines.to_markdown(), "python": lines.to_python()}
    forms["javascript"] = lines.to_javascript()
    for form, expected in forms.items():
        assert run("standalone-rules", model, "--to", form).stdout == f"{expected}\n"
    assert json.loads(run("standalone-rules", model, "--to", "json").stdout) == json.loads(json.dumps(lines.to_dict()))
    query = run(
        "standalone-rules", model, "--to", "sql", "--dialect", "sqlite", "--table", "t", "-o", tmp_path / "t.sql", "-q"
    )
    assert query.stdout == ""
    assert (tmp_path / "t.sql").read_text() == f"{lines.to_sql('sqlite', table='t')}\n"


def test_json_of_explain_has_the_lines(saved, tmp_path):
    customers(100).to_csv(tmp_path / "t.csv", index=False)
    printed = run(
        "explain", tmp_path / "t.csv", "-l", "segment", "-c", "orders", "--standalone-rules", "--json", "-q"
    ).stdout
    assert len(json.loads(printed)["standalone_rules"]["fronts"]) == 5


def test_what_is_refused(saved, tmp_path):
    model, _ = saved
    assert "needs --to sql" in run("standalone-rules", model, "--table", "t", code=2).output
    bw.explain([[1.0], [9.0]], ["a", "b"]).save(tmp_path / "bare.json")
    assert "--standalone-rules --save" in run("standalone-rules", tmp_path / "bare.json", code=3).output
