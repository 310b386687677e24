"""Columns with numbers for names, and columns of booleans, in rules, texts, SQL and model files."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import boxwood
from boxwood.axes import Categories
from boxwood.explanation import Condition
from boxwood.render import sql
from boxwood.tree import Interval
from boxwood.words.rules import cluster_rule, condition
from tests.command import invoke
from tests.models import read_model
from tests.programs import in_sqlite
from tests.render.test_page import Page
from tests.scale import law

LABELS = ["a", "a", "b", "b", "c", "c"] * 3
MEMBERS = pd.DataFrame({"member": [False, False, True, True, True, True] * 3, "6": [1.0, 2, 1, 2, 8, 9] * 3})


def test_a_column_whose_name_is_a_number_is_called_a_column():
    frame = pd.DataFrame(np.array([[0.0, 1], [0, 2], [9, 8], [9, 9]]))
    ex = boxwood.explain(frame, ["a", "a", "b", "b"], columns=["1"])
    assert ex.rules() == "a: column 1 <= 5\nb: column 1 > 5"
    assert ex.columns == ("1",)
    assert '"1" <= 5' in sql(ex)
    tree = boxwood.render.text(boxwood.CART().fit(frame.rename(columns=str)[["1"]], ["a", "a", "b", "b"]))
    assert tree.startswith("|--- column 1 <= 5\n")
    (note,) = [
        note
        for note in boxwood.explain(frame * [1, 1000], n_clusters=2, standardize=False).notes
        if "hardly sees" in note
    ]
    assert note.startswith("k-means hardly sees column 0, which spans 9, beside column 1, which spans 8e+03")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_column_of_booleans_is_said_by_its_name(make):
    ex = boxwood.explain(make(MEMBERS), LABELS)
    assert ex.rules() == "a: not member\nb: member and column 6 <= 5\nc: member and column 6 > 5"
    assert ex.predict(make(MEMBERS)).tolist() == LABELS
    assert ex.predict(MEMBERS.astype(float).to_numpy()).tolist() == LABELS
    again = read_model(ex.to_json())
    assert again == ex
    assert ex.to_dict()["categories"] == {"member": {"values": [False, True], "others": False, "ordered": False}}


def test_models_without_booleans_are_as_they_were():
    assert "categories" not in boxwood.explain(MEMBERS.astype(float), LABELS).to_dict()
    assert "categories" not in boxwood.explain(MEMBERS, MEMBERS["6"] > 5).to_dict()


def test_an_encoded_column_of_booleans_is_said_by_its_name():
    columns = make_column_transformer((OneHotEncoder(), ["member"]), remainder="passthrough")
    ex = boxwood.explain(MEMBERS, make_pipeline(columns, KMeans(2, n_init=1, random_state=0)), columns=["member", "6"])
    assert "member <" not in ex.rules()
    only = make_pipeline(make_column_transformer((OneHotEncoder(), ["member"])), KMeans(2, n_init=1, random_state=0))
    assert sorted(line.split(": ")[1] for line in boxwood.explain(MEMBERS[["member"]], only).rules().split("\n")) == [
        "member",
        "not member",
    ]


def test_long_lists_are_shortened_in_words_and_nowhere_else():
    cities = [f"Ort{i}" for i in range(40)]
    many, values = Categories(tuple(cities), False), tuple(Interval(i, i, True, True) for i in range(37))
    assert condition(Condition("city", values, many)) == "city is neither Ort37, Ort38 nor Ort39"
    assert condition(Condition("city", values[:20], many)).endswith("Ort6, Ort7 or 12 more")
    others = "Ort21, Ort22, Ort23, Ort24, Ort25, Ort26, Ort27, Ort28 nor 11 more"
    assert condition(Condition("city", values[:21], many)) == f"city is neither {others}"
    assert condition(Condition("city", values[:20], many), whole=True).endswith("Ort18 or Ort19")


@law(4)
def test_long_lists_name_the_most_frequent_words_first_and_count_rows(seed, tmp_path_factory):
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("words")
    names = np.array([f"{letter}{i}" for letter in "pq" for i in range(12)])
    rows = pd.DataFrame({"word": rng.choice(names, 900, p=(weights := rng.random(24) + 0.7) / weights.sum())})
    labels, times = rows["word"].str[0], rows["word"].value_counts()
    ex = boxwood.explain(rows, labels.rename("label"))
    rows.assign(label=labels).to_csv(folder / "t.csv", index=False)
    invoke("explain", folder / "t.csv", "-l", "label", "--save", folder / "m.json")
    files = [boxwood.explain(boxwood.scan(folder / "t.csv"), "label"), boxwood.load(folder / "m.json")]
    for line in zip("pq", *(each.rules().split("\n") for each in (ex, *files)), strict=True):
        own = sorted((word for word in names if word[0] == line[0]), key=lambda word: (-times[word], word))
        said = f"{line[0]}: word is {', '.join(own[:8])} or 4 more ({times[own].sum()} of 900 rows)"
        assert [*line[1:]] == [said] * 3, seed
        assert all(said.partition(": ")[2] in str(each.clusters) for each in (ex, *files)), seed
        assert f"word is {', '.join(own[:8])} or 4 more\n" in str(ex.why({"word": own[0]})), seed
    document = ex.to_dict()
    del document["shapes"]
    old = read_model(json.dumps(document))  # written before words were counted
    assert old.rules().startswith("p: word is p0, p1, p10, p11, p2, p3, p4, p5 or 4 more\n")
    assert old.rules(full=True) == ex.rules(full=True)
    pages = [
        each.to_html(folder / "page.html", min_count=count) or (folder / "page.html").read_text("utf-8")
        for each, count in ((ex, None), (ex, 5), (old, None))
    ]
    assert [" of 900 rows)" in Page(page).text for page in pages] == [True, False, False]


def test_long_lists_of_an_order_keep_it_and_rare_words_are_not_counted():
    words = [f"w{i:02}" for i in range(20)]
    rows = pd.DataFrame({"word": [word for i, word in enumerate(words) for _ in range(3 if i == 2 else 5 + i)]})
    labels = np.where(rows["word"].isin(words[::2]), "even", "odd")
    ordered = rows.astype({"word": pd.CategoricalDtype(words, ordered=True)})
    said = [boxwood.explain(each, labels, max_leaf_nodes=20).rules().split("\n")[0] for each in (rows, ordered)]
    assert said[0] == "even: word is w18, w16, w14, w12, w10, w08, w06, w04 or 2 more (at least 133 of 286 rows)"
    assert said[1] == "even: word is w00, w02, w04, w06, w08, w10, w12, w14 or 2 more (at least 133 of 286 rows)"


def test_neighbours_in_an_order_are_told_by_their_ends():
    sizes = ("XS", "S", "M", "L", "XL", None)

    def said(*values, whole=False, ordered=True):
        codes = tuple(Interval(i, i, True, True) for i, value in enumerate(sizes) if value in values)
        return condition(Condition("size", codes, Categories(sizes, False, ordered)), whole=whole)

    assert said("S", "M", "L", "XL") == "size is from S to XL"
    assert said("XS", "S", "M", "L", None) == "size is from XS to L or missing"
    assert said("M", "L", "XL") == "size is M, L or XL"
    assert said("XS", "S", "L", "XL") == "size is XS, S, L or XL"
    assert said(*sizes[:5]) == "size is not missing"
    assert said(None) == "size is missing"
    assert said("S", "M", "L", "XL", whole=True) == said("S", "M", "L", "XL", ordered=False) == "size is S, M, L or XL"


def test_what_all_rules_of_a_cluster_say_stands_once():
    def between(column, low, high):
        return Condition(column, (Interval(low, high, False, True),))

    a, b, c = between("a", 0, 1), between("b", 2, 3), between("b", 5, 9)
    one = boxwood.explain([[1.0], [2.0]], ["x", "y"]).clusters[0]
    assert cluster_rule(one._replace(rules=((a, b), (a, c)))) == "0 < a <= 1 and (2 < b <= 3 or 5 < b <= 9)"
    assert cluster_rule(one._replace(rules=((a, b), (a,)))) == "0 < a <= 1"
    assert cluster_rule(one._replace(rules=((a, b), (c,)))) == "(0 < a <= 1 and 2 < b <= 3) or 5 < b <= 9"


@law(8)
def test_sql_of_booleans_labels_rows_as_python_does(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"p": rng.random(40) < 0.5, "q": rng.random(40) < 0.5, "x": rng.integers(9, size=40)})
    ex = boxwood.explain(frame, rng.choice(["a", "b", "c"], 40), max_leaf_nodes=6)
    expected = ex.predict(frame).tolist()
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t (p BOOLEAN, q BOOLEAN, x INTEGER)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", frame.values.tolist())
        assert [row[0] for row in con.execute(f"SELECT {sql(ex)} FROM t").fetchall()] == expected
        con.execute("UPDATE t SET p = NULL, q = NULL, x = NULL")
        assert {row[0] for row in con.execute(f"SELECT {sql(ex)} FROM t").fetchall()} == {None}
    assert in_sqlite(sql(ex), frame.astype(float).to_dict("records")) == expected


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_booleans_of_files_are_said_by_their_names(tmp_path, form):
    table = pl.from_pandas(MEMBERS.assign(group=LABELS))
    path, model = str(tmp_path / f"t.{form}"), str(tmp_path / "m.json")
    write = {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}[form]
    write(path)
    shown = invoke("explain", path, "-l", "group", "--json", "--save", model)
    expected = boxwood.explain(MEMBERS, LABELS)
    found, same = json.loads(shown.stdout), expected.to_dict()
    del found["provenance"], same["provenance"]
    assert found == same
    labelled = invoke("predict", model, path)
    assert [line.rsplit(",", 1)[1] for line in labelled.stdout.splitlines()[1:]] == LABELS


def test_what_is_joined_can_be_read_in_one_way_only():
    from boxwood.axes import Categories
    from boxwood.explanation import Condition
    from boxwood.tree import Interval
    from boxwood.words.rules import condition, rule

    def coded(values, *codes):
        pieces = tuple(Interval(float(code), float(code), True, True) for code in codes)
        return Condition("country", pieces, Categories(values, others=False))

    age = Condition("age", (Interval(5.0, np.inf, False, True),))
    assert rule((coded(("AT", "CH", "DE"), 0, 1), age)) == "(country is AT or CH) and age > 5"
    assert rule((coded(("AT", "CH", "DE"), 0, 1),)) == "country is AT or CH"
    assert condition(coded((False, True, None), 0, 1)) == "country is not missing"
    assert condition(coded(("AT", "CH", None), 0, 1)) == "country is not missing"
    assert condition(coded(("AT", "CH", None), 0, 2)) == "country is AT or missing"


@law(40)
def test_large_numbers_have_commas_where_people_read_and_none_where_programs_do(seed):
    rng = np.random.default_rng(seed)
    step = float(rng.choice([0.25, 1.0, 1000.0, 12345.0, 1e6]))
    x = rng.integers(-(10**4), 10**4, 40) * step
    ex = boxwood.explain(pd.DataFrame({"x": x}), np.where(x <= np.sort(x)[20], "a", "b"), max_leaf_nodes=2)
    threshold = float(ex.tree.upper[0])
    said = ex.rules().splitlines()[0].removeprefix("a: x <= ")
    assert float(said.replace(",", "")) == threshold
    assert ("," in said) == (abs(threshold) >= 10_000)
    assert said in ex.to_text()
    for form in (ex.to_sql(), ex.to_python(), ex.to_javascript(), ex.to_csv().replace(",", " , "), ex.to_json()):
        assert said in form or "," in said
        assert not ("," in said and said in form)
