"""The first command on a table of one's own: identifiers, scales, and what people write for numbers."""

import json

import numpy as np
import pandas as pd
import pytest

import boxwood
from tests.cli.test_cli import DATA, SCALED, run

N = 60
RNG = np.random.default_rng(0)
CRM = pd.DataFrame(
    {
        "id": np.arange(1, N + 1),
        "zip": [f"{i:05}" for i in RNG.permutation(N) + 990],
        "uid": [f"3f2504e0-4f89-11d3-9a0c-0305e82c{i:04}" for i in range(N)],
        "price": RNG.normal(size=N) * 1000,
        "qty": RNG.normal(size=N),
        "group": RNG.integers(3, size=N),
    }
)


@pytest.fixture
def crm(tmp_path):
    CRM.to_csv(tmp_path / "crm.csv", index=False)
    return tmp_path


def facts(result):
    return json.loads(result.stdout)


# -------------------------------------------------------------------------------------------------- identifiers


def test_identifiers_are_left_out_where_clusters_are_made(crm):
    result = run(crm, "explain", "{}/crm.csv", "-k", 3, "--exclude", "group", "--json")
    assert facts(result)["columns"] == ["price", "qty"]
    note = "boxwood: left out, looks like an identifier: id, zip; to use it, name the columns with -c\n"
    assert result.stderr == f"boxwood: left out, text: uid\n{note}{SCALED}"


def test_columns_that_are_named_stay(crm):
    result = run(crm, "explain", "{}/crm.csv", "-k", 3, "-c", "id,zip", "--json")
    assert facts(result)["columns"] == ["id", "zip"]
    assert "left out" not in result.stderr


def test_given_labels_keep_identifiers_and_leading_zeros_are_told(crm):
    result = run(crm, "explain", "{}/crm.csv", "-l", "group", "--json")
    assert facts(result)["columns"] == ["id", "zip", "price", "qty"]
    told = "boxwood: numbers with leading zeros, which rules do not show: zip; --exclude leaves them out\n"
    assert told in result.stderr
    assert any("looks like an identifier: id, zip" in note for note in facts(result)["notes"])


def test_a_table_of_identifiers_is_refused(tmp_path):
    CRM[["id", "zip"]].to_csv(tmp_path / "t.csv", index=False)
    told = run(tmp_path, "explain", "{}/t.csv", "-k", 3, code=DATA).stderr
    assert told.startswith("boxwood: error: no column is left in ")
    assert "; looks like an identifier: id, zip\n  to use it, name the columns with -c NAME" in told


@pytest.mark.parametrize(
    ("values", "padded"),
    [
        (["01", "2", "3"], True),
        (["0", "2", "3"], False),
        (["0.5", "2", "3"], False),
        (["00.5", "2", "3"], False),
        (["1", "10", "100"], False),
    ],
)
def test_leading_zeros_are_digits_and_not_fractions(tmp_path, values, padded):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{value},{i}\n" for i, value in enumerate(values * 3)))
    result = run(tmp_path, "explain", "{}/t.csv", "-k", 2, "--json")
    assert facts(result)["columns"] == ["b"] if padded else ["a", "b"]


# -------------------------------------------------------------------------------------------------------- scale


def test_clusters_are_made_on_scaled_columns_unless_told_otherwise(crm):
    X, columns = np.asfortranarray(CRM[["price", "qty"]]), ["price", "qty"]
    for options in ([], ["--scale", "unit"], ["--standardize"], ["--scale", "none"]):
        scaled = "none" not in options
        result = run(crm, "explain", "{}/crm.csv", "-k", 3, "-c", "price,qty", "--json", *options)
        expected = boxwood.explain(X, n_clusters=3, columns=columns, random_state=0, standardize=scaled)
        assert facts(result) == expected.to_dict()
        assert facts(result)["standardized"] is scaled
        assert result.stderr == ("" if options else SCALED)


def test_given_labels_are_explained_on_columns_as_they_are(crm):
    result = run(crm, "explain", "{}/crm.csv", "-l", "group", "-c", "price,qty", "--json")
    assert facts(result)["standardized"] is False
    assert "scaled" not in result.stderr
    asked = run(crm, "explain", "{}/crm.csv", "-l", "group", "-c", "price,qty", "--json", "--scale", "unit")
    assert facts(asked)["standardized"] is True


def test_a_column_that_decides_alone_is_told_without_advice_that_was_followed(tmp_path):
    a = np.repeat([0.0, 5, 9], 20)
    pd.DataFrame({"a": a, "b": 2 * a}).to_csv(tmp_path / "t.csv", index=False)
    for scale, advice in (("none", "standardize, or choose the columns"), ("unit", "choose the columns")):
        notes = facts(run(tmp_path, "explain", "{}/t.csv", "-k", 3, "--scale", scale, "--json"))["notes"]
        said = f"alone decides the cluster of every row; if other columns should count, {advice} (columns)"
        assert [note[2:] for note in notes if "alone" in note] == [said]
