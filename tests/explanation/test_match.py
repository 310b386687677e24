"""Two explanations side by side: what is matched on rows, and by boxes; names that survive."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks.living import first, permuted

import boxwood as bw
from boxwood.errors import DataError
from boxwood.explanation.living.match import names_carried
from boxwood.explanation.living.sides import BY_BOXES, side_of
from boxwood.table.rule_rows import open_for_rules
from tests.cli.test_cli import run
from tests.explanation.test_drift import odd_case
from tests.models import read_model
from tests.scale import law


def saved(ex):
    return read_model(ex.to_json())


def by_hand(old, new, rows):
    """Return the shares of rows in each pair of clusters, by `predict`."""
    pairs = zip(*(ex.predict(rows, missing="none").tolist() for ex in (old, new)), strict=True)
    places = [{name: i for i, name in enumerate(ex.names)} | {None: -1, -1: -1} for ex in (old, new)]
    found = np.zeros((old.n_clusters + 1, new.n_clusters + 1))
    for before, after in pairs:
        found[places[0][before], places[1][after]] += 1
    return found / found.sum()


@law(10)
def test_rows_are_counted_in_both(seed):
    old, rows = odd_case(seed)
    new, _ = odd_case(seed + 1000)
    found = bw.match(old, new, rows)
    np.testing.assert_allclose(found.overlap, by_hand(old, new, rows))
    assert sorted(name for one in found.changes for name in one.old) == sorted(
        set(old.names) & {n for one in found.changes for n in one.old}
    )
    assert {name for one in found.changes for name in one.new} == set(new.names)


@law(4)
def test_files_are_matched_as_frames_are(seed, tmp_path):
    before = first(np.random.default_rng(seed))
    old = bw.explain(before.rows, before.labels)
    new = bw.explain(before.rows, np.where(before.rows["country"] == "AT", "at", before.labels))
    rows = before.rows.iloc[:500].assign(country=before.rows["country"].iloc[:500].where(np.arange(500) % 9 > 0, "NZ"))
    rows.to_csv(tmp_path / "t.csv", index=False)
    expected = by_hand(old, new, rows)
    np.testing.assert_allclose(bw.match(old, new, bw.scan(tmp_path / "t.csv")).overlap, expected)
    with open_for_rules(str(tmp_path / "t.csv"), [side_of(ex, None, "").tested_columns for ex in (old, new)]) as opened:
        np.testing.assert_allclose(bw.match(old, new, opened).overlap, expected)


@law(4)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_of_labels_are_matched_in_batches_as_in_a_frame(form, seed, tmp_path):
    rng = np.random.default_rng(seed)
    before, path = first(rng), str(tmp_path / f"t.{form}")
    rows = before.rows.iloc[:300].reset_index(drop=True)
    kinds = ["young", "old", None], [3, 1, 2, -1], ["01", "1", "x"], [True, False], [0.5, 2.0, np.nan]
    for name in ("a", "b"):
        rows[name] = pd.Series(
            rng.choice(np.array(kinds[int(rng.integers(len(kinds)))], dtype=object), 300)
        ).infer_objects()
    rows.to_csv(path, index=False) if form == "csv" else rows.to_parquet(path)
    ex = bw.explain(before.rows, before.labels)
    for sides in (("a", "b"), (ex, "b"), ("a", ex)):
        with bw.scan(path) as source:
            found, expected = bw.match(*sides, source), bw.match(*sides, rows)
        assert found.overlap == expected.overlap, sides
        assert [one.change for one in found.changes] == [one.change for one in expected.changes], sides


def test_labels_of_a_table_in_batches_must_be_a_column_of_it(tmp_path):
    before = first(np.random.default_rng(0))
    before.rows.to_parquet(tmp_path / "t.parquet")
    with bw.scan(tmp_path / "t.parquet") as source, pytest.raises(DataError, match="give the column's name"):
        bw.match(before.labels, bw.explain(before.rows, before.labels), source)


@law(4)
def test_models_without_rows_are_matched_by_boxes(seed):
    rng = np.random.default_rng(seed)
    before = first(rng)
    ex = bw.explain(before.rows, before.labels)
    ex.profile()
    labels = permuted(rng, before.labels)
    other = bw.explain(before.rows, labels)
    other.profile()
    found = bw.match(saved(ex), saved(other))
    assert found.how == BY_BOXES
    assert [one.change for one in found.changes] == ["same"] * ex.n_clusters
    assert {one.old[0]: one.new[0] for one in found.changes} == dict(zip(before.labels, labels, strict=True))
    assert saved(other).rename_like(saved(ex)).names != other.names


def test_what_models_do_not_know_is_said():
    ages = np.repeat([20.0, 60.0], 100) + np.tile(np.arange(100) / 50, 2)
    table = pd.DataFrame({"age": ages, "spend": ages[::-1]})
    labels = np.repeat(["young", "old"], 100)
    old = saved(bw.explain(table, labels, columns=["age", "spend"], forbidden=["spend"]))
    new = saved(bw.explain(table, labels, columns=["age", "spend"], forbidden=["age"]))
    found = bw.match(old, new)
    assert "the old model does not know how spend lay" in str(found)
    assert not {"new", "gone"} & {one.change for one in found.changes}
    assert [one.change for one in bw.match(old, new, table).changes] == ["same", "same"]


def test_labels_are_matched_on_their_rows():
    table = pd.DataFrame({"then": list("aaaabbbbcc"), "now": list("xxyyzzzzzz")})
    found = bw.match("then", "now", table)
    assert [(one.change, one.old, one.new) for one in found.changes] == [
        ("split", ("a",), ("x", "y")),
        ("merged", ("b", "c"), ("z",)),
    ]
    assert bw.match(table["then"], table["now"]).to_dict() == found.to_dict() | {"how": "on 10 rows"}


@law(8)
def test_clusters_of_the_same_rows_are_the_same_only_if_each_has_most_of_the_other(seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    rng = np.random.default_rng(seed)
    shares = {"then": [0.6, 0.2, 0.2], "now": [0.1, *rng.dirichlet([2, 2]) * 0.9]}  # of columns that are independent
    table = pd.DataFrame({name: rng.choice([*"abc"], 3000, p=p) for name, p in shares.items()})
    table.to_csv(folder / "t.csv", index=False)
    run(folder, "match", "then", "now", "{}/t.csv", "-o", "{}/m.json")
    changes = bw.match("then", "now", table).to_dict()["changes"]
    assert json.loads((folder / "m.json").read_text())["changes"] == changes
    assert {one["change"] for one in changes} & {"same", "grew", "shrank", "split"}
    for one in changes:
        if one["change"] in ("same", "grew", "shrank"):
            then, now = table["then"].isin(one["old"]), table["now"].isin(one["new"])
            assert min((then & now).sum() / then.sum(), (then & now).sum() / now.sum()) >= 0.5, seed


def test_weights_alone_make_no_cluster_grow():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 1))
    labels = np.where(rows[:, 0] > 0, "high", "low")
    weighted = bw.explain(rows, labels, sample_weight=rng.uniform(5_000, 15_000, 400))
    found = bw.match(saved(weighted), bw.explain(rows, labels))
    assert [one.change for one in found.changes] == ["same", "same"]
    assert sum(one.rows for one in found.before) == pytest.approx(400)


def test_tallies_are_matched():
    before = first(np.random.default_rng(2))
    numbers = before.rows.drop(columns="country")
    some = before.labels != "s0"
    old, new = bw.Tally.of(numbers, before.labels.tolist()), bw.Tally.of(numbers[some], before.labels[some].tolist())
    found = {one.change: one.old for one in bw.match(old, new).changes if one.change != "same"}
    assert found == {"gone": ("s0",)}


@pytest.mark.parametrize(
    ("names", "same", "olds", "expected"),
    [
        ((0, 1, 2), [(5, 0), (0, 1)], (5, 0, 1), {0: 5, 1: 0}),
        ((0, 1), [(1, 0)], (0, 1), {0: 1, 1: 2}),
        (("a", "b"), [("b", "a")], ("a", "b"), {"a": "b", "b": "b, new"}),
        (("a", "b"), [("a", "a")], ("a", "b"), {"b": "b, new"}),
    ],
)
def test_no_two_clusters_get_one_name(names, same, olds, expected):
    class Found:
        same_names = same
        before = tuple(type("Cluster", (), {"name": name}) for name in olds)

    assert names_carried(names, Found) == expected
    final = [expected.get(name, name) for name in names]
    assert len(set(final)) == len(final)


def test_errors_say_what_to_do():
    table = pd.DataFrame({"age": [1.0, 9.0], "kind": ["a", "b"]})
    ex = bw.explain(table[["age"]], ["a", "b"])
    with pytest.raises(bw.DataError, match="pass the rows that the labels are of"):
        bw.match(ex, ["a", "b"])
    with pytest.raises(bw.DataError, match="must be a data frame"):
        bw.match(ex, "kind")
    other = bw.explain(table[["age"]].rename(columns={"age": "years"}), ["a", "b"])
    with pytest.raises(bw.DataError, match="no column in common"):
        bw.match(saved(ex), saved(other))


def test_forms_for_people():
    table = pd.DataFrame({"then": list("aaaabbbbcc"), "now": list("xxyyzzzzzz")})
    found = bw.match("then", "now", table)
    assert "split" in found.to_markdown()
    page = found.to_html()
    assert "split" in page
    assert page.count('<path class="part') == 4
    assert json.loads(json.dumps(found.to_dict()))["changes"][0]["new"] == ["x", "y"]
    ax = found.plot()
    bands = [patch for patch in ax.patches if type(patch).__name__ == "PathPatch"]
    assert len(bands) == 4  # a to x and y, b and c to z
    assert {text.get_text().split()[0] for text in ax.texts} == set("abcxyz")
