"""Texts that a file has for missing values, as n/a: every form means the same by them where a database holds them."""

import csv
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import boxwood as bw
from tests.command import invoke
from tests.programs import in_node, in_sqlite, program
from tests.render.test_pmml import Model
from tests.scale import law

COLUMNS = ("plan", "the answer", "visits")
MARKS = ("n/a", "NaN", "null", "#N/A", " N/A", "NULL ")
N_ROWS = 150


def table_with_marks(seed):
    """Return rows of two columns of words and one of numbers, and labels that a word and missing values have."""
    rng = np.random.default_rng(seed)
    words = rng.permutation(["red", "blue", "light green", "it's", "none", "-"])[: rng.integers(2, 5)].tolist()
    cells = [*words, *rng.permutation(MARKS)[: rng.integers(1, 4)].tolist(), *[None] * int(rng.integers(2))]
    plan, answer = rng.choice(cells, N_ROWS).tolist(), rng.choice([*words, "n/a"], N_ROWS).tolist()
    visits = rng.integers(0, 9, N_ROWS).tolist()
    asked = answer if rng.random() < 0.3 else plan
    with_low = [None, *MARKS, *rng.permutation(words)[:1].tolist()]
    labels = ["low" if text in with_low else "high" for text in asked]
    return list(zip(plan, answer, visits, strict=True)), labels


def run(*words):
    invoke(*words)


def labelled(folder, path):
    run("predict", folder / "model.json", path, "-o", folder / "out.csv")
    with open(folder / "out.csv", newline="", encoding="utf-8") as file:
        return [row[-1] for row in csv.reader(file)][1:]


def in_spreadsheet(ex, rows):
    import formulas

    written = formulas.Parser().ast(ex.to_formula(row=2, columns=COLUMNS))[1].compile()
    cells = {f"{letter}2": column for letter, column in zip("ABC", zip(*rows, strict=True), strict=True)}
    held = {name: np.array([["" if x is None else x] for x in column], dtype=object) for name, column in cells.items()}
    return np.asarray(written(*(held[name] for name in written.inputs))).ravel().tolist()


@law(12)
def test_every_form_reads_the_marks_of_a_file(seed, tmp_path):
    rows, labels = table_with_marks(seed)
    plain = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    path, model = tmp_path / "t.csv", tmp_path / "model.json"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([(*COLUMNS, "segment"), *((*row, y) for row, y in zip(rows, labels, strict=True))])
    pq.write_table(pa.Table.from_pylist(plain), tmp_path / "t.parquet")
    if seed % 2:
        run("explain", path, "--labels", "segment", "--missing", "learn", "--save", model)
    else:
        bw.explain(bw.scan(path), "segment", missing="learn").save(model)
    ex = bw.load(model)
    wanted = labelled(tmp_path, path)
    assert wanted == labels
    read = f"read_parquet('{tmp_path / 't.parquet'}')"
    for name, found in {
        "Parquet": labelled(tmp_path, tmp_path / "t.parquet"),
        "frame": ex.predict(pd.DataFrame(plain, dtype=object), missing="none").tolist(),
        "DuckDB": [name for (name,) in duckdb.sql(f"SELECT {ex.to_sql()} FROM {read}").fetchall()],
        "SQLite": in_sqlite(ex.to_sql("sqlite"), plain),
        "Python": list(map(program(ex.to_python())["cluster"], plain)),
        "JavaScript": in_node(ex.to_javascript(), plain, tmp_path),
        "PMML": list(map(Model(ex.to_pmml()).score, plain)),
        "spreadsheet": in_spreadsheet(ex, rows),
    }.items():
        other = [(row, mine, right) for row, mine, right in zip(rows, found, wanted, strict=True) if mine != right]
        assert not other, f"{name}: {Counter(row for row, *_ in other)}\n{ex}"
    assert any(known.marks for name, known in ex.details.categories if ex.columns.index(name) in ex.tree.features)


def test_measure_takes_marks_of_other_files_as_missing(tmp_path, monkeypatch):
    from boxwood.explanation.choose import settings

    rows, labels = table_with_marks(1)
    plain = [dict(zip((*COLUMNS, "segment"), (*row, y), strict=True)) for row, y in zip(rows, labels, strict=True)]
    path = tmp_path / "t.csv"
    pd.DataFrame(plain).to_csv(path, index=False)
    pq.write_table(pa.Table.from_pylist(plain), tmp_path / "t.parquet")
    ex = bw.explain(bw.scan(path), "segment", missing="learn")
    assert any(known.marks for _, known in ex.details.categories)
    for gathered in (settings.GATHERED, 10):  # all rows in memory, and some
        monkeypatch.setattr(settings, "GATHERED", gathered)
        for file in (path, tmp_path / "t.parquet"):
            found = ex.evaluate(bw.scan(file), "segment")
            assert (found.n_rows, found.n_left_out, found.agreement) == (N_ROWS, 0, 1.0), (gathered, file)


def test_a_table_without_marks_has_none_in_its_forms():
    plans = ["red", None, "blue", "n/a"] * 9
    frame = pd.DataFrame({"plan": pd.Series(plans, dtype=object), "visits": range(36)})
    ex = bw.explain(frame, ["some" if plan else "gap" for plan in plans], missing="learn")
    assert """WHEN "plan" IS NULL THEN 'gap'""" in ex.to_sql()
    assert "marks" not in ex.to_json()
