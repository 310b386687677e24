"""Options that limit the rules, and weights, on the command line."""

import json

import numpy as np
import pytest

import boxwood
from tests.cli.test_cli import DATA, DONE, USAGE, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=120)
    X = rng.normal(size=(120, 4)) + 3 * rng.normal(size=(4, 4))[labels]
    weights = rng.integers(0, 3, size=120)
    lines = ["a,b,c,d,w,name,cluster"]
    lines += [
        ",".join(map(repr, row.tolist())) + f",{w},n{w},{c}" for row, w, c in zip(X, weights, labels, strict=True)
    ]
    (folder / "t.csv").write_text("\n".join(lines))
    np.savez(folder / "t.npz", X=X, labels=labels, weights=weights)
    return folder


def explained(folder, *options, source="{}/t.csv", code=DONE):
    result = run(folder, "explain", source, "-q", "--json", *options, code=code)
    return json.loads(result.stdout) if code == DONE else result.output


def test_options_limit_the_rules(folder):
    limits = ["--max-depth", 3, "--min-samples-leaf", 10, "--max-columns", 2, "--forbidden", "a,name"]
    limits += ["--preferred", "b", "--round-thresholds", 2]
    facts = explained(folder, "--labels", "cluster", "--exclude", "w", *limits)
    assert "name" in facts["columns"]
    budget = facts["limits"]
    assert {name: budget[name] for name in ("max_depth", "min_samples_leaf", "max_columns", "round_thresholds")} == {
        "max_depth": 3,
        "min_samples_leaf": 10,
        "max_columns": 2,
        "round_thresholds": 2,
    }
    assert (budget["forbidden"], budget["preferred"]) == (["a", "name"], ["b"])
    assert min(leaf["size"] for leaf in facts["leaves"]) >= 10
    assert facts["readability"]["depth"] <= 3


def test_thresholds_that_are_allowed_are_options(folder):
    options = [
        "--labels",
        "cluster",
        "--exclude",
        "w,name",
        "--method",
        "cart",
        "--cuts",
        "a=-1,0,1.5",
        "--cuts",
        "b=0",
    ]
    facts = explained(folder, *options)
    assert facts["limits"]["cuts"] == [{"column": "a", "values": [-1.0, 0.0, 1.5]}, {"column": "b", "values": [0.0]}]
    assert "give NAME=VALUES" in explained(folder, "--labels", "cluster", "--cuts", "a", code=USAGE)
    refused = explained(folder, "--labels", "cluster", "--cuts", "a=1000", code=DATA)
    assert "no row of a is on the other side of 1000" in refused
    assert "(--cuts), or forbid the column (--forbidden)" in refused


def test_a_column_of_weights_is_not_a_column_of_rules(folder):
    facts = explained(folder, "--labels", "cluster", "--weights", "w", "--exclude", "name")
    data = np.load(folder / "t.npz")
    ex = boxwood.explain(data["X"], data["labels"], sample_weight=data["weights"], columns=list("abcd"))
    assert facts["columns"] == list("abcd")
    assert facts["weighted"]
    assert (facts["price"], facts["agreement"]) == (ex.price, ex.agreement)


def test_compare_weighs_rows_as_explain_does(folder):
    tree = ["--labels", "cluster", "--method", "cart", "--leaves", "3"]
    [row] = json.loads(run(folder, "compare", "{}/t.csv", "--json", "--weights", "w", *tree).stdout)["rows"]
    facts, unweighted = explained(folder, "--weights", "w", *tree), explained(folder, "-c", "a,b,c,d", *tree)
    assert row["price"] == pytest.approx(facts["price"])
    assert row["agreement"] == pytest.approx(facts["agreement"]) != pytest.approx(unweighted["agreement"])


def test_compare_keeps_limits(folder):
    options = "--labels", "cluster", "--method", "auto,cart", "--max-columns", 1, "--objective", "agreement"
    rows = json.loads(run(folder, "compare", "{}/t.csv", "--json", *options).stdout)["rows"]
    assert rows
    assert all(row["columns"] == 1 for row in rows)


def test_notes_name_options(folder):
    options = "--labels", "cluster", "--exclude", "w", "--max-columns", 1, "--max-depth", 1, "--notes"
    text = run(folder, "explain", "{}/t.csv", *options).stdout
    assert "Note: --max-columns 1: the rules use " in text
    assert "fewer than the 4 clusters (--max-depth 1)" in text


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--forbidden", "z"], USAGE, "no column 'z' in the table"),
        (["--exclude", "name", "--preferred", "name"], USAGE, "no column 'name' in the table"),
        (["--weights", "z"], USAGE, "no column 'z' in the table"),
        (["--weights", "cluster"], USAGE, "cannot hold both labels and weights"),
        (["--weights", "name"], DATA, "column 'name' must be numbers"),
        (["--weights", "a"], DATA, "column 'a' must hold weights, but"),
        (["--min-samples-leaf", 61], DATA, "--min-samples-leaf 61 allows no cut of 120 rows; take at most 60"),
        (["--max-depth", 0], USAGE, "'--max-depth'"),
        (["--method", "imm", "--max-depth", 2], USAGE, "method 'imm' has no --max-depth; use 'auto'"),
        (["--forbidden", "a", "--preferred", "a"], USAGE, "forbidden and --preferred at once: a"),
    ],
)
def test_limits_that_cannot_be_kept_are_errors(folder, options, code, message):
    assert message in explained(folder, "--labels", "cluster", *options, code=code)
