"""`boxwood explain` and `predict` on a file with words and empty fields, as it comes."""

import json

import numpy as np
import pandas as pd
import pytest

import boxwood
from tests.cli.test_cli import DATA, USAGE, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("mixed"), np.random.default_rng(0)
    country, age = rng.choice(["AT", "CH", "DE", "FR", "IT"], 300), rng.normal(50, 15, 300).round(1)
    near = np.isin(country, ["AT", "CH"])
    table = pd.DataFrame(
        {
            "country": pd.Series(country).mask(rng.random(300) < 0.1),
            "age": pd.Series(age).mask(rng.random(300) < 0.1),
            "zip": rng.choice(["01010", "4020", "8010"], 300),
            "segment": np.where(near, np.where(age > 50, "old", "young"), "far"),
        }
    )
    table.to_csv(folder / "t.csv", index=False)
    table.to_parquet(folder / "t.parquet")
    return folder


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_with_words_and_empty_fields_is_explained_and_labelled_as_the_frame_is(folder, tmp_path, form):
    run(folder, "explain", f"{{}}/t.{form}", "-l", "segment", "-o", tmp_path / "m.json", "-q")
    model, frame = boxwood.load(tmp_path / "m.json"), pd.read_parquet(folder / "t.parquet")
    expected = boxwood.explain(frame, "segment", random_state=0)
    wanted = expected.tree, expected.details.categories, ("age",)
    assert (model.tree, model.details.categories, model.details.gaps) == wanted
    run(folder, "predict", tmp_path / "m.json", f"{{}}/t.{form}", "-o", tmp_path / "o.csv", "-q")
    labels = model.predict(frame, missing="none")
    empty = pd.isna(labels)
    found = pd.read_csv(tmp_path / "o.csv")["cluster"]
    assert found.isna().tolist() == empty.tolist()
    assert found[~empty].tolist() == labels[~empty].tolist()
    assert (labels == frame["segment"]).mean() == pytest.approx(model.agreement)


def test_rows_without_a_value_are_learnt_from_dropped_or_refused(folder):
    words = ("explain", "{}/t.csv", "-l", "segment", "--method", "imm", "--exclude", "zip")
    facts = {how: json.loads(run(folder, *words, "--missing", how, "--json").stdout) for how in ("learn", "drop")}
    frame = pd.read_parquet(folder / "t.parquet")
    lost = int(frame[["country", "age"]].isna().any(axis=1).sum())
    assert facts["drop"]["n_left_out"] == lost > 0
    assert facts["learn"]["n_left_out"] == int(frame[["country", "age"]].isna().all(axis=1).sum())
    refused = run(folder, *words, "--missing", "refuse", code=DATA).stderr
    assert f"missing values in {lost} of 300 rows" in refused
    assert "(--missing drop)" in refused


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_an_order_of_words_is_told_by_an_option(folder, tmp_path, engine):
    order = "country: AT < CH<DE<FR<IT"
    how = "-l", "segment", "--categories", order, "--engine", engine, "-o", tmp_path / "m.json", "-q"
    run(folder, "explain", "{}/t.csv", *how)
    orders, frame = {"country": ["AT", "CH", "DE", "FR", "IT"]}, pd.read_parquet(folder / "t.parquet")
    expected = boxwood.explain(frame, "segment", categories=orders, random_state=0)
    model = boxwood.load(tmp_path / "m.json")
    assert (model.tree, model.details.categories) == (expected.tree, expected.details.categories)
    assert {name: known.ordered for name, known in model.details.categories} == {"country": True, "zip": False}
    refused = run(folder, "explain", "{}/t.csv", "-l", "segment", "--categories", "country:AT<CH", code=DATA).stderr
    assert "country has values that its order in categories lacks: DE, FR, IT" in refused
    found = run(folder, "compare", "{}/t.csv", "-l", "segment", "--categories", order, "--method", "cart").stdout
    assert "cart" in found


def test_clusters_of_a_mixed_file_are_made(folder):
    facts = json.loads(run(folder, "explain", "{}/t.csv", "-k", 3, "--exclude", "segment", "--json").stdout)
    assert len(facts["clusters"]) == 3
    assert facts["standardized"]
    text = run(folder, "compare", "{}/t.csv", "-l", "segment", "--method", "imm,cart,mmdt").stdout
    assert "imm" in text
    assert "cart" in text


def test_a_method_of_numbers_says_by_options_what_to_do(folder):
    words = ("explain", "{}/t.csv", "-l", "segment", "-c", "country,age", "--method", "random-cuts")
    refused = run(folder, *words, code=USAGE).stderr
    assert "takes no categories; use another method, or -c age and --missing drop" in refused
