"""A customer file as a shop exports it goes from file to result with no option but the clusters."""

import json

import pandas as pd
import pytest

import boxwood
from boxwood._validation import list_words
from tests.cli.test_cli import run
from tests.customers import GERMAN, customers, in_german, write

WORDS = ["city", "country", "channel", "segment"]
NUMBERS = ["age", "orders", "revenue", "discount", "return_rate", "newsletter", "premium"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("customers")
    write(folder, 600)
    return folder


@pytest.mark.crossed
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("name", ["customers", "kunden"])
@pytest.mark.parametrize("clusters", [("-k", 4), ("-l", "segment")], ids=["made", "given"])
def test_a_raw_file_is_explained(folder, name, clusters, engine):
    german = name == "kunden"
    said = GERMAN if german else {name: name for name in GERMAN}
    words = [word if word != "segment" else said[word] for word in clusters]
    result = run(
        folder, "explain", f"{{}}/{name}.csv", *words, "--engine", engine, "--method", "imm", "--json", "--notes"
    )
    names = [
        name
        for name in said
        if name in (*NUMBERS, "first_order", "last_order") or (name in WORDS and name not in clusters)
    ]
    unused = {"city", "first_order", "last_order"} if clusters[0] == "-k" else set()  # names and dates make no groups
    found, used = json.loads(result.stdout), [said[name] for name in names if name not in unused]
    assert found["columns"] == used
    assert (found["n_rows"], found["n_left_out"]) == (600, 0)
    notes = [
        f"{len(used)} of {16 if 'segment' not in clusters else 15} columns are used: {list_words(used)}",
        f"left out, no values: {said['remark']}",
        f"left out, looks like an identifier: {said['customer_id']}, {said['zip']}; to use it, name the columns (-c)",
    ]
    notes += [f": {said['city']}; to use it, name the columns (-c)"] if unused else []
    notes += [f": {said['first_order']}, {said['last_order']}; to use it, name the columns (-c)"] if unused else []
    assert [note for note in notes if f"{'' if note[0] == ':' else 'boxwood: '}{note}\n" not in result.stderr] == []
    assert not any("lack a value" in note for note in found["notes"])
    assert found["gaps"] == [said[name] for name in ("age", "last_order") if name not in unused]
    if german:
        read = ["Newsletter, Premium: ja is 1, nein is 0", "read as numbers: Umsatz [€] ('"]
        for said_on_reading in read:
            assert result.stderr.count(f"boxwood: {said_on_reading}") == 1
            assert [note.startswith(said_on_reading) for note in found["notes"]].count(True) == 1


@pytest.mark.full
@pytest.mark.parametrize("clusters", [("-k", 4, "--exclude", "segment"), ("-l", "segment")], ids=["made", "given"])
def test_a_german_file_is_the_same_table(folder, tmp_path, clusters):
    models = {}
    for name, said in (("customers", {name: name for name in GERMAN}), ("kunden", GERMAN)):
        model, labelled = tmp_path / f"{name}.json", tmp_path / f"{name}-labelled.csv"
        words = [said.get(word, word) for word in clusters]
        run(folder, "explain", f"{{}}/{name}.csv", *words, "--exclude", said["discount"], "-q", "-o", model)
        run(folder, "predict", model, f"{{}}/{name}.csv", "-o", labelled, "-q")
        models[name] = boxwood.load(model), pd.read_csv(labelled, sep=None, engine="python").iloc[:, -1]
    (plain, labels), (german, german_labels) = models.values()
    assert german.tree == plain.tree
    assert german.columns == tuple(GERMAN[name] for name in plain.columns)
    assert german_labels.equals(labels.rename(german_labels.name))
    assert labels.notna().mean() > 0.9
    assert (clusters[0] == "-l") or {"premium", "newsletter"} & {plain.columns[j] for j in plain.tree.features}


def test_a_frame_is_explained_as_the_file_is(folder):
    from_frame = boxwood.explain(customers(600), "segment", random_state=0)
    from_file = json.loads(run(folder, "explain", "{}/customers.csv", "-l", "segment", "--json").stdout)
    assert list(from_frame.columns) == from_file["columns"]
    assert from_frame.to_dict()["leaves"] == from_file["leaves"]
    assert in_german(customers(600)).shape == (600, 16)
