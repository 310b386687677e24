"""Words that stand for a missing value elsewhere: every form of a table has one reading, and none goes untold."""

import gzip
import itertools
import json
import sqlite3

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import boxwood as bw
from boxwood.render.forms.labels import sql_rules
from boxwood.table.write_labels import label_rows
from tests.reading import read_file
from tests.scale import each, law, some

WORDS = {
    "capitals": ["ZA", "BW", "ZM", "TZ"],
    "small codes": ["za", "bw", "zm"],
    "capitalised": ["Smith", "O'Brien", "García", "McKay"],
    "small": ["airbag", "belted", "two words"],
    "wells": ["1E5", "2E3", "12E1"],
    "wells among others": ["1E5", "2E3", "3D1", "12A1"],
    "zeros": ["007", "012", "100"],
    "truths and more": ["True", "no", "perhaps"],
    "blanks": ["-", "unknown", "?"],
}
MARKS = ["NA", "none", "None", "null", "nan", "Nan", "NaN", "N/A", "na", "NULL", "n/a"]
TEXT = ("csv", "tsv", "csv.gz")
KEPT = {"capitals": {"NA"}, "small codes": {"na"}, "capitalised": {"Nan"}}
"""The marks that are words beside the words; none is one beside any."""


def words_of(rng, n=60):
    """Return a column of words, some of which are marks of missing values, and which of these are missing in CSV."""
    kind = rng.choice([*WORDS])
    marks = rng.choice(MARKS, rng.integers(1, 4), replace=False).tolist()
    of_each = (WORDS[kind], n - n // 5), (marks, n // 5)
    column = [word for its, n_rows in of_each for word in itertools.islice(itertools.cycle(its), n_rows)]
    kept = KEPT.get(kind, set()) | {"none", "None"}
    return rng.permutation(np.array(column, dtype=object)).tolist(), {mark for mark in marks if mark not in kept}


def written(table, folder):
    """Write a table of texts in each form, and return the paths by form; None is an empty value of CSV."""
    frame = pd.DataFrame(table)
    paths = {form: folder / f"t.{form}" for form in ("csv", "tsv", "csv.gz", "parquet", "jsonl", "sqlite", "xlsx")}
    frame.to_csv(paths["csv"], index=False)
    frame.to_csv(paths["tsv"], index=False, sep="\t")
    paths["csv.gz"].write_bytes(gzip.compress(paths["csv"].read_bytes()))
    pq.write_table(pa.table(table), paths["parquet"])
    paths["jsonl"].write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    with sqlite3.connect(paths["sqlite"]) as con:
        frame.to_sql("t", con, index=False)
    con.close()
    frame.to_excel(paths["xlsx"], index=False)
    return paths


def values_in(table, name):
    """Return the words of a column as they were read, None for a missing one."""
    j = table.columns.index(name)
    return [table.categories[j].values[int(code)] for code in table.X[:, j]]


def labelled(ex, path, out):
    """Return the cluster of each row of a file, as `boxwood predict` writes it."""
    label_rows(str(path), str(out), sql_rules(ex))
    return pd.read_csv(out, keep_default_na=False, dtype=str)["cluster"].tolist()


@law(4)
def test_every_form_has_the_same_words_and_what_is_missing_is_told(seed, tmp_path):
    rng = np.random.default_rng(seed)
    columns, missing = zip(*(words_of(rng) for _ in range(6)), strict=True)
    table = {f"w{j}": words for j, words in enumerate(columns)}
    known = zip(table.items(), missing, strict=True)
    blank = {name: [None if word in its else word for word in words] for (name, words), its in known}
    read, paths = {}, written(table, tmp_path)
    for form in ("csv", *some(paths)):
        read[form] = read_file(str(paths[form]), missing="learn")
        expected = blank if form in TEXT else table
        assert {name: values_in(read[form], name) for name in table} == expected, form
    for j, (name, its) in enumerate(zip(table, missing, strict=True)):
        met = read["csv"].marks.get(name)
        assert (met.missing if met else {}) == {mark: columns[j].count(mark) for mark in its}


@law(4)
def test_rules_and_clusters_are_the_same_in_every_form(seed, tmp_path):
    rng = np.random.default_rng(seed)
    words, missing = words_of(rng)
    told = dict(
        zip((word for word in dict.fromkeys(words) if word not in missing), itertools.cycle("ab"), strict=False)
    )
    table = {"w": words, "x": [*range(len(words))], "label": [told.get(word, "a") for word in words]}
    of_words, paths = bw.explain(pd.DataFrame(table), "label", columns=["w", "x"]), written(table, tmp_path)
    for form in ("csv", str(rng.choice([form for form in paths if form not in TEXT]))):
        with bw.scan(paths[form]) as source:
            ex = bw.explain(source, "label", columns=["w", "x"])
        assert labelled(ex, paths[form], tmp_path / "out.csv") == table["label"], form
        assert labelled(of_words, paths[form], tmp_path / "out.csv") == table["label"], "it knows the words"
        noted = [note for note in ex.notes if note.startswith("read as missing: w (")]
        assert len(noted) == (form == "csv" and bool(missing))
        if form != "csv":
            assert ex.rules() == of_words.rules()


@each("words", [["yes", "no", "none"], ["True", "False", "unknown"], ["none", "-", "?"], ["airbag", "none", "none"]])
def test_none_and_other_blanks_are_words_among_words(words, tmp_path):
    table = {"w": words * 20, "x": [*range(60)], "label": ["a", "b", "b"] * 20}
    expected = bw.explain(pd.DataFrame(table), "label", columns=["w"]).rules()
    assert "missing" not in expected
    paths = written(table, tmp_path)
    for form in ("csv", "parquet"):
        assert values_in(read_file(str(paths[form]), labels="label"), "w") == table["w"], form
        with bw.scan(paths[form]) as source:
            assert bw.explain(source, "label", columns=["w"]).rules() == expected, form


def test_categories_keeps_marks_as_words(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("w,x,label\n" + "n/a,1,a\nred,2,b\nlight blue,1,b\n" * 20)
    assert values_in(read_file(str(path), categories=["w"]), "w")[:3] == ["n/a", "red", "light blue"]
    with bw.scan(path) as source:
        asked = bw.explain(source, "label", categories=["w"])
        assert asked.rules().startswith("a: w is n/a\n")
        assert not any("read as" in note for note in asked.notes)
        assert (
            "read as missing: w ('n/a' in 20 rows) (categories keeps such values)" in bw.explain(source, "label").notes
        )


@each(
    "texts, names, note",
    [
        (["1E5", "2E3", "12E10"], True, "w: names such as 1E5, read as categories, not as numbers"),
        (["1E5", "2E3", "3D1"], True, None),
        (["1e5", "2d3", "NA"], True, "read as missing: w ('NA' in 20 rows) (categories keeps such values)"),
        (["1E5", "2E3", "3.5"], False, "read as numbers: w ('1E5' is 100000)"),
        (["1e5", "2e3", "3e4"], False, "read as numbers: w ('1e5' is 100000)"),
        (["1E+05", "2E+03", "3E+04"], False, None),
    ],
)
def test_wells_are_words_and_other_numbers_of_their_form_are_told(texts, names, note, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("w,label\n" + "".join(f"{text},{label}\n" for text, label in zip(texts, "abb", strict=True)) * 20)
    table = read_file(str(path), labels="label", missing="learn")
    assert bool(table.categories) == names
    with bw.scan(path) as source:
        ex = bw.explain(source, "label")
    assert [each for each in ex.notes if "read as" in each] == ([] if note is None else [note])
